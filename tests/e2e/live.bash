# live.bash - generations for running processes, without the daemon: sourced by tests, with $root, $live, pids
#
# Generations are in $root/gen, plans beside it.  loop.pl, loop.py and loop.sql print the same line for ever.

prepare() {		# NAME FILE [OPTION...]: original, generation and plan of that name
	local name=$1 file=$2
	shift 2
	[ -e "$root/$name" ] || cp "$(readlink -f "$file")" "$root/$name" || return 1
	rm -f "$root/gen/$name"
	"$B/morph-edit" optimize --all --keep-pointers "$@" "$root/$name" -o "$root/gen/$name" &&
		"$B/morph-verify" --live "$root/$name" "$root/gen/$name" >"$root/$name.plan"
}
# OUTPUT COMMAND...: in the background, its process is $pid
start() {
	local out=$1
	shift
	"$@" >"$out" 2>"$out.err" </dev/null 9>&- &
	pid=$!
	pids+=("$pid")
}
on() { "$live" on "$1" "$root/$2.plan" "$root/gen/$2" "${@:3}"; }
off() { "$live" off "$1" "$root/gen" "${@:2}"; }
is_on() { [ -n "$("$live" look "$1" "$root/gen")" ]; }

# PROGRAM CALL main|thread [TRIES]: waits in the call (tests/e2e/waits.c, fusewaits.c), swapped without an end; what it
# says is in $root/wait.CALL.HOW, how often it was swapped in $root/swaps.CALL.HOW.  On a busy machine the call may end
# before anything was swapped: then again, TRIES (4) times at most.
wait_in() {
	local n=0 p k end
	for ((k = 0; k < ${4:-4} && n == 0; k++)); do
		"$root/$1" "$2" ${3#main} >"$root/wait.$2.$3" 9>&- &
		p=$!
		end=$((SECONDS + 60))		# what begins its wait anew at each swap would never end
		sleep 0.15
		while kill -0 "$p" 2>/dev/null; do
			[ "$SECONDS" -lt "$end" ] || kill -KILL "$p"
			on "$p" "$1" --patience=100 >/dev/null 2>&1 && is_on "$p" 2>/dev/null && n=$((n + 1))
			off "$p" --patience=100 >/dev/null 2>&1
			sleep 0.02
		done
	done
	echo "$n" >"$root/swaps.$2.$3"
}

# CALL main|thread [TRIES]: makes the call again and again (tests/e2e/flows.c) while it is swapped; the same files.
flow_in() {
	local n=0 p k
	for ((k = 0; k < ${3:-4} && n == 0; k++)); do
		"$root/flows" "$1" 700 ${2#main} >"$root/flow.$1.$2" 9>&- &
		p=$!
		sleep 0.1
		while kill -0 "$p" 2>/dev/null; do
			on "$p" flows --patience=100 >/dev/null 2>&1 && is_on "$p" 2>/dev/null && n=$((n + 1))
			off "$p" --patience=100 >/dev/null 2>&1
		done
	done
	echo "$n" >"$root/swaps.$1.$2"
}

# NAME: where its usual place is taken in process $pid, the generation is made for another one
fit() {
	local at
	at=$("$live" room "$pid" "$root/$1.plan" "$root/gen/$1") || return 1
	[ "$at" = fits ] || prepare "$1" "$root/$1" --text-at=0x"$at"
}

cat >"$root/loop.pl" <<'END'
$| = 1;
while (1) {
	my %h; $h{"k$_"} = $_ * 3 for 1 .. 500;
	my $s = 0; $s += $h{$_} for sort keys %h;
	my $t = join ",", map { sprintf "%x", $_ * 7 } 1 .. 300; $t =~ s/(\w+),/<$1>/g;
	print "$s ", length $t, " ", unpack("%32C*", $t), "\n";
}
END
cat >"$root/loop.py" <<'END'
import json, threading, sys
def work(n, out):
    d = {str(i): [i * n, "x" * (i % 5)] for i in range(200)}
    out.append(sum(len(k) + v[0] for k, v in sorted(json.loads(json.dumps(d)).items())))
while True:
    out = []
    t = [threading.Thread(target=work, args=(n, out)) for n in range(4)]
    [x.start() for x in t]; [x.join() for x in t]
    print(sum(out), flush=True)
END
cat >"$root/loop.sql" <<'END'
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 3000)
SELECT count(*), sum(i * 7 % 1000), max(printf('%08x', i * 31)) FROM n WHERE i % 3 <> 1;
END
