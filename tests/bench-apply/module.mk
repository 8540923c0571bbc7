# SPDX-License-Identifier: GPL-2.0-only
# How long changes take from the command to the maps.

.PHONY: bench-apply
bench-apply: all
	$(Q)tests/bench-apply/run $(O)/bench-apply.json
