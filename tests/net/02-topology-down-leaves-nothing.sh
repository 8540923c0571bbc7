#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# After `down` there is no namespace, process, pin or file of the topology, and
# `down` of what is not up does nothing.
. "$(dirname "$0")/lib.sh"

scripts/topology up "$ID"
start_http b1
backend_setup b1 --interface eth0 $VIP4 > "$RUN/setup.out"
pid=$(cat "$RUN/b1-http.pid")
kill -0 "$pid"

scripts/topology down "$ID"
equal "namespaces" "" "$(ip netns list)"
equal "pins" "" "$(find /sys/fs/bpf/fairlead-backend -mindepth 1)"
equal "backend state" "" "$(find /run/fairlead-backend -mindepth 1)"
[ ! -e "$RUN" ] || fail "'$RUN' is left"
[ ! -d "/proc/$pid" ] || fail "nginx is left"

scripts/topology down "$ID"
