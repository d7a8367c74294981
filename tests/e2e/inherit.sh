#!/bin/bash
# inherit.sh - a program is replaced by another version of it: what the daemon knows of it is discarded, or,
# if the policy says so, inherited as far as it is recognised; the new version is laid out by that
#
# run.sh: waits
cd "$(dirname "$0")/../.." || exit 1
. tests/e2e/private.bash
need_root
command -v sqlite3 >/dev/null || skip_all "needs sqlite3 to look into the store"
make_root
policy() {		# AUTOMATIC INHERIT [COUNT]
	always_idle >"$root/morph.yaml"
	cat >>"$root/morph.yaml" <<-END
		monitor:
		  clock: cpu-clock
		  rate_hz: 2003
		  registers: off
		optimize:
		  automatic: $1
		  count: ${3:-off}
		  min_samples: 2000
		  max_unseen_pct: 100
		  min_gain_ppm: 0
		  observe_first_h: 0
		profile:
		  inherit: $2
	END
}

# Versions of a program of 60 functions: VERSION changes some of them, adds one, and says who it is.
source_of() {		# VERSION
	local i
	printf '#include <stdio.h>\n#include <stdlib.h>\n#define FAR __attribute__((noinline)) static\n'
	[ "$1" -lt 3 ] || printf 'FAR unsigned added(unsigned x) { return x * 3 ^ x >> 5; }\n'
	for i in $(seq 60); do
		cat <<-END
			FAR unsigned f$i(unsigned x, int n)
			{
				while (n-- > 0) {
					if ((x & $((1 << i % 7))) == 0)
						x = x * $((2 * i + 1)) + $((i * i + 3));
					else if (x % $((i + 11)) == 1)
						x ^= x >> $((i % 13 + 2)) ^ ${i}u << 20;
					else
						x += (x << $((i % 5 + 1))) - $((i + 7));
		END
		# What is new in it runs now and then.
		[ "$1" -lt 3 ] || [ $((i % 12)) != 0 ] || printf '\t\tif (x %% 97 == 5)\n\t\t\tx += added(x);\n'
		[ "$1" -lt 4 ] || [ $((i % 12)) != 1 ] || printf '\t\tif (x %% 93 == 6)\n\t\t\tx ^= %du;\n' "$i"
		printf '\t}\n\treturn x;\n}\n'
	done
	cat <<-END
		static const char version[] = "version $1";
		int main(int argc, char **argv)
		{
			unsigned x = (unsigned)argc;
			int n = argc > 1 ? atoi(argv[1]) : 1000;
			for (int i = 0; i < 40; i++) {
	END
	for i in $(seq 60); do printf '\t\tx = f%d(x, n / %d);\n' "$i" "$((1 + i % 9))"; done
	printf '\t}\n\tprintf("%%s: %%u\\n", version + 8, x);\n\treturn 0;\n}\n'
}
# Unrolled: profiles may take a share of the text.
build() { ${CC:-cc} -O2 -funroll-loops -o "$root/orig/$1" -x c - || exit 1; }
for v in 1 2 3 4; do source_of $v | build p.$v; done
for q in c q r; do source_of 3 | sed "s/version 3/version $q/" | build $q; done
use() { "$root/bin/$1" 30000; }		# 30 ms of CPU time
put() { cp "$1" "$root/bin/new" && mv "$root/bin/new" "$root/bin/$2"; }		# FILE PROGRAM
history_has() { ctl history "$root/bin/$1" 2>/dev/null | grep -Eq "$2"; }
is_told() { hasten; sleep 0.2; history_has "$1" "$2"; }
told() { within 60 is_told "$1" "$2" || { ctl history "$root/bin/$1"; tail -n 5 "$root/log"; return 1; }; }
rows() { as_manager sqlite3 "$root/store/morph.db" "$1"; }
is_signed() {		# PROGRAM
	hasten
	[ "$(rows "SELECT count(*) FROM signature s JOIN module m ON m.original = s.original
		WHERE m.path = '$root/bin/$1' AND length(s.data) > 100")" = 1 ]
}
lists() { ctl list --json | grep -F "\"$root/bin/$1\"" | grep -Eq "$2"; }

# Off, as it is by default.
policy false off
put "$root/orig/p.1" p
check_here "a daemon" start_daemon
check "the first version is sampled" sampled p 300 use p
sleep 2
check "nobody makes a signature" test "$(rows 'SELECT count(*) FROM signature')" = 0
put "$root/orig/p.2" p
check "it is replaced: what was known is discarded" told p "changed .*content changed; [0-9]+ samples discarded$"
check "nothing is set aside" test "$(rows 'SELECT count(*) FROM legacy')" = 0

# On.
policy false on
check "the policy wants it inherited" ctl policy reload
check "the second version is sampled" sampled p 2600 use p
check "it gets a signature while it is there" within 60 is_signed p
n=$(listed p samples)
check_here "the daemon ends" stop_daemon
put "$root/orig/p.3" p
check_here "it begins again, after the third version has come" start_daemon
check "what was known is set aside" told p "changed .*content changed; [0-9]+ samples set aside for the new version$"
check "and inherited: most of it is recognised" told p \
	"inherited +[0-9]+ samples of the version before, (8[0-9]|9[0-9]|100) % recognised; [0-9]+ of [0-9]+ functions"
got=$(ctl history "$root/bin/p" | sed -n "s/.* inherited *\\([0-9]*\\) samples of.*/\\1/p")
check "nearly all that there were (${n%.*}, $got): their bytes are bounded" test "${got:-0}" -ge $((${n%.*} * 98 / 100))
check "nothing is set aside any more" test "$(rows 'SELECT count(*) FROM legacy')" = 0
check "the list says so" lists p '"inherited": ?"[1-9][0-9]+ of [0-9]+ samples, [0-9]+ % recognised"'
explain() { ctl explain "$root/bin/p" >"$root/explained" && grep -Eq "$1" "$root/explained"; }
check "and why it counts" explain "^the version before +[0-9.]+ +[1-9][0-9.]+ +[0-9.]+ +[0-9]+ of [0-9]+ +used"
policy true on
check "it may be laid out by itself" ctl policy reload
sleep 3
check "which it is not without samples of its own" not history_has p installed
truth=$("$root/orig/p.3" 30000)
check "some are enough" sampled p 210 use p
check "it is laid out by what is inherited" told p \
	"installed .*from [0-9]+ samples \([0-9]+ inherited from the version before, [0-9]+ % recognised\), passes"
note "$(ctl history "$root/bin/p" | grep installed)"
check "its row says so" test "$(rows 'SELECT inherited > 500 AND inherited < samples FROM generation WHERE state = 2')" = 1
check "it is proven" "$B/morph-verify" "$root/orig/p.3" "$root/bin/p"
check "it does what it did" test "$(use p)" = "$truth"

# Samples of its own displace it.
policy false on
check "no more by itself" ctl policy reload
check "fewer count, as own ones come in" sampled p 800 use p
now() { rows "SELECT count(*) FROM inherited"; }
counting() { ctl list --json | grep -F "\"$root/bin/p\"" | sed -En 's/.*"inherited": ?"([0-9]+) of.*/\1/p'; }
c=$(counting)
check "as much less as there are own ones ($c)" test "${c:-9999}" -le $((2000 - 800))
check "enough of its own" sampled p 2000 use p
forgotten() { [ "$(now)" = 0 ]; }
check "then it is forgotten" within 30 forgotten
check "the list does not name it any more" lists p '"inherited": ?""'

# Another program at the path.
check "there is a signature of this version" within 60 is_signed p
check "its original comes back" ctl restore "$root/bin/p"
put "$(readlink -f /usr/bin/gzip)" p
check "another program: nothing is inherited" told p \
	"not inherited +of [0-9]+ samples of the version before [0-9] % were recognised, the policy wants 70 %"
check "the list says so" lists p '"inherited": ?"not used: too little was recognised \([0-9]+ samples, [0-9] % recognised\)"'
seq 200000 >"$root/numbers"
zip() { "$root/bin/p" -c "$root/numbers"; }
check "it is sampled" sampled p 300 zip
policy true on
check "it may be laid out by itself" ctl policy reload
sleep 4
check "it is not, by few samples" not history_has p "installed .*generation 2"

# A signature that somebody damaged, or exchanged.
policy false on
ctl policy reload >/dev/null
for q in q r; do
	put "$root/orig/$q" $q
	check "$q is sampled" sampled $q 250 use $q
	check "and gets a signature" within 60 is_signed $q
done
check_here "the daemon ends" stop_daemon
rows "UPDATE signature SET data = (SELECT data FROM signature s JOIN module m ON s.original = m.original
	WHERE m.path = '$root/bin/p') WHERE original = (SELECT original FROM module WHERE path = '$root/bin/q');
	UPDATE signature SET data = x'0011223344' WHERE original = (SELECT original FROM module WHERE path = '$root/bin/r')"
put "$root/orig/p.4" q
put "$root/orig/p.4" r
check_here "it begins again, with signatures that somebody changed" start_daemon
check "one of another file is refused, and that is said" told q "not inherited +.*different files"
check "a damaged one as well" told r "changed .*content changed; [0-9]+ samples discarded$"
check "which is in the log" grep -q "bin/r: nothing passes on: .*table signature" "$root/log"
check "nothing else is wrong with the store" not grep -q "database is damaged" "$root/log"
check "nothing is inherited" test "$(now)" -le 1

# Exact counts pass on with the samples.
put "$root/orig/c" c
check "c is sampled" sampled c 250 use c
check "and gets a signature" within 60 is_signed c
policy true on on
sed -i "s,\"$root/bin/\\*\",\"$root/bin/c\"," "$root/morph.yaml"
check "c may be counted" ctl policy reload
is_counted() { hasten; use c >/dev/null; history_has c "counted .*([6-9]|1[0-9]) runs"; }
check "c is sampled enough" sampled c 2500 use c
check "c is counted" within 90 is_counted
check "and laid out by that" told c "installed .*from [0-9]+ samples and the counts of ([6-9]|1[0-9]) runs"
put "$root/orig/p.4" c
check "counts are inherited, too" told c "inherited +[0-9]+ samples and exact counts of the version before, [0-9]+ % recognised"

policy false off
check "off again" ctl policy reload
check "nothing of it is kept" test "$(rows 'SELECT (SELECT count(*) FROM signature) + (SELECT count(*) FROM legacy) +
	(SELECT count(*) FROM inherited)')" = 0
check_here "the daemon ends" stop_daemon
done_testing
