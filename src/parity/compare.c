/* SPDX-License-Identifier: MIT
** parity/compare.c: want (JSON) and got (ours): equal, or the reason. */
#include "parity/parity_int.h"

#include <math.h>

bool dt_fails (DtParity *p, const char *fmt, ...) {
  va_list ap;
  va_start(ap, fmt);
  dt_buf_addv(&p->why, fmt, ap);
  va_end(ap);
  return false;
}

static int add_part (const char *s, size_t n, void *ud) {
  dt_buf_addn(ud, s, n);
  return 0;
}

static void add_json (DtParity *p, const json_t *v) {
  if (v == NULL || json_dump_callback(v, add_part, &p->why, JSON_COMPACT |
                                      JSON_ENCODE_ANY) != 0)
    dt_buf_add(&p->why, "nothing");
}

/* {==== Values ==== */

bool dt_same_ints (DtParity *p, const char *what, const json_t *want,
                   const int64_t *got, int n) {
  bool ok = (int)json_array_size(want) == n;
  for (int i = 0; ok && i < n; i++)
    ok = json_integer_value(json_array_get(want, (size_t)i)) == got[i];
  if (!ok) {
    dt_buf_addf(&p->why, "%s: want ", what);
    add_json(p, want);
    dt_buf_add(&p->why, ", got ");
    dt_buf_add_i64s(&p->why, got, n);
  }
  return ok;
}

bool dt_same_text (DtParity *p, const char *what, const char *want,
                   const char *got) {
  if (want != NULL && got != NULL && strcmp(want, got) == 0)
    return true;
  return dt_fails(p, "%s: want %s, got %s", what,
                  want != NULL ? want : "nothing",
                  got != NULL ? got : "nothing");
}

/* A NaN is only like another one. */
static bool are_same_numbers (double a, double b) {
  return isnan(a) ? isnan(b) : a <= b && a >= b;
}

bool dt_same_num (DtParity *p, const char *what, const json_t *want,
                  double got) {
  double w = dt_jnum(want);
  if (want != NULL && are_same_numbers(w, got))
    return true;
  return dt_fails(p, "%s: want %.17g, got %.17g", what, w, got);
}

bool dt_same_flag (DtParity *p, const char *what, bool want, bool got) {
  if (want == got)
    return true;
  return dt_fails(p, "%s: want %s, got %s", what, want ? "yes" : "no",
                  got ? "yes" : "no");
}

static bool same_list (DtParity *p, const char *what, const json_t *want,
                       const DtValue *got) {
  bool ok = (int)json_array_size(want) == got->u.list.n;
  for (int i = 0; ok && i < got->u.list.n; i++)
    ok = dt_same_value(p, what, json_array_get(want, (size_t)i),
                       &got->u.list.v[i]);
  if (!ok && p->why.len == 0) {
    dt_buf_addf(&p->why, "%s: want ", what);
    add_json(p, want);
    dt_buf_add(&p->why, ", got ");
    dt_value_print(got, NULL, NULL, &p->why);
  }
  return ok;
}

/* A capture has no type for whole numbers, so 2 is taken for 2.0. */
bool dt_same_value (DtParity *p, const char *what, const json_t *want,
                    const DtValue *got) {
  DtJCall none;
  DtValue v;
  const json_t *in = json_object_get(want, "in");
  memset(&none, 0, sizeof none);
  if (in != NULL && got->kind == DT_V_TENSOR &&
      json_integer_value(in) == got->u.slot)
    return true;
  if (json_is_array(want) && got->kind == DT_V_LIST)
    return same_list(p, what, want, got);
  /* an argument that takes a list of one may hold the number itself */
  if (json_is_array(want) && json_array_size(want) == 1)
    return dt_same_value(p, what, json_array_get(want, 0), got);
  if (in == NULL && dt_jvalue(p, want, &none, "", &v)) {
    if (dt_value_equal(&v, got))
      return true;
    if (v.kind == DT_V_INT && got->kind == DT_V_FLOAT &&
        are_same_numbers((double)v.u.i, got->u.f))
      return true;
  }
  dt_buf_addf(&p->why, "%s: want ", what);
  add_json(p, want);
  dt_buf_add(&p->why, ", got ");
  dt_value_print(got, NULL, NULL, &p->why);
  return false;
}

/* }==== Errors ==== */

/* The set in this text prints in any order.  Equal length is all that is
** asked of the rest: the same names in another order. */
static bool same_but_order (const char *want, const char *got) {
  static const char mark[] = "Found reduce ops: {";
  const char *a = strstr(want, mark), *b = strstr(got, mark);
  return a != NULL && b != NULL && a - want == b - got &&
         strncmp(want, got, (size_t)(a - want)) == 0 &&
         strlen(want) == strlen(got);
}

/* The error of a missing backend lists all that the build has, and
** where in its sources: no fact to keep. */
static bool same_but_build (const char *want, const char *got) {
  static const char mark[] = " If you are a Facebook employee";
  const char *a = strstr(want, mark);
  size_t n = a != NULL ? (size_t)(a - want) : 0;
  return a != NULL && strncmp(want, "Could not run '", 15) == 0 &&
         strncmp(want, got, n) == 0;
}

/* 2000: captured texts are cut there (scripts/capture_pytorch.py). */
bool dt_same_error (DtParity *p, const json_t *want, DtStatus st) {
  const char *cls = dt_jstr(want, "class"), *text = dt_jstr(want, "text");
  const DtError *e = &p->cx->err;
  if (st == DT_OK)
    return dt_fails(p, "no error, want %s: %s", cls, text);
  const char *got = dt_buf_str(&e->message);
  bool same = strlen(text) >= 2000 ? strncmp(text, got, strlen(text)) == 0
                                   : strcmp(text, got) == 0;
  if (e->pyclass != NULL && strcmp(cls, e->pyclass) == 0 &&
      (same || same_but_order(text, got) || same_but_build(text, got)))
    return true;
  return dt_fails(p, "want %s: %s, got %s: %s", cls, text,
                  e->pyclass != NULL ? e->pyclass : "?", got);
}

bool dt_no_error (DtParity *p, DtStatus st) {
  if (st == DT_OK)
    return true;
  return dt_fails(p, "error %s: %s",
                  p->cx->err.pyclass != NULL ? p->cx->err.pyclass : "?",
                  dt_buf_str(&p->cx->err.message));
}

/* }==== Placements and specs ==== */

/* As captured cases write it: the mask is given beside. */
static void print_short (DtPlacement pl, DtBuf *b) {
  if (pl.kind == DT_PL_MASK_PARTIAL)
    dt_buf_addf(b, "MaskP(%s)", dt_redop_name((DtRedOp)pl.op));
  else
    dt_pl_print(pl, b);
}

/* Equal placements may print in two ways, _NormP(2) and _NormP(2.0); caches of
** PyTorch's hand out the one they met first. */
static bool equal_norms (DtPlacement pl, const char *want, const char *got) {
  size_t n = strcspn(want, ".)"), k = strcspn(got, ".)");
  return pl.kind == DT_PL_NORM_PARTIAL && n == k &&
         strncmp(want, got, n) == 0 &&
         (strcmp(want + n, ")") == 0 || strcmp(want + n, ".0)") == 0) &&
         (strcmp(got + k, ")") == 0 || strcmp(got + k, ".0)") == 0);
}

bool dt_same_pls (DtParity *p, const char *what, const json_t *want,
                  const DtPlacement *pl, int n) {
  DtBuf b;
  bool ok = (int)json_array_size(want) == n;
  dt_buf_init(&b, p->cx);
  for (int i = 0; ok && i < n; i++) {
    dt_buf_clear(&b);
    print_short(pl[i], &b);
    const char *w = json_string_value(json_array_get(want, (size_t)i));
    /* "None" is in tables of operators without that result */
    ok = w != NULL && (strcmp(w, dt_buf_str(&b)) == 0 ||
                       strcmp(w, "None") == 0 ||
                       equal_norms(pl[i], w, dt_buf_str(&b)) ||
                       (pl[i].kind == DT_PL_NORM_PARTIAL &&
                        strcmp(w, "_NormPartial(sum)") == 0));
  }
  if (!ok) {
    dt_buf_clear(&b);
    for (int i = 0; i < n; i++) {
      dt_buf_add(&b, i > 0 ? "," : "");
      print_short(pl[i], &b);
    }
    dt_buf_addf(&p->why, "%s: want ", what);
    add_json(p, want);
    dt_buf_addf(&p->why, ", got [%s]", dt_buf_str(&b));
  }
  dt_buf_fini(&b);
  return ok;
}

bool dt_same_order (DtParity *p, const char *what, const json_t *want,
                    const DtShardOrder *got) {
  DtShardOrder o;
  if (!json_is_array(want))
    return dt_same_flag(p, what, false, got->known);
  if (dt_order_equal(dt_jorder(want, &o), got))
    return true;
  return dt_fails(p, "%s differs", what);
}

/* No stride is written where it is the contiguous one: for DTensors to the
** letter, for results of plain calls as is_contiguous() has it. */
static bool is_plain_stride (const json_t *want, const DtMeta *got) {
  DtMeta m;
  if (!dt_jis_dist(want))
    return dt_meta_is_contiguous(got);
  dt_meta_copy(&m, got);
  dt_meta_set_contiguous(&m);
  return dt_meta_equal(&m, got);
}

bool dt_same_meta (DtParity *p, const char *what, const json_t *want,
                   const DtMeta *got) {
  const json_t *stride = json_object_get(want, "stride");
  DtDtype d = dt_jdtype(want);
  bool ok = true;
  /* a type that captured cases do not have (uint64) cannot be compared */
  if (d != DT_DTYPE_NONE && d != got->dtype)
    ok = dt_fails(p, "dtype: want %s, got %s", dt_jstr(want, "dt") != NULL
                  ? dt_jstr(want, "dt") : dt_jstr(want, "t"),
                  dt_dtype_info((DtDtype)got->dtype)->name);
  ok = ok && dt_same_ints(p, "shape", json_object_get(want, "shape"),
                          got->shape, got->ndim);
  if (ok && stride != NULL)
    ok = dt_same_ints(p, "stride", stride, got->stride, got->ndim);
  else if (ok && !is_plain_stride(want, got)) {
    dt_buf_add(&p->why, "stride: want contiguous, got ");
    dt_buf_add_i64s(&p->why, got->stride, got->ndim);
    ok = false;
  }
  if (!ok)
    dt_buf_addf(&p->why, " (%s)", what);
  return ok;
}

static bool same_masks (DtParity *p, const json_t *want, const DtSpec *got) {
  const json_t *masks = json_object_get(want, "mask");
  for (int i = 0; i < got->npl; i++) {
    const json_t *m = json_array_get(masks, (size_t)i);
    const DtMaskBuf *k = got->pl[i].u.mask;
    if (got->pl[i].kind != DT_PL_MASK_PARTIAL || !json_is_object(m))
      continue;
    if (k == NULL)
      return dt_fails(p, "mask: none");
    if (!dt_same_ints(p, "mask", json_object_get(m, "shape"), k->shape,
                      k->ndim) ||
        !dt_same_num(p, "mask dim", json_object_get(m, "dim"), k->dim))
      return false;
  }
  return true;
}

static bool same_orders (DtParity *p, const json_t *want, const DtSpec *got) {
  const json_t *order = json_object_get(want, "order");
  const json_t *flag = json_object_get(want, "strided_order");
  DtShardOrder o;
  if (order != NULL) {
    dt_spec_order(got, &o);
    if (!dt_same_order(p, "order", order, &o))
      return false;
  } else if (got->order != NULL && !got->default_order) {
    return dt_fails(p, "order: want the default one");
  }
  if (!dt_spec_has_strided(got))
    return true;
  return dt_same_flag(p, "strided_order",
                      flag == NULL || json_is_true(flag),
                      got->strided_is_order);
}

bool dt_same_spec (DtParity *p, const char *what, const json_t *want,
                   const DtSpec *got) {
  if (want == NULL || json_is_null(want))
    return got == NULL || dt_fails(p, "%s: want none", what);
  if (got == NULL)
    return dt_fails(p, "%s: none", what);
  return dt_same_pls(p, what, json_object_get(want, "pl"), got->pl,
                     got->npl) &&
         dt_same_meta(p, what, want, &got->meta) &&
         same_masks(p, want, got) && same_orders(p, want, got);
}

/* }==== */
