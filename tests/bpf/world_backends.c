// SPDX-License-Identifier: GPL-2.0-only
/* The backends of the world and the tables that lead to them. */
#include "world_seed.h"

#include <errno.h>
#include <string.h>

#include <arpa/inet.h>
#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "tests/lib/checksum.h"
#include "user/core/cleanup.h"

#define MTU 1500

/* The last byte of mac_dst is the id, from which world_sent_to knows it. */
static const struct tunnel tunnels[B__MAX] = {
	[B_IPIP4] = {
		.mac_dst = { 2, 0, 0, 0, 1, 1 },
		.mac_src = { 2, 0, 0, 0, 0, 1 },
		.src = "192.0.2.1",
		.dst = "192.0.2.11",
	},
	[B_IPIP6] = {
		.mac_dst = { 2, 0, 0, 0, 1, 2 },
		.mac_src = { 2, 0, 0, 0, 0, 1 },
		.outer6 = true,
		.src = "2001:db8:1::1",
		.dst = "2001:db8:1::12",
	},
	[B_GUE4] = {
		.mac_dst = { 2, 0, 0, 0, 1, 3 },
		.mac_src = { 2, 0, 0, 0, 0, 1 },
		.src = "192.0.2.1",
		.dst = "192.0.2.13",
		.gue_port = 6080,
	},
	[B_GUE6] = {
		.mac_dst = { 2, 0, 0, 0, 1, 4 },
		.mac_src = { 2, 0, 0, 0, 0, 1 },
		.outer6 = true,
		.src = "2001:db8:1::1",
		.dst = "2001:db8:1::14",
		.gue_port = 6080,
	},
	[B_GUE_PORT] = {
		.mac_dst = { 2, 0, 0, 0, 1, 5 },
		.mac_src = { 2, 0, 0, 0, 0, 1 },
		.src = "192.0.2.1",
		.dst = "192.0.2.15",
		.gue_port = 9886,
	},
	[B_NEXT] = {
		.mac_dst = { 2, 0, 0, 0, 1, 6 },
		.mac_src = { 2, 0, 0, 0, 0, 1 },
		.src = "192.0.2.1",
		/* Sums that carry twice in the outer checksum. */
		.dst = "255.255.255.250",
	},
	[B_EXACT] = {
		.mac_dst = { 2, 0, 0, 0, 1, 7 },
		.mac_src = { 2, 0, 0, 0, 0, 1 },
		.src = "192.0.2.1",
		.dst = "192.0.2.17",
	},
	[B_REDIRECT] = {
		.mac_dst = { 2, 0, 0, 0, 1, 8 },
		.mac_src = { 2, 0, 0, 0, 0, 8 },
		.src = "192.0.2.1",
		.dst = "192.0.2.18",
	},
	[B_NO_EGRESS] = {
		.mac_dst = { 2, 0, 0, 0, 1, 9 },
		.mac_src = { 2, 0, 0, 0, 0, 9 },
		.src = "192.0.2.1",
		.dst = "192.0.2.19",
	},
	[B_UNRESOLVED] = {
		.src = "192.0.2.1",
		.dst = "192.0.2.20",
	},
	[B_ABSENT] = {
		.src = "192.0.2.1",
		.dst = "192.0.2.21",
	},
	[B_GUE1_4] = {
		.kind = TUNNEL_GUE1,
		.mac_dst = { 2, 0, 0, 0, 1, 12 },
		.mac_src = { 2, 0, 0, 0, 0, 1 },
		.src = "192.0.2.1",
		.dst = "192.0.2.22",
		.gue_port = 6080,
	},
	[B_GUE1_6] = {
		.kind = TUNNEL_GUE1,
		.mac_dst = { 2, 0, 0, 0, 1, 13 },
		.mac_src = { 2, 0, 0, 0, 0, 1 },
		.outer6 = true,
		.src = "2001:db8:1::1",
		.dst = "2001:db8:1::23",
		.gue_port = 6080,
	},
	[B_GRE4] = {
		.kind = TUNNEL_GRE,
		.mac_dst = { 2, 0, 0, 0, 1, 14 },
		.mac_src = { 2, 0, 0, 0, 0, 1 },
		.src = "192.0.2.1",
		.dst = "192.0.2.24",
	},
	[B_GRE6] = {
		.kind = TUNNEL_GRE,
		.mac_dst = { 2, 0, 0, 0, 1, 15 },
		.mac_src = { 2, 0, 0, 0, 0, 1 },
		.outer6 = true,
		.src = "2001:db8:1::1",
		.dst = "2001:db8:1::25",
	},
	[B_L2] = {
		.kind = TUNNEL_L2,
		.mac_dst = { 2, 0, 0, 0, 1, 16 },
		.mac_src = { 2, 0, 0, 0, 0, 1 },
		.src = "192.0.2.1",
		.dst = "192.0.2.26",
	},
};

const struct tunnel *world_tunnel(enum backend_id id)
{
	return &tunnels[id];
}

uint16_t world_ip4_sum(const struct backend *backend)
{
	uint8_t ip[20] = { 0x45, 0, 0, 0, 0, 0, 0x40, 0, 64 };

	memcpy(ip + 12, &backend->outer.v4.src, 4);
	memcpy(ip + 16, &backend->outer.v4.dst, 4);
	return htons((uint16_t)~checksum_finish(checksum_add(0, ip, sizeof(ip))));
}

static uint8_t tunnel_encap(const struct tunnel *tunnel)
{
	switch (tunnel->kind) {
	case TUNNEL_GUE1:
		return ENCAP_GUE1;
	case TUNNEL_GRE:
		return ENCAP_GRE;
	case TUNNEL_L2:
		return ENCAP_L2;
	default:
		return tunnel->gue_port ? ENCAP_GUE : ENCAP_IPIP;
	}
}

static struct backend backend_value(const struct world *world,
				    enum backend_id id)
{
	const struct tunnel *tunnel = &tunnels[id];
	struct backend backend = {
		.ethertype = htons(tunnel->outer6 ? 0x86dd : 0x0800),
		.mtu = MTU,
		.ifindex = LOOPBACK_IFINDEX,
		.encap = tunnel_encap(tunnel),
		.flags = BACKEND_VALID | BACKEND_RESOLVED,
		.gue_port = htons(tunnel->gue_port),
	};

	memcpy(backend.mac_dst, tunnel->mac_dst, 6);
	memcpy(backend.mac_src, tunnel->mac_src, 6);
	if (tunnel->outer6) {
		backend.flags |= BACKEND_OUTER_V6;
		frame_address(tunnel->src, true, backend.outer.v6.src);
		frame_address(tunnel->dst, true, backend.outer.v6.dst);
	} else {
		frame_address(tunnel->src, false, (uint8_t *)&backend.outer.v4.src);
		frame_address(tunnel->dst, false, (uint8_t *)&backend.outer.v4.dst);
		backend.ip4_sum = world_ip4_sum(&backend);
	}

	if (tunnel->kind == TUNNEL_PLAIN)
		backend.flags |= BACKEND_PLAIN;
	if (id == B_REDIRECT)
		backend.ifindex = world->egress_ifindex;
	if (id == B_NO_EGRESS)
		backend.ifindex = world->stray_ifindex;
	if (id == B_UNRESOLVED)
		backend.flags &= ~BACKEND_RESOLVED;
	if (id == B_ABSENT)
		backend.flags = 0;
	return backend;
}

void world_backend(struct world *world, enum backend_id id,
		   void (*change)(struct backend *))
{
	struct backend backend = backend_value(world, id);
	uint32_t key = id;

	if (change)
		change(&backend);
	world_map_update(world->skel->maps.backends, &key, &backend);
}

void world_verdict(struct world *world, enum vip_id vip, enum backend_id id,
		   uint8_t verdict, uint8_t flags)
{
	struct backend backend = backend_value(world, id);
	struct verdict_key key = { .vip = vip, .backend = id };
	struct verdict value = { .flags = verdict };
	uint32_t index = id;

	backend.flags &= ~BACKEND_PLAIN;
	backend.flags |= BACKEND_VERDICTS | flags;
	world_map_update(world->skel->maps.verdicts, &key, &value);
	world_map_update(world->skel->maps.backends, &index, &backend);
}

void world_reset_backends(struct world *world)
{
	for (int id = 1; id < B__MAX; id++)
		world_backend(world, id, NULL);
}

static int table_create(const struct table_header *header, uint32_t lines,
			table_owner *owner, uint32_t context)
{
	LIBBPF_OPTS(bpf_map_create_opts, options, .map_flags = BPF_F_INNER_MAP);
	struct table_line line;
	uint32_t index = 0;
	int fd, err;

	fd = bpf_map_create(BPF_MAP_TYPE_ARRAY, "table", sizeof(uint32_t),
			    sizeof(line), 1 + lines, &options);
	if (fd < 0)
		world_die("table", fd);

	err = bpf_map_update_elem(fd, &index, header, BPF_ANY);
	for (uint32_t slot = 0; !err && index < lines;) {
		for (int i = 0; i < TABLE_LINE_SLOTS; i++)
			line.ids[i] = owner(slot++, context);
		index++;
		err = bpf_map_update_elem(fd, &index, &line, BPF_ANY);
	}
	if (err)
		world_die("table line", err);
	return fd;
}

static uint32_t slot_lines(uint32_t size)
{
	return (size + TABLE_LINE_SLOTS - 1) / TABLE_LINE_SLOTS;
}

void world_table_by(struct world *world, uint32_t table, uint32_t size,
		    table_owner *owner, uint32_t context)
{
	struct table_header header = { .size = size };
	_cleanup_close_ int fd = table_create(&header, slot_lines(size), owner, context);

	world_map_update(world->skel->maps.tables, &table, &fd);
}

static uint16_t owner_constant(uint32_t slot, uint32_t id)
{
	(void)slot;
	return id;
}

void world_table(struct world *world, uint32_t table, uint32_t size,
		 uint16_t fill)
{
	world_table_by(world, table, size, owner_constant, fill);
}

/* Behind the lines of the slots are those of their previous owners. */
static uint16_t owner_after(uint32_t slot, uint32_t ids)
{
	return slot < slot_lines(WORLD_TABLE_SIZE) * TABLE_LINE_SLOTS ? ids & 0xffff :
									 ids >> 16;
}

void world_table_after(struct world *world, uint32_t table, uint16_t fill,
		       uint16_t previous)
{
	uint32_t lines = slot_lines(WORLD_TABLE_SIZE);
	struct table_header header = { .size = WORLD_TABLE_SIZE, .previous = 1 + lines };
	_cleanup_close_ int fd = table_create(&header, 2 * lines, owner_after,
					      fill | (uint32_t)previous << 16);

	world_map_update(world->skel->maps.tables, &table, &fd);
}

void world_table_short(struct world *world, uint32_t table, uint32_t size,
		       uint16_t fill)
{
	struct table_header header = { .size = size };
	_cleanup_close_ int fd = table_create(&header, 1, owner_constant, fill);

	world_map_update(world->skel->maps.tables, &table, &fd);
}
