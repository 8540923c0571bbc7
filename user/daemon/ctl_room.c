// SPDX-License-Identifier: GPL-2.0-only
/*
 * Who finds room at a control socket. Connections that ask nothing give way to new
 * ones, the one that has been idle the longest first; those that watch stay, and so
 * have a share of their own. Everybody may come to the read-only socket, so there one
 * user has half of each at most.
 */
#include <errno.h>

#include "ctl_private.h"

#define CLIENTS_MAX 128 /* of each socket: one cannot use up the other's */
#define CLIENTS_MAX_OF_USER (CLIENTS_MAX / 2)
#define WATCHERS_MAX (CLIENTS_MAX / 2)
#define WATCHERS_MAX_OF_USER (WATCHERS_MAX / 2)

/* Of all the clients of a socket, or of those of one user. */
struct crowd {
	unsigned int clients, watchers;
	struct client *idlest; /* of those that could go; NULL: none could */
};

/* It waits for nothing that is ours to do. */
static bool may_go(const struct client *client)
{
	return !client->watching && !client->waiting && !client->request;
}

static void crowd_add(struct crowd *crowd, struct client *client)
{
	crowd->clients++;
	crowd->watchers += client->watching;
	if (may_go(client) &&
	    (!crowd->idlest || client->last_active < crowd->idlest->last_active))
		crowd->idlest = client;
}

/* Who else is there, beside `client`: in all, and of its user. */
static void look_around(const struct client *client, struct crowd *all,
			struct crowd *of_user)
{
	struct client *other;

	*all = *of_user = (struct crowd){ 0 };
	LIST_FOREACH(other, &client->ctl->clients, entry) {
		if (other == client || other->read_only != client->read_only)
			continue;
		crowd_add(all, other);
		if (other->peer.uid == client->peer.uid)
			crowd_add(of_user, other);
	}
}

void client_is_active(struct client *client)
{
	client->last_active = ++client->ctl->activity;
}

int client_find_room(struct client *client, struct err *err)
{
	struct crowd all, of_user, *full = NULL;

	look_around(client, &all, &of_user);
	if (all.clients >= CLIENTS_MAX)
		full = &all;
	/* Its own first: nobody else has to go for one more of the same. */
	if (client->read_only && of_user.clients >= CLIENTS_MAX_OF_USER)
		full = &of_user;
	if (!full)
		return 0;
	if (full->idlest) {
		client_close(full->idlest);
		return 0;
	}
	if (full == &of_user)
		return err_set(err, -EBUSY,
			       "uid %u has %d connections to the read-only socket, all of them in use, which is as many as one user may have; close one, or try again",
			       client->peer.uid, CLIENTS_MAX_OF_USER);
	return err_set(err, -EBUSY,
		       "all of the %d connections that this control socket takes are in use; try again",
		       CLIENTS_MAX);
}

int client_find_watch_room(struct client *client, struct err *err)
{
	struct crowd all, of_user;

	look_around(client, &all, &of_user);
	if (client->read_only && of_user.watchers >= WATCHERS_MAX_OF_USER)
		return err_set(err, -EBUSY,
			       "uid %u watches over %d connections to the read-only socket, which is as many as one user may; end one of them",
			       client->peer.uid, WATCHERS_MAX_OF_USER);
	if (all.watchers >= WATCHERS_MAX)
		return err_set(err, -EBUSY,
			       "%d clients of this control socket watch, which is as many as may; one of them has to end first",
			       WATCHERS_MAX);
	return 0;
}
