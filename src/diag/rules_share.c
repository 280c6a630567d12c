/* SPDX-License-Identifier: MIT
** diag/rules_share.c: a mean of means by hand.
**
** A plain tensor that was summed or averaged is this rank's share of a number
** for all: each element counts in it with a weight, 1 in a sum, 1/n in a mean.
** Scaling changes the weight, copies keep it, and so does backward: a gradient
** has the weight of the loss.  Where shares are added or averaged over the
** ranks, by a collective, by from_local(Partial) or after an all_gather, an
** element must weigh the same on all of them: that is claimed.  A mean that
** was multiplied by its count before passes, as it should. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "base/hash.h"
#include "diag/diag_int.h"

/* Two shares that were added: equal on all ranks when both are. */
#define SECOND 1.6180339887498949

static void share_fini (DtDiag *g, DtShare *s) {
  dt_mesh_unref(g->s->cx, s->mesh);
  memset(s, 0, sizeof *s);
}

void dt_diag_shares_free (DtDiag *g) {
  int i;
  for (i = 0; i < DT_SHARES; i++) share_fini(g, &g->share[i]);
  g->nshares = 0;
}

/* The share of `t`; with `before`, as it was before the write that has just
** been made. */
static DtShare *find (DtDiag *g, const DtTensor *t, bool before) {
  int i, n = g->nshares < DT_SHARES ? g->nshares : DT_SHARES;
  for (i = 0; i < n; i++) {
    DtShare *s = &g->share[i];
    if (s->storage == t->storage->id &&
        (s->version == t->storage->version ||
         (before && s->version + 1 == t->storage->version))) return s;
  }
  return NULL;
}

static DtShare *put (DtDiag *g, const DtTensor *t, double weight) {
  DtShare *s = find(g, t, true);
  if (s == NULL) {
    s = &g->share[g->nshares++ % DT_SHARES];
    if (g->nshares == 2 * DT_SHARES) g->nshares = DT_SHARES;
  }
  share_fini(g, s);
  s->storage = t->storage->id;
  s->version = t->storage->version;
  s->weight = weight;
  return s;
}

static void claim (DtDiag *g, const DtEvent *e, const DtMesh *mesh, int mdim,
                   const DtVar *v, double weight) {
  char text[32];
  snprintf(text, sizeof text, "%.5g", fabs(weight));
  dt_diag_claim(g, e, DT_FIND_ID_MEAN_OF_MEANS, false, mesh, mdim, v,
                dt_hash_str(DT_HASH_SEED, text) | 1,
                "what an element weighs in the part of each rank (1 / its "
                "count in a mean)");
}

/* --- operators --- */

static bool is_any (const DtDiag *g, const DtOpDef *op, int from, int to) {
  int k;
  for (k = from; k <= to; k++)
    if (dt_diag_op_is(g, op, k)) return true;
  return false;
}

/* Its argument "reduction": 0 none, 1 mean, 2 sum; -1: it has none. */
static int64_t reduction (const DtEvent *e) {
  const DtSchema *sig = e->op->sig;
  int i;
  for (i = 0; i < sig->nargs && i < e->args->n; i++)
    if (strcmp(sig->arg[i].name, "reduction") == 0)
      return dt_arg_int(e->args, i);
  return -1;
}

static bool number_in (const DtVar *v, double *x) {
  DtScalar c;
  if (v == NULL || v->spec || dt_meta_numel(&v->local->m) != 1 ||
      !dt_tensor_has_data(v->local)) return false;
  c = dt_tensor_get(v->local, (int64_t[DT_MAX_NDIM]){ 0 });
  *x = c.re;
  return true;
}

/* The number that argument 1 is. */
static bool second_number (const DtEvent *e, double *x) {
  if (e->args->n > 1 && dt_arg_is_number(e->args, 1)) {
    *x = dt_arg_float(e->args, 1);
    return true;
  }
  return e->nin > 1 && number_in(e->in[1], x);
}

/* nll_loss divides by its second result. */
static double targets (const DtEvent *e) {
  double n;
  return e->nout > 1 && number_in(e->out[1], &n) ? n : NAN;
}

/* Weight of an element in what a sum, mean or loss gives; NAN: none. */
static double reduced (const DtDiag *g, const DtEvent *e) {
  double n = (double)dt_meta_numel(&e->in[0]->local->m);
  double m = (double)dt_meta_numel(&e->out[0]->local->m);
  int64_t how;
  if (is_any(g, e->op, DT_DO_SUM, DT_DO_SUM_DIM)) return 1;
  if (is_any(g, e->op, DT_DO_MEAN, DT_DO_MEAN_DIM)) return m / n;
  how = reduction(e);
  if (how == 2) return 1;
  if (how != 1) return NAN;
  return is_any(g, e->op, DT_DO_NLL, DT_DO_NLL2D) ? 1 / targets(e) : 1 / n;
}

static void made (DtDiag *g, const DtEvent *e) {
  const DtShare *in = find(g, e->in[0]->local, false);
  double w = reduced(g, e);
  if (isnan(w)) return;
  if (in && in->mesh) {         /* those of all ranks, put together */
    claim(g, e, in->mesh, in->mdim, e->in[0], in->weight);
    return;
  }
  put(g, e->out[0]->local, in ? in->weight * w : w);
}

/* a * b, a / b, where one is a share and the other a number. */
static void scaled (DtDiag *g, const DtEvent *e) {
  const bool div = is_any(g, e->op, DT_DO_DIV, DT_DO_DIV_SCALAR);
  const bool own = (e->op->flags & DT_OP_INPLACE) != 0;
  const DtShare *s = find(g, e->in[0]->local, own);
  double x, w = NAN;
  if (s && s->mesh == NULL && second_number(e, &x))
    w = div ? s->weight / x : s->weight * x;
  else if (!div && !own && e->nin > 1 && e->in[1] &&
           (s = find(g, e->in[1]->local, false)) != NULL && s->mesh == NULL &&
           number_in(e->in[0], &x))
    w = s->weight * x;
  if (!isnan(w)) put(g, e->out[0]->local, w);
}

/* Copied, joined, added: of the shares among the inputs. */
static void passed (DtDiag *g, const DtEvent *e) {
  const bool copy = dt_diag_is(g, e, DT_DO_COPY);
  const bool add = dt_diag_is(g, e, DT_DO_ADD);
  const bool own = (e->op->flags & DT_OP_INPLACE) != 0;
  const DtShare *s = NULL;
  double w = 0;
  DtMesh *mesh = NULL;
  int i, n = 0, mdim = 0;
  DtShare *to;
  for (i = copy ? 1 : 0; i < e->nin; i++) {
    if (e->in[i] == NULL) continue;
    s = find(g, e->in[i]->local, own && i == 0);
    if (s == NULL) continue;
    if (n == 0 || add) w = n ? w * SECOND + s->weight : s->weight;
    mesh = s->mesh;
    mdim = s->mdim;
    n++;
  }
  if (n == 0) return;
  if (mesh) mesh = dt_mesh_ref(mesh);
  to = put(g, e->out[0]->local, w);
  to->mesh = mesh;
  to->mdim = mdim;
}

/* Did plain tensors go into plain ones, with data? */
static bool plain (const DtDiag *g, const DtEvent *e) {
  return e->status == DT_OK && e->nin > 0 && e->nout > 0 && e->in[0] != NULL &&
         e->out[0] != NULL && !e->in[0]->spec && !e->out[0]->spec &&
         !dt_session_no_data(g->s);
}

static bool reduces (const DtDiag *g, const DtOpDef *op) {
  return is_any(g, op, DT_DO_SUM, DT_DO_MULTI_MARGIN) ||
         is_any(g, op, DT_DO_NLL, DT_DO_NLL2D);
}

static void reduce_end (DtDiag *g, const DtEvent *e) {
  if (!e->backward && plain(g, e)) made(g, e);
}

static bool scales (const DtDiag *g, const DtOpDef *op) {
  return is_any(g, op, DT_DO_MUL, DT_DO_DIV_SCALAR);
}

static void scale_end (DtDiag *g, const DtEvent *e) {
  if (plain(g, e)) scaled(g, e);
}

static bool passes (const DtDiag *g, const DtOpDef *op) {
  return is_any(g, op, DT_DO_CAT, DT_DO_ADD) || dt_diag_clones(g, op) ||
         dt_diag_op_is(g, op, DT_DO_COPY);
}

static void pass_end (DtDiag *g, const DtEvent *e) {
  if (plain(g, e)) passed(g, e);
}

/* --- backward --- */

static void backward (DtDiag *g, const DtEvent *e) {
  const DtShare *s = NULL;
  g->root = NAN;
  if (e->nin == 1 && e->in[0] && e->in[0]->spec == NULL)
    s = find(g, e->in[0]->local, false);
  if (s && s->mesh == NULL) g->root = s->weight;
}

static void backward_end (DtDiag *g, const DtEvent *e) {
  (void)e;
  g->root = NAN;
}

static void gradient (DtDiag *g, const DtEvent *e) {
  const DtShare *s;
  const DtTensor *t;
  if (isnan(g->root) || e->nout < 1 || e->out[0] == NULL) return;
  t = e->out[0]->local;
  s = find(g, t, true);
  put(g, t, s ? s->weight * SECOND + g->root : g->root);
}

/* --- over the ranks --- */

static void from_local (DtDiag *g, const DtEvent *e) {
  const DtShare *s;
  const DtSpec *p;
  int m;
  if (e->op != NULL || e->status != DT_OK || e->backward ||
      g->nfunc > 0 || e->nin < 1 || e->nout < 1 || e->in[0] == NULL ||
      e->out[0] == NULL || strcmp(e->text, "dtensor.from_local") != 0 ||
      (p = e->out[0]->spec) == NULL ||
      (s = find(g, e->in[0]->local, false)) == NULL || s->mesh) return;
  for (m = 0; m < p->npl && m < p->mesh->ndim; m++)
    if (p->pl[m].kind == DT_PL_PARTIAL && p->mesh->shape[m] > 1 &&
        (p->pl[m].op == DT_OP_SUM || p->pl[m].op == DT_OP_AVG))
      claim(g, e, p->mesh, m, e->in[0], s->weight);
}

static void told_reduced (DtDiag *g, const DtRecRaw *raw, const DtVar *in,
                          double weight) {
  DtEvent e = { .kind = DT_EV_COLL, .text = raw->kind, .seq = g->s->seq,
                .module = g->s->module ? g->s->module : "",
                .backward = g->s->backward };
  const char *file = "";
  int line = 0;
  if (g->s->where) g->s->where(g->s->where_ud, &file, &line);
  e.file = file ? file : "";
  e.line = line;
  claim(g, &e, raw->mesh, raw->mdim, in, weight);
}

void dt_diag_raw (DtDiag *g, const DtRecRaw *raw, const DtVar *in,
                  const DtVar *out) {
  const DtShare *s;
  DtShare *to;
  if (!g->on || g->d->muted || g->d->rec.off) return;
  dt_diag_summed(g, raw, in);
  if (g->nshares == 0 ||
      (s = find(g, in->local, false)) == NULL || s->mesh) return;
  if (strcmp(raw->kind, "all_gather") == 0) {
    to = put(g, out->local, s->weight);
    to->mesh = dt_mesh_ref(raw->mesh);
    to->mdim = raw->mdim;
  } else if (strstr(raw->kind, "reduce") && raw->reduce &&
             (strcmp(raw->reduce, "sum") == 0 ||
              strcmp(raw->reduce, "avg") == 0))
    told_reduced(g, raw, in, s->weight);
}

const DtDiagRule dt_rules_share[] = {
  { DT_EV_OP_END, reduce_end, reduces, 0 },
  { DT_EV_OP_END, scale_end, scales, DT_WHEN(nshares) },
  { DT_EV_OP_END, pass_end, passes, DT_WHEN(nshares) },
  { DT_EV_BACKWARD, backward, NULL, 0 },
  { DT_EV_BACKWARD_END, backward_end, NULL, 0 },
  { DT_EV_GRAD, gradient, NULL, 0 },
  { DT_EV_FUNC_END, from_local, NULL, DT_WHEN(nshares) },
  { 0, NULL, NULL, 0 }
};
