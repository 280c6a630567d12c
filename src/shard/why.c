/* SPDX-License-Identifier: MIT
** shard/why.c: the table of candidates, copied out of a decision for those
** who ask why.  Bytes are counted by planning each redistribution; many
** candidates share one, so it is remembered per input and placements. */
#include <string.h>
#include "shard/prop_int.h"

enum { BYTES_MEMO = 512 };

typedef struct Memo {
  int n;
  struct { int input; const DtPlacement *pl; int64_t bytes; } e[BYTES_MEMO];
} Memo;

static int64_t input_bytes (const DtSheet *s, Memo *m, int i,
                            const DtPlacement *pl) {
  int64_t bytes;
  int k;
  if (s->d->in[i]->npl != s->ndim || i >= s->d->npos) return 0;
  for (k = 0; k < m->n; k++)
    if (m->e[k].input == i && dt_pls_equal(m->e[k].pl, pl, s->ndim))
      return m->e[k].bytes;
  bytes = dt_decide_bytes(s->d, i, pl);
  if (m->n < BYTES_MEMO) {
    m->e[m->n].input = i;
    m->e[m->n].pl = pl;
    m->e[m->n].bytes = bytes;
    m->n++;
  }
  return bytes;
}

enum { WHY_MASKS = 16 };

static DtStatus keep_mask (DtCtx *cx, DtWhy *w, DtPlacement *p) {
  int i;
  if (p->kind != DT_PL_MASK_PARTIAL || p->u.mask == NULL) return DT_OK;
  if (w->mask == NULL)
    w->mask = DT_ANEWN(cx, &w->arena, DtMaskBuf *, WHY_MASKS);
  if (w->mask == NULL) return DT_E_NOMEM;
  for (i = 0; i < w->nmask; i++)
    if (w->mask[i] == p->u.mask) return DT_OK;
  if (w->nmask == WHY_MASKS) p->u.mask = NULL;
  else w->mask[w->nmask++] = dt_mask_ref(p->u.mask);
  return DT_OK;
}

static DtStatus copy_pls (DtCtx *cx, DtWhy *w, const DtPlacement *src,
                          size_t n, DtPlacement **out) {
  size_t i;
  if (src == NULL) return DT_OK;
  *out = DT_ANEWN(cx, &w->arena, DtPlacement, n + 1);
  if (*out == NULL) return DT_E_NOMEM;
  if (n > 0) memcpy(*out, src, n * sizeof *src);
  for (i = 0; i < n; i++) DT_TRY(cx, keep_mask(cx, w, &(*out)[i]));
  return DT_OK;
}

static DtStatus copy_cand (DtCtx *cx, DtWhy *w, const DtSheet *s, Memo *m,
                           const DtCand *src, DtCand *to) {
  size_t ndim = (size_t)s->ndim;
  int i;
  to->total = src->total;
  DT_TRY(cx, copy_pls(cx, w, src->out, (size_t)s->nout * ndim,
                      &to->out));
  DT_TRY(cx, copy_pls(cx, w, src->in, (size_t)s->nin * ndim,
                      &to->in));
  to->cost = DT_ANEWN(cx, &w->arena, double, s->nin + 1);
  if (to->cost == NULL) return DT_E_NOMEM;
  if (s->nin > 0)
    memcpy(to->cost, src->cost, (size_t)s->nin * sizeof *to->cost);
  for (i = 0; i < s->nin && to->in != NULL; i++)
    to->bytes += input_bytes(s, m, i, to->in + (size_t)i * ndim);
  return DT_OK;
}

DtStatus dt_why_fill (DtCtx *cx, DtWhy *w, const DtSheet *s, DtPropVia via) {
  Memo *m = DT_ANEWN(cx, &cx->scratch, Memo, 1);
  int i;
  if (m == NULL) return DT_E_NOMEM;
  w->via = via;
  w->nout = s->nout;
  w->nin = s->nin;
  w->ndim = s->ndim;
  w->winner = (int)s->winner;
  w->nexcluded = s->nexcluded;
  w->cand = DT_ANEWN(cx, &w->arena, DtCand, s->ncand + 1);
  if (w->cand == NULL) return DT_E_NOMEM;
  for (i = 0; i < s->ncand; i++) {
    DT_TRY(cx, copy_cand(cx, w, s, m, &s->cand[i], &w->cand[i]));
    w->ncand = i + 1;
  }
  return DT_OK;
}

void dt_why_free (DtCtx *cx, DtWhy *w) {
  int i;
  if (w == NULL) return;
  for (i = 0; i < w->nchild; i++) dt_why_free(cx, w->child[i]);
  for (i = 0; i < w->nmask; i++) dt_mask_unref(cx, w->mask[i]);
  dt_arena_fini(cx, &w->arena);
  dt_free(cx, w);
}
