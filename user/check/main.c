// SPDX-License-Identifier: GPL-2.0-only
/* fairlead-check: asks backends whether they are well, for fairleadd, without privileges. */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sysexits.h>
#include <unistd.h>

#include "checker.h"
#include "privileges.h"
#include "sys/log.h"

#define FILES_WANTED (256 * 1024) /* of 65,535 backends with time for all to hang */
#define END_SECONDS 5             /* between fairleadd's end and ours, at most */

static const char usage[] =
	"Usage: fairlead-check [OPTIONS]\n"
	"\n"
	"Runs the health checks of fairleadd, which starts it with a socket as file\n"
	"descriptor 3. It is of no use by itself.\n"
	"\n"
	"      --user NAME   whom to become when started as root (default nobody)\n"
	"      --allow-exec  run the commands of exec checks\n"
	"      --verbose     log more\n"
	"      --help        this text\n"
	"      --version     the version\n";

struct options {
	const char *user;
	bool allow_exec, verbose;
};

static const struct option long_options[] = {
	{ "user", required_argument, NULL, 'u' },
	{ "allow-exec", no_argument, NULL, 'x' },
	{ "verbose", no_argument, NULL, 'v' },
	{ "help", no_argument, NULL, 'h' },
	{ "version", no_argument, NULL, 'V' },
	{ 0 },
};

/* -1: go on; else the exit status. */
static int parse_options(int argc, char **argv, struct options *o)
{
	int option;

	while ((option = getopt_long(argc, argv, "", long_options, NULL)) != -1) {
		switch (option) {
		case 'u':
			o->user = optarg;
			break;
		case 'x':
			o->allow_exec = true;
			break;
		case 'v':
			o->verbose = true;
			break;
		case 'h':
			fputs(usage, stdout);
			return EX_OK;
		case 'V':
			puts("fairlead-check " FAIRLEAD_VERSION);
			return EX_OK;
		default:
			fputs("Try 'fairlead-check --help'.\n", stderr);
			return EX_USAGE;
		}
	}
	if (optind == argc)
		return -1;
	fprintf(stderr, "fairlead-check: '%s' is not an option; try 'fairlead-check --help'.\n",
		argv[optind]);
	return EX_USAGE;
}

/* Three streams and the socket are all that it has, and no command gets the socket. */
static int settle_files(struct err *err)
{
	struct stat st;
	int null;

	if (fstat(CHECK_WIRE_FD, &st) || !S_ISSOCK(st.st_mode))
		return err_set(err, -EINVAL,
			       "file descriptor %d is no socket; fairleadd starts fairlead-check, nobody else does",
			       CHECK_WIRE_FD);
	fcntl(CHECK_WIRE_FD, F_SETFD, FD_CLOEXEC);
	close_range(CHECK_WIRE_FD + 1, ~0U, 0);
	null = open("/dev/null", O_RDWR | O_CLOEXEC);
	if (null < 0)
		return err_set(err, -errno, "cannot open '/dev/null': %s", strerror(errno));
	dup2(null, STDIN_FILENO);
	for (int fd = STDOUT_FILENO; fd <= STDERR_FILENO; fd++)
		if (fcntl(fd, F_GETFD) < 0)
			dup2(null, fd);
	if (null > CHECK_WIRE_FD)
		close(null);
	return 0;
}

/* A socket for each run that hangs. What cannot be had is done without. */
static void raise_files(void)
{
	struct rlimit limit, more = { FILES_WANTED, FILES_WANTED };

	if (getrlimit(RLIMIT_NOFILE, &limit))
		return;
	command_set_files(limit.rlim_cur);
	if (limit.rlim_max >= FILES_WANTED)
		more.rlim_max = limit.rlim_max;
	if (!setrlimit(RLIMIT_NOFILE, &more))
		return;
	limit.rlim_cur = limit.rlim_max;
	setrlimit(RLIMIT_NOFILE, &limit);
}

static void on_parent_gone(int number)
{
	(void)number;
	alarm(END_SECONDS);
}

/*
 * When fairleadd ends, so does the channel, and with it the loop, in good order. Were
 * the loop to hang, the alarm ends this process. After all changes of user, at which
 * the kernel forgets it.
 */
static void end_with_parent(void)
{
	signal(SIGUSR1, on_parent_gone);
	signal(SIGALRM, SIG_DFL);
	signal(SIGPIPE, SIG_IGN);
	signal(SIGHUP, SIG_IGN);
	prctl(PR_SET_PDEATHSIG, SIGUSR1);
}

static int run(const struct options *o, struct err *err)
{
	static struct checker checker;
	int rc = settle_files(err);

	if (rc)
		return rc;
	raise_files();
	pings_prepare(&checker);
	rc = privileges_drop(o->user, err);
	if (rc)
		return rc;
	end_with_parent();
	rc = checker_start(&checker, o->allow_exec, err);
	if (!rc)
		checker_run(&checker);
	alarm(END_SECONDS);
	checker_stop(&checker);
	alarm(0);
	return rc ? rc : checker.status;
}

int main(int argc, char **argv)
{
	struct options options = { .user = "nobody" };
	struct err err = { 0 };
	int status = parse_options(argc, argv, &options);

	if (status >= 0)
		return status;
	log_open("fairlead-check", options.verbose ? LOG_LEVEL_DEBUG : LOG_LEVEL_NOTICE);
	status = run(&options, &err);
	if (status >= 0)
		return status;
	log_error("%s", err.text);
	return status == -EINVAL ? EX_USAGE : EX_OSERR;
}
