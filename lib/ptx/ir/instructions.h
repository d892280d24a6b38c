/* SPDX-License-Identifier: MIT */
/*
 * All instructions of PTX 9.0, sorted: name, what makes IR of it, least and most operands, flags;
 * or those that memcast LACKS
 */
#ifndef MEMCAST_PTX_INSTRUCTIONS_H
#define MEMCAST_PTX_INSTRUCTIONS_H

#include "ir.h"

/* What stands where lanes are to be in step (jit/lockstep.c); no text has such a name. */
#define PTX_STEP	" step"

#define PTX_INSTRUCTIONS(O, LACKS) \
	O(PTX_STEP, translate_step, 0, 0, OPCODE_WAITS) \
	O("abs", translate_abs, 2, 2, OPCODE_TYPED) \
	O("activemask", translate_activemask, 1, 1, OPCODE_WAITS) \
	O("add", translate_add, 3, 3, OPCODE_TYPED) \
	O("addc", translate_addc, 3, 3, OPCODE_TYPED) \
	O("alloca", translate_stack, 2, 3, OPCODE_TYPED) \
	O("and", translate_and, 3, 3, OPCODE_TYPED) \
	O("applypriority", translate_nothing, 1, 3, 0) \
	O("atom", translate_atom, 3, 5, OPCODE_TYPED) \
	O("bar", translate_bar, 0, 4, OPCODE_WAITS) \
	O("barrier", translate_bar, 0, 4, OPCODE_WAITS) \
	O("bfe", translate_bfe, 4, 4, OPCODE_TYPED) \
	O("bfi", translate_bfi, 5, 5, OPCODE_TYPED) \
	O("bfind", translate_bfind, 2, 2, OPCODE_TYPED) \
	O("bmsk", translate_bmsk, 3, 3, OPCODE_TYPED) \
	O("bra", translate_bra, 1, 1, 0) \
	O("brev", translate_brev, 2, 2, OPCODE_TYPED) \
	O("brkpt", translate_brkpt, 0, 0, 0) \
	O("brx", translate_brx, 2, 2, 0) \
	O("call", translate_call, 1, 4, 0) \
	LACKS("clusterlaunchcontrol") \
	O("clz", translate_clz, 2, 2, OPCODE_TYPED) \
	O("cnot", translate_cnot, 2, 2, OPCODE_TYPED) \
	O("copysign", translate_copysign, 3, 3, OPCODE_TYPED) \
	O("cos", translate_cos, 2, 2, OPCODE_TYPED) \
	O("cp", translate_cp, 0, 9, 0) \
	O("createpolicy", translate_createpolicy, 1, 5, 0) \
	O("cvt", translate_cvt, 2, 4, OPCODE_TYPED_TWICE) \
	O("cvta", translate_cvta, 2, 2, OPCODE_TYPED) \
	O("discard", translate_nothing, 1, 3, 0) \
	O("div", translate_div, 3, 3, OPCODE_TYPED) \
	O("dp2a", translate_dp, 4, 4, OPCODE_TYPED_TWICE) \
	O("dp4a", translate_dp, 4, 4, OPCODE_TYPED_TWICE) \
	O("elect", translate_elect, 2, 2, OPCODE_WAITS) \
	O("ex2", translate_ex2, 2, 2, OPCODE_TYPED) \
	O("exit", translate_exit, 0, 0, OPCODE_ENDS) \
	O("fence", translate_fence, 0, 3, 0) \
	O("fma", translate_fma, 4, 4, OPCODE_TYPED) \
	O("fns", translate_fns, 4, 4, OPCODE_TYPED) \
	O("getctarank", translate_getctarank, 2, 2, OPCODE_TYPED) \
	O("griddepcontrol", translate_nothing, 0, 0, 0) \
	O("isspacep", translate_isspacep, 2, 2, 0) \
	LACKS("istypep") \
	O("ld", translate_ld, 2, 3, OPCODE_TYPED) \
	O("ldmatrix", translate_ldmatrix, 2, 2, OPCODE_WAITS) \
	O("ldu", translate_ld, 2, 3, OPCODE_TYPED) \
	O("lg2", translate_lg2, 2, 2, OPCODE_TYPED) \
	O("lop3", translate_lop3, 5, 6, OPCODE_TYPED) \
	O("mad", translate_mad, 4, 4, OPCODE_TYPED) \
	O("mad24", translate_mad24, 4, 4, OPCODE_TYPED) \
	O("madc", translate_madc, 4, 4, OPCODE_TYPED) \
	O("mapa", translate_mapa, 3, 3, OPCODE_TYPED) \
	O("match", translate_match, 3, 3, OPCODE_WAITS | OPCODE_TYPED) \
	O("max", translate_max, 3, 4, OPCODE_TYPED) \
	O("mbarrier", translate_mbarrier, 1, 4, 0) \
	O("membar", translate_fence, 0, 0, 0) \
	O("min", translate_min, 3, 4, OPCODE_TYPED) \
	O("mma", translate_mma, 4, 10, OPCODE_WAITS) \
	O("mov", translate_mov, 2, 2, OPCODE_TYPED) \
	O("movmatrix", translate_movmatrix, 2, 2, OPCODE_WAITS) \
	O("mul", translate_mul, 3, 3, OPCODE_TYPED) \
	O("mul24", translate_mul24, 3, 3, OPCODE_TYPED) \
	O("multimem", translate_multimem, 2, 4, 0) \
	O("nanosleep", translate_nanosleep, 1, 1, OPCODE_WAITS) \
	O("neg", translate_neg, 2, 2, OPCODE_TYPED) \
	O("not", translate_not, 2, 2, OPCODE_TYPED) \
	O("or", translate_or, 3, 3, OPCODE_TYPED) \
	O("pmevent", translate_nothing, 1, 1, 0) \
	O("popc", translate_popc, 2, 2, OPCODE_TYPED) \
	O("prefetch", translate_nothing, 1, 3, 0) \
	O("prefetchu", translate_nothing, 1, 1, 0) \
	O("prmt", translate_prmt, 4, 4, OPCODE_TYPED) \
	O("rcp", translate_rcp, 2, 2, OPCODE_TYPED) \
	O("red", translate_red, 2, 4, OPCODE_TYPED) \
	O("redux", translate_redux, 3, 3, OPCODE_WAITS | OPCODE_TYPED) \
	O("rem", translate_rem, 3, 3, OPCODE_TYPED) \
	O("ret", translate_return, 0, 0, 0) \
	O("rsqrt", translate_rsqrt, 2, 2, OPCODE_TYPED) \
	O("sad", translate_sad, 4, 4, OPCODE_TYPED) \
	O("selp", translate_selp, 4, 4, OPCODE_TYPED) \
	O("set", translate_set, 3, 4, OPCODE_TYPED_TWICE) \
	O("setmaxnreg", translate_nothing, 1, 1, 0) \
	O("setp", translate_setp, 3, 4, OPCODE_TYPED) \
	O("shf", translate_shf, 4, 4, OPCODE_TYPED) \
	O("shfl", translate_shfl, 4, 5, OPCODE_WAITS | OPCODE_TYPED) \
	O("shl", translate_shl, 3, 3, OPCODE_TYPED) \
	O("shr", translate_shr, 3, 3, OPCODE_TYPED) \
	O("sin", translate_sin, 2, 2, OPCODE_TYPED) \
	O("slct", translate_slct, 4, 4, OPCODE_TYPED_TWICE) \
	O("sqrt", translate_sqrt, 2, 2, OPCODE_TYPED) \
	O("st", translate_st, 2, 3, OPCODE_TYPED) \
	O("stackrestore", translate_stack, 1, 1, 0) \
	O("stacksave", translate_stack, 1, 1, 0) \
	O("stmatrix", translate_stmatrix, 2, 2, OPCODE_WAITS) \
	O("sub", translate_sub, 3, 3, OPCODE_TYPED) \
	O("subc", translate_subc, 3, 3, OPCODE_TYPED) \
	LACKS("suld") \
	LACKS("suq") \
	LACKS("sured") \
	LACKS("sust") \
	O("szext", translate_szext, 3, 3, OPCODE_TYPED) \
	O("tanh", translate_tanh, 2, 2, OPCODE_TYPED) \
	LACKS("tcgen05") \
	LACKS("tensormap") \
	O("testp", translate_testp, 2, 2, OPCODE_TYPED) \
	LACKS("tex") \
	LACKS("tld4") \
	O("trap", translate_trap, 0, 0, OPCODE_ENDS) \
	LACKS("txq") \
	O("vabsdiff", translate_video, 3, 4, 0) \
	O("vabsdiff2", translate_video_simd, 4, 4, 0) \
	O("vabsdiff4", translate_video_simd, 4, 4, 0) \
	O("vadd", translate_video, 3, 4, 0) \
	O("vadd2", translate_video_simd, 4, 4, 0) \
	O("vadd4", translate_video_simd, 4, 4, 0) \
	O("vavrg2", translate_video_simd, 4, 4, 0) \
	O("vavrg4", translate_video_simd, 4, 4, 0) \
	O("vmad", translate_video, 4, 4, 0) \
	O("vmax", translate_video, 3, 4, 0) \
	O("vmax2", translate_video_simd, 4, 4, 0) \
	O("vmax4", translate_video_simd, 4, 4, 0) \
	O("vmin", translate_video, 3, 4, 0) \
	O("vmin2", translate_video_simd, 4, 4, 0) \
	O("vmin4", translate_video_simd, 4, 4, 0) \
	O("vote", translate_vote, 2, 3, OPCODE_WAITS) \
	O("vset", translate_video, 3, 4, 0) \
	O("vset2", translate_video_simd, 4, 4, 0) \
	O("vset4", translate_video_simd, 4, 4, 0) \
	O("vshl", translate_video, 3, 4, 0) \
	O("vshr", translate_video, 3, 4, 0) \
	O("vsub", translate_video, 3, 4, 0) \
	O("vsub2", translate_video_simd, 4, 4, 0) \
	O("vsub4", translate_video_simd, 4, 4, 0) \
	LACKS("wgmma") \
	O("wmma", translate_wmma, 2, 4, OPCODE_WAITS) \
	O("xor", translate_xor, 3, 3, OPCODE_TYPED)

#define DECLARE(name, function, ...) void function(struct translator *t);
#define NOTHING(name)
PTX_INSTRUCTIONS(DECLARE, NOTHING)

/* An instruction of one call: TRANSLATE(sub, add_or_sub(t, true)) */
#define TRANSLATE(name, call)	void translate_##name(struct translator *t) { call; }

/* Parts of the above that are for other types, in other files */
void translate_float_binary(struct translator *t, char kind);
void translate_float_division(struct translator *t);
void translate_float_minimum(struct translator *t, bool max);
void translate_float_sign(struct translator *t, bool negate);
void half_minimum(struct translator *t, bool max, bool ftz, bool nan, bool sign);

bool statement_may_wait(const struct statement *statement);
bool callee_may_wait(const struct statement *statement);
bool body_depends(const struct body *body);
bool statement_is_meeting(const struct statement *at);
CUresult body_read_in_step(struct function *function, struct body *body,
			   struct complaint *complaint);
uint32_t cuts_find(const struct body *body);
uint32_t body_joins(const struct body *body, bool cut);
LLVMValueRef is_in_space(struct translator *t, LLVMValueRef address, enum space space,
			 bool cluster);
uint64_t cache_policy(struct translator *t);
LLVMValueRef intrinsic_plain(struct translator *t, const char *name, LLVMValueRef argument);

#endif /* MEMCAST_PTX_INSTRUCTIONS_H */
