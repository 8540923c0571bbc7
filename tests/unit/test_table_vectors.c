// SPDX-License-Identifier: GPL-2.0-only
/* The builders against the golden tables, slot for slot. */
#include "table_vectors.h"

#include <string.h>

#include "core/cleanup.h"
#include "core/fnv.h"
#include "core/table.h"
#include "core/table_impl.h"
#include "sha256.h"

struct named_set {
	size_t n;
	struct table_backend *backends;
	char (*names)[32];
};

static void named_set_free(struct named_set *set)
{
	free(set->backends);
	free(set->names);
}

/* "10.0.0.{i}:443", not in the order of names. */
static struct named_set named_set_new(size_t n)
{
	struct named_set set = {
		.n = n,
		.backends = calloc(n, sizeof(*set.backends)),
		.names = calloc(n, sizeof(*set.names)),
	};

	assert_non_null(set.backends);
	assert_non_null(set.names);
	for (size_t i = 0; i < n; i++) {
		snprintf(set.names[i], sizeof(set.names[i]), "10.0.0.%zu:443", i);
		set.backends[i] = (struct table_backend){ set.names[i], 1 };
	}
	return set;
}

static void set_weights(struct named_set *set, const char *rule)
{
	size_t middle = set->n / 2;

	for (size_t i = 0; i < set->n; i++) {
		uint32_t *weight = &set->backends[i].weight;

		if (!strcmp(rule, "equal"))
			*weight = 1;
		else if (!strcmp(rule, "w=1+i%10"))
			*weight = 1 + i % 10;
		else if (!strcmp(rule, "w[i]=1+(i&1)"))
			*weight = 1 + (i & 1);
		else if (!strcmp(rule, "w[n/2]=100 rest 1"))
			*weight = i == middle ? 100 : 1;
		else if (!strcmp(rule, "w[n/2]=10000 rest 1"))
			*weight = i == middle ? 10000 : 1;
		else
			fail_msg("unknown weights '%s'", rule);
	}
}

static void assert_slots(const char *what, json_t *row, const uint16_t *slots,
			 uint32_t size)
{
	json_t *first = vectors_get(row, "first32"), *value;
	size_t i;

	json_array_foreach(first, i, value)
		if (slots[i] != json_integer_value(value))
			fail_msg("%s: slot %zu is %u, not %lld", what, i,
				 slots[i], json_integer_value(value));
	if (table_digest(slots, size) != vectors_hex(row, "fnv1a64"))
		fail_msg("%s: digest is %016llx", what,
			 (unsigned long long)table_digest(slots, size));
}

/* The rows of equal weights have a second digest, of the same dump. */
static void assert_sha256(const char *what, json_t *row, const uint16_t *slots,
			  uint32_t size)
{
	_cleanup_free_ uint8_t *dump = calloc(size, 4);
	char hex[65];

	assert_non_null(dump);
	for (uint32_t i = 0; i < size; i++) {
		dump[4 * i] = slots[i] & 0xff;
		dump[4 * i + 1] = slots[i] >> 8;
	}
	sha256_hex(dump, 4 * (size_t)size, hex);
	if (strcmp(hex, json_string_value(vectors_get(row, "sha256"))))
		fail_msg("%s: sha256 is %s", what, hex);
}

static void build_and_compare(const char *what, json_t *row,
			      enum table_algorithm algorithm,
			      const char *weights)
{
	struct table_params params = {
		.algorithm = algorithm,
		.size = vectors_number(row, "M"),
	};
	struct named_set set = named_set_new(vectors_number(row, "N"));
	_cleanup_free_ uint16_t *slots = calloc(params.size, sizeof(*slots));
	struct err err;

	set_weights(&set, weights);
	assert_non_null(slots);
	assert_int_equal(table_build_in_order(&params, set.backends, set.n,
					      slots, &err), 0);
	assert_slots(what, row, slots, params.size);
	if (json_object_get(row, "sha256"))
		assert_sha256(what, row, slots, params.size);
	named_set_free(&set);
}

/* Offsets and skips are given, so this tests the filling alone. */
static void m7_example_fills_as_in_the_paper(void **state)
{
	json_t *root = vectors_load(), *row, *table;
	const char *letters;
	static const struct table_member members[] = {
		{ "A", 1, 0 }, { "B", 1, 1 }, { "C", 1, 2 },
	};
	struct table_walk walks[3];
	uint16_t slots[7];

	(void)state;
	row = vectors_get(vectors_get(root, "tables"), "m7_example");
	for (size_t i = 0; i < 3; i++) {
		json_t *offset = vectors_get(row, "offset");
		json_t *skip = vectors_get(row, "skip");

		walks[i].next = json_integer_value(json_array_get(offset, i));
		walks[i].skip = json_integer_value(json_array_get(skip, i));
	}
	assert_int_equal(vectors_number(row, "M"), 7);
	assert_int_equal(maglev_fill(walks, members, 3, 7, slots), 0);
	assert_slots("m7_example", row, slots, 7);
	assert_sha256("m7_example", row, slots, 7);

	table = vectors_get(row, "table");
	letters = json_string_value(vectors_get(row, "letters"));
	assert_int_equal(json_array_size(table), 7);
	assert_int_equal(strlen(letters), 13);
	for (size_t i = 0; i < 7; i++) {
		assert_int_equal(slots[i],
				 json_integer_value(json_array_get(table, i)));
		assert_int_equal(members[slots[i]].name[0], letters[2 * i]);
	}
	json_decref(root);
}

static void maglev_tables_are_the_golden_ones(void **state)
{
	json_t *root = vectors_load(), *row;
	const char *name;
	int rows = 0;

	(void)state;
	json_object_foreach(vectors_get(root, "tables"), name, row) {
		if (!strcmp(name, "m7_example"))
			continue;
		build_and_compare(name, row, TABLE_MAGLEV, "equal");
		rows++;
	}
	assert_int_equal(rows, 8);
	json_decref(root);
}

static void weighted_tables_are_the_golden_ones(void **state)
{
	json_t *root = vectors_load(), *row;
	size_t i;

	(void)state;
	assert_int_equal(json_array_size(vectors_get(root, "weighted")), 15);
	json_array_foreach(vectors_get(root, "weighted"), i, row) {
		const char *weights =
			json_string_value(vectors_get(row, "weights"));

		build_and_compare(weights, row, TABLE_MAGLEV, weights);
	}
	json_decref(root);
}

static void capped_tables_are_the_golden_ones(void **state)
{
	json_t *root = vectors_load(), *row;
	size_t i;

	(void)state;
	assert_int_equal(json_array_size(vectors_get(root, "capped")), 2);
	json_array_foreach(vectors_get(root, "capped"), i, row) {
		assert_string_equal(
			json_string_value(vectors_get(row, "quota")),
			"quota floor(m/n)+(i<m%n)");
		build_and_compare("capped", row, TABLE_CAPPED, "equal");
	}
	json_decref(root);
}

static void names_walk_the_golden_way(void **state)
{
	json_t *root = vectors_load(), *row;
	size_t i;

	(void)state;
	assert_int_equal(json_array_size(vectors_get(root, "names")), 3);
	json_array_foreach(vectors_get(root, "names"), i, row) {
		const char *name = json_string_value(vectors_get(row, "name"));
		struct table_walk walk = table_walk_of(name, 65537);

		assert_int_equal(table_name_hash1(name),
				 vectors_hex(row, "h1"));
		assert_int_equal(table_name_hash2(name),
				 vectors_hex(row, "h2"));
		assert_int_equal(walk.next, vectors_number(row, "offset65537"));
		assert_int_equal(walk.skip, vectors_number(row, "skip65537"));
	}
	json_decref(root);
}

static void ring_hashes_are_the_golden_ones(void **state)
{
	json_t *root = vectors_load(), *row;
	size_t i;

	(void)state;
	assert_int_equal(json_array_size(vectors_get(root, "ring_hash")), 6);
	json_array_foreach(vectors_get(root, "ring_hash"), i, row) {
		const char *input = json_string_value(vectors_get(row, "input"));
		uint64_t hash = fnv64_text(FNV64_OFFSET, input);

		assert_int_equal(hash, vectors_hex(row, "fnv1a64"));
		assert_int_equal(mix64(hash), vectors_hex(row, "finalized"));
	}
	json_decref(root);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(m7_example_fills_as_in_the_paper),
		cmocka_unit_test(maglev_tables_are_the_golden_ones),
		cmocka_unit_test(weighted_tables_are_the_golden_ones),
		cmocka_unit_test(capped_tables_are_the_golden_ones),
		cmocka_unit_test(names_walk_the_golden_way),
		cmocka_unit_test(ring_hashes_are_the_golden_ones),
	};

	return cmocka_run_group_tests_name("table vectors", tests, NULL, NULL);
}
