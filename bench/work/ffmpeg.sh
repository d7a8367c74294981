#!/bin/sh
# ffmpeg.sh prepare SIZE SEED | run BIN - SIZE pictures of a video decoded by one thread
case $1 in
prepare)
	ffmpeg -v error -y -f lavfi -i "testsrc2=size=640x480:rate=25:sar=1/1" -frames:v "$2" \
		-vf "hue=h=$3,noise=alls=8:all_seed=$3" -c:v mpeg2video -q:v 5 -threads 1 video.mpg ;;
run) exec "$2" -v error -threads 1 -i video.mpg -f md5 - ;;
esac
