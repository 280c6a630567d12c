/* SPDX-License-Identifier: MIT
** oplib/ruling_move.c: rulings of operators that copy, make, cut, join and
** index tensors, since 2.14 rows on one mesh dimension.
** Semantics: _ops/_tensor_ops.py, 2.14 and 2.15. */
#include "oplib/ruling_int.h"

#include <string.h>

/* ---- copies and makers ---- */

/* Cut as the input, no partials. */
DtStatus op_rl_shards (DtRuleCall *c) {
  op_rl_except(c, c->in[0]->ndim, 0);
  return c->rows->st;
}

DtStatus op_rl_follow (DtRuleCall *c) {
  op_rl_except(c, c->in[0]->ndim, 0);
  op_rl_pass(c);
  return c->rows->st;
}

/* Does casting commute with the reduction? */
static bool commutes (DtRedOp op, DtDtype from, DtDtype to) {
  if (from == to) return true;
  if (to == DT_BOOL) return false;
  if (op == DT_OP_MAX || op == DT_OP_MIN) return true;
  return !dt_dtype_is_float(from) || dt_dtype_is_float(to);
}

DtStatus op_rl_to_copy (DtRuleCall *c) {
  int at = op_rl_arg(c, "dtype");
  DtDtype from = (DtDtype)c->in[0]->dtype, to = dt_arg_dtype(c->args, at);
  if (to == DT_DTYPE_NONE) to = from;
  op_rl_except(c, c->in[0]->ndim, 0);
  for (int i = 0; i < RL_NPASS; i++)
    if (commutes(op_rl_ops[i], from, to))
      op_rl_same(c, dt_c_p(op_rl_ops[i]));
  return c->rows->st;
}

/* Two tensors compared: cut alike, no partials. */
DtStatus op_rl_both (DtRuleCall *c) {
  int a = c->in[0]->ndim, b = c->in[1]->ndim;
  op_rl_except(c, a < b ? a : b, 0);
  return c->rows->st;
}

/* Like the input in shape, not in content. */
DtStatus op_rl_like (DtRuleCall *c) {
  op_rl_except(c, c->in[0]->ndim, 0);
  for (int i = 0; i < RL_NALL; i++)
    op_rl_to(c, dt_c_r(), dt_c_p(op_rl_ops[i]));
  return c->rows->st;
}

/* Of given sizes: cut as the input only where they are its own; a partial is
** kept by what is written later (new_empty). */
DtStatus op_rl_new_from (DtRuleCall *c) {
  int64_t size[DT_MAX_NDIM];
  const DtMeta *m = c->in[0];
  int n = op_ints(c->args, 1, size);
  bool same = n == m->ndim, keeps;
  for (int d = 0; same && d < n; d++) same = size[d] == m->shape[d];
  keeps = same && strncmp(c->op->sig->base, "new_empty", 9) == 0;
  for (int d = 0; d < m->ndim; d++)
    op_rl_to(c, same ? dt_c_s(d) : dt_c_r(), dt_c_s(d));
  for (int i = 0; i < RL_NPASS; i++)
    op_rl_to(c, keeps ? dt_c_p(op_rl_ops[i]) : dt_c_r(),
             dt_c_p(op_rl_ops[i]));
  return c->rows->st;
}

/* ---- one index, slices ---- */

DtStatus op_rl_select (DtRuleCall *c) {
  int at, nd = c->in[0]->ndim;
  DT_TRY(c->cx, op_rl_dim(c, 1, 0, nd, &at));
  for (int d = 0; d < nd; d++)
    if (d != at) op_rl_to(c, dt_c_s(d < at ? d : d - 1), dt_c_s(d));
  op_rl_pass(c);
  return c->rows->st;
}

DtStatus op_rl_select_back (DtRuleCall *c) {
  int at;
  DT_TRY(c->cx, op_rl_dim(c, 2, 0, dt_arg_len(c->args, 1), &at));
  for (int d = 0; d < c->in[0]->ndim; d++)
    op_rl_to(c, dt_c_s(d < at ? d : d + 1), dt_c_s(d));
  op_rl_pass(c);
  return c->rows->st;
}

/* Is the slice the whole dim? */
static bool whole_dim (const DtArgs *a, int64_t size) {
  int64_t start = dt_arg_int_or(a, 2, 0), end = dt_arg_int_or(a, 3, size);
  if (end > size) end = size;
  if (start < 0) start += size;
  if (end < 0) end += size;
  return start == 0 && end == size && dt_arg_int(a, 4) == 1;
}

DtStatus op_rl_slice (DtRuleCall *c) {
  int at, nd = c->in[0]->ndim;
  DT_TRY(c->cx, op_rl_dim(c, 1, 0, nd, &at));
  op_rl_except(c, nd, nd > 0 && !whole_dim(c->args, c->in[0]->shape[at])
                      ? 1u << at : 0);
  op_rl_pass(c);
  return c->rows->st;
}

static DtStatus all_but (DtRuleCall *c, int arg, int ndim, bool pass) {
  int at;
  DT_TRY(c->cx, op_rl_dim(c, arg, 0, ndim, &at));
  op_rl_except(c, c->in[0]->ndim, 1u << at);
  if (pass) op_rl_pass(c);
  return c->rows->st;
}

DtStatus op_rl_slice_back (DtRuleCall *c) {
  return all_but(c, 2, dt_arg_len(c->args, 1), true);
}
DtStatus op_rl_slice_scatter (DtRuleCall *c) {
  return all_but(c, 2, c->in[0]->ndim, true);
}

/* ---- by index ---- */

/* Dims along which every tensor has the same size are cut alike. */
static DtStatus aligned (DtRuleCall *c, bool source) {
  const DtMeta *m = c->in[0], *x = dt_rin(c, 2), *s = dt_rin(c, 3);
  int at;
  DT_TRY(c->cx, op_rl_dim(c, 1, 0, m->ndim, &at));
  for (int d = 0; d < m->ndim && m->ndim == x->ndim; d++) {
    if (d == at || m->shape[d] != x->shape[d]) continue;
    if (source && s != NULL &&
        (s->ndim != x->ndim || s->shape[d] != x->shape[d]))
      continue;
    op_rl_same(c, dt_c_s(d));
  }
  return c->rows->st;
}

DtStatus op_rl_scatter (DtRuleCall *c) { return aligned(c, true); }
DtStatus op_rl_scatter_add (DtRuleCall *c) { return aligned(c, false); }

DtStatus op_rl_gather (DtRuleCall *c) {
  const DtMeta *m = c->in[0], *x = c->in[1];
  int at;
  DT_TRY(c->cx, op_rl_dim(c, 1, 0, m->ndim, &at));
  if (m->ndim > 0 && at < x->ndim) {
    DtPlacement cut = dt_pl_shard(at);
    if (x->shape[at] == 1) {
      DtMaskBuf *mask = dt_mask_new(c->cx, m->ndim, m->shape, at);
      if (mask == NULL) return DT_E_NOMEM;
      DtCell p = dt_c_fix(dt_pl_mask(DT_OP_SUM, mask));
      DtCell row[3] = { p, dt_c_fix(cut), p };
      dt_rows_add(c->rows, row);
    }
    DtCell row[3] = { dt_c_fix(cut), dt_c_r(), dt_c_fix(cut) };
    dt_rows_add(c->rows, row);
  }
  if (m->ndim == x->ndim) op_rl_except(c, m->ndim, 1u << at);
  return c->rows->st;
}

/* The index' cut is the output's along the indexed dim. */
/* A dimension that self has not is the local call's to refuse. */
DtStatus op_rl_index_select (DtRuleCall *c) {
  int at = (int)dt_arg_int(c->args, 1), nd = c->in[0]->ndim;
  if (at < 0) at += nd;
  if (at < 0 || at >= nd) return c->rows->st;
  for (int d = 0; d < nd; d++) {
    DtCell row[3] = { dt_c_s(d), dt_c_s(d), dt_c_r() };
    if (d != at) dt_rows_add(c->rows, row);
  }
  DtCell cut[3] = { dt_c_s(at), dt_c_r(), dt_c_s(0) };
  dt_rows_add(c->rows, cut);
  for (int i = 0; i < RL_NPASS; i++) {
    DtCell p = dt_c_p(op_rl_ops[i]), row[3] = { p, p, dt_c_r() };
    dt_rows_add(c->rows, row);
  }
  return c->rows->st;
}

DtStatus op_rl_index_fill (DtRuleCall *c) {
  int at, nd = c->in[0]->ndim;
  DT_TRY(c->cx, op_rl_dim(c, 1, 0, nd, &at));
  for (int d = 0; d < nd; d++) {
    DtCell row[4] = { dt_c_s(d), dt_c_s(d), dt_c_r(), dt_c_r() };
    if (d != at) dt_rows_add(c->rows, row);
  }
  for (int i = 0; i < RL_NPASS; i++) {
    DtCell p = dt_c_p(op_rl_ops[i]), row[4] = { p, p, dt_c_r(), p };
    dt_rows_add(c->rows, row);
  }
  return c->rows->st;
}

/* ---- joining, parting ---- */

static bool legacy_empty (const DtMeta *m) {
  return m->ndim == 1 && m->shape[0] == 0;
}

/* One row of cat: empty vectors of old stay whole. */
static void cat_row (DtRuleCall *c, DtCell cell) {
  DtCell *row = DT_ANEWN(c->cx, c->rows->arena, DtCell, c->rows->nin + 2);
  if (row == NULL) {
    c->rows->st = DT_E_NOMEM;
    return;
  }
  row[0] = cell;
  for (int i = 0; i < c->rows->nin; i++)
    row[i + 1] = legacy_empty(c->in[i]) ? dt_c_r() : cell;
  dt_rows_add(c->rows, row);
}

DtStatus op_rl_cat (DtRuleCall *c) {
  int at, nd = -1;
  for (int i = 0; i < c->rows->nin; i++) {
    const DtMeta *m = c->in[i];
    if (legacy_empty(m)) continue;
    DT_CHECK(c->cx, nd < 0 || nd == m->ndim, DT_E_ASSERT,
             "Expected all non-empty cat inputs to be the same ndim");
    nd = m->ndim;
  }
  if (nd < 0) nd = 1;
  DT_TRY(c->cx, op_rl_dim(c, 1, 0, nd, &at));
  for (int d = 0; d < nd; d++)
    if (d != at) cat_row(c, dt_c_s(d));
  for (int i = 0; i < RL_NPASS; i++) cat_row(c, dt_c_p(op_rl_ops[i]));
  return c->rows->st;
}

DtStatus op_rl_split (DtRuleCall *c) {
  return all_but(c, 2, c->in[0]->ndim, true);
}

DtStatus op_rl_unbind (DtRuleCall *c) { return op_rl_select(c); }

/* A view that gathers would not be one: only the input's own placements. */
DtStatus op_rf_unbind (DtFilterCall *c) {
  const DtSpec *s = c->in[0];
  int at, n = c->mesh->ndim;
  DT_TRY(c->cx, op_dim(c->cx, c->args, 1, s->meta.ndim, &at));
  for (int i = 0; i < s->npl; i++)
    DT_CHECK(c->cx, !dt_pl_is_shard_like(s->pl[i]) || s->pl[i].dim != at,
             DT_E_RUNTIME, "Attempted to unbind along the sharded dimension "
             "%d. Please redistribute the input explicitly before unbinding.",
             at);
  c->ok = s->npl == n && dt_pls_equal(s->pl, c->want, n);
  return DT_OK;
}

/* t(): the dims change places. */
DtStatus op_rl_turn (DtRuleCall *c) {
  if (c->in[0]->ndim <= 1) {
    op_rl_except(c, c->in[0]->ndim, 0);
  } else {
    op_rl_to(c, dt_c_s(1), dt_c_s(0));
    op_rl_to(c, dt_c_s(0), dt_c_s(1));
  }
  op_rl_same(c, dt_c_p(DT_OP_SUM));
  op_rl_same(c, dt_c_p(DT_OP_AVG));
  op_rl_same(c, dt_c_p(DT_OP_MAX));
  op_rl_same(c, dt_c_p(DT_OP_MIN));
  return c->rows->st;
}
