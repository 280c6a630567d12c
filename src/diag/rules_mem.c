/* SPDX-License-Identifier: MIT
** diag/rules_mem.c: traps of memory: partial and sharded tensors read as a
** number, memory that was never written, writes that go to a copy, collectives that
** write into what is kept for backward. */
#include <string.h>
#include "diag/diag_int.h"

/* --- reading a number --- */

static void on_item (DtDiag *g, const DtEvent *e) {
  DtVar *v = e->nin > 0 ? e->in[0] : NULL;
  DtBuf b;
  int m;
  if (v == NULL || v->spec == NULL) return;
  dt_buf_init(&b, g->s->cx);
  dt_spec_print(v->spec, &b);
  if (dt_diag_partial(v->spec)) {
    dt_diag_add(g, e, DT_FIND_ID_PARTIAL_READ, v, 0, NULL, "%s is read",
                dt_buf_str(&b));
  } else {
    for (m = 0; m < v->spec->npl && m < v->spec->mesh->ndim; m++)
      if (dt_pl_is_shard_like(v->spec->pl[m]) && v->spec->mesh->shape[m] > 1) {
        dt_diag_add(g, e, DT_FIND_ID_SHARD_READ, v, 0, NULL, "%s is read",
                    dt_buf_str(&b));
        break;
      }
  }
  dt_buf_fini(&b);
}

static void partial_local (DtDiag *g, const DtEvent *e) {
  DtBuf b;
  if (e->op != NULL || e->status != DT_OK || e->backward || g->nfunc > 0 ||
      e->nin < 1 || e->in[0] == NULL || e->in[0]->spec == NULL ||
      strcmp(e->text, "dtensor.to_local") != 0 ||
      !dt_diag_partial(e->in[0]->spec)) return;
  dt_buf_init(&b, g->s->cx);
  dt_spec_print(e->in[0]->spec, &b);
  dt_diag_add(g, e, DT_FIND_ID_PARTIAL_LOCAL, e->in[0], 0, NULL, "%s",
              dt_buf_str(&b));
  dt_buf_fini(&b);
}

/* --- memory as it was found --- */

static bool makes_blank (const DtDiag *g, const DtOpDef *op) {
  int i;
  for (i = DT_DO_EMPTY; i <= DT_DO_NEW_EMPTY_STRIDED; i++)
    if (dt_diag_op_is(g, op, i)) return true;
  return false;
}

/* Only what the script asked for itself: operators inside a composite write
** what they allocate. */
static void blank_made (DtDiag *g, const DtEvent *e) {
  int i;
  if (e->status != DT_OK || e->backward || g->d->composite) return;
  for (i = 0; i < e->nout; i++)
    if (e->out[i] && dt_meta_numel(&e->out[i]->local->m) > 0 &&
        e->out[i]->local->m.device != DT_DEV_META)
      dt_idset_add(g, &g->blank, e->out[i]->local->storage->id);
}

bool dt_diag_blank (DtDiag *g, const DtVar *v) {
  const DtStorage *t = v->local->storage;
  if (!dt_idset_has(&g->blank, t->id)) return false;
  if (t->version == 0) return true;
  dt_idset_del(&g->blank, t->id);
  return false;
}

/* Is an argument of this name set? */
static bool has_set (const DtEvent *e, const char *name) {
  const DtSchema *sig = e->op->sig;
  int i;
  for (i = 0; i < sig->nargs && i < e->args->n; i++)
    if (strcmp(sig->arg[i].name, name) == 0) return dt_arg_bool(e->args, i);
  return false;
}

/* Does an operator write its first argument, or a copy of that, without a look
** at it?  It may write some of it only: what is left blank is not known. */
static bool overwrites_first (const DtEvent *e) {
  static const char *const words[] = { "copy_", "zero_", "fill_", "eye_",
    "index_put_", "scatter_.src", "scatter_.value", "put_.default",
    "index_copy.", "index_fill.", "index_put.", ".scatter.src", ".scatter.value",
    "slice_scatter.", "select_scatter.", "diagonal_scatter.", ".put.default" };
  size_t i;
  if (e->op->flags & DT_OP_RANDOM) return (e->op->flags & DT_OP_INPLACE) != 0;
  if (has_set(e, "accumulate") || strstr(e->op->sig->full, "_reduce"))
    return false;
  for (i = 0; i < sizeof words / sizeof words[0]; i++)
    if (strstr(e->op->sig->full, words[i])) return true;
  return false;
}

/* out=, values=, indices=: keywords marked as written. */
static bool only_written (const DtSchema *sig, int pos) {
  return pos >= 0 && pos < sig->nargs && sig->arg[pos].write &&
         sig->arg[pos].kwonly;
}

/* Does this operator look at the values of slot `i`? */
static bool reads_input (const DtDiag *g, const DtEvent *e, int i) {
  uint32_t f = e->op->flags;
  int pos = -1;
  if (f & (DT_OP_VIEW | DT_OP_NODATA | DT_OP_FACTORY)) return false;
  if (makes_blank(g, e->op)) return false;
  (void)dt_slot_arg(e->args, i, &pos);
  if (only_written(e->op->sig, pos)) return false;
  return pos != 0 || !overwrites_first(e);
}

static void blank_read (DtDiag *g, const DtEvent *e) {
  int i;
  for (i = 0; i < e->nin; i++) {
    const DtRecOp *r;
    if (e->in[i] == NULL || !dt_diag_blank(g, e->in[i]) ||
        !reads_input(g, e, i))
      continue;
    /* a tensor's own origin may be a view of it */
    r = dt_record_maker(&g->d->rec, e->in[i]->local->storage->id);
    if (r && r->line > 0)
      dt_diag_add(g, e, DT_FIND_ID_UNINITIALISED, e->in[i], 0, NULL,
                  "made at %s:%d by %s, nothing was written since",
                  r->file ? r->file : "", r->line, r->label);
    else dt_diag_add(g, e, DT_FIND_ID_UNINITIALISED, e->in[i], 0, NULL,
                     "nothing was written since it was made");
  }
}

void dt_diag_written (DtDiag *g, const DtVar *v) {
  dt_idset_del(&g->blank, v->local->storage->id);
}

/* A gradient is written by backward itself. */
static void blank_grad (DtDiag *g, const DtEvent *e) {
  if (e->nout > 0 && e->out[0]) dt_diag_written(g, e->out[0]);
}

/* The parts of a blank tensor are blank. */
static void blank_spread (DtDiag *g, const DtEvent *e) {
  int i;
  if (e->op != NULL || e->status != DT_OK || e->nin < 1 ||
      e->in[0] == NULL || !dt_diag_blank(g, e->in[0])) return;
  for (i = 0; i < e->nout; i++)
    if (e->out[i] && e->out[i]->local->storage->version == 0)
      dt_idset_add(g, &g->blank, e->out[i]->local->storage->id);
}

/* --- writes that are lost --- */

static int recent_find (const DtRecent *r, int64_t id) {
  int i, n = r->n < DT_RECENT ? r->n : DT_RECENT;
  for (i = 0; i < n; i++)
    if (r->v[i].id == id) return i;
  return -1;
}

/* A view of an input that had to be moved is a view of a copy. */
static void temp_made (DtDiag *g, const DtEvent *e) {
  DtRecent *r = &g->temp;
  int i, from;
  if (e->status != DT_OK || e->nin < 1 || e->in[0] == NULL ||
      e->in[0]->spec == NULL) return;
  from = r->n ? recent_find(r, e->in[0]->id) : -1;
  if (from < 0 && !(g->prop_seq == e->seq && g->moved0)) return;
  for (i = 0; i < e->nout; i++) {
    int k = r->n % DT_RECENT;
    if (e->out[i] == NULL) continue;
    r->v[k].id = e->out[i]->id;
    r->v[k].at = e->out[i]->origin;
    r->v[k].name = e->in[0]->name;
    r->n++;
  }
}

static void temp_written (DtDiag *g, const DtEvent *e) {
  int k;
  if (e->nin < 1 || e->in[0] == NULL) return;
  k = recent_find(&g->temp, e->in[0]->id);
  if (k < 0) return;
  dt_diag_add(g, e, DT_FIND_ID_SLICE_LOST, NULL, 0, NULL,
              "the view was made at %s:%d by %s #%lld from a tensor that was "
              "gathered for it", g->temp.v[k].at.file
              ? g->temp.v[k].at.file : "", g->temp.v[k].at.line,
              g->temp.v[k].at.op ? g->temp.v[k].at.op : "?",
              (long long)g->temp.v[k].at.seq);
}

/* --- written after it was kept for backward --- */

uint64_t dt_diag_look (const DtDiag *g, const DtVar *v) {
  if (!g->on || g->d->muted || v->spec || dt_session_no_data(g->s)) return 0;
  return dt_meta_numel(&v->local->m) == 1 ? dt_diag_hash(v->local, false)
                                          : dt_diag_sample(v->local);
}

/* The bytes of its memory from its first element to its last. */
static void find_range (const DtTensor *t, int64_t *from, int64_t *end) {
  const int64_t size = (int64_t)dt_dtype_size((DtDtype)t->m.dtype);
  int64_t last = t->offset;
  for (int d = 0; d < t->m.ndim; d++) last += (t->m.shape[d] - 1) * t->m.stride[d];
  *from = t->offset * size;
  *end = (last + 1) * size;
}

void dt_diag_uncounted (DtDiag *g, const DtVar *v, const char *kind, uint64_t was) {
  DtUnseen *u = &g->unseen[g->nunseen % DT_UNSEEN];
  DtStorage *s = v->local->storage;
  const bool brings_back = s->refilled;
  s->refilled = false;
  if (brings_back || dt_diag_look(g, v) == was) return;
  *u = (DtUnseen){ .storage = s->id, .version = s->version,
                   .at = dt_diag_here(g, kind) };
  find_range(v->local, &u->from, &u->end);
  g->nunseen++;
}

/* Statistics of a batch norm are kept, and read in evaluation only, without training:
** they may be averaged before backward. */
static bool is_statistic (const DtEvent *e) {
  return e->op && strstr(e->op->sig->full, "batch_norm") && !e->in[0]->is_param &&
         e->in[0]->local->m.ndim == 1;
}

/* The last write is named: it is what is there now.  One before the tensor was kept
** is none, nor one beside it in the same memory, as into the next of several buffers
** that were made as one. */
static void overwritten (DtDiag *g, const DtEvent *e) {
  const unsigned n = g->nunseen < DT_UNSEEN ? g->nunseen : DT_UNSEEN;
  int64_t from, end;
  if (is_statistic(e)) return;
  find_range(e->in[0]->local, &from, &end);
  for (unsigned i = 1; i <= n; i++) {
    const DtUnseen *u = &g->unseen[(g->nunseen - i) % DT_UNSEEN];
    DtEvent at;
    if (u->storage != e->in[0]->local->storage->id || u->version <= e->kept ||
        u->from >= end || u->end <= from) continue;
    at = dt_diag_origin(&u->at, u->at.op);
    dt_diag_add(g, &at, DT_FIND_ID_KEPT_OVERWRITTEN, e->in[0], 0, NULL,
                "%s wrote here into what backward reads at %s:%d as it was kept",
                u->at.op, e->file ? e->file : "", e->line);
    return;
  }
}

/* --- which operators --- */

static bool is_item (const DtDiag *g, const DtOpDef *op) {
  return dt_diag_op_is(g, op, DT_DO_ITEM);
}

static bool leaves_blank (const DtDiag *g, const DtOpDef *op) {
  return !dt_diag_inplace(g, op) && makes_blank(g, op);
}

const DtDiagRule dt_rules_mem[] = {
  { DT_EV_FUNC_END, partial_local, NULL, DT_CALLED(TO_LOCAL) },
  { DT_EV_OVERWRITTEN, overwritten, NULL, DT_WHEN(nunseen) },
  { DT_EV_FUNC_END, blank_spread, NULL, DT_WHEN(blank.n) },
  { DT_EV_OP, on_item, is_item, 0 },
  { DT_EV_OP, blank_read, NULL, DT_WHEN(blank.n) },
  { DT_EV_GRAD, blank_grad, NULL, DT_WHEN(blank.n) },
  { DT_EV_OP, temp_written, dt_diag_inplace, DT_WHEN(temp.n) },
  { DT_EV_OP_END, blank_made, leaves_blank, 0 },
  { DT_EV_OP_END, temp_made, dt_diag_view, 0 },
  { 0, NULL, NULL, 0 }
};
