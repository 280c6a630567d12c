/* SPDX-License-Identifier: MIT
** kernel/pointwise.c: runs the rows of pw_*.def over tensors.
**
** The functions themselves are in pw_f32_int.h, pw_f64.c, pw_i64.c and pw_c128.c,
** one for each row and class.  Here their operands are cut into runs; a run
** that is stored as the class is, is used in place. */

#include <string.h>
#include "kernel/loops.h"

typedef struct Row {
  const char *aten; int dom, np; double def[4];
} Row;

#define P0 0, {0}
#define P1(a) 1, {a}
#define P2(a, b) 2, {a, b}
#define P3(a, b, c) 3, {a, b, c}
#define P4(a, b, c, d) 4, {a, b, c, d}
#define X(name, aten, dom, par, f, i, z) {aten, DT_DOM_##dom, par},
static const Row unary_rows[] = {
#include "kernel/pw_unary.def"
};
static const Row binary_rows[] = {
#include "kernel/pw_binary.def"
};
static const Row ternary_rows[] = {
#include "kernel/pw_ternary.def"
};
#undef X

enum { MAX_IN = 3 };

typedef struct Job {
  DtPwFn f, bf16;               /* bf16: as stored, or NULL */
  DtClass cl;
  int nin, kb;
  bool divides;                 /* an integer second operand must not be 0 */
  bool slow;                    /* more than arithmetic: integers lack it */
  DtC128 params[4];             /* as elements of the class */
  DtDtype in[MAX_IN], out;
} Job;

static const DtPwTable *table (DtClass c) {
  switch (c) {
    case DT_CL_F32: return dt_loops()->pw_f32;
    case DT_CL_F64: return &dt_pw_f64;
    case DT_CL_I64: return &dt_pw_i64;
    case DT_CL_C128: break;
  }
  return &dt_pw_c128;
}

static bool computes (const Row *row, DtDtype ct) {
  static const int dom[] = {
    [DT_CL_F32] = DT_DOM_F, [DT_CL_F64] = DT_DOM_F, [DT_CL_I64] = DT_DOM_I,
    [DT_CL_C128] = DT_DOM_Z,
  };
  return (row->dom & dom[dt_class_of(ct)]) != 0;
}

bool dt_k_computes (int n, int f, DtDtype ct) {
  return computes(n == 1 ? &unary_rows[f] : n == 2 ? &binary_rows[f]
                  : &ternary_rows[f], ct);
}

static DtStatus job_init (DtCtx *cx, Job *j, const Row *row, DtDtype ct,
                          const DtScalar *p) {
  j->cl = dt_class_of(ct);
  DT_CHECK(cx, computes(row, ct), DT_E_NOTIMPL,
           "\"%s_cpu\" not implemented for '%s'", row->aten, dt_dtype_word(ct));
  j->kb = ct == DT_BOOL ? 1 : (int)dt_dtype_size(ct) * 8;
  if (j->cl == DT_CL_F32) j->kb = ct == DT_F16 ? 16 : ct == DT_BF16 ? 17 : 0;
  if (ct == DT_I8 || ct == DT_I16 || ct == DT_I32 || ct == DT_I64) j->kb--;
  j->divides = (row->dom & DT_DOM_V) != 0 && j->cl == DT_CL_I64;
  j->slow = (row->dom & DT_DOM_I) == 0;
  memset(j->params, 0, sizeof j->params);
  size_t size = dt_class_size(j->cl);
  for (int i = 0; i < row->np; i++)
    dt_class_put(j->cl, (char *)j->params + (size_t)i * size,
                 p != NULL ? p[i] : dt_scalar_float(row->def[i]));
  return DT_OK;
}

/* Looked at before the loop runs, which would end the process by a signal. */
static bool has_zero (const int64_t *v, int64_t n) {
  for (int64_t i = 0; i < n; i++)
    if (v[i] == 0) return true;
  return false;
}

typedef struct Buffers {
  DtC128 in[MAX_IN][DT_RUN_BYTES / sizeof(DtC128)];
  DtC128 out[DT_RUN_BYTES / sizeof(DtC128)];
} Buffers;

/* ---- bf16 as it is stored ------------------------------------------------ */

static bool stored_bf16 (const Job *j) {
  bool all = j->bf16 != NULL && j->cl == DT_CL_F32 && j->out == DT_BF16;
  for (int k = 0; k < j->nin; k++) all = all && j->in[k] == DT_BF16;
  return all;
}

/* One inner run; false: its elements do not lie side by side.  An operand that
** is one value all along is spread over a buffer. */
static bool run_bf16 (const Job *j, const DtIter *it, Buffers *b) {
  enum { SIZE = sizeof(uint16_t), BLOCK = DT_RUN_BYTES / SIZE };
  const void *in[MAX_IN];
  int64_t block = it->n;
  if (it->inner[0] != SIZE) return false;
  for (int k = 1; k <= j->nin; k++) {
    if (it->inner[k] != SIZE && it->inner[k] != 0) return false;
    if (it->inner[k] == 0 && block > BLOCK) block = BLOCK;
  }
  for (int k = 0; k < j->nin; k++)
    if (it->inner[k + 1] == 0)
      dt_run_move(SIZE, b->in[k], SIZE, it->ptr[k + 1], 0, block);
  for (int64_t i = 0; i < it->n; i += block) {
    for (int k = 0; k < j->nin; k++)
      in[k] = it->inner[k + 1] == 0 ? (const void *)b->in[k]
                                    : it->ptr[k + 1] + i * SIZE;
    j->bf16(it->n - i < block ? it->n - i : block, it->ptr[0] + i * SIZE, in,
            j->params, j->kb);
  }
  return true;
}

/* ---- runs ------------------------------------------------------------------ */

/* One inner run of the iterator; false: division by zero.  Operands that lie
** densely in the class's own type are read where they are, in one block when
** all do. */
static bool run (const Job *j, const DtIter *it, Buffers *b) {
  int64_t es = (int64_t)dt_class_size(j->cl), block = DT_RUN_BYTES / es;
  bool direct[MAX_IN];
  const void *in[MAX_IN];
  bool out_direct = it->inner[0] == es && dt_class_is_native(j->cl, j->out);
  bool all_direct = out_direct;
  for (int k = 0; k < j->nin; k++) {
    direct[k] = it->inner[k + 1] == es &&
                dt_class_is_native(j->cl, j->in[k]);
    all_direct = all_direct && direct[k];
    if (it->inner[k + 1] == 0)          /* the same value all along */
      dt_run_load(j->cl, b->in[k], j->in[k], it->ptr[k + 1], 0,
                  it->n < block ? it->n : block);
  }
  if (all_direct && !j->divides) block = it->n;
  for (int64_t i = 0; i < it->n; i += block) {
    int64_t n = it->n - i < block ? it->n - i : block;
    for (int k = 0; k < j->nin; k++) {
      const char *p = it->ptr[k + 1] + i * it->inner[k + 1];
      in[k] = direct[k] ? (const void *)p : b->in[k];
      if (!direct[k] && it->inner[k + 1] != 0)
        dt_run_load(j->cl, b->in[k], j->in[k], p, it->inner[k + 1], n);
    }
    if (j->divides && has_zero(in[1], n)) return false;
    char *o = it->ptr[0] + i * it->inner[0];
    j->f(n, out_direct ? (void *)o : b->out, in, j->params, j->kb);
    if (!out_direct)
      dt_run_store(j->cl, b->out, j->out, o, it->inner[0], n);
  }
  return true;
}

/* ---- functions of 16-bit numbers ----------------------------------------- */

/* There are 65536 of them: for a large tensor all results are worked out first
** and looked up, unless the function has a loop of its own. */
enum { ALL16 = 1 << 16, MANY16 = ALL16 * 4 };

static bool by_table (const Job *j, const DtTensor *a, const DtTensor *out) {
  bool looked_up = j->in[0] == DT_F16 ||
                   (j->in[0] == DT_BF16 && j->bf16 == NULL);
  return j->nin == 1 && j->slow && looked_up && j->out == j->in[0] &&
         a->m.ndim == out->m.ndim && dt_meta_numel(&a->m) >= MANY16;
}

/* By the same loop as every other element, so that a result does not depend
** on how many there are. */
static void fill_table (const Job *j, uint16_t *table) {
  enum { BLOCK = 1024 };
  uint16_t in[BLOCK];
  for (int i = 0; i < ALL16; i += BLOCK) {
    DtC128 x[BLOCK * sizeof(double) / sizeof(DtC128)];
    DtC128 y[BLOCK * sizeof(double) / sizeof(DtC128)];
    const void *px = x;
    for (int k = 0; k < BLOCK; k++) in[k] = (uint16_t)(i + k);
    dt_run_load(j->cl, x, j->in[0], in, sizeof *in, BLOCK);
    j->f(BLOCK, y, &px, j->params, j->kb);
    dt_run_store(j->cl, y, j->out, table + i, sizeof *table, BLOCK);
  }
}

static void run_table (const uint16_t *table, const DtIter *it) {
  const char *x = it->ptr[1];
  char *o = it->ptr[0];
  if (it->inner[0] == 2 && it->inner[1] == 2) {
    const uint16_t *v = (const uint16_t *)(const void *)x;
    uint16_t *r = (uint16_t *)(void *)o;
    DT_IVDEP for (int64_t i = 0; i < it->n; i++) r[i] = table[v[i]];
    return;
  }
  for (int64_t i = 0; i < it->n; i++, x += it->inner[1], o += it->inner[0])
    *(uint16_t *)(void *)o = table[*(const uint16_t *)(const void *)x];
}

static DtStatus job_run (DtCtx *cx, Job *j, const DtTensor *const *in,
                         DtTensor *out) {
  const DtMeta *metas[MAX_IN + 1] = {&out->m};
  void *data[MAX_IN + 1];
  const void *cdata[MAX_IN];
  DT_TRY(cx, dt_kernel_data(cx, out, &data[0], j->nin, in, cdata));
  j->out = (DtDtype)out->m.dtype;
  for (int k = 0; k < j->nin; k++) {
    DT_TRY(cx, dt_kernel_fits(cx, &in[k]->m, &out->m));
    metas[k + 1] = &in[k]->m;
    data[k + 1] = (void *)(uintptr_t)cdata[k];
    j->in[k] = (DtDtype)in[k]->m.dtype;
  }
  Buffers b;
  DtIter it;
  dt_iter_init(&it, j->nin + 1, metas, data);
  if (by_table(j, in[0], out)) {
    uint16_t *table = dt_alloc(cx, ALL16 * sizeof *table);
    if (table == NULL) return DT_E_NOMEM;
    fill_table(j, table);
    for (; !it.done; dt_iter_next(&it)) run_table(table, &it);
    dt_free(cx, table);
    return DT_OK;
  }
  bool as_stored = stored_bf16(j);
  for (; !it.done; dt_iter_next(&it))
    if (!as_stored || !run_bf16(j, &it, &b))
      DT_CHECK(cx, run(j, &it, &b), DT_E_RUNTIME, "ZeroDivisionError");
  return DT_OK;
}

DtStatus dt_k_unary (DtCtx *cx, DtUnary f, DtDtype ct, const DtScalar *p,
                     const DtTensor *a, DtTensor *out) {
  DT_ASSERT(cx, (unsigned)f < DT_NUNARY);
  Job j = {.nin = 1};
  DT_TRY(cx, job_init(cx, &j, &unary_rows[f], ct, p));
  j.f = table(j.cl)->unary[f];
  j.bf16 = dt_loops()->pw_bf16->unary[f];
  return job_run(cx, &j, &a, out);
}

DtStatus dt_k_binary (DtCtx *cx, DtBinary f, DtDtype ct, const DtScalar *p,
                      const DtTensor *a, const DtTensor *b, DtTensor *out) {
  DT_ASSERT(cx, (unsigned)f < DT_NBINARY);
  const DtTensor *in[2] = {a, b};
  Job j = {.nin = 2};
  DT_TRY(cx, job_init(cx, &j, &binary_rows[f], ct, p));
  j.f = table(j.cl)->binary[f];
  j.bf16 = dt_loops()->pw_bf16->binary[f];
  return job_run(cx, &j, in, out);
}

DtStatus dt_k_ternary (DtCtx *cx, DtTernary f, DtDtype ct, const DtScalar *p,
                       const DtTensor *a, const DtTensor *b,
                       const DtTensor *c, DtTensor *out) {
  DT_ASSERT(cx, (unsigned)f < DT_NTERNARY);
  const DtTensor *in[3] = {a, b, c};
  Job j = {.nin = 3};
  DT_TRY(cx, job_init(cx, &j, &ternary_rows[f], ct, p));
  j.f = table(j.cl)->ternary[f];
  j.bf16 = dt_loops()->pw_bf16->ternary[f];
  return job_run(cx, &j, in, out);
}
