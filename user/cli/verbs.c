// SPDX-License-Identifier: GPL-2.0-only
#include "verbs.h"

#include <string.h>

#include "drain.h"
#include "flows.h"
#include "watch.h"
#include "words.h"

static const struct verb_option vip_options[] = {
	{"pool", "NAME", "share the backends of this pool with other VIPs"},
	{"hash", "5-tuple|source|source-dest|dest-port",
	 "what of a packet chooses the backend"},
	{"echo", "true|false", "whether the address answers ping"},
	{"tcp_junk", "drop|pass", "TCP flags that no sender means"},
	{"fragments", "first|hash", "follow the first, or all by addresses"},
	{"oversize", "drop|send", "too big and no DF: drop, or send"},
	{"on_down", "rehash|keep", "flows of a backend that fails: move, or stay"},
	{"tcp_idle_timeout", "SECONDS", "silence that ends a TCP flow; 0: none"},
	{"udp_idle_timeout", "SECONDS", "silence that ends a UDP flow; 0: none"},
	{"new_flow_limit", "NUMBER",
	 "new flows a second and CPU that are remembered; 0: all"},
	{"quic", "CONFIG_ID:LENGTH",
	 "route by server id in QUIC connection ids; none"},
	{"allow", "PREFIX,...", "take packets from these sources only; none"},
	{"deny", "PREFIX,...", "take none from these sources; none"},
	{"encap", "ipip|gue|gue1|gre|l2", "how packets travel to the backends"},
	{"gue_port", "PORT", "UDP port of GUE, 1 to 65535"},
	{"algorithm", "maglev|capped|ring|rendezvous",
	 "how slots are shared out (fairlead table plan compares)"},
	{"table_size", "PRIME", "slots in the lookup table, 251 to 655373"},
	{"slack", "PERCENT", "capped: slots above the fair share, 0 to 100"},
	{"ring_points", "NUMBER", "ring: points a unit of weight, 1 to 65535"},
	{"all_down", "all|drop", "when none is usable: use all, or drop"},
	{"check", "none|tcp|http|https|icmp", "check backends, as by default"},
	{"initial", "down|up", "what a backend is before its first result"},
	{"initial_timeout", "TIME", "until no result is down; 0: never"},
	{"slow_start", "TIME", "from a tenth of its share to all; 0: at once"},
	{"damping", "SUPPRESS:REUSE:HALF_LIFE",
	 "keep out what changes too often; none"},
	{"panic_threshold", "PERCENT", "fewer up: use all; 0: never"},
	{"quorum", "WEIGHT", "that must be up, or it is told; 0: none"},
	{"quorum_hysteresis", "WEIGHT", "more than that, to have it again"},
	{"drain_timeout", "TIME",
	 "until a backend that is deleted is let go; 0: with its flows"},
	{NULL, NULL, NULL},
};

static const struct verb_option backend_options[] = {
	{"weight", "NUMBER", "share of new flows, 0 to 65535; 0 takes none"},
	{"name", "NAME", "what places it in the table (default: the address)"},
	{"state", "up|drain|down", "drain: known flows only; down: nothing"},
	{"server_id", "HEX", "its server id in QUIC connection ids; none"},
	{NULL, NULL, NULL},
};

/* They may stand more than once, so table_plan.c reads them itself. */
static const struct verb_option plan_options[] = {
	{"--pool", "NAME", "this pool only"},
	{"--remove", "BACKEND", "without this backend"},
	{"--add", "BACKEND:WEIGHT", "with one more backend"},
	{"--set", "BACKEND:WEIGHT", "with another weight"},
	{"--down", "BACKEND", "when its checks fail: the health overlay"},
	{NULL, NULL, NULL},
};

/* It reads them itself, backend_setup.c. */
static const struct verb_option backend_setup_options[] = {
	{"--interface", "NAME", "where tunnel packets come in (default: as the default route)"},
	{"--gue-port", "PORT", "UDP port of GUE (default: 6080)"},
	{"--no-decap", NULL, "addresses and sysctls only, no decap program"},
	{"--show", NULL, "show what earlier runs set up"},
	{"--undo", NULL, "take back what earlier runs set up"},
	{NULL, NULL, NULL},
};

/* It reads them itself, test.c. */
static const struct verb_option test_options[] = {
	{"--config", "FILE", "the configuration that the cases are for"},
	{"--record", "PCAP", "write the cases that hold for a capture now"},
	{"--tap", NULL, "answer as the Test Anything Protocol"},
	{NULL, NULL, NULL},
};

const struct verb verbs[] = {
	{"vip", "add", "VIP", vip_options, cmd_edit, "serve a virtual address", 0},
	{"vip", "set", "VIP", vip_options, cmd_edit, "change a VIP",
	 VERB_SOME_OPTION},
	{"vip", "del", "VIP", NULL, cmd_edit, "stop serving a VIP", 0},
	{"vip", "show", "[VIP]", NULL, cmd_vip_show,
	 "show VIPs and their counters", VERB_ALL},
	{"backend", "add", "TARGET ADDRESS", backend_options, cmd_edit,
	 "give a VIP or a pool one more backend", 0},
	{"backend", "set", "TARGET BACKEND", backend_options, cmd_edit,
	 "change a backend", VERB_SOME_OPTION},
	{"backend", "del", "TARGET BACKEND", NULL, cmd_edit,
	 "take a backend away; its connections finish", 0},
	{"backend", "drain", "TARGET BACKEND", drain_options, cmd_backend_drain,
	 "send it known connections only, and wait until none is left",
	 VERB_OWN_OPTIONS},
	{"backend", "up", "TARGET BACKEND", NULL, cmd_backend_state,
	 "let it serve again", 0},
	{"backend", "down", "TARGET BACKEND", NULL, cmd_backend_state,
	 "send it nothing", 0},
	{"backend", "show", "[TARGET]", NULL, cmd_backend_show,
	 "show backends, their health and counters", VERB_ALL},
	{"show", "status", "", NULL, cmd_show_status,
	 "show how the daemon and the data plane are", 0},
	{"show", "counters", "", NULL, cmd_show_counters,
	 "show packets sent, passed and dropped", VERB_ALL},
	{"show", "flows", "", flow_show_options, cmd_show_flows,
	 "show how many connections are remembered, and which", VERB_OWN_OPTIONS},
	{"watch", NULL, "", watch_options, cmd_watch,
	 "print what happens to backends, as it happens", VERB_OWN_OPTIONS},
	{"flow", "flush", "", flow_flush_options, cmd_flow_flush,
	 "forget the flows of a VIP or to a backend", VERB_OWN_OPTIONS},
	{"table", "show", "[FILE]", NULL, cmd_table_show,
	 "show each backend's share of the lookup table", 0},
	{"table", "compare", "OLD NEW", NULL, cmd_table_compare,
	 "show what moves between two files; - is what runs", VERB_ALL},
	{"table", "plan", "[FILE]", plan_options, cmd_table_plan,
	 "show what a change would move, by each algorithm", VERB_OWN_OPTIONS},
	{"apply", NULL, "FILE", NULL, cmd_apply,
	 "make a file the running configuration", VERB_DRY_RUN},
	{"check", NULL, "FILE", NULL, cmd_check,
	 "check a configuration file; needs no daemon and no root", 0},
	{"test", NULL, "[CASES...]", test_options, cmd_test,
	 "run packets through the program and a file; needs no daemon",
	 VERB_OWN_OPTIONS},
	{"save", NULL, "[FILE]", NULL, cmd_save,
	 "write the running configuration to its file", 0},
	{"backend-setup", NULL, "[ADDRESS...]", backend_setup_options,
	 cmd_backend_setup, "make this host a backend of these VIP addresses",
	 VERB_OWN_OPTIONS},
	{"help", NULL, "[COMMAND...]", NULL, cmd_help, "explain a command",
	 VERB_OWN_OPTIONS},
	{"version", NULL, "", NULL, cmd_version, "print the version", 0},
	{NULL, NULL, NULL, NULL, NULL, NULL, 0},
};

size_t verbs_objects(const char *objects[OBJECTS_MAX])
{
	size_t n = 0;

	for (const struct verb *v = verbs; v->object && n < OBJECTS_MAX; v++) {
		if (n == 0 || strcmp(objects[n - 1], v->object) != 0)
			objects[n++] = v->object;
	}
	return n;
}

int verbs_find_object(const char *word, const char **object, struct err *err)
{
	const char *objects[OBJECTS_MAX];
	size_t n = verbs_objects(objects);
	int r = word_match(word, "command", objects, n, err);

	if (r < 0)
		return r;

	*object = objects[r];
	return 0;
}

static size_t entries_of(const char *object,
			 const struct verb *entries[VERBS_MAX])
{
	size_t n = 0;

	for (const struct verb *v = verbs; v->object && n < VERBS_MAX; v++) {
		if (strcmp(v->object, object) == 0 && v->name)
			entries[n++] = v;
	}
	return n;
}

size_t verbs_names(const char *object, const char *names[VERBS_MAX])
{
	const struct verb *entries[VERBS_MAX];
	size_t n = entries_of(object, entries);

	for (size_t i = 0; i < n; i++)
		names[i] = entries[i]->name;
	return n;
}

int verbs_find(const char *object, const char *word, const struct verb **verb,
	       struct err *err)
{
	const struct verb *entries[VERBS_MAX];
	const char *names[VERBS_MAX];
	char what[CLI_WORD_MAX];
	int r;

	snprintf(what, sizeof(what), "%s command", object);
	r = word_match(word, what, names, verbs_names(object, names), err);
	if (r < 0)
		return r;

	entries_of(object, entries);
	*verb = entries[r];
	return 0;
}

const struct verb *verbs_alone(const char *object)
{
	for (const struct verb *v = verbs; v->object; v++) {
		if (strcmp(v->object, object) == 0 && !v->name)
			return v;
	}
	return NULL;
}

const char *verb_name(const struct verb *verb, char text[VERB_NAME_MAX])
{
	snprintf(text, VERB_NAME_MAX, "%s%s%s", verb->object,
		 verb->name ? " " : "", verb->name ? verb->name : "");
	return text;
}

void verb_print_usage(const struct verb *verb, FILE *file)
{
	char name[VERB_NAME_MAX];

	fputs(verb_name(verb, name), file);
	if (*verb->args)
		fprintf(file, " %s", verb->args);
	for (const struct verb_option *o = verb->options; o && o->key; o++)
		fprintf(file, " [%s%s%s]", o->key, o->value ? " " : "",
			o->value ? o->value : "");
	if (verb->flags & VERB_ALL)
		fputs(" [--all]", file);
	if (verb->flags & VERB_DRY_RUN)
		fputs(" [--dry-run]", file);
}
