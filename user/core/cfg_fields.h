/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef FAIRLEAD_CFG_FIELDS_H
#define FAIRLEAD_CFG_FIELDS_H

/*
 * Every key of the configuration that has a plain value, in one list for each
 * object: how text becomes the value and the value JSON. The reader of files,
 * the options of commands and the writer all go by these lists, so a key is
 * defined once. Private to cfg*.c, as are the helpers below.
 */

#include "cfg.h"

struct json_t;
struct reader;

struct cfg_field {
	const char *key;
	/* Checks what can be checked of the value alone. */
	int (*set)(void *object, const char *text, struct err *err);
	/* JSON null when it is the default and need not be said; NULL: no memory. */
	struct json_t *(*get)(const void *object);
	/* Of a list of values: one more. Then set has all of them in one text. */
	int (*add)(void *object, const char *text, struct err *err);
	/*
	 * Of a mapping: its keys, all of them required, with the same object. Then
	 * set has the whole in one text, too.
	 */
	const struct cfg_field *fields;
	/* In a file it may be more than text: reads all of it, as in cfg_reader.h. */
	int (*read)(struct reader *r, void *object);
	/* Says which object it is: the argument of a command, not an option. */
	bool identity;
};

/* Each list ends with an entry without key. The object is in brackets. */
extern const struct cfg_field cfg_file_fields[];    /* struct cfg */
extern const struct cfg_field cfg_tunnel_fields[];  /* struct cfg */
extern const struct cfg_field cfg_pool_fields[];    /* struct cfg_pool */
extern const struct cfg_field cfg_vip_fields[];     /* struct cfg_vip */
extern const struct cfg_field cfg_vip_quic_fields[]; /* struct cfg_vip */
extern const struct cfg_field cfg_backend_fields[]; /* struct cfg_backend */

/* Letters, digits, '.', '_' and '-': never the text of a VIP. */
int cfg_pool_name_check(const char *name, struct err *err);
int cfg_table_size_check(uint32_t size, struct err *err);
/* Of a backend; in cfg_fields_quic.c, as is what a VIP says of QUIC. */
int cfg_backend_set_server_id(void *backend, const char *text, struct err *err);
struct json_t *cfg_backend_get_server_id(const void *backend);
/* 0 to 15, or -1. */
int cfg_hex_digit(char c);
/* The field's setter, for the command that has the address as its argument. */
int cfg_backend_set_address(void *backend, const char *text, struct err *err);

/* Index of the word, or -EINVAL with the list of words. */
int cfg_parse_word(const char *text, const char *what, const char *const *words,
		   size_t n, struct err *err);
/* Of a pool, or of a backend, whose default is an address: that may have ':'. */
int cfg_name_check(const char *name, const char *what, bool colon,
		   struct err *err);
/* An address that may be one end of a tunnel. */
int cfg_parse_tunnel_end(const char *text, const char *what, struct addr *out,
			 struct err *err);
/* JSON null for an address that is not set. */
struct json_t *cfg_addr_json(const struct addr *addr);

/* "key, key, key" into text, which must hold CFG_KEYS_MAX. */
#define CFG_KEYS_MAX 480
void cfg_keys_add(char *text, const char *key);

/* -ENOENT with the names there are. */
int cfg_require_pool(const struct cfg *cfg, const char *name, struct err *err);

/* Defaults in place, no name yet. */
struct cfg_pool cfg_pool_default(void);
struct cfg_vip cfg_vip_default(void);
struct cfg_backend cfg_backend_default(void);
/* The name that a backend has when it is given none. */
void cfg_backend_default_name(struct cfg_backend *backend);
void cfg_pool_clear(struct cfg_pool *pool);
#define _cleanup_cfg_pool_ __attribute__((cleanup(cfg_pool_clear)))
/* A copy that owns its lists. -ENOMEM or 0. */
int cfg_vip_copy(const struct cfg_vip *vip, struct cfg_vip *out);
void cfg_vip_clear(struct cfg_vip *vip);
#define _cleanup_cfg_vip_ __attribute__((cleanup(cfg_vip_clear)))

/*
 * Append, or insert in order when the configuration is sorted. Pool and VIP are
 * copied; what they own changes hands when 0 is returned, and is empty then.
 * -EINVAL at the limits of include/abi.h. Arrays have room for the next power of
 * two of their number, which only these and cfg_clone see to.
 */
int cfg_add_pool(struct cfg *cfg, struct cfg_pool *pool, struct err *err);
int cfg_add_vip(struct cfg *cfg, struct cfg_vip *vip, struct err *err);
int cfg_add_backend(struct cfg_pool *pool, const struct cfg_backend *backend,
		    struct err *err);
void cfg_remove_pool(struct cfg *cfg, struct cfg_pool *pool);
void cfg_remove_vip(struct cfg *cfg, struct cfg_vip *vip);
void cfg_remove_backend(struct cfg_pool *pool, struct cfg_backend *backend);

/* No two VIPs share ports in part; a part of cfg_check. */
int cfg_check_ranges(const struct cfg *cfg, struct err *err);
/* What crosses the options of VIPs, which are sorted; a part of cfg_check. */
int cfg_check_vip_options(struct cfg *cfg, struct err *err);

/* Checks, and the VIPs of their pools; a part of cfg_check. */
int cfg_check_health(const struct cfg *cfg, struct err *err);

/* Server ids, and VIPs that route by them; a part of cfg_check. */
int cfg_check_quic(const struct cfg *cfg, struct err *err);

#endif
