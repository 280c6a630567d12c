/* SPDX-License-Identifier: MIT
** kernel/poisson.c: random counts of the Poisson distribution.
**
** Small means multiply uniform numbers until the product is below exp(-mean);
** means of 10 and more use Hoermann's transformed rejection (1993), whose
** constants these are.  How many numbers a count takes depends on them, so
** that elements are drawn one after the other. */
#include <math.h>
#include "kernel/kernel_int.h"
#include "kernel/special.h"

static double unit (DtRng *r) {
  if (r->twister != NULL) return dt_twist_f64(r);
  double v = dt_rng_uniform_f64(r, 0);
  dt_rng_spend(r, 1);
  return v;
}

static double small (DtRng *r, double mean) {
  double end = exp(-mean), product = unit(r), k = 0;
  for (; product > end; k++) product *= unit(r);
  return k;
}

static double large (DtRng *r, double mean) {
  double root = sqrt(mean), ln = log(mean);
  double b = 0.931 + 2.53 * root, a = 0.02483 * b + -0.059;
  double inverse = 1.1239 + 1.1328 / (b - 3.4), most = 0.9277 - 3.6224 / (b - 2);
  for (;;) {
    double u = unit(r) - 0.5, v = unit(r), us = 0.5 - fabs(u);
    double k = floor((2 * a / us + b) * u + mean + 0.43);
    if (us >= 0.07 && v <= most) return k;
    if (k < 0 || (us < 0.013 && v > us)) continue;
    if (log(v) + log(inverse) - log(a / (us * us) + b) <=
        -mean + k * ln - dt_sp_lgamma(k + 1))
      return k;
  }
}

/* One stream of random numbers, element by element: how many an element uses
** depends on its rate, so the order is a part of the result. */
DtStatus dt_k_poisson (DtCtx *cx, const DtTensor *a, DtTensor *dst, DtRng *r) {
  DtTensor *x = NULL, *out = NULL;
  DtMeta m;
  void *p;
  DtStatus st;
  dt_meta_copy(&m, &a->m);
  m.dtype = DT_F64;
  m.device = DT_DEV_CPU;
  dt_meta_set_contiguous(&m);
  DT_TRYG(cx, dt_kernel_dense(cx, a, DT_F64, &x));
  DT_TRYG(cx, dt_tensor_new(cx, &m, false, &out));
  DT_TRYG(cx, dt_tensor_data(cx, out, &p));
  const double *mean = dt_tensor_cdata(x);
  for (int64_t i = 0; i < dt_meta_numel(&m); i++) {
    if (i % 4096 == 0) DT_TRYG(cx, dt_ctx_poll(cx));
    DT_CHECKG(cx, mean[i] >= 0, DT_E_RUNTIME, "invalid Poisson rate, expected "
              "rate to be non-negative");
    ((double *)p)[i] = mean[i] >= 10 ? large(r, mean[i])
                       : mean[i] > 0 ? small(r, mean[i]) : 0;
  }
  DT_TRYG(cx, dt_k_copy(cx, out, dst));
done:
  dt_tensor_unref(cx, x);
  dt_tensor_unref(cx, out);
  return st;
}
