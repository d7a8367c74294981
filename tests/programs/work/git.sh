#!/bin/sh
# git.sh prepare N SEED | run GIT - a made repository with N files and fixed dates
case $1 in
prepare)
	rm -rf files && mkdir -p files/a files/b
	awk -v n="$2" -v s="$3" 'BEGIN {
		s = s * 7919 + 1
		for (i = 0; i < n; i++)
			for (k = 0; k < 40; k++) { s = (s * 16807) % 2147483647
				print "line", k, s % 100, (s % 5 ? "common text" : "rare " s) \
					>("files/" (i % 2 ? "a" : "b") "/file" i) }
	}' ;;
run)
	git=$2
	export HOME=$PWD GIT_CONFIG_NOSYSTEM=1 GIT_PAGER=cat LC_ALL=C GIT_AUTHOR_NAME=A GIT_AUTHOR_EMAIL=a@example.org
	export GIT_COMMITTER_NAME=C GIT_COMMITTER_EMAIL=c@example.org
	rm -rf repo && cp -r files repo && cd repo || exit 1
	"$git" -c init.defaultBranch=main init -q .
	i=0
	commit() {
		i=$((i + 1))
		export GIT_AUTHOR_DATE="2001-01-0$i 12:00:00 +0000" GIT_COMMITTER_DATE="2001-01-0$i 13:00:00 +0000"
		"$git" add -A && "$git" -c gc.auto=0 commit -q -m "commit $i"
	}
	commit
	for f in a/*; do sed -i "s/rare/changed/; 7d" "$f"; done
	commit
	"$git" branch side && "$git" mv b/file0 b/moved && commit
	"$git" checkout -q side && echo more >>b/file2 && commit
	"$git" checkout -q main && "$git" -c merge.stat=false merge -q -m merge side 2>&1; "$git" log --graph --stat --format='%H %an %ad %s'
	"$git" diff --stat HEAD~2; "$git" diff -M HEAD~1 | head -n 400; "$git" log -p --reverse | sha256sum
	"$git" grep -n -E 'changed [0-9]+7$' | head -n 50; "$git" grep -c common | head -n 20
	"$git" blame a/file1 | head -n 20; "$git" ls-tree -r HEAD | head -n 20; "$git" status --short
	"$git" shortlog -s HEAD; "$git" rev-list --objects --all | wc -l; "$git" show --stat HEAD~1
	"$git" repack -a -d -q && "$git" fsck --strict; "$git" archive HEAD | sha256sum
	"$git" cat-file -p HEAD^{tree}; "$git" stash list; "$git" describe --always; "$git" show no-such-name
	echo "$?" ;;
esac
