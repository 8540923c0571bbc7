// SPDX-License-Identifier: GPL-2.0-only
/* Single fields of the outermost headers, as text that can be compared. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <arpa/inet.h>

#include "num.h"
#include "packet_view.h"
#include "quote.h"

enum field_kind {
	FIELD_NUMBER,
	FIELD_ADDRESS,
	FIELD_MAC,
	FIELD_PROTOCOL,
};

/* What the fields are read from. */
struct outermost {
	const struct packet *p;
	struct view_eth eth;
	struct view_ip ip;
	const uint8_t *l4; /* NULL: no ports there */
};

struct field {
	const char *key;
	enum field_kind kind;
	uint32_t max; /* FIELD_NUMBER, FIELD_PROTOCOL */
	/* False: it has none. */
	bool (*get)(const struct outermost *o, char text[PACKET_FIELD_MAX]);
};

static bool put_number(char text[PACKET_FIELD_MAX], uint32_t value)
{
	snprintf(text, PACKET_FIELD_MAX, "%u", value);
	return true;
}

static bool put_mac(char text[PACKET_FIELD_MAX], const uint8_t *mac)
{
	snprintf(text, PACKET_FIELD_MAX, "%02x:%02x:%02x:%02x:%02x:%02x", mac[0], mac[1],
		 mac[2], mac[3], mac[4], mac[5]);
	return true;
}

static bool get_smac(const struct outermost *o, char text[PACKET_FIELD_MAX])
{
	return put_mac(text, o->p->data + 6);
}

static bool get_dmac(const struct outermost *o, char text[PACKET_FIELD_MAX])
{
	return put_mac(text, o->p->data);
}

static bool get_vlan(const struct outermost *o, char text[PACKET_FIELD_MAX])
{
	return o->eth.n_vlans ? put_number(text, o->eth.vlan[0] & 0xfff) : false;
}

static bool get_inner_vlan(const struct outermost *o, char text[PACKET_FIELD_MAX])
{
	return o->eth.n_vlans > 1 ? put_number(text, o->eth.vlan[1] & 0xfff) : false;
}

static bool get_src(const struct outermost *o, char text[PACKET_FIELD_MAX])
{
	return o->ip.family ? addr_format(&o->ip.src, text) != NULL : false;
}

static bool get_dst(const struct outermost *o, char text[PACKET_FIELD_MAX])
{
	return o->ip.family ? addr_format(&o->ip.dst, text) != NULL : false;
}

/* A field of the IP header that is a plain number. */
#define IP_FIELD(name, value)                                               \
	static bool get_##name(const struct outermost *o,                   \
			       char text[PACKET_FIELD_MAX])                 \
	{                                                                   \
		return o->ip.family ? put_number(text, (value)) : false;    \
	}

IP_FIELD(ttl, o->ip.ttl)
IP_FIELD(tos, o->ip.tos)
IP_FIELD(id, o->ip.id)
IP_FIELD(df, o->ip.df)
IP_FIELD(length, o->ip.length)
IP_FIELD(protocol, o->ip.protocol)

static bool get_label(const struct outermost *o, char text[PACKET_FIELD_MAX])
{
	return o->ip.family == AF_INET6 ? put_number(text, o->ip.label) : false;
}

static bool get_sport(const struct outermost *o, char text[PACKET_FIELD_MAX])
{
	return o->l4 ? put_number(text, wire16(o->l4)) : false;
}

static bool get_dport(const struct outermost *o, char text[PACKET_FIELD_MAX])
{
	return o->l4 ? put_number(text, wire16(o->l4 + 2)) : false;
}

static const struct field fields[] = {
	{ "src", FIELD_ADDRESS, 0, get_src },
	{ "dst", FIELD_ADDRESS, 0, get_dst },
	{ "protocol", FIELD_PROTOCOL, 255, get_protocol },
	{ "ttl", FIELD_NUMBER, 255, get_ttl },
	{ "tos", FIELD_NUMBER, 255, get_tos },
	{ "id", FIELD_NUMBER, UINT32_MAX, get_id },
	{ "df", FIELD_NUMBER, 1, get_df },
	{ "length", FIELD_NUMBER, 40 + 65535, get_length },
	{ "label", FIELD_NUMBER, 0xfffff, get_label },
	{ "sport", FIELD_NUMBER, 65535, get_sport },
	{ "dport", FIELD_NUMBER, 65535, get_dport },
	{ "smac", FIELD_MAC, 0, get_smac },
	{ "dmac", FIELD_MAC, 0, get_dmac },
	{ "vlan", FIELD_NUMBER, 4095, get_vlan },
	{ "inner_vlan", FIELD_NUMBER, 4095, get_inner_vlan },
};

#define N_FIELDS (sizeof(fields) / sizeof(fields[0]))

const char *const packet_fields[N_FIELDS + 1] = {
	"src",   "dst",   "protocol", "ttl",  "tos",  "id",   "df",         "length",
	"label", "sport", "dport",    "smac", "dmac", "vlan", "inner_vlan", NULL,
};

static const struct field *find_field(const char *key)
{
	for (size_t i = 0; i < N_FIELDS; i++)
		if (!strcmp(fields[i].key, key))
			return &fields[i];
	return NULL;
}

int packet_field(const struct packet *p, const char *key, char text[PACKET_FIELD_MAX])
{
	const struct field *field = find_field(key);
	struct outermost o = { .p = p };
	size_t l4;

	snprintf(text, PACKET_FIELD_MAX, "-");
	if (!field || p->size < PACKET_MIN)
		return -ENOENT;
	view_eth(p, &o.eth);
	if (o.eth.ethertype == WIRE_IPV4 || o.eth.ethertype == WIRE_IPV6)
		view_ip(p->data + o.eth.size, p->size - o.eth.size, &o.ip);
	l4 = o.eth.size + o.ip.header_size;
	if ((o.ip.protocol == IPPROTO_TCP || o.ip.protocol == IPPROTO_UDP) &&
	    !o.ip.offset && l4 + 4 <= p->size)
		o.l4 = p->data + l4;
	return field->get(&o, text) ? 0 : -ENOENT;
}

/* Decimal or 0x and hexadecimal digits, to decimal. -EINVAL: it is neither. */
static int read_number(const char *value, uint64_t *number)
{
	bool hex = !strncmp(value, "0x", 2);
	const char *digits = hex ? value + 2 : value;
	size_t n = strlen(digits);

	if (!n || n > 10 ||
	    strspn(digits, hex ? "0123456789abcdefABCDEF" : "0123456789") != n)
		return -EINVAL;
	*number = strtoull(digits, NULL, hex ? 16 : 10);
	return 0;
}

static int parse_number(const struct field *field, const char *value,
			char text[PACKET_FIELD_MAX], struct err *err)
{
	uint64_t number;

	if (read_number(value, &number))
		return err_set(err, -EINVAL,
			       "'%s' %s is not a number; allowed: decimal, or 0x and hexadecimal digits",
			       field->key, QUOTE(value));
	if (number > field->max)
		return err_set(err, -EINVAL, "'%s' %s is out of range; allowed: 0 to %u",
			       field->key, QUOTE(value), field->max);
	put_number(text, number);
	return 0;
}

static int parse_protocol(const struct field *field, const char *value,
			  char text[PACKET_FIELD_MAX], struct err *err)
{
	static const struct {
		const char *word;
		unsigned int number;
	} words[] = {
		{ "tcp", IPPROTO_TCP }, { "udp", IPPROTO_UDP },
		{ "icmp", IPPROTO_ICMP }, { "icmpv6", IPPROTO_ICMPV6 },
		{ "ipip", IPPROTO_IPIP }, { "ipv6", IPPROTO_IPV6 },
		{ "gre", IPPROTO_GRE },
	};

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (!strcmp(value, words[i].word)) {
			put_number(text, words[i].number);
			return 0;
		}
	if (strspn(value, "0123456789"))
		return parse_number(field, value, text, err);
	return err_set(err, -EINVAL,
		       "'protocol' %s is not known; allowed: tcp, udp, icmp, icmpv6, ipip, ipv6, gre, or a number",
		       QUOTE(value));
}

static int parse_address(const char *key, const char *value,
			 char text[PACKET_FIELD_MAX], struct err *err)
{
	struct addr addr = { 0 };

	if (inet_pton(AF_INET, value, &addr.v4) == 1)
		addr.family = AF_INET;
	else if (inet_pton(AF_INET6, value, &addr.v6) == 1)
		addr.family = AF_INET6;
	else
		return err_set(err, -EINVAL,
			       "'%s' %s is not an address; allowed: IPv4 or IPv6", key,
			       QUOTE(value));
	addr_format(&addr, text);
	return 0;
}

static int parse_mac(const char *key, const char *value, char text[PACKET_FIELD_MAX],
		     struct err *err)
{
	uint8_t mac[6];
	int rc = wire_parse_mac(value, key, mac, err);

	if (!rc)
		put_mac(text, mac);
	return rc;
}

int packet_field_parse(const char *key, const char *value,
		       char text[PACKET_FIELD_MAX], struct err *err)
{
	const struct field *field = find_field(key);

	if (!field)
		return err_set(err, -EINVAL, "field '%s' is not known", key);
	switch (field->kind) {
	case FIELD_ADDRESS:
		return parse_address(key, value, text, err);
	case FIELD_MAC:
		return parse_mac(key, value, text, err);
	case FIELD_PROTOCOL:
		return parse_protocol(field, value, text, err);
	default:
		return parse_number(field, value, text, err);
	}
}
