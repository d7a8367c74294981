/* show_values.c - the state of the daemon as values, for programs: what the status says to
 * people in its rows (show.c)
 *
 * A code is one word of a few, which doc/morphctl.schema.json lists.  What is of the machine's
 * sums is NAN, or "", for who may not see those.
 *
 * Tested by tests/e2e/json.sh.
 */
#include <dirent.h>
#include <fcntl.h>
#include <math.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/err.h"
#include "lib/table.h"
#include "manager/control/access.h"
#include "manager/control/control.h"
#include "manager/control/show.h"
#include "policy/policy.h"

void show_spool_size(struct work *w, uint64_t *files, uint64_t *bytes)
{
	int fd = openat(w->spool_dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	struct stat st;

	*files = *bytes = 0;
	if (!dir && fd >= 0)
		close(fd);
	for (struct dirent *d; dir && (d = readdir(dir)); ) {
		if (d->d_name[0] == '.' ||
		    fstatat(w->spool_dir, d->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0)
			continue;
		(*files)++;
		*bytes += (uint64_t)st.st_size;
	}
	if (dir)
		(void)closedir(dir);	/* only read */
}

static const char *sampling(const struct work *w)
{
	return w->options->no_monitor			? "off"
	       : !w->ask->roles.num[MSG_ROLES_monitor_pid] ? "not_running"
	       : w->paused				? "paused"
							: "on";
}

static const char *crash_watch(const struct work *w)
{
	const struct ask *a = w->ask;

	if (!a->roles.num[MSG_ROLES_monitor_pid])
		return "not_available";
	return a->roles.num[MSG_ROLES_crashes_watched] ? "on"
	       : !a->lacks.type			       ? "not_known"
						       : "not_available";
}

static const char *job(const struct ask *a)
{
	return !a->roles.num[MSG_ROLES_job_pid] ? "none"
	       : !a->yield.stopped		? "runs"
	       : a->yield.done			? "awaited"
						: "stopped";
}

int show_values(struct work *w, struct client *cl, struct err *err)
{
	static const struct table_column col[] = {
		{ "sampling", TABLE_TEXT }, { "clock", TABLE_TEXT },
		{ "branch_stacks_hz", TABLE_UINT },
		{ "room", TABLE_BOOL }, { "policy_good", TABLE_BOOL },
		{ "crash_watch", TABLE_TEXT }, { "job_namespaces", TABLE_BOOL },
		{ "attributes_kept", TABLE_BOOL }, { "automatic", TABLE_TEXT },
		{ "job", TABLE_TEXT }, { "spool_files", TABLE_REAL },
		{ "spool_bytes", TABLE_REAL }, { "spent_cpu_s", TABLE_REAL },
		{ "spent_bytes", TABLE_REAL }, { "budget_cpu_s", TABLE_REAL },
		{ "budget_bytes", TABLE_REAL },
	};
	const struct ask *a = w->ask;
	bool runs = a->roles.num[MSG_ROLES_monitor_pid] != 0, all = access_sees_all(w, cl);
	double spent_s = NAN, spent_bytes = NAN;
	uint64_t files = 0, bytes = 0;

	if (all && store_spent(w->store, 0, store_day_before(store_now_ns()), &spent_s,
			       &spent_bytes, err) < 0)
		return -1;
	show_spool_size(w, &files, &bytes);
	struct table *t = NEW_TABLE("values", col);
	table_row(t, sampling(w), runs ? a->counts.text : "",
		  runs ? a->counts.num[MSG_COUNTS_branches_hz] : UINT64_C(0),
		  (int)work_has_room(w), (int)!w->policy_trouble[0], crash_watch(w),
		  (int)(a->roles.num[MSG_ROLES_job_namespaces] != 0),
		  (int)(a->roles.num[MSG_ROLES_all_attributes] != 0),
		  w->policy->automatic ? "yes" : policy_automatic(w->policy) ? "by_rules"
									      : "no",
		  all ? job(a) : "", all ? (double)files : NAN, all ? (double)bytes : NAN,
		  spent_s, spent_bytes, all ? (double)w->policy->cpu_per_day_s : NAN,
		  all ? (double)w->policy->disk_per_day_mib * (1 << 20) : NAN);
	show_give(cl, t);
	return 0;
}
