# tests_glib.sh - the tests that GLib, D-Bus and Graphene install: threads, modules, signals, callbacks, aborts that are expected
packages="libglib2.0-tests dbus-tests graphene-tests"
files() { with_libraries /usr/libexec/installed-tests/glib/gobject; elves_of libglib2.0-tests libglib2.0-0 dbus-tests libdbus-1-3 graphene-tests libgraphene-1.0-0; }
run() {
	local t
	cd /usr/libexec/installed-tests/glib || return
	for t in /usr/libexec/installed-tests/glib/* /usr/libexec/installed-tests/graphene-1.0/* /usr/libexec/installed-tests/dbus/test-*; do
		[ -f "$t" ] && [ -x "$t" ] && readelf -h "$t" >/dev/null 2>&1 || continue
		case ${t##*/} in *network* | *performance* | *gdbus* | *resolver* | mainloop* | timeout* | timer* | live-* | file-thumb* | *-slow | dbus-appinfo | debugcontroller | power-profile*) continue ;; esac
		G_DEBUG= G_TEST_SRCDIR=. timeout -k 1 25 "$t" --tap </dev/null >"$HOME/out" 2>&1
		echo "${t##*/} $? $(grep -a -c '^ok' "$HOME/out") $(grep -a -c '^not ok' "$HOME/out")"
	done
}
