// SPDX-License-Identifier: GPL-2.0-only
/* fairleadd: builds the tables, resolves next hops, serves the control socket. */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sysexits.h>
#include <unistd.h>

#include "check_user.h"
#include "core/cleanup.h"
#include "core/plural.h"
#include "daemon.h"
#include "dp/probe.h"
#include "sys/bpffs.h"
#include "sys/log.h"

#define RUN_ROOT "/run/fairlead"
#define CONFIG_DEFAULT "/etc/fairlead/fairlead.yaml"

static const char usage[] =
	"Usage: fairleadd [OPTIONS]\n"
	"\n"
	"  -c, --config FILE    configuration (default " CONFIG_DEFAULT ")\n"
	"  -f, --foreground     stay attached to the terminal; log to stderr\n"
	"  -i, --instance NAME  which balancer of several on this host (default main)\n"
	"      --check          read the configuration, say what is wrong, and exit\n"
	"      --teardown       stop balancing: remove the program and its maps, and exit\n"
	"  -v, --verbose        log what the libraries say, too\n"
	"  -h, --help           this text\n"
	"  -V, --version        the version\n"
	"\n"
	"SIGHUP reads the configuration again. SIGTERM ends fairleadd; packets go on\n"
	"being balanced, and the next fairleadd takes over.\n";

enum { OPTION_CHECK = 256, OPTION_TEARDOWN };

static const struct option long_options[] = {
	{ "config", required_argument, NULL, 'c' },
	{ "foreground", no_argument, NULL, 'f' },
	{ "instance", required_argument, NULL, 'i' },
	{ "check", no_argument, NULL, OPTION_CHECK },
	{ "teardown", no_argument, NULL, OPTION_TEARDOWN },
	{ "verbose", no_argument, NULL, 'v' },
	{ "help", no_argument, NULL, 'h' },
	{ "version", no_argument, NULL, 'V' },
	{ 0 },
};

static int check_instance(const struct daemon_options *o)
{
	struct err err;

	if (!instance_check(o->instance, &err))
		return -1;
	fprintf(stderr, "fairleadd: %s\n", err.text);
	return EX_USAGE;
}

/* -1: go on; else the exit status. */
static int parse_options(int argc, char **argv, struct daemon_options *o)
{
	int option;

	*o = (struct daemon_options){ .config = CONFIG_DEFAULT, .instance = "main" };
	while ((option = getopt_long(argc, argv, "c:fi:vhV", long_options, NULL)) != -1) {
		switch (option) {
		case 'c':
			o->config = optarg;
			break;
		case 'f':
			o->foreground = true;
			break;
		case 'i':
			o->instance = optarg;
			break;
		case OPTION_CHECK:
			o->check = true;
			break;
		case OPTION_TEARDOWN:
			o->teardown = true;
			break;
		case 'v':
			o->verbose = true;
			break;
		case 'h':
			fputs(usage, stdout);
			return EX_OK;
		case 'V':
			puts("fairleadd " FAIRLEAD_VERSION);
			return EX_OK;
		default:
			fputs("Try 'fairleadd --help'.\n", stderr);
			return EX_USAGE;
		}
	}
	if (optind == argc)
		return check_instance(o);
	fprintf(stderr, "fairleadd: '%s' is not an option; try 'fairleadd --help'.\n",
		argv[optind]);
	return EX_USAGE;
}

static int check_config(const struct daemon_options *o, struct err *err)
{
	_cleanup_cfg_ struct cfg *cfg = NULL;
	int rc = cfg_load_file(o->config, &cfg, err);

	if (!rc)
		rc = check_user_allow(NULL, cfg, err);
	if (!rc)
		printf("%s: %zu VIP%s, %zu pool%s\n", o->config, cfg->n_vips,
		       plural(cfg->n_vips), cfg->n_pools, plural(cfg->n_pools));
	return rc;
}

/* What we write and delete there must not be chosen by somebody else. */
static int check_dir(const char *path, struct err *err)
{
	struct stat st;

	if (lstat(path, &st) == 0 && S_ISDIR(st.st_mode) &&
	    (st.st_uid == 0 || st.st_uid == geteuid()) &&
	    !(st.st_mode & (S_IWGRP | S_IWOTH)))
		return 0;
	return err_set(err, -EPERM,
		       "'%s' must be a directory that only root may write to, and no symbolic link; remove it, fairleadd makes it",
		       path);
}

static int make_dir(const char *path, struct err *err)
{
	int rc;

	if (mkdir(path, 0755) == 0)
		return 0;
	if (errno == EEXIST)
		return check_dir(path, err);
	rc = -errno;
	return err_set(err, rc, "cannot make directory '%s': %s%s", path, strerror(-rc),
		       rc == -EACCES ? "; fairleadd needs root" : "");
}

/* One fairleadd an instance; the lock falls with the process, however it ends. */
static int lock_instance(struct daemon *d, struct err *err)
{
	char path[96], pid[16] = { 0 };
	int rc;

	snprintf(path, sizeof(path), "%s/lock", d->run_dir);
	d->lock_fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0644);
	if (d->lock_fd < 0) {
		rc = -errno;
		return err_set(err, rc, "cannot open '%s': %s%s", path, strerror(-rc),
			       rc == -EACCES ? "; fairleadd needs root" : "");
	}
	if (flock(d->lock_fd, LOCK_EX | LOCK_NB)) {
		if (read(d->lock_fd, pid, sizeof(pid) - 1) < 0)
			pid[0] = '\0';
		return err_set(err, -EBUSY,
			       "control socket '%s/fairlead.sock' is served by another fairleadd (pid %ld); stop it, or start with another --instance",
			       d->run_dir, strtol(pid, NULL, 10));
	}
	snprintf(pid, sizeof(pid), "%d\n", getpid());
	if (ftruncate(d->lock_fd, 0) || pwrite(d->lock_fd, pid, strlen(pid), 0) < 0)
		return err_set(err, -errno, "cannot write '%s': %s", path, strerror(errno));
	return 0;
}

static int enter_instance(struct daemon *d, struct err *err)
{
	int rc = make_dir(RUN_ROOT, err);

	snprintf(d->run_dir, sizeof(d->run_dir), "%s/%s", RUN_ROOT, d->options.instance);
	if (!rc)
		rc = make_dir(d->run_dir, err);
	return rc ? rc : lock_instance(d, err);
}

static int teardown(struct daemon *d, struct err *err)
{
	const char *name = d->options.instance;
	char pin_dir[128];
	bool balanced;
	int rc;

	dataplane_pin_dir(name, pin_dir, sizeof(pin_dir));
	balanced = access(pin_dir, F_OK) == 0;
	rc = attach_remove(pin_dir, err);
	if (!rc)
		rc = probes_remove(pin_dir, err);
	if (!rc)
		rc = bpffs_remove_dir(pin_dir, err);
	if (rc)
		return rc;
	rmdir(FAIRLEAD_PIN_ROOT);
	if (balanced)
		log_notice("instance '%s' no longer balances: program and maps are removed",
			   name);
	else
		log_notice("instance '%s' has nothing in '%s'; nothing was removed", name,
			   pin_dir);
	return bpffs_remove_dir(d->run_dir, err);
}

/* The child tells its parent through the pipe that it is ready. */
static int go_to_background(int *ready_fd)
{
	int fds[2], status = EX_OSERR;
	pid_t child;

	if (pipe2(fds, O_CLOEXEC))
		return EX_OSERR;
	child = fork();
	if (child < 0)
		return EX_OSERR;
	if (child == 0) {
		close(fds[0]);
		setsid();
		*ready_fd = fds[1];
		return -1;
	}
	close(fds[1]);
	if (read(fds[0], &status, sizeof(status)) != sizeof(status))
		status = EX_SOFTWARE; /* it ended without a word to us */
	return status;
}

static void tell_parent(int ready_fd, int status)
{
	int null;

	if (ready_fd < 0)
		return;
	if (write(ready_fd, &status, sizeof(status)) < 0)
		log_debug("the starting process is gone");
	close(ready_fd);
	if (status)
		return;
	log_to_syslog();
	null = open("/dev/null", O_RDWR | O_CLOEXEC);
	if (null < 0)
		return;
	dup2(null, STDIN_FILENO);
	dup2(null, STDOUT_FILENO);
	dup2(null, STDERR_FILENO);
	close(null);
}

static int exit_status(int rc)
{
	switch (rc) {
	case -EPERM:
	case -EACCES:
		return EX_NOPERM;
	case -EINVAL:
		return EX_CONFIG;
	default:
		return EXIT_FAILURE;
	}
}

/* Reloads and `fairlead save` go by the path wherever they are asked from. */
static void settle_config_path(struct daemon_options *o)
{
	static char path[PATH_MAX];

	if (realpath(o->config, path))
		o->config = path;
}

static int run(struct daemon *d, int ready_fd, struct err *err)
{
	int rc = enter_instance(d, err);

	if (rc)
		return rc;
	if (d->options.teardown)
		return teardown(d, err);
	settle_config_path(&d->options);
	rc = daemon_start(d, err);
	if (!rc) {
		tell_parent(ready_fd, 0);
		daemon_run(d);
	}
	daemon_stop(d);
	return rc;
}

int main(int argc, char **argv)
{
	struct daemon daemon = { .lock_fd = -1 };
	int ready_fd = -1, status;
	struct err err = { 0 };
	int rc;

	status = parse_options(argc, argv, &daemon.options);
	if (status >= 0)
		return status;

	log_open("fairleadd", daemon.options.verbose ? LOG_LEVEL_DEBUG : LOG_LEVEL_NOTICE);
	if (daemon.options.check) {
		rc = check_config(&daemon.options, &err);
	} else {
		if (!daemon.options.foreground && !daemon.options.teardown &&
		    !getenv("NOTIFY_SOCKET")) {
			status = go_to_background(&ready_fd);
			if (status >= 0)
				return status;
		}
		rc = run(&daemon, ready_fd, &err);
	}
	if (!rc)
		return EXIT_SUCCESS;
	log_error("%s", err.text);
	tell_parent(ready_fd, exit_status(rc));
	return exit_status(rc);
}
