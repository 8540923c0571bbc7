// SPDX-License-Identifier: GPL-2.0-only
#include "sysctl.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/cleanup.h"

static int sysctl_open(const char *path, int flags, struct err *err)
{
	char file[SYSCTL_PATH_MAX + 16], name[SYSCTL_PATH_MAX];
	int fd;

	snprintf(file, sizeof(file), "/proc/sys/%s", path);
	fd = open(file, flags | O_CLOEXEC);
	if (fd < 0)
		return err_set(err, -errno, "cannot open the sysctl '%s': %s",
			       sysctl_name(path, name), strerror(errno));
	return fd;
}

int sysctl_read(const char *path, int *out, struct err *err)
{
	char text[32] = "", name[SYSCTL_PATH_MAX];
	_cleanup_close_ int fd = sysctl_open(path, O_RDONLY, err);
	ssize_t length;
	char *end;
	long value;

	if (fd < 0)
		return fd;

	length = read(fd, text, sizeof(text) - 1);
	if (length < 0)
		return err_set(err, -errno, "cannot read the sysctl '%s': %s",
			       sysctl_name(path, name), strerror(errno));

	value = strtol(text, &end, 10);
	if (end == text || *end != '\n' || value < INT_MIN || value > INT_MAX)
		return err_set(err, -EINVAL, "the sysctl '%s' is not one number",
			       sysctl_name(path, name));
	*out = value;
	return 0;
}

int sysctl_write(const char *path, int value, struct err *err)
{
	char text[16], name[SYSCTL_PATH_MAX];
	_cleanup_close_ int fd = sysctl_open(path, O_WRONLY, err);
	int length = snprintf(text, sizeof(text), "%d\n", value);

	if (fd < 0)
		return fd;
	if (write(fd, text, length) != length)
		return err_set(err, -errno, "cannot set the sysctl '%s' to %d: %s",
			       sysctl_name(path, name), value, strerror(errno));
	return 0;
}

const char *sysctl_name(const char *path, char name[SYSCTL_PATH_MAX])
{
	snprintf(name, SYSCTL_PATH_MAX, "%s", path);
	for (char *c = name; *c; c++) {
		if (*c == '/')
			*c = '.';
		else if (*c == '.')
			*c = '/';
	}
	return name;
}
