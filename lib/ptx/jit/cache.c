// SPDX-License-Identifier: MIT
/*
 * The cache of compiled code: a folder of this user's, to which nobody else may write, with a file
 * for each function. A file is written under another name and renamed, so that it is whole; and its
 * beginning has a digest of the rest. If such files take too much, those go that nobody has used
 * for longest; other files of the folder stay. Without a folder, or with a full disk, functions are
 * compiled each time.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cache.h"

#define MAGIC		"memcast ptx 1\n"
#define FILE_MOST	(64UL << 20)
#define FOLDER_MOST	(256UL << 20)
/*
 * Someone looks at the folder again when all processes have stored so much, which the file of locks
 * counts: to list thousands of files takes longer than to compile a function, above all where the
 * folder is another machine's.
 */
#define LOOK_AFTER	(8UL << 20)
#define NAME_BYTES	40

struct head {
	char magic[16];
	struct digest check;		/* of what follows this member */
	uint64_t object_bytes;
	uint32_t names_bytes, frame;
};

static pthread_once_t once = PTHREAD_ONCE_INIT;
static int folder = -1;
static atomic_long allowed_here;	/* by this process, if the file of locks cannot count */

/* Makes a folder, and those above it. Return: false: there is none, and none can be made */
static bool make_folder(char *path)
{
	for (char *at = path + 1; *at; at++) {
		if (*at != '/')
			continue;
		*at = '\0';
		mkdir(path, 0700);
		*at = '/';
	}
	return !mkdir(path, 0700) || errno == EEXIST || errno == EROFS;
}

/* Is it this user's, and can no other user write to it? */
static bool is_own(int fd, mode_t kind)
{
	struct stat about;

	return !fstat(fd, &about) && (about.st_mode & S_IFMT) == kind &&
	       about.st_uid == geteuid() && !(about.st_mode & (S_IWGRP | S_IWOTH));
}

static void open_folder(void)
{
	const char *own = secure_getenv("MEMCAST_PTX_CACHE"), *base, *home;
	char path[PATH_MAX];
	int length;

	base = secure_getenv("XDG_CACHE_HOME");
	home = secure_getenv("HOME");
	if (own)
		length = snprintf(path, sizeof(path), "%s", own);
	else if (base && *base == '/')
		length = snprintf(path, sizeof(path), "%s/memcast/ptx", base);
	else if (home && *home == '/')
		length = snprintf(path, sizeof(path), "%s/.cache/memcast/ptx", home);
	else
		return;
	if (length >= (int)sizeof(path) || *path != '/' || !make_folder(path))
		return;
	folder = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (folder < 0 || is_own(folder, S_IFDIR))
		return;
	close(folder);
	folder = -1;
}

/* Other notes are alike in all builds. Return: is the linker's number of this build there? */
static bool add_build_id(struct digest *digest, const char *at, size_t size)
{
	const ElfW(Nhdr) * note;
	size_t name, all;

	for (; size >= sizeof(*note); at += all, size -= all) {
		note = (const void *)at;
		name = (note->n_namesz + 3UL) & ~3UL;
		all = sizeof(*note) + name + ((note->n_descsz + 3UL) & ~3UL);
		if (all > size)
			return false;
		if (note->n_type != NT_GNU_BUILD_ID || note->n_namesz != sizeof("GNU") ||
		    memcmp(note + 1, "GNU", sizeof("GNU")))
			continue;
		digest_add(digest, at + sizeof(*note) + name, note->n_descsz);
		return true;
	}
	return false;
}

static int add_build(struct dl_phdr_info *info, size_t size, void *data)
{
	const char *here = (const char *)(uintptr_t)add_build;
	bool found = false, mine = false;
	struct digest digest = {};

	(void)size;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) * part = &info->dlpi_phdr[i];
		const char *at = (const char *)info->dlpi_addr + part->p_vaddr;

		if (part->p_type == PT_LOAD)
			mine |= (size_t)(here - at) < part->p_memsz;
		if (part->p_type == PT_NOTE)
			found |= add_build_id(&digest, at, part->p_memsz);
	}
	if (!mine || !found)
		return 0;
	digest_add(data, &digest, sizeof(digest));
	return 1;
}

bool cache_build(struct digest *digest)
{
	return dl_iterate_phdr(add_build, digest) == 1;
}

static void name_of(const struct digest *key, char name[NAME_BYTES])
{
	snprintf(name, NAME_BYTES, "%016llx%016llx.o", (unsigned long long)key->part[0],
		 (unsigned long long)key->part[1]);
}

/* Return: false: the file ends before, or cannot be read */
static bool read_all(int fd, char *to, size_t size)
{
	while (size) {
		ssize_t got = read(fd, to, size);

		if (got <= 0) {
			if (got < 0 && errno == EINTR)
				continue;
			return false;
		}
		to += got;
		size -= got;
	}
	return true;
}

static struct digest check_of(const struct head *head, const void *rest, size_t size)
{
	struct digest digest = {};

	digest_add(&digest, &head->object_bytes,
		   sizeof(*head) - offsetof(struct head, object_bytes));
	digest_add(&digest, rest, size);
	return digest;
}

static bool read_cached(int fd, struct cached *cached)
{
	struct head head;
	struct digest check;
	struct stat about;
	size_t size;

	if (!is_own(fd, S_IFREG) || fstat(fd, &about) || about.st_size < (off_t)sizeof(head) ||
	    about.st_size > (off_t)FILE_MOST || !read_all(fd, (char *)&head, sizeof(head)))
		return false;
	size = about.st_size - sizeof(head);
	if (memcmp(head.magic, MAGIC, sizeof(MAGIC)) || head.object_bytes > size ||
	    head.names_bytes != size - head.object_bytes)
		return false;
	cached->memory = malloc(size + 1);
	if (!cached->memory)
		return false;
	if (read_all(fd, cached->memory, size)) {
		check = check_of(&head, cached->memory, size);
		cached->frame = head.frame;
		cached->names = (char *)cached->memory + head.object_bytes;
		cached->names_bytes = head.names_bytes;
		cached->object = cached->memory;
		cached->object_bytes = head.object_bytes;
		if (!memcmp(&check, &head.check, sizeof(check)) &&
		    (!head.names_bytes || !cached->names[head.names_bytes - 1]))
			return true;
	}
	free(cached->memory);
	cached->memory = NULL;
	return false;
}

bool cache_load(const struct digest *key, struct cached *cached)
{
	char name[NAME_BYTES];
	bool good;
	int fd;

	pthread_once(&once, open_folder);
	*cached = (struct cached) {};
	name_of(key, name);
	fd = folder < 0 ? -1 : openat(folder, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return false;
	good = read_cached(fd, cached);
	if (good)
		futimens(fd, NULL);	/* it has been used now */
	close(fd);
	return good;
}

/* Two processes that need the same function have the same byte of one file. */
int cache_lock(const struct digest *key)
{
	struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET,
			      .l_start = key->part[0] & INT_MAX, .l_len = 1 };
	int fd;

	pthread_once(&once, open_folder);
	fd = folder < 0 ? -1 : openat(folder, "lock", O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC,
				      0600);
	if (fd < 0)
		return CACHE_NONE;
	/* a kernel without locks of files says EACCES: then two may make the same */
	if (!fcntl(fd, F_OFD_SETLK, &lock) || errno != EAGAIN)
		return fd;
	close(fd);
	return CACHE_TAKEN;
}

void cache_unlock(int lock)
{
	struct flock all = { .l_type = F_UNLCK, .l_whence = SEEK_SET };

	if (lock < 0)
		return;
	fcntl(lock, F_OFD_SETLK, &all);	/* a child of fork() may have the file open as well */
	close(lock);
}

/* Did cache_store() make the file? A number behind ".o" is of a thread that writes it. */
static bool is_ours(const char *name)
{
	return strspn(name, "0123456789abcdef") == 32 && !strncmp(name + 32, ".o", 2) &&
	       (!name[34] || name[34] == '.');
}

/* A file of the folder */
struct kept {
	struct timespec used;
	off_t size;
	char name[NAME_BYTES + 16];
};

/* Files of the folder, and how many bytes they have */
struct all_kept {
	struct kept *files;
	size_t count, room;
	off_t total;
};

static int compare_used(const void *one, const void *other)
{
	const struct timespec *a = &((const struct kept *)one)->used;
	const struct timespec *b = &((const struct kept *)other)->used;

	if (a->tv_sec != b->tv_sec)
		return a->tv_sec < b->tv_sec ? -1 : 1;
	return a->tv_nsec < b->tv_nsec ? -1 : a->tv_nsec > b->tv_nsec;
}

/* Return: a place for another file, or NULL */
static struct kept *add_kept(struct all_kept *all)
{
	size_t room = all->room ? 2 * all->room : 256;
	struct kept *files = all->files;

	if (all->count == all->room) {
		files = realloc(files, room * sizeof(*files));
		if (!files)
			return NULL;
		all->files = files;
		all->room = room;
	}
	return &files[all->count++];
}

/* Lists the files of the folder. Return: could it be read? */
static bool list_kept(struct all_kept *all)
{
	int again = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *list = again < 0 ? NULL : fdopendir(again);
	struct dirent *entry;
	struct stat about;

	if (!list) {
		if (again >= 0)
			close(again);
		return false;
	}
	while ((entry = readdir(list))) {
		struct kept *kept;

		if (!is_ours(entry->d_name) || strlen(entry->d_name) >= sizeof(kept->name) ||
		    fstatat(folder, entry->d_name, &about, AT_SYMLINK_NOFOLLOW) ||
		    !S_ISREG(about.st_mode))
			continue;
		all->total += about.st_size;
		/* a file that has no room in the list stays */
		kept = add_kept(all);
		if (!kept)
			continue;
		strcpy(kept->name, entry->d_name);
		kept->used = about.st_mtim;
		kept->size = about.st_size;
	}
	closedir(list);
	return true;
}

/* The file lists programs of which all is here, for memcast-vm: now that may not be so. */
static void forget_ahead(void)
{
	unlinkat(folder, "ahead", 0);
}

/*
 * Sets how many bytes may be stored before someone looks at the folder again. If two processes do so
 * at once, one of their files is not counted.
 */
static void set_allowed(int lock, int64_t allowed)
{
	if (pwrite(lock, &allowed, sizeof(allowed), 0) != sizeof(allowed))
		allowed_here = allowed;
}

static bool may_store(int lock, int64_t size)
{
	int64_t allowed;

	if (pread(lock, &allowed, sizeof(allowed), 0) != sizeof(allowed))
		return atomic_fetch_sub(&allowed_here, size) >= size;
	if (allowed < size || allowed > (int64_t)LOOK_AFTER)
		return false;
	set_allowed(lock, allowed - size);
	return true;
}

/*
 * Removes the files that were used longest ago, until there is room: an eighth of the folder, so
 * that a full folder is not full again at once.
 */
static bool make_room(int lock, off_t size)
{
	struct all_kept all = {};
	off_t most = FOLDER_MOST;
	bool good;

	if (may_store(lock, size))
		return true;
	good = list_kept(&all);
	if (good && all.total + size > most) {
		most -= most / 8;
		qsort(all.files, all.count, sizeof(*all.files), compare_used);
		forget_ahead();
		for (size_t i = 0; i < all.count && all.total + size > most; i++) {
			/* another process may have removed it */
			if (unlinkat(folder, all.files[i].name, 0) && errno != ENOENT)
				break;
			all.total -= all.files[i].size;
		}
	}
	good = good && all.total + size <= (off_t)FOLDER_MOST;
	set_allowed(lock, good ? LOOK_AFTER : 0);
	free(all.files);
	return good;
}

static bool write_all(int fd, const void *bytes, size_t size)
{
	const char *at = bytes;

	while (size) {
		ssize_t put = write(fd, at, size);

		if (put < 0 && errno == EINTR)
			continue;
		if (put <= 0)
			return false;
		at += put;
		size -= put;
	}
	return true;
}

/* The kernel ends a program that grows a file over its limit. */
static bool may_grow_to(size_t size)
{
	struct rlimit limit;

	return !getrlimit(RLIMIT_FSIZE, &limit) && limit.rlim_cur >= size;
}

void cache_store(int lock, const struct digest *key, const struct cached *cached)
{
	struct head head = { .magic = MAGIC, .object_bytes = cached->object_bytes,
			     .names_bytes = cached->names_bytes, .frame = cached->frame };
	size_t size = cached->object_bytes + cached->names_bytes, all = sizeof(head) + size;
	char name[NAME_BYTES], temporary[NAME_BYTES + 16], *rest;
	bool good = false;
	int fd;

	if (lock == CACHE_NONE)
		return;
	rest = all <= FILE_MOST && may_grow_to(all) && make_room(lock, all) ? malloc(size + 1) : NULL;
	if (!rest) {
		forget_ahead();
		return;
	}
	memcpy(rest, cached->object, cached->object_bytes);
	memcpy(rest + cached->object_bytes, cached->names, cached->names_bytes);
	head.check = check_of(&head, rest, size);
	name_of(key, name);
	snprintf(temporary, sizeof(temporary), "%s.%d", name, (int)gettid());
	/* a thread of the same number, in another namespace, may have left one */
	unlinkat(folder, temporary, 0);
	fd = openat(folder, temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd >= 0) {
		good = write_all(fd, &head, sizeof(head)) && write_all(fd, rest, size);
		good &= !close(fd);
		good = good && !renameat(folder, temporary, folder, name);
	}
	if (!good) {
		unlinkat(folder, temporary, 0);
		forget_ahead();
	}
	free(rest);
}
