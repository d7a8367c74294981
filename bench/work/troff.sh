#!/bin/sh
# troff.sh prepare LINES SEED | run BIN - a long manual page, as man does it
here=$(dirname "$(realpath "$0")")
case $1 in
prepare)
	awk -v n="$2" -v seed="$3" -f "$here/prose.awk" | awk '
		BEGIN { print ".TH MADE 1 \"2023-01-01\" \"1.0\"\n.SH NAME\nmade \\- by chance" }
		NR % 40 == 0 { print ".SH " toupper($1) " " $2; next }
		NR % 13 == 0 { print ".TP\n.BR \\-" $1 ", \\-\\-" $2 " =\\fI" $3 "\\fP"; next }
		NR % 17 == 0 { print ".PP\nSee\n.BR " $1 " (" NR % 8 + 1 ")\nand \\(lq" $2 "\\(rq." }
		NR % 29 == 0 { print ".RS 4\n.nf\n" $0 "\n  " $1 " \\e" $2 "\n.fi\n.RE"; next }
		NR % 31 == 0 { print ".IP \\(bu 2\n" $0; next }
		{ gsub(/\\/, ""); sub(/^[.'\'']/, ""); if (NR % 5 == 0) sub(/[a-z]+/, "\\fB&\\fR"); print }' |
		preconv -e utf-8 >page.1 ;;
run)
	"$2" -mandoc -Tutf8 -rLL=78n page.1 2>/dev/null | sha256sum
	"$2" -mandoc -Tascii -rLL=130n -rHY=0 page.1 2>/dev/null | sha256sum ;;
esac
