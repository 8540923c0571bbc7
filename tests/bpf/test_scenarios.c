// SPDX-License-Identifier: GPL-2.0-only
/* Runs every scenario row; see scenario.h. */
#include "scenario.h"

#include <netinet/in.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/lib/checksum.h"

static const struct scenario_list *const lists[] = {
	&scenarios_pass,
	&scenarios_encap,
	&scenarios_flow,
	&scenarios_rare,
	&scenarios_fragment,
	&scenarios_options,
	&scenarios_tunnels,
	&scenarios_drop,
	&scenarios_icmp,
	&scenarios_too_big,
	&scenarios_quic,
};

#define N_LISTS (sizeof(lists) / sizeof(lists[0]))

static struct world world;
static int step_number; /* in the running scenario, for messages */

static uint8_t step_vip(const struct step *step)
{
	bool udp = step->in.protocol == IPPROTO_UDP;

	if (step->vip || step->outcome != OUTCOME_SEND)
		return step->vip;
	if (step->in.v6)
		return udp ? V_DNS6 : V_WEB6;
	return udp ? V_DNS4 : V_WEB4;
}

static void count_sent(const struct step *step, const struct frame *in,
		       struct counts *counts)
{
	struct backend_counters *backend = &counts->backends[step->backend];
	struct vip_counters *vip = &counts->vips[step_vip(step)];
	size_t bytes = frame_ip_length(in);

	if (step->verdict == XDP_TX)
		counts->totals.sent_tx++;
	else
		counts->totals.sent_redirect++;
	vip->packets++;
	vip->bytes += bytes;
	vip->new_flows += step->new_flow;
	vip->quic_unknown += step->quic_unknown;
	backend->packets++;
	backend->bytes += bytes;
	backend->new_flows += step->new_flow;
}

/* What the program must have counted once this step is over. */
static void count_step(const struct step *step, const struct frame *in,
		       struct counts *counts)
{
	switch (step->outcome) {
	case OUTCOME_PASS:
		counts->totals.passed++;
		break;
	case OUTCOME_SEND:
		count_sent(step, in, counts);
		break;
	case OUTCOME_DROP:
		counts->drops[step->reason].packets++;
		counts->drops[step->reason].bytes += in->size;
		if (step->vip)
			counts->vips[step->vip].drops++;
		break;
	case OUTCOME_ANSWER:
		counts->totals.sent_tx++;
		break;
	case OUTCOME_END:
		break;
	}
}

static void expect_counter(const char *what, uint64_t expected, uint64_t got)
{
	if (expected != got)
		fail_msg("step %d: %s: expected %llu, got %llu", step_number,
			 what, (unsigned long long)expected, (unsigned long long)got);
}

static void expect_object(const char *object, unsigned int id,
			  const char *const *names, const void *expected,
			  const void *got, size_t n)
{
	const uint64_t *e = expected, *g = got;
	char what[64];

	for (size_t i = 0; i < n; i++) {
		snprintf(what, sizeof(what), "%s %u %s", object, id, names[i]);
		expect_counter(what, e[i], g[i]);
	}
}

static void expect_counts(const struct counts *e, const struct counts *g)
{
	static const char *const totals[] = { "passed", "sent_tx", "sent_redirect",
					      "pad" };
	static const char *const drops[] = { "packets", "bytes" };
	static const char *const vips[] = { "packets", "bytes", "new_flows",
					    "drops", "quic_unknown" };
	static const char *const backends[] = { "packets", "bytes", "new_flows",
						"pad" };

	for (unsigned int i = 0; i < DROP_REASON__MAX; i++)
		expect_object("drop reason", i, drops, &e->drops[i], &g->drops[i], 2);
	expect_object("totals", 0, totals, &e->totals, &g->totals, 4);
	for (unsigned int i = 0; i < V__MAX; i++)
		expect_object("vip", i, vips, &e->vips[i], &g->vips[i], 5);
	for (unsigned int i = 0; i < B__MAX; i++)
		expect_object("backend", i, backends, &e->backends[i],
			      &g->backends[i], 4);
}

/* The packet that may exceed the MTU is one for a router to fragment. */
static void expect_oversize(const struct frame *got, struct frame *expected)
{
	uint8_t *ip = expected->data + frame_l3(expected);
	uint16_t check;

	memcpy(ip + 4, got->data + frame_l3(got) + 4, 2); /* any id */
	memset(ip + 6, 0, 2);                              /* DF is off */
	memset(ip + 10, 0, 2);
	check = checksum_finish(checksum_add(0, ip, 20));
	ip[10] = check >> 8;
	ip[11] = check & 0xff;
}

static void expect_frame(const struct step *step, const struct frame *in,
			 const struct frame *got)
{
	struct frame expected = *in;

	if (step->outcome == OUTCOME_DROP)
		return;
	if (step->outcome == OUTCOME_ANSWER && step->mtu)
		icmp_too_big_answer(in, step->mtu, &expected);
	else if (step->outcome == OUTCOME_ANSWER)
		icmp_echo_answer(in, &expected);
	if (step->outcome == OUTCOME_SEND) {
		const struct tunnel *tunnel = world_tunnel(step->backend);

		frame_wrap(in, tunnel, &expected);
		if (got->size == expected.size)
			frame_copy_entropy(got, tunnel, &expected);
		if (step->oversize)
			expect_oversize(got, &expected);
	}
	if (!frame_equal(stdout, &expected, got))
		fail_msg("step %d: another frame came out than expected",
			 step_number);
}

static void run_step(const struct step *step, struct counts *expected)
{
	struct counts counted;
	struct frame in;
	struct run run;

	if (step->before)
		step->before(&world);
	if (step->icmp)
		icmp_build(step->icmp, &in);
	else
		frame_build(&step->in, &in);
	frame_add_tags(&in, step->tags);
	world_run(&world, &in, &step->with, &run);
	count_step(step, &in, expected);

	world_counts(&world, &counted);
	expect_counts(expected, &counted);
	if (step->unremembered)
		expect_counter("unremembered", step->unremembered,
			       world_unremembered(&world, step_vip(step)));
	expect_counter("verdict", step->verdict, run.verdict);
	expect_frame(step, &in, &run.out);
}

static void run_scenario(void **state)
{
	const struct scenario *scenario = *state;
	struct counts expected = { 0 };

	world_reset(&world);
	if (scenario->table)
		world_table(&world, T_MAIN, WORLD_TABLE_SIZE, scenario->table);

	assert_int_not_equal(scenario->steps[0].outcome, OUTCOME_END);
	step_number = 0;
	for (const struct step *step = scenario->steps; step->outcome; step++) {
		step_number++;
		run_step(step, &expected);
	}
}

static bool reason_has_row(unsigned int reason)
{
	for (size_t l = 0; l < N_LISTS; l++) {
		for (size_t i = 0; i < lists[l]->n; i++) {
			const struct step *step = lists[l]->rows[i].steps;

			for (; step->outcome; step++) {
				if (step->outcome == OUTCOME_DROP &&
				    step->reason == reason)
					return true;
			}
		}
	}
	return false;
}

static void every_drop_reason_has_a_row(void **state)
{
	(void)state;
#define X(id, name, label, help)                                         \
	if (!reason_has_row(id))                                         \
		fail_msg("no scenario drops a packet with reason '%s'",  \
			 label);
	DROP_REASONS(X)
#undef X
}

/* One test a row; *n of them. The caller frees them. */
static struct CMUnitTest *tests_of_rows(size_t *n)
{
	struct CMUnitTest *tests;
	size_t room = 1;

	for (size_t l = 0; l < N_LISTS; l++)
		room += lists[l]->n;
	tests = calloc(room, sizeof(*tests));
	if (!tests)
		abort();

	*n = 0;
	tests[(*n)++] = (struct CMUnitTest)cmocka_unit_test(every_drop_reason_has_a_row);
	for (size_t l = 0; l < N_LISTS; l++) {
		for (size_t i = 0; i < lists[l]->n; i++) {
			const struct scenario *row = &lists[l]->rows[i];

			tests[(*n)++] = (struct CMUnitTest){
				.name = row->name,
				.test_func = run_scenario,
				.initial_state = (void *)row,
			};
		}
	}
	return tests;
}

static int run_form(enum flow_form form, const char *name, const struct CMUnitTest *tests,
		    size_t n)
{
	int result = world_open_as(&world, form);

	if (result)
		return result;
	result = _cmocka_run_group_tests(name, tests, n, NULL, NULL);
	world_close(&world);
	return result;
}

int main(void)
{
	struct CMUnitTest *tests;
	size_t n;
	int result;

	tests = tests_of_rows(&n);
	result = run_form(FLOW_FORM_SETS, "scenarios, flows in sets", tests, n);
	if (!result)
		result = run_form(FLOW_FORM_LRU, "scenarios, flows in LRU hashes", tests, n);
	free(tests);
	return result;
}
