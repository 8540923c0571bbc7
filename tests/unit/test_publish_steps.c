// SPDX-License-Identifier: GPL-2.0-only
/*
 * A model checker for the commit: after every single element that is written,
 * a packet for any VIP finds what the VIP had or what it is to have, whole; and
 * any source is taken or refused as the old or as the new lists say.
 */
#include "publish_change.h"

#define PROBES 6
static const char *const probes[2][PROBES] = {
	{ "192.0.2.7", "192.0.2.1", "192.0.2.200", "192.0.3.1", "192.1.0.1", "10.0.0.1" },
	{ "2001:db8:1::7", "2001:db8:1::1", "2001:db8:2::1", "2001:db9::1", "::1",
	  "fd00::1" },
};

enum admission { NO_VIP, ADMITTED, REFUSED };

/* What a packet for each VIP may find. */
static struct {
	uint8_t old_admits[WORLD_VIPS][PROBES], new_admits[WORLD_VIPS][PROBES];
	uint64_t old[WORLD_VIPS], new[WORLD_VIPS]; /* content; 0: no such VIP */
	struct backend_ident ident[FAKE_IDS];      /* by id, of either plan */
	unsigned int steps;
} watch;

/* The entry of the VIP itself, whether or not another is more specific. */
static const struct vip *packet_finds_vip(const struct vip_spec *spec)
{
	struct prefix prefix = { spec->addr, spec->prefix_len };
	struct vip_entry entry = vip_entry_hashed(&spec->addr, spec->port, spec->protocol);
	const struct vip *address;

	if (vip_spec_is_exact(spec))
		return fake_entry(&entry);
	entry = vip_entry_address(&prefix);
	address = fake_entry(&entry);
	if (!address || !(address->flags & VIP_SERVICES))
		return NULL;
	entry = vip_entry_service(address->id, spec->protocol, 0, SERVICE_PREFIX_ANY_PORT);
	return fake_entry(&entry);
}

/* Every backend in the table can take packets, and is who it was. */
static uint64_t packet_finds_content(const struct vip *vip)
{
	const struct fake_table *table;
	struct backend_ident ident;
	uint32_t id;

	assert_in_range(vip->table, 1, FAKE_IDS - 1);
	assert_true(fake.table[vip->table] >= 0);
	table = &fake_tables[fake.table[vip->table]];
	for (id = 1; id < FAKE_IDS; id++) {
		if (!table->names[id])
			continue;
		assert_true(outer_ident(&fake.backends[id], &ident));
		assert_int_equal(backend_ident_compare(&ident, &watch.ident[id]), 0);
		assert_true(fake.backends[id].flags & BACKEND_RESOLVED);
	}
	return table->digest;
}

static uint64_t packet_sees(int number)
{
	const struct vip *vip;
	struct vip_spec spec;

	assert_int_equal(vip_spec_parse(world_vips[number], &spec, NULL), 0);
	vip = packet_finds_vip(&spec);
	return vip ? packet_finds_content(vip) : 0;
}

static bool bits_match(const uint8_t *a, const uint8_t *b, unsigned int n)
{
	for (unsigned int bit = 0; bit < n; bit++)
		if ((a[bit / 8] ^ b[bit / 8]) >> (7 - bit % 8) & 1)
			return false;
	return true;
}

/* The longest match among the entries of the VIP, by looking at all of them. */
static enum admission map_admits(const struct vip *vip, bool v6, const struct addr *source)
{
	const uint8_t *bytes = (const uint8_t *)&source->v4;
	const struct fake_acl *list = fake.acls[v6];
	int longest = -1;
	bool deny = vip->flags & VIP_ACL_DENY;

	for (size_t i = 0; i < FAKE_ACLS; i++) {
		int length = (int)list[i].key.prefix_len - ACL_PREFIX_LEN_VIP;

		if (!list[i].used || list[i].key.vip != vip->id || length <= longest ||
		    !bits_match(list[i].key.addr, bytes, length))
			continue;
		longest = length;
		deny = list[i].value.deny;
	}
	return deny ? REFUSED : ADMITTED;
}

static enum admission packet_is_admitted(int number, int probe)
{
	const struct vip *vip;
	struct vip_spec spec;
	struct addr source;
	bool v6;

	assert_int_equal(vip_spec_parse(world_vips[number], &spec, NULL), 0);
	v6 = spec.addr.family == AF_INET6;
	vip = packet_finds_vip(&spec);
	if (!vip || !(vip->flags & VIP_ACL))
		return vip ? ADMITTED : NO_VIP;
	source = (struct addr){ .family = spec.addr.family };
	assert_int_equal(inet_pton(source.family, probes[v6][probe], &source.v6), 1);
	return map_admits(vip, v6, &source);
}

/* What the lists of a plan say, from the plan alone. */
static enum admission planned_admission(const struct plan *plan, int number, int probe)
{
	const struct plan_vip *vip = vip_of(plan, world_vips[number]);
	struct addr source = { 0 };
	int longest = -1;
	bool deny;

	if (!vip)
		return NO_VIP;
	source.family = vip->spec.addr.family;
	assert_int_equal(inet_pton(source.family,
				   probes[source.family == AF_INET6][probe], &source.v6),
			 1);
	deny = vip->options.flags & VIP_ACL_DENY;
	for (size_t i = 0; i < plan->n_acls; i++) {
		const struct plan_acl *acl = &plan->acls[i];

		if (acl->vip != vip->id || acl->prefix.length <= longest ||
		    !bits_match((const uint8_t *)&acl->prefix.addr.v4,
				(const uint8_t *)&source.v4, acl->prefix.length))
			continue;
		longest = acl->prefix.length;
		deny = acl->deny;
	}
	return deny ? REFUSED : ADMITTED;
}

static void look_at_admission(int number)
{
	for (int probe = 0; probe < PROBES; probe++) {
		enum admission seen = packet_is_admitted(number, probe);

		assert_true(seen == watch.old_admits[number][probe] ||
			    seen == watch.new_admits[number][probe]);
	}
}

static void look_at_all_vips(void)
{
	uint64_t seen;
	int i;

	watch.steps++;
	for (i = 0; i < WORLD_VIPS; i++) {
		seen = packet_sees(i);
		assert_true(seen == watch.old[i] || seen == watch.new[i]);
		look_at_admission(i);
	}
}

static uint64_t planned_content(const struct plan *plan, const char *vip)
{
	_cleanup_free_ struct table_line *lines = NULL;
	size_t n;

	if (!vip_of(plan, vip))
		return 0;
	assert_int_equal(plan_table_lines(table_of(plan, vip), NULL, &lines, &n, NULL), 0);
	return fake_digest(lines, n);
}

static void watch_change(const struct plan *from, const struct plan *to)
{
	size_t i;

	for (i = 0; i < from->n_backends; i++)
		watch.ident[from->backends[i].id] = from->backends[i].ident;
	for (i = 0; i < to->n_backends; i++)
		watch.ident[to->backends[i].id] = to->backends[i].ident;
	for (i = 0; i < WORLD_VIPS; i++) {
		watch.old[i] = packet_sees(i);
		watch.new[i] = planned_content(to, world_vips[i]);
		for (int probe = 0; probe < PROBES; probe++) {
			watch.old_admits[i][probe] = packet_is_admitted(i, probe);
			watch.new_admits[i][probe] = planned_admission(to, i, probe);
		}
	}
	fake_after_write = look_at_all_vips;
}

static void no_packet_sees_a_half(void **state)
{
	struct world world;
	int seed, i;

	(void)state;
	memset(&watch, 0, sizeof(watch));
	for (seed = 1; seed <= 60; seed++) {
		struct kernel k = new_kernel();
		struct plan *plan = empty_plan();

		world_start(&world, seed);
		for (i = 0; i < 60; i++) {
			struct plan *next = next_plan(&world, plan);

			watch_change(plan, next);
			assert_int_equal(change(&k, plan, next), 0);
			plan_free(&plan);
			plan = next;
		}
		plan_free(&plan);
		kernel_release(&k);
	}
	assert_true(watch.steps > 10000);
}

/* And the same when a write fails and the change is taken back. */
static void no_packet_sees_a_half_of_a_failing_change(void **state)
{
	struct world world;
	int seed, i;

	(void)state;
	memset(&watch, 0, sizeof(watch));
	for (seed = 1; seed <= 60; seed++) {
		struct kernel k = new_kernel();
		struct plan *plan = empty_plan();

		world_start(&world, seed);
		for (i = 0; i < 30; i++) {
			struct plan *next = next_plan(&world, plan);

			fake_ops = 0;
			fake_fail_at = 1 + world_below(&world, 8);
			watch_change(plan, next);
			if (change(&k, plan, next)) {
				fake_fail_at = 0;
				watch_change(plan, next);
				assert_int_equal(change(&k, plan, next), 0);
			}
			fake_fail_at = 0;
			plan_free(&plan);
			plan = next;
		}
		plan_free(&plan);
		kernel_release(&k);
	}
	assert_true(watch.steps > 5000);
}

/* The checker itself: it must notice a VIP that looks into another's slots. */
static void third_content_is_noticed(void **state)
{
	_cleanup_plan_ struct plan *none = empty_plan();
	_cleanup_plan_ struct plan *plan = NULL;
	struct kernel k = new_kernel();
	struct world world;
	int i;

	(void)state;
	memset(&watch, 0, sizeof(watch));
	world_start(&world, 1);
	world.vip_pool[0] = 1;
	world.pools[1].weight[0] = 2;
	plan = must_plan(world_cfg(&world), none);
	assert_int_equal(change(&k, none, plan), 0);
	watch_change(plan, plan);
	fake_after_write = NULL;
	assert_true(packet_sees(0) != packet_sees(1));

	/* As if the two tables were exchanged in place. */
	i = fake.table[plan->vips[0].table];
	fake.table[plan->vips[0].table] = fake.table[plan->vips[1].table];
	fake.table[plan->vips[1].table] = i;
	assert_true(packet_sees(0) != watch.old[0] && packet_sees(0) != watch.new[0]);
	kernel_release(&k);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_packet_sees_a_half),
		cmocka_unit_test(no_packet_sees_a_half_of_a_failing_change),
		cmocka_unit_test(third_content_is_noticed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
