#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# The probes' filter outlives who made it, is exchanged by the next and never twice there.
# Only what is ours goes: filters and qdiscs of others stay, whatever the order.
. "$(dirname "$0")/lib.sh"

DIR=/sys/fs/bpf/fairlead/$ID

# our_filters INTERFACE: ids of the programs.
our_filters() {
	on fe tc filter show dev "$1" egress | grep -o 'fairlead_probe:\[[0-9]*\]' || true
}

clsact() {
	on fe tc qdisc show dev "$1" | grep -o clsact || true
}

# Everything that is on it, whoever made it, without numbers that change.
filters() {
	on fe tc filter show dev "$1" egress
	on fe tc filter show dev "$1" ingress
}

# foreign_filter INTERFACE ingress|egress: one that matches nothing.
foreign_filter() {
	on fe tc filter add dev "$1" "$2" prio 1 bpf bytecode '1,6 0 0 0' flowid 1:1
}

balanced 4 ipip $VIP4
on fe ip route add default via 10.1.0.100
on fe ip link add other type veth peer name peer

# Made by a process that is no more; used, and replaced by the next one.
equal "qdisc at first" "" "$(clsact eth0)"
mark=$(probes add 10.1.0.11 $VIP4 80 tcp attach eth0)
first=$(our_filters eth0)
one_line "$first"
has "$first" fairlead_probe
equal "answer" b1 "$(probe_ask "$mark" $VIP4)"
mark=$(probes add 10.1.0.12 $VIP4 80 tcp attach eth0)
[ "$(our_filters eth0)" != "$first" ] || fail "the program is the old one"
one_line "$(our_filters eth0)"
equal "answer" b2 "$(probe_ask "$mark" $VIP4)"
[ "$(probe_counter sent)" -gt 6 ] || fail "counters begin anew with each process"

# What is there already is not touched.
same=$(probes attach eth0 attach eth0 attach eth0 && our_filters eth0)
one_line "$same"

# To other interfaces, and off all.
probes attach eth0,other
one_line "$(our_filters eth0)"
one_line "$(our_filters other)"
equal "qdisc" clsact "$(clsact other)"
probes attach other
equal "filter on eth0" "" "$(our_filters eth0)"
equal "qdisc of eth0" "" "$(clsact eth0)"
has "$(our_filters other)" fairlead_probe
probes attach none
equal "filter on other" "" "$(our_filters other)"
equal "qdisc of other" "" "$(clsact other)"

# A filter of somebody else on our qdisc: it stays, and so does the qdisc.
for direction in ingress egress; do
	probes attach eth0
	foreign_filter eth0 $direction
	probes attach none
	equal "qdisc with another's filter for $direction" clsact "$(clsact eth0)"
	has "$(filters eth0)" bytecode
	on fe tc qdisc del dev eth0 clsact
done

# A qdisc of somebody else, with nothing on it.
on fe tc qdisc add dev eth0 clsact
probes attach eth0
probes attach none
equal "another's qdisc" clsact "$(clsact eth0)"
foreign_filter eth0 egress
before=$(filters eth0)
probes attach eth0
has "$(our_filters eth0)" fairlead_probe
mark=$(probes add 10.1.0.13 $VIP4 80 tcp attach eth0)
equal "answer beside another's filter" b3 "$(probe_ask "$mark" $VIP4)"
probes attach none
equal "filters of others" "$before" "$(filters eth0)"
on fe tc qdisc del dev eth0 clsact

# Gone under our feet, made again.
probes attach eth0
on fe tc qdisc del dev eth0 clsact
probes attach eth0
has "$(our_filters eth0)" fairlead_probe

# Places that are taken.
mkdir "$DIR-2"
bpftool map pin pinned "$DIR/backends" "$DIR-2/backends"
refused 1 "interface 'eth0' has the probes of another instance" -- \
	on fe "$O/tests/net/probes" "$DIR-2" attach eth0
has "$(our_filters eth0)" fairlead_probe
on fe "$O/tests/net/probes" "$DIR-2" remove
has "$(our_filters eth0)" fairlead_probe
probes attach none
on fe tc qdisc add dev eth0 ingress
refused 1 "interface 'eth0'" "ingress qdisc" -- probes attach eth0
on fe tc qdisc del dev eth0 ingress

# An interface that is gone takes its filter along.
probes attach eth0,other
on fe ip link del other
has "$(our_filters eth0)" fairlead_probe
refused 1 "there is no interface" -- probes attach eth0,other

# --teardown: filter, qdisc and pins.
stop fairleadd
has "$(our_filters eth0)" fairlead_probe
on fe "$O/fairleadd" --teardown --instance "$ID" 2> "$RUN/teardown.out"
equal "filter after teardown" "" "$(our_filters eth0)"
equal "qdisc after teardown" "" "$(clsact eth0)"
equal "pins" "" "$(find "$DIR" 2> /dev/null)"
probes remove
