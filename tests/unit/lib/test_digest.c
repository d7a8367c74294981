/* test_digest.c - digests are those of the standards, and their hexadecimal form is strict */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <cmocka.h>

#include "lib/digest.h"
#include "lib/err.h"

static const char ABC[] = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";

static struct bytes bytes_of(const char *s)
{
	return (struct bytes){ (const uint8_t *)s, strlen(s) };
}

static int file_of(const char *s)
{
	int fd = memfd_create("digest", MFD_CLOEXEC);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, s, strlen(s)), strlen(s));
	return fd;
}

static void the_examples_of_the_standards_come_out(void **state)
{
	struct digest d = digest_of(bytes_of("abc")), of_file;
	char hex[65], md5[33];
	struct err err;
	int fd = file_of("abc");

	(void)state;
	digest_hex(&d, hex);
	assert_string_equal(hex, ABC);
	assert_int_equal(digest_fd(fd, &of_file, &err), 0);
	assert_true(digest_equal(&d, &of_file));
	assert_int_equal(digest_md5_fd(fd, md5, &err), 0);
	assert_string_equal(md5, "900150983cd24fb0d6963f7d28e17f72");
	assert_int_equal(lseek(fd, 0, SEEK_CUR), 3);	/* the position is kept */
	d = digest_of(bytes_of("abd"));
	assert_false(digest_equal(&d, &of_file));
	(void)close(fd);
}

static void a_file_without_an_end_is_refused(void **state)
{
	int fd = memfd_create("digest", MFD_CLOEXEC);
	struct digest d;
	struct err err;

	(void)state;
	assert_true(fd >= 0);
	assert_int_equal(ftruncate(fd, (off_t)DIGEST_MAX_BYTES + 1), 0);
	assert_int_equal(digest_fd(fd, &d, &err), -1);
	assert_int_equal(err.kind, ERR_REFUSED);
	(void)close(fd);
}

static void only_64_digits_are_a_digest(void **state)
{
	struct digest d, want = digest_of(bytes_of("abc"));
	char bad[67];

	(void)state;
	assert_int_equal(digest_from_hex(ABC, &d), 0);
	assert_true(digest_equal(&d, &want));
	for (int i = 0; i < 64; i++) {
		strcpy(bad, ABC);
		bad[i] = "gG:/ -"[i % 6];
		assert_int_equal(digest_from_hex(bad, &d), -1);
	}
	strcpy(bad, ABC);
	bad[63] = '\0';
	assert_int_equal(digest_from_hex(bad, &d), -1);
	strcpy(bad, ABC);
	strcat(bad, "0");
	assert_int_equal(digest_from_hex(bad, &d), -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_examples_of_the_standards_come_out),
		cmocka_unit_test(a_file_without_an_end_is_refused),
		cmocka_unit_test(only_64_digits_are_a_digest),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
