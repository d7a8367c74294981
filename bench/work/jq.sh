#!/bin/sh
# jq.sh prepare RECORDS SEED | run BIN - records of JSON selected, grouped, rewritten; the time goes to libjq.so.1
here=$(dirname "$(realpath "$0")")
case $1 in
prepare)
	awk -v n="$2" -v seed="$3" -f "$here/weblog.awk" | awk '{
		gsub(/["\\]/, ""); gsub(/[\[\]]/, "")
		printf "{\"id\":%d,\"host\":\"%s\",\"user\":%s,\"request\":{\"verb\":\"%s\",\"path\":\"%s\"},\"status\":%d,\"bytes\":%d,\"tags\":[\"%s\",\"%s\"],\"slow\":%s}\n",
			NR, $1, $3 == "-" ? "null" : "\"" $3 "\"", $6, $7, $9, $10, substr($1, 1, 3), substr($7, 2, 4), NR % 3 ? "false" : "true" }' >records ;;
run)
	"$2" -c 'select(.status >= 400) | {host, path: .request.path, kb: (.bytes / 1024 | floor)}' records
	"$2" -s 'group_by(.host) | map({host: .[0].host, n: length, sum: (map(.bytes) | add)}) | sort_by(-.sum) | .[:9]' records
	"$2" -r '[.id, .host, .request.verb, (.user // "none"), (.tags | join("+"))] | @csv' records | cksum
	"$2" -c '.request.path |= (split("?")[0] | ascii_upcase) | .tags += ["x\(.id)"] | del(.slow)' records | cksum
	"$2" -n 'reduce inputs as $r ({}; .[$r.request.verb] += $r.bytes)' records
	"$2" -c 'select(.request.path | test("id=[0-9]+&q=(?<w>[a-z]+)")) | [paths(type == "number")] | length' records | cksum
	"$2" -S . records | cksum ;;
esac
