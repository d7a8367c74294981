#!/bin/sh
# redis-server.sh prepare COMMANDS SEED | run BIN - a server of its own on a socket: strings, hashes, lists, sorted sets,
# scripts in Lua, sent at once by redis-cli --pipe; the digest of all that is there in the end
case $1 in
prepare)
	awk -v n="$2" -v s="$3" '
	function rnd(k) { s = (s * 16807 + 11) % 2147483647; return int(s / 64) % k }
	function word(  i, w) { w = ""; for (i = rnd(12) + 2; i > 0; i--) w = w substr("etaoinshrdlucmfwypvbgkqjxz", rnd(26) + 1, 1); return w }
	BEGIN {
		for (i = 0; i < n; i++) {
			r = rnd(20); k = rnd(500)
			if (r < 4) print "SET s" k " " word() rnd(1000) "\nGET s" rnd(500)
			else if (r < 6) print "HSET h" k % 50 " f" rnd(300) " " word() " g" rnd(99) " " rnd(9) "\nHINCRBY h" k % 50 " n " rnd(99)
			else if (r < 8) print "RPUSH l" k % 40 " " word() " " word() "\nLRANGE l" k % 40 " 0 9\nLTRIM l" k % 40 " -60 -1"
			else if (r < 11) print "ZADD z" k % 30 " " rnd(10000) " m" rnd(2000) "\nZRANGEBYSCORE z" k % 30 " " rnd(5000) " 9000 WITHSCORES LIMIT 0 9\nZRANK z" k % 30 " m" rnd(2000)
			else if (r < 13) print "SADD t" k % 20 " " rnd(3000) " " rnd(3000) "\nSISMEMBER t" k % 20 " " rnd(3000)
			else if (r < 14) print "INCRBY c" k % 9 " " rnd(100) "\nAPPEND a" k % 5 " " rnd(10) "\nSETBIT b" k % 7 " " rnd(9999) " 1\nBITCOUNT b" k % 7
			else if (r < 15) print "SINTERCARD 2 t" rnd(20) " t" rnd(20) " LIMIT 50\nHGETALL h" k % 50
			else if (r < 16) print "XADD x" k % 5 " MAXLEN ~ 200 " i + 1 "-1 v " word() "\nXRANGE x" k % 5 " - + COUNT 5"
			else if (r < 17) print "PFADD p" k % 6 " " word() "\nPFCOUNT p" k % 6 "\nGEOADD g " rnd(360) - 180 " " rnd(160) - 80 " g" rnd(300)
			else if (r < 18) print "EVAL \"local s = 0 for i = 1, 60 do s = (s * 31 + i * ARGV[1]) % 65521 end redis.call(\x27SET\x27, KEYS[1], s) return s\" 1 e" k " " rnd(99)
			else print "DEL s" rnd(500) "\nEXISTS s" k "\nSTRLEN s" k "\nTYPE z" k % 30
		}
	}' >commands ;;
run)
	rm -f redis.sock
	"$2" --port 0 --unixsocket "$PWD/redis.sock" --save "" --appendonly no --daemonize no --dir "$PWD" \
		--enable-debug-command yes --hz 1 >redis.log 2>&1 &
	server=$!
	until [ -S redis.sock ] || ! kill -0 $server 2>/dev/null; do sleep 0.02; done
	redis-cli -s redis.sock --pipe <commands | grep -v seconds
	redis-cli -s redis.sock DEBUG DIGEST
	redis-cli -s redis.sock DBSIZE
	redis-cli -s redis.sock SHUTDOWN NOSAVE
	wait $server
	echo "$?" ;;
esac
