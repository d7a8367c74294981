#!/bin/sh
# git_uses.sh prepare COMMITS SEED [USE...] | run BIN - history: log, patches, renames, pickaxe; objects: packing,
# checks, archives, walks; search: blame, grep, diffs of all kinds (see git.sh)
here=$(dirname "$(realpath "$0")")
export HOME="$PWD" GIT_CONFIG_NOSYSTEM=1 GIT_PAGER=cat LC_ALL=C
case $1 in
prepare)
	n=$2 seed=$3
	shift 3
	echo "${*:-history objects search}" >uses
	rm -rf repo.git && git -c init.defaultBranch=main init -q --bare repo.git &&
		awk -v n="$n" -v seed="$seed" -f "$here/git_history.awk" | git -C repo.git fast-import --quiet ;;
run)
	git=$2
	cd repo.git || exit 1
	for use in $(cat ../uses); do
		case $use in
		history)
			"$git" log -p -M --stat --format='%H %an %ad %s%n%b' main
			"$git" log --graph --oneline --all -- dir1 dir3
			"$git" log -S'common 7' --format=%h main; "$git" log --format='%t %p %ct %D' --date-order --all
			"$git" shortlog -ns main; "$git" name-rev --all | head -n 50 ;;
		objects)
			"$git" rev-list --objects --all | "$git" cat-file --batch-check
			"$git" -c pack.threads=1 pack-objects --all --window=20 --no-reuse-delta --stdout -q </dev/null | cksum
			"$git" -c core.deltaBaseCacheLimit=1m fsck --strict --full 2>&1
			for c in 1 9 30; do "$git" archive main~$c | cksum; done ;;
		search)
			"$git" ls-tree -r --name-only main | sed -n 1,9p >../blamed
			while read -r f; do "$git" blame -C main -- "$f"; done <../blamed
			for c in 5 20 40 60; do
				"$git" diff --minimal --word-diff main~$c main; "$git" diff --patience --stat main~$c main
				"$git" diff --histogram -w main~$c main -- dir0
				"$git" grep -n -E '(rare|common) [0-9]+7$' main~$c; "$git" grep -c -i 'LINE' main~$c
			done ;;
		esac
	done ;;
esac
