/* kernel_field.c - BTF, as far as offsets of fields need it; every offset in it is checked
 *
 * Types follow each other, each as long as its kind says, and are numbered from 1.  The format
 * is the kernel's Documentation/bpf/btf.rst.
 *
 * Tested by tests/unit/monitor/test_kernel_field.c.
 */
#include "monitor/kernel_field.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/btf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "lib/err.h"
#include "lib/memory.h"

enum { MAX_BYTES = 64 << 20, MAX_DEPTH = 8 };

struct types {
	struct bytes all, names;
	uint32_t *at;		/* offset of type i + 1 in `all` */
	uint32_t n, cap;
};

/* What follows the first 12 bytes of a type; -1: of no known kind. */
static int64_t rest_of(uint32_t info)
{
	uint32_t n = BTF_INFO_VLEN(info);

	switch (BTF_INFO_KIND(info)) {
	case BTF_KIND_INT:
	case BTF_KIND_VAR:
	case BTF_KIND_DECL_TAG:
		return 4;
	case BTF_KIND_ARRAY:
		return 12;
	case BTF_KIND_STRUCT:
	case BTF_KIND_UNION:
	case BTF_KIND_DATASEC:
	case BTF_KIND_ENUM64:
		return (int64_t)n * 12;
	case BTF_KIND_ENUM:
	case BTF_KIND_FUNC_PROTO:
		return (int64_t)n * 8;
	case BTF_KIND_PTR:
	case BTF_KIND_FWD:
	case BTF_KIND_TYPEDEF:
	case BTF_KIND_VOLATILE:
	case BTF_KIND_CONST:
	case BTF_KIND_RESTRICT:
	case BTF_KIND_FUNC:
	case BTF_KIND_FLOAT:
	case BTF_KIND_TYPE_TAG:
		return 0;
	default:
		return -1;
	}
}

static int number_types(struct types *t, struct err *err)
{
	struct rd r = rd_of(t->all);

	while (rd_left(&r)) {
		uint64_t at = t->all.n - rd_left(&r);

		(void)rd_u32(&r);
		uint32_t info = rd_u32(&r);
		(void)rd_u32(&r);
		int64_t rest = rest_of(info);
		if (rest < 0)
			return err_set(err, ERR_INPUT, "BTF: a type of unknown kind %u",
				       BTF_INFO_KIND(info));
		(void)rd_skip(&r, (uint64_t)rest);
		if (r.bad)
			return err_set(err, ERR_INPUT, "BTF: cut short");
		if (t->n == t->cap) {
			t->cap = t->cap ? 2 * t->cap : 4096;
			t->at = memory_grow(t->at, t->cap, sizeof(*t->at));
		}
		t->at[t->n++] = (uint32_t)at;
	}
	return 0;
}

static bool is_name(const struct types *t, uint32_t at, const char *name)
{
	struct bytes b = bytes_at(t->names, at, strlen(name) + 1);

	return b.p && memcmp(b.p, name, b.n) == 0;
}

/* Of struct or union `id`: 1 and *out in bits; 0: it has no such field. */
static int find_field(const struct types *t, uint32_t id, const char *field, int depth,
		      uint64_t *out)
{
	if (id == 0 || id > t->n || depth > MAX_DEPTH)
		return 0;
	struct rd r = rd_of(bytes_at(t->all, t->at[id - 1], t->all.n - t->at[id - 1]));
	(void)rd_u32(&r);
	uint32_t info = rd_u32(&r), kind = BTF_INFO_KIND(info);
	(void)rd_u32(&r);
	if (kind != BTF_KIND_STRUCT && kind != BTF_KIND_UNION)
		return 0;
	for (uint32_t i = 0; i < BTF_INFO_VLEN(info); i++) {
		uint32_t name = rd_u32(&r), type = rd_u32(&r), bits = rd_u32(&r);
		uint64_t inner = 0;

		if (BTF_INFO_KFLAG(info))
			bits = BTF_MEMBER_BIT_OFFSET(bits);
		bool found = is_name(t, name, field);
		if (!found && is_name(t, name, ""))
			found = find_field(t, type, field, depth + 1, &inner) == 1;
		if (found) {
			*out = bits + inner;
			return 1;
		}
	}
	return 0;
}

static int find(const struct types *t, const char *in, const char *field, uint32_t *out,
		struct err *err)
{
	for (uint32_t i = 0; i < t->n; i++) {
		struct rd r = rd_of(bytes_at(t->all, t->at[i], 8));
		uint32_t name = rd_u32(&r), info = rd_u32(&r);
		uint64_t bits;

		if (BTF_INFO_KIND(info) != BTF_KIND_STRUCT || !is_name(t, name, in) ||
		    !find_field(t, i + 1, field, 0, &bits))
			continue;
		if (bits % 8 || bits / 8 > INT16_MAX)
			return err_set(err, ERR_INPUT, "BTF: %s.%s is at bit %llu", in, field,
				       (unsigned long long)bits);
		*out = (uint32_t)(bits / 8);
		return 0;
	}
	return err_set(err, ERR_INPUT, "this kernel has no %s.%s", in, field);
}

int kernel_field_in(struct bytes btf, const char *in, const char *field, uint32_t *out,
		    struct err *err)
{
	struct types t = { 0 };
	struct rd r = rd_of(btf);
	uint32_t magic = rd_u16(&r);

	(void)rd_u16(&r);		/* version, flags */
	uint64_t header = rd_u32(&r), types = rd_u32(&r), ntypes = rd_u32(&r),
		 names = rd_u32(&r), nnames = rd_u32(&r);
	if (r.bad || magic != BTF_MAGIC)
		return err_set(err, ERR_INPUT, "no BTF");
	t.all = bytes_at(btf, header + types, ntypes);
	t.names = bytes_at(btf, header + names, nnames);
	if (!t.all.p || !t.names.p)
		return err_set(err, ERR_INPUT, "BTF: cut short");
	int rc = number_types(&t, err);
	if (rc == 0)
		rc = find(&t, in, field, out, err);
	free(t.at);
	return rc;
}

/* The kernel says the right size of this file.  In pages of its own, so that they are given
 * back at once: .p == NULL when it cannot be read. */
static struct bytes read_whole(int fd)
{
	off_t size = lseek(fd, 0, SEEK_END), n = 0;

	if (size <= 0 || size > MAX_BYTES)
		return (struct bytes){ NULL, 0 };
	uint8_t *p = mmap(NULL, (size_t)size, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (p == MAP_FAILED)
		return (struct bytes){ NULL, 0 };
	while (n < size) {
		ssize_t k = pread(fd, p + n, (size_t)(size - n), n);

		if (k <= 0)
			break;
		n += k;
	}
	if (n == size)
		return (struct bytes){ p, (uint64_t)size };
	munmap(p, (size_t)size);
	return (struct bytes){ NULL, 0 };
}

int kernel_field(const char *in, const char *field, uint32_t *out, struct err *err)
{
	static const char path[] = "/sys/kernel/btf/vmlinux";
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return err_set(err, ERR_SYS, "'%s': %s", path, strerror(errno));
	struct bytes btf = read_whole(fd);
	close(fd);
	if (!btf.p)
		return err_set(err, ERR_SYS, "'%s': cannot be read", path);
	int rc = kernel_field_in(btf, in, field, out, err);
	munmap((void *)(uintptr_t)btf.p, btf.n);
	return rc;
}
