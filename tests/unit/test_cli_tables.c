// SPDX-License-Identifier: GPL-2.0-only
/* table show, compare and plan: of files, and of a daemon. */
#include "test_cli_fake.h"

#define WEB                                                       \
	"interface: eth0\npools:\n  web:\n    table_size: 251\n"  \
	"    backends:\n    - {address: 10.1.0.1, name: a}\n"     \
	"    - {address: 10.1.0.2, name: b, weight: 2}\n"         \
	"    - {address: 10.1.0.3, name: c}\n"
#define API                                                       \
	"  api:\n    table_size: 251\n    algorithm: ring\n"      \
	"    backends:\n    - {address: 10.2.0.1, name: x}\n"     \
	"    - {address: 10.2.0.2, name: y}\n"

struct place {
	char dir[64], old[96], new[96];
};

static void put_text(const char *path, const char *text)
{
	_cleanup_fclose_ FILE *file = fopen(path, "w");

	assert_non_null(file);
	assert_true(fputs(text, file) >= 0);
}

static void place_make(struct place *p, const char *old, const char *new)
{
	snprintf(p->dir, sizeof(p->dir), "/tmp/fairlead-test-XXXXXX");
	assert_non_null(mkdtemp(p->dir));
	snprintf(p->old, sizeof(p->old), "%s/old.yaml", p->dir);
	snprintf(p->new, sizeof(p->new), "%s/new.yaml", p->dir);
	put_text(p->old, old);
	if (new)
		put_text(p->new, new);
}

static void place_remove(struct place *p)
{
	unlink(p->old);
	unlink(p->new);
	rmdir(p->dir);
}
#define _cleanup_place_ _cleanup_(place_remove)

static void assert_out(const struct outcome *o, const char *expected)
{
	assert_string_equal(o->err, "");
	assert_int_equal(o->status, EXIT_OK);
	assert_string_equal(o->out, expected);
}

/* The digest that a table of the same parameters and names has anywhere. */
static uint64_t digest_of_web(void)
{
	static const struct table_backend set[] = {
		{ "c", 1 }, { "a", 1 }, { "b", 2 },
	};
	struct table_params params = { TABLE_MAGLEV, 251, 0, 0 };
	uint16_t slots[251];
	uint64_t digest = 0;

	assert_int_equal(table_build(&params, set, 3, slots, NULL), 0);
	assert_int_equal(table_digest_sorted(set, 3, slots, 251, &digest), 0);
	return digest;
}

static void show_tells_slots_and_shares_of_a_file(void **state)
{
	_cleanup_place_ struct place p = {};
	_cleanup_outcome_ struct outcome o = {};
	char expected[1024];

	(void)state;
	place_make(&p, WEB, NULL);
	o = fairlead("-o table show %s", p.old);
	snprintf(expected, sizeof(expected),
		 "pool web algorithm maglev slack - table_size 251 backends 3 "
		 "serving 3 method build max_mean 1.0040 digest %016" PRIx64 "\n"
		 "pool web name a weight 1 state up slots 63 share 25.100 "
		 "ideal 25.000 deviation 0.40\n"
		 "pool web name b weight 2 state up slots 125 share 49.801 "
		 "ideal 50.000 deviation -0.40\n"
		 "pool web name c weight 1 state up slots 63 share 25.100 "
		 "ideal 25.000 deviation 0.40\n",
		 digest_of_web());
	assert_out(&o, expected);
}

static void show_draws_a_bar_beside_each_share(void **state)
{
	_cleanup_place_ struct place p = {};
	_cleanup_outcome_ struct outcome o = {};
	const char *a, *b, *bar;
	size_t length;

	(void)state;
	place_make(&p, WEB, NULL);
	o = fairlead("table show %s", p.old);
	assert_int_equal(o.status, EXIT_OK);
	a = strstr(o.out, "\nweb   a ");
	b = strstr(o.out, "\nweb   b ");
	assert_non_null(a);
	assert_non_null(b);
	/* Nothing is wider than 100; the longest bar ends there. */
	length = strcspn(b + 1, "\n");
	assert_int_equal(length, 100);
	assert_int_equal(b[length], '|');
	bar = strchr(a, '#');
	assert_true(bar && bar < b);
	length = strspn(strchr(b, '#'), "#|");
	assert_in_range(strspn(bar, "#|"), length / 2, (length + 1) / 2);
}

static void the_drained_have_no_slots_and_no_ideal(void **state)
{
	_cleanup_place_ struct place p = {};
	_cleanup_outcome_ struct outcome o = {};

	(void)state;
	place_make(&p, WEB "    - {address: 10.1.0.9, name: z, state: drain}\n",
		   NULL);
	o = fairlead("-o table show %s", p.old);
	assert_int_equal(o.status, EXIT_OK);
	assert_contains(o.out, "backends 4 serving 3 method overlay");
	assert_contains(o.out, "name z weight 1 state drain slots 0 share 0.000 "
			       "ideal 0.000 deviation -\n");
}

static void show_of_no_pools_is_empty_lists(void **state)
{
	_cleanup_place_ struct place p = {};
	_cleanup_outcome_ struct outcome o = {};

	(void)state;
	place_make(&p, "interface: eth0\n", NULL);
	o = fairlead("-j table show %s", p.old);
	assert_out(&o, "{\"pools\":[],\"backends\":[]}\n");
}

#define LIVE_VIP(address)                                                \
	"{\"address\": \"" address "\", \"pool\": \"web\", \"encap\": "  \
	"\"ipip\", \"table_size\": 251, \"digest\": "                    \
	"\"0123456789abcdef\", \"algorithm\": \"capped\"}"
#define LIVE_BACKEND(pool, name, weight, slots)                          \
	"{\"pool\": " pool ", \"name\": \"" name "\", \"weight\": "      \
	#weight ", \"state\": \"up\", \"slots\": " #slots "}"

static struct outcome show_live(const char *vips, const char *backends)
{
	_cleanup_fake_ struct fake f = {};
	_cleanup_free_ char *one = NULL, *two = NULL;
	const char *replies[2];

	assert_true(asprintf(&one, FAKE_OK("{\"vips\": [%s]}"), vips) > 0);
	assert_true(asprintf(&two, FAKE_OK("{\"backends\": [%s]}"), backends) > 0);
	replies[0] = one;
	replies[1] = two;
	fake_start_replies(&f, FAKE_GREETING, replies, 2);
	return fairlead("-o table show --socket %s", f.path);
}

static void show_tells_what_the_daemon_has_published(void **state)
{
	_cleanup_outcome_ struct outcome o =
		show_live(LIVE_VIP("203.0.113.1:1/tcp") "," LIVE_VIP("203.0.113.1:2/tcp"),
			  LIVE_BACKEND("\"idle\"", "i", 1, 0) ","
			  LIVE_BACKEND("\"web\"", "a", 1, 100) ","
			  LIVE_BACKEND("\"web\"", "b", 1, 151) ","
			  LIVE_BACKEND("\"web\"", "c", 1, 0) ","
			  LIVE_BACKEND("null", "gone", 0, 0));

	(void)state;
	assert_out(&o,
		   "pool web algorithm capped slack - table_size 251 backends 3 "
		   "serving 2 method - max_mean 1.2032 digest 0123456789abcdef\n"
		   "pool idle algorithm - slack - table_size - backends 1 "
		   "serving 0 method - max_mean - digest -\n"
		   "pool web name a weight 1 state up slots 100 share 39.841 "
		   "ideal 50.000 deviation -20.32\n"
		   "pool web name b weight 1 state up slots 151 share 60.159 "
		   "ideal 50.000 deviation 20.32\n"
		   "pool web name c weight 1 state up slots 0 share 0.000 "
		   "ideal 0.000 deviation -\n"
		   "pool idle name i weight 1 state up slots 0 share - ideal - "
		   "deviation -\n");
}

static void an_answer_without_slots_is_not_understood(void **state)
{
	static const char *const bad[] = {
		"{\"pool\": \"web\", \"name\": \"a\", \"weight\": 1, "
		"\"state\": \"up\"}",
		LIVE_BACKEND("\"web\"", "a", 1, -1),
		LIVE_BACKEND("\"web\"", "a", 65536, 1),
		LIVE_BACKEND("\"web\"", "a", 1, "1"),
	};

	(void)state;
	for (size_t i = 0; i < N(bad); i++) {
		_cleanup_outcome_ struct outcome o = show_live("", bad[i]);

		assert_int_equal(o.status, EXIT_PROTOCOL);
		assert_string_equal(o.out, "");
		assert_contains(o.err, "to 'backend.show' is not understood");
	}
}

static void compare_tells_what_moves_and_who_gains(void **state)
{
	_cleanup_place_ struct place p = {};
	_cleanup_outcome_ struct outcome o = {}, all = {};

	(void)state;
	place_make(&p, WEB, WEB API);
	o = fairlead("-o table compare %s %s", p.old, p.new);
	assert_out(&o,
		   "pool api change added algorithm_old - algorithm_new ring "
		   "size_old - size_new 251 moved - percent - minimum - ratio -\n"
		   "pool web change same algorithm_old maglev algorithm_new "
		   "maglev size_old 251 size_new 251 moved 0 percent 0.00 "
		   "minimum 0 ratio 1.00\n");

	place_remove(&p);
	place_make(&p, WEB, WEB "    - {address: 10.1.0.4, name: d, weight: 0}\n");
	all = fairlead("-o table compare %s %s --all", p.old, p.new);
	assert_int_equal(all.status, EXIT_OK);
	assert_contains(all.out, "pool web name a weight_old 1 weight_new 1 "
				 "slots_old 63 slots_new 63 gained 0 lost 0\n");
	assert_contains(all.out, "pool web name d weight_old - weight_new 0 "
				 "slots_old - slots_new 0 gained 0 lost 0\n");
}

static void compare_leaves_out_who_keeps_what_it_had(void **state)
{
	_cleanup_place_ struct place p = {};
	_cleanup_outcome_ struct outcome o = {};

	(void)state;
	place_make(&p, WEB API,
		   "interface: eth0\npools:\n  api:\n    table_size: 251\n"
		   "    algorithm: ring\n    backends:\n"
		   "    - {address: 10.2.0.2, name: y}\n");
	o = fairlead("-o table compare %s %s", p.old, p.new);
	assert_int_equal(o.status, EXIT_OK);
	assert_contains(o.out, "pool web change removed");
	assert_contains(o.out, "pool api change changed");
	assert_contains(o.out, "name x weight_old 1 weight_new - ");
	/* x had 124 slots or so, y gets them and nothing else moves. */
	assert_contains(o.out, " ratio 1.00\n");
	assert_null(strstr(o.out, "pool web name"));
}

static void a_dash_is_what_the_daemon_runs(void **state)
{
	_cleanup_fake_ struct fake f = {};
	_cleanup_place_ struct place p = {};
	_cleanup_outcome_ struct outcome o = {};
	json_auto_t *request = NULL;

	(void)state;
	place_make(&p, WEB, NULL);
	fake_start(&f, FAKE_GREETING,
		   FAKE_OK("{\"yaml\": \"interface: eth0\\npools:\\n  web:\\n    "
			   "table_size: 251\\n    backends:\\n    - {address: "
			   "10.1.0.1, name: a}\\n\", \"file\": \"/x\"}"));
	o = fairlead("-o table compare - %s --socket %s", p.old, f.path);
	assert_int_equal(o.status, EXIT_OK);
	assert_contains(o.out, "name a weight_old 1 weight_new 1 slots_old 251 "
			       "slots_new 63 gained 0 lost 188\n");
	request = fake_request(&f);
	assert_string_equal(json_string_value(json_object_get(request, "verb")),
			    "save");
}

static void plan_tells_each_algorithm_side_by_side(void **state)
{
	static const struct {
		const char *algorithm;
		json_int_t slack; /* -1: null */
	} rows[] = {
		{ "maglev", -1 }, { "capped", 0 },	{ "capped", 1 },
		{ "ring", -1 },	  { "rendezvous", -1 },
	};
	_cleanup_place_ struct place p = {};
	_cleanup_outcome_ struct outcome o = {};
	json_auto_t *answer = NULL;
	json_t *list;

	(void)state;
	place_make(&p, WEB, NULL);
	o = fairlead("-j table plan %s --remove a --add d:3", p.old);
	assert_string_equal(o.err, "");
	assert_int_equal(o.status, EXIT_OK);
	answer = json_loads(o.out, 0, NULL);
	list = json_object_get(answer, "disruption");
	assert_int_equal(json_array_size(list), N(rows));
	assert_int_equal(json_array_size(json_object_get(answer, "balance")),
			 N(rows));
	for (size_t i = 0; i < N(rows); i++) {
		json_t *row = json_array_get(list, i);
		json_t *slack = json_object_get(row, "slack");
		json_int_t moved = json_integer_value(json_object_get(row, "moved"));
		json_int_t least =
			json_integer_value(json_object_get(row, "minimum"));

		assert_string_equal(
			json_string_value(json_object_get(row, "algorithm")),
			rows[i].algorithm);
		assert_true(rows[i].slack < 0 ?
				    json_is_null(slack) :
				    json_integer_value(slack) == rows[i].slack);
		assert_int_equal(json_is_true(json_object_get(row, "in_use")),
				 i == 0);
		/* d has half of the weight now. */
		assert_in_range(least, 90, 160);
		assert_in_range(moved, least, 251);
	}
	assert_contains(o.out, "{\"pool\":\"web\",\"change\":\"remove\",\"name\":"
			       "\"a\",\"weight_old\":1,\"weight_new\":null}");
	assert_contains(o.out, "{\"pool\":\"web\",\"change\":\"add\",\"name\":"
			       "\"d\",\"weight_old\":null,\"weight_new\":3}");
}

static void plan_has_the_figures_of_compare(void **state)
{
	_cleanup_place_ struct place p = {};
	_cleanup_outcome_ struct outcome plan = {}, compare = {};
	const char *figures;

	(void)state;
	place_make(&p, WEB, WEB "    - {address: 10.1.0.4, name: d, weight: 3}\n");
	plan = fairlead("-o table plan %s --add d:3", p.old);
	compare = fairlead("-o table compare %s %s", p.old, p.new);
	assert_int_equal(plan.status, EXIT_OK);
	assert_int_equal(compare.status, EXIT_OK);
	figures = strstr(compare.out, " moved ");
	assert_non_null(figures);
	*strchr(figures, '\n') = '\0';
	assert_contains(plan.out, figures);
}

static void a_failure_is_overlaid_and_rebuilt_for_comparison(void **state)
{
	_cleanup_place_ struct place p = {};
	_cleanup_outcome_ struct outcome o = {};

	(void)state;
	place_make(&p, WEB, NULL);
	o = fairlead("-o table plan %s --down 10.1.0.1", p.old);
	assert_int_equal(o.status, EXIT_OK);
	assert_contains(o.out, "pool web change down name a weight_old 1 "
			       "weight_new 1\n");
	assert_contains(o.out, "algorithm maglev slack - method overlay in_use "
			       "true moved 63 percent 25.10 minimum 63 ratio "
			       "1.00\n");
	assert_contains(o.out, "algorithm maglev slack - method rebuild in_use "
			       "true moved ");
}

static void plan_is_about_the_pools_that_change(void **state)
{
	_cleanup_place_ struct place p = {};
	_cleanup_outcome_ struct outcome one = {}, both = {}, none = {};

	(void)state;
	place_make(&p, WEB API, NULL);
	one = fairlead("-o table plan --remove=x %s", p.old);
	assert_int_equal(one.status, EXIT_OK);
	assert_contains(one.out, "pool api change remove name x");
	assert_null(strstr(one.out, "pool web"));
	both = fairlead("-o table plan %s --add d:1", p.old);
	assert_contains(both.out, "pool api change add name d");
	assert_contains(both.out, "pool web change add name d");
	none = fairlead("-o table plan %s --pool web", p.old);
	assert_int_equal(none.status, EXIT_OK);
	assert_contains(none.out, "pool web algorithm ring slack - method build "
				  "in_use false max_mean_old ");
	assert_null(strstr(none.out, "moved"));
	assert_null(strstr(none.out, "pool api"));
}

static void an_algorithm_that_cannot_is_warned_of(void **state)
{
	_cleanup_place_ struct place p = {};
	_cleanup_outcome_ struct outcome o = {};

	(void)state;
	place_make(&p,
		   "interface: eth0\npools:\n  web:\n    backends:\n"
		   "    - {address: 10.1.0.1, name: a, weight: 1}\n"
		   "    - {address: 10.1.0.2, name: b, weight: 1}\n",
		   NULL);
	/* 7 * 65535 points and 160 of each are above the limit of a ring. */
	o = fairlead("-o table plan %s --add c:65535 --add d:65535 --add "
		     "e:65535 --add f:65535 --add g:65535 --add h:65535 --add "
		     "i:65535",
		     p.old);
	assert_int_equal(o.status, EXIT_OK);
	assert_contains(o.err, "warning: pool 'web': ");
	assert_contains(o.out, "algorithm ring slack - method - in_use false "
			       "moved - percent - minimum - ratio -\n");
	assert_contains(o.out, "algorithm rendezvous slack - method build");
}

static void what_is_wrong_is_refused_with_what_there_is(void **state)
{
	static const struct {
		const char *words;
		int status;
		const char *sentence;
	} rows[] = {
		{ "plan FILE --remove z", EXIT_REFUSED,
		  "no pool has backend 'z'; pool 'api' has x, y; pool 'web' has "
		  "a, b, c" },
		{ "plan FILE --pool web --set z:1", EXIT_REFUSED,
		  "pool 'web' has no backend 'z'; there are: a, b, c" },
		{ "plan FILE --pool web --add a:1", EXIT_REFUSED,
		  "pool 'web' has backend 'a' already" },
		{ "plan FILE --pool nope", EXIT_REFUSED,
		  "there is no pool 'nope'; there are: api, web" },
		{ "plan FILE --add a", EXIT_USAGE, "--add: 'a' has no weight" },
		{ "plan FILE --add a:70000", EXIT_USAGE,
		  "--add: weight '70000' is out of range; allowed: 0 to 65535" },
		{ "plan FILE --down", EXIT_USAGE,
		  "option '--down' needs a value" },
		{ "plan FILE --pool a --pool b", EXIT_USAGE,
		  "option '--pool' stands twice" },
		{ "plan FILE --drop a", EXIT_USAGE,
		  "unknown option '--drop'; allowed: --pool, --remove, --add, "
		  "--set, --down" },
		{ "plan FILE FILE", EXIT_USAGE, "takes one file" },
		{ "plan FILE --all", EXIT_USAGE, "has no option --all" },
		{ "show /nonexistent/f", EXIT_REFUSED, "cannot open" },
		{ "compare FILE", EXIT_USAGE, "NEW is missing" },
		{ "compare FILE /nonexistent/f", EXIT_REFUSED, "cannot open" },
		{ "show --socket /nonexistent/s", EXIT_UNAVAILABLE, "" },
		{ "plan --socket /nonexistent/s", EXIT_UNAVAILABLE, "" },
		{ "compare - FILE --socket /nonexistent/s", EXIT_UNAVAILABLE,
		  "" },
	};
	_cleanup_place_ struct place p = {};

	(void)state;
	place_make(&p, WEB API, NULL);
	for (size_t i = 0; i < N(rows); i++) {
		_cleanup_outcome_ struct outcome o = {};
		char words[512] = "";
		const char *at = rows[i].words, *file;

		while ((file = strstr(at, "FILE"))) {
			strncat(words, at, (size_t)(file - at));
			strcat(words, p.old);
			at = file + 4;
		}
		strcat(words, at);
		o = fairlead("table %s", words);
		assert_int_equal(o.status, rows[i].status);
		assert_string_equal(o.out, "");
		assert_contains(o.err, rows[i].sentence);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(show_tells_slots_and_shares_of_a_file),
		cmocka_unit_test(show_draws_a_bar_beside_each_share),
		cmocka_unit_test(the_drained_have_no_slots_and_no_ideal),
		cmocka_unit_test(show_of_no_pools_is_empty_lists),
		cmocka_unit_test(show_tells_what_the_daemon_has_published),
		cmocka_unit_test(an_answer_without_slots_is_not_understood),
		cmocka_unit_test(compare_tells_what_moves_and_who_gains),
		cmocka_unit_test(compare_leaves_out_who_keeps_what_it_had),
		cmocka_unit_test(a_dash_is_what_the_daemon_runs),
		cmocka_unit_test(plan_tells_each_algorithm_side_by_side),
		cmocka_unit_test(plan_has_the_figures_of_compare),
		cmocka_unit_test(a_failure_is_overlaid_and_rebuilt_for_comparison),
		cmocka_unit_test(plan_is_about_the_pools_that_change),
		cmocka_unit_test(an_algorithm_that_cannot_is_warned_of),
		cmocka_unit_test(what_is_wrong_is_refused_with_what_there_is),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
