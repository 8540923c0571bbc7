/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef FAIRLEAD_STRAYS_H
#define FAIRLEAD_STRAYS_H

/*
 * What the commands of exec checks have started and fairlead-check has not ended itself,
 * for it was killed or hung: it becomes ours when fairlead-check has died, and is killed.
 *
 * We may have other children: whoever started us may have been a script that did more,
 * and in a container we may be the init of all. So a stray is known by more than that:
 * it has the user of that fairlead-check, has given up new privileges as it has, and
 * began after it.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct strays {
	uid_t uid;      /* of the fairlead-check that was; 0: there are none */
	uint64_t since; /* when it was started: of strays_now() */
	/* Children that are none. */
	bool (*is_ours)(const void *context, pid_t pid);
	const void *context;
};

/* Of the user that a fairlead-check is to become; 0: there is no such user. */
uid_t strays_uid(const char *user);

/* From now on orphans below us become our children. */
void strays_adopt(void);

/* In clock ticks, as /proc has the times at which processes began. */
uint64_t strays_now(void);

/* Kills those that there are, and waits for none: how many are not gone yet. */
size_t strays_kill(const struct strays *strays);

#endif
