# pages.bash - looks into pages: sourced by the tests that make some
#
# A page is XML as well, and a row of its tables is a line.

well_formed() { python3 -c 'import sys; from xml.parsers import expat; expat.ParserCreate().ParseFile(open(sys.argv[1], "rb"))' "$1"; }
table() {		# PAGE TITLE: the cells of its rows, by tabs; numbers as they are
	awk -v t="data-title=\"$2\"" '/<table/ { on = index($0, t) } /<\/table>/ { on = 0 } on && /^<tr>/' "$1" |
		sed -E 's/<td class="n" data-v="([^"]*)">[^<]*/<td>\1/g; s/<td class="n">/<td>/g; s|</td><td>|\t|g; s|<[^>]*>||g; s/&lt;/</g; s/&gt;/>/g; s/&quot;/"/g; s/&#39;/'"'"'/g; s/&amp;/\&/g'
}
rows() { jq -r --arg t "$1" '.[$t][] | [.[]] | map(if . == null then "" else tostring end) | join("\t")'; }
numbers() { sed -E 's/\.([0-9]*[1-9])?0+(\t|$)/.\1\2/g; s/\.(\t|$)/\1/g'; }	# 3.000 is 3
self_contained() {	# PAGE: no address of others but the names of vocabularies, nothing that loads
	! sed 's|http://www.w3.org/2000/svg||g; s|http://www.w3.org/1999/xhtml||g' "$1" | grep -nEi '(https?:)?//[a-z0-9]|<(img|link|iframe|object|embed|base|form)\b|@import|url\([^#]'
}
policy_is_right() {	# PAGE: the digests in it are those of the script and the style
	local kind
	for kind in script style; do
		grep -qF "$kind-src 'sha256-$(perl -0777 -ne "print \$1 if m|<$kind>(.*)</$kind>|s" "$1" | openssl dgst -sha256 -binary | base64)'" "$1" || return 1
	done
	grep -q "content=\"default-src 'none'; " "$1" && ! grep -q unsafe "$1"
}
sound() {		# PAGE WHICH
	check "it is well-formed ($2)" well_formed "$1"
	check "it needs nothing else ($2)" self_contained "$1"
	check "its policy knows its own script and style alone ($2)" policy_is_right "$1"
	check "it is a page of at most 5 MB ($2)" [ "$(stat -c %s "$1")" -lt 5000000 ]
}
no_dangling() {		# PAGE: every link of it leads somewhere, and nothing is called twice
	[ -z "$(comm -13 <(grep -oE ' id="[^"]*"' "$1" | cut -d'"' -f 2 | sort -u) <(grep -oE 'href="#[^"]*"' "$1" | cut -d'#' -f 2 | tr -d '"' | sort -u))" ] &&
		[ -z "$(grep -oE ' id="[^"]*"' "$1" | sort | uniq -d)" ]
}
harmless() {		# PAGE: no character that steers others is in it
	perl -MEncode -e 'local $/; open my $f, "<:raw", $ARGV[0] or die; my $text = decode("UTF-8", <$f>, Encode::FB_CROAK); $text =~ s/[\n\t]//g;
		die sprintf "U+%04X is in it\n", ord $1 if $text =~ /([\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Co}\p{Cs}])/;' "$1"
}
elements() { grep -o '<[a-z][a-z0-9]*' "$1" | sort -u; }
attributes() { sed 's/"[^"]*"/"/g; s/>[^<]*</></g' "$1" | grep -oE ' [a-z-]+="' | sort -u; }

browser() {		# PAGE: what is made of it is in $root/dom
	cp "$1" "$root/shown.html"
	HOME=$root/browser timeout 120 chromium --headless --no-sandbox --disable-gpu --user-data-dir="$root/browser" --enable-logging=stderr \
		--dump-dom "file://$root/shown.html" >"$root/dom" 2>"$root/console"
}
has_browser() {		# PAGE
	command -v chromium >/dev/null && browser "$1" && grep -q '</html>' "$root/dom"
}
shown_in_browser() {	# PAGE WHICH
	browser "$1"
	check "the browser has nothing to say of it ($2)" not grep CONSOLE "$root/console"
	check "its script has run ($2)" grep -q '<p id="tools">' "$root/dom"
	check "no other script is there ($2)" [ "$(grep -o '<script' "$root/dom" | wc -l)" = 1 ]
}
