/* SPDX-License-Identifier: MIT
** oplib/op_random.c: random fills that only decide, and multinomial.
**
** A fill follows its tensor, whatever dim is cut; a partial one cannot be
** filled.  multinomial needs the categories (the last dim) whole.  There is
** no arithmetic here: the generators of these distributions are not written. */
#include "oplib/op_unwritten.h"

static DtStatus fill_rules (DtRuleCall *c) {
  for (int d = 0; d < c->in[0]->ndim; d++) {
    DtCell row[2] = { dt_c_s(d), dt_c_s(d) };
    dt_rows_add(c->rows, row);
  }
  return c->rows->st;
}

static DtStatus multinomial_meta (DtMetaCall *c) {
  const DtMeta *m = c->in[0];
  int64_t n = dt_arg_int(c->args, 1), shape[2];
  DT_CHECK(c->cx, m->ndim == 1 || m->ndim == 2, DT_E_RUNTIME,
           "prob_dist must be 1 or 2 dim");
  DT_CHECK(c->cx, n > 0, DT_E_RUNTIME, "cannot sample n_sample <= 0 samples");
  shape[0] = m->ndim == 2 ? m->shape[0] : n;
  shape[1] = n;
  c->nout = 1;
  return op_new_meta(c->cx, &c->out[0], DT_I64, m->ndim, shape, m);
}
static DtStatus multinomial_rules (DtRuleCall *c) {
  for (int d = 0; d < c->in[0]->ndim - 1; d++) {
    DtCell row[2] = { dt_c_s(d), dt_c_s(d) };
    dt_rows_add(c->rows, row);
  }
  return c->rows->st;
}

static const char *const fill_samples[] = { "f32[8, 6]", "f32[7]", NULL };
static const char *const p_samples[] = { "f32[8, 6], 0.5", "f32[7], 0.25",
                                         NULL };
static const char *const multinomial_samples[] = { "f32[8, 6], 2",
                                                   "f32[7], 3", NULL };
#define GEN_ ", *, Generator? generator=None) -> Tensor"
#define FILL_ DT_OP_RANDOM | DT_OP_UNEVEN | DT_OP_INPLACE

OP_DEF(exponential_, "aten::exponential_(Tensor(a!) self, float lambd=1." GEN_
       "(a!)", "Every element an exponential random number.", FILL_,
       op_meta_inplace, op_k_unwritten, op_g_zeros, fill_samples,
       .rulefn = fill_rules);
OP_DEF(geometric_, "aten::geometric_(Tensor(a!) self, float p" GEN_ "(a!)",
       "Every element a geometric random number.", FILL_, op_meta_inplace,
       op_k_unwritten, op_g_zeros, p_samples, .rulefn = fill_rules);
OP_DEF(log_normal_, "aten::log_normal_(Tensor(a!) self, float mean=1., float "
       "std=2." GEN_ "(a!)", "Every element a log-normal random number.",
       FILL_, op_meta_inplace, op_k_unwritten, op_g_zeros, fill_samples,
       .rulefn = fill_rules);
OP_DEF(multinomial, "aten::multinomial(Tensor self, SymInt num_samples, bool "
       "replacement=False" GEN_, "Indices drawn by the given weights.",
       DT_OP_RANDOM | DT_OP_NOGRAD, multinomial_meta, op_k_unwritten, NULL,
       multinomial_samples, .rulefn = multinomial_rules);
