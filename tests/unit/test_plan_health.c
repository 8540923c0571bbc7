// SPDX-License-Identifier: GPL-2.0-only
/*
 * Who serves slots: what the operator says and what is healthy, and what a pool
 * does when nobody is left.
 */
#include "plan_testing.h"

#include <stdio.h>

#define POOL(options, backends)                                               \
	"interface: eth0\n"                                                   \
	"pools:\n  web: {table_size: 251, " options "backends: [" backends "]}\n" \
	"vips: [{address: \"203.0.113.1:80/tcp\", pool: web}]\n"

#define THREE "{address: 10.0.0.1}, {address: 10.0.0.2}, {address: 10.0.0.3}"

/* A mask of last bytes of addresses that are not healthy. */
static bool is_up(void *context, const struct backend_ident *ident)
{
	unsigned int down = *(unsigned int *)context;

	return !(down >> (ntohl(ident->addr.v4.s_addr) & 0xff) & 1);
}

static struct plan *plan_with(const char *yaml, unsigned int down, const struct plan *old)
{
	struct plan_health health = { is_up, &down };
	struct cfg *cfg = must_parse(yaml);
	struct plan *plan = NULL;

	assert_int_equal(plan_make(&cfg, old, &health, &plan, NULL), 0);
	return plan;
}

/* Slots of each backend by the last byte of its address; [0] counts empty ones. */
static void count(const struct plan *plan, unsigned int slots[8])
{
	const struct plan_table *table = &plan->tables[0];
	_cleanup_free_ struct table_line *lines = NULL;
	size_t n, i, j;

	memset(slots, 0, 8 * sizeof(*slots));
	assert_int_equal(plan->n_tables, 1);
	assert_int_equal(plan_table_lines(table, &lines, &n, NULL), 0);
	for (i = 0; i < table->params.size; i++) {
		uint16_t id = lines[1 + i / 32].ids[i % 32];

		if (!id)
			slots[0]++;
		for (j = 0; id && j < plan->n_backends; j++)
			if (plan->backends[j].id == id)
				slots[ntohl(plan->backends[j].ident.addr.v4.s_addr) & 7]++;
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
	assert_int_equal(plan_table_lines(&all->tables[0], &before, &n, NULL), 0);
	assert_int_equal(plan_table_lines(&two->tables[0], &meanwhile, &n, NULL), 0);
	assert_int_equal(plan_table_lines(&again->tables[0], &after, &n, NULL), 0);
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(slots_of_a_dead_backend_are_lent_and_given_back),
		cmocka_unit_test(operator_takes_slots_from_drain_and_down),
		cmocka_unit_test(all_dead_counts_on_all_unless_told_to_drop),
		cmocka_unit_test(failing_open_leaves_out_what_the_operator_took_out),
		cmocka_unit_test(backend_in_two_pools_is_used_as_the_kinder_says),
		cmocka_unit_test(weightless_backends_are_nobody),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
