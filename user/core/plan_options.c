// SPDX-License-Identifier: GPL-2.0-only
/* Options of VIPs, from what the operator says to what packets look up. */
#include <errno.h>
#include <stdlib.h>

#include "plan.h"

/* A flow lives at least so long, so the tick that runs is on top. */
static uint16_t seconds_to_ticks(uint32_t seconds)
{
	uint32_t ticks = (seconds + FLOW_TICK_SECONDS - 1) / FLOW_TICK_SECONDS + 1;

	return seconds && ticks < FLOW_IDLE_MAX ? ticks : FLOW_IDLE_MAX;
}

/* Flows of one address and protocol are told apart by their VIP and ports. */
static bool is_wide(const struct vip_spec *spec)
{
	return !spec->protocol || spec->prefix_len != addr_bits(&spec->addr);
}

static struct vip make_options(const struct cfg_vip *vip)
{
	uint16_t tcp_idle = seconds_to_ticks(vip->tcp_idle_timeout);
	struct vip options = {
		.hash_mode = vip->hash_mode,
		.idle = vip->spec.protocol == IPPROTO_TCP ?
				tcp_idle :
				seconds_to_ticks(vip->udp_idle_timeout),
		.tcp_idle = tcp_idle,
		.new_flow_cap = vip->new_flow_limit,
	};

	if (vip->new_flow_limit)
		options.flags |= VIP_CAP;
	if (vip->hash_mode != HASH_5_TUPLE)
		options.flags |= VIP_HASH_MODE;
	if (is_wide(&vip->spec))
		options.flags |= VIP_WIDE;
	if (!vip->echo)
		options.flags |= VIP_NO_ECHO;
	if (vip->tcp_junk)
		options.flags |= VIP_TCP_JUNK;
	if (vip->fragment_hash)
		options.flags |= VIP_FRAGMENT_HASH;
	if (vip->oversize)
		options.flags |= VIP_OVERSIZE;
	if (vip->keep_down)
		options.flags |= VIP_KEEP_DOWN;
	if (vip->quic_server_id_length) {
		options.flags |= VIP_QUIC;
		options.quic = QUIC_OPTION(vip->quic_config_id, vip->quic_server_id_length);
	}
	if (vip->allow.n || vip->deny.n)
		options.flags |= VIP_ACL;
	if (vip->allow.n)
		options.flags |= VIP_ACL_DENY;
	return options;
}

static void append_acls(struct plan *plan, uint16_t vip, const struct prefix_list *list,
			bool deny)
{
	size_t i;

	for (i = 0; i < list->n; i++)
		plan->acls[plan->n_acls++] = (struct plan_acl){
			.vip = vip, .deny = deny, .prefix = list->list[i] };
}

int plan_fill_options(struct plan *plan, const struct cfg *cfg, struct err *err)
{
	size_t i, n = 0;

	for (i = 0; i < cfg->n_vips; i++)
		n += cfg->vips[i].allow.n + cfg->vips[i].deny.n;
	plan->acls = calloc(n + 1, sizeof(*plan->acls));
	if (!plan->acls)
		return err_set(err, -ENOMEM, "out of memory");

	for (i = 0; i < cfg->n_vips; i++) {
		const struct cfg_vip *vip = &cfg->vips[i];

		plan->vips[i].options = make_options(vip);
		append_acls(plan, plan->vips[i].id, &vip->allow, false);
		append_acls(plan, plan->vips[i].id, &vip->deny, true);
	}
	return 0;
}

int plan_acl_compare(const struct plan_acl *a, const struct plan_acl *b)
{
	if (a->vip != b->vip)
		return a->vip < b->vip ? -1 : 1;
	return prefix_compare(&a->prefix, &b->prefix);
}
