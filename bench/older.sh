#!/bin/bash
# older.sh - what another build of the Editor makes of the same samples, beside this one
#
#	OLDER=FILE [SIZES='100000 20000 5000'] bench/older.sh [prepare|measure|count|layouts|report]...
#
# FILE is the other build's morph-edit, which reads the same profiles; what it makes is proven by the
# morph-verify beside it.  SIZES are numbers of samples, or `exact`.  The stages are those of
# bench/stages.bash.
cd "$(dirname "$0")/.." || exit 1
[ -n "${OLDER:-}" ] || { echo "skipped: OLDER names no other morph-edit"; exit 0; }
OLDER=$(realpath -e "$OLDER") || exit 1
VARIANTS=$(for n in ${SIZES:-100000 20000 5000}; do echo "morph-$n+older morph-$n"; done)
. bench/stages.bash

report() {
	result older "Two Editors beside each other"
	cat <<-END
	From the same samples: \`+older\` by ${OLDER_NAME:-another build}, the others by the version of the head.  Columns as in
	speed-intel.md.

	END
	facts | awk -v what=older -f bench/speed.awk
	result_end
}

stages older "$@"
