# tap.sh - TAP from shell tests.  Source it; call ok, not_ok, skip or check; end with done_testing.
# A test that dies before done_testing has no plan and counts as failed.

tap_n=0
tap_bad=0

ok() {			# NAME
	tap_n=$((tap_n + 1))
	echo "ok $tap_n - $*"
}

not_ok() {		# NAME
	tap_n=$((tap_n + 1))
	tap_bad=$((tap_bad + 1))
	echo "not ok $tap_n - $*"
}

# Where the reason is what a program said, one that said nothing has failed.
skip() {		# NAME REASON
	[ -n "${2:-}" ] || { not_ok "$1: left out without a reason"; return; }
	tap_n=$((tap_n + 1))
	echo "ok $tap_n - $1 # SKIP $2"
}

# Without any input jq -e has nothing against it (1.6): here it fails where nothing comes out.
jq() {
	local a e= out
	for a; do case $a in --*) ;; -*e*) e=1 ;; esac done
	[ -n "$e" ] || { command jq "$@"; return; }
	out=$(command jq "$@")
	e=$?
	[ -n "$out" ] && printf '%s\n' "$out" && return "$e"
}

note() {
	echo "$*" | sed 's/^/# /'
}

check() {		# NAME COMMAND...: passes when the command does; its output only on failure
	local name=$1 out
	shift
	if out=$("$@" 2>&1); then
		ok "$name"
	else
		not_ok "$name"
		note "$*"
		note "$out" | head -n 40
	fi
}

not() { ! "$@"; }

fails() {		# CODE WORDS COMMAND...: with that exit code, and says so; all that it says is in $root/said
	local code=$1 words=$2
	shift 2
	"$@" >"$root/said" 2>&1
	[ $? = "$code" ] && grep -q -- "$words" "$root/said" || { cat "$root/said"; return 1; }
}

done_testing() {
	echo "1..$tap_n"
	[ "$tap_bad" = 0 ]
	exit
}

skip_all() {		# REASON: for all of the test, or for what is left of it
	skip "${0##*/}" "$*"
	done_testing
}
