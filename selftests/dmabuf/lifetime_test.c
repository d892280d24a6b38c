// SPDX-License-Identifier: MIT
/*
 * Every order in which the holders of an exported memory can let go of it: the exporting
 * process, another driver that has imported the memory, and an fd in a third process,
 * which runs this test. After every step the test tries to unload the module. It never
 * opens /dev/memcast: it reads the module's counters.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include "camera.h"
#include "importer.h"
#include "memcast_test.h"
#include "peers.h"

enum event { EXPORTER_EXITS, IMPORTER_EXITS, FD_CLOSED, DEVICE_GOES, EVENTS };

/* An importer takes a dma-buf. Return: the fd that holds the dma-buf, or -1 */
static int by_vgem(int fd)
{
	int card = vgem_open();

	return card >= 0 && vgem_import(card, fd) ? card : -1;
}

static int by_importer(int fd)
{
	const char *why;
	int importer = importer_open(&why);
	uint32_t id;

	if (importer < 0 || importer_attach(importer, fd, &id) ||
	    importer_map(importer, id, 0, MEMCAST_IMPORTER_BOTH, NULL))
		return -1;
	return importer;
}

static int by_camera(int fd)
{
	const char *why;
	int camera = camera_open(CAMERA_DMA, &why);

	return camera >= 0 && !camera_start(camera, (int[]){ fd, fd }, 2) ? camera : -1;
}

static int unload(const char *module)
{
	return syscall(SYS_delete_module, module, O_NONBLOCK) ? errno : 0;
}

static int vivid(const char *file)
{
	char path[64];
	int fd, ret;

	snprintf(path, sizeof(path), "/sys/bus/platform/drivers/vivid/%s", file);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	ret = write(fd, "vivid.0", 7) == 7 ? 0 : -1;
	close(fd);
	return ret;
}

FIXTURE(lifetime)
{
	long all;			/* bytes of device 0's pool */
	int exporter, importer;		/* links */
	pid_t exporter_pid, importer_pid;
	int fd;
	bool held[EVENTS];		/* the holder that event i ends has the memory */
	bool device;			/* the importing device is there */
};

FIXTURE_VARIANT(lifetime)
{
	int (*attach)(int fd);
	const char *module;
	unsigned int events;		/* the first so many of enum event can happen */
};

FIXTURE_VARIANT_ADD(lifetime, vgem)
{
	.attach = by_vgem,
	.module = "vgem",
	.events = DEVICE_GOES,
};

/* The importer's device goes with its module, which cannot be unloaded while in use. */
FIXTURE_VARIANT_ADD(lifetime, importer)
{
	.attach = by_importer,
	.module = "memcast_importer",
	.events = EVENTS,
};

/* vivid's device can be unbound at any time, even while it writes frames. */
FIXTURE_VARIANT_ADD(lifetime, vivid)
{
	.attach = by_camera,
	.module = "vivid",
	.events = EVENTS,
};

FIXTURE_SETUP(lifetime)
{
	const char *why = "needs the driver vgem, and root";
	int device;

	if (variant->attach == by_vgem) {
		device = vgem_open();
	} else if (variant->attach == by_importer) {
		device = importer_open(&why);
	} else {
		device = camera_open(CAMERA_DMA, &why);
		if (geteuid())
			SKIP(return, "needs root");
	}
	if (device < 0)
		SKIP(return, "%s", why);
	close(device);
	self->all = device_bytes(0, "pool_bytes");
}
NOTHING_LEFT(lifetime)

/*
 * Waits: the memory is freed before the call that lets go of it returns, but a process
 * takes a moment to exit.
 */
static bool becomes(long (*what)(void), long value)
{
	return comes_true(what() == value);
}

static long free_bytes(void)
{
	return device_bytes(0, "free_bytes");
}

static long references(void)
{
	FILE *file = fopen("/sys/module/memcast/refcnt", "re");
	long count = -1;

	if (file && fscanf(file, "%ld", &count) != 1)
		count = -1;
	if (file)
		fclose(file);
	return count;
}

static void exporter(struct __test_metadata *_metadata, int link)
{
	CUmemGenericAllocationHandle own;

	cuda_start(0);
	own = new_memory(0, CHUNK);
	memset((void *)mapped(own, CHUNK, 0), 0x42, CHUNK);
	send_fd(link, exported(own));
	receive_number(link);
	_exit(0);
}

static void importer(struct __test_metadata *_metadata, int link, int (*attach)(int fd), int fd)
{
	int held = attach(fd);

	close(fd);
	send_number(link, held);
	receive_number(link);
	_exit(0);
}

static void begin(struct __test_metadata *_metadata, FIXTURE_DATA(lifetime) *self,
		  const FIXTURE_VARIANT(lifetime) *variant)
{
	int link;
	pid_t pid;

	/* all processes of a test share the fixture, so only this process writes to it */
	pid = peer_fork(&link);
	if (!pid)
		exporter(_metadata, link);
	self->exporter_pid = pid;
	self->exporter = link;
	self->fd = receive_fd(link);

	pid = peer_fork(&link);
	if (!pid)
		importer(_metadata, link, variant->attach, self->fd);
	self->importer_pid = pid;
	self->importer = link;
	ASSERT_LE(0, receive_number(link));
	for (int i = 0; i < EVENTS; i++)
		self->held[i] = i < DEVICE_GOES;
	self->device = true;
}

/* The chunk is not free, and keeps its contents, as long as anything holds the memory. */
static void check(struct __test_metadata *_metadata, FIXTURE_DATA(lifetime) *self)
{
	bool held = self->held[EXPORTER_EXITS] || self->held[IMPORTER_EXITS] ||
		    self->held[FD_CLOSED];

	ASSERT_TRUE(becomes(free_bytes, held ? self->all - (long)CHUNK : self->all));
	if (held) {
		ASSERT_LT(0, references());
		EXPECT_EQ(EAGAIN, unload("memcast"));
	} else {
		EXPECT_TRUE(becomes(references, 0));
	}
	if (self->held[FD_CLOSED]) {
		unsigned char *at = mmap(NULL, CHUNK, PROT_READ, MAP_SHARED, self->fd, 0);

		ASSERT_NE(MAP_FAILED, (void *)at);
		EXPECT_EQ(0x42, at[CHUNK - 1]);
		ASSERT_EQ(0, munmap(at, CHUNK));
	}
}

static void happen(struct __test_metadata *_metadata, FIXTURE_DATA(lifetime) *self,
		   const FIXTURE_VARIANT(lifetime) *variant, enum event event)
{
	bool open = self->held[IMPORTER_EXITS];

	switch (event) {
	case EXPORTER_EXITS:
		end_peer(self->exporter, self->exporter_pid);
		break;
	case IMPORTER_EXITS:
		end_peer(self->importer, self->importer_pid);
		break;
	case FD_CLOSED:
		ASSERT_EQ(0, close(self->fd));
		break;
	case DEVICE_GOES:
		if (variant->attach == by_camera) {
			ASSERT_EQ(0, vivid("unbind"));
			self->held[IMPORTER_EXITS] = false;
		} else {
			EXPECT_EQ(open ? EAGAIN : 0, unload(variant->module));
		}
		break;
	default:
		break;
	}
	self->held[event] = false;
}

/* @order: output, permutation number @number of the first @count events */
static void make_order(enum event *order, unsigned int count, unsigned int number)
{
	enum event left[EVENTS] = { EXPORTER_EXITS, IMPORTER_EXITS, FD_CLOSED, DEVICE_GOES };

	for (unsigned int i = 0; i < count; i++) {
		unsigned int which = number % (count - i);

		number /= count - i;
		order[i] = left[which];
		memmove(&left[which], &left[which + 1],
			(EVENTS - which - 1) * sizeof(left[0]));
	}
}

TEST_F(lifetime, every_order)
{
	const unsigned int orders = variant->events == EVENTS ? 24 : 6;
	enum event order[EVENTS];

	for (unsigned int number = 0; number < orders; number++) {
		begin(_metadata, self, variant);
		check(_metadata, self);
		/* nor can the importer's module be unloaded while its device is open */
		EXPECT_EQ(EAGAIN, unload(variant->module));
		make_order(order, variant->events, number);
		for (unsigned int i = 0; i < variant->events; i++) {
			happen(_metadata, self, variant, order[i]);
			check(_metadata, self);
		}
		if (variant->attach == by_camera)
			ASSERT_EQ(0, vivid("bind"));
		peer_close(self->exporter);
		peer_close(self->importer);
		if (!__test_passed(_metadata))
			TH_LOG("in order %u: %d %d %d %d", number, order[0], order[1],
			       order[2], order[3]);
	}
}

/* Exporter and importer are killed, in both orders, before the fd is closed. */
TEST_F(lifetime, killed)
{
	for (int first = 0; first < 2; first++) {
		begin(_metadata, self, variant);
		for (int i = 0; i < 2; i++) {
			bool exporter = i == first;

			kill(exporter ? self->exporter_pid : self->importer_pid, SIGKILL);
			reap_child(exporter ? self->exporter_pid : self->importer_pid);
			self->held[exporter ? EXPORTER_EXITS : IMPORTER_EXITS] = false;
			check(_metadata, self);
		}
		happen(_metadata, self, variant, FD_CLOSED);
		check(_metadata, self);
		peer_close(self->exporter);
		peer_close(self->importer);
	}
}

TEST_HARNESS_MAIN
