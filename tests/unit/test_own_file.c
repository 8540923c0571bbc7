// SPDX-License-Identifier: GPL-2.0-only
/* Files in our own directory, in whose place something else may be. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>

#include <cmocka.h>

#include "core/cleanup.h"
#include "sys/own_file.h"

static char dir[64], path[96], other[96];

static int set_up(void **state)
{
	(void)state;
	strcpy(dir, "/tmp/fairlead-file-XXXXXX");
	assert_non_null(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/file", dir);
	snprintf(other, sizeof(other), "%s/other", dir);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	unlink(path);
	rmdir(path);
	unlink(other);
	return rmdir(dir);
}

static void write_text(const char *where, const char *text)
{
	_cleanup_close_ int fd = open(where, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
}

static void refused(int code, const char *sentence)
{
	char *text = NULL;
	size_t length;
	struct err err;

	assert_int_equal(own_file_read(path, 8, &text, &length, &err), code);
	assert_string_equal(err.text, sentence);
	assert_null(text);
}

static void all_of_a_file_is_read(void **state)
{
	_cleanup_free_ char *text = NULL;
	size_t length;

	(void)state;
	write_text(path, "12345678");
	assert_int_equal(own_file_read(path, 8, &text, &length, NULL), 0);
	assert_int_equal(length, 8);
	assert_string_equal(text, "12345678");
}

static void what_is_longer_than_it_may_be_is_refused(void **state)
{
	(void)state;
	write_text(path, "123456789");
	refused(-EFBIG, "is longer than 8 bytes, which is all that would be written");
}

static void what_is_not_a_file_is_refused_without_waiting(void **state)
{
	(void)state;
	refused(-ENOENT, "cannot be read: No such file or directory");

	assert_int_equal(mkfifo(path, 0600), 0);
	refused(-EINVAL, "is not a regular file");
	unlink(path);

	assert_int_equal(mkdir(path, 0700), 0);
	refused(-EINVAL, "is not a regular file");
	rmdir(path);

	write_text(other, "x");
	assert_int_equal(symlink(other, path), 0);
	refused(-ELOOP, "is a symbolic link, not a regular file");
}

static void a_new_file_takes_the_place_of_what_is_there(void **state)
{
	_cleanup_close_ int fd = -1, again = -1;
	struct stat status;

	(void)state;
	write_text(other, "x");
	assert_int_equal(symlink(other, path), 0);
	fd = own_file_create(path);
	assert_true(fd >= 0);
	assert_int_equal(lstat(path, &status), 0);
	assert_int_equal(status.st_mode, S_IFREG | 0600);
	assert_int_equal(stat(other, &status), 0);
	assert_int_equal(status.st_size, 1);

	unlink(path);
	assert_int_equal(mkfifo(path, 0600), 0);
	again = own_file_create(path);
	assert_true(again >= 0);

	unlink(path);
	assert_int_equal(mkdir(path, 0700), 0);
	assert_int_equal(own_file_create(path), -EISDIR);
}

#define FILE_TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		FILE_TEST(all_of_a_file_is_read),
		FILE_TEST(what_is_longer_than_it_may_be_is_refused),
		FILE_TEST(what_is_not_a_file_is_refused_without_waiting),
		FILE_TEST(a_new_file_takes_the_place_of_what_is_there),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
