// SPDX-License-Identifier: GPL-2.0-only
/*
 * The program of the in-path probes, by BPF_PROG_RUN on socket buffers: what it makes of
 * a packet is compared, whole, with what XDP makes of the same packet for that backend,
 * and with what the tests' own code says a backend has to get.
 */
#include "world.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/pkt_cls.h>
#include <netinet/in.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <bpf/bpf.h>
#include <cmocka.h>

#include "user/core/cleanup.h"
#include "user/dp/probe.h"

#define UNUSED_BACKEND 60000
#define MTU 1500
#define FIRST_INSNS 8
#define V6 .v6 = true
#define UDP .protocol = IPPROTO_UDP, .dport = 53

static struct world world;
static struct probes *probes;

static const enum backend_id tunnels[] = { B_IPIP4,  B_IPIP6,  B_GUE4, B_GUE6, B_GUE_PORT,
					   B_GUE1_4, B_GUE1_6, B_GRE4, B_GRE6, B_L2 };

#define N_TUNNELS (sizeof(tunnels) / sizeof(tunnels[0]))

struct outcome {
	uint32_t action; /* TC_ACT_* */
	uint32_t mark;   /* that the packet has then */
	struct frame out;
};

static void run_as(uint32_t mark, uint32_t gso_size, const struct frame *in,
		   struct outcome *outcome)
{
	struct __sk_buff ctx = { .mark = mark, .gso_size = gso_size }, after = { 0 };
	LIBBPF_OPTS(bpf_test_run_opts, opts, .data_in = in->data, .data_size_in = in->size,
		    .data_out = outcome->out.data,
		    .data_size_out = sizeof(outcome->out.data), .ctx_in = &ctx,
		    .ctx_size_in = sizeof(ctx), .ctx_out = &after,
		    .ctx_size_out = sizeof(after), .repeat = 1);

	assert_int_equal(bpf_prog_test_run_opts(probes_program_fd(probes), &opts), 0);
	outcome->action = opts.retval;
	outcome->mark = after.mark;
	outcome->out.size = opts.data_size_out;
}

static struct probe_target target_for(const struct frame_spec *spec, uint16_t backend)
{
	struct addr vip = { .family = spec->v6 ? AF_INET6 : AF_INET };
	bool udp = spec->protocol == IPPROTO_UDP;

	frame_address(spec->v6 ? VIP6 : VIP4, spec->v6, (uint8_t *)&vip.v6);
	return probe_target(&vip, udp ? 53 : VIP_PORT, udp ? IPPROTO_UDP : IPPROTO_TCP,
			    backend);
}

static uint32_t add_probe(const struct frame_spec *spec, uint16_t backend)
{
	struct probe_target target = target_for(spec, backend);
	uint32_t mark = 0;

	assert_int_equal(probes_add(probes, &target, &mark, NULL), 0);
	return mark;
}

/* One packet has that fate, and no other is counted. */
static void expect_fate(uint32_t mark, uint32_t gso_size, const struct frame *in,
			enum probe_fate fate, struct outcome *outcome)
{
	uint64_t before[PROBE_FATE__MAX], after[PROBE_FATE__MAX];

	assert_int_equal(probes_read(probes, before, NULL), 0);
	run_as(mark, gso_size, in, outcome);
	assert_int_equal(probes_read(probes, after, NULL), 0);
	for (int i = 0; i < PROBE_FATE__MAX; i++)
		if (after[i] - before[i] != (i == (int)fate))
			fail_msg("%s: counted %d times, expected was %s", probe_fate_name(i),
				 (int)(after[i] - before[i]), probe_fate_name(fate));
	assert_int_equal(outcome->action,
			 fate == PROBE_FATE_SENT ? TC_ACT_REDIRECT : TC_ACT_SHOT);
}

static void expect(const struct frame_spec *spec, enum backend_id backend,
		   enum probe_fate fate)
{
	uint32_t mark = add_probe(spec, backend);
	static struct outcome outcome;
	static struct frame in;

	frame_build(spec, &in);
	expect_fate(mark, 0, &in, fate, &outcome);
	probes_del(probes, mark);
}

static int reset_world(void **state)
{
	(void)state;
	world_reset(&world);
	world_flows(&world, 0); /* all go where the table says */
	return 0;
}

static void expect_like_xdp(const struct frame_spec *spec, enum backend_id backend)
{
	static const struct run_options usual;
	static struct frame in, wrapped;
	static struct outcome outcome;
	static struct run xdp;
	uint32_t mark = add_probe(spec, backend);

	frame_build(spec, &in);
	world_table(&world, T_MAIN, WORLD_TABLE_SIZE, backend);
	world_run(&world, &in, &usual, &xdp);
	assert_int_equal(xdp.verdict, XDP_TX);

	expect_fate(mark, 0, &in, PROBE_FATE_SENT, &outcome);
	assert_int_equal(outcome.mark, 0);
	if (!frame_equal(stderr, &xdp.out, &outcome.out))
		fail_msg("backend %d: another frame than XDP sends", backend);

	frame_wrap(&in, world_tunnel(backend), &wrapped);
	frame_copy_entropy(&outcome.out, world_tunnel(backend), &wrapped);
	if (!frame_equal(stderr, &wrapped, &outcome.out))
		fail_msg("backend %d: another frame than a backend expects", backend);
	probes_del(probes, mark);
}

static void every_tunnel_is_what_xdp_sends(void **state)
{
	static const struct frame_spec packets[] = {
		{ .tcp_flags = TCP_SYN },
		{ .payload = 1 },
		{ .payload = 900, .tos = 0xff },
		{ .payload = 100, .tos = 0x02, .sport = 65535 },
		{ .options = 40, .payload = 5 },
		{ UDP, .payload = 1 },
		{ UDP, .payload = 32, .tos = 0xb8 },
		{ V6, .tcp_flags = TCP_SYN },
		{ V6, .payload = 900, .tos = 0xff },
		{ V6, .payload = 100, .tos = 0x02, .sport = 65535 },
		{ V6, UDP, .payload = 1 },
		{ V6, UDP, .payload = 32, .tos = 0xb8 },
	};

	(void)state;
	for (size_t t = 0; t < N_TUNNELS; t++)
		for (size_t p = 0; p < sizeof(packets) / sizeof(packets[0]); p++)
			expect_like_xdp(&packets[p], tunnels[t]);
}

static void spread_source4(struct backend *backend)
{
	backend->flags &= ~BACKEND_PLAIN;
	backend->source_mask = htonl(0xffff);
	frame_address("10.250.0.0", false, (uint8_t *)&backend->outer.v4.src);
	backend->ip4_sum = world_ip4_sum(backend);
}

static void spread_source6(struct backend *backend)
{
	backend->flags &= ~BACKEND_PLAIN;
	backend->source_mask = htonl(0xffff);
	frame_address("2001:db8:5::", true, backend->outer.v6.src);
}

/* XDP alone: what a source out of a prefix has to be is in test_tunnels.c. */
static void sources_out_of_a_prefix_are_those_of_traffic(void **state)
{
	static const struct run_options usual;
	static struct outcome outcome;
	static struct frame in;
	static struct run xdp;

	(void)state;
	for (size_t t = 0; t < N_TUNNELS; t++) {
		if (tunnels[t] == B_L2)
			continue;
		world_backend(&world, tunnels[t],
			      world_tunnel(tunnels[t])->outer6 ? spread_source6 :
								 spread_source4);
		world_table(&world, T_MAIN, WORLD_TABLE_SIZE, tunnels[t]);
		for (uint16_t port = 1024; port < 1056; port++) {
			struct frame_spec spec = { .v6 = port % 2, .sport = port };
			uint32_t mark = add_probe(&spec, tunnels[t]);

			frame_build(&spec, &in);
			world_run(&world, &in, &usual, &xdp);
			expect_fate(mark, 0, &in, PROBE_FATE_SENT, &outcome);
			assert_true(frame_equal(stderr, &xdp.out, &outcome.out));
			probes_del(probes, mark);
		}
	}
}

static void marks_of_others_are_let_go(void **state)
{
	static const struct frame_spec spec = { .payload = 100 };
	uint32_t mark = add_probe(&spec, B_IPIP4), others[36] = { 0, 1, 0x4000, 0x8000 };
	uint64_t before[PROBE_FATE__MAX], after[PROBE_FATE__MAX];
	static struct outcome outcome;
	static struct frame in;
	int i, n = 4;

	(void)state;
	for (i = 0; i < 32; i++)
		if (PROBE_MARK_FIXED >> i & 1)
			others[n++] = mark ^ 1U << i;
	frame_build(&spec, &in);
	assert_int_equal(probes_read(probes, before, NULL), 0);
	for (i = 0; i < n; i++) {
		run_as(others[i], 0, &in, &outcome);
		assert_int_equal(outcome.action, (uint32_t)TC_ACT_UNSPEC);
		assert_int_equal(outcome.mark, others[i]);
		assert_true(frame_equal(stderr, &in, &outcome.out));
	}
	assert_int_equal(probes_read(probes, after, NULL), 0);
	assert_memory_equal(before, after, sizeof(before));
	probes_del(probes, mark);
}

static void unknown_mark_is_dropped(void **state)
{
	static const struct frame_spec spec = { .payload = 100 };
	uint32_t mark = add_probe(&spec, B_IPIP4);
	static struct outcome outcome;
	static struct frame in;

	(void)state;
	frame_build(&spec, &in);
	expect_fate(mark, 0, &in, PROBE_FATE_SENT, &outcome);
	expect_fate(PROBE_MARK(PROBES_MAX - 1), 0, &in, PROBE_FATE_UNKNOWN, &outcome);
	probes_del(probes, mark);
	expect_fate(mark, 0, &in, PROBE_FATE_UNKNOWN, &outcome);
}

static void wrong_destination_is_dropped(void **state)
{
	static const struct frame_spec packets[] = {
		{ .dst = OTHER4 },
		{ .dport = 80 },
		{ .protocol = IPPROTO_ICMP },
		{ V6, .dst = OTHER6 },
		{ V6, .dst = "2001:db8:0:1::10" },
		{ V6, .dport = 80 },
		{ V6, .extensions = "d" },
	};
	static const struct frame_spec spec4 = { 0 }, spec6 = { V6 }, udp = { UDP };
	uint32_t mark4 = add_probe(&spec4, B_IPIP4), mark6 = add_probe(&spec6, B_IPIP4);
	static struct outcome outcome;
	static struct frame in;

	(void)state;
	for (size_t i = 0; i < sizeof(packets) / sizeof(packets[0]); i++) {
		frame_build(&packets[i], &in);
		expect_fate(packets[i].v6 ? mark6 : mark4, 0, &in, PROBE_FATE_DESTINATION,
			    &outcome);
	}
	/* The same address and port, and another protocol or family. */
	frame_build(&(struct frame_spec){ .protocol = IPPROTO_UDP }, &in);
	expect_fate(mark4, 0, &in, PROBE_FATE_DESTINATION, &outcome);
	frame_build(&spec6, &in);
	expect_fate(mark4, 0, &in, PROBE_FATE_DESTINATION, &outcome);
	frame_build(&udp, &in);
	expect_fate(mark4, 0, &in, PROBE_FATE_DESTINATION, &outcome);
	frame_build(&spec4, &in);
	expect_fate(mark6, 0, &in, PROBE_FATE_DESTINATION, &outcome);
	probes_del(probes, mark4);
	probes_del(probes, mark6);
}

/* 203.0.113.10 and cb00:710a:: begin with the same four bytes. */
static void families_are_told_apart(void **state)
{
	static const struct frame_spec spec = { 0 };
	struct addr vip = { .family = AF_INET6 };
	static struct outcome outcome;
	struct probe_target target;
	static struct frame in;
	uint32_t mark;

	(void)state;
	frame_address("cb00:710a::", true, (uint8_t *)&vip.v6);
	target = probe_target(&vip, VIP_PORT, IPPROTO_TCP, B_IPIP4);
	assert_int_equal(probes_add(probes, &target, &mark, NULL), 0);
	frame_build(&spec, &in);
	expect_fate(mark, 0, &in, PROBE_FATE_DESTINATION, &outcome);
	probes_del(probes, mark);
}

static void echo_requests_have_no_port(void **state)
{
	static const struct frame_spec spec = { .protocol = IPPROTO_ICMP, .payload = 56 };
	struct addr vip = { .family = AF_INET };
	static struct outcome outcome;
	static struct frame in, wrapped;
	struct probe_target target;
	uint32_t mark;

	(void)state;
	frame_address(VIP4, false, (uint8_t *)&vip.v4);
	target = probe_target(&vip, 0, IPPROTO_ICMP, B_GUE4);
	assert_int_equal(probes_add(probes, &target, &mark, NULL), 0);
	frame_build(&spec, &in);
	expect_fate(mark, 0, &in, PROBE_FATE_SENT, &outcome);
	frame_wrap(&in, world_tunnel(B_GUE4), &wrapped);
	frame_copy_entropy(&outcome.out, world_tunnel(B_GUE4), &wrapped);
	assert_true(frame_equal(stderr, &wrapped, &outcome.out));
	probes_del(probes, mark);
}

static void go_down(struct backend *backend)
{
	backend->flags |= BACKEND_DOWN;
}

static void drain(struct backend *backend)
{
	backend->flags |= BACKEND_DRAINING;
}

static void backends_out_of_service_are_probed(void **state)
{
	static const struct frame_spec spec = { .tcp_flags = TCP_SYN };

	(void)state;
	world_backend(&world, B_IPIP4, go_down);
	expect(&spec, B_IPIP4, PROBE_FATE_SENT);
	world_backend(&world, B_IPIP4, drain);
	expect(&spec, B_IPIP4, PROBE_FATE_SENT);
}

static void backends_without_a_way_are_not(void **state)
{
	static const struct frame_spec spec = { .tcp_flags = TCP_SYN };

	(void)state;
	expect(&spec, B_UNRESOLVED, PROBE_FATE_BACKEND_UNRESOLVED);
	expect(&spec, B_ABSENT, PROBE_FATE_BACKEND_INVALID);
	expect(&spec, UNUSED_BACKEND, PROBE_FATE_BACKEND_INVALID);
	expect(&spec, 0, PROBE_FATE_BACKEND_INVALID);
}

static void what_exceeds_the_mtu_is_dropped(void **state)
{
	(void)state;
	for (size_t t = 0; t < N_TUNNELS; t++) {
		for (int v6 = 0; v6 < 2; v6++) {
			const struct tunnel *tunnel = world_tunnel(tunnels[t]);
			struct frame_spec spec = { .v6 = v6 };
			static struct frame in, wrapped;

			frame_build(&spec, &in);
			frame_wrap(&in, tunnel, &wrapped);
			spec.payload = MTU - (wrapped.size - ETH_SIZE);
			expect(&spec, tunnels[t], PROBE_FATE_SENT);
			spec.payload++;
			expect(&spec, tunnels[t], PROBE_FATE_TOO_BIG);
		}
	}
}

static void wrong_packets_are_dropped(void **state)
{
	static const struct frame_spec packets[] = {
		{ .fragment = 0x2000 },
		{ .fragment = 0x0005 },
		{ .version = 5 },
		{ .ihl = 4 },
		{ .ip_len = 39 },
		{ .ip_len = 41 },
		{ .padding = 4 },
		{ .ip_len = 24, .size = 38 },
		{ V6, .version = 5 },
		{ V6, .ip_len = 19 },
		{ V6, .padding = 4 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(packets) / sizeof(packets[0]); i++)
		expect(&packets[i], B_IPIP4, PROBE_FATE_MALFORMED);
}

/*
 * Packets that the device is to cut up; of which type they are BPF_PROG_RUN cannot say,
 * so that the kernel refuses those that would fit. tests/net has real ones.
 */
static void segments_that_exceed_the_mtu_are_dropped(void **state)
{
	static const struct frame_spec spec = { .payload = 2800 };
	uint32_t mark = add_probe(&spec, B_IPIP4);
	static struct outcome outcome;
	static struct frame in;

	(void)state;
	frame_build(&spec, &in);
	expect_fate(mark, 1461, &in, PROBE_FATE_TOO_BIG, &outcome);
	expect_fate(mark, 1460, &in, PROBE_FATE_NO_ROOM, &outcome);
	probes_del(probes, mark);
}

static void target_can_be_changed(void **state)
{
	static const struct frame_spec spec = { 0 };
	struct probe_target target = target_for(&spec, B_GUE6);
	uint32_t mark = add_probe(&spec, B_IPIP4);
	static struct outcome outcome;
	static struct frame in;

	(void)state;
	frame_build(&spec, &in);
	expect_fate(mark, 0, &in, PROBE_FATE_SENT, &outcome);
	assert_int_equal(outcome.out.data[5], B_IPIP4);
	assert_int_equal(probes_set(probes, mark, &target, NULL), 0);
	expect_fate(mark, 0, &in, PROBE_FATE_SENT, &outcome);
	assert_int_equal(outcome.out.data[5], B_GUE6);
	probes_del(probes, mark);
	assert_int_equal(probes_set(probes, mark, &target, NULL), -ENOENT);
	assert_int_equal(probes_set(probes, 1, &target, NULL), -ENOENT);
}

static void marks_are_numbers_and_leave_bits_14_and_15_alone(void **state)
{
	(void)state;
	for (uint32_t n = 0; n < PROBES_MAX; n++) {
		uint32_t mark = PROBE_MARK(n);

		if (!PROBE_MARK_IS_OURS(mark) || PROBE_NUMBER(mark) != n || mark & 0xc000)
			fail_msg("probe %u has mark 0x%x", n, mark);
	}
}

static void marks_are_given_out_again_last_of_all(void **state)
{
	static const struct frame_spec spec = { 0 };
	struct probe_target target = target_for(&spec, B_IPIP4);
	uint32_t *marks = calloc(PROBES_MAX, sizeof(*marks)), mark;
	struct err err;

	(void)state;
	assert_non_null(marks);
	mark = add_probe(&spec, B_IPIP4);
	probes_del(probes, mark);
	for (uint32_t i = 0; i < PROBES_MAX; i++) {
		marks[i] = add_probe(&spec, B_IPIP4);
		if ((marks[i] == mark) != (i == PROBES_MAX - 1))
			fail_msg("mark 0x%x came back after %u others", mark, i);
	}
	assert_int_equal(probes_add(probes, &target, &mark, &err), -ENOSPC);
	assert_non_null(strstr(err.text, "262144"));
	for (uint32_t i = 0; i < PROBES_MAX; i++)
		probes_del(probes, marks[i]);
	free(marks);
}

/* Most of a host's packets: the first thing is the mark, and no helper is called. */
static void packets_of_others_leave_at_once(void **state)
{
	struct bpf_insn insns[4096] = { 0 };
	struct bpf_prog_info info = { .xlated_prog_insns = (uintptr_t)insns,
				      .xlated_prog_len = sizeof(insns) };
	uint32_t size = sizeof(info);
	int i;

	(void)state;
	assert_int_equal(bpf_obj_get_info_by_fd(probes_program_fd(probes), &info, &size), 0);
	for (i = 0; i < FIRST_INSNS; i++) {
		if (insns[i].code == (BPF_JMP | BPF_CALL))
			fail_msg("instruction %d calls a helper", i);
		if (BPF_OP(insns[i].code) == BPF_JNE && insns[i].imm == (int)PROBE_MARK_BASE)
			return;
	}
	fail_msg("the mark is not compared within %d instructions", FIRST_INSNS);
}

#define TEST(name) cmocka_unit_test_setup(name, reset_world)

static const struct CMUnitTest tests[] = {
	TEST(every_tunnel_is_what_xdp_sends),
	TEST(sources_out_of_a_prefix_are_those_of_traffic),
	TEST(marks_of_others_are_let_go),
	TEST(unknown_mark_is_dropped),
	TEST(wrong_destination_is_dropped),
	TEST(families_are_told_apart),
	TEST(echo_requests_have_no_port),
	TEST(backends_out_of_service_are_probed),
	TEST(backends_without_a_way_are_not),
	TEST(what_exceeds_the_mtu_is_dropped),
	TEST(wrong_packets_are_dropped),
	TEST(segments_that_exceed_the_mtu_are_dropped),
	TEST(target_can_be_changed),
	TEST(marks_are_numbers_and_leave_bits_14_and_15_alone),
	TEST(marks_are_given_out_again_last_of_all),
	TEST(packets_of_others_leave_at_once),
};

int main(void)
{
	struct err err = { 0 };
	int result = world_open(&world);

	if (result)
		return result;
	if (probes_open(NULL, bpf_map__fd(world.skel->maps.backends), &probes, &err)) {
		fprintf(stderr, "%s\n", err.text);
		return 1;
	}
	result = cmocka_run_group_tests(tests, NULL, NULL);
	probes_close(&probes);
	world_close(&world);
	return result;
}
