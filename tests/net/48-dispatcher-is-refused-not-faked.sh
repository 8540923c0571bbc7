#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Where the kernel cannot load libxdp's dispatcher, `dispatcher: true` is refused
# in one line. A first start leaves nothing attached; a reload leaves what was.
. "$(dirname "$0")/lib.sh"

pins() {
	find /sys/fs/bpf \( -path '*fairlead*' -o -path '*dispatch*' \) ! -type d
}

said() {
	grep -q "dispatcher" "$RUN/fairleadd.log"
}

first_settled() {
	grep -q "notice: balancing" "$RUN/first.log" || not_running first
}

scripts/topology up "$ID"
write_config 4 ipip $VIP4:80/tcp
cp "$RUN/fairlead.yaml" "$RUN/good.yaml"
echo "dispatcher: true" >> "$RUN/fairlead.yaml"
start first fe "$O/fairleadd" --foreground --config "$RUN/fairlead.yaml" --instance "$ID"
wait_until 60 first_settled || fail "fairleadd neither runs nor ends"
! running first || skip "this kernel has the dispatcher"
one_line "$(cat "$RUN/first.log")"
has "$(cat "$RUN/first.log")" "'eth0'"
has "$(cat "$RUN/first.log")" "'dispatcher: false'"
[[ "$(on fe ip link show eth0)" != *xdp* ]] || fail "a program is attached"
equal "pins" "" "$(pins)"

cp "$RUN/good.yaml" "$RUN/fairlead.yaml"
backends $VIP4
start_fairleadd
start_load $VIP4
echo "dispatcher: true" >> "$RUN/fairlead.yaml"
kill -HUP "$(cat "$RUN/fairleadd.pid")"
wait_until 10 said || fail "the reload was not refused"
grep -q "error: reload failed, nothing is changed: .*'eth0'" "$RUN/fairleadd.log" ||
	fail "it does not say what happened"
has "$(fl --json show status)" '"attach":"native"'
[ -e "/sys/fs/bpf/fairlead/$ID/link" ] || fail "the link is not pinned any more"
stop fairleadd KILL
check_http_spread $VIP4
stop load
