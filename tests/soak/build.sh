#!/bin/sh
# build.sh prepare PARTS SEED | run CC1 - a build: make, the shell, the compiler proper, assembler and linker
# that lie beside CC1, on sources of this tree; the objects, the archive and the program are compared too
top=$(dirname "$(realpath "$0")")/../..
case $1 in
prepare)
	mkdir -p lib && cp "$top"/lib/*.h lib/ &&
	for f in $(cd "$top" && ls lib/*.c | awk -v s="$3" -v n="$2" 'NR % 5 == s % 5 && n-- > 0'); do
		cp "$top/$f" lib/
	done
	printf 'int main(void)\n{\n\treturn 0;\n}\n' >main.c
	cat >Makefile <<-'END'
	CFLAGS = -std=gnu17 -D_GNU_SOURCE -O2 -g0 -w -I.
	OBJECTS = $(patsubst %.c,%.o,$(wildcard lib/*.c))
	program: main.o all.a
		gcc -B$(BIN)/ -o $@ $^
	all.a: $(OBJECTS)
		rm -f $@ && ar rcsD $@ $^
	%.o: %.c
		gcc -B$(BIN)/ $(CFLAGS) -c -o $@ $<
	END
	;;
run)
	bin=$(dirname "$2")
	rm -f lib/*.o main.o all.a program
	"$bin/make" -s SHELL="$bin/bash" BIN="$bin" && ./program && cksum lib/*.o main.o all.a program ;;
esac
