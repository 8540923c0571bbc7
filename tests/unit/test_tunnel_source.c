// SPDX-License-Identifier: GPL-2.0-only
/*
 * Where tunnels start, from the words of the configuration to what the packet
 * path reads; and which backends straight code can send to.
 */
#include "cfg_testing.h"

#include <arpa/inet.h>

#include "core/outer.h"

static struct tunnel_source must_source(const char *text, int family)
{
	struct tunnel_source source = { 0 };
	struct err err = { 0 };

	if (tunnel_source_parse(text, "source", family, &source, &err))
		fail_msg("%s", err.text);
	return source;
}

static void sources_come_out_as_they_went_in(void **state)
{
	static const struct {
		const char *in, *out;
		int family;
		unsigned int length;
		uint32_t mask; /* host order */
	} rows[] = {
		{ "10.1.0.2", "10.1.0.2", AF_INET, 32, 0 },
		{ "10.1.0.2/32", "10.1.0.2", AF_INET, 32, 0 },
		{ "10.1.0.2/31", "10.1.0.2/31", AF_INET, 31, 1 },
		{ "10.250.0.0/16", "10.250.0.0/16", AF_INET, 16, 0xffff },
		{ "10.250.1.0/25", "10.250.1.0/25", AF_INET, 25, 0x7f },
		{ "10.0.0.0/8", "10.0.0.0/8", AF_INET, 8, 0xffffff },
		{ "2001:db8::2", "2001:db8::2", AF_INET6, 128, 0 },
		{ "2001:db8::2/128", "2001:db8::2", AF_INET6, 128, 0 },
		{ "2001:db8::fe/127", "2001:db8::fe/127", AF_INET6, 127, 1 },
		{ "2001:DB8::0/112", "2001:db8::/112", AF_INET6, 112, 0xffff },
		{ "2001:db8::/97", "2001:db8::/97", AF_INET6, 97, 0x7fffffff },
		{ "2001:db8::/96", "2001:db8::/96", AF_INET6, 96, 0xffffffff },
		/* The flows fill the last 32 bits at most. */
		{ "2001:db8:5:6::/64", "2001:db8:5:6::/64", AF_INET6, 64, 0xffffffff },
	};
	char text[TUNNEL_SOURCE_TEXT_MAX];

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct tunnel_source source = must_source(rows[i].in, rows[i].family);

		assert_int_equal(source.addr.family, rows[i].family);
		assert_int_equal(source.prefix_len, rows[i].length);
		assert_string_equal(tunnel_source_format(&source, text), rows[i].out);
		assert_int_equal(ntohl(tunnel_source_mask(&source)), rows[i].mask);
	}
}

static void wrong_sources_are_refused_with_what_is_allowed(void **state)
{
	static const struct {
		const char *text;
		int family;
		const char *sentence;
	} rows[] = {
		{ "10.250.0.1/16", AF_INET,
		  "source '10.250.0.1/16' has bits set behind the prefix; allowed: an "
		  "address, or a prefix whose last bits are zero" },
		{ "10.250.128.0/16", AF_INET, "bits set behind the prefix" },
		{ "10.1.0.3/31", AF_INET, "bits set behind the prefix" },
		{ "2001:db8::1/127", AF_INET6, "bits set behind the prefix" },
		{ "2001:db8:5:6:8000::/64", AF_INET6, "bits set behind the prefix" },
		{ "10.0.0.0/7", AF_INET, "out of range; allowed: 8 to 32" },
		{ "10.0.0.0/33", AF_INET, "out of range; allowed: 8 to 32" },
		{ "2001:db8::/129", AF_INET6, "out of range; allowed: 8 to 128" },
		{ "10.0.0.0/", AF_INET, "prefix length" },
		{ "10.0.0.0/16/8", AF_INET, "prefix length" },
		{ "10.0.0.0/-1", AF_INET, "prefix length" },
		{ "/16", AF_INET, "''" },
		{ "", AF_INET, "''" },
		{ "10.250.0.0/16", AF_INET6,
		  "is of the other family; allowed: an IPv6 address or prefix" },
		{ "2001:db8::/64", AF_INET,
		  "is of the other family; allowed: an IPv4 address or prefix" },
		{ "127.0.0.0/8", AF_INET, "is a loopback address" },
		{ "fe80::/64", AF_INET6, "is a link-local address" },
		{ "1111:2222:3333:4444:5555:6666:7777:8888:9999:aaaa:bbbb/64", AF_INET6,
		  "source " },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct tunnel_source source = { .prefix_len = 77 };
		struct err err = { 0 };

		if (tunnel_source_parse(rows[i].text, "source", rows[i].family, &source,
					&err) >= 0)
			fail_msg("'%s' was not refused", rows[i].text);
		if (!strstr(err.text, rows[i].sentence))
			fail_msg("'%s' is not in: %s", rows[i].sentence, err.text);
		assert_int_equal(source.prefix_len, 77);
	}
}

static void unset_source_spreads_nothing(void **state)
{
	struct tunnel_source none = { 0 };

	(void)state;
	assert_int_equal(tunnel_source_mask(&none), 0);
}

static void sources_differ_by_address_and_by_length(void **state)
{
	struct tunnel_source a = must_source("10.250.0.0/16", AF_INET);
	struct tunnel_source b = must_source("10.250.0.0/17", AF_INET);
	struct tunnel_source c = must_source("10.251.0.0/16", AF_INET);
	struct tunnel_source none = { 0 };

	(void)state;
	assert_true(tunnel_source_equal(&a, &a));
	assert_true(tunnel_source_equal(&none, &none));
	assert_false(tunnel_source_equal(&a, &b));
	assert_false(tunnel_source_equal(&a, &c));
	assert_false(tunnel_source_equal(&a, &none));
}

#define BASE                                             \
	"interface: eth0\n"                              \
	"hash_key: 000102030405060708090a0b0c0d0e0f\n"

static void configuration_keeps_prefixes(void **state)
{
	_cleanup_cfg_ struct cfg *cfg = must_parse(
		BASE "tunnel_source: {ipv4: 10.250.0.0/16, ipv6: '2001:db8:5:6::/64'}\n");
	_cleanup_free_ char *yaml = must_dump(cfg);
	_cleanup_cfg_ struct cfg *back = must_parse(yaml);

	(void)state;
	assert_int_equal(back->tunnel_source4.prefix_len, 16);
	assert_int_equal(back->tunnel_source6.prefix_len, 64);
	assert_true(tunnel_source_equal(&cfg->tunnel_source4, &back->tunnel_source4));
	assert_true(tunnel_source_equal(&cfg->tunnel_source6, &back->tunnel_source6));
}

static void configuration_keeps_every_encap_and_its_port(void **state)
{
	static const struct {
		const char *word;
		unsigned int encap;
		bool has_port;
	} rows[] = {
		{ "ipip", ENCAP_IPIP, false }, { "gue", ENCAP_GUE, true },
		{ "gue1", ENCAP_GUE1, true },  { "gre", ENCAP_GRE, false },
		{ "l2", ENCAP_L2, false },
	};
	char text[256];

	(void)state;
	assert_int_equal(ARRAY_SIZE(rows), ENCAP__MAX);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		_cleanup_cfg_ struct cfg *cfg = NULL, *back = NULL;
		_cleanup_free_ char *yaml = NULL;

		snprintf(text, sizeof(text), BASE "pools: {p: {encap: %s%s}}\n", rows[i].word,
			 rows[i].has_port ? ", gue_port: 99" : "");
		cfg = must_parse(text);
		yaml = must_dump(cfg);
		back = must_parse(yaml);
		assert_int_equal(back->pools[0].encap, rows[i].encap);
		assert_int_equal(back->pools[0].gue_port,
				 rows[i].has_port ? 99 : GUE_PORT_DEFAULT);
		assert_int_equal(encap_has_port(rows[i].encap), rows[i].has_port);
		assert_string_equal(encap_name(rows[i].encap), rows[i].word);
	}
}

static void count_warning(void *count, const char *text)
{
	assert_non_null(strstr(text, "gue_port is not used, as encap is"));
	++*(int *)count;
}

static void port_without_gue_is_warned_of(void **state)
{
	static const char *const words[] = { "ipip", "gue", "gue1", "gre", "l2" };
	static const int warnings[] = { 1, 0, 0, 1, 1 };
	char text[256];

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(words); i++) {
		_cleanup_cfg_ struct cfg *cfg = NULL;
		int n = 0;

		snprintf(text, sizeof(text), BASE "pools: {p: {encap: %s, gue_port: 99}}\n",
			 words[i]);
		cfg = must_parse(text);
		cfg_warnings(cfg, count_warning, &n);
		assert_int_equal(n, warnings[i]);
	}
}

/* A backend whose packets go out as the words say. */
static struct backend filled(unsigned int encap, const char *source, int family)
{
	struct tunnel_source from = must_source(source, family);
	struct backend_ident ident = { .encap = encap, .addr.family = family };
	struct next_hop hop = { .resolved = true, .source = from.addr,
				.source_mask = tunnel_source_mask(&from) };
	struct backend backend;

	outer_fill(&ident, &hop, 0, &backend);
	return backend;
}

static void straight_code_sends_ipip_and_gue_from_one_address(void **state)
{
	unsigned int encap;

	(void)state;
	for (encap = 0; encap < ENCAP__MAX; encap++) {
		bool plain = encap == ENCAP_IPIP || encap == ENCAP_GUE;

		assert_int_equal(!!(filled(encap, "10.1.0.2", AF_INET).flags & BACKEND_PLAIN),
				 plain);
		assert_int_equal(!!(filled(encap, "2001:db8::2", AF_INET6).flags & BACKEND_PLAIN),
				 plain);
		assert_false(filled(encap, "10.250.0.0/16", AF_INET).flags & BACKEND_PLAIN);
		assert_false(filled(encap, "2001:db8::/64", AF_INET6).flags & BACKEND_PLAIN);
	}
}

/* A daemon that adopts the maps writes the same line again. */
static void next_hop_survives_the_map(void **state)
{
	static const struct {
		const char *source;
		int family;
	} rows[] = {
		{ "10.1.0.2", AF_INET }, { "10.250.0.0/16", AF_INET },
		{ "2001:db8::2", AF_INET6 }, { "2001:db8:5:6::/64", AF_INET6 },
	};
	unsigned int encap;

	(void)state;
	for (encap = 0; encap < ENCAP__MAX; encap++) {
		for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
			struct backend before = filled(encap, rows[i].source, rows[i].family);
			struct backend_ident ident;
			struct next_hop hop;
			struct backend after;

			assert_true(outer_ident(&before, &ident));
			outer_next_hop(&before, &hop);
			outer_fill(&ident, &hop, 0, &after);
			assert_memory_equal(&before, &after, sizeof(after));
		}
	}
}

static void line_has_the_mask_of_the_source(void **state)
{
	(void)state;
	assert_int_equal(filled(ENCAP_GRE, "10.1.0.2", AF_INET).source_mask, 0);
	assert_int_equal(filled(ENCAP_GRE, "10.250.0.0/16", AF_INET).source_mask,
			 htonl(0xffff));
	assert_int_equal(filled(ENCAP_IPIP, "2001:db8::/64", AF_INET6).source_mask,
			 0xffffffff);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sources_come_out_as_they_went_in),
		cmocka_unit_test(wrong_sources_are_refused_with_what_is_allowed),
		cmocka_unit_test(unset_source_spreads_nothing),
		cmocka_unit_test(sources_differ_by_address_and_by_length),
		cmocka_unit_test(configuration_keeps_prefixes),
		cmocka_unit_test(configuration_keeps_every_encap_and_its_port),
		cmocka_unit_test(port_without_gue_is_warned_of),
		cmocka_unit_test(straight_code_sends_ipip_and_gue_from_one_address),
		cmocka_unit_test(next_hop_survives_the_map),
		cmocka_unit_test(line_has_the_mask_of_the_source),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
