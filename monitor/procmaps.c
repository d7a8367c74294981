/* procmaps.c - reads the maps of processes that ran before sampling began
 *
 * A line of maps is
 *	7f1c2a000000-7f1c2a155000 r-xp 00026000 fd:01 1835034    /usr/lib/libc.so.6
 * address range, permissions, file offset, device, inode and, behind blanks, the path as mmap
 * records have it too, but for a newline, which is written \012 here.
 */
#include "monitor/procmaps.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include "lib/err.h"
#include "lib/wr.h"

enum { MAPS_MAX = 64 << 20 };	/* bytes of one process's maps; chosen */

struct process {
	uint32_t pid;
	int maps_fd;
	char comm[16];
};

struct procmaps {
	struct process *process;
	size_t n, cap;
	uint32_t missed;
};

/* A number in base 10 or 16, then `end`; bad when there is none, or it overflows. */
static uint64_t get_number(struct rd *r, unsigned base, char end)
{
	const char *digits = "0123456789abcdef";
	uint64_t v = 0;

	for (unsigned n = 0; ; n++) {
		uint8_t c = rd_u8(r);
		const char *d = c ? memchr(digits, c, base) : NULL;

		if (r->bad || (!d && (c != (uint8_t)end || n == 0))) {
			r->bad = true;
			return 0;
		}
		if (!d)
			return v;
		uint64_t digit = (uint64_t)(d - digits);
		if (v > (UINT64_MAX - digit) / base) {
			r->bad = true;
			return 0;
		}
		v = v * base + digit;
	}
}

static void get_path(struct rd *r, char out[SPOOL_PATH_MAX + 1])
{
	size_t n = 0;

	while (rd_left(r) && *r->p == ' ')
		r->p++;
	while (rd_left(r) && n < SPOOL_PATH_MAX) {
		uint8_t c = rd_u8(r);

		if (c == '\\' && rd_left(r) >= 3 && memcmp(r->p, "012", 3) == 0) {
			c = '\n';
			r->p += 3;
		}
		if (c)
			out[n++] = (char)c;
	}
	out[n] = '\0';
}

/* 1: an executable mapping, *ev filled; 0: another one; -1: no line of maps. */
static int parse_line(struct bytes line, char path[SPOOL_PATH_MAX + 1], struct spool_event *ev)
{
	struct rd r = rd_of(line);
	uint64_t start = get_number(&r, 16, '-'), end = get_number(&r, 16, ' ');
	const uint8_t *perm = rd_skip(&r, 4);

	if (rd_u8(&r) != ' ')
		return -1;
	uint64_t offset = get_number(&r, 16, ' ');
	uint64_t major = get_number(&r, 16, ':'), minor = get_number(&r, 16, ' ');
	/* An anonymous mapping's line may end with the inode. */
	struct rd at_inode = r;
	uint64_t inode = get_number(&r, 10, ' ');
	if (r.bad) {
		r = at_inode;
		for (inode = 0; rd_left(&r) && *r.p >= '0' && *r.p <= '9'; r.p++)
			inode = inode * 10 + (uint64_t)(*r.p - '0');
	}
	if (r.bad || start >= end || major > UINT32_MAX || minor > UINT32_MAX)
		return -1;
	if (perm[2] != 'x')
		return 0;
	get_path(&r, path);
	ev->kind = SPOOL_MMAP;
	ev->mmap.addr = start;
	ev->mmap.len = end - start;
	ev->mmap.pgoff = offset;
	ev->mmap.dev_major = (uint32_t)major;
	ev->mmap.dev_minor = (uint32_t)minor;
	ev->mmap.inode = inode;
	ev->mmap.inode_generation = 0;
	ev->mmap.path = path[0] ? path : "//anon";	/* as mmap records call it */
	return 1;
}

uint32_t procmaps_parse(struct bytes text, uint32_t pid, const char *comm, uint64_t time_ns,
			procmaps_fn *emit, void *ctx)
{
	struct spool_event ev = {
		.kind = SPOOL_EXEC, .time_ns = time_ns, .pid = pid, .tid = pid
	};
	char path[SPOOL_PATH_MAX + 1];
	uint32_t skipped = 0;

	size_t ncomm = strnlen(comm, SPOOL_COMM_MAX);
	memcpy(ev.exec.comm, comm, ncomm);
	emit(ctx, &ev);
	for (uint64_t at = 0; at < text.n; ) {
		const uint8_t *nl = memchr(text.p + at, '\n', text.n - at);
		uint64_t end = nl ? (uint64_t)(nl - text.p) : text.n;
		int rc = parse_line(bytes_at(text, at, end - at), path, &ev);

		if (rc > 0)
			emit(ctx, &ev);
		skipped += rc < 0;
		at = end + 1;
	}
	return skipped;
}

/* One more descriptor than the limit allows: as far as the hard limit, or further if we may. */
static bool raise_limit(void)
{
	struct rlimit r;

	if (getrlimit(RLIMIT_NOFILE, &r) < 0)
		return false;
	if (r.rlim_cur < r.rlim_max)
		r.rlim_cur = r.rlim_max;
	else
		r.rlim_cur = r.rlim_max = r.rlim_max * 2;
	return setrlimit(RLIMIT_NOFILE, &r) == 0;
}

static int open_maps(int proc_fd, const char *pid)
{
	char name[272];

	(void)snprintf(name, sizeof(name), "%s/maps", pid);
	for (;;) {
		int fd = openat(proc_fd, name, O_RDONLY | O_CLOEXEC);

		if (fd >= 0 || errno != EMFILE || !raise_limit())
			return fd;
	}
}

static void read_comm(int proc_fd, const char *pid, char out[16])
{
	char name[272];

	memset(out, 0, 16);
	(void)snprintf(name, sizeof(name), "%s/comm", pid);
	int fd = openat(proc_fd, name, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return;			/* no name is a name too */
	if (read(fd, out, SPOOL_COMM_MAX) < 0)
		out[0] = '\0';
	out[strcspn(out, "\n")] = '\0';
	close(fd);
}

static int add_process(struct procmaps *p, int proc_fd, const char *pid, struct err *err)
{
	if (p->n == p->cap) {
		size_t cap = p->cap ? 2 * p->cap : 256;
		struct process *grown = realloc(p->process, cap * sizeof(*grown));

		if (!grown)
			return err_set(err, ERR_SYS, "out of memory");
		p->process = grown;
		p->cap = cap;
	}
	struct process *one = &p->process[p->n];
	one->pid = (uint32_t)strtoul(pid, NULL, 10);
	one->maps_fd = open_maps(proc_fd, pid);
	if (one->maps_fd >= 0) {
		read_comm(proc_fd, pid, one->comm);
		p->n++;
	} else if (errno != ENOENT && errno != ESRCH) {
		p->missed++;
	}
	return 0;
}

static int by_pid(const void *a, const void *b)
{
	const struct process *x = a, *y = b;

	return x->pid < y->pid ? -1 : x->pid > y->pid;
}

struct procmaps *procmaps_open(struct err *err)
{
	struct procmaps *p = calloc(1, sizeof(*p));
	DIR *d = opendir("/proc");
	int rc = 0;

	if (!p || !d) {
		err_set(err, ERR_SYS, "'/proc': %s", strerror(errno));
		rc = -1;
	}
	for (struct dirent *e; rc == 0 && (e = readdir(d)); )
		if (e->d_name[0] >= '1' && e->d_name[0] <= '9')
			rc = add_process(p, dirfd(d), e->d_name, err);
	if (d)
		(void)closedir(d);	/* only read */
	if (rc < 0) {
		procmaps_free(p);
		return NULL;
	}
	if (p->n)
		qsort(p->process, p->n, sizeof(*p->process), by_pid);
	return p;
}

uint32_t procmaps_missed(const struct procmaps *p)
{
	return p->missed;
}

/* The whole text of the descriptor; what cannot be read is what a process without maps has. */
static void read_maps(int fd, struct wr *out)
{
	enum { PIECE = 16384 };

	out->n = 0;
	while (out->n < MAPS_MAX) {
		uint8_t *at = wr_reserve(out, PIECE);
		ssize_t k = read(fd, at, PIECE);

		out->n -= PIECE - (size_t)(k > 0 ? k : 0);
		if (k <= 0 && !(k < 0 && errno == EINTR))
			return;
	}
}

int procmaps_emit(struct procmaps *p, uint64_t time_ns, procmaps_fn *emit, void *ctx,
		  struct err *err)
{
	struct wr text = { 0 };
	uint32_t skipped = 0;

	for (size_t i = 0; i < p->n; i++) {
		struct process *one = &p->process[i];

		read_maps(one->maps_fd, &text);
		close(one->maps_fd);
		one->maps_fd = -1;
		if (text.n)
			skipped += procmaps_parse(wr_bytes(&text), one->pid, one->comm, time_ns,
						  emit, ctx);
	}
	wr_free(&text);
	return skipped ? err_set(err, ERR_INPUT, "%u lines of /proc/PID/maps make no sense",
				 skipped)
		       : 0;
}

void procmaps_free(struct procmaps *p)
{
	if (!p)
		return;
	for (size_t i = 0; i < p->n; i++)
		if (p->process[i].maps_fd >= 0)
			close(p->process[i].maps_fd);
	free(p->process);
	free(p);
}
