// SPDX-License-Identifier: GPL-2.0-only
/* QUIC-LB: what a VIP says of connection ids, and the server id of a backend. */
#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "cfg_fields.h"
#include "cfg_fields_vip.h"
#include "num.h"
#include "quote.h"

static int set_config_id(void *object, const char *text, struct err *err)
{
	struct cfg_vip *vip = object;
	uint16_t value;
	int rc = parse_u16(text, "config_id", 0, QUIC_CONFIG_ID_MAX, &value, err);

	if (rc < 0)
		return rc;
	vip->quic_config_id = value;
	return 0;
}

static int set_server_id_length(void *object, const char *text, struct err *err)
{
	struct cfg_vip *vip = object;
	uint16_t value;
	int rc = parse_u16(text, "server_id_length", 1, QUIC_SERVER_ID_MAX, &value, err);

	if (rc < 0)
		return rc;
	vip->quic_server_id_length = value;
	return 0;
}

/* What is written is the whole, cfg_vip_get_quic. */
const struct cfg_field cfg_vip_quic_fields[] = {
	{ .key = "config_id", .set = set_config_id },
	{ .key = "server_id_length", .set = set_server_id_length },
	{ .key = NULL },
};

/* As a command has it: "CONFIG_ID:LENGTH", or "none". */
int cfg_vip_set_quic(void *object, const char *text, struct err *err)
{
	const char *colon = strchr(text, ':');
	struct cfg_vip *vip = object;
	char config_id[16] = "";
	int rc;

	if (!strcmp(text, "none")) {
		vip->quic_config_id = vip->quic_server_id_length = 0;
		return 0;
	}
	if (!colon || colon - text >= (int)sizeof(config_id))
		return err_set(err, -EINVAL,
			       "quic is %s; allowed: CONFIG_ID:SERVER_ID_LENGTH, or none",
			       QUOTE(text));
	memcpy(config_id, text, colon - text);
	rc = set_config_id(vip, config_id, err);
	return rc < 0 ? rc : set_server_id_length(vip, colon + 1, err);
}

json_t *cfg_vip_get_quic(const void *object)
{
	const struct cfg_vip *vip = object;

	if (!vip->quic_server_id_length)
		return json_null();
	return json_pack("{s:i, s:i}", "config_id", (int)vip->quic_config_id,
			 "server_id_length", (int)vip->quic_server_id_length);
}

int cfg_backend_set_server_id(void *object, const char *text, struct err *err)
{
	struct cfg_backend *backend = object;
	uint8_t id[QUIC_SERVER_ID_MAX] = { 0 };
	size_t digits = strcmp(text, "none") ? strlen(text) : 0;
	size_t known = strspn(text, "0123456789abcdefABCDEF");

	if (strcmp(text, "none") &&
	    (!digits || digits % 2 || digits > 2 * sizeof(id) || known != digits))
		return err_set(err, -EINVAL,
			       "server_id %s is no server id; allowed: 1 to %zu bytes, "
			       "two hexadecimal digits each, or none",
			       QUOTE(text), sizeof(id));

	for (size_t i = 0; i < digits; i++)
		id[i / 2] = id[i / 2] << 4 | cfg_hex_digit(text[i]);
	memcpy(backend->server_id, id, sizeof(id));
	backend->server_id_length = digits / 2;
	return 0;
}

json_t *cfg_backend_get_server_id(const void *object)
{
	const struct cfg_backend *backend = object;
	char text[2 * QUIC_SERVER_ID_MAX + 1];

	if (!backend->server_id_length)
		return json_null();
	for (size_t i = 0; i < backend->server_id_length; i++)
		snprintf(text + 2 * i, 3, "%02x", backend->server_id[i]);
	return json_string(text);
}
