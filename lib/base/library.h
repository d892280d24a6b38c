/* SPDX-License-Identifier: MIT */
/*
 * What the files of the library share. A call's way: the exported function
 * (CALL: check that the library is initialised, log a failure) → a static
 * function that fills in the ioctl's argument → device_ioctl().
 *
 * The kernel is the single source of truth: what it checks is not checked here.
 * Here: pointers, 64-bit flags, what has no place in the ioctl's argument.
 */
#ifndef MEMCAST_LIBRARY_H
#define MEMCAST_LIBRARY_H

#include <limits.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What these headers declare is exported, all else is hidden. */
#pragma GCC visibility push(default)
#include <cuda.h>
#include <memcast/log.h>
#include <memcast/trap.h>
#include <memcast/view.h>
#pragma GCC visibility pop

#include <uapi/memcast.h>

#pragma GCC visibility push(hidden)	/* reached without the table of what is exported */

/* The newest CUDA version of which an interface is in functions.def. */
#define DRIVER_VERSION	13010

#define ARRAY_SIZE(array)	(sizeof(array) / sizeof((array)[0]))

/* process.c */
CUresult library_ready(void);
bool library_open(void);
bool library_forked(void);
int library_fd(void);

/* ioctl.c */
/* Of ENOMEM where the kernel cannot give a reason */
#define SHARE_HINT	"(of the machine, or of this user's share: module parameter host_user_mib)"
CUresult result_of_errno(int error);
CUresult device_open(int *fd);
CUresult device_ioctl_fd(int fd, unsigned long request,
			 struct memcast_header *header, size_t size);

bool device_ask_fd(int fd, unsigned long request, struct memcast_header *header, size_t size);

#define device_ask(request, argument) \
	device_ask_fd(library_fd(), request, &(argument)->header, sizeof(*(argument)))
#define device_ioctl(request, argument) \
	device_ioctl_fd(library_fd(), request, &(argument)->header, sizeof(*(argument)))

/* reason.c */
__attribute__((format(printf, 2, 3)))
CUresult fail(CUresult result, const char *reason, ...);
const char *fail_reason(void);
char *reason_buffer(size_t *size);
void write_line(int fd, const char *line, size_t length);
__attribute__((format(printf, 3, 4)))
void log_failure(const char *call, CUresult result, const char *arguments, ...);

void log_notice(const char *text);

/* log_ring.c: where the lines go beside CUDA_LOG_FILE */
#define LOG_LINE	1024
void logs_add(const char *line, size_t length);
void logs_call_back(CUlogLevel level, const char *line, size_t length);

/* reason.c: how many calls are to fail, and whether this one is. entry/inject.c knows. */
extern unsigned int inject_count;
extern CUresult (*inject_result)(const char *symbol);

/* The arguments are formatted only if the call failed. */
#define LOGGED(expression, ...)	LOGGED_AS(__func__, expression, __VA_ARGS__)

#define LOGGED_AS(name, expression, ...)						\
({										\
	CUresult result_ = CUDA_SUCCESS;					\
										\
	if (__builtin_expect(inject_count, 0))					\
		result_ = inject_result(name);				\
	if (result_ == CUDA_SUCCESS)						\
		result_ = (expression);						\
	if (__builtin_expect(result_ != CUDA_SUCCESS, 0))			\
		log_failure(name, result_, __VA_ARGS__);			\
	result_;								\
})

#define CALL(expression, ...)							\
({										\
	CUresult ready_ = library_ready();					\
										\
	LOGGED(ready_ == CUDA_SUCCESS ? (expression) : ready_, __VA_ARGS__);	\
})

/*
 * As CALL(), for what hardware looks at before all else, even before cuInit(): that
 * handles which stand for nothing are not NULL. @refusal: what it answers otherwise.
 */
#define CALL_ON(handles, refusal, expression, ...)				\
	((handles) ? CALL(expression, __VA_ARGS__) :				\
		     LOGGED(fail(refusal, "NULL handle"), __VA_ARGS__))

/*
 * An older name of a function. Each has an address of its own, as with NVIDIA's driver,
 * so that a program can tell which one it was given.
 */
#define OLDER_NAME(old, parameters, call)	\
	CUresult old parameters			\
	{					\
		return call;			\
	}

/*
 * A thread that is cancelled between these two goes on until cancel_release(): it
 * would otherwise end with a lock held, or with something counted or opened for ever.
 * Whatever takes locks, calls malloc() or comes to a cancellation point is in between.
 */
static inline int cancel_hold(void)
{
	int before;

	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before);
	return before;
}

static inline void cancel_release(int before)
{
	pthread_setcancelstate(before, NULL);
}

/* As CALL() and LOGGED(), and a thread that is cancelled meanwhile ends after the call. */
#define WHOLE(expression)							\
({										\
	int before_ = cancel_hold();						\
	CUresult whole_ = (expression);						\
										\
	cancel_release(before_);						\
	whole_;									\
})

#define WHOLE_CALL(expression, ...)	WHOLE(CALL(expression, __VA_ARGS__))
#define WHOLE_CALL_ON(handles, refusal, expression, ...)	\
	WHOLE(CALL_ON(handles, refusal, expression, __VA_ARGS__))
#define WHOLE_LOGGED(expression, ...)	WHOLE(LOGGED(expression, __VA_ARGS__))

/* error.c */
const char *error_name(CUresult result);
bool error_known(CUresult result);

/* device/open.c */
CUresult device_open_checked(int *fd, int *devices);
CUresult library_borrow(bool *borrowed);
void library_return(void);

/* device.c */
CUresult device_info(CUdevice device, struct memcast_device_info *info);
CUresult system_info(struct memcast_system_info *info);

/* attribute.c, override.c */
CUresult device_attribute(int *value, CUdevice_attribute attribute, CUdevice device);
void attribute_overrides_read(int devices);
void attribute_overrides_complain(int devices);
bool attribute_override(int *value, CUdevice_attribute attribute, CUdevice device);
bool attribute_named(const char *name, size_t length, CUdevice_attribute *attribute);
bool attribute_number(const char *text, const char *end, int *value);

/* profile.c: what a kind of device says of itself */
void profile_read(void);
void profile_complain(void);
int profile_attribute(CUdevice_attribute attribute);
const char *profile_name(void);
size_t profile_recommended(size_t minimum);

/* visible.c: a device number that no device has, for those that the program does not see */
uint32_t visible_number(CUdevice device);

static inline uint32_t device_number(CUdevice device)
{
	return visible_number(device);
}

static inline uint32_t location_number(const CUmemLocation *location)
{
	return location->type == CU_MEM_LOCATION_TYPE_DEVICE ? device_number(location->id) :
							       (uint32_t)location->id;
}

/* context.c */
CUresult context_device(uint32_t *device);

/* memory.c */
static inline CUresult memory_handle(CUmemGenericAllocationHandle handle, uint32_t *number)
{
	if (handle > UINT32_MAX)
		return fail(CUDA_ERROR_INVALID_VALUE, "no such handle");
	*number = handle;
	return CUDA_SUCCESS;
}

CUresult memory_other_handle_types(unsigned long long types, uint32_t *mask);

/* As a mask of MEMCAST_HANDLE_…; mostly it is an fd or nothing. */
static inline CUresult memory_handle_types(unsigned long long types, uint32_t *mask)
{
	if (types & ~(unsigned long long)CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR)
		return memory_other_handle_types(types, mask);
	*mask = types ? MEMCAST_HANDLE_FD : 0;
	return CUDA_SUCCESS;
}

CUmemAllocationHandleType memory_types_of_mask(uint32_t mask);
CUresult memory_handle_info(CUmemGenericAllocationHandle handle,
			    struct memcast_handle_info *info);

/* memory/wait.c */
CUresult team_ioctl(const char *call, unsigned long request, struct memcast_header *argument,
		    size_t size, uint32_t team, uint32_t memory);

/* fabric.c */
CUresult fabric_open_channels(void);

/* address.c */
CUresult address_reserve(CUdeviceptr *address, size_t size, size_t alignment,
			 CUdeviceptr hint);
CUresult address_free_mapped(CUdeviceptr address, size_t size);
#define ACCESS_ENTRIES	(2 * MEMCAST_MAX_DEVICES)
/* For so many descriptors, in an array on the stack: some threads have little of that. */
#define ACCESS_ROOM(count)	((count) && (count) <= ACCESS_ENTRIES ? (count) : 1)
CUresult access_entries(struct memcast_access_entry *entries,
			const CUmemAccessDesc *desc, size_t count);

/* view.c */
CUresult view_map(const char *call, struct memcast_view *view,
		  const struct memcast_handle_info *team, size_t offset, size_t bytes,
		  struct memcast_team_member *member, unsigned int count);
CUresult view_allow(const struct memcast_view *view, unsigned int first,
		    unsigned int count, CUdevice device, CUmemAccess_flags access);
void view_unmap(const struct memcast_view *view);

/* window.c: the views of windows; what a signal handler may call */
CUresult window_view(CUdeviceptr address, const struct memcast_view **view,
		     size_t *offset, CUmemAccess_flags *access);
bool window_trapped(CUdeviceptr address, const struct memcast_view **view,
		    size_t *offset, CUmemAccess_flags *access);
bool window_near(CUdeviceptr address);
bool window_between(CUdeviceptr address);
void windows_mapped(CUdeviceptr address, size_t bytes);
void windows_changed(CUdeviceptr address, size_t bytes);

/* registry.c: functions for kernels, which MEMCAST_KERNELS names */
CUresult kernels_load(void);

/* fault/: plain stores to windows, and faults at addresses of ours */
void fault_install(void);
bool fault_strict(void);

/*
 * memory/address.c: what faults want to know of memory; lib/fault/ fills it in as the
 * library is loaded.
 */
extern const struct memory_watcher {
	/* MEMCAST_STRICT: no plain loads and stores at a team's addresses */
	bool (*strict)(void);
	/* the program has a handle that may be a team's */
	void (*expect_team)(void);
	/* something is mapped at an address */
	void (*mapped)(CUdeviceptr address);
} *memory_watcher;

/*
 * Older interfaces that binaries still import by name; see entry.c. Those that
 * cuda.h has under a new name are declared here under their own.
 */
#undef cuGetProcAddress
#undef cuDeviceGetUuid
#undef cuDevicePrimaryCtxRelease
#undef cuDevicePrimaryCtxReset
#undef cuDevicePrimaryCtxSetFlags
#undef cuCtxCreate
#undef cuCtxDestroy
#undef cuCtxPopCurrent
#undef cuCtxPushCurrent

#pragma GCC visibility push(default)
CUresult cuGetProcAddress(const char *symbol, void **pfn, int cudaVersion,
			  cuuint64_t flags);
CUresult cuGetProcAddress_v2_ptsz(const char *symbol, void **pfn, int cudaVersion,
				  cuuint64_t flags,
				  CUdriverProcAddressQueryResult *symbolStatus);
CUresult cuDeviceGetUuid(CUuuid *uuid, CUdevice dev);
CUresult cuDevicePrimaryCtxRelease(CUdevice dev);
CUresult cuDevicePrimaryCtxReset(CUdevice dev);
CUresult cuDevicePrimaryCtxSetFlags(CUdevice dev, unsigned int flags);
CUresult cuCtxCreate(CUcontext *pctx, unsigned int flags, CUdevice dev);
CUresult cuCtxDestroy(CUcontext ctx);
CUresult cuCtxPopCurrent(CUcontext *pctx);
CUresult cuCtxPushCurrent(CUcontext ctx);
CUresult cuCtxCreate_v2(CUcontext *pctx, unsigned int flags, CUdevice dev);
CUresult cuCtxCreate_v3(CUcontext *pctx, CUexecAffinityParam *paramsArray,
			int numParams, unsigned int flags, CUdevice dev);
CUresult cuMemcpy_ptds(CUdeviceptr dst, CUdeviceptr src, size_t ByteCount);
CUresult cuMemcpyHtoD_v2_ptds(CUdeviceptr dstDevice, const void *srcHost,
			      size_t ByteCount);
CUresult cuMemcpyDtoH_v2_ptds(void *dstHost, CUdeviceptr srcDevice,
			      size_t ByteCount);
CUresult cuMemcpyDtoD_v2_ptds(CUdeviceptr dstDevice, CUdeviceptr srcDevice,
			      size_t ByteCount);
CUresult cuMemsetD8_v2_ptds(CUdeviceptr dstDevice, unsigned char uc, size_t N);
CUresult cuMemsetD16_v2_ptds(CUdeviceptr dstDevice, unsigned short us, size_t N);
CUresult cuMemsetD32_v2_ptds(CUdeviceptr dstDevice, unsigned int ui, size_t N);
#pragma GCC visibility pop

#pragma GCC visibility pop

#endif /* MEMCAST_LIBRARY_H */
