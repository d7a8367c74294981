/* frame.c - what stands around a page's content
 *
 * The three files are in the program as they are; @NAME@ in page.html is replaced.
 *
 * Tested by tests/e2e/page.sh.
 */
#include "manager/page/frame.h"

#include <assert.h>
#include <nettle/base64.h>
#include <string.h>

#include "lib/digest.h"
#include "manager/page/html.h"
#include "manager/page/page_files.h"	/* made of the three */

enum { HASH_MAX = BASE64_ENCODE_RAW_LENGTH(sizeof(struct digest)) + 1 };

static void hash_of(const char *text, char out[HASH_MAX])
{
	struct digest d = digest_of((struct bytes){ (const uint8_t *)text, strlen(text) });

	base64_encode_raw(out, sizeof(d.b), d.b);
	out[HASH_MAX - 1] = '\0';
}

static void put_policy(struct wr *w)
{
	char script[HASH_MAX], style[HASH_MAX];

	hash_of(page_js, script);
	hash_of(page_css, style);
	html_put(w, "default-src 'none'; script-src 'sha256-%s'; style-src 'sha256-%s'; "
		 "base-uri 'none'; form-action 'none'", script, style);
}

static void put_named(struct wr *w, const char *name, const char *title)
{
	if (strcmp(name, "policy") == 0)
		put_policy(w);
	else if (strcmp(name, "title") == 0)
		html_text(w, title);
	else if (strcmp(name, "version") == 0)
		html_text(w, MORPH_VERSION);
	else if (strcmp(name, "style") == 0)
		wr_text(w, page_css);
	else if (strcmp(name, "script") == 0)
		wr_text(w, page_js);
}

/* A part of page.html, in which every second @ ends a name. */
static void put_part(struct wr *w, const char *from, const char *end, const char *title)
{
	char name[16];

	while (from < end) {
		size_t n = strcspn(from, "@");

		if (n >= (size_t)(end - from)) {
			wr_raw(w, from, (size_t)(end - from));
			return;
		}
		wr_raw(w, from, n);
		from += n + 1;
		n = strcspn(from, "@");
		assert(n < sizeof(name) && from[n]);
		memcpy(name, from, n);
		name[n] = '\0';
		put_named(w, name, title);
		from += n + 1;
	}
}

static const char content[] = "@content@";

void frame_begin(struct wr *w, const char *title)
{
	put_part(w, page_html, strstr(page_html, content), title);
}

void frame_end(struct wr *w, const char *title)
{
	const char *rest = strstr(page_html, content) + strlen(content);

	put_part(w, rest, rest + strlen(rest), title);
}
