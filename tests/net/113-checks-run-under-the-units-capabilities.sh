#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# With no other capabilities than those that docs/fairleadd.service leaves, checks are
# made, through the tunnel, by ping and by command, and a fairlead-check that hangs is
# ended: it has another user, so even root needs leave for that.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/health.sh"

caps=$(sed -n 's/^CapabilityBoundingSet=//p' docs/fairleadd.service)
[ -n "$caps" ] || fail "no CapabilityBoundingSet in docs/fairleadd.service"
caps=$(sed 's/CAP_/+/g; s/ /,/g' <<< "${caps,,}" | sed 's/cap_/+/g')

POOL_KEYS="check: {type: http, port: 80, interval: 300ms, timeout: 300ms}"
scripts/topology up "$ID"
on fe ip route add default via 10.1.0.100
backends $VIP4
write_config 4 ipip "$VIP4:80/tcp"
sed -i '1i check_exec: true' "$RUN/fairlead.yaml"
cat >> "$RUN/fairlead.yaml" <<-END
  - address: "$VIP4:81/tcp"
    check: {type: icmp, interval: 300ms, timeout: 300ms}
    backends:
      - {address: 10.1.0.11, name: pinged}
  - address: "$VIP4:82/tcp"
    check: {type: exec, command: [/bin/true], interval: 300ms, timeout: 300ms}
    backends:
      - {address: 10.1.0.11, name: run}
END
start fairleadd fe setpriv --bounding-set "-all,$caps" --no-new-privs "$O/fairleadd" \
	--foreground --config "$RUN/fairlead.yaml" --instance "$ID"
wait_until 20 fairleadd_settled || fail "fairleadd does not answer"
all_up
equal "the way of the checks" vip "$(health_of b1 via)"

is_up() { fl --json backend show "$1" | grep -q '"health":"up"'; }
for port in 81 82; do
	wait_until 10 is_up "$VIP4:$port/tcp" || fail "the check of port $port does not pass"
done

pid=$(status_of checker_pid)
kill -STOP "$pid"
is_gone() { [ ! -d "/proc/$pid" ] || grep -q '^State:.Z' "/proc/$pid/status"; }
wait_until 90 is_gone || fail "the fairlead-check that hung still runs"
