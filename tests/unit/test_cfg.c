// SPDX-License-Identifier: GPL-2.0-only
#include "cfg_testing.h"

#include <arpa/inet.h>
#include <errno.h>
#include <jansson.h>
#include <sys/stat.h>
#include <unistd.h>

#include "abi.h"
#include "core/table.h"

static const char full[] = "interface: eth0\n"
			   "attach: native\n"
			   "dispatcher: true\n"
			   "hash_key: 00010203040506070809101112131415\n"
			   "flows: 2M\n"
			   "icmp_rate: 0\n"
			   "tunnel_source:\n"
			   "  ipv4: 10.1.0.2\n"
			   "  ipv6: 2001:db8:1::2\n"
			   "pools:\n"
			   "  web:\n"
			   "    encap: gue\n"
			   "    gue_port: 6081\n"
			   "    table_size: 251\n"
			   "    algorithm: capped\n"
			   "    slack: 3\n"
			   "    ring_points: 99\n"
			   "    all_down: drop\n"
			   "    backends:\n"
			   "      - address: 10.1.0.12\n"
			   "        weight: 0\n"
			   "        state: drain\n"
			   "      - address: 2001:DB8::0:11\n"
			   "        name: a-1\n"
			   "        weight: 65535\n"
			   "  empty: {}\n"
			   "vips:\n"
			   "  - address: \"[2001:db8::10]:any/udp\"\n"
			   "    encap: gue\n"
			   "    backends:\n"
			   "      - address: 10.1.0.11\n"
			   "  - address: 203.0.113.10:443/tcp\n"
			   "    pool: web\n"
			   "  - address: 203.0.113.10:80/tcp\n";

static struct cfg_vip *find_vip(const struct cfg *cfg, const char *text)
{
	struct vip_spec spec;

	assert_int_equal(vip_spec_parse(text, &spec, NULL), 0);
	return cfg_find_vip(cfg, &spec);
}

static void every_key_of_the_file_is_read(void **state)
{
	static const uint8_t key[] = { 0, 1, 2,	   3,	 4,    5,    6,	   7,
				       8, 9, 0x10, 0x11, 0x12, 0x13, 0x14, 0x15 };
	_cleanup_cfg_ struct cfg *cfg = must_parse(full);
	char text[TUNNEL_SOURCE_TEXT_MAX];

	(void)state;
	assert_string_equal(cfg->interface, "eth0");
	assert_int_equal(cfg->attach, ATTACH_NATIVE);
	assert_true(cfg->dispatcher);
	assert_true(cfg->has_hash_key);
	assert_memory_equal(cfg->hash_key, key, sizeof(key));
	assert_int_equal(cfg->flows, 2 * 1024 * 1024);
	assert_int_equal(cfg->icmp_rate, 0);
	assert_string_equal(tunnel_source_format(&cfg->tunnel_source4, text),
			    "10.1.0.2");
	assert_string_equal(tunnel_source_format(&cfg->tunnel_source6, text),
			    "2001:db8:1::2");
	assert_int_equal(cfg->n_pools, 4);
	assert_int_equal(cfg->n_vips, 3);
}

static void a_named_pool_has_its_keys_and_sorted_backends(void **state)
{
	_cleanup_cfg_ struct cfg *cfg = must_parse(full);
	const struct cfg_pool *web = cfg_find_pool(cfg, "web");
	char text[ADDR_TEXT_MAX];

	(void)state;
	assert_non_null(web);
	assert_false(web->private);
	assert_int_equal(web->encap, ENCAP_GUE);
	assert_int_equal(web->gue_port, 6081);
	assert_int_equal(web->table_size, 251);
	assert_int_equal(web->algorithm, TABLE_CAPPED);
	assert_int_equal(web->slack, 3);
	assert_int_equal(web->ring_points, 99);
	assert_int_equal(web->all_down, ALL_DOWN_DROP);
	assert_int_equal(web->pos.line, 11);
	assert_int_equal(web->pos.column, 3);
	assert_int_equal(web->n_backends, 2);
	assert_string_equal(web->backends[0].name, "10.1.0.12");
	assert_int_equal(web->backends[0].weight, 0);
	assert_int_equal(web->backends[0].state, ADMIN_DRAIN);
	assert_string_equal(web->backends[1].name, "a-1");
	assert_int_equal(web->backends[1].weight, 65535);
	assert_int_equal(web->backends[1].state, ADMIN_UP);
	assert_int_equal(web->backends[1].pos.line, 23);
	assert_int_equal(web->backends[1].pos.column, 9);
	assert_string_equal(addr_format(&web->backends[1].addr, text),
			    "2001:db8::11");
}

static void a_vip_without_pool_has_a_private_one_of_its_name(void **state)
{
	_cleanup_cfg_ struct cfg *cfg = must_parse(full);
	const struct cfg_vip *shared = find_vip(cfg, "203.0.113.10:443/tcp");
	const struct cfg_vip *own = find_vip(cfg, "[2001:db8::10]:any/udp");
	const struct cfg_vip *empty = find_vip(cfg, "203.0.113.10:80/tcp");
	const struct cfg_pool *pool;

	(void)state;
	assert_string_equal(shared->pool, "web");
	assert_string_equal(own->pool, "[2001:db8::10]:any/udp");
	pool = cfg_find_pool(cfg, own->pool);
	assert_true(pool->private);
	assert_int_equal(pool->encap, ENCAP_GUE);
	assert_int_equal(pool->n_backends, 1);
	assert_int_equal(pool->backends[0].weight, 1);
	pool = cfg_find_pool(cfg, empty->pool);
	assert_true(pool->private);
	assert_int_equal(pool->n_backends, 0);
	assert_int_equal(pool->table_size, TABLE_SIZE_DEFAULT);
	assert_int_equal(pool->gue_port, GUE_PORT_DEFAULT);
	assert_int_equal(pool->encap, ENCAP_IPIP);
	assert_int_equal(pool->algorithm, TABLE_MAGLEV);
	assert_int_equal(pool->slack, 0);
	assert_int_equal(pool->ring_points, TABLE_RING_POINTS_DEFAULT);
	assert_int_equal(pool->all_down, ALL_DOWN_ALL);
}

static void what_the_file_does_not_say_has_its_default(void **state)
{
	_cleanup_cfg_ struct cfg *cfg = must_parse("interface: eth0\n");

	(void)state;
	assert_int_equal(cfg->attach, ATTACH_AUTO);
	assert_false(cfg->dispatcher);
	assert_false(cfg->has_hash_key);
	assert_int_equal(cfg->flows, 0);
	assert_int_equal(cfg->icmp_rate, 10000);
	assert_int_equal(cfg->tunnel_source4.addr.family, 0);
	assert_int_equal(cfg->tunnel_source6.addr.family, 0);
	assert_int_equal(cfg->n_pools + cfg->n_vips, 0);
}

static void ways_to_write_the_same_yaml_are_the_same(void **state)
{
	static const char *const texts[] = {
		"{interface: eth0, flows: 4K, vips: [{address: "
		"'10.0.0.1:1/tcp'}]}",
		"\xef\xbb\xbfinterface: eth0\nflows: 4K\nvips:\n- address: "
		"10.0.0.1:1/tcp\n",
		"interface: eth0\r\nflows: 4096\r\nvips:\r\n- address: "
		"10.0.0.1:1/tcp\r\n",
		"---\ninterface: \"eth0\"\nflows: '4096'\nvips:\n"
		"  -\n    address: >-\n      10.0.0.1:1/tcp\n...\n",
		"%YAML 1.1\n---\n# caf\xc3\xa9\nvips: [address: "
		"10.0.0.1:1/tcp]\n"
		"interface: eth0 # x\nflows: 4K\npools: {}\n",
	};
	_cleanup_cfg_ struct cfg *first = must_parse(texts[0]);

	(void)state;
	for (size_t i = 1; i < ARRAY_SIZE(texts); i++) {
		_cleanup_cfg_ struct cfg *cfg = must_parse(texts[i]);

		assert_same_cfg(first, cfg);
	}
}

static void find_works_before_and_after_the_check(void **state)
{
	_cleanup_cfg_ struct cfg *cfg = must_parse(full);

	(void)state;
	for (int sorted = 0; sorted < 2; sorted++) {
		cfg->sorted = sorted;
		for (size_t i = 0; i < cfg->n_pools; i++)
			assert_ptr_equal(cfg_find_pool(cfg, cfg->pools[i].name),
					 &cfg->pools[i]);
		for (size_t i = 0; i < cfg->n_vips; i++)
			assert_ptr_equal(cfg_find_vip(cfg, &cfg->vips[i].spec),
					 &cfg->vips[i]);
		assert_null(cfg_find_pool(cfg, "nope"));
		assert_null(cfg_find_pool(cfg, "zzz"));
		assert_null(find_vip(cfg, "203.0.113.10:81/tcp"));
		assert_null(find_vip(cfg, "[2001:db8::11]:any/udp"));
	}
}

static void a_clone_is_equal_and_shares_nothing(void **state)
{
	_cleanup_cfg_ struct cfg *cfg = must_parse(full), *copy = NULL;
	_cleanup_cfg_ struct cfg *again = must_parse(full);

	(void)state;
	assert_int_equal(cfg_clone(cfg, &copy, NULL), 0);
	assert_same_cfg(cfg, copy);
	for (size_t i = 0; i < copy->n_pools; i++) {
		copy->pools[i].table_size = 257;
		for (size_t j = 0; j < copy->pools[i].n_backends; j++)
			copy->pools[i].backends[j].weight = 99;
	}
	for (size_t i = 0; i < copy->n_vips; i++)
		copy->vips[i].pool[0] = 'x';
	assert_same_cfg(cfg, again);
}

static void the_written_file_is_what_an_operator_would_write(void **state)
{
	_cleanup_cfg_ struct cfg *cfg = must_parse(full);
	_cleanup_free_ char *yaml = must_dump(cfg);

	(void)state;
	assert_string_equal(yaml,
			    "interface: eth0\n"
			    "attach: native\n"
			    "dispatcher: true\n"
			    "hash_key: \"00010203040506070809101112131415\"\n"
			    "flows: 2097152\n"
			    "icmp_rate: 0\n"
			    "tunnel_source:\n"
			    "  ipv4: 10.1.0.2\n"
			    "  ipv6: 2001:db8:1::2\n"
			    "pools:\n"
			    "  empty: {}\n"
			    "  web:\n"
			    "    encap: gue\n"
			    "    gue_port: 6081\n"
			    "    algorithm: capped\n"
			    "    table_size: 251\n"
			    "    slack: 3\n"
			    "    ring_points: 99\n"
			    "    all_down: drop\n"
			    "    backends:\n"
			    "    - address: 10.1.0.12\n"
			    "      weight: 0\n"
			    "      state: drain\n"
			    "    - address: 2001:db8::11\n"
			    "      name: a-1\n"
			    "      weight: 65535\n"
			    "vips:\n"
			    "- address: 203.0.113.10:80/tcp\n"
			    "- address: 203.0.113.10:443/tcp\n"
			    "  pool: web\n"
			    "- address: '[2001:db8::10]:any/udp'\n"
			    "  encap: gue\n"
			    "  backends:\n"
			    "  - address: 10.1.0.11\n");
}

static void names_that_yaml_could_misread_are_quoted(void **state)
{
	static const char *const names[] = {
		"null", "NULL", "Yes", "no",
		"y",	"true", "123", "1.5",
		"0x1",	"1e3",	"-1",  ".5",
		"1_0",	"1:30", "-",   "1:2:3:4:5:6:7:8",
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		_cleanup_cfg_ struct cfg *cfg = must_parse(full), *again = NULL;
		_cleanup_free_ char *yaml = NULL;
		char quoted[64];
		struct cfg_pool *web = cfg_find_pool(cfg, "web");

		snprintf(web->backends[0].name, CFG_NAME_MAX, "%s", names[i]);
		assert_int_equal(cfg_check(cfg, NULL), 0);
		yaml = must_dump(cfg);
		snprintf(quoted, sizeof(quoted), "name: \"%s\"\n", names[i]);
		assert_non_null(strstr(yaml, quoted));
		again = must_parse(yaml);
		assert_same_cfg(cfg, again);
	}
}

static uint32_t pick(unsigned int *seed, uint32_t n)
{
	return (uint32_t)rand_r(seed) % n;
}

static void random_backends(FILE *f, const char *indent, unsigned int *seed)
{
	int n = pick(seed, 5);

	fprintf(f, "%sbackends:%s\n", indent, n ? "" : " []");
	for (int i = 0; i < n; i++) {
		fprintf(f,
			pick(seed, 2) ? "%s- address: 10.1.%u.%u\n" :
					"%s- address: 2001:db8::%x:%x\n",
			indent, pick(seed, 256), i + 1);
		if (pick(seed, 2))
			fprintf(f, "%s  name: n%u.%d\n", indent, pick(seed, 99),
				i);
		if (pick(seed, 2))
			fprintf(f, "%s  weight: %u\n", indent, pick(seed, 65536));
		if (pick(seed, 2))
			fprintf(f, "%s  state: %s\n", indent,
				admin_state_name(pick(seed, ADMIN__MAX)));
	}
}

static void random_table_keys(FILE *f, const char *indent, unsigned int *seed)
{
	enum table_algorithm algorithm = pick(seed, TABLE__MAX);

	/* A ring of such weights has more points than are allowed. */
	if (algorithm != TABLE_RING)
		fprintf(f, "%salgorithm: %s\n", indent,
			table_algorithm_name(algorithm));
	if (pick(seed, 2))
		fprintf(f, "%sslack: %u\n", indent, pick(seed, 101));
	if (pick(seed, 2))
		fprintf(f, "%sring_points: %u\n", indent, 1 + pick(seed, 500));
	if (pick(seed, 2))
		fprintf(f, "%sall_down: %s\n", indent,
			all_down_name(pick(seed, ALL_DOWN__MAX)));
}

static void random_check(FILE *f, const char *indent, unsigned int *seed)
{
	fprintf(f, "%scheck:\n%s  port: %u\n%s  interval: %us\n", indent, indent,
		1 + pick(seed, 65535), indent, 1 + pick(seed, 200));
	if (pick(seed, 2))
		fprintf(f, "%s  via: %s\n", indent, check_via_name(pick(seed, CHECK_VIA__MAX)));
	if (pick(seed, 2))
		fprintf(f, "%s  jitter: %u\n%s  fall: %u\n", indent, pick(seed, 51), indent,
			1 + pick(seed, 100));
	if (pick(seed, 2)) {
		fprintf(f, "%s  type: tcp\n", indent);
		if (pick(seed, 2))
			fprintf(f, "%s  receive: \"\\x%02x '%c \"\n", indent,
				1 + pick(seed, 255), ' ' + pick(seed, 2));
		return;
	}
	fprintf(f, "%s  status: %u-%u\n%s  type: http%s\n", indent, 100 + pick(seed, 200),
		300 + pick(seed, 300), indent, pick(seed, 2) ? "" : "s");
	if (pick(seed, 2))
		fprintf(f, "%s  path: /%x\n%s  host: h%u\n", indent, pick(seed, 99), indent,
			pick(seed, 99));
	if (pick(seed, 2))
		fprintf(f, "%s  body: \"%u\\n \"\n", indent, pick(seed, 99));
}

static void random_health_keys(FILE *f, const char *indent, unsigned int *seed)
{
	if (pick(seed, 2))
		random_check(f, indent, seed);
	if (pick(seed, 2))
		fprintf(f, "%sinitial: %s\n%sinitial_timeout: %us\n", indent,
			pick(seed, 2) ? "up" : "down", indent, pick(seed, 100));
	if (pick(seed, 2))
		fprintf(f, "%sslow_start: %u\n", indent, pick(seed, 3601));
	if (pick(seed, 2))
		fprintf(f, "%sdamping: {suppress: %u, reuse: %u, half_life: %um}\n", indent,
			2000 + pick(seed, 14001), 1 + pick(seed, 1999), 1 + pick(seed, 60));
	if (pick(seed, 2))
		fprintf(f, "%spanic_threshold: %u\n%squorum: %u\n", indent, pick(seed, 101),
			indent, pick(seed, 9));
	if (pick(seed, 2))
		fprintf(f, "%squorum_hysteresis: %u\n%sdrain_timeout: %us\n", indent,
			pick(seed, 9), indent, pick(seed, 86401));
}

static void random_pool_keys(FILE *f, const char *indent, unsigned int *seed)
{
	static const int sizes[] = { 251, 65537, 655373 };

	if (pick(seed, 2))
		fprintf(f, "%sencap: %s\n", indent,
			encap_name(pick(seed, ENCAP__MAX)));
	if (pick(seed, 2))
		fprintf(f, "%sgue_port: %u\n", indent, 1 + pick(seed, 65535));
	if (pick(seed, 2))
		fprintf(f, "%stable_size: %d\n", indent,
			sizes[pick(seed, ARRAY_SIZE(sizes))]);
	random_table_keys(f, indent, seed);
	random_health_keys(f, indent, seed);
	random_backends(f, indent, seed);
}

static void random_head(FILE *f, unsigned int *seed)
{
	fprintf(f, "interface: e%u\n", pick(seed, 100));
	fprintf(f, "attach: %s\n", attach_mode_name(pick(seed, ATTACH__MAX)));
	if (pick(seed, 2))
		fprintf(f, "dispatcher: %s\n", pick(seed, 2) ? "true" : "false");
	if (pick(seed, 2))
		fprintf(f, "hash_key: %032x\n", pick(seed, 1000000));
	if (pick(seed, 2))
		fprintf(f, "flows: %uK\n", 1 + pick(seed, 100000));
	if (pick(seed, 2))
		fprintf(f, "icmp_rate: %u\n", pick(seed, 20000));
	if (pick(seed, 2))
		fprintf(f, "tunnel_source: {ipv4: 10.9.9.%u}\n", pick(seed, 256));
	if (pick(seed, 2))
		fprintf(f, "publish_interval: %ums\n", 10 + pick(seed, 9991));
	if (pick(seed, 2))
		fprintf(f, "check_user: u%u\n", pick(seed, 256));
}

static void random_options(FILE *f, unsigned int *seed)
{
	if (pick(seed, 2))
		fprintf(f, "  hash: %s\n", hash_mode_name(pick(seed, HASH__MAX)));
	if (pick(seed, 2))
		fprintf(f, "  tcp_junk: %s\n", pick(seed, 2) ? "drop" : "pass");
	if (pick(seed, 2))
		fprintf(f, "  oversize: %s\n", pick(seed, 2) ? "drop" : "send");
	if (pick(seed, 2))
		fprintf(f, "  on_down: %s\n", pick(seed, 2) ? "rehash" : "keep");
	if (pick(seed, 2))
		fprintf(f, "  udp_idle_timeout: %u\n", pick(seed, 1000));
	if (pick(seed, 2))
		fprintf(f, "  new_flow_limit: %u\n", pick(seed, 1000));
	if (pick(seed, 2))
		fprintf(f, "  allow: [10.%u.0.0/16, 10.0.0.0/8]\n", pick(seed, 256));
	if (pick(seed, 2))
		fprintf(f, "  deny: [192.0.2.%u, 0.0.0.0/0]\n", pick(seed, 256));
}

static char *random_yaml(unsigned int seed)
{
	int pools = pick(&seed, 4), vips = pick(&seed, 6);
	size_t size;
	char *yaml;
	FILE *f = open_memstream(&yaml, &size);

	random_head(f, &seed);
	fprintf(f, "pools:%s\n", pools ? "" : " {}");
	for (int i = 0; i < pools; i++) {
		fprintf(f, "  p%d:\n", 7 * i % 4);
		random_pool_keys(f, "    ", &seed);
	}
	fprintf(f, "vips:%s\n", vips ? "" : " []");
	for (int i = 0; i < vips; i++) {
		fprintf(f, "- address: 203.0.113.%u:%d/%s\n", pick(&seed, 256),
			i + 1, pick(&seed, 2) ? "tcp" : "udp");
		random_options(f, &seed);
		if (pools && pick(&seed, 2))
			fprintf(f, "  pool: p%d\n",
				7 * (int)pick(&seed, pools) % 4);
		else
			random_pool_keys(f, "  ", &seed);
	}
	fclose(f);
	return yaml;
}

static void reading_what_was_written_gives_the_same(void **state)
{
	(void)state;
	for (unsigned int seed = 1; seed <= 500; seed++) {
		_cleanup_free_ char *yaml = random_yaml(seed), *written = NULL;
		_cleanup_cfg_ struct cfg *cfg = must_parse(yaml), *back = NULL;

		written = must_dump(cfg);
		back = must_parse(written);
		assert_same_cfg(cfg, back);
	}
}

static void json_has_the_keys_of_the_file_and_typed_values(void **state)
{
	_cleanup_cfg_ struct cfg *cfg = must_parse(full);
	json_t *json = cfg_to_json(cfg), *web;

	(void)state;
	assert_non_null(json);
	web = json_object_get(json_object_get(json, "pools"), "web");
	assert_int_equal(json_integer_value(json_object_get(web, "table_size")),
			 251);
	assert_true(json_is_true(json_object_get(json, "dispatcher")));
	assert_int_equal(json_array_size(json_object_get(json, "vips")), 3);
	assert_int_equal(json_object_size(json_object_get(json, "pools")), 2);
	json_decref(json);
}

static void a_file_is_loaded_and_named_in_messages(void **state)
{
	char path[] = "/tmp/fairlead-test-XXXXXX", expected[64];
	_cleanup_close_ int fd = mkstemp(path);
	_cleanup_cfg_ struct cfg *cfg = NULL;
	struct err err;

	(void)state;
	assert_true(fd >= 0);
	assert_int_equal(write(fd, full, strlen(full)), strlen(full));
	assert_int_equal(cfg_load_file(path, &cfg, &err), 0);
	assert_string_equal(cfg->file, path);
	assert_int_equal(cfg->n_vips, 3);
	cfg_free(&cfg);

	assert_int_equal(ftruncate(fd, 0), 0);
	assert_int_equal(cfg_load_file(path, &cfg, &err), -EINVAL);
	snprintf(expected, sizeof(expected), "%s:1:1: ", path);
	assert_ptr_equal(strstr(err.text, expected), err.text);

	/* a hole, so that it takes no room */
	assert_int_equal(ftruncate(fd, CFG_FILE_SIZE_MAX + 1), 0);
	assert_int_equal(cfg_load_file(path, &cfg, &err), -EINVAL);
	assert_non_null(strstr(err.text, "too large; allowed: 67108864 bytes"));
	assert_null(cfg);
	unlink(path);
}

static void what_is_no_file_is_refused_with_the_reason(void **state)
{
	struct cfg *cfg = NULL;
	struct err err;

	(void)state;
	assert_int_equal(cfg_load_file("/nonexistent/f.yaml", &cfg, &err),
			 -ENOENT);
	assert_string_equal(err.text,
			    "/nonexistent/f.yaml: cannot open the file: "
			    "No such file or directory");
	assert_int_equal(cfg_load_file("/", &cfg, &err), -EISDIR);
	assert_string_equal(err.text,
			    "/: cannot read the file: Is a directory");
	assert_null(cfg);
}

static void errors_may_go_unread(void **state)
{
	struct cfg *cfg = NULL;

	(void)state;
	assert_int_equal(cfg_parse_yaml("x", 1, NULL, &cfg, NULL), -EINVAL);
	assert_int_equal(cfg_parse_yaml("flows: 1", 8, "f", &cfg, NULL), -EINVAL);
	assert_int_equal(cfg_load_file("/", &cfg, NULL), -EISDIR);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_key_of_the_file_is_read),
		cmocka_unit_test(a_named_pool_has_its_keys_and_sorted_backends),
		cmocka_unit_test(a_vip_without_pool_has_a_private_one_of_its_name),
		cmocka_unit_test(what_the_file_does_not_say_has_its_default),
		cmocka_unit_test(ways_to_write_the_same_yaml_are_the_same),
		cmocka_unit_test(find_works_before_and_after_the_check),
		cmocka_unit_test(a_clone_is_equal_and_shares_nothing),
		cmocka_unit_test(the_written_file_is_what_an_operator_would_write),
		cmocka_unit_test(names_that_yaml_could_misread_are_quoted),
		cmocka_unit_test(reading_what_was_written_gives_the_same),
		cmocka_unit_test(json_has_the_keys_of_the_file_and_typed_values),
		cmocka_unit_test(a_file_is_loaded_and_named_in_messages),
		cmocka_unit_test(what_is_no_file_is_refused_with_the_reason),
		cmocka_unit_test(errors_may_go_unread),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
