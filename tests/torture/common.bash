# common.bash - sourced by the torture run's scripts: where things are, and the progress bar
export B STATE=$B/torture
export TORTURE_TMP=${TORTURE_TMP:-$STATE/tmp}

# The run works with copies of Editor and Verifier: hours later its results are still those of one build.
if [ -z "${EDIT:-}" ]; then
	for p in morph-edit morph-verify; do
		[ -x "$B/$p" ] || { echo "$B/$p is not built"; exit 1; }
	done
	mkdir -p "$STATE" || exit 1
	export EDITOR EDIT VERIFY LIMITED PROFILED
	EDITOR=$(cat "$B/morph-edit" "$B/morph-verify" | sha256sum | cut -c 1-12)
	EDIT=$STATE/morph-edit-$EDITOR VERIFY=$STATE/morph-verify-$EDITOR LIMITED=$STATE/limited-$EDITOR PROFILED=$STATE/profiled-$EDITOR
	[ -e "$STATE/version-$EDITOR" ] || git describe --always --dirty >"$STATE/version-$EDITOR" 2>/dev/null
	[ -x "$EDIT" ] || { cp "$B/tests/torture/limited" "$LIMITED" && cp "$B/tests/torture/profiled" "$PROFILED" &&
		cp "$B/morph-verify" "$VERIFY" && cp "$B/morph-edit" "$EDIT"; } || exit 1
fi

# An order is `layout`: every function moved as the passes lay it out without a profile; N: moved and
# shuffled by that seed; or pN: as the passes will have it by the profile that profiled makes of that seed.
# Leaves the Editor's options; when there is no profile, it ends as what refused it.
order_options() {	# ORDER FILE FOLDER
	case $1 in
	layout)	order_options=(--all) ;;
	p*)	"$EDIT" analyze "$2" --table "$3/table" >/dev/null 2>"$3/err" &&
			"$PROFILED" "$3/table" "${1#p}" >"$3/profile" 2>"$3/err" || return
		order_options=(--profile "$3/profile") ;;
	*)	order_options=(--all --shuffle="$1") ;;
	esac
}

# A bar on a terminal, else a line a minute: how many of TOTAL new files FOLDER has got.
progress_start() {	# TOTAL FOLDER
	local before
	before=$(ls "$2" | wc -l)
	progress_loop "$1" "$2" "$before" &
	progress=$!
}

progress_loop() {	# TOTAL FOLDER BEFORE
	local n start=$SECONDS left tty= every=60 i
	[ -t 1 ] && tty=1 every=1
	while :; do
		for ((i = 0; i < every; i++)); do
			sleep 1
		done
		n=$(($(ls "$2" | wc -l) - $3))
		left=?
		[ "$n" -gt 0 ] && left=$(((SECONDS - start) * ($1 - n) / n / 60))
		if [ -n "$tty" ]; then
			local bar=$((n * 40 / $1))
			printf '\r[%-40s] %d of %d, %s min left ' \
				"$(printf '%*s' "$bar" '' | tr ' ' '#')" "$n" "$1" "$left"
		else
			echo "$n of $1 files, about $left min left at this rate"
		fi
	done
}

progress_stop() {
	[ -n "${progress:-}" ] && kill "$progress" 2>/dev/null
	wait "$progress" 2>/dev/null
	progress=
	[ -t 1 ] && echo
	return 0
}
