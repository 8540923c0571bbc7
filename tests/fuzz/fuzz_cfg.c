// SPDX-License-Identifier: GPL-2.0-only
/*
 * Whatever bytes are given as a configuration file: they are refused with a
 * sentence, or they are a configuration that survives being written and read
 * again without a change.
 */
#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/cfg.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void fail(const char *what, const char *text)
{
	fprintf(stderr, "%s:\n%s\n", what, text);
	abort();
}

/* One printable line that names the file. */
static void check_sentence(int rc, const struct err *err)
{
	if (rc != err->code || (rc != -EINVAL && rc != -ENOMEM))
		fail("unexpected code", err->text);
	if (strncmp(err->text, "fuzz.yaml:", strlen("fuzz.yaml:")))
		fail("sentence without place", err->text);
	for (const char *c = err->text; *c; c++)
		if (*c < ' ' || *c > '~')
			fail("sentence that is not plain text", err->text);
}

static void check_round_trip(const struct cfg *cfg)
{
	struct cfg *again = NULL;
	json_t *before = cfg_to_json(cfg), *after;
	struct err err;
	char *text;

	if (!before || cfg_to_yaml(cfg, &text, &err))
		fail("cannot be written", err.text);
	if (cfg_parse_yaml(text, strlen(text), "again.yaml", &again, &err))
		fail(err.text, text);
	after = cfg_to_json(again);
	if (!json_equal(before, after))
		fail("read again, it differs", text);

	json_decref(before);
	json_decref(after);
	free(text);
	cfg_free(&again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct cfg *cfg = NULL;
	struct err err = { 0 };
	int rc = cfg_parse_yaml((const char *)data, size, "fuzz.yaml", &cfg,
				&err);

	if (rc < 0)
		check_sentence(rc, &err);
	else
		check_round_trip(cfg);
	cfg_free(&cfg);
	return 0;
}
