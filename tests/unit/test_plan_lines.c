// SPDX-License-Identifier: GPL-2.0-only
/* From a planned table to the lines of its map: header, slots, digests. */
#include "plan_testing.h"

#include "core/table.h"

static void table_lines_hold_the_built_slots_as_backend_ids(void **state)
{
	static const struct plan_member members[] = {
		{ "a", 3, 40, 100, USE_UP }, { "b", 0, 50, 100, USE_UP }, { "c", 1, 60, 100, USE_UP },
	};
	const struct table_backend set[] = { { "a", 3 }, { "b", 0 }, { "c", 1 } };
	const struct table_params params = { .algorithm = TABLE_MAGLEV, .size = 251 };
	const struct plan_table table = { .id = 1, .params.size = 251, .members = members,
					  .n_members = 3, .known = true };
	_cleanup_free_ struct table_line *lines = NULL;
	struct table_header header;
	uint16_t slots[251], ids[251];
	size_t n, i;

	(void)state;
	assert_int_equal(plan_table_lines(&table, NULL, &lines, &n, NULL), 0);
	assert_int_equal(n, 1 + 8);
	assert_int_equal(table_build(&params, set, 3, slots, NULL), 0);
	for (i = 0; i < 251; i++) {
		ids[i] = members[slots[i]].backend;
		assert_int_equal(lines[1 + i / 32].ids[i % 32], ids[i]);
	}
	for (i = 251; i < 8 * 32; i++)
		assert_int_equal(lines[1 + i / 32].ids[i % 32], 0);

	memcpy(&header, lines, sizeof(header));
	assert_int_equal(header.size, 251);
	assert_int_equal(header.n_live, 2);
	assert_true(header.digest == table_digest(slots, 251));
	assert_true(header.ids_digest == table_digest(ids, 251));
	for (i = 0; i < ARRAY_SIZE(header.reserved); i++)
		assert_int_equal(header.reserved[i], 0);
}

static void table_of_nobody_has_only_empty_slots(void **state)
{
	static const struct plan_member members[] = { { "a", 0, 40, 100, USE_UP } };
	struct plan_table table = { .params.size = 509, .members = members, .known = true };
	struct table_header header;
	size_t n, i;

	(void)state;
	for (table.n_members = 0; table.n_members < 2; table.n_members++) {
		_cleanup_free_ struct table_line *lines = NULL;

		assert_int_equal(plan_table_lines(&table, NULL, &lines, &n, NULL), 0);
		memcpy(&header, lines, sizeof(header));
		assert_int_equal(header.size, 509);
		assert_int_equal(header.n_live, 0);
		for (i = 0; i < 509; i++)
			assert_int_equal(lines[1 + i / 32].ids[i % 32], 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(table_lines_hold_the_built_slots_as_backend_ids),
		cmocka_unit_test(table_of_nobody_has_only_empty_slots),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
