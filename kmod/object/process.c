// SPDX-License-Identifier: GPL-2.0-only
/* Names of processes that did something, for reasons given when they may have ended. */
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
