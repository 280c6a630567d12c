/* SPDX-License-Identifier: MIT
** render/svg.c: meshes and layouts as SVG.  A rank has its colour everywhere:
** class "r0" to "r7", by rank modulo 8. */
#include "render/svg.h"

#include <string.h>
#include "render/parts.h"

enum { CELL = 46, MAX_CELLS = 256, MAX_RECTS = 1024 };

void dt_xml (DtBuf *b, const char *text) {
  for (; *text; text++)
    switch (*text) {
      case '&': dt_buf_add(b, "&amp;"); break;
      case '<': dt_buf_add(b, "&lt;"); break;
      case '>': dt_buf_add(b, "&gt;"); break;
      case '"': dt_buf_add(b, "&quot;"); break;
      default: dt_buf_addc(b, *text);
    }
}

static void open_svg (DtBuf *b, int w, int h, const char *what) {
  dt_buf_addf(b, "<svg xmlns=\"http://www.w3.org/2000/svg\" role=\"img\" "
              "aria-label=\"%s\" viewBox=\"0 0 %d %d\" width=\"%d\" "
              "height=\"%d\">\n", what, w, h, w, h);
}

static void label (DtBuf *b, double x, double y, const char *class_,
                   const char *text) {
  dt_buf_addf(b, "<text x=\"%.1f\" y=\"%.1f\" class=\"%s\">", x, y, class_);
  dt_xml(b, text);
  dt_buf_add(b, "</text>\n");
}

/* --- meshes --- */

static void mesh_labels (const DtMesh *m, DtBuf *t, DtBuf *b) {
  dt_buf_clear(t);
  dt_mesh_print(m, t);
  label(b, 8, 14, "t", dt_buf_str(t));
}

void dt_svg_mesh (DtCtx *cx, const DtMesh *m, DtBuf *b) {
  int64_t n = dt_mesh_size(m), cols, rows, i, *ranks, group;
  DtBuf t;
  cols = m->ndim > 0 ? m->shape[m->ndim - 1] : 1;
  if (n > MAX_CELLS || cols < 1) {
    dt_buf_addf(b, "<p>%lld ranks: too many to draw</p>\n", (long long)n);
    return;
  }
  ranks = DT_NEWN(cx, int64_t, n + 1);
  if (ranks == NULL) { b->oom = true; return; }
  dt_mesh_ranks(m, ranks);
  rows = n / cols;
  group = m->ndim > 1 ? m->shape[m->ndim - 2] : rows;
  dt_buf_init(&t, cx);
  open_svg(b, (int)(cols * CELL + 120),
           (int)(rows * CELL + rows / (group > 0 ? group : 1) * 8 + 30),
           "mesh");
  mesh_labels(m, &t, b);
  for (i = 0; i < n; i++) {
    int64_t r = i / cols, c = i % cols;
    double x = (double)(8 + c * CELL), y = (double)(24 + r * CELL +
      (group > 0 ? r / group : 0) * 8);
    dt_buf_addf(b, "<rect x=\"%.1f\" y=\"%.1f\" width=\"%d\" height=\"%d\" "
                "rx=\"5\" class=\"r%d\"/>\n", x, y, CELL - 6, CELL - 6,
                (int)(ranks[i] % 8));
    dt_buf_clear(&t);
    dt_buf_addf(&t, "%lld", (long long)ranks[i]);
    label(b, x + (CELL - 6) / 2.0, y + CELL / 2.0 + 1, "c",
          dt_buf_str(&t));
  }
  dt_buf_add(b, "</svg>\n");
  dt_buf_fini(&t);
  dt_free(cx, ranks);
}

/* --- layouts --- */

typedef struct Frame { double w, h; int64_t n0, n1; } Frame;

/* One box of part `p`; `who`: the ranks of all parts that lie there. */
static void rect (const DtParts *ps, const DtPart *p, const Frame *f,
                  DtIdxRun y, DtIdxRun x, const char *who, DtBuf *t,
                  DtBuf *b) {
  double x0 = 40 + f->w * (double)x.from / (double)f->n1;
  double x1 = 40 + f->w * (double)x.to / (double)f->n1;
  double y0 = 24 + f->h * (double)y.from / (double)f->n0;
  double y1 = 24 + f->h * (double)y.to / (double)f->n0;
  dt_buf_addf(b, "<g><rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" "
              "height=\"%.1f\" class=\"r%d%s%s\"/><title>", x0, y0, x1 - x0,
              y1 - y0, p->rank[0] % 8,
              dt_spec_has_partial(ps->spec) ? " part" : "",
              strchr(who, '/') ? " deep" : "");
  dt_buf_clear(t);
  dt_buf_addf(t, "ranks %s, local ", who);
  dt_buf_add_i64s(t, p->shape, ps->spec->meta.ndim);
  if (strchr(who, '+')) dt_buf_add(t, "; +: addends of one value");
  if (strchr(who, '/')) dt_buf_add(t, "; /: other planes of the tensor");
  dt_xml(b, dt_buf_str(t));
  dt_buf_add(b, "</title>");
  if ((double)strlen(who) * 8 + 4 < x1 - x0 && y1 - y0 > 13)
    label(b, (x0 + x1) / 2, (y0 + y1) / 2 + 4, "c", who);
  dt_buf_add(b, "</g>\n");
}

/* Parts of an n-D tensor that lie behind each other in the drawn plane, and
** addends of one part: the first is drawn, with the ranks of all. */
static bool behind (const DtParts *ps, int i, int k) {
  const DtPart *a = &ps->part[i], *c = &ps->part[k];
  int dim[2] = { ps->d0, ps->d1 }, j;
  for (j = 0; j < 2; j++) {
    int d = dim[j];
    if (d < 0) continue;
    if (a->nrun[d] != c->nrun[d] ||
        memcmp(a->run[d], c->run[d], (size_t)a->nrun[d] * sizeof (DtIdxRun)))
      return false;
  }
  return !c->empty;
}

static void draw_part (DtCtx *cx, const DtParts *ps, int i, const Frame *f,
                       DtBuf *t, DtBuf *b) {
  const DtPart *p = &ps->part[i];
  DtIdxRun whole = { 0, f->n0 };
  int k, y, x, n = 0, rects = 0;
  int *all = DT_NEWN(cx, int, ps->n);
  DtBuf who;
  if (all == NULL) { b->oom = true; return; }
  dt_buf_init(&who, cx);
  for (k = i; k < ps->n; k++)
    if (k == i || behind(ps, i, k)) all[n++] = k;
  dt_parts_behind(ps, n, all, &who);
  for (y = 0; y < (ps->d0 >= 0 ? p->nrun[ps->d0] : 1); y++)
    for (x = 0; x < p->nrun[ps->d1] && rects < MAX_RECTS; x++, rects++)
      rect(ps, p, f, ps->d0 >= 0 ? p->run[ps->d0][y] : whole,
           p->run[ps->d1][x], dt_buf_str(&who), t, b);
  if (who.oom) b->oom = true;
  dt_buf_fini(&who);
  dt_free(cx, all);
}

static void axes (const DtParts *ps, const Frame *f, DtBuf *t, DtBuf *b) {
  dt_buf_addf(b, "<rect x=\"40\" y=\"24\" width=\"%.1f\" height=\"%.1f\" "
              "class=\"frame\"/>\n", f->w, f->h);
  dt_buf_clear(t);
  dt_buf_addf(t, "dim %d: %lld", ps->d1, (long long)f->n1);
  label(b, 40, 18, "s", dt_buf_str(t));
  if (ps->d0 < 0) return;
  dt_buf_addf(b, "<text transform=\"translate(32,24) rotate(-90)\" "
              "text-anchor=\"end\" class=\"s\">dim %d: %lld</text>\n", ps->d0,
              (long long)f->n0);
}

DtStatus dt_svg_layout (DtCtx *cx, const DtSpec *s, DtBuf *b) {
  DtParts ps;
  Frame f;
  DtBuf t;
  int i, k;
  if (s->npl != s->mesh->ndim || !s->has_meta) return DT_OK;
  DT_TRY(cx, dt_parts_new(cx, s, &ps));
  f.n1 = ps.d1 >= 0 ? s->meta.shape[ps.d1] : 0;
  f.n0 = ps.d0 >= 0 ? s->meta.shape[ps.d0] : 1;
  if (f.n0 > 0 && f.n1 > 0) {
    f.w = 300;
    f.h = ps.d0 < 0 ? 34 : 300.0 * (double)f.n0 / (double)f.n1;
    if (f.h < 34) f.h = 34;
    if (f.h > 220) f.h = 220;
    dt_buf_init(&t, cx);
    open_svg(b, (int)f.w + 48, (int)f.h + 30, "layout");
    for (i = 0; i < ps.n; i++) {
      if (ps.part[i].empty) continue;
      for (k = 0; k < i && !behind(&ps, i, k); k++) ;
      if (k == i) draw_part(cx, &ps, i, &f, &t, b);
    }
    axes(&ps, &f, &t, b);
    dt_buf_add(b, "</svg>\n");
    dt_buf_fini(&t);
  }
  dt_parts_fini(cx, &ps);
  return DT_OK;
}
