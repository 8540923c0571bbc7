// SPDX-License-Identifier: GPL-2.0-only
/* What happens between fork() and execve() of a command. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cap-ng.h>

#include "checker.h"
#include "task.h"

#define EXIT_CANNOT_RUN 126 /* as shells do */

static rlim_t files_at_start = 1024;

void command_set_files(unsigned long files)
{
	files_at_start = files;
}

static void set_limits(void)
{
	struct rlimit files = { files_at_start, files_at_start };
	struct rlimit core = { 0, 0 };

	setrlimit(RLIMIT_NOFILE, &files);
	setrlimit(RLIMIT_CORE, &core);
}

static void set_streams(int output_fd)
{
	int null = open("/dev/null", O_RDWR);

	if (null < 0 || dup2(null, STDIN_FILENO) < 0 || dup2(output_fd, STDOUT_FILENO) < 0 ||
	    dup2(output_fd, STDERR_FILENO) < 0)
		_exit(EXIT_CANNOT_RUN);
	close_range(STDERR_FILENO + 1, ~0U, 0);
}

/* What this process ignores or blocks is not for the command to inherit. */
static void reset_signals(void)
{
	sigset_t none;

	for (int i = 1; i < NSIG; i++)
		signal(i, SIG_DFL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
}

static void drop_capabilities(void)
{
	capng_clear(CAPNG_SELECT_ALL);
	if (capng_apply(CAPNG_SELECT_CAPS))
		_exit(EXIT_CANNOT_RUN);
}

void command_exec(const struct task *task, int output_fd, pid_t parent)
{
	static char path[] = "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
	char addr[ADDR_TEXT_MAX], backend[ADDR_TEXT_MAX];
	char addr_line[64], backend_line[64], port_line[32];
	char *const environment[] = { path, backend_line, addr_line, port_line, NULL };
	const struct probe *probe = &task->probe;
	char *args[CHECK_ARGS_MAX + 1] = { NULL };

	setsid();
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(EXIT_CANNOT_RUN);
	set_streams(output_fd);
	reset_signals();
	set_limits();
	drop_capabilities();
	snprintf(backend_line, sizeof(backend_line), "FAIRLEAD_BACKEND=%s",
		 addr_format(&probe->backend, backend));
	snprintf(addr_line, sizeof(addr_line), "FAIRLEAD_ADDR=%s",
		 addr_format(&probe->addr, addr));
	snprintf(port_line, sizeof(port_line), "FAIRLEAD_PORT=%u", probe->port);
	if (chdir("/"))
		_exit(EXIT_CANNOT_RUN);
	memcpy(args, probe->check.args, probe->check.n_args * sizeof(args[0]));
	execve(args[0], args, environment);
	dprintf(STDOUT_FILENO, "cannot run it: %s\n", strerror(errno));
	_exit(EXIT_CANNOT_RUN);
}
