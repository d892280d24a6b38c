// SPDX-License-Identifier: GPL-2.0-only
/* Who did something, for reasons given when that process may have ended. */
#include <linux/ctype.h>
#include <linux/pid.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include "object.h"

/* Notes the calling process, held until mc_process_put(); none if a kernel thread calls. */
void mc_process_set(struct mc_process *process)
{
	bool is_process = !(current->flags & PF_KTHREAD);

	mc_process_put(process);
	process->pid = is_process ? get_pid(task_tgid(current)) : NULL;
	/* the process may change its name meanwhile: then this has some bytes of both */
	data_race(memcpy(process->name, current->group_leader->comm, sizeof(process->name)));
	process->name[sizeof(process->name) - 1] = '\0';
}

/* Is it the calling process? */
bool mc_process_is_caller(const struct mc_process *process)
{
	return process->pid && process->pid == task_tgid(current);
}

/* Have all threads of the process ended, whether or not its parent has waited for it? */
bool mc_process_has_ended(const struct mc_process *process)
{
	struct task_struct *task;
	bool ended;

	rcu_read_lock();
	task = pid_task(process->pid, PIDTYPE_TGID);
	ended = !task || !atomic_read(&task->signal->live);
	rcu_read_unlock();
	return ended;
}

/* Copies a process's name, control characters replaced. @name has the size of process->name. */
void mc_process_name(const struct mc_process *process, char *name)
{
	unsigned int i;

	for (i = 0; i < sizeof(process->name) && process->name[i]; i++)
		name[i] = iscntrl(process->name[i]) ? '?' : process->name[i];
	memset(name + i, 0, sizeof(process->name) - i);
}

/*
 * Writes "712 (rank1)", "a process out of sight (rank1)", "this process" or "somebody" into @text.
 * Return: the length.
 */
int mc_process_print(const struct mc_process *process, char *text, size_t size)
{
	char name[sizeof(process->name)];
	pid_t pid;

	if (!process->pid)
		return scnprintf(text, size, "somebody");
	if (mc_process_is_caller(process))
		return scnprintf(text, size, "this process");
	mc_process_name(process, name);
	/* 0: the caller's namespace of processes has no number for it */
	pid = pid_vnr(process->pid);
	if (!pid)
		return scnprintf(text, size, "a process out of sight (%s)", name);
	return scnprintf(text, size, "%d (%s)", pid, name);
}

/* Says which process took a member's memory away, and how. */
void mc_loss_print(const struct mc_loss *loss, char *text, size_t size)
{
	char process[MC_PROCESS_WORDS];

	mc_process_print(&loss->process, process, sizeof(process));
	if (loss->cause == MC_LOSS_HOST)
		scnprintf(text, size, "its host was lost");
	else if (loss->cause == MC_LOSS_UNBOUND)
		scnprintf(text, size, "%s unbound it", process);
	else
		scnprintf(text, size, "its last owner, %s, has %s", process,
			  mc_process_has_ended(&loss->process) ? "ended" : "released it");
}

/*
 * Fails an unbind, as the member has nothing bound at an offset. A binding goes with its memory, so
 * a program that releases the memory first finds none.
 */
int mc_fail_not_bound(struct mc_call *call, struct mc_team *team, struct mc_member *member,
		      unsigned long offset)
{
	u32 device = mc_device_ordinal(call->client, member->device->id);
	const struct mc_loss *loss = &member->loss;
	char words[MC_LOSS_WORDS];

	lockdep_assert_held(&team->lock);
	if (!loss->order || offset < loss->first || offset > loss->last)
		return mc_fail(call, -EINVAL, "nothing of device %u is bound at %lu", device,
			       offset);
	mc_loss_print(loss, words, sizeof(words));
	return mc_fail(call, -EINVAL, "nothing of device %u is bound at %lu any more: %s", device,
		       offset, words);
}
