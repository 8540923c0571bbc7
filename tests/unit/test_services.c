// SPDX-License-Identifier: GPL-2.0-only
/*
 * Random VIPs, which often cover each other: whatever packet comes, the maps lead
 * to the most specific of those that take it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include <errno.h>

#include "core/services.h"
#include "tests/lib/random.h"
#include "vip_search.h"

#define VIPS_MAX 40

static struct random random_numbers;

static uint32_t below(uint32_t limit)
{
	return random_below(&random_numbers, limit);
}

/* Few addresses, close together, so that prefixes cover them. */
static struct addr random_addr(void)
{
	struct addr addr = { .family = below(2) ? AF_INET : AF_INET6 };

	if (addr.family == AF_INET) {
		addr.v4.s_addr = htonl(0xcb007100 | below(4) << 4 | below(3));
	} else {
		inet_pton(AF_INET6, "2001:db8::", &addr.v6);
		addr.v6.s6_addr[7] = below(4) << 4;
		addr.v6.s6_addr[15] = below(3);
	}
	return addr;
}

static void cut(struct vip_spec *spec)
{
	uint8_t *bytes = spec->addr.family == AF_INET ? (uint8_t *)&spec->addr.v4 :
							spec->addr.v6.s6_addr;
	unsigned int bit;

	for (bit = spec->prefix_len; bit < addr_bits(&spec->addr); bit++)
		bytes[bit / 8] &= ~(0x80 >> bit % 8);
}

/* Ports near each other, and the ends of the space. */
static uint16_t random_port(void)
{
	return below(8) ? 79 + below(20) : below(2) ? 1 + below(3) : 65535 - below(3);
}

static void random_ports(struct vip_spec *spec)
{
	uint16_t other;

	spec->port = random_port();
	spec->port_last = spec->port;
	switch (below(3)) {
	case 0:
		spec->port = 0;
		spec->port_last = UINT16_MAX;
		break;
	case 1:
		other = random_port();
		if (other > spec->port)
			spec->port_last = other;
		else
			spec->port = other;
		break;
	default:
		break;
	}
}

static struct vip_spec random_spec(void)
{
	static const uint8_t lengths4[] = { 24, 26, 28, 31 }, lengths6[] = { 32, 60, 64, 127 };
	static const uint8_t protocols[] = { IPPROTO_TCP, IPPROTO_TCP, IPPROTO_UDP, 0 };
	struct vip_spec spec = { .addr = random_addr(), .protocol = protocols[below(4)] };

	spec.prefix_len = addr_bits(&spec.addr);
	if (below(2))
		spec.prefix_len = spec.addr.family == AF_INET ? lengths4[below(4)] :
								 lengths6[below(4)];
	cut(&spec);
	random_ports(&spec);
	if (!spec.protocol) {
		spec.port = 0;
		spec.port_last = UINT16_MAX;
	}
	return spec;
}

struct vips {
	struct plan_vip list[VIPS_MAX];
	size_t n;
};

static int compare_vips(const void *a, const void *b)
{
	const struct plan_vip *x = a, *y = b;

	return vip_spec_compare(&x->spec, &y->spec);
}

static bool is_allowed(const struct vips *vips, const struct vip_spec *spec)
{
	size_t i;

	for (i = 0; i < vips->n; i++)
		if (!vip_spec_compare(&vips->list[i].spec, spec) ||
		    vip_spec_clash(&vips->list[i].spec, spec))
			return false;
	return true;
}

static void add_vips(struct vips *vips, size_t n, uint16_t first_id)
{
	for (; n && vips->n < VIPS_MAX; n--) {
		struct vip_spec spec = random_spec();

		if (is_allowed(vips, &spec))
			vips->list[vips->n++] = (struct plan_vip){
				.spec = spec, .id = first_id++, .table = 1 + below(3) };
	}
	qsort(vips->list, vips->n, sizeof(*vips->list), compare_vips);
}

static struct packet random_packet(void)
{
	static const uint8_t protocols[] = { IPPROTO_TCP, IPPROTO_TCP, IPPROTO_UDP,
					     IPPROTO_ESP };
	struct packet packet = { .dst = random_addr(), .protocol = protocols[below(4)] };

	if (packet.protocol != IPPROTO_ESP)
		packet.port = below(10) ? random_port() : below(65536);
	return packet;
}

static bool next_entry(void *context, size_t i, enum vip_map map, const void **key,
		       const struct vip **value)
{
	const struct vip_entries *entries = context;

	if (i >= entries->n)
		return false;
	*key = entries->list[i].map == map ? entries->list[i].key : NULL;
	*value = &entries->list[i].vip;
	return true;
}

static void check_packet(const struct vips *vips, struct vip_entries *entries,
			 const struct packet *packet)
{
	const struct plan_vip *best = most_specific(vips->list, vips->n, packet);
	const struct vip *found = find_in_maps(next_entry, entries,
					       VIP_PREFIXES4 | VIP_PREFIXES6, packet);
	char text[VIP_SPEC_TEXT_MAX], addr[ADDR_TEXT_MAX];

	if (!best != !found || (best && best->id != found->id))
		fail_msg("%s port %u protocol %u: found id %u, wanted %s",
			 addr_format(&packet->dst, addr), packet->port, packet->protocol,
			 found ? found->id : 0,
			 best ? vip_spec_format(&best->spec, text) : "none");
	if (found)
		assert_int_equal(found->table, best->table);
	/* What the daemon asks is what the program finds. */
	assert_ptr_equal(vip_entries_lookup(entries, &packet->dst, packet->protocol,
					    packet->port), found);
}

static struct vip_entries make(const struct vips *vips, const struct vip_entries *old,
			       uint16_t *last_group)
{
	struct vip_entries entries = { 0 };
	struct err err = { 0 };

	if (services_make(vips->list, vips->n, old, last_group, &entries, &err))
		fail_msg("%s", err.text);
	return entries;
}

static void every_packet_finds_the_most_specific_vip(void **state)
{
	struct vip_entries none = { 0 };
	int seed, i;

	(void)state;
	for (seed = 1; seed <= 2000; seed++) {
		struct vips vips = { 0 };
		struct vip_entries entries;
		uint16_t last = 0;

		random_numbers.state = seed;
		add_vips(&vips, 1 + below(VIPS_MAX), 1);
		entries = make(&vips, &none, &last);
		for (i = 0; i < 200; i++) {
			struct packet packet = random_packet();

			check_packet(&vips, &entries, &packet);
		}
		vip_entries_clear(&entries);
	}
}

/* Every port of a few sets, since ranges end anywhere. */
static void every_port_finds_the_most_specific_vip(void **state)
{
	struct vip_entries none = { 0 };
	int seed, port;

	(void)state;
	for (seed = 1; seed <= 4; seed++) {
		struct vips vips = { 0 };
		struct vip_entries entries;
		struct packet packet;
		uint16_t last = 0;

		random_numbers.state = 77 * seed;
		add_vips(&vips, 25, 1);
		entries = make(&vips, &none, &last);
		packet = (struct packet){ .dst = vips.list[below(vips.n)].spec.addr,
					  .protocol = IPPROTO_TCP };
		for (port = 0; port <= UINT16_MAX; port++) {
			packet.port = port;
			check_packet(&vips, &entries, &packet);
		}
		vip_entries_clear(&entries);
	}
}

static bool no_key_twice(const struct vip_entries *entries)
{
	size_t i;

	for (i = 1; i < entries->n; i++)
		if (vip_entry_compare(&entries->list[i - 1], &entries->list[i]) >= 0)
			return false;
	return true;
}

/* A group of the old entries has in the new ones the same VIPs, or none. */
static void check_groups(const struct vip_entries *old, const struct vip_entries *new)
{
	size_t i, j, n_old, n_new;

	for (i = 0; i < old->n; i++) {
		const struct vip_entry *was, *is;
		uint16_t group;

		if (old->list[i].map != VIP_MAP_SERVICES)
			continue;
		group = vip_entry_service_key(&old->list[i]).group;
		was = vip_entries_group(old, group, &n_old);
		is = vip_entries_group(new, group, &n_new);
		if (!n_new)
			continue;
		assert_int_equal(n_new, n_old);
		for (j = 0; j < n_new; j++) {
			assert_int_equal(vip_entry_compare(&was[j], &is[j]), 0);
			assert_int_equal(was[j].vip.id, is[j].vip.id);
		}
	}
}

static void remove_some(struct vips *vips)
{
	size_t i, n = 0;

	for (i = 0; i < vips->n; i++)
		if (below(5))
			vips->list[n++] = vips->list[i];
	vips->n = n;
}

static void groups_that_change_get_ids_that_were_not_in_use(void **state)
{
	int seed, i;

	(void)state;
	for (seed = 1; seed <= 100; seed++) {
		struct vip_entries old = { 0 };
		struct vips vips = { 0 };
		uint16_t last = 65530, id = 1; /* ids go around */

		random_numbers.state = seed;
		for (i = 0; i < 20; i++) {
			struct vip_entries new;

			remove_some(&vips);
			add_vips(&vips, 4, id);
			id += 4;
			new = make(&vips, &old, &last);
			assert_true(no_key_twice(&new));
			check_groups(&old, &new);
			vip_entries_clear(&old);
			old = new;
		}
		vip_entries_clear(&old);
	}
}

static void unchanged_vips_keep_every_entry(void **state)
{
	struct vip_entries none = { 0 }, first, second;
	struct vips vips = { 0 };
	uint16_t last = 0;

	(void)state;
	random_numbers.state = 5;
	add_vips(&vips, VIPS_MAX, 1);
	first = make(&vips, &none, &last);
	second = make(&vips, &first, &last);
	assert_int_equal(first.n, second.n);
	assert_memory_equal(first.list, second.list, first.n * sizeof(*first.list));
	vip_entries_clear(&first);
	vip_entries_clear(&second);
}

static struct plan_vip vip(const char *text, uint16_t id)
{
	struct plan_vip out = { .id = id, .table = id };
	struct err err = { 0 };

	if (vip_spec_parse(text, &out.spec, &err))
		fail_msg("%s", err.text);
	return out;
}

static void addresses_of_single_ports_share_the_group_around_them(void **state)
{
	struct vips vips = { .n = 4, .list = {
		vip("203.0.113.0/24:any/tcp", 1), vip("203.0.113.7:80/tcp", 2),
		vip("203.0.113.8:80/tcp", 3), vip("203.0.113.9:80-81/udp", 4) } };
	struct vip_entries none = { 0 }, entries;
	uint16_t last = 0;
	size_t i, services = 0;

	(void)state;
	entries = make(&vips, &none, &last);
	for (i = 0; i < entries.n; i++)
		services += entries.list[i].map == VIP_MAP_SERVICES;
	/* Of the prefix one; of .9 that and its own range. */
	assert_int_equal(services, 1 + 2);
	assert_int_equal(last, 2);
	vip_entries_clear(&entries);
}

static void services_beyond_the_map_are_refused(void **state)
{
	/* Each address repeats the 30 pieces of the ranges around it. */
	enum { N = 40000 };
	struct plan_vip *vips = calloc(N, sizeof(*vips));
	struct vip_entries none = { 0 }, entries;
	struct err err = { 0 };
	uint16_t last = 0;
	int i;

	(void)state;
	assert_non_null(vips);
	vips[0] = vip("10.0.0.0/8:1-65534/tcp", 1);
	for (i = 1; i < N; i++) {
		vips[i] = vip("10.0.0.1:80-81/udp", i + 1);
		vips[i].spec.addr.v4.s_addr = htonl(0x0a000000 + i);
	}
	assert_int_equal(services_make(vips, N, &none, &last, &entries, &err), -ENOSPC);
	assert_string_equal(err.text, "the VIPs of ranges and prefixes need more than "
				      "1048560 entries");
	free(vips);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_packet_finds_the_most_specific_vip),
		cmocka_unit_test(every_port_finds_the_most_specific_vip),
		cmocka_unit_test(groups_that_change_get_ids_that_were_not_in_use),
		cmocka_unit_test(unchanged_vips_keep_every_entry),
		cmocka_unit_test(addresses_of_single_ports_share_the_group_around_them),
		cmocka_unit_test(services_beyond_the_map_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
