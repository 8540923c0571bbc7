#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# A pool in panic says what it does: all serve, or, with none up and 'all_down: drop',
# new connections are dropped.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/health.sh"

POOL_KEYS="check: {type: tcp, via: direct, port: 9, interval: 300ms, timeout: 300ms}
panic_threshold: 50
all_down: drop"
scripts/topology up "$ID"
write_config 4 ipip "$VIP4:80/tcp"
cat >> "$RUN/fairlead.yaml" <<-END
  - address: "$VIP4:81/tcp"
    check: {type: tcp, via: direct, port: 9, interval: 300ms, timeout: 300ms}
    panic_threshold: 50
    backends:
      - {address: 10.1.0.11}
END
start_fairleadd
start watch fe "$O/fairlead" --instance "$ID" --json watch --since 1
wait_event pool_panic 2
panic_of() { grep "\"event\":\"pool_panic\",\"pool\":\"$1\"" "$RUN/watch.log"; }
has "$(panic_of web)" "0 of weight 3 is up, and new connections are dropped"
has "$(panic_of "$VIP4:81/tcp")" "0 of weight 1 is up, and all serve"
