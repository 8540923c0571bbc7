// SPDX-License-Identifier: GPL-2.0-only
/* As much as the data plane has ids for, and one more. */
#include "cfg_testing.h"

#include <errno.h>

#include "abi.h"

/* n VIPs that are all different, in no order, each with one backend. */
static char *many_vips(int n, bool backends)
{
	size_t size;
	char *yaml;
	FILE *f = open_memstream(&yaml, &size);

	fprintf(f, "interface: eth0\nvips:\n");
	for (int i = 0; i < n; i++) {
		int j = (int)((int64_t)i * 7919 % n);

		fprintf(f, "- address: 100.64.%d.%d:%d/tcp\n", j >> 8 & 255,
			j & 255, 1 + (j >> 16));
		if (backends)
			fprintf(f, "  backends: [{address: 10.0.%d.%d}]\n",
				i >> 8 & 255, i & 255);
	}
	fclose(f);
	return yaml;
}

static void as_many_vips_as_there_are_ids_are_accepted(void **state)
{
	_cleanup_free_ char *yaml = many_vips(MAX_VIPS, true);
	_cleanup_cfg_ struct cfg *cfg = must_parse(yaml);

	(void)state;
	assert_int_equal(cfg->n_vips, MAX_VIPS);
	assert_int_equal(cfg->n_pools, MAX_VIPS);
	for (size_t i = 1; i < cfg->n_vips; i++)
		assert_true(vip_spec_compare(&cfg->vips[i - 1].spec,
					     &cfg->vips[i].spec) < 0);
}

static void one_vip_more_is_refused_where_it_stands(void **state)
{
	_cleanup_free_ char *yaml = many_vips(MAX_VIPS + 1, false);
	struct cfg *cfg = NULL;
	struct err err;

	(void)state;
	assert_int_equal(cfg_parse_yaml(yaml, strlen(yaml), "f", &cfg, &err),
			 -EINVAL);
	assert_non_null(strstr(err.text, "f:65538:3: vip '"));
	assert_non_null(
		strstr(err.text, "too many vips; allowed: at most 65535"));
}

static void one_pool_more_than_there_are_tables_is_refused(void **state)
{
	_cleanup_free_ char *yaml = NULL;
	struct cfg *cfg = NULL;
	struct err err;
	size_t size;
	FILE *f = open_memstream(&yaml, &size);

	(void)state;
	fprintf(f, "interface: eth0\npools:\n");
	for (int i = 0; i <= MAX_TABLES; i++)
		fprintf(f, "  p%d: {}\n", i);
	fclose(f);
	assert_int_equal(cfg_parse_yaml(yaml, size, "f", &cfg, &err), -EINVAL);
	assert_string_equal(err.text,
			    "f:65538:3: pool 'p65535': too many pools; "
			    "allowed: at most 65535, those that vips "
			    "have to themselves included");
}

/* Pools of n backends each; backend j of pool i is 10.(i * step).j. */
static char *many_backends(int pools, int n, int step)
{
	size_t size;
	char *yaml;
	FILE *f = open_memstream(&yaml, &size);

	fprintf(f, "interface: eth0\npools:\n");
	for (int i = 0; i < pools; i++) {
		fprintf(f, "  p%d:\n    table_size: 655373\n    backends:\n", i);
		for (int j = 0; j < n; j++)
			fprintf(f, "    - address: 10.%d.%d.%d\n",
				i * step + (j >> 16), j >> 8 & 255, j & 255);
	}
	fclose(f);
	return yaml;
}

static void the_limit_of_backends_counts_different_ones(void **state)
{
	_cleanup_free_ char *same = many_backends(3, 30000, 0);
	_cleanup_free_ char *different = many_backends(3, 30000, 1);
	_cleanup_cfg_ struct cfg *cfg = must_parse(same);
	struct err err;

	(void)state;
	assert_int_equal(cfg_parse_yaml(different, strlen(different), "f", &cfg,
					&err),
			 -EINVAL);
	assert_string_equal(err.text, "f:1:1: the pools have 90000 different "
				      "backends; allowed: at most 65535");
}

static void a_pool_takes_65535_backends_and_no_more(void **state)
{
	_cleanup_free_ char *most = many_backends(1, 65535, 0);
	_cleanup_free_ char *more = many_backends(1, 65536, 0);
	_cleanup_cfg_ struct cfg *cfg = must_parse(most);
	struct cfg *none = NULL;
	struct err err;

	(void)state;
	assert_int_equal(cfg->pools[0].n_backends, 65535);
	assert_int_equal(cfg_parse_yaml(more, strlen(more), "f", &none, &err),
			 -EINVAL);
	assert_non_null(
		strstr(err.text, "f:65541:7: pool 'p0': too many backends"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(as_many_vips_as_there_are_ids_are_accepted),
		cmocka_unit_test(one_vip_more_is_refused_where_it_stands),
		cmocka_unit_test(one_pool_more_than_there_are_tables_is_refused),
		cmocka_unit_test(the_limit_of_backends_counts_different_ones),
		cmocka_unit_test(a_pool_takes_65535_backends_and_no_more),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
