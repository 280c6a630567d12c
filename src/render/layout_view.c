/* SPDX-License-Identifier: MIT
** render/layout_view.c: who holds what of a tensor: a table of ranks, and a
** picture of owners along two of its dimensions.  Nothing is wider than 80
** columns.  Pure: spec in, text out. */
#include "render/layout_view.h"

#include <string.h>
#include "render/parts.h"

enum { WIDTH = 80, MAX_ROWS = 24, MAX_CUTS = 12 };

/* Blanks up to column `width` counted from `start`; at least one. */
static void pad (DtBuf *b, size_t start, size_t width) {
  size_t n = b->len - start;      /* counted: a failed buffer does not grow */
  for (; n < width; n++) dt_buf_addc(b, ' ');
}

/* The text, or its beginning and "..". */
static void add_cut (DtBuf *b, const char *text, size_t room) {
  size_t n = strlen(text);
  if (n <= room) { dt_buf_add(b, text); return; }
  dt_buf_addn(b, text, room > 2 ? room - 2 : 0);
  dt_buf_add(b, "..");
}

static void holds (const DtParts *ps, const DtPart *p, DtBuf *b) {
  int d;
  if (p->empty) { dt_buf_add(b, "nothing (empty shard)"); return; }
  dt_buf_addc(b, '[');
  for (d = 0; d < ps->spec->meta.ndim; d++) {
    if (d) dt_buf_add(b, ", ");
    dt_parts_runs(p, d, b);
  }
  dt_buf_addc(b, ']');
}

static const char *partial_word (const DtSpec *s) {
  int m;
  for (m = 0; m < s->npl; m++)
    if (dt_pl_is_partial(s->pl[m]))
      return s->pl[m].kind == DT_PL_PARTIAL && s->pl[m].op != DT_OP_SUM &&
             s->pl[m].op != DT_OP_AVG ? "a candidate (Partial)"
                                      : "an addend (Partial)";
  return NULL;
}

/* Width of the column of ranks. */
static size_t width_of (const DtParts *ps) {
  int i;
  for (i = 0; i < ps->n; i++)
    if (ps->part[i].nrank > 1) return 12;
  return 5;
}

static void table_row (const DtParts *ps, const DtPart *p, size_t w,
                       DtBuf *t, DtBuf *b) {
  const char *partial = partial_word(ps->spec);
  size_t start = b->len, at;
  dt_buf_add(b, "  ");
  dt_buf_clear(t);
  dt_parts_ranks(p->nrank, p->rank, t);
  add_cut(b, dt_buf_str(t), w);
  pad(b, start, w + 4);
  dt_buf_clear(t);
  dt_parts_coord(ps, p, t);
  add_cut(b, dt_buf_str(t), 14);
  pad(b, start, w + 20);
  dt_buf_clear(t);
  dt_buf_add_i64s(t, p->shape, ps->spec->meta.ndim);
  dt_buf_add(b, dt_buf_str(t));
  pad(b, start, w + 36);
  dt_buf_add(b, "  ");
  at = b->len - start;
  dt_buf_clear(t);
  holds(ps, p, t);
  if (partial && !p->empty) dt_buf_addf(t, "  %s", partial);
  add_cut(b, dt_buf_str(t), at < WIDTH ? WIDTH - at : 0);
  dt_buf_addc(b, '\n');
}

static void print_table (const DtParts *ps, DtBuf *t, DtBuf *b) {
  size_t w = width_of(ps), start = b->len;
  int i, shown = ps->n > MAX_ROWS ? MAX_ROWS - 1 : ps->n;
  dt_buf_add(b, "  rank");
  pad(b, start, w + 4);
  dt_buf_add(b, "coordinate");
  pad(b, start, w + 20);
  dt_buf_add(b, "local shape");
  pad(b, start, w + 38);
  dt_buf_add(b, "holds\n");
  for (i = 0; i < shown; i++) table_row(ps, &ps->part[i], w, t, b);
  if (shown < ps->n)
    dt_buf_addf(b, "  and %d more parts\n", ps->n - shown);
  if (ps->cut)
    dt_buf_addf(b, "  the first %d of %lld ranks\n", DT_PARTS_MAX,
                (long long)ps->nranks);
}

/* Sorted distinct starts along dim `d`; MAX_CUTS + 1 when there are more. */
static int cuts (const DtParts *ps, int d, int64_t *out) {
  int i, r, j, k = 0;
  for (i = 0; i < ps->n; i++) {
    const DtPart *p = &ps->part[i];
    for (r = 0; !p->empty && r < p->nrun[d]; r++) {
      int64_t at = p->run[d][r].from;
      for (j = 0; j < k && out[j] != at; j++) ;
      if (j < k) continue;
      if (k == MAX_CUTS) return MAX_CUTS + 1;
      for (j = k++; j > 0 && out[j - 1] > at; j--) out[j] = out[j - 1];
      out[j] = at;
    }
  }
  return k;
}

static bool covers (const DtPart *p, int d, int64_t at) {
  int r;
  if (d < 0) return true;
  for (r = 0; r < p->nrun[d]; r++)
    if (p->run[d][r].from <= at && at < p->run[d][r].to) return true;
  return false;
}

/* Who holds the cell; of an n-D tensor, in any of its other planes. */
static void cell (DtCtx *cx, const DtParts *ps, int64_t row, int64_t col,
                  DtBuf *b) {
  int *all = DT_NEWN(cx, int, ps->n + 1), n = 0, i;
  if (all == NULL) { b->oom = true; return; }
  for (i = 0; i < ps->n; i++) {
    const DtPart *p = &ps->part[i];
    if (!p->empty && covers(p, ps->d0, row) && covers(p, ps->d1, col))
      all[n++] = i;
  }
  dt_parts_behind(ps, n, all, b);
  dt_free(cx, all);
}

static void rule_line (int ncol, int w, DtBuf *b) {
  int i, k;
  dt_buf_add(b, "        ");
  for (i = 0; i < ncol; i++) {
    dt_buf_addc(b, '+');
    for (k = 0; k < w; k++) dt_buf_addc(b, '-');
  }
  dt_buf_add(b, "+\n");
}

static void picture_head (const DtParts *ps, int nc, const int64_t *cols,
                          int w, DtBuf *b) {
  int c;
  if (ps->spec->meta.ndim > 2)
    dt_buf_addf(b, "  dim %d down, dim %d to the right; \"/\": other planes "
                "of the tensor\n", ps->d0, ps->d1);
  dt_buf_add(b, "        ");
  for (c = 0; c < nc; c++) {
    size_t at = b->len;
    dt_buf_addf(b, "%lld", (long long)cols[c]);
    if (c + 1 < nc) pad(b, at, (size_t)w + 1);
  }
  dt_buf_addc(b, '\n');
}

static void print_picture (DtCtx *cx, const DtParts *ps, DtBuf *t, DtBuf *b) {
  int64_t rows[MAX_CUTS], cols[MAX_CUTS];
  int nr = 1, nc, r, c, w = 4, room;
  rows[0] = 0;
  if (ps->d1 < 0) return;
  nc = cuts(ps, ps->d1, cols);
  if (ps->d0 >= 0) nr = cuts(ps, ps->d0, rows);
  if (nc > MAX_CUTS || nr > MAX_CUTS || nc == 0 || nr == 0) return;
  room = (WIDTH - 10) / nc - 1;
  for (r = 0; r < nr; r++)
    for (c = 0; c < nc; c++) {
      dt_buf_clear(t);
      cell(cx, ps, rows[r], cols[c], t);
      if ((int)t->len + 2 > w) w = (int)t->len + 2;
    }
  if (w > room) w = room;
  if (w < 4) return;
  picture_head(ps, nc, cols, w, b);
  for (r = 0; r < nr; r++) {
    rule_line(nc, w, b);
    dt_buf_addf(b, "%6lld  ", (long long)rows[r]);
    for (c = 0; c < nc; c++) {
      size_t at = b->len;
      dt_buf_add(b, "| ");
      dt_buf_clear(t);
      cell(cx, ps, rows[r], cols[c], t);
      add_cut(b, dt_buf_str(t), (size_t)w - 2);
      pad(b, at, (size_t)w + 1);
    }
    dt_buf_add(b, "|\n");
  }
  rule_line(nc, w, b);
}

DtStatus dt_layout_view (DtCtx *cx, const DtSpec *s, DtBuf *b) {
  DtParts ps;
  DtBuf t;
  dt_spec_print(s, b);
  dt_buf_add(b, "  mesh ");
  dt_mesh_print(s->mesh, b);
  dt_buf_addc(b, '\n');
  if (s->npl != s->mesh->ndim) {
    dt_buf_addf(b, "  %d placements for a mesh of %d dimensions: nobody "
                "knows who holds what\n", s->npl, s->mesh->ndim);
    return DT_OK;
  }
  DT_TRY(cx, dt_parts_new(cx, s, &ps));
  dt_buf_init(&t, cx);
  print_table(&ps, &t, b);
  print_picture(cx, &ps, &t, b);
  if (t.oom) b->oom = true;
  dt_buf_fini(&t);
  dt_parts_fini(cx, &ps);
  return DT_OK;
}
