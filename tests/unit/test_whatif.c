// SPDX-License-Identifier: GPL-2.0-only
/* Sets, edits, and the tables before and after. */
#include "cfg_testing.h"

#include <errno.h>

#include "core/table.h"
#include "core/whatif.h"

#define HEAD "interface: eth0\npools:\n  web:\n"
#define BACKENDS                               \
	"    backends:\n"                      \
	"    - {address: 10.1.0.1, name: a}\n" \
	"    - {address: 10.1.0.2, name: b}\n" \
	"    - {address: 10.1.0.3, name: c}\n" \
	"    - {address: '2001:db8::4'}\n"

/* What a test has at hand: the pool and its set. */
struct bench {
	struct cfg *cfg;
	struct whatif_set set;
};

static void bench_free(struct bench *b)
{
	whatif_set_clear(&b->set);
	cfg_free(&b->cfg);
}
#define _cleanup_bench_ __attribute__((cleanup(bench_free)))

static struct bench bench_of(const char *yaml)
{
	struct bench b = { .cfg = must_parse(yaml) };

	assert_int_equal(whatif_set_of(&b.cfg->pools[0], &b.set, NULL), 0);
	return b;
}

static struct whatif_edit edit_of(enum whatif_op op, const char *text)
{
	struct whatif_edit edit;
	struct err err = { 0 };

	if (whatif_edit_parse(op, text, &edit, &err))
		fail_msg("%s", err.text);
	return edit;
}

static struct whatif_table *build(const struct bench *b, bool rebuild)
{
	struct whatif_table *table = NULL;
	struct table_params params;
	struct err err = { 0 };

	cfg_table_params(b->set.pool, &params);
	if (whatif_table_build(&params, &b->set, rebuild, &table, &err))
		fail_msg("%s", err.text);
	return table;
}

static struct table_comparison *compare(const struct bench *a,
					const struct whatif_table *old,
					const struct bench *b,
					const struct whatif_table *new)
{
	struct table_comparison *c = NULL;
	struct err err = { 0 };

	if (whatif_compare(&a->set, old, &b->set, new, &c, &err))
		fail_msg("%s", err.text);
	return c;
}

static void an_edit_is_a_backend_and_a_weight(void **state)
{
	static const struct {
		enum whatif_op op;
		const char *text, *backend;
		uint32_t weight;
	} rows[] = {
		{ WHATIF_REMOVE, "web-1", "web-1", 0 },
		{ WHATIF_DOWN, "2001:DB8:0::1", "2001:db8::1", 0 },
		{ WHATIF_ADD, "web-9:3", "web-9", 3 },
		{ WHATIF_SET, "web-9:0", "web-9", 0 },
		{ WHATIF_ADD, "2001:db8:0::1:65535", "2001:db8::1", 65535 },
		{ WHATIF_ADD, "10.1.0.9:1", "10.1.0.9", 1 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct whatif_edit edit = edit_of(rows[i].op, rows[i].text);

		assert_int_equal(edit.op, rows[i].op);
		assert_string_equal(edit.backend, rows[i].backend);
		assert_int_equal(edit.weight, rows[i].weight);
	}
}

static void a_bad_edit_is_refused_with_what_is_allowed(void **state)
{
	static const struct {
		enum whatif_op op;
		const char *text, *sentence;
	} rows[] = {
		{ WHATIF_ADD, "web-1",
		  "'web-1' has no weight; allowed: BACKEND:WEIGHT, as "
		  "10.1.0.11:2" },
		{ WHATIF_SET, "web-1:",
		  "weight '' is not a number; allowed: 0 to 65535" },
		{ WHATIF_SET, "web-1:65536",
		  "weight '65536' is out of range; allowed: 0 to 65535" },
		{ WHATIF_SET, ":1",
		  "':1': the name of a backend has 1 to 127 characters" },
		{ WHATIF_REMOVE, "",
		  "'': the name of a backend has 1 to 127 characters" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct whatif_edit edit;
		struct err err = { 0 };

		assert_true(whatif_edit_parse(rows[i].op, rows[i].text, &edit,
					      &err) < 0);
		assert_string_equal(err.text, rows[i].sentence);
	}
}

static void edits_change_the_set(void **state)
{
	_cleanup_bench_ struct bench b = bench_of(HEAD BACKENDS);
	struct whatif_edit edits[] = {
		edit_of(WHATIF_REMOVE, "b"),
		edit_of(WHATIF_ADD, "d:5"),
		edit_of(WHATIF_SET, "10.1.0.1:7"),
		edit_of(WHATIF_DOWN, "c"),
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(edits); i++)
		assert_int_equal(whatif_set_edit(&b.set, &edits[i], NULL), 0);
	assert_int_equal(b.set.n, 4);
	assert_string_equal(b.set.backends[0].name, "2001:db8::4");
	assert_string_equal(b.set.backends[1].name, "a");
	assert_int_equal(b.set.backends[1].weight, 7);
	assert_true(b.set.up[1]);
	assert_string_equal(b.set.backends[2].name, "c");
	assert_false(b.set.up[2]);
	assert_true(b.set.wanted[2]);
	assert_string_equal(b.set.backends[3].name, "d");
	assert_int_equal(b.set.backends[3].weight, 5);
	assert_true(b.set.up[3]);
}

static void an_edit_of_nobody_is_refused_with_who_is_there(void **state)
{
	_cleanup_bench_ struct bench b = bench_of(HEAD BACKENDS);
	struct whatif_edit gone = edit_of(WHATIF_REMOVE, "x");
	struct whatif_edit there = edit_of(WHATIF_ADD, "a:1");
	struct whatif_edit address = edit_of(WHATIF_ADD, "10.1.0.1:1");
	struct err err;

	(void)state;
	assert_int_equal(whatif_set_edit(&b.set, &gone, &err), -ENOENT);
	assert_string_equal(err.text, "pool 'web' has no backend 'x'; there "
				      "are: 2001:db8::4, a, b, c");
	assert_int_equal(whatif_set_edit(&b.set, &there, &err), -EEXIST);
	assert_string_equal(err.text, "pool 'web' has backend 'a' already");
	assert_int_equal(whatif_set_edit(&b.set, &address, &err), -EEXIST);
	assert_int_equal(b.set.n, 4);
}

static void a_long_list_of_who_is_there_is_cut(void **state)
{
	_cleanup_bench_ struct bench b = bench_of(HEAD BACKENDS);
	struct whatif_edit edits[100], gone = edit_of(WHATIF_REMOVE, "x");
	struct err err;

	(void)state;
	for (int i = 0; i < 100; i++) {
		char text[32];

		snprintf(text, sizeof(text), "backend-%d:1", i);
		edits[i] = edit_of(WHATIF_ADD, text);
		assert_int_equal(whatif_set_edit(&b.set, &edits[i], NULL), 0);
	}
	assert_int_equal(whatif_set_edit(&b.set, &gone, &err), -ENOENT);
	assert_non_null(strstr(err.text, ", b, c, backend-0, backend-1, "));
	assert_non_null(strstr(err.text, " more"));
	assert_true(strlen(err.text) < 300);
}

static void the_table_is_that_of_the_pool(void **state)
{
	_cleanup_bench_ struct bench b =
		bench_of(HEAD "    table_size: 251\n" BACKENDS);
	_cleanup_whatif_table_ struct whatif_table *t = build(&b, false);
	struct table_params params = { TABLE_MAGLEV, 251, 0, 0 };
	uint16_t slots[251];
	uint64_t digest;

	(void)state;
	assert_int_equal(table_build(&params, b.set.backends, 4, slots, NULL),
			 0);
	assert_memory_equal(t->slots, slots, sizeof(slots));
	assert_int_equal(table_digest_sorted(b.set.backends, 4, slots, 251,
					     &digest),
			 0);
	assert_int_equal(t->digest, digest);
	assert_int_equal(t->method, WHATIF_BUILD);
	assert_int_equal(t->n_serving, 4);
	/* 251 = 3 * 63 + 62 */
	assert_true(t->max_mean == 63 / (251 / 4.0));
	assert_true(t->ideal[0] == 251 / 4.0);
}

static void drained_backends_lend_their_slots(void **state)
{
	_cleanup_bench_ struct bench plain = bench_of(HEAD BACKENDS);
	_cleanup_bench_ struct bench drained = bench_of(
		HEAD "    backends:\n"
		     "    - {address: 10.1.0.1, name: a}\n"
		     "    - {address: 10.1.0.2, name: b, state: drain}\n"
		     "    - {address: 10.1.0.3, name: c}\n"
		     "    - {address: '2001:db8::4'}\n");
	_cleanup_whatif_table_ struct whatif_table *old = build(&plain, false);
	_cleanup_whatif_table_ struct whatif_table *new = build(&drained, false);
	_cleanup_whatif_table_ struct whatif_table *again = build(&drained, true);
	_cleanup_free_ struct table_comparison *c =
		compare(&plain, old, &drained, new);
	_cleanup_free_ struct table_comparison *r =
		compare(&plain, old, &drained, again);

	(void)state;
	assert_int_equal(new->method, WHATIF_OVERLAY);
	assert_int_equal(new->n_serving, 3);
	assert_int_equal(new->counts[2], 0);
	assert_true(new->ideal[2] == 0);
	assert_int_equal(c->moved, old->counts[2]);
	assert_int_equal(c->moved, c->minimum);
	assert_int_equal(again->method, WHATIF_REBUILD);
	assert_true(r->moved > c->moved);
}

static void all_down(const char *policy, enum whatif_method method,
		     size_t serving, uint32_t drained_slots)
{
	char yaml[512];
	struct whatif_edit down[] = { edit_of(WHATIF_DOWN, "a"),
				      edit_of(WHATIF_DOWN, "b") };

	snprintf(yaml, sizeof(yaml),
		 HEAD "    all_down: %s\n    backends:\n"
		      "    - {address: 10.1.0.1, name: a}\n"
		      "    - {address: 10.1.0.2, name: b}\n"
		      "    - {address: 10.1.0.3, name: c, state: drain}\n",
		 policy);
	{
		_cleanup_bench_ struct bench b = bench_of(yaml);
		_cleanup_whatif_table_ struct whatif_table *t = NULL;

		assert_int_equal(whatif_set_edit(&b.set, &down[0], NULL), 0);
		assert_int_equal(whatif_set_edit(&b.set, &down[1], NULL), 0);
		t = build(&b, false);
		assert_int_equal(t->method, method);
		assert_int_equal(t->n_serving, serving);
		assert_int_equal(t->counts[2], drained_slots);
		assert_int_equal(t->counts[0] > 0, serving > 0);
	}
}

static void when_all_are_down_the_policy_decides(void **state)
{
	(void)state;
	all_down("all", WHATIF_OPEN, 2, 0);
	all_down("drop", WHATIF_NONE, 0, 0);
}

static void an_empty_set_has_a_table_that_nobody_serves(void **state)
{
	_cleanup_bench_ struct bench b = bench_of(HEAD "    backends: []\n");
	_cleanup_whatif_table_ struct whatif_table *t = build(&b, false);

	(void)state;
	assert_int_equal(t->method, WHATIF_NONE);
	assert_int_equal(t->slots[0], TABLE_NONE);
	assert_int_equal(t->slots[t->params.size - 1], TABLE_NONE);
	assert_true(t->max_mean == 0);
}

static void the_load_is_measured_against_the_weights(void **state)
{
	static const uint32_t counts[] = { 30, 44, 26, 5 };
	static const struct table_backend set[] = {
		{ "a", 1 }, { "b", 2 }, { "c", 1 }, { "d", 9 },
	};
	static const bool up[] = { true, true, true, false };
	double ideal[4];

	(void)state;
	whatif_ideal(set, up, 4, 100, ideal);
	assert_true(ideal[0] == 25 && ideal[1] == 50 && ideal[3] == 0);
	assert_true(whatif_max_mean(counts, ideal, 4) == 30 / 25.0);
}

static void tables_of_different_sizes_are_compared_by_hash(void **state)
{
	_cleanup_bench_ struct bench small =
		bench_of(HEAD "    table_size: 251\n    backends:\n"
			      "    - {address: 10.1.0.1, name: a}\n");
	_cleanup_bench_ struct bench big = bench_of(
		HEAD "    table_size: 65537\n    backends:\n"
		     "    - {address: 10.1.0.1, name: a}\n");
	_cleanup_whatif_table_ struct whatif_table *s = build(&small, false);
	_cleanup_whatif_table_ struct whatif_table *b = build(&big, false);
	_cleanup_free_ struct table_comparison *grown = NULL, *shrunk = NULL;

	(void)state;
	/* One owner of all: nothing moves, whatever the sizes. */
	grown = compare(&small, s, &big, b);
	assert_int_equal(grown->size, 65537);
	assert_int_equal(grown->moved, 0);

	/* Nobody in the second half of the hashes. */
	for (size_t i = 32769; i < 65537; i++)
		b->slots[i] = TABLE_NONE;
	shrunk = compare(&big, b, &small, s);
	assert_int_equal(shrunk->size, 251);
	assert_int_equal(shrunk->moved, 125);
	assert_int_equal(shrunk->changes[0].gained, 125);
}

static void choices_are_the_usual_ones_and_the_pools_own(void **state)
{
	struct table_params own = { TABLE_MAGLEV, 251, 0, 0 };
	struct table_params out[WHATIF_CHOICES_MAX];

	(void)state;
	assert_int_equal(whatif_choices(&own, out), 5);
	assert_int_equal(out[2].algorithm, TABLE_CAPPED);
	assert_int_equal(out[2].slack_percent, 1);
	assert_int_equal(out[4].algorithm, TABLE_RENDEZVOUS);
	assert_int_equal(out[4].size, 251);

	own = (struct table_params){ TABLE_CAPPED, 251, 1, 0 };
	assert_int_equal(whatif_choices(&own, out), 5);
	own = (struct table_params){ TABLE_RING, 251, 0, 40 };
	assert_int_equal(whatif_choices(&own, out), 5);
	assert_int_equal(out[3].ring_points, 40);
	own = (struct table_params){ TABLE_CAPPED, 251, 5, 0 };
	assert_int_equal(whatif_choices(&own, out), 6);
	assert_true(whatif_params_same(&out[5], &own));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_edit_is_a_backend_and_a_weight),
		cmocka_unit_test(a_bad_edit_is_refused_with_what_is_allowed),
		cmocka_unit_test(edits_change_the_set),
		cmocka_unit_test(an_edit_of_nobody_is_refused_with_who_is_there),
		cmocka_unit_test(a_long_list_of_who_is_there_is_cut),
		cmocka_unit_test(the_table_is_that_of_the_pool),
		cmocka_unit_test(drained_backends_lend_their_slots),
		cmocka_unit_test(when_all_are_down_the_policy_decides),
		cmocka_unit_test(an_empty_set_has_a_table_that_nobody_serves),
		cmocka_unit_test(the_load_is_measured_against_the_weights),
		cmocka_unit_test(tables_of_different_sizes_are_compared_by_hash),
		cmocka_unit_test(choices_are_the_usual_ones_and_the_pools_own),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
