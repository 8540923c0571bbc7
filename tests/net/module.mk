# SPDX-License-Identifier: GPL-2.0-only
# Tools of the tests in namespaces, which scripts/run-tests runs.

NET_TOOLS := $(addprefix $(O)/tests/net/,load outers streams checks hostile)
ROOT_TESTS += $(NET_TOOLS)

$(NET_TOOLS): $(O)/%: $(O)/%.o
	$(say) LINK $@
	$(Q)$(CC) $(ALL_CFLAGS) $(ALL_LDFLAGS) $^ -o $@
