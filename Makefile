# Morph.  `make` builds into build/; `make help` lists the targets.

B        ?= build
CC       ?= gcc
CSTD      = -std=gnu17 -D_GNU_SOURCE -D_FILE_OFFSET_BITS=64
WARN      = -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wcast-qual -Wvla
OPT      ?= -O2 -g
CFLAGS   += $(CSTD) $(WARN) $(OPT) -I. $(EXTRA_CFLAGS)
ifdef CI
CFLAGS   += -Werror
endif
PREFIX   ?= /usr
DESTDIR  ?=
VERSION   = 1

LIBS_EDIT   = -lZydis -lelf -lbfd -lopcodes -lseccomp -lnettle -lm
LIBS_DAEMON = -lsqlite3 -lyaml -lseccomp -lcap -lnettle -lm

# Every folder is one archive; main.c of a folder is a program's and stays out of it.
FOLDERS   = lib policy postmorph editor monitor manager manager/ctl
objs      = $(patsubst %.c,$(B)/%.o,$(filter-out %/main.c,$(wildcard $(1)/*.c)))
archive   = $(B)/$(subst /,-,$(1)).a

PROGRAMS  = $(B)/morphd $(B)/morphctl $(B)/morph-edit

all: $(PROGRAMS)

define folder_rule
$(call archive,$(1)): $(call objs,$(1))
	@rm -f $$@
	ar rcs $$@ $$^
endef
$(foreach f,$(FOLDERS),$(eval $(call folder_rule,$(f))))

$(B)/%.o: %.c
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) -MMD -MP -c $< -o $@

$(B)/morph-edit: $(B)/editor/main.o $(call archive,editor) $(call archive,postmorph) $(call archive,lib)
	$(CC) $(CFLAGS) $(LDFLAGS) $^ $(LIBS_EDIT) -o $@
$(B)/morphd: $(B)/manager/main.o $(call archive,manager) $(call archive,monitor) $(call archive,policy) $(call archive,lib)
	$(CC) $(CFLAGS) $(LDFLAGS) $^ $(LIBS_DAEMON) -o $@
$(B)/morphctl: $(B)/manager/ctl/main.o $(call archive,manager/ctl) $(call archive,manager) $(call archive,monitor) $(call archive,policy) $(call archive,lib)
	$(CC) $(CFLAGS) $(LDFLAGS) $^ $(LIBS_DAEMON) -o $@

# Unit tests: tests/unit/test_*.c, cmocka, one program each, TAP on stdout.
UNIT = $(patsubst tests/unit/%.c,$(B)/tests/unit/%,$(wildcard tests/unit/test_*.c))
$(B)/tests/unit/%: tests/unit/%.c $(foreach f,manager/ctl manager monitor editor postmorph policy lib,$(call archive,$(f)))
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) $(LDFLAGS) -MMD -MP $(filter %.c %.a,$^) -lcmocka $(LIBS_EDIT) $(LIBS_DAEMON) -o $@

clean:
	rm -rf $(B)

.PHONY: all clean
-include $(shell find $(B) -name '*.d' 2>/dev/null)
