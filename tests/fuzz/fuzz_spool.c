/* fuzz_spool.c - a spool file of any content
 *
 * The first byte chooses: even, the rest is the file; odd, the rest is the payload of one block
 * with a right CRC in a good file, so that what is behind the CRC is reached.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "lib/wr.h"
#include "monitor/spool_format.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static volatile uint64_t seen;

static void good_file(const uint8_t *payload, size_t n, struct wr *out)
{
	int fd = memfd_create("spool", MFD_CLOEXEC);
	struct spool_writer *w = spool_writer_new_file(fd, "tick", 4000000, NULL);
	uint32_t size = (uint32_t)n;
	uint8_t head[SPOOL_GRID];

	if (!w || pread(fd, head, sizeof(head), 0) != SPOOL_GRID)
		abort();
	spool_writer_free(w);
	close(fd);
	wr_raw(out, head, sizeof(head));
	wr_u32(out, SPOOL_BLOCK_MAGIC);
	wr_u32(out, size);
	wr_u32(out, spool_crc((struct bytes){ (const uint8_t *)&size, sizeof(size) },
			      (struct bytes){ payload, n }));
	wr_raw(out, payload, n);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct wr file = { 0 };
	struct spool_event ev;
	uint64_t events = 0;

	if (size == 0)
		return 0;
	if (data[0] & 1)
		good_file(data + 1, size - 1, &file);
	else
		wr_raw(&file, data + 1, size - 1);
	int fd = memfd_create("fuzz", MFD_CLOEXEC);
	if (fd < 0 || (file.n && write(fd, file.p, file.n) != (ssize_t)file.n))
		abort();
	struct spool_reader *r = spool_reader_open(fd, NULL);
	while (r && spool_read(r, &ev)) {
		if (ev.kind < SPOOL_SAMPLE || ev.kind > SPOOL_BRANCHES)
			abort();
		if (ev.kind == SPOOL_MMAP && strlen(ev.mmap.path) > SPOOL_PATH_MAX)
			abort();
		if (ev.kind == SPOOL_EXEC && strnlen(ev.exec.comm, 16) > SPOOL_COMM_MAX)
			abort();
		if (ev.kind == SPOOL_SAMPLE && ev.sample.has_state) {
			if (ev.sample.state.stack_bytes > SPOOL_STACK_MAX)
				abort();
			for (uint32_t i = 0; i < ev.sample.state.stack_bytes; i++)
				/* sanitizers see reads past it */
				seen += ev.sample.state.stack[i];
			for (uint32_t i = 0; i < ev.sample.state.memory_bytes; i++)
				seen += ev.sample.state.memory[i];
		}
		if (ev.kind == SPOOL_SAMPLE && ev.sample.procedure &&
		    (!ev.sample.kernel || strlen(ev.sample.procedure) > SPOOL_PROCEDURE_MAX))
			abort();
		if (++events > file.n)		/* an event has more than one byte */
			abort();
	}
	spool_reader_free(r);
	close(fd);
	wr_free(&file);
	return 0;
}
