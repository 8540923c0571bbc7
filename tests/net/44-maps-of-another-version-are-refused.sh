#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Maps that a daemon with another ABI version pinned are not adopted: one line says
# what to do, and the data plane stays as it is.
. "$(dirname "$0")/lib.sh"

# The first word of the pinned struct config is the version.
set_abi() {
	local value rest

	value=$(bpftool map dump pinned "/sys/fs/bpf/fairlead/$ID/config" -j |
		grep -o '"value":\[[^]]*\]' | grep -o '0x[0-9a-f]*' | paste -sd' ')
	rest=${value#* * * * }
	# shellcheck disable=SC2086
	bpftool map update pinned "/sys/fs/bpf/fairlead/$ID/config" \
		key 0 0 0 0 value "$1" 0 0 0 $rest
}

balanced 4 ipip $VIP4
stop fairleadd
version=$(awk '/define FAIRLEAD_ABI / { print $3 }' include/abi.h)
set_abi 99
if on fe timeout $((20 * SLOWER)) "$O/fairleadd" --foreground --config "$RUN/fairlead.yaml" \
	--instance "$ID" > "$RUN/second.out" 2>&1; then
	fail "fairleadd took over maps of version 99"
fi
one_line "$(cat "$RUN/second.out")"
has "$(cat "$RUN/second.out")" 99
check_http_spread $VIP4

set_abi "$version"
start_fairleadd
check_http_spread $VIP4
