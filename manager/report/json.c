/* json.c - what the exports as JSON share
 *
 * Tested by tests/e2e/export.sh.
 */
#include "manager/report/json.h"

#include "lib/memory.h"

struct json_object *json_dict(void)
{
	return memory_need(json_object_new_object());
}

struct json_object *json_list(void)
{
	return memory_need(json_object_new_array());
}

void json_set(struct json_object *o, const char *key, struct json_object *value)
{
	if (json_object_object_add(o, key, value) < 0)
		memory_exhausted();
}

static struct json_object *text_of(const char *text)
{
	return memory_need(json_object_new_string(text));
}

static struct json_object *int_of(int64_t v)
{
	return memory_need(json_object_new_int64(v));
}

/* Whole numbers as such: "3", and not "3.0". */
static struct json_object *real_of(double v)
{
	if (v >= -9e15 && v <= 9e15 && v == (double)(int64_t)v)
		return int_of((int64_t)v);
	return memory_need(json_object_new_double(v));
}

void json_set_text(struct json_object *o, const char *key, const char *text)
{
	json_set(o, key, text_of(text));
}

void json_set_int(struct json_object *o, const char *key, int64_t v)
{
	json_set(o, key, int_of(v));
}

void json_set_real(struct json_object *o, const char *key, double v)
{
	json_set(o, key, real_of(v));
}

void json_add(struct json_object *a, struct json_object *value)
{
	if (json_object_array_add(a, value) < 0)
		memory_exhausted();
}

void json_add_text(struct json_object *a, const char *text)
{
	json_add(a, text_of(text));
}

void json_add_int(struct json_object *a, int64_t v)
{
	json_add(a, int_of(v));
}

void json_add_real(struct json_object *a, double v)
{
	json_add(a, real_of(v));
}

void json_finish(struct json_object *o, struct wr *out)
{
	size_t n;
	int flags = JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE;
	const char *text = memory_need(
		(char *)(uintptr_t)json_object_to_json_string_length(o, flags, &n));

	wr_raw(out, text, n);
	wr_u8(out, '\n');
	json_object_put(o);
}
