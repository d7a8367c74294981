/* listen.c - the socket at which morphctl reaches the daemon */
#include "manager/parent/listen.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "lib/err.h"

int listen_at(const char *path, struct err *err)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };
	char dir[sizeof(a.sun_path)];

	if (strlen(path) >= sizeof(a.sun_path))
		return err_set(err, ERR_USAGE, "'%s': too long for a socket", path);
	strcpy(a.sun_path, path);
	strcpy(dir, path);
	char *slash = strrchr(dir, '/');
	if (slash && slash != dir) {
		*slash = '\0';
		if (mkdir(dir, 0755) < 0 && errno != EEXIST)
			return err_set(err, ERR_SYS, "'%s': mkdir: %s", dir, strerror(errno));
	}
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return err_set(err, ERR_SYS, "socket: %s", strerror(errno));
	/* the store's lock says it is nobody's */
	if (unlink(path) < 0 && errno != ENOENT) {
		err_set(err, ERR_SYS, "'%s': unlink: %s", path, strerror(errno));
		goto fail;
	}
	/* anyone may ask; who may change is checked per request */
	mode_t mask = umask(0111);
	int rc = bind(fd, (struct sockaddr *)&a, sizeof(a));
	(void)umask(mask);
	if (rc < 0 || listen(fd, 64) < 0) {
		err_set(err, ERR_SYS, "'%s': listen: %s", path, strerror(errno));
		goto fail;
	}
	return fd;
fail:
	close(fd);
	return -1;
}
