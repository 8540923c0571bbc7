// SPDX-License-Identifier: GPL-2.0-only
/*
 * Who serves slots: what the operator says and what is healthy, and what a pool
 * does when nobody is left.
 */
#include "plan_health_testing.h"

#include <stdio.h>

#define POOL(options, backends)                                               \
	"interface: eth0\n"                                                   \
	"pools:\n  web: {table_size: 251, " options "backends: [" backends "]}\n" \
	"vips: [{address: \"203.0.113.1:80/tcp\", pool: web}]\n"

static void ask_by_name(void *context, const struct cfg_pool *pool,
			const struct way *way, const struct cfg_backend *backend,
			struct plan_backend_health *out)
{
	(void)context, (void)pool, (void)way;
	*out = (struct plan_backend_health){
		.state = strcmp(backend->name, "sick") ? EFFECTIVE_UP : EFFECTIVE_DOWN,
		.share = HEALTH_SHARE_FULL,
	};
}

/* `unreached`: a mask of last bytes of addresses whose next hop has failed. */
static struct plan *plan_with(const char *yaml, unsigned int unreached,
			      const struct plan *old)
{
	struct news news = { .unreached = unreached };

	return plan_in(yaml, &news, old);
}

/* Slots of each backend by the last byte of its address; [0] counts empty ones. */
static void count(const struct plan *plan, unsigned int slots[8])
{
	const struct plan_table *table = &plan->tables[0];
	_cleanup_free_ struct table_line *lines = NULL;
	size_t n, i, j;

	memset(slots, 0, 8 * sizeof(*slots));
	assert_int_equal(plan->n_tables, 1);
	assert_int_equal(plan_table_lines(table, NULL, &lines, &n, NULL), 0);
	for (i = 0; i < table->params.size; i++) {
		uint16_t id = lines[1 + i / 32].ids[i % 32];

		if (!id)
			slots[0]++;
		for (j = 0; id && j < plan->n_backends; j++)
			if (plan->backends[j].id == id)
				slots[number_of(&plan->backends[j].ident.addr)]++;
	}
}

static void slots_of_a_dead_backend_are_lent_and_given_back(void **state)
{
	_cleanup_plan_ struct plan *none = empty_plan();
	_cleanup_plan_ struct plan *all = plan_with(POOL("", THREE), 0, none);
	_cleanup_plan_ struct plan *two = plan_with(POOL("", THREE), 1 << 2, all);
	_cleanup_plan_ struct plan *again = plan_with(POOL("", THREE), 0, two);
	_cleanup_free_ struct table_line *before = NULL;
	_cleanup_free_ struct table_line *meanwhile = NULL;
	_cleanup_free_ struct table_line *after = NULL;
	unsigned int slots[8];
	uint16_t dead = 0;
	size_t n, i;

	(void)state;
	count(two, slots);
	assert_int_equal(slots[2], 0);
	assert_int_equal(slots[1] + slots[3], 251);

	for (i = 0; i < all->n_backends; i++)
		if ((ntohl(all->backends[i].ident.addr.v4.s_addr) & 0xff) == 2)
			dead = all->backends[i].id;
	assert_int_equal(plan_table_lines(&all->tables[0], NULL, &before, &n, NULL), 0);
	assert_int_equal(plan_table_lines(&two->tables[0], NULL, &meanwhile, &n, NULL), 0);
	assert_int_equal(plan_table_lines(&again->tables[0], NULL, &after, &n, NULL), 0);
	assert_memory_equal(before, after, n * sizeof(*before));
	for (i = 0; i < 251; i++) {
		uint16_t owner = before[1 + i / 32].ids[i % 32];

		if (owner != dead)
			assert_int_equal(meanwhile[1 + i / 32].ids[i % 32], owner);
	}
	assert_int_equal(again->tables[0].id, all->tables[0].id);
}

static void operator_takes_slots_from_drain_and_down(void **state)
{
	_cleanup_plan_ struct plan *none = empty_plan();
	_cleanup_plan_ struct plan *plan = plan_with(
		POOL("", "{address: 10.0.0.1, state: drain}, {address: 10.0.0.2, state: down}, {address: 10.0.0.3}"),
		0, none);
	static const uint8_t uses[] = { USE_DRAIN, USE_DOWN, USE_UP };
	unsigned int slots[8];
	size_t i;

	(void)state;
	count(plan, slots);
	assert_int_equal(slots[3], 251);
	for (i = 0; i < plan->n_backends; i++)
		assert_int_equal(plan->backends[i].use, uses[i]);
}

static void all_dead_counts_on_all_unless_told_to_drop(void **state)
{
	const unsigned int dead = 1 << 1 | 1 << 2 | 1 << 3;
	_cleanup_plan_ struct plan *none = empty_plan();
	_cleanup_plan_ struct plan *open = plan_with(POOL("", THREE), dead, none);
	_cleanup_plan_ struct plan *drop =
		plan_with(POOL("all_down: drop, ", THREE), dead, none);
	unsigned int slots[8];

	(void)state;
	count(open, slots);
	assert_int_equal(slots[0], 0);
	assert_true(slots[1] && slots[2] && slots[3]);
	count(drop, slots);
	assert_int_equal(slots[0], 251);
}

/* Failing open is for doubtful health, never against the operator's word. */
static void failing_open_leaves_out_what_the_operator_took_out(void **state)
{
	_cleanup_plan_ struct plan *none = empty_plan();
	_cleanup_plan_ struct plan *some = plan_with(
		POOL("", "{address: 10.0.0.1, state: down}, {address: 10.0.0.2}"), 1 << 2,
		none);
	_cleanup_plan_ struct plan *nobody = plan_with(
		POOL("", "{address: 10.0.0.1, state: down}, {address: 10.0.0.2, state: drain}"),
		0, none);
	unsigned int slots[8];

	(void)state;
	count(some, slots);
	assert_int_equal(slots[2], 251);
	count(nobody, slots);
	assert_int_equal(slots[0], 251);
}

/* Two pools may see one backend differently; its line says the kinder. */
static void backend_in_two_pools_is_used_as_the_kinder_says(void **state)
{
	static const char yaml[] =
		"interface: eth0\n"
		"vips:\n"
		"- {address: \"203.0.113.1:80/tcp\", backends: [{address: 10.0.0.1, state: down}]}\n"
		"- {address: \"203.0.113.1:81/tcp\", backends: [{address: 10.0.0.1, state: drain}]}\n";
	_cleanup_plan_ struct plan *none = empty_plan();
	_cleanup_plan_ struct plan *plan = plan_with(yaml, 0, none);

	(void)state;
	assert_int_equal(plan->n_backends, 1);
	assert_int_equal(plan->backends[0].use, USE_DRAIN);
}

/* A weight of 0 cannot stand in for the dead. */
static void weightless_backends_are_nobody(void **state)
{
	_cleanup_plan_ struct plan *none = empty_plan();
	_cleanup_plan_ struct plan *plan = plan_with(
		POOL("", "{address: 10.0.0.1, weight: 0}, {address: 10.0.0.2}"), 1 << 2, none);
	unsigned int slots[8];

	(void)state;
	count(plan, slots);
	assert_int_equal(slots[2], 251);
}

#define FOUR THREE ", {address: 10.0.0.4}"

static void flows_of_what_its_check_calls_down_are_chosen_again(void **state)
{
	struct news news = { .unreached = 1 << 3 };
	_cleanup_plan_ struct plan *none = empty_plan();
	_cleanup_plan_ struct plan *plan = NULL;
	unsigned int slots[8];

	(void)state;
	tell(&news, 2, EFFECTIVE_DOWN, 100);
	plan = plan_in(POOL("", FOUR), &news, none);
	count(plan, slots);
	assert_int_equal(slots[2] + slots[3], 0);
	assert_int_equal(use_of(plan, 1), USE_UP);
	assert_int_equal(use_of(plan, 2), USE_FAILED);
	assert_int_equal(use_of(plan, 3), USE_UP);
}

/* Down in one pool by that pool's check; the other's has nothing against it. */
static void flows_stay_while_one_pool_calls_it_up(void **state)
{
	static const char yaml[] =
		"interface: eth0\n"
		"vips:\n"
		"- {address: \"203.0.113.1:80/tcp\", backends: [{address: 10.0.0.1, name: sick}]}\n"
		"- {address: \"203.0.113.1:81/tcp\", backends: [{address: 10.0.0.1}]}\n";
	struct cfg *cfg = must_parse(yaml);
	struct plan_health health = { .ask = ask_by_name };
	_cleanup_plan_ struct plan *none = empty_plan();
	_cleanup_plan_ struct plan *plan = NULL;

	(void)state;
	cfg->pools[0].all_down = ALL_DOWN_DROP;
	assert_int_equal(plan_make(&cfg, none, &health, &plan, NULL), 0);
	assert_int_equal(plan->n_backends, 1);
	assert_int_equal(use_of(plan, 1), USE_UP);
}

/* Its way is missing, and the operator has said what to do with it. */
static void what_is_drained_and_not_reached_is_drained(void **state)
{
	_cleanup_plan_ struct plan *none = empty_plan();
	_cleanup_plan_ struct plan *plan = plan_with(
		POOL("", "{address: 10.0.0.1, state: drain}, {address: 10.0.0.2}"), 1 << 1,
		none);

	(void)state;
	assert_int_equal(use_of(plan, 1), USE_DRAIN);
}

/* Whether the agent drains, the operator's weight is 0, or the agent's. */
static void what_drains_keeps_flows_and_takes_no_new_ones(void **state)
{
	struct news news = { 0 };
	_cleanup_plan_ struct plan *none = empty_plan();
	_cleanup_plan_ struct plan *plan = NULL;
	unsigned int slots[8], number;

	(void)state;
	tell(&news, 1, EFFECTIVE_DRAIN, 100);
	tell(&news, 4, EFFECTIVE_UP, 0);
	plan = plan_in(POOL("", "{address: 10.0.0.1}, {address: 10.0.0.2, weight: 0}, "
				"{address: 10.0.0.3}, {address: 10.0.0.4}"),
		       &news, none);
	count(plan, slots);
	assert_int_equal(slots[3], 251);
	for (number = 1; number <= 4; number++)
		assert_int_equal(use_of(plan, number), number == 3 ? USE_UP : USE_DRAIN);
}

/* Of 1000 slots each, what the share says within its luck. */
static void a_share_takes_its_part_of_the_slots(void **state)
{
	static const char yaml[] = "interface: eth0\n"
		"pools:\n  web: {table_size: 4093, backends: [" FOUR "]}\n"
		"vips: [{address: \"203.0.113.1:80/tcp\", pool: web}]\n";
	struct news news = { 0 };
	_cleanup_plan_ struct plan *none = empty_plan();
	_cleanup_plan_ struct plan *all = plan_in(yaml, &news, none);
	_cleanup_plan_ struct plan *some = NULL;
	unsigned int before[8], after[8];

	(void)state;
	tell(&news, 2, EFFECTIVE_UP, 30);
	some = plan_in(yaml, &news, all);
	assert_false(plan_table_same(&all->tables[0], &some->tables[0]));
	assert_int_equal(all->tables[0].id, some->tables[0].id);
	count(all, before);
	count(some, after);
	assert_in_range(after[2] * 100 / before[2], 25, 35);
	assert_int_equal(after[0], 0);
	assert_int_equal(use_of(some, 2), USE_UP);
}

static void panic_counts_on_all_that_the_operator_wants(void **state)
{
	struct news news = { 0 };
	_cleanup_plan_ struct plan *none = empty_plan();
	unsigned int slots[8], number;

	(void)state;
	tell(&news, 4, EFFECTIVE_UP, 20);
	for (number = 1; number <= 3; number++) {
		_cleanup_plan_ struct plan *plan = NULL;
		struct cfg *cfg = must_parse(
			POOL("", FOUR ", {address: 10.0.0.5, state: drain}"));
		struct plan_health health = { .ask = ask, .context = &news };
		bool panic = number == 3;

		/* Of 4: 3, 2 and then 1 up; half of them is enough. */
		tell(&news, number, EFFECTIVE_DOWN, 100);
		cfg->pools[0].panic_threshold = 50;
		assert_int_equal(plan_make(&cfg, none, &health, &plan, NULL), 0);
		count(plan, slots);
		assert_int_equal(slots[1] != 0, panic);
		assert_int_equal(use_of(plan, 1), panic ? USE_UP : USE_FAILED);
		assert_int_equal(slots[5] + slots[0], 0);
		assert_int_equal(use_of(plan, 5), USE_DRAIN);
		/* Each has all of its slots, a fourth. */
		if (panic)
			assert_in_range(slots[4], 62, 63);
	}
}

/* Weight counts, not heads; and one that lends all of its slots is not up. */
static void panic_is_a_matter_of_weight(void **state)
{
	static const uint8_t shares[] = { 100, 1, 0 };
	_cleanup_plan_ struct plan *none = empty_plan();
	unsigned int slots[8];
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(shares); i++) {
		_cleanup_plan_ struct plan *plan = NULL;
		struct news news = { 0 };
		struct plan_health health = { .ask = ask, .context = &news };
		struct cfg *cfg = must_parse(
			POOL("", "{address: 10.0.0.1, weight: 6}, {address: 10.0.0.2, weight: 2}, "
				 "{address: 10.0.0.3}, {address: 10.0.0.4}"));

		tell(&news, 1, EFFECTIVE_UP, shares[i]);
		tell(&news, 3, EFFECTIVE_DOWN, 100);
		tell(&news, 4, EFFECTIVE_DOWN, 100);
		cfg->pools[0].panic_threshold = 50;
		assert_int_equal(plan_make(&cfg, none, &health, &plan, NULL), 0);
		count(plan, slots);
		assert_int_equal(slots[3] != 0, !shares[i]);
	}
}

/* Nobody up is for all_down to answer, whatever the threshold. */
static void all_down_outranks_panic(void **state)
{
	struct news news = { .unreached = 1 << 1 | 1 << 2 | 1 << 3 };
	struct plan_health health = { .ask = ask, .context = &news };
	struct cfg *cfg = must_parse(POOL("all_down: drop, ", THREE));
	_cleanup_plan_ struct plan *none = empty_plan();
	_cleanup_plan_ struct plan *plan = NULL;
	unsigned int slots[8];

	(void)state;
	cfg->pools[0].panic_threshold = 50;
	assert_int_equal(plan_make(&cfg, none, &health, &plan, NULL), 0);
	count(plan, slots);
	assert_int_equal(slots[0], 251);
}

/* By its check, which nobody asks of what is in no pool. */
static void removed_while_it_is_down_stays_down(void **state)
{
	_cleanup_plan_ struct plan *none = empty_plan();
	_cleanup_plan_ struct plan *before = NULL;
	_cleanup_plan_ struct plan *after = NULL;
	struct news news = { 0 };

	(void)state;
	tell(&news, 2, EFFECTIVE_DOWN, 100);
	before = plan_in(POOL("", THREE), &news, none);
	after = plan_in(POOL("", "{address: 10.0.0.3}"), &news, before);
	assert_int_equal(after->n_backends, 3);
	assert_int_equal(use_of(after, 1), USE_DRAIN);
	assert_int_equal(use_of(after, 2), USE_FAILED);
}

static uint16_t drained; /* id */

static bool first_has_drained(void *context, uint16_t vip, uint16_t backend)
{
	(void)context;
	return !vip && backend == drained;
}

static void removed_drains_for_as_long_as_its_pool_said(void **state)
{
	struct news news = { 0 };
	struct plan_health health = { ask, &news, first_has_drained };
	struct cfg *cfg = must_parse(POOL("", "{address: 10.0.0.3}"));
	_cleanup_plan_ struct plan *none = empty_plan();
	_cleanup_plan_ struct plan *before =
		plan_with(POOL("drain_timeout: 10m, ", THREE), 0, none);
	_cleanup_plan_ struct plan *after = NULL;

	(void)state;
	assert_int_equal(before->backends[0].drain_timeout, 600);
	drained = backend_id(before, "10.0.0.1");
	assert_int_equal(plan_make(&cfg, before, &health, &after, NULL), 0);
	assert_int_equal(use_of(after, 1), USE_DOWN);
	assert_int_equal(use_of(after, 2), USE_DRAIN);
	assert_int_equal(use_of(after, 3), USE_UP);
}

static void presume(struct news *news, unsigned int number)
{
	tell(news, number, EFFECTIVE_DOWN, 100);
	news->said[number].keeps_flows = news->said[number].presumed = true;
}

/* Slots while 1 is up, 2 has failed, and of 3 nothing is known, nor was of the others. */
static void count_at_start(const char *yaml, unsigned int slots[8])
{
	struct news news = { 0 };
	_cleanup_plan_ struct plan *none = empty_plan(), *plan = NULL;

	tell(&news, 1, EFFECTIVE_UP, 100);
	tell(&news, 2, EFFECTIVE_DOWN, 100);
	presume(&news, 3);
	plan = plan_in(yaml, &news, none);
	assert_int_equal(use_of(plan, 3), USE_UP);
	count(plan, slots);
}

static void the_first_to_answer_does_not_take_all(void **state)
{
	unsigned int slots[8];

	(void)state;
	count_at_start(POOL("", THREE), slots);
	assert_in_range(slots[1], 251 / 3, 251 * 2 / 3);
	assert_int_equal(slots[2], 0);
	assert_int_equal(slots[1] + slots[3], 251);

	/* It had nothing before either. */
	count_at_start(POOL("all_down: drop, ", THREE), slots);
	assert_int_equal(slots[1], 251);

	/* Nobody is up by being presumed so. */
	count_at_start(POOL("panic_threshold: 50, ", THREE), slots);
	assert_true(slots[1] && slots[2] && slots[3]);
}

#define TWO_POOLS(first, second)                                               \
	"interface: eth0\n"                                                   \
	"pools:\n"                                                            \
	"  a: {" first "backends: [{address: 10.0.0.1}]}\n"                   \
	"  b: {" second "backends: [{address: 10.0.0.1}]}\n"                  \
	"vips: [{address: \"203.0.113.1:80/tcp\", pool: a},"                 \
	" {address: \"203.0.113.1:81/tcp\", pool: b}]\n"

/* The longer time of two pools; none is the longest. */
static void drains_as_long_as_the_kinder_pool_says(void **state)
{
	static const struct {
		const char *yaml;
		uint32_t timeout;
	} rows[] = {
		{ TWO_POOLS("drain_timeout: 20, ", "drain_timeout: 30, "), 30 },
		{ TWO_POOLS("drain_timeout: 30, ", "drain_timeout: 20, "), 30 },
		{ TWO_POOLS("drain_timeout: 30, ", ""), 0 },
		{ TWO_POOLS("", "drain_timeout: 30, "), 0 },
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		_cleanup_plan_ struct plan *none = empty_plan();
		_cleanup_plan_ struct plan *plan = plan_with(rows[i].yaml, 0, none);

		assert_int_equal(plan->n_backends, 1);
		assert_int_equal(plan->backends[0].drain_timeout, rows[i].timeout);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(slots_of_a_dead_backend_are_lent_and_given_back),
		cmocka_unit_test(operator_takes_slots_from_drain_and_down),
		cmocka_unit_test(all_dead_counts_on_all_unless_told_to_drop),
		cmocka_unit_test(failing_open_leaves_out_what_the_operator_took_out),
		cmocka_unit_test(backend_in_two_pools_is_used_as_the_kinder_says),
		cmocka_unit_test(weightless_backends_are_nobody),
		cmocka_unit_test(flows_of_what_its_check_calls_down_are_chosen_again),
		cmocka_unit_test(flows_stay_while_one_pool_calls_it_up),
		cmocka_unit_test(what_is_drained_and_not_reached_is_drained),
		cmocka_unit_test(what_drains_keeps_flows_and_takes_no_new_ones),
		cmocka_unit_test(a_share_takes_its_part_of_the_slots),
		cmocka_unit_test(panic_counts_on_all_that_the_operator_wants),
		cmocka_unit_test(panic_is_a_matter_of_weight),
		cmocka_unit_test(all_down_outranks_panic),
		cmocka_unit_test(removed_while_it_is_down_stays_down),
		cmocka_unit_test(removed_drains_for_as_long_as_its_pool_said),
		cmocka_unit_test(drains_as_long_as_the_kinder_pool_says),
		cmocka_unit_test(the_first_to_answer_does_not_take_all),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
