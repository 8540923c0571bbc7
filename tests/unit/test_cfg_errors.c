// SPDX-License-Identifier: GPL-2.0-only
/* What is wrong with a file, and the one sentence that its operator gets. */
#include "cfg_testing.h"

#define IF "interface: eth0\n"
#define ROOT_KEYS                                                         \
	"interface, attach, dispatcher, hash_key, flows, flows_per_cpu, conntrack, " \
	"icmp_rate, publish_interval, check_exec, check_user, tunnel_source, pools, vips"
#define POOL_KEYS                                               \
	"encap, gue_port, algorithm, table_size, slack, ring_points, " \
	"all_down, check, initial, initial_timeout, slow_start, damping, " \
	"panic_threshold, quorum, quorum_hysteresis, drain_timeout, backends"
#define VIP_KEYS                                                    \
	"address, pool, hash, echo, tcp_junk, fragments, oversize, on_down, " \
	"tcp_idle_timeout, udp_idle_timeout, new_flow_limit, quic, allow, deny, " POOL_KEYS
#define VIP(keys)     IF "vips:\n- {address: '203.0.113.10:443/tcp', " keys "}\n"
#define BACKEND(keys) IF "pools:\n  web:\n    backends:\n    - {" keys "}\n"

static void unknown_keys_are_refused_with_the_known_ones(void **state)
{
	static const struct row rows[] = {
		{ IF "colour: red\n",
		  "2:1: key 'colour' is not known in the configuration; "
		  "allowed: " ROOT_KEYS },
		{ IF "Flows: 1M\n",
		  "2:1: key 'Flows' is not known in the configuration; "
		  "allowed: " ROOT_KEYS },
		{ IF "pools:\n  web:\n    weight: 1\n",
		  "4:5: pool 'web': key 'weight' is not known in a pool; "
		  "allowed: " POOL_KEYS },
		{ IF "vips:\n- address: 203.0.113.10:443/tcp\n  x: 1\n",
		  "4:3: vip '203.0.113.10:443/tcp': key 'x' is not known in a "
		  "vip; allowed: " VIP_KEYS },
		{ IF "vips:\n- x: 1\n",
		  "3:3: key 'x' is not known in a vip; allowed: " VIP_KEYS },
		{ BACKEND("address: 10.0.0.1, wieght: 2"),
		  "5:27: pool 'web': backend '10.0.0.1': key 'wieght' is not "
		  "known in a backend; allowed: address, name, weight, state, "
		  "server_id" },
		{ IF "tunnel_source: {ipv5: 10.0.0.1}\n",
		  "2:17: key 'ipv5' is not known in tunnel_source; allowed: "
		  "ipv4, ipv6" },
		{ IF "<<: {flows: 1M}\n",
		  "2:1: key '<<' is not known in the configuration; "
		  "allowed: " ROOT_KEYS },
		{ IF "\"a\\e[31m\\n'\": 1\n",
		  "2:1: key 'a\\x1b[31m\\x0a\\x27' is not known in the "
		  "configuration; allowed: " ROOT_KEYS },
	};

	(void)state;
	check_rows(rows, ARRAY_SIZE(rows));
}

static void whatever_stands_twice_is_refused_with_both_lines(void **state)
{
	static const struct row rows[] = {
		{ IF "flows: 1M\nflows: 2M\n",
		  "3:1: key 'flows' is already on line 2; allowed: each key "
		  "once" },
		{ IF "vips: []\nvips: []\n",
		  "3:1: key 'vips' is already on line 2; allowed: each key "
		  "once" },
		{ BACKEND("address: 10.0.0.1, weight: 1, weight: 2"),
		  "5:38: pool 'web': backend '10.0.0.1': key 'weight' is "
		  "already on line 5; allowed: each key once" },
		{ IF "vips:\n- address: '[2001:db8::1]:1/tcp'\n"
		     "- address: 10.0.0.1:1/tcp\n"
		     "- address: '[2001:DB8:0::1]:1/tcp'\n",
		  "5:3: vip '[2001:db8::1]:1/tcp' is already on line 3; "
		  "allowed: each vip once" },
		{ IF "vips:\n"
		     "- address: 10.0.0.1:80-90/tcp\n"
		     "- address: 10.0.0.1:82/tcp\n"
		     "- address: 10.0.0.1:82-90/tcp\n"
		     "- address: 10.0.0.1:85-95/udp\n"
		     "- address: 10.0.0.1:85-95/tcp\n",
		  "7:3: vip '10.0.0.1:85-95/tcp' shares some of its ports with vip "
		  "'10.0.0.1:82-90/tcp', but not all; allowed: ranges that lie apart, "
		  "or one inside the other" },
		{ IF "vips:\n"
		     "- address: 10.0.0.1/32:80-90/tcp\n"
		     "- address: 10.0.0.1:80-90/tcp\n",
		  "4:3: vip '10.0.0.1:80-90/tcp' is already on line 3; "
		  "allowed: each vip once" },
		{ IF "pools:\n  web: {}\n  api: {}\n  web: {}\n",
		  "5:3: pool 'web': it is already on line 3; allowed: each "
		  "pool once" },
		{ IF "pools:\n  web:\n    backends:\n"
		     "    - {address: 10.0.0.2, name: a}\n"
		     "    - {address: 10.0.0.1, name: a}\n",
		  "6:7: pool 'web': backend 'a' is already on line 5; allowed: "
		  "each name once in a pool" },
		{ IF "pools:\n  web:\n    backends:\n"
		     "    - {address: 10.0.0.1, name: z}\n"
		     "    - {address: 10.0.0.1, name: a}\n",
		  "6:7: pool 'web': backend address '10.0.0.1' is already on "
		  "line 5; allowed: each address once in a pool" },
		{ IF "vips:\n- address: 10.9.0.1:1/tcp\n  backends:\n"
		     "  - {address: 10.0.0.1}\n"
		     "  - {address: 10.0.0.2, name: 10.0.0.1}\n",
		  "6:5: vip '10.9.0.1:1/tcp': backend '10.0.0.1' is already on "
		  "line 5; allowed: each name once in a pool" },
	};

	(void)state;
	check_rows(rows, ARRAY_SIZE(rows));
}

static void nodes_of_the_wrong_kind_are_refused(void **state)
{
	static const struct row rows[] = {
		{ "- interface\n",
		  "1:1: the configuration is a list; allowed: a mapping with "
		  "the keys " ROOT_KEYS },
		{ "interface\n",
		  "1:1: the configuration is a single value; allowed: a "
		  "mapping with the keys " ROOT_KEYS },
		{ IF "vips: {}\n",
		  "2:7: vips is a mapping; allowed: a list, [] for none" },
		{ IF "vips: 203.0.113.10:443/tcp\n",
		  "2:7: vips is a single value; allowed: a list, [] for none" },
		{ IF "vips: [203.0.113.10:443/tcp]\n",
		  "2:8: a vip is a single value; allowed: a mapping with the "
		  "keys " VIP_KEYS },
		{ IF "pools: [web]\n",
		  "2:8: pools is a list; allowed: a mapping of names to pools, "
		  "{} for none" },
		{ IF "pools: {web: 10.0.0.1}\n",
		  "2:14: pool 'web': a pool is a single value; allowed: a "
		  "mapping with the keys " POOL_KEYS },
		{ IF "flows: [1M]\n",
		  "2:8: flows is a list; allowed: a single value" },
		{ IF "flows: {a: 1}\n",
		  "2:8: flows is a mapping; allowed: a single value" },
		{ IF "? [flows]\n: 1M\n",
		  "2:3: a key is a list; allowed: a single value" },
		{ IF "tunnel_source: 10.0.0.1\n",
		  "2:16: tunnel_source is a single value; allowed: a mapping "
		  "with the keys ipv4, ipv6" },
		{ VIP("backends: 10.0.0.1"),
		  "3:47: vip '203.0.113.10:443/tcp': backends is a single "
		  "value; allowed: a list, [] for none" },
	};

	(void)state;
	check_rows(rows, ARRAY_SIZE(rows));
}

static void nothing_is_not_a_value(void **state)
{
	static const struct row rows[] = {
		{ IF "flows:\n",
		  "2:7: flows is empty; allowed: a single value" },
		{ IF "flows: ~\n",
		  "2:8: flows is empty; allowed: a single value" },
		{ IF "flows: null\n",
		  "2:8: flows is empty; allowed: a single value" },
		{ IF "vips:\n",
		  "2:6: vips is empty; allowed: a list, [] for none" },
		{ IF "vips: [~]\n",
		  "2:8: a vip is empty; allowed: a mapping with the "
		  "keys " VIP_KEYS },
		{ IF "pools: NULL\n",
		  "2:8: pools is empty; allowed: a mapping of names to pools, "
		  "{} for none" },
		{ IF "pools:\n  web:\n",
		  "3:7: pool 'web': a pool is empty; allowed: a mapping with "
		  "the keys " POOL_KEYS },
		{ IF "pools: {~: {}}\n",
		  "2:9: the name of a pool is empty; allowed: a single value" },
		{ "interface: ''\n",
		  "1:12: interface '' is empty; allowed: 1 to 15 printable "
		  "characters other than blank, / and :" },
	};

	(void)state;
	check_rows(rows, ARRAY_SIZE(rows));
}

static void values_of_the_file_are_refused_with_what_is_allowed(void **state)
{
	static const struct row rows[] = {
		{ "interface: abcdefghijklmnop\n",
		  "1:12: interface 'abcdefghijklmnop' is too long; allowed: 1 "
		  "to 15 printable characters other than blank, / and :" },
		{ "interface: a/b\n",
		  "1:12: interface 'a/b' has a character that no device name "
		  "has; allowed: 1 to 15 printable characters other than "
		  "blank, "
		  "/ and :" },
		{ "interface: ..\n",
		  "1:12: interface '..' cannot be the name of a device; "
		  "allowed: 1 to 15 printable characters other than blank, / "
		  "and :" },
		{ IF "attach: offload\n",
		  "2:9: attach 'offload' is not known; allowed: auto, native, "
		  "generic" },
		{ IF "dispatcher: yes\n",
		  "2:13: dispatcher 'yes' is not known; allowed: false, true" },
		{ IF "flows: 1G\n", "2:8: flows '1G' is not a number; allowed: "
				    "1024 to 268435456, "
				    "K or M may follow" },
		{ IF "flows: 257M\n",
		  "2:8: flows '257M' is out of range; allowed: 1024 to "
		  "268435456, K or M may follow" },
		{ IF "flows_per_cpu: 1023\n",
		  "2:16: flows_per_cpu '1023' is out of range; allowed: 1024 to "
		  "268435456, K or M may follow" },
		{ IF "flows: 1M\nflows_per_cpu: 1M\n",
		  "3:16: flows_per_cpu and flows are both given; allowed: one of them" },
		{ IF "flows_per_cpu: 1M\nflows: 1M\n",
		  "3:8: flows and flows_per_cpu are both given; allowed: one of them" },
		{ IF "conntrack: lru\n",
		  "2:12: conntrack 'lru' is not known; allowed: sets, lru-hash" },
		{ IF "icmp_rate: 1000001\n",
		  "2:12: icmp_rate '1000001' is out of range; allowed: 0 to 1000000" },
		{ IF "icmp_rate: 10/s\n",
		  "2:12: icmp_rate '10/s' is not a number; allowed: 0 to 1000000" },
		{ IF "tunnel_source: {ipv4: '2001:db8::1'}\n",
		  "2:23: ipv4 '2001:db8::1' is of the other family; allowed: "
		  "an "
		  "IPv4 address or prefix" },
		{ IF "tunnel_source: {ipv6: 127.0.0.1}\n",
		  "2:23: ipv6 '127.0.0.1' is a loopback address; allowed: an "
		  "address that other hosts can reach" },
	};

	(void)state;
	check_rows(rows, ARRAY_SIZE(rows));
}

static void values_of_pools_are_refused_with_what_is_allowed(void **state)
{
	static const struct row rows[] = {
		{ IF "pools: {a b: {}}\n",
		  "2:9: pool name 'a b' has another character; allowed: 1 to "
		  "127 letters, digits, . _ -" },
		{ IF "pools: {w: {encap: vxlan}}\n",
		  "2:20: pool 'w': encap 'vxlan' is not known; allowed: ipip, "
		  "gue, gue1, gre, l2" },
		{ IF "pools: {w: {gue_port: 0}}\n",
		  "2:23: pool 'w': gue_port '0' is out of range; allowed: 1 to "
		  "65535" },
		{ IF "pools: {w: {table_size: 65536}}\n",
		  "2:25: pool 'w': table_size 65536 is not a prime; the "
		  "nearest "
		  "primes are 65521 and 65537" },
		{ IF "pools: {w: {table_size: 252}}\n",
		  "2:25: pool 'w': table_size 252 is not a prime; the nearest "
		  "primes are 251 and 257" },
		{ IF "pools: {w: {table_size: 250}}\n",
		  "2:25: pool 'w': table_size '250' is out of range; allowed: "
		  "251 to 655373" },
		{ IF "pools: {w: {table_size: 655374}}\n",
		  "2:25: pool 'w': table_size '655374' is out of range; "
		  "allowed: "
		  "251 to 655373" },
		{ IF "pools: {w: {algorithm: Maglev}}\n",
		  "2:24: pool 'w': table algorithm 'Maglev' is not known; "
		  "allowed are maglev, capped, ring and rendezvous" },
		{ IF "pools: {w: {slack: 101}}\n",
		  "2:20: pool 'w': slack '101' is out of range; allowed: 0 to "
		  "100" },
		{ IF "pools: {w: {slack: 1%}}\n",
		  "2:20: pool 'w': slack '1%' is not a number; allowed: 0 to "
		  "100" },
		{ IF "pools: {w: {ring_points: 0}}\n",
		  "2:26: pool 'w': ring_points '0' is out of range; allowed: 1 "
		  "to 65535" },
		{ IF "pools: {w: {all_down: pass}}\n",
		  "2:23: pool 'w': all_down 'pass' is not known; allowed: all, "
		  "drop" },
	};

	(void)state;
	check_rows(rows, ARRAY_SIZE(rows));
}

static void values_of_backends_are_refused_with_what_is_allowed(void **state)
{
	static const struct row rows[] = {
		{ BACKEND("address: 10.0.0.1, state: active"),
		  "5:34: pool 'web': backend '10.0.0.1': state 'active' is not "
		  "known; allowed: up, drain, down" },
		{ BACKEND("address: 10.0.0.1, weight: 65536"),
		  "5:35: pool 'web': backend '10.0.0.1': weight '65536' is out "
		  "of range; allowed: 0 to 65535" },
		{ BACKEND("address: 10.0.0.1, weight: -1"),
		  "5:35: pool 'web': backend '10.0.0.1': weight '-1' is not a "
		  "number; allowed: 0 to 65535" },
		{ BACKEND("name: a, address: 10.0.0.300"),
		  "5:26: pool 'web': backend 'a': address '10.0.0.300' is not "
		  "an IP address; allowed: a unicast IPv4 or IPv6 address" },
		{ BACKEND("address: '::ffff:10.0.0.1'"),
		  "5:17: pool 'web': address '::ffff:10.0.0.1' is an IPv4 "
		  "address mapped into IPv6; allowed: a unicast IPv4 or IPv6 "
		  "address" },
		{ BACKEND("address: fe80::1"),
		  "5:17: pool 'web': address 'fe80::1' is a link-local "
		  "address; "
		  "allowed: an address that other hosts can reach" },
		{ BACKEND("address: '::1'"),
		  "5:17: pool 'web': address '::1' is a loopback address; "
		  "allowed: an address that other hosts can reach" },
		{ BACKEND("address: 127.1.2.3"),
		  "5:17: pool 'web': address '127.1.2.3' is a loopback "
		  "address; "
		  "allowed: an address that other hosts can reach" },
		{ BACKEND("name: a/b"), "5:14: pool 'web': name 'a/b' has "
					"another character; allowed: "
					"1 to 127 letters, digits, . _ - :" },
	};

	(void)state;
	check_rows(rows, ARRAY_SIZE(rows));
}

static void values_of_vips_are_refused_with_what_is_allowed(void **state)
{
	static const struct row rows[] = {
		{ IF "vips: [{address: 203.0.113.10:0/tcp}]\n",
		  "2:18: vip '203.0.113.10:0/tcp': port '0' is out of range; "
		  "allowed: 1 to 65535, a range as 8000-8999, or any" },
		{ IF "vips: [{address: 203.0.113.10:65536/tcp}]\n",
		  "2:18: vip '203.0.113.10:65536/tcp': port '65536' is out of "
		  "range; allowed: 1 to 65535, a range as 8000-8999, or any" },
		{ IF "vips: [{address: 203.0.113.10:443}]\n",
		  "2:18: vip '203.0.113.10:443' has no protocol; allowed: "
		  "ADDRESS:PORT/PROTOCOL, as 203.0.113.10:443/tcp, "
		  "[2001:db8::10]:any/udp, 203.0.113.0/28:8000-8999/tcp or "
		  "203.0.113.10:any/any" },
	};

	(void)state;
	check_rows(rows, ARRAY_SIZE(rows));
}

/* It is a secret, and messages go to logs. */
static void a_bad_hash_key_is_refused_and_not_quoted(void **state)
{
	static const struct row rows[] = {
		{ IF "hash_key: 000102030405060708090a0b0c0d0e0\n",
		  "2:11: hash_key has 31 characters; allowed: 32 hexadecimal "
		  "digits" },
		{ IF "hash_key: 000102030405060708090a0b0c0d0e0f0\n",
		  "2:11: hash_key has 33 characters; allowed: 32 hexadecimal "
		  "digits" },
		{ IF "hash_key: 000102030405060708090a0b0c0d0eg0\n",
		  "2:11: character 31 of hash_key is no hexadecimal digit; "
		  "allowed: 32 of them" },
		{ IF "hash_key: 0x0102030405060708090a0b0c0d0e0f\n",
		  "2:11: character 2 of hash_key is no hexadecimal digit; "
		  "allowed: 32 of them" },
	};

	(void)state;
	check_rows(rows, ARRAY_SIZE(rows));
}

static void what_is_missing_or_does_not_fit_together_is_refused(void **state)
{
	static const struct row rows[] = {
		{ "flows: 1M\n", "1:1: interface is missing; add a line "
				 "'interface: NAME' with "
				 "the device that receives the traffic" },
		{ BACKEND("weight: 1"),
		  "5:7: pool 'web': address is missing; each backend has one" },
		{ IF "vips: [{encap: gue}]\n",
		  "2:8: a vip has no address; allowed: 'address: "
		  "ADDRESS:PORT/PROTOCOL'" },
		{ VIP("pool: web"),
		  "3:3: vip '203.0.113.10:443/tcp': pool 'web' does not exist; "
		  "allowed: none, as the configuration has no pools" },
		{ VIP("pool: web") "pools: {b: {}, a: {}}\n",
		  "3:3: vip '203.0.113.10:443/tcp': pool 'web' does not exist; "
		  "allowed: a, b" },
		{ VIP("pool: '203.0.113.10:443/tcp'"),
		  "3:43: vip '203.0.113.10:443/tcp': pool name "
		  "'203.0.113.10:443/tcp' has another character; allowed: 1 to "
		  "127 letters, digits, . _ -" },
		{ VIP("encap: gue, pool: web"),
		  "3:37: vip '203.0.113.10:443/tcp': it names pool 'web', so "
		  "key "
		  "'encap' is not its own; allowed: 'pool', or the keys of a "
		  "pool" },
		{ VIP("pool: web, backends: []"),
		  "3:48: vip '203.0.113.10:443/tcp': it names pool 'web', so "
		  "key "
		  "'backends' is not its own; allowed: 'pool', or the keys of "
		  "a "
		  "pool" },
	};

	(void)state;
	check_rows(rows, ARRAY_SIZE(rows));
}

static void a_table_has_more_slots_than_backends(void **state)
{
	char yaml[16384];
	int n = snprintf(yaml, sizeof(yaml),
			 IF "pools:\n  web:\n    table_size: 251\n"
			    "    backends:\n");
	struct row row = {
		yaml, "3:3: pool 'web': table_size 251 is not above the "
		      "number of backends, 251; allowed: a prime above "
		      "that"
	};

	(void)state;
	for (int i = 0; i < 251; i++) {
		if (i == 250) {
			struct cfg *cfg = must_parse(yaml);

			cfg_free(&cfg);
		}
		n += snprintf(yaml + n, sizeof(yaml) - n,
			      "    - address: 10.0.0.%d\n", i);
	}
	check_rows(&row, 1);
}

static void what_yaml_has_and_we_do_not_is_refused(void **state)
{
	static const struct row rows[] = {
		{ IF "attach: &a auto\n", "2:9: anchor 'a' is not supported; "
					  "allowed: the value itself" },
		{ IF "attach: *a\n", "2:9: alias 'a' is not supported; "
				     "allowed: the value itself" },
		{ IF "vips: &v []\n", "2:7: anchor 'v' is not supported; "
				      "allowed: the value itself" },
		{ "&r\n" IF, "1:1: anchor 'r' is not supported; allowed: the "
			     "value itself" },
		{ IF "flows: !!int 4096\n",
		  "2:8: tag 'tag:yaml.org,2002:int' is not supported; allowed: "
		  "the value itself" },
		{ IF "vips: !x []\n",
		  "2:7: tag '!x' is not supported; allowed: the value itself" },
		{ IF "---\n" IF,
		  "2:1: a second document starts here; allowed: one" },
		{ "", "1:1: the configuration is empty; required: 'interface: "
		      "NAME'" },
		{ "# nothing\n\n",
		  "1:1: the configuration is empty; required: 'interface: "
		  "NAME'" },
		{ "---\n", "2:1: the configuration is empty; allowed: a "
			   "mapping with the "
			   "keys " ROOT_KEYS },
	};

	(void)state;
	check_rows(rows, ARRAY_SIZE(rows));
}

static void text_that_is_no_yaml_is_refused_where_it_stops(void **state)
{
	static const struct row rows[] = {
		{ IF "vips:\n\t- address: x\n",
		  "3:1: a tab indents the line; allowed: spaces" },
		{ IF "tunnel_source:\n  ipv4: 10.0.0.1\n\tipv6: 2001:db8::1\n",
		  "4:1: a tab indents the line; allowed: spaces" },
		{ IF "attach: a\xff\n", "2:10: invalid leading UTF-8 octet "
					"(0xff); allowed: printable "
					"UTF-8 text" },
		{ IF "# \xc3\xa9\xc3\xa9 caf\xe9 \n",
		  "2:10: invalid trailing UTF-8 octet (0x20); allowed: "
		  "printable "
		  "UTF-8 text" },
		{ IF "attach: a\x01\n",
		  "2:10: control characters are not allowed (0x01); allowed: "
		  "printable UTF-8 text" },
		{ "\xff\xfei",
		  "1:1: invalid leading UTF-8 octet (0xff); allowed: "
		  "printable UTF-8 text" },
		{ IF "attach: \"a\\0b\"\n",
		  "2:9: attach contains a NUL byte; allowed: text" },
		{ IF "vips: [\n", "3:1: not valid YAML: while parsing a flow "
				  "node, did not find "
				  "expected node content" },
		{ IF "attach: 'auto\n",
		  "3:1: not valid YAML: while scanning a quoted scalar, found "
		  "unexpected end of stream" },
	};

	(void)state;
	check_rows(rows, ARRAY_SIZE(rows));
}

static void a_nul_byte_ends_no_text_early(void **state)
{
	static const char yaml[] = IF "attach: auto\n\0garbage: [\n";
	struct cfg *cfg = NULL;
	struct err err;

	(void)state;
	assert_int_equal(cfg_parse_yaml(yaml, sizeof(yaml) - 1, "t.yaml", &cfg,
					&err),
			 -EINVAL);
	assert_string_equal(err.text,
			    "t.yaml:3:1: control characters are not allowed "
			    "(0x00); allowed: printable UTF-8 text");
}

static void check_bomb(const char *head, const char *piece, int n,
		       const char *sentence)
{
	_cleanup_free_ char *yaml = malloc(strlen(head) + n * strlen(piece) + 1);
	char *at = stpcpy(yaml, head);
	struct row row = { yaml, sentence };

	for (int i = 0; i < n; i++)
		at = stpcpy(at, piece);
	check_rows(&row, 1);
}

static void deep_files_end_at_the_first_level_too_many(void **state)
{
	(void)state;
	check_bomb("", "[", 1000000,
		   "1:1: the configuration is a list; allowed: a mapping with "
		   "the keys " ROOT_KEYS);
	check_bomb(IF "vips: [", "[", 1000000,
		   "2:8: a vip is a list; allowed: a mapping with the "
		   "keys " VIP_KEYS);
	check_bomb("", "- ", 1000000,
		   "1:1: the configuration is a list; allowed: a mapping with "
		   "the keys " ROOT_KEYS);
	check_bomb("", "{? ", 1000000,
		   "1:4: a key is a mapping; allowed: a single value");
}

static void files_are_named_without_what_moves_a_terminal(void **state)
{
	struct cfg *cfg = NULL;
	struct err err;

	(void)state;
	assert_int_equal(cfg_parse_yaml("", 0, "a\n\x1b[1m", &cfg, &err),
			 -EINVAL);
	assert_ptr_equal(strstr(err.text, "a??[1m:1:1: "), err.text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(unknown_keys_are_refused_with_the_known_ones),
		cmocka_unit_test(whatever_stands_twice_is_refused_with_both_lines),
		cmocka_unit_test(nodes_of_the_wrong_kind_are_refused),
		cmocka_unit_test(nothing_is_not_a_value),
		cmocka_unit_test(
			values_of_the_file_are_refused_with_what_is_allowed),
		cmocka_unit_test(values_of_pools_are_refused_with_what_is_allowed),
		cmocka_unit_test(values_of_backends_are_refused_with_what_is_allowed),
		cmocka_unit_test(values_of_vips_are_refused_with_what_is_allowed),
		cmocka_unit_test(a_bad_hash_key_is_refused_and_not_quoted),
		cmocka_unit_test(
			what_is_missing_or_does_not_fit_together_is_refused),
		cmocka_unit_test(a_table_has_more_slots_than_backends),
		cmocka_unit_test(what_yaml_has_and_we_do_not_is_refused),
		cmocka_unit_test(text_that_is_no_yaml_is_refused_where_it_stops),
		cmocka_unit_test(a_nul_byte_ends_no_text_early),
		cmocka_unit_test(deep_files_end_at_the_first_level_too_many),
		cmocka_unit_test(files_are_named_without_what_moves_a_terminal),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
