// SPDX-License-Identifier: GPL-2.0-only
/*
 * What netlink says of next hops is told, whoever reads it first, and neighbours are
 * asked for in time, however many events come. The kernel is a fake one: a route for
 * each address but one, and no neighbour.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <net/if.h>
#include <net/if_arp.h>

#include "sys/nl.h"
#include "sys/nl_route.h"

static int fake_dump(struct nl *nl, uint16_t type, mnl_cb_t visit, void *context,
		     struct err *err);
static int fake_route_get(struct nl *nl, const struct addr *addr, unsigned int flags,
			  struct nl_route *out, struct err *err);
static int fake_send(struct nl *nl, struct nlmsghdr *message);

#define nl_dump fake_dump
#define nl_route_get fake_route_get
#define nl_send fake_send
#define mnl_socket_get_fd(socket) ((void)(socket), -1)
#include "daemon/nexthop.c"
#define find_link find_link_of_route
#include "daemon/nexthop_route.c"

static struct addr lost; /* there is no route to it */
static unsigned int hints, told, told_turned;

static int fake_dump(struct nl *nl, uint16_t type, mnl_cb_t visit, void *context,
		     struct err *err)
{
	char buf[MNL_SOCKET_BUFFER_SIZE];
	struct nlmsghdr *message = nl_message(buf, RTM_NEWLINK, 0);
	struct ifinfomsg *link = mnl_nlmsg_put_extra_header(message, sizeof(*link));

	(void)nl;
	(void)err;
	if (type != RTM_GETLINK)
		return 0;
	link->ifi_index = 2;
	link->ifi_flags = IFF_UP;
	link->ifi_type = ARPHRD_ETHER;
	visit(message, context);
	return 0;
}

static int fake_route_get(struct nl *nl, const struct addr *addr, unsigned int flags,
			  struct nl_route *out, struct err *err)
{
	(void)nl;
	(void)flags;
	(void)err;
	if (!addr_compare(addr, &lost))
		return -ENETUNREACH;
	*out = (struct nl_route){ .type = RTN_UNICAST, .ifindex = 2, .source = *addr };
	return 0;
}

static int fake_send(struct nl *nl, struct nlmsghdr *message)
{
	(void)nl;
	hints += message->nlmsg_type == RTM_NEWNEIGH;
	return 0;
}

static void changed(void *context, bool turned)
{
	(void)context;
	told++;
	told_turned += turned;
}

static struct addr address(const char *text)
{
	struct addr addr;

	assert_int_equal(addr_parse(text, "address", &addr, NULL), 0);
	return addr;
}

static struct nexthops fresh(void)
{
	hints = told = told_turned = 0;
	lost = (struct addr){ 0 };
	return (struct nexthops){ .changed = changed, .settle_ms = SETTLE_MS,
				  .confirmed_at = clock_ms() };
}

static void drop(struct nexthops *nh)
{
	free(nh->hops);
	free(nh->links);
}

/* A route has changed; nothing is read yet. */
static void route_event(struct nexthops *nh)
{
	char buf[MNL_SOCKET_BUFFER_SIZE];

	on_event(nl_message(buf, RTM_NEWROUTE, 0), nh);
}

static void a_transaction_that_reads_routes_first_hides_no_failure(void **state)
{
	struct addr addrs[] = { address("192.0.2.1"), address("192.0.2.2") };
	struct nexthops nh = fresh();

	(void)state;
	assert_int_equal(nexthops_track(&nh, addrs, 1, NULL), 0);
	assert_false(nexthops_failed(&nh, &addrs[0]));
	nexthops_tick(&nh, clock_ms());
	told = told_turned = 0;

	lost = addrs[0];
	route_event(&nh);
	assert_int_equal(nexthops_track(&nh, addrs, 2, NULL), 0);
	assert_true(nexthops_failed(&nh, &addrs[0]));
	/* It may have been a dry run, after which all is as it was. */
	assert_int_equal(nexthops_track(&nh, addrs, 1, NULL), 0);
	nexthops_tick(&nh, clock_ms());
	assert_int_equal(told, 1);
	assert_int_equal(told_turned, 1);
	nexthops_tick(&nh, clock_ms());
	assert_int_equal(told, 1);
	drop(&nh);
}

/* Links, which follow_interface() waits for, change without a turn. */
static void a_transaction_that_reads_links_first_hides_no_change(void **state)
{
	struct addr addrs[] = { address("192.0.2.1"), address("192.0.2.2") };
	struct nexthops nh = fresh();

	(void)state;
	assert_int_equal(nexthops_track(&nh, addrs, 1, NULL), 0);
	nexthops_tick(&nh, clock_ms());
	told = 0;
	route_event(&nh);
	assert_int_equal(nexthops_track(&nh, addrs, 2, NULL), 0);
	nexthops_tick(&nh, clock_ms());
	assert_int_equal(told, 1);
	drop(&nh);
}

static void what_a_transaction_asks_for_itself_is_not_told(void **state)
{
	struct addr addrs[] = { address("192.0.2.1"), address("192.0.2.2") };
	struct nexthops nh = fresh();

	(void)state;
	assert_int_equal(nexthops_track(&nh, addrs, 2, NULL), 0);
	nexthops_tick(&nh, clock_ms());
	assert_int_equal(told, 0);
	drop(&nh);
}

/* Each event has the timer armed anew; what is owed must come nearer all the same. */
static void events_put_no_question_off(void **state)
{
	struct addr addr = address("192.0.2.1");
	struct nexthops nh = fresh();
	uint64_t now;

	(void)state;
	assert_int_equal(nexthops_track(&nh, &addr, 1, NULL), 0);
	assert_int_equal(hints, 1);
	hint_neighbour(&nh, &nh.hops[0]); /* too soon after the first */
	assert_int_equal(hints, 1);
	assert_true(nh.hints_owed);
	now = nh.hops[0].hinted_at;
	assert_int_equal(nexthops_wait_ms(&nh, now), HINT_MS);
	assert_int_equal(nexthops_wait_ms(&nh, now + 150), HINT_MS - 150);
	assert_int_equal(nexthops_wait_ms(&nh, now + HINT_MS), 0);
	nh.hops[0].hinted_at -= HINT_MS;
	nexthops_tick(&nh, now + HINT_MS);
	assert_int_equal(hints, 2);
	assert_false(nh.hints_owed);
	drop(&nh);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_transaction_that_reads_routes_first_hides_no_failure),
		cmocka_unit_test(a_transaction_that_reads_links_first_hides_no_change),
		cmocka_unit_test(what_a_transaction_asks_for_itself_is_not_told),
		cmocka_unit_test(events_put_no_question_off),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
