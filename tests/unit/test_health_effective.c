// SPDX-License-Identifier: GPL-2.0-only
/* From facts to the state of a backend, and from weights to that of a pool. */
#include "health_testing.h"

struct row {
	struct health_facts facts;
	enum effective_state state;
	const char *why;
	bool keeps_flows; /* where it is down */
};

/* What is not said: admin up, state unknown, agent silent. */
#define UP .state = HEALTH_UP
#define CHECKED .checked = true
#define REACHED .checked = true, .reached = true
#define HEALTHY .weight = 1, .reached = true, .checked = true

static const struct row rows[] = {
	{ { HEALTHY, UP }, EFFECTIVE_UP, "check", true },
	{ { .weight = 1, .reached = true }, EFFECTIVE_UP, "no check", true },
	{ { HEALTHY, UP, .agent = AGENT_UP }, EFFECTIVE_UP, "check", true },
	{ { HEALTHY, .initial_up = true }, EFFECTIVE_UP, "no result yet", true },

	{ { HEALTHY }, EFFECTIVE_DOWN, "no result yet", true },
	{ { CHECKED, UP, .weight = 1 }, EFFECTIVE_DOWN, "next hop", true },
	{ { .weight = 1 }, EFFECTIVE_DOWN, "next hop", true },
	{ { HEALTHY, .state = HEALTH_DOWN }, EFFECTIVE_DOWN, "check", false },
	{ { HEALTHY, .state = HEALTH_DOWN, .initial_up = true }, EFFECTIVE_DOWN, "check",
	  false },
	{ { HEALTHY, UP, .damped = true }, EFFECTIVE_DOWN, "damped", false },
	{ { HEALTHY, UP, .agent = AGENT_DOWN }, EFFECTIVE_DOWN, "agent", false },
	{ { HEALTHY, UP, .admin = ADMIN_DOWN }, EFFECTIVE_DOWN, "admin", false },
	{ { CHECKED, .state = HEALTH_DOWN, .weight = 1 }, EFFECTIVE_DOWN, "next hop",
	  false },

	{ { HEALTHY, UP, .admin = ADMIN_DRAIN }, EFFECTIVE_DRAIN, "admin", true },
	{ { REACHED, UP }, EFFECTIVE_DRAIN, "weight", true },
	{ { HEALTHY, UP, .agent = AGENT_DRAIN }, EFFECTIVE_DRAIN, "agent", true },
	{ { HEALTHY, UP, .weightless = true }, EFFECTIVE_DRAIN, "agent", true },
	{ { HEALTHY, UP, .agent = AGENT_UP, .weightless = true }, EFFECTIVE_DRAIN, "agent",
	  true },
	{ { HEALTHY, UP, .agent = AGENT_DOWN, .weightless = true }, EFFECTIVE_DOWN,
	  "agent", false },

	/* Down is stronger than drain, and the operator than anybody. */
	{ { HEALTHY, .state = HEALTH_DOWN, .admin = ADMIN_DRAIN }, EFFECTIVE_DOWN, "check",
	  false },
	{ { REACHED, UP, .agent = AGENT_DOWN }, EFFECTIVE_DOWN, "agent",
	  false },
	{ { .admin = ADMIN_DOWN }, EFFECTIVE_DOWN, "admin", false },
	{ { HEALTHY, UP, .agent = AGENT_DRAIN, .admin = ADMIN_DRAIN }, EFFECTIVE_DRAIN,
	  "admin", true },

	/* Without a check, what one said before it was removed counts no more. */
	{ { .weight = 1, .reached = true, .state = HEALTH_DOWN, .damped = true,
	    .agent = AGENT_DOWN }, EFFECTIVE_UP, "no check", true },
	{ { .weight = 1, .reached = true, .agent = AGENT_DRAIN, .weightless = true },
	  EFFECTIVE_UP, "no check", true },
};

static void facts_become_one_state_with_its_reason(void **state)
{
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		const char *why = NULL;
		enum effective_state found = health_effective(&rows[i].facts, &why);

		if (found != rows[i].state || strcmp(why, rows[i].why) ||
		    health_keeps_flows(&rows[i].facts) != rows[i].keeps_flows)
			fail_msg("row %zu: %s, '%s'", i, effective_state_name(found), why);
	}
}

/* Every combination has an answer, and a reason. */
static void no_facts_are_without_reason(void **state)
{
	unsigned int bits, admin, health, agent;

	(void)state;
	for (bits = 0; bits < 64; bits++)
		for (admin = 0; admin < ADMIN__MAX; admin++)
			for (health = 0; health < HEALTH__MAX; health++)
				for (agent = 0; agent < AGENT__MAX; agent++) {
					struct health_facts facts = {
						.admin = admin,
						.weight = bits & 1,
						.checked = bits & 2,
						.reached = bits & 4,
						.initial_up = bits & 8,
						.damped = bits & 16,
						.weightless = bits & 32,
						.state = health,
						.agent = agent,
					};
					const char *why = NULL;

					assert_in_range(health_effective(&facts, &why), 0,
							EFFECTIVE__MAX - 1);
					assert_true(why && *why);
				}
}

static void presumed_is_what_only_its_check_has_not_spoken_of(void **state)
{
	const struct health_facts plain = {
		.weight = 1, .checked = true, .reached = true, .presumed = true,
	};
	struct health_facts facts[8];
	size_t i;

	(void)state;
	assert_true(health_is_presumed(&plain));
	for (i = 0; i < 8; i++)
		facts[i] = plain;
	facts[0].presumed = false;
	facts[1].admin = ADMIN_DOWN;
	facts[2].admin = ADMIN_DRAIN;
	facts[3].weight = 0;
	facts[4].checked = false;
	facts[5].reached = false;
	facts[6].state = HEALTH_DOWN;
	facts[7].initial_up = true; /* it is up */
	for (i = 0; i < 8; i++)
		assert_false(health_is_presumed(&facts[i]));
}

static struct pool_facts judge(struct pool_policy policy, uint64_t weight,
			       uint64_t weight_up, bool had)
{
	struct pool_facts facts;

	memset(&facts, 0xff, sizeof(facts));
	pool_judge(&policy, weight, weight_up, had, &facts);
	assert_int_equal(facts.weight, weight);
	assert_int_equal(facts.weight_up, weight_up);
	return facts;
}

static void panic_begins_under_the_threshold(void **state)
{
	struct pool_policy half = { .panic_threshold = 50 };
	struct pool_policy all = { .panic_threshold = 100 };
	struct pool_policy never = { 0 };

	(void)state;
	assert_false(judge(half, 10, 5, true).panic);
	assert_true(judge(half, 10, 4, true).panic);
	assert_true(judge(half, 10, 0, true).panic);
	assert_false(judge(half, 3, 2, true).panic);
	assert_true(judge(half, 3, 1, true).panic);
	assert_true(judge(all, 3, 2, true).panic);
	assert_false(judge(all, 3, 3, true).panic);
	assert_false(judge(never, 10, 0, true).panic);
	assert_false(judge(half, 0, 0, true).panic);
	/* Of 65535 backends of weight 65535, which 32 bits do not hold. */
	assert_true(judge(half, 4294836225, 2147418112, true).panic);
	assert_false(judge(half, 4294836225, 2147418113, true).panic);
}

static void all_serve_in_panic_and_when_none_is_up_as_it_is_said(void **state)
{
	struct pool_policy half = { .panic_threshold = 50 };
	struct pool_policy open = { .all_when_none = true };

	(void)state;
	assert_true(judge(half, 10, 4, true).all_serve);
	assert_false(judge(half, 10, 5, true).all_serve);
	assert_false(judge(half, 10, 0, true).all_serve);
	assert_false(judge(open, 10, 1, true).all_serve);
	assert_true(judge(open, 10, 0, true).all_serve);
}

static void quorum_is_lost_below_and_regained_above_with_hysteresis(void **state)
{
	struct pool_policy policy = { .quorum = 5, .quorum_hysteresis = 2 };

	(void)state;
	assert_true(judge(policy, 10, 5, true).quorum);
	assert_false(judge(policy, 10, 4, true).quorum);
	assert_false(judge(policy, 10, 5, false).quorum);
	assert_false(judge(policy, 10, 6, false).quorum);
	assert_true(judge(policy, 10, 7, false).quorum);
}

static void without_a_quorum_there_is_always_one(void **state)
{
	struct pool_policy policy = { .quorum = 0, .quorum_hysteresis = 0 };

	(void)state;
	assert_true(judge(policy, 10, 0, true).quorum);
	assert_true(judge(policy, 10, 0, false).quorum);
}

/* Or one that was lost once would stay lost for ever. */
static void a_pool_that_is_all_up_regains_its_quorum(void **state)
{
	struct pool_policy policy = { .quorum = 8, .quorum_hysteresis = 5 };
	struct pool_policy large = { UINT8_MAX, UINT32_MAX, UINT32_MAX, true };

	(void)state;
	assert_false(judge(policy, 10, 9, false).quorum);
	assert_true(judge(policy, 10, 10, false).quorum);
	/* But with less than the quorum there is none. */
	assert_false(judge(policy, 7, 7, false).quorum);
	assert_false(judge(large, 10, 10, false).quorum);
	assert_true(judge(large, (uint64_t)UINT32_MAX * 2, (uint64_t)UINT32_MAX * 2,
			  false).quorum);
}

static void states_have_names(void **state)
{
	(void)state;
	assert_string_equal(health_state_name(HEALTH_UNKNOWN), "unknown");
	assert_string_equal(health_state_name(HEALTH_UP), "up");
	assert_string_equal(health_state_name(HEALTH_DOWN), "down");
	assert_string_equal(health_state_name(HEALTH__MAX), "invalid");
	assert_string_equal(effective_state_name(EFFECTIVE_UP), "up");
	assert_string_equal(effective_state_name(EFFECTIVE_DRAIN), "drain");
	assert_string_equal(effective_state_name(EFFECTIVE_DOWN), "down");
	assert_string_equal(effective_state_name(EFFECTIVE__MAX), "invalid");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(facts_become_one_state_with_its_reason),
		cmocka_unit_test(no_facts_are_without_reason),
		cmocka_unit_test(presumed_is_what_only_its_check_has_not_spoken_of),
		cmocka_unit_test(panic_begins_under_the_threshold),
		cmocka_unit_test(all_serve_in_panic_and_when_none_is_up_as_it_is_said),
		cmocka_unit_test(quorum_is_lost_below_and_regained_above_with_hysteresis),
		cmocka_unit_test(without_a_quorum_there_is_always_one),
		cmocka_unit_test(a_pool_that_is_all_up_regains_its_quorum),
		cmocka_unit_test(states_have_names),
	};

	return cmocka_run_group_tests_name("effective health", tests, NULL, NULL);
}
