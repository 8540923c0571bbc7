// SPDX-License-Identifier: GPL-2.0-only
/* The sets in which plain packets find their VIP, over memory of our own. */
#include <netinet/in.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "dp/vip_sets.h"
#include "flow_mix.h"

#define PORT 443
#define MIX_KEY 0x9e3779b97f4a7c15ULL
#define ID 7

static struct vip_sets sets;

static int make_sets(void **state)
{
	(void)state;
	sets = (struct vip_sets){
		.sets4 = calloc(VIP_SETS, sizeof(*sets.sets4)),
		.sets6 = calloc(VIP_SETS, sizeof(*sets.sets6)),
		.filter = calloc(VIP_FILTER_LINES, sizeof(*sets.filter)),
		.mix_key = MIX_KEY,
	};
	return sets.sets4 && sets.sets6 && sets.filter ? 0 : -1;
}

static int free_sets(void **state)
{
	(void)state;
	free(sets.sets4);
	free(sets.sets6);
	free(sets.filter);
	return 0;
}

/* 10.x.x.x, or 2001:db8::x. */
static struct addr address(bool v6, uint32_t number)
{
	struct addr addr = { .family = v6 ? AF_INET6 : AF_INET };

	if (v6) {
		addr.v6.s6_addr32[0] = htonl(0x20010db8);
		addr.v6.s6_addr32[3] = htonl(number);
	} else {
		addr.v4.s_addr = htonl(10U << 24 | number);
	}
	return addr;
}

static struct vip_entry service(bool v6, uint32_t number, uint16_t id)
{
	struct addr addr = address(v6, number);
	struct vip_entry entry = vip_entry_hashed(&addr, PORT, IPPROTO_TCP);

	entry.vip = (struct vip){ .id = id, .table = 2, .idle = 30 };
	return entry;
}

/* What packets compare: three words, of which IPv4 has only the last. */
struct words {
	__u64 addr[2], service;
};

static struct words words_of(const struct vip_entry *entry)
{
	struct words words = { 0 };
	struct vip_key6 key;

	if (entry->map == VIP_MAP_VIPS4) {
		memcpy(&words.service, entry->key, sizeof(words.service));
		return words;
	}
	memcpy(&key, entry->key, sizeof(key));
	memcpy(words.addr, key.addr, sizeof(words.addr));
	words.service = key.port | (__u64)key.protocol << 16;
	return words;
}

static uint32_t set_of(const struct vip_entry *entry)
{
	struct words words = words_of(entry);

	return entry->map == VIP_MAP_VIPS4 ? vip_mix4(MIX_KEY, words.service) :
					     vip_mix6(MIX_KEY, words.addr, words.service);
}

/* As a packet for the key looks: NULL when it finds none. */
static struct vip_brief *find(const struct vip_entry *entry)
{
	struct vip_set4 *set4 = &sets.sets4[set_of(entry)];
	struct vip_set6 *set6 = &sets.sets6[set_of(entry)];
	struct words words = words_of(entry);
	bool v6 = entry->map == VIP_MAP_VIPS6;

	for (int way = 0; way < VIP_WAYS; way++) {
		if (!v6 && set4->key[way] == words.service)
			return &set4->vip[way];
		if (v6 && set6->service[way] == words.service &&
		    set6->addr[0][way] == words.addr[0] &&
		    set6->addr[1][way] == words.addr[1])
			return &set6->vip[way];
	}
	return NULL;
}

static size_t count_ways(void)
{
	size_t n = 0;

	for (size_t i = 0; i < VIP_SETS * VIP_WAYS; i++) {
		n += sets.sets4[i / VIP_WAYS].key[i % VIP_WAYS] != 0;
		n += sets.sets6[i / VIP_WAYS].service[i % VIP_WAYS] != 0;
	}
	return n;
}

static bool filter_has(bool v6, uint32_t number)
{
	struct addr addr = address(v6, number);
	__u64 halves[2], mix;
	uint32_t bit;

	memcpy(halves, &addr.v6, sizeof(halves));
	mix = v6 ? flow_mix(MIX_KEY, flow_mix_address(MIX_KEY, halves), 0) :
		   flow_mix(MIX_KEY, addr.v4.s_addr, 0);
	bit = flow_mix_index(mix, VIP_FILTER_BITS);
	return sets.filter[bit / 512].bits[bit / 64 % 8] >> bit % 64 & 1;
}

static size_t count_bits(void)
{
	size_t n = 0;

	for (size_t i = 0; i < VIP_FILTER_LINES; i++)
		for (int word = 0; word < 8; word++)
			n += __builtin_popcountll(sets.filter[i].bits[word]);
	return n;
}

static void written_vip_is_found_with_what_packets_need(void **state)
{
	(void)state;
	for (int v6 = 0; v6 < 2; v6++) {
		struct vip_entry entry = service(v6, 1, ID), other = service(v6, 2, ID);
		const struct vip_brief *brief;

		entry.vip.flags = VIP_CAP;
		assert_false(vip_sets_write(&sets, &entry));
		brief = find(&entry);
		assert_non_null(brief);
		assert_int_equal(brief->id, ID);
		assert_int_equal(brief->table, 2);
		assert_int_equal(brief->flags, VIP_CAP);
		assert_int_equal(brief->idle, 30);
		assert_null(find(&other));
	}
	assert_int_equal(count_ways(), 2);
}

static void vip_that_is_there_changes_in_its_place(void **state)
{
	(void)state;
	for (int v6 = 0; v6 < 2; v6++) {
		struct vip_entry entry = service(v6, 1, ID);
		const struct vip_brief *place;

		vip_sets_write(&sets, &entry);
		place = find(&entry);
		entry.vip.table = 9;
		assert_false(vip_sets_write(&sets, &entry));
		assert_ptr_equal(find(&entry), place);
		assert_int_equal(place->table, 9);
	}
	assert_int_equal(count_ways(), 2);
}

/* The way must not be used again while packets may still be reading it. */
static void vip_that_goes_says_that_its_way_is_free(void **state)
{
	(void)state;
	for (int v6 = 0; v6 < 2; v6++) {
		struct vip_entry entry = service(v6, 1, ID);

		assert_false(vip_sets_delete(&sets, &entry));
		vip_sets_write(&sets, &entry);
		assert_true(vip_sets_delete(&sets, &entry));
		assert_null(find(&entry));
		assert_false(vip_sets_delete(&sets, &entry));
	}
	assert_int_equal(count_ways(), 0);
}

static void expect_taken_out(bool v6, uint16_t flag)
{
	struct vip_entry entry = service(v6, 1, ID);

	assert_false(vip_sets_write(&sets, &entry));
	entry.vip.flags = flag;
	assert_true(vip_sets_write(&sets, &entry));
	assert_null(find(&entry));
	assert_false(vip_sets_write(&sets, &entry));
	assert_null(find(&entry));

	entry.vip.flags = 0;
	assert_false(vip_sets_write(&sets, &entry));
	assert_non_null(find(&entry));
	assert_true(vip_sets_delete(&sets, &entry));
}

static void vip_of_the_long_way_is_taken_out(void **state)
{
	static const uint16_t flags[] = { VIP_ACL, VIP_QUIC, VIP_WIDE,
					  VIP_ACL | VIP_ACL_DENY };

	(void)state;
	for (size_t i = 0; i < sizeof(flags) / sizeof(flags[0]); i++) {
		expect_taken_out(false, flags[i]);
		expect_taken_out(true, flags[i]);
	}
}

static void only_services_of_one_port_and_tcp_or_udp_are_in(void **state)
{
	(void)state;
	for (int v6 = 0; v6 < 2; v6++) {
		struct addr addr = address(v6, 1);
		struct prefix prefix = { .addr = addr, .length = 24 };
		struct vip_entry entries[] = {
			vip_entry_hashed(&addr, 0, 0), /* of the address */
			vip_entry_hashed(&addr, 0, IPPROTO_TCP),
			vip_entry_hashed(&addr, PORT, IPPROTO_SCTP),
			vip_entry_address(&prefix),
			vip_entry_service(1, IPPROTO_TCP, PORT, SERVICE_PREFIX_LEN_MAX),
		};

		for (size_t i = 0; i < sizeof(entries) / sizeof(entries[0]); i++) {
			entries[i].vip = (struct vip){ .id = ID, .idle = 1 };
			assert_false(vip_sets_write(&sets, &entries[i]));
			assert_false(vip_sets_delete(&sets, &entries[i]));
		}
	}
	assert_int_equal(count_ways(), 0);
}

/* VIPs of one set, one more than fit, with ids from ID on. */
static void collide(bool v6, struct vip_entry out[VIP_WAYS + 1])
{
	uint32_t number = 0;
	int n = 0;

	while (n <= VIP_WAYS) {
		struct vip_entry entry = service(v6, number++, ID + n);

		if (!n || set_of(&entry) == set_of(&out[0]))
			out[n++] = entry;
	}
}

static void what_finds_its_set_full_stays_out_until_there_is_room(void **state)
{
	(void)state;
	for (int v6 = 0; v6 < 2; v6++) {
		struct vip_entry entries[VIP_WAYS + 1];
		const struct vip_entry *last = &entries[VIP_WAYS];

		collide(v6, entries);
		for (int i = 0; i <= VIP_WAYS; i++)
			assert_false(vip_sets_write(&sets, &entries[i]));
		for (int i = 0; i < VIP_WAYS; i++)
			assert_int_equal(find(&entries[i])->id, ID + i);
		assert_null(find(last));
		assert_false(vip_sets_delete(&sets, last));

		assert_true(vip_sets_delete(&sets, &entries[1]));
		assert_false(vip_sets_write(&sets, last));
		assert_int_equal(find(last)->id, ID + VIP_WAYS);
		assert_int_equal(find(&entries[0])->id, ID);
	}
}

/* A way whose key is half there is empty: the last word makes it a VIP's. */
static void address_alone_is_nobodys(void **state)
{
	struct vip_entry entry = service(true, 1, ID);
	struct words words = words_of(&entry);
	struct vip_set6 *set = &sets.sets6[set_of(&entry)];

	(void)state;
	set->addr[0][0] = words.addr[0];
	set->addr[1][0] = words.addr[1];
	assert_false(vip_sets_delete(&sets, &entry));
	vip_sets_write(&sets, &entry);
	assert_ptr_equal(find(&entry), &set->vip[0]);
	assert_int_equal(count_ways(), 1);
}

static int by_key(const void *a, const void *b)
{
	return vip_entry_compare(a, b);
}

static void adopting_makes_the_sets_say_what_the_entries_say(void **state)
{
	struct vip_entry kept[] = { service(false, 1, 1), service(true, 1, 2) };
	struct vip_entry wrong[] = { service(false, 2, 3), service(true, 2, 4) };
	struct vip_entry stale[] = { service(false, 3, 5), service(true, 3, 6) };
	struct vip_entry rare[] = { service(false, 4, 7), service(true, 4, 8) };
	struct vip_entry missing[] = { service(false, 5, 9), service(true, 5, 10) };
	struct vip_entry list[8];
	struct vip_entries entries = { list, 8 };

	(void)state;
	for (int v6 = 0; v6 < 2; v6++) {
		vip_sets_write(&sets, &kept[v6]);
		vip_sets_write(&sets, &wrong[v6]);
		vip_sets_write(&sets, &stale[v6]);
		vip_sets_write(&sets, &rare[v6]);
		wrong[v6].vip.table = 77;
		rare[v6].vip.flags = VIP_ACL;
		list[4 * v6] = kept[v6];
		list[4 * v6 + 1] = wrong[v6];
		list[4 * v6 + 2] = rare[v6];
		list[4 * v6 + 3] = missing[v6];
	}
	memset(sets.filter, 0xff, VIP_FILTER_LINES * sizeof(*sets.filter));
	qsort(list, entries.n, sizeof(*list), by_key);
	vip_sets_adopt(&sets, &entries);

	for (int v6 = 0; v6 < 2; v6++) {
		assert_int_equal(find(&kept[v6])->id, 1 + v6);
		assert_int_equal(find(&wrong[v6])->table, 77);
		assert_null(find(&stale[v6]));
		assert_null(find(&rare[v6]));
		assert_int_equal(find(&missing[v6])->id, 9 + v6);
	}
	assert_int_equal(count_ways(), 6);
	assert_in_range(count_bits(), 1, 8);
}

/* Every address entry of the list has its bit, and there are no more. */
static void filter_has_the_addresses_that_have_entries(void **state)
{
	struct vip_entry list[100];
	struct vip_entries all = { list, 100 }, half = { list, 50 };

	(void)state;
	for (uint32_t i = 0; i < 100; i++) {
		struct addr addr = address(i % 2, i);

		list[i] = vip_entry_hashed(&addr, 0, 0);
	}
	vip_filter_add(&sets, &half);
	vip_filter_add(&sets, &all);
	for (uint32_t i = 0; i < 100; i++)
		assert_true(filter_has(i % 2, i));
	assert_in_range(count_bits(), 90, 100);

	vip_filter_set(&sets, &half);
	for (uint32_t i = 0; i < 50; i++)
		assert_true(filter_has(i % 2, i));
	assert_in_range(count_bits(), 45, 50);
}

static void filter_has_no_bits_of_services_and_prefixes(void **state)
{
	struct addr addr = address(false, 0);
	struct prefix prefix = { .addr = addr, .length = 24 };
	struct vip_entry list[] = {
		vip_entry_address(&prefix),
		vip_entry_service(1, IPPROTO_TCP, PORT, SERVICE_PREFIX_LEN_MAX),
	};
	struct vip_entries entries = { list, 2 };

	(void)state;
	vip_filter_add(&sets, &entries);
	assert_int_equal(count_bits(), 0);
}

/* A trial that needs no packets has none. */
static void without_memory_nothing_is_written(void **state)
{
	struct vip_sets none = { .mix_key = MIX_KEY };
	struct vip_entry entry = service(false, 1, ID);
	struct vip_entries entries = { &entry, 1 };

	(void)state;
	assert_false(vip_sets_write(&none, &entry));
	assert_false(vip_sets_delete(&none, &entry));
	vip_sets_adopt(&none, &entries);
	vip_filter_add(&none, &entries);
	vip_filter_set(&none, &entries);
}

static void maps_that_are_none_are_refused_in_words(void **state)
{
	struct vip_sets none;
	struct err err = { 0 };

	(void)state;
	assert_true(vip_sets_map(-1, -1, -1, MIX_KEY, &none, &err) < 0);
	assert_null(none.sets4);
	assert_null(none.filter);
	assert_non_null(strstr(err.text, "cannot map the sets of VIPs into memory"));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, make_sets, free_sets)

int main(void)
{
	static const struct CMUnitTest tests[] = {
		TEST(written_vip_is_found_with_what_packets_need),
		TEST(vip_that_is_there_changes_in_its_place),
		TEST(vip_that_goes_says_that_its_way_is_free),
		TEST(vip_of_the_long_way_is_taken_out),
		TEST(only_services_of_one_port_and_tcp_or_udp_are_in),
		TEST(what_finds_its_set_full_stays_out_until_there_is_room),
		TEST(address_alone_is_nobodys),
		TEST(adopting_makes_the_sets_say_what_the_entries_say),
		TEST(filter_has_the_addresses_that_have_entries),
		TEST(filter_has_no_bits_of_services_and_prefixes),
		TEST(without_memory_nothing_is_written),
		TEST(maps_that_are_none_are_refused_in_words),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
