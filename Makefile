# Morph.  `make` builds into build/; `make help` lists the targets.

B        ?= build
ifeq ($(origin CC),default)
CC        = gcc
endif
CSTD      = -std=gnu17 -D_GNU_SOURCE -D_FILE_OFFSET_BITS=64
WARN      = -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wcast-qual -Wvla
OPT      ?= -O2 -g
# What dpkg-buildflags' hardening=+all gives; tests/lint/hardening.sh looks for it in the programs.
# Fortified calls need optimization, and the sanitizers take calls over themselves.
FORTIFY   = $(if $(filter -O0,$(OPT))$(findstring -fsanitize,$(EXTRA_CFLAGS)),,-U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2)
HARDEN    = -fstack-protector-strong $(FORTIFY) -fcf-protection -fPIE
HARDEN_LD = -pie -Wl,-z,relro,-z,now
CFLAGS   += $(CSTD) $(WARN) $(OPT) $(HARDEN) -ffile-prefix-map=$(CURDIR)=. -I. -I$(B) \
	     -DMORPH_VERSION='"$(VERSION)"' $(EXTRA_CFLAGS)
LDFLAGS  += $(HARDEN_LD)
# To GCC `(void)` is no answer, so results that are not used are looked for with clang.
WARN     += $(if $(findstring clang,$(CC)),,-Wno-unused-result)
ifdef CI
CFLAGS   += -Werror
endif
PREFIX   ?= /usr
SYSCONFDIR ?= /etc
DESTDIR  ?=
VERSION   = 1
FUZZ_SECONDS ?= 60
FUZZ_MUTANTS ?= 100000

# One job per CPU unless the command line says otherwise.
ifeq ($(MAKELEVEL)$(filter -j%,$(MAKEFLAGS)),0)
MAKEFLAGS += -j$(shell nproc)
endif

LIBS_LIVE   = -lseccomp -lnettle
LIBS_VERIFY = -lZydis -lelf -lseccomp -lnettle
LIBS_EDIT   = $(LIBS_VERIFY) -lbfd -lopcodes -lm
LIBS_SHARE  = -lpq -lseccomp -lnettle
LIBS_CTL    = -ljson-c -lprotobuf-c
LIBS_DAEMON = -lsqlite3 -lzstd -lyaml -lseccomp -lcap -lnettle -lm

# Debian packages: what building needs, what the demonstration runs, what the tests use besides.
PACKAGES_BUILD = gcc libc6-dev libzydis-dev libelf-dev binutils-dev libseccomp-dev libcap-dev libpq-dev \
		 nettle-dev libsqlite3-dev libyaml-dev libzstd-dev libjson-c-dev libprotobuf-c-dev \
		 protobuf-c-compiler
PACKAGES_DEMO  = perl sqlite3 bash gzip coreutils libsqlite3-0
PACKAGES_CHECK = g++ clang lld llvm libcmocka-dev libunwind-dev elfutils binutils gdb valgrind dwz ltrace linux-perf mandoc \
		 procps systemd openssl postgresql git jq nasm patchelf fp-compiler protobuf-compiler python3 lua5.4 ruby unison restic shellcheck
# Packages of their own in newer releases only, part of others before.
PACKAGES_NEWER = binutils-gold

# Every room is one archive, with what is in its inner folders (manager/ctl is a room of its own);
# main.c is a program's and stays out of it.
ROOMS     = lib binary verify live share postmorph editor monitor policy manager manager/ctl
sources   = $(filter-out %/main.c $(if $(filter manager,$(1)),manager/ctl/%),$(wildcard $(1)/*.c $(1)/*/*.c))
objs      = $(patsubst %.c,$(B)/%.o,$(call sources,$(1))) $(if $(filter manager,$(1)),$(PPROF).o)
archive   = $(B)/$(subst /,-,$(1)).a
archives  = $(foreach r,$(1),$(call archive,$(r)))

PROGRAMS  = $(B)/morphd $(B)/morphctl $(B)/morph-edit $(B)/morph-verify $(B)/morph-live \
	    $(B)/morph-share

all: $(PROGRAMS)

help:
	@echo "make                 build morphd, morphctl, morph-edit and morph-verify into build/"
	@echo "make check           all tests; ends in: N passed, N failed, N skipped"
	@echo "make demo            the whole loop on private copies of real programs (root)"
	@echo "make torture         every ELF file of the machine, and test suites of others (root; hours)"
	@echo "make torture-foreign programs of other makers, moved, under workloads (root; hours; PROGRAMS=...)"
	@echo "make soak            mixed real use while programs are swapped (root; SOAK_S=3600 seconds)"
	@echo "make soak-live       generations in and out of servers under load (root; SOAK_S=3600 seconds)"
	@echo "make soak-suites     programs' own test suites while they are swapped (root; EVERY=1; an hour)"
	@echo "make bench           every figure in bench/results (root)"
	@echo "make bench-speed     how much faster programs become, llvm-bolt beside it (root; an hour)"
	@echo "make bench-cross     layouts made for one use, measured on another (root; an hour)"
	@echo "make bench-ablation  what each pass contributes to it (root; hours)"
	@echo "make bench-overhead  what programs lose to the Monitor, perf and sysprof beside it (root; an hour)"
	@echo "make bench-lines     what the ends of 64-byte lines cost, and pass lines of real programs (root)"
	@echo "make bench-counted   what the daemon alone makes of programs by counting (root; an hour)"
	@echo "make bench-inherit   what a profile is worth for the next version (root; 15 minutes, packages of others)"
	@echo "make bench-fleet     what a fleet's database takes in and answers, and liars (root; MACHINES=1000 MODULES=200)"
	@echo "make bench-fleetlayout  what layouts gain by what a fleet knows (root; hours; PROGRAMS=...)"
	@echo "make bench-samples   what samples alone bring, by their number (root; 20 minutes)"
	@echo "make bench-live      what generations cost running processes, and what they gain (root; 50 minutes)"
	@echo "make bench-machine   what a whole machine gains, all that Morph costs on the bill (root; 45 minutes, network)"
	@echo "make bench-accuracy  how near inferred counts come to the truth (root)"
	@echo "make lint            only the checks of the sources and documents"
	@echo "make asan            unit, fuzz and program tests under ASan and UBSan, in build-asan/"
	@echo "make fuzz            libFuzzer with clang, FUZZ_SECONDS=$(FUZZ_SECONDS) each target, in build-fuzz/"
	@echo "make packages        install the Debian packages that are missing"
	@echo "make install         PREFIX=$(PREFIX) SYSCONFDIR=$(SYSCONFDIR) DESTDIR=$(DESTDIR)"
	@echo "make uninstall       stops the daemon, puts originals back; leaves the policy and the store"
	@echo "make clean           remove $(B)/; B=FOLDER builds elsewhere, CC=clang with clang"

# The one form of others that is generated code, from a description of it.
PPROF     = $(B)/manager/report/pprof.pb-c
$(PPROF).c $(PPROF).h &: manager/report/pprof.proto
	@mkdir -p $(@D)
	protoc-c --c_out=$(B) $<
$(PPROF).o: $(PPROF).c
	$(CC) $(CFLAGS) -MMD -MP -c $< -o $@
$(B)/manager/report/export_pprof.o: $(PPROF).h

# Files that are in a program as text, each as an array: of page.css it is page_css[].
embed = for f in $^; do n=$${f\#\#*/}; echo "static const char $${n%.*}_$${n\#\#*.}[] ="; \
	sed 's/\\/\\\\/g; s/"/\\"/g; s/.*/"&\\n"/' $$f; echo ";"; done > $@

# The fleet's schema.
SCHEMA    = $(B)/share/schema_sql.h
$(SCHEMA): share/migrations.sql share/functions.sql
	@mkdir -p $(@D)
	$(embed)
$(B)/share/schema.o: $(SCHEMA)

# What stands around a page's content.
PAGE      = $(B)/manager/page/page_files.h
$(PAGE): manager/page/page.html manager/page/page.css manager/page/page.js
	@mkdir -p $(@D)
	$(embed)
$(B)/manager/page/frame.o: $(PAGE)

define room_rule
$(call archive,$(1)): $(call objs,$(1))
	@rm -f $$@
	ar rcs $$@ $$^
endef
$(foreach r,$(ROOMS),$(eval $(call room_rule,$(r))))

$(B)/%.o: %.c
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) -MMD -MP -c $< -o $@

# What a program is linked from is what it may depend on (DESIGN.md).
link_program = $(CC) $(CFLAGS) $(LDFLAGS) $^ $(1) -o $@

$(B)/morph-verify: $(B)/verify/main.o $(call archives,verify binary lib)
	$(call link_program,$(LIBS_VERIFY))
$(B)/morph-live: $(B)/live/main.o $(call archives,live lib)
	$(call link_program,$(LIBS_LIVE))
$(B)/morph-share: $(B)/share/main.o $(call archives,share lib)
	$(call link_program,$(LIBS_SHARE))
$(B)/morph-edit: $(B)/editor/main.o $(call archives,editor postmorph binary lib)
	$(call link_program,$(LIBS_EDIT))
$(B)/morphd: $(B)/manager/main.o $(call archives,manager monitor policy lib)
	$(call link_program,$(LIBS_DAEMON))
$(B)/morphctl: $(B)/manager/ctl/main.o $(call archives,manager/ctl manager monitor policy lib)
	$(call link_program,$(LIBS_DAEMON) $(LIBS_CTL))

# Test programs: one object, all archives and what tests share (tests/unit/*.c); it stays, so that a change of ours
# costs a link each and not a compilation.  Unit tests (cmocka) print TAP themselves;
# fuzz targets get a main() that replays a corpus, or libFuzzer's with FUZZ_ENGINE.
ARCHIVES  = $(call archives,manager/ctl manager live share monitor verify editor postmorph binary policy lib)
programs  = $(patsubst %.c,$(B)/%,$(wildcard $(1)))
UNIT      = $(call programs,$(foreach d,* */*,tests/unit/$(d)/test_*.c))
$(call archive,tests/unit): $(patsubst %.c,$(B)/%.o,$(wildcard tests/unit/*.c))
	@rm -f $@
	ar rcs $@ $^
FUZZ      = $(call programs,tests/fuzz/fuzz_*.c)
MUTANTS   = $(B)/tests/fuzz/mutants
HELPERS   = $(call programs,tests/e2e/*.c) $(call programs,tests/e2e/hostile/*.c) $(call programs,tests/verify/*.c) \
	    $(call programs,tests/programs/*.c) $(call programs,tests/torture/*.c) $(call programs,tests/mutation/*.c) $(call programs,tests/soak/*.c) \
	    $(call programs,bench/*.c) $(MUTANTS)
FUZZ_ENGINE ?= tests/fuzz/replay.c
link_test = $(CC) $(CFLAGS) $(LDFLAGS) $< $(filter %.a,$^) $(1) $(LIBS_EDIT) $(LIBS_DAEMON) $(LIBS_CTL) $(if $(findstring /share/,$@),-lpq) -o $@

$(UNIT): %: %.o $(call archive,tests/unit) $(ARCHIVES)
	$(call link_test,-lcmocka)
$(B)/tests/fuzz/%: tests/fuzz/%.c $(filter %.c,$(FUZZ_ENGINE)) $(ARCHIVES)
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) $(LDFLAGS) $(filter -%,$(FUZZ_ENGINE)) $(filter %.c %.a,$^) $(LIBS_EDIT) \
		$(LIBS_DAEMON) $(LIBS_CTL) -o $@
$(HELPERS): %: %.o $(ARCHIVES)
	$(call link_test)

# Most of what `check` compiles.
$(B)/tests/unit/%.o: private CFLAGS += $(if $(EXTRA_CFLAGS),,-O0 -U_FORTIFY_SOURCE)

# Unwinding runs its cleanup handlers by the unwind tables only in code compiled for exceptions.
$(B)/tests/programs/unwind.o: private CFLAGS += -fexceptions

programs-for-check: programs-for-shell $(UNIT) $(FUZZ)
programs-for-shell: all $(HELPERS)

# `make packages` works offline when nothing is missing; without root it only says what is.
packages: want = $(PACKAGES_BUILD) $(PACKAGES_DEMO) $(PACKAGES_CHECK)
packages: newer = $(PACKAGES_NEWER)
packages-demo: want = $(PACKAGES_BUILD) $(PACKAGES_DEMO)
packages packages-demo:
	@missing=; for p in $(want) $$(apt-cache pkgnames 2>/dev/null | grep -Fx "$(newer)"); do \
		case "$$(dpkg-query -W -f '$${Status}' $$p 2>/dev/null)" in \
		*" installed") ;; *) missing="$$missing $$p" ;; esac; \
	done; \
	if [ -z "$$missing" ]; then exit 0; fi; \
	if [ "$$(id -u)" != 0 ]; then \
		echo "missing packages (install them, or run this as root):$$missing"; exit 0; \
	fi; \
	echo "installing packages:$$missing"; \
	export DEBIAN_FRONTEND=noninteractive; \
	apt-get install -y -qq $$missing >/dev/null || { apt-get update -qq && \
		apt-get install -y -qq $$missing >/dev/null; }

TESTS = $(UNIT) $(wildcard tests/lint/*.sh) $(FUZZ) $(MUTANTS) \
	$(wildcard tests/programs/*.sh) $(wildcard tests/e2e/*.sh tests/e2e/hostile/*.sh)

check: packages
	@$(MAKE) --no-print-directory programs-for-check
	@B=$(B) tests/run.sh $(TESTS)

lint: all
	@B=$(B) tests/run.sh $(wildcard tests/lint/*.sh)

demo: packages-demo
	@$(MAKE) --no-print-directory all $(B)/bench/pairs
	@B=$(B) tests/demo/demo.sh

# Every ELF file of the machine; tests/torture/torture.sh says what can be chosen.  Not in `check`.
torture: packages
	@$(MAKE) --no-print-directory programs-for-check
	@B=$(B) tests/torture/torture.sh

# Programs of other makers; which of them, says tests/torture/foreign.sh.
torture-foreign: packages
	@$(MAKE) --no-print-directory programs-for-check
	@B=$(B) tests/torture/foreign.sh

# Its report is in bench/results/soak.md.
soak: packages
	@$(MAKE) --no-print-directory all
	@B=$(B) tests/soak/soak.sh

# Of generations in running processes; which servers are there is the machine's affair.  10,000 swaps an hour of each.
soak-live:
	@$(MAKE) --no-print-directory all $(B)/tests/soak/swaps
	@s=$${SOAK_S:-3600}; B=$(B) SOAK_S=$$s SWAPS_LEAST=$${SWAPS_LEAST:-$$((s * 10000 / 3600))} \
		REPORT=$${REPORT:-bench/results/soak_live.md} tests/soak/live.sh

# Source packages are fetched once.
soak-suites:
	@$(MAKE) --no-print-directory all $(B)/tests/soak/swaps
	@B=$(B) REPORT=$${REPORT:-bench/results/soak_suites.md} tests/soak/suites.sh

bench: packages
	@$(MAKE) --no-print-directory programs-for-check
	@for s in $(filter-out bench/build.sh,$(wildcard bench/*.sh)); do echo "== $$s"; B=$(B) $$s || exit 1; done

# What can be chosen is said in the scripts.
bench-speed bench-cross bench-ablation bench-accuracy bench-overhead bench-lines bench-counted bench-samples \
	bench-inherit bench-fleet bench-fleetlayout bench-live bench-machine: packages
	@$(MAKE) --no-print-directory programs-for-check
	@B=$(B) bench/$(@:bench-%=%).sh

SANITIZE = -DMORPH_SANITIZED -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer
asan: packages
	@$(MAKE) --no-print-directory B=build-asan OPT="-O1 -g" EXTRA_CFLAGS="$(SANITIZE)" asan-run
# Jobs of test_job, test_cage and test_undumped run under a limit of address space, which the sanitizers' shadow exceeds;
# test_faults, test_faults_names and test_undo make system calls fail, the sanitizers' own as well.
asan-run: programs-for-check
	@TIMEOUT=$${TIMEOUT:-2400} B=$(B) tests/run.sh $(filter-out %/test_job %/test_cage %/test_undumped %/test_faults %/test_faults_names %/test_undo,$(UNIT)) \
		$(FUZZ) $(wildcard tests/programs/*.sh)

# clang's check of pointer arithmetic also rejects NULL + 0, which is how a loop over an empty array
# begins; AddressSanitizer sees what matters.
fuzz:
	@$(MAKE) --no-print-directory B=build-fuzz CC=clang OPT="-O1 -g" \
		EXTRA_CFLAGS="-DMORPH_SANITIZED -fsanitize=fuzzer-no-link,address,undefined -fno-sanitize=pointer-overflow -fno-sanitize-recover=all" \
		FUZZ_ENGINE=-fsanitize=fuzzer fuzz-run
fuzz-run: $(FUZZ) $(MUTANTS) $(B)/tests/unit/binary/test_decode_maps
	$(MUTANTS) -n $(FUZZ_MUTANTS) -j 2
	DECODE_ROUNDS=$(FUZZ_SECONDS) $(B)/tests/unit/binary/test_decode_maps
	@for f in $(notdir $(FUZZ)); do \
		name=$${f#fuzz_}; echo "== $$f, $(FUZZ_SECONDS) s"; \
		mkdir -p $(B)/corpus/$$name tests/fuzz/corpus/$$name; \
		$(B)/tests/fuzz/$$f -max_total_time=$(FUZZ_SECONDS) -timeout=10 -rss_limit_mb=2048 \
			-print_final_stats=1 -verbosity=0 -artifact_prefix=$(B)/$$name- \
			$(B)/corpus/$$name tests/fuzz/corpus/$$name || exit 1; \
	done

BINDIR    = $(DESTDIR)$(PREFIX)/bin
SBINDIR   = $(DESTDIR)$(PREFIX)/sbin
LIBEXEC   = $(DESTDIR)$(PREFIX)/libexec/morph
MANDIR    = $(DESTDIR)$(PREFIX)/share/man
COMPLETION = $(DESTDIR)$(PREFIX)/share/bash-completion/completions
ZSH       = $(DESTDIR)$(PREFIX)/share/zsh/vendor-completions
FISH      = $(DESTDIR)$(PREFIX)/share/fish/vendor_completions.d
LIBDIR    = $(DESTDIR)$(PREFIX)/lib
INSTALLED = $(SBINDIR)/morphd $(BINDIR)/morphctl $(LIBEXEC)/morph-edit $(BINDIR)/morph-edit \
	    $(LIBEXEC)/morph-verify $(BINDIR)/morph-verify $(MANDIR)/man1/morph-verify.1 \
	    $(LIBEXEC)/morph-share $(LIBEXEC)/morph-live $(MANDIR)/man8/morph-live.8 \
	    $(MANDIR)/man8/morphd.8 $(MANDIR)/man1/morphctl.1 $(MANDIR)/man1/morph-edit.1 \
	    $(MANDIR)/man5/morph.yaml.5 $(COMPLETION)/morphctl $(COMPLETION)/morph-edit \
	    $(ZSH)/_morphctl $(FISH)/morphctl.fish \
	    $(LIBDIR)/systemd/system/morphd.service $(LIBDIR)/sysusers.d/morph.conf \
	    $(LIBDIR)/tmpfiles.d/morph.conf $(DESTDIR)$(SYSCONFDIR)/dpkg/dpkg.cfg.d/morph

install: all
	install -D -m 755 $(B)/morphd $(SBINDIR)/morphd
	install -D -m 755 $(B)/morphctl $(BINDIR)/morphctl
	install -D -m 755 $(B)/morph-edit $(LIBEXEC)/morph-edit
	install -D -m 755 $(B)/morph-verify $(LIBEXEC)/morph-verify
	install -D -m 755 $(B)/morph-live $(LIBEXEC)/morph-live
	install -D -m 755 $(B)/morph-share $(LIBEXEC)/morph-share
	install -d $(BINDIR)
	ln -sf ../libexec/morph/morph-edit $(BINDIR)/morph-edit
	ln -sf ../libexec/morph/morph-verify $(BINDIR)/morph-verify
	install -D -m 644 doc/morphd.8 $(MANDIR)/man8/morphd.8
	install -D -m 644 doc/morph-live.8 $(MANDIR)/man8/morph-live.8
	install -D -m 644 doc/morphctl.1 $(MANDIR)/man1/morphctl.1
	install -D -m 644 doc/morph-edit.1 $(MANDIR)/man1/morph-edit.1
	install -D -m 644 doc/morph-verify.1 $(MANDIR)/man1/morph-verify.1
	install -D -m 644 doc/morph.yaml.5 $(MANDIR)/man5/morph.yaml.5
	install -D -m 644 etc/morph.bash-completion $(COMPLETION)/morphctl
	ln -sf morphctl $(COMPLETION)/morph-edit
	install -D -m 644 etc/morph.zsh-completion $(ZSH)/_morphctl
	install -D -m 644 etc/morph.fish-completion $(FISH)/morphctl.fish
	install -d $(LIBDIR)/systemd/system
	sed 's|@PREFIX@|$(PREFIX)|g; s|@SYSCONFDIR@|$(SYSCONFDIR)|g' etc/morphd.service \
		> $(LIBDIR)/systemd/system/morphd.service
	install -D -m 644 etc/morph.sysusers $(LIBDIR)/sysusers.d/morph.conf
	install -D -m 644 etc/morph.tmpfiles $(LIBDIR)/tmpfiles.d/morph.conf
	install -D -m 644 etc/morph.dpkg $(DESTDIR)$(SYSCONFDIR)/dpkg/dpkg.cfg.d/morph
	@if [ -e $(DESTDIR)$(SYSCONFDIR)/morph.yaml ]; then \
		echo "$(DESTDIR)$(SYSCONFDIR)/morph.yaml is there: kept"; \
	else install -D -m 644 etc/morph.yaml $(DESTDIR)$(SYSCONFDIR)/morph.yaml; fi

# Nothing is removed while a rewritten program would be left that has a way back.  UNDO=no: all the same.  Where the
# ledger does not tell of all originals, undo exits with 3.
STORE    ?= /var/lib/morph
UNDO     ?= yes
uninstall:
	@if [ -z "$(DESTDIR)" ] && [ -d /run/systemd/system ]; then \
		systemctl disable --now morphd 2>/dev/null && echo "morphd is stopped"; true; fi
	@if [ "$(UNDO)" != no ] && [ -d "$(DESTDIR)$(STORE)/originals" ]; then \
		morphctl=$(BINDIR)/morphctl; [ -x "$$morphctl" ] || morphctl=$(B)/morphctl; \
		if [ -z "$(DESTDIR)" ] && "$$morphctl" status >/dev/null 2>&1; then \
			echo "morphd still runs: end it first; nothing was removed"; exit 1; fi; \
		echo "putting originals back"; \
		undo() { "$$morphctl" undo --all "$$@" --store=$(STORE) $(if $(DESTDIR),--root=$(DESTDIR)); }; \
		undo || { [ $$? = 3 ] && echo "looking for generations everywhere" && undo --search; } || { \
			echo "not all originals could be put back, for the reasons above; nothing was removed." \
				"UNDO=no removes Morph all the same: what is left stays rewritten, and" \
				"build/morphctl undo puts it back as long as $(DESTDIR)$(STORE)/originals is there"; \
			exit 1; }; \
	elif [ "$(UNDO)" != no ] && [ -e "$(DESTDIR)$(SYSCONFDIR)/morph.yaml" ]; then \
		echo "there is no $(DESTDIR)$(STORE)/originals, so nothing can be put back.  If morphd has had" \
			"its store there, rewritten programs may be left: \`grep -rlF .morph.map DIR...\` finds them" \
			"(/usr, /opt, /home and so on), and installing their packages again replaces them" >&2; fi
	rm -f $(INSTALLED)
	-rmdir $(LIBEXEC) 2>/dev/null

clean:
	rm -rf $(B)

.PHONY: all help programs-for-check programs-for-shell packages packages-demo check lint demo torture torture-foreign soak soak-live soak-suites bench bench-speed \
	bench-cross bench-ablation bench-accuracy bench-overhead bench-lines bench-counted bench-samples bench-inherit bench-fleet bench-fleetlayout \
	bench-live bench-machine asan asan-run fuzz fuzz-run install uninstall clean
# Not what the torture run keeps there.
-include $(shell find $(B) -path $(B)/torture -prune -o -name '*.d' -print 2>/dev/null)
