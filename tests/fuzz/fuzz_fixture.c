// SPDX-License-Identifier: GPL-2.0-only
/*
 * Whatever bytes are given as a file of cases: they are refused with a sentence
 * that has a place, or they are cases whose packets can be described.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/fixture.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void fail(const char *what, const char *text)
{
	fprintf(stderr, "%s:\n%s\n", what, text);
	abort();
}

static void check_sentence(int rc, const struct err *err)
{
	if (rc != -EINVAL && rc != -ENOMEM)
		fail("unexpected code", err->text);
	if (rc == -EINVAL && strncmp(err->text, "fuzz.yaml:", strlen("fuzz.yaml:")))
		fail("sentence without place", err->text);
	for (const char *c = err->text; *c; c++)
		if (*c < ' ' || *c > '~')
			fail("sentence that is not plain text", err->text);
}

static void check_frame(const struct fixture_frame *frame)
{
	struct packet_lines lines;
	char text[PACKET_SUMMARY_MAX];

	if (frame->kind != FRAME_BYTES)
		return;
	if (frame->bytes.size < PACKET_MIN || frame->bytes.size > PACKET_MAX)
		fail("frame of a size that no kernel takes", "");
	packet_describe(&frame->bytes, &lines);
	packet_summary(&frame->bytes, text);
	for (const char *const *key = packet_fields; *key; key++)
		packet_field(&frame->bytes, *key, (char[PACKET_FIELD_MAX]){ 0 });
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fixture *f = NULL;
	struct err err = { 0 };
	int rc = fixture_parse((const char *)data, size, "fuzz.yaml", &f, &err);

	if (rc) {
		check_sentence(rc, &err);
		return 0;
	}
	for (size_t i = 0; i < f->n_cases; i++)
		for (size_t j = 0; j < f->cases[i].n_steps; j++) {
			check_frame(&f->cases[i].steps[j].in);
			check_frame(&f->cases[i].steps[j].out);
		}
	fixture_free(&f);
	return 0;
}
