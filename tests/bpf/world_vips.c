// SPDX-License-Identifier: GPL-2.0-only
/* The VIPs of the world, their services, lists and QUIC servers. */
#include "world_seed.h"

#include <stdio.h>
#include <string.h>

#include <arpa/inet.h>
#include <bpf/bpf.h>
#include <bpf/libbpf.h>

struct vip_seed {
	const char *address;
	uint16_t port; /* 0: any */
	uint8_t protocol;
	uint16_t id, table, flags;
	uint16_t group; /* of a service that is not in the hash maps */
};

/* Groups of services. */
enum group_id { G_ANY4 = 1, G_ANY6, G_UDP_ANY4 };

static const struct vip_seed vip_seeds[] = {
	{ VIP4, 443, IPPROTO_TCP, V_WEB4, T_MAIN, 0, 0 },
	{ VIP4, 53, IPPROTO_UDP, V_DNS4, T_MAIN, 0, 0 },
	{ VIP4, 0, 0, 0, 0, VIP_ADDRESS, 0 },
	{ VIP6, 443, IPPROTO_TCP, V_WEB6, T_MAIN, 0, 0 },
	{ VIP6, 53, IPPROTO_UDP, V_DNS6, T_MAIN, 0, 0 },
	{ VIP6, 0, 0, 0, 0, VIP_ADDRESS, 0 },
	{ ANY4, 0, IPPROTO_TCP, V_ANY4, T_MAIN, 0, G_ANY4 },
	{ ANY4, 443, IPPROTO_TCP, V_EXACT4, T_EXACT, 0, 0 },
	{ ANY4, 0, 0, G_ANY4, 0, VIP_ADDRESS | VIP_SERVICES, 0 },
	{ ANY6, 0, IPPROTO_TCP, V_ANY6, T_MAIN, 0, G_ANY6 },
	{ ANY6, 443, IPPROTO_TCP, V_EXACT6, T_EXACT, 0, 0 },
	{ ANY6, 0, 0, G_ANY6, 0, VIP_ADDRESS | VIP_SERVICES, 0 },
	{ UDP_ANY4, 0, IPPROTO_UDP, V_UDP_ANY4, T_MAIN, 0, G_UDP_ANY4 },
	{ UDP_ANY4, 0, 0, G_UDP_ANY4, 0, VIP_ADDRESS | VIP_SERVICES, 0 },
	{ TABLELESS4, 443, IPPROTO_TCP, V_TABLELESS4, T_MISSING, 0, 0 },
	{ TABLELESS4, 0, 0, 0, 0, VIP_ADDRESS, 0 },
	{ VECTOR_TCP4, 443, IPPROTO_TCP, V_VECTOR_TCP4, T_MAIN, 0, 0 },
	{ VECTOR_TCP4, 0, 0, 0, 0, VIP_ADDRESS, 0 },
	{ VECTOR_UDP4, 53, IPPROTO_UDP, V_VECTOR_UDP4, T_MAIN, 0, 0 },
	{ VECTOR_UDP4, 0, 0, 0, 0, VIP_ADDRESS, 0 },
};

static void seed_service(struct world *world, const struct vip_seed *seed,
			 const struct vip *vip)
{
	struct service_key key = {
		.prefix_len = SERVICE_PREFIX_ANY_PORT,
		.group = seed->group,
		.protocol = seed->protocol,
	};

	world_map_update(world->skel->maps.services, &key, vip);
}

/* As the daemon does: in the sets, when it is plain, and its address in the filter. */
static void put_into_sets(struct world *world, enum vip_map map, const void *key,
			  size_t size, const struct vip *vip)
{
	struct vip_entry entry = { .map = map, .vip = *vip };
	struct vip_entries one = { &entry, 1 };

	memcpy(entry.key, key, size);
	vip_sets_write(&world->vip_sets, &entry);
	vip_filter_add(&world->vip_sets, &one);
}

void world_vip(struct world *world, const char *address, uint16_t port,
	       uint8_t protocol, const struct vip *vip)
{
	struct vip_key4 key4 = { .port = htons(port), .protocol = protocol };
	struct vip_key6 key6 = { .port = htons(port), .protocol = protocol };

	if (strchr(address, ':')) {
		frame_address(address, true, key6.addr);
		world_map_update(world->skel->maps.vips6, &key6, vip);
		put_into_sets(world, VIP_MAP_VIPS6, &key6, sizeof(key6), vip);
	} else {
		frame_address(address, false, (uint8_t *)&key4.addr);
		world_map_update(world->skel->maps.vips4, &key4, vip);
		put_into_sets(world, VIP_MAP_VIPS4, &key4, sizeof(key4), vip);
	}
}

static struct vip vip_value(const struct vip_seed *seed)
{
	return (struct vip){ .id = seed->id, .table = seed->table,
			     .flags = seed->flags, .idle = FLOW_IDLE_MAX,
			     .tcp_idle = FLOW_IDLE_MAX };
}

void world_seed_vips(struct world *world)
{
	for (size_t i = 0; i < sizeof(vip_seeds) / sizeof(vip_seeds[0]); i++) {
		const struct vip_seed *seed = &vip_seeds[i];
		struct vip vip = vip_value(seed);

		if (seed->group)
			seed_service(world, seed, &vip);
		else
			world_vip(world, seed->address, seed->port, seed->protocol, &vip);
	}
}

void world_vips(struct world *world, void (*change)(struct vip *))
{
	for (size_t i = 0; i < sizeof(vip_seeds) / sizeof(vip_seeds[0]); i++) {
		const struct vip_seed *seed = &vip_seeds[i];
		struct vip vip = vip_value(seed);

		if (strcmp(seed->address, VIP4) && strcmp(seed->address, VIP6))
			continue;
		if (change && seed->protocol)
			change(&vip);
		world_vip(world, seed->address, seed->port, seed->protocol, &vip);
	}
}

void world_vips_forget_fragments(struct world *world)
{
	struct vip_key4 key4 = { .protocol = IPPROTO_FRAGMENT };
	struct vip_key6 key6 = { .protocol = IPPROTO_FRAGMENT };

	frame_address(VIP4, false, (uint8_t *)&key4.addr);
	frame_address(VIP6, true, key6.addr);
	bpf_map_delete_elem(bpf_map__fd(world->skel->maps.vips4), &key4);
	bpf_map_delete_elem(bpf_map__fd(world->skel->maps.vips6), &key6);
}

void world_quic_server(struct world *world, enum vip_id vip, const char *hex,
		       enum backend_id backend)
{
	struct quic_server_key key = { .vip = vip };
	uint16_t value = backend;

	for (; sscanf(hex, "%2hhx", &key.id[key.length]) == 1; hex += 2)
		key.length++;
	world_map_update(world->skel->maps.quic_servers, &key, &value);
}

void world_acl(struct world *world, enum vip_id vip, const char *address,
	       uint32_t length, bool deny)
{
	struct acl_key4 key4 = { .prefix_len = 32 + length, .vip = vip };
	struct acl_key6 key6 = { .prefix_len = 32 + length, .vip = vip };
	struct acl_entry entry = { .deny = deny };

	if (strchr(address, ':')) {
		frame_address(address, true, key6.addr);
		world_map_update(world->skel->maps.acls6, &key6, &entry);
	} else {
		frame_address(address, false, (uint8_t *)&key4.addr);
		world_map_update(world->skel->maps.acls4, &key4, &entry);
	}
}

void world_echo_off(struct world *world)
{
	struct vip vip = { .flags = VIP_ADDRESS | VIP_NO_ECHO };
	struct vip_key4 key4 = { 0 };
	struct vip_key6 key6 = { 0 };

	frame_address(VIP4, false, (uint8_t *)&key4.addr);
	frame_address(VIP6, true, key6.addr);
	world_map_update(world->skel->maps.vips4, &key4, &vip);
	world_map_update(world->skel->maps.vips6, &key6, &vip);
}
