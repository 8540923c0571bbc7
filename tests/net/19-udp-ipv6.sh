#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# An IPv6 datagram to the VIP is answered from the VIP, by more than one backend.
. "$(dirname "$0")/lib.sh"

balanced 6 ipip $VIP6
check_udp_spread $VIP6
