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

scripts/topology up "$ID"
write_config 4 ipip $VIP4:80/tcp
cp "$RUN/fairlead.yaml" "$RUN/good.yaml"
echo "dispatcher: true" >> "$RUN/fairlead.yaml"
if on fe timeout $((20 * SLOWER)) "$O/fairleadd" --foreground --config "$RUN/fairlead.yaml" \
	--instance "$ID" > "$RUN/first.out" 2>&1; then
	fail "fairleadd ended well"
fi
! grep -q "notice: balancing" "$RUN/first.out" || skip "this kernel has the dispatcher"
one_line "$(cat "$RUN/first.out")"
has "$(cat "$RUN/first.out")" "'eth0'"
has "$(cat "$RUN/first.out")" "'dispatcher: false'"
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
