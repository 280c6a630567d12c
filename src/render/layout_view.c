/* SPDX-License-Identifier: MIT
** render/layout_view.c: who holds what of a tensor: a table of ranks, and for
** one or two dims a picture of owners.  Pure: spec in, text out. */
#include "render/layout_view.h"

#include <string.h>
#include "mesh/layout.h"

enum { MAX_RANKS = 64, MAX_CUTS = 65 };

typedef struct Part {
  int rank;
  int64_t shape[DT_MAX_NDIM], off[DT_MAX_NDIM];
  int64_t coord[DT_MAX_MDIM];
  bool empty;
} Part;

/* Blanks up to column `width` counted from `start`. */
static void pad (DtBuf *b, size_t start, size_t width) {
  size_t n = b->len - start;      /* counted: a failed buffer does not grow */
  for (; n < width; n++) dt_buf_addc(b, ' ');
}

static DtStatus read_parts (DtCtx *cx, const DtSpec *s, Part *p, int n) {
  int64_t ranks[MAX_RANKS];
  int i, d, nd;
  dt_mesh_ranks(s->mesh, ranks);
  for (i = 0; i < n; i++) {
    p[i].rank = (int)ranks[i];
    if (!dt_mesh_coord_of(s->mesh, p[i].rank, p[i].coord))
      return dt_raise(cx, DT_E_INTERNAL, "rank %d is not in its mesh",
                      p[i].rank);
    DT_TRY(cx, dt_layout_local(cx, s, p[i].coord, p[i].shape, p[i].off, &nd));
    p[i].empty = false;
    for (d = 0; d < s->meta.ndim; d++)
      if (p[i].shape[d] == 0) p[i].empty = true;
  }
  return DT_OK;
}

static void print_range (const Part *p, int ndim, DtBuf *b) {
  int d;
  for (d = 0; d < ndim; d++) {
    if (d) dt_buf_add(b, ", ");
    dt_buf_addf(b, "%lld:%lld", (long long)(p->shape[d] ? p->off[d] : 0),
                (long long)(p->shape[d] ? p->off[d] + p->shape[d] : 0));
  }
}

static void print_table (const DtSpec *s, const Part *p, int n, DtBuf *b) {
  int i;
  size_t start;
  dt_buf_add(b, "  rank  coordinate    local shape       holds\n");
  for (i = 0; i < n; i++) {
    start = b->len;
    dt_buf_addf(b, "  %4d  ", p[i].rank);
    dt_buf_add_tuple(b, p[i].coord, s->mesh->ndim);
    pad(b, start, 22);
    dt_buf_add_i64s(b, p[i].shape, s->meta.ndim);
    pad(b, start, 40);
    if (p[i].empty) dt_buf_add(b, "nothing (empty shard)");
    else if (dt_spec_has_strided(s)) dt_buf_add(b, "strided pieces");
    else {
      dt_buf_addc(b, '[');
      print_range(&p[i], s->meta.ndim, b);
      dt_buf_addc(b, ']');
    }
    if (dt_spec_has_partial(s)) dt_buf_add(b, "  a summand (Partial)");
    dt_buf_addc(b, '\n');
  }
}

/* Sorted distinct starts along dim `d`. */
static int cuts (const Part *p, int n, int d, int64_t *out) {
  int i, j, k = 0;
  for (i = 0; i < n; i++) {
    if (p[i].empty) continue;
    for (j = 0; j < k && out[j] != p[i].off[d]; j++) ;
    if (j < k) continue;
    for (j = k++; j > 0 && out[j - 1] > p[i].off[d]; j--) out[j] = out[j - 1];
    out[j] = p[i].off[d];
  }
  return k;
}

static void cell (const Part *p, int n, int d0, int64_t row, int d1,
                  int64_t col, DtBuf *b) {
  int i;
  bool first = true;
  for (i = 0; i < n; i++) {
    if (p[i].empty || (d0 >= 0 && p[i].off[d0] != row)
        || p[i].off[d1] != col)
      continue;
    dt_buf_addf(b, first ? "%d" : ",%d", p[i].rank);
    first = false;
  }
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

/* The last dim runs to the right, the one before it down. */
static void print_picture (const DtSpec *s, const Part *p, int n, DtBuf *b) {
  int64_t rows[MAX_CUTS], cols[MAX_CUTS];
  int d1 = s->meta.ndim - 1, d0 = s->meta.ndim - 2, nr = 1, nc, r, c, w = 6;
  DtBuf t;
  nc = cuts(p, n, d1, cols);
  if (d0 >= 0) nr = cuts(p, n, d0, rows); else rows[0] = 0;
  if (nc > 8 || nr > 16 || nc == 0) return;
  dt_buf_init(&t, b->cx);
  for (r = 0; r < nr; r++)
    for (c = 0; c < nc; c++) {
      dt_buf_clear(&t);
      cell(p, n, d0, rows[r], d1, cols[c], &t);
      if ((int)t.len + 2 > w) w = (int)t.len + 2;
    }
  if (w * nc > 68) { dt_buf_fini(&t); return; }
  dt_buf_add(b, "        ");
  for (c = 0; c < nc; c++) {
    size_t at = b->len;
    dt_buf_addf(b, "%lld", (long long)cols[c]);
    pad(b, at, (size_t)w + 1);
  }
  dt_buf_addc(b, '\n');
  for (r = 0; r < nr; r++) {
    rule_line(nc, w, b);
    dt_buf_addf(b, "%6lld  ", (long long)rows[r]);
    for (c = 0; c < nc; c++) {
      size_t at = b->len;
      dt_buf_addc(b, '|');
      dt_buf_addc(b, ' ');
      cell(p, n, d0, rows[r], d1, cols[c], b);
      pad(b, at, (size_t)w + 1);
    }
    dt_buf_add(b, "|\n");
  }
  rule_line(nc, w, b);
  dt_buf_fini(&t);
}

DtStatus dt_layout_view (DtCtx *cx, const DtSpec *s, DtBuf *b) {
  Part *p;
  int64_t size = dt_mesh_size(s->mesh);
  int n = size > MAX_RANKS ? MAX_RANKS : (int)size;
  DtStatus st;
  dt_spec_print(s, b);
  dt_buf_add(b, "  mesh ");
  dt_mesh_print(s->mesh, b);
  dt_buf_addc(b, '\n');
  if (size > MAX_RANKS) {
    dt_buf_addf(b, "  %lld ranks: too many to draw\n", (long long)size);
    return DT_OK;
  }
  p = DT_NEWN(cx, Part, n);
  if (p == NULL) return DT_E_NOMEM;
  st = read_parts(cx, s, p, n);
  if (st == DT_OK) {
    print_table(s, p, n, b);
    if (s->meta.ndim >= 1 && s->meta.ndim <= 2 && !dt_spec_has_strided(s))
      print_picture(s, p, n, b);
  }
  dt_free(cx, p);
  return st;
}
