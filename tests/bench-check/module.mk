# SPDX-License-Identifier: GPL-2.0-only
# What fairlead-check costs.

.PHONY: bench-check
bench-check: all $(NET_TOOLS)
	$(Q)tests/bench-check/run
