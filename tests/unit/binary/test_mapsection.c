/* test_mapsection.c - reads the block map from its section; what has none is no generation */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "binary/mapsection.h"
#include "lib/blockmap.h"
#include "lib/err.h"
#include "lib/wr.h"

/* An image with a block map of generation 7 at offset 16, in a section of that name. */
static struct image image_with(const char *name, struct section *s, struct wr *file)
{
	struct blockmap_seg seg = { .vaddr = 0x1000, .size = 0x1000 };
	struct blockmap map = { .generation = 7, .orig_base = 0x1000, .gen_base = 0x9000,
				.nseg = 1, .seg = &seg };

	(void)wr_reserve(file, 16);
	blockmap_write(&map, file);
	*s = (struct section){ .name = name, .h = { .sh_type = SHT_PROGBITS, .sh_offset = 16,
						    .sh_size = file->n - 16 } };
	return (struct image){ .file = wr_bytes(file), .sh = s, .nsh = 1 };
}

static void the_map_of_a_generation_is_read(void **state)
{
	struct blockmap map;
	struct section s;
	struct wr file = { 0 };
	struct bytes b;
	struct err err;
	struct image img = image_with(".morph.map", &s, &file);

	(void)state;
	assert_int_equal(mapsection_bytes(&img, &b, &err), 0);
	assert_ptr_equal(b.p, file.p + 16);
	assert_int_equal(b.n, file.n - 16);
	assert_int_equal(mapsection_read(&img, &map, &err), 0);
	assert_int_equal(map.generation, 7);
	blockmap_free(&map);
	wr_free(&file);
}

static void what_has_no_map_is_no_generation(void **state)
{
	struct blockmap map;
	struct section s;
	struct wr file = { 0 };
	struct err err;
	struct image img = image_with(".morph.mop", &s, &file);

	(void)state;
	assert_int_equal(mapsection_read(&img, &map, &err), -1);
	assert_int_equal(err.kind, ERR_INPUT);
	assert_string_equal(err.text, "not a generation: it has no block map");
	wr_free(&file);
}

static void a_damaged_map_is_refused(void **state)
{
	struct blockmap map;
	struct section s;
	struct wr file = { 0 };
	struct err err;
	struct image img = image_with(".morph.map", &s, &file);

	(void)state;
	s.h.sh_size++;				/* beyond the end of the file */
	assert_int_equal(mapsection_read(&img, &map, &err), -1);
	assert_string_equal(err.text, "block map outside the file");
	s.h.sh_size -= 2;
	assert_int_equal(mapsection_read(&img, &map, &err), -1);
	assert_int_equal(err.kind, ERR_INPUT);
	wr_free(&file);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_map_of_a_generation_is_read),
		cmocka_unit_test(what_has_no_map_is_no_generation),
		cmocka_unit_test(a_damaged_map_is_refused),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
