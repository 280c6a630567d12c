/* SPDX-License-Identifier: MIT
** debug/dump_check.c: is an entry that was read from a file one that could have
** been recorded?  Commands trust the record as they trust their own memory, and
** a file may come from anybody. */
#include <string.h>
#include "debug/dump.h"

static bool is_countable (int n, const int64_t *shape) {
  int64_t all = 1;
  bool empty = false, over = false;
  for (int i = 0; i < n; i++) {
    if (shape[i] < 0) return false;
    empty = empty || shape[i] == 0;
    over = over || __builtin_mul_overflow(all, shape[i], &all);
  }
  return empty || !over;
}

static bool sound_meta (const DtMeta *m) {
  return m->dtype < DT_DTYPE_NONE && m->device < DT_NDEVICES &&
         m->ndim <= DT_MAX_NDIM && is_countable(m->ndim, m->shape);
}

static bool sound_placement (const DtPlacement *p, int ndim) {
  if (p->kind > DT_PL_NORM_PARTIAL) return false;
  if (dt_pl_is_shard_like(*p))
    return p->dim >= 0 && p->dim < ndim &&
           (p->kind != DT_PL_STRIDED || p->u.sf >= 1);
  return !dt_pl_is_partial(*p) || p->op < DT_NREDOPS;
}

static bool sound_order (const DtShardOrder *o, int ndim, int nmesh) {
  for (int i = 0; i < o->n; i++) {
    if (o->e[i].tdim < 0 || o->e[i].tdim >= ndim) return false;
    for (int k = 0; k < o->e[i].n; k++)
      if (o->e[i].mdims[k] < 0 || o->e[i].mdims[k] >= nmesh) return false;
  }
  return true;
}

bool dt_dump_sound_spec (const DtMesh *mesh, int n, const DtPlacement *pl,
                         const DtMeta *meta, const DtShardOrder *order) {
  int ndim = meta ? meta->ndim : DT_MAX_NDIM;
  if (n > mesh->ndim || (meta && !sound_meta(meta))) return false;
  for (int i = 0; i < n; i++)
    if (!sound_placement(&pl[i], ndim)) return false;
  return order == NULL || sound_order(order, ndim, mesh->ndim);
}

static bool sound_var (const DtRecVar *v) {
  if (v->none) return true;
  if (!sound_meta(v->meta) || v->offset < 0 ||
      !is_countable(v->lndim, v->lshape)) return false;
  return v->spec == NULL ||
         (v->spec->has_meta && dt_meta_same_shape(v->meta, &v->spec->meta));
}

static bool sound_value (const DtValue *v, int nin) {
  switch (v->kind) {
    case DT_V_DTYPE: return v->u.i >= 0 && v->u.i <= DT_DTYPE_NONE;
    case DT_V_DEVICE: return v->u.i >= 0 && v->u.i < DT_NDEVICES;
    case DT_V_LAYOUT: return v->u.i >= 0 && v->u.i < DT_NLAYOUTS;
    case DT_V_MEMFMT: return v->u.i >= 0 && v->u.i < DT_NMEMFMTS;
    case DT_V_TENSOR: return v->u.slot >= 0 && v->u.slot < nin;
    case DT_V_LIST:
      for (int i = 0; i < v->u.list.n; i++)
        if (!sound_value(&v->u.list.v[i], nin)) return false;
      return true;
    default: return true;
  }
}

static bool sound_args (const DtRecOp *r) {
  if (r->args.nslots < 0 || r->args.nslots > r->nin) return false;
  for (int i = 0; i < r->args.n; i++)
    if (!sound_value(&r->args.v[i], r->nin)) return false;
  return true;
}

/* Of one tensor, with a source and parts that are there; dimensions are asked
** again by who runs it. */
static bool sound_raw (const DtRecOp *r) {
  const DtRecRaw *w = r->raw;
  int64_t n;
  if (r->nin != 1 || r->nout != 1 || r->in[0].none || r->out[0].none ||
      w->mdim < 0 || w->mdim >= w->mesh->ndim) return false;
  n = w->mesh->shape[w->mdim];
  for (int i = 0; i < w->nsplit; i++)
    if (w->in_split[i] < 0 || w->out_split[i] < 0) return false;
  return w->dim >= -DT_MAX_NDIM && w->dim <= DT_MAX_NDIM &&
         w->dim2 >= -DT_MAX_NDIM && w->dim2 <= DT_MAX_NDIM && w->root >= 0 &&
         w->root < n && (w->nsplit == 0 || w->nsplit == n);
}

/* Are the numbers of an operator read from a file such that nothing that uses
** them can reach outside: counts within their arrays, lists where counts say
** so, placements within the mesh?  A file may be damaged or made by hand. */
bool dt_dump_sound (const DtRecOp *r) {
  for (int i = 0; i < r->nin; i++)
    if (!sound_var(&r->in[i])) return false;
  for (int i = 0; i < r->nout; i++)
    if (!sound_var(&r->out[i])) return false;
  for (int i = 0; i < r->ncoll; i++)
    if (r->coll[i].slot < -1 || r->coll[i].slot >= r->nin) return false;
  for (int i = 0; i < r->nmove; i++) {
    const DtRecMove *m = &r->move[i];
    if (m->slot < -1 || m->slot >= r->nin || m->nsteps < 0 || m->coll < 0 ||
        m->ncoll < 0 || m->coll > r->ncoll || m->ncoll > r->ncoll - m->coll)
      return false;
  }
  if (r->raw && !sound_raw(r)) return false;
  return r->seq >= 0 && (r->seq > 0 || r->op == NULL) && r->depth >= 0 &&
         sound_args(r);
}
