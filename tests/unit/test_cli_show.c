// SPDX-License-Identifier: GPL-2.0-only
/* vip show and backend show as tables: what a person sees of health. */
#include "test_cli_fake.h"

/* Members of a backend that each row sets: state, problem, and of its health. */
#define BACKEND(state, problem, health)                                        \
	"{\"pool\": \"web\", \"name\": \"web-1\", \"address\": \"10.1.0.11\", " \
	"\"weight\": 2, \"encap\": \"ipip\", \"state\": \"" state "\", "       \
	"\"next_hop\": \"10.1.0.11 dev eth0\", \"problem\": " problem          \
	", \"slots\": 4, \"packets\": 5, \"bytes\": 6, \"new_flows\": 7" health "}"
#define HEALTH(effective, why, share, health, since, reason)                \
	", \"effective\": \"" effective "\", \"why\": \"" why "\", "        \
	"\"share\": " share ", \"health\": \"" health "\", "                \
	"\"health_s\": " since ", \"health_reason\": " reason               \
	", \"penalty\": 0.0, \"via\": null"
/* By the worst of two ways; both follow. */
#define ON_VIP(effective, why, reason)                                         \
	HEALTH(effective, why, "0", "down", "3", reason)                       \
	", \"vip\": \"[2001:db8::10]:443/tcp\", \"vips\": [{\"vip\": "          \
	"\"203.0.113.10:443/tcp\", \"effective\": \"up\"}, {\"vip\": "         \
	"\"[2001:db8::10]:443/tcp\", \"effective\": \"" effective "\"}]"
#define UNCHECKED                                                          \
	", \"effective\": \"up\", \"why\": \"no check\", \"share\": 100, "     \
	"\"health\": null, \"health_s\": null, \"health_reason\": null, "    \
	"\"penalty\": null, \"via\": null"
#define VIP(health)                                                        \
	"{\"address\": \"203.0.113.10:443/tcp\", \"pool\": \"web\", "      \
	"\"encap\": \"ipip\", \"algorithm\": \"maglev\", "                 \
	"\"table_size\": 251, \"digest\": \"0\", \"backends\": 3, "        \
	"\"packets\": 7, \"bytes\": 8, \"new_flows\": 9, \"drops\": 0, "   \
	"\"hash\": \"source\", \"unremembered\": 5, \"quic_unknown\": 6" health "}"
#define POOL(up, panic, lost) \
	", \"backends_up\": " up ", \"panic\": " panic ", \"quorum_lost\": " lost

static char *table(const char *line, const char *key, const char *item)
{
	_cleanup_fake_ struct fake f = {};
	_cleanup_free_ char *reply = NULL;
	struct outcome o;

	assert_true(asprintf(&reply, FAKE_OK("{\"%s\": [%s]}"), key, item) > 0);
	fake_start(&f, FAKE_GREETING, reply);
	o = fairlead("%s --socket %s", line, f.path);
	assert_string_equal(o.err, "");
	assert_int_equal(o.status, EXIT_OK);
	free(o.err);
	return o.out;
}

/* The second line, from the column of this heading to its two blanks. */
static void assert_column(const char *text, const char *heading, const char *cell)
{
	const char *at = strstr(text, heading), *row = strchr(text, '\n') + 1;
	_cleanup_free_ char *got = NULL;
	const char *end;

	assert_non_null(at);
	got = strdup(row + (at - text));
	end = strstr(got, "  ") ?: strchr(got, '\n');
	got[end - got] = '\0';
	assert_string_equal(got, cell);
}

static void a_backend_is_a_line_that_fits(void **state)
{
	_cleanup_free_ char *text = table(
		"backend show", "backends",
		BACKEND("up", "null", HEALTH("down", "check", "0", "down", "125",
					     "\"connect: timed out\"")));

	(void)state;
	assert_string_equal(
		text,
		"pool  name   address    weight  state  health      slots  packets"
		"  new_flows  reason\n"
		"web   web-1  10.1.0.11       2  down   down 2m05s      4        5"
		"          7  connect: timed out\n");
}

static void the_state_is_what_comes_of_everything(void **state)
{
	static const struct {
		const char *item, *state, *health;
	} rows[] = {
		{ BACKEND("up", "null", HEALTH("up", "check", "100", "up", "3", "null")),
		  "up", "up 3s" },
		{ BACKEND("up", "null", HEALTH("up", "check", "40", "up", "60", "null")),
		  "up 40 %", "up 1m00s" },
		{ BACKEND("up", "null", HEALTH("up", "agent", "0", "up", "60", "null")),
		  "up 0 %", "up 1m00s" },
		{ BACKEND("drain", "null", HEALTH("drain", "admin", "0", "up", "3599", "null")),
		  "drain", "up 59m59s" },
		{ BACKEND("up", "null", HEALTH("down", "damped", "0", "up", "86399", "null")),
		  "down", "up 23h59m" },
		{ BACKEND("up", "null", HEALTH("down", "no result yet", "0", "unknown",
					       "90000", "null")),
		  "down", "unknown 1d01h" },
		{ BACKEND("up", "null", UNCHECKED),
		  "up", "-" },
		{ BACKEND("up", "null", HEALTH("up", "check", "100", "up", "null", "null")),
		  "up", "up" },
		{ BACKEND("draining", "null", ""), "draining", "-" },
	};

	(void)state;
	for (size_t i = 0; i < N(rows); i++) {
		_cleanup_free_ char *text =
			table("backend show", "backends", rows[i].item);

		assert_column(text, "state", rows[i].state);
		assert_column(text, "health", rows[i].health);
	}
}

static void the_reason_is_what_says_most(void **state)
{
	static const struct {
		const char *item, *reason;
	} rows[] = {
		{ BACKEND("up", "null", HEALTH("up", "check", "100", "up", "3", "\"200\"")),
		  "-" },
		{ BACKEND("up", "null", UNCHECKED),
		  "-" },
		{ BACKEND("up", "null", HEALTH("up", "no result yet", "100", "unknown",
					       "3", "null")),
		  "no result yet" },
		{ BACKEND("up", "null", HEALTH("down", "check", "0", "down", "3",
					       "\"status 503\"")),
		  "status 503" },
		{ BACKEND("up", "null", HEALTH("down", "check", "0", "down", "3", "null")),
		  "check" },
		{ BACKEND("down", "null", HEALTH("down", "admin", "0", "down", "3",
						 "\"status 503\"")),
		  "admin" },
		{ BACKEND("up", "\"no route\"", HEALTH("down", "next hop", "0", "up",
						       "3", "null")),
		  "next hop: no route" },
		{ BACKEND("up", "null", HEALTH("down", "next hop", "0", "up", "3", "null")),
		  "next hop" },
		{ BACKEND("up", "\"no route\"", HEALTH("down", "check", "0", "down", "3",
						       "\"timed out\"")),
		  "timed out; next hop: no route" },
		{ BACKEND("draining", "\"no route\"", ""), "next hop: no route" },
		{ BACKEND("up", "null", ON_VIP("down", "check", "\"refused\"")),
		  "on [2001:db8::10]:443/tcp: refused" },
		{ BACKEND("up", "null", ON_VIP("down", "damped", "\"refused\"")),
		  "on [2001:db8::10]:443/tcp: damped" },
		{ BACKEND("down", "null", ON_VIP("down", "admin", "null")), "admin" },
		{ BACKEND("up", "null", ON_VIP("up", "check", "null")), "-" },
		{ BACKEND("draining", "null", ""), "-" },
	};

	(void)state;
	for (size_t i = 0; i < N(rows); i++) {
		_cleanup_free_ char *text =
			table("backend show", "backends", rows[i].item);

		assert_column(text, "reason", rows[i].reason);
	}
}

static void a_vip_is_a_line_that_fits(void **state)
{
	_cleanup_free_ char *text =
		table("vip show", "vips", VIP(POOL("2", "false", "false")));

	(void)state;
	assert_string_equal(
		text,
		"address               pool  backends  backends_up  state  packets"
		"  bytes  new_flows  drops\n"
		"203.0.113.10:443/tcp  web          3            2  ok           7"
		"      8          9      0\n");
}

static void the_state_of_a_vip_is_what_is_wrong_with_it(void **state)
{
	static const struct {
		const char *item, *state;
	} rows[] = {
		{ VIP(POOL("1", "true", "false")), "panic" },
		{ VIP(POOL("1", "false", "true")), "no quorum" },
		{ VIP(POOL("1", "true", "true")), "panic, no quorum" },
		{ VIP(POOL("0", "false", "false")), "none up" },
		{ VIP(POOL("0", "true", "true")), "panic, no quorum, none up" },
		{ VIP(""), "-" },
	};

	(void)state;
	for (size_t i = 0; i < N(rows); i++) {
		_cleanup_free_ char *text = table("vip show", "vips", rows[i].item);

		assert_column(text, "state", rows[i].state);
	}
}

static void all_is_every_member_as_it_came(void **state)
{
	_cleanup_free_ char *backend = table(
		"backend show --all", "backends",
		BACKEND("up", "null", HEALTH("down", "check", "0", "down", "125",
					     "\"timed out\"")));
	_cleanup_free_ char *vip =
		table("vip show -a", "vips", VIP(POOL("2", "false", "true")));

	(void)state;
	assert_column(backend, "next_hop", "10.1.0.11 dev eth0");
	assert_column(backend, "effective", "down");
	assert_column(backend, "health_reason", "timed out");
	assert_contains(backend, "  health_s  ");
	assert_column(vip, "algorithm", "maglev");
	assert_contains(vip, "  quorum_lost\n");
}

static void each_way_is_told_to_programs(void **state)
{
	_cleanup_free_ char *json = table(
		"--json backend show", "backends",
		BACKEND("up", "null", ON_VIP("down", "check", "\"refused\"")));
	_cleanup_free_ char *text = table(
		"backend show --all", "backends",
		BACKEND("up", "null", ON_VIP("down", "check", "\"refused\"")));

	(void)state;
	assert_contains(json, "\"vips\":[{\"vip\":\"203.0.113.10:443/tcp\","
			      "\"effective\":\"up\"},");
	assert_contains(text, "  [2001:db8::10]:443/tcp  ");
	assert_null(strstr(text, "vips"));
}

static void what_a_backend_says_does_not_reach_the_terminal_as_control(void **state)
{
	_cleanup_free_ char *text = table(
		"backend show", "backends",
		BACKEND("up", "null", HEALTH("down", "check", "0", "down", "1",
					     "\"\\u001b[2J\\nx\"")));

	(void)state;
	assert_column(text, "reason", "\\x1b[2J\\x0ax");
}

static void a_problem_of_the_check_is_a_reason_also_of_one_that_is_up(void **state)
{
	_cleanup_free_ char *text = table(
		"backend show", "backends",
		BACKEND("up", "null", HEALTH("up", "check", "100", "up", "61", "\"x\"")
			", \"check_problem\": \"weight 'x' makes no sense\""));

	(void)state;
	assert_column(text, "reason", "check: weight 'x' makes no sense");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_problem_of_the_check_is_a_reason_also_of_one_that_is_up),
		cmocka_unit_test(a_backend_is_a_line_that_fits),
		cmocka_unit_test(the_state_is_what_comes_of_everything),
		cmocka_unit_test(the_reason_is_what_says_most),
		cmocka_unit_test(a_vip_is_a_line_that_fits),
		cmocka_unit_test(the_state_of_a_vip_is_what_is_wrong_with_it),
		cmocka_unit_test(all_is_every_member_as_it_came),
		cmocka_unit_test(each_way_is_told_to_programs),
		cmocka_unit_test(
			what_a_backend_says_does_not_reach_the_terminal_as_control),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
