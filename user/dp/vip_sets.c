// SPDX-License-Identifier: GPL-2.0-only
#include "vip_sets.h"

#include <errno.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "flow_mix.h"

#define OTHER_WAY (VIP_ACL | VIP_QUIC | VIP_WIDE)

static void *map_one(int fd, size_t size)
{
	void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	return memory == MAP_FAILED ? NULL : memory;
}

static void unmap_one(void *memory, size_t size)
{
	if (memory)
		munmap(memory, size);
}

#define SETS4_SIZE (VIP_SETS * sizeof(struct vip_set4))
#define SETS6_SIZE (VIP_SETS * sizeof(struct vip_set6))
#define FILTER_SIZE (VIP_FILTER_LINES * sizeof(struct vip_filter_line))

int vip_sets_map(int sets4, int sets6, int filter, uint64_t mix_key,
		 struct vip_sets *out, struct err *err)
{
	int rc;

	*out = (struct vip_sets){
		.sets4 = map_one(sets4, SETS4_SIZE),
		.sets6 = map_one(sets6, SETS6_SIZE),
		.filter = map_one(filter, FILTER_SIZE),
		.mix_key = mix_key,
	};
	if (out->sets4 && out->sets6 && out->filter)
		return 0;
	rc = -errno;
	vip_sets_unmap(out);
	return err_set(err, rc, "cannot map the sets of VIPs into memory: %s",
		       strerror(-rc));
}

void vip_sets_unmap(struct vip_sets *sets)
{
	unmap_one(sets->sets4, SETS4_SIZE);
	unmap_one(sets->sets6, SETS6_SIZE);
	unmap_one(sets->filter, FILTER_SIZE);
	*sets = (struct vip_sets){ 0 };
}

static void store64(void *to, uint64_t value)
{
	__atomic_store_n((uint64_t *)to, value, __ATOMIC_RELEASE);
}

static uint64_t brief_word(const struct vip *vip)
{
	uint64_t word;

	memcpy(&word, vip, sizeof(word));
	return word;
}

/* A way by what packets compare: three words, of which IPv4 has only the last. */
struct way {
	__u64 addr[2], service;
	uint32_t set;
};

static struct way way4(const struct vip_sets *sets, const uint8_t *key)
{
	struct way way = { 0 };

	memcpy(&way.service, key, sizeof(way.service));
	way.set = vip_mix4(sets->mix_key, way.service);
	return way;
}

static struct way way6(const struct vip_sets *sets, const uint8_t *bytes)
{
	struct vip_key6 key;
	struct way way = { 0 };

	memcpy(&key, bytes, sizeof(key));
	memcpy(way.addr, key.addr, sizeof(way.addr));
	way.service = key.port | (__u64)key.protocol << 16;
	way.set = vip_mix6(sets->mix_key, way.addr, way.service);
	return way;
}

static int find4(const struct vip_set4 *set, const struct way *way)
{
	int i;

	for (i = 0; i < VIP_WAYS; i++)
		if (set->key[i] == way->service)
			return i;
	return -1;
}

static int find6(const struct vip_set6 *set, const struct way *way)
{
	int i;

	for (i = 0; i < VIP_WAYS; i++)
		if (set->service[i] == way->service &&
		    (!way->service || (set->addr[0][i] == way->addr[0] &&
				       set->addr[1][i] == way->addr[1])))
			return i;
	return -1;
}

/* value 0: take it out. */
static bool put4(struct vip_sets *sets, const uint8_t *key, uint64_t value)
{
	static const struct way empty;
	struct way way = way4(sets, key);
	struct vip_set4 *set = &sets->sets4[way.set];
	int i = find4(set, &way);

	if (!value) {
		if (i >= 0)
			store64(&set->key[i], 0);
		return i >= 0;
	}
	if (i < 0)
		i = find4(set, &empty);
	if (i < 0)
		return false;
	store64(&set->vip[i], value);
	store64(&set->key[i], way.service);
	return false;
}

static bool put6(struct vip_sets *sets, const uint8_t *key, uint64_t value)
{
	static const struct way empty;
	struct way way = way6(sets, key);
	struct vip_set6 *set = &sets->sets6[way.set];
	int i = find6(set, &way);

	if (!value) {
		if (i >= 0)
			store64(&set->service[i], 0);
		return i >= 0;
	}
	if (i < 0)
		i = find6(set, &empty);
	if (i < 0)
		return false;
	store64(&set->vip[i], value);
	store64(&set->addr[0][i], way.addr[0]);
	store64(&set->addr[1][i], way.addr[1]);
	store64(&set->service[i], way.service);
	return false;
}

/* Plain packets have a port, and are TCP or UDP. */
static bool is_hashed_service(const struct vip_entry *entry)
{
	struct vip_key4 key4;
	struct vip_key6 key6;

	if (entry->map == VIP_MAP_VIPS4) {
		memcpy(&key4, entry->key, sizeof(key4));
		return key4.port &&
		       (key4.protocol == IPPROTO_TCP || key4.protocol == IPPROTO_UDP);
	}
	if (entry->map != VIP_MAP_VIPS6)
		return false;
	memcpy(&key6, entry->key, sizeof(key6));
	return key6.port && (key6.protocol == IPPROTO_TCP || key6.protocol == IPPROTO_UDP);
}

static bool put(struct vip_sets *sets, const struct vip_entry *entry, uint64_t value)
{
	if (!sets->sets4 || !is_hashed_service(entry))
		return false;
	return entry->map == VIP_MAP_VIPS4 ? put4(sets, entry->key, value) :
					     put6(sets, entry->key, value);
}

static uint64_t value_of(const struct vip_entry *entry)
{
	return entry->vip.flags & OTHER_WAY ? 0 : brief_word(&entry->vip);
}

bool vip_sets_write(struct vip_sets *sets, const struct vip_entry *entry)
{
	return put(sets, entry, value_of(entry));
}

bool vip_sets_delete(struct vip_sets *sets, const struct vip_entry *entry)
{
	return put(sets, entry, 0);
}

/* 0: the entries have no such VIP, or not for plain packets. */
static uint64_t wanted(const struct vip_entries *entries, const struct vip_entry *key)
{
	const struct vip_entry *entry = vip_entries_find(entries, key);

	return entry ? value_of(entry) : 0;
}

static void adopt_way4(struct vip_set4 *set, int i, const struct vip_entries *entries)
{
	struct vip_entry key = { .map = VIP_MAP_VIPS4 };
	uint64_t value;

	memcpy(key.key, &set->key[i], sizeof(set->key[i]));
	value = set->key[i] ? wanted(entries, &key) : 0;
	if (value)
		store64(&set->vip[i], value);
	else
		store64(&set->key[i], 0);
}

static void adopt_way6(struct vip_set6 *set, int i, const struct vip_entries *entries)
{
	struct vip_key6 key6 = { .port = set->service[i], .protocol = set->service[i] >> 16 };
	struct vip_entry key = { .map = VIP_MAP_VIPS6 };
	uint64_t value;

	memcpy(key6.addr, &set->addr[0][i], 8);
	memcpy(key6.addr + 8, &set->addr[1][i], 8);
	memcpy(key.key, &key6, sizeof(key6));
	value = set->service[i] ? wanted(entries, &key) : 0;
	if (value)
		store64(&set->vip[i], value);
	else
		store64(&set->service[i], 0);
}

void vip_sets_adopt(struct vip_sets *sets, const struct vip_entries *entries)
{
	size_t i;

	if (!sets->sets4)
		return;
	for (i = 0; i < VIP_SETS * VIP_WAYS; i++) {
		adopt_way4(&sets->sets4[i / VIP_WAYS], i % VIP_WAYS, entries);
		adopt_way6(&sets->sets6[i / VIP_WAYS], i % VIP_WAYS, entries);
	}
	for (i = 0; i < entries->n; i++)
		vip_sets_write(sets, &entries->list[i]);
	vip_filter_set(sets, entries);
}

static void filter_mark(const struct vip_sets *sets, const struct vip_entry *entry,
			struct vip_filter_line *filter)
{
	__u64 halves[2], mix;
	uint32_t bit, addr;

	if (entry->map == VIP_MAP_VIPS4) {
		memcpy(&addr, entry->key, sizeof(addr));
		mix = flow_mix(sets->mix_key, addr, 0);
	} else if (entry->map == VIP_MAP_VIPS6) {
		memcpy(halves, entry->key, sizeof(halves));
		mix = flow_mix(sets->mix_key, flow_mix_address(sets->mix_key, halves), 0);
	} else {
		return;
	}
	bit = flow_mix_index(mix, VIP_FILTER_BITS);
	filter[bit / 512].bits[bit / 64 % 8] |= 1ULL << bit % 64;
}

void vip_filter_add(struct vip_sets *sets, const struct vip_entries *entries)
{
	size_t i;

	for (i = 0; sets->filter && i < entries->n; i++)
		filter_mark(sets, &entries->list[i], sets->filter);
}

void vip_filter_set(struct vip_sets *sets, const struct vip_entries *entries)
{
	static struct vip_filter_line fresh[VIP_FILTER_LINES];
	size_t i, word;

	if (!sets->filter)
		return;
	memset(fresh, 0, sizeof(fresh));
	for (i = 0; i < entries->n; i++)
		filter_mark(sets, &entries->list[i], fresh);
	for (i = 0; i < VIP_FILTER_LINES; i++)
		for (word = 0; word < 8; word++)
			if (sets->filter[i].bits[word] != fresh[i].bits[word])
				store64(&sets->filter[i].bits[word], fresh[i].bits[word]);
}
