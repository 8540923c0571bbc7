// SPDX-License-Identifier: GPL-2.0-only
/* Options of VIPs, from what the operator says to what packets look up. */
#include <errno.h>
#include <stdlib.h>

#include "plan.h"

#define NEVER UINT32_MAX
#define TICK_BITS 30 /* of ns, as struct flow's seen */

static uint32_t seconds_to_ticks(uint32_t seconds)
{
	uint64_t ns = seconds * 1000000000ULL;

	return seconds ? (ns + (1ULL << TICK_BITS) - 1) >> TICK_BITS : NEVER;
}

static struct vip make_options(const struct cfg_vip *vip)
{
	struct vip options = {
		.hash_mode = vip->hash_mode,
		.udp_idle = seconds_to_ticks(vip->udp_idle_timeout),
		.new_flow_cap = vip->new_flow_limit,
	};

	if (!vip->echo)
		options.flags |= VIP_NO_ECHO;
	if (vip->tcp_junk)
		options.flags |= VIP_TCP_JUNK;
	if (vip->fragment_hash)
		options.flags |= VIP_FRAGMENT_HASH;
	if (vip->oversize)
		options.flags |= VIP_OVERSIZE;
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
