// SPDX-License-Identifier: GPL-2.0-only
/* One document, four forms. */
#include "test_cli_all.h"

typedef void fill_fn(struct writer *w);

static char *render_as(const struct writer_settings *settings, fill_fn *fill)
{
	_cleanup_writer_ struct writer *w = NULL;
	char *text = NULL;
	size_t size;
	FILE *file = open_memstream(&text, &size);

	assert_int_equal(writer_new(settings, file, &w), 0);
	fill(w);
	assert_int_equal(writer_finish(w, NULL), 0);
	fclose(file);
	return text;
}

static char *render(enum writer_form form, bool colour, bool all, fill_fn *fill)
{
	struct writer_settings settings = { .form = form,
					    .colour = colour,
					    .all = all };

	return render_as(&settings, fill);
}

static void check(enum writer_form form, fill_fn *fill, const char *expected)
{
	_cleanup_free_ char *text = render(form, false, false, fill);

	assert_string_equal(text, expected);
}

static void item(struct writer *w, bool minor, const char *name, int64_t n)
{
	if (minor)
		writer_record_minor(w);
	else
		writer_record(w, NULL);
	writer_str(w, "name", name);
	writer_int(w, "packets", n);
	writer_str_tone(w, "problem", n ? "no route" : NULL, TONE_BAD);
	writer_close(w);
}

static void nothing(struct writer *w)
{
	(void)w;
}

static void fields(struct writer *w)
{
	writer_str(w, "interface", "eth0");
	writer_bool(w, "unsaved", true);
	writer_int(w, "pid", -1);
	writer_null(w, "error");
}

static void list(struct writer *w)
{
	writer_list(w, "items");
	item(w, false, "a", 0);
	item(w, true, "minor", 0);
	item(w, false, "longer name", 123456789);
	writer_close(w);
}

static void everything(struct writer *w)
{
	writer_int(w, "passed", 1);
	list(w);
	writer_list(w, "empty");
	writer_close(w);
	writer_list(w, "warnings");
	writer_str(w, NULL, "one");
	writer_str(w, NULL, "number two");
	writer_close(w);
	writer_record(w, "changes");
	writer_int(w, "vips", 2);
	writer_close(w);
	writer_int(w, "last", 3);
}

static void pictures(struct writer *w)
{
	static const struct {
		const char *name;
		double value, mark;
	} rows[] = {
		{ "over", 10, 5 }, { "under", 5, 10 }, { "even", 5, 5 },
		{ "nothing", 0, 0 },
	};

	writer_list(w, "items");
	for (size_t i = 0; i < N(rows); i++) {
		writer_record(w, NULL);
		writer_str(w, "name", rows[i].name);
		writer_real(w, "share", rows[i].value / 3, 2);
		writer_bar(w, "bar",
			   &(struct writer_bar){ .value = rows[i].value,
						 .mark = rows[i].mark,
						 .full = 10,
						 .fill = '#' });
		writer_close(w);
	}
	writer_close(w);
}

static char *render_width(size_t width)
{
	return render_as(&(struct writer_settings){ .width = width }, pictures);
}

static void a_bar_takes_the_room_that_is_left(void **state)
{
	_cleanup_free_ char *wide = render_width(26), *narrow = render_width(23);

	(void)state;
	assert_string_equal(wide, "name     share  bar\n"
				  "over      3.33  ####|#####\n"
				  "under     1.67  #####    |\n"
				  "even      1.67  ####|\n"
				  "nothing   0.00\n");
	assert_string_equal(narrow, "name     share\n"
				    "over      3.33\n"
				    "under     1.67\n"
				    "even      1.67\n"
				    "nothing   0.00\n");
}

static void bars_are_for_people_only(void **state)
{
	(void)state;
	check(WRITER_ONELINE, pictures,
	      "name over share 3.33\nname under share 1.67\n"
	      "name even share 1.67\nname nothing share 0.00\n");
	check(WRITER_JSON, pictures,
	      "{\"items\":[{\"name\":\"over\",\"share\":3.33},"
	      "{\"name\":\"under\",\"share\":1.67},"
	      "{\"name\":\"even\",\"share\":1.67},"
	      "{\"name\":\"nothing\",\"share\":0.0}]}\n");
}

static void reals(struct writer *w)
{
	writer_real(w, "tenth", 0.1, 3);
	writer_real(w, "none", 0.0 / 0.0, 3);
	writer_real(w, "endless", 1.0 / 0.0, 0);
	writer_real(w, "whole", -2.0, 0);
}

static void a_number_that_is_none_is_a_null(void **state)
{
	(void)state;
	check(WRITER_ONELINE, reals, "tenth 0.100 none - endless - whole -2\n");
	check(WRITER_JSON, reals,
	      "{\"tenth\":0.1,\"none\":null,\"endless\":null,"
	      "\"whole\":-2.0}\n");
}

static void an_empty_document_is_an_empty_object_and_no_text(void **state)
{
	(void)state;
	check(WRITER_TEXT, nothing, "");
	check(WRITER_ONELINE, nothing, "");
	check(WRITER_JSON, nothing, "{}\n");
}

static void fields_are_lines_with_aligned_values(void **state)
{
	(void)state;
	check(WRITER_TEXT, fields,
	      "interface  eth0\n"
	      "unsaved    true\n"
	      "pid        -1\n"
	      "error      -\n");
}

static void fields_are_one_line_of_pairs_with_oneline(void **state)
{
	(void)state;
	check(WRITER_ONELINE, fields,
	      "interface eth0 unsaved true pid -1 error -\n");
}

static void fields_are_an_object_in_json(void **state)
{
	(void)state;
	check(WRITER_JSON, fields,
	      "{\"interface\":\"eth0\",\"unsaved\":true,\"pid\":-1,"
	      "\"error\":null}\n");
}

static void pretty_json_is_indented(void **state)
{
	(void)state;
	check(WRITER_JSON_PRETTY, fields,
	      "{\n"
	      "  \"interface\": \"eth0\",\n"
	      "  \"unsaved\": true,\n"
	      "  \"pid\": -1,\n"
	      "  \"error\": null\n"
	      "}\n");
}

static void a_list_is_a_table_with_numbers_to_the_right(void **state)
{
	(void)state;
	check(WRITER_TEXT, list,
	      "name           packets  problem\n"
	      "a                    0  -\n"
	      "longer name  123456789  no route\n");
}

static void a_list_is_one_line_a_record_with_oneline(void **state)
{
	(void)state;
	check(WRITER_ONELINE, list,
	      "name a packets 0 problem -\n"
	      "name \"longer name\" packets 123456789 problem \"no route\"\n");
}

static void minor_records_are_left_out_of_text_only(void **state)
{
	_cleanup_free_ char *all = render(WRITER_TEXT, false, true, list);

	(void)state;
	assert_contains(all, "minor ");
	check(WRITER_JSON, list,
	      "{\"items\":["
	      "{\"name\":\"a\",\"packets\":0,\"problem\":null},"
	      "{\"name\":\"minor\",\"packets\":0,\"problem\":null},"
	      "{\"name\":\"longer name\",\"packets\":123456789,"
	      "\"problem\":\"no route\"}]}\n");
}

static void parts_of_a_document_have_titles_and_empty_ones_do_not_show(void **state)
{
	(void)state;
	check(WRITER_TEXT, everything,
	      "passed  1\n"
	      "\n"
	      "items\n"
	      "name           packets  problem\n"
	      "a                    0  -\n"
	      "longer name  123456789  no route\n"
	      "\n"
	      "warnings\n"
	      "one\n"
	      "number two\n"
	      "\n"
	      "changes\n"
	      "vips  2\n"
	      "\n"
	      "last  3\n");
	check(WRITER_ONELINE, everything,
	      "passed 1\n"
	      "name a packets 0 problem -\n"
	      "name \"longer name\" packets 123456789 problem \"no route\"\n"
	      "warnings one\n"
	      "warnings \"number two\"\n"
	      "vips 2\n"
	      "last 3\n");
}

static void all_parts_are_there_in_json(void **state)
{
	_cleanup_free_ char *text = render(WRITER_JSON, false, false, everything);

	(void)state;
	assert_contains(text, "\"empty\":[],\"warnings\":[\"one\","
			      "\"number two\"],\"changes\":{\"vips\":2},"
			      "\"last\":3}");
}

static void hostile(struct writer *w)
{
	writer_list(w, "items");
	item(w, false, "\033[2Jx\n\xc2\x9b", 0);
	item(w, false, "quo\"te\\", 0);
	item(w, false, "", 0);
	item(w, false, "-", 0);
	writer_close(w);
}

static void control_characters_do_not_reach_the_terminal(void **state)
{
	_cleanup_free_ char *text = render(WRITER_TEXT, false, false, hostile);

	(void)state;
	assert_contains(text, "\\x1b[2Jx\\x0a\\xc2\\x9b  ");
	assert_null(strchr(text, '\033'));
}

static void pairs_stay_pairs_whatever_a_value_holds(void **state)
{
	(void)state;
	check(WRITER_ONELINE, hostile,
	      "name \"\\\\x1b[2Jx\\\\x0a\\\\xc2\\\\x9b\" packets 0 problem -\n"
	      "name \"quo\\\"te\\\\\" packets 0 problem -\n"
	      "name \"\" packets 0 problem -\n"
	      "name \"-\" packets 0 problem -\n");
}

static void wide(struct writer *w)
{
	writer_list(w, "items");
	item(w, false, "\xc3\xa4\xc3\xb6", 0);
	item(w, false, "abcd", 0);
	writer_close(w);
}

static void columns_count_characters_not_bytes(void **state)
{
	(void)state;
	check(WRITER_TEXT, wide,
	      "name  packets  problem\n"
	      "\xc3\xa4\xc3\xb6          0  -\n"
	      "abcd        0  -\n");
}

static void not_utf8(struct writer *w)
{
	writer_str(w, "file",
		   "a\xff"
		   "b");
}

static void text_that_is_not_utf8_still_makes_json(void **state)
{
	(void)state;
	check(WRITER_JSON, not_utf8, "{\"file\":\"a?b\"}\n");
}

static void ragged(struct writer *w)
{
	writer_list(w, "items");
	writer_record(w, NULL);
	writer_str(w, "a", "1");
	writer_close(w);
	writer_record(w, NULL);
	writer_str(w, "a", "1");
	writer_str(w, "b", "22");
	writer_close(w);
	writer_record(w, NULL);
	writer_close(w);
	writer_close(w);
}

static void a_row_longer_than_the_first_is_printed_whole(void **state)
{
	(void)state;
	check(WRITER_TEXT, ragged,
	      "a\n"
	      "1\n"
	      "1  22\n");
}

static void colour_marks_headings_and_problems_only_when_asked(void **state)
{
	_cleanup_free_ char *on = render(WRITER_TEXT, true, false, list);
	_cleanup_free_ char *off = render(WRITER_TEXT, false, false, list);

	(void)state;
	assert_contains(on, "\033[1mname\033[0m");
	assert_contains(on, "\033[31mno route\033[0m");
	assert_null(strchr(off, '\033'));
}

static void orphan_item(struct writer *w)
{
	writer_str(w, NULL, "no list is open");
}

static void keyed_item(struct writer *w)
{
	writer_list(w, "l");
	writer_int(w, "key", 1);
	writer_close(w);
}

static void too_deep(struct writer *w)
{
	writer_record(w, "r");
	writer_record(w, "r");
	writer_close(w);
	writer_close(w);
}

static void unclosed(struct writer *w)
{
	writer_list(w, "l");
}

static void closed_twice(struct writer *w)
{
	writer_close(w);
}

static void a_document_of_another_shape_is_refused(void **state)
{
	fill_fn *const wrong[] = { orphan_item, keyed_item, too_deep, unclosed,
				   closed_twice };

	(void)state;
	for (size_t i = 0; i < N(wrong); i++) {
		for (int form = 0; form < WRITER__MAX; form++) {
			struct writer_settings settings = { .form = form };
			_cleanup_writer_ struct writer *w = NULL;
			_cleanup_free_ char *text = NULL;
			size_t size;
			FILE *file = open_memstream(&text, &size);
			struct err err = {};

			assert_int_equal(writer_new(&settings, file, &w), 0);
			wrong[i](w);
			assert_int_equal(writer_finish(w, &err), -EINVAL);
			assert_contains(err.text, "cannot write the answer");
			fclose(file);
			assert_string_equal(text, "");
		}
	}
}

static void a_full_device_is_an_error(void **state)
{
	(void)state;
	for (int form = 0; form < WRITER__MAX; form++) {
		struct writer_settings settings = { .form = form };
		_cleanup_writer_ struct writer *w = NULL;
		_cleanup_fclose_ FILE *file = fopen("/dev/full", "w");
		struct err err = {};

		assert_int_equal(writer_new(&settings, file, &w), 0);
		fields(w);
		assert_int_equal(writer_finish(w, &err), -ENOSPC);
		assert_contains(err.text, "No space left");
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_bar_takes_the_room_that_is_left),
		cmocka_unit_test(bars_are_for_people_only),
		cmocka_unit_test(a_number_that_is_none_is_a_null),
		cmocka_unit_test(an_empty_document_is_an_empty_object_and_no_text),
		cmocka_unit_test(fields_are_lines_with_aligned_values),
		cmocka_unit_test(fields_are_one_line_of_pairs_with_oneline),
		cmocka_unit_test(fields_are_an_object_in_json),
		cmocka_unit_test(pretty_json_is_indented),
		cmocka_unit_test(a_list_is_a_table_with_numbers_to_the_right),
		cmocka_unit_test(a_list_is_one_line_a_record_with_oneline),
		cmocka_unit_test(minor_records_are_left_out_of_text_only),
		cmocka_unit_test(
			parts_of_a_document_have_titles_and_empty_ones_do_not_show),
		cmocka_unit_test(all_parts_are_there_in_json),
		cmocka_unit_test(control_characters_do_not_reach_the_terminal),
		cmocka_unit_test(pairs_stay_pairs_whatever_a_value_holds),
		cmocka_unit_test(columns_count_characters_not_bytes),
		cmocka_unit_test(text_that_is_not_utf8_still_makes_json),
		cmocka_unit_test(a_row_longer_than_the_first_is_printed_whole),
		cmocka_unit_test(
			colour_marks_headings_and_problems_only_when_asked),
		cmocka_unit_test(a_document_of_another_shape_is_refused),
		cmocka_unit_test(a_full_device_is_an_error),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
