/* SPDX-License-Identifier: MIT
** kernel/advindex.c: advanced indexing (index, index_put), and the places of
** a mask.
**
** The index tensors are broadcast to one shape; for each of its points, in
** row-major order, the place they name together is computed once, in bytes.
** What remains of the tensor at such a place (the dims indexed by ':') is a
** block, copied or accumulated by an iterator prepared once. */

#include <string.h>
#include "kernel/kernel_int.h"

typedef struct Adv {
  DtMeta points;                /* broadcast shape of the indices, i64 */
  int64_t *place;               /* byte offset into the tensor, per point */
  DtMeta block_t, block_o;      /* the ':' dims in the tensor and the other */
  DtMeta points_o;              /* the index dims in the other */
} Adv;

static DtStatus broadcast_all (DtCtx *cx, int n, const DtTensor *const *index,
                               DtMeta *out) {
  DtMeta m = {.dtype = DT_I64};
  for (int d = 0; d < n; d++) {
    if (index[d] == NULL) continue;
    DtMeta b;
    DT_TRY(cx, dt_meta_broadcast(cx, &m, &index[d]->m, &b));
    dt_meta_copy(&m, &b);
  }
  dt_meta_copy(out, &m);
  return DT_OK;
}

/* The first point, in order, with an index that does not fit. */
typedef struct Misfit { int64_t point, index, size; int dim; } Misfit;

/* Add what the indices of dim d contribute to each point's place; `rank`
** counts the dims that have indices, and is what an error names. */
static void add_places (Adv *v, const DtTensor *t, int d, int rank,
                        const DtTensor *index, Misfit *bad) {
  const DtMeta *metas[2] = {&v->points, &index->m};
  void *data[2] = {v->place, (void *)(uintptr_t)dt_tensor_cdata(index)};
  int64_t step = t->m.stride[d] * (int64_t)dt_dtype_size((DtDtype)t->m.dtype);
  int64_t size = t->m.shape[d];
  DtIter it;
  dt_iter_init(&it, 2, metas, data);
  for (; !it.done; dt_iter_next(&it))
    for (int64_t k = 0; k < it.n; k++) {
      int64_t i, *place = (int64_t *)(it.ptr[0] + k * it.inner[0]);
      dt_run_load(DT_CL_I64, &i, (DtDtype)index->m.dtype,
                  it.ptr[1] + k * it.inner[1], 0, 1);
      if (i >= -size && i < size)
        *place += (i < 0 ? i + size : i) * step;
      else if (bad->point < 0 || place - v->place < bad->point)
        *bad = (Misfit){place - v->place, i, size, rank};
    }
}

static void push_dim (DtMeta *m, int64_t n, int64_t stride) {
  m->shape[m->ndim] = n;
  m->stride[m->ndim++] = stride;
}

/* `o`: the tensor on the other side, of the result's shape (broadcast for
** the values of index_put). */
static void split_dims (Adv *v, const DtTensor *t, int n,
                        const DtTensor *const *index, int at,
                        const DtTensor *o) {
  DtMeta bt = {.dtype = t->m.dtype}, bo = {.dtype = o->m.dtype};
  DtMeta po = {.dtype = o->m.dtype};
  int nd = t->m.ndim, np = v->points.ndim, free_dims = nd;
  for (int d = 0; d < n; d++) free_dims -= index[d] != NULL;
  int lead = free_dims + np - o->m.ndim;        /* dims that o lacks */
  for (int d = 0, r = 0; d < nd; d++) {
    if (d < n && index[d] != NULL) continue;
    int od = (r < at ? r : r + np) - lead;
    bool walks = od >= 0 && o->m.shape[od] != 1;
    push_dim(&bt, t->m.shape[d], t->m.stride[d]);
    push_dim(&bo, t->m.shape[d], walks ? o->m.stride[od] : 0);
    r++;
  }
  for (int p = 0; p < np; p++) {
    int od = at + p - lead;
    bool walks = od >= 0 && o->m.shape[od] != 1;
    push_dim(&po, v->points.shape[p], walks ? o->m.stride[od] : 0);
  }
  v->block_t = bt;
  v->block_o = bo;
  v->points_o = po;
}

/* Whether a dim with an index is empty. */
static bool any_empty (const DtTensor *t, int n, const DtTensor *const *index) {
  for (int d = 0; d < n; d++)
    if (index[d] != NULL && t->m.shape[d] == 0) return true;
  return false;
}

static DtStatus adv_init (DtCtx *cx, Adv *v, const DtTensor *t, int n,
                          const DtTensor *const *index, int at,
                          const DtTensor *o) {
  DT_TRY(cx, broadcast_all(cx, n, index, &v->points));
  v->place = DT_NEWN(cx, int64_t, dt_meta_numel(&v->points));
  if (v->place == NULL) return DT_E_NOMEM;
  Misfit bad = {.point = -1};
  for (int d = 0, rank = 0; d < n; d++)
    if (index[d] != NULL) add_places(v, t, d, rank++, index[d], &bad);
  /* PyTorch looks at the sizes first: where a dim is empty, no index is named. */
  DT_CHECK(cx, bad.point < 0 || !any_empty(t, n, index), DT_E_INDEX,
           "index is out of bounds for dimension with size 0");
  DT_CHECK(cx, bad.point < 0, DT_E_INDEX,
           "index %lld is out of bounds for dimension %d with size %lld",
           (long long)bad.index, bad.dim, (long long)bad.size);
  split_dims(v, t, n, index, at, o);
  return DT_OK;
}

/* What to do with one block. */
typedef struct Mode {
  bool accumulate;
  DtDtype dst, src;
} Mode;

/* One element of any class. */
typedef union Num { float f; double d; uint64_t i; DtC128 z; } Num;

static void add_num (DtClass c, Num *b, const Num *a) {
  switch (c) {
    case DT_CL_F32: b->f += a->f; break;
    case DT_CL_F64: b->d += a->d; break;
    case DT_CL_I64: b->i += a->i; break;
    case DT_CL_C128: b->z += a->z; break;
  }
}

static void move_run (const Mode *m, char *d, int64_t ds, const char *s,
                      int64_t ss, int64_t n) {
  if (!m->accumulate && m->dst == m->src) {
    dt_run_move(dt_dtype_size(m->dst), d, ds, s, ss, n);
    return;
  }
  DtClass c = dt_class_of(m->dst);
  for (int64_t i = 0; i < n; i++) {
    Num a, b;
    dt_run_load(c, &b, m->src, s + i * ss, 0, 1);
    if (m->accumulate) {
      dt_run_load(c, &a, m->dst, d + i * ds, 0, 1);
      add_num(c, &b, &a);
    }
    dt_run_store(c, &b, m->dst, d + i * ds, 0, 1);
  }
}

/* Walk points and blocks; the destination is the other side for index (`get`)
** and the tensor for index_put. */
static void adv_run (const Adv *v, char *t, char *o, bool get,
                     const Mode *mode) {
  const DtMeta *pm[2] = {&v->points, &v->points_o};
  void *pd[2] = {v->place, o};
  const DtMeta *bm[2] = {get ? &v->block_o : &v->block_t,
                         get ? &v->block_t : &v->block_o};
  void *bd[2] = {get ? o : t, get ? t : o};
  DtIter points, block;
  dt_iter_init(&block, 2, bm, bd);
  if (block.done) return;
  dt_iter_init(&points, 2, pm, pd);
  for (; !points.done; dt_iter_next(&points))
    for (int64_t k = 0; k < points.n; k++) {
      DtIter it = block;
      char *pt = t + *(int64_t *)(points.ptr[0] + k * points.inner[0]);
      char *po = points.ptr[1] + k * points.inner[1];
      it.ptr[0] = get ? po : pt;
      it.ptr[1] = get ? pt : po;
      for (; !it.done; dt_iter_next(&it))
        move_run(mode, it.ptr[0], it.inner[0], it.ptr[1], it.inner[1], it.n);
    }
}

DtStatus dt_k_index (DtCtx *cx, const DtTensor *a, int nindex,
                     const DtTensor *const *index, int at, DtTensor *out) {
  void *o;
  const void *p = NULL;
  Adv v = {.place = NULL};
  Mode mode = {false, (DtDtype)out->m.dtype, (DtDtype)a->m.dtype};
  DT_TRY(cx, dt_kernel_data(cx, out, &o, 1, &a, &p));
  DtStatus st = adv_init(cx, &v, a, nindex, index, at, out);
  if (st == DT_OK && o != NULL && p != NULL)
    adv_run(&v, (char *)(uintptr_t)p, o, true, &mode);
  dt_free(cx, v.place);
  return st;
}

DtStatus dt_k_index_put (DtCtx *cx, DtTensor *dst, int nindex,
                         const DtTensor *const *index, int at,
                         const DtTensor *values, bool accumulate) {
  void *d;
  const void *p = NULL;
  Adv v = {.place = NULL};
  Mode mode = {accumulate, (DtDtype)dst->m.dtype, (DtDtype)values->m.dtype};
  DT_TRY(cx, dt_kernel_data(cx, dst, &d, 1, &values, &p));
  DtStatus st = adv_init(cx, &v, dst, nindex, index, at, values);
  if (st == DT_OK && d != NULL && p != NULL)
    adv_run(&v, d, (char *)(uintptr_t)p, false, &mode);
  dt_free(cx, v.place);
  return st;
}

static bool is_nonzero (DtScalar v) {
  return v.kind < DT_K_FLOAT ? v.i != 0 : v.re != 0 || v.im != 0;
}

DtStatus dt_k_nonzero (DtCtx *cx, const DtTensor *a, DtTensor *out) {
  void *o;
  const void *p = NULL;
  int64_t index[DT_MAX_NDIM] = {0}, row = 0, rows = out->m.shape[0];
  int nd = a->m.ndim;
  DT_TRY(cx, dt_kernel_data(cx, out, &o, 1, &a, &p));
  while (o != NULL && p != NULL && row < rows) {
    if (is_nonzero(dt_tensor_get(a, index))) {
      for (int d = 0; d < nd; d++)
        ((int64_t *)o)[row * out->m.stride[0] + d * out->m.stride[1]] =
          index[d];
      row++;
    }
    int d = nd - 1;
    for (; d >= 0 && ++index[d] == a->m.shape[d]; d--) index[d] = 0;
    if (d < 0) break;
  }
  return DT_OK;
}
