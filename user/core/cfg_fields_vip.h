/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef FAIRLEAD_CFG_FIELDS_VIP_H
#define FAIRLEAD_CFG_FIELDS_VIP_H

/* The options that a VIP has beside its pool. Private to cfg*.c. */

struct err;
struct json_t;

/* In the order in which a saved file has them. */
#define CFG_VIP_OPTIONS(X)                                                  \
	X(hash) X(echo) X(tcp_junk) X(fragments) X(oversize) X(on_down)     \
	X(tcp_idle_timeout) X(udp_idle_timeout) X(new_flow_limit)

/* Mappings: by key in a file, or all in one text. */
#define CFG_VIP_MAPPINGS(X) X(quic)

/* Lists of prefixes: each value of a list, or all in one text. */
#define CFG_VIP_LISTS(X) X(allow) X(deny)

#define CFG_DECLARE(name)                                                       \
	int cfg_vip_set_##name(void *object, const char *text, struct err *err); \
	struct json_t *cfg_vip_get_##name(const void *object);
#define CFG_DECLARE_LIST(name) \
	int cfg_vip_add_##name(void *object, const char *text, struct err *err);
CFG_VIP_OPTIONS(CFG_DECLARE)
CFG_VIP_MAPPINGS(CFG_DECLARE)
CFG_VIP_LISTS(CFG_DECLARE)
CFG_VIP_LISTS(CFG_DECLARE_LIST)
#undef CFG_DECLARE
#undef CFG_DECLARE_LIST

/* Entries of a list of fields. */
#define CFG_VIP_FIELD(name) \
	{ .key = #name, .set = cfg_vip_set_##name, .get = cfg_vip_get_##name },
#define CFG_VIP_MAPPING_FIELD(name)                                           \
	{ .key = #name, .set = cfg_vip_set_##name, .get = cfg_vip_get_##name, \
	  .fields = cfg_vip_##name##_fields },
#define CFG_VIP_LIST_FIELD(name)                                              \
	{ .key = #name, .set = cfg_vip_set_##name, .get = cfg_vip_get_##name, \
	  .add = cfg_vip_add_##name },

#endif
