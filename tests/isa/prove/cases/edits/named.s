; What two kernels name is compared: tables, variables, relocations, sizes, alignment, functions.
	.amdgcn_target "amdgcn-amd-amdhsa--gfx1100"
	.text
	.p2align	2
	.type	twice,@function
twice:
	s_waitcnt vmcnt(0) expcnt(0) lgkmcnt(0)
	v_cmp_gt_u32_e32 vcc_lo, 7, v0
	s_cbranch_vccz .LBB0_2
	v_add_nc_u32_e32 v0, v0, v0
.LBB0_2:
	v_add_nc_u32_e32 v0, 1, v0
	s_setpc_b64 s[30:31]
.Lfunc_end0:
	.size	twice, .Lfunc_end0-twice
	.globl	look
	.p2align	8
	.type	look,@function
look:
	s_getpc_b64 s[4:5]
	s_add_u32 s4, s4, table@rel32@lo+8
	s_addc_u32 s5, s5, table@rel32@hi+16
	s_load_b64 s[0:1], s[0:1], 0x0
	s_load_b32 s6, s[4:5], 0x0
	s_getpc_b64 s[8:9]
	s_add_u32 s8, s8, handlers@rel32@lo+4
	s_addc_u32 s9, s9, handlers@rel32@hi+12
	s_load_b64 s[8:9], s[8:9], 0x0
	v_mov_b32_e32 v1, 0
	s_waitcnt lgkmcnt(0)
	v_dual_mov_b32 v2, s6 :: v_dual_mov_b32 v3, s8
	global_store_b64 v1, v[2:3], s[0:1]
	s_endpgm
.Lfunc_end1:
	.size	look, .Lfunc_end1-look
	.section	.rodata,"a",@progbits
	.p2align	6
	.amdhsa_kernel look
		.amdhsa_next_free_vgpr 8
		.amdhsa_next_free_sgpr 32
		.amdhsa_user_sgpr_kernarg_segment_ptr 1
		.amdhsa_user_sgpr_count 15
	.end_amdhsa_kernel
	.type	table,@object
	.p2align	4
table:
	.long	5
	.byte	1, 2
	.short	0x304
	.ascii	"\001b\tz"
	.zero	4
	.float	1.5
	.size	table, 20
	.type	spare,@object
spare:
	.long	77
	.size	spare, 4
	.type	handlers,@object
	.section	.data.rel.ro,"aw",@progbits
	.p2align	3
handlers:
	.quad	twice
	.quad	limits+4
	.quad	SHAPE
	.quad	spare-table
	.quad	APART
	.size	handlers, 40
	.set APART, spare-table
	.type	limits,@object
	.data
	.p2align	2
limits:
	.fill	2, 4, 9
	.size	limits, 8
	.type	count,@object
	.bss
	.p2align	2
count:
	.zero	4
	.size	count, 4
	.set SHAPE, 4*WIDE
	.set WIDE, 8
;; unproven: .long 5 to .long 6 | byte 0 of table is 0x05, 0x06 in the rewritten program
-.long	5
+.long	6
;; unproven: 1, 2 to 1, 3 | byte 5 of table is 0x02, 0x03 in the rewritten program
-1, 2
+1, 3
;; unproven: 0x304 to 0x404 | byte 7 of table is 0x03, 0x04 in the rewritten program
-0x304
+0x404
;; unproven: \001b\tz to \001b\nz | byte 10 of table is 0x09, 0x0a in the rewritten program
-\001b\tz
+\001b\nz
;; unproven: .zero 4  .float to .long 65536  .float | byte 14 of table is 0x00, 0x01 in the rewritten program
-.zero	4
-.float
+.long	65536
+.float
;; unproven: 1.5 to 2.5 | byte 18 of table is 0xc0, 0x20 in the rewritten program
-1.5
+2.5
;; unproven: .float 1.5  .size table, 20 to .size table, 16 | table has 16 bytes, 20 in the original
-.float	1.5
-.size	table, 20
+.size	table, 16
;; unproven: .p2align 4 table to .p2align 2 table | table is aligned to 4, to 16 in the original
-.p2align	4
-table
+.p2align	2
+table
;; unproven: .p2align 8 to .p2align 7 | the kernel is aligned to 128 bytes, to 256 in the original
-.p2align	8
+.p2align	7
;; unproven: .quad twice to .quad look | the function look differs
-.quad	twice
+.quad	look
;; unproven: limits+4 to limits+8 | byte 8 of handlers begins limits\+4, limits\+8 in the rewritten program
-limits+4
+limits+8
;; unproven: .quad limits+4 to .quad 4 | byte 8 of handlers begins limits\+4, a number in the rewritten program
-.quad	limits+4
+.quad	4
;; unproven: 2, 4, 9 to 2, 4, 8 | byte 0 of limits is 0x09, 0x08 in the rewritten program
-2, 4, 9
+2, 4, 8
;; unproven: WIDE, 8 to WIDE, 9 | byte 16 of handlers is 0x20, 0x24 in the rewritten program
-WIDE, 8
+WIDE, 9
;; unproven: v_add_nc_u32_e32 v0, 1 to v_add_nc_u32_e32 v0, 2 | the function twice differs
-v_add_nc_u32_e32 v0, 1
+v_add_nc_u32_e32 v0, 2
;; unproven: v_add_nc_u32_e32 v0, v0, v0 .LBB0_2: to .LBB0_2:  v_add_nc_u32_e32 v0, v0, v0 | the function twice differs
-v_add_nc_u32_e32 v0, v0, v0
-.LBB0_2:
+.LBB0_2:
+v_add_nc_u32_e32 v0, v0, v0
;; unproven: v_add_nc_u32_e32 v0, 1 to .long 0x7e000280  v_add_nc_u32_e32 v0, 1 | twice has numbers among its instructions
-v_add_nc_u32_e32 v0, 1
+.long 0x7e000280
+v_add_nc_u32_e32 v0, 1
;; unproven: .long 5 to .rept 1  .long 5  .endr | what is assembled is not known, because of \.rept
-.long	5
+.rept 1
+.long	5
+.endr
;; unproven: .float 1.5  .size table, 20 to .size table, 20  .section .text | where the data of table end is not known
-.float	1.5
-.size	table, 20
+.size	table, 20
+.section .text
;; unproven: .float 1.5 to .dcb.s 1, 1.5 | \.dcb\.s 1, 1\.5: what it makes is not known here
-.float	1.5
+.dcb.s 1, 1.5
;; unproven: .float 1.5 to .dcb.d 1, 2.0 | \.dcb\.d 1, 2\.0: what it makes is not known here
-.float	1.5
+.dcb.d 1, 2.0
;; unproven: .float 1.5 to .ds.d 1 | \.ds\.d 1: what it makes is not known here
-.float	1.5
+.ds.d 1
;; unproven: .float 1.5 to .ds.x 1 | \.ds\.x 1: what it makes is not known here
-.float	1.5
+.ds.x 1
;; unproven: .float 1.5 to .p2align -1 | \.p2align -1: is no alignment
-.float	1.5
+.p2align -1
;; unproven: .float 1.5 to .fill | \.fill : lacks its count
-.float	1.5
+.fill
;; proved: .long 5 to .byte 5, 0  .2byte 0
-.long	5
+.byte	5, 0
+.2byte	0
;; proved: .long 77 to .long 78
-.long	77
+.long	78
;; proved: .zero 4  .size count to .zero 8  .size count
-.zero	4
-.size	count
+.zero	8
+.size	count
;; proved: WIDE, 8 to WIDE, 16/2
-WIDE, 8
+WIDE, 16/2
;; proved: .LBB0_2 to .Lpast
-.LBB0_2
+.Lpast
;; proved: twice to double
-twice
+double
;; proved: .p2align 4 table to .p2align 5 table
-.p2align	4
-table
+.p2align	5
+table
;; proved: .fill 2, 4, 9 to .long 9, 9
-.fill	2, 4, 9
+.long	9, 9
;; proved: table, 20 to table, .-table
-table, 20
+table, .-table
;; unproven: a distance that is another number | handlers is made of spare-table, which may be another number in the rewritten program
-spare:
+.long 1
+spare:
;; unproven: a section that is not loaded | handlers lies in section .unseen, which is not loaded
-.section	.data.rel.ro,"aw"
+.section	.unseen,"w"
;; unproven: data that may be written | handlers is read only, and may be written in the rewritten program
-.section	.data.rel.ro,"aw"
+.section	.data,"aw"
;; unproven: another definition may take its place | table gives way to no definition, and may give way
-.p2align	4
-table:
+.p2align	4
+.weak	table
+table:
;; unproven: another function may take its place | twice gives way to no definition, and may give way
-.p2align	2
-.type
+.p2align	2
+.weak	twice
+.type
;; unproven: the kernel is not found | the host finds the kernel by its name, and does not
-.globl	look
+.hidden	look
+.globl	look
;; unproven: the kernel is not seen | the host finds the kernel by its name, and does not
-.globl	look
+
;; proved: seen in another way
-.globl	look
+.weak	look
;; unproven: a name that stands for another one | what table means is not known, because of \.weakref
<.globl	look
>.weakref	table, spare
>.globl	look
;; unproven: a name with a version | what table means is not known, because of \.symver
<.globl	look
>.symver	table, spare@V1
>.globl	look
