/* SPDX-License-Identifier: MIT
** diag/rules_reorder.c: parameters whose rows a program puts in another order before
** it shards them.
**
** A fused projection (queries, keys and values in one weight) is cut right when its
** rows lie so that each rank's block has its share of each: then the pieces of the
** local result belong together, although their places in the whole say otherwise.
** Nothing is said of pieces after a parameter got its own rows in another order. */
#include <string.h>
#include "base/hash.h"
#include "diag/diag_int.h"

/* The sum of the rows' hashes, which knows no order; 0: not known. */
static uint64_t sum_rows (const DtTensor *t) {
  const DtMeta *m = &t->m;
  const size_t size = dt_dtype_size((DtDtype)m->dtype);
  const char *p = dt_tensor_cdata(t);
  uint64_t sum = 0;
  if (p == NULL || m->ndim != 2) return 0;
  for (int64_t i = 0; i < m->shape[0]; i++) {
    uint64_t h = DT_HASH_SEED;
    for (int64_t k = 0; k < m->shape[1]; k++)
      h = dt_hash_bytes(h, p + (size_t)(i * m->stride[0] + k * m->stride[1]) * size,
                        size);
    sum += h;
  }
  return sum;
}

/* Are the rows of a weight put in another order?  Bits are summed without regard to
** order: equal sums of different tensors mean that, and nothing is kept of it but
** that it happened (see dt_diag_pieces_met). */
static void on_copy (DtDiag *g, const DtEvent *e) {
  const DtVar *to = e->nin > 1 ? e->in[0] : NULL;
  const DtVar *from = e->nin > 1 ? e->in[1] : NULL;
  if (g->reordered || to == NULL || from == NULL || to->spec || from->spec ||
      !to->is_param || to->local->m.ndim != 2 || from->local->m.ndim != 2 ||
      to->local->m.dtype != from->local->m.dtype || dt_session_no_data(g->s) ||
      !dt_tensor_has_data(to->local) || !dt_tensor_has_data(from->local) ||
      dt_diag_hash(to->local, false) == dt_diag_hash(from->local, false)) return;
  g->reordered = sum_rows(to->local) == sum_rows(from->local);
}

static bool is_copy (const DtDiag *g, const DtOpDef *op) {
  return dt_diag_op_is(g, op, DT_DO_COPY);
}

const DtDiagRule dt_rules_reorder[] = {
  { DT_EV_OP, on_copy, is_copy, 0 },
  { 0, NULL, NULL, 0 }
};
