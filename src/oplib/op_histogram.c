/* SPDX-License-Identifier: MIT
** oplib/op_histogram.c: how many elements lie between the edges of bins.
** PyTorch has no strategy for it. */
#include <math.h>
#include <string.h>
#include "kernel/binned.h"
#include "oplib/op_unwritten.h"
#include "tensor/dtype_text.h"

#define NAME "torch.histogramdd: "

/* Where the arguments of the two forms stand. */
enum { A_BINS = 1, A_RANGE = 2 };
static int weight_at (const DtOpDef *op) {
  return dt_schema_arg(op->sig, "weight");
}

/* What the call gives: counts, and the edges. */
static DtStatus hist_meta (DtMetaCall *c) {
  const DtMeta *m = c->in[0], *edges = dt_in(c, A_BINS);
  DtDtype t = (DtDtype)m->dtype;
  int64_t n, one;
  if (edges != NULL) {
    DT_CHECK(c->cx, edges->dtype == m->dtype, DT_E_RUNTIME, NAME "input tensor "
             "and bins tensors should have the same dtype, but got input with "
             "dtype %s and bins for dimension 0 with dtype %s",
             dt_dtype_info(t)->cpp,
             dt_dtype_info((DtDtype)edges->dtype)->cpp);
    DT_CHECK(c->cx, edges->ndim == 1, DT_E_RUNTIME, NAME "bins tensor should "
             "have one dimension, but got %d dimensions in the bins tensor for "
             "dimension 0", edges->ndim);
    n = edges->shape[0] - 1;
    DT_CHECK(c->cx, n >= 0, DT_E_RUNTIME, NAME "bins tensor should have at "
             "least 1 element, but got 0 elements in the bins tensor for "
             "dimension 0");
  } else {
    n = dt_arg_int(c->args, A_BINS);
  }
  DT_CHECK(c->cx, n > 0, DT_E_RUNTIME, "torch.histogram(): bins must be > 0, "
           "but got %lld for dimension 0", (long long)n);
  one = (int64_t)((uint64_t)n + 1);     /* beyond the largest: no size */
  DT_TRY(c->cx, op_new_meta(c->cx, &c->out[0], t, 1, &n, m));
  return op_new_meta(c->cx, &c->out[1], t, 1, &one, m);
}

static DtStatus check_weight (DtKernelCall *c, const DtTensor *w) {
  const DtMeta *m = &c->in[0]->m;
  long long n = (long long)dt_meta_numel(m);
  if (w == NULL) return DT_OK;
  DT_CHECK(c->cx, w->m.dtype == m->dtype, DT_E_RUNTIME, NAME "if weight tensor "
           "is provided, input tensor and weight tensor should have the same "
           "dtype, but got input(%s), and weight(%s)",
           dt_dtype_info((DtDtype)m->dtype)->cpp,
           dt_dtype_info((DtDtype)w->m.dtype)->cpp);
  DT_CHECK(c->cx, dt_meta_numel(&w->m) == n, DT_E_RUNTIME, NAME "if weight "
           "tensor is provided it should have the same shape as the input "
           "tensor excluding its innermost dimension, but got input with shape "
           "[%lld, 1] and weight with shape [%lld]", n,
           (long long)dt_meta_numel(&w->m));
  return DT_OK;
}

/* The ends of the range: as given, or of the data. */
static DtStatus find_range (DtKernelCall *c, double end[2]) {
  DtTensor *x = c->in[0], *v = NULL;
  int64_t n = dt_meta_numel(&x->m);
  DtStatus st = DT_OK;
  end[0] = 0;
  end[1] = n > 0 ? 0 : 1;
  if (!dt_arg_is_none(c->args, A_RANGE)) {
    const DtValue *r = &c->args->v[A_RANGE];
    DT_CHECK(c->cx, r->u.list.n == 2, DT_E_RUNTIME, NAME "for a 1-dimensional "
             "histogram range should have 2 elements, but got %d",
             r->u.list.n);
    for (int i = 0; i < 2; i++) {
      const DtValue *e = &r->u.list.v[i];
      end[i] = e->kind == DT_V_FLOAT ? e->u.f : (double)e->u.i;
    }
  } else if (n > 0) {
    for (int i = 0; i < 2; i++) {
      DT_TRYG(c->cx, op_temp(c->cx, DT_F64, 0, NULL, &v));
      DT_TRYG(c->cx, dt_k_arg_reduce(c->cx, i == 1, x, -1, v, NULL));
      end[i] = *(const double *)dt_tensor_cdata(v);
      dt_tensor_unref(c->cx, v);
      v = NULL;
    }
  }
  DT_CHECKG(c->cx, isfinite(end[0]) && isfinite(end[1]), DT_E_RUNTIME, NAME
            "dimension 0's range [%g, %g] is not finite", end[0], end[1]);
  DT_CHECKG(c->cx, end[0] <= end[1], DT_E_RUNTIME, NAME "min should not exceed "
            "max, but got min %g max %g for dimension 0", end[0], end[1]);
  if (end[0] == end[1]) {
    end[0] -= 0.5;
    end[1] += 0.5;
  }
done:
  dt_tensor_unref(c->cx, v);
  return st;
}

/* Equal steps from one end to the other, computed from the nearer one. */
static void even_edges (DtDtype t, const double end[2], int64_t n, double *v) {
  double lo = op_held(t, end[0]), hi = op_held(t, end[1]);
  double step = op_held(t, op_held(t, hi - lo) / (double)(n - 1));
  for (int64_t i = 0; i < n; i++)
    v[i] = i < n / 2 ? op_held(t, lo + step * (double)i)
                     : op_held(t, hi - step * (double)(n - 1 - i));
}

static DtStatus hist_kernel (DtKernelCall *c) {
  DtTensor *given = dt_kin(c, A_BINS), *w = dt_kin(c, weight_at(c->op));
  DtTensor *edges = NULL;
  int64_t n = c->out[1]->m.shape[0];
  DtDtype t = (DtDtype)c->in[0]->m.dtype;
  int at = dt_schema_arg(c->op->sig, "density");
  double end[2];
  void *p;
  DtStatus st;
  DT_TRYG(c->cx, check_weight(c, w));
  DT_CHECKG(c->cx, t == DT_F32 || t == DT_F64, DT_E_NOTIMPL,
            "\"histogramdd\" not implemented for '%s'", dt_dtype_word(t));
  DT_TRYG(c->cx, op_temp(c->cx, DT_F64, 1, &n, &edges));
  DT_TRYG(c->cx, dt_tensor_data(c->cx, edges, &p));
  if (given != NULL) {
    DT_TRYG(c->cx, dt_k_copy(c->cx, given, edges));
  } else {
    DT_TRYG(c->cx, find_range(c, end));
    even_edges(t, end, n, p);
  }
  DT_TRYG(c->cx, dt_k_copy(c->cx, edges, c->out[1]));
  DT_TRYG(c->cx, dt_k_histogram(c->cx, c->in[0], w, p, n,
                                dt_arg_bool(c->args, at), c->out[0]));
done:
  dt_tensor_unref(c->cx, edges);
  return st;
}

static const char *const count_samples[] = { "f32[8, 6], 4", NULL };
static const char *const edge_samples[] = { "f32[8, 6], f32[4]", NULL };
#define TAIL "Tensor? weight=None, bool density=False) -> (Tensor hist, " \
             "Tensor bin_edges)"
OP_DEF(histogram_bin_ct, "aten::histogram.bin_ct(Tensor self, int bins=100, *, "
       "float[]? range=None, " TAIL, "Counts in bins of equal width.",
       DT_OP_NOSTRATEGY, hist_meta, hist_kernel, op_g_absent, count_samples,
       .row = NULL);
OP_DEF(histogram_bins_tensor, "aten::histogram.bins_tensor(Tensor self, Tensor "
       "bins, *, " TAIL, "Counts between given edges.", DT_OP_NOSTRATEGY,
       hist_meta, hist_kernel, op_g_absent, edge_samples, .row = NULL);
