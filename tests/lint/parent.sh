#!/bin/bash
# parent.sh - the privileged parent parses nothing: no parser can be reached from its code
#
# morphd is one program for all roles.  What the parent's objects refer to, and what that refers to,
# is all that can run in its process before it executes itself anew.
. tests/tap.sh
B=${B:-build}
lib="lib/arena lib/confine lib/digest lib/dropins lib/err lib/io lib/landlock lib/memory lib/msg lib/procstat lib/secret lib/utf8 lib/wr"

symbols=$(find "$B/lib" "$B/policy" "$B/monitor" "$B/manager" -name '*.o' ! -name main.o -exec nm -P -A {} + |
	awk -v folder="$B/" '{ sub(/\.o:$/, "", $1); print substr($1, length(folder) + 1), $2, $3 }')
reached() {		# OBJECT: its closure, by name
	awk -v start="$1" '
	$3 ~ /[TDBRC]/ { where[$2] = $1 }
	$3 == "U" { uses[$1] = uses[$1] " " $2 }
	END {
		todo[n = 1] = start
		seen[start]
		for (i = 1; i <= n; i++) {
			print todo[i]
			m = split(uses[todo[i]], name, " ")
			for (k = 1; k <= m; k++)
				if (name[k] in where && !(where[name[k]] in seen)) {
					seen[where[name[k]]]
					todo[++n] = where[name[k]]
				}
		}
	}' <<<"$symbols" | LC_ALL=C sort | tr '\n' ' '
}

parent=$(reached manager/parent/role_parent)
here=$(for f in manager/parent/*.c; do echo "${f%.c}"; done | LC_ALL=C sort | tr '\n' ' ')
check "the parent reaches manager/parent, all of it, and of lib what it needs ($parent)" \
	[ "$parent" = "$lib $here" ]
manager=$(reached manager/control/role_manager)
check "the manager is seen to reach the parsers of spools and policies" \
	grep -q "monitor/spool_read .*policy/yaml" <<<"$manager"
done_testing
