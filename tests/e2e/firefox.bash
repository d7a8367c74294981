# firefox.bash - a headless Firefox that opens pages and says what is in them: sourced by tests
#
# It is spoken to in Marionette's own words (its documents: "Protocol"): over a local port, messages
# of JSON with their length in front, [0, ID, COMMAND, ARGUMENTS] and [1, ID, ERROR, RESULT].

firefox_pid=

firefox_start() {	# false: there is none that runs here
	local i port
	command -v firefox-esr >/dev/null || return 1
	mkdir "$root/firefox" || return 1
	echo 'user_pref("marionette.port", 0);' >"$root/firefox/user.js"
	HOME=$root/firefox firefox-esr --headless --no-remote --marionette --remote-allow-system-access \
		--profile "$root/firefox" >"$root/firefox.log" 2>&1 &
	firefox_pid=$!
	for ((i = 0; i < 120; i++)); do
		port=$(cat "$root/firefox/MarionetteActivePort" 2>/dev/null)
		[ -n "$port" ] && { exec {firefox_fd}<>"/dev/tcp/127.0.0.1/$port"; } 2>/dev/null && break
		kill -0 "$firefox_pid" 2>/dev/null || return 1
		sleep 0.25
	done
	[ -n "${firefox_fd:-}" ] && firefox_hear >/dev/null && firefox_ask WebDriver:NewSession '{}' >/dev/null
}
firefox_hear() {
	local LC_ALL=C n= c= text
	while IFS= read -r -n 1 -t 60 -u "$firefox_fd" c && [ "$c" != : ]; do n+=$c; done
	IFS= read -r -N "$n" -t 60 -u "$firefox_fd" text && printf '%s\n' "$text"
}
firefox_ask() {		# COMMAND ARGUMENTS: the result; false with the error
	local text answer
	text=$(jq -nca --arg c "$1" --argjson a "$2" '[0, 1, $c, $a]')
	printf '%d:%s' ${#text} "$text" >&"$firefox_fd"
	answer=$(firefox_hear) || return 1
	jq -e '.[2] == null' <<<"$answer" >/dev/null || { echo "$answer"; return 1; }
	jq -c '.[3].value' <<<"$answer"
}
firefox_open() {	# PAGE
	cp "$1" "$root/shown.html" && firefox_ask WebDriver:Navigate "$(jq -nc --arg u "file://$root/shown.html" '{ url: $u }')"
}
firefox_says() {	# SCRIPT: what it returns
	firefox_ask WebDriver:ExecuteScript "$(jq -nc --arg s "$1" '{ script: $s, args: [] }')"
}
firefox_console() {	# what it has to say of pages so far
	firefox_ask Marionette:SetContext '{ "value": "chrome" }' >/dev/null
	firefox_says 'return Services.console.getMessageArray().map(m => m.message).filter(m => m.includes("file://"))' | jq -r '.[]'
	firefox_ask Marionette:SetContext '{ "value": "content" }' >/dev/null
}
firefox_stop() {
	[ -z "$firefox_pid" ] && return
	kill "$firefox_pid" 2>/dev/null
	wait "$firefox_pid" 2>/dev/null
	firefox_pid=
}
