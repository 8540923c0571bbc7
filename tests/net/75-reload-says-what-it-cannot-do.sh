#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# A reload warns of what a start would warn of, and of what only a start changes:
# the size of flow maps and the rate of ICMP answers; another hash key is refused.
. "$(dirname "$0")/lib.sh"

# said WORDS: in the log.
said() {
	grep -q "$1" "$RUN/fairleadd.log"
}

reload() {
	kill -HUP "$(cat "$RUN/fairleadd.pid")"
	wait_until 10 said "$1" || fail "it does not say '$1'"
}

scripts/topology up "$ID"
write_config 4 ipip $VIP4:80/tcp
start_fairleadd
! said warning || fail "there is a warning already"

sed -i 's/^flows: .*/flows: 128K/' "$RUN/fairlead.yaml"
reload "warning: flows: the flow maps hold [0-9]* a CPU, conntrack sets, and stay so"
sed -i 's/^flows: .*/&\nicmp_rate: 7/' "$RUN/fairlead.yaml"
reload "warning: icmp_rate: it stays 10000 until fairleadd is restarted"
sed -i 's/^    encap: .*/&\n    table_size: 251/' "$RUN/fairlead.yaml"
reload "warning: pool 'web': table_size 251 is less than 100 slots"

sed -i 's/^hash_key: 00/hash_key: ff/' "$RUN/fairlead.yaml"
reload "error: reload failed, nothing is changed: hash_key cannot change"
