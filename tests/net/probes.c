// SPDX-License-Identifier: GPL-2.0-only
/*
 * usage: probes PIN-DIR COMMAND...
 *
 * What the daemon does with in-path probes, one command after the other; then it ends,
 * as a daemon may at any time, and leaves what is attached.
 *
 *   add BACKEND VIP PORT PROTOCOL  by the backend's own address; prints the mark
 *   attach INTERFACES              names with commas between; "none": off all
 *   route VIP INTERFACE            prints by which one probes leave; where answers come in
 *   read                           prints the counters, a line each
 *   remove                         as --teardown; opens nothing
 */
#include <errno.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "abi.h"
#include "core/cleanup.h"
#include "dp/probe.h"

#define INTERFACES_MAX 8

struct tool {
	struct probes *probes;
	int backends;
};

static int silent(enum libbpf_print_level level, const char *format, va_list args)
{
	(void)level;
	(void)format;
	(void)args;
	return 0;
}

static bool is_backend(const struct backend *backend, const struct addr *addr)
{
	bool v6 = addr->family == AF_INET6;

	/* One that drains is of a configuration before, with another tunnel perhaps. */
	if ((backend->flags & (BACKEND_VALID | BACKEND_DRAINING)) != BACKEND_VALID ||
	    v6 != !!(backend->flags & BACKEND_OUTER_V6))
		return false;
	return v6 ? !memcmp(backend->outer.v6.dst, &addr->v6, sizeof(addr->v6)) :
		    backend->outer.v4.dst == addr->v4.s_addr;
}

static uint32_t find_backend(int fd, const struct addr *addr)
{
	struct backend backend;
	uint32_t id;

	for (id = 1; id <= MAX_BACKENDS; id++)
		if (!bpf_map_lookup_elem(fd, &id, &backend) && is_backend(&backend, addr))
			return id;
	return 0;
}

static int add(struct tool *t, char **args, struct err *err)
{
	struct addr backend, vip;
	struct probe_target target;
	uint32_t mark;
	int rc = addr_parse(args[0], "backend", &backend, err);

	if (!rc)
		rc = addr_parse(args[1], "VIP", &vip, err);
	if (rc)
		return rc;
	target = probe_target(&vip, atoi(args[2]), strcmp(args[3], "udp") ? 6 : 17,
			      find_backend(t->backends, &backend));
	rc = probes_add(t->probes, &target, &mark, err);
	if (!rc)
		printf("0x%x\n", mark);
	return rc;
}

static int attach(struct tool *t, char **args, struct err *err)
{
	unsigned int ifindexes[INTERFACES_MAX];
	char *name, *rest = args[0];
	size_t n = 0;

	while ((name = strsep(&rest, ",")) && n < INTERFACES_MAX)
		if (strcmp(name, "none"))
			ifindexes[n++] = if_nametoindex(name);
	return probes_attach(t->probes, ifindexes, n, err);
}

static int route(struct tool *t, char **args, struct err *err)
{
	char name[IF_NAMESIZE];
	unsigned int ifindex;
	struct addr vip;
	int rc = addr_parse(args[0], "VIP", &vip, err);

	if (!rc)
		rc = probes_route(t->probes, &vip, if_nametoindex(args[1]), &ifindex, err);
	if (!rc)
		puts(if_indextoname(ifindex, name));
	return rc;
}

static int read_counters(struct tool *t, char **args, struct err *err)
{
	uint64_t packets[PROBE_FATE__MAX];
	int i, rc = probes_read(t->probes, packets, err);

	(void)args;
	for (i = 0; i < PROBE_FATE__MAX && !rc; i++)
		printf("%s %llu\n", probe_fate_name(i), (unsigned long long)packets[i]);
	return rc;
}

static const struct command {
	const char *name;
	int n_args;
	int (*run)(struct tool *, char **, struct err *);
} commands[] = {
	{ "add", 4, add },
	{ "attach", 1, attach },
	{ "route", 2, route },
	{ "read", 0, read_counters },
};

static const struct command *find_command(const char *name)
{
	size_t i;

	for (i = 0; i < sizeof(commands) / sizeof(commands[0]); i++)
		if (!strcmp(commands[i].name, name))
			return &commands[i];
	return NULL;
}

static int run_all(struct tool *t, int argc, char **argv, struct err *err)
{
	const struct command *command;
	int rc = 0;

	for (; argc && !rc; argc -= 1 + command->n_args, argv += 1 + command->n_args) {
		command = find_command(argv[0]);
		if (!command || argc < 1 + command->n_args)
			return err_set(err, -EINVAL, "what is '%s'?", argv[0]);
		rc = command->run(t, argv + 1, err);
	}
	return rc;
}

static int run(int argc, char **argv, struct err *err)
{
	struct tool t = { 0 };
	_cleanup_close_ int backends = -1;
	char path[192];
	int rc;

	if (!strcmp(argv[2], "remove"))
		return probes_remove(argv[1], err);
	snprintf(path, sizeof(path), "%s/backends", argv[1]);
	t.backends = backends = bpf_obj_get(path);
	if (backends < 0)
		return err_set(err, -errno, "no backends in '%s'", argv[1]);
	rc = probes_open(argv[1], backends, &t.probes, err);
	if (!rc)
		rc = run_all(&t, argc - 2, argv + 2, err);
	probes_close(&t.probes);
	return rc;
}

int main(int argc, char **argv)
{
	struct err err = { 0 };
	int rc;

	if (argc < 3) {
		fputs("usage: probes PIN-DIR COMMAND...\n", stderr);
		return 64;
	}
	libbpf_set_print(silent);
	rc = run(argc, argv, &err);
	if (rc)
		fprintf(stderr, "%s\n", err.text);
	return rc ? 1 : 0;
}
