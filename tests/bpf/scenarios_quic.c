// SPDX-License-Identifier: GPL-2.0-only
/* QUIC packets: which go where their connection id says, and which by tuple. */
#include <netinet/in.h>

#include "scenario.h"

#define V6 .v6 = true
#define UDP .protocol = IPPROTO_UDP, .dport = 53
#define QUIC(text) UDP, .payload = 64, .head = text
#define QUIC_OF(bytes, text) UDP, .payload = bytes, .head = text
#define OTHER_PORT .sport = 40001
#define OTHER_PLACE4 .src = "192.0.2.200", .sport = 50123
#define OTHER_PLACE6 .src = "2001:db8:ffff::9", .sport = 50123

/* Connection ids of 12 bytes: config id 2, that many minus one, server, nonce. */
#define ID_OF(server) "4b" server "01020304050607"
#define NEXT "c0ffee01"
#define GUE4 "c0ffee02"
#define ABSENT "c0ffee03"
#define PADDING "c0ffeeee" /* as the frames are padded with 0xee */
#define NOBODY "deadbeef"

#define V1 "00000001"
#define V2 "6b3343cf"
#define SHORT(server) QUIC("43" ID_OF(server))
#define SHORT_OF(bytes, server) QUIC_OF(bytes, "43" ID_OF(server))
#define LONG(first, version, server) QUIC(first version "0c" ID_OF(server) "00")
#define INITIAL(server) LONG("c0", V1, server)
#define ZERO_RTT(server) LONG("d0", V1, server)
#define HANDSHAKE(server) LONG("e0", V1, server)
#define HANDSHAKE_OF(bytes, server) QUIC_OF(bytes, "e0" V1 "0c" ID_OF(server))

static bool is_dns(const struct vip *vip)
{
	return vip->id == V_DNS4 || vip->id == V_DNS6;
}

static void route_by_id(struct vip *vip)
{
	if (!is_dns(vip))
		return;
	vip->flags |= VIP_QUIC;
	vip->quic = 2 << 5 | 4;
}

static void add_server(struct world *world, const char *hex, enum backend_id backend)
{
	world_quic_server(world, V_DNS4, hex, backend);
	world_quic_server(world, V_DNS6, hex, backend);
}

static void add_servers(struct world *world)
{
	add_server(world, NEXT, B_NEXT);
	add_server(world, GUE4, B_GUE4);
	add_server(world, ABSENT, B_ABSENT);
	add_server(world, PADDING, B_NEXT);
}

static void quic(struct world *world)
{
	add_servers(world);
	world_vips(world, route_by_id);
}

static void longest_id(struct vip *vip)
{
	if (!is_dns(vip))
		return;
	vip->flags |= VIP_QUIC;
	vip->quic = 0 << 5 | 15;
}

static void shortest_id(struct vip *vip)
{
	if (!is_dns(vip))
		return;
	vip->flags |= VIP_QUIC;
	vip->quic = 6 << 5 | 1;
}

static void server_ids_are_of_15_bytes(struct world *world)
{
	add_server(world, "000102030405060708090a0b0c0d0e", B_NEXT);
	add_server(world, "000102030405060708090a0b0c0d0f", B_GUE4);
	world_vips(world, longest_id);
}

static void server_ids_are_of_1_byte(struct world *world)
{
	add_server(world, "00", B_NEXT);
	add_server(world, "0000", B_EXACT);
	world_vips(world, shortest_id);
}

static void another_vip_has_the_servers(struct world *world)
{
	world_quic_server(world, V_WEB4, NEXT, B_NEXT);
	world_vips(world, route_by_id);
}

static void set_down(struct backend *backend)
{
	backend->flags |= BACKEND_DOWN;
}

static void set_draining(struct backend *backend)
{
	backend->flags |= BACKEND_DRAINING;
}

static void next_is_down(struct world *world)
{
	world_backend(world, B_NEXT, set_down);
}

static void set_failed(struct backend *backend)
{
	backend->flags |= BACKEND_DOWN | BACKEND_FAILED;
}

static void keep_down(struct vip *vip)
{
	route_by_id(vip);
	vip->flags |= VIP_KEEP_DOWN;
}

static void next_fails(struct world *world)
{
	world_backend(world, B_NEXT, set_failed);
}

static void next_fails_and_vip_keeps_flows(struct world *world)
{
	next_fails(world);
	world_vips(world, keep_down);
}

static void next_is_down_for_the_ip4_vip(struct world *world)
{
	world_verdict(world, V_DNS4, B_NEXT, BACKEND_DOWN, 0);
}

static void next_drains(struct world *world)
{
	world_backend(world, B_NEXT, set_draining);
}

static void hash_fragments(struct vip *vip)
{
	route_by_id(vip);
	vip->flags |= VIP_FRAGMENT_HASH;
}

static void quic_and_hashed_fragments(struct world *world)
{
	add_servers(world);
	world_vips(world, hash_fragments);
}

static const struct scenario rows[] = {
	{
		"quic_initial_and_0rtt_go_by_the_tuple_whatever_their_id_says",
		.steps = {
			{ .before = quic, .in = { INITIAL(NEXT) }, NEW(B_IPIP4) },
			{ .in = { ZERO_RTT(NEXT) }, SENT(B_IPIP4) },
			{ .in = { V6, INITIAL(NEXT) }, NEW(B_IPIP4) },
			{ .in = { LONG("d0", V2, NEXT), OTHER_PORT }, NEW(B_IPIP4) },
			{ .in = { LONG("e0", V2, NEXT), OTHER_PORT }, SENT(B_IPIP4) },
			{ .in = { INITIAL(NOBODY), OTHER_PORT }, SENT(B_IPIP4) },
		},
	},
	{
		"quic_handshake_goes_to_its_server_id",
		.steps = {
			{ .before = quic, .in = { INITIAL(NOBODY) }, NEW(B_IPIP4) },
			{ .in = { HANDSHAKE(NEXT) }, SENT(B_NEXT) },
			{ .in = { V6, HANDSHAKE(GUE4) }, SENT(B_GUE4) },
			{ .in = { LONG("f0", V2, NEXT) }, SENT(B_NEXT) },
			{ .in = { LONG("c0", V2, NEXT) }, SENT(B_NEXT) },
			{ .in = { LONG("f0", V1, GUE4) }, SENT(B_GUE4) },
		},
	},
	{
		"quic_long_header_of_another_version_goes_by_the_tuple",
		.steps = {
			{ .before = quic, .in = { LONG("e0", "00000000", NEXT) },
			  NEW(B_IPIP4) },
			{ .in = { LONG("e0", "ff00001d", NEXT) }, SENT(B_IPIP4) },
			{ .in = { LONG("e0", "1a2a3a4a", NEXT) }, SENT(B_IPIP4) },
		},
	},
	{
		"quic_short_header_goes_to_its_server_id_and_is_not_remembered",
		.steps = {
			{ .before = quic, .in = { SHORT(NEXT) }, SENT(B_NEXT) },
			{ .in = { SHORT(GUE4) }, SENT(B_GUE4) },
			{ .in = { QUIC("03" ID_OF(NEXT)) }, SENT(B_NEXT) },
			{ .in = { INITIAL(NEXT) }, NEW(B_IPIP4) },
			{ .in = { SHORT(NEXT) }, SENT(B_NEXT) },
			{ .in = { V6, SHORT(GUE4) }, SENT(B_GUE4) },
		},
	},
	{
		"quic_client_that_moves_keeps_its_backend",
		.steps = {
			{ .before = quic, .in = { INITIAL(NOBODY) }, NEW(B_IPIP4) },
			{ .in = { SHORT(NEXT) }, SENT(B_NEXT) },
			{ .in = { SHORT(NEXT), OTHER_PORT }, SENT(B_NEXT) },
			{ .in = { SHORT(NEXT), OTHER_PLACE4 }, SENT(B_NEXT) },
			{ .in = { QUIC("7f" "4b" NEXT "ffffffffffffff"), OTHER_PLACE4 },
			  SENT(B_NEXT) },
		},
	},
	{
		"ip6_quic_client_that_moves_keeps_its_backend",
		.steps = {
			{ .before = quic, .in = { V6, INITIAL(NOBODY) }, NEW(B_IPIP4) },
			{ .in = { V6, SHORT(NEXT) }, SENT(B_NEXT) },
			{ .in = { V6, SHORT(NEXT), OTHER_PORT }, SENT(B_NEXT) },
			{ .in = { V6, SHORT(NEXT), OTHER_PLACE6 }, SENT(B_NEXT) },
			{ .in = { V6, QUIC("7f" "4b" NEXT "ffffffffffffff"),
				  OTHER_PLACE6 },
			  SENT(B_NEXT) },
		},
	},
	{
		"quic_client_that_moves_between_families_keeps_its_backend",
		.steps = {
			{ .before = quic, .in = { SHORT(NEXT) }, SENT(B_NEXT) },
			{ .in = { V6, SHORT(NEXT) }, SENT(B_NEXT) },
		},
	},
	{
		"quic_unknown_server_id_goes_by_the_tuple_and_is_counted",
		.steps = {
			{ .before = quic, .in = { SHORT(NOBODY) }, NEW(B_IPIP4),
			  .quic_unknown = true },
			{ .in = { SHORT(NOBODY) }, SENT(B_IPIP4), .quic_unknown = true },
			{ .in = { HANDSHAKE(NOBODY) }, SENT(B_IPIP4),
			  .quic_unknown = true },
			{ .in = { V6, SHORT(NOBODY) }, NEW(B_IPIP4),
			  .quic_unknown = true },
		},
	},
	{
		"quic_server_ids_are_those_of_the_vip",
		.steps = {
			{ .before = another_vip_has_the_servers, .in = { SHORT(NEXT) },
			  NEW(B_IPIP4), .quic_unknown = true },
		},
	},
	{
		"quic_unroutable_config_id_goes_by_the_tuple",
		.steps = {
			{ .before = quic, .in = { QUIC("43" "eb" NEXT) }, NEW(B_IPIP4) },
			{ .in = { QUIC("e0" V1 "0c" "eb" NEXT) }, SENT(B_IPIP4) },
		},
	},
	{
		"quic_config_id_of_another_goes_by_the_tuple",
		.steps = {
			{ .before = quic, .in = { QUIC("43" "2b" NEXT) }, NEW(B_IPIP4) },
			{ .in = { QUIC("43" "0b" NEXT) }, SENT(B_IPIP4) },
			{ .in = { QUIC("43" "6b" NEXT) }, SENT(B_IPIP4) },
			{ .in = { QUIC("43" "cb" NEXT) }, SENT(B_IPIP4) },
		},
	},
	{
		"quic_low_bits_of_the_first_octet_do_not_matter",
		.steps = {
			{ .before = quic, .in = { QUIC("43" "40" NEXT) }, SENT(B_NEXT) },
			{ .in = { QUIC("43" "5f" NEXT) }, SENT(B_NEXT) },
		},
	},
	{
		"quic_short_header_without_a_whole_server_id_goes_by_the_tuple",
		.steps = {
			{ .before = quic, .in = { SHORT_OF(6, PADDING) },
			  SENT(B_NEXT) },
			{ .in = { SHORT_OF(5, PADDING) }, NEW(B_IPIP4) },
			{ .in = { SHORT_OF(5, PADDING), .padding = 20 },
			  SENT(B_IPIP4) },
			/* The IP packet has more, but not the UDP datagram. */
			{ .in = { SHORT_OF(5, PADDING), .padding = 20,
				  .ip_len = 53 },
			  SENT(B_IPIP4) },
			{ .in = { SHORT_OF(1, PADDING) }, SENT(B_IPIP4) },
			{ .in = { UDP }, SENT(B_IPIP4) },
		},
	},
	{
		"ip6_quic_short_header_without_a_whole_server_id_goes_by_the_tuple",
		.steps = {
			{ .before = quic, .in = { V6, SHORT_OF(6, PADDING) },
			  SENT(B_NEXT) },
			{ .in = { V6, SHORT_OF(5, PADDING) }, NEW(B_IPIP4) },
			{ .in = { V6, SHORT_OF(5, PADDING), .padding = 20 },
			  SENT(B_IPIP4) },
			{ .in = { V6, SHORT_OF(5, PADDING), .padding = 20,
				  .ip_len = 33 },
			  SENT(B_IPIP4) },
		},
	},
	{
		"quic_long_header_without_a_whole_server_id_goes_by_the_tuple",
		.steps = {
			{ .before = quic, .in = { QUIC("e0" V1 "05" "4b" NEXT) },
			  SENT(B_NEXT) },
			{ .in = { QUIC("e0" V1 "04" "4b" NEXT) }, NEW(B_IPIP4) },
			{ .in = { QUIC("e0" V1 "00" "4b" NEXT) }, SENT(B_IPIP4) },
			{ .in = { HANDSHAKE_OF(11, PADDING) }, SENT(B_NEXT) },
			{ .in = { HANDSHAKE_OF(10, PADDING), .padding = 20 },
			  SENT(B_IPIP4) },
			{ .in = { HANDSHAKE_OF(5, NEXT) }, SENT(B_IPIP4) },
		},
	},
	{
		"quic_server_id_of_15_bytes",
		.steps = {
			{ .before = server_ids_are_of_15_bytes,
			  .in = { QUIC("43" "13" "000102030405060708090a0b0c0d0e") },
			  SENT(B_NEXT) },
			{ .in = { QUIC("43" "13" "000102030405060708090a0b0c0d0f") },
			  SENT(B_GUE4) },
			{ .in = { QUIC("e0" V1 "14" "13" "000102030405060708090a0b0c0d0f") },
			  SENT(B_GUE4) },
			{ .in = { QUIC_OF(17, "43" "13" "000102030405060708090a0b0c0d0e") },
			  SENT(B_NEXT) },
			{ .in = { QUIC_OF(16, "43" "13" "000102030405060708090a0b0c0d0e") },
			  NEW(B_IPIP4) },
			{ .in = { QUIC("43" "13" "100102030405060708090a0b0c0d0e") },
			  SENT(B_IPIP4), .quic_unknown = true },
		},
	},
	{
		"quic_server_id_of_1_byte",
		.steps = {
			{ .before = server_ids_are_of_1_byte,
			  .in = { QUIC("43" "c7" "00" "0000") }, SENT(B_NEXT) },
			{ .in = { QUIC("43" "c7" "01" "0000") }, NEW(B_IPIP4),
			  .quic_unknown = true },
			{ .in = { V6, QUIC_OF(3, "43" "c7" "00" "01") },
			  SENT(B_NEXT) },
		},
	},
	{
		"quic_server_that_is_down_lets_go_of_its_packets",
		.steps = {
			{ .before = quic, .in = { SHORT(NEXT) }, SENT(B_NEXT) },
			{ .before = next_is_down, .in = { SHORT(NEXT) }, NEW(B_IPIP4) },
			{ .in = { HANDSHAKE(NEXT) }, SENT(B_IPIP4) },
			{ .in = { V6, SHORT(NEXT) }, NEW(B_IPIP4) },
		},
	},
	{
		"quic_server_that_fails_keeps_its_packets_as_its_vip_says",
		.steps = {
			{ .before = quic, .in = { SHORT(NEXT) }, SENT(B_NEXT) },
			{ .before = next_fails, .in = { SHORT(NEXT) }, NEW(B_IPIP4) },
			{ .before = next_fails_and_vip_keeps_flows, .in = { SHORT(NEXT) },
			  SENT(B_NEXT) },
			{ .in = { V6, SHORT(NEXT) }, SENT(B_NEXT) },
			{ .before = next_is_down, .in = { SHORT(NEXT) }, SENT(B_IPIP4) },
		},
	},
	{
		"quic_server_that_is_down_for_one_vip_keeps_the_packets_of_another",
		.steps = {
			{ .before = quic, .in = { SHORT(NEXT) }, SENT(B_NEXT) },
			{ .before = next_is_down_for_the_ip4_vip, .in = { SHORT(NEXT) },
			  NEW(B_IPIP4) },
			{ .in = { V6, SHORT(NEXT) }, SENT(B_NEXT) },
		},
	},
	{
		"quic_server_that_drains_keeps_its_packets",
		.steps = {
			{ .before = quic, .in = { SHORT(NEXT) }, SENT(B_NEXT) },
			{ .before = next_drains, .in = { SHORT(NEXT), OTHER_PLACE4 },
			  SENT(B_NEXT) },
			{ .in = { V6, SHORT(NEXT) }, SENT(B_NEXT) },
		},
	},
	{
		"quic_server_whose_backend_is_not_in_use_goes_by_the_tuple",
		.steps = {
			{ .before = quic, .in = { SHORT(ABSENT) }, NEW(B_IPIP4) },
		},
	},
	{
		"udp_vip_without_quic_does_not_look_at_connection_ids",
		.steps = {
			{ .before = add_servers, .in = { SHORT(NEXT) }, NEW(B_IPIP4) },
			{ .in = { HANDSHAKE(NEXT) }, SENT(B_IPIP4) },
			{ .in = { V6, SHORT(NOBODY) }, NEW(B_IPIP4) },
		},
	},
	{
		"quic_behind_tags_options_and_extension_headers",
		.steps = {
			{ .before = quic, .in = { SHORT(NEXT), .tags = 2 },
			  SENT(B_NEXT) },
			{ .in = { HANDSHAKE(NEXT), .options = 40 }, SENT(B_NEXT) },
			{ .in = { V6, SHORT(NEXT), .extensions = "hd" }, SENT(B_NEXT) },
			{ .in = { V6, HANDSHAKE(GUE4), .extensions = "r", .tags = 1 },
			  SENT(B_GUE4) },
			{ .in = { SHORT(NOBODY), .tags = 1 }, NEW(B_IPIP4),
			  .quic_unknown = true },
		},
	},
	{
		"quic_connection_id_in_a_later_page_is_read",
		.steps = {
			{ .before = quic, .in = { SHORT_OF(1400, NEXT) },
			  .with.linear = 42, SENT(B_NEXT) },
			{ .in = { V6, HANDSHAKE_OF(1400, GUE4) },
			  .with.linear = 66, SENT(B_GUE4) },
		},
	},
	{
		"quic_later_fragments_follow_the_first",
		.steps = {
			{ .before = quic,
			  .in = { SHORT(NEXT), .fragment = 0x2000, .id = 1 },
			  SENT(B_NEXT) },
			{ .in = { SHORT(NOBODY), .fragment = 0x000a, .id = 1 },
			  SENT(B_NEXT) },
			{ .in = { V6, SHORT(NEXT), .extensions = "f", .fragment = 0x2000,
				  .id = 2 },
			  SENT(B_NEXT) },
		},
	},
	{
		"quic_fragments_that_are_hashed_go_by_their_addresses",
		.steps = {
			{ .before = quic_and_hashed_fragments,
			  .in = { SHORT(NEXT), .fragment = 0x2000, .id = 1 },
			  NEW(B_IPIP4) },
			{ .in = { SHORT(NEXT) }, SENT(B_NEXT) },
		},
	},
};

const struct scenario_list scenarios_quic = SCENARIO_LIST(rows);
