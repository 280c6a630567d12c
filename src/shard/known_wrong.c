/* SPDX-License-Identifier: MIT
** shard/known_wrong.c: is a decision one of those that give wrong data? */
#include <string.h>
#include "compat/release.h"
#include "shard/known_wrong.h"

static const DtKnownWrong rows[] = {
#define X(op, when, until, in, out, what, example) \
  { op, DT_WRONG_##when, in, out, what, example, until },
#include "shard/known_wrong.def"
#undef X
};

const DtKnownWrong *dt_known_wrong_rows (int *n) {
  *n = (int)(sizeof rows / sizeof rows[0]);
  return rows;
}

/* One cell: "*", "P" for any Partial, or a placement as it prints. */
static bool cell_fits (DtCtx *cx, const char *cell, size_t len,
                       DtPlacement p) {
  DtBuf b;
  bool fits;
  if (len == 1 && *cell == '*') return true;
  if (len == 1 && *cell == 'P') return p.kind == DT_PL_PARTIAL;
  if (len == 1 && *cell == 'S') return p.kind == DT_PL_SHARD;
  dt_buf_init(&b, cx);
  dt_pl_print(p, &b);
  fits = strlen(dt_buf_str(&b)) == len &&
         memcmp(dt_buf_str(&b), cell, len) == 0;
  dt_buf_fini(&b);
  return fits;
}

/* The cells of a row against mesh dimension `m` of these specs. */
static bool cells_fit (DtCtx *cx, const char *cells, int n,
                       const DtSpec *const *spec, int m) {
  int i;
  for (i = 0; *cells != '\0'; i++) {
    size_t len = strcspn(cells, ",");
    if (i >= n || spec[i] == NULL || m >= spec[i]->npl) return false;
    if (!cell_fits(cx, cells, len, spec[i]->pl[m])) return false;
    cells += len;
    cells += strspn(cells, ", ");
  }
  return true;
}

/* Is the dimension that mesh dimension m cuts of the first input cut into
** parts of unequal size (by all mesh dimensions together)? */
static bool is_cut_unevenly (const DtProp *p, int m) {
  const DtSpec *s = p->in[0];
  int64_t n = 1;
  int k;
  if (s->pl[m].kind != DT_PL_SHARD) return false;
  for (k = 0; k < s->npl; k++)
    if (s->pl[k].kind == DT_PL_SHARD && s->pl[k].dim == s->pl[m].dim)
      n *= s->mesh->shape[k];
  return n > 0 && s->meta.shape[s->pl[m].dim] % n != 0;
}

static bool row_fits (DtCtx *cx, const DtKnownWrong *k, const DtProp *p) {
  int m, ndim = 0;
  if (p->nin > 0 && p->in[0] != NULL) ndim = p->in[0]->npl;
  for (m = 0; m < ndim; m++) {
    if (p->in[0]->mesh->shape[m] == 1) continue;
    if (k->when == DT_WRONG_UNEVEN && !is_cut_unevenly(p, m)) continue;
    if (cells_fit(cx, k->in, p->nin, p->in, m) &&
        cells_fit(cx, k->out, p->nout, (const DtSpec *const *)p->out, m))
      return true;
  }
  return false;
}

/* Does the call ask for a mean over all elements? */
static bool asks_for_mean (const DtArgs *a) {
  int i = a->schema ? dt_schema_arg(a->schema, "reduction") : -1;
  return i >= 0 && dt_arg_int(a, i) == 1;
}

static bool any_moved (const DtProp *p) {
  int i;
  for (i = 0; i < p->nin; i++)
    if (p->moved[i]) return true;
  return false;
}

static bool of_op (const DtKnownWrong *k, const DtOpDef *op) {
  return strcmp(k->op, op->sig->full) == 0 ||
         (op->base != NULL && strcmp(k->op, op->base->sig->full) == 0);
}

bool dt_known_wrong_has (const DtOpDef *op) {
  size_t i;
  for (i = 0; i < sizeof rows / sizeof rows[0]; i++)
    if (of_op(&rows[i], op)) return true;
  return false;
}

const DtKnownWrong *dt_known_wrong_find (DtCtx *cx, const DtOpDef *op,
                                         const DtArgs *args, const DtProp *p) {
  size_t i;
  for (i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    const DtKnownWrong *k = &rows[i];
    if (!of_op(k, op)) continue;
    if (k->when == DT_WRONG_MEAN && !asks_for_mean(args)) continue;
    if (k->when == DT_WRONG_MOVED ? any_moved(p)
        : k->when == DT_WRONG_SELF ? p->nin > 0 && p->moved[0]
        : row_fits(cx, k, p)) return k;
  }
  return NULL;
}
