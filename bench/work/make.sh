#!/bin/sh
# make.sh prepare TARGETS SEED | run BIN - a large makefile read, its functions run, what is old found out, nothing made
case $1 in
prepare)
	rm -rf tree && mkdir -p tree && awk -v n="$2" -v s="$3" '
	function rnd(k) { s = (s * 16807 + 11) % 2147483647; return int(s / 64) % k }
	BEGIN {
		print "MAKEFLAGS += -r\nCC = gcc\nall:\n\t@echo done" >"tree/Makefile"
		print "define rule\n$(1).o: $(1).c $(2)\n\t$$(CC) $$(CFLAGS) -DNAME=$(notdir $(1)) -c $$< -o $$@\nobjects += $(1).o\nendef" >>"tree/Makefile"
		print "upper = $(subst a,A,$(subst e,E,$(subst o,O,$(1))))" >>"tree/Makefile"
		for (i = 0; i < n; i++) {
			f = "d" i % 20 "/f" i
			h = ""
			for (k = rnd(6); k > 0; k--) h = h " h" rnd(200) ".h"
			if (i % 3) print "$(eval $(call rule," f "," h "))" >>"tree/Makefile"
			else print f ".o: " f ".c" h "\n\t$(CC) -O$(if $(filter f" i ",$(basename $(notdir $@))),2,0) $(filter %.c,$^)\nobjects += " f ".o" >>"tree/Makefile"
			if (i % 10 == 0) print "ifneq ($(findstring d1,$(lastword $(objects))),)\nCFLAGS := -I$(call upper," f ") $(wordlist 1,9,$(CFLAGS))\nendif" >>"tree/Makefile"
		}
		print "names := $(sort $(foreach o,$(objects),$(patsubst d%,x-%,$(dir $o))$(words $(wordlist 1,20,$(objects)))))" >>"tree/Makefile"
		print "$(info $(names) $(words $(objects)) $(firstword $(filter-out %1.o %3.o,$(objects))))" >>"tree/Makefile"
		print "lib%.a: $(objects)\n\tar r $@ $(sort $^)\n%.c:\n\ttouch $@\n%.h: ; touch $@\nall: liba.a libb.a" >>"tree/Makefile"
	}' ;;
run) cd tree && "$2" -n; "$2" -pq | grep -v -e '^#' -e '^MAKE' -e ^PWD -e ^CURDIR -e COMMAND -e SHLVL -e '^[A-Z_]* =' | cksum ;;
esac
