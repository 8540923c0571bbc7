// SPDX-License-Identifier: GPL-2.0-only
#include "packet_spec_keys.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "num.h"
#include "quote.h"

#define VLAN_ID_MAX 4094

/* In decimal, or 0x and hexadecimal digits. */
static int number(const char *text, const char *what, uint32_t min, uint32_t max,
		  uint32_t *out, struct err *err)
{
	size_t digits = strlen(text) - 2;
	unsigned long value;

	if (strncmp(text, "0x", 2))
		return parse_u32(text, what, min, max, out, err);
	if (digits < 1 || digits > 8 ||
	    strspn(text + 2, "0123456789abcdefABCDEF") != digits)
		return err_set(err, -EINVAL, "%s %s is not a number; allowed: %u to %u",
			       what, QUOTE(text), min, max);
	value = strtoul(text + 2, NULL, 16);
	if (value < min || value > max)
		return err_set(err, -ERANGE, "%s %s is out of range; allowed: %u to %u",
			       what, QUOTE(text), min, max);
	*out = value;
	return 0;
}

/* NUMBER_KEY(name, field, min, max): a setter of a number. */
#define NUMBER_KEY(name, field, min, max)                                         \
	static int set_##name(struct packet_spec *spec, const char *value,        \
			      struct err *err)                                    \
	{                                                                         \
		uint32_t n;                                                       \
		int rc = number(value, "'" #name "'", (min), (max), &n, err);     \
                                                                                  \
		if (!rc)                                                          \
			spec->field = n;                                          \
		return rc;                                                        \
	}

NUMBER_KEY(ttl, ttl, 0, 255)
NUMBER_KEY(tos, tos, 0, 255)
NUMBER_KEY(label, label, 0, 0xfffff)
NUMBER_KEY(protocol, protocol, 0, SPEC_PROTOCOL_NONE - 1)
NUMBER_KEY(seq, seq, 0, UINT32_MAX)
NUMBER_KEY(ack, ack, 0, UINT32_MAX)
NUMBER_KEY(window, window, 0, 65535)
NUMBER_KEY(code, icmp_code, 0, 255)
NUMBER_KEY(rest, icmp_rest, 0, UINT32_MAX)
NUMBER_KEY(quoted, quoted, 1, 65535)
NUMBER_KEY(pad, pad, 0, 9000)
NUMBER_KEY(cut, cut, PACKET_MIN, PACKET_MAX)
NUMBER_KEY(version, version, 0, 15)
NUMBER_KEY(ihl, ihl, 0, 15)
NUMBER_KEY(length, ip_length, 0, 65535)
NUMBER_KEY(ipcheck, ip_check, 0, 65535)
NUMBER_KEY(check, l4_check, 0, 65535)

/* Of the packet in IPv4, of its fragments only in IPv6. */
static int set_id(struct packet_spec *spec, const char *value, struct err *err)
{
	return number(value, "'id'", 0, spec->src.family == AF_INET ? 65535 : UINT32_MAX,
		      &spec->id, err);
}

static int set_smac(struct packet_spec *spec, const char *value, struct err *err)
{
	return wire_parse_mac(value, "'smac'", spec->smac, err);
}

static int set_dmac(struct packet_spec *spec, const char *value, struct err *err)
{
	return wire_parse_mac(value, "'dmac'", spec->dmac, err);
}

/* Cuts the text at the next ','; NULL after the last piece. */
static const char *next_piece(char **rest)
{
	return *rest ? strsep(rest, ",") : NULL;
}

static int set_vlan(struct packet_spec *spec, const char *value, struct err *err)
{
	char copy[64], *rest = copy;
	const char *piece;
	uint32_t id;
	int rc;

	snprintf(copy, sizeof(copy), "%s", value);
	while ((piece = next_piece(&rest))) {
		if (spec->n_vlans == WIRE_VLAN_TAGS_MAX)
			return err_set(err, -EINVAL,
				       "'vlan' %s has more than two tags; allowed: ID or OUTER,INNER",
				       QUOTE(value));
		rc = number(piece, "'vlan'", 0, VLAN_ID_MAX, &id, err);
		if (rc)
			return rc;
		spec->vlan[spec->n_vlans++] = id;
	}
	return 0;
}

static int set_df(struct packet_spec *spec, const char *value, struct err *err)
{
	(void)value;
	(void)err;
	spec->df = true;
	return 0;
}

/* "0+": the first, more follow. "1480": the last one. */
static int set_frag(struct packet_spec *spec, const char *value, struct err *err)
{
	char copy[16];
	size_t n = strlen(value);
	uint32_t offset;
	int rc;

	snprintf(copy, sizeof(copy), "%s", value);
	spec->more = n && n < sizeof(copy) && copy[n - 1] == '+';
	if (spec->more)
		copy[n - 1] = '\0';
	rc = number(copy, "'frag'", 0, 65528, &offset, err);
	if (rc)
		return rc;
	if (offset % 8)
		return err_set(err, -EINVAL,
			       "'frag' %s is no multiple of 8; allowed: the offset in bytes, and '+' when more follow",
			       QUOTE(value));
	spec->fragment = true;
	spec->offset = offset;
	return 0;
}

static int set_options(struct packet_spec *spec, const char *value, struct err *err)
{
	_cleanup_packet_ struct packet bytes = { 0 };
	size_t at;
	int rc = packet_from_hex(value, &bytes, &at, err);

	if (rc)
		return err_prefix(err, "'options' %s", QUOTE(value));
	if (bytes.size > SPEC_OPTIONS_MAX)
		return err_set(err, -EINVAL, "'options' has %zu bytes; allowed: %d",
			       bytes.size, SPEC_OPTIONS_MAX);
	memset(spec->options, 0, sizeof(spec->options));
	memcpy(spec->options, bytes.data, bytes.size);
	spec->n_options = (bytes.size + 3) & ~3UL;
	return 0;
}

static int extension_number(const char *word, struct err *err)
{
	static const struct {
		const char *word;
		uint8_t number;
	} words[] = {
		{ "hop", IPPROTO_HOPOPTS },
		{ "dest", IPPROTO_DSTOPTS },
		{ "routing", IPPROTO_ROUTING },
		{ "ah", IPPROTO_AH },
	};

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (!strcmp(word, words[i].word))
			return words[i].number;
	return err_set(err, -EINVAL,
		       "'ext' %s is not known; allowed: hop, dest, routing, ah, parted by ','",
		       QUOTE(word));
}

static int set_ext(struct packet_spec *spec, const char *value, struct err *err)
{
	char copy[256], *rest = copy;
	const char *piece;
	int number_or_rc;

	snprintf(copy, sizeof(copy), "%s", value);
	while ((piece = next_piece(&rest))) {
		number_or_rc = extension_number(piece, err);
		if (number_or_rc < 0)
			return number_or_rc;
		if (spec->n_extensions == SPEC_EXTENSIONS_MAX)
			return err_set(err, -EINVAL,
				       "'ext' has more than %d headers",
				       SPEC_EXTENSIONS_MAX);
		spec->extensions[spec->n_extensions++] = number_or_rc;
	}
	return 0;
}

static int set_flags(struct packet_spec *spec, const char *value, struct err *err)
{
	static const char letters[] = "FSRPAUEC"; /* from the lowest bit on */

	spec->tcp_flags = 0;
	if (!strcmp(value, "none"))
		return 0;
	for (const char *l = value; *l || l == value; l++) {
		const char *found = *l ? strchr(letters, *l) : NULL;

		if (!found)
			return err_set(err, -EINVAL,
				       "'flags' %s is not known; allowed: letters of %s, or none",
				       QUOTE(value), letters);
		spec->tcp_flags |= 1 << (found - letters);
	}
	return 0;
}

static const struct {
	const char *word;
	struct {
		uint8_t type, code;
	} v4, v6;
} icmp_types[] = {
	/* RFC 792 and RFC 4443 */
	{ "echo", { 8, 0 }, { 128, 0 } },
	{ "echo-reply", { 0, 0 }, { 129, 0 } },
	{ "unreachable", { 3, 1 }, { 1, 3 } },
	{ "too-big", { 3, 4 }, { 2, 0 } },
	{ "time-exceeded", { 11, 0 }, { 3, 0 } },
	{ "parameter-problem", { 12, 0 }, { 4, 0 } },
};

#define N_ICMP_TYPES (sizeof(icmp_types) / sizeof(icmp_types[0]))

static int set_type(struct packet_spec *spec, const char *value, struct err *err)
{
	uint32_t type;
	int rc;

	spec->icmp_word = NULL;
	for (size_t i = 0; i < N_ICMP_TYPES; i++)
		if (!strcmp(value, icmp_types[i].word))
			spec->icmp_word = icmp_types[i].word;
	if (spec->icmp_word)
		return 0;
	rc = number(value, "'type'", 0, 255, &type, err);
	if (rc)
		return err_set(err, -EINVAL,
			       "'type' %s is not known; allowed: 0 to 255, echo, echo-reply, unreachable, too-big, time-exceeded, parameter-problem",
			       QUOTE(value));
	spec->icmp_type = type;
	return 0;
}

int spec_finish_icmp(struct packet_spec *spec, struct err *err)
{
	bool v4 = spec->src.family == AF_INET;

	(void)err;
	for (size_t i = 0; spec->icmp_word && i < N_ICMP_TYPES; i++) {
		if (strcmp(spec->icmp_word, icmp_types[i].word))
			continue;
		spec->icmp_type = v4 ? icmp_types[i].v4.type : icmp_types[i].v6.type;
		if (spec->icmp_code == SPEC_UNSET)
			spec->icmp_code = v4 ? icmp_types[i].v4.code :
					       icmp_types[i].v6.code;
	}
	if (spec->icmp_code == SPEC_UNSET)
		spec->icmp_code = 0;
	return 0;
}

/* A payload of so many letters. */
static int set_bytes(struct packet_spec *spec, const char *value, struct err *err)
{
	uint32_t n;
	int rc = number(value, "'bytes'", 0, 65535, &n, err);

	if (rc)
		return rc;
	packet_clear(&spec->payload);
	spec->payload.data = malloc(n + 1);
	if (!spec->payload.data)
		return err_set(err, -ENOMEM, "out of memory");
	for (uint32_t i = 0; i < n; i++)
		spec->payload.data[i] = 'a' + i % 26;
	spec->payload.size = n;
	return 0;
}

const struct spec_key spec_keys[] = {
	{ "flags", USE_TCP, false, SPEC_WORD, set_flags, "flags=SA" },
	{ "seq", USE_TCP, false, SPEC_WORD, set_seq, "seq=NUMBER" },
	{ "ack", USE_TCP, false, SPEC_WORD, set_ack, "ack=NUMBER" },
	{ "window", USE_TCP, false, SPEC_WORD, set_window, "window=NUMBER" },
	{ "type", USE_ICMP, false, SPEC_WORD, set_type, "type=echo" },
	{ "code", USE_ICMP, false, SPEC_WORD, set_code, "code=NUMBER" },
	{ "rest", USE_ICMP, false, SPEC_WORD, set_rest, "rest=NUMBER" },
	{ "quoted", USE_ICMP, false, SPEC_WORD, set_quoted, "quoted=BYTES" },
	{ "quote", USE_ICMP, false, SPEC_QUOTE, NULL, "quote=PACKET, the last" },
	{ "protocol", USE_IP, false, SPEC_WORD, set_protocol, "protocol=NUMBER" },
	{ "payload", USE_ANY, false, SPEC_PAYLOAD, NULL,
	  "payload=\"TEXT\" or payload=0xHEX" },
	{ "bytes", USE_ANY, false, SPEC_LENGTH, set_bytes, "bytes=NUMBER" },
	{ "ttl", USE_ANY, false, SPEC_WORD, set_ttl, "ttl=NUMBER" },
	{ "tos", USE_ANY, false, SPEC_WORD, set_tos, "tos=NUMBER" },
	{ "id", USE_ANY, false, SPEC_WORD, set_id, "id=NUMBER" },
	{ "df", USE_4, true, SPEC_WORD, set_df, "df alone" },
	{ "frag", USE_ANY, false, SPEC_WORD, set_frag, "frag=OFFSET or frag=OFFSET+" },
	{ "options", USE_4, false, SPEC_WORD, set_options, "options=HEX" },
	{ "label", USE_6, false, SPEC_WORD, set_label, "label=NUMBER" },
	{ "ext", USE_6, false, SPEC_WORD, set_ext, "ext=hop,dest,routing,ah" },
	{ "vlan", USE_ANY | USE_FRAME, false, SPEC_WORD, set_vlan,
	  "vlan=ID or vlan=OUTER,INNER" },
	{ "smac", USE_ANY | USE_FRAME, false, SPEC_WORD, set_smac, "smac=MAC" },
	{ "dmac", USE_ANY | USE_FRAME, false, SPEC_WORD, set_dmac, "dmac=MAC" },
	{ "pad", USE_ANY, false, SPEC_WORD, set_pad, "pad=BYTES" },
	{ "cut", USE_ANY, false, SPEC_WORD, set_cut, "cut=BYTES" },
	{ "version", USE_ANY, false, SPEC_WORD, set_version, "version=NUMBER" },
	{ "ihl", USE_4, false, SPEC_WORD, set_ihl, "ihl=WORDS" },
	{ "length", USE_ANY, false, SPEC_WORD, set_length, "length=NUMBER" },
	{ "ipcheck", USE_4, false, SPEC_WORD, set_ipcheck, "ipcheck=NUMBER" },
	{ "check", USE_CHECK, false, SPEC_WORD, set_check, "check=NUMBER" },
	{ 0 },
};

const struct spec_key *spec_key_find(const char *key)
{
	for (const struct spec_key *k = spec_keys; k->key; k++)
		if (!strcmp(k->key, key))
			return k;
	return NULL;
}

/* 0 to 3, in the order of the bits of enum spec_use. */
static unsigned int kind_of(const struct packet_spec *spec)
{
	if (spec->raw)
		return 3;
	switch (spec->protocol) {
	case IPPROTO_TCP:
		return 0;
	case IPPROTO_UDP:
		return 1;
	case IPPROTO_ICMP:
	case IPPROTO_ICMPV6:
		return 2;
	default:
		return 3;
	}
}

unsigned int spec_key_use(const struct packet_spec *spec)
{
	return 1U << (kind_of(spec) + (spec->src.family == AF_INET ? 0 : 4));
}

const char *spec_use_name(const struct packet_spec *spec)
{
	static const char *const names[2][4] = {
		{ "tcp over IPv4", "udp over IPv4", "icmp over IPv4", "ip over IPv4" },
		{ "tcp over IPv6", "udp over IPv6", "icmp over IPv6", "ip over IPv6" },
	};

	return names[spec->src.family != AF_INET][kind_of(spec)];
}

const char *spec_uses_text(unsigned int uses)
{
	switch (uses) {
	case USE_TCP:
		return "with tcp";
	case USE_ICMP:
		return "with icmp";
	case USE_IP:
		return "with ip";
	case USE_4:
		return "with IPv4 addresses";
	case USE_6:
		return "with IPv6 addresses";
	default:
		return "with tcp, udp and icmp";
	}
}
