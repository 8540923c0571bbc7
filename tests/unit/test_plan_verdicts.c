// SPDX-License-Identifier: GPL-2.0-only
/* What becomes of the known flows of each VIP, where several share a backend. */
#include "verdicts_testing.h"

#define WEB "203.0.113.1:80/tcp"
#define ALT "203.0.113.1:53/udp"

/* Two services; both list 10.0.0.1 unless the options say otherwise. */
#define SERVICES(web, alt)                                                       \
	"interface: eth0\n"                                                     \
	"pools:\n"                                                              \
	"  web: {table_size: 251, " web "}\n"                                   \
	"  alt: {table_size: 251, all_down: drop, " alt "}\n"                   \
	"vips: [{address: \"" WEB "\", pool: web}, {address: \"" ALT "\", pool: alt}]\n"
#define BOTH "backends: [{address: 10.0.0.1}, {address: 10.0.0.2}]"
#define FIRST "backends: [{address: 10.0.0.1}]"
#define SECOND "backends: [{address: 10.0.0.2}]"

/* Who fails the checks of which pool: of the first backend. */
struct news {
	bool web_fails, alt_fails;
	bool alt_keeps; /* while it fails: nothing is known of it */
	uint16_t drained_vip, drained_backend;
};

static void ask(void *context, const struct cfg_pool *pool, const struct way *way,
		const struct cfg_backend *backend, struct plan_backend_health *out)
{
	const struct news *news = context;
	bool web = !strcmp(pool->name, "web");
	bool fails = strcmp(backend->name, "10.0.0.1") ? false :
		     web ? news->web_fails : news->alt_fails;

	(void)way;
	*out = (struct plan_backend_health){
		.state = backend->state == ADMIN_DOWN || fails ? EFFECTIVE_DOWN :
			 backend->state == ADMIN_DRAIN ? EFFECTIVE_DRAIN : EFFECTIVE_UP,
		.share = HEALTH_SHARE_FULL,
		.keeps_flows = !web && news->alt_keeps,
	};
}

static bool has_drained(void *context, uint16_t vip, uint16_t backend)
{
	const struct news *news = context;

	return vip == news->drained_vip && backend == news->drained_backend;
}

static struct plan *plan_in(const char *yaml, struct news *news, const struct plan *old)
{
	struct plan_health health = { ask, news, has_drained };
	struct cfg *cfg = must_parse(yaml);
	struct plan *plan = NULL;
	struct err err = { 0 };

	if (plan_make(&cfg, old, &health, &plan, &err))
		fail_msg("%s", err.text);
	return plan;
}

static const struct plan_verdict *verdict_of(const struct plan *plan, const char *vip)
{
	return plan_find_verdict(plan, vip_of(plan, vip)->id, backend_id(plan, "10.0.0.1"));
}

static const struct plan_backend *first_of(const struct plan *plan)
{
	const struct plan_backend *first = &plan->backends[0];

	assert_int_equal(first->id, backend_id(plan, "10.0.0.1"));
	return first;
}

/* As a packet of a known flow of the VIP finds the first backend. */
static uint8_t use_by(const struct plan *plan, const char *vip)
{
	const struct plan_verdict *verdict = verdict_of(plan, vip);

	return verdict ? verdict->use : first_of(plan)->use;
}

static void each_vip_goes_by_the_checks_of_its_own_pool(void **state)
{
	static const struct {
		struct news news;
		uint8_t web, alt, own, verdicts;
	} rows[] = {
		{ { 0 }, USE_UP, USE_UP, USE_UP, VERDICTS_NONE },
		{ { .alt_fails = true }, USE_UP, USE_FAILED, USE_UP, VERDICTS_PART },
		{ { .web_fails = true }, USE_FAILED, USE_UP, USE_UP, VERDICTS_PART },
		{ { .web_fails = true, .alt_fails = true }, USE_FAILED, USE_FAILED,
		  USE_FAILED, VERDICTS_NONE },
		/* Nothing is known of it yet: its flows stay. */
		{ { .alt_fails = true, .alt_keeps = true }, USE_UP, USE_UP, USE_UP,
		  VERDICTS_NONE },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct news news = rows[i].news;
		_cleanup_plan_ struct plan *none = empty_plan();
		_cleanup_plan_ struct plan *plan = plan_in(SERVICES(BOTH, BOTH), &news, none);

		assert_int_equal(use_by(plan, WEB), rows[i].web);
		assert_int_equal(use_by(plan, ALT), rows[i].alt);
		assert_int_equal(first_of(plan)->use, rows[i].own);
		assert_int_equal(first_of(plan)->verdicts, rows[i].verdicts);
		assert_int_equal(plan->n_verdicts, rows[i].verdicts != VERDICTS_NONE);
		assert_int_equal(plan->verdicts_left_out, 0);
	}
}

static void operators_word_is_of_the_pool_that_it_was_said_of(void **state)
{
	struct news news = { 0 };
	_cleanup_plan_ struct plan *none = empty_plan();
	_cleanup_plan_ struct plan *plan = plan_in(
		SERVICES(BOTH, "backends: [{address: 10.0.0.1, state: down}]"), &news, none);
	_cleanup_plan_ struct plan *drain = plan_in(
		SERVICES(BOTH, "backends: [{address: 10.0.0.1, state: drain}]"), &news, plan);

	(void)state;
	assert_int_equal(use_by(plan, WEB), USE_UP);
	assert_int_equal(use_by(plan, ALT), USE_DOWN);
	/* Known flows stay in both: nothing needs an entry. */
	assert_int_equal(drain->n_verdicts, 0);
}

/* Nobody has flows by it. */
static void pool_without_a_vip_is_not_asked(void **state)
{
	struct news news = { .alt_fails = true };
	_cleanup_plan_ struct plan *none = empty_plan();
	_cleanup_plan_ struct plan *plan = plan_in(
		"interface: eth0\npools: {web: {" FIRST "}, alt: {all_down: drop, " BOTH "}}\n"
		"vips: [{address: \"" ALT "\", pool: alt}]\n", &news, none);

	(void)state;
	assert_int_equal(first_of(plan)->use, USE_FAILED);
	assert_int_equal(plan->n_verdicts, 0);
}

/* Whatever the checks of a pool say that still lists it. */
static void leaver_keeps_the_flows_of_the_vip_that_it_left(void **state)
{
	struct news news = { .alt_fails = true };
	_cleanup_plan_ struct plan *none = empty_plan();
	_cleanup_plan_ struct plan *before = plan_in(SERVICES(BOTH, BOTH), &news, none);
	_cleanup_plan_ struct plan *after = plan_in(SERVICES(SECOND, BOTH), &news, before);
	_cleanup_plan_ struct plan *later = NULL;

	(void)state;
	assert_int_equal(use_by(after, WEB), USE_DRAIN);
	assert_int_equal(use_by(after, ALT), USE_FAILED);
	assert_true(verdict_of(after, WEB)->left);
	assert_false(verdict_of(after, ALT)->left);

	news.alt_fails = false;
	later = plan_in(SERVICES(SECOND, BOTH), &news, after);
	assert_int_equal(use_by(later, WEB), USE_DRAIN);
	assert_int_equal(use_by(later, ALT), USE_UP);
	/* Straight code does for both. */
	assert_int_equal(first_of(later)->verdicts, VERDICTS_ALIKE);
}

static void leaver_that_was_dead_stays_so(void **state)
{
	struct news news = { .web_fails = true };
	_cleanup_plan_ struct plan *none = empty_plan();
	_cleanup_plan_ struct plan *before = plan_in(SERVICES(BOTH, BOTH), &news, none);
	_cleanup_plan_ struct plan *after = plan_in(SERVICES(SECOND, BOTH), &news, before);
	_cleanup_plan_ struct plan *nowhere = plan_in(SERVICES(SECOND, SECOND), &news, after);
	_cleanup_plan_ struct plan *still = plan_in(SERVICES(SECOND, SECOND), &news, nowhere);

	(void)state;
	assert_int_equal(use_by(after, WEB), USE_FAILED);
	assert_int_equal(use_by(after, ALT), USE_UP);
	assert_int_equal(use_by(nowhere, WEB), USE_FAILED);
	assert_int_equal(use_by(nowhere, ALT), USE_DRAIN);
	assert_int_equal(use_by(still, WEB), USE_FAILED);
	assert_int_equal(use_by(still, ALT), USE_DRAIN);
}

static void leaver_that_comes_back_is_none(void **state)
{
	struct news news = { 0 };
	_cleanup_plan_ struct plan *none = empty_plan();
	_cleanup_plan_ struct plan *before = plan_in(SERVICES(BOTH, BOTH), &news, none);
	_cleanup_plan_ struct plan *after = plan_in(SERVICES(SECOND, BOTH), &news, before);
	_cleanup_plan_ struct plan *back = plan_in(SERVICES(BOTH, BOTH), &news, after);

	(void)state;
	assert_int_equal(after->n_verdicts, 1);
	assert_int_equal(back->n_verdicts, 0);
	assert_int_equal(first_of(back)->verdicts, VERDICTS_NONE);
}

static void vip_that_changes_its_pool_leaves_all_of_the_old(void **state)
{
	static const char *const moved =
		"interface: eth0\npools: {web: {" SECOND "}, alt: {" BOTH "}}\n"
		"vips: [{address: \"" WEB "\", pool: web}, {address: \"" ALT "\", pool: web}]\n";
	struct news news = { 0 };
	_cleanup_plan_ struct plan *none = empty_plan();
	_cleanup_plan_ struct plan *before = plan_in(SERVICES(SECOND, BOTH), &news, none);
	_cleanup_plan_ struct plan *after = plan_in(moved, &news, before);

	(void)state;
	assert_int_equal(after->n_verdicts, 1);
	assert_true(verdict_of(after, ALT)->left);
	assert_int_equal(use_by(after, ALT), USE_DRAIN);
}

static void leaver_drains_for_as_long_as_its_pool_said(void **state)
{
	struct news news = { 0 };
	_cleanup_plan_ struct plan *none = empty_plan();
	_cleanup_plan_ struct plan *before =
		plan_in(SERVICES("drain_timeout: 2s, " BOTH, BOTH), &news, none);
	_cleanup_plan_ struct plan *after = plan_in(SERVICES(SECOND, BOTH), &news, before);
	_cleanup_plan_ struct plan *drained = NULL;
	_cleanup_plan_ struct plan *nowhere = NULL;

	(void)state;
	assert_int_equal(verdict_of(after, WEB)->drain_timeout, 2);
	news.drained_vip = vip_of(after, WEB)->id;
	news.drained_backend = backend_id(after, "10.0.0.1");
	drained = plan_in(SERVICES(SECOND, BOTH), &news, after);
	assert_int_equal(use_by(drained, WEB), USE_DOWN);
	assert_int_equal(use_by(drained, ALT), USE_UP);
	assert_int_equal(first_of(drained)->verdicts, VERDICTS_PART);
	assert_int_equal(verdict_of(drained, WEB)->drain_timeout, 2);

	/* And it is out of all pools: those that had no timeout drain on. */
	nowhere = plan_in(SERVICES(SECOND, SECOND), &news, drained);
	assert_int_equal(use_by(nowhere, WEB), USE_DOWN);
	assert_int_equal(use_by(nowhere, ALT), USE_DRAIN);
}

/* Of two pools, each has its own time. */
static void removed_from_all_pools_drains_for_each_as_it_said(void **state)
{
	struct news news = { 0 };
	_cleanup_plan_ struct plan *none = empty_plan();
	_cleanup_plan_ struct plan *before = plan_in(
		SERVICES("drain_timeout: 2s, " BOTH, "drain_timeout: 60s, " BOTH), &news, none);
	_cleanup_plan_ struct plan *after = plan_in(SERVICES(SECOND, SECOND), &news, before);

	(void)state;
	assert_int_equal(first_of(after)->drain_timeout, 60);
	assert_int_equal(verdict_of(after, WEB)->drain_timeout, 2);
	assert_int_equal(verdict_of(after, ALT)->drain_timeout, 60);
}

/* One time for all, where all pools had the same. */
static void removed_from_all_pools_has_drained_for_all(void **state)
{
	struct news news = { 0 };
	_cleanup_plan_ struct plan *none = empty_plan();
	_cleanup_plan_ struct plan *before = plan_in(
		SERVICES("drain_timeout: 2s, " BOTH, "drain_timeout: 2s, " BOTH), &news, none);
	_cleanup_plan_ struct plan *after = plan_in(SERVICES(SECOND, SECOND), &news, before);
	_cleanup_plan_ struct plan *drained = NULL;
	_cleanup_plan_ struct plan *still = NULL;

	(void)state;
	assert_int_equal(use_by(after, WEB), USE_DRAIN);
	news.drained_backend = backend_id(after, "10.0.0.1");
	drained = plan_in(SERVICES(SECOND, SECOND), &news, after);
	still = plan_in(SERVICES(SECOND, SECOND), &news, drained);
	assert_int_equal(use_by(drained, WEB), USE_DOWN);
	assert_int_equal(use_by(still, WEB), USE_DOWN);
	assert_int_equal(use_by(still, ALT), USE_DOWN);
}

/* A pool of others that lists it again has no say over them. */
static void backend_that_was_in_no_pool_keeps_the_flows_of_then(void **state)
{
	struct news news = { .alt_fails = true };
	_cleanup_plan_ struct plan *none = empty_plan();
	_cleanup_plan_ struct plan *before = plan_in(SERVICES(BOTH, SECOND), &news, none);
	_cleanup_plan_ struct plan *nowhere = plan_in(SERVICES(SECOND, SECOND), &news, before);
	_cleanup_plan_ struct plan *again = plan_in(SERVICES(SECOND, BOTH), &news, nowhere);

	(void)state;
	assert_int_equal(use_by(nowhere, WEB), USE_DRAIN);
	assert_int_equal(first_of(nowhere)->verdicts, VERDICTS_ALIKE);
	assert_int_equal(use_by(again, WEB), USE_DRAIN);
	assert_int_equal(use_by(again, ALT), USE_FAILED);
}

static bool drop_web(void *context, uint16_t vip, uint16_t backend)
{
	(void)backend;
	return vip == *(uint16_t *)context;
}

static void leaver_without_flows_is_let_go(void **state)
{
	struct news news = { 0 };
	struct plan_health health = { ask, &news, NULL };
	_cleanup_plan_ struct plan *none = empty_plan();
	_cleanup_plan_ struct plan *before = plan_in(SERVICES(BOTH, BOTH), &news, none);
	_cleanup_plan_ struct plan *after = plan_in(SERVICES(SECOND, BOTH), &news, before);
	_cleanup_plan_ struct plan *released = NULL;
	_cleanup_plan_ struct plan *kept = NULL;
	uint16_t web = vip_of(after, WEB)->id, other = 999;

	(void)state;
	assert_int_equal(plan_release(after, &health, drop_web, &other, &kept, NULL), 0);
	assert_int_equal(kept->n_verdicts, 1);
	assert_int_equal(plan_release(after, &health, drop_web, &web, &released, NULL), 0);
	assert_int_equal(released->n_verdicts, 0);
	assert_int_equal(first_of(released)->verdicts, VERDICTS_NONE);
}

static void vip_with_the_id_of_a_removed_one_inherits_nothing(void **state)
{
	static const char *const alone =
		"interface: eth0\npools: {web: {" SECOND "}, alt: {" BOTH "}}\n"
		"vips: [{address: \"" ALT "\", pool: alt}]\n";
	struct news news = { 0 };
	_cleanup_plan_ struct plan *none = empty_plan();
	_cleanup_plan_ struct plan *before = plan_in(SERVICES(BOTH, BOTH), &news, none);
	_cleanup_plan_ struct plan *left = plan_in(SERVICES(SECOND, BOTH), &news, before);
	_cleanup_plan_ struct plan *gone = plan_in(alone, &news, left);
	_cleanup_plan_ struct plan *again = NULL;

	(void)state;
	assert_int_equal(left->n_verdicts, 1);
	assert_int_equal(gone->n_verdicts, 0);
	gone->last_vip = vip_of(left, WEB)->id - 1;
	again = plan_in(SERVICES(SECOND, BOTH), &news, gone);
	assert_int_equal(vip_of(again, WEB)->id, vip_of(left, WEB)->id);
	assert_int_equal(again->n_verdicts, 0);
}

/* A plan that was read from the maps has entries, and tables without content. */
static void entries_of_another_daemon_go_on(void **state)
{
	struct news news = { .alt_fails = true };
	_cleanup_plan_ struct plan *none = empty_plan();
	_cleanup_plan_ struct plan *before = plan_in(SERVICES(BOTH, BOTH), &news, none);
	_cleanup_plan_ struct plan *left = plan_in(SERVICES(SECOND, BOTH), &news, before);
	_cleanup_plan_ struct plan *next = NULL;

	(void)state;
	for (size_t i = 0; i < left->n_verdicts; i++)
		left->verdicts[i].left = false;
	for (size_t i = 0; i < left->n_tables; i++) {
		left->tables[i].known = false;
		left->tables[i].n_members = 0;
	}
	next = plan_in(SERVICES(SECOND, BOTH), &news, left);
	assert_int_equal(next->n_verdicts, 2);
	assert_true(verdict_of(next, WEB)->left);
	assert_int_equal(use_by(next, WEB), USE_DRAIN);
	assert_int_equal(use_by(next, ALT), USE_FAILED);
}

/* Who had slots is found in the maps, and nothing else of the tables. */
static void backend_that_left_between_two_daemons_keeps_its_flows(void **state)
{
	struct news news = { 0 };
	_cleanup_plan_ struct plan *none = empty_plan();
	_cleanup_plan_ struct plan *before = plan_in(SERVICES(BOTH, BOTH), &news, none);
	_cleanup_plan_ struct plan *after = NULL;

	(void)state;
	for (size_t i = 0; i < before->n_tables; i++)
		before->tables[i].known = false;
	for (size_t i = 0; i < before->n_vips; i++)
		before->vips[i].drain_timeout = 0;
	news.alt_fails = true;
	after = plan_in(SERVICES(SECOND, BOTH), &news, before);
	assert_int_equal(after->n_verdicts, 2);
	assert_int_equal(use_by(after, WEB), USE_DRAIN);
	assert_int_equal(use_by(after, ALT), USE_FAILED);
}

static bool drop_all(void *context, uint16_t vip, uint16_t backend)
{
	(void)context, (void)vip, (void)backend;
	return true;
}

static void compare_with_model(const struct sick_world *w, const struct plan *plan)
{
	for (int v = 0; v < WORLD_VIPS; v++)
		for (int b = 0; b < WORLD_BACKENDS; b++)
			for (int p = 0; p < MODEL_PORTS; p++) {
				const struct plan_backend *backend = sick_backend(plan, b, p);
				const struct plan_verdict *verdict;

				if (w->use[v][b][p] == MODEL_NONE)
					continue;
				assert_non_null(backend);
				verdict = plan_find_verdict(plan,
							    vip_of(plan, world_vips[v])->id,
							    backend->id);
				assert_int_equal(fate_of(verdict ? verdict->use : backend->use),
						 fate_of(w->use[v][b][p]));
			}
}

/* No flow is left of what is in no pool, or was. */
static void forget_leavers(struct sick_world *w)
{
	for (int v = 0; v < WORLD_VIPS; v++)
		for (int b = 0; b < WORLD_BACKENDS; b++)
			for (int p = 0; p < MODEL_PORTS; p++) {
				int pool = w->world.vip_pool[v];

				if (pool < 0 || w->world.pools[pool].weight[b] < 0 ||
				    number_of_port(w->world.pools[pool].gue_port) != p)
					w->use[v][b][p] = MODEL_NONE;
			}
}

static struct plan *released(struct sick_world *w, const struct plan *plan)
{
	struct plan_health health = { .ask = sick_ask, .context = w };
	struct plan *next = NULL;

	assert_int_equal(plan_release(plan, &health, drop_all, NULL, &next, NULL), 0);
	forget_leavers(w);
	return next;
}

/* Each verdict is of somebody, and each backend knows whether it has any. */
static size_t check_verdicts(const struct plan *plan)
{
	for (size_t i = 0; i < plan->n_backends; i++) {
		const struct plan_backend *backend = &plan->backends[i];
		size_t n = 0;
		bool part = false;

		for (size_t j = 0; j < plan->n_verdicts; j++) {
			if (plan->verdicts[j].backend != backend->id)
				continue;
			n++;
			part = part || fate_of(plan->verdicts[j].use) != fate_of(backend->use);
		}
		assert_int_equal(backend->verdicts,
				 part ? VERDICTS_PART : n ? VERDICTS_ALIKE : VERDICTS_NONE);
	}
	return plan->n_verdicts;
}

static void flows_fare_as_the_model_says(void **state)
{
	size_t verdicts = 0;

	(void)state;
	for (int seed = 1; seed <= 60; seed++) {
		struct plan *plan = empty_plan(), *next;
		struct sick_world w;

		sick_start(&w, seed);
		for (int i = 0; i < 80; i++) {
			if (i && world_below(&w.world, 12) == 0) {
				next = released(&w, plan);
			} else {
				sick_edit(&w);
				next = sick_plan(&w, plan);
				sick_follow(&w);
			}
			compare_with_model(&w, next);
			verdicts += check_verdicts(next);
			plan_free(&plan);
			plan = next;
		}
		plan_free(&plan);
	}
	assert_true(verdicts > 5000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_vip_goes_by_the_checks_of_its_own_pool),
		cmocka_unit_test(operators_word_is_of_the_pool_that_it_was_said_of),
		cmocka_unit_test(pool_without_a_vip_is_not_asked),
		cmocka_unit_test(leaver_keeps_the_flows_of_the_vip_that_it_left),
		cmocka_unit_test(leaver_that_was_dead_stays_so),
		cmocka_unit_test(leaver_that_comes_back_is_none),
		cmocka_unit_test(vip_that_changes_its_pool_leaves_all_of_the_old),
		cmocka_unit_test(leaver_drains_for_as_long_as_its_pool_said),
		cmocka_unit_test(removed_from_all_pools_drains_for_each_as_it_said),
		cmocka_unit_test(removed_from_all_pools_has_drained_for_all),
		cmocka_unit_test(backend_that_was_in_no_pool_keeps_the_flows_of_then),
		cmocka_unit_test(leaver_without_flows_is_let_go),
		cmocka_unit_test(vip_with_the_id_of_a_removed_one_inherits_nothing),
		cmocka_unit_test(entries_of_another_daemon_go_on),
		cmocka_unit_test(backend_that_left_between_two_daemons_keeps_its_flows),
		cmocka_unit_test(flows_fare_as_the_model_says),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
