// SPDX-License-Identifier: GPL-2.0-only
/*
 * The configuration as JSON and as YAML. The YAML is the JSON walked by
 * libyaml's emitter, so there is one description of the file's shape. What has
 * its default is left out: a saved file says what its operator said.
 */
#include "cfg.h"

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>
#include <yaml.h>

#include "cfg_fields.h"
#include "cleanup.h"

/* Steals what get returns. -1 when there is no memory, as jansson says it. */
static int put_fields(json_t *json, const struct cfg_field *fields,
		      const void *object)
{
	for (; fields->key; fields++) {
		json_t *value = fields->get(object);

		if (json_is_null(value))
			continue; /* null is a constant: nothing to release */
		if (json_object_set_new_nocheck(json, fields->key, value))
			return -1;
	}
	return 0;
}

/* Takes over `value` even on failure; empty lists and mappings are not said. */
static int put_if_any(json_t *json, const char *key, json_t *value)
{
	if (!value)
		return -1;
	if (!json_array_size(value) && !json_object_size(value)) {
		json_decref(value);
		return 0;
	}
	return json_object_set_new_nocheck(json, key, value);
}

static json_t *fields_to_json(const struct cfg_field *fields, const void *object)
{
	json_t *json = json_object();

	if (json && put_fields(json, fields, object)) {
		json_decref(json);
		return NULL;
	}
	return json;
}

static json_t *backends_to_json(const struct cfg_pool *pool)
{
	json_t *list = json_array();

	for (size_t i = 0; list && i < pool->n_backends; i++) {
		json_t *item =
			fields_to_json(cfg_backend_fields, &pool->backends[i]);

		if (json_array_append_new(list, item)) {
			json_decref(list);
			return NULL;
		}
	}
	return list;
}

static int put_pool(json_t *json, const struct cfg_pool *pool)
{
	if (put_fields(json, cfg_pool_fields, pool))
		return -1;
	return put_if_any(json, "backends", backends_to_json(pool));
}

static json_t *pools_to_json(const struct cfg *cfg)
{
	json_t *pools = json_object();

	for (size_t i = 0; pools && i < cfg->n_pools; i++) {
		const struct cfg_pool *pool = &cfg->pools[i];
		json_t *json;

		if (pool->private)
			continue;
		json = json_object();
		if (json_object_set_new_nocheck(pools, pool->name, json) ||
		    put_pool(json, pool)) {
			json_decref(pools);
			return NULL;
		}
	}
	return pools;
}

static json_t *vips_to_json(const struct cfg *cfg)
{
	json_t *list = json_array();

	for (size_t i = 0; list && i < cfg->n_vips; i++) {
		const struct cfg_vip *vip = &cfg->vips[i];
		const struct cfg_pool *pool = cfg_find_pool(cfg, vip->pool);
		json_t *json = fields_to_json(cfg_vip_fields, vip);

		if (json_array_append_new(list, json) ||
		    (pool && pool->private && put_pool(json, pool))) {
			json_decref(list);
			return NULL;
		}
	}
	return list;
}

struct json_t *cfg_to_json(const struct cfg *cfg)
{
	json_t *json = fields_to_json(cfg_file_fields, cfg);

	if (!json)
		return NULL;
	if (put_if_any(json, "tunnel_source",
		       fields_to_json(cfg_tunnel_fields, cfg)) ||
	    put_if_any(json, "pools", pools_to_json(cfg)) ||
	    put_if_any(json, "vips", vips_to_json(cfg))) {
		json_decref(json);
		return NULL;
	}
	return json;
}

static int append(void *stream, unsigned char *text, size_t length)
{
	return fwrite(text, 1, length, stream) == length;
}

/* What YAML 1.1 readers, not only ours, take for null or for a truth value. */
static bool is_word(const char *text)
{
	static const char *const words[] = { "~",   "null", "true", "false",
					     "yes", "no",   "on",   "off",
					     "y",   "n" };

	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
		if (!strcasecmp(text, words[i]))
			return true;
	return false;
}

/* Or for a number: decimal, hexadecimal, a fraction, 1:30 in base 60. */
static bool is_numeric(const char *text)
{
	size_t length = strlen(text), dots = 0;
	bool colons = strchr(text, ':');

	if (!strchr("0123456789.+-", text[0]))
		return false;
	for (const char *c = text; *c; c++)
		dots += *c == '.';
	if (dots > 1)
		return false;
	return strspn(text, colons ? "0123456789:._+-" :
				     "0123456789abcdefABCDEFxXoO._+-") == length;
}

/* Line breaks, and blanks at an end, which only double quotes keep as they are. */
static bool has_more_than_words(const char *text)
{
	if (text[0] == ' ' || text[strlen(text) - 1] == ' ')
		return true;
	while (*text >= ' ' && *text <= '~')
		text++;
	return *text;
}

static bool needs_quotes(const char *text)
{
	return !text[0] || is_word(text) || is_numeric(text) || has_more_than_words(text);
}

static int emit_text(yaml_emitter_t *emitter, const char *text, bool quoted)
{
	yaml_event_t event;

	if (!yaml_scalar_event_initialize(
		    &event, NULL, NULL, (const yaml_char_t *)text, strlen(text),
		    1, 1,
		    quoted ? YAML_DOUBLE_QUOTED_SCALAR_STYLE :
			     YAML_PLAIN_SCALAR_STYLE))
		return 0;
	return yaml_emitter_emit(emitter, &event);
}

static int emit_scalar(yaml_emitter_t *emitter, const json_t *json)
{
	char number[24];

	if (json_is_string(json))
		return emit_text(emitter, json_string_value(json),
				 needs_quotes(json_string_value(json)));
	if (json_is_boolean(json))
		return emit_text(emitter, json_is_true(json) ? "true" : "false",
				 false);
	snprintf(number, sizeof(number), "%lld",
		 (long long)json_integer_value(json));
	return emit_text(emitter, number, false);
}

static int emit_json(yaml_emitter_t *emitter, json_t *json);

static int emit_mapping(yaml_emitter_t *emitter, json_t *json)
{
	yaml_event_t event;
	const char *key;
	json_t *value;

	if (!yaml_mapping_start_event_initialize(&event, NULL, NULL, 1,
						 YAML_BLOCK_MAPPING_STYLE) ||
	    !yaml_emitter_emit(emitter, &event))
		return 0;
	json_object_foreach(json, key, value)
		if (!emit_text(emitter, key, needs_quotes(key)) ||
		    !emit_json(emitter, value))
			return 0;
	return yaml_mapping_end_event_initialize(&event) &&
	       yaml_emitter_emit(emitter, &event);
}

static int emit_list(yaml_emitter_t *emitter, json_t *json)
{
	yaml_event_t event;
	json_t *item;
	size_t i;

	if (!yaml_sequence_start_event_initialize(&event, NULL, NULL, 1,
						  YAML_BLOCK_SEQUENCE_STYLE) ||
	    !yaml_emitter_emit(emitter, &event))
		return 0;
	json_array_foreach(json, i, item)
		if (!emit_json(emitter, item))
			return 0;
	return yaml_sequence_end_event_initialize(&event) &&
	       yaml_emitter_emit(emitter, &event);
}

/* As libyaml, 1 is success. Depth is that of our own JSON. */
static int emit_json(yaml_emitter_t *emitter, json_t *json)
{
	if (json_is_object(json))
		return emit_mapping(emitter, json);
	if (json_is_array(json))
		return emit_list(emitter, json);
	return emit_scalar(emitter, json);
}

static int emit_document(yaml_emitter_t *emitter, json_t *json)
{
	yaml_event_t event;

	return yaml_stream_start_event_initialize(&event, YAML_UTF8_ENCODING) &&
	       yaml_emitter_emit(emitter, &event) &&
	       yaml_document_start_event_initialize(&event, NULL, NULL, NULL, 1) &&
	       yaml_emitter_emit(emitter, &event) && emit_json(emitter, json) &&
	       yaml_document_end_event_initialize(&event, 1) &&
	       yaml_emitter_emit(emitter, &event) &&
	       yaml_stream_end_event_initialize(&event) &&
	       yaml_emitter_emit(emitter, &event);
}

static int write_yaml(json_t *json, FILE *stream)
{
	yaml_emitter_t emitter;
	int ok;

	if (!yaml_emitter_initialize(&emitter))
		return -ENOMEM;
	yaml_emitter_set_output(&emitter, append, stream);
	yaml_emitter_set_width(&emitter, -1);
	ok = emit_document(&emitter, json);
	yaml_emitter_delete(&emitter);
	return ok ? 0 : -ENOMEM;
}

int cfg_to_yaml(const struct cfg *cfg, char **text, struct err *err)
{
	_cleanup_free_ char *buffer = NULL;
	_cleanup_fclose_ FILE *stream = NULL;
	json_t *json = cfg_to_json(cfg);
	size_t length;
	int rc = -ENOMEM;

	stream = open_memstream(&buffer, &length);
	if (json && stream)
		rc = write_yaml(json, stream);
	json_decref(json);

	/* Closing may be what fails, and then leaves no buffer. */
	if (stream && fclose(TAKE_PTR(stream)))
		rc = -ENOMEM;
	if (rc < 0 || !buffer)
		return err_set(err, -ENOMEM, "out of memory");

	*text = TAKE_PTR(buffer);
	return 0;
}
