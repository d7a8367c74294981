#!/bin/bash
# refusals.sh - what Morph does not touch is refused by name, and what it leaves in place stays there
#
# Files of every kind: made here where that is possible, of the machine where there are some.  A
# refusal is exit code 3 and one line; analyse and optimize agree about it, and nothing is written.
set -u
. "$(dirname "$0")/../tap.sh"
edit=${B:-build}/morph-edit verify=${B:-build}/morph-verify
T=$(mktemp -d "${TMPDIR:-/tmp}/morph-test.XXXXXX") || exit 1
trap 'rm -rf "$T"' EXIT
cc=${CC:-cc}

refused() {		# NAME FILE PATTERN
	local name=$1 file=$2 out rc command
	for command in "analyze $file" "optimize $file --all -o $T/out"; do
		out=$("$edit" $command 2>&1 >/dev/null)
		rc=$?
		if [ $rc != 3 ] || [ "$(echo "$out" | wc -l)" != 1 ] || ! echo "$out" | grep -q -e "$3"; then
			not_ok "$name is refused by ${command%% *}"
			note "exit code $rc: $out"
			return
		fi
	done
	[ ! -e "$T/out" ] && ok "$name is refused: $3" || not_ok "$name: an output is there"
	rm -f "$T/out"
}

real() {		# NAME PATTERN PROGRAM...: the first of them that is here
	local name=$1 pattern=$2 p
	shift 2
	for p in "$@"; do
		p=$(command -v "$p") || continue
		refused "$name (${p##*/})" "$(realpath "$p")" "$pattern"
		return
	done
	skip "$name" "none of $* is here"
}

# A program made here runs the same when all of it that can be moved is moved.
stays_right() {		# NAME FILE
	if ! "$edit" optimize "$2" --all --shuffle=5 -o "$2.gen" >"$T/log" 2>&1 ||
	   ! "$verify" "$2" "$2.gen" >>"$T/log" 2>&1; then
		not_ok "$1 is moved and verified"
		note "$(cat "$T/log")"
		return
	fi
	"$2" >"$T/before" 2>&1
	echo $? >>"$T/before"
	"$2.gen" >"$T/after" 2>&1
	echo $? >>"$T/after"
	check "$1 runs the same" cmp "$T/before" "$T/after"
}

reason() {		# FILE TEXT: how many functions stay for that reason
	"$edit" analyze --json "$1" | sed -nE "s/.*\"reason\": \"$2\", \"functions\": ([0-9]+).*/\1/p"
}

poke() {		# FILE OFFSET BYTE
	printf "\\x$3" | dd of="$1" bs=1 seek="$2" conv=notrunc status=none
}

echo 'int main(void) { return 0; }' >"$T/main.c"
"$cc" -O2 -o "$T/main" "$T/main.c" || { skip "refusals" "no compiler"; done_testing; }

# What is no program.
: >"$T/empty"
refused "an empty file" "$T/empty" "an empty file"
mkdir "$T/folder"
refused "a directory" "$T/folder" "a directory"
printf '#!/bin/sh\nexit 0\n' >"$T/script"
refused "a script" "$T/script" "a script"
echo text >"$T/text"
refused "a text" "$T/text" "not an ELF file"
truncate -s 2T "$T/sparse"
refused "a sparse file" "$T/sparse" "larger than"
"$cc" -c -o "$T/main.o" "$T/main.c"
refused "an object file" "$T/main.o" "an object file"
ar rc "$T/main.a" "$T/main.o"
refused "a static archive" "$T/main.a" "a static archive"
printf '.section .modinfo,"a"\n.asciz "license=GPL"\n.text\nf: ret\n' | "$cc" -Wa,--noexecstack -x assembler -c -o "$T/m.ko" -
refused "a kernel module" "$T/m.ko" "a kernel module"
cp "$T/main" "$T/core" && poke "$T/core" 16 04
refused "a core file" "$T/core" "a core file"
cp "$T/main" "$T/narrow" && poke "$T/narrow" 4 01
refused "a 32-bit file" "$T/narrow" "a 32-bit file"
cp "$T/main" "$T/arm" && poke "$T/arm" 18 b7
refused "a file of another machine" "$T/arm" "not for x86-64"
if objcopy --only-keep-debug "$T/main" "$T/main.debug" 2>/dev/null; then
	refused "a separate debug file" "$T/main.debug" "a separate debug file"
fi
head -c 40 "$T/main" >"$T/cut"
out=$("$edit" analyze "$T/cut" 2>&1)
[ $? = 1 ] && ok "an ELF file that is cut off is a failure: ${out##*: }" || not_ok "a cut ELF file: $out"

# Where it is, or how it was made.
cp "$T/main" "$T/setid" && chmod u+s "$T/setid"
refused "a set-user-id file" "$T/setid" "set-user-id"
cp "$T/main" "$T/setid" && chmod 2755 "$T/setid"
refused "a set-group-id file" "$T/setid" "set-group-id"
cp "$T/main" "$T/bare" && for i in 40 41 42 43 44 45 46 47 60 61; do poke "$T/bare" $i 00; done
refused "a file without section headers" "$T/bare" "no section headers"
# Program headers far behind, as llvm-bolt has them.
printf '.globl _start\n_start: .cfi_startproc\nmov $60, %%eax\nxor %%edi, %%edi\nsyscall\nud2\n.cfi_endproc\n' |
	"$cc" -Wa,--noexecstack -x assembler -nostdlib -static -no-pie -o "$T/plain" - && cp "$T/plain" "$T/far" &&
	truncate -s 64K "$T/far" && tail -c +65 "$T/plain" | head -c 1000 >>"$T/far" && poke "$T/far" 32 00 &&
	poke "$T/far" 34 01 && refused "a file with its program headers elsewhere" "$T/far" "not behind the ELF header"
"$edit" optimize "$T/main" --all -o "$T/generation" >/dev/null &&
	refused "a generation" "$T/generation" "a generation made by Morph"
printf '.globl _start\n_start: .cfi_startproc\nret\n.cfi_endproc\n.data\n.quad 1\n' |
	"$cc" -Wa,--noexecstack -x assembler -nostdlib -static -Wl,-N,--no-warn-rwx-segments -o "$T/writable" - &&
	refused "writable code" "$T/writable" "writable"
printf '.text\n.globl f\nf: movabs $f, %%rax\nret\n' | "$cc" -Wa,--noexecstack -x assembler -shared -nostdlib -Wl,-z,notext -o "$T/textrel" - 2>/dev/null &&
	refused "relocated code" "$T/textrel" "relocated when loaded"
printf '.globl _start\n_start: mov $60, %%eax\nxor %%edi, %%edi\nsyscall\n' |
	"$cc" -Wa,--noexecstack -x assembler -nostdlib -static -o "$T/bare_asm" - &&
	refused "assembly without unwind information" "$T/bare_asm" "no code is covered by unwind information"

# Programs that read their own file: an archive behind it, or in a section as PyInstaller does it.
cat "$T/main" <(printf 'PK\003\004 an archive') >"$T/appended"
refused "a file with an archive behind it" "$T/appended" "15 bytes are appended"
cat "$T/main" <(printf '\0\0\0') >"$T/padded"
check "a file with zero bytes behind it is moved" "$edit" optimize "$T/padded" --all -o "$T/padded.gen"
objcopy --add-section pydata="$T/main.c" "$T/main" "$T/packed" && refused "a file with data of its own" "$T/packed" "data of its own"
objcopy --add-section .comment.more="$T/main.c" "$T/main" "$T/commented" &&
	check "a file with one more comment is moved" "$edit" optimize "$T/commented" --all -o "$T/commented.gen"

# The dynamic loader; a library that has another symbol of loaders is none.
loader=$(readelf -lW "$T/main" | sed -n 's/.*interpreter: \(.*\)]/\1/p')
if nm -D "$loader" 2>/dev/null | grep -q ' _dl_debug_state@'; then
	refused "the dynamic loader" "$(realpath "$loader")" "a dynamic loader"
else
	skip "the dynamic loader" "it exports nothing for debuggers"
fi
of_loader() {		# FILE SYMBOL
	printf '.data\n.globl %s\n%s: .quad 1\n.text\n.globl f\nf: .cfi_startproc\nlea (%%rdi,%%rsi), %%rax\nadd $7, %%rax\nret\n.cfi_endproc\n' "$2" "$2" |
		"$cc" -Wa,--noexecstack -x assembler -shared -nostdlib -o "$1" -
}
of_loader "$T/loader" _dl_debug_state && refused "a library where debuggers stop" "$T/loader" "a dynamic loader"
of_loader "$T/other" _r_debug && check "a library with the loader's list is moved" "$edit" optimize "$T/other" --all -o "$T/other.gen"

# Runtimes that know code by its address.
real "a Go program" "a Go program" gh restic
real "an OCaml program" "OCaml" unison spatch
real "a Haskell program" "Haskell" shellcheck pandoc
printf '.text\n.globl main\nmain: .cfi_startproc\nret\n.cfi_endproc\n.section .gopclntab,"a"\n.quad 1\n' |
	"$cc" -Wa,--noexecstack -x assembler -o "$T/go" - && refused "a file with Go's table" "$T/go" "a Go program"

# Relocated return addresses in data, as OCaml's frame tables have them, and the same number of
# pointers to code that are none.
frames() {		# OFFSET
	echo '.text; .globl main; main: .cfi_startproc; sub $8, %rsp; .cfi_adjust_cfa_offset 8'
	for i in $(seq 1200); do echo "call f; r$i: nop"; done
	echo 'add $8, %rsp; .cfi_adjust_cfa_offset -8; xor %eax, %eax; ret; .cfi_endproc'
	echo 'f: .cfi_startproc; ret; .cfi_endproc; .data'
	for i in $(seq 1200); do echo ".quad r$i + $1"; done
}
frames 0 | "$cc" -Wa,--noexecstack -x assembler -pie -o "$T/frames" - && refused "a table of return addresses" "$T/frames" "return addresses"
frames 1 | "$cc" -Wa,--noexecstack -x assembler -pie -o "$T/labels" - &&
	check "as many pointers that are no return addresses are none" "$edit" analyze "$T/labels"

# What stays in place by itself: code without unwind information beside code that has some.
cat >"$T/mixed.c" <<'C'
#include <stdio.h>
long plain(long n);		/* assembly without unwind information; calls back */
long twice(long n) { return n * 2 + 1; }
int main(void)
{
	long sum = 0;
	for (long i = 0; i < 100; i++)
		sum += plain(i) ^ twice(i);
	return printf("%ld\n", sum) < 0;
}
C
if command -v nasm >/dev/null; then
	printf 'section .text\nglobal plain\nextern twice\nplain: push rbx\nmov rbx, rdi\ncall twice wrt ..plt\nadd rax, rbx\npop rbx\nret\n' >"$T/plain.asm"
	nasm -f elf64 -o "$T/plain.o" "$T/plain.asm" && "$cc" -O2 -o "$T/mixed" "$T/mixed.c" "$T/plain.o" -Wl,-z,noexecstack &&
		stays_right "a program with code of nasm" "$T/mixed"
else
	skip "a program with code of nasm" "no nasm"
fi
if command -v fpc >/dev/null; then
	printf 'program p; var i: integer;\nbegin for i := 1 to 9 do writeln(i * i); end.\n' >"$T/p.pas"
	(cd "$T" && fpc -O2 p.pas >fpc.log 2>&1)
	refused "a Pascal program" "$T/p" "no code is covered by unwind information"
else
	skip "a Pascal program" "no fpc"
fi

# Functions that stay, in files that are moved.
libc=$(ldconfig -p 2>/dev/null | awk '$1 == "libc.so.6" && /x86-64/ { print $NF; exit }')
if [ -n "$libc" ]; then
	n=$(reason "$libc" "signal trampoline")
	[ "${n:-0}" -ge 1 ] && ok "the signal trampoline of libc stays" || not_ok "the signal trampoline of libc stays"
fi
cat >"$T/rseq.s" <<'S'
.text
.globl main
main:	.cfi_startproc
	xor %eax, %eax
	lea 2f(%rip), %rcx
1:	add $1, %eax
	add $2, %eax
	add $3, %eax
3:	ret
	.cfi_endproc
	.globl other
other:	.cfi_startproc
	mov %edi, %eax
	add $77, %eax
	imul %eax, %eax
	ret
	.cfi_endproc
	.section __rseq_cs, "aw"
2:	.long 0, 0
	.quad 1b, 3b - 1b, 3b
S
"$cc" -Wa,--noexecstack -x assembler -o "$T/rseq" "$T/rseq.s" && {
	n=$(reason "$T/rseq" "restartable sequence")
	[ "${n:-0}" = 1 ] && ok "the function with a restartable sequence stays" ||
		not_ok "functions that stay because of a restartable sequence: ${n:-0}"
	stays_right "a program with a restartable sequence" "$T/rseq"; }

# An output that is no regular file is written to, not replaced.
mkfifo "$T/pipe"
timeout 60 cat "$T/pipe" >"$T/through" &
"$edit" optimize "$T/rseq" --all -o "$T/pipe" 2>"$T/log"
[ -p "$T/pipe" ] && ok "a pipe as output stays a pipe" || { not_ok "the pipe is gone"; note "$(cat "$T/log")"; }
wait
"$edit" optimize "$T/rseq" --all -o "$T/plain" 2>"$T/log"
cmp -s "$T/through" "$T/plain" && ok "a pipe gets the whole generation" || not_ok "what came through the pipe differs"
ln -s /proc/self/fd/1 "$T/link"		# as /dev/stdout is one
"$edit" optimize "$T/rseq" --all -o "$T/link" >"$T/linked" 2>"$T/log"
[ -L "$T/link" ] && cmp -s "$T/linked" "$T/plain" && ok "what a link leads to is replaced, and not the link" || {
	not_ok "a link as output"; note "$(ls -l "$T/link" "$T/linked"; cat "$T/log")"; }
"$edit" optimize "$T/rseq" --all -o "$T/folder" 2>"$T/log"
[ $? = 1 ] && grep -q "folder.*directory" "$T/log" && ok "a folder as output is an error that names it" || {
	not_ok "a folder as output"; note "$(cat "$T/log")"; }

# Nor is an input replaced by what is made of it, by whichever name.
cp "$T/rseq" "$T/same" && ln "$T/same" "$T/same-too" && ln -s same "$T/same-link" && cp "$T/same" "$T/same-was"
"$edit" optimize "$T/rseq" --all -o "$T/rseq.gen" --map "$T/rseq.map" 2>"$T/log"
own() {			# NAME COMMAND...: wrong usage, and nothing happens
	local name=$1 out rc
	shift
	out=$("$edit" "$@" 2>&1)
	rc=$?
	if [ $rc = 2 ] && grep -q "the same file as the input" <<<"$out" && cmp "$T/same" "$T/same-was" &&
	   [ "$(find "$T" -name 'same*' | wc -l)" = 4 ]; then
		ok "$name as an output is an input: wrong usage"
	else
		not_ok "$name as an output is an input: exit code $rc"
		note "$out"
	fi
}
for name in same same-too same-link; do
	own "optimize: $name" optimize "$T/same" --all -o "$T/$name"
	own "optimize, its map: $name" optimize "$T/same" --all -o "$T/fresh" --map "$T/$name"
done
"$edit" optimize fd:3 --all -o "$T/same" 3<"$T/same" >"$T/log" 2>&1; [ $? = 2 ] && cmp -s "$T/same" "$T/same-was" &&
	ok "of a descriptor, too" || not_ok "of a descriptor"
own "instrument" instrument "$T/same" -o "$T/same-too"
own "analyze" analyze "$T/same" --table "$T/same-too"
own "debugfile" debugfile "$T/same" "$T/rseq.gen" -o "$T/same-too"
own "unwind-rows" unwind-rows "$T/same" -o "$T/same-too"
own "counts" counts "$T/rseq" "$T/same" -o "$T/same"
own "extract-map" extract-map "$T/same" "$T/same-too"
[ ! -e "$T/fresh" ] && ok "no other output is begun" || not_ok "another output is there"
done_testing
