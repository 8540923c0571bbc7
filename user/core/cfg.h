/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef FAIRLEAD_CFG_H
#define FAIRLEAD_CFG_H

/*
 * The configuration as one value: what the operator wants, and nothing of what
 * the machine has made of it. Pure: no fd, no clock, no global. A reload and a
 * command edit both make a new struct cfg, check it whole, and hand it to the
 * daemon's one way of applying; the old one stays untouched until then.
 *
 *   cfg --> pools[] --> backends[]      each VIP names one pool
 *       \-> vips[]  --> pool name
 *
 * A VIP that lists its own backends has a private pool, named as the VIP is
 * ("203.0.113.10:443/tcp") and marked `private`; it is written inside the VIP
 * again when saved. A named pool is shared by any number of VIPs.
 */

#include <net/if.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "abi.h"
#include "addr.h"
#include "check.h"
#include "err.h"
#include "outer.h"
#include "prefix.h"
#include "vip_spec.h"

#define CFG_NAME_MAX 127 /* of pools and backends */
#define CFG_WEIGHT_MAX 65535
#define CFG_FLOWS_MIN 1024
#define CFG_FLOWS_MAX (256 * 1024 * 1024)
/* RFC 4787, REQ-5: what a NAT should keep a UDP mapping for, at the least */
#define CFG_UDP_IDLE_DEFAULT 300
/* RFC 5382, REQ-5: an established TCP connection may be idle for 2 h 4 min. */
#define CFG_TCP_IDLE_DEFAULT 7440
/* What the clock of the flows reaches: FLOW_IDLE_MAX ticks, less one. */
#define CFG_IDLE_MAX ((FLOW_IDLE_MAX - 2) * FLOW_TICK_SECONDS)
#define CFG_QUORUM_MAX 1000000000
#define CFG_NEW_FLOWS_MAX 1000000000
#define CFG_ICMP_RATE_DEFAULT 10000
#define CFG_ICMP_RATE_MAX 1000000
#define CFG_PUBLISH_DEFAULT 100 /* ms */
#define CFG_CHECK_USER_DEFAULT "nobody"
#define CFG_CHECK_USER_MAX 32
#define CFG_INITIAL_TIMEOUT_DEFAULT 30000 /* ms */
#define CFG_FILE_SIZE_MAX (64 * 1024 * 1024)

/* Where in its file an object stands; line 0 when it came from a command. */
struct cfg_pos {
	unsigned int line, column;
};

enum attach_mode {
	ATTACH_AUTO,    /* native, else generic with a warning */
	ATTACH_NATIVE,  /* or fail */
	ATTACH_GENERIC, /* or fail */
	ATTACH__MAX,
};

/* What the operator wants of a backend, whatever its health. */
enum admin_state {
	ADMIN_UP,
	ADMIN_DRAIN, /* known flows only; its slots are lent to others */
	ADMIN_DOWN,  /* nothing: known flows are chosen again, too */
	ADMIN__MAX,
};

/* What becomes of new flows when no backend of a pool is usable. */
enum all_down {
	ALL_DOWN_ALL,  /* as if all were (fail open), but for ADMIN_DRAIN and _DOWN */
	ALL_DOWN_DROP, /* drop them */
	ALL_DOWN__MAX,
};

struct cfg_backend {
	char name[CFG_NAME_MAX + 1]; /* default: the address's canonical text */
	struct addr addr;
	uint32_t weight; /* 0: known flows only */
	enum admin_state state;
	/* What QUIC servers write into connection ids; length 0: it has none. */
	uint8_t server_id[QUIC_SERVER_ID_MAX];
	uint8_t server_id_length;
	struct cfg_pos pos;
};

struct cfg_pool {
	char name[CFG_NAME_MAX + 1];
	bool private;
	uint8_t encap;       /* enum encap in include/abi.h */
	uint16_t gue_port;   /* host order; used when encap is gue */
	uint32_t table_size; /* prime */
	uint8_t algorithm;   /* enum table_algorithm in table.h */
	uint8_t slack;       /* capped: percent above the fair share */
	uint16_t ring_points; /* ring: points a unit of weight */
	enum all_down all_down;
	struct check check; /* owned; kind CHECK_NONE: no check */
	struct cfg_pos check_pos;
	bool initial_up;    /* what an unknown backend counts as */
	/* ms; 0: never, off */
	uint32_t initial_timeout, slow_start, damping_half_life;
	uint32_t damping_suppress, damping_reuse; /* penalty, see health.h */
	uint8_t panic_threshold; /* percent of weight; 0: never */
	uint32_t quorum, quorum_hysteresis; /* weight */
	uint32_t drain_timeout; /* s, of a removed backend; 0: until its flows end */
	struct cfg_backend *backends;
	size_t n_backends;
	struct cfg_pos pos;
};

struct cfg_vip {
	struct vip_spec spec;
	char pool[CFG_NAME_MAX + 1];
	uint8_t hash_mode;  /* enum hash_mode in include/abi.h */
	bool echo;          /* echo requests to the address are answered */
	bool tcp_junk;      /* impossible TCP flags are let through */
	bool fragment_hash; /* all fragments by the 3-tuple, in any order */
	bool oversize;      /* without DF: send what exceeds the MTU */
	bool keep_down;     /* on_down: keep: flows of a backend that is down stay */
	uint32_t tcp_idle_timeout, udp_idle_timeout; /* s; 0: never */
	uint32_t new_flow_limit;   /* a second and CPU; 0: none */
	/* QUIC-LB; length 0: not by connection id. */
	uint8_t quic_config_id, quic_server_id_length;
	/* Sources; the most specific wins. Sorted once checked; owned. */
	struct prefix_list allow, deny;
	struct cfg_pos pos;
};

struct cfg {
	char file[256]; /* for messages; "" when not from a file */
	char interface[IF_NAMESIZE];
	struct cfg_pos interface_pos;
	enum attach_mode attach;
	bool dispatcher; /* share the interface through libxdp's dispatcher */
	bool has_hash_key;
	uint8_t hash_key[16];
	/* Of each family, over all CPUs, or of each; both 0: what suits the machine */
	uint32_t flows, flows_per_cpu;
	enum flow_form conntrack;
	uint32_t icmp_rate; /* answers of each kind a second and CPU; 0: none */
	uint32_t publish_interval; /* ms between changes of tables by health */
	bool check_exec;           /* commands as checks are allowed */
	char check_user[CFG_CHECK_USER_MAX + 1]; /* whom fairlead-check runs as */
	struct cfg_pos check_user_pos;
	struct tunnel_source tunnel_source4; /* unset: what the route says */
	struct tunnel_source tunnel_source6;
	struct cfg_pool *pools; /* sorted by name once checked */
	size_t n_pools;
	struct cfg_vip *vips; /* sorted by spec once checked */
	size_t n_vips;
	bool sorted; /* they are; set by cfg_check and kept by edits */
};

/* One option of a command, as typed: {"weight", "2"}. */
struct cfg_option {
	const char *key, *value;
};

/* Frees *cfg and sets it to NULL. */
void cfg_free(struct cfg **cfg);
#define _cleanup_cfg_ __attribute__((cleanup(cfg_free)))

/* An empty configuration with every default in place. -ENOMEM or 0. */
int cfg_new(struct cfg **out, struct err *err);
/* Deep copy. */
int cfg_clone(const struct cfg *cfg, struct cfg **out, struct err *err);

/*
 * YAML text to a checked configuration. `file` is only for messages, which
 * read "FILE:LINE:COLUMN: sentence". Every key is known, no key twice; no
 * anchors, aliases, tags or second documents. -EINVAL or -ENOMEM.
 */
int cfg_parse_yaml(const char *text, size_t length, const char *file,
		   struct cfg **out, struct err *err);
/* The same from a file on disk; at most 64 MiB. Also the errno of reading. */
int cfg_load_file(const char *path, struct cfg **out, struct err *err);

/*
 * What crosses objects: names unique, pools exist, table sizes prime and at
 * least the number of backends, limits of include/abi.h. Sorts pools, VIPs and
 * backends. cfg_parse_yaml calls it; whoever edits calls it again.
 */
int cfg_check(struct cfg *cfg, struct err *err);
/*
 * Conditions that are allowed but worth a word (a table smaller than 100 slots
 * a backend, no hash key, a backend with the address of a VIP). Calls warn once
 * for each. *cfg is sorted.
 */
void cfg_warnings(const struct cfg *cfg,
		  void (*warn)(void *context, const char *text), void *context);

/*
 * Edits behind the commands. They change *cfg in place and may leave it half
 * changed on failure: edit a clone, cfg_check it, and drop it when it fails.
 * `target` of the backend edits is a VIP with a private pool, or a pool name;
 * `which` is a backend's name or address.
 *
 * -EEXIST, -ENOENT (VIP, pool or backend), -EINVAL (all else), -ENOMEM. A VIP
 * that is deleted, or that takes a named pool, drops its private one; it may
 * not take a named pool while the private one has backends. The keys of a named
 * pool change only in the file.
 */
int cfg_vip_add(struct cfg *cfg, const char *vip, const struct cfg_option *options,
		size_t n_options, struct err *err);
int cfg_vip_set(struct cfg *cfg, const char *vip, const struct cfg_option *options,
		size_t n_options, struct err *err);
int cfg_vip_del(struct cfg *cfg, const char *vip, struct err *err);
int cfg_backend_add(struct cfg *cfg, const char *target, const char *address,
		    const struct cfg_option *options, size_t n_options,
		    struct err *err);
int cfg_backend_set(struct cfg *cfg, const char *target, const char *which,
		    const struct cfg_option *options, size_t n_options,
		    struct err *err);
int cfg_backend_del(struct cfg *cfg, const char *target, const char *which,
		    struct err *err);

/* What the table builders want to know of a pool. */
struct table_params;
void cfg_table_params(const struct cfg_pool *pool, struct table_params *out);
/* Puts "FILE:LINE:COLUMN: " in front when the position is in a file. */
void cfg_err_place(const struct cfg *cfg, struct cfg_pos pos, struct err *err);

/* Does any pool have one? */
bool cfg_has_checks(const struct cfg *cfg);

struct cfg_pool *cfg_find_pool(const struct cfg *cfg, const char *name);
struct cfg_vip *cfg_find_vip(const struct cfg *cfg, const struct vip_spec *spec);

/*
 * The configuration as JSON with the keys of the YAML file, in file order, and
 * the YAML text itself; values that are their defaults are left out. The caller
 * owns both (json_decref, free). They hold the hash key, which is a secret.
 */
struct json_t;
struct json_t *cfg_to_json(const struct cfg *cfg);
int cfg_to_yaml(const struct cfg *cfg, char **text, struct err *err);

/* The options of a VIP, those that have their defaults as well. */
struct json_t *cfg_vip_options_json(const struct cfg_vip *vip);

const char *admin_state_name(enum admin_state state);
const char *all_down_name(enum all_down policy);
const char *encap_name(unsigned int encap);
const char *hash_mode_name(unsigned int mode);
/* GUE of either variant: has a UDP port. */
bool encap_has_port(unsigned int encap);
const char *attach_mode_name(enum attach_mode mode);
const char *flow_form_name(enum flow_form form);

#endif
