# kernel.bash - what the kernel has, found out without Morph: sourced by the end-to-end tests
#
# A test is skipped because the kernel lacks something, never because Morph says that it does.

# Can signals be told: is the tracepoint there?  tracefs need not be mounted for that.
kernel_tells_signals() {
	local point=events/signal/signal_deliver/id
	[ -e "/sys/kernel/tracing/$point" ] || [ -e "/sys/kernel/debug/tracing/$point" ] && return
	if unshare --mount true 2>/dev/null; then
		unshare --mount sh -c "mount -t tracefs tracefs /sys && test -e '/sys/$point'" 2>/dev/null
	else
		grep -q '\<tracefs$' /proc/filesystems	# / is no mount point, as after chroot(1)
	fi
}
