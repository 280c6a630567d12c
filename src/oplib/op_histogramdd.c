/* SPDX-License-Identifier: MIT
** oplib/op_histogramdd.c: how many rows of numbers lie in each box of a grid.
**
** The three operators that histogramdd is made of: the edges of equal bins, and
** the counts in such bins or between given edges.  A row is the last dim, a
** number for each dimension of the grid; rows with a number outside are not
** counted, the last bin has its right end.  PyTorch has no strategy for them. */
#include <math.h>
#include <string.h>

#include "oplib/op_unwritten.h"
#include "tensor/dtype_text.h"

#define NAME "torch.histogramdd: "

enum { A_BINS = 1, MAX_GRID = DT_MAX_NDIM };

/* The grid: edges of each dimension, and what was read. */
typedef struct Grid {
  int n;                        /* dimensions */
  int64_t rows, count[MAX_GRID];        /* rows; edges of a dimension */
  double *edge[MAX_GRID], *x, *w;       /* w: weights, NULL: 1 each */
  DtTensor *t[MAX_GRID + 2];    /* what they lie in */
  int nt;
} Grid;

static void grid_fini (DtCtx *cx, Grid *g) {
  for (int i = 0; i < g->nt; i++) dt_tensor_unref(cx, g->t[i]);
}

/* Room for `n` doubles, with the numbers of `from` unless that is NULL. */
static DtStatus doubles (DtCtx *cx, Grid *g, int64_t n, const DtTensor *from,
                         double **out) {
  DtTensor **t = &g->t[g->nt];
  void *p;
  DT_TRY(cx, from ? op_temp(cx, DT_F64, from->m.ndim, from->m.shape, t)
                  : op_temp(cx, DT_F64, 1, &n, t));
  g->nt++;
  if (from) DT_TRY(cx, dt_k_copy(cx, from, *t));
  DT_TRY(cx, dt_tensor_data(cx, *t, &p));
  *out = p;
  return DT_OK;
}

/* As torch.histogram says it, of which this is the general form. */
static DtStatus check_count (DtCtx *cx, int64_t n, int i) {
  DT_CHECK(cx, n > 0, DT_E_RUNTIME, "torch.histogram(): bins must be > 0, but got "
           "%lld for dimension %d", (long long)n, i);
  return DT_OK;
}

static DtStatus check_input (DtMetaCall *c, int bins) {
  const DtMeta *m = c->in[0];
  DT_CHECK(c->cx, m->ndim >= 2, DT_E_RUNTIME, NAME "input tensor should have at "
           "least 2 dimensions");
  DT_CHECK(c->cx, m->shape[m->ndim - 1] == bins, DT_E_RUNTIME, "histogramdd: The "
           "size of bins must be equal to the innermost dimension of the input.");
  DT_CHECK(c->cx, bins <= MAX_GRID, DT_E_LIMIT, "at most %d dimensions of bins",
           MAX_GRID);
  return DT_OK;
}

static DtStatus counts_given (DtMetaCall *c, int64_t *n) {
  int k = dt_arg_len(c->args, A_BINS);
  DT_TRY(c->cx, check_input(c, k));
  (void)op_ints(c->args, A_BINS, n);
  for (int i = 0; i < k; i++) DT_TRY(c->cx, check_count(c->cx, n[i], i));
  return DT_OK;
}

static DtStatus edges_meta (DtMetaCall *c) {
  int64_t n[DT_MAX_NDIM];
  DT_TRY(c->cx, counts_given(c, n));
  c->nout = dt_arg_len(c->args, A_BINS);
  for (int i = 0; i < c->nout; i++) {
    n[i]++;
    DT_TRY(c->cx, op_new_meta(c->cx, &c->out[i], (DtDtype)c->in[0]->dtype, 1,
                              &n[i], c->in[0]));
  }
  return DT_OK;
}

static DtStatus from_counts_meta (DtMetaCall *c) {
  int64_t n[DT_MAX_NDIM];
  DT_TRY(c->cx, counts_given(c, n));
  c->nout = 1;
  return op_new_meta(c->cx, &c->out[0], (DtDtype)c->in[0]->dtype,
                     dt_arg_len(c->args, A_BINS), n, c->in[0]);
}

static DtStatus from_edges_meta (DtMetaCall *c) {
  int64_t n[DT_MAX_NDIM];
  int slot[MAX_GRID], k = dt_arg_slots(c->args, A_BINS, slot, MAX_GRID);
  DT_TRY(c->cx, check_input(c, k));
  for (int i = 0; i < k; i++) {
    const DtMeta *m = c->in[slot[i]];
    DT_CHECK(c->cx, m->dtype == c->in[0]->dtype, DT_E_RUNTIME, NAME "input tensor "
             "and bins tensors should have the same dtype, but got input with "
             "dtype %s and bins for dimension %d with dtype %s",
             dt_dtype_info((DtDtype)c->in[0]->dtype)->cpp, i,
             dt_dtype_info((DtDtype)m->dtype)->cpp);
    DT_CHECK(c->cx, m->ndim == 1, DT_E_RUNTIME, NAME "bins tensor should have one "
             "dimension, but got %d dimensions in the bins tensor for dimension "
             "%d", m->ndim, i);
    DT_CHECK(c->cx, m->shape[0] > 0, DT_E_RUNTIME, NAME "bins tensor should have "
             "at least 1 element, but got 0 elements in the bins tensor for "
             "dimension %d", i);
    DT_TRY(c->cx, check_count(c->cx, m->shape[0] - 1, i));
    n[i] = m->shape[0] - 1;
  }
  c->nout = 1;
  return op_new_meta(c->cx, &c->out[0], (DtDtype)c->in[0]->dtype, k, n, c->in[0]);
}

/* One weight a row: the input's shape without its last dim. */
static DtStatus check_weight (DtCtx *cx, const DtMeta *x, const DtMeta *w) {
  DtMeta want = *x;
  want.ndim--;
  DT_CHECK(cx, w->dtype == x->dtype, DT_E_RUNTIME, NAME "if weight tensor is "
           "provided, input tensor and weight tensor should have the same dtype, "
           "but got input(%s), and weight(%s)",
           dt_dtype_info((DtDtype)x->dtype)->cpp,
           dt_dtype_info((DtDtype)w->dtype)->cpp);
  DT_CHECK(cx, dt_meta_same_shape(&want, w), DT_E_RUNTIME, NAME "if weight tensor "
           "is provided it should have the same shape as the input tensor "
           "excluding its innermost dimension, but got input with shape %s and "
           "weight with shape %s", op_shape_text(x).s, op_shape_text(w).s);
  return DT_OK;
}

static DtStatus read_rows (DtKernelCall *c, Grid *g) {
  const DtTensor *x = c->in[0];
  DtTensor *w = dt_kin(c, dt_schema_arg(c->op->sig, "weight"));
  DtDtype t = (DtDtype)x->m.dtype;
  DT_CHECK(c->cx, t == DT_F32 || t == DT_F64, DT_E_NOTIMPL,
           "\"histogramdd\" not implemented for '%s'", dt_dtype_word(t));
  g->n = (int)x->m.shape[x->m.ndim - 1];
  g->rows = g->n ? dt_meta_numel(&x->m) / g->n : 0;
  if (w != NULL) DT_TRY(c->cx, check_weight(c->cx, &x->m, &w->m));
  DT_TRY(c->cx, doubles(c->cx, g, 0, x, &g->x));
  return w ? doubles(c->cx, g, 0, w, &g->w) : DT_OK;
}

/* The ends of dimension i: as given, or of the rows. */
static DtStatus find_ends (DtKernelCall *c, const Grid *g, int i, double end[2]) {
  const DtValue *r = &c->args->v[dt_schema_arg(c->op->sig, "range")];
  end[0] = 0;
  end[1] = g->rows > 0 ? 0 : 1;
  if (r->kind == DT_V_LIST) {
    DT_CHECK(c->cx, r->u.list.n == 2 * g->n, DT_E_RUNTIME, NAME "for a "
             "%d-dimensional histogram range should have %d elements, but got %d",
             g->n, 2 * g->n, r->u.list.n);
    for (int k = 0; k < 2; k++) {
      const DtValue *e = &r->u.list.v[2 * i + k];
      end[k] = e->kind == DT_V_FLOAT ? e->u.f : (double)e->u.i;
    }
  } else if (g->rows > 0) {
    end[0] = end[1] = g->x[i];
    for (int64_t k = 1; k < g->rows; k++) {
      double v = g->x[k * g->n + i];
      if (!(v >= end[0])) end[0] = v;   /* NaN stays, and is refused */
      if (!(v <= end[1])) end[1] = v;
    }
  }
  DT_CHECK(c->cx, isfinite(end[0]) && isfinite(end[1]), DT_E_RUNTIME, NAME
           "dimension %d's range [%g, %g] is not finite", i, end[0], end[1]);
  DT_CHECK(c->cx, end[0] <= end[1], DT_E_RUNTIME, NAME "min should not exceed "
           "max, but got min %g max %g for dimension %d", end[0], end[1], i);
  if (!(end[0] < end[1])) {
    end[0] -= 0.5;
    end[1] += 0.5;
  }
  return DT_OK;
}

/* Edges at equal steps, computed from the nearer end, in the rows' type. */
static DtStatus even_edges (DtKernelCall *c, Grid *g) {
  DtDtype t = (DtDtype)c->in[0]->m.dtype;
  int64_t bins[DT_MAX_NDIM];
  (void)op_ints(c->args, A_BINS, bins);
  for (int i = 0; i < g->n; i++) {
    double end[2];
    int64_t n = bins[i] + 1;
    DT_TRY(c->cx, find_ends(c, g, i, end));
    DT_TRY(c->cx, doubles(c->cx, g, n, NULL, &g->edge[i]));
    g->count[i] = n;
    double lo = op_held(t, end[0]), hi = op_held(t, end[1]);
    double step = op_held(t, op_held(t, hi - lo) / (double)(n - 1));
    for (int64_t k = 0; k < n; k++)
      g->edge[i][k] = k < n / 2 ? op_held(t, lo + step * (double)k)
                                : op_held(t, hi - step * (double)(n - 1 - k));
  }
  return DT_OK;
}

static DtStatus given_edges (DtKernelCall *c, Grid *g) {
  int slot[MAX_GRID], k = dt_arg_slots(c->args, A_BINS, slot, MAX_GRID);
  for (int i = 0; i < k; i++) {
    g->count[i] = c->in[slot[i]]->m.shape[0];
    DT_TRY(c->cx, doubles(c->cx, g, 0, c->in[slot[i]], &g->edge[i]));
  }
  return DT_OK;
}

/* The bin of v, -1 outside: the last edge that is not above it. */
static int64_t bin_of (const double *edge, int64_t n, double v) {
  int64_t lo = 0, hi = n - 1;
  if (!(v >= edge[0]) || !(v <= edge[n - 1])) return -1;
  while (hi - lo > 1) {
    int64_t mid = lo + (hi - lo) / 2;
    if (v < edge[mid]) hi = mid;
    else lo = mid;
  }
  return lo;
}

static void count_rows (const Grid *g, double *out) {
  for (int64_t r = 0; r < g->rows; r++) {
    int64_t at = 0;
    for (int i = 0; i < g->n && at >= 0; i++) {
      int64_t b = bin_of(g->edge[i], g->count[i], g->x[r * g->n + i]);
      at = b < 0 ? -1 : at * (g->count[i] - 1) + b;
    }
    if (at >= 0) out[at] += g->w ? g->w[r] : 1;
  }
}

/* Shares of the sum, over the size of their box. */
static void make_density (const Grid *g, int64_t n, double *out) {
  double sum = 0;
  for (int64_t i = 0; i < n; i++) sum += out[i];
  for (int64_t i = 0; i < n; i++) {
    int64_t at = i;
    out[i] /= sum;
    for (int d = g->n - 1; d >= 0; d--) {
      int64_t k = at % (g->count[d] - 1);
      at /= g->count[d] - 1;
      out[i] /= g->edge[d][k + 1] - g->edge[d][k];
    }
  }
}

static DtStatus edges_kernel (DtKernelCall *c) {
  Grid g = { 0 };
  DtStatus st;
  DT_TRYG(c->cx, read_rows(c, &g));
  DT_TRYG(c->cx, even_edges(c, &g));
  for (int i = 0; i < g.n; i++)
    DT_TRYG(c->cx, dt_k_copy(c->cx, g.t[g.nt - g.n + i], c->out[i]));
done:
  grid_fini(c->cx, &g);
  return st;
}

static DtStatus counts_kernel (DtKernelCall *c) {
  Grid g = { 0 };
  DtTensor *t = NULL;
  DtStatus st;
  void *sum;
  bool even = strcmp(c->op->sig->base, "_histogramdd_from_bin_cts") == 0;
  DT_TRYG(c->cx, read_rows(c, &g));
  DT_TRYG(c->cx, even ? even_edges(c, &g) : given_edges(c, &g));
  DT_TRYG(c->cx, op_temp(c->cx, DT_F64, c->out[0]->m.ndim, c->out[0]->m.shape,
                         &t));
  DT_TRYG(c->cx, dt_k_fill(c->cx, t, dt_scalar_int(0)));
  DT_TRYG(c->cx, dt_tensor_data(c->cx, t, &sum));
  count_rows(&g, sum);
  if (dt_arg_bool(c->args, dt_schema_arg(c->op->sig, "density")))
    make_density(&g, dt_meta_numel(&c->out[0]->m), sum);
  st = dt_k_copy(c->cx, t, c->out[0]);
done:
  dt_tensor_unref(c->cx, t);
  grid_fini(c->cx, &g);
  return st;
}

#define REST "Tensor? weight=None, bool density=False) -> Tensor"
static const char *const count_samples[] = { "f32[8, 2], [2, 3]", NULL };
static const char *const edge_samples[] = {
  "f32[8, 2], [f32[3], f32[4]]", NULL
};
OP_DEF(_histogramdd_bin_edges, "aten::_histogramdd_bin_edges(Tensor self, int[] "
       "bins, *, float[]? range=None, " REST "[]", "Edges of equal bins in each "
       "dimension.", DT_OP_NOSTRATEGY, edges_meta, edges_kernel, op_g_absent,
       count_samples, .row = NULL);
OP_DEF(_histogramdd_from_bin_cts, "aten::_histogramdd_from_bin_cts(Tensor self, "
       "int[] bins, *, float[]? range=None, " REST, "Rows counted in equal boxes.",
       DT_OP_NOSTRATEGY, from_counts_meta, counts_kernel, op_g_absent,
       count_samples, .row = NULL);
OP_DEF(_histogramdd_from_bin_tensors, "aten::_histogramdd_from_bin_tensors(Tensor "
       "self, Tensor[] bins, *, " REST, "Rows counted between given edges.",
       DT_OP_NOSTRATEGY, from_edges_meta, counts_kernel, op_g_absent, edge_samples,
       .row = NULL);
