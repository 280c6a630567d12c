/* SPDX-License-Identifier: MIT
** tensor/print.c: the values of a tensor as PyTorch 2.13 prints them.
**
** Does not print "tensor(", dtype or placements: others add those.
**
** One pass over the values that will be shown (the edges, when the tensor is
** summarised) finds the common format and width; a second pass prints.  The
** width is that of the finite non-zero values only: that is PyTorch's rule,
** and why nan and inf may stick out.  Complex numbers have one format for
** the real and one for the imaginary parts. */

#include <math.h>
#include <stdio.h>
#include "tensor/tensor.h"

typedef struct Format {
  bool is_float, int_mode, sci, any;
  int precision, width;
  double min, max;              /* of finite non-zero magnitudes */
} Format;

typedef struct Printer {
  const DtTensor *t;
  const DtPrintOpts *o;
  DtBuf *b;
  bool summarize;
  Format re, im;
  int64_t index[DT_MAX_NDIM];
} Printer;

void dt_print_defaults (DtPrintOpts *o) {
  *o = (DtPrintOpts){.precision = 4, .threshold = 1000, .edgeitems = 3,
                     .linewidth = 80};
}

/* ---- which elements are shown -------------------------------------------- */

static bool is_cut (const Printer *p, int d) {
  return p->summarize && p->t->m.shape[d] > 2 * (int64_t)p->o->edgeitems;
}

/* The index after `i` along dim d, jumping over what "..." stands for. */
static int64_t step (const Printer *p, int d, int64_t i) {
  i++;
  if (is_cut(p, d) && i == p->o->edgeitems)
    i = p->t->m.shape[d] - p->o->edgeitems;
  return i;
}

static int64_t start (const Printer *p, int d) {
  return is_cut(p, d) && p->o->edgeitems == 0 ? p->t->m.shape[d] : 0;
}

typedef void (*Visit) (Printer *p, DtScalar v);

static void visit (Printer *p, int d, Visit f) {
  if (d == p->t->m.ndim) {
    f(p, dt_tensor_get(p->t, p->index));
    return;
  }
  for (int64_t i = start(p, d); i < p->t->m.shape[d]; i = step(p, d, i)) {
    p->index[d] = i;
    visit(p, d + 1, f);
  }
}

/* ---- the common format --------------------------------------------------- */

static bool counts (double v) { return isfinite(v) && v != 0; }

static void see_range (Format *f, double v) {
  if (!counts(v)) return;
  double a = fabs(v);
  f->min = !f->any || a < f->min ? a : f->min;
  f->max = !f->any || a > f->max ? a : f->max;
  f->any = true;
  if (v != ceil(v)) f->int_mode = false;
}

static void visit_range (Printer *p, DtScalar v) {
  if (!p->re.is_float) return;
  see_range(&p->re, v.re);
  if (v.kind == DT_K_COMPLEX) see_range(&p->im, v.im);
}

/* Text of one real number without padding; longest is "-1.8e308" written out
** by %.0f or %.*f.  309 digits, the point and the 100 decimals that
** find_format allows fit. */
enum { NUMBER_MAX = 512 };

static int real_text (const Format *f, double v, char *s) {
  if (isnan(v)) return snprintf(s, NUMBER_MAX, "nan");
  if (isinf(v)) return snprintf(s, NUMBER_MAX, v < 0 ? "-inf" : "inf");
  if (f->sci) return snprintf(s, NUMBER_MAX, "%.*e", f->precision, v);
  if (f->int_mode) return snprintf(s, NUMBER_MAX, "%.0f.", v);
  return snprintf(s, NUMBER_MAX, "%.*f", f->precision, v);
}

static void see_width (Format *f, int n) {
  if (n > f->width) f->width = n;
}

static int exact_text (DtScalar v, char *s) {
  if (v.kind == DT_K_BOOL)
    return snprintf(s, NUMBER_MAX, v.i ? "True" : "False");
  return snprintf(s, NUMBER_MAX, "%lld", (long long)v.i);
}

static void visit_width (Printer *p, DtScalar v) {
  char s[NUMBER_MAX];
  if (!p->re.is_float) {
    see_width(&p->re, exact_text(v, s));
    return;
  }
  if (counts(v.re)) see_width(&p->re, real_text(&p->re, v.re, s));
  if (v.kind == DT_K_COMPLEX && counts(v.im))
    see_width(&p->im, real_text(&p->im, v.im, s));
}

/* The limits are _Formatter.__init__'s (_tensor_str.py@2.15); zeros, nan and
** inf do not count. */
static void choose_sci (Format *f, const DtPrintOpts *o) {
  if (!f->any) return;
  f->sci = o->sci_set ? o->sci_mode
                      : f->max / f->min > 1000.0 || f->max > 1e8 ||
                        f->min < 1e-4;
}

/* Two visits: the width of a number depends on the format, and that on all
** numbers. */
static void find_format (Printer *p) {
  int prec = p->o->precision < 0 ? 0 : p->o->precision > 100 ? 100
                                                     : p->o->precision;
  Format f = {.int_mode = true, .width = 1, .precision = prec};
  DtKind k = dt_dtype_info((DtDtype)p->t->m.dtype)->kind;
  f.is_float = k == DT_K_FLOAT || k == DT_K_COMPLEX;
  p->re = p->im = f;
  visit(p, 0, visit_range);
  choose_sci(&p->re, p->o);
  choose_sci(&p->im, p->o);
  visit(p, 0, visit_width);
}

/* ---- printing ------------------------------------------------------------ */

static void pad (DtBuf *b, int n) {
  for (; n > 0; n--) dt_buf_addc(b, ' ');
}

static void add_number (Printer *p, DtScalar v) {
  char s[NUMBER_MAX];
  int n = p->re.is_float ? real_text(&p->re, v.re, s) : exact_text(v, s);
  pad(p->b, p->re.width - n);
  dt_buf_add(p->b, s);
  if (v.kind != DT_K_COMPLEX) return;
  real_text(&p->im, v.im, s);
  if (s[0] != '-') dt_buf_addc(p->b, '+');
  dt_buf_add(p->b, s);
  dt_buf_addc(p->b, 'j');
}

static void newlines (DtBuf *b, int n, int indent) {
  for (; n > 0; n--) dt_buf_addc(b, '\n');
  pad(b, indent);
}

/* Between two items of a row: a new line after `per_line` of them. */
static void row_sep (Printer *p, int64_t nth, int64_t per_line, int indent) {
  if (nth == 0) return;
  if (nth % per_line == 0) {
    dt_buf_addc(p->b, ',');
    newlines(p->b, 1, indent + 1);
  } else {
    dt_buf_add(p->b, ", ");
  }
}

/* As _vector_str (_tensor_str.py@2.15): "..." takes the place of a number in
** the line, and a line holds one at least, however narrow it is. */
static void print_row (Printer *p, int d, int indent) {
  int w = p->re.width + 2;
  if (dt_dtype_is_complex((DtDtype)p->t->m.dtype)) w += p->im.width + 1;
  int64_t per_line = (p->o->linewidth - indent) / w, nth = 0;
  if (per_line < 1) per_line = 1;
  bool cut = is_cut(p, d);
  int64_t n = p->t->m.shape[d], edge = p->o->edgeitems;
  dt_buf_addc(p->b, '[');
  for (int64_t i = 0; i < n; i++) {
    if (cut && i == edge) {
      row_sep(p, nth++, per_line, indent);
      dt_buf_add(p->b, edge == 0 ? "..." : " ...");
      i = n - edge;
      if (i >= n) break;
    }
    p->index[d] = i;
    row_sep(p, nth++, per_line, indent);
    add_number(p, dt_tensor_get(p->t, p->index));
  }
  dt_buf_addc(p->b, ']');
}

/* Brackets of one dimension and what is in them; beyond `edgeitems` at both
** ends the middle is "...". */
static void print_dim (Printer *p, int d, int indent) {
  int left = p->t->m.ndim - d;
  if (left == 1) {
    print_row(p, d, indent);
    return;
  }
  bool cut = is_cut(p, d);
  int64_t n = p->t->m.shape[d], edge = p->o->edgeitems;
  dt_buf_addc(p->b, '[');
  for (int64_t i = 0; i < n; i++) {
    if (i > 0) {
      dt_buf_addc(p->b, ',');
      newlines(p->b, left - 1, indent + 1);
    }
    if (cut && i == edge) {
      dt_buf_add(p->b, "...");
      i = n - edge - 1;
      cut = false;
      continue;
    }
    p->index[d] = i;
    print_dim(p, d + 1, indent + 1);
  }
  dt_buf_addc(p->b, ']');
}

void dt_tensor_print (const DtTensor *t, const DtPrintOpts *o, int indent,
                      DtBuf *b) {
  Printer p = {.t = t, .o = o, .b = b};
  int64_t n = dt_meta_numel(&t->m);
  if (!dt_tensor_has_data(t)) { dt_buf_add(b, "..."); return; }
  if (n == 0) { dt_buf_add(b, "[]"); return; }
  p.summarize = n > o->threshold;
  find_format(&p);
  if (t->m.ndim == 0) add_number(&p, dt_tensor_get(t, p.index));
  else print_dim(&p, 0, indent);
}
