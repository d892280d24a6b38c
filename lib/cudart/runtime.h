/* SPDX-License-Identifier: MIT */
/*
 * Shared by the files of libcudart.so. A call goes through the exported function (CALL: makes a
 * context current, keeps the error), then the driver's function. The driver checks and logs; a
 * call that the runtime itself refuses goes through refuse(), which logs its reason.
 *
 * Files that per_thread.c includes are compiled twice, as both headers give the functions in
 * them other names when a program is built for the per-thread default stream.
 */
#ifndef MEMCAST_RUNTIME_H
#define MEMCAST_RUNTIME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cuda.h>
#include <memcast/view.h>
#pragma GCC visibility push(default)
#include <cuda_profiler_api.h>
#include <cuda_runtime_api.h>
#pragma GCC visibility pop

#define ARRAY_SIZE(array)	(sizeof(array) / sizeof((array)[0]))
#define EXPORTED		__attribute__((visibility("default")))

/* No machine has more devices than a view has replicas. */
#define DEVICES_MAX	MEMCAST_VIEW_MAX

/* error.c */
cudaError_t error_of(CUresult result);
cudaError_t error_keep(cudaError_t error);

/* log.c */
__attribute__((format(printf, 3, 4)))
cudaError_t refuse(const char *call, cudaError_t error, const char *reason, ...);

/* context.c */
cudaError_t runtime_loaded(void);
cudaError_t runtime_ready(void);
cudaError_t primary_context(CUcontext *context, int device);

/* kernel/register.c: variables of device code, by the address that the program has registered */
cudaError_t symbol_find(const char *call, const void *symbol, void **pointer, size_t *bytes);
/*
 * Finds a part of a variable for a copy. @across: the one kind that may name the host: to a variable,
 * or from it
 */
cudaError_t symbol_part(const char *call, const void *symbol, size_t bytes, size_t offset,
			enum cudaMemcpyKind kind, enum cudaMemcpyKind across, void **pointer);

/* Evaluates an expression to a cudaError_t, once the driver is loaded, and keeps the error. */
#define CALL_LOADED(expression)							\
({										\
	cudaError_t error_ = runtime_loaded();					\
										\
	error_keep(error_ == cudaSuccess ? (expression) : error_);		\
})

/* The same, with a current context */
#define CALL(expression)							\
({										\
	cudaError_t error_ = runtime_ready();					\
										\
	error_keep(error_ == cudaSuccess ? (expression) : error_);		\
})

/*
 * Begin the definition of a call, whose body follows in braces and runs as the expression of CALL()
 * or CALL_LOADED().
 */
#define DEFINE_CALL(name, parameters, ...)	\
	DEFINE_BY(CALL, name, parameters, ##__VA_ARGS__)
#define DEFINE_CALL_LOADED(name, parameters, ...)	\
	DEFINE_BY(CALL_LOADED, name, parameters, ##__VA_ARGS__)
#define DEFINE_BY(call, name, parameters, ...)					\
	static cudaError_t name##_body parameters;				\
	cudaError_t name parameters { return call(name##_body(__VA_ARGS__)); }	\
	static cudaError_t name##_body parameters

/* A call that only calls the driver */
#define DRIVER(call)		CALL(error_of(call))
#define DRIVER_LOADED(call)	CALL_LOADED(error_of(call))

/* Defines a function that is one call of the driver's, whose arguments are made of its own. */
#define FORWARD(name, parameters, call)		\
	cudaError_t name parameters { return DRIVER(call); }
#define FORWARD_LOADED(name, parameters, call)	\
	cudaError_t name parameters { return DRIVER_LOADED(call); }

/* Defines a function that is one expression, in which one variable, @declaration, is used. */
#define FORWARD_WITH(name, parameters, declaration, expression)	\
	cudaError_t name parameters { declaration; return CALL(expression); }

/* Checks that a type of the runtime has the driver's layout. */
#define SAME_LAYOUT(ours, drivers)						\
	_Static_assert(sizeof(ours) == sizeof(drivers) &&			\
		       _Alignof(ours) == _Alignof(drivers), #ours)

static inline CUdeviceptr address(const void *pointer)
{
	return (uintptr_t)pointer;
}

#endif /* MEMCAST_RUNTIME_H */
