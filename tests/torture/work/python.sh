# python.sh - python's own test modules, and nothing of ours; its extension modules are moved, too
packages="python3.11 libpython3.11-testsuite"
files() { with_libraries "$(program python3.11)" /usr/lib/python3.11/lib-dynload/*.so; }
modules=/usr/lib/python3.11/test
# Without what waits, measures time or memory, talks to a network or a terminal, is for other
# systems, is no test, or takes more than ten seconds.
left_out="
	asyncio concurrent_futures multiprocessing_fork multiprocessing_forkserver multiprocessing_spawn
	multiprocessing_main_handling threading threading_local threadsignals thread threadedtempfile
	queue sched signal time timeit timeout eintr faulthandler wait3 wait4 select poll epoll
	selectors kqueue devpoll fork1 subprocess cmd_line cmd_line_script repl interpreters
	_xxsubinterpreters regrtest support tracemalloc bigmem bigaddrspace largefile zipfile64 resource
	socket socketserver ssl ftplib imaplib poplib smtplib smtpd smtpnet nntplib telnetlib asynchat
	asyncore httpservers docxmlrpc xmlrpc xmlrpc_net robotparser urllibnet urllib2net
	urllib2_localnet webbrowser pty openpty ioctl curses readline syslog ossaudiodev tcl tk tix
	ttk_guionly ttk_textonly turtle idle msilib winreg winsound winconsoleio startfile launcher
	dbm_gnu gdb dtrace embed cppext distutils lib2to3 peg_generator tools clinic check_c_globals
	asdl_parser venv ensurepip site pydoc crashers stable_abi_ctypes xxtestfuzz unicode_file __all__
	codecmaps_cn codecmaps_hk codecmaps_jp codecmaps_kr codecmaps_tw compileall datetime io logging
	source_encoding tarfile unparse zipfile"
left_out=$(echo $left_out)
run() {
	local t
	for t in "$modules"/test_*.py "$modules"/test_*/; do
		t=${t%/} t=${t##*/test_} t=${t%.py}
		case " $left_out " in
		*" $t "*) continue ;;
		esac
		unit "$t" env PYTHONHASHSEED=0 PYTHONDONTWRITEBYTECODE=1 python3.11 -m unittest "test.test_$t"
	done
}
