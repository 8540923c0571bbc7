// SPDX-License-Identifier: GPL-2.0-only
/*
 * A model checker for VIPs that cover each other: after every single element that
 * a commit writes, each of many packets finds the VIP that was the most specific
 * for it, or the one that is to be. And whatever the way, the maps come to hold
 * what a fresh start would.
 */
#include "publish_change.h"

#define VIPS_OF_KINDS 26

static const char *const kinds[VIPS_OF_KINDS] = {
	"203.0.113.0/24:any/any",     "203.0.113.0/24:any/tcp",
	"203.0.113.0/24:80-83/tcp",   "203.0.113.0/24:80/tcp",
	"203.0.113.0/28:any/any",     "203.0.113.0/28:80/tcp",
	"203.0.113.0/28:81-86/tcp",   "203.0.113.0/28:any/udp",
	"203.0.113.1:80/tcp",         "203.0.113.1:82-83/tcp",
	"203.0.113.1:80-83/tcp",      "203.0.113.1:any/tcp",
	"203.0.113.1:any/any",        "203.0.113.2:80/tcp",
	"203.0.113.2:81/udp",         "198.51.100.1:80/tcp",
	"198.51.100.1:any/any",       "[2001:db8::/32]:any/any",
	"[2001:db8::/32]:80/tcp",     "[2001:db8::/64]:80-82/tcp",
	"[2001:db8::/64]:any/udp",    "[2001:db8::1]:80/tcp",
	"[2001:db8::1]:81/tcp",       "[2001:db8::1]:any/tcp",
	"[2001:db8:1::1]:81-82/tcp",  "[2001:db8:1::1]:82/udp",
};

#define DESTINATIONS 8
static const char *const destinations[DESTINATIONS] = {
	"203.0.113.1", "203.0.113.2", "203.0.113.3", "203.0.113.77",
	"198.51.100.1", "2001:db8::1", "2001:db8::2", "2001:db8:1::1",
};

#define PORTS 8
static const uint16_t ports[PORTS] = { 79, 80, 81, 82, 83, 84, 86, 87 };

#define PACKETS (DESTINATIONS * (2 * PORTS + 1))

static struct {
	struct packet packets[PACKETS];
	size_t n_packets;
	/* VIP ids, which are never used again while a test runs; 0: none. */
	uint16_t old[PACKETS], new[PACKETS];
	unsigned int steps, between;
} watch;

static void add_packet(const char *dst, uint8_t protocol, uint16_t port)
{
	struct packet *packet = &watch.packets[watch.n_packets++];

	*packet = (struct packet){ .protocol = protocol, .port = port };
	assert_int_equal(addr_parse(dst, "address", &packet->dst, NULL), 0);
}

static void start_watch(void)
{
	size_t i, j;

	memset(&watch, 0, sizeof(watch));
	for (i = 0; i < DESTINATIONS; i++) {
		add_packet(destinations[i], IPPROTO_ESP, 0);
		for (j = 0; j < PORTS; j++) {
			add_packet(destinations[i], IPPROTO_TCP, ports[j]);
			add_packet(destinations[i], IPPROTO_UDP, ports[j]);
		}
	}
}

/* And the table that it leads to is there. */
static uint16_t packet_sees(const struct packet *packet)
{
	const struct vip *vip = fake_packet(packet);

	if (!vip)
		return 0;
	assert_in_range(vip->table, 1, FAKE_IDS - 1);
	assert_true(fake.table[vip->table] >= 0);
	return vip->id;
}

static void look_at_all_packets(void)
{
	uint16_t seen;
	size_t i;

	watch.steps++;
	for (i = 0; i < watch.n_packets; i++) {
		seen = packet_sees(&watch.packets[i]);
		if (seen != watch.old[i] && seen != watch.new[i])
			fail_msg("packet %zu finds VIP %u, neither %u nor %u", i, seen,
				 watch.old[i], watch.new[i]);
		watch.between += watch.old[i] != watch.new[i];
	}
}

static void watch_change(const struct plan *to)
{
	const struct plan_vip *vip;
	size_t i;

	for (i = 0; i < watch.n_packets; i++) {
		vip = most_specific(to->vips, to->n_vips, &watch.packets[i]);
		watch.old[i] = packet_sees(&watch.packets[i]);
		watch.new[i] = vip ? vip->id : 0;
	}
	fake_after_write = look_at_all_packets;
}

static void check_all_packets(void)
{
	size_t i;

	for (i = 0; i < watch.n_packets; i++)
		assert_int_equal(packet_sees(&watch.packets[i]), watch.new[i]);
}

static struct plan *plan_of(const bool *has, const int *weight, const struct plan *old)
{
	_cleanup_free_ char *text = NULL;
	size_t length, i;
	FILE *out = open_memstream(&text, &length);

	assert_non_null(out);
	fprintf(out, "interface: eth0\npools:\n");
	for (i = 0; i < 2; i++)
		fprintf(out, "  p%zu:\n    table_size: 251\n    backends: [{address: 10.1.0.1%zu, "
			     "weight: %d}]\n", i, i, weight[i]);
	fprintf(out, "vips:\n  [");
	for (i = 0; i < VIPS_OF_KINDS; i++)
		if (has[i])
			fprintf(out, "{address: \"%s\", pool: p%zu},", kinds[i], i % 2);
	fprintf(out, "]\n");
	fclose(out);
	return must_plan_yaml(text, old);
}

struct kinds_world {
	struct world random;
	bool has[VIPS_OF_KINDS];
	int weight[2];
};

/* Mostly a few VIPs come and go; some change the table of all. */
static void edit_kinds(struct kinds_world *w)
{
	uint32_t n = 1 + world_below(&w->random, world_below(&w->random, 4) ? 3 : 20);

	while (n--) {
		uint32_t i = world_below(&w->random, VIPS_OF_KINDS);

		w->has[i] = !w->has[i];
	}
	if (!world_below(&w->random, 4))
		w->weight[world_below(&w->random, 2)] = 1 + world_below(&w->random, 3);
}

static void start_kinds(struct kinds_world *w, int seed)
{
	*w = (struct kinds_world){ .random.random = { seed }, .weight = { 1, 1 } };
}

static void no_packet_finds_a_third_vip(void **state)
{
	struct kinds_world world;
	int seed, i;

	(void)state;
	start_watch();
	for (seed = 1; seed <= 40; seed++) {
		struct kernel k = new_kernel();
		struct plan *plan = empty_plan();

		start_kinds(&world, seed);
		for (i = 0; i < 40; i++) {
			struct plan *next;

			edit_kinds(&world);
			next = plan_of(world.has, world.weight, plan);
			watch_change(next);
			assert_int_equal(change(&k, plan, next), 0);
			check_all_packets();
			plan_free(&plan);
			plan = next;
		}
		plan_free(&plan);
		kernel_release(&k);
	}
	assert_true(watch.steps > 10000);
	assert_true(watch.between > 100000);
}

static void no_packet_finds_a_third_vip_when_a_change_is_taken_back(void **state)
{
	struct kinds_world world;
	unsigned int failed = 0;
	int seed, i;

	(void)state;
	start_watch();
	for (seed = 1; seed <= 40; seed++) {
		struct kernel k = new_kernel();
		struct plan *plan = empty_plan();

		start_kinds(&world, seed);
		for (i = 0; i < 30; i++) {
			struct plan *next;

			edit_kinds(&world);
			next = plan_of(world.has, world.weight, plan);
			watch_change(next);
			fake_ops = 0;
			fake_fail_at = 1 + world_below(&world.random, 16);
			if (change(&k, plan, next)) {
				failed++;
				memcpy(watch.new, watch.old, sizeof(watch.new));
				check_all_packets();
				fake_fail_at = 0;
				watch_change(next);
				assert_int_equal(change(&k, plan, next), 0);
			}
			fake_fail_at = 0;
			check_all_packets();
			plan_free(&plan);
			plan = next;
		}
		plan_free(&plan);
		kernel_release(&k);
	}
	assert_true(failed > 300);
}

static size_t count_used(enum vip_map map)
{
	size_t i, n = 0;

	for (i = 0; i < FAKE_VIPS; i++)
		n += fake.vips[map][i].used;
	return n;
}

static void maps_hold_no_more_than_a_fresh_start_would(void **state)
{
	struct kinds_world world;
	int map, i;
	size_t n[VIP_MAP__MAX];
	struct kernel k = new_kernel();
	struct plan *plan = empty_plan(), *none = empty_plan(), *fresh;

	(void)state;
	start_kinds(&world, 3);
	for (i = 0; i < 50; i++) {
		struct plan *next;

		edit_kinds(&world);
		next = plan_of(world.has, world.weight, plan);
		assert_int_equal(change(&k, plan, next), 0);
		plan_free(&plan);
		plan = next;
	}
	for (map = 0; map < VIP_MAP__MAX; map++)
		n[map] = count_used(map);
	plan_free(&plan);
	kernel_release(&k);

	k = new_kernel();
	fresh = plan_of(world.has, world.weight, none);
	assert_int_equal(change(&k, none, fresh), 0);
	for (map = 0; map < VIP_MAP__MAX; map++)
		assert_int_equal(count_used(map), n[map]);

	/* And nothing, nor a lookup in tries, when every VIP is gone. */
	memset(world.has, 0, sizeof(world.has));
	plan = plan_of(world.has, world.weight, fresh);
	assert_int_equal(fake.prefixes, VIP_PREFIXES4 | VIP_PREFIXES6);
	assert_int_equal(change(&k, fresh, plan), 0);
	for (map = 0; map < VIP_MAP__MAX; map++)
		assert_int_equal(count_used(map), 0);
	assert_int_equal(fake.prefixes, 0);
	plan_free(&plan);
	plan_free(&fresh);
	plan_free(&none);
	kernel_release(&k);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_packet_finds_a_third_vip),
		cmocka_unit_test(no_packet_finds_a_third_vip_when_a_change_is_taken_back),
		cmocka_unit_test(maps_hold_no_more_than_a_fresh_start_would),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
