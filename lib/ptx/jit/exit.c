// SPDX-License-Identifier: MIT
/*
 * LLVM's destructors are not called as the process ends. Other threads may be compiling then, and the
 * program's own destructors may launch a kernel for the first time. LLVM stays loaded, so it needs
 * them at no other time.
 */
#include <dlfcn.h>
#include <llvm-c/Core.h>

__attribute__((visibility("default")))
int __cxa_atexit(void (*destroy)(void *), void *data, void *library);

/*
 * LLVM's constructors, and functions with static variables, call this one: with RTLD_DEEPBIND, what
 * this object exports comes first. It passes on what the other libraries ask for that LLVM needs.
 */
int __cxa_atexit(void (*destroy)(void *), void *data, void *library)
{
	static void *llvm;	/* known before another thread calls LLVM */
	int (*next)(void (*destroy)(void *), void *data, void *library);
	Dl_info its, ours;

	if (!llvm && dladdr(library, &its) && dladdr((void *)LLVMContextCreate, &ours) &&
	    its.dli_fbase == ours.dli_fbase)
		llvm = library;
	if (llvm && library == llvm)
		return 0;
	*(void **)&next = dlsym(RTLD_NEXT, __func__);
	return next(destroy, data, library);
}
