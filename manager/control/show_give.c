/* show_give.c - how tables reach the client; see show.h */
#include "lib/table.h"
#include "manager/control/control.h"
#include "manager/control/show.h"
#include "manager/work/answer.h"

void show_give(struct client *cl, struct table *t)
{
	answer_table(control_answer(cl), t);
	table_free(t);
}

void show_some(struct table *t, struct client *cl)
{
	if (table_nrow(t))
		show_give(cl, t);
	else
		table_free(t);
}
