#!/bin/bash
# auto.sh - files add to the policy; morphctl auto writes one of them, and the daemon reads it
cd "$(dirname "$0")/../.." || exit 1
. tests/e2e/private.bash
need_root
make_root sort
auto() { ctl auto "$@" --policy="$root/morph.yaml"; }
says() { local want=$1 out; shift; out=$("$@" 2>&1); grep -q -- "$want" <<<"$out" || { echo "$out"; return 1; }; }
fails() { local code=$1; shift; "$@" >"$root/out" 2>&1; [ $? = "$code" ] || { cat "$root/out"; return 1; }; }
in_force() { says "automatic  *$1" ctl policy show; }
dropins=$root/morph.yaml.d

check "without a daemon it is off" says "automatic is off by default: '$root/morph.yaml' says nothing of it\$" auto
check "and can be on" says "morphd does not run; it reads this" auto on
check_here "a daemon begins" start_daemon
check "and goes by it" in_force true
check "off again" says "automatic is off by '$dropins/50-auto.yaml'" auto off
check "the daemon has read it" in_force false
check "which is told" says "off by '$dropins/50-auto.yaml'\$" auto
check "the policy itself is as it was" grep -q "min_samples: 20" "$root/morph.yaml"
check "and in force" says "min_samples  *20" ctl policy show

echo "optimize: {min_samples: 30, automatic: false}" >"$dropins/90-mine.yaml"
cp "$dropins/50-auto.yaml" "$root/before"
check "what comes later holds" fails 3 auto on
check "which is said" grep -q "'$dropins/90-mine.yaml' says otherwise, and comes behind '$dropins/50-auto.yaml'" "$root/out"
check "nothing was written for that" cmp "$root/before" "$dropins/50-auto.yaml"
check "it is the file that is told" says "automatic is off by '$dropins/90-mine.yaml'\$" auto
check "also where it was asked for the same" says "automatic is off by '$dropins/90-mine.yaml'\$" auto off
mv "$dropins/50-auto.yaml" "$root/50-auto.yaml"
check "also where it is alone" says "automatic is off by '$dropins/90-mine.yaml'\$" auto
mv "$root/50-auto.yaml" "$dropins"
check "policy check reads them, too, and notes what stands twice" \
	says "90-mine.yaml:1: optimize.automatic is set in $dropins/50-auto.yaml, too" ctl policy check "$root/morph.yaml"
cp "$dropins/90-mine.yaml" "$dropins/95-mine.yml"
check "one that is not read is named" says "95-mine.yml: not read, its name does not end in '.yaml'" \
	ctl policy check "$root/morph.yaml"
check "the daemon reads the others when asked" says "95-mine.yml: not read, its name does not end in '.yaml'" \
	ctl policy reload
rm "$dropins/95-mine.yml"
check "and says nothing without it" test -z "$(ctl policy reload 2>&1 | grep "not read")"
check "all of it" says "min_samples  *30" ctl policy show
echo "optimize: {min_samples: lots}" >"$dropins/90-mine.yaml"
check "a wrong one is refused by its name" fails 2 ctl policy reload
check "and its line" grep -q "$dropins/90-mine.yaml:1:" "$root/out"
check "what was in force is so still" says "min_samples  *30" ctl policy show
check "and told as a trouble" says "90-mine.yaml:1:.*the one read before is in force" ctl status
before=$(cat "$dropins/50-auto.yaml")
check "nothing is added to what is wrong" fails 2 auto off
check "nothing was written" [ "$before" = "$(cat "$dropins/50-auto.yaml")" ]
check_here "the daemon ends with that" stop_daemon
check_here "and begins by the last good ones" start_daemon
check "of all files" says "min_samples  *30" ctl policy show
check "which is told" says "90-mine.yaml:1:.*the last good one is in force" ctl status
rm "$dropins/90-mine.yaml"
chmod 755 "$root"
cp "$B/morphctl" "$root/morphctl"	# the build may be where nobody else may look
check "who may not is told so" fails 1 setpriv --reuid=65534 --clear-groups "$root/morphctl" auto on --policy="$root/morph.yaml"
check "with the file's name" grep -q "50-auto.yaml': Permission denied" "$root/out"
check "anything else is usage" fails 2 auto perhaps
rm -r "$dropins"
check "without the folder it is the policy's again" ctl policy reload
check "as it was" in_force false
check_here "the daemon ends" stop_daemon
done_testing
