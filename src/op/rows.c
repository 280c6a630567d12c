/* SPDX-License-Identifier: MIT
** op/rows.c: rows of placements for one mesh dimension, and their notation.
**
** Rows are appended to one flat array of cells, outputs first.  The text form
** puts inputs first because people read a rule from left to right.  What a
** placeholder becomes is decided in shard/expand.c. */
#include <stdlib.h>
#include <string.h>
#include "op/rows.h"

static DtCell cell (DtCellKind kind) {
  DtCell c;
  memset(&c, 0, sizeof c);
  c.kind = (uint8_t)kind;
  c.pl = dt_pl_replicate();
  return c;
}

DtCell dt_c_none (void) { return cell(DT_C_NONE); }

DtCell dt_c_r (void) { return cell(DT_C_R); }

DtCell dt_c_s (int dim) {
  DtCell c = cell(DT_C_SHARD);
  c.dim = (int16_t)dim;
  c.pl = dt_pl_shard(dim);
  return c;
}

DtCell dt_c_fix (DtPlacement p) {
  DtCell c = cell(DT_C_FIXED);
  c.pl = p;
  return c;
}

DtCell dt_c_p (DtRedOp op) { return dt_c_fix(dt_pl_partial(op)); }

void dt_rows_init (DtRows *r, DtCtx *cx, DtArena *arena, int nout, int nin) {
  memset(r, 0, sizeof *r);
  r->cx = cx;
  r->arena = arena;
  r->nout = nout;
  r->nin = nin;
}

static DtStatus rows_grow (DtRows *r) {
  size_t width = (size_t)(r->nout + r->nin);
  int cap = r->cap > 0 ? 2 * r->cap : 16;
  DtCell *cells = DT_ANEWN(r->cx, r->arena, DtCell, (size_t)cap * width + 1);
  if (cells == NULL) return DT_E_NOMEM;
  if (r->n > 0)
    memcpy(cells, r->cells, (size_t)r->n * width * sizeof *cells);
  r->cells = cells;
  r->cap = cap;
  return DT_OK;
}

void dt_rows_add (DtRows *r, const DtCell *cells) {
  size_t width = (size_t)(r->nout + r->nin);
  if (r->st == DT_OK && r->n == r->cap) r->st = rows_grow(r);
  if (r->st != DT_OK) return;
  if (width > 0)
    memcpy(r->cells + (size_t)r->n * width, cells, width * sizeof *cells);
  r->n++;
}

/* ---- text ---- */

static void skip (const char **p) {
  while (**p == ' ' || **p == '\t') ++*p;
}

static DtStatus read_cell (DtCtx *cx, const char **p, DtCell *out) {
  bool fixed = **p == '=';
  DtPlacement pl;
  if (**p == '-' && (*p)[1] != '>') {
    ++*p;
    *out = dt_c_none();
    return DT_OK;
  }
  if (fixed) ++*p;
  DT_TRY(cx, dt_pl_parse(cx, p, &pl));
  if (dt_pl_is_replicate(pl)) *out = dt_c_r();
  else if (dt_pl_is_shard(pl) && !fixed) *out = dt_c_s(pl.dim);
  else *out = dt_c_fix(pl);
  return DT_OK;
}

/* Cells up to "->" or the end; more than `max` is an error of the caller. */
static DtStatus read_side (DtCtx *cx, const char **p, int max, DtCell *out,
                           int *n) {
  *n = 0;
  skip(p);
  while (**p != '\0' && !(**p == '-' && (*p)[1] == '>')) {
    DtCell c;
    if (*n > 0) {
      if (**p != ',') return dt_raise(cx, DT_E_PARSE, "expected \",\"");
      ++*p;
      skip(p);
    }
    DT_TRY(cx, read_cell(cx, p, &c));
    if (*n < max) out[*n] = c;
    ++*n;
    skip(p);
  }
  return DT_OK;
}

static DtStatus read_row (DtRows *r, const char *text, DtCell *cells) {
  const char *p = text;
  int nin, nout;
  DT_TRY(r->cx, read_side(r->cx, &p, r->nin, cells + r->nout, &nin));
  DT_CHECK(r->cx, p[0] == '-' && p[1] == '>', DT_E_PARSE,
           "expected \"->\"");
  p += 2;
  DT_TRY(r->cx, read_side(r->cx, &p, r->nout, cells, &nout));
  DT_CHECK(r->cx, *p == '\0', DT_E_PARSE, "more than one \"->\"");
  DT_CHECK(r->cx, nin == r->nin && nout == r->nout, DT_E_PARSE,
           "%d inputs and %d outputs where the call has %d and %d",
           nin, nout, r->nin, r->nout);
  return DT_OK;
}

DtStatus dt_row_arity (DtCtx *cx, const char *text, int *nin, int *nout) {
  const char *p = text;
  DT_TRY(cx, read_side(cx, &p, 0, NULL, nin));
  DT_CHECK(cx, p[0] == '-' && p[1] == '>', DT_E_PARSE, "expected \"->\"");
  p += 2;
  DT_TRY(cx, read_side(cx, &p, 0, NULL, nout));
  DT_CHECK(cx, *p == '\0', DT_E_PARSE, "more than one \"->\"");
  return DT_OK;
}

void dt_rows_text (DtRows *r, const char *text) {
  DtCell cells[DT_MAX_ROW];
  DtStatus st;
  if (r->st != DT_OK) return;
  if (r->nin + r->nout > DT_MAX_ROW) {
    r->st = dt_raise(r->cx, DT_E_LIMIT, "a rule with %d placements",
                     r->nin + r->nout);
    return;
  }
  st = read_row(r, text, cells);
  if (st == DT_E_NOMEM) {
    r->st = st;
  } else if (st != DT_OK) {
    char *why = dt_strdup(r->cx, dt_buf_str(&r->cx->err.message));
    dt_error_clear(r->cx);
    r->st = dt_raise(r->cx, DT_E_PARSE, "rule \"%s\": %s", text,
                     why != NULL ? why : "?");
    dt_free(r->cx, why);
  } else {
    dt_rows_add(r, cells);
  }
}

void dt_rows_unref_masks (DtRows *r) {
  int i, k, n = r->n * (r->nout + r->nin);
  for (i = 0; i < n; i++) {
    DtCell *c = &r->cells[i];
    DtMaskBuf *m = c->pl.u.mask;
    if (c->kind != DT_C_FIXED || c->pl.kind != DT_PL_MASK_PARTIAL ||
        m == NULL)
      continue;
    for (k = i; k < n; k++)
      if (r->cells[k].pl.kind == DT_PL_MASK_PARTIAL &&
          r->cells[k].pl.u.mask == m)
        r->cells[k].pl.u.mask = NULL;
    dt_mask_unref(r->cx, m);
  }
}

static void cell_print (const DtCell *c, DtBuf *b) {
  switch (c->kind) {
    case DT_C_NONE: dt_buf_addc(b, '-'); break;
    case DT_C_R: dt_buf_addc(b, 'R'); break;
    case DT_C_SHARD: dt_buf_addf(b, "S(%d)", c->dim); break;
    default:
      if (dt_pl_is_shard_like(c->pl)) dt_buf_addc(b, '=');
      dt_pl_print(c->pl, b);
  }
}

void dt_row_print (const DtRows *r, int row, DtBuf *b) {
  const DtCell *c = r->cells + (size_t)row * (size_t)(r->nout + r->nin);
  int i;
  for (i = 0; i < r->nin; i++) {
    if (i > 0) dt_buf_add(b, ", ");
    cell_print(&c[r->nout + i], b);
  }
  dt_buf_add(b, r->nin > 0 ? " -> " : "-> ");
  for (i = 0; i < r->nout; i++) {
    if (i > 0) dt_buf_add(b, ", ");
    cell_print(&c[i], b);
  }
}
