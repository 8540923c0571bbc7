// SPDX-License-Identifier: GPL-2.0-only
/* Who serves slots where the VIPs of a pool are checked each by itself (core/way.h). */
#include "plan_health_testing.h"

/* One pool that clients come to by two addresses; only the second says who is told of. */
#define TWO_WAYS(options)                                                      \
	"interface: eth0\n"                                                    \
	"pools:\n  web: {table_size: 251, check: http, " options "backends: [" THREE "]}\n" \
	"vips:\n- {address: \"203.0.113.1:80/tcp\", pool: web}\n"             \
	"- {address: \"[2001:db8::1]:80/tcp\", pool: web}\n"

static void ask_of_ipv6(void *context, const struct cfg_pool *pool, const struct way *way,
			const struct cfg_backend *backend,
			struct plan_backend_health *out)
{
	struct news nothing = { 0 };

	assert_non_null(way->vip);
	assert_string_equal(way->vip->pool, pool->name);
	ask(way->addr.family == AF_INET6 ? context : &nothing, pool, way, backend, out);
}

static struct plan *plan_of_ways(const char *yaml, struct news *news,
				 const struct plan *old)
{
	struct plan_health health = { .ask = ask_of_ipv6, .context = news };
	struct cfg *cfg = must_parse(yaml);
	struct plan *plan = NULL;

	assert_int_equal(plan_make(&cfg, old, &health, &plan, NULL), 0);
	return plan;
}

static const struct plan_member *member_of(const struct plan *plan, const char *vip,
					   unsigned int number)
{
	const struct plan_table *table = table_of(plan, vip);

	assert_int_equal(table->n_members, 3);
	return &table->members[number - 1];
}

static void only_the_vip_that_lacks_a_backend_has_another_table(void **state)
{
	struct news news = { 0 };
	_cleanup_plan_ struct plan *none = empty_plan();
	_cleanup_plan_ struct plan *all = plan_of_ways(TWO_WAYS(""), &news, none);
	_cleanup_plan_ struct plan *some = NULL;
	_cleanup_plan_ struct plan *again = NULL;

	(void)state;
	assert_int_equal(all->n_tables, 1);
	tell(&news, 2, EFFECTIVE_DOWN, 100);
	some = plan_of_ways(TWO_WAYS(""), &news, all);
	assert_int_equal(some->n_tables, 2);
	assert_int_equal(table_of(some, "203.0.113.1:80/tcp")->id, all->tables[0].id);
	assert_true(plan_table_same(table_of(some, "203.0.113.1:80/tcp"), &all->tables[0]));
	assert_int_equal(member_of(some, "[2001:db8::1]:80/tcp", 2)->share, 0);
	assert_int_equal(member_of(some, "[2001:db8::1]:80/tcp", 1)->share, 100);
	/* Known flows of the one VIP go on, of the other they do not. */
	assert_int_equal(use_of(some, 2), USE_UP);
	assert_int_equal(some->n_verdicts, 1);
	assert_int_equal(some->verdicts[0].vip, vip_of(some, "[2001:db8::1]:80/tcp")->id);
	assert_int_equal(some->verdicts[0].backend, backend_id(some, "10.0.0.2"));
	assert_int_equal(some->verdicts[0].use, USE_FAILED);

	news.told = 0;
	again = plan_of_ways(TWO_WAYS(""), &news, some);
	assert_int_equal(again->n_tables, 1);
	assert_int_equal(again->tables[0].id, all->tables[0].id);
	for (size_t i = 0; i < again->n_backends; i++)
		assert_int_equal(again->backends[i].id, all->backends[i].id);
}

/* Panic, and what is done when none is up, are of one VIP and not of the pool. */
static void few_that_are_up_are_few_for_one_vip(void **state)
{
	struct news news = { 0 };
	_cleanup_plan_ struct plan *none = empty_plan();
	_cleanup_plan_ struct plan *panic = NULL;
	_cleanup_plan_ struct plan *drop = NULL;

	(void)state;
	tell(&news, 1, EFFECTIVE_DOWN, 100);
	tell(&news, 2, EFFECTIVE_DOWN, 100);
	panic = plan_of_ways(TWO_WAYS("panic_threshold: 50, "), &news, none);
	assert_int_equal(panic->n_tables, 1);
	assert_int_equal(member_of(panic, "[2001:db8::1]:80/tcp", 1)->share, 100);

	tell(&news, 3, EFFECTIVE_DOWN, 100);
	drop = plan_of_ways(TWO_WAYS("all_down: drop, "), &news, none);
	assert_int_equal(drop->n_tables, 2);
	for (unsigned int number = 1; number <= 3; number++) {
		assert_int_equal(member_of(drop, "[2001:db8::1]:80/tcp", number)->share, 0);
		assert_int_equal(member_of(drop, "203.0.113.1:80/tcp", number)->share, 100);
		assert_int_equal(use_of(drop, number), USE_UP);
	}
}

/* One check for all VIPs, or none that goes to a VIP: one table for all, one answer. */
static void one_way_is_one_table(void **state)
{
	struct news news = { 0 };
	_cleanup_plan_ struct plan *none = empty_plan();
	_cleanup_plan_ struct plan *plan = NULL;
	char yaml[] = TWO_WAYS("");

	(void)state;
	tell(&news, 2, EFFECTIVE_DOWN, 100);
	memcpy(strstr(yaml, "http"), "icmp", 4);
	plan = plan_in(yaml, &news, none);
	assert_int_equal(plan->n_tables, 1);
	assert_int_equal(member_of(plan, "[2001:db8::1]:80/tcp", 2)->share, 0);
	assert_int_equal(use_of(plan, 2), USE_FAILED);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(only_the_vip_that_lacks_a_backend_has_another_table),
		cmocka_unit_test(few_that_are_up_are_few_for_one_vip),
		cmocka_unit_test(one_way_is_one_table),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
