/* SPDX-License-Identifier: MIT
** diag/rules_padded.c: the last part is filled up with rows of zeros to be as long as
** the others, and the rows are counted in a sum or mean.
**
** The rank that has fewer rows sees it alone.  Rows that were masked are zero when
** they are summed, or were left out before: nothing is told of them. */
#include <string.h>
#include "diag/diag_int.h"

/* How long the parts of the other ranks are. */
static int64_t full_length (const DtDiag *g, const DtPlace *w) {
  const int64_t n = dt_session_size(g->s);
  return (w->whole + n - 1) / n;
}

static bool is_short (const DtDiag *g, const DtPlace *w) {
  return w && w->kind == DT_PLACE_PART && w->items == 0 && w->step < 2 &&
         w->real == 0 && w->first_len == 0 && w->off + w->len == w->whole &&
         w->len < full_length(g, w);
}

static DtPlace filled_up (DtDiag *g, const DtPlace *w) {
  DtPlace to = *w;
  to.real = w->len;
  to.len = full_length(g, w);
  g->npadded++;
  return to;
}

/* cat with zeros behind it, or pad(). */
static void padded_end (DtDiag *g, const DtEvent *e) {
  const DtPlace *w = e->nin > 0 ? dt_diag_place_of(g, e, 0, DT_PLACE_PART) : NULL;
  DtPlace to;
  if (e->status != DT_OK || e->backward || e->nout < 1 || e->out[0] == NULL ||
      !is_short(g, w) || e->out[0]->local->m.ndim != e->in[0]->local->m.ndim ||
      e->out[0]->local->m.shape[w->dim] != full_length(g, w)) return;
  for (int i = 1; i < e->nin; i++)
    if (e->in[i] == NULL || dt_diag_place(g, e->in[i]) ||
        dt_diag_hash(e->in[i]->local, true) != 0) {
      if (e->in[i] && dt_meta_numel(&e->in[i]->local->m) > 1) return;
    }
  to = filled_up(g, w);
  dt_diag_place_put(g, e->out[0], &to);
}

static bool pads (const DtDiag *g, const DtOpDef *op) {
  return dt_diag_op_is(g, op, DT_DO_CAT) ||
         strcmp(op->sig->full, "aten.constant_pad_nd.default") == 0;
}

void dt_diag_part_filled (DtDiag *g, const DtVar *rows, const DtPlace *w) {
  DtTensor t = *rows->local;
  const int64_t n = t.m.shape[0];
  const int64_t size = (int64_t)dt_dtype_size((DtDtype)t.m.dtype);
  int64_t row = size;
  DtPlace to;
  if (!is_short(g, w) || w->dim != 0 || n != w->len || t.offset != 0 ||
      !dt_meta_is_contiguous(&t.m)) return;
  for (int d = 1; d < t.m.ndim; d++) row *= t.m.shape[d];
  if ((int64_t)t.storage->nbytes != row * full_length(g, w)) return;
  to = filled_up(g, w);
  t.m.shape[0] = to.len;
  dt_diag_place_put_at(g, &t, &to);
}

/* --- counted --- */

/* Is a row of padding other than zero, or other than in `than`? */
static bool is_counted (const DtTensor *t, const DtTensor *than, const DtPlace *w,
                        double zero) {
  const int64_t n = dt_meta_numel(&t->m);
  int64_t at[DT_MAX_NDIM] = { 0 };
  if (!dt_tensor_has_data(t) || n == 0) return false;
  if (than && !dt_meta_same_shape(&t->m, &than->m)) return false;
  for (int64_t i = 0; i < n; i++) {
    int64_t rest = i;
    for (int d = t->m.ndim - 1; d >= 0; d--) {
      at[d] = rest % t->m.shape[d];
      rest /= t->m.shape[d];
    }
    if (at[w->dim] < w->real) continue;
    if (dt_tensor_get(t, at).re != (than ? dt_tensor_get(than, at).re : zero))
      return true;
  }
  return false;
}

static double ignored (const DtEvent *e) {
  const DtSchema *sig = e->op->sig;
  for (int i = 0; i < sig->nargs && i < e->args->n; i++)
    if (strcmp(sig->arg[i].name, "ignore_index") == 0)
      return (double)dt_arg_int(e->args, i);
  return -100;
}

static bool is_kept (const DtEvent *e) {        /* reduction "none" */
  const DtSchema *sig = e->op->sig;
  for (int i = 0; i < sig->nargs && i < e->args->n; i++)
    if (strcmp(sig->arg[i].name, "reduction") == 0)
      return dt_arg_int(e->args, i) == 0;
  return false;
}

/* A reduction over a part that was filled up to the longest one's length.  It is no
** fault where the added rows do not count: they are zero, equal to what they are
** compared with, ignored by nll_loss, or the reduction is along another dimension. */
static void reduced_end (DtDiag *g, const DtEvent *e) {
  const bool nll = strncmp(e->op->sig->full, "aten.nll_loss", 13) == 0;
  const int at = nll ? 1 : 0;
  const DtPlace *w = dt_diag_place_of(g, e, at, DT_PLACE_PART);
  const DtTensor *than = NULL;
  if (e->status != DT_OK || e->backward || w == NULL || w->real == 0 ||
      w->dim >= e->in[at]->local->m.ndim ||
      e->in[at]->local->m.shape[w->dim] != w->len || is_kept(e)) return;
  if (!nll && e->nin > 1 && e->in[1]) than = e->in[1]->local;
  if ((!nll && e->nin < 2 && !dt_diag_along_dim(e, w->dim)) ||
      !is_counted(e->in[at]->local, than, w, nll ? ignored(e) : 0)) return;
  dt_diag_add(g, e, DT_FIND_ID_PADDING_COUNTED, e->in[at], 0, NULL,
              "this rank has %lld of %lld rows, filled up to %lld as the others have; "
              "the added rows are counted", (long long)w->real, (long long)w->whole,
              (long long)w->len);
}

static bool reduces (const DtDiag *g, const DtOpDef *op) {
  for (int k = DT_DO_SUM; k <= DT_DO_BCE; k++)
    if (dt_diag_op_is(g, op, k)) return true;
  return dt_diag_op_is(g, op, DT_DO_NLL);
}

const DtDiagRule dt_rules_padded[] = {
  { DT_EV_OP_END, padded_end, pads, DT_WHEN(nplaces) },
  { DT_EV_OP_END, reduced_end, reduces, DT_WHEN(npadded) },
  { 0, NULL, NULL, 0 }
};
