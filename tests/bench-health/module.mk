# SPDX-License-Identifier: GPL-2.0-only
# How fast health is, and what it costs.

.PHONY: bench-death bench-health
bench-death: all $(O)/tests/bench-health/death
	$(Q)tests/bench-health/run-death
bench-health: all
	$(Q)tests/bench-health/run-cost

$(O)/tests/bench-health/death: $(O)/%: $(O)/%.o
	$(say) LINK $@
	$(Q)$(CC) $(ALL_CFLAGS) $(ALL_LDFLAGS) $^ -o $@
