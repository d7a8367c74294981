/* digest.c - SHA-256 and MD5 of bytes and of files, and their hexadecimal form */
#include "lib/digest.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <nettle/md5.h>
#include <nettle/nettle-meta.h>
#include <nettle/sha2.h>

#include "lib/err.h"

struct digest digest_of(struct bytes b)
{
	struct sha256_ctx ctx;
	struct digest d;

	sha256_init(&ctx);
	sha256_update(&ctx, b.n, b.p);
	sha256_digest(&ctx, sizeof(d.b), d.b);
	return d;
}

static int too_large(struct err *err)
{
	return err_set(err, ERR_REFUSED, "larger than %d MiB", DIGEST_MAX_BYTES >> 20);
}

/* `by` may be NULL. */
static int hash_fd(int fd, const struct nettle_hash *hash, void *ctx,
		   const struct digest_slices *by, uint8_t *out, struct err *err)
{
	uint8_t buf[65536];		/* between slices somebody else may take a digest */
	off_t at = 0, told = 0;
	struct stat st;

	if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size > DIGEST_MAX_BYTES)
		return too_large(err);
	hash->init(ctx);
	for (;;) {
		ssize_t n = pread(fd, buf, sizeof(buf), at);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return err_set(err, ERR_SYS, "read: %s", strerror(errno));
		if (n == 0)
			break;
		hash->update(ctx, (size_t)n, buf);
		at += n;
		if (at > DIGEST_MAX_BYTES)
			return too_large(err);
		if (!by || at - told < DIGEST_SLICE)
			continue;
		if (!by->go_on(by->ctx, (uint64_t)(at - told)))
			return err_set(err, ERR_SYS, "given up, because somebody waits");
		told = at;
	}
	hash->digest(ctx, hash->digest_size, out);
	return 0;
}

int digest_fd_slices(int fd, const struct digest_slices *by, struct digest *out,
		     struct err *err)
{
	struct sha256_ctx ctx;

	return hash_fd(fd, &nettle_sha256, &ctx, by, out->b, err);
}

int digest_fd(int fd, struct digest *out, struct err *err)
{
	return digest_fd_slices(fd, NULL, out, err);
}

static void to_hex(const uint8_t *b, unsigned n, char *out)
{
	for (unsigned i = 0; i < n; i++)
		(void)snprintf(out + 2 * i, 3, "%02x", b[i]);	/* always two digits */
}

int digest_md5_fd(int fd, char hex[33], struct err *err)
{
	uint8_t sum[MD5_DIGEST_SIZE];
	struct md5_ctx ctx;

	if (hash_fd(fd, &nettle_md5, &ctx, NULL, sum, err) < 0)
		return -1;
	to_hex(sum, sizeof(sum), hex);
	return 0;
}

bool digest_equal(const struct digest *x, const struct digest *y)
{
	return memcmp(x->b, y->b, sizeof(x->b)) == 0;
}

void digest_hex(const struct digest *d, char out[65])
{
	to_hex(d->b, sizeof(d->b), out);
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
