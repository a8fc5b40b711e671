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
PKGINC	:= $(shell pkg-config --cflags $(PKGS))
PKGLIB	:= $(shell pkg-config --libs $(PKGS))

PROGS	= gs-probe gs-simjob gs-place gs-launch gs-journal gs-loop
BINS	= $(PROGS:%=$B/bin/%)
MAN1	= gs-probe/gs-probe.1 gs-probe/gs-simjob.1 gs-place/gs-place.1 \
	  gs-launch/gs-launch.1 gs-journal/gs-journal.1 gs-loop/gs-loop.1
MAN5	= lib/gs-records.5 lib/gs-jobs.5 gs-journal/gs-journal.5
MAN7	= lib/gs.7
JQ	= gs-journal/gs.jq

# A program is the sources in its folder; the simulated job lives with the
# simulation.
SRC_gs-simjob	= gs-probe/gs-simjob.c gs-probe/simdir.c
SRC_gs-probe	= $(filter-out gs-probe/gs-simjob.c,$(wildcard gs-probe/*.c))
SRC_gs-place	= $(wildcard gs-place/*.c)
SRC_gs-launch	= $(wildcard gs-launch/*.c)
SRC_gs-journal	= $(wildcard gs-journal/*.c)
SRC_gs-loop	= $(wildcard gs-loop/*.c)
LIBOBJ	= $(patsubst %.c,$B/%.o,$(wildcard lib/*.c))
TESTBIN	= $(patsubst t/%.c,$B/t/%,$(wildcard t/*.c))

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
	@mkdir -p $(@D)
	$(CC) $(WARN) $(DEFS) $(PKGINC) $(CPPFLAGS) $(CFLAGS) -MMD -MP -c -o $@ $<

# Small drivers of pure library functions, for the tests.
$B/t/%: $B/t/%.o $B/libgs.a
	$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(PKGLIB) -lm

testbin: $(TESTBIN)

check: all testbin
	GS_TEST_BIN=$(abspath $B)/bin bats $(BATSFLAGS) $(or $(T),t)

clean:
	rm -rf $B

-include $(shell find $B -name '*.d' 2>/dev/null)

.PHONY: all testbin check clean
.DELETE_ON_ERROR:
