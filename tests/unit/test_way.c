// SPDX-License-Identifier: GPL-2.0-only
/* Which ways lead to the backends of a pool, and which of them is a VIP's. */
#include "cfg_testing.h"

#include "core/way.h"

#define BACKENDS "backends: [{address: 10.0.0.1}, {address: 10.0.0.2}]"
#define POOL(check) \
	"interface: eth0\npools: {w: {check: " check ", " BACKENDS "}}\nvips:\n"
#define VIP(address) "- {address: '" address "', pool: w}\n"

struct world {
	struct cfg *cfg;
	struct ways ways;
};

static struct world world_of(const char *yaml)
{
	struct world w = { .cfg = must_parse(yaml) };

	assert_int_equal(ways_make(w.cfg, &w.ways), 0);
	assert_int_equal(w.ways.first[0], 0);
	assert_int_equal(w.ways.first[w.cfg->n_pools], w.ways.n);
	return w;
}

static void world_end(struct world *w)
{
	ways_clear(&w->ways);
	cfg_free(&w->cfg);
}

#define _cleanup_world_ __attribute__((cleanup(world_end)))

/* "203.0.113.1 80, 2001:db8::1 80": of the first pool; "-" for no address. */
static void assert_ways(const struct world *w, const char *expected)
{
	char text[512] = "", address[ADDR_TEXT_MAX];

	for (size_t i = 0; i < w->ways.first[1]; i++) {
		const struct way *way = &w->ways.list[i];
		size_t length = strlen(text);

		assert_int_equal(way->pool, 0);
		snprintf(text + length, sizeof(text) - length, "%s%s %u", i ? ", " : "",
			 way->addr.family ? addr_format(&way->addr, address) : "-",
			 way->port);
	}
	assert_string_equal(text, expected);
}

static size_t way_of(const struct world *w, const char *vip)
{
	struct vip_spec spec;

	assert_int_equal(vip_spec_parse(vip, &spec, NULL), 0);
	return w->ways.of_vip[cfg_find_vip(w->cfg, &spec) - w->cfg->vips];
}

/* The VIP that stands for the way. */
static void assert_vip(const struct world *w, size_t way, const char *vip)
{
	char text[VIP_SPEC_TEXT_MAX];

	assert_non_null(w->ways.list[way].vip);
	assert_string_equal(vip_spec_format(&w->ways.list[way].vip->spec, text), vip);
}

static void each_address_is_a_way(void **state)
{
	_cleanup_world_ struct world w = world_of(
		POOL("http") VIP("[2001:db8::1]:80/tcp") VIP("203.0.113.1:80/tcp"));

	(void)state;
	assert_ways(&w, "203.0.113.1 80, 2001:db8::1 80");
	assert_int_equal(way_of(&w, "203.0.113.1:80/tcp"), 0);
	assert_int_equal(way_of(&w, "[2001:db8::1]:80/tcp"), 1);
	assert_vip(&w, 0, "203.0.113.1:80/tcp");
	assert_vip(&w, 1, "[2001:db8::1]:80/tcp");
}

/* The same is asked of both, once; the first of them stands for the way. */
static void a_port_of_the_check_makes_ports_of_vips_one(void **state)
{
	_cleanup_world_ struct world w = world_of(
		POOL("{type: http, port: 8080}") VIP("203.0.113.1:443/tcp")
		VIP("203.0.113.1:80/tcp") VIP("203.0.113.2:80/tcp"));

	(void)state;
	assert_ways(&w, "203.0.113.1 8080, 203.0.113.2 8080");
	assert_int_equal(way_of(&w, "203.0.113.1:443/tcp"), 0);
	assert_int_equal(way_of(&w, "203.0.113.1:80/tcp"), 0);
	assert_vip(&w, 0, "203.0.113.1:80/tcp");
}

static void what_cannot_be_asked_goes_with_its_address_or_the_first(void **state)
{
	_cleanup_world_ struct world w = world_of(
		POOL("{type: tcp, port: 80}") VIP("203.0.113.1:80/tcp")
		VIP("203.0.113.2:80/tcp") VIP("203.0.113.2:80/udp")
		VIP("203.0.113.2:1000-2000/tcp") VIP("203.0.113.3:80/udp")
		VIP("203.0.113.0/28:any/tcp") VIP("[2001:db8::/64]:80/tcp"));

	(void)state;
	assert_ways(&w, "203.0.113.1 80, 203.0.113.2 80");
	assert_int_equal(way_of(&w, "203.0.113.2:80/udp"), 1);
	assert_int_equal(way_of(&w, "203.0.113.2:1000-2000/tcp"), 1);
	assert_int_equal(way_of(&w, "203.0.113.3:80/udp"), 0);
	assert_int_equal(way_of(&w, "203.0.113.0/28:any/tcp"), 0);
	assert_int_equal(way_of(&w, "[2001:db8::/64]:80/tcp"), 0);
}

/* Where checks do not go to VIPs, all VIPs are one to them. */
static void a_pool_has_one_way_unless_vips_are_asked(void **state)
{
	static const struct {
		const char *check, *vip;
	} rows[] = {
		{ "none", "203.0.113.2:80/tcp" },
		{ "icmp", "203.0.113.2:80/tcp" },
		{ "{type: tcp, via: direct}", "203.0.113.2:80/tcp" },
		{ "{type: tcp, vips: first}", "203.0.113.2:80/tcp" },
		/* Who knows what a service of UDP answers? */
		{ "{type: udp, send: x}", "203.0.113.1:80/udp" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		char yaml[512];
		struct world w;

		snprintf(yaml, sizeof(yaml),
			 POOL("%s") VIP("203.0.113.1:80/udp") VIP("203.0.113.2:80/tcp")
			 VIP("203.0.113.0/24:80/tcp") VIP("[2001:db8::1]:80/tcp"),
			 rows[i].check);
		w = world_of(yaml);
		assert_ways(&w, "- 0");
		for (size_t j = 0; j < w.cfg->n_vips; j++)
			assert_int_equal(w.ways.of_vip[j], 0);
		/* Of those that one check could be made at the first of its protocol. */
		if (i >= 2)
			assert_vip(&w, 0, rows[i].vip);
		world_end(&w);
	}
}

static void udp_has_ways_when_it_is_to_go_via_vip(void **state)
{
	_cleanup_world_ struct world w = world_of(
		POOL("{type: udp, via: vip, send: x}") VIP("203.0.113.1:53/udp")
		VIP("203.0.113.2:53/udp") VIP("203.0.113.2:53/tcp"));

	(void)state;
	assert_ways(&w, "203.0.113.1 53, 203.0.113.2 53");
	assert_int_equal(way_of(&w, "203.0.113.2:53/tcp"), 1);
}

static void a_pool_without_a_vip_has_a_way_that_nobody_takes(void **state)
{
	_cleanup_world_ struct world w = world_of(
		"interface: eth0\n"
		"pools: {a: {check: http}, b: {check: http}, c: {check: http}}\n"
		"vips:\n"
		"- {address: '203.0.113.1:80/tcp', pool: b}\n"
		"- {address: '203.0.113.2:80/tcp', pool: b}\n");

	(void)state;
	assert_int_equal(w.ways.n, 4);
	assert_ways(&w, "- 0");
	assert_null(w.ways.list[0].vip);
	assert_int_equal(w.ways.first[1], 1);
	assert_int_equal(w.ways.first[2], 3);
	assert_null(w.ways.list[3].vip);
	assert_int_equal(w.ways.list[3].pool, 2);
}

/* As with 10,000 VIPs of one pool: none is looked for among all others. */
static void many_vips_of_a_pool_have_a_way_each(void **state)
{
	enum { N_VIPS = 20000 };
	char *yaml = malloc(N_VIPS * 64 + 512), *at = yaml;
	struct world w;

	(void)state;
	at += sprintf(at, "%s", POOL("http"));
	for (unsigned int i = 0; i < N_VIPS; i++)
		at += sprintf(at, "- {address: '203.%u.%u.%u:80/tcp', pool: w}\n",
			      i / 62500, i / 250 % 250, i % 250 + 1);
	w = world_of(yaml);
	free(yaml);
	assert_int_equal(w.ways.n, N_VIPS);
	for (size_t i = 0; i < N_VIPS; i++) {
		assert_int_equal(w.ways.of_vip[i], i);
		assert_ptr_equal(w.ways.list[i].vip, &w.cfg->vips[i]);
	}
	world_end(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_address_is_a_way),
		cmocka_unit_test(a_port_of_the_check_makes_ports_of_vips_one),
		cmocka_unit_test(what_cannot_be_asked_goes_with_its_address_or_the_first),
		cmocka_unit_test(a_pool_has_one_way_unless_vips_are_asked),
		cmocka_unit_test(udp_has_ways_when_it_is_to_go_via_vip),
		cmocka_unit_test(a_pool_without_a_vip_has_a_way_that_nobody_takes),
		cmocka_unit_test(many_vips_of_a_pool_have_a_way_each),
	};

	return cmocka_run_group_tests_name("ways", tests, NULL, NULL);
}
