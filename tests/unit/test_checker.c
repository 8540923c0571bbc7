// SPDX-License-Identifier: GPL-2.0-only
/* When fairleadd takes fairlead-check for one that hangs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "daemon/checker.c"

static void say_pong(struct checker *c, uint32_t seq)
{
	struct check_message message = { .op = CHECK_PONG, .seq = seq };
	struct child child = { .checker = c };

	child_message(&child, &message);
}

/* The pings that it has not come to are those after the last that it answered. */
static void pings_since_the_last_answer_are_unanswered(void **state)
{
	struct checker c = { .seq = 12, .unanswered = 9 };

	(void)state;
	say_pong(&c, 12);
	assert_int_equal(c.unanswered, 0);

	/* A loop that is late reads an answer when it has asked again already. */
	for (c.seq = 13; c.seq < 100; c.seq++) {
		c.unanswered++;
		assert_true(c.unanswered <= PINGS_UNANSWERED_MAX);
		say_pong(&c, c.seq - 1);
		assert_int_equal(c.unanswered, 1);
	}
}

static void an_answer_to_what_was_not_asked_is_none(void **state)
{
	struct checker c = { .seq = 12, .unanswered = 3 };

	(void)state;
	say_pong(&c, 13);
	assert_int_equal(c.unanswered, 3);
	say_pong(&c, UINT32_MAX);
	assert_int_equal(c.unanswered, 3);
}

/* One that comes late takes back nothing that a later one has said. */
static void an_older_answer_says_no_more_than_a_newer_one(void **state)
{
	struct checker c = { .seq = 12, .unanswered = 1 };

	(void)state;
	say_pong(&c, 4);
	assert_int_equal(c.unanswered, 1);
}

static void numbers_of_pings_may_wrap(void **state)
{
	struct checker c = { .seq = 1, .unanswered = 5 };

	(void)state;
	say_pong(&c, UINT32_MAX);
	assert_int_equal(c.unanswered, 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pings_since_the_last_answer_are_unanswered),
		cmocka_unit_test(an_answer_to_what_was_not_asked_is_none),
		cmocka_unit_test(an_older_answer_says_no_more_than_a_newer_one),
		cmocka_unit_test(numbers_of_pings_may_wrap),
	};

	return cmocka_run_group_tests_name("fairlead-check's pongs", tests, NULL, NULL);
}
