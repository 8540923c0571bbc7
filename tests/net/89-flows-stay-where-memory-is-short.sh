#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# A start under a memory limit that has no room for larger flow maps goes on with
# those that there are and says so; a first start ends, says so and leaves nothing. What
# the kernel says is available knows of no limit, and beyond it the kernel kills.
. "$(dirname "$0")/lib.sh"

LIMIT=$((192 * 1024 * 1024))
group=

# make_group: a control group with the limit, of either version.
make_group() {
	local root=/sys/fs/cgroup/memory limit=memory.limit_in_bytes

	if [ ! -d "$root" ]; then
		root=/sys/fs/cgroup limit=memory.max
		echo +memory 2> /dev/null > "$root/cgroup.subtree_control" ||
			skip "control groups of memory cannot be made here"
	fi
	group=$(mktemp -d "$root/fairlead-XXXXXX" 2> /dev/null) ||
		skip "needs the right to make a control group"
	echo $LIMIT > "$group/$limit"
}

# The group is nobody's namespace, and goes when nothing runs in it.
remove_group() {
	local status=$?

	on_exit $status
	! running fairleadd || stop fairleadd KILL
	[ -z "$group" ] || wait_until 10 rmdir "$group"
	exit "$status"
}
trap remove_group EXIT

# start_limited: fairleadd in the control group.
start_limited() {
	# shellcheck disable=SC2016
	start fairleadd fe sh -c 'echo 0 > "$0/cgroup.procs" && exec "$@"' "$group" \
		"$O/fairleadd" --foreground --config "$RUN/fairlead.yaml" --instance "$ID"
}

flows() { fl --json show flows | sed 's/^{"flows":\([0-9]*\),.*/\1/'; }
size() { fl -o show status | grep -o 'flows_per_cpu [0-9]*'; }

scripts/topology up "$ID"
backends $VIP4
write_config 4 ipip "$VIP4:80/tcp"
make_group
sed -i 's/^flows: .*/flows: 32M/' "$RUN/fairlead.yaml"
start_limited
wait_until 20 not_running fairleadd || fail "it runs in less memory than it needs"
has "$(cat "$RUN/fairleadd.log")" "error: flows: maps of"
has "$(cat "$RUN/fairleadd.log")" "MiB of memory are available; fewer 'flows' take less"
one_line "$(grep error: "$RUN/fairleadd.log")"
[ ! -e "/sys/fs/bpf/fairlead/$ID" ] || fail "a first start left something behind"

sed -i 's/^flows: .*/flows: 64K/' "$RUN/fairlead.yaml"
start_fairleadd
check_http_spread $VIP4
before=$(size)
# Of 60 requests, some of which may share a connection.
are_known() { [ "$(flows)" -ge 30 ] || fail "$(flows) flows are known"; }
are_known
stop fairleadd
sed -i 's/^flows: .*/flows: 32M/' "$RUN/fairlead.yaml"
start_limited
wait_until 20 fairleadd_settled || fail "fairleadd does not answer: $(cat "$RUN/fairleadd.log")"
has "$(cat "$RUN/fairleadd.log")" "fewer 'flows' take less; the flow maps stay as they are"
equal "size of the flow maps" "$before" "$(size)"
are_known
check_http_spread $VIP4

# Without a number the maps suit the limit, and not the machine.
stop fairleadd
sed -i '/^flows: /d' "$RUN/fairlead.yaml"
start_limited
wait_until 20 fairleadd_settled || fail "fairleadd does not answer: $(cat "$RUN/fairleadd.log")"
[ "$(fl --json show status | grep -o '"flow_memory_mib":[0-9]*' | cut -d: -f2)" -le 3 ] ||
	fail "the maps are more than a 64th of the limit: $(fl show status)"
check_http_spread $VIP4
