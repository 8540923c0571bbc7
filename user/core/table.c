// SPDX-License-Identifier: GPL-2.0-only
#include "table.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "abi.h"
#include "cleanup.h"
#include "fnv.h"
#include "plural.h"
#include "table_impl.h"

/* The sum of all weights fits 32 bits, so it cannot overflow anywhere. */
_Static_assert((uint64_t)TABLE_BACKENDS_MAX * TABLE_WEIGHT_MAX <= UINT32_MAX,
	       "sum of weights");
_Static_assert(TABLE_BACKENDS_MAX <= TABLE_NONE, "indices of backends");

static const struct {
	const char *name;
	table_builder *build;
	table_builder *build_second; /* NULL: no way but a table for each */
} algorithms[] = {
	[TABLE_MAGLEV] = { "maglev", maglev_build, NULL },
	[TABLE_CAPPED] = { "capped", capped_build, NULL },
	[TABLE_RING] = { "ring", ring_build, ring_build_second },
	[TABLE_RENDEZVOUS] = { "rendezvous", rendezvous_build,
			       rendezvous_build_second },
};
_Static_assert(sizeof(algorithms) / sizeof(algorithms[0]) == TABLE__MAX,
	       "one row for each algorithm");

const char *table_algorithm_name(enum table_algorithm algorithm)
{
	return algorithm < TABLE__MAX ? algorithms[algorithm].name : "unknown";
}

int table_algorithm_parse(const char *text, enum table_algorithm *out,
			  struct err *err)
{
	for (enum table_algorithm a = 0; a < TABLE__MAX; a++) {
		if (!strcmp(text, algorithms[a].name)) {
			*out = a;
			return 0;
		}
	}
	return err_set(err, -EINVAL, "table algorithm '%s' is not known; allowed "
		       "are maglev, capped, ring and rendezvous", text);
}

static int check_size(uint32_t size, struct err *err)
{
	uint32_t below, above;

	if (size < TABLE_SIZE_MIN || size > TABLE_SIZE_MAX)
		return err_set(err, -EINVAL, "table size %u is out of range; "
			       "allowed are primes from %u to %u", size,
			       TABLE_SIZE_MIN, TABLE_SIZE_MAX);
	if (is_prime(size))
		return 0;

	/* Both ends of the range are prime, so there is one on each side. */
	primes_near(size, &below, &above);
	return err_set(err, -EINVAL, "table size %u is not a prime; the nearest "
		       "primes are %u and %u", size, below, above);
}

static int check_params(const struct table_params *params, struct err *err)
{
	if (params->algorithm >= TABLE__MAX)
		return err_set(err, -EINVAL, "table algorithm number %u is not "
			       "known; allowed are 0 to %u",
			       (unsigned int)params->algorithm, TABLE__MAX - 1);
	if (params->slack_percent > TABLE_SLACK_MAX)
		return err_set(err, -EINVAL, "slack of %u %% is out of range; "
			       "allowed are 0 to %u %%", params->slack_percent,
			       TABLE_SLACK_MAX);
	if (params->ring_points > TABLE_RING_POINTS_MAX)
		return err_set(err, -EINVAL, "%u ring points a unit of weight are "
			       "out of range; allowed are 1 to %u",
			       params->ring_points, TABLE_RING_POINTS_MAX);
	return check_size(params->size, err);
}

static int check_set(const struct table_params *params,
		     const struct table_backend *set, size_t n, struct err *err)
{
	if (n > TABLE_BACKENDS_MAX)
		return err_set(err, -E2BIG, "%zu backends are too many; a table "
			       "holds at most %u", n, TABLE_BACKENDS_MAX);
	if (n >= params->size)
		return err_set(err, -E2BIG, "%zu backends do not fit a table of %u "
			       "slots; the size must be greater than the number "
			       "of backends", n, params->size);

	for (size_t i = 0; i < n; i++) {
		if (!set[i].name || !*set[i].name)
			return err_set(err, -EINVAL, "backend %zu of %zu has no "
				       "name", i + 1, n);
		if (set[i].weight > TABLE_WEIGHT_MAX)
			return err_set(err, -EINVAL, "backend '%s': weight %u is "
				       "out of range; allowed are 0 to %u",
				       set[i].name, set[i].weight,
				       TABLE_WEIGHT_MAX);
	}
	return 0;
}

static int sort_set(const struct table_backend *set, size_t n, uint16_t *order,
		    struct err *err)
{
	size_t duplicate;

	if (table_sort(set, n, order, &duplicate))
		return err_set(err, -ENOMEM, "no memory to sort %zu backend%s", n,
			       plural(n));
	if (duplicate)
		return err_set(err, -EINVAL, "backend '%s' is in the set twice; "
			       "names must be unique",
			       set[order[duplicate]].name);
	return 0;
}

/* Tables that would take too long, whatever is up of the set. */
static int check_work(const struct table_params *params,
		      const struct table_backend *set, size_t n, struct err *err)
{
	uint64_t weights = 0;
	size_t weighted = 0;

	for (size_t i = 0; i < n; i++) {
		weights += set[i].weight;
		weighted += set[i].weight > 0;
	}
	switch (params->algorithm) {
	case TABLE_RING:
		return ring_check(params, weights, err);
	case TABLE_RENDEZVOUS:
		return rendezvous_check(params, weighted, err);
	default:
		return 0;
	}
}

int table_check(const struct table_params *params,
		const struct table_backend *set, size_t n, struct err *err)
{
	_cleanup_free_ uint16_t *order = NULL;
	int ret;

	ret = check_params(params, err);
	if (!ret)
		ret = check_set(params, set, n, err);
	if (!ret)
		ret = check_work(params, set, n, err);
	if (ret)
		return ret;
	if (!n)
		return err_set(err, -ENODATA, "the set of backends is empty; a "
			       "table needs at least one");

	order = malloc(n * sizeof(*order));
	if (!order)
		return err_set(err, -ENOMEM, "no memory to sort %zu backend%s", n,
			       plural(n));
	return sort_set(set, n, order, err);
}

/* Only backends that can own a slot matter from here on. */
static size_t fill_members(const struct table_backend *set, size_t n,
			   const uint16_t *order, struct table_member *members)
{
	size_t count = 0;

	for (size_t i = 0; i < n; i++) {
		uint16_t at = order ? order[i] : (uint16_t)i;

		if (!set[at].weight)
			continue;
		members[count++] = (struct table_member){
			.name = set[at].name,
			.weight = set[at].weight,
			.owner = at,
		};
	}
	return count;
}

static int build(table_builder *builder, const struct table_params *params,
		 const struct table_backend *set, size_t n,
		 const uint16_t *order, uint16_t *slots, struct err *err)
{
	_cleanup_free_ struct table_member *members = NULL;
	size_t count;

	members = malloc((n + 1) * sizeof(*members));
	if (!members)
		return err_set(err, -ENOMEM, "no memory for %zu backend%s", n, plural(n));

	count = fill_members(set, n, order, members);
	if (count)
		return builder(params, members, count, slots, err);
	for (uint32_t slot = 0; slot < params->size; slot++)
		slots[slot] = TABLE_NONE;
	return 0;
}

static int check(const struct table_params *params,
		 const struct table_backend *set, size_t n, struct err *err)
{
	int ret = check_params(params, err);

	return ret ? ret : check_set(params, set, n, err);
}

static int build_sorted(table_builder *builder, const struct table_params *params,
			const struct table_backend *set, size_t n, uint16_t *slots,
			struct err *err)
{
	_cleanup_free_ uint16_t *order = NULL;
	int ret;

	order = malloc((n + 1) * sizeof(*order));
	if (!order)
		return err_set(err, -ENOMEM, "no memory to sort %zu backend%s", n,
			       plural(n));
	ret = sort_set(set, n, order, err);
	if (ret)
		return ret;
	return build(builder, params, set, n, order, slots, err);
}

int table_build(const struct table_params *params,
		const struct table_backend *set, size_t n, uint16_t *slots,
		struct err *err)
{
	int ret = check(params, set, n, err);

	if (ret)
		return ret;
	return build_sorted(algorithms[params->algorithm].build, params, set, n,
			    slots, err);
}

int table_build_second(const struct table_params *params,
		       const struct table_backend *set, size_t n, uint16_t *slots,
		       struct err *err)
{
	int ret = check(params, set, n, err);

	if (ret)
		return ret;
	if (!algorithms[params->algorithm].build_second)
		return err_set(err, -EOPNOTSUPP, "%s has no second owners of slots",
			       algorithms[params->algorithm].name);
	return build_sorted(algorithms[params->algorithm].build_second, params, set,
			    n, slots, err);
}

int table_build_up(const struct table_params *params,
		   const struct table_backend *set, size_t n, const bool *up,
		   uint16_t *slots, struct err *err)
{
	_cleanup_free_ struct table_backend *usable = NULL;

	usable = malloc((n + 1) * sizeof(*usable));
	if (!usable)
		return err_set(err, -ENOMEM, "no memory for %zu backend%s", n, plural(n));
	for (size_t i = 0; i < n; i++) {
		usable[i] = set[i];
		if (!up[i])
			usable[i].weight = 0;
	}
	return table_build(params, usable, n, slots, err);
}

int table_build_in_order(const struct table_params *params,
			 const struct table_backend *set, size_t n,
			 uint16_t *slots, struct err *err)
{
	return build(algorithms[params->algorithm].build, params, set, n, NULL,
		     slots, err);
}

/*
 * The upper half of each word is zero, and a zero byte only multiplies: the
 * last three bytes' multiplications are one by the cube of the prime.
 */
static uint64_t digest_slot(uint64_t hash, uint16_t owner)
{
	const uint64_t cube = FNV64_PRIME * FNV64_PRIME * FNV64_PRIME;

	hash = fnv64_byte(hash, (uint8_t)owner);
	return (hash ^ (owner >> 8)) * cube;
}

uint64_t table_digest(const uint16_t *slots, size_t n)
{
	uint64_t hash = FNV64_OFFSET;

	for (size_t slot = 0; slot < n; slot++)
		hash = digest_slot(hash, slots[slot]);
	return hash;
}

int table_digest_sorted(const struct table_backend *set, size_t n,
			const uint16_t *slots, size_t size, uint64_t *digest)
{
	_cleanup_free_ uint16_t *order = malloc((n + 1) * sizeof(*order));
	_cleanup_free_ uint16_t *place = malloc((n + 1) * sizeof(*place));
	uint64_t hash = FNV64_OFFSET;
	size_t duplicate;

	if (!order || !place || table_sort(set, n, order, &duplicate))
		return -ENOMEM;

	for (size_t i = 0; i < n; i++)
		place[order[i]] = (uint16_t)i;
	for (size_t slot = 0; slot < size; slot++)
		hash = digest_slot(hash, slots[slot] < n ? place[slots[slot]] :
							   TABLE_NONE);
	*digest = hash;
	return 0;
}

uint32_t table_count_slots(const uint16_t *slots, size_t size, size_t n,
			   uint32_t *counts)
{
	uint32_t none = 0;

	for (size_t i = 0; i < n; i++)
		counts[i] = 0;
	for (size_t slot = 0; slot < size; slot++) {
		if (slots[slot] < n)
			counts[slots[slot]]++;
		else
			none++;
	}
	return none;
}
