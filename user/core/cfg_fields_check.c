// SPDX-License-Identifier: GPL-2.0-only
/*
 * The keys of a check. Which type uses which is in one list, so that a key that
 * the type does not use is refused and not ignored.
 */
#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "cfg_fields.h"
#include "cfg_fields_health.h"
#include "cleanup.h"
#include "duration.h"
#include "num.h"
#include "quote.h"

static const struct duration_range interval_range = { 100, DURATION_HOUR, false, false };
static const struct duration_range timeout_range = { 10, DURATION_MINUTE, false, false };

#define JITTER_MAX 50 /* percent: two probes never run at once */
#define ROW_MAX 100   /* rise and fall */

static int set_word(uint8_t *out, const char *text, const char *what,
		    const char *(*name)(unsigned int), unsigned int first, unsigned int end,
		    struct err *err)
{
	const char *words[CHECK__MAX];
	int word;

	for (unsigned int i = first; i < end; i++)
		words[i - first] = name(i);
	word = cfg_parse_word(text, what, words, end - first, err);
	if (word < 0)
		return word;
	*out = first + word;
	return 0;
}

static const char *kind_name(unsigned int kind)
{
	return check_kind_name(kind);
}

static const char *via_name(unsigned int via)
{
	return check_via_name(via);
}

static int set_type(void *object, const char *text, struct err *err)
{
	struct check *check = object;

	return set_word(&check->kind, text, "type", kind_name, CHECK_NONE + 1, CHECK__MAX,
			err);
}

static json_t *get_type(const void *object)
{
	const struct check *check = object;

	return json_string(check_kind_name(check->kind));
}

static int set_via(void *object, const char *text, struct err *err)
{
	struct check *check = object;

	return set_word(&check->via, text, "via", via_name, 0, CHECK_VIA__MAX, err);
}

static json_t *get_via(const void *object)
{
	const struct check *check = object;

	return json_string(check_via_name(check->via));
}

static const char *vips_name(unsigned int vips)
{
	return check_vips_name(vips);
}

static int set_vips(void *object, const char *text, struct err *err)
{
	struct check *check = object;

	return set_word(&check->vips, text, "vips", vips_name, 0, CHECK_VIPS__MAX, err);
}

static json_t *get_vips(const void *object)
{
	const struct check *check = object;

	return json_string(check_vips_name(check->vips));
}

static json_t *duration_json(uint32_t ms)
{
	char text[DURATION_TEXT_MAX];

	return json_string(duration_format(ms, text));
}

static int set_interval(void *object, const char *text, struct err *err)
{
	struct check *check = object;

	return duration_parse(text, "interval", &interval_range, &check->interval, err);
}

static json_t *get_interval(const void *object)
{
	const struct check *check = object;

	return duration_json(check->interval);
}

static int set_fast_interval(void *object, const char *text, struct err *err)
{
	struct check *check = object;

	return duration_parse(text, "fast_interval", &interval_range, &check->fast_interval,
			      err);
}

static json_t *get_fast_interval(const void *object)
{
	const struct check *check = object;

	return duration_json(check->fast_interval);
}

static int set_timeout(void *object, const char *text, struct err *err)
{
	struct check *check = object;

	return duration_parse(text, "timeout", &timeout_range, &check->timeout, err);
}

static json_t *get_timeout(const void *object)
{
	const struct check *check = object;

	return duration_json(check->timeout);
}

static int set_jitter(void *object, const char *text, struct err *err)
{
	struct check *check = object;
	uint16_t percent;
	int rc = parse_u16(text, "jitter", 0, JITTER_MAX, &percent, err);

	if (rc < 0)
		return rc;
	check->jitter = percent;
	return 0;
}

static json_t *get_jitter(const void *object)
{
	const struct check *check = object;

	return json_integer(check->jitter);
}

/* A number that is kept as it is, and one that is not said when it is 0. */
#define NUMBER_KEY(name, min, max)                                              \
	static int set_##name(void *object, const char *text, struct err *err)  \
	{                                                                       \
		struct check *check = object;                                   \
                                                                                \
		return parse_u16(text, #name, min, max, &check->name, err);     \
	}                                                                       \
	static json_t *get_##name(const void *object)                           \
	{                                                                       \
		const struct check *check = object;                             \
                                                                                \
		return check->name ? json_integer(check->name) : json_null();   \
	}

NUMBER_KEY(rise, 1, ROW_MAX)
NUMBER_KEY(fall, 1, ROW_MAX)
NUMBER_KEY(port, 1, UINT16_MAX)

/* As "200" or "200-299". */
static int set_status(void *object, const char *text, struct err *err)
{
	const char *dash = strchr(text, '-');
	struct check *check = object;
	uint16_t min = 0, max = 0;
	char first[8];
	int rc;

	snprintf(first, sizeof(first), "%.*s", dash ? (int)(dash - text) : -1, text);
	rc = parse_u16(first, "status", 100, 599, &min, NULL);
	if (!rc)
		rc = parse_u16(dash ? dash + 1 : text, "status", 100, 599, &max, NULL);
	if (rc < 0 || min > max)
		return err_set(err, -EINVAL,
			       "status %s is no status of HTTP; allowed: 100 to 599, or a "
			       "range as 200-299",
			       QUOTE(text));
	check->status_min = min;
	check->status_max = max;
	return 0;
}

static json_t *get_status(const void *object)
{
	const struct check *check = object;

	if (!check->status_min)
		return json_null();
	if (check->status_min == check->status_max)
		return json_integer(check->status_min);
	return json_sprintf("%u-%u", check->status_min, check->status_max);
}

static int set_tls_verify(void *object, const char *text, struct err *err)
{
	static const char *const words[] = { "false", "true" };
	struct check *check = object;
	int value = cfg_parse_word(text, "tls_verify", words, 2, err);

	if (value < 0)
		return value;
	check->tls_verify = value;
	return 0;
}

static json_t *get_tls_verify(const void *object)
{
	const struct check *check = object;

	return json_boolean(check->tls_verify);
}

/* What a text may be. */
struct text_rule {
	bool (*fits)(char c);
	size_t max;
	char first; /* 0: any */
	const char *allowed;
};

static bool is_letter_or_digit(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

/* Of a request line: neither a blank nor the end of the line. */
static bool is_path(char c)
{
	return c > ' ' && c <= '~' && c != '#';
}

static bool is_host(char c)
{
	return is_letter_or_digit(c) || strchr(".-_", c);
}

/* With a port, perhaps, or an IPv6 address in brackets. */
static bool is_host_and_port(char c)
{
	return is_host(c) || strchr(":[]", c);
}

/* RFC 9110, section 5.6.2 */
static bool is_token(char c)
{
	return is_letter_or_digit(c) || strchr("!#$%&'*+-.^_`|~", c);
}

static bool is_printable(char c)
{
	return c > ' ' && c <= '~';
}

static bool is_file_name(char c)
{
	return (unsigned char)c >= ' ' && c != 0x7f;
}

static bool is_any(char c)
{
	return c != '\0';
}

#define TEXT_MAX (CHECK_TEXT_MAX - 1)

static const struct text_rule a_path = {
	is_path, TEXT_MAX, '/', "/, then up to 4094 printable ASCII characters other than # and blank"
};
static const struct text_rule a_host = { is_host_and_port, 253, 0,
					 "1 to 253 letters, digits, . - _ : [ ]" };
static const struct text_rule a_name = { is_host, 253, 0,
					 "1 to 253 letters, digits, . - _" };
static const struct text_rule a_header = {
	is_token, 127, 0, "the name of a header, 1 to 127 characters"
};
static const struct text_rule a_json_path = {
	is_printable, 253, 0, "names of JSON fields with dots between, as load.weight"
};
static const struct text_rule a_file = { is_file_name, TEXT_MAX, '/',
					 "an absolute path without control characters" };
static const struct text_rule a_text = { is_any, TEXT_MAX, 0, "1 to 4095 bytes" };

/* NULL: nothing. */
static const char *find_fault(const char *text, const struct text_rule *rule)
{
	const char *c = text;

	if (!text[0])
		return "is empty";
	if (strlen(text) > rule->max)
		return "is too long";
	if (rule->first && text[0] != rule->first)
		return "does not begin with /";
	while (*c && rule->fits(*c))
		c++;
	return *c ? "has another character" : NULL;
}

static int set_text(char **to, const char *text, const char *what,
		    const struct text_rule *rule, struct err *err)
{
	const char *fault = find_fault(text, rule);
	char *copy;

	if (fault)
		return err_set(err, -EINVAL, "%s %s %s; allowed: %s", what, QUOTE(text),
			       fault, rule->allowed);
	copy = strdup(text);
	if (!copy)
		return err_set(err, -ENOMEM, "out of memory");
	free(*to);
	*to = copy;
	return 0;
}

static json_t *text_json(const char *text)
{
	return text ? json_string(text) : json_null();
}

#define TEXT_KEY(name, rule)                                                     \
	static int set_##name(void *object, const char *text, struct err *err)   \
	{                                                                        \
		struct check *check = object;                                    \
                                                                                 \
		return set_text(&check->name, text, #name, &(rule), err);        \
	}                                                                        \
	TEXT_GETTER(name)
#define TEXT_GETTER(name)                                                        \
	static json_t *get_##name(const void *object)                            \
	{                                                                        \
		const struct check *check = object;                              \
                                                                                 \
		return text_json(check->name);                                   \
	}

TEXT_KEY(path, a_path)
TEXT_KEY(host, a_host)
TEXT_KEY(body, a_text)
TEXT_KEY(sni, a_name)
TEXT_KEY(ca_file, a_file)
TEXT_KEY(cert_file, a_file)
TEXT_KEY(key_file, a_file)
TEXT_KEY(weight_header, a_header)
TEXT_KEY(send, a_text)
TEXT_KEY(receive, a_text)
TEXT_GETTER(method)
TEXT_GETTER(weight_json)

static int set_method(void *object, const char *text, struct err *err)
{
	static const char *const words[] = { "GET", "HEAD" };
	struct check *check = object;
	int word = cfg_parse_word(text, "method", words, 2, err);

	return word < 0 ? word : set_text(&check->method, words[word], "method", &a_text, err);
}

static int set_weight_json(void *object, const char *text, struct err *err)
{
	size_t length = strlen(text);
	struct check *check = object;

	if (length && (text[0] == '.' || text[length - 1] == '.' || strstr(text, "..")))
		return err_set(err, -EINVAL, "weight_json %s has an empty name; allowed: %s",
			       QUOTE(text), a_json_path.allowed);
	return set_text(&check->weight_json, text, "weight_json", &a_json_path, err);
}

static int add_command(void *object, const char *text, struct err *err)
{
	struct check *check = object;
	int rc;

	if (check->n_args == CHECK_ARGS_MAX)
		return err_set(err, -EINVAL, "command has too many words; allowed: %u",
			       CHECK_ARGS_MAX);
	if (!check->n_args || text[0])
		rc = set_text(&check->args[check->n_args], text, "command",
			      check->n_args ? &a_text : &a_file, err);
	else
		rc = (check->args[check->n_args] = strdup("")) ?
			     0 :
			     err_set(err, -ENOMEM, "out of memory");
	if (!rc)
		check->n_args++;
	return rc;
}

static json_t *get_command(const void *object)
{
	const struct check *check = object;
	json_t *list = check->n_args ? json_array() : json_null();

	for (size_t i = 0; list && i < check->n_args; i++) {
		if (!json_array_append_new(list, json_string(check->args[i])))
			continue;
		json_decref(list);
		return NULL;
	}
	return list;
}

#define TCP (1 << CHECK_TCP)
#define TLS (1 << CHECK_HTTPS)
#define WEB (1 << CHECK_HTTP | TLS)
#define UDP (1 << CHECK_UDP)
#define ICMP (1 << CHECK_ICMP)
#define EXEC (1 << CHECK_EXEC)
#define SENT (TCP | WEB | UDP | ICMP)

/* In the order in which a saved file has them, with the types that use them. */
#define CHECK_KEYS(X)                                                            \
	X(type, SENT | EXEC) X(via, SENT) X(vips, TCP | WEB | UDP)               \
	X(interval, SENT | EXEC) X(fast_interval, SENT | EXEC)                   \
	X(timeout, SENT | EXEC)                                                  \
	X(jitter, SENT | EXEC) X(rise, SENT | EXEC) X(fall, SENT | EXEC)         \
	X(port, TCP | WEB | UDP | EXEC)                                          \
	X(path, WEB) X(host, WEB) X(method, WEB) X(status, WEB) X(body, WEB)     \
	X(tls_verify, TLS) X(sni, TLS) X(ca_file, TLS) X(cert_file, TLS)         \
	X(key_file, TLS) X(weight_header, WEB) X(weight_json, WEB)               \
	X(send, TCP | UDP) X(receive, TCP | UDP)

#define CHECK_FIELD(name, kinds) { .key = #name, .set = set_##name, .get = get_##name },
const struct cfg_field cfg_check_fields[] = {
	CHECK_KEYS(CHECK_FIELD)
	{ .key = "command", .add = add_command, .get = get_command },
	{ .key = NULL },
};

#define CHECK_KINDS(name, kinds) kinds,
static const uint8_t key_kinds[] = { CHECK_KEYS(CHECK_KINDS) EXEC };
_Static_assert(sizeof(key_kinds) + 1 == sizeof(cfg_check_fields) / sizeof(*cfg_check_fields),
	       "every key says who uses it");

bool cfg_check_uses(size_t key, unsigned int kind)
{
	return key_kinds[key] & 1 << kind;
}
