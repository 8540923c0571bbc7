// SPDX-License-Identifier: GPL-2.0-only
#include "selftest.h"

#include <errno.h>
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <linux/bpf.h>

#include "core/cleanup.h"
#include "core/packet.h"
#include "trial.h"

#define MTU 1500
#define TEXT_MAX 512

/* Next hops and MAC addresses are those of trial.h: backends in their order. */
static const char configuration[] =
	"interface: lo\n"
	"conntrack: %s\n"
	"tunnel_source: {ipv4: 192.0.2.1, ipv6: 2001:db8::1}\n"
	"vips:\n"
	"  - address: 203.0.113.1:80/tcp\n"
	"    table_size: 251\n"
	"    backends: [{address: 198.51.100.1}]\n"
	"  - address: \"[2001:db8:1::1]:80/tcp\"\n"
	"    table_size: 251\n"
	"    backends: [{address: \"2001:db8:2::1\"}]\n";

#define VIP4 "203.0.113.1:80"
#define VIP6 "[2001:db8:1::1]:80"
#define CLIENT4 "tcp 198.51.100.7:40000 > "
#define CLIENT6 "tcp [2001:db8:3::7]:40000 > "
#define OUTER4 \
	"ip 192.0.2.1 > 198.51.100.1 protocol=4 ttl=64 df smac=02:00:00:00:00:00 dmac=02:00:00:00:00:01"
/* The flow label is the flow's entropy, which is not the same everywhere. */
#define OUTER6 \
	"ip 2001:db8::1 > 2001:db8:2::1 protocol=41 ttl=64 smac=02:00:00:00:00:00 dmac=02:00:00:00:00:02 label="

static const struct step {
	const char *what;
	const char *in;    /* NULL: an ARP request */
	const char *outer; /* NULL: it passes as it came */
	const char *vip;
	uint64_t new_flows; /* of the VIP, after it */
} steps[] = {
	{ "an IPv4 SYN to a VIP", CLIENT4 VIP4 " flags=S", OUTER4, VIP4 "/tcp", 1 },
	{ "an IPv4 packet of a known flow", CLIENT4 VIP4 " flags=A", OUTER4, VIP4 "/tcp", 1 },
	{ "an IPv6 SYN to a VIP", CLIENT6 VIP6 " flags=S", OUTER6, VIP6 "/tcp", 1 },
	{ "an IPv6 packet of a known flow", CLIENT6 VIP6 " flags=A", OUTER6, VIP6 "/tcp", 1 },
	{ "an IPv4 packet for no VIP", CLIENT4 "203.0.113.2:80 flags=S", NULL, NULL, 0 },
	{ "an IPv6 packet for no VIP", CLIENT6 "[2001:db8:1::2]:80 flags=S", NULL, NULL, 0 },
	{ "an ARP request", NULL, NULL, NULL, 0 },
};

static int read_frame(const struct step *step, struct packet *out, struct err *err)
{
	size_t at;

	if (step->in)
		return packet_from_text(step->in, out, &at, err);
	return packet_from_hex("ffffffffffff 020000fe0001 0806 0001 0800 06 04 0001"
			       "020000fe0001 c6336407 000000000000 c6336401",
			       out, &at, err);
}

/* Of an encapsulated frame all that it must be, but for the label, which it has. */
static int expected_frame(const struct step *step, const struct packet *in,
			  const struct packet *got, struct packet *out, struct err *err)
{
	char text[TEXT_MAX], label[PACKET_FIELD_MAX];
	int used, size = sizeof(text);
	size_t at, i;

	if (!step->outer)
		return packet_copy(in->data, in->size, out, err);
	packet_field(got, "label", label);
	used = snprintf(text, size, "%s%s payload=0x", step->outer,
			strcmp(label, "-") ? label : "");
	for (i = PACKET_MIN; i < in->size && used < size; i++)
		used += snprintf(text + used, size - used, "%02x", in->data[i]);
	return packet_from_text(text, out, &at, err);
}

static const char *verdict_name(int verdict)
{
	static const char *const names[] = {
		[XDP_ABORTED] = "aborted", [XDP_DROP] = "drop", [XDP_PASS] = "pass",
		[XDP_TX] = "tx", [XDP_REDIRECT] = "redirect",
	};

	return verdict >= 0 && verdict <= XDP_REDIRECT ? names[verdict] : "unknown";
}

static int failed(const struct step *step, const struct trial_result *result,
		  struct err *err)
{
	char summary[PACKET_SUMMARY_MAX] = "nothing";

	if (result->out.size >= PACKET_MIN)
		packet_summary(&result->out, summary);
	return err_set(err, -EPROTO,
		       "the BPF program failed its self-test: %s must %s, and left with verdict '%s' as '%s'; it is not attached",
		       step->what,
		       step->outer ? "go to the backend in its tunnel" : "pass unchanged",
		       verdict_name(result->verdict), summary);
}

/* A flow that is chosen twice was not remembered. */
static int check_known(const struct trial *t, const struct step *step, struct err *err)
{
	size_t member = offsetof(struct vip_counters, new_flows) / sizeof(uint64_t);
	const struct plan_vip *vip;
	struct vip_spec spec;
	int rc;

	if (!step->vip)
		return 0;
	rc = vip_spec_parse(step->vip, &spec, err);
	if (rc)
		return rc;
	vip = plan_find_vip(t->plan, &spec);
	if (vip && trial_count(t, TRIAL_VIP, vip->id, member) == step->new_flows)
		return 0;
	return err_set(err, -EPROTO,
		       "the BPF program failed its self-test: after %s it has not remembered one flow; it is not attached",
		       step->what);
}

static int run_step(struct trial *t, const struct step *step, struct err *err)
{
	_cleanup_packet_ struct packet in = { 0 };
	_cleanup_packet_ struct packet expected = { 0 };
	struct trial_result result = { 0 };
	int rc = read_frame(step, &in, err);

	if (!rc)
		rc = trial_run(t, &in, &result, err);
	if (!rc)
		rc = expected_frame(step, &in, &result.out, &expected, err);
	if (!rc && (result.verdict != (step->outer ? XDP_TX : XDP_PASS) ||
		    result.out.size != expected.size ||
		    memcmp(result.out.data, expected.data, expected.size)))
		rc = failed(step, &result, err);
	if (!rc)
		rc = check_known(t, step, err);
	packet_clear(&result.out);
	return rc;
}

static int open_trial(enum flow_form form, struct trial *t, struct err *err)
{
	_cleanup_cfg_ struct cfg *cfg = NULL;
	char text[sizeof(configuration) + 32];
	int size = snprintf(text, sizeof(text), configuration, flow_form_name(form));
	int rc = cfg_parse_yaml(text, size, "self-test", &cfg, err);

	if (!rc)
		rc = trial_open(t, &cfg, err);
	return rc ? rc : trial_reset(t, MTU, err);
}

static int run(enum flow_form form, struct err *err)
{
	_cleanup_trial_ struct trial t = TRIAL_NONE;
	int rc = open_trial(form, &t, err);
	size_t i;

	for (i = 0; i < sizeof(steps) / sizeof(*steps) && !rc; i++)
		rc = run_step(&t, &steps[i], err);
	if (rc && rc != -EPROTO)
		err_prefix(err, "cannot self-test the BPF program, which is not attached");
	return rc;
}

struct selftest {
	pthread_t thread;
	enum flow_form form;
	struct err err;
	int rc;
};

static void *selftest_thread(void *context)
{
	struct selftest *s = context;

	s->rc = run(s->form, &s->err);
	return NULL;
}

int selftest_start(enum flow_form form, struct selftest **out, struct err *err)
{
	struct selftest *s = calloc(1, sizeof(*s));
	int rc;

	if (!s)
		return err_set(err, -ENOMEM, "out of memory");
	s->form = form;
	rc = -pthread_create(&s->thread, NULL, selftest_thread, s);
	if (!rc) {
		*out = s;
		return 0;
	}
	free(s);
	return err_set(err, rc, "cannot self-test the BPF program: no thread: %s",
		       strerror(-rc));
}

int selftest_finish(struct selftest **selftest, struct err *err)
{
	struct selftest *s = TAKE_PTR(*selftest);
	int rc;

	pthread_join(s->thread, NULL);
	rc = s->rc;
	if (rc && err)
		*err = s->err;
	free(s);
	return rc;
}
