/* SPDX-License-Identifier: MIT */
/*
 * Modifiers that are no types: of PTX 9.0, without those that only instructions of textures, tensor
 * maps and tcgen05 have.
 */
#ifndef MEMCAST_PTX_MODIFIER_H
#define MEMCAST_PTX_MODIFIER_H

#include "text.h"

#define PTX_MODIFIERS(M) \
	M(a, "a") M(c, "c") M(d, "d") M(load, "load") M(store, "store") M(abs, "abs") \
	M(acc__f32, "acc::f32") M(acc__f16, "acc::f16") M(acq_rel, "acq_rel") \
	M(acquire, "acquire") M(add, "add") M(after, "after") M(aligned, "aligned") \
	M(all, "all") M(alias, "alias") M(all__b_smem, "all::b_smem") M(and, "and") \
	M(any, "any") M(approx, "approx") M(arrive, "arrive") M(arrive_drop, "arrive_drop") \
	M(arrive_one, "arrive_one") M(async, "async") M(async__generic, "async::generic") \
	M(atomic, "atomic") M(b, "b") M(b16x16, "b16x16") M(b4x16, "b4x16") \
	M(b4x16_p64, "b4x16_p64") M(b6x16_p32, "b6x16_p32") M(b8x16, "b8x16") \
	M(ballot, "ballot") M(bar_one, "bar_one") M(bfly, "bfly") M(bulk, "bulk") \
	M(bulk_group, "bulk_group") M(bar, "bar") M(x, "x") M(ca, "ca") M(cas, "cas") \
	M(cc, "cc") M(cg, "cg") M(cluster, "cluster") M(col, "col") M(commit, "commit") \
	M(commit_group, "commit_group") M(complete_tx, "complete_tx") M(compute, "compute") \
	M(cp, "cp") M(cp_mask, "cp_mask") M(cs, "cs") M(cta, "cta") \
	M(cta_group__1, "cta_group::1") M(cta_group__2, "cta_group::2") M(cv, "cv") \
	M(cvt, "cvt") M(clamp, "clamp") M(common, "common") \
	M(const, "const") M(dec, "dec") M(dense, "dense") \
	M(down, "down") M(release_all, "release_all") M(eq, "eq") M(equ, "equ") M(exch, "exch") \
	M(expect_tx, "expect_tx") M(exit, "exit") M(evict_first, "evict_first") \
	M(evict_last, "evict_last") M(evict_normal, "evict_normal") \
	M(evict_unchanged, "evict_unchanged") M(enter, "enter") M(f4e, "f4e") M(b4e, "b4e") \
	M(rc8, "rc8") M(ecl, "ecl") M(ecr, "ecr") M(rc16, "rc16") M(finite, "finite") \
	M(first, "first") M(fractional, "fractional") M(from, "from") M(ftz, "ftz") \
	M(full, "full") M(footprint, "footprint") M(fetch, "fetch") M(ge, "ge") M(geu, "geu") \
	M(global, "global") M(gpu, "gpu") M(gt, "gt") M(gtu, "gtu") M(gl, "gl") M(h, "h") \
	M(hi, "hi") M(hs, "hs") M(idx, "idx") M(im2col, "im2col") M(im2col__w, "im2col::w") \
	M(im2col_no_offs, "im2col_no_offs") M(immediate, "immediate") \
	M(im2col__w__128, "im2col::w::128") M(inc, "inc") M(infinite, "infinite") \
	M(init, "init") M(inval, "inval") M(kind__f8f6f4, "kind::f8f6f4") \
	M(kind__mxf8f6f4, "kind::mxf8f6f4") M(kind__mxf4, "kind::mxf4") \
	M(kind__mxf4nvf4, "kind::mxf4nvf4") M(L1, "L1") M(L2, "L2") \
	M(L1__evict_first, "L1::evict_first") M(L1__evict_last, "L1::evict_last") \
	M(L1__evict_normal, "L1::evict_normal") M(L1__evict_unchanged, "L1::evict_unchanged") \
	M(L1__no_allocate, "L1::no_allocate") M(L2__128B, "L2::128B") M(L2__256B, "L2::256B") \
	M(L2__64B, "L2::64B") M(L2__cache_hint, "L2::cache_hint") \
	M(L2__evict_first, "L2::evict_first") M(L2__evict_last, "L2::evict_last") \
	M(L2__evict_normal, "L2::evict_normal") M(L2__evict_unchanged, "L2::evict_unchanged") \
	M(le, "le") M(leu, "leu") M(lo, "lo") M(local, "local") M(ls, "ls") M(lt, "lt") \
	M(ltu, "ltu") M(lu, "lu") M(m16n16, "m16n16") M(m16n8k128, "m16n8k128") \
	M(m16n8k16, "m16n8k16") M(m16n8k256, "m16n8k256") M(m16n8k32, "m16n8k32") \
	M(m16n8k4, "m16n8k4") M(m16n8k64, "m16n8k64") M(m16n8k8, "m16n8k8") M(m8n16, "m8n16") \
	M(m8n32k16, "m8n32k16") M(m32n8k16, "m32n8k16") M(m8n32k32, "m8n32k32") M(m8n8, "m8n8") \
	M(m8n8k128, "m8n8k128") M(m8n8k16, "m8n8k16") M(m8n8k32, "m8n8k32") M(m8n8k4, "m8n8k4") \
	M(m16n16k16, "m16n16k16") M(m16n16k8, "m16n16k8") M(m8n8k64, "m8n8k64") \
	M(m16n8k48, "m16n8k48") M(max, "max") M(mbarrier__arrive__one, "mbarrier::arrive::one") \
	M(mbarrier__complete_tx__bytes, "mbarrier::complete_tx::bytes") \
	M(mbarrier_init, "mbarrier_init") M(min, "min") M(mmio, "mmio") \
	M(multicast, "multicast") M(multicast__cluster, "multicast::cluster") M(mask, "mask") \
	M(mbarrier__complete_tx__bytes__multicast__cluster__all, "mbarrier::complete_tx::bytes::multicast::cluster::all") \
	M(nan, "nan") M(NaN, "NaN") M(nc, "nc") M(ne, "ne") M(neu, "neu") \
	M(no_allocate, "no_allocate") M(noComplete, "noComplete") M(noftz, "noftz") \
	M(noinc, "noinc") M(normal, "normal") M(notanumber, "notanumber") M(num, "num") \
	M(number, "number") M(none, "none") M(oob, "oob") M(or, "or") \
	M(pack, "pack") M(l, "l") M(mbarrier, "mbarrier") M(ld_reduce, "ld_reduce") \
	M(param, "param") M(parity, "parity") M(pending_count, "pending_count") M(po, "po") \
	M(popc, "popc") M(proxy, "proxy") M(param__entry, "param::entry") \
	M(param__func, "param::func") M(prefetch, "prefetch") M(rand, "rand") M(range, "range") \
	M(read, "read") M(red, "red") M(reduce, "reduce") M(relaxed, "relaxed") \
	M(release, "release") M(relu, "relu") M(rm, "rm") M(rmi, "rmi") M(rn, "rn") \
	M(rna, "rna") M(rni, "rni") M(row, "row") M(rp, "rp") M(rpi, "rpi") M(rs, "rs") \
	M(rz, "rz") M(rzi, "rzi") M(sat, "sat") M(satfinite, "satfinite") M(sc, "sc") \
	M(shared, "shared") M(shared__cta, "shared::cta") M(shared__cluster, "shared::cluster") \
	M(shfl, "shfl") M(shiftamt, "shiftamt") M(shr15, "shr15") M(shr7, "shr7") M(sp, "sp") \
	M(sp__ordered_metadata, "sp::ordered_metadata") M(st, "st") M(subnormal, "subnormal") \
	M(sync, "sync") M(sync_restrict__shared__cluster, "sync_restrict::shared::cluster") \
	M(sync_restrict__shared__cta, "sync_restrict::shared::cta") M(sys, "sys") M(sup, "sup") \
	M(tensor, "tensor") M(tensormap, "tensormap") \
	M(tensormap__generic, "tensormap::generic") M(test_wait, "test_wait") \
	M(texmode, "texmode") M(thread, "thread") M(to, "to") M(trans, "trans") \
	M(transa, "transa") M(transb, "transb") M(trap, "trap") M(try_wait, "try_wait") \
	M(tile, "tile") M(tile__gather4, "tile::gather4") M(tile__scatter4, "tile::scatter4") \
	M(uc__pack, "uc::pack") M(uni, "uni") M(up, "up") M(v2, "v2") \
	M(v4, "v4") M(v8, "v8") M(volatile, "volatile") M(wait, "wait") \
	M(wait_all, "wait_all") M(wait_group, "wait_group") M(warp, "warp") M(wb, "wb") \
	M(weak, "weak") M(wide, "wide") M(wrap, "wrap") M(wt, "wt") M(x1, "x1") M(x2, "x2") \
	M(x4, "x4") M(xor, "xor") M(xorsign, "xorsign") M(1d, "1d") M(2d, "2d") M(3d, "3d") \
	M(4d, "4d") M(5d, "5d") M(r, "r") M(cta__1, "cta::1") \
	M(fill, "fill") M(zero, "zero") M(one, "one") M(block_scale, "block_scale") \
	M(scale_vec__1X, "scale_vec::1X") M(scale_vec__2X, "scale_vec::2X") \
	M(scale_vec__4X, "scale_vec::4X") M(mma, "mma") M(ld, "ld") \
	M(satfinite__f, "satfinite::f") M(block, "block") M(id__cluster, "id::cluster") \
	M(size_in_bytes, "size_in_bytes") M(launch_dependents, "launch_dependents") \
	M(wait_prior, "wait_prior") M(bytes, "bytes") \
	M(proxy__async, "proxy::async") M(cluster__all, "cluster::all") \
	M(release__cta, "release::cta") M(spilled, "spilled") M(cta_group, "cta_group") \
	M(valid, "valid") M(m16n8, "m16n8")

enum modifier {
	MOD_NONE,
#define M(id, text) MOD_##id,
	PTX_MODIFIERS(M)
#undef M
	MODIFIERS
};

enum modifier modifier_of_word(const struct word *word);	/* ".sat"; MOD_NONE: not known */

#endif /* MEMCAST_PTX_MODIFIER_H */
