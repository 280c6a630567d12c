/* SPDX-License-Identifier: MIT
** spmd/axis.c: mesh axes as layouts, and what they are called. */
#include <stdlib.h>
#include <string.h>
#include "spmd/spmd.h"
#include "spmd/rule_int.h"

void dt_spmd_init (DtSpmd *s, DtCtx *cx) {
  memset(s, 0, sizeof *s);
  s->cx = cx;
  s->nmesh = -1;
  s->strict = s->grad_mode = true;
}

void dt_spmd_fini (DtSpmd *s) {
  for (int i = 0; i < s->naxes; i++)
    for (int j = 0; j < s->axis[i].nnames; j++)
      dt_free(s->cx, s->axis[i].name[j]);
  dt_free(s->cx, s->axis);
  dt_spmd_forget_known(s);
  s->axis = NULL;
  s->naxes = s->cap = 0;
}

const DtSpmdAxis *dt_spmd_axis_at (const DtSpmd *s, int axis) {
  return axis >= 1 && axis <= s->naxes ? &s->axis[axis - 1] : NULL;
}

int64_t dt_spmd_axis_size (const DtSpmd *s, int axis) {
  const DtSpmdAxis *a = dt_spmd_axis_at(s, axis);
  int64_t n = 1;
  for (int i = 0; a != NULL && i < a->n; i++) n *= a->size[i];
  return n;
}

/* {==== Layouts ==== */

/* A part joins the one outside it where the two are one run of ranks.  One
** layout has one form, and equal layouts get one number: types compare axes
** by number. */
static DtStatus coalesce (DtSpmd *s, int n, const int64_t *size,
                          const int64_t *stride, DtSpmdAxis *a) {
  memset(a, 0, sizeof *a);
  for (int i = 0; i < n; i++) {
    DT_CHECK(s->cx, size[i] >= 1 && stride[i] >= 0, DT_E_VALUE,
             "a mesh axis has sizes and strides above 0");
    if (size[i] == 1) continue;
    if (a->n > 0 && a->stride[a->n - 1] == stride[i] * size[i]) {
      a->size[a->n - 1] *= size[i];
      a->stride[a->n - 1] = stride[i];
      continue;
    }
    DT_CHECK(s->cx, a->n < DT_SPMD_PARTS, DT_E_LIMIT,
             "a mesh axis of more than %d parts", DT_SPMD_PARTS);
    a->size[a->n] = size[i];
    a->stride[a->n++] = stride[i];
  }
  return DT_OK;
}

static bool same_layout (const DtSpmdAxis *a, const DtSpmdAxis *b) {
  size_t bytes = sizeof a->size[0] * (size_t)a->n;
  return a->n == b->n && memcmp(a->size, b->size, bytes) == 0 &&
         memcmp(a->stride, b->stride, bytes) == 0;
}

/* The names move with the entries that own them; only the old array is
** freed. Pointers from dt_spmd_axis_at are good until the next axis is made. */
DtStatus dt_spmd_axis (DtSpmd *s, int n, const int64_t *size,
                       const int64_t *stride, int *out) {
  DtSpmdAxis a;
  DT_TRY(s->cx, coalesce(s, n, size, stride, &a));
  for (int i = 0; i < s->naxes; i++)
    if (same_layout(&s->axis[i], &a)) {
      *out = i + 1;
      return DT_OK;
    }
  if (s->naxes == s->cap) {
    int cap = s->cap ? 2 * s->cap : 8;
    DtSpmdAxis *more = DT_NEWN(s->cx, DtSpmdAxis, cap);
    if (more == NULL) return DT_E_NOMEM;
    if (s->naxes > 0)
      memcpy(more, s->axis, sizeof *more * (size_t)s->naxes);
    dt_free(s->cx, s->axis);
    s->axis = more;
    s->cap = cap;
  }
  s->axis[s->naxes++] = a;
  *out = s->naxes;
  return DT_OK;
}

/* The ranks' distances as parts, innermost first: the runs of equal steps. */
DtStatus dt_spmd_axis_of_ranks (DtSpmd *s, int n, const int64_t *ranks,
                                int *out) {
  int64_t size[DT_SPMD_PARTS], stride[DT_SPMD_PARTS], run = 1;
  int parts = 0;
  while (run < n) {
    int64_t step = ranks[run] - ranks[0], k = 1;
    while (run * (k + 1) <= n && ranks[run * k] - ranks[0] == step * k) k++;
    DT_CHECK(s->cx, parts < DT_SPMD_PARTS && step > 0 && k > 1 && n % run == 0,
             DT_E_VALUE, "these ranks are no mesh axis");
    for (int64_t i = 0; i < run * k; i++)
      DT_CHECK(s->cx, ranks[i] - ranks[0] == ranks[i % run] - ranks[0] +
               i / run * step, DT_E_VALUE, "these ranks are no mesh axis");
    memmove(size + 1, size, sizeof *size * (size_t)parts);
    memmove(stride + 1, stride, sizeof *stride * (size_t)parts);
    size[0] = k;
    stride[0] = step;
    parts++;
    run *= k;
  }
  DT_CHECK(s->cx, run == n || n == 0, DT_E_VALUE, "these ranks are no mesh axis");
  return dt_spmd_axis(s, parts, size, stride, out);
}

/* The axis' offsets of ranks, counted by k in [0, total). */
static int64_t offset_at (const DtSpmdAxis *a, int64_t k) {
  int64_t at = 0;
  for (int i = a->n - 1; i >= 0; i--) {
    at += k % a->size[i] * a->stride[i];
    k /= a->size[i];
  }
  return at;
}

bool dt_spmd_within (const DtSpmd *s, int a, int b) {
  const DtSpmdAxis *x = dt_spmd_axis_at(s, a), *y = dt_spmd_axis_at(s, b);
  int64_t n = dt_spmd_axis_size(s, a), m = dt_spmd_axis_size(s, b);
  if (x == NULL || y == NULL) return false;
  for (int64_t i = 0; i < n; i++) {
    int64_t at = offset_at(x, i), j = 0;
    while (j < m && offset_at(y, j) != at) j++;
    if (j == m) return false;
  }
  return true;
}

/* Do the parts, the smallest stride first, each begin outside of what those
** before span? */
static bool spans_apart (int n, int64_t *size, int64_t *stride) {
  int64_t span = 0;
  for (int i = 0; i < n; i++) {
    for (int j = i + 1; j < n; j++)
      if (stride[j] < stride[i]) {
        int64_t t = stride[i], u = size[i];
        stride[i] = stride[j];
        size[i] = size[j];
        stride[j] = t;
        size[j] = u;
      }
    if (stride[i] <= span) return false;
    span += (size[i] - 1) * stride[i];
  }
  return true;
}

bool dt_spmd_orthogonal (const DtSpmd *s, int a, int b) {
  const DtSpmdAxis *x = dt_spmd_axis_at(s, a), *y = dt_spmd_axis_at(s, b);
  int64_t size[2 * DT_SPMD_PARTS], stride[2 * DT_SPMD_PARTS];
  int n = 0;
  if (x == NULL || y == NULL) return false;
  for (int i = 0; i < x->n; i++, n++) {
    size[n] = x->size[i];
    stride[n] = x->stride[i];
  }
  for (int i = 0; i < y->n; i++, n++) {
    size[n] = y->size[i];
    stride[n] = y->stride[i];
  }
  return spans_apart(n, size, stride);
}

/* }==== */

/* {==== Products ==== */

static int by_stride (const DtSpmd *s, int a, int b) {
  const DtSpmdAxis *x = dt_spmd_axis_at(s, a), *y = dt_spmd_axis_at(s, b);
  int64_t p = x->n > 0 ? x->stride[0] : 0, q = y->n > 0 ? y->stride[0] : 0;
  return p > q ? -1 : p < q;
}

/* Is the product of these, outermost first, the axis? */
static bool makes (const DtSpmd *s, const DtSpmdAxis *want, int n,
                   const int *list) {
  int64_t size[DT_SPMD_PARTS * DT_SPMD_AXES],
          stride[DT_SPMD_PARTS * DT_SPMD_AXES];
  DtSpmdAxis got;
  int m = 0;
  memset(&got, 0, sizeof got);
  for (int i = 0; i < n; i++) {
    const DtSpmdAxis *a = dt_spmd_axis_at(s, list[i]);
    for (int j = 0; j < a->n; j++, m++) {
      size[m] = a->size[j];
      stride[m] = a->stride[j];
    }
  }
  for (int i = 0; i < m; i++) {
    if (got.n > 0 && got.stride[got.n - 1] == stride[i] * size[i]) {
      got.size[got.n - 1] *= size[i];
      got.stride[got.n - 1] = stride[i];
    } else if (got.n < DT_SPMD_PARTS) {
      got.size[got.n] = size[i];
      got.stride[got.n++] = stride[i];
    } else
      return false;
  }
  return same_layout(&got, want);
}

/* All subsets are tried: at most 256 (DT_SPMD_AXES is 8). The first that
** makes the axis is taken, not the shortest. */
int dt_spmd_parts (const DtSpmd *s, int axis, int n, const int *list,
                   int *out) {
  const DtSpmdAxis *want = dt_spmd_axis_at(s, axis);
  int inside[DT_SPMD_AXES], k = 0;
  if (want == NULL) return 0;
  for (int i = 0; i < n && k < DT_SPMD_AXES; i++)
    if (dt_spmd_axis_size(s, list[i]) > 1 && dt_spmd_within(s, list[i], axis))
      inside[k++] = list[i];
  for (int i = 1; i < k; i++)
    for (int j = i; j > 0 && by_stride(s, inside[j], inside[j - 1]) < 0; j--) {
      int t = inside[j];
      inside[j] = inside[j - 1];
      inside[j - 1] = t;
    }
  for (unsigned set = 1; set < 1u << k; set++) {
    int m = 0;
    for (int i = 0; i < k; i++)
      if (set >> i & 1u) out[m++] = inside[i];
    if (makes(s, want, m, out)) return m;
  }
  return 0;
}

/* }==== */

/* {==== Names ==== */

void dt_spmd_forget_names (DtSpmd *s) {
  for (int i = 0; i < s->naxes; i++) {
    for (int j = 0; j < s->axis[i].nnames; j++)
      dt_free(s->cx, s->axis[i].name[j]);
    s->axis[i].nnames = 0;
  }
}

DtStatus dt_spmd_name_axis (DtSpmd *s, int axis, const char *name) {
  DtSpmdAxis *a = (DtSpmdAxis *)dt_spmd_axis_at(s, axis);
  int i = 0;
  char *copy;
  if (a == NULL) return dt_raise(s->cx, DT_E_VALUE, "no such mesh axis");
  while (i < a->nnames && strcmp(a->name[i], name) < 0) i++;
  if (i < a->nnames && strcmp(a->name[i], name) == 0) return DT_OK;
  if (a->nnames == DT_SPMD_NAMES) return DT_OK;         /* named enough */
  copy = dt_strdup(s->cx, name);
  if (copy == NULL) return DT_E_NOMEM;
  memmove(a->name + i + 1, a->name + i,
          sizeof a->name[0] * (size_t)(a->nnames - i));
  a->name[i] = copy;
  a->nnames++;
  return DT_OK;
}

static const char *name_of (const DtSpmdAxis *a) {
  for (int i = 0; i < a->nnames; i++)
    if (strcmp(a->name[i], "default_pg") != 0) return a->name[i];
  return a->nnames > 0 ? a->name[0] : NULL;
}

static void add_layout (const DtSpmdAxis *a, DtBuf *b) {
  if (a->n == 1) {
    dt_buf_addf(b, "%lld:%lld", (long long)a->size[0], (long long)a->stride[0]);
    return;
  }
  dt_buf_add_tuple(b, a->size, a->n);
  dt_buf_addc(b, ':');
  dt_buf_add_tuple(b, a->stride, a->n);
}

/* Is the name that of another layout, too? */
static bool is_shared (const DtSpmd *s, const DtSpmdAxis *a,
                       const char *name) {
  for (int i = 0; i < s->naxes; i++)
    for (int j = 0; j < s->axis[i].nnames; j++)
      if (&s->axis[i] != a && s->axis[i].n > 0 &&
          strcmp(s->axis[i].name[j], name) == 0)
        return true;
  return false;
}

/* A product of axes that have names. */
static bool add_product (const DtSpmd *s, int axis, DtBuf *b) {
  int named[DT_SPMD_AXES], part[DT_SPMD_AXES], n = 0, m;
  for (int i = 0; i < s->naxes && n < DT_SPMD_AXES; i++)
    if (i + 1 != axis && s->axis[i].n > 0 && s->axis[i].nnames > 0)
      named[n++] = i + 1;
  m = dt_spmd_parts(s, axis, n, named, part);
  for (int i = 0; m > 1 && i < m; i++) {
    dt_buf_addc(b, i == 0 ? '{' : ',');
    dt_buf_add(b, name_of(dt_spmd_axis_at(s, part[i])));
  }
  if (m > 1) dt_buf_addc(b, '}');
  return m > 1;
}

/* A mesh axis as spmd_types prints it: its name, with its layout where two
** axes share the name, or the axes it is a product of, or the layout alone. */
void dt_spmd_axis_text (const DtSpmd *s, int axis, DtBuf *b) {
  const DtSpmdAxis *a = dt_spmd_axis_at(s, axis);
  const char *name = a != NULL ? name_of(a) : NULL;
  if (a == NULL) {
    dt_buf_addf(b, "axis %d", axis);
  } else if (name != NULL) {
    dt_buf_add(b, name);
    if (a->n == 0) {
      dt_buf_add(b, "(trivial)");
    } else if (is_shared(s, a, name)) {
      dt_buf_addc(b, '[');
      add_layout(a, b);
      dt_buf_addc(b, ']');
    }
  } else if (a->n == 0) {
    dt_buf_add(b, "MeshAxis(trivial)");
  } else if (!add_product(s, axis, b)) {
    dt_buf_add(b, "MeshAxis(");
    add_layout(a, b);
    dt_buf_addc(b, ')');
  }
}

/* Is axis a shown before b?  By their largest stride, then by name. */
static bool shown_before (const DtSpmd *s, int a, int b) {
  int order = by_stride(s, a, b);
  DtBuf x, y;
  if (order != 0) return order < 0;
  dt_buf_init(&x, s->cx);
  dt_buf_init(&y, s->cx);
  dt_spmd_axis_text(s, a, &x);
  dt_spmd_axis_text(s, b, &y);
  order = strcmp(dt_buf_str(&x), dt_buf_str(&y));
  dt_buf_fini(&x);
  dt_buf_fini(&y);
  return order < 0;
}

void dt_spmd_axes_text (const DtSpmd *s, int n, const int *axes, DtBuf *b) {
  int list[DT_SPMD_AXES * 4];
  int m = 0;
  for (int i = 0; i < n && m < DT_SPMD_AXES * 4; i++) {
    int j = m++;
    for (; j > 0 && shown_before(s, axes[i], list[j - 1]); j--)
      list[j] = list[j - 1];
    list[j] = axes[i];
  }
  dt_buf_addc(b, '{');
  for (int i = 0; i < m; i++) {
    if (i > 0) dt_buf_add(b, ", ");
    dt_spmd_axis_text(s, list[i], b);
  }
  dt_buf_addc(b, '}');
}

/* }==== */
