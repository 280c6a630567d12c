/* SPDX-License-Identifier: MIT
** shard/result.c: a choice becomes specs: what each input must be, what each
** output is, which arguments are rewritten for the local call.
**
** A result is one block of memory (specs apart), so that the cache can hold
** thousands.  Inputs are compared by placements only to decide whether
** anything moves, and by the whole spec once something does.
** Semantics: propagate_op_sharding_non_cached (_sharding_prop.py, 2.13). */
#include <math.h>
#include <string.h>
#include "shard/prop_int.h"

DtProp *dt_prop_new (DtCtx *cx, const DtOpDef *op, int nin, int nout,
                     int ncosts) {
  size_t a = sizeof(DtProp), b = (size_t)nout * sizeof(DtSpec *);
  size_t c = (size_t)nin * sizeof(DtSpec *);
  size_t e = (size_t)ncosts * sizeof(double);
  size_t flags = (size_t)(nin + nout) * sizeof(bool);
  char *m = (char *)dt_calloc(cx, 1, a + b + c + e + flags + 1);
  DtProp *p = (DtProp *)(void *)m;
  if (p == NULL) return NULL;
  p->refs = 1;
  p->op = op;
  p->nin = nin;
  p->nout = nout;
  p->ncosts = ncosts;
  p->out = (DtSpec **)(void *)(m + a);
  p->in = (const DtSpec **)(void *)(m + a + b);
  p->costs = (double *)(void *)(m + a + b + c);
  p->moved = (bool *)(m + a + b + c + e);
  p->out_none = p->moved + nin;
  return p;
}

DtProp *dt_prop_ref (DtProp *p) {
  if (p != NULL) p->refs++;
  return p;
}

void dt_prop_unref (DtCtx *cx, DtProp *p) {
  int i;
  if (p == NULL || --p->refs > 0) return;
  for (i = 0; i < p->nout; i++) dt_spec_unref(cx, p->out[i]);
  for (i = 0; i < p->nin; i++)
    dt_spec_unref(cx, (DtSpec *)(uintptr_t)p->in[i]);
  dt_arena_fini(cx, &p->arena);
  dt_free(cx, p);
}

static bool any_strided (const DtPlacement *pl, int n) {
  int i;
  for (i = 0; i < n; i++)
    if (pl[i].kind == DT_PL_STRIDED) return true;
  return false;
}

static DtStatus make_spec (DtCtx *cx, DtMesh *mesh, const DtPlacement *pl,
                           const DtMeta *meta, int flag, DtSpec **out) {
  return dt_spec_new(cx, mesh, mesh->ndim, pl, meta, NULL,
                     any_strided(pl, mesh->ndim) ? flag : 0, out);
}

const DtPlacement *dt_sheet_in (const DtSheet *s, int i) {
  if (!s->best_in) return s->best.out;
  return s->best.in + (size_t)i * (size_t)s->ndim;
}

/* ---- inputs ---- */

static bool same_placements (const DtSpec *s, const DtPlacement *pl, int n) {
  return s->npl == n && dt_pls_equal(s->pl, pl, n);
}

/* The wanted spec of slot `slot`, which is input `i` of the choice. */
static DtStatus set_input (const DtDecide *d, const DtSheet *s, int i,
                           int slot, const DtSpec *cur, int flag,
                           DtProp *p) {
  DtSpec *want;
  const DtPlacement *pl = dt_sheet_in(s, i);
  bool foreign = i == d->different && !dt_mesh_equal(cur->mesh, d->mesh);
  if (i >= d->npos || foreign || s->best_whole) {
    /* keyword tensors never move */
    p->in[slot] = dt_spec_ref(cur);
    return DT_OK;
  }
  if (!same_placements(cur, pl, s->ndim)) p->needs_redist = true;
  DT_TRY(d->cx, make_spec(d->cx, d->mesh, pl, &cur->meta, flag, &want));
  p->in[slot] = want;
  return DT_OK;
}

/* Once anything moves, every input whose spec differs in any way does. */
static void settle_inputs (const DtSpec *const *in, DtCtx *cx, DtProp *p) {
  int i;
  for (i = 0; i < p->nin; i++) {
    bool same = dt_spec_equal(in[i], p->in[i]);
    p->moved[i] = p->needs_redist && !same;
    if (same || !p->needs_redist) {
      dt_spec_unref(cx, (DtSpec *)(uintptr_t)p->in[i]);
      p->in[i] = dt_spec_ref(in[i]);
    }
  }
}

/* ---- outputs ---- */

static DtStatus check_outputs (const DtDecide *d, const DtSheet *s) {
  const DtSchema *sig = d->op->sig;
  const char *dot = strcmp(sig->overload, "default") == 0 ? "" : ".";
  const char *overload = *dot != '\0' ? sig->overload : "";
  DT_CHECK(d->cx, s->nout == d->nout || s->alone, DT_E_VALUE, "For the op %s::%s%s%s, "
           "`output_specs` has %d output%s which does not equal the number "
           "of op outputs%s %d%s", sig->ns, sig->base, dot, overload,
           s->nout, s->nout == 1 ? "" : "s", s->nout == 1 ? ":" : "",
           d->nout, ".");
  return DT_OK;
}

static DtStatus set_outputs (const DtDecide *d, const DtSheet *s, int flag,
                             DtProp *p) {
  int i;
  for (i = 0; i < p->nout; i++) {
    p->out_none[i] = d->none[i];
    if (d->none[i]) continue;
    if (s->best_whole) {
      const DtSpec *in = d->in[0];
      DT_TRY(d->cx, dt_spec_new(d->cx, d->mesh, in->npl, in->pl, &d->out[i],
                                NULL, any_strided(in->pl, in->npl) ? flag : 0,
                                &p->out[i]));
      continue;
    }
    int at = s->alone ? 0 : i;
    DT_TRY(d->cx, make_spec(d->cx, d->mesh,
                            s->best.out + (size_t)at * (size_t)s->ndim,
                            &d->out[i], flag, &p->out[i]));
  }
  return DT_OK;
}

/* ---- rewriting ---- */

/* The registered form of an operator that a rewrite took from a table. */
static DtStatus find_registered (const DtDecide *d, DtProp *p) {
  char name[128];
  size_t n = strcspn(p->op->schema, "(");
  DT_ASSERT(d->cx, n < sizeof name);
  memcpy(name, p->op->schema, n);
  name[n] = '\0';
  p->op = dt_registry_find(d->cx, d->p->reg, name);
  DT_ASSERT(d->cx, p->op != NULL);
  return DT_OK;
}

/* Arguments that must be those of the local part (sizes of a view, indices of
** a slice): a rule may replace the call itself, which then asks for its
** redistribution. */
static DtStatus rewrite_call (const DtDecide *d, DtProp *p) {
  DtRewriteCall c;
  DtArgs *args;
  if (d->rule_op->rewrite == NULL) return DT_OK;
  args = DT_ANEWN(d->cx, d->arena, DtArgs, 1);
  if (args == NULL) return DT_E_NOMEM;
  DT_TRY(d->cx, dt_args_copy(d->cx, d->arena, d->args, args));
  memset(&c, 0, sizeof c);
  c.cx = d->cx;
  c.arena = d->arena;
  c.op = d->op;
  c.args = args;
  c.nin = p->nin;
  c.in = p->in;
  c.nout = p->nout;
  c.out = p->out;
  DT_TRY(d->cx, d->rule_op->rewrite(&c));
  if (!c.changed) return DT_OK;
  p->args = DT_ANEWN(d->cx, &p->arena, DtArgs, 1);
  if (p->args == NULL) return DT_E_NOMEM;
  DT_TRY(d->cx, dt_args_copy(d->cx, &p->arena, args, p->args));
  p->op = c.op;
  if (p->op->sig == NULL)               /* from the built-in table */
    DT_TRY(d->cx, find_registered(d, p));
  p->args->schema = p->op->sig;
  p->rewritten = p->needs_redist = true;
  return DT_OK;
}

/* ---- whole results ---- */

static bool returns_tensors (const DtSchema *s) {
  return s->nrets > 0 && s->ret[0].type == DT_T_TENSOR;
}

/* Views written by hand build specs whose _S are real strides. */
static int default_flag (const DtDecide *d, DtPropVia via) {
  (void)d;
  return via == DT_VIA_STRATEGY ? 0 : -1;
}

static DtStatus fill_prop (DtDecide *d, const DtSheet *s, DtPropVia via,
                           DtProp *p) {
  int i, flag = dt_strided_flag_final(d, default_flag(d, via));
  p->via = via;
  p->has_cost = s->best_cost;
  p->cost = s->best.total;
  for (i = 0; i < d->nin; i++)
    DT_TRY(d->cx, set_input(d, s, i, i, d->in[i], flag, p));
  if (p->nout > 0) {
    DT_TRY(d->cx, check_outputs(d, s));
    DT_TRY(d->cx, set_outputs(d, s, flag, p));
  }
  DT_TRY(d->cx, rewrite_call(d, p));
  settle_inputs(d->in, d->cx, p);
  return DT_OK;
}

DtStatus dt_prop_build (DtDecide *d, const DtSheet *s, DtPropVia via,
                        DtProp **out) {
  int nout = returns_tensors(d->op->sig) ? d->nout : 0;
  DtProp *p = dt_prop_new(d->cx, d->op, d->nin, nout, 0);
  DtStatus st;
  if (p == NULL) return DT_E_NOMEM;
  st = fill_prop(d, s, via, p);
  if (st != DT_OK) {
    dt_prop_unref(d->cx, p);
    return dt_error_frame(d->cx, st, __func__, __FILE__, __LINE__);
  }
  *out = p;
  return DT_OK;
}

static DtStatus fill_list (DtDecide *d, int n, const DtChosen *c,
                           DtProp *p) {
  int i, k, flag = dt_strided_flag_final(d, -1);
  for (i = 0; i < n; i++) {
    const DtSheet *s = &c[i].sheet;
    p->costs[i] = s->best.total;
    for (k = 0; k < c[i].d.nin; k++) {
      int slot = c[i].slot[k];
      if (p->in[slot] != NULL) continue;        /* shared: element 0's */
      DT_TRY(d->cx, set_input(&c[i].d, s, k, slot, d->in[slot], flag, p));
    }
    if (i >= p->nout || s->nout < 1) continue;
    DT_TRY(d->cx, make_spec(d->cx, c[i].d.mesh, s->best.out, &d->out[i],
                            flag, &p->out[i]));
  }
  for (i = 0; i < p->nin; i++)
    if (p->in[i] == NULL) p->in[i] = dt_spec_ref(d->in[i]);
  settle_inputs(d->in, d->cx, p);
  return DT_OK;
}

DtStatus dt_prop_build_list (DtDecide *d, int n, const DtChosen *c,
                             DtPropVia via, DtProp **out) {
  DtProp *p = dt_prop_new(d->cx, d->op, d->nin, d->nout, n);
  DtStatus st;
  if (p == NULL) return DT_E_NOMEM;
  p->via = via;
  p->has_cost = true;
  st = fill_list(d, n, c, p);
  if (st != DT_OK) {
    dt_prop_unref(d->cx, p);
    return dt_error_frame(d->cx, st, __func__, __FILE__, __LINE__);
  }
  *out = p;
  return DT_OK;
}
