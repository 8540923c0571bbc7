// SPDX-License-Identifier: GPL-2.0-only
/*
 * Publishing a plan, on maps in memory: whatever write fails, and whenever a
 * packet looks, the maps hold for each VIP what it had or what it is to have.
 */
#include "publish_fake.h"

#include "core/table.h"
#include "daemon/publish.c"
#include "daemon/publish_vips.c"

static uint8_t hop_version; /* another MAC for everybody */

static const struct next_hop *test_hop(void *context, const struct addr *addr)
{
	static struct next_hop hop;

	(void)context;
	hop = (struct next_hop){ .resolved = true, .ifindex = 3, .mtu = 1500,
				 .mac_dst = { 2, 0, 0, 0, 0, hop_version },
				 .source.family = addr->family };
	return &hop;
}

static struct kernel new_kernel(void)
{
	struct kernel k = {
		.vips4 = MAP_VIPS4, .vips6 = MAP_VIPS6, .tables = MAP_TABLES,
		.backends = MAP_BACKENDS, .egress = MAP_EGRESS,
		.vip_counters = MAP_VIP_COUNTERS, .backend_counters = MAP_BACKEND_COUNTERS,
		.cpus = 2, .hop = test_hop,
	};

	fake_reset();
	hop_version = 1;
	assert_int_equal(kernel_init(&k, NULL), 0);
	return k;
}

/* One change, as a transaction makes it. */
static int change(struct kernel *k, const struct plan *from, const struct plan *to)
{
	struct publish p;
	struct err err = { 0 };
	int rc = publish_prepare(k, from, to, &p, &err);

	if (rc)
		return rc;
	rc = publish_commit(k, &p, &err);
	if (rc)
		assert_string_not_equal(err.text, "");
	fake_after_write = NULL;
	if (!rc)
		publish_finish(k, &p);
	publish_release(&p);
	return rc;
}

static size_t count_vips(const struct fake_vip *list)
{
	size_t i, n = 0;

	for (i = 0; i < FAKE_VIPS; i++)
		n += list[i].used;
	return n;
}

static void assert_same_vips(const struct fake_vip *a, const struct fake_vip *b)
{
	size_t i, j;

	assert_int_equal(count_vips(a), count_vips(b));
	for (i = 0; i < FAKE_VIPS; i++) {
		if (!a[i].used)
			continue;
		for (j = 0; j < FAKE_VIPS; j++)
			if (b[j].used && !memcmp(&a[i].key, &b[j].key, sizeof(a[i].key)))
				break;
		assert_in_range(j, 0, FAKE_VIPS - 1);
		assert_memory_equal(&a[i].value, &b[j].value, sizeof(a[i].value));
	}
}

/* A picture of the maps; tables by content, since inner maps have no names. */
struct picture {
	struct fake_maps maps;
	uint64_t table[FAKE_IDS];
};

static struct picture *take_picture(void)
{
	struct picture *picture = calloc(1, sizeof(*picture));
	size_t i;

	picture->maps = fake;
	for (i = 0; i < FAKE_IDS; i++)
		picture->table[i] = fake.table[i] < 0 ? 0 : fake_tables[fake.table[i]].digest;
	return picture;
}

static void assert_same_pictures(const struct picture *a, const struct picture *b)
{
	assert_same_vips(a->maps.vips[0], b->maps.vips[0]);
	assert_same_vips(a->maps.vips[1], b->maps.vips[1]);
	assert_memory_equal(a->table, b->table, sizeof(a->table));
	assert_memory_equal(a->maps.backends, b->maps.backends, sizeof(a->maps.backends));
}

static void assert_maps_are(const struct picture *expected)
{
	_cleanup_free_ struct picture *now = take_picture();

	assert_same_pictures(expected, now);
}

/* What the daemon believes is in the maps is there; and it holds no other fd. */
static void check_shadows(const struct kernel *k)
{
	size_t i, fds = 0;

	for (i = 0; i < FAKE_IDS; i++) {
		const struct kernel_table *t = &k->table[i];

		assert_int_equal(t->fd >= 0, fake.table[i] >= 0);
		if (t->fd < 0)
			continue;
		fds++;
		assert_ptr_equal(fake_of_fd(t->fd), &fake_tables[fake.table[i]]);
		assert_int_equal(t->size, fake_tables[fake.table[i]].header.size);
		assert_true(t->digest == fake_tables[fake.table[i]].header.digest);
		assert_true(t->ids_digest == fake_tables[fake.table[i]].header.ids_digest);
	}
	assert_int_equal(fake_open_fds(), fds);
	assert_memory_equal(k->backend, fake.backends, sizeof(fake.backends));
}

/* The maps as a first start with this very plan would write them. */
static struct picture *fresh_picture(const struct plan *plan)
{
	_cleanup_plan_ struct plan *none = empty_plan();
	struct fake_maps kept = fake;
	struct picture *picture;
	struct fake_table *kept_tables = calloc(FAKE_TABLES, sizeof(*kept_tables));
	uint8_t version = hop_version;
	struct kernel k;

	memcpy(kept_tables, fake_tables, sizeof(fake_tables));
	k = new_kernel();
	hop_version = version;
	assert_int_equal(change(&k, none, plan), 0);
	picture = take_picture();
	kernel_release(&k);
	fake = kept;
	memcpy(fake_tables, kept_tables, sizeof(fake_tables));
	free(kept_tables);
	return picture;
}

static void check_counters(const struct plan *from, const struct plan *to,
			   const struct picture *before)
{
	size_t i;

	for (i = 0; i < to->n_backends; i++) {
		uint16_t id = to->backends[i].id;
		bool kept = plan_find_backend(from, &to->backends[i].ident);

		assert_int_equal(fake.backend_counted[id],
				 kept ? before->maps.backend_counted[id] : 0);
	}
	for (i = 0; i < to->n_vips; i++) {
		uint16_t id = to->vips[i].id;
		bool kept = plan_find_vip(from, &to->vips[i].spec);

		assert_int_equal(fake.vip_counted[id],
				 kept ? before->maps.vip_counted[id] : 0);
	}
}

/*
 * The model checker: what a packet for a VIP finds, after any element.
 */
static struct {
	uint64_t old[WORLD_VIPS], new[WORLD_VIPS]; /* content; 0: no such VIP */
	struct backend_ident ident[FAKE_IDS];      /* by id, of either plan */
	unsigned int steps;
} watch;

static const struct vip *packet_finds_vip(const struct vip_spec *spec)
{
	int family = spec->addr.family, fd = family == AF_INET ? MAP_VIPS4 : MAP_VIPS6;
	struct entry entry = { 0 };
	const struct fake_vip *found;
	char key[sizeof(struct vip_key6)];
	struct vip unused;

	key_fill(spec, spec->port, spec->protocol, &entry.key);
	found = fake_vip(fd, key, pack(family, &entry, 1, key, &unused), false);
	return found ? &found->value : NULL;
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

static void look_at_all_vips(void)
{
	uint64_t seen;
	int i;

	watch.steps++;
	for (i = 0; i < WORLD_VIPS; i++) {
		seen = packet_sees(i);
		assert_true(seen == watch.old[i] || seen == watch.new[i]);
	}
}

static uint64_t planned_content(const struct plan *plan, const char *vip)
{
	_cleanup_free_ struct table_line *lines = NULL;
	size_t n;

	if (!vip_of(plan, vip))
		return 0;
	assert_int_equal(plan_table_lines(table_of(plan, vip), &lines, &n, NULL), 0);
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
	}
	fake_after_write = look_at_all_vips;
}

static bool drop_all(void *context, uint16_t id)
{
	(void)context;
	(void)id;
	return true;
}

/* The next plan of a world: some edits later, or with draining ids let go. */
static struct plan *next_plan(struct world *world, const struct plan *plan)
{
	struct plan *next = NULL;

	if (plan->cfg && world_below(world, 6) == 0) {
		assert_int_equal(plan_release(plan, drop_all, NULL, &next, NULL), 0);
		return next;
	}
	do {
		world_edit(world);
	} while (world_below(world, 2));
	return must_plan(world_cfg(world), plan);
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

static void maps_are_those_of_a_fresh_start(void **state)
{
	struct world world;
	int seed, i;

	(void)state;
	for (seed = 1; seed <= 30; seed++) {
		struct kernel k = new_kernel();
		struct plan *plan = empty_plan();

		world_start(&world, seed);
		for (i = 0; i < 40; i++) {
			_cleanup_free_ struct picture *before = take_picture();
			_cleanup_free_ struct picture *fresh = NULL;
			struct plan *next = next_plan(&world, plan);

			assert_int_equal(change(&k, plan, next), 0);
			check_shadows(&k);
			check_counters(plan, next, before);
			fresh = fresh_picture(next);
			assert_maps_are(fresh);
			plan_free(&plan);
			plan = next;
		}
		plan_free(&plan);
		kernel_release(&k);
		assert_int_equal(fake_open_fds(), 0);
	}
}

/* Fails at the first write, at the second, ... and at last succeeds. */
static unsigned int fail_everywhere(struct kernel *k, const struct plan *from,
				    const struct plan *to)
{
	_cleanup_free_ struct picture *before = take_picture();
	struct publish p;
	unsigned int at;
	int rc;

	for (at = 1;; at++) {
		fake_ops = 0;
		fake_fail_at = at;
		rc = publish_prepare(k, from, to, &p, NULL);
		if (!rc)
			rc = publish_commit(k, &p, NULL);
		fake_fail_at = 0;
		if (!rc)
			break;
		publish_release(&p);
		assert_int_equal(rc, -ENOMEM);
		assert_maps_are(before);
		check_shadows(k);
	}
	publish_finish(k, &p);
	publish_release(&p);
	return at;
}

static void failed_change_leaves_the_maps_as_they_were(void **state)
{
	unsigned int failures = 0;
	struct world world;
	int seed, i;

	(void)state;
	for (seed = 1; seed <= 15; seed++) {
		struct kernel k = new_kernel();
		struct plan *plan = empty_plan();

		world_start(&world, seed);
		for (i = 0; i < 40; i++) {
			struct plan *next = next_plan(&world, plan);
			_cleanup_free_ struct picture *fresh = fresh_picture(next);

			failures += fail_everywhere(&k, plan, next) - 1;
			assert_maps_are(fresh);
			check_shadows(&k);
			plan_free(&plan);
			plan = next;
		}
		plan_free(&plan);
		kernel_release(&k);
	}
	assert_true(failures > 1000);
}

static void undo_restores(void **state)
{
	struct world world;
	struct publish p;
	int seed, i;

	(void)state;
	for (seed = 1; seed <= 20; seed++) {
		struct kernel k = new_kernel();
		struct plan *plan = empty_plan();

		world_start(&world, seed);
		for (i = 0; i < 40; i++) {
			struct plan *next = next_plan(&world, plan);
			_cleanup_free_ struct picture *before = take_picture();

			assert_int_equal(publish_prepare(&k, plan, next, &p, NULL), 0);
			assert_int_equal(publish_commit(&k, &p, NULL), 0);
			publish_undo(&k, &p);
			publish_release(&p);
			assert_maps_are(before);
			check_shadows(&k);

			assert_int_equal(change(&k, plan, next), 0);
			plan_free(&plan);
			plan = next;
		}
		plan_free(&plan);
		kernel_release(&k);
	}
}

static void unchanged_configuration_writes_nothing(void **state)
{
	_cleanup_plan_ struct plan *none = empty_plan();
	_cleanup_plan_ struct plan *plan = NULL;
	_cleanup_plan_ struct plan *same = NULL;
	struct kernel k = new_kernel();
	struct world world;
	uint64_t writes;
	int i;

	(void)state;
	world_start(&world, 5);
	for (i = 0; i < 30; i++)
		world_edit(&world);
	plan = must_plan(world_cfg(&world), none);
	same = must_plan(world_cfg(&world), plan);
	assert_int_equal(change(&k, none, plan), 0);
	assert_true(k.map_writes > 0);
	writes = k.map_writes;
	fake_ops = 0;
	assert_int_equal(change(&k, plan, same), 0);
	assert_int_equal(fake_ops, 0);
	assert_int_equal(k.map_writes, writes);
	kernel_release(&k);
}

/* As after adoption: the tables are there, what is in them is not known. */
static void adopted_tables_of_the_same_content_are_not_written(void **state)
{
	_cleanup_plan_ struct plan *none = empty_plan();
	_cleanup_plan_ struct plan *plan = NULL;
	_cleanup_plan_ struct plan *same = NULL;
	struct kernel k = new_kernel();
	struct world world;
	size_t i;

	(void)state;
	world_start(&world, 6);
	plan = must_plan(world_cfg(&world), none);
	assert_int_equal(change(&k, none, plan), 0);
	for (i = 0; i < plan->n_tables; i++)
		plan->tables[i].known = false;
	same = must_plan(world_cfg(&world), plan);
	fake_ops = 0;
	assert_int_equal(change(&k, plan, same), 0);
	assert_int_equal(fake_ops, 0);
	check_shadows(&k);
	kernel_release(&k);
}

#define ONE_VIP(weight) \
	"interface: eth0\nvips:\n  - address: \"203.0.113.1:80/tcp\"\n    backends:\n" \
	"      - {address: 10.0.0.1, weight: " weight "}\n      - {address: 10.0.0.2}\n"

static void weight_change_writes_one_table_and_nothing_else(void **state)
{
	_cleanup_plan_ struct plan *none = empty_plan();
	_cleanup_plan_ struct plan *a = must_plan_yaml(ONE_VIP("1"), none);
	_cleanup_plan_ struct plan *b = must_plan_yaml(ONE_VIP("2"), a);
	struct kernel k = new_kernel();
	uint64_t writes;

	(void)state;
	assert_int_equal(change(&k, none, a), 0);
	writes = k.map_writes;
	fake_writes = 0;
	assert_int_equal(change(&k, a, b), 0);
	assert_int_equal(fake_writes, 1);
	assert_int_equal(k.map_writes, writes + 1);
	kernel_release(&k);
}

static void new_next_hop_is_written_to_its_backends(void **state)
{
	_cleanup_plan_ struct plan *none = empty_plan();
	_cleanup_plan_ struct plan *plan = must_plan_yaml(ONE_VIP("1"), none);
	struct kernel k = new_kernel();

	(void)state;
	assert_int_equal(change(&k, none, plan), 0);
	fake_ops = 0;
	assert_int_equal(publish_backends(&k, plan, NULL), 0);
	assert_int_equal(fake_ops, 0);
	hop_version = 2;
	assert_int_equal(publish_backends(&k, plan, NULL), 0);
	assert_int_equal(fake.backends[1].mac_dst[5], 2);
	assert_int_equal(fake.backends[2].mac_dst[5], 2);
	check_shadows(&k);
	kernel_release(&k);
}

/* Half of the backends were written: the next attempt writes what is missing. */
static void failed_write_of_next_hops_is_made_good_by_the_next(void **state)
{
	_cleanup_plan_ struct plan *none = empty_plan();
	_cleanup_plan_ struct plan *plan = must_plan_yaml(ONE_VIP("1"), none);
	struct kernel k = new_kernel();
	struct err err = { 0 };

	(void)state;
	assert_int_equal(change(&k, none, plan), 0);
	hop_version = 2;
	fake_ops = 0;
	fake_fail_at = 2; /* the first is the egress interface */
	assert_int_equal(publish_backends(&k, plan, &err), -ENOMEM);
	assert_string_equal(err.text,
			    "cannot write 2 backends to the map: Cannot allocate memory");
	fake_fail_at = 0;
	hop_version = 1; /* back, before anything was told */
	assert_int_equal(publish_backends(&k, plan, NULL), 0);
	assert_int_equal(fake.backends[1].mac_dst[5], 1);
	assert_int_equal(fake.backends[2].mac_dst[5], 1);
	check_shadows(&k);
	kernel_release(&k);
}

static const struct vip *address_entry(const char *vip)
{
	struct entry entry = { 0 };
	struct vip_spec spec;
	char key[sizeof(struct vip_key6)];
	const struct fake_vip *found;
	struct vip unused;
	size_t size;

	assert_int_equal(vip_spec_parse(vip, &spec, NULL), 0);
	key_fill(&spec, 0, 0, &entry.key);
	size = pack(spec.addr.family, &entry, 1, key, &unused);
	found = fake_vip(spec.addr.family == AF_INET ? MAP_VIPS4 : MAP_VIPS6, key, size,
			 false);
	return found ? &found->value : NULL;
}

#define VIPS(list) "interface: eth0\nvips: [" list "]\n"
#define V(vip) "{address: \"" vip "\"},"

static void each_address_has_one_entry_with_its_any_port_flags(void **state)
{
	_cleanup_plan_ struct plan *none = empty_plan();
	_cleanup_plan_ struct plan *a = must_plan_yaml(
		VIPS(V("203.0.113.1:80/tcp") V("203.0.113.1:any/tcp")
		     V("203.0.113.1:any/udp") V("203.0.113.2:80/tcp")
		     V("[2001:db8::1]:any/udp")), none);
	_cleanup_plan_ struct plan *b = must_plan_yaml(
		VIPS(V("203.0.113.1:80/tcp") V("203.0.113.1:any/udp")), a);
	struct kernel k = new_kernel();

	(void)state;
	assert_int_equal(change(&k, none, a), 0);
	assert_int_equal(count_vips(fake.vips[0]), 4 + 2);
	assert_int_equal(count_vips(fake.vips[1]), 1 + 1);
	assert_int_equal(address_entry("203.0.113.1:80/tcp")->flags,
			 VIP_ADDRESS | VIP_ANY_PORT_TCP | VIP_ANY_PORT_UDP);
	assert_int_equal(address_entry("203.0.113.2:80/tcp")->flags, VIP_ADDRESS);
	assert_int_equal(address_entry("[2001:db8::1]:any/udp")->flags,
			 VIP_ADDRESS | VIP_ANY_PORT_UDP);

	assert_int_equal(change(&k, a, b), 0);
	assert_int_equal(count_vips(fake.vips[0]), 2 + 1);
	assert_int_equal(count_vips(fake.vips[1]), 0);
	assert_int_equal(address_entry("203.0.113.1:80/tcp")->flags,
			 VIP_ADDRESS | VIP_ANY_PORT_UDP);
	assert_null(address_entry("203.0.113.2:80/tcp"));
	kernel_release(&k);
}

static void table_lines_hold_the_built_slots_as_backend_ids(void **state)
{
	static const struct plan_member members[] = {
		{ "a", 3, 40 }, { "b", 0, 50 }, { "c", 1, 60 },
	};
	const struct table_backend set[] = { { "a", 3 }, { "b", 0 }, { "c", 1 } };
	const struct table_params params = { .algorithm = TABLE_MAGLEV, .size = 251 };
	const struct plan_table table = { .id = 1, .size = 251, .members = members,
					  .n_members = 3, .known = true };
	_cleanup_free_ struct table_line *lines = NULL;
	struct table_header header;
	uint16_t slots[251], ids[251];
	size_t n, i;

	(void)state;
	assert_int_equal(plan_table_lines(&table, &lines, &n, NULL), 0);
	assert_int_equal(n, 1 + 8);
	assert_int_equal(table_build(&params, set, 3, slots, NULL), 0);
	for (i = 0; i < 251; i++) {
		ids[i] = members[slots[i]].backend;
		assert_int_equal(lines[1 + i / 32].ids[i % 32], ids[i]);
	}
	for (i = 251; i < 8 * 32; i++)
		assert_int_equal(lines[1 + i / 32].ids[i % 32], 0);

	memcpy(&header, lines, sizeof(header));
	assert_int_equal(header.size, 251);
	assert_int_equal(header.n_live, 2);
	assert_true(header.digest == table_digest(slots, 251));
	assert_true(header.ids_digest == table_digest(ids, 251));
	for (i = 0; i < ARRAY_SIZE(header.reserved); i++)
		assert_int_equal(header.reserved[i], 0);
}

static void table_of_nobody_has_only_empty_slots(void **state)
{
	static const struct plan_member members[] = { { "a", 0, 40 } };
	struct plan_table table = { .size = 509, .members = members, .known = true };
	struct table_header header;
	size_t n, i;

	(void)state;
	for (table.n_members = 0; table.n_members < 2; table.n_members++) {
		_cleanup_free_ struct table_line *lines = NULL;

		assert_int_equal(plan_table_lines(&table, &lines, &n, NULL), 0);
		memcpy(&header, lines, sizeof(header));
		assert_int_equal(header.size, 509);
		assert_int_equal(header.n_live, 0);
		for (i = 0; i < 509; i++)
			assert_int_equal(lines[1 + i / 32].ids[i % 32], 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_packet_sees_a_half),
		cmocka_unit_test(no_packet_sees_a_half_of_a_failing_change),
		cmocka_unit_test(maps_are_those_of_a_fresh_start),
		cmocka_unit_test(failed_change_leaves_the_maps_as_they_were),
		cmocka_unit_test(undo_restores),
		cmocka_unit_test(unchanged_configuration_writes_nothing),
		cmocka_unit_test(adopted_tables_of_the_same_content_are_not_written),
		cmocka_unit_test(weight_change_writes_one_table_and_nothing_else),
		cmocka_unit_test(new_next_hop_is_written_to_its_backends),
		cmocka_unit_test(failed_write_of_next_hops_is_made_good_by_the_next),
		cmocka_unit_test(each_address_has_one_entry_with_its_any_port_flags),
		cmocka_unit_test(table_lines_hold_the_built_slots_as_backend_ids),
		cmocka_unit_test(table_of_nobody_has_only_empty_slots),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
