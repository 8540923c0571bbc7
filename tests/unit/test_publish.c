// SPDX-License-Identifier: GPL-2.0-only
/*
 * Publishing a plan, on maps in memory: what is written is what the plan says,
 * and when a write fails, everything is as it was.
 */
#include "publish_change.h"

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

static size_t count_acls(const struct fake_acl *list)
{
	size_t i, n = 0;

	for (i = 0; i < FAKE_ACLS; i++)
		n += list[i].used;
	return n;
}

static void assert_same_acls(const struct fake_acl *a, const struct fake_acl *b)
{
	size_t i, j;

	assert_int_equal(count_acls(a), count_acls(b));
	for (i = 0; i < FAKE_ACLS; i++) {
		if (!a[i].used)
			continue;
		for (j = 0; j < FAKE_ACLS; j++)
			if (b[j].used && !memcmp(&a[i].key, &b[j].key, sizeof(a[i].key)))
				break;
		assert_in_range(j, 0, FAKE_ACLS - 1);
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
	assert_same_acls(a->maps.acls[0], b->maps.acls[0]);
	assert_same_acls(a->maps.acls[1], b->maps.acls[1]);
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

static void packets_can_tell_a_failed_check_from_the_operators_word(void **state)
{
	static const struct {
		uint8_t use, flags;
	} rows[] = {
		{ USE_UP, 0 },
		{ USE_DRAIN, BACKEND_DRAINING },
		{ USE_FAILED, BACKEND_DOWN | BACKEND_FAILED },
		{ USE_DOWN, BACKEND_DOWN },
	};
	const uint8_t mask = BACKEND_DRAINING | BACKEND_DOWN | BACKEND_FAILED;
	_cleanup_plan_ struct plan *none = empty_plan();
	_cleanup_plan_ struct plan *plan = must_plan_yaml(ONE_VIP("1"), none);
	struct kernel k = new_kernel();
	size_t i;

	(void)state;
	assert_int_equal(change(&k, none, plan), 0);
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		plan->backends[0].use = rows[i].use;
		assert_int_equal(publish_backends(&k, plan, NULL), 0);
		assert_int_equal(fake.backends[plan->backends[0].id].flags & mask,
				 rows[i].flags);
		check_shadows(&k);
	}
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
	struct vip_spec spec;
	struct prefix prefix;
	struct vip_entry entry;

	assert_int_equal(vip_spec_parse(vip, &spec, NULL), 0);
	prefix = (struct prefix){ spec.addr, spec.prefix_len };
	entry = vip_entry_address(&prefix);
	return fake_entry(&entry);
}

#define VIPS(list) "interface: eth0\nvips: [" list "]\n"
#define V(vip) "{address: \"" vip "\"},"

static void each_address_has_one_entry_that_says_whether_it_has_services(void **state)
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
	assert_int_equal(count_vips(fake.vips[0]), 2 + 2);
	assert_int_equal(count_vips(fake.vips[1]), 1);
	assert_int_equal(count_vips(fake.vips[VIP_MAP_SERVICES]), 3);
	assert_int_equal(address_entry("203.0.113.1:80/tcp")->flags,
			 VIP_ADDRESS | VIP_SERVICES);
	assert_int_equal(address_entry("203.0.113.2:80/tcp")->flags, VIP_ADDRESS);
	assert_int_equal(address_entry("[2001:db8::1]:any/udp")->flags,
			 VIP_ADDRESS | VIP_SERVICES);

	assert_int_equal(change(&k, a, b), 0);
	assert_int_equal(count_vips(fake.vips[0]), 1 + 1);
	assert_int_equal(count_vips(fake.vips[1]), 0);
	assert_int_equal(count_vips(fake.vips[VIP_MAP_SERVICES]), 1);
	assert_int_equal(address_entry("203.0.113.1:80/tcp")->flags,
			 VIP_ADDRESS | VIP_SERVICES);
	assert_null(address_entry("203.0.113.2:80/tcp"));
	kernel_release(&k);
}

#define VO(vip, options) "{address: \"" vip "\", " options "},"

static void an_address_is_silent_and_has_a_place_for_fragments_as_its_vips_say(void **state)
{
	_cleanup_plan_ struct plan *none = empty_plan();
	_cleanup_plan_ struct plan *a = must_plan_yaml(
		VIPS(VO("203.0.113.1:80/tcp", "echo: false")
		     VO("203.0.113.1:53/udp", "echo: false, fragments: hash")
		     VO("203.0.113.2:80/tcp", "tcp_junk: pass")), none);
	_cleanup_plan_ struct plan *b = must_plan_yaml(
		VIPS(V("203.0.113.1:53/udp") V("203.0.113.2:80/tcp")), a);
	struct kernel k = new_kernel();
	struct vip_spec spec;
	struct vip_entry entry;
	const struct vip *found;

	(void)state;
	assert_int_equal(change(&k, none, a), 0);
	assert_int_equal(address_entry("203.0.113.1:80/tcp")->flags,
			 VIP_ADDRESS | VIP_NO_ECHO);
	assert_int_equal(address_entry("203.0.113.2:80/tcp")->flags, VIP_ADDRESS);
	assert_int_equal(vip_spec_parse("203.0.113.1:53/udp", &spec, NULL), 0);
	entry = vip_entry_hashed(&spec.addr, 0, IPPROTO_FRAGMENT);
	found = fake_entry(&entry);
	assert_non_null(found);
	assert_int_equal(found->id, vip_of(a, "203.0.113.1:53/udp")->id);
	assert_int_equal(found->flags, VIP_NO_ECHO | VIP_FRAGMENT_HASH);
	assert_int_equal(count_vips(fake.vips[0]), 3 + 2 + 1);

	assert_int_equal(change(&k, a, b), 0);
	assert_int_equal(address_entry("203.0.113.1:53/udp")->flags, VIP_ADDRESS);
	assert_null(fake_entry(&entry));
	assert_int_equal(count_vips(fake.vips[0]), 2 + 2);
	kernel_release(&k);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(maps_are_those_of_a_fresh_start),
		cmocka_unit_test(failed_change_leaves_the_maps_as_they_were),
		cmocka_unit_test(undo_restores),
		cmocka_unit_test(unchanged_configuration_writes_nothing),
		cmocka_unit_test(adopted_tables_of_the_same_content_are_not_written),
		cmocka_unit_test(weight_change_writes_one_table_and_nothing_else),
		cmocka_unit_test(new_next_hop_is_written_to_its_backends),
		cmocka_unit_test(packets_can_tell_a_failed_check_from_the_operators_word),
		cmocka_unit_test(failed_write_of_next_hops_is_made_good_by_the_next),
		cmocka_unit_test(each_address_has_one_entry_that_says_whether_it_has_services),
		cmocka_unit_test(
			an_address_is_silent_and_has_a_place_for_fragments_as_its_vips_say),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
