#include "lib/md5.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <nettle/md5.h>

#include "lib/err.h"

int md5_fd(int fd, char hex[33], struct err *err)
{
	uint8_t buf[16384], sum[MD5_DIGEST_SIZE];
	struct md5_ctx ctx;
	off_t at = 0;

	md5_init(&ctx);
	for (;;) {
		ssize_t n = pread(fd, buf, sizeof(buf), at);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return err_set(err, ERR_SYS, "read: %s", strerror(errno));
		if (n == 0)
			break;
		md5_update(&ctx, (size_t)n, buf);
		at += n;
	}
	md5_digest(&ctx, sizeof(sum), sum);
	for (int i = 0; i < MD5_DIGEST_SIZE; i++)
		(void)snprintf(hex + 2 * i, 3, "%02x", sum[i]);	/* always two digits */
	return 0;
}
