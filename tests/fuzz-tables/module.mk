# SPDX-License-Identifier: GPL-2.0-only
# make fuzz-tables [FUZZ_SECONDS=N]; needs clang, as tests/fuzz/module.mk says.

FUZZ_TABLES_SRC := tests/fuzz-tables/fuzz_tables.c $(wildcard user/core/table*.c) \
	user/core/primes.c user/core/err.c

$(O)/tests/fuzz-tables/fuzz_tables: $(FUZZ_TABLES_SRC) tests/unit/table_textbook.h \
		$(wildcard user/core/*.h include/*.h)
	$(say) FUZZ $@
	$(Q)mkdir -p $(@D)
	$(Q)$(CLANG) -std=gnu11 -g -O1 -D_GNU_SOURCE -I. -Iinclude -Iuser \
		-fsanitize=fuzzer,address,undefined -fno-sanitize-recover=all \
		-fno-omit-frame-pointer $(FUZZ_TABLES_SRC) -o $@

.PHONY: fuzz-tables
fuzz-tables: $(O)/tests/fuzz-tables/fuzz_tables
	$(Q)mkdir -p $(O)/tests/fuzz-tables/corpus
	$(Q)$< -max_total_time=$(or $(FUZZ_SECONDS),30) -timeout=10 \
		-rss_limit_mb=1024 -max_len=512 -print_final_stats=1 -artifact_prefix=$(O)/tests/fuzz-tables/ \
		$(O)/tests/fuzz-tables/corpus
