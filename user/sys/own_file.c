// SPDX-License-Identifier: GPL-2.0-only
#include "own_file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "core/cleanup.h"

int own_file_open(const char *path, struct err *err)
{
	/* Without O_NONBLOCK a FIFO would have us wait for who writes to it. */
	_cleanup_close_ int fd =
		open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
	struct stat status;

	if (fd < 0 && errno == ELOOP)
		return err_set(err, -ELOOP, "is a symbolic link, not a regular file");
	if (fd < 0 || fstat(fd, &status))
		return err_set(err, -errno, "cannot be read: %s", strerror(errno));
	if (!S_ISREG(status.st_mode))
		return err_set(err, -EINVAL, "is not a regular file");
	return TAKE_FD(fd);
}

/* Until the end, or until the buffer is full. Bytes, or negative errno. */
static ssize_t read_up_to(int fd, char *buffer, size_t size)
{
	size_t total = 0;
	ssize_t n;

	while (total < size && (n = read(fd, buffer + total, size - total))) {
		if (n < 0 && errno != EINTR)
			return -errno;
		total += n > 0 ? n : 0;
	}
	return total;
}

static int too_long(size_t limit, struct err *err)
{
	return err_set(err, -EFBIG, "is longer than %zu bytes, which is all that would be written",
		       limit);
}

int own_file_read(const char *path, size_t limit, char **text, size_t *length,
		      struct err *err)
{
	_cleanup_close_ int fd = own_file_open(path, err);
	_cleanup_free_ char *buffer = NULL;
	struct stat status;
	ssize_t n;

	if (fd < 0)
		return fd;
	if (fstat(fd, &status))
		return err_set(err, -errno, "cannot be read: %s", strerror(errno));
	if ((size_t)status.st_size > limit)
		return too_long(limit, err);

	/* One more shows that it has grown. */
	buffer = malloc(status.st_size + 2);
	if (!buffer)
		return err_set(err, -ENOMEM, "cannot be read: out of memory");
	n = read_up_to(fd, buffer, status.st_size + 1);
	if (n < 0)
		return err_set(err, n, "cannot be read: %s", strerror(-n));
	if (n > status.st_size)
		return err_set(err, -EBUSY, "is written by somebody else");
	buffer[n] = '\0';
	*length = n;
	*text = TAKE_PTR(buffer);
	return 0;
}

int own_file_create(const char *path)
{
	int fd;

	if (unlink(path) && errno != ENOENT)
		return -errno;
	fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	return fd < 0 ? -errno : fd;
}
