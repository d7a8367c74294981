/* dwarfinfo.h - the constants of DWARF 2 to 5 (section 7 of each) that Morph uses, and GNU's */
#ifndef EDITOR_DEBUG_DWARFINFO_H
#define EDITOR_DEBUG_DWARFINFO_H

enum {				/* tags */
	DW_TAG_formal_parameter = 0x05,
	DW_TAG_label = 0x0a,
	DW_TAG_lexical_block = 0x0b,
	DW_TAG_compile_unit = 0x11,
	DW_TAG_inlined_subroutine = 0x1d,
	DW_TAG_subprogram = 0x2e,
	DW_TAG_partial_unit = 0x3c,
	DW_TAG_call_site = 0x48,
	DW_TAG_skeleton_unit = 0x4a,
	DW_TAG_GNU_call_site = 0x4109,
};

enum {				/* kinds of units */
	DW_UT_compile = 1,
	DW_UT_type = 2,
	DW_UT_partial = 3,
};

enum { DW_LANG_C99 = 0x0c };

enum {				/* attributes */
	DW_AT_location = 0x02,
	DW_AT_name = 0x03,
	DW_AT_stmt_list = 0x10,
	DW_AT_low_pc = 0x11,
	DW_AT_high_pc = 0x12,
	DW_AT_language = 0x13,
	DW_AT_string_length = 0x19,
	DW_AT_comp_dir = 0x1b,
	DW_AT_return_addr = 0x2a,
	DW_AT_start_scope = 0x2c,
	DW_AT_abstract_origin = 0x31,
	DW_AT_declaration = 0x3c,
	DW_AT_frame_base = 0x40,
	DW_AT_macro_info = 0x43,
	DW_AT_segment = 0x46,
	DW_AT_static_link = 0x48,
	DW_AT_use_location = 0x4a,
	DW_AT_vtable_elem_location = 0x4d,
	DW_AT_entry_pc = 0x52,
	DW_AT_ranges = 0x55,
	DW_AT_linkage_name = 0x6e,
	DW_AT_str_offsets_base = 0x72,
	DW_AT_addr_base = 0x73,
	DW_AT_rnglists_base = 0x74,
	DW_AT_dwo_name = 0x76,
	DW_AT_macros = 0x79,
	DW_AT_call_return_pc = 0x7d,
	DW_AT_call_origin = 0x7f,
	DW_AT_call_pc = 0x81,
	DW_AT_loclists_base = 0x8c,
	DW_AT_GNU_call_site_value = 0x2111,
	DW_AT_GNU_macros = 0x2119,
	DW_AT_GNU_dwo_name = 0x2130,
	DW_AT_GNU_locviews = 0x2137,
	DW_AT_GNU_entry_view = 0x2138,
	/* Morph's own, in the range for users: what is left of an attribute that gave way.  Its
	 * values mean nothing; an entry may have several, with ascending numbers. */
	DW_AT_MORPH_was = 0x3f00,
};

enum {				/* forms of values */
	DW_FORM_addr = 0x01,
	DW_FORM_block2 = 0x03,
	DW_FORM_block4 = 0x04,
	DW_FORM_data2 = 0x05,
	DW_FORM_data4 = 0x06,
	DW_FORM_data8 = 0x07,
	DW_FORM_string = 0x08,
	DW_FORM_block = 0x09,
	DW_FORM_block1 = 0x0a,
	DW_FORM_data1 = 0x0b,
	DW_FORM_flag = 0x0c,
	DW_FORM_sdata = 0x0d,
	DW_FORM_strp = 0x0e,
	DW_FORM_udata = 0x0f,
	DW_FORM_ref_addr = 0x10,
	DW_FORM_ref1 = 0x11,
	DW_FORM_ref2 = 0x12,
	DW_FORM_ref4 = 0x13,
	DW_FORM_ref8 = 0x14,
	DW_FORM_ref_udata = 0x15,
	DW_FORM_sec_offset = 0x17,
	DW_FORM_exprloc = 0x18,
	DW_FORM_flag_present = 0x19,
	DW_FORM_strx = 0x1a,
	DW_FORM_addrx = 0x1b,
	DW_FORM_ref_sup4 = 0x1c,
	DW_FORM_strp_sup = 0x1d,
	DW_FORM_data16 = 0x1e,
	DW_FORM_line_strp = 0x1f,
	DW_FORM_ref_sig8 = 0x20,
	DW_FORM_implicit_const = 0x21,
	DW_FORM_loclistx = 0x22,
	DW_FORM_rnglistx = 0x23,
	DW_FORM_ref_sup8 = 0x24,
	DW_FORM_strx1 = 0x25,
	DW_FORM_strx2 = 0x26,
	DW_FORM_strx3 = 0x27,
	DW_FORM_strx4 = 0x28,
	DW_FORM_addrx1 = 0x29,
	DW_FORM_addrx2 = 0x2a,
	DW_FORM_addrx3 = 0x2b,
	DW_FORM_addrx4 = 0x2c,
	DW_FORM_GNU_ref_alt = 0x1f20,
	DW_FORM_GNU_strp_alt = 0x1f21,
};

enum { DW_OP_call_frame_cfa = 0x9c };	/* operation: the frame's canonical address */

enum {				/* entries of .debug_rnglists */
	DW_RLE_end_of_list = 0x00,
	DW_RLE_base_addressx = 0x01,
	DW_RLE_startx_endx = 0x02,
	DW_RLE_startx_length = 0x03,
	DW_RLE_offset_pair = 0x04,
	DW_RLE_base_address = 0x05,
	DW_RLE_start_end = 0x06,
	DW_RLE_start_length = 0x07,
};

enum {				/* entries of .debug_loclists */
	DW_LLE_end_of_list = 0x00,
	DW_LLE_base_addressx = 0x01,
	DW_LLE_startx_endx = 0x02,
	DW_LLE_startx_length = 0x03,
	DW_LLE_offset_pair = 0x04,
	DW_LLE_default_location = 0x05,
	DW_LLE_base_address = 0x06,
	DW_LLE_start_end = 0x07,
	DW_LLE_start_length = 0x08,
	DW_LLE_GNU_view_pair = 0x09,
};

enum {				/* standard opcodes of line programs */
	DW_LNS_extended = 0,
	DW_LNS_copy = 1,
	DW_LNS_advance_pc = 2,
	DW_LNS_advance_line = 3,
	DW_LNS_set_file = 4,
	DW_LNS_set_column = 5,
	DW_LNS_negate_stmt = 6,
	DW_LNS_set_basic_block = 7,
	DW_LNS_const_add_pc = 8,
	DW_LNS_fixed_advance_pc = 9,
	DW_LNS_set_prologue_end = 10,
	DW_LNS_set_epilogue_begin = 11,
	DW_LNS_set_isa = 12,
};

enum {				/* extended opcodes of line programs */
	DW_LNE_end_sequence = 1,
	DW_LNE_set_address = 2,
	DW_LNE_set_discriminator = 4,
};

#endif
