// SPDX-License-Identifier: GPL-2.0-only
/* From a line of text to the words of a packet; packet_spec_keys.c has each. */
#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cleanup.h"
#include "num.h"
#include "packet_spec.h"
#include "packet_spec_keys.h"
#include "plural.h"
#include "quote.h"

#define TOKEN_MAX 256
#define KEYS_TEXT_MAX 400

/* Where in the text it is; `token` is where what is being read began. */
struct cursor {
	const char *text, *at, *token;
	struct err *err;
};

void packet_spec_clear(struct packet_spec *spec)
{
	packet_clear(&spec->payload);
}

static void skip_blanks(struct cursor *c)
{
	c->at += strspn(c->at, " \t\n");
	c->token = c->at;
}

/* A word without blanks in it. -ENOENT at the end of the text. */
static int next_word(struct cursor *c, char word[TOKEN_MAX])
{
	size_t n;

	skip_blanks(c);
	n = strcspn(c->at, " \t\n");
	if (!n)
		return -ENOENT;
	if (n >= TOKEN_MAX)
		return err_set(c->err, -EINVAL,
			       "a word of %zu characters is too long; allowed: %d", n,
			       TOKEN_MAX - 1);
	memcpy(word, c->at, n);
	word[n] = '\0';
	c->at += n;
	return 0;
}

static int need_word(struct cursor *c, const char *what, char word[TOKEN_MAX])
{
	int rc = next_word(c, word);

	if (rc != -ENOENT)
		return rc;
	return err_set(c->err, -EINVAL,
		       "%s is missing; allowed: PROTOCOL SOURCE > DESTINATION [KEY=VALUE...]",
		       what);
}

static int read_protocol(struct cursor *c, struct packet_spec *spec)
{
	char word[TOKEN_MAX];
	int rc = need_word(c, "the protocol", word);

	if (rc)
		return rc;
	if (!strcmp(word, "tcp"))
		spec->protocol = IPPROTO_TCP;
	else if (!strcmp(word, "udp"))
		spec->protocol = IPPROTO_UDP;
	else if (!strcmp(word, "icmp"))
		spec->protocol = IPPROTO_ICMP; /* the family may yet change it */
	else if (!strcmp(word, "ip"))
		spec->raw = true, spec->protocol = SPEC_PROTOCOL_NONE;
	else
		return err_set(c->err, -EINVAL,
			       "protocol %s is not known; allowed: tcp, udp, icmp, ip (with protocol=NUMBER)",
			       QUOTE(word));
	return 0;
}

/* Cuts the port off an address in brackets, or off an IPv4 one. NULL: none. */
static char *cut_port(char *word, char **address)
{
	char *port, *end;

	*address = word;
	if (word[0] == '[' && (end = strchr(word, ']'))) {
		*address = word + 1;
		*end = '\0';
		return end[1] == ':' ? end + 2 : end[1] ? end + 1 : NULL;
	}
	port = strchr(word, ':');
	if (!port || strchr(port + 1, ':'))
		return NULL; /* an IPv6 address without brackets */
	*port = '\0';
	return port + 1;
}

static int read_end(struct cursor *c, const char *what, struct addr *addr,
		    uint16_t *port, bool *has_port)
{
	char word[TOKEN_MAX], whole[TOKEN_MAX], *address, *port_text;
	int rc = need_word(c, what, word);

	if (rc)
		return rc;
	memcpy(whole, word, sizeof(whole));
	port_text = cut_port(word, &address);
	*addr = (struct addr){ 0 };
	if (inet_pton(AF_INET, address, &addr->v4) == 1)
		addr->family = AF_INET;
	else if (inet_pton(AF_INET6, address, &addr->v6) == 1)
		addr->family = AF_INET6;
	else
		return err_set(c->err, -EINVAL,
			       "%s %s is not an address; allowed: ADDRESS:PORT, [IPV6]:PORT, and for icmp and ip no port",
			       what, QUOTE(whole));
	*has_port = port_text;
	return port_text ? parse_u16(port_text, "the port", 0, UINT16_MAX, port, c->err) : 0;
}

static int read_arrow(struct cursor *c)
{
	char word[TOKEN_MAX];
	int rc = need_word(c, "'>'", word);

	if (rc)
		return rc;
	return strcmp(word, ">") ? err_set(c->err, -EINVAL,
					   "%s stands where '>' belongs; allowed: PROTOCOL SOURCE > DESTINATION [KEY=VALUE...]",
					   QUOTE(word)) : 0;
}

static int read_ends(struct cursor *c, struct packet_spec *spec)
{
	bool ports = !spec->raw && spec->protocol != IPPROTO_ICMP &&
		     spec->protocol != IPPROTO_ICMPV6;
	bool source_port, dest_port;
	int rc = read_end(c, "the source", &spec->src, &spec->sport, &source_port);

	if (rc)
		return rc;
	if (source_port && !ports)
		return err_set(c->err, -EINVAL, "the source has a port; allowed: with tcp and udp only");
	rc = read_arrow(c);
	if (!rc)
		rc = read_end(c, "the destination", &spec->dst, &spec->dport, &dest_port);
	if (rc)
		return rc;

	if (dest_port && !ports)
		return err_set(c->err, -EINVAL,
			       "the destination has a port; allowed: with tcp and udp only");
	if (spec->src.family != spec->dst.family)
		return err_set(c->err, -EINVAL,
			       "one address is IPv4 and the other IPv6; allowed: both of one family");
	if (source_port != dest_port)
		return err_set(c->err, -EINVAL,
			       "one end has a port and the other has none; allowed: both or, for a later fragment, none");
	spec->has_ports = dest_port;
	return 0;
}

static int hex_digit(char c)
{
	const char *digits = "0123456789abcdef", *at;

	at = c ? strchr(digits, c >= 'A' && c <= 'F' ? c - 'A' + 'a' : c) : NULL;
	return at ? at - digits : -1;
}

/* What a backslash and the letters behind it mean. -EINVAL: nothing. */
static int unescape(const char **at)
{
	static const char from[] = "nrt0\\\"", to[] = "\n\r\t\0\\\"";
	const char *found = strchr(from, **at);
	int high, low;

	if (**at && found) {
		(*at)++;
		return to[found - from];
	}
	high = **at == 'x' ? hex_digit((*at)[1]) : -1;
	low = high < 0 ? -1 : hex_digit((*at)[2]);
	if (low < 0)
		return -EINVAL;
	*at += 3;
	return high << 4 | low;
}

/* "text" from its first quote on, into memory that the caller frees. */
static int read_quoted(struct cursor *c, struct packet *out)
{
	_cleanup_free_ char *bytes = malloc(strlen(c->at) + 1);
	const char *start = c->at;
	size_t n = 0;
	int byte;

	if (!bytes)
		return err_set(c->err, -ENOMEM, "out of memory");
	for (c->at++; *c->at && *c->at != '"'; n++) {
		byte = (unsigned char)*c->at++;
		c->token = c->at - 1;
		if (byte == '\\')
			byte = unescape(&c->at);
		if (byte < 0)
			return err_set(c->err, -EINVAL,
				       "the text has an escape that is not known; allowed: \\n, \\r, \\t, \\0, \\\\, \\\", \\xHH");
		bytes[n] = byte;
	}
	c->token = start;
	if (!*c->at)
		return err_set(c->err, -EINVAL, "the text has no closing '\"'");
	c->token = ++c->at;
	if (*c->at && !strchr(" \t\n", *c->at))
		return err_set(c->err, -EINVAL, "no blank stands behind the text");
	return packet_copy(bytes, n, out, c->err);
}

static int read_hex_payload(struct cursor *c, const char *word, struct packet *out)
{
	size_t at = 0;
	int rc = packet_from_hex(word, out, &at, c->err);

	if (rc)
		c->token += strlen("0x") + at;
	return rc;
}

static int read_payload(struct cursor *c, struct packet_spec *spec)
{
	char word[TOKEN_MAX];
	size_t n;

	packet_clear(&spec->payload);
	c->token = c->at;
	if (*c->at == '"')
		return read_quoted(c, &spec->payload);
	/* Longer than a word may be, when it is in hexadecimal. */
	n = strcspn(c->at, " \t\n");
	if (!strncmp(c->at, "0x", 2)) {
		_cleanup_free_ char *hex = strndup(c->at + 2, n - 2);

		c->at += n;
		return hex ? read_hex_payload(c, hex, &spec->payload) :
			     err_set(c->err, -ENOMEM, "out of memory");
	}
	if (n && next_word(c, word) < 0)
		return -EINVAL;
	return packet_copy(word, n, &spec->payload, c->err);
}

/* The rest of the text is the packet that an ICMP error quotes. */
static int read_quote(struct cursor *c, struct packet_spec *spec)
{
	_cleanup_packet_spec_ struct packet_spec inner = { .whole = true };
	const char *start;
	size_t at = 0;
	int rc;

	skip_blanks(c);
	start = c->at;
	packet_clear(&spec->payload);
	rc = packet_spec_parse(c->at, &inner, &at, c->err);
	c->token = c->at + at;
	if (rc)
		return rc;
	rc = packet_build(&inner, &spec->payload, c->err);
	if (rc)
		return rc;
	c->token = start;
	if (spec->quoted > spec->payload.size)
		return err_set(c->err, -EINVAL,
			       "the quoted packet has %zu byte%s, and 'quoted' is %u",
			       spec->payload.size, plural(spec->payload.size),
			       spec->quoted);
	if (spec->quoted)
		spec->payload.size = spec->quoted;
	spec->has_quote = true;
	c->at += strlen(c->at);
	return 0;
}

static int check_allowed(struct cursor *c, const struct packet_spec *spec,
			 const struct spec_key *key)
{
	if (key->uses & USE_FRAME && spec->whole)
		return err_set(c->err, -EINVAL,
			       "key '%s' is of the frame; allowed: not in a quoted packet",
			       key->key);
	if (key->uses & spec_key_use(spec))
		return 0;
	return err_set(c->err, -EINVAL, "key '%s' is not for %s; allowed: %s", key->key,
		       spec_use_name(spec), spec_uses_text(key->uses));
}

/* Of the keys that say what the packet carries one can stand. */
static int check_payload(struct cursor *c, struct packet_spec *spec,
			 const struct spec_key *key)
{
	if (key->kind == SPEC_WORD)
		return 0;
	if (spec->has_payload)
		return err_set(c->err, -EINVAL,
			       "key '%s' stands beside another payload; allowed: one of payload, bytes, quote",
			       key->key);
	spec->has_payload = true;
	return 0;
}

static int set_key(struct cursor *c, struct packet_spec *spec,
		   const struct spec_key *key, bool has_value)
{
	char word[TOKEN_MAX];
	int rc;

	if (has_value == key->flag)
		return err_set(c->err, -EINVAL, "key '%s' %s; allowed: %s", key->key,
			       has_value ? "has a value" : "has no value", key->allowed);
	if (key->flag)
		return key->set(spec, NULL, c->err);
	if (key->kind == SPEC_PAYLOAD)
		return read_payload(c, spec);
	if (key->kind == SPEC_QUOTE)
		return read_quote(c, spec);

	word[0] = '\0';
	rc = *c->at && !strchr(" \t\n", *c->at) ? next_word(c, word) : 0;
	return rc ? rc : key->set(spec, word, c->err);
}

static int unknown_key(struct cursor *c, const struct packet_spec *spec,
		       const char *name)
{
	char list[KEYS_TEXT_MAX] = "";
	size_t n = 0;

	for (const struct spec_key *k = spec_keys; k->key; k++)
		if (k->uses & spec_key_use(spec) && n < sizeof(list))
			n += snprintf(list + n, sizeof(list) - n, "%s%s", n ? ", " : "",
				      k->key);
	return err_set(c->err, -EINVAL, "key %s is not known; allowed: %s", QUOTE(name),
		       list);
}

static int read_key(struct cursor *c, struct packet_spec *spec, uint64_t *seen)
{
	char name[TOKEN_MAX];
	const struct spec_key *key;
	size_t n = strcspn(c->at, "= \t\n");
	uint64_t bit;
	int rc;

	snprintf(name, sizeof(name), "%.*s", (int)n, c->at);
	key = spec_key_find(name);
	if (!key)
		return unknown_key(c, spec, name);
	rc = check_allowed(c, spec, key);
	if (rc)
		return rc;
	bit = 1ULL << (key - spec_keys);
	if (*seen & bit)
		return err_set(c->err, -EINVAL, "key '%s' stands twice", key->key);
	*seen |= bit;
	rc = check_payload(c, spec, key);
	if (rc)
		return rc;
	c->at += n;
	if (*c->at != '=')
		return set_key(c, spec, key, false);
	c->at++;
	return set_key(c, spec, key, true);
}

static void set_defaults(struct packet_spec *spec)
{
	*spec = (struct packet_spec){
		.whole = spec->whole,
		.smac = PACKET_ROUTER_MAC, .dmac = PACKET_OUR_MAC,
		.ttl = 64, .tcp_flags = 0x10, .seq = 1, .window = 65535,
		.icmp_word = "echo", .icmp_code = SPEC_UNSET,
		.version = SPEC_UNSET, .ihl = SPEC_UNSET, .ip_length = SPEC_UNSET,
		.ip_check = SPEC_UNSET, .l4_check = SPEC_UNSET,
	};
}

static int finish(struct cursor *c, struct packet_spec *spec)
{
	bool ports = !spec->raw && spec->protocol != IPPROTO_ICMP &&
		     spec->protocol != IPPROTO_ICMPV6;

	c->token = c->text;
	if (ports && !spec->has_ports && !(spec->fragment && spec->offset))
		return err_set(c->err, -EINVAL,
			       "the addresses have no ports; allowed: with tcp and udp only for later fragments");
	if (spec->protocol == SPEC_PROTOCOL_NONE)
		return err_set(c->err, -EINVAL, "it is 'ip' without 'protocol=NUMBER'");
	if (spec->quoted && !spec->has_quote)
		return err_set(c->err, -EINVAL, "it has 'quoted' without 'quote=PACKET'");
	if (spec->src.family == AF_INET6 && !spec->fragment && spec->id)
		return err_set(c->err, -EINVAL,
			       "IPv6 has an id in fragments only; allowed: 'frag=OFFSET' with it");
	return spec_finish_icmp(spec, c->err);
}

static int parse(struct cursor *c, struct packet_spec *spec)
{
	uint64_t seen = 0;
	int rc = read_protocol(c, spec);

	if (!rc)
		rc = read_ends(c, spec);
	if (rc)
		return rc;
	if (spec->protocol == IPPROTO_ICMP && spec->src.family == AF_INET6)
		spec->protocol = IPPROTO_ICMPV6;

	for (skip_blanks(c); *c->at; skip_blanks(c)) {
		rc = read_key(c, spec, &seen);
		if (rc)
			return rc;
	}
	return finish(c, spec);
}

int packet_spec_parse(const char *text, struct packet_spec *out, size_t *at,
		      struct err *err)
{
	struct cursor c = { text, text, text, err };
	int rc;

	set_defaults(out);
	rc = parse(&c, out);
	if (rc)
		*at = c.token - text;
	return rc;
}

int packet_from_text(const char *text, struct packet *out, size_t *at,
		     struct err *err)
{
	_cleanup_packet_spec_ struct packet_spec spec = { 0 };
	int rc = packet_spec_parse(text, &spec, at, err);

	if (rc)
		return rc;
	*at = 0;
	return packet_build(&spec, out, err);
}

int packet_from_hex(const char *text, struct packet *out, size_t *at,
		    struct err *err)
{
	_cleanup_free_ uint8_t *bytes = malloc(strlen(text) / 2 + 1);
	size_t n = 0, i = 0;
	int low;

	if (!bytes)
		return err_set(err, -ENOMEM, "out of memory");
	for (; text[i]; i++) {
		if (strchr(" \t\n:", text[i]))
			continue;
		low = hex_digit(text[i]) < 0 ? -1 : hex_digit(text[i + 1]);
		*at = i;
		if (low < 0)
			return err_set(err, -EINVAL,
				       "it has no pair of hexadecimal digits here; allowed: pairs of 0-9, a-f, parted by blanks or ':' or nothing");
		if (n == PACKET_MAX)
			return err_set(err, -EINVAL, "it is longer than %d bytes",
				       PACKET_MAX);
		bytes[n++] = hex_digit(text[i++]) << 4 | low;
	}
	return packet_copy(bytes, n, out, err);
}
