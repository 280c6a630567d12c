/* SPDX-License-Identifier: MIT
** debug/verify_cause.c: why an operator's result is not one device's.
**
** Looked for in this order: numbers that differ between ranks, inputs that are
** not what they claim to be (copies that differ, parts of another size),
** outputs that are not (before they are gathered), a rule known to be wrong, a
** handler in place of the rule, a dimension that the rule misreads (it is asked
** again with the dimension counted from the front), then what the chosen
** placements say: means of unequal parts, numbers added to each part of a sum,
** functions of parts that are not parts of the function. */
#include "debug/verify_int.h"

#include <stdio.h>
#include <string.h>
#include "base/hash.h"
#include "mesh/layout.h"
#include "shard/known_wrong.h"

uint64_t dt_vf_hash (const DtTensor *t) {
  int64_t index[DT_MAX_NDIM] = {0}, n = dt_meta_numel(&t->m);
  uint64_t h = dt_hash_u64(DT_HASH_SEED, t->m.dtype);
  for (int k = 0; k < t->m.ndim; k++)
    h = dt_hash_u64(h, (uint64_t)t->m.shape[k]);
  if (n > 0 && !dt_tensor_has_data(t)) return h;
  for (; n > 0; n--) {
    DtScalar v = dt_tensor_get(t, index);
    h = dt_hash_bytes(h, &v.re, sizeof v.re);
    h = dt_hash_bytes(h, &v.im, sizeof v.im);
    h = dt_hash_u64(h, (uint64_t)v.i);
    for (int k = t->m.ndim - 1; k >= 0; k--) {
      if (++index[k] < t->m.shape[k]) break;
      index[k] = 0;
    }
  }
  return h;
}

static bool same_number (DtScalar a, DtScalar b) {
  return memcmp(&a.re, &b.re, sizeof a.re) == 0 &&
         memcmp(&a.im, &b.im, sizeof a.im) == 0 && a.i == b.i;
}

uint64_t dt_verify_digest (const DtTensor *t, bool *constant) {
  int64_t index[DT_MAX_NDIM] = {0}, n = dt_meta_numel(&t->m);
  DtScalar first = {0};
  *constant = true;
  if (n > 0) first = dt_tensor_get(t, index);
  for (; n > 1 && *constant; n--) {
    (void)dt_vf_next(&t->m, index);
    *constant = same_number(first, dt_tensor_get(t, index));
  }
  return dt_vf_hash(t);
}

static void print_groups (const DtGroup *g, char *const *v, DtBuf *b) {
  for (int i = 0; i < g->size; i++) {
    int k = 0;
    while (k < i && strcmp(v[i], v[k]) != 0) k++;
    if (k < i) continue;
    dt_buf_addf(b, "%s[%d", i > 0 ? " " : "", g->ranks[i]);
    for (k = i + 1; k < g->size; k++)
      if (strcmp(v[i], v[k]) == 0) dt_buf_addf(b, ",%d", g->ranks[k]);
    dt_buf_addc(b, ']');
  }
}

DtStatus dt_vf_same (DtSession *s, DtGroup *g, const DtTensor *t, bool *same,
                     DtBuf *groups) {
  char mine[24], **v;
  *same = true;
  snprintf(mine, sizeof mine, "%016llx", (unsigned long long)dt_vf_hash(t));
  DT_TRY(s->cx, dt_vf_gather(s, g, mine, &v));
  for (int i = 1; i < g->size; i++)
    *same = *same && strcmp(v[i], v[0]) == 0;
  if (!*same) print_groups(g, v, groups);
  dt_vf_gather_free(s, g, v);
  return DT_OK;
}

DtStatus dt_verify_same (DtSession *s, const DtTensor *t, bool *same,
                         DtBuf *groups) {
  *same = true;
  if (dt_session_no_data(s)) return DT_OK;
  return dt_vf_same(s, s->comm->world, t, same, groups);
}

void dt_vf_input_name (const DtVfCase *c, int i, DtBuf *b) {
  const DtRecVar *v = &c->r->in[i];
  int pos = 0;
  if (v->name) dt_buf_add(b, v->name);
  else if (c->r->op)
    dt_buf_addf(b, "%s", dt_slot_arg(&c->r->args, i, &pos));
  else dt_buf_addf(b, "input %d", i);
}

/* --- are copies equal, are parts cut where they should be? --- */

/* Ranks that must hold the same: equal coordinates but on Replicate dims. */
static bool same_part (const DtSpec *p, int a, int b) {
  int64_t x[DT_MAX_MDIM], y[DT_MAX_MDIM];
  if (!dt_mesh_coord_of(p->mesh, a, x) || !dt_mesh_coord_of(p->mesh, b, y))
    return false;
  for (int m = 0; m < p->mesh->ndim && m < p->npl; m++)
    if (p->pl[m].kind != DT_PL_REPLICATE && x[m] != y[m]) return false;
  return true;
}

/* Mesh dims on which two ranks differ, "tp". */
static void differ_on (const DtSpec *p, int a, int b, DtBuf *out) {
  int64_t x[DT_MAX_MDIM], y[DT_MAX_MDIM];
  (void)dt_mesh_coord_of(p->mesh, a, x);
  (void)dt_mesh_coord_of(p->mesh, b, y);
  for (int m = 0; m < p->mesh->ndim; m++)
    if (x[m] != y[m]) {
      if (out->len > 0) dt_buf_add(out, ", ");
      dt_mesh_dim_label(p->mesh, m, out);
    }
}

static bool right_size (DtCtx *cx, const DtVar *v) {
  int64_t shape[DT_MAX_NDIM];
  int n = 0;
  if (!v->spec->mesh->member) return true;
  if (dt_layout_local(cx, v->spec, NULL, shape, NULL, &n) != DT_OK) {
    dt_error_clear(cx);
    return true;
  }
  if (n != v->local->m.ndim) return false;
  for (int i = 0; i < n; i++)
    if (shape[i] != v->local->m.shape[i]) return false;
  return true;
}

DtStatus dt_vf_consistent (DtVfCase *c, DtVar *v, const char *what,
                           bool *ok) {
  DtSession *s = c->d->s;
  const DtSpec *p = v->spec;
  char mine[32], **all;
  const int *rank = c->group->ranks;
  int n = c->group->size;
  DtBuf b;
  *ok = true;
  snprintf(mine, sizeof mine, "%c%016llx", right_size(s->cx, v) ? 'y' : 'n',
           (unsigned long long)dt_vf_hash(v->local));
  DT_TRY(s->cx, dt_vf_gather(s, c->group, mine, &all));
  dt_buf_init(&b, s->cx);
  for (int i = 0; i < n && *ok; i++) {
    if (all[i][0] == 'n') {
      *ok = false;
      snprintf(c->v->cause, sizeof c->v->cause, "uneven-local");
      snprintf(c->v->words, sizeof c->v->words, "%.60s: the part of rank %d "
               "has another size than its placement cuts", what, rank[i]);
    }
    for (int k = 0; k < i && *ok; k++) {
      if (!same_part(p, rank[i], rank[k]) ||
          strcmp(all[i] + 1, all[k] + 1) == 0) continue;
      *ok = false;
      differ_on(p, rank[i], rank[k], &b);
      snprintf(c->v->cause, sizeof c->v->cause, "differing-copies");
      snprintf(c->v->words, sizeof c->v->words, "%.60s: Replicate on mesh dim "
               "%.40s, but ranks %d and %d hold different values", what,
               dt_buf_str(&b), rank[k], rank[i]);
    }
  }
  dt_buf_fini(&b);
  dt_vf_gather_free(s, c->group, all);
  return DT_OK;
}

DtStatus dt_vf_bad_input (DtVfCase *c, bool *found) {
  *found = false;
  for (int i = 0; i < c->nin && !*found; i++) {
    DtBuf b;
    bool ok = true;
    DtStatus st;
    if (c->in[i] == NULL || c->in[i]->spec == NULL) continue;
    dt_buf_init(&b, c->d->s->cx);
    dt_vf_input_name(c, i, &b);
    dt_buf_addf(&b, " (made by %.24s #%lld)",
                c->r->in[i].origin.op ? c->r->in[i].origin.op : "?",
                (long long)c->r->in[i].origin.seq);
    st = dt_vf_consistent(c, c->in[i], dt_buf_str(&b), &ok);
    dt_buf_fini(&b);
    if (st != DT_OK) return st;
    *found = !ok;
  }
  return DT_OK;
}

DtStatus dt_vf_fits (DtVfCase *c, DtVar *v, bool *ok) {
  DtCtx *cx = c->d->s->cx;
  double misfits;
  bool found;
  DtBuf b;
  DT_TRY(cx, dt_vf_most(c, v->spec && !right_size(cx, v), &misfits));
  *ok = misfits <= 0;
  if (*ok) return DT_OK;
  DT_TRY(cx, dt_vf_bad_input(c, &found));
  if (found) return DT_OK;
  dt_buf_init(&b, cx);
  dt_spec_print_placements(v->spec, &b);
  snprintf(c->v->cause, sizeof c->v->cause, "local-misfit");
  snprintf(c->v->words, sizeof c->v->words, "it leaves parts that are not what "
           "%.60s cuts: the placements were changed and the data were not",
           dt_buf_str(&b));
  dt_buf_fini(&b);
  return DT_OK;
}

/* --- what was decided --- */

DtStatus dt_vf_decide (DtVfCase *c) {
  return dt_record_decide(c->d, c->r, &c->r->args, NULL, &c->prop);
}

static void parts_text (const DtSpec *p, int m, DtBuf *b) {
  int64_t n = p->mesh->shape[m], len, off;
  for (int64_t i = 0; i < n && i < 16; i++) {
    dt_shard_size(p->meta.shape[p->pl[m].dim], n, i, &len, &off);
    dt_buf_addf(b, i > 0 ? ", %lld" : "%lld", (long long)len);
  }
}

/* Is mesh dim m of p cut into unequal parts? */
static bool is_uneven (const DtSpec *p, int m) {
  return p && m < p->npl && p->pl[m].kind == DT_PL_SHARD &&
         p->meta.shape[p->pl[m].dim] % p->mesh->shape[m] != 0;
}

static bool has_avg (const DtSpec *p, int m) {
  return p && m < p->npl && p->pl[m].kind == DT_PL_PARTIAL &&
         p->pl[m].op == DT_OP_AVG;
}

static bool uneven_mean (DtVfCase *c, const DtProp *p, int m) {
  bool avg = false;
  for (int i = 0; i < p->nout; i++) avg = avg || has_avg(p->out[i], m);
  for (int i = 0; i < p->nin && avg; i++) {
    DtBuf parts, dim;
    if (!is_uneven(p->in[i], m)) continue;
    dt_buf_init(&parts, c->d->s->cx);
    dt_buf_init(&dim, c->d->s->cx);
    parts_text(p->in[i], m, &parts);
    dt_mesh_dim_label(p->in[i]->mesh, m, &dim);
    snprintf(c->v->cause, sizeof c->v->cause, "uneven-mean");
    snprintf(c->v->words, sizeof c->v->words, "uneven mean: the parts on mesh "
             "dim %.40s have %.80s rows but their means count the same",
             dt_buf_str(&dim), dt_buf_str(&parts));
    dt_buf_fini(&parts);
    dt_buf_fini(&dim);
    return true;
  }
  return false;
}

static bool is_partial (const DtSpec *p, int m) {
  return p && m < p->npl && p->pl[m].kind >= DT_PL_PARTIAL;
}

/* Numbers given where a tensor could be. */
static bool has_number (const DtVfCase *c) {
  for (int i = 1; i < c->r->args.n; i++)
    if (c->r->args.given >> i & 1 || i < c->r->args.npos)
      if (c->r->args.v[i].kind == DT_V_INT ||
          c->r->args.v[i].kind == DT_V_FLOAT) return true;
  for (int i = 0; i < c->r->nin; i++)
    if (!c->r->in[i].spec && dt_meta_numel(c->r->in[i].meta) == 1)
      return true;
  return false;
}

/* A difference explained by parts: a number added to each part counts once for
** each rank, and f(a + b) is not f(a) + f(b). Only an addition whose result is
** still partial is the first case. */
static bool partial_in (DtVfCase *c, const DtProp *p, int m) {
  static const char *const adds[] = {"add", "add_", "sub", "sub_", "rsub"};
  bool in = false, out = false, additive = false;
  DtBuf dim, name;
  const DtSpec *at = NULL;
  for (int i = 0; i < p->nin; i++)
    if (is_partial(p->in[i], m)) in = true, at = p->in[i];
  for (int i = 0; i < p->nout; i++) out = out || is_partial(p->out[i], m);
  if (!in) return false;
  for (size_t i = 0; i < sizeof adds / sizeof adds[0]; i++)
    additive = additive || strcmp(c->r->op->sig->base, adds[i]) == 0;
  dt_buf_init(&dim, c->d->s->cx);
  dt_buf_init(&name, c->d->s->cx);
  dt_mesh_dim_label(at->mesh, m, &dim);
  dt_pl_print(at->pl[m], &name);
  if (additive && out && has_number(c)) {
    snprintf(c->v->cause, sizeof c->v->cause, "partial-plus-scalar");
    snprintf(c->v->words, sizeof c->v->words, "Partial plus scalar: the number "
             "is added to each of the %lld parts of %s on mesh dim %.40s",
             (long long)at->mesh->shape[m], dt_buf_str(&name),
             dt_buf_str(&dim));
  } else {
    snprintf(c->v->cause, sizeof c->v->cause, "nonlinear-on-partial");
    snprintf(c->v->words, sizeof c->v->words, "%s of parts is not a part of "
             "%s of the whole: an input is %s on mesh dim %.40s",
             c->r->op->sig->base, c->r->op->sig->base, dt_buf_str(&name),
             dt_buf_str(&dim));
  }
  dt_buf_fini(&dim);
  dt_buf_fini(&name);
  return true;
}

static void by_rule (DtVfCase *c, const DtProp *p) {
  DtBuf b;
  dt_buf_init(&b, c->d->s->cx);
  for (int i = 0; i < p->nin; i++) {
    if (i > 0) dt_buf_add(&b, ", ");
    if (p->in[i]) dt_pls_print(p->in[i]->pl, p->in[i]->npl, &b);
  }
  dt_buf_add(&b, " -> ");
  for (int i = 0; i < p->nout; i++) {
    if (i > 0) dt_buf_add(&b, ", ");
    if (p->out[i]) dt_pls_print(p->out[i]->pl, p->out[i]->npl, &b);
  }
  snprintf(c->v->cause, sizeof c->v->cause, "wrong-rule");
  snprintf(c->v->words, sizeof c->v->words, "the strategy %.240s does not hold "
           "for these values", dt_buf_str(&b));
  dt_buf_fini(&b);
}

/* Each rank divides by its own count, though the parts are equally long. */
static bool mean_of_means (DtVfCase *c, const DtProp *p, int m) {
  DtBuf dim;
  bool avg = false;
  for (int i = 0; i < p->nout; i++) avg = avg || has_avg(p->out[i], m);
  if (!avg || p->nin < 1 || p->in[0] == NULL ||
      p->in[0]->pl[m].kind != DT_PL_SHARD) return false;
  dt_buf_init(&dim, c->d->s->cx);
  dt_mesh_dim_label(p->in[0]->mesh, m, &dim);
  snprintf(c->v->cause, sizeof c->v->cause, "mean-of-means");
  snprintf(c->v->words, sizeof c->v->words, "mean of means: each rank of mesh "
           "dim %.40s divides by its own count (weights, ignored elements), "
           "and the means count the same", dt_buf_str(&dim));
  dt_buf_fini(&dim);
  return true;
}

static bool decided_alike (const DtProp *a, const DtProp *b) {
  for (int i = 0; i < a->nin && i < b->nin; i++)
    if (a->in[i] && b->in[i] && !dt_vf_same_pls(a->in[i], b->in[i]))
      return false;
  for (int i = 0; i < a->nout && i < b->nout; i++)
    if (a->out[i] && b->out[i] &&
        !dt_vf_same_pls(a->out[i], b->out[i])) return false;
  return true;
}

/* Would the same dimension, counted from the front, be decided otherwise? */
static bool negative_dim (DtVfCase *c, const DtProp *p) {
  const DtSchema *sig = c->r->op->sig;
  DtArgs args = c->r->args;
  int ndim = 0;
  if (p->nin > 0 && p->in[0]) ndim = p->in[0]->meta.ndim;
  if (p->nout > 0 && p->out[0] && p->out[0]->meta.ndim > ndim)
    ndim = p->out[0]->meta.ndim;
  for (int i = 0; i < sig->nargs && i < args.n; i++) {
    DtProp *q = NULL;
    bool alike = true;
    int64_t dim = args.v[i].u.i;
    if (strcmp(sig->arg[i].name, "dim") != 0 || args.v[i].kind != DT_V_INT ||
        dim >= 0 || dim + ndim < 0) continue;
    args.v[i].u.i = dim + ndim;
    if (dt_record_decide(c->d, c->r, &args, NULL, &q) == DT_OK)
      alike = decided_alike(p, q);
    else dt_error_clear(c->d->s->cx);
    dt_prop_unref(c->d->s->cx, q);
    if (alike) continue;
    snprintf(c->v->cause, sizeof c->v->cause, "negative-dim");
    snprintf(c->v->words, sizeof c->v->words, "the rule compares dim %lld as "
             "it was given and does not see that it is dimension %lld; called "
             "with %lld it decides otherwise", (long long)dim,
             (long long)(dim + ndim), (long long)(dim + ndim));
    return true;
  }
  return false;
}

/* A handler did it, not a rule.  Handlers share their work: in loss_parallel
** the backward of nll_loss does that of log_softmax as well, which then passes
** it on.  One alone proves nothing; whether they met is a finding. */
static bool is_replaced_by_handler (DtVfCase *c) {
  if (c->r->via != DT_VIA_NONE && c->r->via != DT_VIA_HANDLER) return false;
  c->v->kind = DT_VF_SKIPPED;
  snprintf(c->v->words, sizeof c->v->words, "carried out by a handler (as "
           "loss_parallel and context_parallel install them), which is right "
           "only together with others");
  return true;
}

static void by_decision (DtVfCase *c, const DtProp *p) {
  int ndim = p->nin > 0 && p->in[0] ? p->in[0]->npl : 0;
  if (p->known_wrong) {
    snprintf(c->v->cause, sizeof c->v->cause, "known-wrong-rule");
    snprintf(c->v->words, sizeof c->v->words, "a rule of PyTorch that is "
             "known to be wrong: %.240s", p->known_wrong->what);
    return;
  }
  if (is_replaced_by_handler(c) || negative_dim(c, p)) return;
  for (int m = 0; m < ndim; m++)
    if (uneven_mean(c, p, m) || mean_of_means(c, p, m)) return;
  for (int m = 0; m < ndim; m++)
    if (partial_in(c, p, m)) return;
  by_rule(c, p);
}

/* --- numbers --- */

/* Numbers among the arguments (and tensors that were numbers) must be equal on
** all ranks, as on one device there is only one: hashed, compared, the groups
** of ranks named. */
DtStatus dt_vf_numbers (DtVfCase *c) {
  DtSession *s = c->d->s;
  const DtArgs *a = &c->r->args;
  uint64_t h = DT_HASH_SEED;
  char mine[24], **v;
  bool same = true;
  for (int i = 0; i < a->n; i++)
    if (a->v[i].kind == DT_V_INT || a->v[i].kind == DT_V_FLOAT)
      h = dt_hash_u64(h, (uint64_t)a->v[i].u.i);
  for (int i = 0; i < c->nin; i++)
    if (c->in[i] && c->r->in[i].meta->wrapped)
      h = dt_hash_u64(h, dt_vf_hash(c->in[i]->local));
  snprintf(mine, sizeof mine, "%016llx", (unsigned long long)h);
  DT_TRY(s->cx, dt_vf_gather(s, c->group, mine, &v));
  for (int i = 1; i < c->group->size; i++)
    same = same && strcmp(v[i], v[0]) == 0;
  if (!same) {
    DtBuf b;
    dt_buf_init(&b, s->cx);
    print_groups(c->group, v, &b);
    c->v->kind = DT_VF_WRONG;
    snprintf(c->v->cause, sizeof c->v->cause, "differing-number");
    snprintf(c->v->words, sizeof c->v->words, "a number given to it differs "
             "between ranks: %.160s", dt_buf_str(&b));
    dt_buf_fini(&b);
  }
  dt_vf_gather_free(s, c->group, v);
  return DT_OK;
}

static double number_of (const DtValue *v) {
  switch (v->kind) {
    case DT_V_INT: return (double)v->u.i;
    case DT_V_BOOL: return v->u.b;
    case DT_V_FLOAT: return v->u.f;
    default: return 0;
  }
}

/* Reading a number: the local part of what is partial is not the number. */
DtStatus dt_vf_number (DtVfCase *c, const DtValue *whole) {
  DtSession *s = c->d->s;
  DtTensor *in[1], *none[DT_VF_MAX] = {0};
  DtValue mine = {.kind = DT_V_NONE};
  DtLocalOut got = {.v = none, .max = DT_VF_MAX, .ret = &mine};
  double gap;
  if (strcmp(c->r->op->sig->base, "_local_scalar_dense") != 0 || c->nin != 1 ||
      c->in[0] == NULL || c->in[0]->spec == NULL ||
      !dt_spec_has_partial(c->in[0]->spec)) return DT_OK;
  in[0] = c->in[0]->local;
  if (dt_oracle_call(s, c->r->op, &c->r->args, 1, in, &got) != DT_OK)
    dt_error_clear(s->cx);
  gap = number_of(&mine) - number_of(whole);
  DT_TRY(s->cx, dt_vf_most(c, gap < 0 ? -gap : gap, &c->v->worst));
  if (c->v->worst == 0) return DT_OK;
  c->v->kind = DT_VF_WRONG;
  snprintf(c->v->cause, sizeof c->v->cause, "partial-read");
  snprintf(c->v->words, sizeof c->v->words, "a partial tensor was read: each "
           "rank got its own part of %.9g", number_of(whole));
  return DT_OK;
}

/* A redistribution of what is cut twice, in an order that is lost. */
static bool strided_move (DtVfCase *c) {
  const DtSpec *a = c->in[0] ? c->in[0]->spec : NULL;
  const DtSpec *z = c->out[0] ? c->out[0]->spec : NULL;
  DtBuf b;
  if (c->r->op || !a || !z ||
      !(dt_spec_has_strided(a) || dt_spec_has_strided(z))) return false;
  dt_buf_init(&b, c->d->s->cx);
  dt_spec_print_placements(a, &b);
  dt_buf_add(&b, " -> ");
  dt_spec_print_placements(z, &b);
  snprintf(c->v->cause, sizeof c->v->cause, "strided-order");
  snprintf(c->v->words, sizeof c->v->words, "%.80s: the order of the shards of "
           "a dimension that is cut twice is lost on the way",
           dt_buf_str(&b));
  dt_buf_fini(&b);
  return true;
}

DtStatus dt_vf_cause (DtVfCase *c) {
  DtSession *s = c->d->s;
  bool found;
  DT_TRY(s->cx, dt_vf_bad_input(c, &found));
  if (found) return DT_OK;
  if (c->prop) {
    by_decision(c, c->prop);
    return DT_OK;
  }
  if (strided_move(c)) return DT_OK;
  snprintf(c->v->cause, sizeof c->v->cause, "unknown");
  snprintf(c->v->words, sizeof c->v->words, "no cause was found");
  return DT_OK;
}
