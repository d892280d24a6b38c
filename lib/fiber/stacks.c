// SPDX-License-Identifier: MIT
/* Memory of stacks. */
#include <sys/mman.h>
#include <unistd.h>

#include "fiber.h"

bool stacks_map(struct stacks *stacks, size_t count, size_t each, size_t guarded)
{
	struct stacks new = {
		.each = (each + 63) & ~63UL, .count = count, .guarded = guarded,
		.guard = sysconf(_SC_PAGESIZE),
	};
	size_t groups = (count + guarded - 1) / guarded;

	new.bytes = groups * stacks_group(&new);
	new.memory = mmap(NULL, new.bytes, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (new.memory == MAP_FAILED)
		return false;
	/* a huge page would take 2 MiB for stacks of which the first few hundred bytes are used */
	madvise(new.memory, new.bytes, MADV_NOHUGEPAGE);
	for (size_t i = 0; i < groups; i++)
		if (mprotect(new.memory + i * stacks_group(&new), new.guard, PROT_NONE)) {
			munmap(new.memory, new.bytes);
			return false;
		}
	*stacks = new;
	return true;
}

void stacks_unmap(struct stacks *stacks)
{
	if (stacks->memory)
		munmap(stacks->memory, stacks->bytes);
	*stacks = (struct stacks) {};
}
