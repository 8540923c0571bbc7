# SPDX-License-Identifier: GPL-2.0-only
# The backend side's program, by BPF_PROG_RUN.

DECAP_TEST := $(O)/tests/decap/test_decap
ROOT_TESTS += $(DECAP_TEST)

$(DECAP_TEST): $(patsubst %,$(O)/tests/%.o,decap/test_decap decap/rows \
		lib/frame lib/frame_print lib/checksum)
	$(say) LINK $@
	$(Q)$(CC) $(ALL_CFLAGS) $(ALL_LDFLAGS) $^ $(LDLIBS) -lcmocka -o $@
