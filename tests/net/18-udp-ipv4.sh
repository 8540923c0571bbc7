#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# An IPv4 datagram to the VIP is answered from the VIP, by more than one backend.
. "$(dirname "$0")/lib.sh"

balanced 4 ipip $VIP4
check_udp_spread $VIP4
