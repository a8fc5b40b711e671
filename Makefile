# SPDX-License-Identifier: MIT
# GNU make.  `make` builds into .build/; the programs run from .build/bin/.

VERSION	= 0.1.0
PREFIX	= /usr/local
BINDIR	= $(PREFIX)/bin
MANDIR	= $(PREFIX)/share/man
DATADIR	= $(PREFIX)/share/gs
BASHDIR	= $(PREFIX)/share/bash-completion/completions
ZSHDIR	= $(PREFIX)/share/zsh/site-functions
CFLAGS	= -O2 -g
B	= .build

PKGS	= libbsd-overlay libmd libcjson
WARN	= -std=c11 -Wall -Wextra -Wpedantic -Wshadow -Wmissing-prototypes \
	  -Wstrict-prototypes -Wvla -Wformat=2 -Wpointer-arith \
	  -Wwrite-strings -Wundef
DEFS	= -I. -D_GNU_SOURCE -DLIBBSD_OPENBSD_VIS \
	  -DGS_VERSION='"$(VERSION)"' -DGS_DATADIR='"$(DATADIR)"'
PKGINC	:= $(shell pkg-config --cflags $(PKGS) 2>/dev/null)
PKGLIB	:= $(shell pkg-config --libs $(PKGS) 2>/dev/null)
NEED	= $(if $(PKGLIB),,$(error no pkg-config, or it lacks one of $(PKGS); \
	  try `make deps'))
SUDO	= $(if $(filter 0,$(shell id -u)),,sudo)
SAN	= -fsanitize=address,undefined

PROGS	= gs-probe gs-simjob gs-place gs-launch gs-journal gs-loop
BINS	= $(PROGS:%=$B/bin/%)
MAN1	= gs-probe/gs-probe.1 gs-probe/gs-simjob.1 gs-place/gs-place.1 \
	  gs-launch/gs-launch.1 gs-journal/gs-journal.1 gs-loop/gs-loop.1
MAN5	= lib/gs-records.5 lib/gs-jobs.5 gs-journal/gs-journal.5
MAN7	= lib/gs.7
JQ	= gs-journal/gs.jq
DIRS	= $(BINDIR) $(MANDIR)/man1 $(MANDIR)/man5 $(MANDIR)/man7 \
	  $(DATADIR) $(BASHDIR) $(ZSHDIR)

# Debian's names of what is needed to build and run, to test, and to lint.
DEPS	= gcc libc6-dev make pkg-config libbsd-dev libmd-dev libcjson-dev jq
DEPS_CHECK = bats procps
DEPS_LINT = clang clang-format cppcheck git mandoc shellcheck universal-ctags \
	  zsh

# A program is the sources in its folder; the simulated job lives with the
# simulation.
SRC_gs-simjob	= gs-probe/gs-simjob.c gs-probe/simdir.c
SRC_gs-probe	= $(filter-out gs-probe/gs-simjob.c,$(wildcard gs-probe/*.c))
SRC_gs-place	= $(wildcard gs-place/*.c)
SRC_gs-launch	= $(wildcard gs-launch/*.c)
SRC_gs-journal	= $(wildcard gs-journal/*.c)
SRC_gs-loop	= $(wildcard gs-loop/*.c)
LIBOBJ	= $(patsubst %.c,$B/%.o,$(wildcard lib/*.c))
TESTSO	= $B/t/clockshift.so $B/t/nvmlstub.so $B/t/nvmlstub-v1.so \
	  $B/t/nvmlstub-v2.so
TESTBIN	= $(patsubst t/%.c,$B/t/%,$(filter-out \
	  $(TESTSO:$B/%.so=%.c),$(wildcard t/*.c))) $(TESTSO)

all: $(BINS)

define program
$B/bin/$(1): $$(patsubst %.c,$B/%.o,$$(SRC_$(1))) $B/libgs.a
endef
$(foreach p,$(PROGS),$(eval $(call program,$(p))))

$(BINS):
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(PKGLIB) -lm

$B/libgs.a: $(LIBOBJ)
	@rm -f $@
	$(AR) rc $@ $^

$B/%.o: %.c
	$(NEED)@mkdir -p $(@D)
	$(CC) $(WARN) $(DEFS) $(PKGINC) $(CPPFLAGS) $(CFLAGS) -MMD -MP -c -o $@ $<

# Where to look for gs.jq, and the version, may differ from the last build's.
$B/lib/gs.o $B/gs-journal/query.o: $B/names
$B/names: $(if $(filter-out $(VERSION)=$(DATADIR),$(file <$B/names)),FORCE)
	@mkdir -p $(@D)
	@echo '$(VERSION)=$(DATADIR)' >$@

# Small drivers of pure library functions, for the tests.
$B/t/%: $B/t/%.o $B/libgs.a
	$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(PKGLIB) -lm

# Without the user's flags: sanitizers do not go into what is preloaded.
SHARED	= $(CC) $(WARN) $(DEFS) $(PKGINC) -O2 -fPIC -shared
$B/t/%.so: t/%.c
	@mkdir -p $(@D)
	$(SHARED) -o $@ $< $(PKGLIB)

# As older drivers have it: no memory apart from what is reserved, and before
# that no lists that name instances.
$B/t/nvmlstub-v2.so: t/nvmlstub.c
	@mkdir -p $(@D)
	$(SHARED) -DWITHOUT_MEMORY2 -o $@ $< $(PKGLIB)
$B/t/nvmlstub-v1.so: t/nvmlstub.c
	@mkdir -p $(@D)
	$(SHARED) -DWITHOUT_MEMORY2 -DWITHOUT_V2 -o $@ $< $(PKGLIB)

testbin: $(TESTBIN)

# All tests, or those of T='t/20-place.bats ...'.
check: all testbin
	GS_TEST_BIN=$(abspath $B)/bin t/suite $(BATSFLAGS) $(or $(T),$(wildcard t/*.bats))

# All but those that repeat what the others do a thousand times.
sanitize:
	$(MAKE) B=$B/asan CFLAGS='-O1 -g $(SAN) -fno-sanitize-recover=all' \
	    LDFLAGS='$(SAN)' BATSFLAGS="$(BATSFLAGS) --filter-tags '!long'" check

lint:
	t/lint

tidy:
	clang-format -i */*.[ch]

demo: all
	@d=$$(mktemp -d) && trap 'rm -rf "$$d"' EXIT && \
	cp t/fixtures/demo.txt "$$d/jobs.txt" && \
	PATH=$(abspath $B)/bin:$$PATH GS_SIM_DIR=$$d/sim && export PATH GS_SIM_DIR && \
	cd "$$d" && cat jobs.txt && gs-loop jobs.txt --sim 2 --poll 1 && \
	cat gs_logs/status.txt

install: all
	install -d $(DIRS:%='$(DESTDIR)%')
	install $(BINS) '$(DESTDIR)$(BINDIR)'
	install -m 644 $(MAN1) '$(DESTDIR)$(MANDIR)/man1'
	install -m 644 $(MAN5) '$(DESTDIR)$(MANDIR)/man5'
	install -m 644 $(MAN7) '$(DESTDIR)$(MANDIR)/man7'
	install -m 644 $(JQ) '$(DESTDIR)$(DATADIR)'
	install -m 644 lib/completion/_gs '$(DESTDIR)$(ZSHDIR)'
	for p in $(PROGS); do install -m 644 lib/completion/gs.bash \
	    '$(DESTDIR)$(BASHDIR)'/$$p || exit; done

uninstall:
	cd '$(DESTDIR)$(BINDIR)' && rm -f $(PROGS)
	cd '$(DESTDIR)$(MANDIR)/man1' && rm -f $(notdir $(MAN1))
	cd '$(DESTDIR)$(MANDIR)/man5' && rm -f $(notdir $(MAN5))
	cd '$(DESTDIR)$(MANDIR)/man7' && rm -f $(notdir $(MAN7))
	cd '$(DESTDIR)$(BASHDIR)' && rm -f $(PROGS)
	rm -f '$(DESTDIR)$(ZSHDIR)/_gs' '$(DESTDIR)$(DATADIR)/gs.jq'
	-rmdir '$(DESTDIR)$(DATADIR)'

dist:
	@mkdir -p $B
	git archive --prefix=gs-$(VERSION)/ -o $B/gs-$(VERSION).tar.gz HEAD

# On Debian and Ubuntu.
deps: PACKAGES = $(DEPS)
deps-check: PACKAGES = $(DEPS_CHECK)
deps-lint: PACKAGES = $(DEPS_LINT)
deps deps-check deps-lint: apt-update
	$(SUDO) apt-get install -y --no-install-recommends $(PACKAGES)

apt-update:
	$(SUDO) apt-get update

clean:
	rm -rf $B

-include $(shell find $B -name '*.d' 2>/dev/null)

.PHONY: all check sanitize lint tidy demo install uninstall dist clean testbin
.PHONY: deps deps-check deps-lint apt-update FORCE
.SECONDARY:
.DELETE_ON_ERROR:
