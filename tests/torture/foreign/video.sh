# video.sh - x264, x265, dav1d, aomenc, vpxenc: hand-written assembler chosen by the processor
packages="x264 x265 dav1d aom-tools vpx-tools"
files() { with_libraries "$(program x264)" "$(program x265)" "$(program dav1d)" "$(program aomenc)" "$(program aomdec)" "$(program vpxenc)" "$(program vpxdec)"; }
prepare() {
	perl -e 'print "YUV4MPEG2 W176 H144 F25:1 Ip C420jpeg\n"; for my $f (0 .. 11) { print "FRAME\n"; for my $y (0 .. 143) { print pack "C*", map { ($_ * 3 + $y * $f + ($_ * $y >> 3)) & 255 } 0 .. 175 } print pack "C*", map { ($_ * 5 + $f * 7) & 255 } 1 .. 2 * 88 * 72 }' >in.y4m
}
run() {
	local c
	for c in '' '--asm 0' '--asm sse2' '--asm avx' '--no-asm'; do
		case $c in --no-asm) ;; esac
		x264 --threads 1 --preset slow -o "o.264" $c in.y4m >/dev/null 2>&1; echo "x264 $c $?"; tail -c 2000 o.264 | sha256sum
	done
	x264 --threads 2 --qp 20 --me esa --output o2.264 in.y4m 2>&1 | grep -a -e 'frame I' -e PSNR
	for c in '' '--asm sse2' '--no-asm' '--asm avx2'; do x265 --pools 1 -F 1 --no-info --preset medium $c --hash 1 -o o.265 in.y4m >/dev/null 2>&1; echo "x265 $c $?"; sha256sum <o.265; done
	aomenc --cpu-used=4 --threads=1 --limit=6 --ivf -o o.ivf in.y4m >/dev/null 2>&1; echo $?; tail -c +45 o.ivf | sha256sum; aomdec --rawvideo -o - o.ivf | sha256sum
	for c in 0 sse2 ssse3 sse41 avx2 avx512icl; do dav1d -q --cpumask $c -i o.ivf --muxer md5 -o - ; done; dav1d -q --threads 3 -i o.ivf -o o.yuv; sha256sum o.yuv
	for c in vp8 vp9; do vpxenc --codec=$c --cpu-used=2 --threads=1 --ivf -o v.ivf in.y4m >/dev/null 2>&1; echo $?; tail -c +45 v.ivf | sha256sum; vpxdec --md5 --i420 v.ivf; done
	head -c 300 o.ivf | tail -c 200 >bad.ivf; dav1d -q -i bad.ivf -o x.yuv 2>&1; echo $?
}
