// SPDX-License-Identifier: GPL-2.0-only
/*
 * The self-test before a program is attached: it finds the program fit, and each way
 * of being unfit by what comes out of BPF_PROG_RUN.
 */
#include <dlfcn.h>
#include <errno.h>
#include <netinet/in.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include <bpf/bpf.h>
#include <linux/bpf.h>

#include "user/dp/selftest.h"

#define OUTER4_PROTOCOL (14 + 9)
#define OUTER4_DST (14 + 16)
#define OUTER4_END (14 + 20)
#define OUTER6_NEXT_HEADER (14 + 6)
#define OUTER6_DST (14 + 24)

static void (*fault)(struct bpf_test_run_opts *opts);

static int program; /* that ran last */

static void aborts(struct bpf_test_run_opts *opts)
{
	opts->retval = XDP_ABORTED;
}

static void passes_all(struct bpf_test_run_opts *opts)
{
	memcpy(opts->data_out, opts->data_in, opts->data_size_in);
	opts->data_size_out = opts->data_size_in;
	opts->retval = XDP_PASS;
}

static void drops_what_is_for_no_vip(struct bpf_test_run_opts *opts)
{
	if (opts->retval == XDP_PASS)
		opts->retval = XDP_DROP;
}

static void changes_what_passes(struct bpf_test_run_opts *opts)
{
	if (opts->retval == XDP_PASS)
		((uint8_t *)opts->data_out)[5] ^= 1;
}

static void redirects(struct bpf_test_run_opts *opts)
{
	if (opts->retval == XDP_TX)
		opts->retval = XDP_REDIRECT;
}

static void sends_unwrapped(struct bpf_test_run_opts *opts)
{
	if (opts->retval != XDP_TX)
		return;
	passes_all(opts);
	opts->retval = XDP_TX;
}

static bool is_wrapped(const struct bpf_test_run_opts *opts, uint8_t ethertype)
{
	return opts->retval == XDP_TX && ((const uint8_t *)opts->data_out)[12] == ethertype;
}

static void takes_another_ipv4_backend(struct bpf_test_run_opts *opts)
{
	if (is_wrapped(opts, 0x08))
		((uint8_t *)opts->data_out)[OUTER4_DST + 3] ^= 1;
}

static void takes_another_ipv6_backend(struct bpf_test_run_opts *opts)
{
	if (is_wrapped(opts, 0x86))
		((uint8_t *)opts->data_out)[OUTER6_DST + 15] ^= 1;
}

static void takes_another_next_hop(struct bpf_test_run_opts *opts)
{
	if (opts->retval == XDP_TX)
		((uint8_t *)opts->data_out)[5] ^= 1;
}

static void cuts_what_it_sends(struct bpf_test_run_opts *opts)
{
	if (opts->retval == XDP_TX)
		opts->data_size_out -= 4;
}

static bool is_wrapped_in(const struct bpf_test_run_opts *opts, uint8_t protocol)
{
	return is_wrapped(opts, 0x08) &&
	       ((const uint8_t *)opts->data_out)[OUTER4_PROTOCOL] == protocol;
}

static void takes_another_gue_port(struct bpf_test_run_opts *opts)
{
	if (is_wrapped_in(opts, IPPROTO_UDP))
		((uint8_t *)opts->data_out)[OUTER4_END + 3] ^= 1;
}

static void says_ipv6_in_gue(struct bpf_test_run_opts *opts)
{
	if (is_wrapped_in(opts, IPPROTO_UDP))
		((uint8_t *)opts->data_out)[OUTER4_END + 8 + 1] = IPPROTO_IPV6;
}

/* The first bytes behind UDP are those of an IP header. */
static void changes_variant_1_of_gue(struct bpf_test_run_opts *opts)
{
	uint8_t *out = opts->data_out;

	if (is_wrapped_in(opts, IPPROTO_UDP) && out[OUTER4_END + 8] == 0x45)
		out[OUTER4_END + 8 + 1] ^= 4;
}

static void says_ipv6_in_gre(struct bpf_test_run_opts *opts)
{
	if (is_wrapped_in(opts, IPPROTO_GRE))
		((uint8_t *)opts->data_out)[OUTER4_END + 2] = 0x86;
}

static void takes_another_l2_hop(struct bpf_test_run_opts *opts)
{
	if (is_wrapped_in(opts, IPPROTO_TCP))
		((uint8_t *)opts->data_out)[5] ^= 1;
}

static void loses_ipv6_in_gue(struct bpf_test_run_opts *opts)
{
	if (is_wrapped(opts, 0x86) &&
	    ((const uint8_t *)opts->data_out)[OUTER6_NEXT_HEADER] == IPPROTO_UDP)
		opts->retval = XDP_DROP;
}

/* The last byte of the client's own packet. */
static void changes_what_it_carries(struct bpf_test_run_opts *opts)
{
	if (opts->retval == XDP_TX)
		((uint8_t *)opts->data_out)[opts->data_size_out - 1] ^= 1;
}

/* TCP flags of the packet that was wrapped: ACK alone. */
static void drops_known_flows(struct bpf_test_run_opts *opts)
{
	const uint8_t *in = opts->data_in;

	if (opts->retval == XDP_TX && in[opts->data_size_in - 20 + 13] == 0x10)
		opts->retval = XDP_DROP;
}

static int really_run(int prog_fd, struct bpf_test_run_opts *opts)
{
	int (*real)(int fd, struct bpf_test_run_opts *opts) =
		dlsym(RTLD_NEXT, "bpf_prog_test_run_opts");

	return real ? real(prog_fd, opts) : -1;
}

/* What was forgotten is chosen again, and counted as one more flow. */
static void forgets(struct bpf_test_run_opts *opts)
{
	struct bpf_test_run_opts again = *opts;
	uint8_t in[128], out[256];

	if (opts->retval != XDP_TX)
		return;
	memcpy(in, opts->data_in, opts->data_size_in);
	in[opts->data_size_in - 20] ^= 1; /* the source port */
	again.data_in = in;
	again.data_out = out;
	again.data_size_out = sizeof(out);
	assert_int_equal(really_run(program, &again), 0);
}

/* In the place of libbpf's: what the program did, with the fault in it. */
int bpf_prog_test_run_opts(int prog_fd, struct bpf_test_run_opts *opts)
{
	int rc = really_run(prog_fd, opts);

	program = prog_fd;
	if (!rc && fault)
		fault(opts);
	return rc;
}

static int run(enum flow_form form, struct err *err)
{
	struct selftest *selftest;
	int rc = selftest_start(form, &selftest, err);

	return rc ? rc : selftest_finish(&selftest, err);
}

static void the_program_is_fit(void **state)
{
	struct err err = { 0 };

	(void)state;
	fault = NULL;
	if (run(FLOW_FORM_SETS, &err) || run(FLOW_FORM_LRU, &err))
		fail_msg("%s", err.text);
}

static void an_unfit_program_is_found(void **state)
{
	static const struct {
		void (*fault)(struct bpf_test_run_opts *opts);
		const char *words;
	} rows[] = {
		{ aborts, "an IPv4 packet over ipip that opens a flow must go to its backend, and left with verdict 'aborted'" },
		{ passes_all, "an IPv4 packet over ipip that opens a flow must go to its backend, and left with verdict 'pass'" },
		{ redirects, "verdict 'redirect'" },
		{ sends_unwrapped, "an IPv4 packet over ipip that opens a flow" },
		{ takes_another_ipv4_backend, "an IPv4 packet over ipip that opens a flow" },
		{ takes_another_ipv6_backend, "an IPv6 packet over ipip that opens a flow" },
		{ takes_another_next_hop, "an IPv4 packet over ipip that opens a flow" },
		{ cuts_what_it_sends, "an IPv4 packet over ipip that opens a flow" },
		{ changes_what_it_carries, "an IPv4 packet over ipip that opens a flow" },
		{ drops_known_flows, "an IPv4 packet over ipip of a known flow must go" },
		{ takes_another_gue_port, "an IPv4 packet over gue that opens a flow" },
		{ says_ipv6_in_gue, "an IPv4 packet over gue that opens a flow" },
		{ changes_variant_1_of_gue, "an IPv4 packet over gue1 that opens a flow" },
		{ says_ipv6_in_gre, "an IPv4 packet over gre that opens a flow" },
		{ takes_another_l2_hop, "an IPv4 packet by l2 that opens a flow" },
		{ loses_ipv6_in_gue, "an IPv6 packet over gue that opens a flow" },
		{ forgets, "has not remembered one flow" },
		{ drops_what_is_for_no_vip, "an IPv4 packet for no VIP must pass unchanged" },
		{ changes_what_passes, "an IPv4 packet for no VIP must pass unchanged" },
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct err err = { 0 };

		fault = rows[i].fault;
		assert_int_equal(run(i % 2 ? FLOW_FORM_LRU : FLOW_FORM_SETS, &err), -EPROTO);
		if (!strstr(err.text, rows[i].words) || !strstr(err.text, "failed its self-test"))
			fail_msg("row %zu: '%s' is not in: %s", i, rows[i].words, err.text);
	}
	fault = NULL;
}

/* The daemon's thread, and the children that it has, may go on using all CPUs. */
static void the_caller_keeps_its_cpus(void **state)
{
	cpu_set_t before, after;
	struct err err;

	(void)state;
	assert_int_equal(sched_getaffinity(0, sizeof(before), &before), 0);
	assert_int_equal(run(FLOW_FORM_SETS, &err), 0);
	assert_int_equal(sched_getaffinity(0, sizeof(after), &after), 0);
	assert_true(CPU_EQUAL(&before, &after));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_program_is_fit),
		cmocka_unit_test(an_unfit_program_is_found),
		cmocka_unit_test(the_caller_keeps_its_cpus),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
