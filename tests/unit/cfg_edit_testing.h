/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef FAIRLEAD_TESTS_CFG_EDIT_TESTING_H
#define FAIRLEAD_TESTS_CFG_EDIT_TESTING_H

/* The edits behind the commands, as the daemon makes them: on a clone. */

#include "cfg_testing.h"

#include <errno.h>

static const char base[] = "interface: eth0\n"
			   "pools:\n"
			   "  web:\n"
			   "    table_size: 251\n"
			   "    backends:\n"
			   "    - address: 10.1.0.11\n"
			   "      name: web-1\n"
			   "    - address: 10.1.0.12\n"
			   "    - address: 10.1.0.13\n"
			   "      name: 10.1.0.99\n"
			   "  api: {}\n"
			   "vips:\n"
			   "- address: 203.0.113.10:443/tcp\n"
			   "  pool: web\n"
			   "- address: 203.0.113.11:443/tcp\n"
			   "  encap: gue\n"
			   "  backends:\n"
			   "  - address: 10.2.0.1\n"
			   "- address: 203.0.113.12:443/tcp\n";

#define SHARED "203.0.113.10:443/tcp"
#define OWN    "203.0.113.11:443/tcp"
#define EMPTY  "203.0.113.12:443/tcp"
#define NEW    "203.0.113.9:80/udp"

enum verb { VIP_ADD, VIP_SET, VIP_DEL, BACKEND_ADD, BACKEND_SET, BACKEND_DEL };

struct edit {
	enum verb verb;
	const char *target, *which;
	struct cfg_option options[4];
};

static inline int apply(struct cfg *cfg, const struct edit *e, struct err *err)
{
	size_t n = 0;

	while (n < ARRAY_SIZE(e->options) && e->options[n].key)
		n++;
	switch (e->verb) {
	case VIP_ADD:
		return cfg_vip_add(cfg, e->target, e->options, n, err);
	case VIP_SET:
		return cfg_vip_set(cfg, e->target, e->options, n, err);
	case VIP_DEL:
		return cfg_vip_del(cfg, e->target, err);
	case BACKEND_ADD:
		return cfg_backend_add(cfg, e->target, e->which, e->options, n,
				       err);
	case BACKEND_SET:
		return cfg_backend_set(cfg, e->target, e->which, e->options, n,
				       err);
	case BACKEND_DEL:
		return cfg_backend_del(cfg, e->target, e->which, err);
	}
	return -EINVAL;
}

#endif
