// SPDX-License-Identifier: GPL-2.0-only
#include "prefix.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "num.h"
#include "quote.h"

static unsigned int whole(const struct addr *addr)
{
	return addr->family == AF_INET ? 32 : 128;
}

static uint8_t *bytes_of(struct addr *addr)
{
	return addr->family == AF_INET ? (uint8_t *)&addr->v4 : addr->v6.s6_addr;
}

/* True when a bit was set that does not belong to the prefix. */
static bool clear_host_bits(struct prefix *prefix)
{
	uint8_t *bytes = bytes_of(&prefix->addr);
	unsigned int bit;
	bool any = false;

	for (bit = prefix->length; bit < whole(&prefix->addr); bit++) {
		uint8_t mask = 0x80 >> bit % 8;

		any |= bytes[bit / 8] & mask;
		bytes[bit / 8] &= ~mask;
	}
	return any;
}

static bool read_addr(const char *text, size_t length, struct addr *out)
{
	char copy[ADDR_TEXT_MAX];

	*out = (struct addr){ 0 };
	if (length >= sizeof(copy))
		return false;
	memcpy(copy, text, length);
	copy[length] = '\0';
	if (inet_pton(AF_INET, copy, &out->v4) == 1)
		out->family = AF_INET;
	else if (inet_pton(AF_INET6, copy, &out->v6) == 1)
		out->family = AF_INET6;
	return out->family;
}

static int refuse(const char *text, const char *what, const char *why, struct err *err)
{
	return err_set(err, -EINVAL,
		       "%s %s %s; allowed: ADDRESS or ADDRESS/LENGTH, as "
		       "192.0.2.0/24 or 2001:db8::/32",
		       what, QUOTE(text), why);
}

int prefix_parse(const char *text, const char *what, struct prefix *out,
		 struct err *err)
{
	size_t length = strcspn(text, "/");
	char canonical[PREFIX_TEXT_MAX];
	struct prefix prefix;
	uint16_t bits;

	if (!read_addr(text, length, &prefix.addr))
		return refuse(text, what, "has no IP address", err);
	if (prefix.addr.family == AF_INET6 && IN6_IS_ADDR_V4MAPPED(&prefix.addr.v6))
		return refuse(text, what, "is an IPv4 address mapped into IPv6", err);
	bits = whole(&prefix.addr);
	if (text[length] &&
	    parse_u16(text + length + 1, "length", 0, bits, &bits, NULL))
		return refuse(text, what, "has no length of its family", err);

	prefix.length = bits;
	if (clear_host_bits(&prefix))
		return err_set(err, -EINVAL,
			       "%s %s has bits set behind its length; allowed: %s", what,
			       QUOTE(text), prefix_format(&prefix, canonical));
	*out = prefix;
	return 0;
}

const char *prefix_format(const struct prefix *prefix, char text[PREFIX_TEXT_MAX])
{
	char address[ADDR_TEXT_MAX];

	addr_format(&prefix->addr, address);
	if (prefix->length == whole(&prefix->addr))
		snprintf(text, PREFIX_TEXT_MAX, "%s", address);
	else
		snprintf(text, PREFIX_TEXT_MAX, "%s/%u", address, prefix->length);
	return text;
}

int prefix_compare(const struct prefix *a, const struct prefix *b)
{
	int rc = addr_compare(&a->addr, &b->addr);

	return rc ? rc : (a->length > b->length) - (a->length < b->length);
}

static size_t room_for(size_t n)
{
	size_t room = 1;

	while (room < n)
		room *= 2;
	return room;
}

int prefix_list_add(struct prefix_list *list, const struct prefix *prefix)
{
	struct prefix *grown = list->list;

	if (!list->n || room_for(list->n + 1) != room_for(list->n)) {
		grown = reallocarray(list->list, room_for(list->n + 1), sizeof(*grown));
		if (!grown)
			return -ENOMEM;
		list->list = grown;
	}
	grown[list->n++] = *prefix;
	return 0;
}

int prefix_list_copy(const struct prefix_list *from, struct prefix_list *out)
{
	struct prefix_list copy = { .n = from->n };

	if (from->n) {
		copy.list = reallocarray(NULL, room_for(from->n), sizeof(*copy.list));
		if (!copy.list)
			return -ENOMEM;
		memcpy(copy.list, from->list, from->n * sizeof(*copy.list));
	}
	*out = copy;
	return 0;
}

static int compare(const void *a, const void *b)
{
	return prefix_compare(a, b);
}

void prefix_list_sort(struct prefix_list *list)
{
	if (list->n > 1)
		qsort(list->list, list->n, sizeof(*list->list), compare);
}

void prefix_list_clear(struct prefix_list *list)
{
	free(list->list);
	*list = (struct prefix_list){ 0 };
}
