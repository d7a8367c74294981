/* proctree.c - keeps the set of some processes and all their descendants, see proctree.h
 *
 * An open hash table by process id.  A process leaves it with its last thread: its main one may
 * end before the others.  Threads that existed before the process was added are not known; such
 * a process leaves with its main thread.  A fork by a process outside the set removes a process
 * of the set with the child's number: its exit must have been lost.
 */
#include "monitor/proctree.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* Powers of two; chosen.  The kernel has at most 4 Mi processes (PID_MAX_LIMIT). */
enum { FIRST_SLOTS = 256, MAX_SLOTS = 1 << 20 };

struct process {
	uint32_t pid;		/* 0: the slot is free */
	uint32_t others;	/* threads beside the main one */
	bool main_ended;
	uint64_t until_ns;	/* not in the tree any more after that; 0: no such doubt */
};

struct proctree {
	struct process *slot;
	uint32_t nslot, n;
	uint32_t awaited;	/* added with its exec; 0: nobody is */
};

struct proctree *proctree_new(void)
{
	struct proctree *t = calloc(1, sizeof(*t));

	if (t)
		t->slot = calloc(FIRST_SLOTS, sizeof(*t->slot));
	if (!t || !t->slot) {
		free(t);
		return NULL;
	}
	t->nslot = FIRST_SLOTS;
	return t;
}

void proctree_free(struct proctree *t)
{
	if (!t)
		return;
	free(t->slot);
	free(t);
}

static uint32_t home(const struct proctree *t, uint32_t pid)
{
	return pid * UINT32_C(2654435761) >> 8 & (t->nslot - 1);	/* Knuth's multiplier */
}

/* Where the process is, or the free slot where it would be. */
static struct process *slot_of(const struct proctree *t, uint32_t pid)
{
	uint32_t i = home(t, pid);

	while (t->slot[i].pid && t->slot[i].pid != pid)
		i = (i + 1) & (t->nslot - 1);
	return &t->slot[i];
}

/* At most half of the slots are used, so that one is always free. */
static bool make_room(struct proctree *t)
{
	struct proctree larger = *t;

	larger.nslot = 2 * t->nslot;
	if (2 * (t->n + 1) <= t->nslot)
		return true;
	if (t->nslot == MAX_SLOTS)
		return false;
	larger.slot = calloc(larger.nslot, sizeof(*larger.slot));
	if (!larger.slot)
		return false;
	for (uint32_t i = 0; i < t->nslot; i++)
		if (t->slot[i].pid)
			*slot_of(&larger, t->slot[i].pid) = t->slot[i];
	free(t->slot);
	*t = larger;
	return true;
}

void proctree_add(struct proctree *t, uint32_t pid)
{
	if (!pid || (slot_of(t, pid)->pid != pid && !make_room(t)))
		return;
	struct process *p = slot_of(t, pid);
	t->n += p->pid != pid;
	*p = (struct process){ .pid = pid };
}

void proctree_add_at_exec(struct proctree *t, uint32_t pid)
{
	t->awaited = pid;
}

/* What comes after it in its run of used slots is put in anew. */
static void take_out(struct proctree *t, struct process *p)
{
	uint32_t i = (uint32_t)(p - t->slot);

	p->pid = 0;
	t->n--;
	for (i = (i + 1) & (t->nslot - 1); t->slot[i].pid; i = (i + 1) & (t->nslot - 1)) {
		struct process moved = t->slot[i];

		t->slot[i].pid = 0;
		*slot_of(t, moved.pid) = moved;
	}
}

/* NULL: it is not in the tree at that time. */
static struct process *find(struct proctree *t, uint32_t pid, uint64_t time_ns)
{
	struct process *p = slot_of(t, pid);

	if (!p->pid)
		return NULL;
	if (!p->until_ns || time_ns <= p->until_ns)
		return p;
	take_out(t, p);
	return NULL;
}

static bool on_fork(struct proctree *t, const struct spool_event *ev)
{
	struct process *parent = find(t, ev->fork.parent_pid, ev->time_ns);

	if (ev->pid == ev->fork.parent_pid) {
		if (parent)
			parent->others++;
	} else if (parent) {
		proctree_add(t, ev->pid);
	} else {
		struct process *before = find(t, ev->pid, ev->time_ns);

		if (before)
			take_out(t, before);
	}
	return parent != NULL;
}

static bool on_exit_of(struct proctree *t, const struct spool_event *ev)
{
	struct process *p = find(t, ev->pid, ev->time_ns);

	if (!p)
		return false;
	if (ev->tid == ev->pid)
		p->main_ended = true;
	else if (p->others)
		p->others--;
	if (p->main_ended && !p->others)
		take_out(t, p);
	return true;
}

static bool on_exec(struct proctree *t, const struct spool_event *ev)
{
	if (t->awaited && ev->pid == t->awaited) {
		proctree_add(t, ev->pid);
		t->awaited = 0;
	}
	struct process *p = find(t, ev->pid, ev->time_ns);
	if (!p)
		return false;
	p->others = 0;		/* whoever called it is the main thread now */
	p->main_ended = false;
	return true;
}

bool proctree_event(struct proctree *t, const struct spool_event *ev)
{
	switch (ev->kind) {
	case SPOOL_FORK:
		return on_fork(t, ev);
	case SPOOL_EXIT:
		return on_exit_of(t, ev);
	case SPOOL_EXEC:
		return on_exec(t, ev);
	case SPOOL_LOST:
	case SPOOL_THROTTLE:
	case SPOOL_GAP:
		return false;
	case SPOOL_SAMPLE:
	case SPOOL_MMAP:
	case SPOOL_KILLED:
	case SPOOL_CRASH:
	case SPOOL_BRANCHES:
		break;
	}
	return find(t, ev->pid, ev->time_ns) != NULL;
}

/* --- by what the kernel lists --- */

enum { LISTED_MAX = 1 << 18 };	/* who forks faster than we read is not followed for ever */

struct pids {
	uint32_t *pid;
	size_t n, room;
};

/* Without effect when memory is short. */
static void append(struct pids *l, uint32_t pid)
{
	if (l->n == LISTED_MAX)
		return;
	if (l->n == l->room) {
		size_t room = l->room ? 2 * l->room : 64;
		uint32_t *larger = reallocarray(l->pid, room, sizeof(*larger));

		if (!larger)
			return;
		l->pid = larger;
		l->room = room;
	}
	l->pid[l->n++] = pid;
}

static void read_children(FILE *f, struct pids *out)
{
	unsigned long pid;

	while (fscanf(f, "%lu", &pid) == 1)
		append(out, (uint32_t)pid);
}

/* Of all its threads. */
static void list_children(uint32_t pid, struct pids *out)
{
	char path[64];

	(void)snprintf(path, sizeof(path), "/proc/%u/task", pid);
	DIR *dir = opendir(path);

	for (struct dirent *d; dir && (d = readdir(dir)); ) {
		char child[sizeof(path) + sizeof(d->d_name) + 16];

		(void)snprintf(child, sizeof(child), "%s/%s/children", path, d->d_name);
		FILE *f = d->d_name[0] == '.' ? NULL : fopen(child, "re");
		if (f) {
			read_children(f, out);
			(void)fclose(f);	/* only read */
		}
	}
	if (dir)
		(void)closedir(dir);
}

/* Adds what descends from the processes of the list. */
static void add_descent(struct proctree *t, struct pids *l)
{
	for (size_t i = 0; i < l->n; i++) {	/* l->n grows: children of children too */
		struct process *p = slot_of(t, l->pid[i]);

		if (p->pid)
			p->until_ns = 0;
		else
			proctree_add(t, l->pid[i]);
		list_children(l->pid[i], l);
	}
	free(l->pid);
}

void proctree_add_children(struct proctree *t)
{
	struct pids list = { 0 };

	for (uint32_t i = 0; i < t->nslot; i++)
		if (t->slot[i].pid)
			append(&list, t->slot[i].pid);
	add_descent(t, &list);
}

void proctree_doubt(struct proctree *t, uint32_t root, uint64_t now_ns)
{
	struct pids list = { 0 };

	for (uint32_t i = 0; i < t->nslot; i++)
		if (t->slot[i].pid && !t->slot[i].until_ns)
			t->slot[i].until_ns = now_ns;
	append(&list, root);
	add_descent(t, &list);
}
