#!/bin/bash
# page.sh - a page of a recording is well-formed, needs nothing else, and has the figures of the commands;
# names chosen by somebody who wants to break out of them stay text
cd "$(dirname "$0")/../.." || exit 1
. tests/tap.sh
. tests/e2e/pages.bash
. tests/e2e/firefox.bash
B=$(cd "${B:-build}" && pwd) || exit 1
root=$(mktemp -d "${TMPDIR:-/tmp}/morph-page.XXXXXX") || exit 1
trap 'firefox_stop; rm -rf "$root"' EXIT
morphctl() { "$B/morphctl" "$@" 2>"$root/said"; }
json() { morphctl --json "$@"; }
address() { printf '0x%x' "0x$(nm "$1" | awk -v s="$2" '$3 == s { print $1 }')"; }
${CC:-cc} -O2 -g -o "$root/work" tests/e2e/export/work.c 2>"$root/why" || skip_all "$(cat "$root/why")"

# --- figures ---

profile() {		# MODULE PROGRAM: its functions have 600, 300 and 100 samples
	printf 'morph-profile 2\nmodule %s\nsha256 %s\nclock tick\noutside 0\n' "$1" "$(sha256sum <"$2" | cut -d' ' -f1)"
	printf 'block %s\n' "$(address "$2" outer) 600" "$(address "$2" divides) 300" "$(address "$2" "${3:-odd_name}") 100" | sort -k 2
}
profile "$root/work" "$root/work" >"$root/a"
check "a page is written" morphctl report --html="$root/page" --log="$root/a"
sound "$root/page" profile
for t in recording:module modules:module procedures:procedure programs:program; do
	check "its ${t%:*} are those of report" diff <(table "$root/page" "${t%:*}" | numbers) \
		<(json report --log="$root/a" --by="${t#*:}" --limit=1000 | rows "${t%:*}" | sed 's/null//g' | numbers)
done
check "they are some" [ "$(table "$root/page" procedures | cut -f 2,3 | numbers | tr '\t\n' '  ')" = "outer 600 divides 300 odd_name 100 " ]
for f in outer divides odd_name; do
	check "procedures lead to their code, in the table and in the contents ($f)" [ "$(grep -oE "(td|li)><a href=\"#f-0-$(address "$root/work" $f | cut -c 3-)\">$f</a>" "$root/page" | cut -c 1,2 | sort -u | paste -sd " ")" = "li td" ]
	check "which is there ($f)" grep -q "<section class=\"fn\" id=\"f-0-$(address "$root/work" $f | cut -c 3-)\" data-name=\"$f\"" "$root/page"
done
for spelling in "report --html $root/other --log=$root/a" "export --html=$root/other $root/a" "export --html $root/other $root/a" \
	"export --format=html -o $root/other $root/a"; do
	rm -f "$root/other"
	check "so does '${spelling%% /*}'" eval "morphctl $spelling && diff <(table '$root/page' procedures) <(table '$root/other' procedures)"
done
check "standard output will do" eval "morphctl export --html=- '$root/a' | grep -q '^</html>'"
check "links lead to what is there" no_dangling "$root/page"

# --- code, as annotate says ---

cells() {		# of rows of code: what is not shown of a figure is beside it, what is empty is 0
	sed -E 's/<td data-v="([^"]*)">[^<]*/\t\1/g; s/<td( class="s[^"]*")?>/\t/g; s/<[^>]*>//g'
}
insns() {		# PAGE FUNCTION: address, samples, executions, cycles, best, culprit, why
	awk -v f="data-name=\"$2\"" '/<section/ { on = index($0, f) } on && /^<tr id="i-/' "$1" |
		sed -E 's/<td class="code">[^<]*<\/td>//; s/<td data-culprit="([^"]*)">(<a [^>]*>)?[^<]*(<\/a>)?<\/td>/<td>\1<\/td>/' | cells |
		awk -F '\t' -v OFS='\t' '{ print $2, $3 == "" ? 0 : $3, $4, $5, $6, $7 == "" ? "-" : $7, $8 }' | sed 's/\t*$//' | numbers
}
annotated() { json annotate "$1" "$2" --log="$3" | jq -r '.instructions[] | select(.executions > 0.0005 or .samples > 0) |
	[.address, .samples, .executions, .cycles, .best_cycles, .culprit, .why] | map(tostring) | join("\t")' | sed 's/\t*$//' | numbers; }
blocks() {
	awk -v f="data-name=\"$2\"" '/<section/ { on = index($0, f) } on && /<tr class="block"/' "$1" |
		sed -E 's/^<tr class="block" data-block="([^"]*)" data-confidence="([^"]*)"[^>]*>/\1\t\2/; s/<th[^>]*>[^<]*//; s/<td colspan.*//' | cells |
		awk -F '\t' -v OFS='\t' '{ print $1, $2, $3 == "" ? 0 : $3, $4, $5, $6 }' | numbers
}
annotated_blocks() { json annotate "$1" "$2" --log="$3" | jq -r '.blocks[] | select(.executions > 0.0005 or .samples > 0) |
	[.block, .confidence, .samples, .executions, .cycles, .best_cycles] | map(tostring) | join("\t")' | numbers; }
same_code() {		# PAGE MODULE FUNCTION LOG
	insns "$1" "$3" >"$root/shown"
	blocks "$1" "$3" >"$root/shown_blocks"
	[ -s "$root/shown" ] && [ -s "$root/shown_blocks" ] &&
		diff "$root/shown" <(annotated "$2" "$3" "$4") && diff "$root/shown_blocks" <(annotated_blocks "$2" "$3" "$4")
}
for f in outer divides odd_name; do
	check "the code of a profile is that of annotate ($f)" same_code "$root/page" work $f "$root/a"
done
causes() { awk -v f="data-name=\"$2\"" '/<section/ { on = index($0, f) } on' "$1" >"$root/part"; table "$root/part" causes | numbers; }
check "so are its causes" diff <(causes "$root/page" divides) <(json annotate work divides --log="$root/a" | rows causes | numbers)
if morphctl record -o "$root/log" -- "$root/work" 15000000 && morphctl report --html="$root/logpage" --log="$root/log" &&
		[ "$(json report work --log="$root/log" | jq '.procedures[0].samples')" -gt 20 ]; then
	sound "$root/logpage" log
	check "the procedures of a log are those of report" diff <(table "$root/logpage" procedures | numbers) \
		<(json report --log="$root/log" --limit=300 | rows procedures | numbers)
	for f in $(table "$root/logpage" procedures | awk -F '\t' '$1 ~ /work$/ && $2 !~ /\[/ { print $2 }' | head -n 3); do
		check "the code of a log is that of annotate ($f)" same_code "$root/logpage" work "$f" "$root/log"
	done
	check "instructions have their lines" grep -q '<td>work.c:[0-9]*</td></tr>' "$root/logpage"
	check "a second page of it is the same but for its time" diff <(sed '/<section id="machine"/,/<\/section>/d' "$root/logpage") \
		<(morphctl report --html=- --log="$root/log" | sed '/<section id="machine"/,/<\/section>/d')
else
	skip "the code of a log is that of annotate" "$(cat "$root/said")"
fi

# --- flow and text, of a program that counts itself ---

{ ${CC:-cc} -O2 -DOTHER -c -o "$root/other.o" tests/e2e/export/flow.c && ${CC:-cc} -O2 -c -o "$root/one.o" tests/e2e/export/flow.c &&
	${CC:-cc} -o "$root/flow" "$root/one.o" "$root/other.o"; } 2>"$root/why"
"$B/morph-edit" instrument "$root/flow" -o "$root/counting" --counts "$root/counts" && "$root/counting" >"$root/out" &&
	"$B/morph-edit" counts "$root/flow" "$root/counts" -o "$root/exact" || not_ok "the program counts itself"
check "a page of executions is written" morphctl report --html="$root/exactpage" --log="$root/exact"
sound "$root/exactpage" exact
edges() { awk -v f="data-name=\"$2\"" '/<section/ { on = index($0, f) } on' "$1" >"$root/part"; table "$root/part" edges | cut -f "${3:-1-4}" | numbers; }
of_cfg() { "$B/morphctl" cfg flow "$1" --log="$root/exact" | awk '/^0x/ { from = $1 } $1 == "->" && $4 > 0 { print from "\t" $2 "\t" $3 "\t" $4 }' | numbers; }
for f in cases main; do
	check "edges are those of cfg ($f)" diff <(edges "$root/exactpage" $f) <(of_cfg $f)
	check "they are some ($f)" [ "$(of_cfg $f | wc -l)" -ge 3 ]
	drawn() { awk -v f="data-name=\"$f\"" '/<section/ { on = index($0, f) } on && /<figure>/ { n++ } on && n == 1' "$root/exactpage"; }
	check "as many are drawn ($f)" [ "$(drawn | grep -c '<path stroke-width')" = "$(of_cfg $f | wc -l)" ]
	check "and blocks, in their order ($f)" diff <(drawn | grep -oE '<g data-block="[^"]*"' | cut -d'"' -f 2) \
		<("$B/morphctl" cfg flow $f --log="$root/exact" | awk '/^0x/ && $6 > 0 { print $1 }')
done
# What is written of a block stands in its box.
inside_boxes() {
	awk 'function number(of, name) { match(of, " " name "=\"[0-9]+"); return substr(of, RSTART + length(name) + 3, RLENGTH - length(name) - 3) + 0 }
		/<g data-block=/ {
			match($0, /<rect class="box[^>]*>/); box = substr($0, RSTART, RLENGTH); boxes++
			for (rest = $0; match(rest, /<text[^>]*>/); texts++) {
				text = substr(rest, RSTART, RLENGTH)
				rest = substr(rest, RSTART + RLENGTH)
				if (number(text, "y") <= number(box, "y") || number(text, "y") >= number(box, "y") + number(box, "height") ||
				    number(text, "x") < number(box, "x") || number(text, "x") > number(box, "x") + number(box, "width")) { print box, text; bad = 1 }
			}
		}
		END { if (texts != 4 * boxes) { print boxes " boxes, " texts " texts"; bad = 1 } exit bad || !boxes }' "$1"
}
check "texts of blocks are in their boxes" inside_boxes "$root/exactpage"
# Every block of the profile is in the lines that it covers.
lines_of_blocks() {
	"$B/morphctl" cfg flow "$1" --log="$root/exact" | awk '/^0x/ && $6 > 0 { print $1, $2 }' |
		while read -r a n; do for ((i = a / 64; i * 64 < a + n; i++)); do echo $i; done; done
}
for f in $(table "$root/exactpage" procedures | awk -F '\t' '$1 ~ /flow$/ && $7 > 0 { print $6 }'); do
	"$B/morphctl" cfg flow "$f" --log="$root/exact" >/dev/null 2>&1 && lines_of_blocks "$f"
done | sort -u >"$root/lines"
text_lines() { table "$root/exactpage" lines | awk -F '\t' -v w="$1" '$1 == w { print $3 + $4 }'; }
check "the lines that run are those of the blocks" [ "$(text_lines before)" = "$(wc -l <"$root/lines")" ]
check "as many cells are drawn" [ "$(awk '/<svg class="heat"/ { n++ } n == 1 && /<path class="h[012]"/' "$root/exactpage" | grep -o M | wc -l)" = "$(wc -l <"$root/lines")" ]
"$B/morph-edit" optimize "$root/flow" --profile "$root/exact" -o "$root/generation" --stats "$root/stats" --map "$root/map"
hot=$(awk '$1 == "hot_bytes" { print $2 }' "$root/stats")
check "the new text is as large as the editor makes it" grep -q ">new text: hot, $hot bytes<" "$root/exactpage"
# Where a generation stands, what comes after is that one, whatever else would be made of the samples.
mkdir -p "$root/store/originals" "$root/installed"
cp "$root/work" "$root/store/originals/$(sha256sum <"$root/work" | cut -d' ' -f 1)"
"$B/morph-edit" optimize "$root/work" --all --shuffle=7 -o "$root/installed/work" --stats "$root/stats" --map "$root/map"
hot=$(awk '$1 == "hot_bytes" { print $2 }' "$root/stats")
profile "$root/installed/work" "$root/work" >"$root/installed.profile"
check "a page of a generation is written" morphctl report --html="$root/genpage" --log="$root/installed.profile" --store="$root/store"
check "the new text is the generation's" grep -q ">new text: hot, $hot bytes<" "$root/genpage"
check "which is not what the samples would make of it" not grep -q ">new text: hot, $hot bytes<" "$root/page"
check "and it is said" grep -q 'as it is in the generation that stands at this path' "$root/genpage"
sound "$root/genpage" generation
check "code is the original's" same_code "$root/genpage" work outer "$root/a"
images() { awk -v f="data-name=\"$2\"" '/<section/ { on = index($0, f) } on && /as it lies in new text<.figcaption>/ { new = 1 } on && new' "$1" |
	grep -oE '<g data-block="[^"]*"><title>[^:]*' | sed -E 's/.*"(.*)"><title>(.*)/\1 \2/'; }
in_map() {		# those that are elsewhere; NOPs alone are nowhere
	 while read -r from to; do "$B/morph-edit" map "$root/installed/work" --reverse "$from" | awk -v f="$from" -v t="$to" '$1 == f && $2 != t && !/not moved/ { print f, t, $2 }'; done
}
check "blocks are drawn where its map has them" eval '[ "$(images "$root/genpage" outer | wc -l)" -ge 2 ] && [ -z "$(images "$root/genpage" outer | in_map)" ]'
check "a generation of another program is none" "$B/morph-edit" picture "$root/flow" <(echo "$(address "$root/flow" main) 5") --generation "$root/installed/work" -o "$root/out"
check "that is said" grep -q 'note.*of another original' "$root/out"
check "two profiles of executions are none" fails 2 'one profile of executions' "$B/morphctl" report --html="$root/x" --log="$root/exact" --log="$root/exact"

# --- names ---

evil=$'</td></table><script>alert(1)</script>"\' onload=x &lt; \xe2\x80\xae \xc2\x9b31m ]]>'
symbol='</title></style></script><img/src=x/onerror=alert(2)>&amp;"'"'"
name=$(tr -d / <<<"$evil")
dir=$root/$name
mkdir -p "$dir"
cp tests/e2e/export/work.c "$dir/$name.c"
${CC:-cc} -O2 -g -o "$dir/plain" "$dir/$name.c" 2>"$root/why" || not_ok "the program with a hostile source is built"
objcopy --redefine-sym "odd_name=$symbol" "$dir/plain" "$dir/work" || not_ok "the program with a hostile symbol is made"
log=$dir/$name
profile "$dir/work" "$dir/plain" | sed "s/^sha256 .*/sha256 $(sha256sum <"$dir/work" | cut -d' ' -f 1)/" >"$log"
check "a page with hostile names is written" morphctl report --html="$root/evilpage" --log="$log"
sound "$root/evilpage" names
check "the symbol is shown" eval "[ \"\$(table '$root/evilpage' procedures | cut -f 2 | tail -n 1)\" = '${symbol//\'/\'\\\'\'}' ]"
check "so is the path" eval "table '$root/evilpage' modules | grep -qF '<script>alert(1)<script>'"
check "--json has it as it is" [ "$("$B/morphctl" --json report --log="$log" --by=module | jq -r '.modules[0].module')" = "$dir/work" ]
check "and the source" grep -q '&lt;script&gt;alert(1)&lt;script&gt;' <(grep '<tr id="i-' "$root/evilpage")
check "no element but the page's own is in it" diff <(elements "$root/page") <(elements "$root/evilpage")
check "nor an attribute" diff <(attributes "$root/page") <(attributes "$root/evilpage")
check "no character that steers others is in it" harmless "$root/evilpage"

# --- what cannot be had ---

sed "s|^module .*|module $root/gone|" "$root/a" >"$root/gone.profile"
check "a page without the program has its samples" eval "morphctl report --html='$root/gonepage' --log='$root/gone.profile' && table '$root/gonepage' modules | numbers | grep -q 'gone.1000'"
check "and says why there is no more" grep -q 'Nothing more is known of it: No such file' "$root/gonepage"
sound "$root/gonepage" gone
# So many large functions that some are left out.
awk 'BEGIN { for (f = 0; f < 24; f++) {
	printf "\t.globl f%d\n\t.type f%d,@function\nf%d:\n\t.cfi_startproc\n", f, f, f
	for (i = 0; i < 400; i++) printf "\ttestl $%d, %%edi\n\tjz 1f\n\taddl $%d, %%eax\n1:\n", 2 ^ (i % 16), i
	printf "\tret\n\t.cfi_endproc\n\t.size f%d, .-f%d\n", f, f }
	print "\t.globl main\nmain:\n\tret\n\t.section .note.GNU-stack,\"\",@progbits" }' >"$root/large.s"
${CC:-cc} -o "$root/large" "$root/large.s" 2>"$root/why" || not_ok "a program of large functions is built"
{
	printf 'morph-profile 2\nmodule %s\nsha256 %s\nclock tick\noutside 0\n' "$root/large" "$(sha256sum <"$root/large" | cut -d' ' -f1)"
	nm "$root/large" | sort | awk '$3 ~ /^f[0-9]+$/ { sub(/^0*/, "", $1); print "block 0x" $1, 100 }'
} >"$root/large.profile"
check "a page of large functions is written" morphctl report --html="$root/largepage" --log="$root/large.profile"
check "it has room for some only" grep -q '[0-9] functions are left out' "$root/largepage"
check "of the others none is a link's" no_dangling "$root/largepage"
check "a file that is no recording is an error" fails 1 "'$root/work': " "$B/morphctl" report --html="$root/x" --log="$root/work"
check "one that is not there" fails 1 "'$root/none': open" "$B/morphctl" export --html="$root/x" "$root/none"
check "a place where nothing can be written" fails 1 "none/x" "$B/morphctl" export --html="$root/none/x" "$root/a"
cp "$root/a" "$root/b"
for c in "report --html=$root/b --log=$root/b" "export --html=$root/b $root/b"; do
	check "a recording is not written over (${c%% *})" fails 2 'would be written over' "$B/morphctl" $c
done
check "it is still there" cmp "$root/a" "$root/b"
if [ -s "$root/log" ]; then
	head -c 300 "$root/log" >"$root/cut"
	check "that a recording is cut off is told" eval "morphctl report --html=- --log='$root/cut' | grep -q 'parts of the recording are damaged'"
fi
check "one module is not a page's (export)" fails 2 'is for forms of one module' "$B/morphctl" export --html="$root/x" --module=work "$root/a"
check "no recording" fails 2 usage "$B/morphctl" export --html="$root/x"
for o in --by=line --limit=3 --sort=name; do
	check "a page has tables of its own ($o)" fails 2 usage "$B/morphctl" report --html="$root/x" --log="$root/a" $o
done
profile "$root/work" "$root/work" | sed 's/ 600$/ 300/' >"$root/c"
check "several are added up" [ "$(morphctl export --html=- "$root/a" "$root/c" >"$root/x"; table "$root/x" procedures | cut -f 3 | numbers | tr '\n' ' ')" = "900 600 200 " ]
check "their code too" [ "$(insns "$root/x" divides | awk '{ n += $2 } END { print n }')" = 600 ]
check "one module is not a page's" fails 2 usage "$B/morphctl" report work --html="$root/x" --log="$root/a"

# --- in browsers ---

if has_browser "$root/page"; then
	for p in page evilpage exactpage; do
		shown_in_browser "$root/$p" $p
	done
	sed 's|</main>|<script>document.title = "taken over"</script><p onclick="x">x</p></main>|' "$root/page" >"$root/taken"
	browser "$root/taken"
	check "the policy stops a script of others" eval "grep -q 'CONSOLE.*Content Security Policy' '$root/console' && ! grep -q '<title>taken over' '$root/dom'"
	# What a reader does, by a script that the policy would stop.
	acts() {
		{ sed '/http-equiv="Content-Security-Policy"/d; /<\/body>/d; /<\/html>/d' "$root/page"; cat <<-END; } >"$root/acted"
			<script>const t = document.querySelector('[data-title=procedures]'), q = document.getElementById('search');
			const by = n => [...t.tHead.querySelectorAll('button')].find(b => b.textContent === n).click();
			const key = k => document.dispatchEvent(new KeyboardEvent('keydown', { key: k }));
			const say = text => { q.value = text; q.dispatchEvent(new Event('input')); };
			$1
			document.title = [...t.tBodies[0].rows].filter(r => !r.hidden).map(r => r.cells[1].textContent).join(' ') + ' - ' +
				document.activeElement.id + ' ' + [...document.querySelectorAll('section.fn')].filter(s => !s.hidden).length;
			</script></body></html>
		END
		browser "$root/acted"
		sed -nE 's|^<title>(.*)</title>$|\1|p' "$root/dom" | head -n 1
	}
	check "a column sorts by its numbers" [ "$(acts "by('samples'); by('samples')")" = "odd_name divides outer -  3" ]
	check "largest first at first" [ "$(acts "by('size_bytes')")" = "divides outer odd_name -  3" ]
	check "and by its words" [ "$(acts "by('procedure'); by('procedure')")" = "divides odd_name outer -  3" ]
	check "a search leaves what has the words" [ "$(acts "key('/'); say('WORK div')")" = "divides - search 0" ]
	check "and functions of that name" [ "$(acts "say('out')")" = "outer -  1" ]
	check "Esc shows all again" [ "$(acts "say('out'); key('Escape')")" = "outer divides odd_name -  3" ]
else
	skip "the browser has nothing to say of it" "no chromium that runs here"
fi
if firefox_start; then
	for p in page evilpage exactpage; do
		check "Firefox opens it ($p)" firefox_open "$root/$p"
		check "its script has run there ($p)" [ "$(firefox_says 'return document.getElementById("tools").hidden')" = false ]
		check "figures in Firefox are those of the page ($p)" diff <(table "$root/$p" procedures) <(firefox_says 'return [...document.querySelectorAll(
			"[data-title=procedures] tbody tr")].map(r => [...r.cells].map(c => c.dataset.v ?? c.textContent).join("\t"))' | jq -r '.[]')
		check "no other script is there ($p)" [ "$(firefox_says 'return document.scripts.length + document.images.length')" = 1 ]
	done
	check "Firefox has nothing to say of them" [ -z "$(firefox_console)" ]
	sed 's|</main>|<script>document.title = "taken over"</script></main>|' "$root/page" >"$root/taken"
	firefox_open "$root/taken" >/dev/null
	check "the policy stops a script of others there" [ "$(firefox_says 'return document.title')" = '"Morph: a"' ]
	firefox_console >"$root/console"
	check "which it does say" grep -q 'Content-Security-Policy' "$root/console"
else
	skip "Firefox has nothing to say of them" "no firefox-esr that runs here"
fi
firefox_stop
done_testing
