#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# The file of health takes a write or two, not some for each key of each backend: with
# tens of thousands of backends fairleadd would do nothing else, and answer nobody.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/health.sh"

FILE=/run/fairlead/$ID/health.json

file() { stat -c %i "$FILE"; }
written() { [ "$(file)" != "$1" ]; }
writes() { awk '$1 == "syscw:" { print $2 }' "/proc/$(cat "$RUN/fairleadd.pid")/io"; }

POOL_KEYS="check: {type: tcp, via: direct, port: 80, interval: 1h}"
balanced 4 ipip $VIP4
all_up
wait_until 20 test -s "$FILE" || fail "health is not saved"
before=$(file)
wait_until 20 written "$before" || fail "the file is not written again"

# It is written every ten seconds when there is nothing new.
before=$(file) n=$(writes)
wait_until 20 written "$before" || fail "the file is not written again"
n=$(($(writes) - n))
[ "$n" -lt 50 ] || fail "$n writes for the health of three backends"
equal "backends in the file" "b1 b2 b3" "$(jq -r '[.backends[].backend] | join(" ")' "$FILE")"
