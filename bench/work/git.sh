#!/bin/sh
# git.sh prepare COMMITS SEED | run BIN - history questions to a made repository: log with patches and
# renames, blame, diffs of all kinds, grep, object walks, repacking, checks
#
# Nothing is asked that git starts another git for: that would be the installed one.  The history is
# written by the machine's own git from a stream for fast-import.
here=$(dirname "$(realpath "$0")")
export HOME="$PWD" GIT_CONFIG_NOSYSTEM=1 GIT_PAGER=cat LC_ALL=C
case $1 in
prepare)
	rm -rf repo.git && git -c init.defaultBranch=main init -q --bare repo.git &&
		awk -v n="$2" -v seed="$3" -f "$here/git_history.awk" | git -C repo.git fast-import --quiet ;;
run)
	git=$2
	cd repo.git || exit 1
	"$git" -c pack.threads=1 log -p -M --stat --format='%H %an %ad %s%n%b' main
	"$git" log --graph --oneline --all -- dir1 dir3
	"$git" log -S'common 7' --format=%h main
	"$git" ls-tree -r --name-only main | sed -n 1,6p >../blamed
	while read -r f; do "$git" blame -C main -- "$f"; done <../blamed
	"$git" diff --minimal --word-diff main~20 main; "$git" diff --patience --stat main~40 main
	"$git" diff --histogram -w main~30 main -- dir0
	"$git" grep -n -E '(rare|common) [0-9]+7$' main; "$git" grep -c -i 'LINE' main~9
	"$git" rev-list --objects --all | "$git" cat-file --batch-check
	"$git" -c pack.threads=1 pack-objects --all --window=20 --no-reuse-delta --stdout -q </dev/null | cksum
	"$git" -c core.deltaBaseCacheLimit=1m -c core.commitGraph=false -c core.multiPackIndex=false fsck --strict --full 2>&1
	"$git" archive main | cksum; "$git" shortlog -ns main; "$git" name-rev --all | head -n 50
	"$git" merge-tree main~30 main~9 main | cksum ;;
esac
