/* SPDX-License-Identifier: MIT
** oplib/ruling.c: the table of rulings, and the rows that many of them have in
** common. */
#include "oplib/ruling_int.h"

#include <string.h>

const DtRedOp op_rl_ops[RL_NALL] = {
  DT_OP_SUM, DT_OP_AVG, DT_OP_MIN, DT_OP_MAX, DT_OP_PRODUCT
};

/* Everything replicated, nothing else. */
static const char *const whole[] = { NULL };

const DtRuling dt_rulings[] = {
#define R(op, since, flags, fn) { op, since, flags, NULL, op_rl_##fn, NULL, NULL },
#define F(op, since, flags, fn, filter) \
  { op, since, flags, NULL, op_rl_##fn, op_rf_##filter, NULL },
#define N(op, since, flags) { op, since, flags, whole, NULL, NULL, NULL },
#define E(op, since, flags) { op, since, flags, NULL, NULL, NULL, NULL },
#define D(op, since, fn) { op, since, 0, NULL, NULL, NULL, op_rd_##fn },
#define L(op, since, way) { op, since, DT_OP_##way, NULL, NULL, NULL, NULL },
#include "oplib/rulings.def"
#undef L
#undef D
#undef E
#undef N
#undef F
#undef R
  { NULL, 0, 0, NULL, NULL, NULL, NULL }
};

void op_rl_to (DtRuleCall *c, DtCell out, DtCell in) {
  DtRows *r = c->rows;
  int i, n = r->nout + r->nin;
  DtCell *row = DT_ANEWN(c->cx, r->arena, DtCell, n + 1);
  if (row == NULL) {
    r->st = DT_E_NOMEM;
    return;
  }
  for (i = 0; i < n; i++) row[i] = i < r->nout ? out : in;
  dt_rows_add(r, row);
}

void op_rl_same (DtRuleCall *c, DtCell cell) { op_rl_to(c, cell, cell); }

void op_rl_except (DtRuleCall *c, int ndim, uint32_t mask) {
  int d;
  for (d = 0; d < ndim; d++)
    if ((mask >> d & 1u) == 0) op_rl_same(c, dt_c_s(d));
}

void op_rl_pass (DtRuleCall *c) {
  int i;
  for (i = 0; i < RL_NPASS; i++) op_rl_same(c, dt_c_p(op_rl_ops[i]));
}

static int arg_named (const DtSchema *sig, const char *name) {
  int i;
  for (i = 0; i < sig->nargs; i++)
    if (strcmp(sig->arg[i].name, name) == 0) return i;
  return -1;
}

int op_rl_arg (const DtRuleCall *c, const char *name) {
  return arg_named(c->args->schema, name);
}

DtStatus op_rl_dim (const DtRuleCall *c, int at, int64_t dflt, int ndim,
                    int *out) {
  int64_t d = dflt;
  if (at >= 0) return op_dim(c->cx, c->args, at, ndim, out);
  if (d < 0) d += ndim > 0 ? ndim : 1;
  *out = (int)d;
  return DT_OK;
}

/* Dims as a list or one number. */
static int dim_list (const DtArgs *args, int at, int64_t *v) {
  if (args->v[at].kind == DT_V_LIST)
    return dt_arg_ints(args, at, v, DT_MAX_NDIM);
  v[0] = dt_arg_int(args, at);
  return 1;
}

DtStatus op_rl_dims (DtCtx *cx, const DtArgs *args, int ndim,
                     uint32_t *mask) {
  int64_t v[DT_MAX_NDIM];
  const DtSchema *sig = args->schema;
  int i, k, keep = arg_named(sig, "keepdim"), at = arg_named(sig, "dim");
  if (at < 0) at = arg_named(sig, "dims");
  *mask = ndim > 0 ? (uint32_t)((1u << ndim) - 1) : 0;
  if (at < 0 || dt_arg_is_none(args, at) || ndim == 0) return DT_OK;
  k = dim_list(args, at, v);
  if (k == 0 && strncmp(sig->base, "am", 2) == 0 &&
      (keep < 0 || !dt_arg_bool(args, keep)))
    return DT_OK;
  *mask = 0;
  for (i = 0; i < k; i++) {
    int64_t d = v[i] < 0 ? v[i] + ndim : v[i];
    DT_CHECK(cx, d >= 0 && d < ndim, DT_E_INDEX, "Dimension out of range "
             "(expected to be in range of [%d, %d], but got %lld)", -ndim,
             ndim - 1, (long long)v[i]);
    *mask |= 1u << d;
  }
  return DT_OK;
}
