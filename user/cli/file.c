// SPDX-License-Identifier: GPL-2.0-only
#include "file.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>

#include "core/cleanup.h"

#define READ_FIRST 65536

static int read_all(FILE *file, const char *path, char **text, size_t *length,
		    struct err *err)
{
	_cleanup_free_ char *buffer = NULL;
	size_t used = 0, size = READ_FIRST, n;

	do {
		char *more = realloc(buffer, size + 1);

		if (!more)
			return err_set(err, -ENOMEM, "out of memory");

		buffer = more;
		n = fread(buffer + used, 1, size - used, file);
		used += n;
		size *= 2;
		if (used > FILE_SIZE_MAX)
			return err_set(err, -EFBIG,
				       "'%s' is longer than 64 MiB", path);
	} while (n > 0);

	if (ferror(file))
		return err_set(err, -EIO, "cannot read '%s': %s", path,
			       strerror(errno));

	buffer[used] = '\0';
	*text = TAKE_PTR(buffer);
	*length = used;
	return 0;
}

int file_read(const char *path, char **text, size_t *length, struct err *err)
{
	_cleanup_fclose_ FILE *file = NULL;

	if (strcmp(path, "-") == 0)
		return read_all(stdin, "standard input", text, length, err);

	file = fopen(path, "re");
	if (!file)
		return err_set(err, -errno, "cannot open '%s': %s", path,
			       strerror(errno));

	return read_all(file, path, text, length, err);
}

static int write_all(int fd, const char *text)
{
	size_t left = strlen(text);

	while (left > 0) {
		ssize_t n = write(fd, text, left);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		text += n;
		left -= (size_t)n;
	}
	return 0;
}

/* As the old file is, if there is one. Giving it away needs root: best effort. */
static int copy_mode(int fd, const char *path)
{
	struct stat st;

	if (stat(path, &st) < 0)
		return errno == ENOENT ? 0 : -errno;

	if (!S_ISREG(st.st_mode))
		return -EISDIR;

	if (fchown(fd, st.st_uid, st.st_gid) < 0 && errno != EPERM)
		return -errno;

	return fchmod(fd, st.st_mode & 07777) < 0 ? -errno : 0;
}

/* Makes the new name last. Not all file systems can, and the file is there. */
static void sync_directory(const char *path)
{
	char copy[PATH_MAX];
	_cleanup_close_ int fd = -1;

	snprintf(copy, sizeof(copy), "%s", path);
	fd = open(dirname(copy), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd >= 0)
		fsync(fd);
}

static int fill_and_rename(int fd, const char *temporary, const char *path,
			   const char *text)
{
	int r = copy_mode(fd, path);

	if (!r)
		r = write_all(fd, text);
	if (!r && fsync(fd) < 0)
		r = -errno;
	if (!r && rename(temporary, path) < 0)
		r = -errno;
	return r;
}

int file_replace(const char *path, const char *text, struct err *err)
{
	_cleanup_free_ char *real = realpath(path, NULL);
	const char *target = real ? real : path;
	char temporary[PATH_MAX];
	_cleanup_close_ int fd = -1;
	int r;

	if (snprintf(temporary, sizeof(temporary), "%s.XXXXXX", target) >=
	    (int)sizeof(temporary))
		return err_set(err, -ENAMETOOLONG, "'%s' is too long", path);

	fd = mkostemp(temporary, O_CLOEXEC);
	if (fd < 0)
		return err_set(err, -errno, "cannot write beside '%s': %s",
			       path, strerror(errno));

	r = fill_and_rename(fd, temporary, target, text);
	if (r < 0) {
		unlink(temporary);
		return err_set(err, r, "cannot write '%s': %s", path,
			       r == -EISDIR ? "it is not a regular file" :
					      strerror(-r));
	}

	sync_directory(target);
	return 0;
}
