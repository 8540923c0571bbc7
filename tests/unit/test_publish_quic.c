// SPDX-License-Identifier: GPL-2.0-only
/*
 * Server ids of QUIC VIPs in commits: after every single element that is written
 * a packet with a server id goes where it went before, or where it is to go, and
 * never to a backend whose id means another by then.
 */
#include "publish_change.h"

#define HEAD "interface: eth0\nvips:\n- address: 203.0.113.1:443/udp\n"
#define SIMPLE(id) "  quic: {config_id: 1, server_id_length: " id "}\n"

/* From any of them to any other. */
static const char *const configs[] = {
	"interface: eth0\n",
	HEAD "  backends: [{address: 10.1.0.11}, {address: 10.1.0.12}]\n",
	HEAD SIMPLE("1") "  backends: [{address: 10.1.0.11, server_id: 01},\n"
			 "    {address: 10.1.0.12, server_id: 02}]\n",
	/* exchanged */
	HEAD SIMPLE("1") "  backends: [{address: 10.1.0.11, server_id: 02},\n"
			 "    {address: 10.1.0.12, server_id: 01}]\n",
	/* another length */
	HEAD SIMPLE("2") "  backends: [{address: 10.1.0.11, server_id: 0101},\n"
			 "    {address: 10.1.0.12, server_id: 0202}]\n",
	/* one is taken away, and has nobody in its place */
	HEAD SIMPLE("1") "  backends: [{address: 10.1.0.11, server_id: 01}]\n",
	/* one is taken away, and another has its server id */
	HEAD SIMPLE("1") "  backends: [{address: 10.1.0.11, server_id: 01},\n"
			 "    {address: 10.1.0.13, server_id: 02}]\n",
	/* one stays, and has no server id any more */
	HEAD SIMPLE("1") "  backends: [{address: 10.1.0.11, server_id: 01},\n"
			 "    {address: 10.1.0.12}]\n",
	/* one is taken away, and another VIP has it */
	HEAD SIMPLE("1") "  backends: [{address: 10.1.0.11, server_id: 01}]\n"
			 "- address: 203.0.113.2:443/udp\n"
			 "  backends: [{address: 10.1.0.12}]\n",
	/* in another VIP as well, over GUE */
	HEAD SIMPLE("1") "  encap: gue\n"
			 "  backends: [{address: 10.1.0.11, server_id: 01}]\n"
			 "- address: 203.0.113.2:443/udp\n" SIMPLE("1")
			 "  backends: [{address: 10.1.0.12, server_id: 01}]\n",
};
#define CONFIGS (sizeof(configs) / sizeof(*configs))

static const char *const vips[] = { "203.0.113.1:443/udp", "203.0.113.2:443/udp" };
static const uint8_t ids[][2] = { { 1, 1 }, { 2, 2 } };
#define VIPS 2
#define SERVERS 2

/* Where a packet goes; family 0: by the tuple. */
struct sight {
	struct backend_ident at[VIPS][SERVERS];
};

static struct {
	struct sight old, new;
	unsigned int steps;
} watch;

static void one_packet(const char *text, const uint8_t *id, struct backend_ident *out)
{
	struct quic_server_key key = { 0 };
	struct vip_entry entry;
	const struct fake_server *server;
	const struct vip *vip;
	struct vip_spec spec;

	*out = (struct backend_ident){ 0 };
	assert_int_equal(vip_spec_parse(text, &spec, NULL), 0);
	entry = vip_entry_hashed(&spec.addr, spec.port, spec.protocol);
	vip = fake_entry(&entry);
	if (!vip || !(vip->flags & VIP_QUIC))
		return;
	key.vip = vip->id;
	key.length = QUIC_SERVER_ID_LENGTH(vip->quic);
	memcpy(key.id, id, key.length);
	server = fake_server(&key, sizeof(key));
	if (server->backend)
		assert_true(outer_ident(&fake.backends[server->backend], out));
}

static struct sight look(void)
{
	struct sight sight;

	for (int v = 0; v < VIPS; v++)
		for (int s = 0; s < SERVERS; s++)
			one_packet(vips[v], ids[s], &sight.at[v][s]);
	return sight;
}

static bool same(const struct backend_ident *a, const struct backend_ident *b)
{
	return backend_ident_compare(a, b) == 0;
}

static void old_or_new(void)
{
	struct sight now = look();

	watch.steps++;
	for (int v = 0; v < VIPS; v++)
		for (int s = 0; s < SERVERS; s++)
			assert_true(same(&now.at[v][s], &watch.old.at[v][s]) ||
				    same(&now.at[v][s], &watch.new.at[v][s]));
}

/* What the plan says, from the plan alone. */
static struct sight planned(const struct plan *plan)
{
	struct sight sight = { 0 };

	for (int v = 0; v < VIPS; v++) {
		const struct plan_vip *vip = vip_of(plan, vips[v]);

		for (int s = 0; vip && vip->options.flags & VIP_QUIC && s < SERVERS; s++) {
			struct quic_server_key key = { .vip = vip->id };
			uint16_t id;

			key.length = QUIC_SERVER_ID_LENGTH(vip->options.quic);
			memcpy(key.id, ids[s], key.length);
			id = plan_find_server(plan, &key);
			for (size_t i = 0; id && i < plan->n_backends; i++)
				if (plan->backends[i].id == id)
					sight.at[v][s] = plan->backends[i].ident;
		}
	}
	return sight;
}

static size_t servers_in_map(void)
{
	size_t i, n = 0;

	for (i = 0; i < FAKE_SERVERS; i++)
		n += fake.servers[i].backend != 0;
	return n;
}

static int watched_change(struct kernel *k, const struct plan *from, const struct plan *to)
{
	watch.old = look();
	watch.new = planned(to);
	fake_after_write = old_or_new;
	return change(k, from, to);
}

static void expect(const struct plan *plan)
{
	struct sight now = look(), wanted = planned(plan);

	for (int v = 0; v < VIPS; v++)
		for (int s = 0; s < SERVERS; s++)
			assert_true(same(&now.at[v][s], &wanted.at[v][s]));
	assert_int_equal(servers_in_map(), plan->n_servers);
}

static void quic_packets_go_where_they_went_or_are_to_go(void **state)
{
	(void)state;
	watch.steps = 0;
	for (size_t a = 0; a < CONFIGS; a++)
		for (size_t b = 0; b < CONFIGS; b++) {
			_cleanup_plan_ struct plan *none = empty_plan();
			_cleanup_plan_ struct plan *from = must_plan_yaml(configs[a], none);
			_cleanup_plan_ struct plan *to = must_plan_yaml(configs[b], from);
			struct kernel k = new_kernel();

			assert_int_equal(change(&k, none, from), 0);
			assert_int_equal(watched_change(&k, from, to), 0);
			expect(to);
			kernel_release(&k);
		}
	assert_true(watch.steps > 100);
}

/* Wherever it fails, and half of what was to be written is. */
static void failed_change_leaves_the_server_ids_as_they_were(void **state)
{
	unsigned int failures = 0;

	(void)state;
	for (size_t a = 0; a < CONFIGS; a++)
		for (size_t b = 0; b < CONFIGS; b++)
			for (unsigned int at = 1; at < 20; at++) {
				_cleanup_plan_ struct plan *none = empty_plan();
				_cleanup_plan_ struct plan *from =
					must_plan_yaml(configs[a], none);
				_cleanup_plan_ struct plan *to =
					must_plan_yaml(configs[b], from);
				struct kernel k = new_kernel();

				assert_int_equal(change(&k, none, from), 0);
				fake_ops = 0;
				fake_fail_at = at;
				if (watched_change(&k, from, to)) {
					fake_fail_at = 0;
					failures++;
					expect(from);
				}
				fake_fail_at = 0;
				kernel_release(&k);
			}
	assert_true(failures > CONFIGS * CONFIGS);
}

static uint16_t owner(const struct plan *plan, uint8_t id)
{
	struct quic_server_key key = { .vip = vip_of(plan, vips[0])->id, .length = 1,
				       .id = { id } };

	return plan_find_server(plan, &key);
}

static void backend_that_is_taken_away_keeps_its_server_id_until_released(void **state)
{
	_cleanup_plan_ struct plan *none = empty_plan();
	_cleanup_plan_ struct plan *both = must_plan_yaml(configs[2], none);
	_cleanup_plan_ struct plan *one = must_plan_yaml(configs[5], both);
	_cleanup_plan_ struct plan *still = must_plan_yaml(configs[5], one);
	_cleanup_plan_ struct plan *released = NULL;

	(void)state;
	assert_int_equal(owner(both, 2), backend_id(both, "10.1.0.12"));
	assert_int_equal(owner(one, 2), backend_id(both, "10.1.0.12"));
	assert_int_equal(owner(still, 2), backend_id(both, "10.1.0.12"));
	assert_int_equal(plan_release(still, NULL, drop_all, NULL, &released, NULL), 0);
	assert_int_equal(owner(released, 1), backend_id(both, "10.1.0.11"));
	assert_int_equal(owner(released, 2), 0);
}

static bool drop_none(void *context, uint16_t vip, uint16_t backend)
{
	(void)context, (void)vip, (void)backend;
	return false;
}

static void backend_that_only_its_vip_has_lost_keeps_its_server_id(void **state)
{
	_cleanup_plan_ struct plan *none = empty_plan();
	_cleanup_plan_ struct plan *both = must_plan_yaml(configs[2], none);
	_cleanup_plan_ struct plan *one = must_plan_yaml(configs[8], both);
	_cleanup_plan_ struct plan *kept = NULL;
	_cleanup_plan_ struct plan *released = NULL;

	(void)state;
	assert_int_equal(owner(one, 2), backend_id(both, "10.1.0.12"));
	assert_int_equal(plan_release(one, NULL, drop_none, NULL, &kept, NULL), 0);
	assert_int_equal(owner(kept, 2), backend_id(both, "10.1.0.12"));
	assert_int_equal(plan_release(kept, NULL, drop_all, NULL, &released, NULL), 0);
	assert_int_equal(owner(released, 2), 0);
}

static void server_id_of_a_backend_taken_away_may_be_given_to_another(void **state)
{
	_cleanup_plan_ struct plan *none = empty_plan();
	_cleanup_plan_ struct plan *both = must_plan_yaml(configs[2], none);
	_cleanup_plan_ struct plan *another = must_plan_yaml(configs[6], both);

	(void)state;
	assert_int_equal(owner(another, 2), backend_id(another, "10.1.0.13"));
	assert_int_not_equal(owner(another, 2), 0);
}

static void server_id_taken_from_a_backend_that_stays_is_gone(void **state)
{
	_cleanup_plan_ struct plan *none = empty_plan();
	_cleanup_plan_ struct plan *both = must_plan_yaml(configs[2], none);
	_cleanup_plan_ struct plan *without = must_plan_yaml(configs[7], both);

	(void)state;
	assert_int_equal(owner(without, 2), 0);
}

static void same_server_ids_again_write_none(void **state)
{
	_cleanup_plan_ struct plan *none = empty_plan();
	_cleanup_plan_ struct plan *plan = must_plan_yaml(configs[2], none);
	_cleanup_plan_ struct plan *again = must_plan_yaml(configs[2], plan);
	struct kernel k = new_kernel();

	(void)state;
	assert_int_equal(change(&k, none, plan), 0);
	fake_writes = 0;
	assert_int_equal(change(&k, plan, again), 0);
	assert_int_equal(fake_writes, 0);
	kernel_release(&k);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(quic_packets_go_where_they_went_or_are_to_go),
		cmocka_unit_test(failed_change_leaves_the_server_ids_as_they_were),
		cmocka_unit_test(
			backend_that_is_taken_away_keeps_its_server_id_until_released),
		cmocka_unit_test(backend_that_only_its_vip_has_lost_keeps_its_server_id),
		cmocka_unit_test(server_id_of_a_backend_taken_away_may_be_given_to_another),
		cmocka_unit_test(server_id_taken_from_a_backend_that_stays_is_gone),
		cmocka_unit_test(same_server_ids_again_write_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
