// SPDX-License-Identifier: GPL-2.0-only
/*
 * The decap program, by BPF_PROG_RUN: each row of rows.c is a packet in, and
 * the verdict, the whole packet out and all six counters are compared.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "abi.h"
#include "decap.skel.h"
#include "rows.h"
#include "tests/lib/checksum.h"

/* One for the usual GUE port, one for another. */
static struct decap_bpf *programs[2];

static void put16(uint8_t *at, uint16_t value)
{
	at[0] = value >> 8;
	at[1] = value & 0xff;
}

static void append(struct frame *frame, uint8_t byte, size_t n)
{
	memset(frame->data + frame->size, byte, n);
	frame->size += n;
}

static uint8_t outer_protocol(const struct row *row)
{
	if (row->outer.protocol)
		return row->outer.protocol;
	if (row->outer.gue || row->outer.gue1)
		return 17;
	if (row->outer.gre)
		return 47;
	return row->inner.v6 ? 41 : 4;
}

static void put_outer4(const struct row *row, struct frame *frame, size_t left)
{
	const struct outer *o = &row->outer;
	uint8_t version = o->version ? o->version : 4;
	uint8_t ihl = o->ihl ? o->ihl : 5 + o->options / 4;
	uint8_t *ip = frame->data + frame->size;

	append(frame, 0, 20);
	append(frame, 1, o->options); /* no operation */
	ip[0] = version << 4 | ihl;
	ip[1] = o->ecn;
	put16(ip + 2, 20 + o->options + left + o->ip_len_off);
	put16(ip + 6, o->fragment);
	ip[8] = 64;
	ip[9] = outer_protocol(row);
	frame_address("10.1.0.2", false, ip + 12);
	frame_address(o->dst ? o->dst : "10.1.0.11", false, ip + 16);
	put16(ip + 10, checksum_finish(checksum_add(0, ip, 20 + o->options)));
}

static void put_outer6(const struct row *row, struct frame *frame, size_t left)
{
	const struct outer *o = &row->outer;
	uint8_t *ip = frame->data + frame->size;

	append(frame, 0, 40);
	ip[0] = (o->version ? o->version : 6) << 4;
	ip[1] = o->ecn << 4;
	put16(ip + 4, left + o->ip_len_off);
	ip[6] = outer_protocol(row);
	ip[7] = 64;
	frame_address("fd00:1::2", true, ip + 8);
	frame_address("fd00:1::11", true, ip + 24);
}

static void put_udp(const struct row *row, struct frame *frame, size_t left)
{
	const struct outer *o = &row->outer;
	uint8_t *udp = frame->data + frame->size;

	append(frame, 0, 8);
	put16(udp, 0xc123);
	put16(udp + 2, o->dport ? o->dport : GUE_PORT);
	put16(udp + 4, left + o->udp_len_off);
}

static size_t gue_extension(const struct outer *o)
{
	return 4U * (o->gue_first_long ? o->gue_first | o->hlen : o->hlen);
}

static void put_gue(const struct row *row, struct frame *frame, size_t left)
{
	const struct outer *o = &row->outer;
	uint8_t *gue = frame->data + frame->size + 8;

	put_udp(row, frame, left);
	append(frame, 0, 4);
	append(frame, 0x5a, gue_extension(o));
	gue[0] = o->gue_first | o->hlen;
	gue[1] = o->gue_protocol ? o->gue_protocol : row->inner.v6 ? 41 : 4;
	put16(gue + 2, o->gue_flags);
}

/* RFC 2784, section 2.1: flags and version, then what follows by ethertype. */
static void put_gre(const struct row *row, struct frame *frame)
{
	const struct outer *o = &row->outer;
	uint8_t *gre = frame->data + frame->size;

	append(frame, 0, 4);
	put16(gre, o->gre_flags);
	put16(gre + 2, o->gre_type ? o->gre_type : row->inner.v6 ? 0x86dd : 0x0800);
}

static size_t shim_size(const struct outer *o)
{
	return o->gue ? 12 + gue_extension(o) : o->gue1 ? 8 : o->gre ? 4 : 0;
}

/* The inner packet as it was built, whatever its header says of its length. */
static void wrap(const struct row *row, const struct frame *inner,
		 struct frame *out)
{
	const struct outer *o = &row->outer;
	size_t payload = inner->size - ETH_SIZE;
	size_t left = shim_size(o) + payload + o->extra;

	out->size = 0;
	append(out, 0, ETH_SIZE);
	memcpy(out->data, inner->data, 12);
	put16(out->data + 12, o->v6 ? 0x86dd : 0x0800);
	if (o->v6)
		put_outer6(row, out, left);
	else
		put_outer4(row, out, left);
	if (o->gue)
		put_gue(row, out, left);
	else if (o->gue1)
		put_udp(row, out, left);
	else if (o->gre)
		put_gre(row, out);
	memcpy(out->data + out->size, inner->data + ETH_SIZE, payload);
	out->size += payload;
	append(out, 0xee, o->extra + o->padding);
	if (o->size)
		out->size = o->size;
}

static bool is_stripped(const struct row *row)
{
	return row->fate <= STRIPPED_GRE;
}

static void build(const struct row *row, struct frame *in, struct frame *expected)
{
	struct frame_spec after = row->inner;

	frame_build(&row->inner, in);
	if (!row->bare) {
		*expected = *in;
		wrap(row, expected, in);
	}
	*expected = *in;
	if (!is_stripped(row))
		return;

	if (row->tos_after)
		after.tos = row->tos_after;
	frame_build(&after, expected);
	append(expected, 0xee, row->outer.extra + row->outer.padding);
}

static struct decap_counters read_counters(const struct decap_bpf *program)
{
	int cpus = libbpf_num_possible_cpus(), fd;
	struct decap_counters *each, sum = { 0 };
	uint32_t zero = 0;

	assert_true(cpus > 0);
	each = calloc(cpus, sizeof(*each));
	assert_non_null(each);
	fd = bpf_map__fd(program->maps.decap_counters);
	assert_int_equal(bpf_map_lookup_elem(fd, &zero, each), 0);
	for (int i = 0; i < cpus; i++) {
		sum.ipip += each[i].ipip;
		sum.gue += each[i].gue;
		sum.gue1 += each[i].gue1;
		sum.gre += each[i].gre;
		sum.not_vip += each[i].not_vip;
		sum.malformed += each[i].malformed;
	}
	free(each);
	return sum;
}

static uint32_t run(const struct decap_bpf *program, const struct frame *in,
		    struct frame *out)
{
	LIBBPF_OPTS(bpf_test_run_opts, opts, .data_in = in->data,
		    .data_size_in = in->size, .data_out = out->data,
		    .data_size_out = sizeof(out->data), .repeat = 1);
	int fd = bpf_program__fd(program->progs.decap);

	assert_int_equal(bpf_prog_test_run_opts(fd, &opts), 0);
	out->size = opts.data_size_out;
	return opts.retval;
}

static void check_counters(const struct row *row,
			   const struct decap_counters *before,
			   const struct decap_counters *after)
{
	assert_int_equal(after->ipip - before->ipip, row->fate == STRIPPED_IPIP);
	assert_int_equal(after->gue - before->gue, row->fate == STRIPPED_GUE);
	assert_int_equal(after->gue1 - before->gue1, row->fate == STRIPPED_GUE1);
	assert_int_equal(after->gre - before->gre, row->fate == STRIPPED_GRE);
	assert_int_equal(after->not_vip - before->not_vip,
			 row->fate == PASSED_NOT_VIP);
	assert_int_equal(after->malformed - before->malformed,
			 row->fate == DROPPED);
}

static void check_row(void **state)
{
	const struct row *row = *state;
	const struct decap_bpf *program = programs[row->other_port_program];
	struct decap_counters before, after;
	static struct frame in, expected, out;
	uint32_t verdict;

	build(row, &in, &expected);
	before = read_counters(program);
	verdict = run(program, &in, &out);
	after = read_counters(program);

	assert_int_equal(verdict, row->fate == DROPPED ? XDP_DROP : XDP_PASS);
	assert_true(frame_equal(stderr, &expected, &out));
	check_counters(row, &before, &after);
}

static void add_vip(const struct decap_bpf *program, const char *text, bool v6)
{
	struct decap_key key = { { 0 } };
	uint8_t value = 1;

	if (!v6)
		memset(key.addr + 10, 0xff, 2);
	frame_address(text, v6, key.addr + (v6 ? 0 : 12));
	assert_int_equal(bpf_map_update_elem(bpf_map__fd(program->maps.decap_vips),
					     &key, &value, BPF_ANY), 0);
}

/* port 0: as the program comes. */
static struct decap_bpf *load(uint16_t port)
{
	struct decap_bpf *program = decap_bpf__open();

	if (!program)
		return NULL;
	if (port)
		program->rodata->gue_port = port;
	if (decap_bpf__load(program)) {
		decap_bpf__destroy(program);
		return NULL;
	}
	add_vip(program, VIP4, false);
	add_vip(program, VIP6, true);
	return program;
}

static int close_programs(void **state)
{
	(void)state;
	for (int i = 0; i < 2; i++) {
		if (programs[i])
			decap_bpf__destroy(programs[i]);
	}
	return 0;
}

static int open_programs(void **state)
{
	(void)state;
	programs[0] = load(0);
	programs[1] = load(OTHER_GUE_PORT);
	return programs[0] && programs[1] ? 0 : -1;
}

static bool may_load(void)
{
	LIBBPF_OPTS(bpf_prog_load_opts, opts);
	struct bpf_insn pass[] = {
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .imm = XDP_PASS },
		{ .code = BPF_JMP | BPF_EXIT },
	};
	int fd = bpf_prog_load(BPF_PROG_TYPE_XDP, NULL, "GPL", pass, 2, &opts);

	if (fd < 0)
		fprintf(stderr, "skipped: BPF programs cannot be loaded here: %s\n",
			strerror(errno));
	else
		close(fd);
	return fd >= 0;
}

int main(void)
{
	struct CMUnitTest *tests = calloc(n_rows, sizeof(*tests));

	if (!tests || !may_load()) {
		free(tests);
		return 77;
	}
	for (size_t i = 0; i < n_rows; i++)
		tests[i] = (struct CMUnitTest){
			.name = rows[i].name,
			.test_func = check_row,
			.initial_state = (void *)&rows[i],
		};
	return _cmocka_run_group_tests("decap", tests, n_rows, open_programs,
				       close_programs);
}
