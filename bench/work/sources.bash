# sources.bash - sourced: preprocessed C sources of some size, from this tree
#
# sources_prepare COMPILER LINES SEED writes *.i here, about LINES lines of the tree's own text.  Odd and
# even seeds take different files.
sources_top=$here/../..
sources_prepare() {
	rm -f ./*.i
	(cd "$sources_top" && ls lib/*.c policy/*.c postmorph/*.c editor/*.c monitor/*.c manager/*.c) |
		awk -v s="$3" '{ h = 5381; for (i = 1; i <= length($0); i++)
				h = (h * 33 + index("abcdefghijklmnopqrstuvwxyz_./0123456789", substr($0, i, 1))) % 65521
			if (h % 2 == s % 2) print (h * (s + 6)) % 65521, $0 }' | sort -n | {
		total=0
		while [ "$total" -lt "$2" ] && read -r _ f; do
			"$1" -std=gnu17 -D_GNU_SOURCE '-DMORPH_VERSION="0"' -w -I "$sources_top" -E -P "$sources_top/$f" \
				>"$(echo "$f" | tr / _).i" || return
			total=$((total + $(wc -l <"$sources_top/$f")))
		done
	}
}
