// SPDX-License-Identifier: GPL-2.0-only
/* Checks as values: copies, their order, their digest. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/check.h"

#define N(a) (sizeof(a) / sizeof(*(a)))

static void fill(struct check *check)
{
	char **const texts[] = {
		&check->path,	   &check->host,	  &check->method,      &check->body,
		&check->sni,	   &check->ca_file,	  &check->cert_file,   &check->key_file,
		&check->send,	   &check->receive,	  &check->weight_json, &check->args[0],
		&check->args[1],   &check->weight_header,
	};

	assert_int_equal(check_init(check, CHECK_TCP), 0);
	for (size_t i = 0; i < N(texts); i++)
		*texts[i] = strdup("t");
	check->n_args = 2;
}

/* Each changes one thing that is asked. */
static void via(struct check *c) { c->via++; }
static void kind(struct check *c) { c->kind++; }
static void interval(struct check *c) { c->interval++; }
static void timeout(struct check *c) { c->timeout++; }
static void jitter(struct check *c) { c->jitter++; }
static void port(struct check *c) { c->port++; }
static void status_min(struct check *c) { c->status_min++; }
static void status_max(struct check *c) { c->status_max++; }
static void tls_verify(struct check *c) { c->tls_verify = true; }
static void path(struct check *c) { c->path[0] = 'u'; }
static void host(struct check *c) { c->host[0] = 'u'; }
static void method(struct check *c) { c->method[0] = 'u'; }
static void body(struct check *c) { c->body[0] = 'u'; }
static void sni(struct check *c) { c->sni[0] = 'u'; }
static void ca_file(struct check *c) { c->ca_file[0] = 'u'; }
static void cert_file(struct check *c) { c->cert_file[0] = 'u'; }
static void key_file(struct check *c) { c->key_file[0] = 'u'; }
static void weight_header(struct check *c) { c->weight_header[0] = 'u'; }
static void weight_json(struct check *c) { c->weight_json[0] = 'u'; }
static void what_is_sent(struct check *c) { c->send[0] = 'u'; }
static void receive(struct check *c) { c->receive[0] = 'u'; }
static void last_arg(struct check *c) { c->args[1][0] = 'u'; }

static void one_arg_more(struct check *c)
{
	c->args[c->n_args++] = strdup("t");
}

static void no_sni(struct check *c)
{
	free(c->sni);
	c->sni = NULL;
}

static void the_text_moves_to_the_next_key(struct check *c)
{
	no_sni(c);
	c->ca_file = realloc(c->ca_file, 3);
	strcpy(c->ca_file, "tt");
}

static void (*const changes[])(struct check *) = {
	via,	   kind,      interval,	  timeout,	jitter,	     port,
	status_min, status_max, tls_verify, path,	host,	     method,
	body,	   sni,	      ca_file,	  cert_file,	key_file,    weight_header,
	weight_json, what_is_sent, receive, last_arg,	one_arg_more, no_sni,
	the_text_moves_to_the_next_key,
};

static void whatever_is_asked_makes_a_difference(void **state)
{
	struct check a;

	(void)state;
	fill(&a);
	for (size_t i = 0; i < N(changes); i++) {
		struct check b;
		int order;

		assert_int_equal(check_copy(&a, &b), 0);
		assert_int_equal(check_compare(&a, &b), 0);
		changes[i](&b);
		order = check_compare(&a, &b);
		assert_int_not_equal(order, 0);
		assert_int_equal(check_compare(&b, &a) > 0, order < 0);
		check_clear(&b);
	}
	check_clear(&a);
}

static void rise_and_fall_are_not_asked(void **state)
{
	struct check a, b;

	(void)state;
	fill(&a);
	assert_int_equal(check_copy(&a, &b), 0);
	b.rise = 9;
	b.fall = 9;
	b.vips = CHECK_VIPS_FIRST;
	assert_int_equal(check_compare(&a, &b), 0);
	check_clear(&a);
	check_clear(&b);
}

static void a_cleared_check_is_none(void **state)
{
	static const struct check zero;
	struct check check;

	(void)state;
	fill(&check);
	check_clear(&check);
	assert_memory_equal(&check, &zero, sizeof(zero));
	check_clear(&check);
	assert_memory_equal(&check, &zero, sizeof(zero));
}

static void types_have_their_defaults(void **state)
{
	struct check check;

	(void)state;
	for (int k = CHECK_NONE + 1; k < CHECK__MAX; k++) {
		bool web = k == CHECK_HTTP || k == CHECK_HTTPS;

		assert_int_equal(check_init(&check, k), 0);
		assert_int_equal(check.kind, k);
		assert_int_equal(check.interval, 5000);
		assert_int_equal(check.timeout, 2000);
		assert_int_equal(check.jitter, 10);
		assert_int_equal(check.rise, 2);
		assert_int_equal(check.fall, 3);
		assert_int_equal(check.status_min, web ? 200 : 0);
		assert_int_equal(check.status_max, web ? 299 : 0);
		assert_int_equal(check.tls_verify, k == CHECK_HTTPS);
		check_clear(&check);
	}
}

static void kinds_and_ways_have_names(void **state)
{
	(void)state;
	assert_string_equal(check_kind_name(CHECK_HTTPS), "https");
	assert_non_null(check_kind_name(CHECK__MAX));
	assert_string_equal(check_via_name(CHECK_VIA_DIRECT), "direct");
	assert_non_null(check_via_name(CHECK_VIA__MAX));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(whatever_is_asked_makes_a_difference),
		cmocka_unit_test(rise_and_fall_are_not_asked),
		cmocka_unit_test(a_cleared_check_is_none),
		cmocka_unit_test(types_have_their_defaults),
		cmocka_unit_test(kinds_and_ways_have_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
