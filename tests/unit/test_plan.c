// SPDX-License-Identifier: GPL-2.0-only
/*
 * Plans: ids stay, rest and run out; pools of the same content share a table;
 * and no table id ever changes its meaning under a VIP that does not expect it.
 * test_publish.c watches the same rule step by step as the maps are written.
 */
#include "plan_testing.h"

#include <errno.h>

#define SEEDS 40
#define EDITS 150

#define ONE_POOL(backends) \
	"interface: eth0\npools:\n  web:\n    backends: [" backends "]\n" \
	"vips: [{address: \"203.0.113.1:80/tcp\", pool: web}]\n"
#define B(address) "{address: " address "},"

static void kept_backends_keep_their_ids(void **state)
{
	_cleanup_plan_ struct plan *none = empty_plan();
	_cleanup_plan_ struct plan *a =
		must_plan_yaml(ONE_POOL(B("10.0.0.2") B("10.0.0.3")), none);
	/* One that sorts before and one that sorts between the others. */
	_cleanup_plan_ struct plan *b = must_plan_yaml(
		ONE_POOL(B("10.0.0.1") B("10.0.0.2") B("10.0.0.25") B("10.0.0.3")), a);

	(void)state;
	assert_int_equal(backend_id(b, "10.0.0.2"), backend_id(a, "10.0.0.2"));
	assert_int_equal(backend_id(b, "10.0.0.3"), backend_id(a, "10.0.0.3"));
	assert_int_equal(b->n_backends, 4);
}

static const struct plan_backend *find_backend(const struct plan *plan,
					       const char *address)
{
	struct backend_ident ident = { .encap = ENCAP_IPIP };

	assert_int_equal(addr_parse(address, "backend", &ident.addr, NULL), 0);
	return plan_find_backend(plan, &ident);
}

static void removed_backend_drains_with_its_id_and_comes_back_with_it(void **state)
{
	_cleanup_plan_ struct plan *none = empty_plan();
	_cleanup_plan_ struct plan *both =
		must_plan_yaml(ONE_POOL(B("10.0.0.1") B("10.0.0.2")), none);
	_cleanup_plan_ struct plan *one = must_plan_yaml(ONE_POOL(B("10.0.0.2")), both);
	_cleanup_plan_ struct plan *again =
		must_plan_yaml(ONE_POOL(B("10.0.0.1") B("10.0.0.2")), one);
	uint16_t id = backend_id(both, "10.0.0.1");

	(void)state;
	assert_int_equal(one->n_backends, 2);
	assert_non_null(find_backend(one, "10.0.0.1"));
	assert_true(find_backend(one, "10.0.0.1")->draining);
	assert_int_equal(find_backend(one, "10.0.0.1")->id, id);
	assert_int_equal(table_of(one, "203.0.113.1:80/tcp")->n_members, 1);
	assert_false(find_backend(again, "10.0.0.1")->draining);
	assert_int_equal(find_backend(again, "10.0.0.1")->id, id);
}

/* The removed ones sort before the others, between them and after them. */
static void backends_are_found_beside_draining_ones_of_any_address(void **state)
{
	_cleanup_plan_ struct plan *none = empty_plan();
	_cleanup_plan_ struct plan *first = must_plan_yaml(
		ONE_POOL(B("10.0.0.1") B("10.0.0.2") B("10.0.0.3") B("10.0.0.41")
			 B("10.0.0.9")), none);
	_cleanup_plan_ struct plan *second = must_plan_yaml(
		ONE_POOL(B("10.0.0.30") B("10.0.0.40") B("10.0.0.50") B("10.0.0.60")),
		first);
	const struct plan_table *table = table_of(second, "203.0.113.1:80/tcp");
	size_t i;

	(void)state;
	assert_int_equal(second->n_backends, 9);
	assert_int_equal(table->n_members, 4);
	for (i = 0; i < table->n_members; i++)
		assert_int_equal(table->members[i].backend,
				 backend_id(second, table->members[i].name));
}

static bool drop_all(void *context, uint16_t vip, uint16_t backend)
{
	(void)context;
	(void)vip;
	(void)backend;
	return true;
}

static bool drop_one(void *context, uint16_t vip, uint16_t backend)
{
	return !vip && backend == *(uint16_t *)context;
}

static struct plan *must_release(const struct plan *old, plan_drop *drop, void *context)
{
	struct plan *plan = NULL;
	struct err err = { 0 };

	if (plan_release(old, NULL, drop, context, &plan, &err))
		fail_msg("%s", err.text);
	return plan;
}

static void release_lets_go_of_draining_backends_only(void **state)
{
	_cleanup_plan_ struct plan *none = empty_plan();
	_cleanup_plan_ struct plan *all = must_plan_yaml(
		ONE_POOL(B("10.0.0.1") B("10.0.0.2") B("10.0.0.3")), none);
	_cleanup_plan_ struct plan *one = must_plan_yaml(ONE_POOL(B("10.0.0.2")), all);
	uint16_t id = backend_id(one, "10.0.0.3");
	_cleanup_plan_ struct plan *some = must_release(one, drop_one, &id);
	_cleanup_plan_ struct plan *rest = must_release(some, drop_all, NULL);

	(void)state;
	assert_int_equal(some->n_backends, 2);
	assert_int_equal(backend_id(some, "10.0.0.3"), 0);
	assert_true(find_backend(some, "10.0.0.1")->draining);
	assert_int_equal(rest->n_backends, 1);
	assert_int_equal(backend_id(rest, "10.0.0.2"), backend_id(all, "10.0.0.2"));
	assert_int_equal(rest->n_vips, 1);
	assert_int_equal(rest->vips[0].id, all->vips[0].id);
	assert_int_equal(rest->vips[0].table, one->vips[0].table);
	assert_same_cfg(rest->cfg, one->cfg);
}

static void released_id_rests_until_all_others_were_given(void **state)
{
	_cleanup_plan_ struct plan *none = empty_plan();
	_cleanup_plan_ struct plan *plan =
		must_plan_yaml(ONE_POOL(B("10.0.0.1") B("10.0.0.2")), none);
	uint16_t id = backend_id(plan, "10.0.0.1"), previous = 0;
	struct plan *next;
	int i;

	(void)state;
	for (i = 0; i < 100; i++) {
		next = must_plan_yaml(i % 2 ? ONE_POOL(B("10.0.0.2")) :
				      ONE_POOL(B("10.0.0.2") B("10.0.0.3")), plan);
		plan_free(&plan);
		plan = must_release(next, drop_all, NULL);
		plan_free(&next);
		if (i % 2)
			continue;
		assert_int_not_equal(backend_id(plan, "10.0.0.3"), id);
		assert_true(backend_id(plan, "10.0.0.3") > previous);
		previous = backend_id(plan, "10.0.0.3");
	}
	/* Around: behind the last id comes the first that is free. */
	plan->last_backend = MAX_BACKENDS;
	next = must_plan_yaml(ONE_POOL(B("10.0.0.2") B("10.0.0.7")), plan);
	assert_int_equal(backend_id(next, "10.0.0.7"), 1);
	plan_free(&next);
}

static void pools_share_a_table_exactly_when_their_content_is_equal(void **state)
{
	static const char *const yaml =
		"interface: eth0\n"
		"pools:\n"
		"  a: {backends: [{address: 10.0.0.1}, {address: 10.0.0.2}]}\n"
		"  b: {check: icmp, panic_threshold: 40, quorum: 1, slow_start: 1s,"
		" backends: [{address: 10.0.0.2}, {address: 10.0.0.1}]}\n"
		"  weight: {backends: [{address: 10.0.0.1, weight: 2}, {address: 10.0.0.2}]}\n"
		"  name: {backends: [{address: 10.0.0.1, name: x}, {address: 10.0.0.2}]}\n"
		"  size: {table_size: 251, backends: [{address: 10.0.0.1}, {address: 10.0.0.2}]}\n"
		"  encap: {encap: gue, backends: [{address: 10.0.0.1}, {address: 10.0.0.2}]}\n"
		"  fewer: {backends: [{address: 10.0.0.1}]}\n"
		"  unused: {backends: [{address: 10.0.0.9}]}\n"
		"vips:\n"
		"  - {address: \"203.0.113.1:1/tcp\", pool: a}\n"
		"  - {address: \"203.0.113.1:2/tcp\", pool: b}\n"
		"  - {address: \"203.0.113.1:3/tcp\", pool: weight}\n"
		"  - {address: \"203.0.113.1:4/tcp\", pool: name}\n"
		"  - {address: \"203.0.113.1:5/tcp\", pool: size}\n"
		"  - {address: \"203.0.113.1:6/tcp\", pool: encap}\n"
		"  - {address: \"203.0.113.1:7/tcp\", pool: fewer}\n"
		"  - {address: \"203.0.113.1:8/tcp\", backends: [{address: 10.0.0.1}]}\n";
	_cleanup_plan_ struct plan *none = empty_plan();
	_cleanup_plan_ struct plan *plan = must_plan_yaml(yaml, none);
	char text[32];
	int i, j;

	(void)state;
	assert_int_equal(plan->n_vips, 8);
	assert_int_equal(plan->n_tables, 6);
	for (i = 0; i < 8; i++) {
		for (j = 0; j < i; j++)
			assert_int_equal(plan->vips[i].table == plan->vips[j].table,
					 (i == 1 && j == 0) || (i == 7 && j == 6));
		snprintf(text, sizeof(text), "203.0.113.1:%d/tcp", i + 1);
		assert_non_null(table_of(plan, text));
	}
	/* The pool that no VIP uses has its backend, and no table. */
	assert_int_not_equal(backend_id(plan, "10.0.0.9"), 0);
}

static size_t count(const uint8_t *seen)
{
	size_t i, n = 0;

	for (i = 0; i < 65536; i++)
		n += seen[i];
	return n;
}

static void check_ids_unique(const struct plan *plan)
{
	_cleanup_free_ uint8_t *seen = calloc(3, 65536);
	size_t i;

	for (i = 0; i < plan->n_backends; i++)
		seen[plan->backends[i].id] = 1;
	for (i = 0; i < plan->n_vips; i++)
		seen[65536 + plan->vips[i].id] = 1;
	for (i = 0; i < plan->n_tables; i++)
		seen[2 * 65536 + plan->tables[i].id] = 1;
	assert_int_equal(seen[0] + seen[65536] + seen[2 * 65536], 0);
	assert_int_equal(count(seen), plan->n_backends);
	assert_int_equal(count(seen + 65536), plan->n_vips);
	assert_int_equal(count(seen + 2 * 65536), plan->n_tables);
}

/* What the configuration says is what the VIP's table has. */
static void check_vip(const struct plan *plan, const struct cfg_vip *vip)
{
	const struct cfg_pool *pool = cfg_find_pool(plan->cfg, vip->pool);
	const struct plan_vip *planned = plan_find_vip(plan, &vip->spec);
	const struct plan_table *table;
	struct backend_ident ident;
	size_t i;

	assert_non_null(planned);
	table = plan_find_table(plan, planned->table);
	assert_non_null(table);
	assert_true(table->known);
	assert_int_equal(table->params.size, pool->table_size);
	assert_int_equal(table->n_members, pool->n_backends);
	for (i = 0; i < pool->n_backends; i++) {
		const struct plan_backend *backend;

		backend_ident_of(pool, &pool->backends[i], &ident);
		backend = plan_find_backend(plan, &ident);
		assert_non_null(backend);
		assert_false(backend->draining);
		assert_string_equal(table->members[i].name, pool->backends[i].name);
		assert_int_equal(table->members[i].weight, pool->backends[i].weight);
		assert_int_equal(table->members[i].backend, backend->id);
	}
}

static void check_plan(const struct plan *plan)
{
	size_t i, j;

	check_ids_unique(plan);
	assert_int_equal(plan->n_vips, plan->cfg->n_vips);
	for (i = 0; i < plan->cfg->n_vips; i++)
		check_vip(plan, &plan->cfg->vips[i]);
	for (i = 0; i < plan->n_tables; i++)
		for (j = 0; j < i; j++)
			assert_int_not_equal(plan_table_compare(&plan->tables[i],
								&plan->tables[j]), 0);
}

static void check_ids_stay(const struct plan *old, const struct plan *new)
{
	size_t i;

	for (i = 0; i < old->n_backends; i++) {
		const struct plan_backend *now =
			plan_find_backend(new, &old->backends[i].ident);

		assert_non_null(now);
		assert_int_equal(now->id, old->backends[i].id);
	}
	for (i = 0; i < old->n_vips; i++) {
		const struct plan_vip *now = plan_find_vip(new, &old->vips[i].spec);

		if (now)
			assert_int_equal(now->id, old->vips[i].id);
	}
}

/* An id that is another VIP's now was nobody's a moment ago. */
static void check_vip_ids_not_handed_over(const struct plan *old, const struct plan *new)
{
	size_t i, j;

	for (i = 0; i < new->n_vips; i++)
		for (j = 0; j < old->n_vips; j++)
			if (new->vips[i].id == old->vips[j].id)
				assert_int_equal(vip_spec_compare(&new->vips[i].spec,
								  &old->vips[j].spec), 0);
}

/* The rule in plan.h: slots change under all VIPs that use them, or not at all. */
static void check_table_rule(const struct plan *old, const struct plan *new)
{
	size_t i;

	for (i = 0; i < old->n_vips; i++) {
		uint16_t id = old->vips[i].table;
		const struct plan_vip *now = plan_find_vip(new, &old->vips[i].spec);
		const struct plan_table *before = plan_find_table(old, id);
		const struct plan_table *after = plan_find_table(new, id);

		if (!after || plan_table_same(before, after))
			continue;
		assert_non_null(now);
		assert_int_equal(now->table, id);
	}
}

static void plans_keep_their_promises_over_random_edits(void **state)
{
	struct plan *plan, *next;
	struct world world;
	int seed, i;

	(void)state;
	for (seed = 1; seed <= SEEDS; seed++) {
		world_start(&world, seed);
		plan = empty_plan();
		for (i = 0; i < EDITS; i++) {
			world_edit(&world);
			if (world_below(&world, 2))
				continue; /* several edits in one change */
			next = must_plan(world_cfg(&world), plan);
			check_plan(next);
			check_ids_stay(plan, next);
			check_vip_ids_not_handed_over(plan, next);
			check_table_rule(plan, next);
			plan_free(&plan);
			plan = next;
			if (world_below(&world, 4))
				continue;
			next = must_release(plan, drop_all, NULL);
			check_plan(next);
			check_table_rule(plan, next);
			plan_free(&plan);
			plan = next;
		}
		plan_free(&plan);
	}
}

static void unchanged_configuration_gives_the_same_plan(void **state)
{
	_cleanup_plan_ struct plan *none = empty_plan();
	struct world world;
	int i;

	(void)state;
	world_start(&world, 99);
	for (i = 0; i < 200; i++) {
		_cleanup_plan_ struct plan *a = NULL;
		_cleanup_plan_ struct plan *b = NULL;
		size_t t;

		world_edit(&world);
		a = must_plan(world_cfg(&world), none);
		b = must_plan(world_cfg(&world), a);
		assert_int_equal(a->n_backends, b->n_backends);
		assert_int_equal(a->n_tables, b->n_tables);
		assert_int_equal(a->n_vips, b->n_vips);
		for (t = 0; t < a->n_tables; t++)
			assert_true(a->tables[t].id == b->tables[t].id &&
				    plan_table_same(&a->tables[t], &b->tables[t]));
		for (t = 0; t < a->n_vips; t++)
			assert_int_equal(a->vips[t].table, b->vips[t].table);
	}
}

static void weight_change_keeps_the_id_of_the_table(void **state)
{
	_cleanup_plan_ struct plan *none = empty_plan();
	_cleanup_plan_ struct plan *a = must_plan_yaml(ONE_POOL(B("10.0.0.1")), none);
	_cleanup_plan_ struct plan *b =
		must_plan_yaml(ONE_POOL("{address: 10.0.0.1, weight: 7}"), a);

	(void)state;
	assert_int_equal(a->vips[0].table, b->vips[0].table);
	assert_false(plan_table_same(&a->tables[0], &b->tables[0]));
}

#define TWO_VIPS(first, second) \
	"interface: eth0\nvips:\n" \
	"  - {address: \"203.0.113.1:80/tcp\", backends: [{address: " first "}]}\n" \
	"  - {address: \"203.0.113.2:80/tcp\", backends: [{address: " second "}]}\n"

static void vips_that_part_do_not_share_the_old_id_for_new_slots(void **state)
{
	_cleanup_plan_ struct plan *none = empty_plan();
	_cleanup_plan_ struct plan *same =
		must_plan_yaml(TWO_VIPS("10.0.0.1", "10.0.0.1"), none);
	_cleanup_plan_ struct plan *apart =
		must_plan_yaml(TWO_VIPS("10.0.0.1", "10.0.0.2"), same);
	_cleanup_plan_ struct plan *swapped =
		must_plan_yaml(TWO_VIPS("10.0.0.2", "10.0.0.1"), apart);

	(void)state;
	assert_int_equal(same->n_tables, 1);
	/* The one that keeps its content keeps the id; the other has a new one. */
	assert_int_equal(apart->vips[0].table, same->vips[0].table);
	assert_int_not_equal(apart->vips[1].table, same->vips[0].table);
	check_table_rule(apart, swapped);
}

/* As a daemon finds them: ids and places, nothing of the content. */
static struct plan *adopted_from(const struct plan *plan)
{
	struct plan *adopted = empty_plan();
	size_t i;

	adopted->backends = calloc(plan->n_backends + 1, sizeof(*adopted->backends));
	adopted->tables = calloc(plan->n_tables + 1, sizeof(*adopted->tables));
	adopted->vips = calloc(plan->n_vips + 1, sizeof(*adopted->vips));
	/* Upside down, since a hash map has no order. */
	for (i = plan->n_backends; i-- > 0;)
		adopted->backends[adopted->n_backends++] = plan->backends[i];
	for (i = plan->n_tables; i-- > 0;)
		adopted->tables[adopted->n_tables++] = (struct plan_table){
			.id = plan->tables[i].id, .params.size = plan->tables[i].params.size };
	for (i = plan->n_vips; i-- > 0;)
		adopted->vips[adopted->n_vips++] = plan->vips[i];
	adopted->last_backend = plan->last_backend;
	adopted->last_table = plan->last_table;
	adopted->last_vip = plan->last_vip;
	plan_sort(adopted);
	return adopted;
}

static void plan_after_adopted_maps_keeps_ids_and_the_table_rule(void **state)
{
	struct world world;
	int seed, i;

	(void)state;
	for (seed = 1; seed <= 100; seed++) {
		_cleanup_plan_ struct plan *none = empty_plan();
		_cleanup_plan_ struct plan *before = NULL;
		_cleanup_plan_ struct plan *adopted = NULL;
		_cleanup_plan_ struct plan *same = NULL;
		_cleanup_plan_ struct plan *after = NULL;

		world_start(&world, seed);
		for (i = 0; i < 20; i++)
			world_edit(&world);
		before = must_plan(world_cfg(&world), none);
		adopted = adopted_from(before);
		same = must_plan(world_cfg(&world), adopted);
		check_plan(same);
		check_ids_stay(adopted, same);
		assert_int_equal(same->n_backends, before->n_backends);
		for (i = 0; i < (int)before->n_vips; i++)
			assert_int_equal(same->vips[i].table, before->vips[i].table);

		for (i = 0; i < 5; i++)
			world_edit(&world);
		after = must_plan(world_cfg(&world), adopted);
		check_plan(after);
		check_ids_stay(adopted, after);
		check_table_rule(adopted, after);
	}
}

/* A plan in which every id of one kind is taken by something else. */
static struct plan *full_plan(bool backends, bool vips, bool tables)
{
	struct plan *plan = empty_plan();
	size_t i, n = 65535;

	plan->backends = calloc(n, sizeof(*plan->backends));
	plan->tables = calloc(n, sizeof(*plan->tables));
	plan->vips = calloc(n, sizeof(*plan->vips));
	for (i = 0; i < n; i++) {
		struct addr addr = { .family = AF_INET };

		addr.v4.s_addr = htonl(0x0b000000 + i);
		if (backends)
			plan->backends[plan->n_backends++] = (struct plan_backend){
				.ident.addr = addr, .id = i + 1, .draining = true };
		if (vips)
			plan->vips[plan->n_vips++] = (struct plan_vip){
				.spec = { .addr = addr, .port = 1, .protocol = IPPROTO_TCP },
				.id = i + 1 };
		if (tables)
			plan->tables[plan->n_tables++] = (struct plan_table){ .id = i + 1 };
	}
	plan_sort(plan);
	return plan;
}

static void check_no_space(bool backends, bool vips, bool tables, const char *words)
{
	_cleanup_plan_ struct plan *full = full_plan(backends, vips, tables);
	_cleanup_cfg_ struct cfg *cfg = must_parse(ONE_POOL(B("10.0.0.1")));
	struct plan *plan = NULL;
	struct err err = { 0 };

	assert_int_equal(plan_make(&cfg, full, NULL, &plan, &err), -ENOSPC);
	assert_non_null(strstr(err.text, words));
	/* What failed changed nothing: the configuration is the caller's. */
	assert_non_null(cfg);
	assert_null(plan);
}

static void ids_that_run_out_are_refused(void **state)
{
	(void)state;
	check_no_space(true, false, false, "more than 65535 backends");
	check_no_space(false, true, false, "more than 65535 VIPs");
	check_no_space(false, false, true, "more than 65535 tables");
}

static void last_free_id_is_given(void **state)
{
	_cleanup_plan_ struct plan *full = full_plan(true, true, true);
	_cleanup_plan_ struct plan *plan = NULL;

	(void)state;
	/* One of each is free: the last of the sorted lists. */
	full->n_backends--;
	full->n_vips--;
	full->n_tables--;
	full->last_backend = full->last_vip = full->last_table = 777;
	plan = must_plan_yaml(ONE_POOL(B("10.0.0.1")), full);
	assert_int_equal(backend_id(plan, "10.0.0.1"), 65535);
	assert_int_equal(vip_of(plan, "203.0.113.1:80/tcp")->id, 65535);
	assert_int_equal(vip_of(plan, "203.0.113.1:80/tcp")->table, 65535);
}

static void configuration_without_anything_has_an_empty_plan(void **state)
{
	_cleanup_plan_ struct plan *none = empty_plan();
	_cleanup_plan_ struct plan *some = must_plan_yaml(ONE_POOL(B("10.0.0.1")), none);
	_cleanup_plan_ struct plan *plan = must_plan_yaml("interface: eth0\n", some);

	(void)state;
	assert_int_equal(plan->n_vips, 0);
	assert_int_equal(plan->n_tables, 0);
	assert_int_equal(plan->n_backends, 1);
	assert_true(plan->backends[0].draining);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(kept_backends_keep_their_ids),
		cmocka_unit_test(removed_backend_drains_with_its_id_and_comes_back_with_it),
		cmocka_unit_test(backends_are_found_beside_draining_ones_of_any_address),
		cmocka_unit_test(release_lets_go_of_draining_backends_only),
		cmocka_unit_test(released_id_rests_until_all_others_were_given),
		cmocka_unit_test(pools_share_a_table_exactly_when_their_content_is_equal),
		cmocka_unit_test(plans_keep_their_promises_over_random_edits),
		cmocka_unit_test(unchanged_configuration_gives_the_same_plan),
		cmocka_unit_test(weight_change_keeps_the_id_of_the_table),
		cmocka_unit_test(vips_that_part_do_not_share_the_old_id_for_new_slots),
		cmocka_unit_test(plan_after_adopted_maps_keeps_ids_and_the_table_rule),
		cmocka_unit_test(ids_that_run_out_are_refused),
		cmocka_unit_test(last_free_id_is_given),
		cmocka_unit_test(configuration_without_anything_has_an_empty_plan),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
