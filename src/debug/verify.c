/* SPDX-License-Identifier: MIT
** debug/verify.c: shadow mode: compare recorded operators with one device.
** Finding the cause of a wrong one is in verify_cause.c.
**
** The record has every input before the operator and every output after it.
** They are gathered, the operator runs once more on the whole inputs, and the
** results are compared bit by bit.  Where bits differ the distributed order is
** replayed (verify_replay.c).  Where that proves nothing the operator runs in
** double precision, on the inputs and on their absolute values: the second
** bounds what rounding can do in any order of additions, k * eps * f(|x|) for
** sums of k terms.  All ranks walk through the same steps whatever they find,
** for they gather together. */
#include "debug/verify_int.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "mesh/layout.h"

const char *dt_verify_name (DtVerifyKind k) {
  static const char *const names[] = {"skipped", "exact", "rounding", "wrong"};
  return names[k];
}

const char *dt_verify_proof (DtVerifyProof p) {
  static const char *const names[] = {"", "replay", "bound", "tolerance"};
  return names[p];
}

void dt_verify_print (const DtVerified *v, DtBuf *b) {
  dt_buf_addf(b, "#%lld %s  %s", (long long)v->seq, v->label,
              dt_verify_name(v->kind));
  if (v->kind == DT_VF_ROUNDING)
    dt_buf_addf(b, ": differs by %.3g, %s", v->worst, v->words);
  else if (v->kind == DT_VF_WRONG && v->worst > 0)
    dt_buf_addf(b, " by %.3g: %s", v->worst, v->words);
  else if (v->words[0] != '\0')
    dt_buf_addf(b, ": %s", v->words);
  if (v->line > 0) dt_buf_addf(b, "  %s:%d", v->file, v->line);
}

/* --- talking --- */

DtStatus dt_vf_gather (DtSession *s, DtGroup *g, const char *text,
                       char ***out) {
  DtCtx *cx = s->cx;
  DtCollInfo info = {"verify", 0, "verify", "", ""};
  char **v = DT_NEWN(cx, char *, g->size);
  size_t *len = DT_NEWN(cx, size_t, g->size);
  DtStatus st = v && len ? DT_OK : DT_E_NOMEM;
  if (st == DT_OK)
    st = dt_comm_gather_text(cx, g, &info, text, strlen(text), v, len);
  dt_free(cx, len);
  if (st != DT_OK) dt_free(cx, v);
  else *out = v;
  return st;
}

void dt_vf_gather_free (DtSession *s, const DtGroup *g, char **v) {
  for (int i = 0; v != NULL && i < g->size; i++) dt_free(s->cx, v[i]);
  dt_free(s->cx, v);
}

/* 17 digits carry a double there and back without loss. */
DtStatus dt_vf_most (DtVfCase *c, double mine, double *all) {
  DtSession *s = c->d->s;
  char text[40], **v;
  snprintf(text, sizeof text, "%.17g", mine);
  DT_TRY(s->cx, dt_vf_gather(s, c->group, text, &v));
  *all = -INFINITY;
  for (int i = 0; i < c->group->size; i++) {
    double x = strtod(v[i], NULL);
    if (x > *all) *all = x;
  }
  dt_vf_gather_free(s, c->group, v);
  return DT_OK;
}

/* --- what can be compared --- */

static bool is_masked (const DtRecVar *v) {
  for (int i = 0; v->spec && i < v->spec->npl; i++)
    if (v->spec->pl[i].kind == DT_PL_MASK_PARTIAL) return true;
  return false;
}

/* Memory as empty() found it: nobody wrote to it since. */
static bool is_blank (const DtRecVar *v) {
  return !v->none && v->spec == NULL && v->version == 0 && v->origin.op &&
         strstr(v->origin.op, "empty") != NULL;
}

static bool values_kept (const DtRecVar *v) {
  return v->none || v->block != NULL || dt_meta_numel(v->meta) == 0;
}

static bool is_random (const DtRecOp *r) {
  return r->op && (r->op->flags & DT_OP_RANDOM);
}

static const char all_plain[] = "all tensors are plain";

/* Why nothing can be said, the same on all ranks; NULL: something can. */
static const char *not_comparable (const DtRecOp *r, const DtMesh **mesh) {
  const DtMesh *m = NULL;
  if (!r->done || r->st != DT_OK) return "it failed";
  if (r->nin > DT_VF_MAX || r->nout > DT_VF_MAX) return "too many tensors";
  if (r->op && strstr(r->label, "empty")) return "values are not defined";
  if (r->op == NULL && r->nin > 0 && is_blank(&r->in[0]))
    return "values are not defined";
  for (int i = 0; i < r->nin + r->nout; i++) {
    const DtRecVar *v = i < r->nin ? &r->in[i] : &r->out[i - r->nin];
    if (v->none || v->spec == NULL) continue;
    if (is_masked(v)) return "a mask belongs to it: compared after its reduction";
    if (m != NULL && !dt_mesh_equal(m, v->spec->mesh)) return "several meshes";
    m = v->spec->mesh;
  }
  *mesh = m;
  if (m == NULL) return is_random(r) ? "random numbers" : all_plain;
  return m->member ? NULL : "this rank is not in its mesh";
}

/* The ranks of the mesh as a group. */
static DtStatus group_of (DtVfCase *c, const DtMesh *m) {
  DtCtx *cx = c->d->s->cx;
  int64_t n = dt_mesh_size(m), *all = DT_NEWN(cx, int64_t, n);
  int *ranks = DT_NEWN(cx, int, n);
  DtStatus st = all && ranks ? DT_OK : DT_E_NOMEM;
  if (st == DT_OK) {
    dt_mesh_ranks(m, all);
    for (int64_t i = 0; i < n; i++) ranks[i] = (int)all[i];
    st = dt_comm_group(cx, c->d->s->comm, (int)n, ranks, &c->group);
  }
  dt_free(cx, all);
  dt_free(cx, ranks);
  return st;
}

/* Inputs as they were before the call (r->seq), results as they were after
** it (r->seq + 1): an in-place operator has both in one storage. If a rank
** lacks the values, all leave this case together.  Every rank asks before
** any leaves, since the question itself is a collective. */
static DtStatus restore_inputs (DtVfCase *c) {
  const DtRecOp *r = c->r;
  bool kept = true;
  double missing;
  for (int i = 0; i < r->nin; i++) kept = kept && values_kept(&r->in[i]);
  for (int i = 0; i < r->nout; i++) kept = kept && values_kept(&r->out[i]);
  DT_TRY(c->d->s->cx, dt_vf_most(c, kept ? 0 : 1, &missing));
  if (missing > 0) {
    snprintf(c->v->words, sizeof c->v->words, "its values were not kept");
    return DT_OK;
  }
  for (int i = 0; i < r->nin; i++)
    if (!r->in[i].none)
      DT_TRY(c->d->s->cx, dt_record_revive(c->d, r->in[i].id, r->seq,
                                           &c->in[i]));
  for (int i = 0; i < r->nout; i++)
    if (!r->out[i].none)
      DT_TRY(c->d->s->cx, dt_record_revive(c->d, r->out[i].id, r->seq + 1,
                                           &c->out[i]));
  c->nin = r->nin;
  c->nout = r->nout;
  return DT_OK;
}

/* --- bounds --- */

static double eps_of (DtDtype t) {
  switch (t) {
    case DT_F64: case DT_C128: return DBL_EPSILON;
    case DT_F32: case DT_C64: return FLT_EPSILON;
    case DT_F16: return 0x1p-10;
    case DT_BF16: return 0x1p-7;
    case DT_F8E4M3: return 0x1p-3;
    case DT_F8E5M2: return 0x1p-2;
    default: return 0;
  }
}

DtStatus dt_vf_copy (DtVfCase *c, DtTensor *t, DtTensor **out) {
  DtSession *s = c->d->s;
  DtVar *v = NULL, *w = NULL;
  DtStatus st = dt_var_new(s, t, NULL, &v);
  if (st == DT_OK)
    st = dt_call_fmt(s, &w, "aten.clone.default", "t memory_format=v", v,
                     dt_v_code(DT_V_MEMFMT, DT_MF_CONTIGUOUS));
  if (st == DT_OK) *out = dt_tensor_ref(w->local);
  dt_var_unref(v);
  dt_var_unref(w);
  return st;
}

DtStatus dt_vf_convert (DtVfCase *c, DtTensor *t, bool dbl, bool positive,
                        DtTensor **out) {
  DtSession *s = c->d->s;
  DtVar *v = NULL, *w = NULL, *a = NULL;
  DtStatus st;
  if (!dbl || !dt_dtype_is_float((DtDtype)t->m.dtype)) {
    *out = dt_tensor_ref(t);
    return DT_OK;
  }
  st = dt_var_new(s, t, NULL, &v);
  if (st == DT_OK)
    st = dt_call_fmt(s, &w, "aten._to_copy.default", "t dtype=d", v, DT_F64);
  if (st == DT_OK && positive)
    st = dt_call_fmt(s, &a, "aten.abs.default", "t", w);
  if (st == DT_OK) *out = dt_tensor_ref(positive ? a->local : w->local);
  dt_var_unref(v);
  dt_var_unref(w);
  dt_var_unref(a);
  return st;
}

static void drop_tensors (DtVfCase *c, int n, DtTensor **t) {
  for (int i = 0; i < n; i++) {
    dt_tensor_unref(c->d->s->cx, t[i]);
    t[i] = NULL;
  }
}

/* Input i in double precision, with `positive` its absolute values.  Addends
** are converted before they are added: their sum in single precision has lost
** what the parts still have, and with it what they cancel.  Collective. */
static DtStatus whole_double (DtVfCase *c, int i, bool positive,
                              DtTensor **out) {
  DtSession *s = c->d->s;
  const DtSpec *p = c->in[i]->spec;
  DtTensor *t = NULL;
  DtSpec *spec = NULL;
  DtVar *v = NULL;
  DtMeta m;
  DtStatus st;
  if (p == NULL || !dt_spec_has_partial(p) ||
      !dt_dtype_is_float((DtDtype)p->meta.dtype))
    return dt_vf_convert(c, c->full[i], true, positive, out);
  dt_meta_copy(&m, &p->meta);
  m.dtype = DT_F64;
  st = dt_vf_convert(c, c->in[i]->local, true, positive, &t);
  if (st == DT_OK)
    st = dt_spec_new(s->cx, p->mesh, p->npl, p->pl, &m, p->order, -1, &spec);
  if (st == DT_OK) st = dt_var_new(s, t, spec, &v);
  if (st == DT_OK) st = dt_oracle_gather(s, v, out);
  dt_var_unref(v);
  dt_spec_unref(s->cx, spec);
  dt_tensor_unref(s->cx, t);
  return st;
}

/* The operator on whole inputs in double precision; *nout 0: it has none.
** Collective. */
static DtStatus in_double (DtVfCase *c, bool positive, DtTensor **out,
                           int *nout) {
  DtTensor *in[DT_VF_MAX] = {0};
  DtValue ret = {.kind = DT_V_NONE};
  DtLocalOut got = {.v = out, .max = DT_VF_MAX, .ret = &ret};
  DtStatus st = DT_OK;
  for (int i = 0; i < c->nin && st == DT_OK; i++)
    if (c->full[i]) st = whole_double(c, i, positive, &in[i]);
  if (st == DT_OK)
    st = dt_oracle_call(c->d->s, c->r->op, &c->r->args, c->nin, in, &got);
  drop_tensors(c, c->nin, in);
  *nout = got.n;
  if (st == DT_OK) return DT_OK;
  *nout = 0;
  if (dt_vf_fatal(st)) return st;
  dt_error_clear(c->d->s->cx);
  return DT_OK;
}

/* Most terms that one element of the result sums. */
static double count_terms (const DtVfCase *c, const DtTensor *out) {
  double k = 1, n = fmax(1, (double)dt_meta_numel(&out->m));
  for (int i = 0; i < c->nin; i++) {
    if (c->full[i] == NULL) continue;
    k = fmax(k, (double)dt_meta_numel(&c->full[i]->m) / n);
    for (int j = 0; j < c->full[i]->m.ndim; j++)
      k = fmax(k, (double)c->full[i]->m.shape[j]);
  }
  return k;
}

bool dt_vf_next (const DtMeta *m, int64_t *index) {
  for (int k = m->ndim - 1; k >= 0; k--) {
    if (++index[k] < m->shape[k]) return true;
    index[k] = 0;
  }
  return false;
}

/* Does each element lie within k * eps * scale of the exact value? */
static bool is_within_bound (DtVfCase *c, const DtTensor *got,
                             const DtTensor *exact, const DtTensor *scale) {
  int64_t index[DT_MAX_NDIM] = {0}, n = dt_meta_numel(&got->m);
  double k = count_terms(c, got), eps = eps_of((DtDtype)got->m.dtype);
  double allowed = 2 * (k + 4) * eps;
  if (eps == 0 || !dt_meta_same_shape(&got->m, &exact->m)) return false;
  for (; n > 0; n--) {
    double g = dt_tensor_get(got, index).re;
    double x = dt_tensor_get(exact, index).re;
    double a = fmax(fabs(x), fabs(dt_tensor_get(scale, index).re));
    double off = g == x || (isnan(g) && isnan(x)) ? 0 : fabs(g - x);
    if (!(off <= allowed * a)) return false;
    if (off > c->v->off) {
      c->v->off = off;
      c->v->bound = allowed * a;
    }
    (void)dt_vf_next(&got->m, index);
  }
  snprintf(c->v->words, sizeof c->v->words, "every element within 2 (%.0f + 4)"
           " eps f(|x|) of the exact value", k);
  c->v->proof = DT_VP_BOUND;
  return true;
}

/* --- one operator --- */

static DtStatus gather_inputs (DtVfCase *c) {
  for (int i = 0; i < c->nin; i++)
    if (c->in[i])
      DT_TRY(c->d->s->cx, dt_oracle_gather(c->d->s, c->in[i], &c->full[i]));
  return DT_OK;
}

static void by_tolerance (DtVfCase *c, DtDtype t) {
  double rel, abs;
  dt_oracle_tolerance(t, &rel, &abs);
  c->v->proof = DT_VP_TOLERANCE;
  snprintf(c->v->words, sizeof c->v->words, "every element within %g + %g |x| "
           "of one device, what %s may differ by", abs, rel,
           dt_dtype_info(t)->name);
}

static void by_replay (DtVfCase *c, const DtReplayed *r) {
  c->v->proof = DT_VP_REPLAY;
  c->v->off = r->off;
  c->v->bound = 1e-10;
  snprintf(c->v->words, sizeof c->v->words, "%s the same bits; in double "
           "precision they agree with one device to %.1g",
           r->partial ? "the parts computed one by one and added in rank order "
           "give" : "the parts computed one by one give", r->off);
}

/* Bits differ: can the order of additions be the reason?  Collective. */
static DtStatus judge_rounding (DtVfCase *c, DtTensor *got, int which,
                                bool close, DtVerifyKind *kind) {
  DtTensor *exact[DT_VF_MAX] = {0}, *scale[DT_VF_MAX] = {0};
  DtReplayed r = {.off = INFINITY};
  DtStatus st;
  int n, ns;
  *kind = DT_VF_ROUNDING;
  DT_TRY(c->d->s->cx, in_double(c, false, exact, &n));
  st = in_double(c, true, scale, &ns);
  if (st == DT_OK)
    st = dt_vf_replay(c, which, got, which < n ? exact[which] : NULL,
                      which < ns ? scale[which] : NULL, &r);
  if (st == DT_OK && r.same && r.right) by_replay(c, &r);
  else if (st == DT_OK && r.wrong) *kind = DT_VF_WRONG;
  else if (which < n && which < ns && exact[which] && scale[which] &&
           is_within_bound(c, got, exact[which], scale[which])) {
  } else if (close) by_tolerance(c, (DtDtype)got->m.dtype);
  else *kind = DT_VF_WRONG;
  drop_tensors(c, DT_VF_MAX, exact);
  drop_tensors(c, DT_VF_MAX, scale);
  return st;
}

/* One result: kind into *kind.  Collective. */
static DtStatus judge_result (DtVfCase *c, DtTensor *got, const DtTensor *want,
                              int which, DtVerifyKind *kind) {
  DtSession *s = c->d->s;
  DtVerdict same;
  double worst, differ, far;
  DT_TRY(s->cx, dt_oracle_compare(s, got, want, &same, &worst));
  DT_TRY(s->cx, dt_vf_most(c, same != DT_SAME_BITS, &differ));
  *kind = DT_VF_EXACT;
  if (differ == 0) return DT_OK;
  DT_TRY(s->cx, dt_vf_most(c, worst, &worst));
  if (worst > c->v->worst) c->v->worst = worst;
  DT_TRY(s->cx, dt_vf_most(c, same == DT_SAME_NOT, &far));
  if (!isinf(worst) && c->r->op != NULL)
    return judge_rounding(c, got, which, far == 0, kind);
  *kind = far == 0 ? DT_VF_ROUNDING : DT_VF_WRONG;
  if (far == 0) by_tolerance(c, (DtDtype)want->m.dtype);
  return DT_OK;
}

/* The operator on the whole inputs, copies where it writes.  The same whole
** inputs are used again by the search for the cause. */
static DtStatus on_one_device (DtVfCase *c, DtTensor **want, int *n,
                               DtValue *ret) {
  DtTensor *in[DT_VF_MAX] = {0};
  DtLocalOut got = {.v = want, .max = DT_VF_MAX, .ret = ret};
  const DtSchema *sig = c->r->op->sig;
  DtStatus st = DT_OK;
  for (int i = 0; i < c->nin; i++)
    in[i] = c->full[i] ? dt_tensor_ref(c->full[i]) : NULL;
  for (int i = 0; i < sig->nargs && st == DT_OK; i++) {
    int slot = dt_arg_slot(&c->r->args, i);
    DtTensor *copy;
    if (!sig->arg[i].write || slot < 0 || in[slot] == NULL) continue;
    st = dt_vf_copy(c, in[slot], &copy);
    if (st != DT_OK) break;
    dt_tensor_unref(c->d->s->cx, in[slot]);
    in[slot] = copy;
  }
  if (st == DT_OK)
    st = dt_oracle_call(c->d->s, c->r->op, &c->r->args, c->nin, in, &got);
  *n = got.n;
  drop_tensors(c, c->nin, in);
  return st;
}

/* Every output against one device's, the worst verdict of all.  Placements are
** judged before numbers: parts that do not add up to the shape are wrong
** whatever they hold.  Collective: every rank gathers every output. */
static DtStatus compare_outputs (DtVfCase *c) {
  DtSession *s = c->d->s;
  DtTensor *want[DT_VF_MAX] = {0};
  DtValue ret = {.kind = DT_V_NONE};
  int n = 0;
  DtStatus st = on_one_device(c, want, &n, &ret);
  c->v->kind = DT_VF_EXACT;
  for (int i = 0; i < c->nout && st == DT_OK; i++) {
    DtTensor *got = NULL;
    DtVerifyKind k = DT_VF_EXACT;
    bool fits = true;
    if (c->out[i] == NULL) continue;
    if (c->out[i]->spec) st = dt_vf_fits(c, c->out[i], &fits);
    if (!fits) k = DT_VF_WRONG;
    if (st == DT_OK && fits) st = dt_oracle_gather(s, c->out[i], &got);
    if (c->typed && got && i < n && want[i] &&
        !dt_meta_same_shape(&got->m, &want[i]->m)) {
      snprintf(c->v->words, sizeof c->v->words, "its arguments are sizes of a "
               "part");
      c->v->kind = DT_VF_SKIPPED;
      dt_tensor_unref(s->cx, got);
      break;
    }
    if (got && i < n && want[i]) st = judge_result(c, got, want[i], i, &k);
    if (k > c->v->kind) c->v->kind = k;
    dt_tensor_unref(s->cx, got);
  }
  if (st == DT_OK && c->nout == 0) st = dt_vf_number(c, &ret);
  drop_tensors(c, DT_VF_MAX, want);
  return st;
}

/* Calls that only say how data lie: what comes out must be what went in. */
static DtStatus compare_call (DtVfCase *c) {
  DtSession *s = c->d->s;
  const char *name = c->r->label;
  DtVerifyKind k = DT_VF_EXACT;
  DtTensor *got = NULL;
  bool ok = true, bad;
  DT_TRY(s->cx, dt_vf_bad_input(c, &bad));
  if (bad) {                    /* whoever made it is to blame */
    c->v->cause[0] = '\0';
    return DT_OK;
  }
  c->v->kind = DT_VF_EXACT;
  for (int i = 0; i < c->nout && ok; i++)
    if (c->out[i] && c->out[i]->spec)
      DT_TRY(s->cx, dt_vf_consistent(c, c->out[i], name, &ok));
  if (!ok) {
    c->v->kind = DT_VF_WRONG;
    return DT_OK;
  }
  if (c->nin != 1 || c->nout != 1 || c->out[0] == NULL || c->in[0] == NULL ||
      c->out[0]->spec == NULL ||
      (strcmp(name, "distribute_tensor") != 0 &&
       strncmp(name, "dtensor.redistribute", 20) != 0))
    return DT_OK;
  DT_TRY(s->cx, dt_oracle_gather(s, c->out[0], &got));
  DtStatus st = judge_result(c, got, c->full[0], 0, &k);
  dt_tensor_unref(s->cx, got);
  c->v->kind = k;
  return st;
}

/* distribute_tensor takes the first rank's values, or with src_data_rank=None
** each rank's own: then they are not what the first rank gave either. */
static DtStatus other_source (DtVfCase *c) {
  DtSession *s = c->d->s;
  DtTensor *got = NULL;
  double own;
  bool mine;
  if (c->r->op || c->nin != 1 || c->in[0] == NULL || c->in[0]->spec ||
      c->full[0] == NULL || c->out[0] == NULL || c->v->cause[0] != '\0')
    return DT_OK;
  DT_TRY(s->cx, dt_oracle_gather(s, c->out[0], &got));
  mine = c->group->ranks[0] == s->comm->rank &&
         dt_vf_hash(got) != dt_vf_hash(c->full[0]);
  dt_tensor_unref(s->cx, got);
  DT_TRY(s->cx, dt_vf_most(c, mine, &own));
  snprintf(c->v->cause, sizeof c->v->cause, "differing-plain-input");
  snprintf(c->v->words, sizeof c->v->words, "the tensor differs between ranks; "
           "%s", own > 0 ? "each rank cut its own" :
           "rank 0's values were taken");
  return DT_OK;
}

/* Plain inputs beside distributed ones count as replicated: are they? */
static DtStatus plain_inputs (DtVfCase *c) {
  DtSession *s = c->d->s;
  DtBuf groups;
  DtStatus st = DT_OK;
  for (int i = 0; i < c->nin && st == DT_OK; i++) {
    bool same;
    if (c->in[i] == NULL || c->in[i]->spec != NULL ||
        c->r->in[i].meta->wrapped) continue;
    dt_buf_init(&groups, s->cx);
    st = dt_vf_same(s, c->group, c->in[i]->local, &same, &groups);
    if (st == DT_OK && !same) {
      DtBuf name;
      dt_buf_init(&name, s->cx);
      dt_vf_input_name(c, i, &name);
      c->v->kind = DT_VF_WRONG;
      snprintf(c->v->cause, sizeof c->v->cause, "differing-plain-input");
      snprintf(c->v->words, sizeof c->v->words, "the plain tensor %s counts as "
               "replicated but differs between ranks: %.120s",
               dt_buf_str(&name), dt_buf_str(&groups));
      dt_buf_fini(&name);
    }
    dt_buf_fini(&groups);
  }
  return st;
}

/* Random numbers have no one device; but replicas of them are equal. */
static DtStatus compare_replicas (DtVfCase *c) {
  DtCtx *cx = c->d->s->cx;
  bool ok = true, bad = false;
  if (!(c->r->op->flags & DT_OP_INPLACE))       /* what it writes is no input */
    DT_TRY(cx, dt_vf_bad_input(c, &bad));
  for (int i = 0; i < c->nout && ok && !bad; i++)
    if (c->out[i] && c->out[i]->spec)
      DT_TRY(cx, dt_vf_consistent(c, c->out[i], c->r->label, &ok));
  if (!ok) c->v->kind = DT_VF_WRONG;
  else {
    c->v->cause[0] = '\0';
    snprintf(c->v->words, sizeof c->v->words, "random numbers");
  }
  return DT_OK;
}

/* gather_inputs and dt_vf_most are collectives: what leaves before one of them must
** be alike on all ranks, as words, randomness and types are.  The worst of the ranks
** counts for all; only then are the reasons looked for, the cause last, since it runs
** the operator again. */
static DtStatus run_case (DtVfCase *c) {
  DtSession *s = c->d->s;
  double kind;
  if (!c->typed) DT_TRY(s->cx, restore_inputs(c));
  if (c->v->words[0] != '\0') return DT_OK;
  if (is_random(c->r)) return compare_replicas(c);
  DT_TRY(s->cx, gather_inputs(c));
  if (c->typed) return compare_outputs(c);
  if (c->r->op && dt_vf_decide(c) != DT_OK) dt_error_clear(s->cx);
  DT_TRY(s->cx, c->r->op ? compare_outputs(c) : compare_call(c));
  DT_TRY(s->cx, dt_vf_most(c, (double)c->v->kind, &kind));
  DT_TRY(s->cx, dt_vf_most(c, c->v->worst, &c->v->worst));
  c->v->kind = (DtVerifyKind)kind;
  if (c->r->op && c->v->kind > DT_VF_EXACT) DT_TRY(s->cx, dt_vf_numbers(c));
  if (c->v->kind == DT_VF_WRONG) DT_TRY(s->cx, other_source(c));
  if (c->r->op) DT_TRY(s->cx, plain_inputs(c));
  if (c->v->kind == DT_VF_WRONG && c->v->cause[0] == '\0')
    DT_TRY(s->cx, dt_vf_cause(c));
  return DT_OK;
}

/* The comparison of a case whose `r` and `v` are set; what it owns is freed. */
static DtStatus compare_case (DtVfCase *c, const DtMesh *mesh) {
  DtSession *s = c->d->s;
  bool grad = s->grad_enabled;
  DtMute m;
  DtStatus st;
  dt_debug_mute(c->d, &m);
  s->grad_enabled = false;
  st = group_of(c, mesh);
  if (st == DT_OK) st = run_case(c);
  for (int i = 0; i < DT_VF_MAX; i++) {
    dt_var_unref(c->in[i]);
    dt_var_unref(c->out[i]);
  }
  drop_tensors(c, DT_VF_MAX, c->full);
  dt_prop_unref(s->cx, c->prop);
  s->grad_enabled = grad;
  dt_debug_unmute(c->d, &m);
  if (st == DT_OK || dt_vf_fatal(st)) return st;
  c->v->kind = DT_VF_SKIPPED;   /* no kernel, no reduction for it: say so */
  snprintf(c->v->words, sizeof c->v->words, "cannot be compared: %.200s",
           dt_buf_str(&s->cx->err.message));
  dt_error_clear(s->cx);
  return DT_OK;
}

static void case_init (DtVfCase *c, DtDebug *d, const DtRecOp *r,
                       DtVerified *out) {
  memset(out, 0, sizeof *out);
  memset(c, 0, sizeof *c);
  out->seq = r->seq;
  out->label = r->label;
  out->file = r->file ? r->file : "";
  out->line = r->line;
  c->d = d;
  c->r = r;
  c->v = out;
}

DtStatus dt_verify_op (DtDebug *d, const DtRecOp *r, DtVerified *out) {
  DtVfCase c;
  const DtMesh *mesh = NULL;
  const char *why = not_comparable(r, &mesh);
  case_init(&c, d, r, out);
  if (why == NULL && dt_session_no_data(d->s)) why = "there is no data";
  if (why != NULL) {
    snprintf(out->words, sizeof out->words, "%s", why);
    return DT_OK;
  }
  return compare_case(&c, mesh);
}

/* --- shadow mode --- */

/* What differs from case to case follows a colon.  Beyond DT_VF_REASONS
** kinds the rest is only in the count of skipped ones. */
static void count_reason (DtVerify *k, const char *words) {
  char why[DT_VF_REASON];
  int i = 0;
  snprintf(why, sizeof why, "%.*s", (int)strcspn(words, ":"), words);
  while (i < k->nreason && strcmp(k->reason[i].why, why) != 0) i++;
  if (i == DT_VF_REASONS) return;
  if (i == k->nreason) {
    memcpy(k->reason[i].why, why, sizeof why);
    k->reason[k->nreason++].count = 0;
  }
  k->reason[i].count++;
}

void dt_verify_summary (const DtVerify *k, DtBuf *b) {
  const int64_t *n = k->count;
  if (n[DT_VF_EXACT] + n[DT_VF_ROUNDING] + n[DT_VF_WRONG] == 0)
    dt_buf_addf(b, "nothing to compare (%lld skipped)",
                (long long)n[DT_VF_SKIPPED]);
  else
    dt_buf_addf(b, "%lld exact, %lld rounding, %lld wrong, %lld skipped",
                (long long)n[DT_VF_EXACT], (long long)n[DT_VF_ROUNDING],
                (long long)n[DT_VF_WRONG], (long long)n[DT_VF_SKIPPED]);
  for (int i = 0; i < k->nreason; i++)
    if (k->reason[i].count > 0)
      dt_buf_addf(b, "\n  not compared: %lld, %s", (long long)k->reason[i].count,
                k->reason[i].why);
}

/* Exact ones are counted and forgotten: a long run has millions. */
static void remember_verdict (DtDebug *d, const DtVerified *v) {
  DtVerify *k = d->verify;
  k->count[v->kind]++;
  if (v->kind == DT_VF_SKIPPED) count_reason(k, v->words);
  if (v->kind < DT_VF_ROUNDING) return;
  if (k->n == k->cap) {
    int cap = k->cap ? 2 * k->cap : 16;
    DtVerified *more = dt_realloc(d->s->cx, k->list,
                                  sizeof *more * (size_t)cap);
    if (more == NULL) {
      dt_error_clear(d->s->cx);
      return;
    }
    k->list = more;
    k->cap = cap;
  }
  k->list[k->n++] = *v;
  if (v->kind == DT_VF_WRONG && k->tell) k->tell(k->ud, v);
}

void dt_verify_reason (DtDebug *d, const char *why) {
  DtVerify *k = d->verify;
  for (int i = 0; k != NULL && i < k->nreason; i++)
    if (strcmp(k->reason[i].why, all_plain) == 0 && k->reason[i].count > 0) {
      k->reason[i].count--;
      k->count[DT_VF_SKIPPED]--;
      if (why == NULL) return;
      k->count[DT_VF_SKIPPED]++;
      count_reason(k, why);
      return;
    }
}

DtStatus dt_verify_typed (DtDebug *d, const DtRecOp *r, DtVar *const *in,
                          DtVar *const *out, DtVerified *v) {
  const DtMesh *mesh = NULL;
  DtVfCase c;
  case_init(&c, d, r, v);
  DT_CHECK(d->s->cx, r->op && r->nin <= DT_VF_MAX && r->nout <= DT_VF_MAX,
           DT_E_VALUE, "no operator that can be compared");
  c.typed = true;
  c.nin = r->nin;
  c.nout = r->nout;
  for (int i = 0; i < r->nin; i++) {
    c.in[i] = in[i] ? dt_var_ref(in[i]) : NULL;
    if (in[i] && in[i]->spec) mesh = in[i]->spec->mesh;
  }
  for (int i = 0; i < r->nout; i++)
    c.out[i] = out[i] ? dt_var_ref(out[i]) : NULL;
  DT_CHECK(d->s->cx, mesh != NULL, DT_E_VALUE, "no tensor has a type");
  DT_TRY(d->s->cx, compare_case(&c, mesh));
  if (d->verify == NULL) return DT_OK;
  dt_verify_reason(d, v->kind == DT_VF_SKIPPED ? v->words : NULL);
  if (v->kind != DT_VF_SKIPPED) remember_verdict(d, v);
  return DT_OK;
}

/* Taking the local part asks no other rank: a program may do it on one alone,
** and there is nothing to compare. */
static bool one_rank_call (const DtEvent *e) {
  return e->op == NULL && e->text && strcmp(e->text, "dtensor.to_local") == 0;
}

static DtStatus on_event (void *ud, DtSession *s, const DtEvent *e) {
  DtDebug *d = ud;
  DtVerify *k = d->verify;
  DtVerified v;
  const DtRecOp *r;
  bool torn;
  if (d->muted || d->rec.off || e->seq <= 0 || k == NULL ||
      k->torn == d->from || (e->kind == DT_EV_FUNC_END && e->op != NULL) ||
      one_rank_call(e))
    return DT_OK;
  DT_TRY(s->cx, dt_vf_torn(d, e, &v, &torn));
  if (torn) {
    k->torn = d->from;
    remember_verdict(d, &v);
  }
  r = dt_record_find(d, e->seq);
  if (torn || e->status != DT_OK || r == NULL || !r->done) return DT_OK;
  DT_TRY(s->cx, dt_verify_op(d, r, &v));
  remember_verdict(d, &v);
  return DT_OK;
}

DtStatus dt_verify_on (DtDebug *d) {
  DtStatus st;
  if (d->verify) return DT_OK;
  d->verify = DT_NEW(d->s->cx, DtVerify);
  if (d->verify == NULL) return DT_E_NOMEM;
  d->verify->torn = -1;
  st = dt_event_listen(d->s, UINT64_C(1) << DT_EV_OP_END |
                       UINT64_C(1) << DT_EV_FUNC_END, on_event, d,
                       &d->verify->listener);
  if (st != DT_OK) {
    dt_free(d->s->cx, d->verify);
    d->verify = NULL;
  }
  return st;
}

void dt_verify_off (DtDebug *d) {
  DtVerify *k = d->verify;
  if (k == NULL) return;
  dt_event_unlisten(d->s, k->listener);
  dt_free(d->s->cx, k->list);
  dt_free(d->s->cx, k);
  d->verify = NULL;
}
