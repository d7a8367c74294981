#!/bin/bash
# touch.sh - a user touches a large program of his over and over, to have the manager read it again each time
#
# What is looked at is how many bytes the manager reads, not how long anything takes.
#
# run.sh: waits
cd "$(dirname "$0")/../../.." || exit 1
. tests/e2e/private.bash
need_root
user=64031 size=$((1 << 30))
make_root gzip
mkdir "$root/$user"
cp "$root/bin/gzip" "$root/$user/tool"
truncate -s $size "$root/$user/tool"		# sparse: it costs him nothing
chown -R $user:$user "$root/$user"
sed -i "s|include:.*|include: [\"$root/bin/*\", \"$root/$user/*\"]|" "$root/morph.yaml"
check_here "the daemon starts" start_daemon
as_user() { setpriv --reuid $user --regid $user --clear-groups "$@"; }
has_read() { awk '/^rchar/ { print $2 }' "/proc/$(role_pid manager)/io"; }
knows() { ctl --json list | grep -qF "\"$1\""; }

head -c 8000000 /dev/urandom >"$root/data"
sampled_by_user() {
	for _ in $(seq 20); do
		as_user "$root/$user/tool" -9 <"$root/data" >/dev/null || return 1
		taken_in && knows "$root/$user/tool" && return 0
	done
	return 1
}
check "his program is a module" sampled_by_user
before=$(has_read)
as_user perl -e '
	my $end = time + 20;
	while (time < $end) { utime undef, undef, $ARGV[0]; select undef, undef, undef, 0.001 }' "$root/$user/tool" &
touching=$!
# Meanwhile root has his own program looked at, by its samples and after a change.
"$root/bin/gzip" -9 <"$root/data" >/dev/null
check "root's requests are answered meanwhile" ctl report
wait $touching
after=$(has_read)
check "it was not read for each touch ($((after - before)) bytes)" [ $((after - before)) -lt $((5 * size / 2)) ]
within 30 knows "$root/bin/gzip"
check "root's program is known" knows "$root/bin/gzip"
check_here "the daemon ends with code 0" stop_daemon
done_testing
