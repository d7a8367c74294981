# audio.sh - flac, lame, opus, mpg123 with each of its decoders, sox: codecs
packages="flac lame opus-tools mpg123 sox vorbis-tools"
files() { with_libraries "$(program flac)" "$(program lame)" "$(program opusenc)" "$(program opusdec)" "$(program mpg123.bin mpg123 | head -n 1)" "$(program sox)" "$(program oggenc)" "$(program oggdec)"; elves_of libsox-fmt-base 2>/dev/null; }
run() {
	local d
	sox -R -n -r 44100 -b 16 -c 2 in.wav synth 3 sine 440-880 sawtooth 300 remix 1,2 2 vol 0.4; sha256sum in.wav
	sox -R in.wav -r 22050 out.wav rate -v reverb 40 compand 0.1,0.3 6:-70,-60,-20 pitch 200 2>&1; sha256sum out.wav; sox in.wav -n stat 2>&1; sox in.wav -n spectrogram -o s.png; sha256sum s.png; sox nofile -n 2>&1; echo $?
	flac -s -8 -f in.wav -o o.flac && sha256sum o.flac && flac -s -t o.flac && flac -s -d -f -o o.wav o.flac && cmp o.wav in.wav; flac -s --best -e -p -b 1152 -f in.wav -o p.flac; sha256sum p.flac; head -c 20000 o.flac >t.flac; flac -s -t t.flac 2>&1; echo $?
	lame --quiet -V2 in.wav o.mp3; sha256sum o.mp3; lame --quiet -b 96 -q 0 in.wav p.mp3; sha256sum p.mp3
	mpg123 --test-cpu; for d in $(mpg123 --list-cpu | sed 's/.*: //'); do echo "$d"; mpg123 -q --cpu "$d" -s o.mp3 | sha256sum; mpg123 -q --cpu "$d" -e f32 -s o.mp3 | sha256sum; done
	opusenc --quiet --serial 5 in.wav o.opus; sha256sum o.opus; opusdec --quiet --no-dither o.opus o2.wav; sha256sum o2.wav; oggenc -Q -s 5 in.wav -o o.ogg; sha256sum o.ogg; oggdec -Q o.ogg -o o3.wav; sha256sum o3.wav
}
