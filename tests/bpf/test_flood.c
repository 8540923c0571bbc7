// SPDX-License-Identifier: GPL-2.0-only
/*
 * 100,000 connections, and floods of packets from spoofed sources between theirs:
 * how many of them are forgotten. That the flows in sets are not is asserted; what
 * becomes of those in LRU hashes, where the kernel throws out what it likes, is
 * printed beside it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "flood.h"
#include "tests/bpf/flood.skel.h"
#include "world.h"

#define CLIENTS 100000
#define FLOWS 262144  /* for which there is room */
#define FLOOD 1000000  /* packets */
#define SILENT 40      /* ticks: over a minute */

/* Addresses and ports of clients and of strangers are never the same. */
static const struct flood clients = { .source = 10 << 24, .port = 1024 };
static const struct flood strangers = { .source = 11 << 24, .port = 1025 };

static struct world world;
static struct flood_bpf *flood;

static void come(struct flood what, bool v6, uint8_t tcp_flags, uint32_t packets)
{
	uint8_t frame[FLOOD_FRAME6] = { 0 };
	LIBBPF_OPTS(bpf_test_run_opts, run, .data_in = frame,
		    .data_size_in = v6 ? FLOOD_FRAME6 : FLOOD_FRAME4, .repeat = packets);
	struct bpf_program *prog = v6 ? flood->progs.flood6 : flood->progs.flood4;

	what.tcp_flags = tcp_flags;
	flood->bss->flood = what;
	assert_int_equal(bpf_prog_test_run_opts(bpf_program__fd(prog), &run), 0);
	assert_int_equal(run.retval, XDP_TX);
}

static uint64_t new_flows(bool v6)
{
	static struct counts counts;

	world_counts(&world, &counts);
	return counts.vips[v6 ? V_WEB6 : V_WEB4].new_flows;
}

/* How many clients' packets the table has to choose for, since nothing is known. */
static uint32_t unknown_clients(bool v6)
{
	uint64_t before = new_flows(v6);

	come(clients, v6, TCP_ACK, CLIENTS);
	return new_flows(v6) - before;
}

static void tally_flow(void *context, uint16_t sport, uint16_t dport, struct flow *flow)
{
	uint32_t *confirmed = context;

	(void)dport;
	*confirmed += (sport - clients.port) % 2 == 0 && flow->stamp & FLOW_CONFIRMED;
}

static uint32_t confirmed_clients(bool v6)
{
	uint32_t confirmed = 0;

	world_each_flow(&world, v6, tally_flow, &confirmed);
	return confirmed;
}

/*
 * Sets double, and more clients are known, until those left find no place. Fails
 * unless flow_level_note also counts flows that moved: ct_is_settled.
 */
static void establish(bool v6)
{
	uint32_t known = 0, before;

	world_reset(&world);
	come(clients, v6, TCP_SYN, CLIENTS);
	do {
		before = known;
		come(clients, v6, TCP_ACK, CLIENTS);
		known = confirmed_clients(v6);
	} while (known > before);
	assert_in_range(known, CLIENTS - CLIENTS / 100, CLIENTS);
}

/* Connections that had an entry, and have none after a flood of such packets. */
static uint32_t lost_to(bool v6, uint8_t tcp_flags, uint32_t silence)
{
	uint32_t before = confirmed_clients(v6), lost;

	if (silence)
		world_age_flows(&world, silence);
	come(strangers, v6, tcp_flags, FLOOD);
	lost = before - confirmed_clients(v6);
	print_message("           %s: of %u connections%s, %u spoofed %ss: %u forgotten (%.3f %%)\n",
		      v6 ? "IPv6" : "IPv4", before,
		      silence ? " silent for over a minute" : "", FLOOD,
		      tcp_flags & TCP_SYN ? "SYN" : "ACK", lost, 100.0 * lost / before);
	return lost;
}

static void flood_of_syns_forgets_no_connection(void **state)
{
	(void)state;
	for (int v6 = 0; v6 < 2; v6++) {
		establish(v6);
		assert_int_equal(lost_to(v6, TCP_SYN, 0), 0);
		assert_int_equal(unknown_clients(v6), CLIENTS - confirmed_clients(v6));
		assert_int_equal(lost_to(v6, TCP_SYN, SILENT), 0);
	}
}

static void flood_of_acks_forgets_no_lively_connection(void **state)
{
	(void)state;
	for (int v6 = 0; v6 < 2; v6++) {
		establish(v6);
		assert_int_equal(lost_to(v6, TCP_ACK, 0), 0);
		assert_int_equal(unknown_clients(v6), CLIENTS - confirmed_clients(v6));
	}
}

/* One for each full set: whoever takes a place is unconfirmed, and goes next. */
static void flood_of_acks_takes_one_silent_flow_a_set(void **state)
{
	(void)state;
	for (int v6 = 0; v6 < 2; v6++) {
		establish(v6);
		assert_in_range(lost_to(v6, TCP_ACK, SILENT), 0, CLIENTS / 100);
	}
}

static void print_figures_of_lru_hashes(void)
{
	for (int v6 = 0; v6 < 2; v6++) {
		establish(v6);
		lost_to(v6, TCP_SYN, 0);
		establish(v6);
		lost_to(v6, TCP_ACK, 0);
	}
}

static int open_form(enum flow_form form)
{
	int result = world_open_sized(&world, form, FLOWS), fd, zero = 0;

	if (result)
		return result;
	flood = flood_bpf__open_and_load();
	fd = bpf_program__fd(world.skel->progs.fairlead);
	if (flood && !bpf_map_update_elem(bpf_map__fd(flood->maps.balancer), &zero, &fd,
					  BPF_ANY))
		return 0;
	perror("tests/bpf: cannot load flood.bpf.c");
	return EXIT_FAILURE;
}

static void close_form(void)
{
	flood_bpf__destroy(flood);
	world_close(&world);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(flood_of_syns_forgets_no_connection),
		cmocka_unit_test(flood_of_acks_forgets_no_lively_connection),
		cmocka_unit_test(flood_of_acks_takes_one_silent_flow_a_set),
	};
	int result = open_form(FLOW_FORM_SETS);

	if (result)
		return result;
	result = cmocka_run_group_tests(tests, NULL, NULL);
	close_form();
	if (open_form(FLOW_FORM_LRU))
		return EXIT_FAILURE;
	print_message("           LRU hashes of as many flows, beside them:\n");
	print_figures_of_lru_hashes();
	close_form();
	return result;
}
