/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CHECK_TESTING_H
#define CHECK_TESTING_H

/* A check that has every member, whether or not one kind uses them all. */

#include <stdlib.h>
#include <string.h>

#include "core/check.h"

static inline void full_check(struct check *check)
{
	*check = (struct check){
		.kind = CHECK_HTTPS,
		.via = CHECK_VIA_VIP,
		.interval = 1000,
		.fast_interval = 300,
		.timeout = 500,
		.jitter = 20,
		.rise = 4,
		.fall = 5,
		.port = 8443,
		.path = strdup("/health"),
		.host = strdup("www.example.com:8443"),
		.method = strdup("HEAD"),
		.status_min = 200,
		.status_max = 399,
		.body = strdup("all \"well\"\n\xc3\xa9"),
		.tls_verify = true,
		.sni = strdup("sni.example.com"),
		.ca_file = strdup("/ca.pem"),
		.cert_file = strdup("/cert.pem"),
		.key_file = strdup("/key.pem"),
		.weight_header = strdup("X-Weight"),
		.weight_json = strdup("load.weight"),
		.send = strdup("PING\r\n"),
		.receive = strdup("+PONG"),
		.args = { strdup("/bin/check"), strdup("-x") },
		.n_args = 2,
	};
}

#endif
