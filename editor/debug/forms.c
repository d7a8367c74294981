/* forms.c - how long values in entries are (DWARF 5, section 7.5.6, and GNU's) */
#include "editor/debug/debug.h"
#include "editor/debug/dwarfinfo.h"

/* Bytes of a form of constant size, -1 for another. */
static int form_size(uint32_t form, uint16_t version)
{
	switch (form) {
	case DW_FORM_flag_present: case DW_FORM_implicit_const:
		return 0;
	case DW_FORM_data1: case DW_FORM_flag: case DW_FORM_ref1: case DW_FORM_strx1:
	case DW_FORM_addrx1:
		return 1;
	case DW_FORM_data2: case DW_FORM_ref2: case DW_FORM_strx2: case DW_FORM_addrx2:
		return 2;
	case DW_FORM_strx3: case DW_FORM_addrx3:
		return 3;
	case DW_FORM_data4: case DW_FORM_strp: case DW_FORM_ref4: case DW_FORM_sec_offset:
	case DW_FORM_ref_sup4: case DW_FORM_strp_sup: case DW_FORM_line_strp:
	case DW_FORM_strx4: case DW_FORM_addrx4: case DW_FORM_GNU_ref_alt:
	case DW_FORM_GNU_strp_alt:
		return 4;
	case DW_FORM_ref_addr:
		return version == 2 ? 8 : 4;
	case DW_FORM_addr: case DW_FORM_data8: case DW_FORM_ref8: case DW_FORM_ref_sig8:
	case DW_FORM_ref_sup8:
		return 8;
	case DW_FORM_data16:
		return 16;
	default:
		return -1;
	}
}

static uint64_t skip_fixed(struct rd *r, uint32_t size)
{
	const uint8_t *p = rd_skip(r, size);

	return p ? bytes_first((struct bytes){ p, size < 8 ? size : 8 }) : 0;
}

bool debug_skip_value(struct rd *r, uint32_t form, uint16_t version, uint64_t *value)
{
	int size = form_size(form, version);

	*value = 0;
	if (size >= 0) {
		*value = skip_fixed(r, (uint32_t)size);
		return true;
	}
	switch (form) {
	case DW_FORM_udata: case DW_FORM_ref_udata: case DW_FORM_strx: case DW_FORM_addrx:
	case DW_FORM_loclistx: case DW_FORM_rnglistx:
		*value = rd_uleb(r);
		return true;
	case DW_FORM_sdata:
		*value = (uint64_t)rd_sleb(r);
		return true;
	case DW_FORM_string:
		(void)rd_str(r);		/* a bad reader is looked at by the caller */
		return true;
	case DW_FORM_block1:
		(void)rd_skip(r, rd_u8(r));
		return true;
	case DW_FORM_block2:
		(void)rd_skip(r, rd_u16(r));
		return true;
	case DW_FORM_block4:
		(void)rd_skip(r, rd_u32(r));
		return true;
	case DW_FORM_block: case DW_FORM_exprloc:
		(void)rd_skip(r, rd_uleb(r));
		return true;
	default:
		return false;
	}
}

bool debug_is_address(uint32_t form)
{
	return form == DW_FORM_addr || form == DW_FORM_addrx ||
	       (form >= DW_FORM_addrx1 && form <= DW_FORM_addrx4);
}

/* Before DWARF 4 offsets have the forms of numbers. */
bool debug_is_offset(uint32_t form, uint16_t version)
{
	return form == DW_FORM_sec_offset || (version < 4 && form == DW_FORM_data4);
}

bool debug_takes_location(uint32_t attr)
{
	switch (attr) {
	case DW_AT_location: case DW_AT_string_length: case DW_AT_return_addr:
	case DW_AT_frame_base: case DW_AT_segment: case DW_AT_static_link:
	case DW_AT_use_location: case DW_AT_vtable_elem_location:
		return true;
	default:
		return false;
	}
}
