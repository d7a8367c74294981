/* spool_read.c - reads the events of a spool file, whatever damage it has
 *
 * Blocks are looked for at multiples of SPOOL_GRID only.  A block counts as good when its
 * length is possible and its CRC fits; behind it the next one is expected at once.  After a bad
 * one every grid place is tried, so damage, even in a length, costs that block alone.  CRC-32
 * does not stop a liar: the payload is read as hostile input too, and a block that makes no
 * sense ends where it stops making sense and is counted as bad.
 *
 * WORK     is bounded: at most one CRC over SPOOL_PAYLOAD_MAX bytes per grid place, and a
 *          stretch of SEARCH_MAX bytes without a block ends the file (it may be sparse and
 *          endless).
 */
#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/err.h"
#include "lib/secret.h"
#include "lib/statememory.h"
#include "lib/wr.h"
#include "monitor/spool_format.h"

enum { SEARCH_MAX = 4 << 20 };		/* chosen: four times the largest file we write */

struct slot {
	uint32_t pid, tid;
	uint64_t pc[2];
	struct spool_state state;	/* its last one; without stack */
};

struct file {
	uint32_t major, minor;
	uint64_t inode, generation;
	struct bytes path;	/* in the payload */
};

struct spool_reader {
	int fd;
	uint64_t end;		/* its size at first: its writer could let it grow for ever */
	uint64_t pos;		/* of the next block, or of where to look for it */
	bool lost_track;	/* the last block was bad: pos need not be one's beginning */
	uint64_t bad_blocks;
	char clock[SPOOL_CLOCK_BYTES];
	uint8_t boot_id[SPOOL_BOOT_ID_BYTES];
	uint64_t period_ns, start_ns, start_wall_ns;

	struct rd payload;	/* what is left of the block's; at its end: none */
	uint64_t unit;
	struct slot slot[SPOOL_NSLOT];
	unsigned nslot, next_slot;
	struct file file[SPOOL_NFILE];
	unsigned nfile;
	struct bytes procedure[SPOOL_NPROCEDURE];	/* in the payload */
	unsigned nprocedure;
	char name[SPOOL_PROCEDURE_MAX + 1];
	char path[SPOOL_PATH_MAX + 1];
	struct wr branches;
	uint8_t block[SPOOL_BLOCK_HEADER + SPOOL_PAYLOAD_MAX];
};

/* As many of `n` bytes at `off` as the file has; a read error looks like its end. */
static size_t read_at(int fd, void *p, size_t n, uint64_t off)
{
	size_t got = 0;

	while (got < n && off + got <= INT64_MAX) {
		ssize_t k = pread(fd, (uint8_t *)p + got, n - got, (off_t)(off + got));

		if (k < 0 && errno == EINTR)
			continue;
		if (k <= 0)
			break;
		got += (size_t)k;
	}
	return got;
}

static int read_header(struct spool_reader *r, struct bytes b, struct err *err)
{
	struct rd h = rd_of(b);
	const uint8_t *magic = rd_skip(&h, 8);

	if (!magic || memcmp(magic, SPOOL_MAGIC, 8) != 0)
		return err_set(err, ERR_INPUT, "not a log of samples");
	uint32_t version = rd_u32(&h), grid = rd_u32(&h);
	if (h.bad || version < SPOOL_VERSION_OLDEST || version > SPOOL_VERSION ||
	    grid != SPOOL_GRID)
		return err_set(err, ERR_INPUT, "log of version %u, expected %d", version,
			       SPOOL_VERSION);
	r->period_ns = rd_u64(&h);
	r->start_ns = rd_u64(&h);
	r->start_wall_ns = rd_u64(&h);
	const uint8_t *boot_id = rd_skip(&h, SPOOL_BOOT_ID_BYTES);
	const uint8_t *clock = rd_skip(&h, SPOOL_CLOCK_BYTES);
	struct bytes summed = bytes_at(b, 0, SPOOL_HEADER_BYTES - 4);
	if (rd_u32(&h) != spool_crc(summed, (struct bytes){ b.p, 0 }) || h.bad)
		return err_set(err, ERR_INPUT, "the header of the log is damaged");
	for (unsigned i = 0; i < SPOOL_CLOCK_BYTES && clock[i]; i++)
		if ((clock[i] < 'a' || clock[i] > 'z') && clock[i] != '-')
			return err_set(err, ERR_INPUT,
				       "log with a clock of no known form");
	memcpy(r->boot_id, boot_id, SPOOL_BOOT_ID_BYTES);
	memcpy(r->clock, clock, SPOOL_CLOCK_BYTES - 1);
	return 0;
}

struct spool_reader *spool_reader_open(int fd, struct err *err)
{
	struct spool_reader *r = secret_new(sizeof(*r));
	uint8_t head[SPOOL_GRID];
	struct stat st;

	size_t n = read_at(fd, head, sizeof(head), 0);
	struct bytes all = { head, n };
	struct bytes first = bytes_at(all, 0, SPOOL_HEADER_BYTES);
	struct bytes second = bytes_at(all, SPOOL_HEADER_COPY, SPOOL_HEADER_BYTES);
	if (n < SPOOL_HEADER_BYTES) {
		err_set(err, ERR_INPUT, "not a log of samples: only %zu bytes", n);
		goto fail;
	}
	if (read_header(r, first, err) < 0) {
		if (!second.p || read_header(r, second, NULL) < 0)
			goto fail;
		r->bad_blocks++;
	}
	if (n < sizeof(head))
		r->bad_blocks++;	/* cut off here already */
	r->fd = fd;
	r->end = fstat(fd, &st) == 0 ? (uint64_t)st.st_size : 0;
	r->pos = SPOOL_GRID;
	r->payload = rd_of((struct bytes){ r->block, 0 });
	return r;
fail:
	spool_reader_free(r);
	return NULL;
}

void spool_reader_free(struct spool_reader *r)
{
	if (r)
		wr_free(&r->branches);
	secret_free(r, sizeof(*r));
}

/* 1: the block at pos is good, its payload in *out; 0: there is none; -1: the file ends
 * here. */
static int try_block(struct spool_reader *r, struct bytes *out, bool *looks_like_one)
{
	size_t n = read_at(r->fd, r->block, SPOOL_BLOCK_HEADER, r->pos);
	struct rd h = rd_of((struct bytes){ r->block, n });

	*looks_like_one = false;
	if (n == 0 || r->pos >= r->end)
		return -1;
	if (rd_u32(&h) != SPOOL_BLOCK_MAGIC)
		return 0;
	*looks_like_one = true;
	uint32_t size = rd_u32(&h), crc = rd_u32(&h);
	if (h.bad || size == 0 || size > SPOOL_PAYLOAD_MAX)
		return 0;
	uint8_t *payload = r->block + SPOOL_BLOCK_HEADER;
	if (read_at(r->fd, payload, size, r->pos + SPOOL_BLOCK_HEADER) != size)
		return 0;
	*out = (struct bytes){ payload, size };
	return spool_crc((struct bytes){ r->block + 4, 4 }, *out) == crc;
}

/* Goes to the next good block; false at the end of the file. */
static bool next_block(struct spool_reader *r)
{
	uint64_t searched = 0;
	struct bytes payload;
	bool looks_like_one;

	for (; searched <= SEARCH_MAX; searched += SPOOL_GRID) {
		int rc = try_block(r, &payload, &looks_like_one);

		if (rc < 0)
			return false;
		if (rc > 0) {
			uint64_t n = SPOOL_BLOCK_HEADER + payload.n;

			r->pos += (n + SPOOL_GRID - 1) / SPOOL_GRID * SPOOL_GRID;
			r->lost_track = false;
			r->payload = rd_of(payload);
			r->unit = rd_uleb(&r->payload);
			r->nslot = r->next_slot = r->nfile = r->nprocedure = 0;
			return true;
		}
		if (looks_like_one || !r->lost_track)
			r->bad_blocks++;
		r->lost_track = true;
		r->pos += SPOOL_GRID;
	}
	return false;
}

static uint32_t get_u32(struct rd *p)
{
	uint64_t v = rd_uleb(p);

	if (v > UINT32_MAX)
		p->bad = true;
	return (uint32_t)v;
}

static void get_time(struct spool_reader *r, struct spool_event *ev)
{
	uint64_t delta = rd_uleb(&r->payload), most = UINT64_MAX >> SPOOL_TIME_SHIFT;

	if (r->unit > most || delta > most - r->unit) {
		r->payload.bad = true;
		return;
	}
	r->unit += delta;
	ev->time_ns = r->unit << SPOOL_TIME_SHIFT;
}

static void get_task(struct rd *p, uint32_t *pid, uint32_t *tid)
{
	*pid = get_u32(p);
	int64_t delta = rd_sleb(p);
	if (delta < -(int64_t)UINT32_MAX || delta > UINT32_MAX ||
	    (int64_t)*pid + delta < 0 || (int64_t)*pid + delta > UINT32_MAX)
		p->bad = true;
	else
		*tid = (uint32_t)(*pid + delta);
}

static void get_state(struct rd *p, struct spool_state *last, struct spool_state *out)
{
	last->rflags += (uint64_t)rd_sleb(p);
	for (unsigned i = 0; i < SPOOL_NGPR; i++)
		last->gpr[i] += (uint64_t)rd_sleb(p);
	*out = *last;
	uint64_t n = rd_uleb(p);
	if (n > SPOOL_STACK_MAX)
		p->bad = true;
	out->stack = rd_skip(p, n);
	out->stack_bytes = p->bad ? 0 : (uint32_t)n;
	n = rd_uleb(p);
	if (n > STATEMEMORY_MAX)
		p->bad = true;
	out->memory = rd_skip(p, n);
	out->memory_bytes = p->bad ? 0 : (uint32_t)n;
}

/* Behind the tag; the sample follows. */
static const char *get_procedure(struct spool_reader *r)
{
	struct rd *p = &r->payload;
	uint64_t i = rd_uleb(p);
	struct bytes name = { NULL, 0 };

	if (i > r->nprocedure) {
		p->bad = true;
	} else if (i > 0) {
		name = r->procedure[i - 1];
	} else {
		name.n = rd_uleb(p);
		name.p = name.n && name.n <= SPOOL_PROCEDURE_MAX ? rd_skip(p, name.n) : NULL;
		if (!name.p || memchr(name.p, 0, name.n))
			p->bad = true;
		else if (r->nprocedure < SPOOL_NPROCEDURE)
			r->procedure[r->nprocedure++] = name;
	}
	if (p->bad)
		return NULL;
	memcpy(r->name, name.p, name.n);
	r->name[name.n] = '\0';
	return r->name;
}

/* With its task's state, the sample stands between SPOOL_TAG_STATE and the state. */
static void get_sample(struct spool_reader *r, uint8_t tag, struct spool_event *ev)
{
	bool named = tag == SPOOL_TAG_PROCEDURE;

	ev->kind = SPOOL_SAMPLE;
	ev->sample.kernel_pc = 0;
	ev->sample.procedure = named ? get_procedure(r) : NULL;
	if (named)
		tag = rd_u8(&r->payload);
	ev->sample.has_state = tag == SPOOL_TAG_STATE;
	if (ev->sample.has_state)
		tag = rd_u8(&r->payload);
	ev->sample.kernel = tag & SPOOL_TAG_KERNEL;
	if ((tag & SPOOL_TAG_EVENT) || (named && !ev->sample.kernel))
		r->payload.bad = true;

	unsigned i = tag & SPOOL_NSLOT;

	if (i == SPOOL_NSLOT) {
		i = r->next_slot;
		r->slot[i] = (struct slot){ 0 };
		get_task(&r->payload, &r->slot[i].pid, &r->slot[i].tid);
		r->next_slot = (i + 1) % SPOOL_NSLOT;
		if (r->nslot < SPOOL_NSLOT)
			r->nslot++;
	} else if (i >= r->nslot) {
		r->payload.bad = true;
		return;
	}
	struct slot *s = &r->slot[i];
	get_time(r, ev);
	uint64_t *pc = &s->pc[(tag & SPOOL_TAG_PC) != 0];
	*pc += (uint64_t)rd_sleb(&r->payload);
	ev->pid = s->pid;
	ev->tid = s->tid;
	ev->sample.pc = *pc;
	if (ev->sample.has_state)
		get_state(&r->payload, &s->state, &ev->sample.state);
}

static void get_file(struct spool_reader *r, struct file *out)
{
	struct rd *p = &r->payload;
	uint64_t i = rd_uleb(p);

	if (i > r->nfile) {
		p->bad = true;
		return;
	}
	if (i > 0) {
		*out = r->file[i - 1];
		return;
	}
	out->major = get_u32(p);
	out->minor = get_u32(p);
	out->inode = rd_uleb(p);
	out->generation = rd_uleb(p);
	uint64_t n = rd_uleb(p);
	if (n > SPOOL_PATH_MAX)
		p->bad = true;
	const uint8_t *path = rd_skip(p, n);
	if (p->bad || (n && memchr(path, 0, n))) {
		p->bad = true;
		return;
	}
	out->path = (struct bytes){ path, n };
	if (r->nfile < SPOOL_NFILE)
		r->file[r->nfile++] = *out;
}

static void get_mmap(struct spool_reader *r, struct spool_event *ev)
{
	struct file f = { 0 };

	get_file(r, &f);
	ev->mmap.addr = spool_unrot(rd_uleb(&r->payload));
	ev->mmap.len = spool_unrot(rd_uleb(&r->payload));
	ev->mmap.pgoff = spool_unrot(rd_uleb(&r->payload));
	if (r->payload.bad)
		return;
	ev->mmap.dev_major = f.major;
	ev->mmap.dev_minor = f.minor;
	ev->mmap.inode = f.inode;
	ev->mmap.inode_generation = f.generation;
	memcpy(r->path, f.path.p, f.path.n);
	r->path[f.path.n] = '\0';
	ev->mmap.path = r->path;
}

static void get_comm(struct rd *p, char comm[16])
{
	uint64_t n = rd_uleb(p);
	const uint8_t *text = n <= SPOOL_COMM_MAX ? rd_skip(p, n) : NULL;

	memset(comm, 0, 16);
	if (!text || memchr(text, 0, n))
		p->bad = true;
	else
		memcpy(comm, text, n);
}

static void get_branches(struct spool_reader *r, struct spool_event *ev)
{
	struct rd *p = &r->payload;
	uint64_t n = rd_uleb(p), near = 0;

	if (n > SPOOL_BRANCHES_MAX)
		p->bad = true;
	r->branches.n = 0;
	for (uint64_t i = 0; i < n && !p->bad; i++) {
		struct spool_branch b = { .to = near + (uint64_t)rd_sleb(p) };

		b.from = b.to + (uint64_t)rd_sleb(p);
		b.flags = rd_u8(p);
		spool_branch_put(&r->branches, &b);
		near = b.from;
	}
	ev->branches.n = (uint32_t)n;
	ev->branches.entry = r->branches.p;
}

static void get_event(struct spool_reader *r, uint8_t tag, struct spool_event *ev)
{
	struct rd *p = &r->payload;
	unsigned kind = tag & ~(unsigned)SPOOL_TAG_EVENT;

	get_time(r, ev);
	get_task(p, &ev->pid, &ev->tid);
	if (p->bad || kind <= SPOOL_SAMPLE || kind > SPOOL_BRANCHES) {
		p->bad = true;
		return;
	}
	ev->kind = (enum spool_kind)kind;
	switch (ev->kind) {
	case SPOOL_MMAP:
		get_mmap(r, ev);
		break;
	case SPOOL_EXEC:
		get_comm(p, ev->exec.comm);
		break;
	case SPOOL_FORK:
		ev->fork.parent_pid = get_u32(p);
		break;
	case SPOOL_LOST:
	case SPOOL_THROTTLE:
	case SPOOL_GAP:
		ev->lost = rd_uleb(p);
		break;
	case SPOOL_KILLED:
		ev->signal = get_u32(p);
		break;
	case SPOOL_CRASH:
		ev->crash.signal = get_u32(p);
		ev->crash.uid = get_u32(p);
		ev->crash.pc = rd_uleb(p);
		break;
	case SPOOL_BRANCHES:
		get_branches(r, ev);
		break;
	case SPOOL_EXIT:
	case SPOOL_SAMPLE:
		break;
	}
}

int spool_read(struct spool_reader *r, struct spool_event *ev)
{
	for (;;) {
		while (!r->payload.bad && r->payload.p == r->payload.end)
			if (!next_block(r))
				return 0;
		uint8_t tag = rd_u8(&r->payload);
		if ((tag & SPOOL_TAG_EVENT) && tag != SPOOL_TAG_STATE &&
		    tag != SPOOL_TAG_PROCEDURE)
			get_event(r, tag, ev);
		else
			get_sample(r, tag, ev);
		if (!r->payload.bad)
			return 1;
		r->bad_blocks++;	/* its CRC fits, its content does not */
		r->payload = rd_of((struct bytes){ r->block, 0 });
	}
}

uint64_t spool_reader_bad_blocks(const struct spool_reader *r)
{
	return r->bad_blocks;
}

const char *spool_reader_clock(const struct spool_reader *r)
{
	return r->clock;
}

uint64_t spool_reader_period_ns(const struct spool_reader *r)
{
	return r->period_ns;
}

uint64_t spool_reader_start_ns(const struct spool_reader *r)
{
	return r->start_ns;
}

uint64_t spool_reader_start_wall_ns(const struct spool_reader *r)
{
	return r->start_wall_ns;
}

const uint8_t *spool_reader_boot_id(const struct spool_reader *r)
{
	return r->boot_id;
}
