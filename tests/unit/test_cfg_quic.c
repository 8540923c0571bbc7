// SPDX-License-Identifier: GPL-2.0-only
/* QUIC-LB in the configuration: read, written, checked, edited. */
#include "cfg_testing.h"

#include <errno.h>
#include <jansson.h>

#define HEAD "interface: eth0\nvips:\n- address: 203.0.113.10:443/udp\n"
#define VIP "vip '203.0.113.10:443/udp': "
#define QUIC "  quic: {config_id: 2, server_id_length: 4}\n"
#define BACKENDS                                            \
	"  backends:\n"                                     \
	"  - {address: 10.1.0.11, server_id: C0FFEE01}\n" \
	"  - {address: 10.1.0.12, server_id: \"00000002\"}\n" \
	"  - {address: 10.1.0.13}\n"

static const uint8_t first_id[QUIC_SERVER_ID_MAX] = { 0xc0, 0xff, 0xee, 0x01 };

static const struct cfg_backend *backend_of(const struct cfg *cfg, const char *name)
{
	const struct cfg_pool *pool = &cfg->pools[0];

	for (size_t i = 0; i < pool->n_backends; i++)
		if (!strcmp(pool->backends[i].name, name))
			return &pool->backends[i];
	fail_msg("no backend %s", name);
	return NULL;
}

static void quic_and_server_ids_are_read(void **state)
{
	_cleanup_cfg_ struct cfg *cfg = must_parse(HEAD QUIC BACKENDS);

	(void)state;
	assert_int_equal(cfg->vips[0].quic_config_id, 2);
	assert_int_equal(cfg->vips[0].quic_server_id_length, 4);
	assert_int_equal(backend_of(cfg, "10.1.0.11")->server_id_length, 4);
	assert_memory_equal(backend_of(cfg, "10.1.0.11")->server_id, first_id,
			    sizeof(first_id));
	assert_int_equal(backend_of(cfg, "10.1.0.13")->server_id_length, 0);
}

static void without_quic_there_is_none(void **state)
{
	_cleanup_cfg_ struct cfg *cfg = must_parse(HEAD BACKENDS);

	(void)state;
	assert_int_equal(cfg->vips[0].quic_server_id_length, 0);
}

/* Ids that look like numbers stay text, to other readers of YAML as well. */
static void what_is_written_is_read_as_the_same(void **state)
{
	_cleanup_cfg_ struct cfg *cfg = must_parse(HEAD QUIC BACKENDS);
	_cleanup_cfg_ struct cfg *again = NULL;
	_cleanup_free_ char *text = NULL;

	(void)state;
	assert_int_equal(cfg_to_yaml(cfg, &text, NULL), 0);
	assert_non_null(strstr(text, "server_id: c0ffee01\n"));
	assert_non_null(strstr(text, "server_id: \"00000002\"\n"));
	assert_non_null(strstr(text, "  quic:\n    config_id: 2\n    server_id_length: 4\n"));
	again = must_parse(text);
	assert_same_cfg(cfg, again);
}

static void wrong_quic_is_refused_in_one_sentence(void **state)
{
	static const struct {
		const char *yaml, *sentence;
	} rows[] = {
		{ HEAD "  quic: 2\n",
		  "t.yaml:4:9: vip '203.0.113.10:443/udp': quic is a single value; "
		  "allowed: a mapping with the keys config_id, server_id_length" },
		{ HEAD "  quic: {config_id: 2}\n",
		  "t.yaml:4:9: vip '203.0.113.10:443/udp': key 'server_id_length' is "
		  "missing in quic; required: config_id, server_id_length" },
		{ HEAD "  quic: {server_id_length: 2}\n",
		  "t.yaml:4:9: vip '203.0.113.10:443/udp': key 'config_id' is "
		  "missing in quic; required: config_id, server_id_length" },
		{ HEAD "  quic: {config_id: 1, nonce: 2}\n",
		  "t.yaml:4:24: vip '203.0.113.10:443/udp': key 'nonce' is not known "
		  "in quic; allowed: config_id, server_id_length" },
		{ HEAD "  quic: {config_id: 7, server_id_length: 2}\n",
		  "t.yaml:4:21: vip '203.0.113.10:443/udp': config_id '7' is out of range; "
		  "allowed: 0 to 6" },
		{ HEAD "  quic: {config_id: 0, server_id_length: 0}\n",
		  "t.yaml:4:42: vip '203.0.113.10:443/udp': server_id_length '0' is out of "
		  "range; allowed: 1 to 15" },
		{ HEAD "  quic: {config_id: 0, server_id_length: 16}\n",
		  "t.yaml:4:42: vip '203.0.113.10:443/udp': server_id_length '16' is out of "
		  "range; allowed: 1 to 15" },
		{ "interface: eth0\nvips:\n- address: 203.0.113.10:443/tcp\n" QUIC,
		  "t.yaml:3:3: vip '203.0.113.10:443/tcp': quic is for packets of UDP; "
		  "allowed: quic in VIPs of the protocol udp" },
		{ "interface: eth0\nvips:\n- address: 203.0.113.10:any/any\n" QUIC,
		  "t.yaml:3:3: vip '203.0.113.10:any/any': quic is for packets of UDP; "
		  "allowed: quic in VIPs of the protocol udp" },
		{ HEAD QUIC "  backends: [{address: 10.1.0.11, server_id: c0ffee}]\n",
		  "t.yaml:3:3: vip '203.0.113.10:443/udp': server_id of backend "
		  "'10.1.0.11' has 3 bytes and server_id_length is 4; allowed: as many "
		  "bytes as that, or no server_id" },
		{ HEAD "  backends: [{address: 10.1.0.11, server_id: c0ffe}]\n",
		  "t.yaml:4:46: vip '203.0.113.10:443/udp': backend '10.1.0.11': server_id "
		  "'c0ffe' is no server id; allowed: 1 to 15 bytes, two hexadecimal digits "
		  "each, or none" },
		{ HEAD "  backends: [{address: 10.1.0.11, server_id: 0x01}]\n",
		  "t.yaml:4:46: vip '203.0.113.10:443/udp': backend '10.1.0.11': server_id "
		  "'0x01' is no server id; allowed: 1 to 15 bytes, two hexadecimal digits "
		  "each, or none" },
		{ HEAD "  backends: [{address: 10.1.0.11, server_id: "
		       "000102030405060708090a0b0c0d0e0f}]\n",
		  "t.yaml:4:46: vip '203.0.113.10:443/udp': backend '10.1.0.11': server_id "
		  "'000102030405060708090a0b0c0d0e0f' is no server id; allowed: 1 to 15 "
		  "bytes, two hexadecimal digits each, or none" },
		{ HEAD "  backends:\n  - {address: 10.1.0.12, server_id: AB}\n"
		       "  - {address: 10.1.0.11, server_id: ab}\n",
		  "t.yaml:5:5: vip '203.0.113.10:443/udp': backend '10.1.0.12' has the "
		  "server_id of backend '10.1.0.11'; allowed: each server_id once in a "
		  "pool" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		_cleanup_cfg_ struct cfg *cfg = NULL;
		struct err err = { 0 };

		if (!cfg_parse_yaml(rows[i].yaml, strlen(rows[i].yaml), "t.yaml", &cfg, &err))
			fail_msg("accepted:\n%s", rows[i].yaml);
		assert_string_equal(err.text, rows[i].sentence);
	}
}

static void quic_is_set_by_commands(void **state)
{
	static const struct cfg_option quic[] = { { "quic", "6:15" } };
	static const struct cfg_option id[] = {
		{ "server_id", "000102030405060708090a0b0c0d0e" } };
	static const struct cfg_option none[] = { { "quic", "none" } };
	static const struct cfg_option no_id[] = { { "server_id", "none" } };
	_cleanup_cfg_ struct cfg *cfg =
		must_parse(HEAD "  backends: [{address: 10.1.0.11}]\n");
	const char *vip = "203.0.113.10:443/udp";

	(void)state;
	assert_int_equal(cfg_vip_set(cfg, vip, quic, 1, NULL), 0);
	assert_int_equal(cfg_backend_set(cfg, vip, "10.1.0.11", id, 1, NULL), 0);
	assert_int_equal(cfg_check(cfg, NULL), 0);
	assert_int_equal(cfg->vips[0].quic_config_id, 6);
	assert_int_equal(cfg->vips[0].quic_server_id_length, 15);
	assert_int_equal(cfg->pools[0].backends[0].server_id_length, 15);
	assert_int_equal(cfg->pools[0].backends[0].server_id[14], 0x0e);

	assert_int_equal(cfg_vip_set(cfg, vip, none, 1, NULL), 0);
	assert_int_equal(cfg_backend_set(cfg, vip, "10.1.0.11", no_id, 1, NULL), 0);
	assert_int_equal(cfg->vips[0].quic_server_id_length, 0);
	assert_int_equal(cfg->pools[0].backends[0].server_id_length, 0);
}

static void wrong_quic_of_a_command_is_refused(void **state)
{
	static const struct {
		const char *value, *sentence;
	} rows[] = {
		{ "2", VIP "quic is '2'; allowed: CONFIG_ID:SERVER_ID_LENGTH, or none" },
		{ "", VIP "quic is ''; allowed: CONFIG_ID:SERVER_ID_LENGTH, or none" },
		{ "7:4", VIP "config_id '7' is out of range; allowed: 0 to 6" },
		{ "2:16", VIP "server_id_length '16' is out of range; allowed: 1 to 15" },
	};
	_cleanup_cfg_ struct cfg *cfg =
		must_parse(HEAD "  backends: [{address: 10.1.0.11}]\n");

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct cfg_option option = { "quic", rows[i].value };
		struct err err = { 0 };

		assert_int_equal(cfg_vip_set(cfg, "203.0.113.10:443/udp", &option, 1, &err),
				 -EINVAL);
		assert_string_equal(err.text, rows[i].sentence);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(quic_and_server_ids_are_read),
		cmocka_unit_test(without_quic_there_is_none),
		cmocka_unit_test(what_is_written_is_read_as_the_same),
		cmocka_unit_test(wrong_quic_is_refused_in_one_sentence),
		cmocka_unit_test(quic_is_set_by_commands),
		cmocka_unit_test(wrong_quic_of_a_command_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
