/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef FAIRLEAD_COMMANDS_H
#define FAIRLEAD_COMMANDS_H

/*
 * Commands of exec checks, as processes. Each has a session of its own, no capability,
 * nothing to read and 4 KiB to write; up to COMMANDS_MAX run at once, others wait in
 * turn. When one ends, or its time does, its whole process group is killed. This process
 * is the reaper of what they leave behind: that which has left the group is killed when
 * its command is over.
 */

#include <stdbool.h>
#include <sys/queue.h>
#include <sys/types.h>

#include <uv.h>

#include "watch.h"

#define COMMANDS_MAX 64
#define COMMAND_OUTPUT_MAX 4096

struct checker;
struct task;

struct command {
	struct watch watch; /* of its output */
	struct checker *checker;
	struct task *task; /* NULL: nobody wants to know */
	uint32_t id;       /* of the task's probe */
	pid_t pid;         /* 0: free */
	char output[COMMAND_OUTPUT_MAX];
	size_t n_output;
};

struct turn {
	STAILQ_ENTRY(turn) others;
	struct task *task;
};

struct commands {
	struct command commands[COMMANDS_MAX];
	STAILQ_HEAD(, turn) turns; /* tasks that wait */
	uv_signal_t sigchld;
	bool open;
};

int commands_open(struct checker *checker, struct err *err);
/* Kills all that is left. */
void commands_close(struct checker *checker);

/* Of the process that becomes a command; never returns. */
void command_exec(const struct task *task, int output_fd, pid_t parent)
	__attribute__((noreturn));
/* Soft limit of files before this process raised its own. */
void command_set_files(unsigned long files);

#endif
