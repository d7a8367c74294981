#include "lib/digest.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <nettle/sha2.h>

#include "lib/err.h"

static void finish(struct sha256_ctx *ctx, struct digest *out)
{
	sha256_digest(ctx, sizeof(out->b), out->b);
}

struct digest digest_of(struct bytes b)
{
	struct sha256_ctx ctx;
	struct digest d;

	sha256_init(&ctx);
	sha256_update(&ctx, b.n, b.p);
	finish(&ctx, &d);
	return d;
}

int digest_fd(int fd, struct digest *out, struct err *err)
{
	static _Thread_local uint8_t buf[65536];
	struct sha256_ctx ctx;
	off_t at = 0;

	sha256_init(&ctx);
	for (;;) {
		ssize_t n = pread(fd, buf, sizeof(buf), at);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return err_set(err, ERR_SYS, "read: %s", strerror(errno));
		if (n == 0)
			break;
		sha256_update(&ctx, (size_t)n, buf);
		at += n;
		if (at > DIGEST_MAX_BYTES)
			return err_set(err, ERR_REFUSED, "larger than %d MiB",
				       DIGEST_MAX_BYTES >> 20);
	}
	finish(&ctx, out);
	return 0;
}

bool digest_equal(const struct digest *x, const struct digest *y)
{
	return memcmp(x->b, y->b, sizeof(x->b)) == 0;
}

void digest_hex(const struct digest *d, char out[65])
{
	for (int i = 0; i < 32; i++)
		(void)snprintf(out + 2 * i, 3, "%02x", d->b[i]);	/* always two digits */
}

static int nibble(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	return -1;
}

int digest_from_hex(const char *hex, struct digest *out)
{
	struct digest d;

	if (strlen(hex) != 64)
		return -1;
	for (int i = 0; i < 32; i++) {
		int hi = nibble(hex[2 * i]), lo = nibble(hex[2 * i + 1]);

		if (hi < 0 || lo < 0)
			return -1;
		d.b[i] = (uint8_t)(hi << 4 | lo);
	}
	*out = d;
	return 0;
}
