// SPDX-License-Identifier: GPL-2.0-only
#include "commands.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "checker.h"
#include "core/cleanup.h"
#include "sys/log.h"
#include "task.h"

static void next_turn(struct checker *checker);

/* More than fits is read and forgotten, so that the command does not block. */
static void read_output(struct command *command)
{
	char spill[COMMAND_OUTPUT_MAX];
	size_t room = sizeof(command->output) - command->n_output;
	ssize_t n = read(command->watch.fd, room ? command->output + command->n_output : spill,
			 room ? room : sizeof(spill));

	if (n > 0 && room)
		command->n_output += n;
	if (n > 0 || (n < 0 && (errno == EAGAIN || errno == EINTR)))
		return;
	watch_close(&command->checker->watches, &command->watch);
}

static void on_output(struct watch *watch, uint32_t events)
{
	(void)events;
	read_output((struct command *)watch);
}

static struct command *command_of_pid(struct commands *commands, pid_t pid)
{
	for (int i = 0; i < COMMANDS_MAX; i++)
		if (commands->commands[i].pid == pid)
			return &commands->commands[i];
	return NULL;
}

/* The first line that says something; empty when none does. */
static void first_line(struct command *command, char *line, size_t size)
{
	size_t at = 0, end;

	while (at < command->n_output && command->output[at] == '\n')
		at++;
	for (end = at; end < command->n_output && command->output[end] != '\n'; end++)
		;
	snprintf(line, size, "%.*s", (int)(end - at), command->output + at);
}

static void tell(struct command *command, int status)
{
	struct task *task = command->task;
	char line[PROBE_REASON_MAX];

	first_line(command, line, sizeof(line));
	if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
		task_pass(task, "%s", line[0] ? line : "exit status 0");
	else if (WIFEXITED(status))
		task_fail(task, "exit status %d%s%s", WEXITSTATUS(status),
			  line[0] ? ": " : "", line);
	else
		task_fail(task, "killed by signal %d%s%s", WTERMSIG(status),
			  line[0] ? ": " : "", line);
}

/* Also what it wrote before its end is read, but not what others keep writing. */
static void command_over(struct command *command, int status)
{
	if (command->watch.fd >= 0)
		read_output(command);
	watch_close(&command->checker->watches, &command->watch);
	command->pid = 0;
	if (command->task)
		tell(command, status);
}

/* It has left its command's session, or that one is over. */
static bool is_stray(struct commands *commands, pid_t pid)
{
	pid_t group = getpgid(pid), session = getsid(pid);

	return !command_of_pid(commands, pid) &&
	       !(group > 0 && command_of_pid(commands, group)) &&
	       !(session > 0 && command_of_pid(commands, session));
}

/* Children that nobody started are what commands have left behind. */
static void kill_strays(struct commands *commands)
{
	_cleanup_fclose_ FILE *file = NULL;
	char path[64];
	int pid;

	snprintf(path, sizeof(path), "/proc/self/task/%d/children", getpid());
	file = fopen(path, "re");
	while (file && fscanf(file, "%d", &pid) == 1)
		if (is_stray(commands, pid))
			kill(pid, SIGKILL);
}

/* Killed before it is reaped: until then nobody else can have its number. */
static void reap(struct checker *checker, pid_t pid)
{
	struct command *command = command_of_pid(&checker->commands, pid);
	int status = 0;

	if (command)
		kill(-pid, SIGKILL);
	if (waitpid(pid, &status, WNOHANG) == pid && command)
		command_over(command, status);
}

static void reap_all(struct checker *checker)
{
	siginfo_t info = { 0 };

	while (!waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) && info.si_pid) {
		reap(checker, info.si_pid);
		info.si_pid = 0;
	}
}

static void on_sigchld(uv_signal_t *signal, int number)
{
	struct checker *checker = signal->data;

	(void)number;
	reap_all(checker);
	kill_strays(&checker->commands);
	next_turn(checker);
}

int commands_open(struct checker *checker, struct err *err)
{
	struct commands *commands = &checker->commands;
	int rc;

	STAILQ_INIT(&commands->turns);
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	rc = uv_signal_init(&checker->loop, &commands->sigchld);
	if (rc)
		return err_set(err, rc, "cannot watch children: %s", uv_strerror(rc));
	commands->open = true;
	commands->sigchld.data = checker;
	return uv_signal_start(&commands->sigchld, on_sigchld, SIGCHLD);
}

/* Those that are still there are waited for, so that strays become children. */
void commands_close(struct checker *checker)
{
	struct commands *commands = &checker->commands;

	if (!commands->open)
		return;
	uv_close((uv_handle_t *)&commands->sigchld, NULL);
	for (int i = 0; i < COMMANDS_MAX; i++) {
		struct command *command = &commands->commands[i];

		if (!command->pid)
			continue;
		kill(-command->pid, SIGKILL);
		waitpid(command->pid, NULL, 0);
		command->task = NULL;
		command_over(command, 0);
	}
	kill_strays(commands);
	while (waitpid(-1, NULL, 0) > 0)
		kill_strays(commands);
}

static struct command *free_command(struct commands *commands)
{
	return command_of_pid(commands, 0);
}

static bool still_runs(struct commands *commands, const struct task *task)
{
	for (int i = 0; i < COMMANDS_MAX; i++)
		if (commands->commands[i].pid && commands->commands[i].id == task->probe.id)
			return true;
	return false;
}

/* A signal to the child must not run a handler that is the parent's. */
static pid_t fork_blocked(const struct task *task, int output_fd)
{
	pid_t parent = getpid(), pid;
	sigset_t all, was;
	int code;

	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, &was);
	pid = fork();
	code = errno;
	if (pid == 0)
		command_exec(task, output_fd, parent);
	sigprocmask(SIG_SETMASK, &was, NULL);
	return pid < 0 ? -code : pid;
}

static int spawn(struct task *task, struct command *command)
{
	int fds[2], rc;
	pid_t pid;

	if (pipe2(fds, O_CLOEXEC))
		return -errno;
	fcntl(fds[0], F_SETFL, O_NONBLOCK);
	pid = fork_blocked(task, fds[1]);
	rc = pid < 0 ? pid : 0;
	close(fds[1]);
	if (rc) {
		close(fds[0]);
		return rc;
	}
	*command = (struct command){ .watch = { fds[0], on_output },
				     .checker = task->checker,
				     .task = task,
				     .id = task->probe.id,
				     .pid = pid };
	return watch_add(&task->checker->watches, &command->watch, EPOLLIN);
}

struct exec_run {
	struct turn turn;
	struct command *command; /* NULL: waits */
};

static void start_command(struct task *task, struct command *command)
{
	struct exec_run *run = task->run;
	int rc;

	run->command = command;
	rc = spawn(task, command);
	if (rc)
		task_fail_here(task, "cannot run the command", rc);
}

static struct turn *first_turn(struct commands *commands)
{
	struct turn *turn;

	STAILQ_FOREACH(turn, &commands->turns, others)
		if (!still_runs(commands, turn->task))
			return turn;
	return NULL;
}

static void next_turn(struct checker *checker)
{
	struct commands *commands = &checker->commands;
	struct command *command;
	struct turn *turn;

	while ((command = free_command(commands)) && (turn = first_turn(commands))) {
		STAILQ_REMOVE(&commands->turns, turn, turn, others);
		task_go_on(turn->task);
		start_command(turn->task, command);
	}
}

/* Killed, and not gone: a process that waits for a disk or NFS cannot be. */
static int count_unkilled(const struct commands *commands)
{
	int n = 0;

	for (int i = 0; i < COMMANDS_MAX; i++)
		n += commands->commands[i].pid && !commands->commands[i].task;
	return n;
}

static void on_long_wait(uv_timer_t *timer)
{
	const struct task *task = timer->data;
	char backend[ADDR_TEXT_MAX];
	int unkilled = count_unkilled(&task->checker->commands);
	char also[80] = "";

	task_wait(timer->data, on_long_wait);
	if (!checker_complains(task->checker, COMPLAINT_TURN))
		return;
	if (unkilled)
		snprintf(also, sizeof(also), "; %d of them %s killed and %s not end", unkilled,
			 unkilled == 1 ? "was" : "were", unkilled == 1 ? "does" : "do");
	log_warn("the command for backend '%s' waits for its turn for longer than the check's interval: %d commands run, and no more may%s",
		 addr_format(&task->probe.backend, backend), COMMANDS_MAX, also);
}

static void exec_start(struct task *task)
{
	struct commands *commands = &task->checker->commands;
	struct exec_run *run;

	if (!task->checker->allow_exec) {
		task_fail(task, "exec checks are not allowed by the configuration");
		return;
	}
	run = task->run = calloc(1, sizeof(*run));
	if (!run) {
		task_fail_here(task, "cannot begin", -ENOMEM);
		return;
	}
	run->turn.task = task;
	STAILQ_INSERT_TAIL(&commands->turns, &run->turn, others);
	/* The one before was killed; what cannot be killed counts as its failure. */
	if (!still_runs(commands, task))
		task_wait(task, on_long_wait);
	next_turn(task->checker);
}

/* Its place becomes free when it is reaped. */
static void exec_stop(struct task *task)
{
	struct exec_run *run = task->run;

	task->run = NULL;
	if (!run)
		return;
	if (!run->command) {
		STAILQ_REMOVE(&task->checker->commands.turns, &run->turn, turn, others);
	} else if (run->command->pid && run->command->task == task) {
		run->command->task = NULL;
		kill(-run->command->pid, SIGKILL);
		/* Before it has called setsid() there is no such group. */
		kill(run->command->pid, SIGKILL);
	}
	free(run);
}

static const char *exec_missing(const struct task *task)
{
	const struct exec_run *run = task->run;

	return run && run->command ? "no end of the command" :
				     "no end of the command of the run before";
}

const struct prober exec_prober = { exec_start, exec_stop, exec_missing };
