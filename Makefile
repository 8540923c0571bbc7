# SPDX-License-Identifier: GPL-2.0-only
# Build: make. Everything goes to .output/. `make help` lists the targets.

VERSION := 0.1.0
O := .output

CC ?= gcc
CLANG ?= clang
BPFTOOL ?= bpftool
PKG_CONFIG ?= pkg-config
V ?= 0
ifeq ($(V),0)
Q := @
say = @printf '  %-7s %s\n'
else
Q :=
say = @:
endif

PREFIX ?= /usr/local
SBINDIR ?= $(PREFIX)/sbin
MANDIR ?= $(PREFIX)/share/man
DOCDIR ?= $(PREFIX)/share/doc/fairlead
UNITDIR ?= /lib/systemd/system
BASHCOMPDIR ?= $(PREFIX)/share/bash-completion/completions

LIBS := libbpf libxdp libuv yaml-0.1 jansson libmnl libsystemd libpcap
ARCH := $(shell uname -m | sed 's/x86_64/x86/;s/aarch64/arm64/;s/ppc64le/powerpc/')
# Of fairlead-check, which is all that speaks to servers and so needs them.
CHECK_LIBS := libcurl libcap-ng
MULTIARCH := $(shell $(CC) -print-multiarch 2>/dev/null)

WARN := -Wall -Wextra -Wshadow -Wmissing-prototypes -Wformat=2 -Werror
CFLAGS ?= -O2 -g
ALL_CFLAGS := -std=gnu11 $(WARN) $(CFLAGS) -fPIE -D_GNU_SOURCE -D_FORTIFY_SOURCE=2 \
	-DFAIRLEAD_VERSION='"$(VERSION)"' -I. -Iinclude -Iuser -I$(O) $(shell $(PKG_CONFIG) --cflags $(LIBS))
ALL_LDFLAGS := $(LDFLAGS) -pie -Wl,-z,relro,-z,now
LDLIBS := $(shell $(PKG_CONFIG) --libs $(LIBS)) -lpthread -lm
CHECK_LDLIBS = $(shell $(PKG_CONFIG) --libs $(CHECK_LIBS))
BPF_CFLAGS := -O2 -g -target bpf -mcpu=v3 -D__TARGET_ARCH_$(ARCH) -Wall -Wextra -Werror \
	-Iinclude -Ibpf $(if $(MULTIARCH),-idirafter /usr/include/$(MULTIARCH))
ifeq ($(SAN),1)
ALL_CFLAGS += -fsanitize=address,undefined -fno-omit-frame-pointer -U_FORTIFY_SOURCE
ALL_LDFLAGS += -fsanitize=address,undefined
endif

CORE := $(patsubst %.c,$(O)/%.o,$(wildcard user/core/*.c))
SYS := $(patsubst %.c,$(O)/%.o,$(wildcard user/sys/*.c))
DP := $(patsubst %.c,$(O)/%.o,$(wildcard user/dp/*.c))
DAEMON := $(patsubst %.c,$(O)/%.o,$(wildcard user/daemon/*.c))
CHECK := $(patsubst %.c,$(O)/%.o,$(wildcard user/check/*.c))
CLI := $(patsubst %.c,$(O)/%.o,$(wildcard user/cli/*.c))
SKELS := $(O)/fairlead.skel.h $(O)/decap.skel.h $(O)/probe.skel.h
UNIT := $(patsubst tests/unit/%.c,$(O)/tests/unit/%,$(wildcard tests/unit/test_*.c))
BPF_OBJS := $(patsubst bpf/%.bpf.c,$(O)/%.bpf.o,$(wildcard bpf/*.bpf.c)) \
	$(patsubst tests/%.bpf.c,$(O)/tests/%.bpf.o,$(wildcard tests/*/*.bpf.c))

.PHONY: all
all: $(O)/fairleadd $(O)/fairlead $(O)/fairlead-check $(BPF_OBJS)

$(O)/%.bpf.o: %.bpf.c
	$(say) BPF $@
	$(Q)mkdir -p $(@D)
	$(Q)$(CLANG) $(BPF_CFLAGS) -MMD -MP -c $< -o $@
$(O)/%.bpf.o: bpf/%.bpf.c
	$(say) BPF $@
	$(Q)mkdir -p $(@D)
	$(Q)$(CLANG) $(BPF_CFLAGS) -MMD -MP -c $< -o $@

$(O)/%.skel.h: $(O)/%.bpf.o
	$(say) SKEL $@
	$(Q)$(BPFTOOL) gen skeleton $< name $(subst .,_,$(basename $(notdir $*)))_bpf > $@

$(O)/%.o: %.c | $(SKELS)
	$(say) CC $@
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(ALL_CFLAGS) -MMD -MP -c $< -o $@

$(O)/libfairlead.a: $(CORE) $(SYS) $(DP)
	$(say) AR $@
	$(Q)rm -f $@ && $(AR) rcs $@ $^

$(O)/fairleadd: $(DAEMON) $(O)/libfairlead.a
$(O)/fairlead: $(CLI) $(O)/libfairlead.a
$(O)/fairlead-check: $(CHECK) $(O)/libfairlead.a
$(O)/fairlead-check: LDLIBS += $(CHECK_LDLIBS)
$(O)/fairleadd $(O)/fairlead $(O)/fairlead-check:
	$(say) LINK $@
	$(Q)$(CC) $(ALL_CFLAGS) $(ALL_LDFLAGS) $^ $(LDLIBS) -o $@

# A unit test may include the .c that it tests, so it links no daemon objects.
$(O)/tests/unit/%: $(O)/tests/unit/%.o $(O)/libfairlead.a
	$(say) LINK $@
	$(Q)$(CC) $(ALL_CFLAGS) $(ALL_LDFLAGS) $^ $(LDLIBS) -lcmocka -lm -o $@

# One binary each: tests/bpf/*.c and tests/bench/*.c with their BPF programs.
include $(wildcard tests/*/module.mk)

KERNELS := 6.1 6.12
KERNEL_TESTS := unit bpf net

# What a recipe builds by another make has all CPUs, unless -j was said.
BUILD = +$(Q)$(MAKE) --no-print-directory $(if $(findstring -j,$(MAKEFLAGS)),,-j$(shell nproc))

.PHONY: deps build-tests check check-root test test-kernels bench demo
deps:
	$(Q)scripts/install-deps
build-tests: all $(UNIT) $(ROOT_TESTS)
check: $(UNIT)
	$(Q)scripts/run-tests unit
check-root: build-tests
	$(Q)scripts/run-tests unit bpf net
test: deps
	$(BUILD) build-tests
	$(Q)$(MAKE) --no-print-directory check-root
test-kernels: deps
	$(Q)scripts/install-deps --kernels
	$(BUILD) build-tests
	$(Q)KERNEL_TESTS="$(KERNEL_TESTS)" scripts/vm/test-kernels $(KERNELS)
demo: deps
	$(Q)$(MAKE) --no-print-directory all
	$(Q)scripts/demo

.PHONY: install uninstall dist lint
install: all
	install -D -m 755 -t $(DESTDIR)$(SBINDIR) $(addprefix $(O)/,fairleadd fairlead fairlead-check)
	install -D -m 644 -t $(DESTDIR)$(MANDIR)/man8 docs/fairlead.8 docs/fairleadd.8
	install -D -m 644 -t $(DESTDIR)$(MANDIR)/man5 docs/fairlead.yaml.5 docs/fairlead.test.5
	install -D -m 644 docs/bash-completion/fairlead $(DESTDIR)$(BASHCOMPDIR)/fairlead
	install -D -m 644 -t $(DESTDIR)$(DOCDIR)/examples examples/fairlead.yaml
	install -D -m 644 -t $(DESTDIR)$(DOCDIR)/examples/cases examples/cases/*
	install -d -m 755 $(DESTDIR)$(UNITDIR) $(DESTDIR)/etc/fairlead
	sed 's|@SBINDIR@|$(SBINDIR)|' docs/fairleadd.service > $(DESTDIR)$(UNITDIR)/fairleadd.service
	install -m 640 docs/fairlead.yaml.example $(DESTDIR)/etc/fairlead/
uninstall:
	rm -f $(addprefix $(DESTDIR)$(SBINDIR)/,fairleadd fairlead fairlead-check) \
		$(addprefix $(DESTDIR)$(MANDIR)/,man8/fairlead.8 man8/fairleadd.8 man5/fairlead.yaml.5 man5/fairlead.test.5) \
		$(DESTDIR)$(BASHCOMPDIR)/fairlead $(DESTDIR)$(UNITDIR)/fairleadd.service \
		$(DESTDIR)/etc/fairlead/fairlead.yaml.example
	[ ! -d $(DESTDIR)/etc/fairlead ] || rmdir --ignore-fail-on-non-empty $(DESTDIR)/etc/fairlead
	rm -rf $(DESTDIR)$(DOCDIR)/examples
dist:
	$(Q)mkdir -p $(O)
	git archive --prefix=fairlead-$(VERSION)/ -o $(O)/fairlead-$(VERSION).tar.gz HEAD
# cppcheck knows no cleanup attribute and calls each a leak: SAN=1 finds real ones.
lint:
	shellcheck -x -S warning -P tests/net scripts/demo scripts/topology scripts/run-tests scripts/install-deps .ci/run \
		$(addprefix scripts/vm/,fetch init run test-kernels) tests/net/*.sh
	cppcheck --quiet --error-exitcode=1 --enable=warning,portability --inline-suppr \
		--library=scripts/cppcheck.cfg --suppress=memleak --suppress=resourceLeak -Iinclude -Iuser user

.PHONY: fmt clean help
fmt:
	clang-format -i $$(git ls-files '*.c' '*.h')
clean:
	rm -rf $(O)
help:
	@echo 'make            build fairleadd, fairlead, fairlead-check and the BPF programs into $(O)'
	@echo 'make demo       install packages, build, balance real HTTP between namespaces (KEEP=1 leaves it up)'
	@echo 'make test       install packages, build, run every test (root)'
	@echo 'make test-kernels   every test on stock Debian kernels in an emulator (KERNELS="6.1 6.12")'
	@echo 'make check      unit tests only (no root)'
	@echo 'make bench      ns a packet, beside targets (OTHER=/pinned/program measures yours too)'
	@echo '                BENCH=quick shows in half a minute that it works, not how fast'
	@echo 'make bench-e2e  packets a second between veths, through the daemon'
	@echo 'make bench-dumps   what is lost of them while flows are counted and listed'
	@echo 'make bench-death   ms for which a dead backend is still sent to'
	@echo 'make bench-health  CPU that 10,000 checks take, ms that tables take to follow'
	@echo 'make lint       shellcheck and cppcheck, which are not among the packages installed'
	@echo 'make install    PREFIX, DESTDIR, SBINDIR, MANDIR, DOCDIR, UNITDIR, BASHCOMPDIR are honoured'
	@echo 'Variables: V=1 shows commands, SAN=1 builds with sanitizers, CLANG=clang-19 picks a compiler'

.DELETE_ON_ERROR:
.SECONDARY:
-include $(shell find $(O) -name '*.d' 2>/dev/null)
