/* SPDX-License-Identifier: MIT
** engine/redist.c: run a redistribution plan on this rank's part.
**
** Each step converts one mesh dimension as the placements' own methods do in
** PyTorch 2.13 (placement_types.py): pad to equal parts,
** communicate, cut the padding off.  The shape a step pads against is the
** plan's, not the tensor's.  A mesh dimension of one rank does nothing at all,
** even where a partial value would be scaled: that is PyTorch's behaviour. */
#include "base/error_shard.h"
#include "engine/engine_int.h"

#include <math.h>
#include "mesh/layout.h"

/* One step, with everything it needs. */
typedef struct Step {
  DtSession *s;
  const DtMesh *mesh;           /* flattened when the step is */
  int mdim;
  int64_t n, me;                /* parts, mine */
  const int64_t *lshape;
  DtPlacement src, dst;
} Step;

/* --- splitting --- */

static DtStatus check_dim (DtSession *s, const DtTensor *t, int dim) {
  int wrapped;
  DT_CHECK(s->cx, dim <= t->m.ndim, DT_E_ASSERT,
           "Sharding dim %d greater than tensor ndim %d", dim, t->m.ndim);
  DT_CHECK(s->cx, t->m.ndim > 0, DT_E_ASSERT,
           "Expected tensor.dim() > 0, got 0");
  return dt_meta_wrap_dim(s->cx, dim, t->m.ndim, &wrapped);
}

static DtStatus strided_part (DtSession *s, DtTensor *t, DtPlacement p,
                              int64_t n, int64_t r, DtTensor **out) {
  int64_t size = t->m.shape[p.dim], k;
  int64_t *idx = DT_NEWN(s->cx, int64_t, size + 1);
  DtStatus st;
  if (idx == NULL) return DT_E_NOMEM;
  k = dt_strided_indices(size, p.u.sf, n, r, idx);
  st = dt_mv_select(s, t, p.dim, k, idx, out);
  dt_free(s->cx, idx);
  return st;
}

DtStatus dt_redist_part (DtSession *s, DtTensor *t, DtPlacement p, int64_t n,
                         int64_t r, DtTensor **out) {
  DtCtx *cx = s->cx;
  DtTensor **parts, *mine;
  int64_t len, off;
  DtStatus st;
  DT_TRY(cx, check_dim(s, t, p.dim));
  if (p.kind == DT_PL_STRIDED) return strided_part(s, t, p, n, r, out);
  if (dt_mv_told(s)) {
    parts = DT_NEWN(cx, DtTensor *, n);
    if (parts == NULL) return DT_E_NOMEM;
    st = dt_mv_chunk(s, t, n, p.dim, parts);
    if (st == DT_OK) {
      st = dt_mv_clone(s, parts[r], out);
      dt_mv_unref_all(s, n, parts);
    }
    dt_free(cx, parts);
    return st;
  }
  dt_shard_size(t->m.shape[p.dim], n, r, &len, &off);
  DT_TRY(cx, dt_mv_narrow(s, t, p.dim, off, len, &mine));
  st = dt_mv_clone(s, mine, out);
  dt_tensor_unref(cx, mine);
  return st;
}

static DtStatus raw_parts (DtSession *s, DtTensor *t, DtPlacement p,
                           int64_t n, DtTensor **out) {
  DtStatus st = DT_OK;
  int64_t i;
  if (p.kind == DT_PL_SHARD) return dt_mv_chunk(s, t, n, p.dim, out);
  for (i = 0; i < n && st == DT_OK; i++)
    st = strided_part(s, t, p, n, i, &out[i]);
  if (st != DT_OK) dt_mv_unref_all(s, i - 1, out);
  return st;
}

DtStatus dt_redist_parts (DtSession *s, DtTensor *t, DtPlacement p, int64_t n,
                          DtTensor **out, int64_t *pad) {
  DtCtx *cx = s->cx;
  DtStatus st;
  int64_t most = 0;
  DT_TRY(cx, check_dim(s, t, p.dim));
  DT_TRY(cx, raw_parts(s, t, p, n, out));
  if (p.kind == DT_PL_SHARD)
    most = (t->m.shape[p.dim] + n - 1) / n;
  else
    for (int64_t i = 0; i < n; i++)
      if (out[i]->m.shape[p.dim] > most) most = out[i]->m.shape[p.dim];
  st = DT_OK;
  for (int64_t i = 0; i < n && st == DT_OK; i++) {
    DtTensor *q = NULL, *c = NULL;
    pad[i] = most - out[i]->m.shape[p.dim];
    if (p.kind == DT_PL_STRIDED) continue;      /* computed, never padded */
    st = dt_mv_pad(s, out[i], p.dim, pad[i], &q);
    if (st == DT_OK) st = dt_mv_contiguous(s, q, &c);
    dt_tensor_unref(cx, q);
    if (st != DT_OK) break;
    dt_tensor_unref(cx, out[i]);
    out[i] = c;
  }
  if (st != DT_OK) dt_mv_unref_all(s, n, out);
  return st;
}

/* --- to Replicate --- */

/* Cut the padding of a gathered tensor. */
static DtStatus unpad_gathered (Step *k, DtTensor *t, int dim, int64_t size,
                                DtTensor **out) {
  DtSession *s = k->s;
  DtTensor *a = NULL, *b = NULL;
  int64_t have;
  DtStatus st;
  if (size % k->n != 0) {
    int64_t extra = (size + k->n - 1) / k->n * k->n - size;
    DT_TRY(s->cx, dt_mv_narrow(s, t, dim, 0, t->m.shape[dim] - extra, &a));
  } else {
    a = dt_tensor_ref(t);
  }
  have = a->m.shape[dim];
  if (have < size)
    st = dt_raise(s->cx, DT_E_RUNTIME,
                  "Expected cond to be True, but got False. (Could this error "
                  "message be improved? If so, please report an enhancement "
                  "request to PyTorch.)");
  else if (have > size)
    st = dt_raise(s->cx, DT_E_RUNTIME,
                  "narrow unexpectedly changed concrete size on dim %d: %lld "
                  "-> %lld", dim, (long long)have, (long long)size);
  else
    st = dt_mv_contiguous(s, a, &b);
  dt_tensor_unref(s->cx, a);
  if (st == DT_OK) *out = b;
  return st;
}

/* A gradient may be declared sharded on a dim that it lacks: found here. */
static DtStatus check_gathered (DtSession *s, const DtTensor *t, int dim) {
  DT_CHECK(s->cx, dim < t->m.ndim, DT_E_INDEX, "list index out of range");
  return DT_OK;
}

static DtStatus gather_shard (Step *k, DtTensor *t, DtTensor **out) {
  DtSession *s = k->s;
  int dim = k->src.dim;
  int64_t size;
  DtTensor *padded = NULL, *all = NULL;
  DtStatus st = DT_OK;
  DT_TRY(s->cx, check_gathered(s, t, dim));
  size = k->lshape[dim];
  if (size % k->n != 0)
    st = dt_mv_pad(s, t, dim, (size + k->n - 1) / k->n - t->m.shape[dim],
                   &padded);
  else
    padded = dt_tensor_ref(t);
  if (st == DT_OK)
    st = dt_coll_all_gather(s, k->mesh, k->mdim, dim, padded, &all);
  if (st == DT_OK) st = unpad_gathered(k, all, dim, size, out);
  dt_tensor_unref(s->cx, padded);
  dt_tensor_unref(s->cx, all);
  return st;
}

/* Where each global index lies in the gathered, padded tensor. */
static DtStatus strided_positions (Step *k, int64_t size, int64_t most,
                                   int64_t *sel) {
  int64_t *idx = DT_NEWN(k->s->cx, int64_t, size + 1);
  if (idx == NULL) return DT_E_NOMEM;
  for (int64_t r = 0; r < k->n; r++) {
    int64_t m = dt_strided_indices(size, k->src.u.sf, k->n, r, idx);
    for (int64_t i = 0; i < m; i++) sel[idx[i]] = r * most + i;
  }
  dt_free(k->s->cx, idx);
  return DT_OK;
}

/* Gather strided shards: parts are padded to the largest, rank 0's, gathered,
** and the elements picked in the order in which the dimension has them. */
static DtStatus gather_strided (Step *k, DtTensor *t, DtTensor **out) {
  DtSession *s = k->s;
  int dim = k->src.dim;
  int64_t size, most, off;
  int64_t *sel;
  DtTensor *padded = NULL, *all = NULL;
  DtStatus st;
  DT_TRY(s->cx, check_gathered(s, t, dim));
  size = k->lshape[dim];
  sel = DT_NEWN(s->cx, int64_t, size + 1);
  if (sel == NULL) return DT_E_NOMEM;
  dt_strided_size(size, k->src.u.sf, k->n, 0, &most, &off);
  st = strided_positions(k, size, most, sel);
  if (st == DT_OK)
    st = dt_mv_pad(s, t, dim, most - t->m.shape[dim], &padded);
  if (st == DT_OK)
    st = dt_coll_all_gather(s, k->mesh, k->mdim, dim, padded, &all);
  if (st == DT_OK) st = dt_mv_select(s, all, dim, size, sel, out);
  dt_tensor_unref(s->cx, padded);
  dt_tensor_unref(s->cx, all);
  dt_free(s->cx, sel);
  return st;
}

static DtStatus gather_dim (Step *k, DtTensor *t, DtTensor **out) {
  return k->src.kind == DT_PL_STRIDED ? gather_strided(k, t, out)
                                      : gather_shard(k, t, out);
}

/* --- partial values --- */

static DtScalar norm_scalar (DtPlacement p) {
  if (p.norm_is_int) return dt_scalar_int((int64_t)p.u.norm);
  return dt_scalar_float(p.u.norm);
}

/* What happens before the sum: p-th power, or masked rows to zero. */
static DtStatus reduce_before (Step *k, DtTensor *t, DtTensor **out) {
  DtSession *s = k->s;
  if (k->src.kind == DT_PL_NORM_PARTIAL)
    return dt_mv_pow(s, t, norm_scalar(k->src), out);
  if (k->src.kind != DT_PL_MASK_PARTIAL) {
    *out = dt_tensor_ref(t);
    return DT_OK;
  }
  return dt_mask_apply(s, k->src.u.mask, t, out);
}

static DtStatus reduce_after (Step *k, DtTensor *t, DtTensor **out) {
  if (k->src.kind == DT_PL_NORM_PARTIAL)
    return dt_mv_pow(k->s, t, dt_scalar_float(1.0 / k->src.u.norm), out);
  *out = dt_tensor_ref(t);
  return DT_OK;
}

static DtStatus reduce_all (Step *k, DtTensor *t, DtTensor **out) {
  DtTensor *a = NULL, *b = NULL;
  DtStatus st;
  DT_TRY(k->s->cx, reduce_before(k, t, &a));
  st = dt_coll_all_reduce(k->s, k->mesh, k->mdim, (DtRedOp)k->src.op, a, &b);
  if (st == DT_OK) st = reduce_after(k, b, out);
  dt_tensor_unref(k->s->cx, a);
  dt_tensor_unref(k->s->cx, b);
  return st;
}

/* Uneven: pad every part, so that all ranks send the same. */
static DtStatus scatter_padded (Step *k, DtTensor *t, DtTensor **out) {
  DtSession *s = k->s;
  int dim = k->dst.dim;
  DtTensor **part = DT_NEWN(s->cx, DtTensor *, k->n);
  int64_t *pad = DT_NEWN(s->cx, int64_t, k->n);
  DtTensor *joined = NULL, *mine = NULL;
  DtStatus st = part && pad ? DT_OK : DT_E_NOMEM;
  if (st == DT_OK) st = dt_redist_parts(s, t, k->dst, k->n, part, pad);
  if (st == DT_OK) {
    st = dt_mv_cat(s, (int)k->n, part, dim, &joined);
    dt_mv_unref_all(s, k->n, part);
  }
  if (st == DT_OK)
    st = dt_coll_reduce_scatter(s, k->mesh, k->mdim, (DtRedOp)k->src.op, dim,
                                joined, &mine);
  if (st == DT_OK && pad[k->me] > 0)
    st = dt_mv_narrow(s, mine, dim, 0, mine->m.shape[dim] - pad[k->me], out);
  else if (st == DT_OK)
    *out = dt_tensor_ref(mine);
  dt_tensor_unref(s->cx, joined);
  dt_tensor_unref(s->cx, mine);
  dt_free(s->cx, part);
  dt_free(s->cx, pad);
  return st;
}

static DtStatus reduce_shard (Step *k, DtTensor *t, DtTensor **out) {
  DtSession *s = k->s;
  DtTensor *a = NULL, *b = NULL;
  int dim;
  DtStatus st;
  DT_TRY(s->cx, reduce_before(k, t, &a));
  if (a->m.ndim == 0)
    st = dt_raise(s->cx, DT_E_INDEX, "Dimension specified as %d but tensor has "
                  "no dimensions", k->dst.dim);
  else
    st = dt_meta_wrap_dim(s->cx, k->dst.dim, a->m.ndim, &dim);
  if (st == DT_OK && a->m.shape[dim] % k->n != 0)
    st = scatter_padded(k, a, &b);
  else if (st == DT_OK)
    st = dt_coll_reduce_scatter(s, k->mesh, k->mdim, (DtRedOp)k->src.op,
                                k->dst.dim, a, &b);
  if (st == DT_OK) st = reduce_after(k, b, out);
  dt_tensor_unref(s->cx, a);
  dt_tensor_unref(s->cx, b);
  return st;
}

DtStatus dt_redist_partition (DtSession *s, DtTensor *t, const DtMesh *m,
                              int mdim, DtPlacement p, DtTensor **out) {
  double n = (double)m->shape[mdim];
  if (p.kind == DT_PL_MASK_PARTIAL)
    return dt_mask_partition(s, t, m, mdim, p, out);
  if (p.kind == DT_PL_NORM_PARTIAL)
    return dt_mv_div(s, t, dt_scalar_float(pow(n, 1.0 / p.u.norm)), out);
  switch (p.op) {
    case DT_OP_SUM:
      return dt_mv_div(s, t, dt_scalar_int(m->shape[mdim]), out);
    case DT_OP_AVG: case DT_OP_MIN: case DT_OP_MAX:
      *out = dt_tensor_ref(t);
      return DT_OK;
    default:
      return dt_raise(s->cx, DT_E_VALUE,
                      "Replicate to Partial(%s) conversion is not supported.",
                      dt_redop_name((DtRedOp)p.op));
  }
}

/* --- Shard to another Shard --- */

/* Shard to shard by all_to_all: both the dimension that is cut now and the one
** that will be are padded to multiples of the group. */
static DtStatus pad_both (Step *k, DtTensor *t, DtTensor **out) {
  DtSession *s = k->s;
  int a = k->src.dim, b = k->dst.dim;
  int64_t sa = k->lshape[a], sb = k->lshape[b];
  DtTensor *x = NULL, *y = NULL;
  DtStatus st = DT_OK;
  if (sa % k->n != 0)
    st = dt_mv_pad(s, t, a, (sa + k->n - 1) / k->n - t->m.shape[a], &x);
  else
    x = dt_tensor_ref(t);
  if (st == DT_OK && sb % k->n != 0)
    st = dt_mv_pad(s, x, b, (sb + k->n - 1) / k->n * k->n - x->m.shape[b],
                   &y);
  else if (st == DT_OK)
    y = dt_tensor_ref(x);
  dt_tensor_unref(s->cx, x);
  if (st == DT_OK) {
    st = dt_mv_contiguous(s, y, out);
    dt_tensor_unref(s->cx, y);
  }
  return st;
}

static DtStatus unpad_both (Step *k, DtTensor *t, DtTensor **out) {
  DtSession *s = k->s;
  int a = k->src.dim, b = k->dst.dim;
  int64_t sa = k->lshape[a], sb = k->lshape[b], len, off;
  DtTensor *x;
  DtStatus st = DT_OK;
  if (sa % k->n != 0)
    DT_TRY(s->cx, dt_mv_narrow(s, t, a, 0, t->m.shape[a] -
                               ((sa + k->n - 1) / k->n * k->n - sa), &x));
  else
    x = dt_tensor_ref(t);
  dt_shard_size(sb, k->n, k->me, &len, &off);
  if (len < (sb + k->n - 1) / k->n) {
    st = dt_mv_narrow(s, x, b, 0, x->m.shape[b] -
                      ((sb + k->n - 1) / k->n - len), out);
    dt_tensor_unref(s->cx, x);
    return st;
  }
  *out = x;
  return DT_OK;
}

/* gloo has no all_to_all: PyTorch gathers everything and keeps its part. */
static DtStatus exchange_cpu (Step *k, DtTensor *t, DtTensor **out) {
  DtSession *s = k->s;
  DtTensor *all = NULL, **part, *c = NULL;
  DtStatus st;
  dt_session_warn(s, "CPU process group does not support alltoall yet, "
                     "falling back with allgather + chunk!");
  DT_TRY(s->cx, dt_coll_all_gather(s, k->mesh, k->mdim, k->src.dim, t, &all));
  part = DT_NEWN(s->cx, DtTensor *, k->n);
  st = part ? dt_mv_chunk(s, all, k->n, k->dst.dim, part) : DT_E_NOMEM;
  if (st == DT_OK) {
    st = dt_mv_contiguous(s, part[k->me], &c);
    dt_mv_unref_all(s, k->n, part);
  }
  dt_free(s->cx, part);
  dt_tensor_unref(s->cx, all);
  if (st == DT_OK) *out = c;
  return st;
}

static DtStatus exchange_shards (Step *k, DtTensor *t, DtTensor **out) {
  DtSession *s = k->s;
  DtTensor *x = NULL, *y = NULL;
  DtStatus st;
  DT_TRY(s->cx, check_dim(s, t, k->src.dim));
  DT_CHECK(s->cx, k->dst.dim < t->m.ndim, DT_E_INDEX,
           "list index out of range");
  DT_TRY(s->cx, pad_both(k, t, &x));
  if (k->mesh->device == DT_DEV_CPU)
    st = exchange_cpu(k, x, &y);
  else
    st = dt_coll_all_to_all(s, k->mesh, k->mdim, k->dst.dim, k->src.dim, x,
                            &y);
  dt_tensor_unref(s->cx, x);
  if (st == DT_OK) {
    st = unpad_both(k, y, out);
    dt_tensor_unref(s->cx, y);
  }
  return st;
}

/* --- one step --- */

static DtStatus refuse_step (Step *k) {
  DtCtx *cx = k->s->cx;
  DtBuf a, b;
  DtStatus st;
  dt_buf_init(&a, cx);
  dt_buf_init(&b, cx);
  dt_pl_print(k->src, &a);
  dt_pl_print(k->dst, &b);
  if (dt_pl_is_partial(k->src))
    st = dt_raise_as(cx, DT_E_REDIST, "AssertionError",
                     "Redistribution from one partial type (%s) to another "
                     "(%s) is unsupported.", dt_buf_str(&a), dt_buf_str(&b));
  else
    st = dt_raise(cx, DT_E_REDIST,
                  "redistribute from %s to %s not supported yet",
                  dt_buf_str(&a), dt_buf_str(&b));
  dt_buf_fini(&a);
  dt_buf_fini(&b);
  return st;
}

/* Through Replicate, then cut: everything that touches a strided shard. */
static DtStatus via_replicate (Step *k, DtTensor *t, DtTensor **out) {
  DtTensor *full = NULL;
  DtStatus st;
  if (dt_pl_is_partial(k->src)) st = reduce_all(k, t, &full);
  else st = gather_dim(k, t, &full);
  if (st == DT_OK)
    st = dt_redist_part(k->s, full, k->dst, k->n, k->me, out);
  dt_tensor_unref(k->s->cx, full);
  return st;
}

/* From a shard to a sum, which plans have only in releases that allow it. */
static bool sum_of_shard (const Step *k) {
  return dt_switch(&k->s->profile, DT_SW_SHARD_TO_PARTIAL) != 0 &&
         dt_pl_is_shard(k->src) &&
         dt_pl_equal(k->dst, dt_pl_partial(DT_OP_SUM));
}

/* Zeros of the whole, with this rank's part where it belongs. */
static DtStatus embed_in_zeros (Step *k, DtTensor *t, DtTensor **out) {
  int d = k->src.dim;
  int64_t len, off;
  dt_shard_size(k->lshape[d], k->n, k->me, &len, &off);
  DT_CHECK(k->s->cx, t->m.shape[d] == len, DT_E_RUNTIME, "Expected cond to be "
           "True, but got False. (Could this error message be improved? If so, "
           "please report an enhancement request to PyTorch.)");
  return dt_mv_embed(k->s, t, d, k->lshape[d], off, out);
}

static DtStatus run_step (Step *k, DtTensor *t, DtTensor **out) {
  bool from_p = dt_pl_is_partial(k->src);
  bool from_r = dt_pl_is_replicate(k->src);
  if (dt_pl_is_replicate(k->dst))
    return from_p ? reduce_all(k, t, out) : gather_dim(k, t, out);
  if (dt_pl_is_partial(k->dst)) {
    if (!from_r && sum_of_shard(k)) return embed_in_zeros(k, t, out);
    if (!from_r) return refuse_step(k);
    return dt_redist_partition(k->s, t, k->mesh, k->mdim, k->dst, out);
  }
  if (from_r) return dt_redist_part(k->s, t, k->dst, k->n, k->me, out);
  if (dt_pl_is_shard(k->dst)) {
    if (from_p) return reduce_shard(k, t, out);
    if (dt_pl_is_shard(k->src)) return exchange_shards(k, t, out);
  }
  return via_replicate(k, t, out);
}

static DtStatus plan_step (DtSession *s, const DtPlan *p, int i, DtTensor *t,
                           DtTensor **out) {
  const DtStep *st = &p->steps[i];
  Step k = { .s = s, .mesh = st->flat ? st->flat : p->src->mesh,
             .mdim = st->flat ? 0 : st->mdim, .lshape = st->lshape,
             .src = st->src, .dst = st->dst };
  DtTensor *x;
  DtStatus rc;
  bool strided = k.src.kind == DT_PL_STRIDED || k.dst.kind == DT_PL_STRIDED;
  DT_CHECK(s->cx, !strided || st->flat == NULL, DT_E_ASSERT,
           "_StridedShard redistribute assumes no flattened transforms");
  k.n = k.mesh->shape[k.mdim];
  k.me = k.mesh->coord[k.mdim];
  if (k.n == 1 || dt_pl_equal(k.src, k.dst)) {
    *out = dt_tensor_ref(t);
    return DT_OK;
  }
  if (st->scale == 1.0 || st->scale == 0.0) return run_step(&k, t, out);
  DT_TRY(s->cx, run_step(&k, t, &x));
  rc = dt_mv_div(s, x, dt_scalar_int((int64_t)st->scale), out);
  dt_tensor_unref(s->cx, x);
  return rc;
}

/* --- the plan --- */

static DtStatus emit_redist (DtSession *s, DtEventKind kind, const DtPlan *p,
                             int step, bool implicit, int slot, DtStatus st) {
  DtEvent e = { .kind = kind, .plan = p, .step = step, .slot = slot,
                .implicit = implicit, .mesh = p->src->mesh, .mdim = -1,
                .status = st };
  return dt_event_emit(s, &e);
}

static DtStatus run_plan (DtSession *s, const DtPlan *p, bool implicit,
                          int slot, DtTensor *local, DtTensor **out) {
  DtTensor *t = dt_tensor_ref(local);
  DtStatus st = DT_OK;
  for (int i = 0; i < p->nsteps && st == DT_OK; i++) {
    DtTensor *next;
    if (dt_session_heard(s))
      st = emit_redist(s, DT_EV_REDIST_STEP, p, i, implicit, slot, DT_OK);
    if (st == DT_OK) st = plan_step(s, p, i, t, &next);
    if (st != DT_OK) break;
    dt_tensor_unref(s->cx, t);
    t = next;
  }
  if (st != DT_OK) dt_tensor_unref(s->cx, t);
  else *out = t;
  return st;
}

DtStatus dt_redist_local (DtSession *s, DtTensor *local, const DtSpec *src,
                          const DtSpec *dst, bool implicit, int slot,
                          DtTensor **out) {
  DtCtx *cx = s->cx;
  DtPlan *p;
  DtStatus st, lst;
  DtTensor *res = NULL;
  DT_CHECK(cx, src->mesh == dst->mesh || dt_mesh_equal(src->mesh, dst->mesh),
           DT_E_NOTIMPL, "Cross device mesh comm not supported yet!");
  DT_TRY(cx, dt_pls_check_partials(cx, src->pl, src->npl));
  DT_TRY(cx, dt_pls_check_partials(cx, dst->pl, dst->npl));
  if (!src->mesh->member) {
    *out = dt_tensor_ref(local);
    return DT_OK;
  }
  DT_TRY(cx, dt_plan_new(cx, s->planner, src, dst, DT_PLAN_AUTO, &p));
  if (p->warning != NULL) dt_session_warn(s, p->warning);
  st = DT_OK;
  if (dt_session_heard(s))
    st = emit_redist(s, DT_EV_REDIST, p, 0, implicit, slot, DT_OK);
  if (st == DT_OK) st = run_plan(s, p, implicit, slot, local, &res);
  if (dt_session_heard(s)) {
    lst = emit_redist(s, DT_EV_REDIST_END, p, 0, implicit, slot, st);
    if (st == DT_OK && lst != DT_OK) {
      dt_tensor_unref(cx, res);
      st = lst;
    }
  }
  if (st == DT_OK) *out = res;
  dt_plan_unref(cx, p);
  return st;
}
