// SPDX-License-Identifier: MIT
/*
 * Loads memcast-trap.so, which plain stores to windows need, in the first call that maps a
 * team: programs without teams do without it and without its disassembler. The file is expected
 * beside this library's file, wherever that was found.
 */
#include <dlfcn.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "memory/address.h"
#include "fault.h"
#include "base/ioctl.h"
#include "base/log_file.h"

/* Protects the loading; a child of fork() maps nothing, and so does not take it. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static atomic_bool may_have_teams, ended;	/* ended: loaded, or never will be */
static atomic_bool said, unsaid;
static char failure[2 * PATH_MAX + 300];	/* the message about a failure to load it */

/*
 * Return: are plain stores ready? If not, @why says what is missing, and *@final whether that will
 * stay so: memory or file descriptors may be short just now.
 */
static bool load_and_attach(char *why, size_t size, bool *final)
{
	const struct trap_object *trap = load_beside(TRAP_OBJECT, TRAP_OBJECT_SYMBOL,
						     TRAP_OBJECT_VERSION, RTLD_NOW | RTLD_LOCAL,
						     why, size, final);

	if (!trap)
		return false;
	if (fault_attach(trap))
		return true;
	snprintf(why, size, "no memory to run instructions in: %m");
	*final = false;
	return false;
}

/* Loads the object, with the lock held. A failure is said once. */
static void load(void)
{
	char why[2 * PATH_MAX];
	bool final;

	if (load_and_attach(why, sizeof(why), &final)) {
		ended = true;
		return;
	}
	if (!said) {
		snprintf(failure, sizeof(failure),
			 "memcast: plain stores to a team's address stay faults: %s. "
			 TRAP_OBJECT " belongs into the folder of libcuda.so.1, where `make "
			 "install` puts it, and needs libZydis on x86-64. %sMEMCAST_TRAP=0 does "
			 "without it\n",
			 why, final ? "" : "The next team that is mapped tries again. ");
		said = true;
		unsaid = true;
	}
	ended = final;
}

/* One thread prints the failure. The others do not wait for its reader: it has left the lock. */
static void say_failure(void)
{
	if (atomic_exchange(&unsaid, false))
		log_write(STDERR_FILENO, failure, strlen(failure));
}

/* The program got a handle that may be a team's. */
static void expect_team(void)
{
	may_have_teams = true;
}

/* An object was mapped at an address. If it is the first team, plain stores may follow. */
static void mapped(CUdeviceptr address)
{
	struct memcast_address_info info = { .address = address };
	int before;

	if (!may_have_teams || ended || !fault_wanted())
		return;
	before = cancel_hold();
	if (device_ask(MEMCAST_ADDRESS_INFO, &info) && info.out_type == MEMCAST_TYPE_TEAM) {
		pthread_mutex_lock(&lock);
		if (!ended)
			load();
		pthread_mutex_unlock(&lock);
		say_failure();
	}
	cancel_release(before);
}

__attribute__((constructor))
static void fault_load(void)
{
	static const struct memory_watcher watcher = {
		.strict = fault_strict,
		.expect_team = expect_team,
		.mapped = mapped,
	};

	memory_watcher = &watcher;
}
