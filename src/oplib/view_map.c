/* SPDX-License-Identifier: MIT
** oplib/view_map.c: how a placement goes through a view.
**
** A view is described by its map: for each output dim, which input dims it
** takes, joins, splits, repeats.  A placement travels in two phases.  First
** `analyze`: which shards the input may keep (others become Replicate, or an
** error when the view is strict), and to which output dims each input dim
** goes.  Then `place`: mesh dim by mesh dim, with the sizes left after the
** earlier ones, each shard gets its output form.  A shard of a dim that is
** not first in a joined group turns into a strided one; splitting again at
** the same factor turns it back.
** Semantics: torch/distributed/tensor/_ops/_view_ops.py, PyTorch 2.13. */
#include "base/sat.h"
#include "compat/text.h"
#include "oplib/oplib_int.h"

#include <math.h>
#include <string.h>

/* ---- building maps ---- */

void op_vm_add (OpViewMap *m, OpViewKind k, int in) {
  OpView *v = &m->v[m->n++];
  memset(v, 0, sizeof *v);
  v->kind = (uint8_t)k;
  if (in >= 0) {
    v->nin = 1;
    v->in[0] = (int8_t)in;
  }
}

DtStatus op_infer_size (DtCtx *cx, int64_t numel, int n, int64_t *shape) {
  OpText text = op_ints_text(n, shape);
  int at = -1;
  int64_t prod = 1;
  for (int i = 0; i < n; i++) {
    if (shape[i] == -1) {
      DT_CHECK(cx, at < 0, DT_E_RUNTIME, "only one dimension can be inferred");
      at = i;
    } else {
      DT_CHECK(cx, shape[i] >= 0, DT_E_RUNTIME,
               "invalid shape dimension %lld at index %d of shape %s",
               (long long)shape[i], i, text.s);
      DT_CHECK(cx, shape[i] == 0 || prod <= INT64_MAX / shape[i],
               DT_E_RUNTIME, "shape '%s' is invalid for input of size %lld",
               text.s, (long long)numel);
      prod *= shape[i];
    }
  }
  if (at >= 0 && prod > 0 && numel % prod == 0) {
    shape[at] = numel / prod;
    return DT_OK;
  }
  DT_CHECK(cx, !(at >= 0 && prod == 0 && numel == 0), DT_E_RUNTIME,
           "cannot reshape tensor of 0 elements into shape %s because the "
           "unspecified dimension size -1 can be any value and is ambiguous",
           text.s);
  DT_CHECK(cx, at < 0 && prod == numel, DT_E_RUNTIME,
           "shape '%s' is invalid for input of size %lld", text.s,
           (long long)numel);
  return DT_OK;
}

/* Append the splits of one group: its input dims (size 0 left out) into the
** sizes to[0..n-1]. */
static void add_group (OpViewMap *m, int nin, const int *in,
                       const int64_t *from, int n, const int64_t *to) {
  OpView base;
  memset(&base, 0, sizeof base);
  for (int i = 0; i < nin; i++)
    if (from[in[i]] >= 1) base.in[base.nin++] = (int8_t)in[i];
  for (int i = 0; i < n; i++) {
    OpView *v = &m->v[m->n++];
    *v = base;
    v->kind = base.nin == 0 ? OV_SINGLETON : base.nin == 1 ? OV_INPUT
                                                           : OV_FLATTEN;
    if (n == 1) continue;
    if (to[i] == 1) {
      v->kind = OV_SINGLETON;
      v->nin = 0;
      continue;
    }
    v->kind = OV_SPLIT;
    for (int k = 0; k < n; k++) {
      if (to[k] == 1) continue;
      if (k == i) v->id = v->ngroup;
      v->group[v->ngroup++] = to[k];
    }
  }
}

/* Grow a group until both sides have the same product. */
static DtStatus grow (DtCtx *cx, int nf, const int64_t *from, int nt,
                      const int64_t *to, int *fi, int *ti, int *in, int *nin,
                      int *nto, int64_t f, int64_t t) {
  while (f != t) {
    bool more_f = *fi < nf, more_t = *ti < nt;
    if (more_f && more_t && f == 0)
      return dt_raise_as(cx, DT_E_RUNTIME, "ZeroDivisionError",
                         "integer modulo by zero");
    if (more_f && (!more_t || t % f == 0 || t > f)) {
      in[(*nin)++] = *fi;
      f *= from[(*fi)++];
    } else if (more_t) {
      t *= to[(*ti)++];
      (*nto)++;
    } else {
      break;
    }
  }
  return DT_OK;
}

/* Groups of dimensions that a view joins or splits: the shortest runs of both shapes
** with equal products, from the left.
** Source: torch/distributed/tensor/_ops/_view_ops.py:view_groups@2.15. */
DtStatus op_vm_groups (DtCtx *cx, int nf, const int64_t *from, int nt,
                       const int64_t *to, OpViewMap *m) {
  int fi = 0, ti = 0;
  m->n = 0;
  while (fi < nf || ti < nt) {
    int in[DT_MAX_NDIM], nin = 0, nto = 0, t0 = ti;
    int64_t f = 1, t = 1;
    bool have_f = fi < nf, have_t = ti < nt;
    if (have_f) {
      f = from[fi];
      in[nin++] = fi++;
    }
    if (have_t) {
      t = to[ti++];
      nto = 1;
    }
    /* a size 1 on one side is its own group; where the other side has
    ** nothing left (empty tensors: PyTorch never returns) the rest is
    ** dropped or new */
    if (f == 1 && t != 1 && have_f) {
      if (have_t) ti--;
      nto = 0;
    } else if (f != 1 && t == 1 && have_t) {
      if (have_f) fi--;
      nin = 0;
    } else if (have_f && have_t) {
      DT_TRY(cx, grow(cx, nf, from, nt, to, &fi, &ti, in, &nin, &nto, f, t));
    }
    if (nto) add_group(m, nin, in, from, nto, to + t0);
  }
  return DT_OK;
}

bool op_view_strides (const DtMeta *m, int n, const int64_t *shape,
                      int64_t *stride) {
  int64_t numel = dt_meta_numel(m);
  if (numel == 0 || m->ndim == 0) {
    int64_t step = 1;
    for (int d = n - 1; d >= 0; d--) {
      stride[d] = step;
      step *= shape[d] > 1 ? shape[d] : 1;
    }
    return true;
  }
  int vd = n - 1;
  int64_t base = m->stride[m->ndim - 1], told = 1, tview = 1;
  for (int d = m->ndim - 1; d >= 0; d--) {
    told *= m->shape[d];
    bool last = d == 0 || (m->shape[d - 1] != 1 &&
                           m->stride[d - 1] != told * base);
    if (!last) continue;
    while (vd >= 0 && (tview < told || shape[vd] == 1)) {
      stride[vd] = tview * base;
      tview *= shape[vd--];
    }
    if (tview != told) return false;
    if (d > 0) {
      base = m->stride[d - 1];
      told = tview = 1;
    }
  }
  return vd == -1;
}

/* ---- a placement on its way ---- */

typedef struct Walk {
  DtCtx *cx;
  const OpViewMap *m;
  const DtMesh *mesh;
  const DtMeta *in;
  const DtPlacement *src;
  bool strict;
  int views;                                    /* DtViewRules */
  bool allowed[DT_MAX_NDIM][DT_MAX_MDIM];
  bool fallback[DT_MAX_NDIM][DT_MAX_MDIM];      /* may be lost quietly */
  bool matched[DT_MAX_MDIM];
  int8_t nto[DT_MAX_NDIM], to[DT_MAX_NDIM][DT_MAX_NDIM];
  bool mapped[DT_MAX_NDIM];
  bool claimed[DT_MAX_NDIM][DT_MAX_NDIM];
  int64_t size[DT_MAX_NDIM];                    /* running local sizes */
} Walk;

static int find_plain (const Walk *w, int dim) {
  for (int i = 0; i < w->mesh->ndim; i++)
    if (w->src[i].kind == DT_PL_SHARD && w->src[i].dim == dim) return i;
  return -1;
}

static void allow (Walk *w, int dim, bool yes) {
  for (int i = 0; i < w->mesh->ndim; i++) w->allowed[dim][i] = yes;
}

/* The factor a strided shard needs to be a shard of this member: what lies
** before it, less what earlier mesh dims cut; -1 when not whole. */
static int64_t expected_sf (const Walk *w, const OpView *v, int dim, int mdim,
                            const DtPlacement *pl) {
  int64_t sf = 1;
  for (int i = 0; i < v->id; i++) sf *= v->group[i];
  for (int i = 0; i < mdim; i++) {
    if (!dt_pl_is_shard_like(pl[i]) || pl[i].dim != dim) continue;
    if (sf % w->mesh->shape[i]) return -1;
    sf /= w->mesh->shape[i];
  }
  return sf;
}

/* Strict views of earlier releases: member `i` of a join, input dim `d`. */
static DtStatus flatten_of_old (Walk *w, int i, int d, int at) {
  int64_t size = w->in->shape[d], cut = w->mesh->shape[at];
  if ((w->views & DT_VIEWS_NO_FLATTEN) == 0) {
    for (int k = 0; k < w->mesh->ndim; k++) w->fallback[d][k] = true;
    return DT_OK;
  }
  DT_CHECK_SAY(w->cx, i == 0, DT_E_RUNTIME, JOIN_INNER, DT_NUM(d));
  DT_CHECK_SAY(w->cx, size % cut == 0, DT_E_RUNTIME, JOIN_UNEVEN, DT_NUM(d),
               DT_NUM(size), DT_NUM(at), DT_NUM(cut));
  return DT_OK;
}

/* Joined dims: the input dim (or dims) that may stay sharded in out[]. */
static DtStatus analyze_flatten (Walk *w, const OpView *v, int *out, int *n) {
  *n = 0;
  for (int i = 0; i < v->nin; i++) {
    int d = v->in[i], at = find_plain(w, d);
    if (at < 0) continue;
    int64_t size = w->in->shape[d], cut = w->mesh->shape[at];
    bool even = size % cut == 0, can = true;
    if (w->strict && w->views == 0) {
      DT_CHECK_SAY(w->cx, i == v->nin - 1 || even, DT_E_RUNTIME, JOIN_UNEVEN,
                   DT_NUM(d), DT_NUM(size), DT_NUM(at), DT_NUM(cut));
      out[(*n)++] = d;
    } else {
      if (w->strict)
        DT_TRY(w->cx, flatten_of_old(w, i, d, at));
      if (i == 0) out[(*n)++] = d;
      can = i == 0 && even;
    }
    allow(w, d, can);
  }
  if (*n == 0) out[(*n)++] = v->in[0];
  return DT_OK;
}

static DtStatus uneven_split (Walk *w, const OpView *v, int at) {
  return DT_SAY(w->cx, DT_E_RUNTIME, SPLIT_UNEVEN, DT_NUM(v->in[0]),
                DT_NUM(v->id), DT_NUM(v->group[v->id]), DT_NUM(at),
                DT_NUM(w->mesh->shape[at]));
}

/* Shards on later members of a joined group cannot pass its split. */
static void drop_later (Walk *w, const OpView *v) {
  for (int i = 1; i < v->nin; i++)
    for (int k = 0; k < w->mesh->ndim; k++)
      if (w->src[k].kind == DT_PL_SHARD && w->src[k].dim == v->in[i]) {
        w->allowed[v->in[i]][k] = false;
        w->fallback[v->in[i]][k] = true;
      }
}

static int find_for_split (const Walk *w, const OpView *v, int dim) {
  for (int i = 0; i < w->mesh->ndim; i++) {
    DtPlacement p = w->src[i];
    if (!dt_pl_is_shard_like(p) || p.dim != dim || w->matched[i]) continue;
    if (p.kind == DT_PL_SHARD || expected_sf(w, v, dim, i, w->src) == p.u.sf)
      return i;
  }
  return -1;
}

/* One piece of a dimension that a view splits.  A shard of the dimension stays
** on the first piece, where the mesh divides it; a strided shard goes to the
** piece whose stride it has, and the last piece takes what is left uneven. */
static DtStatus analyze_split (Walk *w, const OpView *v, int *out, int *n) {
  int tmp[DT_MAX_NDIM], k = 1;
  *n = 0;
  if (v->nin == 0) return DT_OK;
  tmp[0] = v->in[0];
  if (v->nin > 1) {
    DT_TRY(w->cx, analyze_flatten(w, v, tmp, &k));
    drop_later(w, v);
  }
  int d = tmp[0], at = find_for_split(w, v, d);
  int64_t size = v->group[v->id];
  bool last = v->id == v->ngroup - 1;
  if (v->id == 0) {
    for (int i = 0; i < w->mesh->ndim; i++)
      w->allowed[d][i] = size % w->mesh->shape[i] == 0;
    int plain = find_plain(w, d);
    if (w->strict && plain >= 0 && !w->allowed[d][plain])
      return uneven_split(w, v, plain);
    out[(*n)++] = d;
  }
  if (at >= 0 && w->src[at].kind == DT_PL_STRIDED) {
    bool even = size % w->mesh->shape[at] == 0;
    if (w->strict && !last && !even) return uneven_split(w, v, at);
    w->matched[at] = true;
    w->allowed[d][at] = even || last;
  }
  return DT_OK;
}

static void map_to (Walk *w, int dim, int out, bool fresh) {
  if (fresh) w->nto[dim] = 0;
  w->mapped[dim] = true;
  w->to[dim][w->nto[dim]++] = (int8_t)out;
}

static DtStatus analyze_dim (Walk *w, const OpView *v, int o) {
  int d[DT_MAX_NDIM], n = 0;
  switch ((OpViewKind)v->kind) {
    case OV_INPUT:
      map_to(w, v->in[0], o, false);
      break;
    case OV_FLATTEN:
      DT_TRY(w->cx, analyze_flatten(w, v, d, &n));
      for (int i = 0; i < n; i++) map_to(w, d[i], o, true);
      break;
    case OV_SPLIT:
      DT_TRY(w->cx, analyze_split(w, v, d, &n));
      if (n) map_to(w, d[0], o, false);
      else if (v->nin && w->mapped[v->in[0]]) map_to(w, v->in[0], o, false);
      break;
    case OV_REPEAT:
      allow(w, v->in[0], false);
      break;
    default:
      break;
  }
  return DT_OK;
}

/* Phase 1: target placements of the input. */
static DtStatus analyze (Walk *w, DtPlacement *tgt) {
  for (int o = 0; o < w->m->n; o++)
    for (int i = 0; i < w->m->v[o].nin; i++)
      allow(w, w->m->v[o].in[i], true);
  for (int o = 0; o < w->m->n; o++)
    DT_TRY(w->cx, analyze_dim(w, &w->m->v[o], o));
  for (int i = 0; i < w->mesh->ndim; i++) {
    DtPlacement p = w->src[i];
    tgt[i] = p;
    if (!dt_pl_is_shard_like(p) || w->allowed[p.dim][i]) continue;
    DT_CHECK(w->cx, !w->strict || w->fallback[p.dim][i], DT_E_RUNTIME,
             "This operation would remove or reshape sharded dimension %d, "
             "which requires redistribution. Please redistribute the input "
             "first.", p.dim);
    tgt[i] = dt_pl_replicate();
  }
  return DT_OK;
}

/* Output dims of an input dim that no strided shard has claimed. */
static DtStatus targets (Walk *w, int dim, int *out, int *n) {
  *n = 0;
  if (!w->mapped[dim])          /* Python: KeyError */
    return dt_raise(w->cx, DT_E_KEY, "%d", dim);
  for (int i = 0; i < w->nto[dim]; i++)
    if (!w->claimed[dim][w->to[dim][i]]) out[(*n)++] = w->to[dim][i];
  return DT_OK;
}

/* A later mesh dim cuts the same joined range at or after this dim. */
static bool cut_later (const Walk *w, const DtPlacement *pl, int mdim,
                       int start, int end) {
  for (int i = mdim + 1; i < w->mesh->ndim; i++)
    if (dt_pl_is_shard_like(pl[i]) && pl[i].dim >= start &&
        pl[i].dim < end && pl[i].dim >= pl[mdim].dim)
      return true;
  return false;
}

static DtStatus place_plain (Walk *w, const DtPlacement *tgt, int mdim,
                             DtPlacement *out) {
  int t[DT_MAX_NDIM], n, o = -1, d = tgt[mdim].dim;
  DT_TRY(w->cx, targets(w, d, t, &n));
  DT_CHECK(w->cx, n > 0, DT_E_ASSERT,
           "No output dim available for Shard(dim=%d) on mesh dim %d. All "
           "output dims already claimed by earlier mesh dims.", d, mdim);
  for (int i = 0; i < n && o < 0; i++)
    if (n == 1 || (w->m->v[t[i]].kind == OV_SPLIT && w->m->v[t[i]].id == 0))
      o = t[i];
  DT_CHECK(w->cx, o >= 0, DT_E_ASSERT,
           "No Split(split_id=0) found among unclaimed output dims for "
           "Shard(dim=%d) on mesh dim %d.", d, mdim);
  const OpView *v = &w->m->v[o];
  *out = dt_pl_shard(o);
  if (v->kind == OV_FLATTEN) {
    int start = v->in[0], end = v->in[v->nin - 1] + 1;
    int64_t sf = 1;
    for (int i = start; i < d; i++) sf *= w->size[i];
    if (d != start) *out = dt_pl_strided(o, sf);
    DT_CHECK(w->cx, w->size[d] % w->mesh->shape[mdim] == 0 ||
                    !cut_later(w, tgt, mdim, start, end), DT_E_RUNTIME,
             "Cannot shard unevenly distributed tensor: dimension %d (size "
             "%lld) is not evenly divisible by mesh dimension %d (size %lld). "
             "Please redistribute the tensor before this operation.", d,
             (long long)w->size[d], mdim, (long long)w->mesh->shape[mdim]);
  }
  w->size[d] /= w->mesh->shape[mdim];
  return DT_OK;
}

/* An output dim where a strided shard can stay strided, -1. */
static int keep_strided (const Walk *w, DtPlacement p, int mdim, int n,
                         const int *t) {
  int64_t total = dt_sat_mul(w->mesh->shape[mdim], p.u.sf), size = w->in->shape[p.dim];
  if (total == 0 || size % total) return -1;
  for (int i = 0; i < n; i++) {
    const OpView *v = &w->m->v[t[i]];
    if (v->kind != OV_SPLIT) continue;
    int64_t inner = 1, chunk = size / total;
    bool found = false;
    for (int k = v->id + 1; k < v->ngroup; k++) inner *= v->group[k];
    for (int k = 0; v->nin > 1 && k < v->nin; k++) {
      if (found) chunk *= w->in->shape[v->in[k]];
      found |= v->in[k] == p.dim;
    }
    if (inner && chunk >= inner && chunk % inner == 0) return t[i];
  }
  return -1;
}

static DtStatus place_strided (Walk *w, const DtPlacement *tgt, int mdim,
                               DtPlacement *out) {
  int t[DT_MAX_NDIM], n;
  DtPlacement p = tgt[mdim];
  DT_TRY(w->cx, targets(w, p.dim, t, &n));
  int64_t n_here = w->mesh->shape[mdim];
  bool split = false;
  for (int i = 0; i < n; i++) {
    const OpView *v = &w->m->v[t[i]];
    if (v->kind != OV_SPLIT) continue;
    split = true;
    if (expected_sf(w, v, p.dim, mdim, tgt) != p.u.sf) continue;
    w->claimed[p.dim][t[i]] = true;
    w->size[p.dim] /= n_here;
    *out = dt_pl_shard(t[i]);
    return DT_OK;
  }
  int o = keep_strided(w, p, mdim, n, t);
  if (o < 0) {
    DT_CHECK(w->cx, !(w->strict && split), DT_E_RUNTIME,
             "Cannot unflatten tensor with _StridedShard placement: "
             "split_factor=%lld does not match any output dimension. This "
             "typically means the _StridedShard placement was constructed "
             "with a split_factor that is incompatible with the unflatten "
             "shape. Please redistribute the tensor before this operation.",
             (long long)p.u.sf);
    DT_CHECK(w->cx, n > 0, DT_E_ASSERT,
             "No unclaimed output dims for _StridedShard(dim=%d) on mesh dim "
             "%d.", p.dim, mdim);
    o = t[0];
  }
  w->size[p.dim] /= n_here;
  *out = dt_pl_strided(o, p.u.sf);
  return DT_OK;
}

DtStatus op_vm_strategy (DtStratCall *c, const OpViewMap *m, bool strict) {
  Walk w;
  DtPlacement tgt[OP_MAXPL], out[OP_MAXPL];
  const DtSpec *s = c->in[0];
  memset(&w, 0, sizeof w);
  w.cx = c->cx;
  w.m = m;
  w.mesh = c->mesh;
  w.in = &s->meta;
  w.src = s->pl;
  w.strict = strict;
  w.views = strict ? c->views : 0;
  for (int i = 0; i < c->mesh->ndim; i++)
    DT_CHECK(c->cx, !dt_pl_is_shard_like(s->pl[i]) ||
                    (s->pl[i].dim >= 0 && s->pl[i].dim < s->meta.ndim),
             DT_E_KEY, "%d", s->pl[i].dim);
  memcpy(w.size, s->meta.shape, sizeof(int64_t) * s->meta.ndim);
  DT_TRY(c->cx, analyze(&w, tgt));
  for (int i = 0; i < c->mesh->ndim; i++) {
    out[i] = tgt[i];
    if (tgt[i].kind == DT_PL_SHARD)
      DT_TRY(c->cx, place_plain(&w, tgt, i, &out[i]));
    else if (tgt[i].kind == DT_PL_STRIDED)
      DT_TRY(c->cx, place_strided(&w, tgt, i, &out[i]));
  }
  dt_strat_real_strides(c);
  return op_s_one(c, out, tgt, NAN);
}
