/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef FAIRLEAD_TESTS_CFG_TESTING_H
#define FAIRLEAD_TESTS_CFG_TESTING_H

/* What the tests of the configuration share. */

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/cfg.h"
#include "core/cleanup.h"

#define ARRAY_SIZE(a) (sizeof(a) / sizeof(*(a)))

/* The configuration, or the test fails with the sentence. */
static inline struct cfg *must_parse(const char *yaml)
{
	struct cfg *cfg = NULL;
	struct err err = { 0 };

	if (cfg_parse_yaml(yaml, strlen(yaml), "t.yaml", &cfg, &err))
		fail_msg("%s", err.text);
	return cfg;
}

/* What is refused, and how. */
struct row {
	const char *yaml;
	const char *sentence; /* whole; "t.yaml:" goes in front */
};

static inline void check_rows(const struct row *rows, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		struct cfg *cfg = NULL;
		struct err err = { 0 };
		char expected[sizeof(err.text)];
		int rc = cfg_parse_yaml(rows[i].yaml, strlen(rows[i].yaml), "t.yaml", &cfg,
					&err);

		if (!rc)
			fail_msg("accepted:\n%s", rows[i].yaml);
		assert_int_equal(rc, -EINVAL);
		assert_int_equal(err.code, -EINVAL);
		assert_null(cfg);
		snprintf(expected, sizeof(expected), "t.yaml:%s", rows[i].sentence);
		assert_string_equal(err.text, expected);
	}
}

static inline char *must_dump(const struct cfg *cfg)
{
	struct err err = { 0 };
	char *yaml = NULL;

	if (cfg_to_yaml(cfg, &yaml, &err))
		fail_msg("%s", err.text);
	return yaml;
}

static inline void assert_same_health(const struct cfg_pool *a, const struct cfg_pool *b)
{
	assert_int_equal(check_compare(&a->check, &b->check), 0);
	assert_int_equal(a->check.vips, b->check.vips);
	assert_int_equal(a->check.rise, b->check.rise);
	assert_int_equal(a->check.fall, b->check.fall);
	assert_int_equal(a->initial_up, b->initial_up);
	assert_int_equal(a->initial_timeout, b->initial_timeout);
	assert_int_equal(a->slow_start, b->slow_start);
	assert_int_equal(a->damping_suppress, b->damping_suppress);
	assert_int_equal(a->damping_reuse, b->damping_reuse);
	assert_int_equal(a->damping_half_life, b->damping_half_life);
	assert_int_equal(a->panic_threshold, b->panic_threshold);
	assert_int_equal(a->quorum, b->quorum);
	assert_int_equal(a->quorum_hysteresis, b->quorum_hysteresis);
	assert_int_equal(a->drain_timeout, b->drain_timeout);
}

static inline void assert_same_pool(const struct cfg_pool *a,
				    const struct cfg_pool *b)
{
	assert_string_equal(a->name, b->name);
	assert_int_equal(a->private, b->private);
	assert_int_equal(a->encap, b->encap);
	assert_int_equal(a->gue_port, b->gue_port);
	assert_int_equal(a->table_size, b->table_size);
	assert_int_equal(a->algorithm, b->algorithm);
	assert_int_equal(a->slack, b->slack);
	assert_int_equal(a->ring_points, b->ring_points);
	assert_int_equal(a->all_down, b->all_down);
	assert_same_health(a, b);
	assert_int_equal(a->n_backends, b->n_backends);
	for (size_t i = 0; i < a->n_backends; i++) {
		assert_string_equal(a->backends[i].name, b->backends[i].name);
		assert_int_equal(addr_compare(&a->backends[i].addr,
					      &b->backends[i].addr),
				 0);
		assert_int_equal(a->backends[i].weight, b->backends[i].weight);
		assert_int_equal(a->backends[i].state, b->backends[i].state);
		assert_int_equal(a->backends[i].server_id_length,
				 b->backends[i].server_id_length);
		assert_memory_equal(a->backends[i].server_id, b->backends[i].server_id,
				    QUIC_SERVER_ID_MAX);
	}
}

static inline void assert_same_prefixes(const struct prefix_list *a,
					const struct prefix_list *b)
{
	assert_int_equal(a->n, b->n);
	for (size_t i = 0; i < a->n; i++)
		assert_int_equal(prefix_compare(&a->list[i], &b->list[i]), 0);
}

static inline void assert_same_vip(const struct cfg_vip *a, const struct cfg_vip *b)
{
	assert_int_equal(vip_spec_compare(&a->spec, &b->spec), 0);
	assert_string_equal(a->pool, b->pool);
	assert_int_equal(a->hash_mode, b->hash_mode);
	assert_int_equal(a->echo, b->echo);
	assert_int_equal(a->tcp_junk, b->tcp_junk);
	assert_int_equal(a->fragment_hash, b->fragment_hash);
	assert_int_equal(a->oversize, b->oversize);
	assert_int_equal(a->keep_down, b->keep_down);
	assert_int_equal(a->tcp_idle_timeout, b->tcp_idle_timeout);
	assert_int_equal(a->udp_idle_timeout, b->udp_idle_timeout);
	assert_int_equal(a->new_flow_limit, b->new_flow_limit);
	assert_int_equal(a->quic_config_id, b->quic_config_id);
	assert_int_equal(a->quic_server_id_length, b->quic_server_id_length);
	assert_same_prefixes(&a->allow, &b->allow);
	assert_same_prefixes(&a->deny, &b->deny);
}

/* Equal but for where things stand in which file. */
static inline void assert_same_cfg(const struct cfg *a, const struct cfg *b)
{
	assert_string_equal(a->interface, b->interface);
	assert_int_equal(a->attach, b->attach);
	assert_int_equal(a->dispatcher, b->dispatcher);
	assert_int_equal(a->has_hash_key, b->has_hash_key);
	assert_memory_equal(a->hash_key, b->hash_key, sizeof(a->hash_key));
	assert_int_equal(a->flows, b->flows);
	assert_int_equal(a->icmp_rate, b->icmp_rate);
	assert_int_equal(a->publish_interval, b->publish_interval);
	assert_int_equal(a->check_exec, b->check_exec);
	assert_string_equal(a->check_user, b->check_user);
	assert_true(tunnel_source_equal(&a->tunnel_source4, &b->tunnel_source4));
	assert_true(tunnel_source_equal(&a->tunnel_source6, &b->tunnel_source6));
	assert_int_equal(a->n_pools, b->n_pools);
	for (size_t i = 0; i < a->n_pools; i++)
		assert_same_pool(&a->pools[i], &b->pools[i]);
	assert_int_equal(a->n_vips, b->n_vips);
	for (size_t i = 0; i < a->n_vips; i++)
		assert_same_vip(&a->vips[i], &b->vips[i]);
}

#endif
