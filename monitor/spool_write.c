/* spool_write.c - writes events compactly into spool files, within a limit of space
 *
 * IDEA     Events are encoded into a block in memory; a full block is written with one
 *          pwrite(2) at the next multiple of SPOOL_GRID. Each block can be read alone: it
 *          begins with an absolute time and its tables of tasks and mapped files are empty. The
 *          layout is in doc/formats.md.
 * SAMPLE   tag byte with the task's slot, time since the last event, PC since one of the task's
 *          last two: 4 to 5 bytes, whether it stays or moves between program and library.
 * STATE    registers as differences to the task's last ones: many have not changed or little.
 * SPACE    Before a file is begun, whole files are dropped, oldest first, until the spool and
 *          the new file together stay under the limit; whoever wrote them. What was dropped,
 *          for space or because the disk refused a block, is counted and told by a SPOOL_GAP
 *          event in the next block.
 *
 * INVARIANTS
 *   I1  the file holds whole blocks up to `end`; a block that could not be written whole is
 *       written over by the next one;
 *   I2  an event fits into SPOOL_EVENT_MAX bytes, so a payload into SPOOL_PAYLOAD_MAX;
 *   I3  times in a block never decrease.
 */
#include <assert.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "lib/err.h"
#include "lib/secret.h"
#include "lib/wr.h"
#include "monitor/mono.h"
#include "monitor/spool_format.h"

/* Sizes of a spool file, chosen: the Manager takes in a whole file at a time, and one that has
 * to give way for space is lost whole. */
enum { FILE_MOST = 1 << 20, FILE_LEAST = 32 << 10, NAME_BYTES = 32 };
static_assert(2 * (int)FILE_MOST <= (int)SPOOL_FILE_MAX, "no file of ours is refused");

struct slot {
	uint32_t pid, tid;
	uint64_t pc[2];		/* the program's and a library's, as it turns out */
	unsigned last;		/* which was used last */
	struct spool_state state;	/* its last one; without stack */
};

struct file {			/* a mapped file named in this block */
	uint32_t major, minor;
	uint64_t inode, generation;
	size_t path, npath;	/* in the payload */
};

struct spool_writer {
	/* dirfd < 0: the one file is the caller's; fd < 0: none begun */
	int dirfd, fd;
	uint64_t max_bytes, file_bytes, next_number, end;
	uint64_t period_ns;
	char clock[SPOOL_CLOCK_BYTES];
	uint8_t boot_id[SPOOL_BOOT_ID_BYTES];
	int64_t shift_ns;		/* mono.h */
	uint64_t last_ns;	/* of the last event */
	uint64_t gap;		/* samples dropped and not yet told by a written block */
	struct spool_counts counts;

	struct wr payload;
	uint64_t samples, events;	/* in the payload */
	uint64_t first_ns;		/* of the first event in it */
	uint64_t told;			/* of `gap` in the payload */
	uint64_t last_unit;
	struct slot slot[SPOOL_NSLOT];
	unsigned nslot, next_slot;
	struct file file[SPOOL_NFILE];
	unsigned nfile;
	struct procedure {		/* named in this block */
		size_t at, n;		/* in the payload */
	} procedure[SPOOL_NPROCEDURE];
	unsigned nprocedure;
};

void spool_boot_id(uint8_t *out)
{
	char text[64] = "";
	unsigned n = 0;
	int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);

	memset(out, 0, SPOOL_BOOT_ID_BYTES);
	if (fd < 0)
		return;
	if (read(fd, text, sizeof(text) - 1) <= 0)
		text[0] = '\0';
	close(fd);
	for (const char *c = text; *c && n < 2 * SPOOL_BOOT_ID_BYTES; c++) {
		const char *digits = "0123456789abcdef", *d = strchr(digits, *c);

		if (d) {
			out[n / 2] = (uint8_t)(out[n / 2] << 4 | (d - digits));
			n++;
		}
	}
}

static struct spool_writer *writer_new(const char *clock, uint64_t period_ns)
{
	struct spool_writer *w = secret_new(sizeof(*w));

	w->payload.secret = true;
	w->fd = w->dirfd = -1;
	w->period_ns = period_ns;
	(void)snprintf(w->clock, sizeof(w->clock), "%s", clock);
	spool_boot_id(w->boot_id);
	w->shift_ns = mono_shift_ns();
	return w;
}

int spool_file_number(const char *name, uint64_t *number)
{
	uint64_t v = 0;

	for (int i = 0; i < 16; i++) {
		const char *digits = "0123456789abcdef";
		const char *d = name[i] ? strchr(digits, name[i]) : NULL;

		if (!d)
			return -1;
		v = v << 4 | (uint64_t)(d - digits);
	}
	if (strcmp(name + 16, ".spool") != 0)
		return -1;
	*number = v;
	return 0;
}

static void file_name(uint64_t number, char out[NAME_BYTES])
{
	(void)snprintf(out, NAME_BYTES, "%016llx.spool", (unsigned long long)number);
}

struct listing {
	uint64_t nfile, bytes, least, most;	/* numbers of files */
};

static int list_files(const struct spool_writer *w, struct listing *out, struct err *err)
{
	struct listing l = { .least = UINT64_MAX };
	int fd = openat(w->dirfd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *d = fd < 0 ? NULL : fdopendir(fd);

	if (!d) {
		err_set(err, ERR_SYS, "spool folder: %s", strerror(errno));
		if (fd >= 0)
			close(fd);
		return -1;
	}
	for (struct dirent *e; (e = readdir(d)); ) {
		struct stat st;
		uint64_t number;

		if (spool_file_number(e->d_name, &number) < 0 ||
		    fstatat(w->dirfd, e->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0 ||
		    !S_ISREG(st.st_mode))
			continue;
		l.nfile++;
		l.bytes += (uint64_t)st.st_size;
		l.least = number < l.least ? number : l.least;
		l.most = number > l.most ? number : l.most;
	}
	(void)closedir(d);	/* only read */
	*out = l;
	return 0;
}

struct spool_writer *spool_writer_new(int dirfd, const char *clock, uint64_t period_ns,
				      uint64_t max_bytes, struct err *err)
{
	struct spool_writer *w = writer_new(clock, period_ns);
	struct listing l;

	w->dirfd = dirfd;
	w->max_bytes = max_bytes;
	w->file_bytes = max_bytes / 16;
	if (w->file_bytes > FILE_MOST)
		w->file_bytes = FILE_MOST;
	if (w->file_bytes < FILE_LEAST)
		w->file_bytes = FILE_LEAST;
	if (list_files(w, &l, err) < 0) {
		spool_writer_free(w);
		return NULL;
	}
	w->next_number = l.nfile ? l.most + 1 : 1;
	return w;
}

static uint64_t wall_ns(void)
{
	struct timespec ts;

	(void)clock_gettime(CLOCK_REALTIME, &ts);	/* cannot fail for this clock */
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

static int write_header(struct spool_writer *w, struct err *err)
{
	struct wr h = { 0 };
	uint64_t now = mono_now_ns(w->shift_ns);
	/* What a file begins with has been collected for a while. */
	uint64_t waited = w->events && w->first_ns < now ? now - w->first_ns : 0;

	wr_raw(&h, SPOOL_MAGIC, 8);
	wr_u32(&h, SPOOL_VERSION);
	wr_u32(&h, SPOOL_GRID);
	wr_u64(&h, w->period_ns);
	wr_u64(&h, now - waited);
	wr_u64(&h, wall_ns() - waited);
	wr_raw(&h, w->boot_id, sizeof(w->boot_id));
	wr_raw(&h, w->clock, sizeof(w->clock));
	wr_u32(&h, spool_crc(wr_bytes(&h), (struct bytes){ h.p, 0 }));
	assert(h.n == SPOOL_HEADER_BYTES);
	wr_align(&h, SPOOL_HEADER_COPY);
	uint8_t *copy = wr_reserve(&h, SPOOL_GRID - SPOOL_HEADER_COPY);
	memcpy(copy, h.p, SPOOL_HEADER_BYTES);
	ssize_t n = pwrite(w->fd, h.p, h.n, 0);
	int e = n < 0 ? errno : ENOSPC;
	wr_free(&h);
	if (n != SPOOL_GRID)
		return err_set(err, ERR_SYS, "spool file header: %s", strerror(e));
	w->end = SPOOL_GRID;
	w->counts.bytes += SPOOL_GRID;
	return 0;
}

struct spool_writer *spool_writer_new_file(int fd, const char *clock, uint64_t period_ns,
					   struct err *err)
{
	struct spool_writer *w = writer_new(clock, period_ns);

	w->fd = fd;
	if (write_header(w, err) < 0) {
		spool_writer_free(w);
		return NULL;
	}
	return w;
}

static uint64_t samples_in(int fd)
{
	struct spool_event ev;
	struct stat st;
	uint64_t n = 0;

	/* A monitor that was taken over may have left what nobody reads to its end. */
	if (fstat(fd, &st) < 0 || st.st_size > SPOOL_FILE_MAX)
		return 0;
	struct spool_reader *r = spool_reader_open(fd, NULL);
	while (r && spool_read(r, &ev))
		n += ev.kind == SPOOL_SAMPLE;
	spool_reader_free(r);
	return n;
}

/* Drops the file with the least number. */
static int drop_file(struct spool_writer *w, uint64_t number, struct err *err)
{
	char name[NAME_BYTES];
	uint64_t n = 0;

	file_name(number, name);
	int fd = openat(w->dirfd, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	if (fd >= 0) {
		n = samples_in(fd);
		close(fd);
	}
	if (unlinkat(w->dirfd, name, 0) < 0) {
		if (errno == ENOENT)
			return 0;	/* its reader was faster: nothing is lost */
		return err_set(err, ERR_SYS, "spool file '%s': unlink: %s", name,
			       strerror(errno));
	}
	w->counts.files_dropped++;
	w->counts.samples_dropped += n;
	w->gap += n;
	return 0;
}

static int begin_file(struct spool_writer *w, struct err *err)
{
	char name[NAME_BYTES];
	struct listing l;

	for (;;) {
		if (list_files(w, &l, err) < 0)
			return -1;
		if (!l.nfile || l.bytes + w->file_bytes <= w->max_bytes)
			break;
		if (drop_file(w, l.least, err) < 0)
			return -1;
	}
	if (l.nfile && l.most >= w->next_number)
		w->next_number = l.most + 1;
	file_name(w->next_number, name);
	w->fd = openat(w->dirfd, name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (w->fd < 0)
		return err_set(err, ERR_SYS, "spool file '%s': %s", name, strerror(errno));
	if (write_header(w, err) < 0) {
		(void)unlinkat(w->dirfd, name, 0);	/* an empty one is harmless too */
		close(w->fd);
		w->fd = -1;
		return -1;
	}
	w->next_number++;
	return 0;
}

static void end_file(struct spool_writer *w)
{
	if (w->dirfd < 0 || w->fd < 0)
		return;
	close(w->fd);
	w->fd = -1;
}

static void begin_block(struct spool_writer *w)
{
	w->payload.n = 0;
	w->samples = w->events = w->told = 0;
	w->nslot = w->next_slot = w->nfile = w->nprocedure = 0;
}

/* Writes the payload as a block at the end of the file, by one call: header, payload, zeros up
 * to the next multiple of SPOOL_GRID. */
static int write_block(struct spool_writer *w, struct err *err)
{
	size_t n = SPOOL_BLOCK_HEADER + w->payload.n;
	size_t padded = (n + SPOOL_GRID - 1) / SPOOL_GRID * SPOOL_GRID;
	struct wr head = { 0 }, block = { .secret = true };
	int rc = 0;

	assert(w->payload.n <= SPOOL_PAYLOAD_MAX);
	if (w->dirfd >= 0 && w->fd >= 0 && w->end + padded > w->file_bytes)
		end_file(w);
	if (w->fd < 0 && begin_file(w, err) < 0)
		return -1;
	wr_u32(&head, (uint32_t)w->payload.n);
	wr_u32(&block, SPOOL_BLOCK_MAGIC);
	wr_raw(&block, head.p, head.n);
	wr_u32(&block, spool_crc(wr_bytes(&head), wr_bytes(&w->payload)));
	wr_raw(&block, w->payload.p, w->payload.n);
	(void)wr_reserve(&block, padded - n);
	ssize_t k = pwrite(w->fd, block.p, block.n, (off_t)w->end);
	if (k != (ssize_t)block.n) {
		rc = err_set(err, ERR_SYS, "spool block of %zu bytes: %s", block.n,
			     strerror(k < 0 ? errno : ENOSPC));
		(void)ftruncate(w->fd, (off_t)w->end);	/* else the next block covers it: I1 */
	} else {
		w->end += block.n;
		w->counts.bytes += block.n;
	}
	wr_free(&head);
	wr_free(&block);
	return rc;
}

static int flush_block(struct spool_writer *w, struct err *err)
{
	if (!w->events)
		return 0;
	int rc = write_block(w, err);
	if (rc == 0) {
		w->gap -= w->told;
	} else {
		w->counts.samples_dropped += w->samples;
		w->gap += w->samples;
	}
	begin_block(w);
	return rc;
}

int spool_flush(struct spool_writer *w, bool rotate, struct err *err)
{
	int rc = flush_block(w, err);

	if (rotate)
		end_file(w);
	return rc;
}

/* Time since the last event, in units. */
static void put_time(struct spool_writer *w)
{
	uint64_t unit = w->last_ns >> SPOOL_TIME_SHIFT;

	wr_uleb(&w->payload, unit - w->last_unit);
	w->last_unit = unit;
}

static void put_task(struct wr *p, uint32_t pid, uint32_t tid)
{
	wr_uleb(p, pid);
	wr_sleb(p, (int64_t)tid - (int64_t)pid);
}

static uint64_t distance(uint64_t a, uint64_t b)
{
	return a > b ? a - b : b - a;
}

/* The nearer of the two, so that the number is short; of two far ones the older, so that the
 * other stays near to where the task has just been. */
static unsigned choose_pc(const struct slot *s, uint64_t pc)
{
	uint64_t d[2] = { distance(s->pc[0], pc), distance(s->pc[1], pc) };
	const uint64_t far = UINT64_C(1) << 32;

	if (d[0] > far && d[1] > far)
		return !s->last;
	return d[1] < d[0];
}

static void put_state(struct wr *p, const struct spool_state *state, struct spool_state *last)
{
	uint32_t n =
		state->stack_bytes < SPOOL_STACK_MAX ? state->stack_bytes : SPOOL_STACK_MAX;

	wr_sleb(p, (int64_t)(state->rflags - last->rflags));
	for (unsigned i = 0; i < SPOOL_NGPR; i++)
		wr_sleb(p, (int64_t)(state->gpr[i] - last->gpr[i]));
	wr_uleb(p, n);
	wr_raw(p, state->stack, n);
	wr_uleb(p, state->memory_bytes);
	wr_raw(p, state->memory, state->memory_bytes);
	*last = *state;
}

/* Its number in this block from 1, or 0 and its name. */
static void put_procedure(struct spool_writer *w, const char *name)
{
	size_t n = strnlen(name, SPOOL_PROCEDURE_MAX);
	struct wr *p = &w->payload;

	wr_u8(p, SPOOL_TAG_PROCEDURE);
	for (unsigned i = 0; i < w->nprocedure; i++)
		if (w->procedure[i].n == n &&
		    memcmp(p->p + w->procedure[i].at, name, n) == 0) {
			wr_uleb(p, i + 1);
			return;
		}
	wr_uleb(p, 0);
	wr_uleb(p, n);
	if (w->nprocedure < SPOOL_NPROCEDURE)
		w->procedure[w->nprocedure++] = (struct procedure){ p->n, n };
	wr_raw(p, name, n);
}

static void put_sample(struct spool_writer *w, const struct spool_event *ev)
{
	uint8_t kernel = ev->sample.kernel ? SPOOL_TAG_KERNEL : 0;
	struct wr *p = &w->payload;
	unsigned i = 0;

	while (i < w->nslot && (w->slot[i].tid != ev->tid || w->slot[i].pid != ev->pid))
		i++;
	bool known = i < w->nslot;
	if (!known) {
		i = w->next_slot;
		w->next_slot = (i + 1) % SPOOL_NSLOT;
		if (w->nslot < SPOOL_NSLOT)
			w->nslot++;
		w->slot[i] = (struct slot){ .pid = ev->pid, .tid = ev->tid };
	}
	struct slot *s = &w->slot[i];
	if (kernel && ev->sample.procedure)
		put_procedure(w, ev->sample.procedure);
	if (ev->sample.has_state)
		wr_u8(p, SPOOL_TAG_STATE);
	s->last = choose_pc(s, ev->sample.pc);
	wr_u8(p, (uint8_t)(kernel | (s->last ? SPOOL_TAG_PC : 0) | (known ? i : SPOOL_NSLOT)));
	if (!known)
		put_task(p, ev->pid, ev->tid);
	put_time(w);
	wr_sleb(p, (int64_t)(ev->sample.pc - s->pc[s->last]));
	s->pc[s->last] = ev->sample.pc;
	if (ev->sample.has_state) {
		put_state(p, &ev->sample.state, &s->state);
		w->counts.states++;
	}
	w->samples++;
	w->counts.samples++;
}

/* The file of a mapping: its number in this block from 1, or 0 and all about it. */
static void put_file(struct spool_writer *w, const struct spool_event *ev)
{
	const char *path = ev->mmap.path ? ev->mmap.path : "";
	size_t n = strnlen(path, SPOOL_PATH_MAX);
	struct file f = { ev->mmap.dev_major, ev->mmap.dev_minor, ev->mmap.inode,
			  ev->mmap.inode_generation, 0, n };
	struct wr *p = &w->payload;

	for (unsigned i = 0; i < w->nfile; i++) {
		const struct file *o = &w->file[i];

		if (o->inode == f.inode && o->generation == f.generation &&
		    o->major == f.major && o->minor == f.minor && o->npath == n &&
		    memcmp(p->p + o->path, path, n) == 0) {
			wr_uleb(p, i + 1);
			return;
		}
	}
	wr_uleb(p, 0);
	wr_uleb(p, f.major);
	wr_uleb(p, f.minor);
	wr_uleb(p, f.inode);
	wr_uleb(p, f.generation);
	wr_uleb(p, n);
	f.path = p->n;
	wr_raw(p, path, n);
	if (w->nfile < SPOOL_NFILE)
		w->file[w->nfile++] = f;
}

/* Each as distances: a branch comes from a little behind where the one before it led to. */
static void put_branches(struct spool_writer *w, const struct spool_event *ev)
{
	uint32_t n = ev->branches.n < SPOOL_BRANCHES_MAX ? ev->branches.n : SPOOL_BRANCHES_MAX;
	struct wr *p = &w->payload;
	uint64_t near = 0;

	wr_uleb(p, n);
	for (uint32_t i = 0; i < n; i++) {
		struct spool_branch b = spool_branch_at(ev, i);

		wr_sleb(p, (int64_t)(b.to - near));
		wr_sleb(p, (int64_t)(b.from - b.to));
		wr_u8(p, (uint8_t)b.flags);
		near = b.from;
	}
	w->counts.stacks++;
}

static void put_event(struct spool_writer *w, const struct spool_event *ev)
{
	struct wr *p = &w->payload;

	wr_u8(p, (uint8_t)(SPOOL_TAG_EVENT | ev->kind));
	put_time(w);
	put_task(p, ev->pid, ev->tid);
	switch (ev->kind) {
	case SPOOL_MMAP:
		put_file(w, ev);
		wr_uleb(p, spool_rot(ev->mmap.addr));
		wr_uleb(p, spool_rot(ev->mmap.len));
		wr_uleb(p, spool_rot(ev->mmap.pgoff));
		break;
	case SPOOL_EXEC: {
		size_t n = strnlen(ev->exec.comm, SPOOL_COMM_MAX);

		wr_uleb(p, n);
		wr_raw(p, ev->exec.comm, n);
		break;
	}
	case SPOOL_FORK:
		wr_uleb(p, ev->fork.parent_pid);
		break;
	case SPOOL_LOST:
	case SPOOL_THROTTLE:
	case SPOOL_GAP:
		wr_uleb(p, ev->lost);
		break;
	case SPOOL_KILLED:
		wr_uleb(p, ev->signal);
		break;
	case SPOOL_CRASH:
		wr_uleb(p, ev->crash.signal);
		wr_uleb(p, ev->crash.uid);
		wr_uleb(p, ev->crash.pc);
		break;
	case SPOOL_BRANCHES:
		put_branches(w, ev);
		break;
	case SPOOL_EXIT:
	case SPOOL_SAMPLE:
		break;
	}
}

static void put(struct spool_writer *w, const struct spool_event *ev)
{
	if (ev->kind == SPOOL_SAMPLE)
		put_sample(w, ev);
	else
		put_event(w, ev);
	w->events++;
}

int spool_write(struct spool_writer *w, const struct spool_event *ev, struct err *err)
{
	assert(ev->kind >= SPOOL_SAMPLE && ev->kind <= SPOOL_BRANCHES);
	if (ev->time_ns > w->last_ns)
		w->last_ns = ev->time_ns;
	if (!w->events) {
		w->first_ns = w->last_ns;
		w->last_unit = w->last_ns >> SPOOL_TIME_SHIFT;
		wr_uleb(&w->payload, w->last_unit);
		if (w->gap) {
			w->told = w->gap;
			put(w, &(struct spool_event){ .kind = SPOOL_GAP, .lost = w->gap });
		}
	}
	size_t before = w->payload.n;
	put(w, ev);
	w->counts.events++;
	assert(w->payload.n - before <= SPOOL_EVENT_MAX);
	return w->payload.n >= SPOOL_BLOCK_FULL ? flush_block(w, err) : 0;
}

void spool_writer_counts(const struct spool_writer *w, struct spool_counts *out)
{
	*out = w->counts;
}

void spool_writer_free(struct spool_writer *w)
{
	if (!w)
		return;
	end_file(w);
	wr_free(&w->payload);
	secret_free(w, sizeof(*w));
}
