# git.sh - git at work on a repository that is made here
packages=git
files() { with_libraries "$(program git)"; }
prepare() { cp -a "$(realpath /usr/share/perl/5.36)" tree; }
run() {
	local i
	export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@b GIT_COMMITTER_NAME=c GIT_COMMITTER_EMAIL=c@d
	export GIT_AUTHOR_DATE='1000000000 +0000' GIT_COMMITTER_DATE='1000000000 +0000' GIT_CONFIG_NOSYSTEM=1
	git config --global pack.threads 1
	git config --global gc.auto 0		# in the background, and so at any time
	git init -q -b main tree && cd tree || return
	git add . && git commit -qm one && git log --stat | sha256sum
	for i in 1 2 3 4 5 6 7 8; do
		git checkout -q -b "b$i" main
		find . -name "*.pm" -path "*$i*" -o -name "[$(printf '%b' "\\10$i")]*.pm" | head -n 30 |
			xargs sed -i "1s/^/# $i\n/;\$s/\$/\n# end $i/"
		git commit -qam "change $i"
		git tag -a -m "tag $i" "t$i"
	done
	git checkout -q main
	for i in 1 2 3 4 5 6 7 8; do
		git merge -q "b$i" -m "merge $i" >/dev/null 2>&1 || { git checkout -q --theirs . ; git commit -qam "merge $i by force"; }
	done
	git log --graph --oneline --all --decorate
	git diff t1 t5 | sha256sum
	git blame Carp.pm | sha256sum
	git gc -q && git fsck --full && git count-objects -v
	git grep -n 'sub [a-z]*_name' | sha256sum
	git rebase -q --onto t2 t3~1 b3 ; git status --short | head
	git format-patch -o ../p -8 -q main && ls ../p && sha256sum ../p/*
	git archive main | sha256sum
	git clone -q . ../clone && cd ../clone && git log -1 --format=%H && git describe --all
	git bisect start HEAD t1 && git bisect run sh -c '! grep -q "end 5" Carp.pm'
	git stash list; git worktree list | sed 's/^[^ ]*//'; git shortlog -s; git cat-file --batch-check --batch-all-objects | sha256sum
}
