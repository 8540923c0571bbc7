#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# A configuration that is good to read but cannot be applied leaves the old one in
# force, whole: show says the same before and after, and traffic goes on.
. "$(dirname "$0")/lib.sh"

running_state() {
	fl --json vip show | sed 's/"\(packets\|bytes\|new_flows\)":[0-9]*//g'
	fl --json backend show | sed 's/"\(packets\|bytes\|new_flows\)":[0-9]*//g'
}

balanced 4 ipip $VIP4
start_load $VIP4
before=$(running_state)

# Another interface, which is not there, and much else that would have changed.
sed -e 's/^interface: eth0/interface: eth9/' -e '/name: b3/d' \
	-e "s/$VIP4:80/203.0.113.99:80/" "$RUN/fairlead.yaml" > "$RUN/bad.yaml"
refused 1 "$RUN/bad.yaml:1:1: interface 'eth9'" -- fl apply "$RUN/bad.yaml"
equal "running state" "$before" "$(running_state)"
load_goes_on
stop_load
