# SPDX-License-Identifier: GPL-2.0-only
# Fuzzers: libFuzzer comes with clang, so these are built by clang from source.
# make fuzz-cfg [FUZZ_SECONDS=N]; what it finds is left in $(O)/tests/fuzz/.

FUZZ_SECONDS ?= 30
FUZZ_CFLAGS := -std=gnu11 -g -O1 -D_GNU_SOURCE -I. -Iinclude -Iuser \
	-fsanitize=fuzzer,address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer
FUZZ_CFG_SRC := tests/fuzz/fuzz_cfg.c $(wildcard user/core/*.c)

$(O)/tests/fuzz/fuzz_cfg: $(FUZZ_CFG_SRC) $(wildcard user/core/*.h include/*.h)
	$(say) FUZZ $@
	$(Q)mkdir -p $(@D)
	$(Q)$(CLANG) $(FUZZ_CFLAGS) $(FUZZ_CFG_SRC) -lyaml -ljansson -lm -o $@

.PHONY: fuzz-cfg
fuzz-cfg: $(O)/tests/fuzz/fuzz_cfg
	$(Q)mkdir -p $(O)/tests/fuzz/corpus_cfg
	$(Q)$< -max_total_time=$(FUZZ_SECONDS) -timeout=10 -rss_limit_mb=1024 -max_len=4096 \
		-print_final_stats=1 -dict=tests/fuzz/cfg.dict -artifact_prefix=$(O)/tests/fuzz/cfg- \
		$(O)/tests/fuzz/corpus_cfg tests/fuzz/corpus_cfg

FUZZ_CTL_SRC := tests/fuzz/fuzz_ctl.c $(wildcard user/core/*.c)

$(O)/tests/fuzz/fuzz_ctl: $(FUZZ_CTL_SRC) $(wildcard user/daemon/*.[ch] user/core/*.h include/*.h)
	$(say) FUZZ $@
	$(Q)mkdir -p $(@D)
	$(Q)$(CLANG) $(FUZZ_CFLAGS) -DFAIRLEAD_VERSION='"$(VERSION)"' $(FUZZ_CTL_SRC) \
		-lyaml -ljansson -lm -o $@

.PHONY: fuzz-ctl
fuzz-ctl: $(O)/tests/fuzz/fuzz_ctl
	$(Q)mkdir -p $(O)/tests/fuzz/corpus_ctl
	$(Q)$< -max_total_time=$(FUZZ_SECONDS) -timeout=10 -rss_limit_mb=1024 -max_len=4096 \
		-print_final_stats=1 -dict=tests/fuzz/ctl.dict -artifact_prefix=$(O)/tests/fuzz/ctl- \
		$(O)/tests/fuzz/corpus_ctl tests/fuzz/corpus_ctl

# make fuzz-fixture: the same for files of cases; the examples are its corpus.
FUZZ_FIXTURE_SRC := tests/fuzz/fuzz_fixture.c $(wildcard user/core/*.c)

$(O)/tests/fuzz/fuzz_fixture: $(FUZZ_FIXTURE_SRC) $(wildcard user/core/*.h include/*.h)
	$(say) FUZZ $@
	$(Q)mkdir -p $(@D)
	$(Q)$(CLANG) $(FUZZ_CFLAGS) $(FUZZ_FIXTURE_SRC) -lyaml -ljansson -lm -o $@

.PHONY: fuzz-fixture
fuzz-fixture: $(O)/tests/fuzz/fuzz_fixture
	$(Q)mkdir -p $(O)/tests/fuzz/corpus_fixture
	$(Q)$< -max_total_time=$(FUZZ_SECONDS) -timeout=10 -rss_limit_mb=1024 -max_len=4096 \
		-print_final_stats=1 -artifact_prefix=$(O)/tests/fuzz/fixture- \
		$(O)/tests/fuzz/corpus_fixture examples/cases
