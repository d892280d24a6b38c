// SPDX-License-Identifier: MIT
#include <errno.h>
#include <fcntl.h>
#include <linux/videodev2.h>
#include <png.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "camera.h"
#include "helpers.h"

static int retried(int fd, unsigned long request, void *arg)
{
	int ret;

	do {
		ret = ioctl(fd, request, arg);
	} while (ret && errno == EINTR);
	return ret;
}

/* Return: the allocator that vivid was loaded with for its device @instance, or -1 */
static int allocator_of(unsigned int instance)
{
	FILE *file = fopen("/sys/module/vivid/parameters/allocators", "re");
	int value = -1;

	for (unsigned int i = 0; file && i <= instance; i++)
		if (fscanf(file, "%d,", &value) != 1)
			value = -1;
	if (file)
		fclose(file);
	return value;
}

static bool is_wanted(int camera, enum camera_way way)
{
	struct v4l2_capability can;
	unsigned int instance;

	return !retried(camera, VIDIOC_QUERYCAP, &can) &&
	       !strcmp((char *)can.driver, "vivid") &&
	       can.device_caps & V4L2_CAP_VIDEO_CAPTURE &&
	       sscanf((char *)can.bus_info, "platform:vivid-%u", &instance) == 1 &&
	       allocator_of(instance) == (int)way;
}

static int set_format(int camera)
{
	struct v4l2_format format = {
		.type = V4L2_BUF_TYPE_VIDEO_CAPTURE,
		.fmt.pix = {
			.width = CAMERA_WIDTH,
			.height = CAMERA_HEIGHT,
			.pixelformat = V4L2_PIX_FMT_RGB24,
			.field = V4L2_FIELD_NONE,
		},
	};

	if (retried(camera, VIDIOC_S_FMT, &format))
		return -1;
	if (format.fmt.pix.sizeimage == CAMERA_BYTES)
		return 0;
	errno = EINVAL;
	return -1;
}

/* Has node 0 memory beyond the reach of 32 bits? Such memory is in the zone Normal. */
static bool is_beyond_reach(void)
{
	FILE *file = fopen("/proc/zoneinfo", "re");
	unsigned long pages = 0;
	unsigned int node = 1;
	char line[256], zone[32] = "";

	while (file && !pages && fgets(line, sizeof(line), file))
		if (sscanf(line, "Node %u, zone %31s", &node, zone) != 2 && !node &&
		    !strcmp(zone, "Normal"))
			sscanf(line, " managed %lu", &pages);
	if (file)
		fclose(file);
	return pages;
}

int camera_open(enum camera_way way, const char **why)
{
	char path[32];
	int i;

	if (way == CAMERA_DMA && is_beyond_reach()) {
		*why = "needs a node 0 with no memory beyond 4 GiB";
		return -1;
	}
	if (way == CAMERA_DMA)
		run_on_cpu(0);
	for (i = 0; i < 16; i++) {
		int camera;

		snprintf(path, sizeof(path), "/dev/video%d", i);
		camera = open(path, O_RDWR | O_CLOEXEC);
		if (camera < 0)
			continue;
		if (is_wanted(camera, way) && !set_format(camera))
			return camera;
		close(camera);
	}
	*why = "needs the driver vivid, loaded with allocators=0,1";
	return -1;
}

static int control_of(int camera, const char *name, struct v4l2_queryctrl *control)
{
	control->id = V4L2_CTRL_FLAG_NEXT_CTRL;
	while (!retried(camera, VIDIOC_QUERYCTRL, control)) {
		if (!strcmp((char *)control->name, name))
			return 0;
		control->id |= V4L2_CTRL_FLAG_NEXT_CTRL;
	}
	errno = ENOENT;
	return -1;
}

int camera_set(int camera, const char *name, int value)
{
	struct v4l2_queryctrl control;
	struct v4l2_control set = { .value = value };

	if (control_of(camera, name, &control))
		return -1;
	set.id = control.id;
	return retried(camera, VIDIOC_S_CTRL, &set);
}

int camera_menu(int camera, const char *name, const char *item)
{
	struct v4l2_queryctrl control;
	int i;

	if (control_of(camera, name, &control))
		return -1;
	for (i = control.minimum; i <= control.maximum; i++) {
		struct v4l2_querymenu menu = { .id = control.id, .index = i };

		if (!retried(camera, VIDIOC_QUERYMENU, &menu) &&
		    !strcmp((char *)menu.name, item))
			return camera_set(camera, name, i);
	}
	errno = ENOENT;
	return -1;
}

static int request(int camera, unsigned int count)
{
	struct v4l2_requestbuffers buffers = {
		.count = count,
		.type = V4L2_BUF_TYPE_VIDEO_CAPTURE,
		.memory = V4L2_MEMORY_DMABUF,
	};

	if (retried(camera, VIDIOC_REQBUFS, &buffers))
		return -1;
	if (buffers.count == count)
		return 0;
	errno = ENOMEM;
	return -1;
}

int camera_queue(int camera, unsigned int index, int fd)
{
	struct v4l2_buffer buffer = {
		.type = V4L2_BUF_TYPE_VIDEO_CAPTURE,
		.memory = V4L2_MEMORY_DMABUF,
		.index = index,
		.m.fd = fd,
	};

	return retried(camera, VIDIOC_QBUF, &buffer);
}

int camera_start(int camera, const int *fds, unsigned int count)
{
	int type = V4L2_BUF_TYPE_VIDEO_CAPTURE;
	unsigned int i;

	if (request(camera, count))
		return -1;
	for (i = 0; i < count; i++)
		if (camera_queue(camera, i, fds[i]))
			return -1;
	return retried(camera, VIDIOC_STREAMON, &type);
}

int camera_take(int camera, uint32_t *sequence)
{
	struct v4l2_buffer buffer = {
		.type = V4L2_BUF_TYPE_VIDEO_CAPTURE,
		.memory = V4L2_MEMORY_DMABUF,
	};

	if (retried(camera, VIDIOC_DQBUF, &buffer))
		return -1;
	if (buffer.flags & V4L2_BUF_FLAG_ERROR || buffer.bytesused != CAMERA_BYTES) {
		errno = EIO;
		return -1;
	}
	*sequence = buffer.sequence;
	return buffer.index;
}

int camera_stop(int camera)
{
	int type = V4L2_BUF_TYPE_VIDEO_CAPTURE;

	return retried(camera, VIDIOC_STREAMOFF, &type) || request(camera, 0) ? -1 : 0;
}

bool camera_is_bars(const uint8_t *frame)
{
	/* white, yellow, cyan, green, magenta, red, blue, black */
	static const uint8_t bars[8][3] = {
		{ 255, 255, 255 }, { 255, 255, 0 }, { 0, 255, 255 }, { 0, 255, 0 },
		{ 255, 0, 255 }, { 255, 0, 0 }, { 0, 0, 255 }, { 0, 0, 0 },
	};
	unsigned int x;

	for (x = 0; x < CAMERA_WIDTH; x++)
		if (memcmp(frame + x * 3, bars[x * 8 / CAMERA_WIDTH], 3))
			return false;
	return camera_is_whole(frame);
}

bool camera_is_whole(const uint8_t *frame)
{
	unsigned int y;

	for (y = 1; y < CAMERA_HEIGHT; y++)
		if (memcmp(frame, frame + y * CAMERA_LINE, CAMERA_LINE))
			return false;
	return true;
}

int camera_write(const uint8_t *frame, const char *path)
{
	png_image image = {
		.version = PNG_IMAGE_VERSION,
		.width = CAMERA_WIDTH,
		.height = CAMERA_HEIGHT,
		.format = PNG_FORMAT_RGB,
	};

	return png_image_write_to_file(&image, path, 0, frame, CAMERA_LINE, NULL) ? 0 : -1;
}
