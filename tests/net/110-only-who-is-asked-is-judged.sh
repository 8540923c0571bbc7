#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# A pool that no VIP uses is not checked: time says nothing of it, and what was known
# when it last was in use is not believed when it is again.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/health.sh"

# No VIP uses the pool "web".
unused() { sed -i '/pool: web/d' "$RUN/fairlead.yaml"; }

up_for_two_seconds() { [ "$(status_of uptime_s)" -ge 2 ]; }

POOL_KEYS="initial_timeout: 500ms
check: {type: http, via: direct, port: 80, interval: 1h}"
scripts/topology up "$ID"
backends $VIP4
write_config 4 ipip "$VIP4:80/tcp"
cat >> "$RUN/fairlead.yaml" <<-END
  - address: "$VIP4:81/tcp"
    check: {type: icmp}
    backends:
      - {address: 10.1.0.12}
END
cp "$RUN/fairlead.yaml" "$RUN/used.yaml"
unused
start_fairleadd
start watch fe "$O/fairlead" --instance "$ID" --json watch --since 1
wait_until 20 up_for_two_seconds || fail "the clock of fairleadd stands still"
equal "health in a pool that no VIP uses" unknown "$(health_of b1 health)"

sed -i 's/initial_timeout: 500ms/initial_timeout: 0/' "$RUN/used.yaml"
cp "$RUN/used.yaml" "$RUN/fairlead.yaml"
reload
all_up
unused
reload
equal "health when no VIP uses it any more" unknown "$(health_of b1 health)"
stop b1-http KILL
cp "$RUN/used.yaml" "$RUN/fairlead.yaml"
reload
wait_for b2 effective up
equal "health of one that died meanwhile" unknown "$(health_of b1 health)"
equal "backends that went down" 0 "$(events backend_down)"
