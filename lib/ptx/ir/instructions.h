/* SPDX-License-Identifier: MIT */
/*
 * All instructions of PTX 9.0, sorted: name, what makes IR of it (NULL: memcast lacks it), least
 * and most operands, flags
 */
#ifndef MEMCAST_PTX_INSTRUCTIONS_H
#define MEMCAST_PTX_INSTRUCTIONS_H

#include "ir.h"

#define PTX_INSTRUCTIONS(O) \
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
	O("clusterlaunchcontrol", NULL, 0, 16, OPCODE_NO_CHECK) \
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
	O("istypep", NULL, 0, 16, OPCODE_NO_CHECK) \
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
	O("suld", NULL, 0, 16, OPCODE_NO_CHECK) \
	O("suq", NULL, 0, 16, OPCODE_NO_CHECK) \
	O("sured", NULL, 0, 16, OPCODE_NO_CHECK) \
	O("sust", NULL, 0, 16, OPCODE_NO_CHECK) \
	O("szext", translate_szext, 3, 3, OPCODE_TYPED) \
	O("tanh", translate_tanh, 2, 2, OPCODE_TYPED) \
	O("tcgen05", NULL, 0, 16, OPCODE_NO_CHECK) \
	O("tensormap", NULL, 0, 16, OPCODE_NO_CHECK) \
	O("testp", translate_testp, 2, 2, OPCODE_TYPED) \
	O("tex", NULL, 0, 16, OPCODE_NO_CHECK) \
	O("tld4", NULL, 0, 16, OPCODE_NO_CHECK) \
	O("trap", translate_trap, 0, 0, OPCODE_ENDS) \
	O("txq", NULL, 0, 16, OPCODE_NO_CHECK) \
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
	O("wgmma", NULL, 0, 16, OPCODE_NO_CHECK) \
	O("wmma", translate_wmma, 2, 4, OPCODE_WAITS) \
	O("xor", translate_xor, 3, 3, OPCODE_TYPED)

void translate_abs(struct translator *t);
void translate_activemask(struct translator *t);
void translate_add(struct translator *t);
void translate_addc(struct translator *t);
void translate_and(struct translator *t);
void translate_atom(struct translator *t);
void translate_bar(struct translator *t);
void translate_bfe(struct translator *t);
void translate_bfi(struct translator *t);
void translate_bfind(struct translator *t);
void translate_bmsk(struct translator *t);
void translate_bra(struct translator *t);
void translate_brev(struct translator *t);
void translate_brkpt(struct translator *t);
void translate_brx(struct translator *t);
void translate_call(struct translator *t);
void translate_clz(struct translator *t);
void translate_cnot(struct translator *t);
void translate_copysign(struct translator *t);
void translate_cos(struct translator *t);
void translate_cp(struct translator *t);
void translate_createpolicy(struct translator *t);
void translate_cvt(struct translator *t);
void translate_cvta(struct translator *t);
void translate_div(struct translator *t);
void translate_dp(struct translator *t);
void translate_elect(struct translator *t);
void translate_ex2(struct translator *t);
void translate_exit(struct translator *t);
void translate_fence(struct translator *t);
void translate_fma(struct translator *t);
void translate_fns(struct translator *t);
void translate_getctarank(struct translator *t);
void translate_isspacep(struct translator *t);
void translate_ld(struct translator *t);
void translate_ldmatrix(struct translator *t);
void translate_lg2(struct translator *t);
void translate_lop3(struct translator *t);
void translate_mad(struct translator *t);
void translate_mad24(struct translator *t);
void translate_madc(struct translator *t);
void translate_mapa(struct translator *t);
void translate_match(struct translator *t);
void translate_max(struct translator *t);
void translate_mbarrier(struct translator *t);
void translate_min(struct translator *t);
void translate_mma(struct translator *t);
void translate_mov(struct translator *t);
void translate_movmatrix(struct translator *t);
void translate_mul(struct translator *t);
void translate_mul24(struct translator *t);
void translate_multimem(struct translator *t);
void translate_nanosleep(struct translator *t);
void translate_neg(struct translator *t);
void translate_not(struct translator *t);
void translate_nothing(struct translator *t);
void translate_or(struct translator *t);
void translate_popc(struct translator *t);
void translate_prmt(struct translator *t);
void translate_rcp(struct translator *t);
void translate_red(struct translator *t);
void translate_redux(struct translator *t);
void translate_rem(struct translator *t);
void translate_return(struct translator *t);
void translate_rsqrt(struct translator *t);
void translate_sad(struct translator *t);
void translate_selp(struct translator *t);
void translate_set(struct translator *t);
void translate_setp(struct translator *t);
void translate_shf(struct translator *t);
void translate_shfl(struct translator *t);
void translate_shl(struct translator *t);
void translate_shr(struct translator *t);
void translate_sin(struct translator *t);
void translate_slct(struct translator *t);
void translate_sqrt(struct translator *t);
void translate_st(struct translator *t);
void translate_stack(struct translator *t);
void translate_stmatrix(struct translator *t);
void translate_sub(struct translator *t);
void translate_subc(struct translator *t);
void translate_szext(struct translator *t);
void translate_tanh(struct translator *t);
void translate_testp(struct translator *t);
void translate_trap(struct translator *t);
void translate_video(struct translator *t);
void translate_video_simd(struct translator *t);
void translate_vote(struct translator *t);
void translate_wmma(struct translator *t);
void translate_xor(struct translator *t);

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
uint32_t cuts_find(const struct body *body);
uint32_t body_joins(const struct body *body, bool cut);
LLVMValueRef is_in_space(struct translator *t, LLVMValueRef address, enum space space,
			 bool cluster);
uint64_t cache_policy(struct translator *t);
LLVMValueRef intrinsic_plain(struct translator *t, const char *name, LLVMValueRef argument);

#endif /* MEMCAST_PTX_INSTRUCTIONS_H */
