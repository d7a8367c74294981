#!/bin/bash
# deps.sh - dependencies go one way (DESIGN.md): lib <- policy, lib <- postmorph <- editor,
# lib <- monitor <- manager -> policy.  The Manager holds no decoder.
. tests/tap.sh

deny() {		# FOLDER 'FORBIDDEN|FORBIDDEN'
	local found
	if found=$(grep -rnE "#include \"($2)/" --include='*.[ch]' "$1"); then
		not_ok "$1 includes nothing of $2"
		note "$found"
	else
		ok "$1 includes nothing of $2"
	fi
}

deny lib 'policy|postmorph|editor|monitor|manager'
deny policy 'postmorph|editor|monitor|manager'
deny postmorph 'policy|editor|monitor|manager'
deny editor 'policy|monitor|manager'
deny monitor 'policy|postmorph|editor|manager'
deny manager 'postmorph|editor'
done_testing
