# servers.sh - named, unbound, haproxy, lighttpd, varnish, each asked and ended
packages="bind9 bind9-dnsutils unbound haproxy lighttpd varnish curl"
files() { with_libraries "$(program named)" "$(program dig)" "$(program named-checkzone)" "$(program unbound)" "$(program haproxy)" "$(program lighttpd)" "$(program varnishd)" "$(program varnishadm)" "$(program curl)"; elves_of lighttpd bind9-libs varnish; }
prepare() {
	mkdir www zone; echo page >www/index.html; head -c 500000 /usr/bin/perl >www/big
	printf '$TTL 60\n@ IN SOA ns a 1 60 60 60 60\n IN NS ns\nns IN A 127.0.0.1\n' >zone/x.zone; for i in $(seq 500); do echo "h$i IN A 10.0.$((i / 250)).$((i % 250))"; echo "m$i IN MX 10 h$i"; echo "t$i IN TXT \"text $i\""; done >>zone/x.zone
}
wait_for() { local i; for i in $(seq 100); do "$@" >/dev/null 2>&1 && return; sleep .1; done; echo "no answer: $*"; }
run() {
	local p h=$HOME
	echo "options { directory \"$h/zone\"; listen-on port 15353 { 127.0.0.1; }; listen-on-v6 { none; }; recursion no; pid-file \"$h/n.pid\"; session-keyfile \"$h/sk\"; }; controls { }; zone \"x\" { type primary; file \"x.zone\"; };" >n.conf
	named -g -c n.conf >n.log 2>&1 & p=$!; wait_for dig +time=1 +tries=1 -p 15353 @127.0.0.1 ns.x
	dig +short -p 15353 @127.0.0.1 h77.x mx @127.0.0.1 m5.x t9.x txt; dig -p 15353 @127.0.0.1 x axfr | grep -v -e '^;' | sha256sum; dig +tcp +nocookie +noedns -p 15353 @127.0.0.1 none.x | grep -a status | sed 's/id:.*//'; for i in $(seq 200); do echo "h$i.x"; done >q; dig +short -p 15353 @127.0.0.1 -f q | sha256sum; kill -HUP $p; sleep .3; kill $p; wait $p; echo "named $?"; grep -c 'reload\|running' n.log; named-checkzone x zone/x.zone; echo 'bad' | named-checkzone y /dev/stdin 2>&1; named-checkconf n.conf; echo $?
	printf 'server:\n interface: 127.0.0.1@15354\n use-syslog: no\n username: ""\n chroot: ""\n directory: "%s"\n pidfile: ""\n do-daemonize: no\n num-threads: 2\n local-zone: "y." static\n local-data: "a.y. A 10.1.2.3"\n local-data: "t.y. TXT txt"\nremote-control:\n control-enable: no\n' "$h" >u.conf
	unbound -c u.conf >u.log 2>&1 & p=$!; wait_for dig +time=1 +tries=1 -p 15354 @127.0.0.1 a.y; dig +short -p 15354 @127.0.0.1 a.y t.y txt; for i in $(seq 300); do echo a.y; done >q; dig +short -p 15354 @127.0.0.1 -f q | sort | uniq -c; kill $p; wait $p; echo "unbound $?"
	printf 'server.document-root = "%s/www"\nserver.port = 18081\nserver.bind = "127.0.0.1"\nindex-file.names = ("index.html")\nserver.modules = ("mod_deflate", "mod_rewrite", "mod_setenv")\ndeflate.mimetypes = ("text/html", "application/octet-stream")\nmimetype.assign = (".html" => "text/html", "" => "application/octet-stream")\nurl.rewrite-once = ("^/r/(.*)" => "/$1")\n' "$h" >l.conf
	lighttpd -D -f l.conf >l.log 2>&1 & p=$!; wait_for curl -s 127.0.0.1:18081/
	printf 'global\n maxconn 100\ndefaults\n mode http\n timeout connect 1s\n timeout client 5s\n timeout server 5s\nfrontend f\n bind 127.0.0.1:18082\n http-request deny if { path_reg ^/no }\n http-response set-header X-Y %%[path,lower,length]\n default_backend b\nbackend b\n balance roundrobin\n compression algo gzip\n compression type text/html\n server s 127.0.0.1:18081\n' >h.cfg
	haproxy -c -f h.cfg 2>&1; haproxy -f h.cfg >h.log 2>&1 & p="$p $!"; wait_for curl -s 127.0.0.1:18082/
	printf 'vcl 4.1; import std; backend d { .host = "127.0.0.1"; .port = "18082"; } sub vcl_recv { if (req.url ~ "^/e") { return (synth(418, "tea")); } } sub vcl_deliver { set resp.http.H = obj.hits; set resp.http.L = std.tolower("ABC"); unset resp.http.Age; unset resp.http.Date; unset resp.http.Via; unset resp.http.X-Varnish; unset resp.http.Last-Modified; unset resp.http.ETag; }' >v.vcl
	varnishd -F -n "$h/v" -a 127.0.0.1:18083 -f "$h/v.vcl" -j none -s malloc,20m >v.log 2>&1 & p="$p $!"; wait_for curl -s 127.0.0.1:18083/
	for i in 1 2 3; do curl -s 127.0.0.1:18083/big | sha256sum; curl -sD - -o /dev/null 127.0.0.1:18083/big | sort | head -n 9; done; curl -s --compressed 127.0.0.1:18082/r/index.html; curl -so /dev/null -w '%{http_code}\n' 127.0.0.1:18082/no 127.0.0.1:18083/e 127.0.0.1:18081/none; seq 300 | xargs -P 4 -I{} curl -s 127.0.0.1:18083/big?{} -o /dev/null -w '%{size_download}\n' | sort | uniq -c
	varnishadm -n "$h/v" ban 'req.url ~ .' ; varnishadm -n "$h/v" 'vcl.list' | awk '{ print $1, $NF }'; printf 'vcl 4.1; sub vcl_recv { nonsense; }' >bad.vcl; varnishd -C -f "$h/bad.vcl" -n "$h/w" 2>&1 | grep -a -m 1 nonsense; kill $p; for i in $p; do wait "$i"; echo $?; done
}
