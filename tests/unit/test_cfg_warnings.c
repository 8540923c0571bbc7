// SPDX-License-Identifier: GPL-2.0-only
/* What a file may say, and its operator hears of. */
#include "cfg_testing.h"

struct warnings {
	int n;
	char last[512];
};

static void note_warning(void *context, const char *text)
{
	struct warnings *warnings = context;

	warnings->n++;
	snprintf(warnings->last, sizeof(warnings->last), "%s", text);
}

static void assert_warns(const char *yaml, int n, const char *last)
{
	_cleanup_cfg_ struct cfg *cfg = must_parse(yaml);
	struct warnings warnings = { 0 };

	cfg_warnings(cfg, note_warning, &warnings);
	assert_int_equal(warnings.n, n);
	if (last && !strstr(warnings.last, last))
		fail_msg("'%s' is not in '%s'", last, warnings.last);
}

#define KEY "hash_key: 000102030405060708090a0b0c0d0e0f\n"

static void what_is_allowed_but_doubtful_is_warned_of(void **state)
{
	(void)state;
	assert_warns("interface: eth0\n" KEY, 0, NULL);
	assert_warns("interface: eth0\n", 1, "hash_key is not set");
	assert_warns(
		"interface: eth0\n" KEY
		"pools: {p: {table_size: 251, backends: [{address: 10.0.0.1},"
		"{address: 10.0.0.2}]}}\n",
		0, NULL);
	assert_warns(
		"interface: eth0\n" KEY
		"pools: {p: {table_size: 251, backends: [{address: 10.0.0.1},"
		"{address: 10.0.0.2}, {address: 10.0.0.3}]}}\n",
		1, "table_size 251 is less than 100 slots");
	assert_warns("interface: eth0\n" KEY "pools: {p: {gue_port: 99}}\n", 1,
		     "gue_port is not used");
	assert_warns("interface: eth0\n" KEY "pools: {p: {slack: 1}}\n", 1,
		     "slack is not used, as algorithm is maglev");
	assert_warns("interface: eth0\n" KEY
		     "pools: {p: {algorithm: capped, ring_points: 9}}\n",
		     1, "ring_points is not used, as algorithm is capped");
	assert_warns("interface: eth0\n" KEY
		     "pools: {p: {algorithm: capped, slack: 1}}\n",
		     0, NULL);
}

#define BACKENDS(vips, addresses)                                              \
	"interface: eth0\n" KEY "pools: {p: {backends: [" addresses "]}}\n" \
	"vips: [" vips "]\n"

static void a_backend_with_the_address_of_a_vip_is_warned_of(void **state)
{
	(void)state;
	assert_warns(BACKENDS("{address: 203.0.113.10:80/tcp, pool: p}",
			      "{address: 203.0.113.9}, {address: 203.0.113.11}"),
		     0, NULL);
	assert_warns(BACKENDS("{address: 203.0.113.10:80/tcp, pool: p}",
			      "{address: 203.0.113.9}, {address: 203.0.113.10, name: b}"),
		     1,
		     "pool 'p': backend 'b': its address 203.0.113.10 is one of vip "
		     "'203.0.113.10:80/tcp', so what is sent to it comes back to the "
		     "balancer");
	/* A wider prefix goes on behind the narrower one. */
	assert_warns(BACKENDS("{address: 203.0.113.0/24:any/tcp},"
			      "{address: 203.0.113.16/28:any/tcp},"
			      "{address: 203.0.113.20:1/tcp}, {address: 203.0.113.20:2/udp},"
			      "{address: 203.0.113.21:1/tcp}",
			      "{address: 203.0.113.200}, {address: 203.0.114.1}"),
		     1, "is one of vip '203.0.113.0/24:any/tcp'");
	assert_warns(BACKENDS("{address: '[2001:db8::/64]:any/tcp'}",
			      "{address: 2001:db8::9}, {address: '2001:db8:0:1::'},"
			      "{address: 10.0.0.1}"),
		     1, "address 2001:db8::9 is one of vip");
	assert_warns("interface: eth0\n" KEY
		     "vips: [{address: 10.0.0.1:1/tcp, backends: [{address: 10.0.0.1}]}]",
		     1, "vip '10.0.0.1:1/tcp': backend '10.0.0.1': its address");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_allowed_but_doubtful_is_warned_of),
		cmocka_unit_test(a_backend_with_the_address_of_a_vip_is_warned_of),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
