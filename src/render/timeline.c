/* SPDX-License-Identifier: MIT
** render/timeline.c: spans of all ranks as a picture.
**
** The ranks of one host share the monotonic clock, so their times lie on one
** axis.  Spans narrower than a pixel are drawn only where nothing is yet. */
#include <string.h>
#include "render/svg.h"

enum { LEFT = 64, WIDE = 1000, LANE = 18, GAP = 8, TOP = 26 };

static void bounds (int nranks, DtSpan *const *v, const int *n, double *t0,
                    double *t1) {
  int r, i;
  bool any = false;
  *t0 = 0;
  *t1 = 1e-6;
  for (r = 0; r < nranks; r++)
    for (i = 0; i < n[r]; i++) {
      if (!any || v[r][i].t0 < *t0) *t0 = v[r][i].t0;
      if (!any || v[r][i].t1 > *t1) *t1 = v[r][i].t1;
      any = true;
    }
  if (*t1 - *t0 < 1e-6) *t1 = *t0 + 1e-6;
}

static void time_text (double s, DtBuf *b) {
  if (s < 1e-3) dt_buf_addf(b, "%.3g us", s * 1e6);
  else if (s < 1) dt_buf_addf(b, "%.4g ms", s * 1e3);
  else dt_buf_addf(b, "%.4g s", s);
}

static void span_rect (const DtSpan *s, double t0, double scale, double y,
                       double *drawn, DtBuf *b) {
  double x = LEFT + (s->t0 - t0) * scale, w = (s->t1 - s->t0) * scale;
  if (w < 1) {
    if (x < *drawn) return;
    w = 1;
  }
  if (x + w > *drawn) *drawn = x + w;
  dt_buf_addf(b, "<rect x=\"%.1f\" y=\"%.0f\" width=\"%.1f\" height=\"%d\" "
              "class=\"%s%s\"><title>", x, y, w, LANE - 2,
              s->kind == DT_SPAN_COLL ? "coll" : "op",
              s->backward ? " bw" : "");
  if (s->seq > 0) dt_buf_addf(b, "#%lld ", (long long)s->seq);
  dt_xml(b, s->name);
  if (*s->mdim) { dt_buf_add(b, " on "); dt_xml(b, s->mdim); }
  if (s->kind == DT_SPAN_COLL)
    dt_buf_addf(b, ", %lld bytes", (long long)s->bytes);
  dt_buf_add(b, ", ");
  time_text(s->t1 - s->t0, b);
  if (s->line > 0) {
    dt_buf_add(b, ", ");
    dt_xml(b, s->file);
    dt_buf_addf(b, ":%d", s->line);
  }
  dt_buf_add(b, "</title></rect>\n");
}

static void lane (const DtSpan *v, int n, bool coll, double t0, double scale,
                  double y, DtBuf *b) {
  double drawn = 0;
  int i;
  for (i = 0; i < n; i++)
    if (coll ? v[i].kind == DT_SPAN_COLL : v[i].kind == DT_SPAN_OP)
      span_rect(&v[i], t0, scale, y, &drawn, b);
}

static void scale_marks (double t0, double t1, int h, DtBuf *b) {
  int i;
  for (i = 0; i <= 4; i++) {
    int x = LEFT + WIDE * i / 4;
    dt_buf_addf(b, "<line x1=\"%d\" y1=\"%d\" x2=\"%d\" y2=\"%d\" "
                "class=\"grid\"/><text x=\"%d\" y=\"14\" class=\"s\"%s>", x,
                TOP - 6, x, h, x, i == 4 ? " text-anchor=\"end\"" : "");
    time_text((t1 - t0) * i / 4, b);
    dt_buf_add(b, "</text>\n");
  }
}

void dt_svg_timeline (int nranks, DtSpan *const *v, const int *n, DtBuf *b) {
  double t0, t1, scale;
  int r, h = TOP + nranks * (2 * LANE + GAP) + 4;
  bounds(nranks, v, n, &t0, &t1);
  scale = WIDE / (t1 - t0);
  dt_buf_addf(b, "<svg xmlns=\"http://www.w3.org/2000/svg\" role=\"img\" "
              "aria-label=\"timeline\" viewBox=\"0 0 %d %d\" "
              "width=\"100%%\" preserveAspectRatio=\"xMinYMin\">\n",
              LEFT + WIDE + 8, h);
  scale_marks(t0, t1, h, b);
  for (r = 0; r < nranks; r++) {
    int y = TOP + r * (2 * LANE + GAP);
    dt_buf_addf(b, "<text x=\"4\" y=\"%d\" class=\"t\">rank %d</text>\n",
                y + LANE + 4, r);
    lane(v[r], n[r], false, t0, scale, y, b);
    lane(v[r], n[r], true, t0, scale, y + LANE, b);
  }
  dt_buf_add(b, "</svg>\n");
}
