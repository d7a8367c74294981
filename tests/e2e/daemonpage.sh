#!/bin/bash
# daemonpage.sh - a page of what the daemon says has the figures of its commands, and names of files do nothing in it
cd "$(dirname "$0")/../.." || exit 1
. tests/e2e/private.bash
. tests/e2e/pages.bash
need_root
make_root gzip
evil="$root/bin/"$'<b><img src=x onerror=alert(1)>"\'&lt;\xe2\x80\xae\xc2\x9b31m'
cp "$root/bin/gzip" "$evil"
cp "$root/bin/gzip" "$root/bin/setid"
chmod u+s "$root/bin/setid"
page() { ctl report --html="$root/page"; }
check "without a daemon there is none" fails 1 'morphctl: ' page
check "and nothing is written" [ ! -e "$root/page" ]
check_here "the daemon starts and answers" start_daemon
for ((i = 0; i < 40; i++)); do
	seq 1 200000 | "$root/bin/gzip" >/dev/null
	seq 1 100000 | "$evil" >/dev/null
done
taken_in >/dev/null
check "a program is laid out anew" ctl reoptimize "$root/bin/gzip"
check "another one is refused" fails 3 'set-id' ctl reoptimize "$root/bin/setid"
for ((i = 0; i < 40; i++)); do
	seq 1 200000 | "$root/bin/gzip" >/dev/null
done
ctl pause >/dev/null
taken_in >/dev/null
check "a page is written" page
sound "$root/page" daemon
check "links lead to what is there" no_dangling "$root/page"
check "no character that steers others is in it" harmless "$root/page"
ctl --json list >"$root/list"
ctl --json history >"$root/history"
ctl --json report >"$root/report"
ctl --json explain "$root/bin/gzip" >"$root/explain"
shown() { sed -E 's/: ([0-9]{16,})/: "\1"/g' | rows "$1" | sed 's/\\/\\\\/g; s/\xe2\x80\xae/\\u202e/g; s/\xc2\x9b/\\u009b/g' | numbers; }	# as people see it; times are too large for jq
first() { awk -v t="data-title=\"$2\"" '/<table/ { on = index($0, t) && !n++ } on { print } /<\/table>/ { on = 0 }' "$1" >"$root/first"; table "$root/first" "$2"; }
check "programs are those of list" diff <(sed '/id="saved"/,$d' "$root/page" >"$root/part"; first "$root/part" modules | numbers) <(shown modules <"$root/list")
check "they are some" [ "$(shown modules <"$root/list" | wc -l)" -ge 2 ]
check "procedures are those of report" diff <(table "$root/page" procedures | numbers) <(shown procedures <"$root/report")
check "what was done is the history" diff <(table "$root/page" history | numbers) <(shown history <"$root/history")
ctl --json saved >"$root/saved"
check "what was saved has its tables" [ "$(for t in in_all unmeasured cost; do grep -c "data-title=\"$t\"" "$root/page"; done | tr '\n' ' ')" = "1 1 1 " ]
check "some is unmeasured" jq -e '.unmeasured | length > 0' "$root/saved"
check "what is unmeasured is what saved says" diff <(table "$root/page" unmeasured | cut -f 1,2 | numbers) <(rows unmeasured <"$root/saved" | cut -f 1,2 | numbers)
check "what was refused is told with its reason" grep -q "$root/bin/setid.refused.*set-id" <(table "$root/page" refused)
check "and that alone" not grep -q installed <(table "$root/page" refused)
section() { awk -v h="<h3><bdi>$1</bdi></h3>" '/<h3>/ { on = index($0, h) } /<\/section>/ { on = 0 } on' "$root/page" >"$root/part"; table "$root/part" "$2"; }
check "what is left is what explain says" diff <(section "$root/bin/gzip" reasons | numbers) <(shown reasons <"$root/explain")
check "so is how sure it is" diff <(section "$root/bin/gzip" confidence | numbers) <(shown confidence <"$root/explain")
check "the hostile name is there as text" grep -q '<td>[^<]*&lt;b&gt;&lt;img src=x onerror=alert(1)&gt;&quot;&#39;&amp;lt;' "$root/page"
check "no picture and no handler is made of it" not grep -qE '<img|<b>|[ "]onerror=' <(sed 's/>[^<]*</></g' "$root/page")
check "samples are those of status" grep -q 'data-title="samples"' "$root/page"
check "one module is not a page's" fails 2 usage ctl report gzip --html="$root/page"
check "what recordings have is not asked of the daemon" fails 2 'is for recordings' ctl report --html="$root/page" --by=line
if has_browser "$root/page"; then
	shown_in_browser "$root/page" daemon
else
	skip "the browser has nothing to say of it (daemon)" "no chromium that runs here"
fi
stop_daemon 2>/dev/null
done_testing
