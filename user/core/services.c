// SPDX-License-Identifier: GPL-2.0-only
#include "services.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cleanup.h"
#include "plan.h"

#define GROUPS 65536
#define NOBODY SIZE_MAX

/* An address or prefix that has VIPs. */
struct home {
	const struct plan_vip *vips;
	size_t n_vips;
	size_t around;  /* index of the longest prefix around it; NOBODY: none */
	uint16_t group; /* 0: none */
	bool fragments; /* a VIP of it takes fragments without ports */
};

/* Ports that a VIP has in a group. */
struct segment {
	const struct plan_vip *vip;
	uint8_t protocol;
	uint16_t first, last;
};

/* One element of the services trie; the lowest rank has it. */
struct block {
	const struct plan_vip *vip;
	uint8_t protocol, len;
	uint16_t port;
	size_t rank;
};

enum group_use { GROUP_FREE, GROUP_OLD, GROUP_TAKEN };

struct maker {
	const struct vip_entries *old;
	struct home *homes; /* in the order of their VIPs: prefixes first */
	size_t n_homes;
	struct segment *segments; /* of the group in hand, the first wins */
	size_t n_segments, room_segments;
	struct block *blocks; /* of the group in hand */
	size_t n_blocks, room_blocks;
	struct vip_entries *out;
	size_t room_out, n_services;
	uint8_t *groups; /* enum group_use, by id */
	uint16_t *last_group;
	struct err *err;
};

static int out_of_memory(struct maker *m)
{
	return err_set(m->err, -ENOMEM, "out of memory");
}

/* The list with room for one more, where it is now; NULL: no memory. */
static void *grow(void *list, size_t n, size_t *room, size_t size)
{
	size_t more = *room ? 2 * *room : 64;

	if (n < *room)
		return list;
	list = reallocarray(list, more, size);
	if (list)
		*room = more;
	return list;
}

static int emit(struct maker *m, const struct vip_entry *entry)
{
	struct vip_entry *list = grow(m->out->list, m->out->n, &m->room_out,
				      sizeof(*entry));

	if (!list)
		return out_of_memory(m);
	m->out->list = list;
	list[m->out->n++] = *entry;
	return 0;
}

static struct vip vip_value(const struct plan_vip *vip)
{
	struct vip value = vip->options;

	value.id = vip->id;
	value.table = vip->table;
	return value;
}

static bool same_home(const struct vip_spec *a, const struct vip_spec *b)
{
	return a->prefix_len == b->prefix_len && !addr_compare(&a->addr, &b->addr);
}

/* A prefix sorts before all that it covers, so it is among those passed. */
static size_t find_around(const struct maker *m, size_t last, const struct vip_spec *spec)
{
	while (last != NOBODY && !vip_spec_covers(&m->homes[last].vips->spec, &spec->addr))
		last = m->homes[last].around;
	return last;
}

static void find_homes(struct maker *m, const struct plan_vip *vips, size_t n)
{
	struct home *home = NULL;
	size_t i;

	for (i = 0; i < n; i++) {
		if (!home || !same_home(&home->vips->spec, &vips[i].spec)) {
			home = &m->homes[m->n_homes++];
			*home = (struct home){ .vips = &vips[i] };
			home->around = find_around(m, m->n_homes > 1 ? m->n_homes - 2 :
							       NOBODY, &vips[i].spec);
		}
		home->n_vips++;
		home->fragments |= vips[i].options.flags & VIP_FRAGMENT_HASH;
	}
}

static int add_segment(struct maker *m, const struct segment *segment)
{
	struct segment *list = grow(m->segments, m->n_segments, &m->room_segments,
				    sizeof(*segment));

	if (!list)
		return out_of_memory(m);
	m->segments = list;
	list[m->n_segments++] = *segment;
	return 0;
}

static bool is_inside(const struct segment *a, const struct segment *b)
{
	return a->first >= b->first && a->last <= b->last &&
	       (a->first != b->first || a->last != b->last);
}

/*
 * Of the segment, what none of the segments from `i` to `end` takes away. Those
 * that lie inside it may stay there: their match is the longer one.
 */
static int add_rest(struct maker *m, struct segment rest, size_t i, size_t end)
{
	struct segment below;
	int rc;

	for (; i < end; i++) {
		const struct segment *taken = &m->segments[i];

		if (taken->protocol != rest.protocol || taken->first > rest.last ||
		    taken->last < rest.first || is_inside(taken, &rest))
			continue;
		if (taken->first > rest.first) {
			below = rest;
			below.last = taken->first - 1;
			rc = add_rest(m, below, i + 1, end);
			if (rc)
				return rc;
		}
		if (taken->last >= rest.last)
			return 0;
		rest.first = taken->last + 1;
	}
	return add_segment(m, &rest);
}

static int compare_precedence(const void *a, const void *b)
{
	const struct plan_vip *const *x = a, *const *y = b;
	int order = vip_spec_precedence(&(*x)->spec, &(*y)->spec);

	return order ? order : vip_spec_compare(&(*x)->spec, &(*y)->spec);
}

/* The services of one home; *all when nothing is left for the prefixes around. */
static int add_home(struct maker *m, const struct home *home, bool *all)
{
	_cleanup_free_ const struct plan_vip **vips = calloc(home->n_vips, sizeof(*vips));
	size_t i, n = 0, above = m->n_segments;
	int rc = 0;

	if (!vips)
		return out_of_memory(m);
	for (i = 0; i < home->n_vips; i++)
		if (!vip_spec_is_exact(&home->vips[i].spec))
			vips[n++] = &home->vips[i];
	if (n)
		qsort(vips, n, sizeof(*vips), compare_precedence);

	for (i = 0; i < n && !rc; i++) {
		const struct vip_spec *spec = &vips[i]->spec;
		struct segment segment = { vips[i], spec->protocol, spec->port,
					   spec->port_last };

		*all |= !spec->protocol;
		rc = add_rest(m, segment, 0, above);
	}
	return rc;
}

static int add_block(struct maker *m, const struct segment *segment, uint16_t port,
		     uint8_t len, size_t rank)
{
	struct block *list = grow(m->blocks, m->n_blocks, &m->room_blocks, sizeof(*list));

	if (!list)
		return out_of_memory(m);
	m->blocks = list;
	list[m->n_blocks++] = (struct block){
		.vip = segment->vip,
		.protocol = segment->protocol,
		.len = len,
		.port = port,
		.rank = rank,
	};
	return 0;
}

/* A range as the fewest prefixes of the port. */
static int cut_segment(struct maker *m, const struct segment *segment, size_t rank)
{
	uint32_t port = segment->first, size;
	uint8_t len;
	int rc = 0;

	if (!segment->protocol)
		return add_block(m, segment, 0, SERVICE_PREFIX_ANY_PROTOCOL, rank);
	while (port <= segment->last && !rc) {
		size = 1;
		len = SERVICE_PREFIX_LEN_MAX;
		while (len > SERVICE_PREFIX_ANY_PORT && !(port & size) &&
		       port + 2 * size - 1 <= segment->last) {
			size *= 2;
			len--;
		}
		rc = add_block(m, segment, port, len, rank);
		port += size;
	}
	return rc;
}

static int compare_blocks(const void *a, const void *b)
{
	const struct block *x = a, *y = b;

	if (x->protocol != y->protocol)
		return x->protocol - y->protocol;
	if (x->port != y->port)
		return x->port - y->port;
	if (x->len != y->len)
		return x->len - y->len;
	return (x->rank > y->rank) - (x->rank < y->rank);
}

/* What a VIP of few ports takes whole from one of more is its own. */
static void drop_outranked(struct maker *m)
{
	size_t i, n = 0;

	for (i = 0; i < m->n_blocks; i++) {
		const struct block *last = n ? &m->blocks[n - 1] : NULL;
		const struct block *block = &m->blocks[i];

		if (!last || last->protocol != block->protocol ||
		    last->port != block->port || last->len != block->len)
			m->blocks[n++] = *block;
	}
	m->n_blocks = n;
}

/* Later fragments, which have no ports, of the home's own VIPs. */
static int add_fragments(struct maker *m, const struct home *home)
{
	struct segment segment = { .protocol = IPPROTO_FRAGMENT };
	size_t i;

	if (!home->fragments || home->vips->spec.prefix_len == addr_bits(&home->vips->spec.addr))
		return 0;
	for (i = 0; i < home->n_vips && !segment.vip; i++)
		if (home->vips[i].options.flags & VIP_FRAGMENT_HASH)
			segment.vip = &home->vips[i];
	return add_block(m, &segment, 0, SERVICE_PREFIX_ANY_PORT, 0);
}

static int make_blocks(struct maker *m, const struct home *home)
{
	const struct home *level = home;
	bool all = false;
	size_t i;
	int rc = 0;

	m->n_segments = m->n_blocks = 0;
	while (level && !all && !rc) {
		rc = add_home(m, level, &all);
		level = level->around == NOBODY ? NULL : &m->homes[level->around];
	}
	for (i = 0; i < m->n_segments && !rc; i++)
		rc = cut_segment(m, &m->segments[i], i);
	if (!rc)
		rc = add_fragments(m, home);
	if (rc)
		return rc;
	if (m->n_blocks)
		qsort(m->blocks, m->n_blocks, sizeof(*m->blocks), compare_blocks);
	drop_outranked(m);
	return 0;
}

static struct prefix home_prefix(const struct home *home)
{
	return (struct prefix){ home->vips->spec.addr, home->vips->spec.prefix_len };
}

/* Do the same VIPs have the same ports in the old group? Both are sorted. */
static bool same_blocks(const struct maker *m, uint16_t group)
{
	size_t i, n;
	const struct vip_entry *old = vip_entries_group(m->old, group, &n);

	if (n != m->n_blocks)
		return false;
	for (i = 0; i < n; i++) {
		const struct block *b = &m->blocks[i];
		struct vip_entry key = vip_entry_service(group, b->protocol, b->port, b->len);

		if (vip_entry_compare(&key, &old[i]) || old[i].vip.id != b->vip->id)
			return false;
	}
	return true;
}

static uint16_t take_group(struct maker *m, const struct home *home)
{
	struct prefix prefix = home_prefix(home);
	struct vip_entry key = vip_entry_address(&prefix);
	const struct vip_entry *before = vip_entries_find(m->old, &key);
	unsigned int tries, id = *m->last_group;

	if (before && before->vip.flags & VIP_SERVICES &&
	    m->groups[before->vip.id] != GROUP_TAKEN && same_blocks(m, before->vip.id)) {
		m->groups[before->vip.id] = GROUP_TAKEN;
		return before->vip.id;
	}
	for (tries = 1; tries < GROUPS; tries++) {
		id = id % (GROUPS - 1) + 1;
		if (m->groups[id] != GROUP_FREE)
			continue;
		m->groups[id] = GROUP_TAKEN;
		*m->last_group = id;
		return id;
	}
	return 0;
}

static int emit_blocks(struct maker *m, uint16_t group)
{
	struct vip_entry entry;
	size_t i;
	int rc = 0;

	m->n_services += m->n_blocks;
	if (m->n_services > MAX_SERVICES)
		return err_set(m->err, -ENOSPC,
			       "the VIPs of ranges and prefixes need more than %d entries",
			       MAX_SERVICES);
	for (i = 0; i < m->n_blocks && !rc; i++) {
		entry = vip_entry_service(group, m->blocks[i].protocol, m->blocks[i].port,
					  m->blocks[i].len);
		entry.vip = vip_value(m->blocks[i].vip);
		rc = emit(m, &entry);
	}
	return rc;
}

static bool has_services(const struct home *home)
{
	size_t i;

	for (i = 0; i < home->n_vips; i++)
		if (!vip_spec_is_exact(&home->vips[i].spec))
			return true;
	return false;
}

static int make_group(struct maker *m, struct home *home)
{
	const struct home *around = home->around == NOBODY ? NULL : &m->homes[home->around];
	int rc;

	/* Fragments without ports are not for the VIPs of the prefix around. */
	if (!has_services(home) && (!around || !around->fragments)) {
		home->group = around ? around->group : 0;
		return 0;
	}
	rc = make_blocks(m, home);
	if (rc)
		return rc;
	home->group = take_group(m, home);
	if (!home->group)
		return err_set(m->err, -ENOSPC,
			       "more than %d addresses with VIPs of ranges, counting those that this change replaces",
			       GROUPS - 1);
	return emit_blocks(m, home->group);
}

static int emit_address(struct maker *m, const struct home *home)
{
	struct prefix prefix = home_prefix(home);
	struct vip_entry entry = vip_entry_address(&prefix);

	entry.vip = (struct vip){
		.id = home->group,
		.flags = VIP_ADDRESS | (home->group ? VIP_SERVICES : 0) |
			 (home->vips->options.flags & VIP_NO_ECHO),
	};
	return emit(m, &entry);
}

static int emit_fragments(struct maker *m, const struct home *home)
{
	struct vip_entry entry = vip_entry_hashed(&home->vips->spec.addr, 0,
						  IPPROTO_FRAGMENT);
	size_t i = 0;

	if (!home->fragments || home->vips->spec.prefix_len != addr_bits(&home->vips->spec.addr))
		return 0;
	while (!(home->vips[i].options.flags & VIP_FRAGMENT_HASH))
		i++;
	entry.vip = vip_value(&home->vips[i]);
	return emit(m, &entry);
}

static int emit_vip(struct maker *m, const struct plan_vip *vip)
{
	const struct vip_spec *spec = &vip->spec;
	uint32_t id = vip->id;
	struct vip_entry entry;

	if (vip_spec_is_exact(spec)) {
		entry = vip_entry_hashed(&spec->addr, spec->port, spec->protocol);
		entry.vip = vip_value(vip);
		return emit(m, &entry);
	}
	entry = (struct vip_entry){ .map = VIP_MAP_RECORDS };
	memcpy(entry.key, &id, sizeof(id));
	entry.record = (struct vip_record){
		.port = htons(spec->port),
		.port_last = htons(spec->port_last),
		.protocol = spec->protocol,
		.prefix_len = spec->prefix_len,
		.v6 = spec->addr.family == AF_INET6,
	};
	if (entry.record.v6)
		memcpy(entry.record.addr, &spec->addr.v6, sizeof(spec->addr.v6));
	else
		memcpy(entry.record.addr, &spec->addr.v4, sizeof(spec->addr.v4));
	return emit(m, &entry);
}

static int emit_home(struct maker *m, struct home *home)
{
	size_t i;
	int rc = make_group(m, home);

	if (!rc)
		rc = emit_address(m, home);
	if (!rc)
		rc = emit_fragments(m, home);
	for (i = 0; i < home->n_vips && !rc; i++)
		rc = emit_vip(m, &home->vips[i]);
	return rc;
}

static void mark_old_groups(struct maker *m)
{
	size_t i;

	for (i = 0; i < m->old->n; i++) {
		const struct vip_entry *entry = &m->old->list[i];

		if (entry->map == VIP_MAP_SERVICES)
			m->groups[vip_entry_service_key(entry).group] = GROUP_OLD;
		else if (vip_entry_is_address(entry))
			m->groups[entry->vip.id] = GROUP_OLD;
	}
}

int services_make(const struct plan_vip *vips, size_t n_vips,
		  const struct vip_entries *old, uint16_t *last_group,
		  struct vip_entries *out, struct err *err)
{
	_cleanup_free_ struct home *homes = calloc(n_vips + 1, sizeof(*homes));
	_cleanup_free_ uint8_t *groups = calloc(GROUPS, sizeof(*groups));
	struct vip_entries made = { 0 };
	struct maker m = { .old = old, .homes = homes, .groups = groups, .out = &made,
			   .last_group = last_group, .err = err };
	size_t i;
	int rc = 0;

	if (!homes || !groups)
		return out_of_memory(&m);
	mark_old_groups(&m);
	find_homes(&m, vips, n_vips);
	for (i = 0; i < m.n_homes && !rc; i++)
		rc = emit_home(&m, &homes[i]);
	free(m.segments);
	free(m.blocks);
	if (rc) {
		vip_entries_clear(&made);
		return rc;
	}
	vip_entries_sort(&made);
	*out = made;
	return 0;
}
