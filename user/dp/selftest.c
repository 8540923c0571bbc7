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
	"  - {address: 203.0.113.1:80/tcp, table_size: 251, encap: ipip,\n"
	"     backends: [{address: 198.51.100.1}]}\n"
	"  - {address: 203.0.113.1:81/tcp, table_size: 251, encap: gue,\n"
	"     backends: [{address: 198.51.100.2}]}\n"
	"  - {address: 203.0.113.1:82/tcp, table_size: 251, encap: gue1,\n"
	"     backends: [{address: 198.51.100.3}]}\n"
	"  - {address: 203.0.113.1:83/tcp, table_size: 251, encap: gre,\n"
	"     backends: [{address: 198.51.100.4}]}\n"
	"  - {address: 203.0.113.1:84/tcp, table_size: 251, encap: l2,\n"
	"     backends: [{address: 198.51.100.5}]}\n"
	"  - {address: \"[2001:db8:1::1]:80/tcp\", table_size: 251, encap: ipip,\n"
	"     backends: [{address: \"2001:db8:2::1\"}]}\n"
	"  - {address: \"[2001:db8:1::1]:81/tcp\", table_size: 251, encap: gue,\n"
	"     backends: [{address: \"2001:db8:2::2\"}]}\n";

#define VIP4(PORT) "203.0.113.1:" PORT
#define VIP6(PORT) "[2001:db8:1::1]:" PORT
#define CLIENT4 "tcp 198.51.100.7:40000 > "
#define CLIENT6 "tcp [2001:db8:3::7]:40000 > "
#define MACS(N) " smac=02:00:00:00:00:00 dmac=02:00:00:00:00:0" N
/* '@' and '#', a port and a label, are the flow's entropy, and not the same everywhere. */
#define IP4(N, PROTOCOL) \
	"ip 192.0.2.1 > 198.51.100." N " protocol=" PROTOCOL " df" MACS(N) " payload=0x"
#define UDP4(N) \
	"udp 192.0.2.1:@ > 198.51.100." N ":6080 check=0 df" MACS(N) " payload=0x"
#define IP6 \
	"ip 2001:db8::1 > 2001:db8:2::1 protocol=41 label=#" MACS("6") " payload=0x"
#define UDP6 \
	"udp [2001:db8::1]:@ > [2001:db8:2::2]:6080 check=0 label=#" MACS("7") " payload=0x"

static const struct way_out {
	const char *name, *client, *vip;
	const char *outer; /* with the bytes between it and the packet; NULL: l2 */
} ways_out[] = {
	{ "an IPv4 packet over ipip", CLIENT4, VIP4("80"), IP4("1", "4") },
	{ "an IPv4 packet over gue", CLIENT4, VIP4("81"), UDP4("2") "00040000" },
	{ "an IPv4 packet over gue1", CLIENT4, VIP4("82"), UDP4("3") },
	{ "an IPv4 packet over gre", CLIENT4, VIP4("83"), IP4("4", "47") "00000800" },
	{ "an IPv4 packet by l2", CLIENT4, VIP4("84"), NULL },
	{ "an IPv6 packet over ipip", CLIENT6, VIP6("80"), IP6 },
	{ "an IPv6 packet over gue", CLIENT6, VIP6("81"), UDP6 "00290000" },
};

static const uint8_t l2_macs[] = { 2, 0, 0, 0, 0, 5, 2, 0, 0, 0, 0, 0 };

static const struct other {
	const char *name, *in; /* in: NULL: an ARP request */
} others[] = {
	{ "an IPv4 packet for no VIP", CLIENT4 "203.0.113.2:80 flags=S" },
	{ "an IPv6 packet for no VIP", CLIENT6 "[2001:db8:1::2]:80 flags=S" },
	{ "an ARP request", NULL },
};

/* What goes in, and how it has to come out. */
struct step {
	const char *name, *kind; /* kind: of flow */
	struct packet in;
	const struct way_out *way; /* NULL: it passes as it came */
};

static int read_other(const struct other *other, struct packet *out, struct err *err)
{
	size_t at;

	if (other->in)
		return packet_from_text(other->in, out, &at, err);
	return packet_from_hex("ffffffffffff 020000fe0001 0806 0001 0800 06 04 0001"
			       "020000fe0001 c6336407 000000000000 c6336401",
			       out, &at, err);
}

/* The outer headers' text, with the entropy that `got` has. */
static size_t write_outer(const char *outer, const struct packet *got, char text[TEXT_MAX])
{
	char field[PACKET_FIELD_MAX];
	size_t used = 0;

	for (; *outer && used < TEXT_MAX - sizeof(field); outer++) {
		if (*outer != '@' && *outer != '#') {
			text[used++] = *outer;
			continue;
		}
		packet_field(got, *outer == '@' ? "sport" : "label", field);
		used += snprintf(text + used, TEXT_MAX - used, "%s",
				 strcmp(field, "-") ? field : "0");
	}
	return used;
}

/* Of an encapsulated frame all that it must be, but for the entropy, which it has. */
static int expected_frame(const struct step *step, const struct packet *got,
			  struct packet *out, struct err *err)
{
	const struct packet *in = &step->in;
	char text[TEXT_MAX];
	size_t at, i, used;
	int rc;

	if (!step->way || !step->way->outer) {
		rc = packet_copy(in->data, in->size, out, err);
		if (!rc && step->way)
			memcpy(out->data, l2_macs, sizeof(l2_macs));
		return rc;
	}
	used = write_outer(step->way->outer, got, text);
	for (i = PACKET_MIN; i < in->size && used < sizeof(text); i++)
		used += snprintf(text + used, sizeof(text) - used, "%02x", in->data[i]);
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
		       "the BPF program failed its self-test: %s%s must %s, and left with verdict '%s' as '%s'; it is not attached",
		       step->name, step->kind, step->way ? "go to its backend" : "pass unchanged",
		       verdict_name(result->verdict), summary);
}

static int run_step(struct trial *t, const struct step *step, struct err *err)
{
	_cleanup_packet_ struct packet expected = { 0 };
	struct trial_result result = { 0 };
	int rc = trial_run(t, &step->in, &result, err);

	if (!rc)
		rc = expected_frame(step, &result.out, &expected, err);
	if (!rc && (result.verdict != (step->way ? XDP_TX : XDP_PASS) ||
		    result.out.size != expected.size ||
		    memcmp(result.out.data, expected.data, expected.size)))
		rc = failed(step, &result, err);
	packet_clear(&result.out);
	return rc;
}

static int run_other(struct trial *t, const struct other *other, struct err *err)
{
	struct step step = { .name = other->name, .kind = "" };
	int rc = read_other(other, &step.in, err);

	if (!rc)
		rc = run_step(t, &step, err);
	packet_clear(&step.in);
	return rc;
}

static int run_packet(struct trial *t, const struct way_out *way, const char *kind,
		      const char *flags, struct err *err)
{
	struct step step = { .name = way->name, .kind = kind, .way = way };
	char text[TEXT_MAX];
	size_t at;
	int rc;

	snprintf(text, sizeof(text), "%s%s flags=%s", way->client, way->vip, flags);
	rc = packet_from_text(text, &step.in, &at, err);
	if (!rc)
		rc = run_step(t, &step, err);
	packet_clear(&step.in);
	return rc;
}

/* A flow that is chosen twice was not remembered. */
static int check_known(const struct trial *t, const struct way_out *way, struct err *err)
{
	size_t member = offsetof(struct vip_counters, new_flows) / sizeof(uint64_t);
	const struct plan_vip *vip;
	struct vip_spec spec;
	char text[VIP_SPEC_TEXT_MAX];
	int rc;

	snprintf(text, sizeof(text), "%s/tcp", way->vip);
	rc = vip_spec_parse(text, &spec, err);
	if (rc)
		return rc;
	vip = plan_find_vip(t->plan, &spec);
	if (vip && trial_count(t, TRIAL_VIP, vip->id, member) == 1)
		return 0;
	return err_set(err, -EPROTO,
		       "the BPF program failed its self-test: after %s of a known flow it has not remembered one flow; it is not attached",
		       way->name);
}

static int run_flow(struct trial *t, const struct way_out *way, struct err *err)
{
	int rc = run_packet(t, way, " that opens a flow", "S", err);

	if (!rc)
		rc = run_packet(t, way, " of a known flow", "A", err);
	return rc ? rc : check_known(t, way, err);
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

	for (i = 0; i < sizeof(ways_out) / sizeof(*ways_out) && !rc; i++)
		rc = run_flow(&t, &ways_out[i], err);
	for (i = 0; i < sizeof(others) / sizeof(*others) && !rc; i++)
		rc = run_other(&t, &others[i], err);
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
