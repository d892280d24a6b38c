// SPDX-License-Identifier: MIT
/*
 * The first process in memcast-vm's virtual machine: loads modules, runs one
 * program with its input and output on virtio ports, and checks that the program
 * has left no objects in the module when it has ended.
 *
 * Files in /memcast-vm/ have NUL-separated strings: argv and env of the program,
 * and settings, each key=value (see main()). Lines on the port "status" tell the
 * host what happens. program.c runs the program.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>
#include "init.h"

#define KMEMLEAK	"/sys/kernel/debug/kmemleak"

static struct vm_ports ports = { -1, -1, -1, -1, -1 };
static bool unload = true, leaks = true, serial;
static char **writable;	/* the folders of --rw, and a NULL */
static struct vm_program program = { .cwd = "/", .uid = 1000, .gid = 1000 };
static struct vm_serve serve = { .port = -1, .like = &program };
static bool alone;	/* the machine has no first program, only those of clients */

void report(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vdprintf(ports.status, format, args);
	va_end(args);
}

void report_to(int fd)
{
	ports.status = fd;
}

/* Ends QEMU, and says so: it proves that the machine ended properly. */
static void __attribute__((noreturn)) end(void)
{
	report("end\n");
	tcdrain(ports.status);
	tcdrain(ports.out);
	tcdrain(ports.err);
	end_machine();
	for (;;)
		pause();
}

void fail(const char *what)
{
	report("error %s: %s\n", what, strerror(errno));
	/* A client's program that cannot run does not end the machine. */
	if (getpid() != 1)
		_exit(125);
	end();
}

static void log_line(const char *line)
{
	char record[600];
	int fd = open("/dev/kmsg", O_WRONLY | O_CLOEXEC);

	/* dprintf() would seek first, which this file refuses. */
	write(fd, record, snprintf(record, sizeof(record), "<4>%s", line));
	close(fd);
}

char **strings(const char *path)
{
	char **list = NULL;
	FILE *file = fopen(path, "re");
	size_t room = 0, count = 0;

	if (!file)
		fail(path);
	for (;;) {
		list = reallocarray(list, count + 1, sizeof(*list));
		if (!list)
			fail(path);
		list[count] = NULL;
		if (getdelim(&list[count], &room, 0, file) <= 0)
			break;
		count++;
		room = 0;
	}
	list[count] = NULL;
	fclose(file);
	return list;
}

char **append(char **list, char *word)
{
	size_t count = 0;

	while (list && list[count])
		count++;
	list = reallocarray(list, count + 2, sizeof(*list));
	if (!list)
		fail("no memory");
	list[count] = word;
	list[count + 1] = NULL;
	return list;
}

static void mount_all(void)
{
	static const struct {
		const char *type, *path, *options;
	} mounts[] = {
		{ "proc", "/proc", "" },
		{ "sysfs", "/sys", "" },
		{ "devtmpfs", "/dev", "mode=0755" },
		{ "devpts", "/dev/pts", "mode=0620,ptmxmode=0666" },
		{ "tmpfs", "/dev/shm", "mode=1777" },
		{ "debugfs", "/sys/kernel/debug", "" },
	};

	for (size_t i = 0; i < sizeof(mounts) / sizeof(mounts[0]); i++) {
		mkdir(mounts[i].path, 0755);
		/* The program may not need a file system that the kernel does not have. */
		mount(mounts[i].type, mounts[i].path, mounts[i].type, 0, mounts[i].options);
	}
	/* Files packed into /tmp gave it the mode of an ordinary folder. */
	chmod("/tmp", 01777);
	symlink("/proc/self/fd", "/dev/fd");
	symlink("/proc/self/fd/0", "/dev/stdin");
	symlink("/proc/self/fd/1", "/dev/stdout");
	symlink("/proc/self/fd/2", "/dev/stderr");
}

enum port { PORT_STATUS = 1, PORT_OUT, PORT_ERR, PORT_IN, PORT_CONTROL, PORT_SERVE };

/* Serial ports are slow, but QEMU serves them without another thread, so time stays exact. */
static int open_serial(enum port number)
{
	struct termios raw;
	char path[32];
	int fd;

	if (number == PORT_IN)
		return open("/dev/null", O_RDONLY | O_CLOEXEC);
	if (number == PORT_CONTROL)
		return -1;
	snprintf(path, sizeof(path), "/dev/ttyS%d", number);
	fd = open(path, O_RDWR | O_NOCTTY | O_CLOEXEC);
	if (fd >= 0 && !tcgetattr(fd, &raw)) {
		cfmakeraw(&raw);
		tcsetattr(fd, TCSANOW, &raw);
	}
	return fd;
}

/* Ports come up a moment after their driver. */
static int open_port(enum port number)
{
	char path[32];
	int fd;

	if (serial)
		return open_serial(number);
	snprintf(path, sizeof(path), "/dev/vport0p%d", number);
	for (int tries = 0; tries < 60000; tries++) {
		fd = open(path, O_RDWR | O_CLOEXEC);
		if (fd >= 0)
			return fd;
		usleep(1000);
	}
	log_line("memcast-vm: no virtio port; is CONFIG_VIRTIO_CONSOLE there?\n");
	exit(1);
}

/* Loads a module by "PATH PARAMETERS"; the host explains errors. */
static int load(char *spec)
{
	char *parameters = strchr(spec, ' ');
	int fd, ret;

	if (parameters)
		*parameters++ = '\0';
	fd = open(spec, O_RDONLY | O_CLOEXEC);
	ret = syscall(SYS_finit_module, fd, parameters ?: "", 0);
	if (ret && errno == EEXIST)
		ret = 0;
	close(fd);
	return ret;
}

/* Ranks of a program meet at a local address, and ask what machine they are on. */
static void start_network(void)
{
	struct ifreq loopback = { .ifr_name = "lo", .ifr_flags = IFF_UP };
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	sethostname("memcast", 7);
	ioctl(fd, SIOCSIFFLAGS, &loopback);
	close(fd);
}

/* Each rank that crashes leaves a core file of its own, if ulimit -c allows core files. */
static void name_cores(void)
{
	int fd = open("/proc/sys/kernel/core_pattern", O_WRONLY | O_CLOEXEC);

	if (fd >= 0 && write(fd, "core.%e.%p", 10) < 0)
		fail("cannot name core dumps");
	close(fd);
}

/* Gives all users cameras and screens, as a person at a machine may use them. */
static void make_public(const char *folder, const char *prefix)
{
	DIR *dir = opendir(folder);
	struct dirent *entry;

	while (dir && (entry = readdir(dir)))
		if (!strncmp(entry->d_name, prefix, strlen(prefix)))
			fchmodat(dirfd(dir), entry->d_name, 0666, 0);
	if (dir)
		closedir(dir);
}

static void scan_leaks(bool settle)
{
	char line[512];
	FILE *file;
	int fd = open(KMEMLEAK, O_RDWR | O_CLOEXEC);

	if (fd < 0)
		return;
	write(fd, "scan", 4);
	if (settle) {
		/* kmemleak only reports memory that is older than 5 s. */
		sleep(6);
		write(fd, "scan", 4);
	}
	close(fd);
	file = fopen(KMEMLEAK, "re");
	while (file && fgets(line, sizeof(line), file))
		log_line(line);
	if (file)
		fclose(file);
}

/* References to the module that a program left go within moments, or never. */
static void unload_module(void)
{
	int ret = -1;

	for (int tries = 0; tries < 2000 && ret; tries++) {
		ret = syscall(SYS_delete_module, "memcast", O_NONBLOCK);
		if (ret && errno == ENOENT)
			ret = 0;
		else if (ret)
			usleep(10000);
	}
	report("unload %s\n", ret ? strerror(errno) : "ok");
}

/* The kernel's taints by bad pages (and KASAN reports), bugs, warnings and lockups */
#define TAINTS_OF_REPORTS	(1UL << 5 | 1UL << 7 | 1UL << 9 | 1UL << 14)

/*
 * After a report during boot the kernel finds no more errors: lockdep is off then, and KASAN
 * reports no second time. The program is not the cause, so the host boots another machine.
 */
static void expect_no_report_yet(void)
{
	unsigned long taints = 0;
	FILE *file = fopen("/proc/sys/kernel/tainted", "re");

	if (!file)
		return;
	if (fscanf(file, "%lu", &taints) == 1 && taints & TAINTS_OF_REPORTS) {
		log_line("memcast-vm: the kernel reported something while it booted\n");
		exit(1);
	}
	fclose(file);
}

int main(void)
{
	char **settings, *memcast = NULL;
	struct vm_result result = { 0 };

	mount_all();
	expect_no_report_yet();
	log_line("memcast-vm: init\n");
	/* kvm_works() in processors.py only tries whether the machine gets here. */
	if (!access("/memcast-vm/probe", F_OK))
		end();

	settings = strings("/memcast-vm/settings");
	for (char **s = settings; *s; s++) {
		char *value = strchr(*s, '=');

		*value++ = '\0';
		if (!strcmp(*s, "module")) {
			if (load(value))
				dprintf(2, "memcast-vm: cannot load %s: %s\n", value,
					strerror(errno));
		} else if (!strcmp(*s, "memcast"))
			memcast = value;
		else if (!strcmp(*s, "user"))
			sscanf(value, "%u:%u", &program.uid, &program.gid);
		else if (!strcmp(*s, "host"))
			program.host = true;
		else if (!strcmp(*s, "group") && program.groups_count < 64)
			program.groups[program.groups_count++] = atoi(value);
		else if (!strcmp(*s, "rw"))
			writable = append(writable, value);
		else if (!strcmp(*s, "nounload"))
			unload = false;
		else if (!strcmp(*s, "serial"))
			serial = true;
		else if (!strcmp(*s, "serve"))
			serve = (struct vm_serve){ 0, atof(value), &program };
		else if (!strcmp(*s, "alone"))
			alone = true;
		else if (!strcmp(*s, "noleaks"))
			leaks = false;
		else
			set_program(&program, *s, value);
	}
	ports.status = open_port(PORT_STATUS);
	report("booted\n");
	ports.out = open_port(PORT_OUT);
	ports.err = open_port(PORT_ERR);
	ports.in = open_port(PORT_IN);
	ports.control = open_port(PORT_CONTROL);
	if (program.host)
		files_from_host(writable);
	start_network();
	name_cores();
	make_public("/dev", "video");
	make_public("/dev/dri", "card");
	make_public("/dev/dri", "render");
	if (memcast) {
		if (load(memcast))
			fail("cannot load memcast.ko");
		chmod("/dev/memcast", 0666);
	}

	program.argv = strings("/memcast-vm/argv");
	program.env = strings("/memcast-vm/env");
	if (!serve.port) {
		serve.port = open_port(PORT_SERVE);
		program.others = vm_serve(&serve);
	}
	report("start\n");
	if (alone)
		vm_serve_wait(program.others, ports.control);
	else
		result = vm_run(&program, &ports);
	/* The tests for leaks and unloading would wait for objects that a hanging program holds. */
	if (result.time_is_up)
		end();
	report_result(&result);
	if (leaks)
		scan_leaks(true);
	if (memcast && unload) {
		unload_module();
		if (leaks)
			scan_leaks(false);
	}
	end();
}
