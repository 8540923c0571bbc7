// SPDX-License-Identifier: GPL-2.0-only
/*
 * What is written about the command against the command itself: manual pages,
 * the listing for completion, the drop reasons, the examples.
 */
#include "test_cli_all.h"

#include "drop_reasons.h"

#define COMMAND_PAGE "docs/fairlead.8"
#define DAEMON_PAGE  "docs/fairleadd.8"
#define FILE_PAGE    "docs/fairlead.yaml.5"
#define COMPLETION   "docs/bash-completion/fairlead"

/* Tests run in the top directory of the sources. */
static char *page(const char *path)
{
	char *text;
	size_t length;
	struct err err = {};

	if (file_read(path, &text, &length, &err) < 0)
		fail_msg("%s", err.text);
	return text;
}

/* "[FILE]" is an optional argument in mdoc, "VIP" a plain one. */
static void print_places(FILE *file, const char *args)
{
	char place[CLI_WORD_MAX];
	bool plain = false;

	while (*next_place(&args, place, sizeof(place))) {
		if (place[0] == '[')
			fprintf(file, " Op Ar %.*s", (int)strlen(place) - 2,
				place + 1);
		else
			fprintf(file, "%s %s", plain ? "" : " Ar", place);
		plain = place[0] != '[';
	}
}

static char *verb_entry(const struct verb *verb)
{
	char *text, name[VERB_NAME_MAX];
	size_t size;
	FILE *file = open_memstream(&text, &size);

	fprintf(file, "\n.It Ic %s", verb_name(verb, name));
	print_places(file, verb->args);
	if (verb->flags & VERB_ALL)
		fputs(" Op Fl Fl all", file);
	if (verb->flags & VERB_DRY_RUN)
		fputs(" Op Fl Fl dry-run", file);
	fputc('\n', file);
	fclose(file);
	return text;
}

static char *option_entry(const struct verb_option *option)
{
	bool dashes = option->key[0] == '-';
	char *text;

	assert_true(asprintf(&text, "\n.It %s%s%s%s\n", dashes ? "Fl Fl " : "Cm ",
			     option->key + (dashes ? 2 : 0),
			     option->value ? " Ar " : "",
			     option->value ? option->value : "") > 0);
	return text;
}

static void every_command_and_option_has_its_entry_in_the_manual(void **state)
{
	_cleanup_free_ char *manual = page(COMMAND_PAGE);

	(void)state;
	for (const struct verb *v = verbs; v->object; v++) {
		_cleanup_free_ char *entry = verb_entry(v);

		assert_contains(manual, entry);
		for (const struct verb_option *o = v->options; o && o->key; o++) {
			_cleanup_free_ char *option = option_entry(o);

			/* Not that of a command before it. */
			assert_contains(o->key[0] == '-' ? strstr(manual, entry) : manual,
					option);
		}
	}
}

static size_t count(const char *text, const char *part)
{
	size_t n = 0;

	for (; (text = strstr(text, part)); text++)
		n++;
	return n;
}

static void the_manual_has_no_command_that_is_gone(void **state)
{
	_cleanup_free_ char *manual = page(COMMAND_PAGE);
	size_t n = 0;

	(void)state;
	for (const struct verb *v = verbs; v->object; v++)
		n++;
	assert_int_equal(count(manual, "\n.It Ic "), n);
}

static void every_global_option_has_its_entry_in_the_manual(void **state)
{
	_cleanup_free_ char *manual = page(COMMAND_PAGE);

	(void)state;
	for (const struct option_entry *e = option_entries; e->name; e++) {
		char letter[] = "Fl x , ", entry[128];

		letter[3] = e->letter;
		snprintf(entry, sizeof(entry), "\n.It %sFl Fl %s%s%s\n",
			 e->letter ? letter : "", e->name,
			 e->value ? " Ar " : "", e->value ? e->value : "");
		assert_contains(manual, entry);
	}
}

static void every_exit_status_is_in_the_manual(void **state)
{
	static const int statuses[] = { EXIT_OK,       EXIT_REFUSED,
					EXIT_USAGE,    EXIT_UNAVAILABLE,
					EXIT_PROTOCOL, EXIT_NOPERM };
	_cleanup_free_ char *manual = page(COMMAND_PAGE);

	(void)state;
	for (size_t i = 0; i < N(statuses); i++) {
		char entry[32];

		snprintf(entry, sizeof(entry), "\n.It %d\n", statuses[i]);
		assert_contains(manual, entry);
	}
}

static void the_manual_explains_each_drop_reason_and_no_other(void **state)
{
	_cleanup_free_ char *manual = page(DAEMON_PAGE);
	char *section = strstr(manual, "\n.Sh DROP REASONS\n");
	size_t n = 0;

	(void)state;
	assert_non_null(section);
	*strstr(section, "\n.El\n") = '\0';
#define X(id, name, label, help)                               \
	assert_contains(section, "\n.It Cm " label "\n" help); \
	n++;
	DROP_REASONS(X)
#undef X
	assert_int_equal(count(section, "\n.It "), n);
}

/* On a macro's line mdoc takes quotes away; \(dq stays one. */
static void no_quotes_get_lost_in_the_manuals(void **state)
{
	static const char *const pages[] = { COMMAND_PAGE, DAEMON_PAGE, FILE_PAGE };

	(void)state;
	for (size_t i = 0; i < N(pages); i++) {
		_cleanup_free_ char *manual = page(pages[i]);
		char *rest = manual, *line;

		while ((line = strsep(&rest, "\n"))) {
			if (line[0] == '.' && line[1] != '\\' && strchr(line, '"'))
				fail_msg("%s: %s", pages[i], line);
		}
	}
}

/* Calls fn with each literal block of the page; returns how many. */
static int for_each_example(const char *path, void (*fn)(const char *text))
{
	static const char begin[] = "\n.Bd -literal -offset indent\n";
	_cleanup_free_ char *manual = page(path);
	char *at = manual, *end;
	int n = 0;

	while ((at = strstr(at, begin))) {
		at += strlen(begin);
		end = strstr(at, ".Ed\n");
		assert_non_null(end);
		*end = '\0';
		fn(at);
		at = end + 1;
		n++;
	}
	return n;
}

static void assert_configuration(const char *text)
{
	_cleanup_cfg_ struct cfg *cfg = NULL;
	struct err err = {};

	if (cfg_parse_yaml(text, strlen(text), "example", &cfg, &err) < 0)
		fail_msg("%s", err.text);
}

static void examples_of_configurations_are_right(void **state)
{
	(void)state;
	assert_int_equal(for_each_example(FILE_PAGE, assert_configuration), 2);
}

/* Right up to where the daemon would be asked, which is not there. */
static void assert_command_lines(const char *text)
{
	_cleanup_free_ char *copy = strdup(text);
	char *rest = copy, *line;

	while ((line = strsep(&rest, "\n"))) {
		static const char program[] = "fairlead ";
		_cleanup_outcome_ struct outcome o = {};

		if (!*line)
			continue;
		assert_ptr_equal(strstr(line, program), line);
		o = fairlead("--socket /nonexistent/s %s",
			     line + strlen(program));
		if (o.status != EXIT_UNAVAILABLE && o.status != EXIT_OK)
			fail_msg("%s: %s", line, o.err);
	}
}

static void examples_of_commands_are_right(void **state)
{
	(void)state;
	assert_int_equal(for_each_example(COMMAND_PAGE, assert_command_lines), 6);
}

static void the_listing_has_each_command_and_option_on_a_line(void **state)
{
	_cleanup_outcome_ struct outcome o = fairlead("help --verbs");
	size_t lines = 0;

	(void)state;
	assert_int_equal(o.status, EXIT_OK);
	for (const struct verb *v = verbs; v->object; v++, lines++) {
		char start[2 * CLI_WORD_MAX], name[VERB_NAME_MAX];

		snprintf(start, sizeof(start), "\n%s\t%s\t", verb_name(v, name),
			 v->args);
		assert_contains(o.out, start);
		for (const struct verb_option *p = v->options; p && p->key; p++)
			assert_contains(strstr(o.out, start), p->key);
	}
	for (const struct option_entry *e = option_entries; e->name; e++)
		lines++;
	assert_int_equal(count(o.out, "\n"), lines);
	assert_contains(o.out, "\tpool=NAME hash=5-tuple|source|source-dest|dest-port");
}

/* Run the completion in bash and return its candidates. Caller frees. */
static char *complete(const char *words)
{
	_cleanup_outcome_ struct outcome listing = fairlead("help --verbs");
	_cleanup_free_ char *script = NULL;
	char *text = calloc(1, 4096);
	FILE *bash;

	assert_true(asprintf(&script,
			     "program() { cat <<'END'\n%sEND\n}\n"
			     "source " COMPLETION "\n"
			     "COMP_WORDS=(program %s)\n"
			     "COMP_CWORD=$((${#COMP_WORDS[@]} - 1))\n"
			     "_fairlead; echo \" ${COMPREPLY[*]} \"\n",
			     listing.out, words) > 0);
	setenv("COMPLETION_TEST", script, 1);
	bash = popen("bash -c 'eval \"$COMPLETION_TEST\"'", "r");
	assert_non_null(bash);
	assert_true(fread(text, 1, 4095, bash) > 0);
	assert_int_equal(pclose(bash), 0);
	return text;
}

static void completion_offers_what_the_table_has(void **state)
{
	static const struct {
		const char *words, *candidates;
	} rows[] = {
		{ "v", " version vip \n" },
		{ "show ''", " counters flows status \n" },
		{ "vip add V ''",
		  " pool hash echo tcp_junk fragments oversize "
		  "tcp_idle_timeout udp_idle_timeout new_flow_limit quic allow deny "
		  "encap gue_port algorithm table_size slack "
		  "ring_points all_down \n" },
		{ "vip add V encap ''", " ipip gue gue1 gre l2 \n" },
		{ "vip set V algorithm ''", " maglev capped ring rendezvous \n" },
		{ "backend set V B state ''", " up drain down \n" },
		{ "table ''", " compare plan show \n" },
		{ "table plan --re", " --remove \n" },
		{ "vip add V pool p en", " encap \n" },
		{ "-j --instance x vip d", " del \n" },
		{ "backend-setup --no", " --no-decap \n" },
		{ "te", " test \n" },
		{ "test --re", " --record \n" },
		{ "test --config docs/fairlead.yaml.ex", " docs/fairlead.yaml.example \n" },
		{ "test --config F examples/ca", " examples/cases \n" },
		{ "vip add V pool ''", "  \n" },
	};

	(void)state;
	if (system("command -v bash >/dev/null") != 0)
		skip();
	for (size_t i = 0; i < N(rows); i++) {
		_cleanup_free_ char *got = complete(rows[i].words);

		assert_string_equal(got, rows[i].candidates);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			every_command_and_option_has_its_entry_in_the_manual),
		cmocka_unit_test(the_manual_has_no_command_that_is_gone),
		cmocka_unit_test(every_global_option_has_its_entry_in_the_manual),
		cmocka_unit_test(every_exit_status_is_in_the_manual),
		cmocka_unit_test(the_manual_explains_each_drop_reason_and_no_other),
		cmocka_unit_test(no_quotes_get_lost_in_the_manuals),
		cmocka_unit_test(examples_of_configurations_are_right),
		cmocka_unit_test(examples_of_commands_are_right),
		cmocka_unit_test(the_listing_has_each_command_and_option_on_a_line),
		cmocka_unit_test(completion_offers_what_the_table_has),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
