// SPDX-License-Identifier: GPL-2.0-only
/* Fields of pools, VIPs and backends. */
#include "cfg_fields.h"

#include <errno.h>
#include <jansson.h>
#include <string.h>

#include "abi.h"
#include "cfg_fields_health.h"
#include "cfg_fields_vip.h"
#include "num.h"
#include "quote.h"
#include "table.h"

static const char *const encap_names[] = {
	[ENCAP_IPIP] = "ipip",
	[ENCAP_GUE] = "gue",
	[ENCAP_GUE1] = "gue1",
	[ENCAP_GRE] = "gre",
	[ENCAP_L2] = "l2",
};
_Static_assert(sizeof(encap_names) / sizeof(*encap_names) == ENCAP__MAX,
	       "every encap has a name");

static const char *const admin_state_names[] = {
	[ADMIN_UP] = "up",
	[ADMIN_DRAIN] = "drain",
	[ADMIN_DOWN] = "down",
};
_Static_assert(sizeof(admin_state_names) / sizeof(*admin_state_names) ==
		       ADMIN__MAX,
	       "every admin state has a name");

static const char *const all_down_names[] = {
	[ALL_DOWN_ALL] = "all",
	[ALL_DOWN_DROP] = "drop",
};
_Static_assert(sizeof(all_down_names) / sizeof(*all_down_names) ==
		       ALL_DOWN__MAX,
	       "every all_down policy has a name");

const char *encap_name(unsigned int encap)
{
	return encap < ENCAP__MAX ? encap_names[encap] : "unknown";
}

bool encap_has_port(unsigned int encap)
{
	return encap == ENCAP_GUE || encap == ENCAP_GUE1;
}

const char *admin_state_name(enum admin_state state)
{
	return state < ADMIN__MAX ? admin_state_names[state] : "unknown";
}

const char *all_down_name(enum all_down policy)
{
	return policy < ALL_DOWN__MAX ? all_down_names[policy] : "unknown";
}

/* Pools. */

static int set_encap(void *object, const char *text, struct err *err)
{
	struct cfg_pool *pool = object;
	int encap = cfg_parse_word(text, "encap", encap_names, ENCAP__MAX, err);

	if (encap < 0)
		return encap;

	pool->encap = encap;
	return 0;
}

static json_t *get_encap(const void *object)
{
	const struct cfg_pool *pool = object;

	if (pool->encap == ENCAP_IPIP)
		return json_null();
	return json_string(encap_name(pool->encap));
}

static int set_gue_port(void *object, const char *text, struct err *err)
{
	struct cfg_pool *pool = object;

	return parse_u16(text, "gue_port", 1, UINT16_MAX, &pool->gue_port, err);
}

static json_t *get_gue_port(const void *object)
{
	const struct cfg_pool *pool = object;

	if (pool->gue_port == GUE_PORT_DEFAULT)
		return json_null();
	return json_integer(pool->gue_port);
}

int cfg_table_size_check(uint32_t size, struct err *err)
{
	uint32_t below, above;

	if (size < TABLE_SIZE_MIN || size > TABLE_SIZE_MAX)
		return err_set(
			err, -EINVAL,
			"table_size %u is out of range; allowed: a prime "
			"from %u to %u",
			size, TABLE_SIZE_MIN, TABLE_SIZE_MAX);
	if (is_prime(size))
		return 0;

	/* Both limits are primes, so there is one on either side. */
	primes_near(size, &below, &above);
	return err_set(
		err, -EINVAL,
		"table_size %u is not a prime; the nearest primes are %u "
		"and %u",
		size, below, above);
}

static int set_table_size(void *object, const char *text, struct err *err)
{
	struct cfg_pool *pool = object;
	uint32_t size;
	int rc = parse_u32(text, "table_size", TABLE_SIZE_MIN, TABLE_SIZE_MAX,
			   &size, err);

	if (!rc)
		rc = cfg_table_size_check(size, err);
	if (rc < 0)
		return rc;

	pool->table_size = size;
	return 0;
}

static json_t *get_table_size(const void *object)
{
	const struct cfg_pool *pool = object;

	if (pool->table_size == TABLE_SIZE_DEFAULT)
		return json_null();
	return json_integer(pool->table_size);
}

static int set_algorithm(void *object, const char *text, struct err *err)
{
	struct cfg_pool *pool = object;
	enum table_algorithm algorithm;
	int rc = table_algorithm_parse(text, &algorithm, err);

	if (rc < 0)
		return rc;

	pool->algorithm = algorithm;
	return 0;
}

static json_t *get_algorithm(const void *object)
{
	const struct cfg_pool *pool = object;

	if (pool->algorithm == TABLE_MAGLEV)
		return json_null();
	return json_string(table_algorithm_name(pool->algorithm));
}

static int set_slack(void *object, const char *text, struct err *err)
{
	struct cfg_pool *pool = object;
	uint16_t slack;
	int rc = parse_u16(text, "slack", 0, TABLE_SLACK_MAX, &slack, err);

	if (rc < 0)
		return rc;

	pool->slack = slack;
	return 0;
}

static json_t *get_slack(const void *object)
{
	const struct cfg_pool *pool = object;

	return pool->slack ? json_integer(pool->slack) : json_null();
}

static int set_ring_points(void *object, const char *text, struct err *err)
{
	struct cfg_pool *pool = object;

	return parse_u16(text, "ring_points", 1, TABLE_RING_POINTS_MAX,
			 &pool->ring_points, err);
}

static json_t *get_ring_points(const void *object)
{
	const struct cfg_pool *pool = object;

	if (pool->ring_points == TABLE_RING_POINTS_DEFAULT)
		return json_null();
	return json_integer(pool->ring_points);
}

static int set_all_down(void *object, const char *text, struct err *err)
{
	struct cfg_pool *pool = object;
	int policy = cfg_parse_word(text, "all_down", all_down_names, ALL_DOWN__MAX,
				err);

	if (policy < 0)
		return policy;

	pool->all_down = policy;
	return 0;
}

static json_t *get_all_down(const void *object)
{
	const struct cfg_pool *pool = object;

	if (pool->all_down == ALL_DOWN_ALL)
		return json_null();
	return json_string(all_down_name(pool->all_down));
}

const struct cfg_field cfg_pool_fields[] = {
	{ .key = "encap", .set = set_encap, .get = get_encap },
	{ .key = "gue_port", .set = set_gue_port, .get = get_gue_port },
	{ .key = "algorithm", .set = set_algorithm, .get = get_algorithm },
	{ .key = "table_size", .set = set_table_size, .get = get_table_size },
	{ .key = "slack", .set = set_slack, .get = get_slack },
	{ .key = "ring_points", .set = set_ring_points, .get = get_ring_points },
	{ .key = "all_down", .set = set_all_down, .get = get_all_down },
	CFG_HEALTH_FIELDS
	{ .key = NULL },
};

/* VIPs. */

static int set_vip_address(void *object, const char *text, struct err *err)
{
	struct cfg_vip *vip = object;

	return vip_spec_parse(text, &vip->spec, err);
}

static json_t *get_vip_address(const void *object)
{
	const struct cfg_vip *vip = object;
	char text[VIP_SPEC_TEXT_MAX];

	return json_string(vip_spec_format(&vip->spec, text));
}

static int set_vip_pool(void *object, const char *text, struct err *err)
{
	struct cfg_vip *vip = object;
	int rc = cfg_pool_name_check(text, err);

	if (rc < 0)
		return rc;

	memcpy(vip->pool, text, strlen(text) + 1);
	return 0;
}

/* A private pool has the VIP's own text for a name and is not named. */
static json_t *get_vip_pool(const void *object)
{
	const struct cfg_vip *vip = object;

	return strchr(vip->pool, '/') ? json_null() : json_string(vip->pool);
}

const struct cfg_field cfg_vip_fields[] = {
	{ .key = "address",
	  .set = set_vip_address,
	  .get = get_vip_address,
	  .identity = true },
	{ .key = "pool", .set = set_vip_pool, .get = get_vip_pool },
	CFG_VIP_OPTIONS(CFG_VIP_FIELD)
	CFG_VIP_MAPPINGS(CFG_VIP_MAPPING_FIELD)
	CFG_VIP_LISTS(CFG_VIP_LIST_FIELD)
	{ .key = NULL },
};

/* Backends. */

int cfg_backend_set_address(void *object, const char *text, struct err *err)
{
	struct cfg_backend *backend = object;

	return cfg_parse_tunnel_end(text, "address", &backend->addr, err);
}

static json_t *get_backend_address(const void *object)
{
	const struct cfg_backend *backend = object;

	return cfg_addr_json(&backend->addr);
}

static int set_backend_name(void *object, const char *text, struct err *err)
{
	struct cfg_backend *backend = object;
	int rc = cfg_name_check(text, "name", true, err);

	if (rc < 0)
		return rc;

	memcpy(backend->name, text, strlen(text) + 1);
	return 0;
}

static json_t *get_backend_name(const void *object)
{
	const struct cfg_backend *backend = object;
	char addr[ADDR_TEXT_MAX];

	if (!strcmp(backend->name, addr_format(&backend->addr, addr)))
		return json_null();
	return json_string(backend->name);
}

static int set_weight(void *object, const char *text, struct err *err)
{
	struct cfg_backend *backend = object;

	return parse_u32(text, "weight", 0, CFG_WEIGHT_MAX, &backend->weight,
			 err);
}

static json_t *get_weight(const void *object)
{
	const struct cfg_backend *backend = object;

	if (backend->weight == 1)
		return json_null();
	return json_integer(backend->weight);
}

static int set_state(void *object, const char *text, struct err *err)
{
	struct cfg_backend *backend = object;
	int state = cfg_parse_word(text, "state", admin_state_names, ADMIN__MAX, err);

	if (state < 0)
		return state;

	backend->state = state;
	return 0;
}

static json_t *get_state(const void *object)
{
	const struct cfg_backend *backend = object;

	if (backend->state == ADMIN_UP)
		return json_null();
	return json_string(admin_state_name(backend->state));
}

const struct cfg_field cfg_backend_fields[] = {
	{ .key = "address",
	  .set = cfg_backend_set_address,
	  .get = get_backend_address,
	  .identity = true },
	{ .key = "name", .set = set_backend_name, .get = get_backend_name },
	{ .key = "weight", .set = set_weight, .get = get_weight },
	{ .key = "state", .set = set_state, .get = get_state },
	{ .key = "server_id",
	  .set = cfg_backend_set_server_id,
	  .get = cfg_backend_get_server_id },
	{ .key = NULL },
};
