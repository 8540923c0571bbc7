// SPDX-License-Identifier: GPL-2.0-only
/*
 * VIPs of every kind, laid into the kernel's maps as the daemon would, and which
 * of them a packet is for: row by row, and for random VIPs against a search that
 * looks at each of them.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include <arpa/inet.h>
#include <linux/bpf.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "tests/lib/random.h"
#include "tests/unit/vip_search.h"
#include "world.h"

#define VIPS_MAX 24
#define FIRST_ID 100 /* the VIPs of the world have lower ones */
#define FIRST_GROUP 100

static struct world world;

struct kinds {
	struct plan_vip vips[VIPS_MAX];
	size_t n;
	struct vip_entries entries; /* that are in the maps */
	uint16_t last_group;
};

static int map_of(enum vip_map map)
{
	struct fairlead_bpf *skel = world.skel;
	struct bpf_map *const maps[VIP_MAP__MAX] = {
		skel->maps.vips4,     skel->maps.vips6,    skel->maps.prefixes4,
		skel->maps.prefixes6, skel->maps.services, skel->maps.vip_records,
	};

	return bpf_map__fd(maps[map]);
}

static void add_vip(struct kinds *kinds, const struct vip_spec *spec)
{
	struct plan_vip *vip = &kinds->vips[kinds->n];

	*vip = (struct plan_vip){ .spec = *spec, .id = FIRST_ID + kinds->n,
				  .table = T_MAIN };
	vip->options.idle = vip->options.tcp_idle = FLOW_IDLE_MAX;
	if (!spec->protocol || spec->prefix_len != addr_bits(&spec->addr))
		vip->options.flags |= VIP_WIDE;
	kinds->n++;
}

static int compare(const void *a, const void *b)
{
	const struct plan_vip *x = a, *y = b;

	return vip_spec_compare(&x->spec, &y->spec);
}

static void lay(struct kinds *kinds)
{
	struct vip_entries none = { 0 };
	struct err err = { 0 };
	size_t i;

	qsort(kinds->vips, kinds->n, sizeof(*kinds->vips), compare);
	kinds->last_group = FIRST_GROUP;
	if (services_make(kinds->vips, kinds->n, &none, &kinds->last_group,
			  &kinds->entries, &err))
		fail_msg("%s", err.text);
	for (i = 0; i < kinds->entries.n; i++) {
		const struct vip_entry *entry = &kinds->entries.list[i];

		assert_int_equal(bpf_map_update_elem(map_of(entry->map), entry->key,
						     &entry->vip, BPF_ANY), 0);
		vip_sets_write(&world.vip_sets, entry);
		if (entry->map == VIP_MAP_PREFIXES4)
			world.skel->bss->vip_prefixes |= VIP_PREFIXES4;
		if (entry->map == VIP_MAP_PREFIXES6)
			world.skel->bss->vip_prefixes |= VIP_PREFIXES6;
	}
	vip_filter_add(&world.vip_sets, &kinds->entries);
}

static void clear(struct kinds *kinds)
{
	size_t i;

	for (i = 0; i < kinds->entries.n; i++)
		vip_sets_delete(&world.vip_sets, &kinds->entries.list[i]);
	for (i = 0; i < kinds->entries.n; i++)
		assert_int_equal(bpf_map_delete_elem(map_of(kinds->entries.list[i].map),
						     kinds->entries.list[i].key), 0);
	world.skel->bss->vip_prefixes = 0;
	vip_entries_clear(&kinds->entries);
}

static uint64_t vip_packets(uint16_t id)
{
	int cpus = libbpf_num_possible_cpus();
	struct vip_counters *values = calloc(cpus, sizeof(*values));
	uint32_t key = id;
	uint64_t sum = 0;
	int i;

	assert_non_null(values);
	assert_int_equal(bpf_map_lookup_elem(bpf_map__fd(world.skel->maps.vip_counters),
					     &key, values), 0);
	for (i = 0; i < cpus; i++)
		sum += values[i].packets;
	free(values);
	return sum;
}

/* The id of the VIP that had the frame; 0: none, and *verdict says what then. */
static uint16_t who_has_frame(const struct kinds *kinds, const struct frame_spec *spec,
			      int *verdict)
{
	static const struct run_options plain;
	static struct frame in;
	static struct run run;
	uint64_t before[VIPS_MAX];
	uint16_t id = 0;
	size_t i;

	frame_build(spec, &in);
	for (i = 0; i < kinds->n; i++)
		before[i] = vip_packets(kinds->vips[i].id);
	world_run(&world, &in, &plain, &run);
	for (i = 0; i < kinds->n; i++)
		if (vip_packets(kinds->vips[i].id) != before[i]) {
			assert_int_equal(id, 0);
			id = kinds->vips[i].id;
		}
	*verdict = run.verdict;
	return id;
}

static uint16_t who_has(const struct kinds *kinds, const struct packet *packet, int *verdict)
{
	char dst[ADDR_TEXT_MAX];
	struct frame_spec spec = { .v6 = packet->dst.family == AF_INET6,
				   .dst = addr_format(&packet->dst, dst),
				   .dport = packet->port, .protocol = packet->protocol,
				   .protocol0 = !packet->protocol, .payload = 20 };

	return who_has_frame(kinds, &spec, verdict);
}

static struct packet packet_to(const char *dst, uint8_t protocol, uint16_t port)
{
	struct packet packet = { .protocol = protocol, .port = port };

	assert_int_equal(addr_parse(dst, "address", &packet.dst, NULL), 0);
	return packet;
}

struct row {
	const char *dst;
	uint8_t protocol;
	uint16_t port;
	const char *vip; /* NULL: none has it */
	int verdict;
};

#define ROWS_MAX 12
struct table {
	const char *vips[VIPS_MAX];
	struct row rows[ROWS_MAX];
};

static void check_row(const struct kinds *kinds, const struct row *row)
{
	struct packet packet = packet_to(row->dst, row->protocol, row->port);
	const char *got = NULL;
	char text[VIP_SPEC_TEXT_MAX];
	int verdict;
	uint16_t id = who_has(kinds, &packet, &verdict);

	for (size_t i = 0; i < kinds->n; i++)
		if (kinds->vips[i].id == id)
			got = vip_spec_format(&kinds->vips[i].spec, text);
	if (!got != !row->vip || (got && strcmp(got, row->vip)))
		fail_msg("%s port %u protocol %u: %s, not %s", row->dst, row->port,
			 row->protocol, got ? got : "no VIP", row->vip ? row->vip : "none");
	assert_int_equal(verdict, row->verdict);
}

static void check_table(const struct table *table)
{
	struct kinds kinds = { 0 };
	struct vip_spec spec;
	struct err err = { 0 };
	size_t i;

	world_reset(&world);
	for (i = 0; table->vips[i]; i++) {
		if (vip_spec_parse(table->vips[i], &spec, &err))
			fail_msg("%s", err.text);
		add_vip(&kinds, &spec);
	}
	lay(&kinds);
	for (i = 0; i < ROWS_MAX && table->rows[i].dst; i++)
		check_row(&kinds, &table->rows[i]);
	clear(&kinds);
}

#define T IPPROTO_TCP
#define U IPPROTO_UDP
#define ESP IPPROTO_ESP
#define FRAGMENT IPPROTO_FRAGMENT
#define HAS(vip) vip, XDP_TX
#define NONE NULL, XDP_DROP
#define NOT_OURS NULL, XDP_PASS

static void range_takes_its_ports_and_no_other(void **state)
{
	static const struct table table = {
		{ "198.18.0.1:8001-8998/tcp", "[2001:db8:18::1]:1-65535/udp" },
		{ { "198.18.0.1", T, 8001, HAS("198.18.0.1:8001-8998/tcp") },
		  { "198.18.0.1", T, 8500, HAS("198.18.0.1:8001-8998/tcp") },
		  { "198.18.0.1", T, 8998, HAS("198.18.0.1:8001-8998/tcp") },
		  { "198.18.0.1", T, 8000, NONE },
		  { "198.18.0.1", T, 8999, NONE },
		  { "198.18.0.1", U, 8500, NONE },
		  { "198.18.0.2", T, 8500, NOT_OURS },
		  { "2001:db8:18::1", U, 1, HAS("[2001:db8:18::1]:1-65535/udp") },
		  { "2001:db8:18::1", U, 65535, HAS("[2001:db8:18::1]:1-65535/udp") },
		  { "2001:db8:18::1", T, 80, NONE } },
	};

	(void)state;
	check_table(&table);
}

static void any_protocol_takes_those_without_ports_too(void **state)
{
	static const struct table table = {
		{ "198.18.0.1:any/any", "198.18.0.1:any/udp", "[2001:db8:18::1]:any/any" },
		{ { "198.18.0.1", T, 80, HAS("198.18.0.1:any/any") },
		  { "198.18.0.1", ESP, 0, HAS("198.18.0.1:any/any") },
		  { "198.18.0.1", IPPROTO_SCTP, 0, HAS("198.18.0.1:any/any") },
		  { "198.18.0.1", U, 53, HAS("198.18.0.1:any/udp") },
		  { "2001:db8:18::1", T, 80, HAS("[2001:db8:18::1]:any/any") },
		  { "2001:db8:18::1", ESP, 0, HAS("[2001:db8:18::1]:any/any") } },
	};

	(void)state;
	check_table(&table);
}

/* In IPv4 they are protocols as others, whatever stands under them in the maps. */
static void protocols_0_and_44_are_for_any_protocol_only(void **state)
{
	static const struct table table = {
		{ "198.18.0.1:any/any", "198.18.0.2:80/tcp", "198.18.0.3:any/udp",
		  "198.18.0.16/28:any/any", "198.18.0.32/28:1-90/tcp" },
		{ { "198.18.0.1", 0, 0, HAS("198.18.0.1:any/any") },
		  { "198.18.0.1", FRAGMENT, 0, HAS("198.18.0.1:any/any") },
		  { "198.18.0.2", 0, 0, NONE },
		  { "198.18.0.2", FRAGMENT, 0, NONE },
		  { "198.18.0.3", 0, 0, NONE },
		  { "198.18.0.3", FRAGMENT, 0, NONE },
		  { "198.18.0.17", 0, 0, HAS("198.18.0.16/28:any/any") },
		  { "198.18.0.17", FRAGMENT, 0, HAS("198.18.0.16/28:any/any") },
		  { "198.18.0.33", 0, 0, NONE },
		  { "198.18.0.33", FRAGMENT, 0, NONE },
		  { "198.18.0.99", 0, 0, NOT_OURS },
		  { "198.18.0.99", FRAGMENT, 0, NOT_OURS } },
	};

	(void)state;
	check_table(&table);
}

static void prefix_takes_every_address_in_it(void **state)
{
	static const struct table table = {
		{ "198.18.0.16/28:443/tcp", "[2001:db8:18::/64]:443/tcp" },
		{ { "198.18.0.16", T, 443, HAS("198.18.0.16/28:443/tcp") },
		  { "198.18.0.31", T, 443, HAS("198.18.0.16/28:443/tcp") },
		  { "198.18.0.31", T, 444, NONE },
		  { "198.18.0.31", ESP, 0, NONE },
		  { "198.18.0.15", T, 443, NOT_OURS },
		  { "198.18.0.32", T, 443, NOT_OURS },
		  { "198.18.0.32", ESP, 0, NOT_OURS },
		  { "2001:db8:18::ffff:1", T, 443, HAS("[2001:db8:18::/64]:443/tcp") },
		  { "2001:db8:18::ffff:1", U, 443, NONE },
		  { "2001:db8:18:1::1", T, 443, NOT_OURS } },
	};

	(void)state;
	check_table(&table);
}

static void most_specific_vip_has_the_packet(void **state)
{
	static const struct table table = {
		{ "198.18.0.0/24:any/any", "198.18.0.0/24:443/tcp", "198.18.0.0/28:any/tcp",
		  "198.18.0.1:400-500/tcp", "198.18.0.1:443/tcp", "198.18.0.1:any/udp" },
		{ { "198.18.0.1", T, 443, HAS("198.18.0.1:443/tcp") },
		  { "198.18.0.1", T, 444, HAS("198.18.0.1:400-500/tcp") },
		  { "198.18.0.1", T, 501, HAS("198.18.0.0/28:any/tcp") },
		  { "198.18.0.1", U, 443, HAS("198.18.0.1:any/udp") },
		  { "198.18.0.1", ESP, 0, HAS("198.18.0.0/24:any/any") },
		  { "198.18.0.2", T, 443, HAS("198.18.0.0/28:any/tcp") },
		  { "198.18.0.2", U, 443, HAS("198.18.0.0/24:any/any") },
		  { "198.18.0.99", T, 443, HAS("198.18.0.0/24:443/tcp") },
		  { "198.18.0.99", T, 80, HAS("198.18.0.0/24:any/any") } },
	};

	(void)state;
	check_table(&table);
}

static void most_specific_ip6_vip_has_the_packet(void **state)
{
	static const struct table table = {
		{ "[2001:db8:18::/48]:any/any", "[2001:db8:18::/48]:443/tcp",
		  "[2001:db8:18::/64]:any/tcp", "[2001:db8:18::1]:400-500/tcp",
		  "[2001:db8:18::1]:443/tcp", "[2001:db8:18::1]:any/udp" },
		{ { "2001:db8:18::1", T, 443, HAS("[2001:db8:18::1]:443/tcp") },
		  { "2001:db8:18::1", T, 444, HAS("[2001:db8:18::1]:400-500/tcp") },
		  { "2001:db8:18::1", T, 501, HAS("[2001:db8:18::/64]:any/tcp") },
		  { "2001:db8:18::1", U, 443, HAS("[2001:db8:18::1]:any/udp") },
		  { "2001:db8:18::1", ESP, 0, HAS("[2001:db8:18::/48]:any/any") },
		  { "2001:db8:18::2", T, 443, HAS("[2001:db8:18::/64]:any/tcp") },
		  { "2001:db8:18::2", U, 443, HAS("[2001:db8:18::/48]:any/any") },
		  { "2001:db8:18:9::1", T, 443, HAS("[2001:db8:18::/48]:443/tcp") },
		  { "2001:db8:18:9::1", T, 80, HAS("[2001:db8:18::/48]:any/any") } },
	};

	(void)state;
	check_table(&table);
}

static struct random random_numbers;

static uint32_t below(uint32_t limit)
{
	return random_below(&random_numbers, limit);
}

static void random_vip(char *text, size_t size)
{
	static const char *const addresses[] = {
		"198.18.0.1", "198.18.0.2", "198.18.0.0/30", "198.18.0.0/28", "198.18.0.0/24",
		"[2001:db8:18::1]", "[2001:db8:18::/126]", "[2001:db8:18::/64]",
		"[2001:db8:18::/48]",
	};
	const char *address = addresses[below(sizeof(addresses) / sizeof(*addresses))];
	const char *protocol = below(3) ? "tcp" : "udp";
	unsigned int first = 80 + below(8), last = first + below(8);

	switch (below(4)) {
	case 0:
		snprintf(text, size, "%s:any/any", address);
		break;
	case 1:
		snprintf(text, size, "%s:any/%s", address, protocol);
		break;
	default:
		snprintf(text, size, "%s:%u-%u/%s", address, first, last, protocol);
		break;
	}
}

static bool is_allowed(const struct kinds *kinds, const struct vip_spec *spec)
{
	for (size_t i = 0; i < kinds->n; i++)
		if (!vip_spec_compare(&kinds->vips[i].spec, spec) ||
		    vip_spec_clash(&kinds->vips[i].spec, spec))
			return false;
	return true;
}

static void lay_random(struct kinds *kinds)
{
	char text[VIP_SPEC_TEXT_MAX];
	struct vip_spec spec;
	uint32_t tries = 1 + below(VIPS_MAX);

	while (tries--) {
		random_vip(text, sizeof(text));
		assert_int_equal(vip_spec_parse(text, &spec, NULL), 0);
		if (is_allowed(kinds, &spec))
			add_vip(kinds, &spec);
	}
	lay(kinds);
}

static struct packet random_packet(void)
{
	static const char *const addresses[] = {
		"198.18.0.1", "198.18.0.2", "198.18.0.3", "198.18.0.7", "198.18.0.77",
		"2001:db8:18::1", "2001:db8:18::2", "2001:db8:18::7", "2001:db8:18:9::1",
	};
	/* The last two are extension headers in IPv6. */
	static const uint8_t protocols[] = { T, T, U, ESP, 0, FRAGMENT };
	const char *dst = addresses[below(sizeof(addresses) / sizeof(*addresses))];
	uint8_t protocol = protocols[below(strchr(dst, ':') ? 4 : 6)];
	bool ports = protocol == T || protocol == U;

	return packet_to(dst, protocol, ports ? 78 + below(20) : 0);
}

static void random_vips_are_found_as_a_search_finds_them(void **state)
{
	unsigned int found = 0;

	(void)state;
	world_reset(&world);
	for (int seed = 1; seed <= 60; seed++) {
		struct kinds kinds = { 0 };

		random_numbers.state = seed;
		lay_random(&kinds);
		for (int i = 0; i < 60; i++) {
			struct packet packet = random_packet();
			const struct plan_vip *best = most_specific(kinds.vips, kinds.n,
								    &packet);
			int verdict;

			assert_int_equal(who_has(&kinds, &packet, &verdict),
					 best ? best->id : 0);
			found += !!best;
		}
		clear(&kinds);
	}
	assert_true(found > 1000);
}

/* The flag is what makes the program look, and it is off without prefixes. */
static void tries_of_prefixes_are_not_asked_while_the_flag_is_off(void **state)
{
	struct packet packet = packet_to("198.18.0.17", T, 443);
	struct kinds kinds = { 0 };
	struct vip_spec spec;
	int verdict;

	(void)state;
	world_reset(&world);
	assert_int_equal(vip_spec_parse("198.18.0.16/28:443/tcp", &spec, NULL), 0);
	add_vip(&kinds, &spec);
	lay(&kinds);
	world.skel->bss->vip_prefixes = VIP_PREFIXES6;
	assert_int_equal(who_has(&kinds, &packet, &verdict), 0);
	assert_int_equal(verdict, XDP_PASS);
	world.skel->bss->vip_prefixes = VIP_PREFIXES4;
	assert_int_equal(who_has(&kinds, &packet, &verdict), FIRST_ID);
	clear(&kinds);
}

/* No fragment of theirs has ports, so none has to wait for the first. */
static void later_fragment_of_a_protocol_without_ports_finds_its_vip(void **state)
{
	struct frame_spec esp = { .dst = "198.18.0.1", .protocol = ESP, .fragment = 0x0010,
				  .payload = 20 };
	struct frame_spec udp = { .dst = "198.18.0.1", .protocol = U, .fragment = 0x0010,
				  .payload = 20 };
	struct kinds kinds = { 0 };
	struct vip_spec spec;
	int verdict;

	(void)state;
	world_reset(&world);
	assert_int_equal(vip_spec_parse("198.18.0.0/24:any/any", &spec, NULL), 0);
	add_vip(&kinds, &spec);
	lay(&kinds);
	assert_int_equal(who_has_frame(&kinds, &esp, &verdict), FIRST_ID);
	assert_int_equal(verdict, XDP_TX);
	assert_int_equal(who_has_frame(&kinds, &udp, &verdict), 0);
	assert_int_equal(verdict, XDP_DROP);
	clear(&kinds);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(range_takes_its_ports_and_no_other),
		cmocka_unit_test(any_protocol_takes_those_without_ports_too),
		cmocka_unit_test(protocols_0_and_44_are_for_any_protocol_only),
		cmocka_unit_test(prefix_takes_every_address_in_it),
		cmocka_unit_test(most_specific_vip_has_the_packet),
		cmocka_unit_test(most_specific_ip6_vip_has_the_packet),
		cmocka_unit_test(random_vips_are_found_as_a_search_finds_them),
		cmocka_unit_test(later_fragment_of_a_protocol_without_ports_finds_its_vip),
		cmocka_unit_test(tries_of_prefixes_are_not_asked_while_the_flag_is_off),
	};

	return world_run_tests(&world, tests, sizeof(tests) / sizeof(tests[0]));
}
