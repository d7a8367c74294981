/* machinetable.c - the machine that makes a page, and when
 *
 * Tested by tests/e2e/page.sh.
 */
#include "manager/page/machinetable.h"

#include <stdint.h>
#include <stdio.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "lib/table.h"

enum { NAME_MAX_BYTES = 200 };

static void processor(char name[NAME_MAX_BYTES])
{
	FILE *f = fopen("/proc/cpuinfo", "re");
	char line[256];

	(void)snprintf(name, NAME_MAX_BYTES, "unknown");	/* fits */
	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "model name : %199[^\n]", name) == 1)
			break;
	if (f)
		(void)fclose(f);	/* was read */
}

struct table *machinetable_new(void)
{
	static const struct table_column col[] = {
		{ "processor", TABLE_TEXT }, { "cpus", TABLE_INT }, { "kernel", TABLE_TEXT },
		{ "page_made", TABLE_TIME },
	};
	struct table *t = table_new("machine_of_page", 4, col);
	struct utsname u = { .release = "unknown" };
	char name[NAME_MAX_BYTES];

	processor(name);
	(void)uname(&u);		/* then it stays unknown */
	table_row(t, name, (int64_t)sysconf(_SC_NPROCESSORS_ONLN), u.release,
		  (uint64_t)time(NULL) * 1000000000);
	return t;
}
