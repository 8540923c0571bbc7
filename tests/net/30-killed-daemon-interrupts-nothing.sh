#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# The daemon is killed with SIGKILL and started again, three times, under load: no
# request fails, with no daemon, while it adopts the maps, or after.
. "$(dirname "$0")/lib.sh"

balanced 4 ipip $VIP4 $VIP6
start_load $VIP4
start_load $VIP6 load6

for _ in 1 2 3; do
	stop fairleadd KILL
	load_goes_on
	load_goes_on load6
	start_fairleadd
	load_goes_on
	load_goes_on load6
done

stop_load
stop_load load6
equal "table_missing" 0 "$(drop_counter table_missing)"
equal "backend_invalid" 0 "$(drop_counter backend_invalid)"
