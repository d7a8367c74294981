/* worker.h - is a thread of a process one of the kernel's?
 *
 * WHY      io_uring has requests that wait done by threads of the process that asked for them
 *          (iou-wrk-N), and polls in one (iou-sqp-N); so does vhost.  They are listed as
 *          others, but never run the program's text, so they need not stand still.  Being
 *          stopped would end the requests of the first, and the second does not stop at all.
 *
 * HOW      Flags of the thread, which the kernel sets before it is listed (PF_IO_WORKER and
 *          PF_USER_WORKER in include/linux/sched.h there), and that it has no place in the
 *          program's text to return to.  Not by its name: every thread can choose that.
 *          Other kernels had other flags in the same bits.
 */
#ifndef LIVE_WORKER_H
#define LIVE_WORKER_H

enum worker {
	WORKER_NOT,		/* it runs the program */
	WORKER_IS,
	WORKER_PERHAPS,		/* not to be known just now */
};

/* By the texts of /proc/PID/task/TID/stat and syscall, and the kernel's release, as of
 * uname(2). */
enum worker worker_told(const char *stat, const char *call, const char *release);

#endif
