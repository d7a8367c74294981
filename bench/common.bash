# common.bash - sourced by the benches: where things are, and the head of a result file
B=$(realpath "${B:-build}")
work=$(realpath tests/programs/work)
T=$(mktemp -d "${TMPDIR:-/var/tmp}/morph-bench.XXXXXX") || exit 1
trap 'rm -rf "$T"' EXIT

# What results that depend on the processor are kept by.
processor_vendor() {
	case $(sed -n 's/^vendor_id[ \t]*: //p' /proc/cpuinfo | head -n 1) in
	GenuineIntel) echo intel ;;
	AuthenticAMD) echo amd ;;
	*) uname -m ;;
	esac
}

# Those of the environment when this was sourced, as one types them.
given=$(env | sed -nE "s/^(VARIANTS|WHICH|PAIRS|SAMPLES|GAPS|OTHERS|POOL|SIZES|PROGRAMS|RESULT|SWAPS|KNOWS|SHORT|TURNS|TURN_S|TRY_S|THREADS|OTHER|DAYS|ROUNDS|BREAKS|IDLE_S|RATE_HZ|SECONDS_BUSY|SPAN|MODULES|RUNS|MACHINE_S|TORTURE_ORDERS)=(.*)/\1='\2' /p" | sort | tr -d '\n')
given_settings() { printf '%s' "$given"; }

# result_head TITLE: how every result begins
result_head() {
	echo "# $1"
	echo
	result_facts "$(given_settings)${0#./}"
}

result_facts() {	# COMMAND: when, where and by what
	echo "* date: $(date -u +%Y-%m-%d)"
	echo "* machine: $(sed -n 's/^model name[ \t]*: //p' /proc/cpuinfo | head -n 1)" \
		"($(awk -F '\t*: ' '/^(cpu family|model)\t/ { printf "%s%s %s", sep, $1, $2; sep = ", " } /^$/ { exit }' /proc/cpuinfo))," \
		"$(nproc) CPUs$(grep -q '^flags.* hypervisor' /proc/cpuinfo && echo ', virtual machine')," \
		"Linux $(uname -r), $(sed -n 's/^PRETTY_NAME="\(.*\)"/\1/p' /etc/os-release)"
	echo "* load average before: $(cut -d ' ' -f 1-3 /proc/loadavg)"
	echo "* command: \`$1\`, version $(git describe --always 2>/dev/null)"
	echo
}

# result NAME TITLE: everything printed from here on goes to bench/results/NAME.md, or RESULT, as well
result() {
	mkdir -p bench/results
	exec > >(tee "${RESULT:-bench/results/$1.md}")
	tee_pid=$!
	result_head "$2"
}

# Waits until the whole result is written; call it last.
result_end() {
	exec >&-
	wait "$tee_pid"
}

# A daemon with a policy in $T/morph.yaml, its store in $T/store, asked by ctl.
start_daemon() {
	chmod 755 "$T"
	mkdir -p "$T/store"
	"$B/morphd" --foreground --policy "$T/morph.yaml" --store "$T/store" --socket "$T/sock" --user nobody \
		--folders "$T" --morph-edit "$B/morph-edit" 2>"$T/log" &
	morphd=$!
	trap 'stop_daemon; rm -rf "$T"' EXIT
	for _ in $(seq 100); do ctl status >/dev/null 2>&1 && return; sleep 0.1; done
	cat "$T/log" >&2
	exit 1
}
stop_daemon() {		# it holds our standard output, too
	[ -z "${morphd:-}" ] || { kill "$morphd" && wait "$morphd"; } 2>/dev/null
	morphd=
}
ctl() { "$B/morphctl" --socket "$T/sock" "$@"; }

# Profiles of PROGRAM's training inputs by the tick clock, in $T/profiles.  Needs root.
train_profile() {	# PROGRAM SIZE SECONDS: its workload in $T/work, from $T/bin and $T/lib
	local i
	for i in 1 2 3; do
		mkdir -p "$T/train/$1/$i"
		(cd "$T/train/$1/$i" && "$work/$1.sh" prepare "$2" "$i")
	done
	cat >"$T/train.sh" <<-END
	end=\$((\$(date +%s) + $3))
	while [ "\$(date +%s)" -lt "\$end" ]; do
		for i in 1 2 3; do
			(cd $T/train/$1/\$i && LD_LIBRARY_PATH=$T/lib $work/$1.sh run $T/bin/$1 >/dev/null 2>&1)
		done
	done
	END
	"$B/morphctl" record -o "$T/$1.log" -- sh "$T/train.sh" 2>/dev/null
	"$B/morphctl" profile "$T/$1.log" -o "$T/profiles" >/dev/null
}
