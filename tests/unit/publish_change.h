/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef FAIRLEAD_TESTS_PUBLISH_CHANGE_H
#define FAIRLEAD_TESTS_PUBLISH_CHANGE_H

/* Changes of the maps in memory, one plan after another. */

#include "publish_fake.h"
#include "vip_search.h"

#include "dp/publish.c"
#include "dp/publish_vips.c"
#include "dp/publish_acls.c"
#include "dp/publish_quic.c"
#include "dp/publish_verdicts.c"

static uint8_t hop_version; /* another MAC for everybody */

static inline const struct next_hop *test_hop(void *context, const struct addr *addr)
{
	static struct next_hop hop;

	(void)context;
	hop = (struct next_hop){ .resolved = true, .ifindex = 3, .mtu = 1500,
				 .mac_dst = { 2, 0, 0, 0, 0, hop_version },
				 .source.family = addr->family };
	return &hop;
}

static inline struct kernel new_kernel(void)
{
	struct kernel k = {
		.vips4 = MAP_VIPS4, .vips6 = MAP_VIPS6,
		.prefixes4 = MAP_PREFIXES4, .prefixes6 = MAP_PREFIXES6,
		.services = MAP_SERVICES, .vip_records = MAP_RECORDS,
		.prefixes = &fake.prefixes, .tables = MAP_TABLES,
		.backends = MAP_BACKENDS, .egress = MAP_EGRESS,
		.vip_counters = MAP_VIP_COUNTERS, .backend_counters = MAP_BACKEND_COUNTERS,
		.new_flow_counters = MAP_NEW_FLOW_COUNTERS,
		.acls4 = MAP_ACLS4, .acls6 = MAP_ACLS6,
		.quic_servers = MAP_QUIC_SERVERS,
		.verdicts = MAP_VERDICTS,
		.cpus = 2, .hop = test_hop,
	};

	fake_reset();
	hop_version = 1;
	assert_int_equal(kernel_init(&k, NULL), 0);
	return k;
}

static inline bool next_fake(void *context, size_t i, enum vip_map map, const void **key,
			     const struct vip **value)
{
	const struct fake_vip *found = &fake.vips[map][i];

	(void)context;
	if (i >= fake.high[map])
		return false;
	*key = found->used ? &found->key : NULL;
	*value = &found->value;
	return true;
}

/* What a packet finds in the maps as they are now. */
static inline const struct vip *fake_packet(const struct packet *packet)
{
	return find_in_maps(next_fake, NULL, fake.prefixes, packet);
}

/* Of an address or prefix, or of a VIP of one port; NULL: not there. */
static inline const struct vip *fake_entry(const struct vip_entry *entry)
{
	const struct fake_vip *found = fake_vip(MAP_VIPS4 + entry->map, entry->key,
						vip_map_key_size(entry->map), false);

	return found ? &found->value : NULL;
}

/* One change, as a transaction makes it. */
static inline int change(struct kernel *k, const struct plan *from, const struct plan *to)
{
	struct publish p;
	struct err err = { 0 };
	int rc = publish_prepare(k, from, to, &p, &err);

	if (rc)
		return rc;
	rc = publish_commit(k, &p, &err);
	if (rc)
		assert_string_not_equal(err.text, "");
	if (!rc)
		publish_finish(k, &p);
	fake_after_write = NULL;
	publish_release(&p);
	return rc;
}

static inline bool drop_all(void *context, uint16_t vip, uint16_t backend)
{
	(void)context;
	(void)vip;
	(void)backend;
	return true;
}

/* The next plan of a world: some edits later, or with draining ids let go. */
static inline struct plan *next_plan(struct world *world, const struct plan *plan)
{
	struct plan *next = NULL;

	if (plan->cfg && world_below(world, 6) == 0) {
		assert_int_equal(plan_release(plan, NULL, drop_all, NULL, &next, NULL), 0);
		return next;
	}
	do {
		world_edit(world);
	} while (world_below(world, 2));
	return must_plan(world_cfg(world), plan);
}

#endif
