// SPDX-License-Identifier: GPL-2.0-only
/* From argv to a command and its arguments: words, options, grammar. */
#include "test_cli_all.h"

static const char *const colours[] = { "red", "green", "grey", "greyish" };

static int match(const char *word, struct err *err)
{
	return word_match(word, "colour", colours, 4, err);
}

static void a_whole_word_means_itself_although_it_begins_another(void **state)
{
	(void)state;
	assert_int_equal(match("grey", NULL), 2);
}

static void a_beginning_means_the_only_word_that_begins_so(void **state)
{
	(void)state;
	assert_int_equal(match("r", NULL), 0);
	assert_int_equal(match("greyi", NULL), 3);
}

static void an_ambiguous_word_is_refused_with_its_candidates(void **state)
{
	struct err err = {};

	(void)state;
	assert_int_equal(match("gre", &err), -ENOTUNIQ);
	assert_string_equal(err.text, "ambiguous colour 'gre': it may mean "
				      "green, grey or greyish");
}

static void an_unknown_word_is_refused_with_the_accepted_ones(void **state)
{
	struct err err = {};

	(void)state;
	assert_int_equal(match("blue", &err), -ENOENT);
	assert_string_equal(err.text, "unknown colour 'blue': expected red, "
				      "green, grey or greyish");
	assert_int_equal(match("", NULL), -ENOENT);
	assert_int_equal(match("reddish", NULL), -ENOENT);
}

static void a_list_that_does_not_fit_is_cut(void **state)
{
	char text[8];

	(void)state;
	assert_string_equal(word_list(colours, 4, text, sizeof(text)),
			    "red, gr");
}

static void every_object_and_verb_can_be_found_by_its_whole_name(void **state)
{
	(void)state;
	for (const struct verb *v = verbs; v->object; v++) {
		const struct verb *found = NULL;
		const char *object = NULL;

		assert_int_equal(verbs_find_object(v->object, &object, NULL), 0);
		assert_string_equal(object, v->object);
		if (v->name)
			assert_int_equal(
				verbs_find(object, v->name, &found, NULL), 0);
		else
			found = verbs_alone(object);
		assert_ptr_equal(found, v);
	}
}

static void the_table_keeps_to_the_limits_of_the_parser(void **state)
{
	(void)state;
	for (const struct verb *v = verbs; v->object; v++) {
		size_t places = *v->args ? 1 : 0;

		for (const char *c = v->args; *c; c++)
			places += *c == ' ';
		assert_true(places <= CLI_POSITIONAL_MAX);
		assert_true(count_options(v) <= CLI_OPTION_MAX);
		assert_non_null(v->run);
		assert_true(v->help[0] >= 'a' && v->help[0] <= 'z');
		for (const struct verb_option *o = v->options; o && o->key; o++)
			assert_true(!o->value || strlen(o->value) < CLI_WORD_MAX);
	}
}

struct line {
	char *argv[ARGV_MAX];
	char *text;
	struct cli_options options;
	struct words words;
	struct err err;
	int r;
};

static void line_free(struct line *line)
{
	free(line->text);
}

static struct line parse_options(const char *text)
{
	struct line line = { .text = strdup(text) };
	char *rest = line.text, *word;
	int argc = 0;

	while ((word = strsep(&rest, " ")))
		line.argv[argc++] = word;
	line.r = options_parse(argc, line.argv, &line.options, &line.words,
			       &line.err);
	line.words.word = NULL; /* argv moves with the struct */
	return line;
}

static void options_are_found_between_the_words(void **state)
{
	_cleanup_(line_free) struct line line =
		parse_options("vip -j show --instance two X --socket=/s");

	(void)state;
	assert_int_equal(line.r, 0);
	assert_int_equal(line.options.form, WRITER_JSON);
	assert_string_equal(line.options.instance, "two");
	assert_string_equal(line.options.socket, "/s");
	assert_int_equal(line.words.n, 3);
	assert_string_equal(line.argv[0], "vip");
	assert_string_equal(line.argv[1], "show");
	assert_string_equal(line.argv[2], "X");
}

static void words_after_two_dashes_are_no_options(void **state)
{
	_cleanup_(line_free) struct line line = parse_options("save -- -j");

	(void)state;
	line.words.word = line.argv;
	assert_int_equal(line.r, 0);
	assert_int_equal(line.options.form, WRITER_TEXT);
	assert_int_equal(line.words.n, 2);
	assert_string_equal(line.argv[1], "-j");
	assert_false(options_at(&line.words, 1));
}

static void letters_may_stand_together(void **state)
{
	_cleanup_(line_free) struct line both = parse_options("show -jpa");
	_cleanup_(line_free) struct line unknown = parse_options("show -jx");

	(void)state;
	assert_int_equal(both.options.form, WRITER_JSON_PRETTY);
	assert_true(both.options.all);
	assert_int_equal(unknown.options.form, WRITER_TEXT);
	unknown.words.word = unknown.argv;
	assert_true(options_at(&unknown.words, 1));
}

static void wrong_options_are_refused_with_a_sentence(void **state)
{
	static const struct {
		const char *text, *sentence;
	} rows[] = {
		{ "--instance", "option '--instance' needs a value" },
		{ "--instance a/b", "instance name 'a/b' is not usable" },
		{ "--instance=", "instance name '' is not usable" },
		{ "--json=1", "option '--json' takes no value" },
		{ "-o -j", "does not go together" },
		{ "-op", "does not go together" },
	};

	(void)state;
	for (size_t i = 0; i < N(rows); i++) {
		_cleanup_(line_free) struct line line =
			parse_options(rows[i].text);

		assert_int_equal(line.r, -EINVAL);
		assert_contains(line.err.text, rows[i].sentence);
	}
}

static void instance_names_have_at_most_32_characters(void **state)
{
	(void)state;
	assert_int_equal(instance_check("a-Z_09", NULL), 0);
	assert_int_equal(instance_check("12345678901234567890123456789012", NULL), 0);
	assert_int_equal(instance_check("123456789012345678901234567890123", NULL),
			 -EINVAL);
	assert_int_equal(instance_check("..", NULL), -EINVAL);
}

static int parse_args(const char *object, const char *name, const char *text,
		      struct cli_args *out, struct err *err)
{
	static char copy[256];
	char *argv[ARGV_MAX], *rest = copy, *word;
	const struct verb *verb = verbs_alone(object);
	int argc = 0;

	if (!verb)
		assert_int_equal(verbs_find(object, name, &verb, NULL), 0);
	snprintf(copy, sizeof(copy), "%s", text);
	while ((word = strsep(&rest, " "))) {
		if (*word)
			argv[argc++] = word;
	}
	return verb_parse_args(verb, argc, argv, out, err);
}

static void options_of_a_command_may_be_shortened_and_come_out_whole(void **state)
{
	struct cli_args args;

	(void)state;
	assert_int_equal(parse_args("vip", "add", "V enc i gue_p 80", &args, NULL),
			 0);
	assert_int_equal(args.n_positional, 1);
	assert_string_equal(args.positional[0], "V");
	assert_int_equal(args.n_options, 2);
	assert_string_equal(args.options[0].key, "encap");
	assert_string_equal(args.options[0].value, "ipip");
	assert_string_equal(args.options[1].key, "gue_port");
	assert_string_equal(args.options[1].value, "80");
}

static void values_that_are_not_words_go_through_as_typed(void **state)
{
	struct cli_args args;

	(void)state;
	assert_int_equal(
		parse_args("backend", "set", "T A weight -7", &args, NULL), 0);
	assert_string_equal(args.options[0].value, "-7");
}

static void optional_places_may_stay_empty(void **state)
{
	struct cli_args args;

	(void)state;
	assert_int_equal(parse_args("vip", "show", "", &args, NULL), 0);
	assert_null(args.positional[0]);
	assert_int_equal(parse_args("save", NULL, "f", &args, NULL), 0);
	assert_string_equal(args.positional[0], "f");
}

static void wrong_arguments_are_refused_with_a_sentence(void **state)
{
	static const struct {
		const char *object, *name, *text, *sentence;
	} rows[] = {
		{ "vip", "add", "", "'vip add': VIP is missing" },
		{ "backend", "add", "T", "'backend add': ADDRESS is missing" },
		{ "vip", "add", "V weight 1", "unknown option 'weight'" },
		{ "vip", "add", "V po", "option 'pool' needs a value: pool NAME" },
		{ "vip", "add", "V pool a pool b", "option 'pool' stands twice" },
		{ "vip", "add", "V encap vxlan", "expected ipip, gue, gue1, gre or l2" },
		{ "vip", "set", "V", "'vip set' needs something to change: pool" },
		{ "vip", "del", "V W", "'vip del' does not take the word 'W'" },
		{ "show", "status", "x", "does not take the word 'x'" },
	};

	(void)state;
	for (size_t i = 0; i < N(rows); i++) {
		struct cli_args args;
		struct err err = {};

		assert_true(parse_args(rows[i].object, rows[i].name,
				       rows[i].text, &args, &err) < 0);
		assert_contains(err.text, rows[i].sentence);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			a_whole_word_means_itself_although_it_begins_another),
		cmocka_unit_test(a_beginning_means_the_only_word_that_begins_so),
		cmocka_unit_test(an_ambiguous_word_is_refused_with_its_candidates),
		cmocka_unit_test(an_unknown_word_is_refused_with_the_accepted_ones),
		cmocka_unit_test(a_list_that_does_not_fit_is_cut),
		cmocka_unit_test(
			every_object_and_verb_can_be_found_by_its_whole_name),
		cmocka_unit_test(the_table_keeps_to_the_limits_of_the_parser),
		cmocka_unit_test(options_are_found_between_the_words),
		cmocka_unit_test(words_after_two_dashes_are_no_options),
		cmocka_unit_test(letters_may_stand_together),
		cmocka_unit_test(wrong_options_are_refused_with_a_sentence),
		cmocka_unit_test(instance_names_have_at_most_32_characters),
		cmocka_unit_test(
			options_of_a_command_may_be_shortened_and_come_out_whole),
		cmocka_unit_test(values_that_are_not_words_go_through_as_typed),
		cmocka_unit_test(optional_places_may_stay_empty),
		cmocka_unit_test(wrong_arguments_are_refused_with_a_sentence),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
