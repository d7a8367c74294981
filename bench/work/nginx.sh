#!/bin/sh
# nginx.sh prepare REQUESTS SEED | run BIN - a server of its own on a socket, one process: files, rewritten addresses,
# includes, compression, errors, ranges, logs; asked by nginx_client.pl twenty times a connection
here=$(dirname "$(realpath "$0")")
case $1 in
prepare)
	rm -rf www && mkdir -p www/a www/b logs tmp
	for k in 1 2 3 4 5 6 7 8; do
		awk -v n="$((k * 12))" -v seed="$3$k" -f "$here/prose.awk" >www/a/$k.html
		printf '<h1><!--# echo var="uri" --></h1><!--# if expr="$arg_x = 1" -->one<!--# else --><!--# include virtual="/a/%s.html" --><!--# endif -->' $k >www/b/$k.shtml
	done
	touch -d 2023-01-01 www/*/*
	cat >nginx.conf <<-END
	daemon off; master_process off; worker_processes 1; error_log /dev/null; pid nginx.pid;
	events { worker_connections 64; }
	http {
	  types { text/html html shtml; text/css css; application/json json; }
	  log_format wide '\$remote_addr [\$status] "\$request" \$body_bytes_sent "\$http_referer" "\$http_user_agent" \$uri';
	  access_log access.log wide buffer=64k;
	  keepalive_requests 100000; etag on; gzip_types text/html; gzip_min_length 200; server_tokens off;
	  client_body_temp_path tmp; proxy_temp_path tmp; fastcgi_temp_path tmp; uwsgi_temp_path tmp; scgi_temp_path tmp;
	  map \$http_user_agent \$kind { default other; ~*bot robot; ~(curl|wget) tool; }
	  open_file_cache max=100;
	  server {
	    listen unix:nginx.sock; root www; add_header X-Kind \$kind; keepalive_timeout 60;
	    location ~ ^/old/(\w+)/(\d+)\$ { rewrite ^/old/(\w+)/(\d+)\$ /\$1/\$2.html last; }
	    location /b/ { ssi on; }
	    location /packed/ { gzip on; gzip_comp_level 1; alias www/a/; }
	    location = /json { default_type application/json; return 200 '{"uri":"\$request_uri","x":"\$arg_x","kind":"\$kind"}\n'; }
	    location /moved { return 301 /a/1.html; }
	    location ~* \.(png|jpg)\$ { expires 30d; return 204; }
	    location /deny/ { deny all; }
	  }
	}
	END
	awk -v n="$2" -v s="$3" '
	function rnd(k) { s = (s * 16807 + 11) % 2147483647; return int(s / 64) % k }
	BEGIN {
		for (i = 0; i < n; i++) {
			r = rnd(12); k = rnd(8) + 1
			print r < 3 ? "/a/" k ".html" : r < 5 ? "/old/a/" k : r < 6 ? "/b/" k ".shtml?x=" rnd(2) : r < 7 ? "/packed/" k ".html" : r < 9 ? "/json?x=" rnd(1000) "&y=%20z" : r < 10 ? "/moved/" rnd(99) : r < 11 ? "/img/" rnd(99) ".png" : rnd(2) ? "/deny/x" : "/none/" rnd(99)
		}
	}' >paths ;;
run)
	rm -f nginx.sock access.log
	"$2" -p "$PWD/" -c nginx.conf >nginx.log 2>&1 &
	server=$!
	until [ -S nginx.sock ] || ! kill -0 $server 2>/dev/null; do sleep 0.02; done
	perl "$here/nginx_client.pl" nginx.sock paths | cksum
	kill -QUIT $server
	wait $server
	echo "$?"
	cksum <access.log ;;
esac
