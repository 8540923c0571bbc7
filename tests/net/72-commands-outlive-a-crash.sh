#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# What was changed by command is there again after kill -9, until it is saved, or
# the file says something else, or is read again.
. "$(dirname "$0")/lib.sh"

pools_vips() {
	fl --json vip show | grep -o '"address":"[^"]*"' | sort
}

reloaded() {
	[ "$(grep -c "notice: reloaded" "$RUN/fairleadd.log")" -ge 1 ]
}

scripts/topology up "$ID"
write_config 4 ipip $VIP4:80/tcp
start_fairleadd
in_file=$(pools_vips)
fl vip add 203.0.113.20:80/tcp
fl backend set web b1 weight 5
changed=$(pools_vips)
has "$(fl --json show status)" '"unsaved_changes":true'

stop fairleadd KILL
start_fairleadd
equal "VIPs" "$changed" "$(pools_vips)"
has "$(fl --json backend show)" '"weight":5'
has "$(fl --json show status)" '"unsaved_changes":true'
grep -q "notice: going on with changes by command" "$RUN/fairleadd.log" ||
	fail "it does not say so"

# Saved: in the file, and no longer beside it.
fl save > "$RUN/save.out"
stop fairleadd KILL
start_fairleadd
equal "VIPs" "$changed" "$(pools_vips)"
has "$(fl --json show status)" '"unsaved_changes":false'
[ ! -e "/run/fairlead/$ID/running.yaml" ] || fail "running.yaml is still there"

# The file is edited: it wins.
fl vip add 203.0.113.30:80/tcp
stop fairleadd KILL
write_config 4 ipip $VIP4:80/tcp
start_fairleadd
equal "VIPs" "$in_file" "$(pools_vips)"
grep -q "notice: .*was edited since: changes by command are dropped" \
	"$RUN/fairleadd.log" || fail "it does not say so"

# And so does a reload.
fl vip add 203.0.113.30:80/tcp
kill -HUP "$(cat "$RUN/fairleadd.pid")"
wait_until 10 reloaded || fail "it was not reloaded"
equal "VIPs" "$in_file" "$(pools_vips)"

# A running.yaml that is not readable is not a reason not to start.
fl vip add 203.0.113.30:80/tcp
stop fairleadd KILL
sed -i '2,$d' "/run/fairlead/$ID/running.yaml"
echo "nonsense: [" >> "/run/fairlead/$ID/running.yaml"
start_fairleadd
equal "VIPs" "$in_file" "$(pools_vips)"
grep -q "warning: ignoring changes by command" "$RUN/fairleadd.log" ||
	fail "it does not say so"
