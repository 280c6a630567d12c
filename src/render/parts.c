/* SPDX-License-Identifier: MIT
** render/parts.c: the parts of a distributed tensor, from its spec alone.
**
** Plain shards are one run; strided ones are several, found from the indices
** the layout gives.  Of a long strided dimension only its length is said, for
** its indices would have to be listed one by one. */
#include "render/parts.h"

#include <string.h>
#include "mesh/layout.h"

enum { MAX_LIST = 1 << 20 };

static bool strided_dim (const DtSpec *s, int d) {
  int m, n = 0;
  for (m = 0; m < s->npl; m++) {
    if (!dt_pl_is_shard_like(s->pl[m]) || s->pl[m].dim != d) continue;
    if (s->pl[m].kind == DT_PL_STRIDED) return true;
    n++;
  }
  return n > 1;                 /* the order of shards may interleave */
}

static DtStatus one_run (DtCtx *cx, DtParts *ps, DtPart *p, int d,
                         int64_t from, int64_t n) {
  p->run[d] = DT_ANEWN(cx, &ps->arena, DtIdxRun, 1);
  if (p->run[d] == NULL) return DT_E_NOMEM;
  p->run[d][0] = (DtIdxRun){ from, from + n };
  p->nrun[d] = n > 0 ? 1 : 0;
  return DT_OK;
}

static DtStatus many_runs (DtCtx *cx, DtParts *ps, DtPart *p, int d) {
  DtArenaMark top = dt_arena_mark(&cx->scratch);
  int64_t *idx, n, i;
  int k = 0;
  DtStatus st = dt_layout_indices(cx, ps->spec, p->coord, d, &idx, &n);
  for (i = 0; st == DT_OK && i < n; i++)
    if (i == 0 || idx[i] != idx[i - 1] + 1) k++;
  if (st == DT_OK) {
    p->run[d] = DT_ANEWN(cx, &ps->arena, DtIdxRun, k + 1);
    if (p->run[d] == NULL) st = DT_E_NOMEM;
  }
  for (i = 0, k = 0; st == DT_OK && i < n; i++) {
    if (i == 0 || idx[i] != idx[i - 1] + 1)
      p->run[d][k++] = (DtIdxRun){ idx[i], idx[i] };
    p->run[d][k - 1].to = idx[i] + 1;
  }
  p->nrun[d] = k;
  dt_arena_release(&cx->scratch, top);
  return st;
}

static DtStatus read_part (DtCtx *cx, DtParts *ps, int rank, DtPart *p) {
  const DtSpec *s = ps->spec;
  int64_t off[DT_MAX_NDIM] = { 0 };
  int d, nd;
  memset(p, 0, sizeof *p);
  if (!dt_mesh_coord_of(s->mesh, rank, p->coord))
    return dt_raise(cx, DT_E_INTERNAL, "rank %d is not in its mesh", rank);
  DT_TRY(cx, dt_layout_local(cx, s, p->coord, p->shape, off, &nd));
  for (d = 0; d < s->meta.ndim; d++) {
    if (p->shape[d] == 0) p->empty = true;
    if (strided_dim(s, d) && s->meta.shape[d] <= MAX_LIST)
      DT_TRY(cx, many_runs(cx, ps, p, d));
    else
      DT_TRY(cx, one_run(cx, ps, p, d, p->shape[d] ? off[d] : 0,
                         p->shape[d]));
  }
  return DT_OK;
}

/* Partial ranks hold different addends of the same part: not folded. */
static bool same_part (const DtParts *ps, const DtPart *a, const DtPart *b) {
  const DtSpec *s = ps->spec;
  int d, m;
  if (a->empty != b->empty) return false;
  for (m = 0; m < s->npl && m < s->mesh->ndim; m++)
    if (dt_pl_is_partial(s->pl[m]) && a->coord[m] != b->coord[m])
      return false;
  for (d = 0; d < s->meta.ndim; d++) {
    if (a->nrun[d] != b->nrun[d] || a->shape[d] != b->shape[d]) return false;
    if (!a->empty && a->nrun[d] > 0 &&
        memcmp(a->run[d], b->run[d], (size_t)a->nrun[d] * sizeof (DtIdxRun)))
      return false;
  }
  return true;
}

static DtStatus add_part (DtCtx *cx, DtParts *ps, int rank, int nranks) {
  DtPart p;
  int i;
  DT_TRY(cx, read_part(cx, ps, rank, &p));
  for (i = 0; i < ps->n && !same_part(ps, &ps->part[i], &p); i++) ;
  if (i == ps->n) {
    p.rank = DT_ANEWN(cx, &ps->arena, int, nranks);
    if (p.rank == NULL) return DT_E_NOMEM;
    ps->part[ps->n++] = p;
  }
  ps->part[i].rank[ps->part[i].nrank++] = rank;
  return DT_OK;
}

/* Sharded dimensions are worth drawing; then the last ones. */
static void pick_dims (DtParts *ps) {
  const DtSpec *s = ps->spec;
  int pick[2], n = 0, m, d, k;
  for (d = 0; d < s->meta.ndim && n < 2; d++)
    for (m = 0; m < s->npl; m++)
      if (dt_pl_is_shard_like(s->pl[m]) && s->pl[m].dim == d) {
        pick[n++] = d;
        break;
      }
  for (d = s->meta.ndim - 1; d >= 0 && n < 2; d--) {
    for (k = 0; k < n && pick[k] != d; k++) ;
    if (k == n) pick[n++] = d;
  }
  ps->d0 = ps->d1 = -1;
  if (n == 1) ps->d1 = pick[0];
  if (n == 2) {
    ps->d0 = pick[0] < pick[1] ? pick[0] : pick[1];
    ps->d1 = pick[0] < pick[1] ? pick[1] : pick[0];
  }
}

DtStatus dt_parts_new (DtCtx *cx, const DtSpec *s, DtParts *out) {
  int64_t *ranks;
  int i, n;
  DtStatus st = DT_OK;
  memset(out, 0, sizeof *out);
  out->spec = s;
  out->nranks = dt_mesh_size(s->mesh);
  out->cut = out->nranks > DT_PARTS_MAX;
  n = out->cut ? DT_PARTS_MAX : (int)out->nranks;
  pick_dims(out);
  ranks = DT_NEWN(cx, int64_t, out->nranks);
  out->part = DT_ANEWN(cx, &out->arena, DtPart, n);
  if (ranks == NULL || out->part == NULL) st = DT_E_NOMEM;
  else dt_mesh_ranks(s->mesh, ranks);
  for (i = 0; i < n && st == DT_OK; i++)
    st = add_part(cx, out, (int)ranks[i], n);
  dt_free(cx, ranks);
  if (st != DT_OK) dt_parts_fini(cx, out);
  return st;
}

void dt_parts_fini (DtCtx *cx, DtParts *p) {
  dt_arena_fini(cx, &p->arena);
  p->n = 0;
}

void dt_parts_ranks (int n, const int *rank, DtBuf *b) {
  int i = 0, k;
  while (i < n) {
    for (k = i; k + 1 < n && rank[k + 1] == rank[k] + 1; k++) ;
    dt_buf_addf(b, i ? ", %d" : "%d", rank[i]);
    if (k > i) dt_buf_addf(b, k > i + 1 ? "-%d" : ", %d", rank[k]);
    i = k + 1;
  }
}

/* Do both hold the same elements? */
static bool same_place (const DtParts *ps, const DtPart *a, const DtPart *b) {
  for (int d = 0; d < ps->spec->meta.ndim; d++)
    if (a->nrun[d] != b->nrun[d] ||
        memcmp(a->run[d], b->run[d], (size_t)a->nrun[d] * sizeof (DtIdxRun)))
      return false;
  return true;
}

void dt_parts_behind (const DtParts *ps, int n, const int *part, DtBuf *b) {
  for (int i = 0; i < n; i++) {
    const DtPart *p = &ps->part[part[i]];
    int k = 0;
    while (k < i && !same_place(ps, &ps->part[part[k]], p)) k++;
    if (k < i) continue;        /* drawn with part k */
    if (i) dt_buf_add(b, " / ");
    dt_parts_ranks(p->nrank, p->rank, b);
    for (k = i + 1; k < n; k++) {
      const DtPart *q = &ps->part[part[k]];
      if (!same_place(ps, p, q)) continue;
      dt_buf_add(b, " + ");
      dt_parts_ranks(q->nrank, q->rank, b);
    }
  }
}

void dt_parts_coord (const DtParts *ps, const DtPart *p, DtBuf *b) {
  const DtMesh *m = ps->spec->mesh;
  int64_t c[DT_MAX_MDIM], block = 1;
  bool all[DT_MAX_MDIM] = { false };
  for (int i = 1; i < p->nrank; i++)
    if (dt_mesh_coord_of(m, p->rank[i], c))
      for (int d = 0; d < m->ndim; d++)
        if (c[d] != p->coord[d]) all[d] = true;
  for (int d = 0; d < m->ndim; d++) if (all[d]) block *= m->shape[d];
  if (block != p->nrank) {
    dt_buf_addf(b, "%d ranks", p->nrank);
    return;
  }
  for (int d = 0; d < m->ndim; d++) {
    dt_buf_add(b, d ? ", " : "(");
    if (all[d]) dt_buf_addc(b, '*');
    else dt_buf_addf(b, "%lld", (long long)p->coord[d]);
  }
  dt_buf_add(b, m->ndim == 1 ? ",)" : ")");
}

void dt_parts_runs (const DtPart *p, int dim, DtBuf *b) {
  int i;
  for (i = 0; i < p->nrun[dim]; i++)
    dt_buf_addf(b, i ? " %lld:%lld" : "%lld:%lld",
                (long long)p->run[dim][i].from, (long long)p->run[dim][i].to);
}
