/* SPDX-License-Identifier: MIT
** parity/undetermined.c: elements of results for which PyTorch 2.13 has no
** one answer: the same numbers give another one at another place or length,
** or are wrong in that build.  Rows of undetermined.def name operators, a rule
** over the element and the run of PyTorch that shows it; only the elements
** that a rule covers are left out of the comparison.
**
** A rule sees the inputs as the line has them (written ones are gone when
** results are compared), broadcast to the element's index.  A row without a
** rule covers lines that fail as a whole. */
#include "parity/parity_int.h"

#include <math.h>

/* The element in question. */
typedef struct At {
  DtParity *p;
  const DtMeta *m;
  const int64_t *index;
  DtScalar want, got;
} At;

typedef bool (*RuleFn) (const At *at);

/* {==== Inputs ==== */

/* Argument k; of a list of tensors the one of this result. */
static const json_t *argument (const At *at, int k) {
  const json_t *v = json_array_get(json_object_get(at->p->line, "args"),
                                   (size_t)k);
  return json_is_array(v) ? json_array_get(v, (size_t)at->p->nth) : v;
}

/* Row-major place of the element in a tensor broadcast to the result; -1 when
** it is of another shape. */
static int64_t place (const At *at, const json_t *t) {
  int64_t shape[DT_MAX_NDIM], flat = 0;
  int n = dt_jints(json_object_get(t, "shape"), shape, DT_MAX_NDIM);
  int skip = at->m->ndim - n;
  if (n < 0 || skip < 0) return -1;
  for (int d = 0; d < n; d++) {
    int64_t i = shape[d] == 1 ? 0 : at->index[skip + d];
    if (i >= shape[d]) return -1;
    flat = flat * shape[d] + i;
  }
  return flat;
}

/* The number of argument k that this element is made of. */
static bool input (const At *at, int k, double *out) {
  const json_t *v = argument(at, k);
  if (dt_jis_plain(v)) {
    int64_t i = place(at, v);
    v = i < 0 ? NULL
              : json_array_get(json_object_get(v, "data"), (size_t)i);
  }
  if (v == NULL || json_object_get(v, "c") != NULL) return false;
  *out = json_is_boolean(v) ? json_is_true(v) : dt_jnum(v);
  return true;
}

static bool input_is_nan (const At *at, int k) {
  double x;
  return input(at, k, &x) && isnan(x);
}

static bool is_zero (double x) { return fpclassify(x) == FP_ZERO; }

/* }==== Rules ==== */

static bool first_nan (const At *at) { return input_is_nan(at, 0); }
static bool second_nan (const At *at) { return input_is_nan(at, 1); }

static bool nan_of_degree_2 (const At *at) {
  double n;
  return input_is_nan(at, 0) && input(at, 1, &n) && n >= 2;
}

static bool infinite (const At *at) {
  double x;
  return input(at, 0, &x) && isinf(x);
}

/* Every operand is a zero: which sign? */
static bool zeros (const At *at) {
  double x;
  for (int k = 0; k < 3 && argument(at, k) != NULL; k++)
    if (input(at, k, &x) && !is_zero(x)) return false;
  return is_zero(at->want.re) && is_zero(at->got.re);
}

static bool zero_result (const At *at) {
  return is_zero(at->want.re) && is_zero(at->got.re);
}

/* The extreme of a row that holds zeros of both signs. */
static bool zero_of_many (const At *at) {
  const json_t *data = json_object_get(argument(at, 0), "data");
  bool plus = false, minus = false;
  for (size_t i = 0; i < json_array_size(data); i++) {
    double x = dt_jnum(json_array_get(data, i));
    plus = plus || (is_zero(x) && !signbit(x));
    minus = minus || (is_zero(x) && signbit(x));
  }
  return plus && minus && zero_result(at);
}

static bool is_type (const json_t *t, const char *name) {
  return dt_jis_plain(t) && strcmp(dt_jstr(t, "t"), name) == 0;
}

static bool bf16_nan (const At *at) {
  for (int k = 0; k < 2; k++)
    if (is_type(argument(at, k), "bf16") && input_is_nan(at, k)) return true;
  return false;
}

static bool half (const At *at) {
  return is_type(argument(at, 0), "bf16") || is_type(argument(at, 0), "f16");
}

/* Element `i` along `dim` of argument 0, at this element's other indices. */
static bool chosen (const At *at, int dim, int64_t i, double *out) {
  const json_t *t = argument(at, 0);
  int64_t shape[DT_MAX_NDIM], flat = 0;
  int n = dt_jints(json_object_get(t, "shape"), shape, DT_MAX_NDIM), k = 0;
  for (int d = 0; d < n; d++) {
    bool kept = at->m->ndim == n;
    int64_t x = d == dim ? i : k < at->m->ndim ? at->index[k] : 0;
    k += d != dim || kept;
    if (x < 0 || x >= shape[d]) return false;
    flat = flat * shape[d] + x;
  }
  const json_t *v = json_array_get(json_object_get(t, "data"), (size_t)flat);
  if (v == NULL) return false;
  *out = json_is_boolean(v) ? json_is_true(v) : dt_jnum(v);
  return true;
}

/* Positions of equal elements. */
static bool equal_elements (const At *at) {
  const json_t *args = json_object_get(at->p->line, "args");
  const json_t *d = json_array_get(args, 2);
  int n = (int)json_array_size(json_object_get(argument(at, 0), "shape"));
  int64_t dim = d != NULL ? json_integer_value(d)
                : dt_jint(json_object_get(at->p->line, "kw"), "dim", -1);
  double x, y;
  dim = dim < 0 ? dim + n : dim;
  return at->p->nth == 1 && at->want.kind == DT_K_INT &&
         chosen(at, (int)dim, at->want.i, &x) &&
         chosen(at, (int)dim, at->got.i, &y) &&
         ((isnan(x) && isnan(y)) || is_zero(x - y));
}

/* }==== The table ==== */

static const struct Row {
  const char *suite;
  RuleFn rule;
  DtOpenRule told;
} rows[] = {
#define X(suite, ops, rule, why, run) { suite, rule, { ops, why, run } },
#define LINE NULL
#include "parity/undetermined.def"
#undef LINE
#undef X
  { NULL, NULL, { NULL, NULL, NULL } }
};

/* Is `name` (aten.base.overload) in the list?  An entry without a point means
** all overloads and the one in place. */
static bool listed (const char *ops, const char *name) {
  const char *base = name + strlen("aten.");
  size_t full = strlen(base), n = strcspn(base, ".");
  size_t bare = n > 1 && base[n - 1] == '_' ? n - 1 : n;
  for (const char *s = ops; *s != '\0'; s += strspn(s, " ")) {
    size_t k = strcspn(s, " ");
    if (strncmp(s, base, k) == 0 && (k == full || k == n || k == bare))
      return true;
    s += k;
  }
  return false;
}

static const struct Row *find (DtParity *p, const At *at) {
  const char *op = dt_jstr(p->line, "op"), *id = dt_jstr(p->line, "id");
  if (op == NULL || strncmp(op, "aten.", 5) != 0) return NULL;
  for (const struct Row *r = rows; r->suite != NULL; r++)
    if (strncmp(id, r->suite, strlen(r->suite)) == 0 &&
        (r->rule == NULL) == (at == NULL) && listed(r->told.ops, op) &&
        (at == NULL || r->rule(at)))
      return r;
  return NULL;
}

bool dt_open_element (DtParity *p, const DtMeta *m, const int64_t *index,
                      DtScalar want, DtScalar got) {
  At at = { p, m, index, want, got };
  const struct Row *r = find(p, &at);
  if (r == NULL) return false;
  p->open = &r->told;
  p->nopen++;
  return true;
}

bool dt_open_line (DtParity *p) {
  const struct Row *r = p->open == NULL ? find(p, NULL) : NULL;
  if (p->open != NULL) return true;         /* the suite found it */
  if (r == NULL) return false;
  p->open = &r->told;
  return true;
}

/* }==== */
