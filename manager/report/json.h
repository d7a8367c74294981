/* json.h - what the exports as JSON share: json-c without its checks for memory
 *
 * json-c says with NULL that there is no memory, and its objects take NULL as `null`: nothing
 * would be told.  Here such a process ends (lib/memory.h).
 */
#ifndef MANAGER_REPORT_JSON_H
#define MANAGER_REPORT_JSON_H

#include <json-c/json.h>
#include <stdint.h>

#include "lib/wr.h"

struct json_object *json_dict(void);
struct json_object *json_list(void);
/* Members of an object; the value is its from then on. */
void json_set(struct json_object *o, const char *key, struct json_object *value);
void json_set_text(struct json_object *o, const char *key, const char *text);
void json_set_int(struct json_object *o, const char *key, int64_t v);
void json_set_real(struct json_object *o, const char *key, double v);
/* At the end of an array; json_add(a, NULL) adds a null. */
void json_add(struct json_object *a, struct json_object *value);
void json_add_text(struct json_object *a, const char *text);
void json_add_int(struct json_object *a, int64_t v);
void json_add_real(struct json_object *a, double v);
/* Appends the text of the object, with a newline, and frees it. */
void json_finish(struct json_object *o, struct wr *out);

#endif
