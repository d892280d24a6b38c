/* SPDX-License-Identifier: MIT */
/*
 * Included by every file of the library. A call goes through an exported function (CALL: checks
 * that the library is initialised, logs a failure), then a static function that fills in the
 * ioctl's argument, then device_ioctl() (ioctl.h).
 *
 * The kernel is the single source of truth: the library does not repeat its checks. It checks
 * only pointers, 64-bit flags and arguments that have no place in the ioctl's argument.
 */
#ifndef MEMCAST_BASE_H
#define MEMCAST_BASE_H

#include <limits.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The functions that these headers declare are exported, all others are hidden. */
#pragma GCC visibility push(default)
#include <cuda.h>
#include <memcast/log.h>
#include <memcast/trap.h>
#include <memcast/view.h>
#pragma GCC visibility pop

#include <uapi/memcast.h>

#pragma GCC visibility push(hidden)	/* calls within the library need no symbol look-up */

#define ARRAY_SIZE(array)	(sizeof(array) / sizeof((array)[0]))

/* process.c */
CUresult library_ready(void);
bool library_lost(void);
bool library_open(void);
bool library_forked(void);
int library_fd(void);

/* reason.c */
__attribute__((format(printf, 2, 3)))
CUresult fail(CUresult result, const char *reason, ...);
CUresult asked(CUresult result);
const char *fail_reason(void);
char *reason_buffer(size_t *size);
bool reason_quiet(void);
bool reason_quiet_begin(void);
void reason_quiet_end(void);
struct argument;
void log_failure(const char *call, CUresult result, const struct argument *arguments);
void log_notice(const char *text, bool aloud);

/* log_ring.c: keeps the lines of the log and gives them to callbacks */
#define LOG_LINE	1024
void logs_add(const char *line, size_t length);
void logs_call_back(CUlogLevel level, const char *line, size_t length);

/*
 * reason.c: how many entries MEMCAST_INJECT has, and the result it asks for a call
 * (entry/inject.c)
 */
extern unsigned int inject_count;
extern CUresult (*inject_result)(const char *symbol);

/* An argument of a call, as the log shows it: "name=value" */
struct argument {
	const char *name;	/* a cast before it is left out */
	enum argument_kind {
		ARGUMENT_SIGNED,
		ARGUMENT_UNSIGNED,	/* also an enum: a number, or bits if its name says so */
		ARGUMENT_SIZE,		/* likewise */
		ARGUMENT_HEX,
		ARGUMENT_FLOAT,		/* the value is the address of a double */
		ARGUMENT_POINTER,
		ARGUMENT_TEXT,
	} kind;
	unsigned long long value;
};

/* The address of a number, which is 0 if the argument is of another type */
#define ARGUMENT_NUMBER(argument)						\
	(&(const double) { _Generic((argument),					\
				    float: (argument), double: (argument), default: 0) })

#define ARGUMENT(argument)							\
{										\
	#argument,								\
	_Generic((argument),							\
		 int: ARGUMENT_SIGNED,						\
		 long: ARGUMENT_SIGNED,						\
		 unsigned int: ARGUMENT_UNSIGNED,				\
		 unsigned long: ARGUMENT_SIZE,					\
		 unsigned char: ARGUMENT_HEX,					\
		 unsigned short: ARGUMENT_HEX,					\
		 unsigned long long: ARGUMENT_HEX,	/* an address, or flags */ \
		 const char *: ARGUMENT_TEXT,					\
		 float: ARGUMENT_FLOAT,						\
		 double: ARGUMENT_FLOAT,					\
		 default: ARGUMENT_POINTER),					\
	(uintptr_t)_Generic((argument),						\
			    float: ARGUMENT_NUMBER(argument),			\
			    double: ARGUMENT_NUMBER(argument),			\
			    default: (argument))				\
}

/* Up to 10 arguments, as a list that ends with one without a name */
#define ARGUMENTS(...)	\
	((const struct argument []) { __VA_OPT__(ARGUMENTS_1(__VA_ARGS__)) { .name = NULL } })
#define ARGUMENTS_1(one, ...)	ARGUMENT(one), __VA_OPT__(ARGUMENTS_2(__VA_ARGS__))
#define ARGUMENTS_2(one, ...)	ARGUMENT(one), __VA_OPT__(ARGUMENTS_3(__VA_ARGS__))
#define ARGUMENTS_3(one, ...)	ARGUMENT(one), __VA_OPT__(ARGUMENTS_4(__VA_ARGS__))
#define ARGUMENTS_4(one, ...)	ARGUMENT(one), __VA_OPT__(ARGUMENTS_5(__VA_ARGS__))
#define ARGUMENTS_5(one, ...)	ARGUMENT(one), __VA_OPT__(ARGUMENTS_6(__VA_ARGS__))
#define ARGUMENTS_6(one, ...)	ARGUMENT(one), __VA_OPT__(ARGUMENTS_7(__VA_ARGS__))
#define ARGUMENTS_7(one, ...)	ARGUMENT(one), __VA_OPT__(ARGUMENTS_8(__VA_ARGS__))
#define ARGUMENTS_8(one, ...)	ARGUMENT(one), __VA_OPT__(ARGUMENTS_9(__VA_ARGS__))
#define ARGUMENTS_9(one, ...)	ARGUMENT(one), __VA_OPT__(ARGUMENTS_10(__VA_ARGS__))
#define ARGUMENTS_10(one)	ARGUMENT(one),

/*
 * Evaluates to a call's result. A failure is logged with the arguments that follow: they are
 * formatted only then.
 */
#define LOGGED(expression, ...)								\
({										\
	CUresult result_ = CUDA_SUCCESS;					\
										\
	if (__builtin_expect(inject_count, 0))					\
		result_ = inject_result(__func__);			\
	if (result_ == CUDA_SUCCESS)						\
		result_ = (expression);						\
	if (__builtin_expect(result_ != CUDA_SUCCESS, 0))			\
		log_failure(__func__, result_, ARGUMENTS(__VA_ARGS__));	\
	result_;								\
})

#define CALL(expression, ...)							\
({										\
	CUresult ready_ = library_ready();					\
										\
	LOGGED(ready_ == CUDA_SUCCESS ? (expression) : ready_, ##__VA_ARGS__);	\
})

/*
 * As CALL(), for functions that refuse a NULL handle before all else, even before cuInit(), as
 * on hardware. @refusal: the result for a NULL handle.
 */
#define CALL_ON(handles, refusal, expression, ...)				\
	((handles) ? CALL(expression, __VA_ARGS__) :				\
		     LOGGED(fail(refusal, "NULL handle"), __VA_ARGS__))

/*
 * Begin the definition of a call, as the kernel's SYSCALL_DEFINE() does of a system call: its body
 * follows in braces, and is the expression of CALL() or WHOLE_CALL(). Behind the parameters stand
 * their names, as the log shows them.
 *
 *	DEFINE_CALL(cuMemUnmap, (CUdeviceptr address, size_t size), address, size)
 */
#define DEFINE_CALL(name, parameters, ...)	\
	DEFINE_BY(CALL, name, parameters, ##__VA_ARGS__)
#define DEFINE_WHOLE_CALL(name, parameters, ...)	\
	DEFINE_BY(WHOLE_CALL, name, parameters, ##__VA_ARGS__)
#define DEFINE_BY(call, name, parameters, ...)					\
	static CUresult name##_body parameters;					\
	CUresult name parameters						\
	{									\
		return call(name##_body(__VA_ARGS__), ##__VA_ARGS__);		\
	}									\
	static CUresult name##_body parameters

/*
 * Defines a call that is one expression: that of WHOLE_CALL(). The parameters' names follow, as the
 * log shows them.
 *
 *	FORWARD(cuMemFree_v2, (CUdeviceptr address), context_free(address, 0), address)
 */
#define FORWARD(name, parameters, expression, ...)	\
	CUresult name parameters { return WHOLE_CALL(expression, ##__VA_ARGS__); }

/* For a function that programs find by its name and cuda.h does not declare */
#define EXPORTED	__attribute__((visibility("default")))

/*
 * Defines an older name of a function, which cuda.h gives to a newer one: #undef comes first.
 * Each name has an address of its own, as in NVIDIA's driver, so that a program can tell the
 * functions apart.
 */
#define OLDER_NAME(old, parameters, call)	\
	EXPORTED CUresult old parameters	\
	{					\
		return call;			\
	}

/*
 * Define the function that a program built for the per-thread default stream imports: the same
 * call, in which that stream takes the place of NULL. The stream is the last parameter, or the
 * first; the macros' further arguments are the other parameters.
 */
#define OR_OWN(stream)	((stream) ? (stream) : CU_STREAM_PER_THREAD)
#define LAST(name, parameters, ...)	\
	CUresult name##_ptsz parameters { return name(__VA_ARGS__, OR_OWN(stream)); }
#define FIRST(name, parameters, ...)	\
	CUresult name##_ptsz parameters { return name(OR_OWN(stream), __VA_ARGS__); }

/*
 * A thread that is cancelled between cancel_hold() and cancel_release() ends after it: it would
 * otherwise end with a lock held, or with an object counted or opened for ever. Code that takes
 * locks, calls malloc() or comes to a cancellation point runs between the two.
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

/* As CALL() and LOGGED(), but a thread that is cancelled during the call ends after it. */
#define WHOLE(expression)							\
({										\
	int before_ = cancel_hold();						\
	CUresult whole_ = (expression);						\
										\
	cancel_release(before_);						\
	whole_;									\
})

#define WHOLE_CALL(expression, ...)	WHOLE(CALL(expression, ##__VA_ARGS__))
#define WHOLE_CALL_ON(handles, refusal, expression, ...)	\
	WHOLE(CALL_ON(handles, refusal, expression, __VA_ARGS__))
#define WHOLE_LOGGED(expression, ...)	WHOLE(LOGGED(expression, __VA_ARGS__))

/*
 * x86/addresses.c, arm64/addresses.c: the kernel places mappings of a process below this address,
 * unless the program asks for more.
 */
extern const uint64_t addresses_end;

/*
 * beside.c: loads the object @file of this library's folder, by dlopen() with @flags, and finds its
 * variable @symbol, whose first member has to be @version. Return: NULL: @why says why not, and
 * *@final whether that will stay so: memory or file descriptors may be short just now.
 */
const void *load_beside(const char *file, const char *symbol, uint32_t version, int flags,
			char *why, size_t size, bool *final);

/*
 * prints.c: what kernels have printed. As on hardware it waits in a buffer, and comes out when the
 * program waits for a stream, an event or a context, ends a context, copies, launches a kernel or
 * loads a module, and before a stream's callback. prints_add() adds a text; the oldest ones go while
 * all together have more than @limit bytes.
 */
void prints_add(const char *text, size_t bytes, size_t limit);
void prints_flush(void);

/* error.c */
const char *error_name(CUresult result);
bool error_known(CUresult result);

#pragma GCC visibility pop

#endif /* MEMCAST_BASE_H */
