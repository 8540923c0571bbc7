// SPDX-License-Identifier: GPL-2.0-only
/* Options of a VIP: what of its packets it takes, and how they are told apart. */
#include "cfg_fields_vip.h"

#include <errno.h>
#include <jansson.h>
#include <string.h>

#include "cfg_fields.h"
#include "cleanup.h"
#include "num.h"
#include "quote.h"

static const char *const hash_names[] = {
	[HASH_5_TUPLE] = "5-tuple",
	[HASH_SOURCE] = "source",
	[HASH_SOURCE_DEST] = "source-dest",
	[HASH_DEST_PORT] = "dest-port",
};
_Static_assert(sizeof(hash_names) / sizeof(*hash_names) == HASH__MAX,
	       "every hash mode has a name");

/* The first is the default, and false. */
static const char *const junk_names[] = { "drop", "pass" };
static const char *const fragments_names[] = { "first", "hash" };
static const char *const oversize_names[] = { "drop", "send" };
static const char *const on_down_names[] = { "rehash", "keep" };
static const char *const bool_names[] = { "false", "true" };

const char *hash_mode_name(unsigned int mode)
{
	return mode < HASH__MAX ? hash_names[mode] : "unknown";
}

static int set_bool(bool *out, const char *text, const char *what,
		    const char *const words[2], struct err *err)
{
	int value = cfg_parse_word(text, what, words, 2, err);

	if (value < 0)
		return value;
	*out = value;
	return 0;
}

int cfg_vip_set_hash(void *object, const char *text, struct err *err)
{
	struct cfg_vip *vip = object;
	int mode = cfg_parse_word(text, "hash", hash_names, HASH__MAX, err);

	if (mode < 0)
		return mode;
	vip->hash_mode = mode;
	return 0;
}

json_t *cfg_vip_get_hash(const void *object)
{
	const struct cfg_vip *vip = object;

	if (vip->hash_mode == HASH_5_TUPLE)
		return json_null();
	return json_string(hash_mode_name(vip->hash_mode));
}

int cfg_vip_set_echo(void *object, const char *text, struct err *err)
{
	struct cfg_vip *vip = object;

	return set_bool(&vip->echo, text, "echo", bool_names, err);
}

json_t *cfg_vip_get_echo(const void *object)
{
	const struct cfg_vip *vip = object;

	return vip->echo ? json_null() : json_false();
}

int cfg_vip_set_tcp_junk(void *object, const char *text, struct err *err)
{
	struct cfg_vip *vip = object;

	return set_bool(&vip->tcp_junk, text, "tcp_junk", junk_names, err);
}

json_t *cfg_vip_get_tcp_junk(const void *object)
{
	const struct cfg_vip *vip = object;

	return vip->tcp_junk ? json_string(junk_names[1]) : json_null();
}

int cfg_vip_set_fragments(void *object, const char *text, struct err *err)
{
	struct cfg_vip *vip = object;

	return set_bool(&vip->fragment_hash, text, "fragments", fragments_names, err);
}

json_t *cfg_vip_get_fragments(const void *object)
{
	const struct cfg_vip *vip = object;

	return vip->fragment_hash ? json_string(fragments_names[1]) : json_null();
}

int cfg_vip_set_oversize(void *object, const char *text, struct err *err)
{
	struct cfg_vip *vip = object;

	return set_bool(&vip->oversize, text, "oversize", oversize_names, err);
}

json_t *cfg_vip_get_oversize(const void *object)
{
	const struct cfg_vip *vip = object;

	return vip->oversize ? json_string(oversize_names[1]) : json_null();
}

int cfg_vip_set_on_down(void *object, const char *text, struct err *err)
{
	struct cfg_vip *vip = object;

	return set_bool(&vip->keep_down, text, "on_down", on_down_names, err);
}

json_t *cfg_vip_get_on_down(const void *object)
{
	const struct cfg_vip *vip = object;

	return vip->keep_down ? json_string(on_down_names[1]) : json_null();
}

int cfg_vip_set_tcp_idle_timeout(void *object, const char *text, struct err *err)
{
	struct cfg_vip *vip = object;

	return parse_u32(text, "tcp_idle_timeout", 0, CFG_IDLE_MAX,
			 &vip->tcp_idle_timeout, err);
}

json_t *cfg_vip_get_tcp_idle_timeout(const void *object)
{
	const struct cfg_vip *vip = object;

	if (vip->tcp_idle_timeout == CFG_TCP_IDLE_DEFAULT)
		return json_null();
	return json_integer(vip->tcp_idle_timeout);
}

int cfg_vip_set_udp_idle_timeout(void *object, const char *text, struct err *err)
{
	struct cfg_vip *vip = object;

	return parse_u32(text, "udp_idle_timeout", 0, CFG_IDLE_MAX,
			 &vip->udp_idle_timeout, err);
}

json_t *cfg_vip_get_udp_idle_timeout(const void *object)
{
	const struct cfg_vip *vip = object;

	if (vip->udp_idle_timeout == CFG_UDP_IDLE_DEFAULT)
		return json_null();
	return json_integer(vip->udp_idle_timeout);
}

int cfg_vip_set_new_flow_limit(void *object, const char *text, struct err *err)
{
	struct cfg_vip *vip = object;

	return parse_u32(text, "new_flow_limit", 0, CFG_NEW_FLOWS_MAX,
			 &vip->new_flow_limit, err);
}

json_t *cfg_vip_get_new_flow_limit(const void *object)
{
	const struct cfg_vip *vip = object;

	return vip->new_flow_limit ? json_integer(vip->new_flow_limit) : json_null();
}

static int add_prefix(struct prefix_list *list, const char *text, const char *what,
		      struct err *err)
{
	struct prefix prefix;
	int rc = prefix_parse(text, what, &prefix, err);

	if (rc < 0)
		return rc;
	rc = prefix_list_add(list, &prefix);
	return rc < 0 ? err_set(err, rc, "out of memory") : 0;
}

/* As a command has it: "PREFIX,PREFIX", or "none". */
static int set_prefixes(struct prefix_list *list, const char *text, const char *what,
			struct err *err)
{
	_cleanup_prefix_list_ struct prefix_list next = { 0 };
	_cleanup_free_ char *copy = strdup(text);
	char *rest = copy, *word;
	int rc = 0;

	if (!copy)
		return err_set(err, -ENOMEM, "out of memory");
	while (strcmp(text, "none") && !rc && (word = strsep(&rest, ",")))
		rc = add_prefix(&next, word, what, err);
	if (rc < 0)
		return rc;

	prefix_list_clear(list);
	*list = next;
	next = (struct prefix_list){ 0 };
	return 0;
}

static json_t *prefixes_json(const struct prefix_list *list)
{
	char text[PREFIX_TEXT_MAX];
	json_t *array;

	if (!list->n)
		return json_null();
	array = json_array();
	for (size_t i = 0; array && i < list->n; i++) {
		if (!json_array_append_new(array, json_string(prefix_format(
							  &list->list[i], text))))
			continue;
		json_decref(array);
		return NULL;
	}
	return array;
}

int cfg_vip_add_allow(void *object, const char *text, struct err *err)
{
	struct cfg_vip *vip = object;

	return add_prefix(&vip->allow, text, "allow", err);
}

int cfg_vip_set_allow(void *object, const char *text, struct err *err)
{
	struct cfg_vip *vip = object;

	return set_prefixes(&vip->allow, text, "allow", err);
}

json_t *cfg_vip_get_allow(const void *object)
{
	const struct cfg_vip *vip = object;

	return prefixes_json(&vip->allow);
}

int cfg_vip_add_deny(void *object, const char *text, struct err *err)
{
	struct cfg_vip *vip = object;

	return add_prefix(&vip->deny, text, "deny", err);
}

int cfg_vip_set_deny(void *object, const char *text, struct err *err)
{
	struct cfg_vip *vip = object;

	return set_prefixes(&vip->deny, text, "deny", err);
}

json_t *cfg_vip_get_deny(const void *object)
{
	const struct cfg_vip *vip = object;

	return prefixes_json(&vip->deny);
}

/* A list is there even when it is empty. */
static json_t *list_json(const struct prefix_list *list)
{
	return list->n ? prefixes_json(list) : json_array();
}

json_t *cfg_vip_options_json(const struct cfg_vip *vip)
{
	return json_pack("{s:s, s:b, s:s, s:s, s:s, s:s, s:I, s:I, s:I, s:o, s:o, s:o}", "hash",
			 hash_mode_name(vip->hash_mode), "echo", (int)vip->echo,
			 "tcp_junk", junk_names[vip->tcp_junk], "fragments",
			 fragments_names[vip->fragment_hash], "oversize",
			 oversize_names[vip->oversize], "on_down",
			 on_down_names[vip->keep_down], "tcp_idle_timeout",
			 (json_int_t)vip->tcp_idle_timeout, "udp_idle_timeout",
			 (json_int_t)vip->udp_idle_timeout, "new_flow_limit",
			 (json_int_t)vip->new_flow_limit, "quic",
			 cfg_vip_get_quic(vip), "allow",
			 list_json(&vip->allow), "deny", list_json(&vip->deny));
}
