#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# What a change of the configuration adds is not unknown when it is known already: who
# served without a check serves on when a pool gets one, also where none up means that
# all is dropped; and who joins a check that runs, by another name or from another pool,
# has its last result and does not wait for the next, which may be an hour off.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/health.sh"

# slots_of POOL: of its first backend.
slots_of() { fl --json backend show "$1" | jq '.backends[0].slots'; }

# Whatever its check may say, nothing is published for ten seconds after this.
POOL_KEYS="all_down: drop"
balanced 4 ipip $VIP4
sed -i '1i publish_interval: 10s' "$RUN/fairlead.yaml"
reload
equal "health of b1 without a check" null "$(health_of b1 health)"
before=$(slots_of web)
sed -i "s/all_down: drop/&\n    check: {type: http, via: direct, port: 80, interval: 1h}/" \
	"$RUN/fairlead.yaml"
reload
equal "slots of b1 when its pool gets a check" "$before" "$(slots_of web)"
http_get $VIP4 > /dev/null || fail "no answer when a pool gets a check"
equal "packets dropped" 0 "$(drop_counter no_backend)"

first_results() { [ "$(status_of check_results)" -ge 3 ]; }
wait_until 20 first_results || fail "b1, b2 and b3 have not been asked"

sed -i 's/name: b1/name: renamed/; s/publish_interval: 10s/publish_interval: 0/' \
	"$RUN/fairlead.yaml"
cat >> "$RUN/fairlead.yaml" <<-END
  - address: "$VIP4:8080/tcp"
    check: {type: http, via: direct, port: 80, interval: 1h}
    backends:
      - {address: 10.1.0.13, name: joined}
END
reload
wait_for renamed effective up
known() { fl --json backend show "$VIP4:8080/tcp" | grep -q '"health":"up"'; }
wait_until 10 known || fail "one that joins a check does not know its last result"
equal "results so far" 3 "$(status_of check_results)"
