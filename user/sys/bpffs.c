// SPDX-License-Identifier: GPL-2.0-only
#include "bpffs.h"

#include <dirent.h>
#include <errno.h>
#include <linux/magic.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "abi.h"
#include "core/cleanup.h"
#include "core/quote.h"

#define INSTANCE_NAME_MAX 32

static void closedir_p(DIR **dir)
{
	if (*dir)
		closedir(*dir);
}

int bpffs_ensure(struct err *err)
{
	struct statfs fs;
	int rc;

	if (statfs(FAIRLEAD_BPFFS, &fs) == 0 && fs.f_type == BPF_FS_MAGIC)
		return 0;

	if (mount("bpf", FAIRLEAD_BPFFS, "bpf", 0, "mode=0700") == 0)
		return 0;
	rc = -errno;
	return err_set(err, rc, "cannot mount the BPF file system on %s: %s",
		       FAIRLEAD_BPFFS, strerror(-rc));
}

int bpffs_mkdir(const char *path, struct err *err)
{
	_cleanup_free_ char *copy = strdup(path);
	char *slash;
	int rc;

	if (!copy)
		return err_set(err, -ENOMEM, "out of memory");

	for (slash = copy + 1; slash; slash++) {
		slash = strchr(slash, '/');
		if (slash)
			*slash = '\0';
		if (mkdir(copy, 0700) && errno != EEXIST) {
			rc = -errno;
			return err_set(err, rc, "cannot make directory '%s': %s",
				       copy, strerror(-rc));
		}
		if (!slash)
			break;
		*slash = '/';
	}
	return 0;
}

int bpffs_remove_dir(const char *path, struct err *err)
{
	_cleanup_(closedir_p) DIR *dir = opendir(path);
	struct dirent *entry;
	int rc;

	if (!dir && errno == ENOENT)
		return 0;
	if (!dir) {
		rc = -errno;
		return err_set(err, rc, "cannot open '%s': %s", path, strerror(-rc));
	}

	while ((entry = readdir(dir))) {
		if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, ".."))
			continue;
		if (unlinkat(dirfd(dir), entry->d_name, 0)) {
			rc = -errno;
			return err_set(err, rc, "cannot remove '%s/%s': %s", path,
				       entry->d_name, strerror(-rc));
		}
	}
	if (rmdir(path)) {
		rc = -errno;
		return err_set(err, rc, "cannot remove '%s': %s", path, strerror(-rc));
	}
	return 0;
}

int instance_check(const char *name, struct err *err)
{
	static const char allowed[] = "abcdefghijklmnopqrstuvwxyz"
				      "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_";
	size_t length = strlen(name);

	if (length && length <= INSTANCE_NAME_MAX && strspn(name, allowed) == length)
		return 0;
	return err_set(err, -EINVAL,
		       "instance name %s is not usable; allowed are 1 to %d letters, digits, '-' and '_'",
		       QUOTE(name), INSTANCE_NAME_MAX);
}
