/* SPDX-License-Identifier: MIT
** diag/rules_view.c: parts that are cut out of plain tensors, and where views
** of them have the cut dimension. */
#include <string.h>
#include "base/hash.h"
#include "diag/diag_int.h"

/* Each of its items is there `times` times, one beside the other. */
static bool repeated (DtPlace *w, int at, int64_t times) {
  if (w->items != 0 || w->step > 1) return false;
  w->dim = at;
  w->off *= times;
  w->len *= times;
  w->whole *= times;
  w->first_off *= times;
  w->first_len *= times;
  return true;
}

/* Where dimension w->dim of `a` is in `z`, which has the same elements in the
** same order; false when it is not one dimension there.  Columns in (1, n) are
** one head of n, unless the operator only `adds` a dimension. */
static bool regroup (const DtMeta *a, const DtMeta *z, bool adds, DtPlace *w) {
  int64_t before = 1, pre = 1, inner;
  const bool heads = w->dim == a->ndim - 1 &&
                     (a->ndim > 2 || (w->columns && !adds));
  int d, j, at = -1, ones = 0;  /* beside it already: those are no heads */
  for (d = 0; d < w->dim; d++) before *= a->shape[d];
  for (d = w->dim - 1; d >= 0 && a->shape[d] == 1; d--) ones++;
  for (j = 0; j < z->ndim; pre *= z->shape[j++]) {
    if (pre != before) continue;
    if (z->shape[j] == w->len && !(heads && at >= 0 && j - at > ones)) {
      w->dim = j;
      return true;
    }
    if (at < 0) at = j;
  }
  if (at >= 0 && z->shape[at] > w->len && w->dim + 1 < a->ndim &&
      z->shape[at] == w->len * a->shape[w->dim + 1] && a->stride[w->dim + 1] == 0)
    return repeated(w, at, a->shape[w->dim + 1]);
  if (at < 0 || z->shape[at] == 0 || w->len % z->shape[at] != 0) return false;
  inner = w->len / z->shape[at];
  if (inner == 0) return false;
  if (w->off % inner != 0 || w->whole % inner != 0 ||
      (inner > 1 && (w->items != 0 || w->step > 1))) return false;
  if (inner > 1) w->real = 0;
  w->dim = at;
  w->off /= inner;
  w->len /= inner;
  w->whole /= inner;
  if (w->first_off % inner != 0 || w->first_len % inner != 0) w->first_len = 0;
  w->first_off /= inner;
  w->first_len /= inner;
  return true;
}

static bool follow_swap (const DtEvent *e, DtPlace *w) {
  const int n = e->in[0]->local->m.ndim;
  int64_t p = n - 2, q = n - 1;
  if (strcmp(e->op->sig->full, "aten.transpose.int") == 0) {
    p = dt_arg_int(e->args, 1);
    q = dt_arg_int(e->args, 2);
    if (p < 0) p += n;
    if (q < 0) q += n;
  } else if (n != 2) return false;
  if (w->dim == p) w->dim = (int)q;
  else if (w->dim == q) w->dim = (int)p;
  return true;
}

/* One index of a dimension is taken, or each: the dimension is gone. */
static bool follow_index (const DtEvent *e, DtPlace *w) {
  int64_t d = e->args->n > 1 ? dt_arg_int(e->args, 1) : 0;
  if (d < 0) d += e->in[0]->local->m.ndim;
  if (d == w->dim) return false;
  if (d < w->dim) w->dim--;
  return true;
}

static bool follow_permute (const DtEvent *e, DtPlace *w) {
  int64_t dims[DT_MAX_NDIM];
  const int n = (int)dt_arg_ints(e->args, 1, dims, DT_MAX_NDIM);
  for (int i = 0; i < n; i++)
    if (dims[i] == w->dim || dims[i] + n == w->dim) {
      w->dim = i;
      return true;
    }
  return false;
}

/* A view puts other dimensions before it into one with it: (batch, sequence) to
** be multiplied, (batch, heads).  It comes back where a view parts them again. */
static bool merge_dims (const DtMeta *a, DtPlace *w) {
  w->kind = DT_PLACE_MERGED;
  w->before = 1;
  for (int d = 0; d < w->dim; d++) w->before *= a->shape[d];
  return w->before > 1 || w->first_len > 0;
}

static bool part_again (const DtMeta *z, DtPlace *w) {
  int64_t pre = 1;
  for (int j = 0; j < z->ndim && pre <= w->before; pre *= z->shape[j++])
    if (pre == w->before && z->shape[j] == w->len) {
      w->kind = DT_PLACE_PART;
      w->dim = j;
      return true;
    }
  return true;                  /* still merged */
}

/* What a view does to the part that a rank has of a tensor: which dimension is
** cut now, or false if it can no longer be told. */
static bool follow_view (const DtEvent *e, const DtVar *out, DtPlace *w) {
  static const char *const swaps[] = { "aten.t.default", "aten.transpose.int",
                                       NULL };
  static const char *const groups[] = { "aten.view.default",
    "aten._unsafe_view.default", "aten.unsqueeze.default",
    "aten.squeeze.dim", "aten.squeeze.default", "aten.reshape.default", NULL };
  static const char *const drops[] = { "aten.select.int", "aten.unbind.int",
                                       NULL };
  static const char *const pieces[] = { "aten.slice.Tensor",
    "aten.expand.default", "aten.split.Tensor", "aten.chunk.default",
    "aten.narrow.default", "aten.split_with_sizes.default", NULL };
  const DtMeta *a = &e->in[0]->local->m, *z = &out->local->m;
  if (w->kind == DT_PLACE_MERGED) {
    if (dt_diag_named(e->op, groups)) return part_again(z, w);
    if (!dt_meta_same_shape(a, z)) w->before = -1;
    return true;
  }
  if (w->kind != DT_PLACE_PART) return true;
  if (dt_diag_named(e->op, swaps)) return follow_swap(e, w);
  if (dt_diag_named(e->op, groups)) {
    return regroup(a, z, strstr(e->op->sig->full, "squeeze") != NULL, w) ||
           merge_dims(a, w);
  }
  if (dt_diag_named(e->op, drops)) return follow_index(e, w);
  if (strcmp(e->op->sig->full, "aten.permute.default") == 0)
    return follow_permute(e, w);
  if (a->ndim == z->ndim && w->dim < z->ndim)
    return (z->shape[w->dim] == w->len ||
            strcmp(e->op->sig->full, "aten.expand.default") == 0) &&
           (dt_meta_same_shape(a, z) || dt_diag_named(e->op, pieces));
  return false;
}

/* A piece of what is a part already, along its cut dimension. */
static bool cut_again (const DtEvent *e, const DtVar *v, DtPlace *w) {
  const DtTensor *a = e->in[0]->local, *z = v->local;
  const int64_t step = w->dim < a->m.ndim ? a->m.stride[w->dim] : 0;
  if (w->kind != DT_PLACE_PART || w->items != 0 || w->step > 1 ||
      a->m.ndim != z->m.ndim || step <= 0 ||
      z->m.stride[w->dim] != step || z->m.shape[w->dim] >= w->len ||
      z->m.shape[w->dim] == 0) return false;
  for (int k = 0; k < a->m.ndim; k++)
    if (k != w->dim && a->m.shape[k] != z->m.shape[k]) return false;
  if (w->first_len == 0) {
    w->first_off = w->off;
    w->first_len = w->len;
    w->first = w->where;
    w->first_at = w->cut;
  }
  w->off += (z->offset - a->offset) / step;
  w->len = z->m.shape[w->dim];
  w->real = 0;
  w->root = v->id;
  w->where = dt_hash_u64(DT_HASH_SEED, (uint64_t)w->off) | 1;
  w->at = w->cut = (DtOrigin){ .op = e->op->sig->full, .file = e->file,
                               .line = e->line, .seq = e->seq };
  return true;
}

/* The ranks take equal parts one after the other, and something is left. */
static void left_out (DtDiag *g, const DtEvent *e, const DtPlace *w) {
  const int64_t n = g->s->comm ? g->s->comm->size : 1;
  const int64_t me = g->s->comm ? g->s->comm->rank : 0;
  const DtFact facts[2] = { { true, 1 }, { false, w->where } };
  const DtVar *whole = e->in[0];
  const char *what;
  DtClaim *c;
  DtBuf b;
  if (n < 2 || w->step > 1 || w->off != me * w->len || w->len * n >= w->whole ||
      w->whole - w->len * n >= n || w->len < 2) return;
  dt_buf_init(&b, g->s->cx);
  dt_buf_addf(&b, "%lld items of dimension %d on each of %lld ranks, of %lld",
              (long long)w->len, w->dim, (long long)n, (long long)w->whole);
  what = dt_diag_intern(g, &b);
  if (what == NULL) return;
  c = dt_diag_claim_all(g, e, DT_FIND_ID_LEFT_OUT, NULL, -1, DT_SALT_LEFT_OUT, 2, facts,
                        dt_diag_place_name(g, whole->id), what);
  if (c) c->untrained = w->dim == 0 && !whole->requires_grad && !whole->is_param;
}

static bool cut_here (DtDiag *g, const DtEvent *e, const DtVar *v,
                      DtPlace *w) {
  const DtPart *p = dt_diag_cut_of(g, v);
  const DtVar *whole = e->in[0];
  const bool order = whole->origin.op &&
                     strncmp(whole->origin.op, "aten.randperm", 13) == 0;
  int d, n = 0;
  for (d = 0; p && d < p->ndim; d++) {
    if (p->len[d] == p->shape[d]) continue;
    *w = (DtPlace){ .kind = DT_PLACE_PART, .dim = d, .off = p->off[d],
                    .len = p->len[d], .whole = p->shape[d] };
    n++;
  }
  if (n != 1 && !dt_diag_every_nth(whole->local, v->local, w)) return false;
  w->where = dt_hash_u64(DT_HASH_SEED, (uint64_t)w->off) | 1;
  w->of = whole->id;
  w->at = w->cut = (DtOrigin){ .op = e->op->sig->full, .file = e->file,
                               .line = e->line, .seq = e->seq };
  if (!whole->local->storage->drawn &&
      ((whole->local->m.ndim > 1 &&
        dt_dtype_is_float((DtDtype)whole->local->m.dtype)) ||
       order))
    w->src = dt_diag_sample(whole->local);
  if (order) w->cut = whole->origin;    /* what is wrong with it was so there */
  left_out(g, e, w);
  return true;
}

static void note_detached (const DtEvent *e, DtPlace *w) {
  if (w->detached.line == 0 && e->in[0]->requires_grad &&
      strcmp(e->op->sig->full, "aten.detach.default") == 0)
    w->detached = (DtOrigin){ .op = e->op->sig->full, .file = e->file,
                              .line = e->line, .seq = e->seq };
}

/* Counted numbers are counted anew where they are still some; what was made of
** them, as angles, is as far apart as before where nothing is left out. */
static void items_viewed (const DtEvent *e, const DtVar *out, DtPlace *w) {
  const bool fewer = dt_meta_numel(&e->in[0]->local->m) !=
                     dt_meta_numel(&out->local->m);
  const bool numbers = !dt_dtype_is_float((DtDtype)out->local->m.dtype);
  if (fewer && numbers) dt_diag_items_read(out, w);
  else if (fewer) w->items = 0;
}

/* Where views of a place lie.  The input's place is copied first: the table is a
** ring, and an entry for an output may take its slot over.  The order is that of
** certainty: an item, a stack, a part that is cut once more, a view that keeps the
** part as it is; only then is it asked whether this view cuts the whole itself. */
void dt_diag_view_end (DtDiag *g, const DtEvent *e) {
  const DtPlace *was = dt_diag_place_spread(g, e->in[0]);
  DtPlace w, old;
  if (was != NULL) {            /* the slot may be taken over */
    old = *was;
    was = &old;
  }
  if (e->nin == 1) dt_diag_sliced(g, e);
  for (int i = 0; i < e->nout; i++) {
    if (e->out[i] == NULL || e->out[i]->spec) continue;
    if (was != NULL) {
      w = *was;
      note_detached(e, &w);
      if (w.kind == DT_PLACE_ITEM && cut_here(g, e, e->out[i], &w)) {
        dt_diag_place_put(g, e->out[i], &w);
        continue;
      }
      if (w.kind == DT_PLACE_STACKED) {
        dt_diag_stacked_view(g, e, was);
        if (dt_meta_same_shape(&e->in[0]->local->m, &e->out[i]->local->m))
          dt_diag_place_put(g, e->out[i], &w);
        continue;
      }
      if (cut_again(e, e->out[i], &w)) {
        dt_diag_place_put(g, e->out[i], &w);
        continue;
      }
      if (w.kind == DT_PLACE_FOUND && (e->op->flags & DT_OP_VIEW))
        w.root = e->out[i]->id;
      if (follow_view(e, e->out[i], &w)) {
        if (w.kind == DT_PLACE_COUNTED &&
            !dt_meta_same_shape(&e->in[0]->local->m, &e->out[i]->local->m))
          items_viewed(e, e->out[i], &w);
        dt_diag_place_put(g, e->out[i], &w);
        continue;
      }
    }
    if (strcmp(e->op->sig->full, "aten.select.int") == 0)
      dt_diag_item_taken(g, e, was);
    /* What FSDP cuts out of what it has gathered is whole: its offset in the buffer is
    ** the same on all ranks, and says nothing. */
    if (g->nfsdp == 0 && cut_here(g, e, e->out[i], &w))
      dt_diag_place_put(g, e->out[i], &w);
  }
}
