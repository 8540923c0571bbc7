// SPDX-License-Identifier: GPL-2.0-only
#include "cfg_fields.h"

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "abi.h"
#include "duration.h"
#include "num.h"
#include "plural.h"
#include "quote.h"
#include "table.h"

void cfg_keys_add(char *text, const char *key)
{
	size_t n = strlen(text);

	snprintf(text + n, CFG_KEYS_MAX - n, "%s%s", n ? ", " : "", key);
}

static const char *const attach_names[] = {
	[ATTACH_AUTO] = "auto",
	[ATTACH_NATIVE] = "native",
	[ATTACH_GENERIC] = "generic",
};
_Static_assert(sizeof(attach_names) / sizeof(*attach_names) == ATTACH__MAX,
	       "every attach mode has a name");

static const char *const bool_names[] = { "false", "true" };

const char *attach_mode_name(enum attach_mode mode)
{
	return mode < ATTACH__MAX ? attach_names[mode] : "unknown";
}

int cfg_parse_word(const char *text, const char *what,
		      const char *const *words, size_t n, struct err *err)
{
	char list[CFG_KEYS_MAX] = "";

	for (size_t i = 0; i < n; i++) {
		if (!strcmp(text, words[i]))
			return i;
		cfg_keys_add(list, words[i]);
	}
	return err_set(err, -EINVAL, "%s %s is not known; allowed: %s", what,
		       QUOTE(text), list);
}

#define NAME_CHARACTERS              \
	"abcdefghijklmnopqrstuvwxyz" \
	"ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-"

int cfg_name_check(const char *name, const char *what, bool colon,
		      struct err *err)
{
	size_t length = strlen(name);
	const char *why;

	if (!length)
		why = "is empty";
	else if (length > CFG_NAME_MAX)
		why = "is too long";
	else if (name[strspn(name, colon ? NAME_CHARACTERS ":" : NAME_CHARACTERS)])
		why = "has another character";
	else
		return 0;
	return err_set(err, -EINVAL,
		       "%s %s %s; allowed: 1 to %u letters, digits, . _ -%s",
		       what, QUOTE(name), why, CFG_NAME_MAX, colon ? " :" : "");
}

int cfg_pool_name_check(const char *name, struct err *err)
{
	return cfg_name_check(name, "pool name", false, err);
}

/* The file. */

/* What the kernel accepts as the name of a device. */
static int set_interface(void *object, const char *text, struct err *err)
{
	struct cfg *cfg = object;
	size_t length = strlen(text);
	const char *why = NULL;

	if (!length)
		why = "is empty";
	else if (length >= IF_NAMESIZE)
		why = "is too long";
	else if (!strcmp(text, ".") || !strcmp(text, ".."))
		why = "cannot be the name of a device";
	for (size_t i = 0; i < length && !why; i++)
		if (text[i] <= ' ' || text[i] > '~' || strchr("/:", text[i]))
			why = "has a character that no device name has";
	if (why)
		return err_set(err, -EINVAL,
			       "interface %s %s; allowed: 1 to %u printable "
			       "characters other than blank, / and :",
			       QUOTE(text), why, IF_NAMESIZE - 1);

	memcpy(cfg->interface, text, length + 1);
	return 0;
}

static json_t *get_interface(const void *object)
{
	const struct cfg *cfg = object;

	return cfg->interface[0] ? json_string(cfg->interface) : json_null();
}

static int set_attach(void *object, const char *text, struct err *err)
{
	struct cfg *cfg = object;
	int mode = cfg_parse_word(text, "attach", attach_names, ATTACH__MAX, err);

	if (mode < 0)
		return mode;

	cfg->attach = mode;
	return 0;
}

static json_t *get_attach(const void *object)
{
	const struct cfg *cfg = object;

	if (cfg->attach == ATTACH_AUTO)
		return json_null();
	return json_string(attach_mode_name(cfg->attach));
}

static int set_dispatcher(void *object, const char *text, struct err *err)
{
	struct cfg *cfg = object;
	int value = cfg_parse_word(text, "dispatcher", bool_names, 2, err);

	if (value < 0)
		return value;

	cfg->dispatcher = value;
	return 0;
}

static json_t *get_dispatcher(const void *object)
{
	const struct cfg *cfg = object;

	return cfg->dispatcher ? json_true() : json_null();
}

int cfg_hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	if (c >= 'A' && c <= 'F')
		return c - 'A' + 10;
	return -1;
}

/* The messages do not quote the key: it is a secret, and they go to logs. */
static int set_hash_key(void *object, const char *text, struct err *err)
{
	struct cfg *cfg = object;
	uint8_t key[sizeof(cfg->hash_key)] = { 0 };
	size_t length = strlen(text);

	if (length != 2 * sizeof(key))
		return err_set(err, -EINVAL,
			       "hash_key has %zu character%s; allowed: %zu "
			       "hexadecimal digits",
			       length, plural(length), 2 * sizeof(key));

	for (size_t i = 0; i < length; i++) {
		int digit = cfg_hex_digit(text[i]);

		if (digit < 0)
			return err_set(
				err, -EINVAL,
				"character %zu of hash_key is no "
				"hexadecimal digit; allowed: %zu of them",
				i + 1, 2 * sizeof(key));
		key[i / 2] = key[i / 2] << 4 | digit;
	}

	memcpy(cfg->hash_key, key, sizeof(key));
	cfg->has_hash_key = true;
	return 0;
}

static json_t *get_hash_key(const void *object)
{
	const struct cfg *cfg = object;
	char text[2 * sizeof(cfg->hash_key) + 1];

	if (!cfg->has_hash_key)
		return json_null();

	for (size_t i = 0; i < sizeof(cfg->hash_key); i++)
		snprintf(text + 2 * i, 3, "%02x", cfg->hash_key[i]);
	return json_string(text);
}

/* How many flows to remember is said once, in all or for each CPU. */
static int both_given(const char *key, const char *other, struct err *err)
{
	return err_set(err, -EINVAL, "%s and %s are both given; allowed: one of them", key,
		       other);
}

static int set_flows(void *object, const char *text, struct err *err)
{
	struct cfg *cfg = object;

	if (cfg->flows_per_cpu)
		return both_given("flows", "flows_per_cpu", err);
	return parse_size(text, "flows", CFG_FLOWS_MIN, CFG_FLOWS_MAX,
			  &cfg->flows, err);
}

static json_t *get_flows(const void *object)
{
	const struct cfg *cfg = object;

	return cfg->flows ? json_integer(cfg->flows) : json_null();
}

static int set_flows_per_cpu(void *object, const char *text, struct err *err)
{
	struct cfg *cfg = object;

	if (cfg->flows)
		return both_given("flows_per_cpu", "flows", err);
	return parse_size(text, "flows_per_cpu", CFG_FLOWS_MIN, CFG_FLOWS_MAX,
			  &cfg->flows_per_cpu, err);
}

static json_t *get_flows_per_cpu(const void *object)
{
	const struct cfg *cfg = object;

	return cfg->flows_per_cpu ? json_integer(cfg->flows_per_cpu) : json_null();
}

static const char *const flow_form_names[] = {
	[FLOW_FORM_SETS] = "sets",
	[FLOW_FORM_LRU] = "lru-hash",
};
_Static_assert(sizeof(flow_form_names) / sizeof(*flow_form_names) == FLOW_FORM__MAX,
	       "every form of conntrack has a name");

const char *flow_form_name(enum flow_form form)
{
	return form < FLOW_FORM__MAX ? flow_form_names[form] : "unknown";
}

static int set_conntrack(void *object, const char *text, struct err *err)
{
	struct cfg *cfg = object;
	int form = cfg_parse_word(text, "conntrack", flow_form_names, FLOW_FORM__MAX,
				  err);

	if (form < 0)
		return form;
	cfg->conntrack = form;
	return 0;
}

static json_t *get_conntrack(const void *object)
{
	const struct cfg *cfg = object;

	if (cfg->conntrack == FLOW_FORM_SETS)
		return json_null();
	return json_string(flow_form_name(cfg->conntrack));
}

static int set_icmp_rate(void *object, const char *text, struct err *err)
{
	struct cfg *cfg = object;

	return parse_u32(text, "icmp_rate", 0, CFG_ICMP_RATE_MAX, &cfg->icmp_rate,
			 err);
}

static json_t *get_icmp_rate(const void *object)
{
	const struct cfg *cfg = object;

	if (cfg->icmp_rate == CFG_ICMP_RATE_DEFAULT)
		return json_null();
	return json_integer(cfg->icmp_rate);
}

static const struct duration_range publish_range = { 10, 10 * DURATION_SECOND, true, false };

static int set_publish_interval(void *object, const char *text, struct err *err)
{
	struct cfg *cfg = object;

	return duration_parse(text, "publish_interval", &publish_range,
			      &cfg->publish_interval, err);
}

static json_t *get_publish_interval(const void *object)
{
	const struct cfg *cfg = object;
	char text[DURATION_TEXT_MAX];

	if (cfg->publish_interval == CFG_PUBLISH_DEFAULT)
		return json_null();
	return json_string(duration_format(cfg->publish_interval, text));
}

static int set_check_exec(void *object, const char *text, struct err *err)
{
	struct cfg *cfg = object;
	int value = cfg_parse_word(text, "check_exec", bool_names, 2, err);

	if (value < 0)
		return value;
	cfg->check_exec = value;
	return 0;
}

static json_t *get_check_exec(const void *object)
{
	const struct cfg *cfg = object;

	return cfg->check_exec ? json_true() : json_null();
}

/* What useradd(8) accepts; whether there is such a user, the daemon knows. */
static int set_check_user(void *object, const char *text, struct err *err)
{
	struct cfg *cfg = object;
	size_t length = strlen(text);
	const char *why = NULL;

	if (!length)
		why = "is empty";
	else if (length > CFG_CHECK_USER_MAX)
		why = "is too long";
	else if (text[strspn(text, NAME_CHARACTERS)] || strchr("-.0123456789", text[0]))
		why = "is no name of a user";
	else if (!strcmp(text, "root"))
		why = "would give checks the rights of root";
	if (why)
		return err_set(err, -EINVAL,
			       "check_user %s %s; allowed: the name of a user other than "
			       "root, 1 to %u letters, digits, . _ -",
			       QUOTE(text), why, CFG_CHECK_USER_MAX);
	memcpy(cfg->check_user, text, length + 1);
	return 0;
}

static json_t *get_check_user(const void *object)
{
	const struct cfg *cfg = object;

	if (!strcmp(cfg->check_user, CFG_CHECK_USER_DEFAULT))
		return json_null();
	return json_string(cfg->check_user);
}

const struct cfg_field cfg_file_fields[] = {
	{ .key = "interface", .set = set_interface, .get = get_interface },
	{ .key = "attach", .set = set_attach, .get = get_attach },
	{ .key = "dispatcher", .set = set_dispatcher, .get = get_dispatcher },
	{ .key = "hash_key", .set = set_hash_key, .get = get_hash_key },
	{ .key = "flows", .set = set_flows, .get = get_flows },
	{ .key = "flows_per_cpu", .set = set_flows_per_cpu, .get = get_flows_per_cpu },
	{ .key = "conntrack", .set = set_conntrack, .get = get_conntrack },
	{ .key = "icmp_rate", .set = set_icmp_rate, .get = get_icmp_rate },
	{ .key = "publish_interval",
	  .set = set_publish_interval,
	  .get = get_publish_interval },
	{ .key = "check_exec", .set = set_check_exec, .get = get_check_exec },
	{ .key = "check_user", .set = set_check_user, .get = get_check_user },
	{ .key = NULL },
};

/* tunnel_source, and addresses of backends: both ends of a tunnel. */

int cfg_parse_tunnel_end(const char *text, const char *what,
			    struct addr *out, struct err *err)
{
	struct addr addr;
	const char *why = NULL;
	int rc = addr_parse(text, what, &addr, err);

	if (rc < 0)
		return rc;

	if (addr.family == AF_INET && ntohl(addr.v4.s_addr) >> 24 == 127)
		why = "a loopback address";
	if (addr.family == AF_INET6 && IN6_IS_ADDR_LOOPBACK(&addr.v6))
		why = "a loopback address";
	if (addr.family == AF_INET6 && IN6_IS_ADDR_LINKLOCAL(&addr.v6))
		why = "a link-local address";
	if (why)
		return err_set(err, -EINVAL,
			       "%s %s is %s; allowed: an address that other "
			       "hosts can reach",
			       what, QUOTE(text), why);

	*out = addr;
	return 0;
}

json_t *cfg_addr_json(const struct addr *addr)
{
	char text[ADDR_TEXT_MAX];

	if (!addr->family)
		return json_null();
	return json_string(addr_format(addr, text));
}

static json_t *source_json(const struct tunnel_source *source)
{
	char text[TUNNEL_SOURCE_TEXT_MAX];

	if (!source->addr.family)
		return json_null();
	return json_string(tunnel_source_format(source, text));
}

static int set_tunnel_ipv4(void *object, const char *text, struct err *err)
{
	struct cfg *cfg = object;

	return tunnel_source_parse(text, "ipv4", AF_INET, &cfg->tunnel_source4,
				   err);
}

static json_t *get_tunnel_ipv4(const void *object)
{
	const struct cfg *cfg = object;

	return source_json(&cfg->tunnel_source4);
}

static int set_tunnel_ipv6(void *object, const char *text, struct err *err)
{
	struct cfg *cfg = object;

	return tunnel_source_parse(text, "ipv6", AF_INET6, &cfg->tunnel_source6,
				   err);
}

static json_t *get_tunnel_ipv6(const void *object)
{
	const struct cfg *cfg = object;

	return source_json(&cfg->tunnel_source6);
}

const struct cfg_field cfg_tunnel_fields[] = {
	{ .key = "ipv4", .set = set_tunnel_ipv4, .get = get_tunnel_ipv4 },
	{ .key = "ipv6", .set = set_tunnel_ipv6, .get = get_tunnel_ipv6 },
	{ .key = NULL },
};
