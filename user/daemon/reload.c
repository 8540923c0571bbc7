// SPDX-License-Identifier: GPL-2.0-only
/*
 * The configuration file, and what commands have made of it since. Changes by
 * command are kept in running.yaml under /run, so that a daemon that comes back
 * after a crash goes on with them; its first line says which content of the
 * file they stand on. A file that was edited meanwhile wins over them.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <systemd/sd-daemon.h>
#include <unistd.h>

#include "core/cleanup.h"
#include "core/plural.h"
#include "daemon.h"
#include "sys/log.h"
#include "sys/own_file.h"

#define BASE_LINE "# fairleadd: changes by command, on configuration "

static void running_path(const struct daemon *d, const char *suffix, char *path,
			 size_t size)
{
	snprintf(path, size, "%s/running.yaml%s", d->run_dir, suffix);
}

/* FNV-1a 64 over a file's bytes; 0: not readable. */
static uint64_t file_digest(const char *path)
{
	_cleanup_fclose_ FILE *file = fopen(path, "re");
	uint64_t digest = 0xcbf29ce484222325ULL;
	int byte;

	if (!file)
		return 0;
	while ((byte = getc(file)) != EOF)
		digest = (digest ^ (uint8_t)byte) * 0x100000001b3ULL;
	return digest;
}

/* Does running.yaml stand on what the configuration file says now? */
static bool running_is_current(const struct daemon *d, const char *path)
{
	_cleanup_close_ int fd = own_file_open(path, NULL);
	_cleanup_fclose_ FILE *file = fd < 0 ? NULL : fdopen(fd, "r");
	char line[128], expected[128];

	if (!file)
		return false;
	fd = -1;
	if (!fgets(line, sizeof(line), file))
		return false;
	snprintf(expected, sizeof(expected), BASE_LINE "%016" PRIx64 "\n",
		 file_digest(d->options.config));
	return !strcmp(line, expected);
}

int daemon_load_config(struct daemon *d, struct cfg **out, struct err *err)
{
	_cleanup_cfg_ struct cfg *cfg = NULL;
	struct err running_err;
	char path[96];
	int rc = cfg_load_file(d->options.config, &cfg, err);

	if (rc)
		return rc;

	running_path(d, "", path, sizeof(path));
	if (access(path, F_OK) == 0 && !running_is_current(d, path)) {
		log_notice("'%s' was edited since: changes by command are dropped",
			   d->options.config);
	} else if (access(path, F_OK) == 0) {
		cfg_free(&cfg);
		rc = cfg_load_file(path, &cfg, &running_err);
		if (rc) {
			log_warn("ignoring changes by command: %s", running_err.text);
			return cfg_load_file(d->options.config, out, err);
		}
		log_notice("going on with changes by command that '%s' does not have ('fairlead save' writes them there)",
			   d->options.config);
	}
	*out = TAKE_PTR(cfg);
	return 0;
}

static int make_from_file(void *context, const struct cfg *running, struct cfg **next,
			  struct err *err)
{
	const struct daemon *d = context;

	(void)running;
	return cfg_load_file(d->options.config, next, err);
}

static void log_warning(void *context, const char *text)
{
	(void)context;
	log_warn("%s", text);
}

void daemon_log_warnings(const struct cfg *cfg)
{
	cfg_warnings(cfg, log_warning, NULL);
}

void daemon_log_dataplane_warnings(const struct daemon *d)
{
	dataplane_warnings(&d->dp, d->plan->cfg, log_warning, NULL);
}

static void reload_done(void *context, int rc, const struct err *err,
			const struct txn_changes *changes)
{
	struct daemon *d = context;

	if (rc)
		log_error("reload failed, nothing is changed: %s", err->text);
	else
		log_notice("reloaded '%s': %zu VIP%s added, %zu removed; %zu backend%s added, %zu removed; %zu table%s rebuilt; %" PRIu64 " map write%s",
			   d->options.config, changes->vips_added, plural(changes->vips_added),
			   changes->vips_removed, changes->backends_added,
			   plural(changes->backends_added), changes->backends_removed,
			   changes->tables_changed, plural(changes->tables_changed),
			   changes->map_writes, plural(changes->map_writes));
	if (!rc) {
		daemon_log_warnings(d->plan->cfg);
		daemon_log_dataplane_warnings(d);
		daemon_keep_running_config(d);
	}
	sd_notify(0, "READY=1");
}

void daemon_reload(struct daemon *d)
{
	struct txn_request request = { .make = make_from_file, .done = reload_done,
				       .context = d };

	sd_notifyf(0, "RELOADING=1\nMONOTONIC_USEC=%" PRIu64, uv_hrtime() / 1000);
	txn_submit(d, &request);
}

bool daemon_has_unsaved_changes(const struct daemon *d)
{
	_cleanup_cfg_ struct cfg *cfg = NULL;
	_cleanup_free_ char *in_file = NULL;
	_cleanup_free_ char *running = NULL;

	if (!d->running_saved)
		return false;
	if (cfg_load_file(d->options.config, &cfg, NULL) ||
	    cfg_to_yaml(cfg, &in_file, NULL) || cfg_to_yaml(d->plan->cfg, &running, NULL))
		return true;
	return strcmp(in_file, running) != 0;
}

static int write_running(const struct daemon *d, const char *yaml)
{
	char fresh[96], path[96];
	_cleanup_fclose_ FILE *file = NULL;
	int fd;

	running_path(d, ".new", fresh, sizeof(fresh));
	running_path(d, "", path, sizeof(path));
	fd = open(fresh, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (fd < 0)
		return -errno;
	file = fdopen(fd, "w");
	if (!file) {
		close(fd);
		return -ENOMEM;
	}
	if (fprintf(file, BASE_LINE "%016" PRIx64 "\n%s", file_digest(d->options.config),
		    yaml) < 0 || fflush(file))
		return -errno;
	return rename(fresh, path) ? -errno : 0;
}

void daemon_keep_running_config(struct daemon *d)
{
	_cleanup_free_ char *yaml = NULL;
	char path[96];
	struct err err;
	int rc;

	d->running_saved = true;
	if (!daemon_has_unsaved_changes(d)) {
		d->running_saved = false;
		running_path(d, "", path, sizeof(path));
		unlink(path);
		return;
	}
	rc = cfg_to_yaml(d->plan->cfg, &yaml, &err);
	if (!rc)
		rc = write_running(d, yaml);
	if (rc)
		log_warn("changes by command would not outlive a crash: cannot write running.yaml in '%s': %s",
			 d->run_dir, strerror(-rc));
}
