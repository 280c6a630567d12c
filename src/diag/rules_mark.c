/* SPDX-License-Identifier: MIT
** diag/rules_mark.c: traps of memory that the library has marked: results of
** collectives nobody has waited for, sequences in a load balancer's order.
**
** Marks belong to storages.  PENDING goes with wait(); PERMUTED is passed on
** from what an operator reads to what it makes, until the library puts the
** sequence back in order.  ROUNDED: a checkpoint of a wider type was loaded into it,
** which is meant where the model computes in that type, and a loss where what it held
** is then copied into a parameter that is as wide as the file. */
#include <string.h>
#include "diag/diag_int.h"

static const char *const mark_names[DT_NMARKS] = { "pending", "permuted",
                                                  "sending", "rounded" };

int dt_diag_mark_named (const char *name) {
  int i;
  for (i = 0; i < DT_NMARKS; i++)
    if (strcmp(mark_names[i], name) == 0) return i;
  return -1;
}

static int64_t storage_id (const DtVar *v) { return v->local->storage->id; }

bool dt_diag_marked (const DtDiag *g, DtDiagMark mark, const DtVar *v) {
  return dt_idset_has(&g->mark[mark], storage_id(v));
}

bool dt_diag_mark (DtDiag *g, DtDiagMark mark, const DtVar *v, bool on) {
  bool was = dt_diag_marked(g, mark, v);
  if (on) dt_idset_add(g, &g->mark[mark], storage_id(v));
  else dt_idset_del(&g->mark[mark], storage_id(v));
  return was;
}

/* --- not waited for --- */

static void pending_read (DtDiag *g, const DtEvent *e) {
  int i;
  for (i = 0; i < e->nin; i++) {
    if (e->in[i] == NULL ||
        !dt_idset_has(&g->mark[DT_MARK_PENDING],
                      storage_id(e->in[i]))) continue;
    dt_diag_add(g, e, DT_FIND_ID_ASYNC_READ, e->in[i], 0, NULL,
                "a collective with async_op writes it, wait() was not called");
    return;
  }
}

/* Written while it is still being sent. */
static void sending_written (DtDiag *g, const DtEvent *e) {
  if (e->nin < 1 || e->in[0] == NULL || g->nfunc > 0 ||
      !dt_idset_has(&g->mark[DT_MARK_SENDING], storage_id(e->in[0]))) return;
  dt_diag_add(g, e, DT_FIND_ID_SENT_CHANGED, e->in[0], 0, NULL,
              "a collective or a message with async_op reads it, wait() was not "
              "called");
}

/* --- rounded by a load --- */

static void rounded_widened (DtDiag *g, const DtEvent *e) {
  const DtVar *to = e->nin > 1 ? e->in[0] : NULL, *from = e->nin > 1 ? e->in[1] : NULL;
  if (to == NULL || from == NULL || !to->is_param || e->status != DT_OK ||
      !dt_idset_has(&g->mark[DT_MARK_ROUNDED], storage_id(from)) ||
      dt_dtype_size((DtDtype)to->local->m.dtype) <=
        dt_dtype_size((DtDtype)from->local->m.dtype)) return;
  dt_diag_add(g, e, DT_FIND_ID_LOADED_ROUNDED, to, 0, NULL,
              "%s of the checkpoint was loaded as %s, and is copied into %s", "a tensor",
              dt_dtype_info((DtDtype)from->local->m.dtype)->tag,
              dt_dtype_info((DtDtype)to->local->m.dtype)->tag);
}

static bool copies (const DtDiag *g, const DtOpDef *op) {
  return dt_diag_op_is(g, op, DT_DO_COPY);
}

/* --- in a balancer's order --- */

static void permuted_spread (DtDiag *g, const DtEvent *e) {
  DtIdSet *s = &g->mark[DT_MARK_PERMUTED];
  bool any = false;
  int i;
  if (e->status != DT_OK) return;
  for (i = 0; i < e->nin && !any; i++)
    any = e->in[i] && e->in[i]->local->m.ndim > 0 &&
          dt_idset_has(s, storage_id(e->in[i]));
  for (i = 0; i < e->nout && any; i++)
    if (e->out[i] && e->out[i]->local->m.ndim > 0)
      dt_idset_add(g, s, storage_id(e->out[i]));
}

static void permuted_shard (DtDiag *g, const DtEvent *e) {
  const DtSpec *s;
  int m;
  if (g->nfunc > 0 || e->backward || e->op != NULL || e->status != DT_OK ||
      e->nin < 1 || e->nout < 1 ||
      strcmp(e->text, "dtensor.from_local") != 0 || e->in[0] == NULL ||
      e->out[0] == NULL || (s = e->out[0]->spec) == NULL ||
      !dt_idset_has(&g->mark[DT_MARK_PERMUTED], storage_id(e->in[0]))) return;
  for (m = 0; m < s->npl; m++)
    if (dt_pl_is_shard(s->pl[m])) {
      dt_diag_add(g, e, DT_FIND_ID_CP_ORDER, e->in[0], s->npl, s->pl,
                  "called a shard of dim %d", s->pl[m].dim);
      return;
    }
}

const DtDiagRule dt_rules_mark[] = {
  { DT_EV_FUNC, pending_read, NULL, DT_WHEN(mark[DT_MARK_PENDING].n) },
  { DT_EV_OP, pending_read, NULL, DT_WHEN(mark[DT_MARK_PENDING].n) },
  { DT_EV_OP, sending_written, dt_diag_inplace,
    DT_WHEN(mark[DT_MARK_SENDING].n) },
  { DT_EV_OP_END, permuted_spread, NULL,
    DT_WHEN(mark[DT_MARK_PERMUTED].n) },
  { DT_EV_FUNC_END, permuted_shard, NULL,
    DT_WHEN(mark[DT_MARK_PERMUTED].n) },
  { DT_EV_OP_END, rounded_widened, copies, DT_WHEN(mark[DT_MARK_ROUNDED].n) },
  { 0, NULL, NULL, 0 }
};
