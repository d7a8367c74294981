# media.sh - FFmpeg's filters and codecs with assembler and without, ImageMagick, Ghostscript, Poppler, SoX, mpv
packages="ffmpeg imagemagick ghostscript poppler-utils sox mpv"
files() { with_libraries "$(program ffmpeg)" /usr/bin/convert-im6.q16 "$(program gs)" "$(program pdftotext)" "$(program pdftoppm)" "$(program pdftocairo)" "$(program sox)" "$(program mpv)"; elves_of libmagickcore-6.q16-6 libgs10 | grep -v '\.so\.10$'; }
run() {
	local c f
	for c in -1 0 sse2 ssse3 avx2; do
		ffmpeg -nostdin -hide_banner -loglevel error -cpuflags $c -f lavfi -i testsrc2=s=176x144:d=1 -f lavfi -i sine=d=1 -threads 1 -vf "scale=200:120:flags=lanczos+bitexact,hue=h=30,unsharp,yadif,gblur,eq=contrast=1.2,rotate=0.1,drawgrid,overlay=0:0:enable=0" -bitexact -f framemd5 - 2>&1 | sha256sum
		for f in "-c:v mpeg4 -b:v 200k" "-c:v ffv1" "-c:v mjpeg" "-c:v libx264 -preset fast" "-c:v vp8 -c:a libvorbis" "-c:v prores"; do
			ffmpeg -nostdin -loglevel error -cpuflags $c -f lavfi -i mandelbrot=s=128x96:r=5 -f lavfi -i anoisesrc=seed=5 -t 1 -threads 1 -bitexact $f -y o.mkv 2>&1; echo "$f $?"
			ffmpeg -nostdin -loglevel error -i o.mkv -threads 2 -bitexact -f framemd5 - 2>&1 | sha256sum
		done
	done
	ffmpeg -nostdin -loglevel error -f lavfi -i "sine=f=500:d=2,aecho,atempo=1.3,equalizer=f=900:width_type=h:width=200:g=5,loudnorm" -bitexact -f md5 - 2>&1; head -c 3000 o.mkv >cut.mkv; ffmpeg -nostdin -loglevel error -i cut.mkv -f null - 2>&1 | sed 's/0x[0-9a-f]*//'; ffprobe -loglevel error -show_streams o.mkv | grep -c =
	convert-im6.q16 -size 120x90 plasma:red-blue -seed 3 -swirl 90 -blur 2x1 -sharpen 1 -rotate 33 -depth 8 rgb:- 2>&1 | wc -c
	convert-im6.q16 -size 90x70 gradient:red-blue -wave 5x20 -charcoal 1 -resize 150% -quantize lab -colors 12 -depth 8 rgb:- 2>&1 | sha256sum
	for f in png jpg gif tif webp bmp pcx sgi miff; do convert-im6.q16 -size 60x50 radial-gradient:green-yellow -implode 0.4 x.$f && convert-im6.q16 x.$f -depth 8 rgb:- | sha256sum; done; convert-im6.q16 none.png x.png 2>&1; echo $?
	printf '%%!PS\n/Helvetica findfont 30 scalefont setfont 50 50 moveto (Hello) show 0 1 20 { dup 10 mul 200 moveto 3 exp 300 lineto } for stroke 1 0 0 setrgbcolor 100 100 50 0 360 arc fill showpage { undefinedname } stopped { (stopped) == } if 1 0 { div } stopped pop == quit\n' >p.ps
	for f in png16m pgmraw pdfwrite ps2write txtwrite tiffg4 pbmraw bbox; do gs -q -dNOPAUSE -dBATCH -dSAFER -r60 -sDEVICE=$f -sOutputFile=o.$f p.ps 2>&1; echo "$f $?"; done; sha256sum o.png16m o.pgmraw o.pbmraw o.txtwrite o.tiffg4
	pdftotext o.pdfwrite -; pdftoppm -r 50 o.pdfwrite | sha256sum; pdftocairo -svg o.pdfwrite - | sha256sum
	sox -n -r 16000 s.wav synth 2 sine 300-600 reverb 20 pitch 200 2>&1; sox s.wav -t raw - stat 2>&1 | grep -v sha; sox s.wav s.flac; sox s.flac -t raw - tempo 1.2 | sha256sum
	mpv --no-config --ao=null --vo=null --no-terminal --frames=10 o.mkv; echo $?; mpv --no-config --of=framecrc --ovc=rawvideo --no-audio --o=- o.mkv 2>/dev/null | tail -n 3
}
