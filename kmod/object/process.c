// SPDX-License-Identifier: GPL-2.0-only
/* Which process did something: for those who ask when it may have ended. */
#include <linux/ctype.h>
#include <linux/pid.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include "object.h"

/* The caller's process; nobody, if a kernel thread does it for somebody. */
void mc_who_set(struct mc_who *who)
{
	bool somebody = !(current->flags & PF_KTHREAD);

	mc_who_put(who);
	who->pid = somebody ? get_pid(task_tgid(current)) : NULL;
	/* it may change its name meanwhile: then some of both is here */
	data_race(memcpy(who->name, current->group_leader->comm, sizeof(who->name)));
	who->name[sizeof(who->name) - 1] = '\0';
}

/* Was it the process that calls now? */
bool mc_who_is_caller(const struct mc_who *who)
{
	return who->pid && who->pid == task_tgid(current);
}

/* Have all of its threads ended, whether or not its parent knows? */
bool mc_who_has_ended(const struct mc_who *who)
{
	struct task_struct *task;
	bool ended;

	rcu_read_lock();
	task = pid_task(who->pid, PIDTYPE_TGID);
	ended = !task || !atomic_read(&task->signal->live);
	rcu_read_unlock();
	return ended;
}

/* What a program calls itself, as one word of a line. @name has a struct mc_who's size. */
void mc_who_name(const struct mc_who *who, char *name)
{
	unsigned int i;

	for (i = 0; i < sizeof(who->name) && who->name[i]; i++)
		name[i] = iscntrl(who->name[i]) ? '?' : who->name[i];
	memset(name + i, 0, sizeof(who->name) - i);
}

/*
 * "712 (rank1)", "a process out of sight (rank1)", "this process" or "somebody"
 * Return: its length
 */
int mc_who_print(const struct mc_who *who, char *text, size_t size)
{
	char name[sizeof(who->name)];
	pid_t pid;

	if (!who->pid)
		return scnprintf(text, size, "somebody");
	if (mc_who_is_caller(who))
		return scnprintf(text, size, "this process");
	mc_who_name(who, name);
	/* 0: the caller's namespace of processes has no number for it */
	pid = pid_vnr(who->pid);
	if (!pid)
		return scnprintf(text, size, "a process out of sight (%s)", name);
	return scnprintf(text, size, "%d (%s)", pid, name);
}
