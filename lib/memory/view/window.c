// SPDX-License-Identifier: MIT
/*
 * The views of windows: from an address that cuMemMap() mapped a team at to the addresses of
 * the team's replicas, without a system call.
 *
 * A program that unmaps a window while other threads use it may make those threads fail, but
 * gives none of them access to other memory.
 *
 * A child of fork() finds no window: library_ready() and library_open() return false there.
 *
 * A plain store makes the view of a window that has none in the signal handler, and so costs no
 * program anything that makes none. The signal may have interrupted malloc(): nothing here calls
 * that, and the calls give no reasons meanwhile.
 */
#include "base/ioctl.h"
#include "view.h"
#include "window.h"

static atomic_ulong windows;		/* how many windows have a view; 0: no look-up needed */
static _Atomic CUdeviceptr lowest = -1ULL, highest;	/* the range of all windows so far */

/* Unmaps the view of a window that is in no tree, and puts the window. */
static void window_end(struct window *window)
{
	view_unmap(&window->view);
	atomic_fetch_sub(&windows, 1);
	window_put(window);
}

static CUmemAccess_flags window_access(const struct memcast_address_info *info)
{
	/* The CPU may do what any device may do. */
	return (CUmemAccess_flags)info->out_any;
}

static CUresult mapping_info(CUdeviceptr address, struct memcast_address_info *info)
{
	*info = (struct memcast_address_info) { .address = address };
	return device_ioctl(MEMCAST_ADDRESS_INFO, info);
}

static bool is_window(const struct memcast_address_info *info)
{
	return info->out_type == MEMCAST_TYPE_TEAM && !(info->out_flags & MEMCAST_ADDRESS_REPLICA);
}

/* Most stray addresses are a few elements behind a window's end: the reason then says so. */
static CUresult no_window(CUdeviceptr address)
{
	CUdeviceptr at = (address & -(CUdeviceptr)MEMCAST_GRANULARITY) - 1;
	struct memcast_address_info before;

	if (mapping_info(at, &before) == CUDA_SUCCESS && is_window(&before))
		return fail(CUDA_ERROR_INVALID_VALUE, "no team is mapped at %#llx, %llu bytes "
			    "behind the end of team %llu's mapping of %llu bytes", address,
			    (unsigned long long)(address - at - 1),
			    (unsigned long long)before.out_object,
			    (unsigned long long)before.out_mapping_bytes);
	return fail(CUDA_ERROR_INVALID_VALUE, "no team is mapped at %#llx", address);
}

static CUresult window_info(CUdeviceptr address, struct memcast_address_info *info)
{
	CUresult result = mapping_info(address, info);

	return result == CUDA_SUCCESS && !is_window(info) ? no_window(address) : result;
}

/*
 * The program may have released the team's handle: this gets a new one, for the time of the
 * call.
 */
static CUresult window_map(struct window *window, const struct memcast_address_info *info)
{
	struct memcast_handle_retain retain = { .address = info->out_mapping };
	struct memcast_handle_info team = {};
	uint32_t member = 0;
	CUresult result;

	result = device_ioctl(MEMCAST_HANDLE_RETAIN, &retain);
	if (result != CUDA_SUCCESS)
		return result;
	team.handle = retain.out_handle;
	result = device_ioctl(MEMCAST_HANDLE_INFO, &team);
	if (result == CUDA_SUCCESS)
		result = view_map("memcastViewAt", &window->view, &team, info->out_offset,
				  info->out_mapping_bytes, &member, 1);
	handle_release(retain.out_handle);
	window->start = info->out_mapping;
	window->member = member;
	return result;
}

/*
 * Gives the replicas the access that the window has. Other threads may do the same, or change
 * the window's access meanwhile: a thread that has changed something compares again.
 */
static CUresult window_follow(struct window *window)
{
	struct memcast_address_info info, replica;
	CUmemAccess_flags access;
	CUresult result;

	for (;;) {
		result = window_info(window->start, &info);
		if (result == CUDA_SUCCESS)
			result = mapping_info((uintptr_t)window->view.replica[0], &replica);
		if (result != CUDA_SUCCESS)
			return result;
		/*
		 * the address has another team by now: the thread that mapped it found no view
		 * to retract
		 */
		if (replica.out_object != info.out_object ||
		    replica.out_offset != info.out_offset ||
		    info.out_mapping != window->start ||
		    info.out_mapping_bytes != window->view.bytes)
			return fail(CUDA_ERROR_INVALID_VALUE,
				    "%#llx was mapped again meanwhile", window->start);
		access = window_access(&info);
		if (window_access(&replica) == access && window->access == access)
			return CUDA_SUCCESS;
		result = view_allow(&window->view, 0, window->view.replicas,
				    window->member, access);
		if (result != CUDA_SUCCESS)
			return result;
		window->access = access;
	}
}

/* Takes a window that the caller holds out of the tree, and ends it. */
static void window_retract(struct window *window)
{
	if (window_remove(window))
		window_end(window);
}

/* Makes a window with a mapped view, which no other thread can find yet. */
static CUresult window_new(const struct memcast_address_info *info, struct window **out)
{
	struct window *window = window_alloc();
	CUresult result;

	if (!window)
		return fail(CUDA_ERROR_OUT_OF_MEMORY, "no room for a view: %m");
	result = window_map(window, info);
	if (result != CUDA_SUCCESS) {
		window_put(window);
		return result;
	}
	atomic_fetch_add(&windows, 1);
	*out = window;
	return CUDA_SUCCESS;
}

/* Finds or makes the window of a mapping. *@out: output, held. *@made: output, is it a new one? */
static CUresult window_of(const struct memcast_address_info *info, struct window **out,
			  bool *made)
{
	struct window *window = window_hold(info->out_mapping), *new = NULL;
	CUresult result;

	*out = window;
	*made = false;
	if (window)
		return CUDA_SUCCESS;
	result = window_new(info, &new);
	if (result != CUDA_SUCCESS)
		return result;
	*out = window_publish(new);
	*made = *out == new;
	if (!*made)
		window_end(new);
	return *out ? CUDA_SUCCESS : fail(CUDA_ERROR_OUT_OF_MEMORY, "no room for a view: %m");
}

/*
 * A new view has no access until the window is in the tree, where a thread that takes access
 * away finds it.
 */
static CUresult window_make(CUdeviceptr address, struct window **out)
{
	struct memcast_address_info info;
	CUresult result;
	bool made;

	do {
		CUdeviceptr unfinished = WINDOW_UNFINISHED;

		result = window_info(address, &info);
		if (result == CUDA_SUCCESS)
			result = window_of(&info, out, &made);
		if (result != CUDA_SUCCESS)
			return result;
		window_fill(*out);
		result = window_follow(*out);
		if (result == CUDA_SUCCESS)
			atomic_compare_exchange_strong(&(*out)->shown, &unfinished, (*out)->start);
		else
			window_retract(*out);
		window_put(*out);
		/*
		 * A window that another thread made may be that of an earlier mapping: try
		 * again.
		 */
	} while (result != CUDA_SUCCESS && !made);
	return result;
}

/**
 * window_get() - the view of a window, for calls and for signal handlers
 * @address: in the window
 * @view: output
 * @offset: output, of @address in the view
 * @access: output: the access of the CPU. It may be out of date; the kernel decides.
 *
 * errno is not kept.
 */
static CUresult window_get(CUdeviceptr address, const struct memcast_view **view,
			   size_t *offset, CUmemAccess_flags *access)
{
	struct window *window = window_find(address);
	CUresult result = CUDA_SUCCESS;

	/*
	 * A view without access may be unfinished, by the thread that this signal handler
	 * interrupted.
	 */
	if (!window || window->access == CU_MEM_ACCESS_FLAGS_PROT_NONE)
		result = window_make(address, &window);
	if (result != CUDA_SUCCESS)
		return result;
	*view = &window->view;
	*offset = address - window->start;
	if (*offset >= window->view.bytes)
		return fail(CUDA_ERROR_INVALID_VALUE, "%#llx is being unmapped", address);
	*access = window->access;
	return CUDA_SUCCESS;
}

/*
 * Could a window be at this address? Most faults of a program have other causes, and must not
 * cost it system calls, nor a thread's first use of the library's thread-local memory, which
 * may be a malloc().
 */
bool window_near(CUdeviceptr address)
{
	return library_open() && window_between(address);
}

/* Is the address between the first and the last window mapped, in this process or before fork()? */
bool window_between(CUdeviceptr address)
{
	return address >= lowest && address < highest;
}

/* As window_get(), for faults, also in threads that run on while another one is in exit(). */
bool window_trapped(CUdeviceptr address, const struct memcast_view **view,
		    size_t *offset, CUmemAccess_flags *access)
{
	CUresult result;
	bool quiet;

	if (!window_near(address))
		return false;
	quiet = reason_quiet_begin();
	result = window_get(address, view, offset, access);
	if (quiet)
		reason_quiet_end();
	return result == CUDA_SUCCESS;
}

/*
 * The caller calls this after the kernel has unmapped windows or changed their access. The view
 * of each window follows the change; a window whose view cannot follow loses it. Another thread
 * may have mapped an object at such an address and looked it up by now: its view is right, and
 * stays.
 */
void windows_changed(CUdeviceptr address, size_t bytes)
{
	CUdeviceptr at = address, end = address + bytes;
	struct window *window;

	if (!atomic_load(&windows))
		return;
	for (; (window = window_next(&at, end)); at += MEMCAST_GRANULARITY) {
		if (window->start == at && window_follow(window) != CUDA_SUCCESS)
			window_retract(window);
		window_put(window);
	}
}

/*
 * The caller calls this after the kernel has mapped a window, before any device has access.
 * Windows that a munmap() of the program has unmapped, or whose unmapping is under way, may
 * still be in the tree.
 */
void windows_mapped(CUdeviceptr address, size_t bytes)
{
	CUdeviceptr at = address, end = address + bytes, seen = lowest;
	struct window *window;

	while (atomic_load(&windows) && (window = window_next(&at, end))) {
		window_retract(window);
		window_put(window);
	}
	while (address < seen && !atomic_compare_exchange_weak(&lowest, &seen, address))
		;
	seen = highest;
	while (end > seen && !atomic_compare_exchange_weak(&highest, &seen, end))
		;
}

static CUresult window_view_at(CUdeviceptr address, const struct memcast_view **view,
			       size_t *offset)
{
	CUresult result = library_ready();
	CUmemAccess_flags access;

	if (!offset)
		return fail(CUDA_ERROR_INVALID_VALUE, "NULL output");
	return result == CUDA_SUCCESS ? window_get(address, view, offset, &access) : result;
}

const struct memcast_view *memcastViewAt(CUdeviceptr address, size_t *offset)
{
	const struct memcast_view *view = NULL;
	CUresult result = CALL(window_view_at(address, &view, offset), address, offset);

	return result == CUDA_SUCCESS ? view : NULL;
}
