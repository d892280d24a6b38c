// SPDX-License-Identifier: MIT
/*
 * A camera that films into every device at once.
 *
 * The frames of a V4L2 camera go into dma-bufs of multicast teams: what the
 * camera's driver writes there reaches the memory of each member. There is no copy
 * in this program, and one look at each replica to show that they are the same.
 *
 *	make && tools/memcast-vm --modules vivid -- build/examples/dmabuf-camera
 *
 * vivid is the kernel's own camera without hardware; any other will do that can
 * be asked for RGB24 and takes dma-bufs, as nearly all do.
 */
#define _GNU_SOURCE
#include <argp.h>
#include <cuda.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/dma-buf.h>
#include <linux/videodev2.h>
#include <memcast/view.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

/* The camera fills one while we look at another and a third waits. */
#define BUFFERS	3

static struct {
	const char *camera, *prefix;
	unsigned int frames, width, height;
} options = {
	.camera = "/dev/video0", .frames = 8, .width = 640, .height = 360,
};

static void __attribute__((noreturn, format(printf, 1, 2))) die(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fputc('\n', stderr);
	exit(1);
}

/* Set CUDA_LOG_FILE=stderr to read why, in words. */
static void check(CUresult result, const char *what)
{
	const char *name = "?";

	if (result == CUDA_SUCCESS)
		return;
	cuGetErrorName(result, &name);
	die("%s: %s", what, name);
}

/* ---- one buffer: a team, a memory of each device in it, and its dma-buf ---- */

struct buffer {
	struct memcast_view view;	/* its replicas, for us to look at */
	int fd;				/* its dma-buf, for the camera */
};

static void make_buffer(struct buffer *buffer, int devices, size_t bytes)
{
	const CUmemAllocationHandleType shareable = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
	CUmulticastObjectProp prop = { .numDevices = devices, .handleTypes = shareable };
	CUmemAllocationProp on = {
		.type = CU_MEM_ALLOCATION_TYPE_PINNED,
		.requestedHandleTypes = shareable,
		.location.type = CU_MEM_LOCATION_TYPE_DEVICE,
	};
	CUmemGenericAllocationHandle team, memory;
	size_t granularity;

	check(cuMulticastGetGranularity(&granularity, &prop, CU_MULTICAST_GRANULARITY_MINIMUM),
	      "cuMulticastGetGranularity");
	prop.size = (bytes + granularity - 1) / granularity * granularity;
	check(cuMulticastCreate(&team, &prop), "cuMulticastCreate");
	for (int i = 0; i < devices; i++)
		check(cuMulticastAddDevice(team, i), "cuMulticastAddDevice");
	for (int i = 0; i < devices; i++) {
		on.location.id = i;
		check(cuMemCreate(&memory, prop.size, &on, 0), "cuMemCreate");
		check(cuMulticastBindMem(team, 0, memory, 0, prop.size, 0), "cuMulticastBindMem");
	}
	check(memcastViewCreate(&buffer->view, team, 0, prop.size), "memcastViewCreate");
	check(cuMemExportToShareableHandle(&buffer->fd, team, shareable, 0),
	      "cuMemExportToShareableHandle");
}

/* ---- the camera ---- */

static bool camera_call(int camera, unsigned long request, void *arg)
{
	int ret;

	do {
		ret = ioctl(camera, request, arg);
	} while (ret && errno == EINTR);
	return !ret;
}

static int camera_open(struct v4l2_pix_format *picture)
{
	struct v4l2_format format = {
		.type = V4L2_BUF_TYPE_VIDEO_CAPTURE,
		.fmt.pix = {
			.width = options.width,
			.height = options.height,
			.pixelformat = V4L2_PIX_FMT_RGB24,
			.field = V4L2_FIELD_NONE,
		},
	};
	int camera = open(options.camera, O_RDWR | O_CLOEXEC);

	if (camera < 0)
		die("%s: %s; is there a camera? (memcast-vm: --modules vivid)", options.camera,
		    strerror(errno));
	/* The driver changes what it cannot do to what comes next to it. */
	if (!camera_call(camera, VIDIOC_S_FMT, &format))
		die("%s: VIDIOC_S_FMT: %s", options.camera, strerror(errno));
	*picture = format.fmt.pix;
	if (picture->pixelformat != V4L2_PIX_FMT_RGB24)
		die("%s: has no RGB24", options.camera);
	return camera;
}

static void camera_queue(int camera, unsigned int index, int fd)
{
	struct v4l2_buffer buffer = {
		.type = V4L2_BUF_TYPE_VIDEO_CAPTURE,
		.memory = V4L2_MEMORY_DMABUF,
		.index = index,
		.m.fd = fd,
	};

	if (!camera_call(camera, VIDIOC_QBUF, &buffer))
		die("%s: VIDIOC_QBUF: %s", options.camera, strerror(errno));
}

static void camera_start(int camera, const struct buffer *buffers)
{
	struct v4l2_requestbuffers request = {
		.count = BUFFERS,
		.type = V4L2_BUF_TYPE_VIDEO_CAPTURE,
		.memory = V4L2_MEMORY_DMABUF,
	};

	if (!camera_call(camera, VIDIOC_REQBUFS, &request) || request.count < BUFFERS)
		die("%s: it does not take dma-bufs", options.camera);
	for (unsigned int i = 0; i < BUFFERS; i++)
		camera_queue(camera, i, buffers[i].fd);
	if (!camera_call(camera, VIDIOC_STREAMON, &request.type))
		die("%s: VIDIOC_STREAMON: %s", options.camera, strerror(errno));
}

/* Waits for a frame. Return: the buffer that it is in */
static unsigned int camera_take(int camera, unsigned int *number)
{
	struct v4l2_buffer buffer = {
		.type = V4L2_BUF_TYPE_VIDEO_CAPTURE,
		.memory = V4L2_MEMORY_DMABUF,
	};

	if (!camera_call(camera, VIDIOC_DQBUF, &buffer))
		die("%s: VIDIOC_DQBUF: %s", options.camera, strerror(errno));
	*number = buffer.sequence;
	return buffer.index;
}

/*
 * Brackets around our access, as every dma-buf asks for. Many drivers leave a
 * buffer mapped from frame to frame: the end of a bracket that writes is what
 * tells memcast to broadcast.
 */
static void bracket(int fd, uint64_t start_or_end)
{
	struct dma_buf_sync sync = { .flags = start_or_end | DMA_BUF_SYNC_RW };

	if (!camera_call(fd, DMA_BUF_IOCTL_SYNC, &sync))
		die("DMA_BUF_IOCTL_SYNC: %s", strerror(errno));
}

/* ---- what came ---- */

/* FNV-1a, of the lines without what the driver may leave at their ends */
static uint64_t checksum(const unsigned char *frame, const struct v4l2_pix_format *picture)
{
	uint64_t sum = 0xcbf29ce484222325;

	for (unsigned int y = 0; y < picture->height; y++)
		for (unsigned int x = 0; x < picture->width * 3; x++)
			sum = (sum ^ frame[y * picture->bytesperline + x]) * 0x100000001b3;
	return sum;
}

static void show_colours(const unsigned char *frame, const struct v4l2_pix_format *picture)
{
	unsigned long sums[3] = { };
	unsigned long pixels = (unsigned long)picture->width * picture->height;

	for (unsigned int y = 0; y < picture->height; y++)
		for (unsigned int x = 0; x < picture->width * 3; x++)
			sums[x % 3] += frame[y * picture->bytesperline + x];
	printf("  mean colour %lu %lu %lu", sums[0] / pixels, sums[1] / pixels, sums[2] / pixels);
}

static void write_ppm(const unsigned char *frame, const struct v4l2_pix_format *picture,
		      unsigned int replica)
{
	char path[256];
	FILE *file;

	snprintf(path, sizeof(path), "%s-%u.ppm", options.prefix, replica);
	file = fopen(path, "we");
	if (!file)
		die("%s: %s", path, strerror(errno));
	fprintf(file, "P6\n%u %u\n255\n", picture->width, picture->height);
	for (unsigned int y = 0; y < picture->height; y++)
		fwrite(frame + y * picture->bytesperline, 3, picture->width, file);
	fclose(file);
}

/* Return: whether all replicas have the same */
static bool look(const struct memcast_view *view, const struct v4l2_pix_format *picture,
		 unsigned int number)
{
	uint64_t first = checksum(view->replica[0], picture);
	bool same = true;

	printf("frame %3u", number);
	for (unsigned int i = 0; i < view->replicas; i++) {
		uint64_t sum = checksum(view->replica[i], picture);

		printf("  %016" PRIx64, sum);
		same &= sum == first;
	}
	show_colours(view->replica[0], picture);
	printf("%s\n", same ? "" : "  DIFFERENT");
	return same;
}

static const struct argp_option argp_options[] = {
	{ "camera", 'c', "PATH", 0, "a V4L2 capture device (/dev/video0)", 0 },
	{ "frames", 'n', "N", 0, "how many to take (8)", 0 },
	{ "size", 's', "WxH", 0, "of the frames, if the camera can (640x360)", 0 },
	{ "output", 'o', "PREFIX", 0,
	  "write the last frame of each replica to PREFIX-REPLICA.ppm", 0 },
	{ }
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	switch (key) {
	case 'c':
		options.camera = arg;
		return 0;
	case 'n':
		options.frames = strtoul(arg, NULL, 10);
		if (!options.frames)
			argp_error(state, "no number of frames: %s", arg);
		return 0;
	case 's':
		if (sscanf(arg, "%ux%u", &options.width, &options.height) != 2)
			argp_error(state, "no size: %s", arg);
		return 0;
	case 'o':
		options.prefix = arg;
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec + time.tv_nsec * 1e-9;
}

int main(int argc, char **argv)
{
	const struct argp argp = {
		.options = argp_options,
		.parser = parse,
		.doc = "Film into the memories of all devices, through dma-bufs of teams.",
	};
	struct buffer buffers[BUFFERS];
	struct v4l2_pix_format picture;
	int camera, devices, bad = 0;
	double started;

	argp_parse(&argp, argc, argv, 0, NULL, NULL);
	camera = camera_open(&picture);
	check(cuInit(0), "cuInit");
	check(cuDeviceGetCount(&devices), "cuDeviceGetCount");
	for (int i = 0; i < BUFFERS; i++)
		make_buffer(&buffers[i], devices, picture.sizeimage);
	printf("%s: %ux%u, %u bytes a frame, to %d devices; checksum of each replica:\n",
	       options.camera, picture.width, picture.height, picture.sizeimage, devices);

	camera_start(camera, buffers);
	started = now();
	for (unsigned int i = 0; i < options.frames; i++) {
		unsigned int number, which = camera_take(camera, &number);
		struct buffer *buffer = &buffers[which];

		bracket(buffer->fd, DMA_BUF_SYNC_START);
		bracket(buffer->fd, DMA_BUF_SYNC_END);
		bad += !look(&buffer->view, &picture, number);
		for (unsigned int r = 0; options.prefix && i + 1 == options.frames &&
					 r < buffer->view.replicas; r++)
			write_ppm(buffer->view.replica[r], &picture, r);
		camera_queue(camera, which, buffer->fd);
	}
	printf("%u frames, %.1f per second, %d with replicas that differ\n", options.frames,
	       options.frames / (now() - started), bad);
	/* The buffers of the camera and the memory of the devices end with the process. */
	return bad ? 1 : 0;
}
