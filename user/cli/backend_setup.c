// SPDX-License-Identifier: GPL-2.0-only
#include "backend_setup.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <bpf/libbpf.h>

#include "backend_setup_decap.h"
#include "core/num.h"
#include "core/quote.h"
#include "sys/nl_addr.h"

void setup_report(struct setup *setup, const char *what, const char *before,
		  const char *after)
{
	struct writer *out = setup->cli->out;

	writer_record(out, NULL);
	writer_str(out, "change", what);
	writer_str(out, "before", before);
	writer_str(out, "after", after);
	writer_close(out);
}

void setup_report_sysctl(struct setup *setup, const char *path, int before,
			 int after)
{
	char name[SYSCTL_PATH_MAX], from[16], to[16];

	snprintf(from, sizeof(from), "%d", before);
	snprintf(to, sizeof(to), "%d", after);
	setup_report(setup, sysctl_name(path, name), from, to);
}

static int add_vip(struct setup *setup, const char *text, struct err *err)
{
	struct addr addr, *grown;
	int failed = addr_parse(text, "VIP", &addr, err);

	if (failed)
		return failed;
	if (addr.family == AF_INET ? ntohl(addr.v4.s_addr) >> 24 == 127 :
				     IN6_IS_ADDR_LOOPBACK(&addr.v6))
		return err_set(err, -EINVAL,
			       "VIP %s is a loopback address; allowed: a unicast IPv4 or IPv6 address",
			       QUOTE(text));
	for (size_t i = 0; i < setup->n_vip; i++) {
		if (!addr_compare(&setup->vip[i], &addr))
			return err_set(err, -EEXIST, "VIP %s is given twice",
				       QUOTE(text));
	}

	grown = reallocarray(setup->vip, setup->n_vip + 1, sizeof(*grown));
	if (!grown)
		return err_set(err, -ENOMEM, "out of memory");
	setup->vip = grown;
	setup->vip[setup->n_vip++] = addr;
	return 0;
}

/* "--name VALUE" and "--name=VALUE". 1: it is that option, *value is set. */
static int take_value(const char *name, int argc, char **argv, int *i,
		      const char **value, struct err *err)
{
	size_t length = strlen(name);

	if (strncmp(argv[*i], name, length))
		return 0;
	if (argv[*i][length] == '=') {
		*value = argv[*i] + length + 1;
		return 1;
	}
	if (argv[*i][length])
		return 0;
	if (*i + 1 == argc)
		return err_set(err, -EINVAL, "option %s needs a value", name);
	*value = argv[++*i];
	return 1;
}

/* One word or option with its value. */
static int take_word(struct setup *setup, int argc, char **argv, int *i,
		     struct err *err)
{
	const char *word = argv[*i], *value;
	int taken = take_value("--interface", argc, argv, i, &setup->interface, err);

	if (taken)
		return taken < 0 ? taken : 0;
	taken = take_value("--gue-port", argc, argv, i, &value, err);
	if (taken)
		return taken < 0 ? taken :
				   parse_u16(value, "GUE port", 1, UINT16_MAX,
					     &setup->gue_port, err);

	if (!strcmp(word, "--no-decap"))
		setup->no_decap = true;
	else if (!strcmp(word, "--undo"))
		setup->undo = true;
	else if (!strcmp(word, "--show"))
		setup->show = true;
	else if (word[0] == '-')
		return err_set(err, -EINVAL,
			       "unknown option %s; allowed: --interface, --gue-port, --no-decap, --undo, --show",
			       QUOTE(word));
	else
		return add_vip(setup, word, err);
	return 0;
}

static int parse(struct setup *setup, int argc, char **argv, struct err *err)
{
	bool alone = false;
	int failed;

	for (int i = 0; i < argc; i++) {
		failed = take_word(setup, argc, argv, &i, err);
		if (failed)
			return failed;
	}

	if (setup->undo || setup->show)
		alone = !setup->n_vip && !setup->interface && !setup->gue_port &&
			!setup->no_decap && setup->undo != setup->show;
	else if (!setup->n_vip)
		return err_set(err, -EINVAL, "no VIP address is given");
	if ((setup->undo || setup->show) && !alone)
		return err_set(err, -EINVAL,
			       "%s takes no other option and no VIP: it is about all that the instance has",
			       setup->undo ? "--undo" : "--show");
	return 0;
}

/*
 * The state names interfaces and settings of one network namespace, and the
 * same names mean others in another.
 */
static int check_netns(struct setup *setup, struct err *err)
{
	struct stat st;

	if (stat("/proc/self/ns/net", &st))
		return err_set(err, -errno, "cannot tell the network namespace: %s",
			       strerror(errno));
	if (setup->state.interface[0] && setup->state.netns != st.st_ino)
		return err_set(err, -EXDEV,
			       "instance '%s' was set up in another network namespace (net:[%ju]); go there, or choose another --instance",
			       setup->instance, (uintmax_t)setup->state.netns);

	setup->state.netns = st.st_ino;
	return 0;
}

static void show_sysctls(struct writer *out, const struct setup_state *state)
{
	char name[SYSCTL_PATH_MAX];
	int now;

	writer_list(out, "sysctls");
	for (size_t i = 0; i < state->n_sysctl; i++) {
		const struct setup_sysctl *s = &state->sysctl[i];

		writer_record(out, NULL);
		writer_str(out, "sysctl", sysctl_name(s->path, name));
		writer_int(out, "before", s->before);
		writer_int(out, "after", s->after);
		if (sysctl_read(s->path, &now, NULL))
			writer_null(out, "now");
		else
			writer_int(out, "now", now);
		writer_close(out);
	}
	writer_close(out);
}

static void show_vips(struct writer *out, const struct setup_state *state)
{
	char text[ADDR_TEXT_MAX];

	writer_list(out, "vips");
	for (size_t i = 0; i < state->n_vip; i++) {
		writer_record(out, NULL);
		writer_str(out, "vip", addr_format(&state->vip[i].addr, text));
		writer_bool(out, "added", state->vip[i].added);
		writer_close(out);
	}
	writer_close(out);
}

static void show_decap(struct writer *out, const struct decap_info *info,
		       const struct decap_counters *counters, bool attached)
{
	static const char *const keys[] = { "program", "stripped_ipip", "stripped_gue",
					    "not_vip", "malformed" };
	const char *mode = info->generic ? "generic" : "native";

	writer_str(out, "decap", !attached ? "none" : info->ifindex ? mode : "gone");
	if (!attached) {
		for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
			writer_null(out, keys[i]);
		return;
	}
	writer_int(out, "program", info->program);
	writer_int(out, "stripped_ipip", counters->ipip);
	writer_int(out, "stripped_gue", counters->gue);
	writer_int(out, "not_vip", counters->not_vip);
	writer_int(out, "malformed", counters->malformed);
}

static int setup_show(struct setup *setup, struct err *err)
{
	const struct setup_state *state = &setup->state;
	struct decap_counters counters = { 0 };
	struct writer *out = setup->cli->out;
	struct decap_info info = { 0 };
	int attached = decap_query(setup->instance, &info, err);
	int failed = attached > 0 ?
			     decap_counters_read(setup->instance, &counters, err) :
			     attached;

	if (failed)
		return failed;

	writer_str(out, "instance", setup->instance);
	writer_str(out, "interface", state->interface[0] ? state->interface : NULL);
	if (state->gue_port)
		writer_int(out, "gue_port", state->gue_port);
	else
		writer_null(out, "gue_port");
	show_decap(out, &info, &counters, attached);
	show_vips(out, state);
	show_sysctls(out, state);
	return 0;
}

static int run(struct setup *setup, struct err *err)
{
	/* Looking needs no lock, and must work beside a run. */
	_cleanup_close_ int lock = setup->show ? -1 :
						 setup_state_lock(setup->instance, err);
	int failed;

	if (!setup->show && lock < 0)
		return lock;
	failed = setup_state_load(setup->instance, &setup->state, err);
	if (failed)
		return failed;
	if (setup->show)
		return setup_show(setup, err);

	failed = check_netns(setup, err);
	if (failed)
		return failed;
	return setup->undo ? setup_undo(setup, err) : setup_apply(setup, err);
}

int cmd_backend_setup(struct cli *cli, int argc, char **argv)
{
	struct setup setup = { .cli = cli, .instance = cli->options.instance };
	struct err err = { 0 };
	int failed = parse(&setup, argc, argv, &err);
	int status;

	/* Our sentences say it; libbpf's lines would only stand between them. */
	libbpf_set_print(NULL);
	if (failed) {
		status = failed == -EINVAL ? cli_fail_usage(cli, "%s", err.text) :
					     cli_fail_err(cli, &err);
	} else {
		failed = run(&setup, &err);
		status = failed ? cli_fail_err(cli, &err) : EXIT_OK;
	}

	setup_state_clear(&setup.state);
	free(setup.vip);
	return status;
}
