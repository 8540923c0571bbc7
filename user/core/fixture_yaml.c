// SPDX-License-Identifier: GPL-2.0-only
/* What stands where in a file of cases. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cfg_reader.h"
#include "cleanup.h"
#include "fixture.h"
#include "fixture_words.h"
#include "num.h"
#include "plural.h"
#include "quote.h"

#define STEPS_MAX 100000
#define LIST_MAX 480

/* Room for one more in an array that is grown by doubling; NULL: no memory. */
static void *grow(void *array, size_t n, size_t size)
{
	if (n & (n - 1))
		return array;
	return realloc(array, (n ? 2 * n : 1) * size);
}

/* One more element, all zero; returns it, or NULL with the failure said. */
#define APPEND(r, array, n)                                               \
	({                                                                \
		__typeof__(array) _grown = grow((array), (n), sizeof(*(array))); \
		__typeof__(array) _new = NULL;                            \
		if (_grown) {                                             \
			(array) = _grown;                                 \
			_new = &(array)[(n)++];                           \
			memset(_new, 0, sizeof(*_new));                   \
		} else {                                                  \
			reader_failed((r), reader_pos(r),                 \
				      err_set((r)->err, -ENOMEM, "out of memory")); \
		}                                                         \
		_new;                                                     \
	})

static int out_of_range(struct reader *r, const char *what, size_t max)
{
	return reader_fail(r, reader_pos(r), "%s is longer than %zu characters", what,
			   max);
}

/* A key that is data, with its place; its value is the current event then. */
struct key {
	char text[2 * FIXTURE_NAME_MAX];
	struct cfg_pos pos;
};

static int read_key(struct reader *r, struct key *key)
{
	const char *text;
	int rc = reader_value(r, "a key", &text);

	if (rc < 0)
		return rc;
	if (strlen(text) >= sizeof(key->text))
		return out_of_range(r, "the key", sizeof(key->text) - 1);
	snprintf(key->text, sizeof(key->text), "%s", text);
	key->pos = reader_pos(r);
	return reader_next(r);
}

/* Where in the file a place in the current value is, when it is on one line. */
static struct cfg_pos value_pos(const struct reader *r, size_t at)
{
	const yaml_event_t *e = &r->event;
	struct cfg_pos pos = reader_pos(r);

	if (e->start_mark.line != e->end_mark.line)
		return pos;
	pos.column += at + (e->data.scalar.style != YAML_PLAIN_SCALAR_STYLE);
	return pos;
}

static int read_bytes(struct reader *r, struct fixture_frame *frame, bool hex)
{
	const char *text;
	size_t at = 0;
	int rc = reader_value(r, hex ? "hex" : "the packet", &text);

	if (rc < 0)
		return rc;
	packet_clear(&frame->bytes);
	rc = hex ? packet_from_hex(text, &frame->bytes, &at, r->err) :
		   packet_from_text(text, &frame->bytes, &at, r->err);
	if (rc < 0)
		return reader_failed(r, value_pos(r, at), rc);
	frame->kind = FRAME_BYTES;
	if (frame->bytes.size < PACKET_MIN)
		return reader_fail(r, reader_pos(r),
				   "the frame has %zu byte%s; allowed: %d to %d, a whole Ethernet header at least",
				   frame->bytes.size, plural(frame->bytes.size), PACKET_MIN,
				   PACKET_MAX);
	return 0;
}

static int read_hex(struct reader *r, void *frame)
{
	return read_bytes(r, frame, true);
}

static int set_pcap(void *object, const char *text, struct err *err)
{
	struct fixture_frame *frame = object;

	frame->kind = FRAME_PCAP;
	frame->pcap = strdup(text);
	return frame->pcap ? 0 : err_set(err, -ENOMEM, "out of memory");
}

static int set_index(void *object, const char *text, struct err *err)
{
	struct fixture_frame *frame = object;

	return parse_u32(text, "frame", 1, UINT32_MAX, &frame->index, err);
}

static const struct cfg_field frame_fields[] = {
	{ .key = "pcap", .set = set_pcap },
	{ .key = "frame", .set = set_index },
	{ 0 },
};

static const struct reader_key frame_nested[] = {
	{ "hex", read_hex },
	{ 0 },
};

static int read_frame_mapping(struct reader *r, struct fixture_frame *frame)
{
	struct reader_mapping m = {
		.what = "a packet",
		.parts = { { frame_fields, frame } },
		.nested = frame_nested,
		.nested_object = frame,
	};
	int rc = reader_mapping(r, &m);
	bool hex = reader_seen(&m, "hex").line, pcap = frame->pcap;

	if (rc < 0)
		return rc;
	if (hex == pcap || pcap != (frame->index != 0))
		return reader_fail(r, frame->pos,
				   "it is no packet; allowed: the text of one, 'hex', or 'pcap' and 'frame'");
	return 0;
}

static int read_frame(struct reader *r, struct fixture_frame *frame)
{
	frame->pos = reader_pos(r);
	if (r->event.type == YAML_MAPPING_START_EVENT)
		return read_frame_mapping(r, frame);
	return read_bytes(r, frame, false);
}

static int read_in(struct reader *r, void *step)
{
	return read_frame(r, &((struct fixture_step *)step)->in);
}

static int read_out(struct reader *r, void *step)
{
	struct fixture_frame *out = &((struct fixture_step *)step)->out;

	if (r->event.type != YAML_SCALAR_EVENT ||
	    strcmp((const char *)r->event.data.scalar.value, "same"))
		return read_frame(r, out);
	out->kind = FRAME_SAME;
	out->pos = reader_pos(r);
	return 0;
}

static int read_backend(struct reader *r, void *object)
{
	struct fixture_step *step = object;
	struct fixture_backend *backend;
	const char *text;
	int rc = reader_value(r, "backend", &text);

	if (rc < 0)
		return rc;
	if (strlen(text) > CFG_NAME_MAX)
		return out_of_range(r, "backend", CFG_NAME_MAX);
	backend = APPEND(r, step->backends, step->n_backends);
	if (!backend)
		return -ENOMEM;
	backend->pos = reader_pos(r);
	snprintf(backend->name, sizeof(backend->name), "%s", text);
	return 0;
}

static int read_backends(struct reader *r, void *step)
{
	struct cfg_pos pos = reader_pos(r);
	int rc;

	if (r->event.type != YAML_SEQUENCE_START_EVENT)
		return read_backend(r, step);
	rc = reader_list(r, "backend", read_backend, step);
	if (rc < 0 || ((struct fixture_step *)step)->n_backends)
		return rc;
	return reader_fail(r, pos, "backend is an empty list; allowed: a name or a list of names");
}

static const char *list_fields(char list[LIST_MAX])
{
	size_t n = 0;

	for (const char *const *f = packet_fields; *f; f++)
		n += snprintf(list + n, LIST_MAX - n, "%s%s", n ? ", " : "", *f);
	return list;
}

/* The one of packet_fields, which must not be in the step already. */
static int find_field(struct reader *r, const struct fixture_step *step,
		      const struct key *key, const char **found)
{
	const char *const *known = packet_fields;
	char list[LIST_MAX];

	while (*known && strcmp(*known, key->text))
		known++;
	if (!*known)
		return reader_fail(r, key->pos,
				   "key %s is not known in outer; allowed: %s",
				   QUOTE(key->text), list_fields(list));
	for (size_t i = 0; i < step->n_outer; i++)
		if (step->outer[i].key == *known)
			return reader_fail(r, key->pos, "key '%s' stands twice",
					   *known);
	*found = *known;
	return 0;
}

static int read_field(struct reader *r, void *object)
{
	struct fixture_step *step = object;
	struct fixture_field *field;
	const char *text, *known = NULL;
	struct key key;
	int rc = read_key(r, &key);

	if (!rc)
		rc = find_field(r, step, &key, &known);
	if (!rc)
		rc = reader_value(r, known, &text);
	if (rc < 0)
		return rc;

	field = &step->outer[step->n_outer++];
	field->key = known;
	return reader_failed(r, reader_pos(r),
			     packet_field_parse(known, text, field->value, r->err));
}

static int read_outer(struct reader *r, void *step)
{
	return reader_pairs(r, "outer", "a mapping", read_field, step);
}

static int read_counter(struct reader *r, void *object)
{
	struct fixture_step *step = object;
	struct fixture_counter *c;
	uint32_t delta = 0;
	const char *text;
	struct key key;
	int rc = read_key(r, &key);

	if (!rc)
		rc = reader_value(r, "the counter's growth", &text);
	if (rc < 0)
		return rc;
	rc = parse_u32(text, "the counter's growth", 0, UINT32_MAX, &delta, r->err);
	if (rc < 0)
		return reader_failed(r, reader_pos(r), rc);
	for (size_t i = 0; i < step->n_counters; i++)
		if (!strcmp(step->counters[i].text, key.text))
			return reader_fail(r, key.pos, "counter %s stands twice", QUOTE(key.text));
	c = APPEND(r, step->counters, step->n_counters);
	if (!c)
		return -ENOMEM;
	c->pos = key.pos;
	c->delta = delta;
	snprintf(c->text, sizeof(c->text), "%s", key.text);
	if (!fixture_parse_counter(c))
		return 0;
	return reader_fail(r, key.pos,
			   "counter %s is not known; allowed: passed, sent_tx, sent_redirect, 'drop REASON', 'vip VIP packets|bytes|new_flows|drops|quic_unknown', 'backend NAME packets|bytes|new_flows'",
			   QUOTE(key.text));
}

static int read_counters(struct reader *r, void *step)
{
	return reader_pairs(r, "counters", "a mapping", read_counter, step);
}

static const struct cfg_field case_fields[] = {
	{ .key = "name", .set = fixture_set_name },
	{ 0 },
};

static const struct cfg_field step_fields[] = {
	{ .key = "verdict", .set = fixture_set_verdict },
	{ .key = "reason", .set = fixture_set_reason },
	{ 0 },
};

/* What must stand together, and what cannot. */
static int check_step(struct reader *r, const struct fixture_step *step)
{
	bool leaves = step->verdict != FIXTURE_DROP;

	if (step->in.kind == FRAME_NONE)
		return reader_fail(r, step->pos, "it has no packet; required: 'in'");
	if (!step->has_verdict)
		return reader_fail(r, step->pos,
				   "it has no verdict; required: 'verdict: pass', tx, redirect or drop");
	if (step->reason && leaves)
		return reader_fail(r, step->pos,
				   "it has a reason and verdict '%s'; allowed: a reason with drop",
				   fixture_verdict_name(step->verdict));
	if (!leaves && (step->n_backends || step->n_outer || step->out.kind != FRAME_NONE))
		return reader_fail(r, step->pos,
				   "its verdict is drop, so no packet leaves; allowed with it: reason, counters");
	return 0;
}

#define STEP_NESTED                                                              \
	{ "in", read_in }, { "out", read_out }, { "backend", read_backends },    \
		{ "outer", read_outer }, { "counters", read_counters }

static int read_step(struct reader *r, void *object)
{
	static const struct reader_key nested[] = { STEP_NESTED, { 0 } };
	struct fixture_case *c = object;
	struct fixture_step *step;
	int rc;

	if (c->n_steps == STEPS_MAX)
		return reader_fail(r, reader_pos(r), "more than %d steps", STEPS_MAX);
	step = APPEND(r, c->steps, c->n_steps);
	if (!step)
		return -ENOMEM;
	step->pos = reader_pos(r);
	rc = reader_mapping(r, &(struct reader_mapping){
				       .what = "a step",
				       .parts = { { step_fields, step } },
				       .nested = nested,
				       .nested_object = step,
			       });
	return rc < 0 ? rc : check_step(r, step);
}

/*
 * A case with one step has the step's keys itself. The step comes first, so
 * that what reads the keys of a step reads them here, too.
 */
struct case_reader {
	struct fixture_step step;
	struct fixture_case *c;
};

static int case_steps(struct reader *r, void *object)
{
	struct case_reader *cr = object;
	int rc = reader_list(r, "steps", read_step, cr->c);

	if (rc < 0 || cr->c->n_steps)
		return rc;
	return reader_fail(r, reader_pos(r), "steps is an empty list; allowed: one step or more");
}

static const struct reader_key case_nested[] = {
	STEP_NESTED,
	{ "steps", case_steps },
	{ 0 },
};

/* Keys of a step beside `steps` would belong to no step. */
static int refuse_step_keys(struct reader *r, const struct reader_mapping *m)
{
	static const char *const keys[] = { "in", "out", "backend", "outer", "counters",
					    "verdict", "reason" };

	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		struct cfg_pos pos = reader_seen(m, keys[i]);

		if (pos.line)
			return reader_fail(r, pos,
					   "key '%s' stands beside 'steps'; allowed: in the steps",
					   keys[i]);
	}
	return 0;
}

static int finish_case(struct reader *r, struct case_reader *cr,
		       const struct reader_mapping *m)
{
	struct fixture_case *c = cr->c;
	struct fixture_step *step;

	if (!c->name[0])
		return reader_fail(r, c->pos, "a case has no name; required: 'name'");
	if (c->n_steps)
		return refuse_step_keys(r, m);
	step = APPEND(r, c->steps, c->n_steps);
	if (!step)
		return -ENOMEM;
	*step = cr->step;
	cr->step = (struct fixture_step){ 0 };
	return check_step(r, step);
}

static void case_reader_clear(struct case_reader *cr)
{
	packet_clear(&cr->step.in.bytes);
	packet_clear(&cr->step.out.bytes);
	free(cr->step.in.pcap);
	free(cr->step.out.pcap);
	free(cr->step.backends);
	free(cr->step.counters);
}

static int read_case(struct reader *r, void *object)
{
	struct fixture *f = object;
	struct fixture_case *c = APPEND(r, f->cases, f->n_cases);
	_cleanup_(case_reader_clear) struct case_reader cr = {
		.step.pos = reader_pos(r),
		.c = c,
	};
	struct reader_mapping m = {
		.what = "a case",
		.parts = { { case_fields, c }, { step_fields, &cr.step } },
		.nested = case_nested,
		.nested_object = &cr,
	};
	int rc;

	if (!c)
		return -ENOMEM;
	c->pos = reader_pos(r);
	rc = reader_mapping(r, &m);
	if (!rc)
		rc = finish_case(r, &cr, &m);
	if (rc < 0 && c->name[0])
		err_prefix(r->err, "case %s", QUOTE(c->name));
	return rc;
}

static int read_cases(struct reader *r, void *fixture)
{
	return reader_list(r, "cases", read_case, fixture);
}

static int set_mtu(void *object, const char *text, struct err *err)
{
	struct fixture *f = object;

	return parse_u16(text, "mtu", FIXTURE_MTU_MIN, FIXTURE_MTU_MAX, &f->mtu, err);
}

static int read_root(struct reader *r, void *object)
{
	static const struct cfg_field fields[] = {
		{ .key = "mtu", .set = set_mtu },
		{ 0 },
	};
	static const struct reader_key nested[] = {
		{ "cases", read_cases },
		{ 0 },
	};
	struct fixture *f = object;
	int rc;

	rc = reader_mapping(r, &(struct reader_mapping){
				       .what = "the file",
				       .parts = { { fields, f } },
				       .nested = nested,
				       .nested_object = f,
			       });
	if (rc < 0 || f->n_cases)
		return rc;
	return reader_fail(r, (struct cfg_pos){ 1, 1 },
			   "the file has no case; required: 'cases'");
}

int fixture_parse(const char *text, size_t length, const char *file,
		  struct fixture **out, struct err *err)
{
	_cleanup_fixture_ struct fixture *f = calloc(1, sizeof(*f));
	_cleanup_reader_ struct reader r = { 0 };
	int rc;

	if (!f)
		return err_set(err, -ENOMEM, "out of memory");
	snprintf(f->file, sizeof(f->file), "%s", file);
	f->mtu = FIXTURE_MTU_DEFAULT;
	rc = reader_open(&r, text, length, err);
	if (!rc) {
		rc = reader_document(&r, "the file is empty; required: 'cases'",
				     read_root, f);
		if (rc < 0)
			fixture_place(f, r.failed, err);
	}
	if (rc < 0)
		return rc == -ENOMEM ? rc : -EINVAL;
	*out = TAKE_PTR(f);
	return 0;
}
