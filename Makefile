# SPDX-License-Identifier: MIT
# Makefile for dtrepl.  Settings on top, targets below; `make help` lists
# them.  Non-recursive, sources by wildcard, everything built lands in $(B).
# Local settings go into config.mk.

# ---- settings -----------------------------------------------------------

-include config.mk

VERSION  = 0.1.0
PREFIX  ?= /usr/local
B       ?= build
ifeq ($(origin CC),default)
CC       = gcc
endif
LUA     ?= lua5.4
MPIRUN  ?= mpirun
MPI     ?= 1
# Build only some modules (make MODULES="base tensor" unit); default: all.
MODULES ?= $(notdir $(patsubst %/,%,$(wildcard src/*/)))

# Each warning on its own line; none is switched off.
WARN  = -Wall
WARN += -Wextra
WARN += -Wpedantic
WARN += -Wshadow
WARN += -Wstrict-prototypes
WARN += -Wmissing-prototypes
WARN += -Wwrite-strings
WARN += -Wundef
WARN += -Wconversion
WARN += -Werror
# This one depends on the optimiser, so each compiler finds other places.
WARN += -Wno-error=maybe-uninitialized

# -g1: lines in backtraces; a sixth less to compile than -g, which config.mk
# may ask for (OPT = -O0 -g) where variables are to be seen.
OPT ?= -O2 -g1
# Results must be the same bits on every build: no contraction into FMA.
FLAGS = -std=c11 -D_GNU_SOURCE -Isrc -I$(B)/gen -ffp-contract=off -pthread
# Arithmetic loops: vectorised, for any x86-64 of the last 15 years.  Without
# errno and traps sqrt and selections vectorise; values do not change.
KERNEL_FLAGS = -O3 -fno-math-errno -fno-trapping-math
ifneq (,$(filter x86_64%,$(shell $(CC) -dumpmachine 2>/dev/null)))
KERNEL_FLAGS += -march=x86-64-v2
endif

CONFIG = release
ifdef TESTMODE
CONFIG := test
FLAGS += -DDT_TESTMODE
endif
ifdef SANITIZER
CONFIG := $(CONFIG)-$(SANITIZER)
OPT = -O1 -g1
FLAGS += -fsanitize=$(SANITIZER) -fno-omit-frame-pointer
FLAGS += -fno-sanitize-recover=all
endif
ifdef COV
CONFIG := $(CONFIG)-cov
OPT = -O0 -g
FLAGS += --coverage
endif
ifneq ($(MPI),1)
CONFIG := $(CONFIG)-nompi
endif

# ---- libraries ----------------------------------------------------------

# Third-party headers by -isystem: their warnings are not ours.
pkg_cflags = $(subst -I,-isystem ,$(shell pkg-config --cflags $(1) 2>/dev/null))
pkg_libs   = $(shell pkg-config --libs $(1) 2>/dev/null)

# The thread-safe OpenBLAS by its own folder: whichever variant the system's
# alternatives point to, several rank threads may call this one at once (the
# "serial" variant gives wrong products then).  Threads inside it are set to
# one per rank by the program.
BLAS_DIR := $(firstword $(wildcard /usr/lib/*/openblas-pthread))
ifneq (,$(BLAS_DIR))
BLAS_CFLAGS := -isystem $(subst /usr/lib,/usr/include,$(BLAS_DIR))
BLAS_LIBS   := -L$(BLAS_DIR) -Wl,--disable-new-dtags -Wl,-rpath,$(BLAS_DIR) \
  -lopenblas
else
BLAS_CFLAGS := $(call pkg_cflags,openblas)
BLAS_LIBS   := $(call pkg_libs,openblas)
endif

# LPeg as Debian packages it: the shared library, linked by its path.
LPEG := $(firstword $(wildcard /usr/lib/*/liblua5.4-lpeg.so.[0-9] \
  /usr/lib/*/lua/5.4/lpeg.so /usr/lib/lua/5.4/lpeg.so \
  /usr/local/lib/lua/5.4/lpeg.so))

CFLAGS_EXT := $(call pkg_cflags,lua5.4 jansson fftw3 libpcre2-8 libzstd) $(BLAS_CFLAGS) \
  $(EXTRA_CFLAGS)
# -rdynamic: the MPI backend, a shared object, calls back into the program.
LDLIBS := -rdynamic $(call pkg_libs,lua5.4 jansson libpcre2-8 libzstd) $(LPEG) -lreadline \
  -llapacke -lfftw3 -lfftw3f $(BLAS_LIBS) -ldl -lm -pthread $(EXTRA_LDLIBS)
CMOCKA := $(call pkg_libs,cmocka)

# ---- files --------------------------------------------------------------

OBJ  := $(B)/obj-$(CONFIG)
PROG := $(B)/dtrepl
LIB  := $(OBJ)/libdtrepl.a
MPISO := $(B)/dtrepl-mpi.so

MAIN    := src/repl/main.c
SRC     := $(sort $(foreach m,$(MODULES),$(wildcard src/$(m)/*.c)))
LIBSRC  := $(filter-out $(MAIN) src/comm/mpi.c,$(SRC))
LUASRC  := $(sort $(shell find $(filter-out \
             lua/examples/,$(wildcard lua/*/)) -name '*.lua' -o \
             -path '*/pylib/*.py' 2>/dev/null))
EMBED   := $(B)/gen/lua_embed.c
# Tables that are made from what src/oplib/*.ops say of operators.
OPTEXT  := $(sort $(wildcard src/oplib/*.ops))
OPTABLE := $(addprefix $(B)/gen/,oplib/ops.def oplib/variants.def \
             oplib/schema_only.def oplib/rulings.def oplib/pw_types.def \
             oplib/pw_refuse.def op/kept.def op/saved.def op/refuse.def \
             op/out_types.def op/signatures.def op/untraced.def \
             engine/marked.def shard/known_wrong.def \
             compat/ops_by_release.def)
LIBOBJ  := $(LIBSRC:src/%.c=$(OBJ)/%.o) $(OBJ)/gen/lua_embed.o
MAINOBJ := $(MAIN:src/%.c=$(OBJ)/%.o)
UNITSRC := $(sort $(wildcard tests/unit/test_*.c))
UNIT    := $(UNITSRC:tests/unit/%.c=$(OBJ)/unit/%)
FUZZSRC := $(sort $(wildcard tests/fuzz/fuzz_*.c))
FUZZ    := $(FUZZSRC:tests/fuzz/%.c=$(OBJ)/fuzz/%)
PERFSRC := $(sort $(wildcard tests/perf/*.c))
ifeq ($(MPI),0)
PERFSRC := $(filter-out tests/perf/mpi_%,$(PERFSRC))
endif
PERF    := $(PERFSRC:tests/perf/%.c=$(OBJ)/perf/%)
BUILT   := $(PROG)
ifeq ($(MPI),1)
ifneq (,$(wildcard src/comm/mpi.c))
BUILT   += $(MPISO)
endif
endif

ALLFLAGS = $(OPT) $(WARN) $(FLAGS) $(CFLAGS_EXT)
DATADIR  = $(PREFIX)/share/dtrepl
LIBDIR   = $(PREFIX)/lib/dtrepl
FLAGS += -DDT_VERSION='"$(VERSION)"'
ifneq ($(MPI),1)
FLAGS += -DDT_NO_MPI
endif
# Where things are once installed; only bind and repl may know.
PATHS = -DDT_DATADIR='"$(DATADIR)"' -DDT_LIBDIR='"$(LIBDIR)"'

ifdef V
Q =
else
Q = @
endif
say = @$(if $(V),:,echo "  $(1)")

# ---- building -----------------------------------------------------------

.PHONY: all unit run test quick asan ubsan tsan cov fuzz lint format docs \
  docs-check bless bench install uninstall clean nightly help setup man FORCE
.DEFAULT_GOAL := all
.DELETE_ON_ERROR:

all: $(BUILT)

# stamp: a file that changes only when the text in it does.
define stamp
@mkdir -p $(@D)
@echo '$(subst ','\'',$(1))' | cmp -s - $@ || \
  echo '$(subst ','\'',$(1))' > $@
endef

# Everything depends on the flags it was built with; the program also on
# which configuration was linked last.
$(OBJ)/flags: FORCE
	$(call stamp,$(CC) $(ALLFLAGS) $(KERNEL_FLAGS))
$(OBJ)/paths: FORCE
	$(call stamp,$(PATHS))
$(B)/config: FORCE
	$(call stamp,$(CONFIG))

$(OBJ)/%.o: src/%.c $(OBJ)/flags
	$(call say,CC $<)
	@mkdir -p $(@D)
	$(Q)$(CC) $(ALLFLAGS) $(MODFLAGS) -MMD -MP -c -o $@ $<

$(filter $(OBJ)/kernel/%,$(LIBOBJ)): MODFLAGS = $(KERNEL_FLAGS)
ifneq (,$(filter x86_64%,$(shell $(CC) -dumpmachine 2>/dev/null)))
$(OBJ)/kernel/loops_v3.o: MODFLAGS += -mavx2 -mfma
$(OBJ)/kernel/loops_v4.o: MODFLAGS += -mavx2 -mfma -mavx512f -mavx512bw \
  -mavx512dq -mavx512vl -mprefer-vector-width=512
endif
PATHOBJ := $(filter $(OBJ)/bind/% $(OBJ)/repl/%,$(LIBOBJ) $(MAINOBJ))
$(PATHOBJ): MODFLAGS = $(PATHS)
$(PATHOBJ): $(OBJ)/paths

# A table is written only when it changed: a changed line of a text compiles
# again what reads its table, and nothing else.
$(B)/gen/operators: scripts/gen-operators.lua scripts/operator_texts.lua \
  $(OPTEXT)
	$(call say,LUA operator tables)
	@mkdir -p $(sort $(dir $(OPTABLE)))
	$(Q)$(LUA) scripts/gen-operators.lua $(B)/gen $(OPTEXT)
	@touch $@
$(OPTABLE): $(B)/gen/operators
	@:
$(LIBOBJ) $(MAINOBJ): | $(B)/gen/operators

# The list of Lua files is in a stamp, so that a removed file counts too.
$(B)/gen/lua_files: FORCE
	$(call stamp,$(LUASRC))
$(EMBED): scripts/embed.lua scripts/tree_writer.lua scripts/bytecode.lua $(B)/gen/lua_files $(LUASRC)
	$(call say,LUA $@)
	$(Q)$(LUA) scripts/embed.lua $@ $(LUASRC)
$(OBJ)/gen/lua_embed.o: $(EMBED) $(OBJ)/flags
	@mkdir -p $(@D)
	$(Q)$(CC) $(ALLFLAGS) -MMD -MP -c -o $@ $<

$(LIB): $(LIBOBJ)
	$(call say,AR $@)
	$(Q)rm -f $@ && $(AR) rcs $@ $(LIBOBJ)

# A program with an incomplete operator is no program.  Those under a sanitizer
# are of the same sources.
CHECKOPS = $(if $(SANITIZER),:,sh scripts/check-operators.sh)

# The objects themselves, not the library: dtrepl-mpi.so needs them all.
$(PROG): $(MAINOBJ) $(LIBOBJ) $(B)/config
	$(call say,LD $@)
	$(Q)$(CC) $(ALLFLAGS) -o $@.new $(MAINOBJ) $(LIBOBJ) $(LDLIBS)
	$(Q)$(CHECKOPS) $@.new $(B)/gen/oplib/ops.def $(filter $(OBJ)/oplib/%,$(LIBOBJ))
	$(Q)mv -f $@.new $@

# MPI lives in a shared object that only the mpi world loads: loading libmpi
# costs milliseconds that the threads world need not pay.
$(OBJ)/comm/mpi.o: MODFLAGS = -fPIC $(call pkg_cflags,ompi-c)
$(MPISO): $(OBJ)/comm/mpi.o $(B)/config
	$(call say,LD $@)
	$(Q)$(CC) $(ALLFLAGS) -shared -o $@.new $< $(call pkg_libs,ompi-c)
	$(Q)mv -f $@.new $@

# ---- tests and tools that are C programs --------------------------------

$(OBJ)/unit/%: tests/unit/%.c $(LIB)
	$(call say,CC $<)
	@mkdir -p $(@D)
	$(Q)$(CC) $(ALLFLAGS) -MMD -MP -MF $@.d -o $@ $< $(LIB) \
	  $(CMOCKA) $(LDLIBS)
# What the MPI part looks for in the program that loads it; looked up when the
# library is there, by the shell, as make remembers folders that were empty.
COMMOBJ := $(foreach m,base tensor kernel comm,$(OBJ)/$(m)/*.o)
$(OBJ)/perf/%: tests/perf/%.c $(LIB)
	$(call say,CC $<)
	@mkdir -p $(@D)
	$(Q)$(CC) $(ALLFLAGS) $(call pkg_cflags,ompi-c) -MMD -MP \
	  -MF $@.d -o $@ $< $(if $(filter mpi_%,$*),-rdynamic \
	  $$(ls $(COMMOBJ) | grep -v /mpi.o),$(LIB)) $(LDLIBS) \
	  $(if $(filter mpi_%,$*),$(call pkg_libs,ompi-c))
$(OBJ)/fuzz/%: tests/fuzz/%.c tests/fuzz/driver.c $(LIB)
	$(call say,CC $<)
	@mkdir -p $(@D)
	$(Q)$(CC) $(ALLFLAGS) -MMD -MP -MF $@.d -o $@ $< \
	  tests/fuzz/driver.c $(LIB) $(LDLIBS)

unit: $(UNIT)
perf-programs: $(PERF)
fuzz-programs: $(FUZZ)
# What the test runner needs; it asks for the folder with print-obj.  And the
# benchmarks, which nothing else builds often; under a sanitizer they say
# nothing, and one of them wants MPI.
test-programs: $(BUILT) $(UNIT) $(if $(SANITIZER),,$(PERF))
print-obj:
	@echo $(OBJ)
.PHONY: perf-programs fuzz-programs test-programs print-obj

# ---- main targets -------------------------------------------------------

setup:
	@scripts/setup.sh

# run: set up, build with all cores (or as many as -j says), show founding case
# a on four real ranks; on a terminal the person stays at the prompt.
CORES ?= $(or $(shell nproc 2>/dev/null),2)
run:
	@scripts/setup.sh
	@$(MAKE) $(if $(filter -j%,$(MAKEFLAGS)),,-j$(CORES)) \
	  --no-print-directory all
	@scripts/run.sh $(B)

test:
	@scripts/setup.sh
	@scripts/test-all.sh $(if $(FULL),--full)
quick:
	@scripts/test-all.sh --quick
asan:
	@scripts/test-all.sh --only asan
ubsan:
	@scripts/test-all.sh --only ubsan
tsan:
	@scripts/test-all.sh --only tsan
nightly:
	@scripts/test-all.sh --nightly
cov:
	@scripts/cov.sh
fuzz:
	@scripts/fuzz.sh
bless:
	@$(MAKE) --no-print-directory all
	@$(LUA) scripts/run-tests.lua --bless --build $(B)
bench:
	@$(MAKE) --no-print-directory all perf-programs
	@$(LUA) scripts/bench.lua --build $(B) --obj $(OBJ)

lint:
	@scripts/lint.sh
format:
	clang-format -i $(wildcard src/*/*.[ch] tests/*/*.[ch])

docs: all
	@$(LUA) scripts/gen-docs.lua $(B)
docs-check: all
	@$(LUA) scripts/gen-docs.lua $(B) --check
man: all
	@$(LUA) scripts/gen-man.lua $(B)

# ---- installing ---------------------------------------------------------

install: all man
	install -d $(DESTDIR)$(PREFIX)/bin $(DESTDIR)$(LIBDIR) \
	  $(DESTDIR)$(DATADIR) $(DESTDIR)$(PREFIX)/share/man/man1 \
	  $(DESTDIR)$(PREFIX)/share/bash-completion/completions
	install -m 755 $(PROG) $(DESTDIR)$(PREFIX)/bin/dtrepl
	$(if $(filter $(MPISO),$(BUILT)),install -m 755 $(MPISO) \
	  $(DESTDIR)$(LIBDIR)/)
	rm -rf $(DESTDIR)$(DATADIR)/lua
	cp -R lua $(DESTDIR)$(DATADIR)/lua
	install -m 644 $(B)/man/dtrepl.1 $(DESTDIR)$(PREFIX)/share/man/man1/
	install -m 644 $(B)/man/dtrepl.bash \
	  $(DESTDIR)$(PREFIX)/share/bash-completion/completions/dtrepl
uninstall:
	rm -f $(DESTDIR)$(PREFIX)/bin/dtrepl
	rm -rf $(DESTDIR)$(LIBDIR) $(DESTDIR)$(DATADIR)
	rm -f $(DESTDIR)$(PREFIX)/share/man/man1/dtrepl.1
	rm -f $(DESTDIR)$(PREFIX)/share/bash-completion/completions/dtrepl

clean:
	rm -rf $(B)

help:
	@echo 'make            build $(PROG)'
	@echo 'make run        set up, build, founding case under mpirun, prompt'
	@echo 'make test       everything a release must pass (FULL=1: also PyTorch)'
	@echo 'make quick      a two-minute part of it'
	@echo 'make asan|ubsan|tsan   the quick part under a sanitizer'
	@echo 'make lint|format|docs|docs-check|bless|bench|cov|fuzz|nightly'
	@echo 'make install|uninstall PREFIX=$(PREFIX)   make clean'
	@echo 'variables: CC SANITIZER=address|undefined|thread TESTMODE=1 COV=1'
	@echo '           V=1 MPI=0 B=DIR MODULES="base tensor"'

-include $(LIBOBJ:.o=.d) $(MAINOBJ:.o=.d) $(OBJ)/comm/mpi.d \
  $(UNIT:=.d) $(PERF:=.d) $(FUZZ:=.d)
