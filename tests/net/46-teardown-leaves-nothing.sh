#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# --teardown is refused while a daemon runs; then it takes away the program, the
# maps and the files of its instance, and nothing of another one.
. "$(dirname "$0")/lib.sh"

teardown() {
	on fe "$O/fairleadd" --teardown --instance "$1"
}

xdp_on() {
	on "$1" ip link show eth0 | grep -o 'prog/xdp' || true
}

scripts/topology up "$ID"
write_config 4 ipip $VIP4:80/tcp
start_fairleadd
start other b1 "$O/fairleadd" --foreground --config "$RUN/fairlead.yaml" \
	--instance "$ID-other"
wait_until 20 on b1 "$O/fairlead" --instance "$ID-other" show status > "$RUN/status" 2>&1 ||
	fail "the second instance does not answer"

refused 1 "(pid $(cat "$RUN/fairleadd.pid"))" -- teardown "$ID"
equal "program" prog/xdp "$(xdp_on fe)"
# Whoever else holds the link, which also stands for a kernel that lets go of it late.
bpftool link pin pinned "/sys/fs/bpf/fairlead/$ID/link" /sys/fs/bpf/held
stop fairleadd
equal "program after the daemon" prog/xdp "$(xdp_on fe)"
has "$(teardown "$ID" 2>&1)" "instance '$ID' no longer balances"
equal "program after teardown" "" "$(xdp_on fe)"
equal "pins" "" "$(find "/sys/fs/bpf/fairlead/$ID" 2> /dev/null)"
equal "files" "" "$(find "/run/fairlead/$ID" 2> /dev/null)"
# Nobody should take a mistyped name for done.
has "$(teardown "$ID" 2>&1)" "instance '$ID' has nothing in '/sys/fs/bpf/fairlead/$ID'"
equal "files" "" "$(find "/run/fairlead/$ID" 2> /dev/null)"

equal "program of the other" prog/xdp "$(xdp_on b1)"
has "$(on b1 "$O/fairlead" --instance "$ID-other" show status)" "$ID-other"
stop other
teardown "$ID-other"
equal "program of the other" "" "$(xdp_on b1)"
equal "all pins" "" "$(find /sys/fs/bpf -path '*fairlead*')"
