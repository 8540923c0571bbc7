// SPDX-License-Identifier: GPL-2.0-only
#include "strays.h"

#include <pwd.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "core/cleanup.h"

/* Each pass kills what the ones before have set free: a chain of children, say. */
#define PASSES_MAX 64
#define START_FIELD 22 /* of /proc/PID/stat, counted from 1 */
#define NAME_FIELD 2   /* in parentheses, with whatever in it */

uid_t strays_uid(const char *user)
{
	const struct passwd *entry = getpwnam(user);

	return entry ? entry->pw_uid : 0;
}

void strays_adopt(void)
{
	prctl(PR_SET_CHILD_SUBREAPER, 1);
}

uint64_t strays_now(void)
{
	uint64_t hz = sysconf(_SC_CLK_TCK);
	struct timespec now;

	clock_gettime(CLOCK_BOOTTIME, &now);
	return now.tv_sec * hz + now.tv_nsec * hz / 1000000000;
}

/* 0: not known. */
static uint64_t began(pid_t pid)
{
	_cleanup_fclose_ FILE *file = NULL;
	char path[64], line[1024], *at;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	file = fopen(path, "re");
	if (!file || !fgets(line, sizeof(line), file))
		return 0;
	at = strrchr(line, ')');
	for (int field = NAME_FIELD; at && field < START_FIELD; field++)
		at = strchr(at + 1, ' ');
	return at ? strtoull(at, NULL, 10) : 0;
}

static bool has_no_new_privileges(pid_t pid)
{
	_cleanup_fclose_ FILE *file = NULL;
	char path[64], line[256];

	snprintf(path, sizeof(path), "/proc/%d/status", pid);
	file = fopen(path, "re");
	while (file && fgets(line, sizeof(line), file))
		if (!strncmp(line, "NoNewPrivs:", 11))
			return strtoul(line + 11, NULL, 10) == 1;
	return false;
}

static bool is_stray(const struct strays *strays, pid_t pid)
{
	struct stat st;
	char path[64];

	if (strays->is_ours(strays->context, pid))
		return false;
	snprintf(path, sizeof(path), "/proc/%d", pid);
	return !stat(path, &st) && st.st_uid == strays->uid &&
	       began(pid) >= strays->since && has_no_new_privileges(pid);
}

/* True: it is gone. Until it is waited for, nobody else can have its number. */
static bool end(pid_t pid)
{
	kill(pid, SIGKILL);
	return waitpid(pid, NULL, WNOHANG) == pid;
}

/* How many there were, and how many of them are gone. */
static size_t pass(const struct strays *strays, size_t *gone)
{
	_cleanup_fclose_ FILE *file = NULL;
	size_t n = 0;
	char path[64];
	int pid;

	*gone = 0;
	snprintf(path, sizeof(path), "/proc/self/task/%d/children", getpid());
	file = fopen(path, "re");
	while (file && fscanf(file, "%d", &pid) == 1) {
		if (!is_stray(strays, pid))
			continue;
		n++;
		*gone += end(pid);
	}
	return n;
}

size_t strays_kill(const struct strays *strays)
{
	size_t n = 0, gone;

	for (int i = 0; strays->uid && i < PASSES_MAX; i++) {
		n = pass(strays, &gone);
		if (!gone)
			return n;
	}
	return n;
}
