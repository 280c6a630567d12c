/* SPDX-License-Identifier: MIT
** diag/rules_cut.c: a part that was cut out of a plain tensor, or left a
** distributed one by to_local, and is given to from_local for another part
** than it is: cut along one dimension and called a shard of another, or the
** piece of another rank.  Pieces that an all_gather brings together are noted
** for who joins them.
**
** Views say where they lie in what they were cut from; copies of them are
** noted, too.  Nothing is sent: each rank knows what it cut and what it is to
** hold. */
#include <string.h>
#include "base/hash.h"
#include "diag/diag_int.h"
#include "mesh/layout.h"

static const DtPart *cut_find (const DtDiag *g, const DtVar *v) {
  int i, n = g->ncuts < DT_RECENT ? g->ncuts : DT_RECENT;
  for (i = n - 1; i >= 0; i--)
    if (dt_part_is(&g->cut[i], v->local)) return &g->cut[i];
  return NULL;
}

const DtPart *dt_diag_cut_of (const DtDiag *g, const DtVar *v) {
  const DtPart *p = g->ncuts > 0 ? cut_find(g, v) : NULL;
  return p && !p->left ? p : NULL;
}

uint32_t dt_diag_cut_dims (const DtDiag *g, const DtVar *v) {
  const DtPart *p = g->ncuts > 0 ? cut_find(g, v) : NULL;
  uint32_t dims = 0;
  int d;
  for (d = 0; p && !p->left && d < p->ndim; d++)
    if (p->len[d] < p->shape[d]) dims |= UINT32_C(1) << d;
  return dims;
}

static void cut_add (DtDiag *g, const DtVar *v, const DtPart *p) {
  dt_part_note(&g->cut[g->ncuts++ % DT_RECENT], p, v->local);
  if (g->ncuts == 2 * DT_RECENT) g->ncuts = DT_RECENT;
}

/* Where `t` lies in `whole`, of which it is a view with the same strides. */
static bool place_in (const DtTensor *whole, const DtTensor *t, DtPart *p) {
  int64_t rest = t->offset - whole->offset, last = INT64_MAX;
  bool less = false;
  int d;
  if (t->m.ndim != whole->m.ndim || t->m.ndim == 0 || rest < 0) return false;
  memset(p, 0, sizeof *p);
  p->ndim = t->m.ndim;
  for (d = 0; d < p->ndim; d++) {
    int64_t step = whole->m.stride[d];
    if (t->m.stride[d] != step || step <= 0 || step > last ||
        t->m.shape[d] == 0) return false;
    last = step;
    p->shape[d] = whole->m.shape[d];
    p->len[d] = t->m.shape[d];
    p->off[d] = rest / step;
    if (p->off[d] + p->len[d] > p->shape[d]) return false;
    rest -= p->off[d] * step;
    less = less || p->len[d] < p->shape[d];
  }
  return rest == 0 && less;
}

static void cut_made (DtDiag *g, const DtEvent *e) {
  const DtPart *of;
  DtPart p;
  int i, d;
  if (e->status != DT_OK || e->backward || e->nin != 1 || e->in[0] == NULL ||
      e->in[0]->spec) return;
  for (i = 0; i < e->nout; i++) {
    if (e->out[i] == NULL || !place_in(e->in[0]->local, e->out[i]->local, &p))
      continue;
    of = cut_find(g, e->in[0]);         /* a part of a part */
    for (d = 0; of && !of->left && d < p.ndim; d++) {
      p.shape[d] = of->shape[d];
      p.off[d] += of->off[d];
    }
    cut_add(g, e->out[i], &p);
  }
}

/* A copy lies where what was copied lies. */
static void cut_copied (DtDiag *g, const DtEvent *e) {
  const DtPart *p;
  DtPart same;
  if (e->status != DT_OK || e->nin != 1 || e->nout != 1 ||
      e->in[0] == NULL || e->out[0] == NULL || e->in[0]->spec ||
      (p = cut_find(g, e->in[0])) == NULL) return;
  same = *p;
  cut_add(g, e->out[0], &same);
}

enum { SPLITS = sizeof ((DtDiag *)0)->split_spec / sizeof (DtSpec *) };

void dt_diag_splits_free (DtDiag *g) {
  for (int i = 0; i < SPLITS; i++) {
    dt_spec_unref(g->s->cx, g->split_spec[i]);
    g->split_spec[i] = NULL;
  }
  g->nsplit = 0;
}

/* Does more than one mesh dimension cut one dimension of the tensor? */
static bool is_split_again (const DtSpec *s) {
  for (int m = 1; m < s->npl; m++)
    for (int k = 0; k < m; k++)
      if (dt_pl_is_shard_like(s->pl[m]) && dt_pl_is_shard_like(s->pl[k]) &&
          s->pl[m].dim == s->pl[k].dim && s->mesh->shape[m] > 1 &&
          s->mesh->shape[k] > 1) return true;
  return false;
}

/* The spec of a part that left a tensor cut again; NULL: of another. */
static const DtSpec *split_of (const DtDiag *g, const DtPart *p) {
  for (int i = 0; p->left && i < SPLITS; i++)
    if (g->split_spec[i] && g->split_spec[i]->hash == p->spec) return g->split_spec[i];
  return NULL;
}

static void keep_split (DtDiag *g, const DtSpec *s, const DtPart *p) {
  DtSpec **to = &g->split_spec[g->nsplit % SPLITS];
  if (!is_split_again(s) || split_of(g, p)) return;
  dt_spec_unref(g->s->cx, *to);
  *to = dt_spec_ref(s);
  g->nsplit++;
}

/* Where the part of the rank at `coord` lies; false: not in one piece. */
static bool part_at (DtDiag *g, const DtSpec *s, const int64_t *coord, DtPart *p) {
  DtCtx *cx = g->s->cx;
  DtArenaMark top = dt_arena_mark(&cx->scratch);
  bool whole = true;
  memset(p, 0, sizeof *p);
  p->ndim = s->meta.ndim;
  p->whole = s->hash;
  for (int d = 0; d < p->ndim && whole; d++) {
    int64_t *at = NULL, n = 0;
    if (dt_layout_indices(cx, s, coord, d, &at, &n) != DT_OK) {
      dt_error_clear(cx);
      whole = false;
      break;
    }
    whole = n > 0 && at[n - 1] - at[0] == n - 1;
    p->shape[d] = s->meta.shape[d];
    p->off[d] = whole ? at[0] : 0;
    p->len[d] = n;
  }
  dt_arena_release(&cx->scratch, top);
  return whole;
}

/* Shards of a tensor that is cut again are not in the order of the ranks: each piece
** is where its rank's coordinate puts it. */
static void gathered_split (DtDiag *g, const DtSpec *s, const DtMesh *mesh, int mdim,
                            const DtVar *piece, int64_t i) {
  int64_t coord[DT_MAX_MDIM];
  int *ranks = DT_NEWN(g->s->cx, int, mesh->shape[mdim]);
  DtPart p;
  if (ranks == NULL) {
    dt_error_clear(g->s->cx);
    return;
  }
  dt_mesh_group(mesh, mdim, mesh->my_rank, ranks);
  if (dt_mesh_coord_of(s->mesh, ranks[i], coord) && part_at(g, s, coord, &p) &&
      p.ndim == piece->local->m.ndim &&
      memcmp(p.len, piece->local->m.shape, (size_t)p.ndim * sizeof p.len[0]) == 0)
    dt_diag_part_add(g, piece, &p);
  dt_free(g->s->cx, ranks);
}

/* The local tensor of shards that nobody sums: where it lies in the whole. */
static void cut_left (DtDiag *g, const DtEvent *e) {
  const DtSpec *s;
  DtPart p;
  bool less = false;
  if (e->op != NULL || e->status != DT_OK || e->backward || e->nin < 1 ||
      e->nout < 1 || e->in[0] == NULL || e->out[0] == NULL ||
      (s = e->in[0]->spec) == NULL || e->out[0]->spec || !s->has_meta ||
      !s->mesh->member || s->npl != s->mesh->ndim || dt_diag_partial(s) ||
      s->meta.ndim != e->out[0]->local->m.ndim ||
      strcmp(e->text, "dtensor.to_local") != 0) return;
  for (int m = 0; m < s->npl; m++)
    if (dt_pl_is_partial(s->pl[m])) return;
  if (!part_at(g, s, NULL, &p) ||
      memcmp(p.len, e->out[0]->local->m.shape, (size_t)p.ndim * sizeof p.len[0]) != 0)
    return;
  p.whole = 0;
  p.left = true;
  p.spec = s->hash;
  for (int d = 0; d < p.ndim; d++) less = less || p.len[d] < p.shape[d];
  if (!less) return;
  keep_split(g, s, &p);
  cut_add(g, e->out[0], &p);
}

/* Is the tensor cut along dim `d` and no other? */
static bool cut_along (const DtPart *p, int d) {
  int k;
  for (k = 0; k < p->ndim; k++)
    if ((p->len[k] < p->shape[k]) != (k == d)) return false;
  return true;
}

void dt_diag_sent_after (DtDiag *g, const DtVar *v, const DtVar *before,
                         const char *kind) {
  const DtPart *p = g->ncuts > 0 ? cut_find(g, before) : NULL;
  const DtPart *q = g->ncuts > 0 ? cut_find(g, v) : NULL;
  DtBuf b;
  int d;
  if (!g->on || p == NULL || q == NULL || p->ndim != q->ndim ||
      p->storage != q->storage ||
      memcmp(p->shape, q->shape, (size_t)p->ndim * sizeof p->shape[0]) != 0)
    return;
  for (d = 0; d < p->ndim && !cut_along(p, d); d++) ;
  if (d == p->ndim || !cut_along(q, d) || q->off[d] >= p->off[d]) return;
  dt_buf_init(&b, g->s->cx);
  dt_buf_addf(&b, "a rank gets what begins at %lld of dim %d, the one before it "
              "what begins at %lld", (long long)q->off[d], d,
              (long long)p->off[d]);
  if (!b.oom) dt_diag_tell(g, DT_FIND_ID_PART_ORDER, NULL, kind, dt_buf_str(&b));
  dt_buf_fini(&b);
}

void dt_diag_gathered (DtDiag *g, const DtVar *mine, const DtMesh *mesh,
                       int mdim, const DtVar *piece, int64_t i) {
  const int64_t n = mesh->shape[mdim], me = mesh->coord[mdim];
  const DtSpec *s;
  const DtPart *p;
  DtPart other;
  int d;
  if (g->on) {
    dt_diag_where_gathered(g, mine, piece, i - me, n);
    dt_diag_stale_gathered(g, mine, piece);
  }
  if (!g->on || g->ncuts == 0 || mine->spec || piece->spec ||
      (p = cut_find(g, mine)) == NULL ||
      p->ndim != piece->local->m.ndim) return;
  if ((s = split_of(g, p)) != NULL) {
    gathered_split(g, s, mesh, mdim, piece, i);
    return;
  }
  for (d = 0; d < p->ndim && !cut_along(p, d); d++) ;
  if (d == p->ndim || p->len[d] * n != p->shape[d] ||
      p->off[d] != me * p->len[d]) return;
  other = *p;
  other.off[d] = i * p->len[d];
  other.whole = dt_hash_u64(DT_HASH_SEED, (uint64_t)d);
  for (d = 0; d < p->ndim; d++)
    other.whole = dt_hash_u64(other.whole, (uint64_t)p->shape[d]);
  dt_diag_part_add(g, piece, &other);
}

static void report_cut_view (DtDiag *g, const DtEvent *e, const DtPart *p,
                             int d, const char *what) {
  const DtSpec *s = e->out[0]->spec;
  DtBuf whole, now;
  dt_buf_init(&whole, g->s->cx);
  dt_buf_init(&now, g->s->cx);
  dt_buf_add_i64s(&whole, p->shape, p->ndim);
  dt_spec_print(s, &now);
  dt_diag_add(g, e, DT_FIND_ID_WRONG_PART, e->in[0], 0, NULL,
              "this rank %s %lld to %lld of dim %d of %s and %s: %s",
              p->left ? "had" : "cut",
              (long long)p->off[d], (long long)(p->off[d] + p->len[d] - 1), d,
              dt_buf_str(&whole), what, dt_buf_str(&now));
  dt_buf_fini(&whole);
  dt_buf_fini(&now);
}

static bool sharded_on (const DtSpec *s, int d) {
  int m;
  for (m = 0; m < s->npl; m++)
    if (dt_pl_is_shard_like(s->pl[m]) && s->pl[m].dim == d) return true;
  return false;
}

/* Cut along one dim by mesh dim `m`, called a shard of another.  Where the
** whole of the cut was a part itself, another mesh dim may have cut it. */
static bool other_dim (DtDiag *g, const DtEvent *e, const DtPart *p, int m) {
  const DtSpec *s = e->out[0]->spec;
  const int64_t n = s->mesh->shape[m], at = s->mesh->coord[m];
  int d;
  if (!dt_pl_is_shard(s->pl[m]) || n < 2) return false;
  for (d = 0; d < p->ndim; d++) {
    int64_t step = (p->shape[d] + n - 1) / n, end = (at + 1) * step;
    if (sharded_on(s, d) || !cut_along(p, d) || p->off[d] != at * step ||
        p->off[d] + p->len[d] != (end < p->shape[d] ? end : p->shape[d]))
      continue;
    report_cut_view(g, e, p, d, "calls it a shard of another dimension");
    return true;
  }
  return false;
}

/* The same whole, but the piece of another rank. */
static void other_place (DtDiag *g, const DtEvent *e, const DtPart *p) {
  const DtSpec *s = e->out[0]->spec;
  int64_t shape[DT_MAX_NDIM], off[DT_MAX_NDIM];
  int n = 0, d;
  if (p->ndim != s->meta.ndim ||
      memcmp(p->shape, s->meta.shape, (size_t)p->ndim * sizeof p->shape[0]))
    return;
  if (dt_layout_local(g->s->cx, s, NULL, shape, off, &n) != DT_OK) {
    dt_error_clear(g->s->cx);
    return;
  }
  for (d = 0; d < n; d++)
    if (shape[d] == p->len[d] && shape[d] > 0 && off[d] != p->off[d]) break;
  if (d < n) report_cut_view(g, e, p, d, "is to hold another part of");
  dt_diag_claim(g, e, DT_FIND_ID_WRONG_PART, false, s->mesh, -1, e->in[0],
                d < n ? 3 : 1, "is it the part that was cut for this rank");
}

/* It was not cut, but made of this rank's part of a dimension, as local_map() makes it,
** and called a shard of another.  Only where the mesh has all ranks: another dimension
** of it may have cut that part otherwise.  In a dimension of one item the ranks' results
** stand beside each other, as stack() does it. */
static void made_of_part (DtDiag *g, const DtEvent *e) {
  const DtSpec *s = e->out[0]->spec;
  const DtPlace *w = dt_diag_place(g, e->in[0]);
  DtFact facts[2] = { { false, 0 }, { true, DT_HASH_SEED } };
  DtBuf b;
  const char *what, *name = dt_diag_name(g, e->in[0]);
  if (w == NULL || w->kind != DT_PLACE_PART || w->moved || w->items || w->first_len ||
      w->step > 1 || s->npl != 1 || !dt_pl_is_shard(s->pl[0]) || s->pl[0].dim < 0 ||
      s->pl[0].dim == w->dim || s->mesh->shape[0] != dt_session_size(g->s) ||
      w->dim >= e->in[0]->local->m.ndim || w->len < 1 ||
      s->pl[0].dim >= e->in[0]->local->m.ndim ||
      e->in[0]->local->m.shape[s->pl[0].dim] == 1 ||
      e->in[0]->local->m.shape[w->dim] != w->len ||
      w->len * s->mesh->shape[0] != w->whole || w->off != w->len * s->mesh->coord[0])
    return;
  facts[0].hash = w->where;
  facts[1].hash = dt_hash_u64(DT_HASH_SEED, (uint64_t)w->dim);
  dt_buf_init(&b, g->s->cx);
  dt_buf_addf(&b, "it has what each rank made of its part of dim %d, and is called a "
              "shard of dim %d", w->dim, s->pl[0].dim);
  if ((what = dt_diag_intern(g, &b)) != NULL)
    dt_diag_claim_all(g, e, DT_FIND_ID_WRONG_PART, s->mesh, 0, DT_SALT_MADE_OF_PART, 2,
                      facts, *name ? name : dt_diag_name(g, e->out[0]), what);
}

/* A part of what was cut goes back into a distributed tensor: it must be said
** to be a shard of the dimension and the place that it came from.  Only direct
** calls count (nfunc): inside a function of the library it is the library's
** business. */
static void from_local (DtDiag *g, const DtEvent *e) {
  const DtPart *p;
  const DtSpec *s;
  int m;
  if (e->op != NULL || e->status != DT_OK || e->backward ||
      g->nfunc > 0 || e->nin < 1 || e->nout < 1 || e->in[0] == NULL ||
      e->out[0] == NULL || strcmp(e->text, "dtensor.from_local") != 0 ||
      (s = e->out[0]->spec) == NULL || !s->mesh->member || !s->has_meta ||
      s->npl != s->mesh->ndim) return;
  if ((p = g->ncuts > 0 ? cut_find(g, e->in[0]) : NULL) == NULL) {
    made_of_part(g, e);
    return;
  }
  for (m = 0; m < s->npl; m++)
    if (other_dim(g, e, p, m)) return;
  other_place(g, e, p);
}

const DtDiagRule dt_rules_cut[] = {
  { DT_EV_OP_END, cut_copied, dt_diag_clones, DT_WHEN(ncuts) },
  { DT_EV_OP_END, cut_made, dt_diag_view, 0 },
  { DT_EV_FUNC_END, cut_left, NULL, DT_CALLED(TO_LOCAL) },
  { DT_EV_FUNC_END, from_local, NULL, DT_CALLED(FROM_LOCAL) },
  { 0, NULL, NULL, 0 }
};
