/* SPDX-License-Identifier: MIT
** Kernels over 16M elements against a copy of 16M elements of the same type:
** how much longer a byte takes.  1 is the copy's own speed; 1.25 is a
** bandwidth within 20 % of it.  A kernel and the copy take turns and the best
** of each counts, in processor time, so that a busy machine slows both.  Both
** run in one thread, as each rank's kernels do.
** f16 has no budget: to and from a float a bf16 is shifted, but an f16 costs
** some fifteen operations, which is more than a copy takes.
** Prints "name value unit budget". */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "kernel/kernel.h"

enum { N = 1 << 24, ROW = 1024, TURNS = 11 };

typedef struct Bench {
  DtCtx *cx;
  DtTensor *a, *b, *out, *row, *one, *f32;
  DtRng rng;
} Bench;

static double now (void) {
  struct timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static void must (DtCtx *cx, DtStatus st) {
  if (st == DT_OK) return;
  printf("error: %s\n", dt_buf_str(&cx->err.message));
  exit(1);
}

static DtTensor *make (DtCtx *cx, DtDtype t, int nd, int64_t rows,
                       int64_t cols) {
  int64_t shape[2] = { rows, cols };
  DtMeta m;
  DtTensor *r = NULL;
  must(cx, dt_meta_init(cx, &m, t, nd, shape));
  must(cx, dt_tensor_new(cx, &m, false, &r));
  must(cx, dt_k_fill(cx, r, dt_scalar_float(0.5)));
  return r;
}

/* ---- what is measured ---- */

static DtStatus copy (Bench *b) { return dt_k_copy(b->cx, b->a, b->out); }

static DtStatus widen (Bench *b) { return dt_k_copy(b->cx, b->a, b->f32); }

static DtStatus narrow (Bench *b) { return dt_k_copy(b->cx, b->f32, b->out); }

static DtDtype type_of (const Bench *b) { return (DtDtype)b->a->m.dtype; }

#define UNARY(name) \
  static DtStatus u_##name (Bench *b) { \
    return dt_k_unary(b->cx, DT_U_##name, type_of(b), NULL, b->a, b->out); \
  }
UNARY(relu)
UNARY(exp)
UNARY(log)
UNARY(sqrt)
UNARY(tanh)
UNARY(erf)
UNARY(gelu)
UNARY(gelu_tanh)
UNARY(silu)
UNARY(sigmoid)

#define BINARY(name) \
  static DtStatus b_##name (Bench *b) { \
    return dt_k_binary(b->cx, DT_B_##name, type_of(b), NULL, b->a, b->b, \
                       b->out); \
  }
BINARY(add)
BINARY(mul)
BINARY(div)
BINARY(maximum)

static DtStatus sum (Bench *b) {
  return dt_k_reduce(b->cx, DT_RED_SUM, NULL, b->a, 3, b->one);
}

static DtStatus sum_rows (Bench *b) {
  return dt_k_reduce(b->cx, DT_RED_SUM, NULL, b->a, 1, b->row);
}

static DtStatus max (Bench *b) {
  return dt_k_reduce(b->cx, DT_RED_MAX, NULL, b->a, 3, b->one);
}

static DtStatus sumsq (Bench *b) {
  return dt_k_reduce(b->cx, DT_RED_SUMSQ, NULL, b->a, 3, b->one);
}

static DtStatus var (Bench *b) {
  return dt_k_reduce(b->cx, DT_RED_VAR, NULL, b->a, 2, b->row);
}

static DtStatus softmax (Bench *b) {
  return dt_k_softmax(b->cx, false, b->a, 1, b->out);
}

static DtStatus log_softmax (Bench *b) {
  return dt_k_softmax(b->cx, true, b->a, 1, b->out);
}

static DtStatus uniform (Bench *b) {
  return dt_k_uniform(b->cx, b->out, &b->rng, 0, 1);
}

static DtStatus randn (Bench *b) {
  return dt_k_normal(b->cx, b->out, &b->rng, 0, 1);
}

/* bytes: tensors read and written; f32 ones counted by `wide`. */
typedef struct Case {
  const char *name;
  DtStatus (*run) (Bench *);
  int bytes, wide;
  const char *budget;
} Case;

static const Case cases[] = {
  { "widen", widen, 1, 1, "1.25" }, { "narrow", narrow, 1, 1, "1.25" },
  { "relu", u_relu, 2, 0, "1.25" }, { "exp", u_exp, 2, 0, "1.25" },
  { "log", u_log, 2, 0, "1.25" }, { "sqrt", u_sqrt, 2, 0, "1.25" },
  { "tanh", u_tanh, 2, 0, "1.25" }, { "erf", u_erf, 2, 0, "1.25" },
  { "gelu", u_gelu, 2, 0, "1.25" },
  { "gelu_tanh", u_gelu_tanh, 2, 0, "1.25" },
  { "silu", u_silu, 2, 0, "1.25" }, { "sigmoid", u_sigmoid, 2, 0, "1.25" },
  { "add", b_add, 3, 0, "1.25" }, { "mul", b_mul, 3, 0, "1.25" },
  { "div", b_div, 3, 0, "1.25" }, { "maximum", b_maximum, 3, 0, "1.25" },
  { "sum", sum, 1, 0, "1.25" }, { "sum_rows", sum_rows, 1, 0, "1.25" },
  { "max", max, 1, 0, "1.25" }, { "sumsq", sumsq, 1, 0, "1.25" },
  { "var", var, 1, 0, "1.25" },
  { "softmax", softmax, 2, 0, "1.25" },
  { "log_softmax", log_softmax, 2, 0, "1.25" },
  { "uniform", uniform, 1, 0, "-" }, { "randn", randn, 1, 0, "-" },
};

static double best_of (double best, double t) {
  return best == 0 || t < best ? t : best;
}

static void measure (Bench *b, const Case *k, const char *type, double es) {
  double mine = 0, theirs = 0, ghz = 0;
  for (int i = 0; i < TURNS; i++) {
    double t0 = now();
    must(b->cx, k->run(b));
    double t1 = now();
    must(b->cx, copy(b));
    mine = best_of(mine, t1 - t0);
    theirs = best_of(theirs, now() - t1);
  }
  ghz = (k->bytes * es + k->wide * 4) / (2 * es);
  printf("kernel.%s.%s %.3f x_copy %s\n", k->name, type,
         mine / theirs / ghz, type_of(b) == DT_F16 ? "-" : k->budget);
}

static void all (DtCtx *cx, DtDtype t, const char *type, const char *only) {
  Bench b = { .cx = cx, .rng = { 7, 0 } };
  b.a = make(cx, t, 2, N / ROW, ROW);
  b.b = make(cx, t, 2, N / ROW, ROW);
  b.out = make(cx, t, 2, N / ROW, ROW);
  b.f32 = make(cx, DT_F32, 2, N / ROW, ROW);
  b.row = make(cx, t, 1, ROW, 1);
  b.one = make(cx, t, 0, 1, 1);
  must(cx, dt_k_uniform(cx, b.a, &b.rng, -4, 4));
  must(cx, dt_k_uniform(cx, b.b, &b.rng, 1, 2));
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    if (only != NULL && strcmp(only, cases[i].name) != 0) continue;
    if (cases[i].run == var) {
      dt_tensor_unref(cx, b.row);
      b.row = make(cx, t, 1, N / ROW, 1);
    }
    measure(&b, &cases[i], type, (double)dt_dtype_size(t));
  }
  DtTensor *const own[] = { b.a, b.b, b.out, b.f32, b.row, b.one };
  for (size_t i = 0; i < sizeof own / sizeof *own; i++)
    dt_tensor_unref(cx, own[i]);
}

/* With a name: only that kernel. */
int main (int argc, char **argv) {
  DtCtx *cx = NULL;
  if (dt_ctx_new(&cx) != DT_OK) return 1;
  all(cx, DT_F32, "f32", argc > 1 ? argv[1] : NULL);
  all(cx, DT_BF16, "bf16", argc > 1 ? argv[1] : NULL);
  all(cx, DT_F16, "f16", argc > 1 ? argv[1] : NULL);
  dt_ctx_free(cx);
  return 0;
}
