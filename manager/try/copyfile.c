/* copyfile.c - copies a file */
#include "manager/try/copyfile.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/err.h"

static int fail(const char *path, struct err *err)
{
	return err_set(err, ERR_SYS, "'%s': %s", path, strerror(errno));
}

int copyfile(const char *from, const char *to, struct err *err)
{
	int in = open(from, O_RDONLY | O_CLOEXEC), out = -1, rc = -1;
	struct stat st;
	ssize_t n;

	if (in < 0 || fstat(in, &st) < 0) {
		fail(from, err);
		goto out;
	}
	out = open(to, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (out < 0) {
		fail(to, err);
		goto out;
	}
	while ((n = sendfile(out, in, NULL, 1 << 30)) > 0)
		;
	rc = n < 0 || fchmod(out, st.st_mode & 0777) < 0 ? fail(to, err) : 0;
out:
	if (in >= 0)
		close(in);
	if (out >= 0)
		close(out);
	return rc;
}
