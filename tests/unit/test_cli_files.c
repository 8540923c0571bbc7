// SPDX-License-Identifier: GPL-2.0-only
/* Commands that read and write files: check, apply, save. */
#include "test_cli_fake.h"

#include <dirent.h>

struct place {
	char dir[64], file[96], other[96];
};

static void place_make(struct place *p)
{
	snprintf(p->dir, sizeof(p->dir), "/tmp/fairlead-test-XXXXXX");
	assert_non_null(mkdtemp(p->dir));
	snprintf(p->file, sizeof(p->file), "%s/file.yaml", p->dir);
	snprintf(p->other, sizeof(p->other), "%s/other.yaml", p->dir);
}

static void place_remove(struct place *p)
{
	unlink(p->file);
	unlink(p->other);
	rmdir(p->dir);
}
#define _cleanup_place_ _cleanup_(place_remove)

static void put_file(const char *path, const char *text, size_t length)
{
	_cleanup_fclose_ FILE *file = fopen(path, "w");

	assert_non_null(file);
	assert_int_equal(fwrite(text, 1, length, file), length);
}

static void put_text(const char *path, const char *text)
{
	put_file(path, text, strlen(text));
}

static void assert_file(const char *path, const char *expected)
{
	_cleanup_free_ char *text = NULL;
	size_t length;

	assert_int_equal(file_read(path, &text, &length, NULL), 0);
	assert_string_equal(text, expected);
}

static int entries(const char *path)
{
	DIR *dir = opendir(path);
	int n = 0;

	assert_non_null(dir);
	while (readdir(dir))
		n++;
	closedir(dir);
	return n - 2; /* . and .. */
}

static mode_t mode_of(const char *path)
{
	struct stat st;

	assert_int_equal(stat(path, &st), 0);
	return st.st_mode & 07777;
}

static struct outcome save_as(const char *form, const char *words,
			      const char *daemon_file)
{
	_cleanup_fake_ struct fake f = {};
	_cleanup_free_ char *reply = NULL;

	assert_true(asprintf(&reply,
			     FAKE_OK("{\"yaml\": \"new: 1\\n\", "
				     "\"file\": \"%s\"}"),
			     daemon_file) > 0);
	fake_start(&f, FAKE_GREETING, reply);
	return fairlead("%s save %s --socket %s", form, words, f.path);
}

static struct outcome save(const char *words, const char *daemon_file)
{
	return save_as("-o", words, daemon_file);
}

static void save_replaces_the_file_of_the_daemon_and_keeps_its_mode(void **state)
{
	_cleanup_place_ struct place p = {};
	_cleanup_outcome_ struct outcome o = {};
	_cleanup_free_ char *expected = NULL;

	(void)state;
	place_make(&p);
	put_text(p.file, "old, and longer than what comes\n");
	chmod(p.file, 0640);
	o = save("", p.file);
	assert_string_equal(o.err, "");
	assert_int_equal(o.status, EXIT_OK);
	assert_file(p.file, "new: 1\n");
	assert_int_equal(mode_of(p.file), 0640);
	assert_int_equal(entries(p.dir), 1);
	assert_true(asprintf(&expected, "file %s\n", p.file) > 0);
	assert_string_equal(o.out, expected);
}

static void save_to_a_named_file_leaves_the_daemons_alone(void **state)
{
	_cleanup_place_ struct place p = {};
	_cleanup_outcome_ struct outcome o = {};

	(void)state;
	place_make(&p);
	put_text(p.file, "old\n");
	o = save(p.other, p.file);
	assert_int_equal(o.status, EXIT_OK);
	assert_file(p.file, "old\n");
	assert_file(p.other, "new: 1\n");
	assert_int_equal(mode_of(p.other), 0600);
}

static void save_to_a_dash_is_standard_output(void **state)
{
	_cleanup_outcome_ struct outcome text = {}, json = {};

	(void)state;
	text = save("-", "/daemon/file.yaml");
	json = save_as("-j", "-", "/daemon/file.yaml");
	assert_int_equal(access("-", F_OK), -1);
	assert_int_equal(text.status, EXIT_OK);
	assert_string_equal(text.out, "new: 1\n");
	assert_int_equal(json.status, EXIT_OK);
	assert_string_equal(json.out, "{\"yaml\":\"new: 1\\n\"}\n");
}

static void save_through_a_link_keeps_the_link(void **state)
{
	_cleanup_place_ struct place p = {};
	_cleanup_outcome_ struct outcome o = {};
	struct stat st;

	(void)state;
	place_make(&p);
	put_text(p.file, "old\n");
	assert_int_equal(symlink(p.file, p.other), 0);
	o = save(p.other, p.file);
	assert_int_equal(o.status, EXIT_OK);
	assert_file(p.file, "new: 1\n");
	assert_int_equal(lstat(p.other, &st), 0);
	assert_true(S_ISLNK(st.st_mode));
}

static void save_that_fails_leaves_nothing_behind(void **state)
{
	_cleanup_place_ struct place p = {};
	_cleanup_outcome_ struct outcome directory = {}, nowhere = {};

	(void)state;
	place_make(&p);
	assert_int_equal(mkdir(p.file, 0755), 0);
	directory = save("", p.file);
	assert_int_equal(directory.status, EXIT_REFUSED);
	assert_contains(directory.err, "it is not a regular file");
	assert_int_equal(entries(p.dir), 1);
	rmdir(p.file);

	nowhere = save("", "/nonexistent/file.yaml");
	assert_int_equal(nowhere.status, EXIT_REFUSED);
	assert_contains(nowhere.err,
			"cannot write beside '/nonexistent/file.yaml'");
}

static void save_does_not_guess_where_a_relative_path_is(void **state)
{
	_cleanup_outcome_ struct outcome o = save("", "fairlead.yaml");

	(void)state;
	assert_int_equal(o.status, EXIT_REFUSED);
	assert_contains(o.err, "('fairlead.yaml'): give one");
}

static void apply_sends_the_text_and_the_name_of_the_file(void **state)
{
	_cleanup_place_ struct place p = {};
	_cleanup_fake_ struct fake f = {};
	_cleanup_outcome_ struct outcome o = {};
	json_auto_t *request = NULL, *expected = NULL;

	(void)state;
	place_make(&p);
	put_text(p.file, "interface: \"eth0\"\n# \xc3\xa4\n");
	fake_start(&f, FAKE_GREETING, FAKE_OK("{\"changes\": {}}"));
	o = fairlead("apply %s --socket %s", p.file, f.path);
	assert_string_equal(o.err, "");
	assert_int_equal(o.status, EXIT_OK);
	request = fake_request(&f);
	expected = json_pack("{s:i, s:s, s:{s:s, s:s}}", "id", 1, "verb",
			     "apply", "args", "file", p.file, "yaml",
			     "interface: \"eth0\"\n# \xc3\xa4\n");
	assert_true(json_equal(request, expected));
}

static void apply_refuses_what_it_cannot_send(void **state)
{
	_cleanup_place_ struct place p = {};
	_cleanup_outcome_ struct outcome binary = {}, missing = {}, dir = {};

	(void)state;
	place_make(&p);
	put_file(p.file, "\xff", 1);
	binary = fairlead("apply %s", p.file);
	assert_int_equal(binary.status, EXIT_REFUSED);
	assert_contains(binary.err, "is not UTF-8 text");

	missing = fairlead("apply %s", p.other);
	assert_int_equal(missing.status, EXIT_REFUSED);
	assert_contains(missing.err, "No such file");

	dir = fairlead("apply %s", p.dir);
	assert_int_equal(dir.status, EXIT_REFUSED);
	assert_contains(dir.err, "Is a directory");
}

static void a_file_that_never_ends_is_refused(void **state)
{
	_cleanup_free_ char *text = NULL;
	size_t length;
	struct err err = {};

	(void)state;
	assert_int_equal(file_read("/dev/zero", &text, &length, &err), -EFBIG);
	assert_contains(err.text, "longer than 64 MiB");
}

static void check_needs_no_daemon_and_counts_what_it_found(void **state)
{
	_cleanup_place_ struct place p = {};
	_cleanup_outcome_ struct outcome o = {};

	(void)state;
	place_make(&p);
	put_text(p.file, "interface: eth0\n"
			 "hash_key: 000102030405060708090a0b0c0d0e0f\n"
			 "vips:\n"
			 "  - address: 203.0.113.10:443/tcp\n"
			 "    backends:\n"
			 "      - address: 10.1.0.11\n"
			 "      - address: 10.1.0.12\n");
	o = fairlead("check %s", p.file);
	assert_string_equal(o.err, "");
	assert_int_equal(o.status, EXIT_OK);
	assert_contains(o.out, "interface  eth0\n"
			       "vips       1\n"
			       "pools      1\n"
			       "backends   2\n");
	assert_null(strstr(o.out, "warnings"));
}

static void check_tells_warnings_in_its_answer(void **state)
{
	_cleanup_place_ struct place p = {};
	_cleanup_outcome_ struct outcome o = {};
	json_auto_t *object = NULL;

	(void)state;
	place_make(&p);
	put_text(p.file, "interface: eth0\n");
	o = fairlead("-j check %s", p.file);
	assert_int_equal(o.status, EXIT_OK);
	object = json_loads(o.out, 0, NULL);
	assert_true(json_array_size(json_object_get(object, "warnings")) > 0);
}

static void check_refuses_a_wrong_file_and_says_where(void **state)
{
	_cleanup_place_ struct place p = {};
	_cleanup_outcome_ struct outcome o = {};
	_cleanup_free_ char *where = NULL;

	(void)state;
	place_make(&p);
	put_text(p.file, "interface: eth0\nfrob: 1\n");
	o = fairlead("check %s", p.file);
	assert_int_equal(o.status, EXIT_REFUSED);
	assert_string_equal(o.out, "");
	assert_true(asprintf(&where, "%s:2:1: ", p.file) > 0);
	assert_contains(o.err, where);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			save_replaces_the_file_of_the_daemon_and_keeps_its_mode),
		cmocka_unit_test(save_to_a_named_file_leaves_the_daemons_alone),
		cmocka_unit_test(save_to_a_dash_is_standard_output),
		cmocka_unit_test(save_through_a_link_keeps_the_link),
		cmocka_unit_test(save_that_fails_leaves_nothing_behind),
		cmocka_unit_test(save_does_not_guess_where_a_relative_path_is),
		cmocka_unit_test(apply_sends_the_text_and_the_name_of_the_file),
		cmocka_unit_test(apply_refuses_what_it_cannot_send),
		cmocka_unit_test(a_file_that_never_ends_is_refused),
		cmocka_unit_test(check_needs_no_daemon_and_counts_what_it_found),
		cmocka_unit_test(check_tells_warnings_in_its_answer),
		cmocka_unit_test(check_refuses_a_wrong_file_and_says_where),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
