/* SPDX-License-Identifier: MIT
** debug/verify_replay.c: is a difference from one device the order of the
** additions and nothing else?
**
** Two replays prove it.  Each rank cuts its part out of the whole inputs, as
** the strategy says, and runs the operator on it; the parts of a Partial
** result are added in rank order, as the collective does.  The same bits as
** the distributed result: what was computed is this order and nothing else.
** The same replay in double precision agrees with one device in double
** precision: this order is a right way to compute the operator.  (A mean of
** means passes the first and fails the second.)
**
** Ranks that fail to replay say so in the exchange, and none has a proof. */
#include "debug/verify_int.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Largest difference of the two orders in double precision, of the largest
** value of the result. */
#define AGREE 1e-10
/* And what no order of additions of doubles explains, of the largest sum of
** absolute values. */
#define FAR_OFF 1e-8

/* --- the inputs of this rank --- */

static DtStatus whole_spec (DtVfCase *c, const DtSpec *like, bool sums_only,
                            DtSpec **out) {
  DtPlacement pl[DT_MAX_MDIM];
  for (int m = 0; m < like->npl; m++)
    pl[m] = sums_only && !dt_pl_is_partial(like->pl[m]) ? like->pl[m]
                                                        : dt_pl_replicate();
  return dt_spec_new(c->d->s->cx, like->mesh, like->npl, pl, &like->meta,
                     like->order, -1, out);
}

/* The part of a whole tensor that `spec` gives this rank; with `sums_only` a
** partial one counts as reduced.  Nothing is sent. */
static DtStatus cut_part (DtVfCase *c, DtTensor *whole, const DtSpec *spec,
                          bool sums_only, DtTensor **out) {
  DtSession *s = c->d->s;
  DtSpec *from = NULL, *to = NULL;
  DtStatus st = whole_spec(c, spec, false, &from);
  if (st == DT_OK && sums_only) st = whole_spec(c, spec, true, &to);
  if (st == DT_OK)
    st = dt_redist_local(s, whole, from, sums_only ? to : spec, false, 0, out);
  dt_spec_unref(s->cx, from);
  dt_spec_unref(s->cx, to);
  return st;
}

bool dt_vf_same_pls (const DtSpec *a, const DtSpec *b) {
  if (a->npl != b->npl) return false;
  for (int m = 0; m < a->npl; m++)
    if (!dt_pl_equal(a->pl[m], b->pl[m])) return false;
  return true;
}

/* Input i as the kernel of this rank takes it, out of `whole`. */
static DtStatus one_input (DtVfCase *c, int i, bool dbl, DtTensor *whole,
                           DtTensor **out) {
  const DtSpec *want = i < c->prop->nin ? c->prop->in[i] : NULL;
  const DtSpec *was = c->r->in[i].spec;
  if (want == NULL) {
    *out = dt_tensor_ref(whole);
    return DT_OK;
  }
  if (was != NULL && dt_spec_has_partial(want)) {
    DT_CHECK(c->d->s->cx, dt_vf_same_pls(was, want) ||
             !dt_spec_has_partial(was), DT_E_NOTIMPL,
             "an addend that is moved has no replay");
    if (dt_vf_same_pls(was, want))
      return dt_vf_convert(c, c->in[i]->local, dbl, false, out);
  }
  return cut_part(c, whole, want, false, out);
}

/* An input that is written must be a copy. */
static DtStatus copy_written_inputs (DtVfCase *c, const DtOpDef *op,
                                     const DtArgs *args, DtTensor **in) {
  for (int i = 0; i < op->sig->nargs; i++) {
    int slot = dt_arg_slot(args, i);
    DtTensor *copy;
    if (!op->sig->arg[i].write || slot < 0 || in[slot] == NULL) continue;
    DT_TRY(c->d->s->cx, dt_vf_copy(c, in[slot], &copy));
    dt_tensor_unref(c->d->s->cx, in[slot]);
    in[slot] = copy;
  }
  return DT_OK;
}

/* This rank's parts of the results. */
static DtStatus replay_part (DtVfCase *c, bool dbl, DtTensor **part, int *n) {
  DtCtx *cx = c->d->s->cx;
  const DtProp *p = c->prop;
  const DtOpDef *op = p->op ? p->op : c->r->op;
  const DtArgs *args = p->args ? p->args : &c->r->args;
  DtTensor *whole[DT_VF_MAX] = {0}, *in[DT_VF_MAX] = {0};
  DtValue ret = {.kind = DT_V_NONE};
  DtLocalOut got = {.v = part, .max = DT_VF_MAX, .ret = &ret};
  DtStatus st = DT_OK;
  for (int i = 0; i < c->nin && st == DT_OK; i++) {
    if (c->full[i] == NULL) continue;
    st = dt_vf_convert(c, c->full[i], dbl, false, &whole[i]);
    if (st == DT_OK) st = one_input(c, i, dbl, whole[i], &in[i]);
  }
  if (st == DT_OK) st = copy_written_inputs(c, op, args, in);
  if (st == DT_OK)
    st = dt_oracle_call(c->d->s, op, args, c->nin, in, &got);
  *n = got.n;
  for (int i = 0; i < c->nin; i++) {
    dt_tensor_unref(cx, whole[i]);
    dt_tensor_unref(cx, in[i]);
  }
  return st;
}

/* --- adding parts --- */

typedef struct Sum {
  DtVfCase *c;
  const DtSpec *spec;
  char *bytes;                  /* by position in the group, `room` each */
  size_t size, room;            /* of this rank's part, of the longest */
  int64_t n;                    /* elements of a part */
  DtDtype dtype;
  int dims[DT_MAX_MDIM], ndim;  /* partial mesh dims, in the order added */
} Sum;

/* Position in the group of the rank at `x`. */
static int position_of (const Sum *a, const int64_t *x) {
  const DtGroup *g = a->c->group;
  for (int i = 0; i < g->size; i++) {
    int64_t y[DT_MAX_MDIM];
    if (dt_mesh_coord_of(a->spec->mesh, g->ranks[i], y) &&
        memcmp(x, y, sizeof *x * (size_t)a->spec->mesh->ndim) == 0)
      return i;
  }
  return 0;
}

/* The sum over the first `level` of the dims, at coordinates x, to `out`:
** the last of them is added last.  The nesting is that of the collectives:
** one over each partial mesh dim, after those before it. Adding all parts in
** one row would be another order. */
static DtStatus add_level (const Sum *a, int level, int64_t *x, void *out) {
  DtCtx *cx = a->c->d->s->cx;
  int m = level > 0 ? a->dims[level - 1] : 0;
  int64_t n = level > 0 ? a->spec->mesh->shape[m] : 0, keep = x[m];
  char *room;
  DtStatus st = DT_OK;
  if (level == 0) {
    memcpy(out, a->bytes + (size_t)position_of(a, x) * a->room, a->size);
    return DT_OK;
  }
  room = dt_alloc(cx, (size_t)n * a->size + 1);
  if (room == NULL) return DT_E_NOMEM;
  for (int64_t i = 0; i < n && st == DT_OK; i++) {
    x[m] = i;
    st = add_level(a, level - 1, x, room + (size_t)i * a->size);
  }
  x[m] = keep;
  if (st == DT_OK)
    dt_order_reduce(&(DtReduction){ (DtRedOp)a->spec->pl[m].op, a->dtype, room,
                                    out, a->n }, a->size, (int)n);
  dt_free(cx, room);
  return st;
}

/* Exchange the parts of all ranks, padded to the longest; *all: each has
** one. Shards may be of different size.  A rank without a part comes to both
** collectives, with SIZE_MAX for a length, as the others cannot know. */
static DtStatus exchange_parts (DtVfCase *c, DtTensor *part, Sum *a,
                                bool *all) {
  DtCtx *cx = c->d->s->cx;
  DtCollInfo info = {"verify", 0, "verify", "", ""};
  int n = c->group->size;
  size_t *len = DT_NEWN(cx, size_t, n), mine = part ? a->size : SIZE_MAX;
  char *pad = NULL;
  void *data = NULL;
  DtStatus st = len ? DT_OK : DT_E_NOMEM;
  if (st == DT_OK)
    st = dt_comm_all_gather(cx, c->group, &info, &mine, sizeof mine, len);
  *all = st == DT_OK;
  for (int i = 0; i < n && st == DT_OK; i++) {
    *all = *all && len[i] != SIZE_MAX;
    if (len[i] > a->room) a->room = len[i];
  }
  dt_free(cx, len);
  if (!*all || a->room == 0) return st;
  pad = dt_calloc(cx, a->room, 1);
  a->bytes = dt_alloc(cx, (size_t)n * a->room);
  if (pad == NULL || a->bytes == NULL) st = DT_E_NOMEM;
  if (st == DT_OK && a->size > 0) st = dt_tensor_data(cx, part, &data);
  if (st == DT_OK && data) memcpy(pad, data, a->size);
  if (st == DT_OK)
    st = dt_comm_all_gather(cx, c->group, &info, pad, a->room, a->bytes);
  dt_free(cx, pad);
  return st;
}

/* This rank's part, with the partial dims reduced; NULL when a rank has none.
** `part` NULL: this rank could not make it. */
static DtStatus reduce_part (DtVfCase *c, const DtSpec *spec, bool backwards,
                             DtTensor *part, DtTensor **out) {
  DtCtx *cx = c->d->s->cx;
  Sum a = {.c = c, .spec = spec};
  int64_t x[DT_MAX_MDIM] = {0};
  bool all = false;
  void *data;
  DtStatus st;
  *out = NULL;
  if (part) {
    a.n = dt_meta_numel(&part->m);
    a.dtype = (DtDtype)part->m.dtype;
    a.size = (size_t)a.n * dt_dtype_size(a.dtype);
  }
  for (int i = 0; i < spec->npl; i++) {
    int m = backwards ? spec->npl - 1 - i : i;
    if (dt_pl_is_partial(spec->pl[m])) a.dims[a.ndim++] = m;
  }
  st = exchange_parts(c, part, &a, &all);
  if (st == DT_OK && all && part &&
      dt_mesh_coord_of(spec->mesh, c->d->s->comm->rank, x)) {
    st = dt_tensor_new(cx, &part->m, false, out);
    if (st == DT_OK && a.size > 0) st = dt_tensor_data(cx, *out, &data);
    if (st == DT_OK && a.size > 0) st = add_level(&a, a.ndim, x, data);
  }
  dt_free(cx, a.bytes);
  return st;
}

/* --- the proof --- */

/* Replay result `which`: this rank's reduced part, contiguous; NULL when it
** cannot be had.  Every rank comes to the exchange. */
static DtStatus replay_result (DtVfCase *c, bool dbl, bool backwards, int which,
                               DtTensor **out) {
  DtCtx *cx = c->d->s->cx;
  const DtSpec *spec = c->prop->out[which];
  DtTensor *part[DT_VF_MAX] = {0}, *one = NULL;
  int n = 0;
  DtStatus st = replay_part(c, dbl, part, &n);
  *out = NULL;
  if (st == DT_OK && which < n && part[which])
    st = dt_vf_copy(c, part[which], &one);
  for (int i = 0; i < DT_VF_MAX; i++) dt_tensor_unref(cx, part[i]);
  if (st != DT_OK) dt_error_clear(cx);
  if (dt_spec_has_partial(spec))
    st = reduce_part(c, spec, backwards, one, out);
  else {
    *out = one ? dt_tensor_ref(one) : NULL;
    st = DT_OK;
  }
  dt_tensor_unref(cx, one);
  return st;
}

/* Is the replay bit for bit this rank's part of what was computed? */
static DtStatus same_bits (DtVfCase *c, int which, bool backwards,
                           DtTensor *got, bool *same) {
  DtSession *s = c->d->s;
  DtTensor *part = NULL, *mine = NULL;
  DtVerdict v = DT_SAME_NOT;
  double worst;
  DtStatus st = replay_result(c, false, backwards, which, &part);
  if (st == DT_OK && part)
    st = cut_part(c, got, c->prop->out[which], true, &mine);
  if (st == DT_OK && mine) st = dt_oracle_compare(s, part, mine, &v, &worst);
  *same = v == DT_SAME_BITS;
  dt_tensor_unref(s->cx, part);
  dt_tensor_unref(s->cx, mine);
  return st;
}

static double largest_value (const DtTensor *t) {
  int64_t index[DT_MAX_NDIM] = {0};
  double most = 0;
  for (int64_t n = dt_meta_numel(&t->m); n > 0; n--) {
    DtScalar v = dt_tensor_get(t, index);
    most = fmax(most, fmax(fabs(v.re), fabs(v.im)));
    (void)dt_vf_next(&t->m, index);
  }
  return most;
}

/* In double precision: how far this order is from one device, of the largest
** value; infinity when it is another number. */
static DtStatus measure_agreement (DtVfCase *c, int which, DtTensor *exact,
                                   double *off) {
  DtSession *s = c->d->s;
  DtTensor *part = NULL, *mine = NULL;
  DtVerdict v = DT_SAME_NOT;
  double worst = INFINITY, top;
  DtStatus st = replay_result(c, true, false, which, &part);
  *off = INFINITY;
  if (st == DT_OK && part && exact)
    st = cut_part(c, exact, c->prop->out[which], true, &mine);
  if (st == DT_OK && mine) {
    st = dt_oracle_compare(s, part, mine, &v, &worst);
    top = largest_value(exact);
    *off = worst == 0 ? 0 : top > 0 ? worst / top : INFINITY;
  }
  dt_tensor_unref(s->cx, part);
  dt_tensor_unref(s->cx, mine);
  return st;
}

/* Does the result come out again when its own decision is carried out by hand?
** Sums over two mesh dimensions depend on which is summed first: both orders are
** tried.  Each number is agreed over the ranks before it is branched on (dt_vf_most),
** or the ranks would part between collectives: no return may come between two
** of those calls on one rank only. */
DtStatus dt_vf_replay (DtVfCase *c, int which, DtTensor *got,
                       DtTensor *exact, const DtTensor *scale,
                       DtReplayed *out) {
  DtCtx *cx = c->d->s->cx;
  const DtSpec *spec;
  double far = INFINITY, differ = 1;
  int orders;
  DtStatus st;
  out->same = false;
  out->off = INFINITY;
  if (c->prop == NULL || which >= c->prop->nout) return DT_OK;
  spec = c->prop->out[which];
  if (spec == NULL || c->r->via == DT_VIA_NONE ||
      c->r->via == DT_VIA_HANDLER) return DT_OK;
  out->partial = dt_spec_has_partial(spec);
  orders = out->partial && spec->npl > 1 ? 2 : 1;
  for (int k = 0; k < orders && differ > 0; k++) {
    bool same = false;
    st = same_bits(c, which, k == 1, got, &same);
    if (st != DT_OK && dt_vf_fatal(st)) return st;
    if (st != DT_OK) dt_error_clear(cx);
    DT_TRY(cx, dt_vf_most(c, same ? 0 : 1, &differ));
  }
  out->same = differ == 0;
  if (!out->same) return DT_OK;
  st = measure_agreement(c, which, exact, &far);
  if (st != DT_OK && dt_vf_fatal(st)) return st;
  if (st != DT_OK) dt_error_clear(cx);
  DT_TRY(cx, dt_vf_most(c, far, &out->off));
  out->right = out->off <= AGREE;
  out->wrong = exact && scale && isfinite(out->off) &&
               out->off > FAR_OFF * fmax(1,
                                         largest_value(scale) / largest_value(exact));
  DT_TRY(cx, dt_vf_most(c, out->wrong ? 0 : 1, &differ));
  out->wrong = differ == 0;
  return DT_OK;
}
