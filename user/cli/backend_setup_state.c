// SPDX-License-Identifier: GPL-2.0-only
#include "backend_setup_state.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <jansson.h>

#define STATE_VERSION 1
#define FILE_MAX 128

static void state_path(const char *instance, const char *suffix,
		       char path[FILE_MAX])
{
	snprintf(path, FILE_MAX, "%s/%s.%s", SETUP_RUN_DIR, instance, suffix);
}

void setup_state_clear(struct setup_state *state)
{
	free(state->vip);
	*state = (struct setup_state){ 0 };
}

/* The lock is the first thing that takes root, so it says so. */
static int lock_failed(const char *path, int code, struct err *err)
{
	bool denied = code == -EACCES || code == -EPERM;

	return err_set(err, code, "cannot open '%s': %s%s", path, strerror(-code),
		       denied ? "; backend-setup needs root" : "");
}

/* A run takes less than a second, and one that was killed is gone soon. */
static int lock_wait(int fd)
{
	static const struct timespec pause = { .tv_nsec = 50 * 1000 * 1000 };

	for (int tries = 0; tries < 100; tries++) {
		if (!flock(fd, LOCK_EX | LOCK_NB))
			return 0;
		nanosleep(&pause, NULL);
	}
	return -EBUSY;
}

int setup_state_lock(const char *instance, struct err *err)
{
	char path[FILE_MAX];
	_cleanup_close_ int fd = -1;

	if (mkdir(SETUP_RUN_DIR, 0755) && errno != EEXIST)
		return lock_failed(SETUP_RUN_DIR, -errno, err);

	state_path(instance, "lock", path);
	fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	if (fd < 0)
		return lock_failed(path, -errno, err);
	if (lock_wait(fd))
		return err_set(err, -EBUSY,
			       "another backend-setup of instance '%s' is running",
			       instance);
	return TAKE_FD(fd);
}

struct setup_vip *setup_state_find_vip(const struct setup_state *state,
				       const struct addr *addr)
{
	for (size_t i = 0; i < state->n_vip; i++) {
		if (!addr_compare(&state->vip[i].addr, addr))
			return &state->vip[i];
	}
	return NULL;
}

struct setup_sysctl *setup_state_find_sysctl(struct setup_state *state,
					     const char *path)
{
	for (size_t i = 0; i < state->n_sysctl; i++) {
		if (!strcmp(state->sysctl[i].path, path))
			return &state->sysctl[i];
	}
	return NULL;
}

int setup_state_add_vip(struct setup_state *state, const struct addr *addr,
			bool added, struct err *err)
{
	struct setup_vip *grown = reallocarray(state->vip, state->n_vip + 1,
					       sizeof(*grown));

	if (!grown)
		return err_set(err, -ENOMEM, "out of memory");
	state->vip = grown;
	state->vip[state->n_vip++] = (struct setup_vip){ *addr, added };
	return 0;
}

void setup_state_add_sysctl(struct setup_state *state, const char *path,
			    int before, int after)
{
	struct setup_sysctl *s = &state->sysctl[state->n_sysctl];

	/* There are fewer settings that we ever touch than places. */
	assert(state->n_sysctl < SETUP_SYSCTL_MAX);
	snprintf(s->path, sizeof(s->path), "%s", path);
	s->before = before;
	s->after = after;
	state->n_sysctl++;
}

static json_t *state_to_json(const struct setup_state *state)
{
	json_t *sysctls = json_array(), *vips = json_array();
	char text[ADDR_TEXT_MAX];

	for (size_t i = 0; i < state->n_sysctl; i++)
		json_array_append_new(sysctls,
			json_pack("{s:s, s:i, s:i}", "path", state->sysctl[i].path,
				  "before", state->sysctl[i].before,
				  "after", state->sysctl[i].after));
	for (size_t i = 0; i < state->n_vip; i++)
		json_array_append_new(vips,
			json_pack("{s:s, s:b}", "address",
				  addr_format(&state->vip[i].addr, text),
				  "added", state->vip[i].added));

	return json_pack("{s:i, s:s, s:I, s:b, s:i, s:o, s:o}",
			 "version", STATE_VERSION, "interface", state->interface,
			 "netns", (json_int_t)state->netns, "decap", state->decap,
			 "gue_port", (int)state->gue_port, "sysctls", sysctls,
			 "vips", vips);
}

/* -EPROTO without a sentence: the caller knows the file. */
static int take_sysctls(const json_t *array, struct setup_state *state)
{
	const char *path;
	int before, after;
	size_t i;
	json_t *item;

	if (json_array_size(array) > SETUP_SYSCTL_MAX)
		return -EPROTO;
	json_array_foreach(array, i, item) {
		if (json_unpack(item, "{s:s, s:i, s:i}", "path", &path,
				"before", &before, "after", &after))
			return -EPROTO;
		setup_state_add_sysctl(state, path, before, after);
	}
	return 0;
}

static int take_vips(const json_t *array, struct setup_state *state)
{
	struct addr addr;
	const char *text;
	int added, failed;
	size_t i;
	json_t *item;

	json_array_foreach(array, i, item) {
		if (json_unpack(item, "{s:s, s:b}", "address", &text, "added", &added) ||
		    addr_parse(text, "address", &addr, NULL))
			return -EPROTO;
		failed = setup_state_add_vip(state, &addr, added, NULL);
		if (failed)
			return failed;
	}
	return 0;
}

static int state_from_json(json_t *json, struct setup_state *state)
{
	int version = 0, decap = 0, gue_port = 0, failed;
	json_t *sysctls = NULL, *vips = NULL;
	const char *interface = NULL;
	json_int_t netns = 0;

	if (json_unpack(json, "{s:i, s:s, s:I, s:b, s:i, s:o, s:o}",
			"version", &version, "interface", &interface,
			"netns", &netns, "decap", &decap, "gue_port", &gue_port,
			"sysctls", &sysctls, "vips", &vips) ||
	    version != STATE_VERSION)
		return -EPROTO;

	snprintf(state->interface, sizeof(state->interface), "%s", interface);
	state->netns = netns;
	state->decap = decap;
	state->gue_port = gue_port;
	failed = take_sysctls(sysctls, state);
	return failed ? failed : take_vips(vips, state);
}

int setup_state_load(const char *instance, struct setup_state *out,
		     struct err *err)
{
	_cleanup_setup_state_ struct setup_state state = { 0 };
	char path[FILE_MAX];
	json_error_t why;
	json_t *json;
	int failed;

	state_path(instance, "json", path);
	if (access(path, F_OK) && errno == ENOENT) {
		*out = state;
		return 0;
	}
	json = json_load_file(path, 0, &why);
	if (!json)
		return err_set(err, -EPROTO, "cannot read '%s': %s", path, why.text);

	failed = state_from_json(json, &state);
	json_decref(json);
	if (failed)
		return err_set(err, failed,
			       "'%s' is not a state that this version of backend-setup writes",
			       path);

	*out = state;
	state.vip = NULL;
	return 0;
}

/* A new file takes the old one's place, so a kill leaves one of them whole. */
int setup_state_save(const char *instance, const struct setup_state *state,
		     struct err *err)
{
	char path[FILE_MAX], fresh[FILE_MAX];
	json_t *json = state_to_json(state);
	int failed;

	if (!json)
		return err_set(err, -ENOMEM, "out of memory");

	state_path(instance, "json", path);
	state_path(instance, "json.new", fresh);
	failed = json_dump_file(json, fresh, JSON_INDENT(2));
	json_decref(json);
	if (failed || rename(fresh, path))
		return err_set(err, errno ? -errno : -EIO, "cannot write '%s': %s",
			       path, strerror(errno));
	return 0;
}

int setup_state_remove(const char *instance, struct err *err)
{
	char path[FILE_MAX];

	state_path(instance, "json", path);
	if (unlink(path) && errno != ENOENT)
		return err_set(err, -errno, "cannot remove '%s': %s", path,
			       strerror(errno));
	return 0;
}
