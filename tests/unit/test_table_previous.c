// SPDX-License-Identifier: GPL-2.0-only
/* Whose slots were before: what a new table takes over from the one it replaces. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "core/table_previous.h"

#define SIZE 40 /* slots: one line, and a quarter of another */
#define LINES 2
#define ALL (1 + 2 * LINES)

struct table {
	struct table_line lines[ALL];
};

/* Every slot is `owner`'s, those of slot 35 `other`'s. */
static struct table make_table(uint16_t owner, uint16_t other)
{
	struct table_header header = { .size = SIZE };
	struct table table = { 0 };

	memcpy(table.lines, &header, sizeof(header));
	for (int slot = 0; slot < SIZE; slot++)
		table.lines[1 + slot / 32].ids[slot % 32] = slot == 35 ? other : owner;
	return table;
}

static uint16_t previous(const struct table *table, int slot)
{
	return table->lines[1 + LINES + slot / 32].ids[slot % 32];
}

static uint32_t previous_line(const struct table *table)
{
	struct table_header header;

	memcpy(&header, table->lines, sizeof(header));
	return header.previous;
}

static void slot_that_changes_hands_keeps_its_owner_before(void **state)
{
	struct table old = make_table(1, 2), new = make_table(1, 3);

	(void)state;
	table_previous_fill(new.lines, old.lines, NULL);
	assert_int_equal(previous_line(&new), 1 + LINES);
	assert_int_equal(previous(&new, 35), 2);
	assert_int_equal(previous(&new, 34), 0);
}

static void slot_that_does_not_keeps_the_owner_of_before_that(void **state)
{
	struct table first = make_table(1, 2), second = make_table(1, 3),
		     third = make_table(4, 3);

	(void)state;
	table_previous_fill(second.lines, first.lines, NULL);
	table_previous_fill(third.lines, second.lines, NULL);
	assert_int_equal(previous(&third, 35), 2);
	assert_int_equal(previous(&third, 0), 1);
}

static void owner_that_is_gone_is_nobody(void **state)
{
	static bool gone[65536];
	struct table old = make_table(1, 2), new = make_table(3, 4);

	(void)state;
	gone[2] = true;
	table_previous_fill(new.lines, old.lines, gone);
	assert_int_equal(previous(&new, 35), 0);
	assert_int_equal(previous(&new, 0), 1);
	gone[2] = false;
}

static void previous_owner_is_forgotten_and_owners_are_not(void **state)
{
	static bool gone[65536];
	struct table old = make_table(1, 2), new = make_table(2, 1);

	(void)state;
	table_previous_fill(new.lines, old.lines, NULL);
	gone[2] = true;
	assert_true(table_previous_forget(new.lines, gone));
	assert_int_equal(previous(&new, 35), 0);
	assert_int_equal(previous(&new, 0), 1);
	assert_int_equal(new.lines[1].ids[0], 2);
	assert_false(table_previous_forget(new.lines, gone));
	gone[2] = false;
}

static void table_without_previous_owners_has_none_to_forget(void **state)
{
	static bool gone[65536];
	struct table table = make_table(1, 2);

	(void)state;
	gone[1] = true;
	assert_false(table_previous_forget(table.lines, gone));
	gone[1] = false;
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(slot_that_changes_hands_keeps_its_owner_before),
		cmocka_unit_test(slot_that_does_not_keeps_the_owner_of_before_that),
		cmocka_unit_test(owner_that_is_gone_is_nobody),
		cmocka_unit_test(previous_owner_is_forgotten_and_owners_are_not),
		cmocka_unit_test(table_without_previous_owners_has_none_to_forget),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
