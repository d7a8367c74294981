/* tar.c - see tar.h: 512 bytes of header, the content, zero bytes to a multiple of 512 */
#include "manager/work/tar.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "lib/io.h"

enum { BLOCK = 512 };

struct header {			/* texts; numbers are octal */
	char name[100], mode[8], uid[8], gid[8], size[12], mtime[12], checksum[8], type;
	char link[100], magic[6], version[2], user[32], group[32], major[8], minor[8];
	char prefix[155], rest[12];
};
static_assert(sizeof(struct header) == BLOCK, "a header fills a block");

int tar_put(int fd, const char *name, struct bytes content, struct err *err)
{
	static const char zero[BLOCK];
	struct header h;
	unsigned sum = 0;

	assert(strlen(name) < sizeof(h.name));
	memset(&h, 0, sizeof(h));
	strcpy(h.name, name);
	strcpy(h.mode, "0000600");
	strcpy(h.uid, "0000000");
	strcpy(h.gid, "0000000");
	(void)snprintf(h.size, sizeof(h.size), "%011" PRIo64,
		       (uint64_t)content.n & 077777777777);
	(void)snprintf(h.mtime, sizeof(h.mtime), "%011" PRIo64,
		       (uint64_t)time(NULL) & 077777777777);
	memset(h.checksum, ' ', sizeof(h.checksum));
	h.type = '0';
	memcpy(h.magic, "ustar", 6);
	memcpy(h.version, "00", 2);
	for (unsigned i = 0; i < BLOCK; i++)
		sum += ((const unsigned char *)&h)[i];
	(void)snprintf(h.checksum, sizeof(h.checksum), "%06o", sum & 0777777);
	if (io_write_all(fd, &h, BLOCK, err) < 0 ||
	    io_write_all(fd, content.p, content.n, err) < 0)
		return -1;
	return io_write_all(fd, zero, (BLOCK - content.n % BLOCK) % BLOCK, err);
}

int tar_end(int fd, struct err *err)
{
	static const char zero[2 * BLOCK];

	return io_write_all(fd, zero, sizeof(zero), err);
}
