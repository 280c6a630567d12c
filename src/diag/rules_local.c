/* SPDX-License-Identifier: MIT
** diag/rules_local.c: what a rank makes of its own part alone, where the whole
** is meant (rules_where.c follows the parts).
**
** - An operator that normalises along the cut dimension, or a statistic along
**   it that meets the part again without a reduction between.
** - Pieces of one part that meet: the whole was cut by rank first and then into
**   its pieces (queries and keys, gate and up), as no single device cuts it.
** - Parts that are joined along another dimension than they were cut.
** - Addends of a sum over ranks that were computed from other inputs, or with
**   weights that were cut out of other wholes.
**
** That the ranks hold other parts is always one of the facts that are claimed:
** the same slice on every rank is an ordinary program. */
#include <stdio.h>
#include <string.h>
#include "base/hash.h"
#include "diag/diag_int.h"

static const char *either_name (const DtDiag *g, int64_t id, int64_t other) {
  const char *name = dt_diag_place_name(g, id);
  return *name ? name : dt_diag_place_name(g, other);
}

static int ndim_of (const DtVar *v) { return v->local->m.ndim; }

/* --- along the cut dimension --- */


/* A softmax or a norm along a dimension of which each rank has a part. Where
** the parts are merged later by their log-sum-exp, as in ring attention, it is
** right: this may show before or after it. */
void dt_diag_along_cut (DtDiag *g, const DtEvent *e, DtPlace *w) {
  static const char *const norms[] = { "aten._softmax.default",
    "aten._log_softmax.default", "aten.native_layer_norm.default",
    "aten._fused_rms_norm.default", "aten.rms_norm.default", NULL };
  static const char *const sums[] = { "aten.logsumexp.default", NULL };
  const DtFact fact = { false, w->where };
  const char *what;
  DtClaim *c;
  DtBuf b;
  /* the parts may be merged by it, as in ring attention; where the softmax came
  ** first, that shows when it is used (dt_diag_lse_used) */
  if (dt_diag_named(e->op, sums)) w->summed = true;
  if (!dt_diag_named(e->op, norms)) return;
  dt_buf_init(&b, g->s->cx);
  dt_buf_addf(&b, "it goes along dimension %d, of which each rank has %lld of "
              "%lld; where each part begins", w->dim, (long long)w->len,
              (long long)w->whole);
  what = dt_diag_intern(g, &b);
  c = what ? dt_diag_claim_all(g, e, DT_FIND_ID_PART_ALONE, NULL, -1, DT_SALT_ALONG_CUT, 1,
                               &fact, dt_diag_place_name(g, e->in[0]->id), what)
           : NULL;
  if (c && w->summed) {         /* the other way round */
    c->by_lse = true;
    if (g->lse_used) c->fact[0].hash = 0;
  } else if (c && strcmp(e->op->sig->full, norms[0]) == 0) w->alone = c->key;
}

/* Is `s` a statistic of the part `p`? */
static bool stat_of (const DtPlace *s, const DtPlace *p) {
  return (s->kind == DT_PLACE_STAT || s->kind == DT_PLACE_ADDEND ||
          s->kind == DT_PLACE_BENT) && s->where == p->where &&
         s->of == p->of && s->len == p->len;
}

static bool is_combining (const DtDiag *g, const DtEvent *e) {
  static const char *const names[] = { "aten.sub.Tensor", "aten.maximum.default",
    "aten.minimum.default", "aten.gt.Tensor", "aten.ge.Tensor", "aten.lt.Tensor",
    "aten.le.Tensor", NULL };
  return dt_diag_is(g, e, DT_DO_MUL) || dt_diag_is(g, e, DT_DO_DIV) ||
         dt_diag_named(e->op, names);
}

/* Pieces of a part meet each other, as halves of a rotary embedding or of a gated
** unit: cut out of the whole they would be others.  Only pieces of one tensor
** and equal length that were cut in the same way count; a reordered weight
** (on_copy of rules_reorder.c) makes them right again. */
void dt_diag_pieces_met (DtDiag *g, const DtEvent *e, const DtPlace *a,
                         const DtPlace *b) {
  DtFact fact = { false, 0 };
  DtEvent at;
  const char *what, *name;
  DtBuf t;
  if (g->reordered || a == NULL || b == NULL || a->kind != b->kind ||
      (a->kind != DT_PLACE_PART && a->kind != DT_PLACE_MERGED) ||
      a->first_len == 0 || a->first_len != b->first_len ||
      a->first_off != b->first_off || a->of != b->of || a->off == b->off ||
      (a->dim != b->dim && e->op->flags & DT_OP_POINTWISE)) return;
  fact.hash = a->first;
  at = dt_diag_origin(&b->first_at, "");
  dt_buf_init(&t, g->s->cx);
  dt_buf_addf(&t, "each rank cut its part first and then that into pieces, which "
              "meet at %s:%d; on one device the pieces are of the whole: where "
              "each part begins", e->file ? e->file : "", e->line);
  what = dt_diag_intern(g, &t);
  name = dt_diag_place_name(g, a->of);
  if (*name == '\0') name = either_name(g, e->in[1]->id, b->root);
  if (what)
    dt_diag_claim_all(g, &at, DT_FIND_ID_OTHER_PART, NULL, -1,
                      DT_SALT_PIECES_MET, 1, &fact, name, what);
}

/* What was summed over the ranks is divided by what was not: both go along the
** same cut. */
static void divided_alone (DtDiag *g, const DtEvent *e, const DtPlace *a,
                           const DtPlace *b) {
  const DtFact fact = { false, b->where };
  DtEvent at = dt_diag_origin(&b->at, "");
  const char *what;
  DtBuf t;
  if ((b->kind != DT_PLACE_ADDEND && b->kind != DT_PLACE_STAT) ||
      a->of != b->of || a->where != b->where) return;
  dt_buf_init(&t, g->s->cx);
  dt_buf_addf(&t, "a sum along %lld of %lld on each rank, not reduced, divides "
              "one that was, at %s:%d; where each part begins",
              (long long)b->len, (long long)b->whole,
              e->file ? e->file : "", e->line);
  what = dt_diag_intern(g, &t);
  if (what)
    dt_diag_claim_all(g, &at, DT_FIND_ID_PART_ALONE, NULL, -1, DT_SALT_DIVIDED_ALONE, 1, &fact,
                      dt_diag_place_name(g, b->root), what);
}

/* Activations of this rank's samples, normalised among them as BatchNorm does in
** each replica: that is what is meant. */
static bool of_samples (const DtVar *v, const DtPlace *p) {
  return p->dim == 0 && !p->columns && v->local->m.ndim == 2 &&
         v->grad_fn != NULL && v->origin.op != NULL &&
         strstr(v->origin.op, "slice") == NULL &&
         strstr(v->origin.op, "split") == NULL;
}

/* Differences of neighbours within one part: what lies at its edge has its
** neighbour on another rank. */
static void neighbours_met (DtDiag *g, const DtEvent *e, const DtPlace *a,
                            const DtPlace *b) {
  const int64_t apart = a->off > b->off ? a->off - b->off : b->off - a->off;
  const DtFact fact = { false, a->first };
  const char *what;
  DtBuf t;
  if (a->first_len == 0 || a->first_len != b->first_len || a->of != b->of ||
      a->first_off != b->first_off || a->len != b->len || a->dim != b->dim ||
      apart == 0 || a->len + apart != a->first_len || a->len <= apart ||
      !dt_diag_is_split(g, a->first_len, a->whole)) return;
  dt_buf_init(&t, g->s->cx);
  dt_buf_addf(&t, "differences of items %lld apart within the %lld of each rank leave "
              "out those across its edge; where each part begins", (long long)apart,
              (long long)a->first_len);
  what = dt_diag_intern(g, &t);
  if (what)
    dt_diag_claim_all(g, e, DT_FIND_ID_PART_ALONE, NULL, -1, DT_SALT_NEIGHBOURS_MET, 1, &fact,
                      dt_diag_place_name(g, e->out[0]->id), what);
}

/* A number of each rank's own part meets that part or its like.  Both orders of
** the operands are the same fault, so the part becomes `a`; a division of a total
** is asked before, where the order is the meaning.  A claim by a logarithm can be
** taken back: the ranks may merge their parts by it later (merge_by). */
void dt_diag_stat_met (DtDiag *g, const DtEvent *e) {
  const DtVar *part = e->in[0];
  DtClaim *claim;
  const DtPlace *a, *b;
  DtFact fact = { false, 0 };
  DtEvent at;
  const char *what;
  DtBuf t;
  if (e->nin < 2 || !is_combining(g, e)) return;
  a = dt_diag_place(g, e->in[0]);
  b = dt_diag_place(g, e->in[1]);
  if (a == NULL || b == NULL) return;
  if (a->kind == DT_PLACE_TOTAL && dt_diag_is(g, e, DT_DO_DIV)) {
    divided_alone(g, e, a, b);
    return;
  }
  if (a->kind == DT_PLACE_PART && b->kind == DT_PLACE_PART) {
    if (dt_diag_is(g, e, DT_DO_MUL)) dt_diag_pieces_met(g, e, a, b);
    else if (!dt_diag_is(g, e, DT_DO_DIV)) neighbours_met(g, e, a, b);
    return;
  }
  if (a->kind != DT_PLACE_PART) {
    const DtPlace *c = a;
    a = b;
    b = c;
    part = e->in[1];
  }
  if (a->kind != DT_PLACE_PART || !stat_of(b, a) || of_samples(part, a)) return;
  at = dt_diag_origin(&b->at, "");
  fact.hash = a->where;
  dt_buf_init(&t, g->s->cx);
  dt_buf_addf(&t, "a statistic along %lld of %lld on each rank meets that part "
              "at %s:%d, and was not reduced; where each part begins",
              (long long)a->len, (long long)a->whole,
              e->file ? e->file : "", e->line);
  what = dt_diag_intern(g, &t);
  if (what == NULL) return;
  claim = dt_diag_claim_all(g, &at, DT_FIND_ID_PART_ALONE, NULL, -1, DT_SALT_STAT_MET, 1, &fact,
                            either_name(g, b->root, part == e->in[0]
                                        ? e->in[1]->id : e->in[0]->id), what);
  if (claim && b->logged) {     /* the parts may be merged by it */
    claim->by_lse = true;
    if (g->lse_used) claim->fact[0].hash = 0;
  }
}

/* --- queries and keys --- */

static bool are_disjoint (int64_t q, int64_t qlen, int64_t qwhole, int64_t k,
                          int64_t klen, int64_t kwhole) {
  return q * kwhole >= (k + klen) * qwhole || (q + qlen) * kwhole <= k * qwhole;
}

/* Every rank claims, also those whose heads belong together: they cannot know
** it. */
static void heads_claim (DtDiag *g, const DtEvent *e, const DtPlace *q,
                         const DtPlace *k, int64_t salt, int nfact,
                         const DtFact *facts, bool bad) {
  DtEvent at = dt_diag_origin(&k->cut, "");
  const char *what;
  DtClaim *c;
  DtBuf t;
  dt_buf_init(&t, g->s->cx);
  dt_buf_addf(&t, "queries of heads %lld to %lld of %lld meet keys of heads %lld "
              "to %lld of %lld at %s:%d; where each part begins",
              (long long)q->off, (long long)(q->off + q->len - 1),
              (long long)q->whole, (long long)k->off,
              (long long)(k->off + k->len - 1), (long long)k->whole,
              e->file ? e->file : "", e->line);
  what = dt_diag_intern(g, &t);
  if (what == NULL) return;
  c = dt_diag_claim_all(g, &at, DT_FIND_ID_OTHER_PART, NULL, -1, salt, nfact,
                        facts, dt_diag_place_name(g, e->in[1]->id), what);
  if (c) c->mute = !bad;
}

static bool is_causal (const DtEvent *e) {
  const DtSchema *sig = e->op->sig;
  for (int i = 0; i < sig->nargs && i < e->args->n; i++)
    if (strcmp(sig->arg[i].name, "is_causal") == 0)
      return dt_arg_bool(e->args, i);
  return false;
}

/* A part of the queries, masked as if it began where the keys do. */
static void on_causal_attention (DtDiag *g, const DtEvent *e,
                                 const DtPlace *q) {
  const DtFact fact = { false, q->where };
  if (!is_causal(e) || q->dim != ndim_of(e->in[0]) - 2 ||
      e->in[1]->local->m.shape[q->dim] != q->whole) return;
  dt_diag_claim_all(g, e, DT_FIND_ID_COUNTED_ALIKE, NULL, -1, DT_SALT_CAUSAL_ATTENTION, 1, &fact,
                    dt_diag_place_name(g, e->in[0]->id), "is_causal counts the "
                    "queries of each rank from 0, the keys are all of them; "
                    "where each part begins");
}

/* Attention to this rank's part of the keys alone.  Where the log-sum-exp, which
** some operators give as well, is used, the parts are merged by it. */
void dt_diag_keys_alone (DtDiag *g, const DtEvent *e) {
  const DtPlace *k = dt_diag_place_of(g, e, 1, DT_PLACE_PART);
  DtFact fact = { false, 0 };
  const char *what;
  DtClaim *c;
  DtPlace lse;
  DtBuf t;
  if (k == NULL || k->columns || k->first_len > 0 ||
      k->dim != ndim_of(e->in[1]) - 2 || k->len < 2) return;
  fact.hash = k->where;
  dt_buf_init(&t, g->s->cx);
  dt_buf_addf(&t, "the keys are %lld of %lld on each rank, and their weights add up to "
              "1 among those; where each part begins", (long long)k->len,
              (long long)k->whole);
  what = dt_diag_intern(g, &t);
  if (what == NULL) return;
  lse = dt_diag_place_made(k, e, DT_PLACE_STAT);
  lse.logged = true;
  c = dt_diag_claim_all(g, e, DT_FIND_ID_PART_ALONE, NULL, -1, DT_SALT_KEYS_ALONE, 1, &fact,
                        dt_diag_place_name(g, e->in[1]->id), what);
  if (c == NULL || e->nout < 2 || e->out[1] == NULL) return;
  lse.alone = c->key;
  dt_diag_place_put(g, e->out[1], &lse);
}

static void merge_by (DtDiag *g, const DtPlace *lse) {
  if (lse == NULL || !lse->logged) return;
  g->lse_used = true;
  for (int k = 0; k < g->nclaim; k++)
    if (g->claim[k].key == lse->alone || g->claim[k].by_lse)
      g->claim[k].fact[0].hash = 0;     /* on no rank, also if one has one block */
}

/* Taken from the part that it is of, it makes a softmax of that part alone. */
static bool is_own_softmax (const DtDiag *g, const DtEvent *e) {
  const DtPlace *a = dt_diag_place_of(g, e, 0, DT_PLACE_PART);
  const DtPlace *b = e->nin > 1 ? dt_diag_place_spread(g, e->in[1]) : NULL;
  return a && b && b->logged && stat_of(b, a) &&
         strcmp(e->op->sig->full, "aten.sub.Tensor") == 0;
}

void dt_diag_lse_used (DtDiag *g, const DtEvent *e) {
  if (is_own_softmax(g, e)) return;
  for (int i = 0; i < e->nin; i++)
    merge_by(g, dt_diag_place_spread(g, e->in[i]));
}

/* Queries and keys by heads must be the same heads on each rank. A qkv weight
** cut into three pieces and then by rank, or by rank and then into three,
** gives other heads; both readings are claimed, and the data decides. */
void dt_diag_heads_met (DtDiag *g, const DtEvent *e) {
  const DtPlace *q = dt_diag_place_of(g, e, 0, DT_PLACE_PART);
  const DtPlace *k = dt_diag_place_of(g, e, 1, DT_PLACE_PART);
  DtFact facts[2];
  if (q == NULL || e->nin < 2 || e->in[1] == NULL || e->in[1]->spec) return;
  if (k == NULL) { on_causal_attention(g, e, q); return; }
  if (q->dim == k->dim && q->dim == ndim_of(e->in[0]) - 1)
    dt_diag_pieces_met(g, e, q, k);
  if (q->dim != k->dim || q->dim != ndim_of(e->in[0]) - 3) return;
  facts[0] = (DtFact){ false, dt_hash_u64(q->where, k->where) | 1 };
  if (q->first_len == 0 || k->first_len == 0) {
    heads_claim(g, e, q, k, DT_SALT_HEADS, 1, facts,
                are_disjoint(q->off, q->len, q->whole, k->off, k->len,
                             k->whole));
    return;
  }
  if (g->reordered) return;
  facts[1] = (DtFact){ true, dt_hash_u64(q->first, k->first) | 1 };
  heads_claim(g, e, q, k, DT_SALT_HEADS_OF_PIECES, 2, facts,  /* cut into pieces, then by rank */
              are_disjoint(q->off - q->first_off, q->len, q->first_len,
                           k->off - k->first_off, k->len, k->first_len));
  facts[0] = (DtFact){ false, q->first };
  heads_claim(g, e, q, k, DT_SALT_PIECES_OF_HEADS, 1, facts,  /* by rank, then into pieces */
              q->of == k->of && q->first_off == k->first_off &&
              are_disjoint(q->off, q->len, q->whole, k->off, k->len, k->whole));
}

/* --- joined --- */

static void joined_claim (DtDiag *g, const DtEvent *e, const DtPlace *w,
                          int64_t salt) {
  const DtFact fact = { false, w->where };
  const char *what;
  DtBuf t;
  dt_buf_init(&t, g->s->cx);
  dt_buf_addf(&t, "each rank has %lld of %lld along dimension %d, and they are "
              "put behind each other along another; where each part begins",
              (long long)w->len, (long long)w->whole, w->dim);
  what = dt_diag_intern(g, &t);
  if (what)
    dt_diag_claim_all(g, e, DT_FIND_ID_PART_ORDER, NULL, -1, salt, 1, &fact,
                      dt_diag_place_name(g, e->out[0]->id), what);
}

void dt_diag_stacked_view (DtDiag *g, const DtEvent *e, const DtPlace *w) {
  const DtMeta *z = &e->out[0]->local->m;
  if (strcmp(e->op->sig->full, "aten.view.default") == 0 && z->ndim == w->columns
      && w->dim > 0 && w->dim < z->ndim && z->shape[w->dim] == w->whole)
    joined_claim(g, e, w, DT_SALT_JOINED_STACKED);
}

/* Halves of one part, or of what was counted, put side by side, as rotary
** embeddings do: along another dimension than the part was cut. */
static void side_by_side (DtDiag *g, const DtEvent *e, const DtPlace *w) {
  const bool stack = strcmp(e->op->sig->full, "aten.stack.default") == 0;
  int64_t dim = e->args->n > 1 ? dt_arg_int(e->args, 1) : 0;
  DtPlace to = *w;
  if (dim < 0) dim += ndim_of(e->out[0]);
  if (w->kind == DT_PLACE_PART && !stack && dim == w->dim) {
    if (dt_diag_pieces_joined(g, e, &to)) dt_diag_place_put(g, e->out[0], &to);
    return;
  }
  if (w->kind == DT_PLACE_COUNTED) {
    if (!dt_dtype_is_float((DtDtype)e->out[0]->local->m.dtype))
      dt_diag_items_read(e->out[0], &to);
    else if (stack || dim == 0) to.items = 0;
  }
  for (int i = 1; i < e->nin; i++) {
    const DtPlace *o = dt_diag_place_of(g, e, i, w->kind);
    if (o == NULL || o->dim != w->dim || o->where != w->where ||
        o->len != w->len) return;
  }
  if (w->kind == DT_PLACE_PART) {
    if (stack && dim <= w->dim) to.dim++;
  }
  dt_diag_place_put(g, e->out[0], &to);
}

/* Statistics of one part in one tensor, with what else there is: a count. */
static void stats_joined (DtDiag *g, const DtEvent *e) {
  const DtPlace *stat = NULL;
  for (int i = 0; i < e->nin; i++) {
    const DtPlace *w = dt_diag_place(g, e->in[i]);
    if (w == NULL) continue;
    if (w->kind != DT_PLACE_STAT || (stat && stat->where != w->where)) return;
    stat = w;
  }
  if (stat) {
    DtPlace to = *stat;
    to.pooled = false;
    dt_diag_place_put(g, e->out[0], &to);
  }
}

/* cat and stack.  The parts of all ranks, joined along their own dimension and in
** order, are the whole; along another dimension each row is joined with the rows
** of others.  `dim` is as the program wrote it and may be negative: it is
** wrapped where it is used, not before, since stack has one dimension more. */
void dt_diag_joined (DtDiag *g, const DtEvent *e) {
  const DtPlace *any = dt_diag_place(g, e->in[0]);
  const DtPlace *w = dt_diag_place_of(g, e, 0, DT_PLACE_GATHERED);
  int64_t dim = e->args->n > 1 ? dt_arg_int(e->args, 1) : 0;
  if (dt_diag_op_is(g, e->op, DT_DO_CAT))
    dt_diag_beside(g, e, dim < 0 ? dim + ndim_of(e->in[0]) : dim);
  if (dt_diag_op_is(g, e->op, DT_DO_CAT) && e->nin == 2)
    dt_diag_moved_along(g, e, dim < 0 ? dim + ndim_of(e->in[0]) : dim);
  if (any == NULL || any->kind == DT_PLACE_STAT) stats_joined(g, e);
  if (any && (any->kind == DT_PLACE_PART || any->kind == DT_PLACE_COUNTED))
    side_by_side(g, e, any);
  for (int i = 0; i < e->nin; i++)
    if (dt_diag_place_of(g, e, i, DT_PLACE_FOUND_ALL)) {
      dt_diag_place_put(g, e->out[0], dt_diag_place(g, e->in[i]));
      break;
    }
  if (w == NULL || e->nin < 2 || !dt_diag_op_is(g, e->op, DT_DO_CAT)) return;
  for (int i = 1; i < e->nin; i++)
    if (!dt_diag_place_of(g, e, i, DT_PLACE_GATHERED)) return;
  if (dim < 0) dim += ndim_of(e->in[0]);
  if (dim == w->dim && e->nin == dt_session_size(g->s) &&
      e->in[0]->local->m.shape[dim] == w->len) {
    const DtOrigin at = { .op = e->op->sig->full, .file = e->file, .line = e->line,
                          .seq = e->seq };
    dt_diag_shuffle(g, w, &at, e->out[0]);
  }
  if (dim != w->dim && w->len * e->nin == w->whole) joined_claim(g, e, w, DT_SALT_JOINED);
}

void dt_diag_where_gathered (DtDiag *g, const DtVar *mine, const DtVar *piece,
                             int64_t shift, int64_t n) {
  const DtPlace *w = g->nplaces ? dt_diag_place(g, mine) : NULL;
  DtPlace to;
  if (w == NULL || piece->spec ||
      (w->kind != DT_PLACE_PART && w->kind != DT_PLACE_FOUND)) return;
  to = *w;
  to.kind = w->kind == DT_PLACE_PART ? DT_PLACE_GATHERED : DT_PLACE_FOUND_ALL;
  if (w->first_len * n == w->whole && w->items == 0) {  /* an edge of a part */
    to.off = (w->off + w->whole + shift * w->first_len) % w->whole;
    to.moved = shift != 0;
  }
  dt_diag_place_put(g, piece, &to);
}

/* --- slices of an order drawn by each rank --- */

void dt_diag_sliced (DtDiag *g, const DtEvent *e) {
  const DtVar *v = e->in[0], *out = e->out[0];
  DtFact facts[2];
  if (v->origin.op == NULL || out == NULL ||
      strncmp(v->origin.op, "aten.randperm", 13) != 0 ||
      v->local->storage->drawn || ndim_of(v) != 1 ||
      dt_meta_numel(&out->local->m) >= dt_meta_numel(&v->local->m)) return;
  facts[0] = (DtFact){ false, dt_diag_sample(v->local) };
  facts[1] = (DtFact){ false, (uint64_t)out->local->offset + 1 };
  const DtEvent drawn = dt_diag_origin(&v->origin, "");
  dt_diag_claim_often(g, &drawn, DT_FIND_ID_OTHER_WHOLE, 11, 2, facts,
                      dt_diag_place_name(g, v->id), "each rank takes its part of an "
                      "order that it drew itself: items are taken twice or not at "
                      "all; the orders");
}

/* --- to the other ranks --- */

static void claim_source_equal (DtDiag *g, const DtRecRaw *raw,
                                const DtPlace *w) {
  const DtFact fed[2] = { { false, w->fed }, { false, w->where } };
  const DtFact src[2] = { { false, w->src }, { false, w->where } };
  DtEvent at = dt_diag_origin(&w->fed_at, "");
  dt_diag_claim_all(g, &at, DT_FIND_ID_INPUTS_APART, raw->mesh, raw->mdim, DT_SALT_SOURCE_EQUAL,
                    2, fed, dt_diag_place_name(g, w->fed_id), "what is multiplied "
                    "with the columns of each rank; the results are put together");
  at = dt_diag_origin(&w->cut, "");
  if (w->columns)
    dt_diag_claim_all(g, &at, DT_FIND_ID_OTHER_WHOLE, raw->mesh, raw->mdim, DT_SALT_SOURCE_WHOLE,
                      2, src, dt_diag_place_name(g, w->of), "what each rank cut "
                      "its columns out of");
}

/* Ranks of a group, not of all, that hold one and the same part. */
static void claim_same_group (DtDiag *g, const DtRecRaw *raw, const DtVar *in,
                              const DtPlace *w) {
  const int64_t n = raw->mesh->shape[raw->mdim];
  const DtFact fact = { true, w->where };
  const DtOrigin here = dt_diag_here(g, raw->kind);
  const DtEvent e = { .kind = DT_EV_COLL, .text = raw->kind, .file = here.file,
                      .line = here.line, .seq = here.seq, .module = "" };
  const char *what;
  DtBuf t;
  if (n >= dt_session_size(g->s) || w->len * n != w->whole || g->s->backward ||
      w->first_len > 0) return;
  dt_buf_init(&t, g->s->cx);
  dt_buf_addf(&t, "%lld of %lld along a dimension, cut at %s:%d; where the part "
              "begins", (long long)w->len, (long long)w->whole,
              w->cut.file ? w->cut.file : "", w->cut.line);
  what = dt_diag_intern(g, &t);
  if (what)
    dt_diag_claim_all(g, &e, DT_FIND_ID_SAME_GROUP, raw->mesh, raw->mdim, DT_SALT_SAME_GROUP, 1,
                      &fact, dt_diag_place_name(g, in->id), what);
}

/* A broadcast over what each rank has cut out for itself.  One after the other from
** every rank, it gathers them. */
static void claim_source_wins (DtDiag *g, const DtRecRaw *raw, const DtVar *in,
                               const DtPlace *w) {
  const DtFact fact = { false, w->where };
  const DtOrigin here = dt_diag_here(g, raw->kind);
  const DtEvent e = { .kind = DT_EV_COLL, .text = raw->kind, .file = here.file,
                      .line = here.line, .seq = here.seq, .module = "" };
  DtClaim *c;
  if (strcmp(raw->kind, "broadcast") != 0 || g->s->backward || w->columns) return;
  c = dt_diag_claim_all(g, &e, DT_FIND_ID_SOURCE_WINS, raw->mesh, raw->mdim,
                        DT_SALT_SOURCE_WINS + 64 * ((int64_t)raw->root + 1), 1,
                        &fact, dt_diag_name(g, in), "what each rank has is the part "
                        "that it cut for itself; where each part begins");
  if (c) g->sent_root = raw->root;
  for (int i = 0; c == NULL && i < g->nclaim && raw->root != g->sent_root; i++)
    if (g->claim[i].kind->id == DT_FIND_ID_SOURCE_WINS &&
        g->claim[i].line == here.line) g->claim[i].mute = true;
}

/* A raw collective took `in`, of which `w` is known. */
static void part_sent (DtDiag *g, const DtRecRaw *raw, const DtVar *in,
                       const DtVar *out, const DtPlace *w) {
  const bool sum = strstr(raw->kind, "reduce") && raw->reduce &&
                   strcmp(raw->reduce, "sum") == 0;
  const bool gather = strcmp(raw->kind, "all_gather") == 0;
  DtFact facts[2] = { { true, w->added }, { false, w->where } };
  DtEvent at = dt_diag_origin(&w->at, "");
  DtPlace to = *w;
  if ((gather && w->kind == DT_PLACE_PART && w->columns) ||
      (sum && (w->kind == DT_PLACE_ADDEND || w->kind == DT_PLACE_BIASED ||
               w->kind == DT_PLACE_BENT))) claim_source_equal(g, raw, w);
  if ((gather && w->kind == DT_PLACE_PART && w->columns) ||
      (sum && w->kind == DT_PLACE_ADDEND && !w->columns))
    claim_same_group(g, raw, in, w);
  if (w->kind == DT_PLACE_PART) claim_source_wins(g, raw, in, w);
  if (sum && w->kind == DT_PLACE_BIASED)
    dt_diag_claim_all(g, &at, DT_FIND_ID_ADDED_EACH, raw->mesh, raw->mdim, DT_SALT_PART_SENT, 2,
                      facts, dt_diag_place_name(g, in->id),
                      "what is added to each addend");
  if (sum && out && (w->kind == DT_PLACE_ADDEND ||
                     (w->kind == DT_PLACE_STAT && w->adds))) {
    dt_diag_total_sent(g, raw, in, &to);
    dt_diag_place_put(g, out, &to);
  }
  if (sum) {
    dt_diag_shifted_sum(g, raw, in, w);
    dt_diag_routed_sum(g, raw, in, w);
  }
  if (gather && w->kind == DT_PLACE_FOUND && out) {
    to.kind = DT_PLACE_FOUND_ALL;
    dt_diag_place_put(g, out, &to);
  }
  if (gather && w->kind == DT_PLACE_PART && out && w->dim == 0) {
    const DtOrigin here = dt_diag_here(g, raw->kind);
    dt_diag_shuffle(g, w, &here, out);
  }
  if (gather && w->kind == DT_PLACE_PART && out && w->dim > 0 &&
      ndim_of(out) == ndim_of(in)) {
    to.kind = DT_PLACE_STACKED;
    to.columns = ndim_of(in);
    dt_diag_place_put(g, out, &to);
  }
}

/* What the ranks hold other parts of. */
static const DtPlace *held (const DtDiag *g, const DtVar *v) {
  const DtPlace *w = dt_diag_place(g, v);
  return w && w->kind != DT_PLACE_TOTAL && w->kind != DT_PLACE_SHUFFLED ? w : NULL;
}

/* The sum of what each rank's part of a weight makes of one and the same. */
static void alike_sent (DtDiag *g, const DtRecRaw *raw, const DtPlace *w) {
  const DtFact facts[2] = { { true, w->fed }, { false, w->where } };
  DtEvent at = dt_diag_origin(&w->at, "");
  if (w->kind == DT_PLACE_ALIKE && strstr(raw->kind, "reduce") && raw->reduce &&
      strcmp(raw->reduce, "sum") == 0 && !g->s->backward)
    dt_diag_claim_all(g, &at, DT_FIND_ID_SAME_PART, raw->mesh, raw->mdim, DT_SALT_ALIKE_SENT, 2,
                      facts, dt_diag_place_name(g, w->fed_id), "each rank "
                      "multiplies it with its part of a weight, and the products "
                      "are summed; what made it is no part, but the same on all");
}

/* A collective gets what lies in some place.  part_sent and alike_sent may take
** the place away (a gathered part is whole), so it is looked up once more before
** anything is said of it.  Each claim's fact is where the part begins: it is a
** fault only if that differs between the ranks, which no rank knows alone. */
void dt_diag_where_raw (DtDiag *g, const DtRecRaw *raw, const DtVar *in,
                        const DtVar *out) {
  const DtPlace *w = g->nplaces ? held(g, in) : NULL;
  DtFact fact = { false, 0 };
  DtEvent at;
  const char *name;
  if (w == NULL) return;
  merge_by(g, w);
  if (w->moved) return;
  part_sent(g, raw, in, out, w);
  alike_sent(g, raw, w);
  if ((w = held(g, in)) == NULL) return;
  at = (DtEvent){ .kind = DT_EV_OP, .text = w->at.op, .file = w->at.file,
                  .line = w->at.line, .seq = w->at.seq, .module = "" };
  fact.hash = w->where;
  name = dt_diag_place_name(g, in->id);
  if (*name == '\0') name = dt_diag_place_name(g, w->root);
  if (w->kind == DT_PLACE_FOUND && strcmp(raw->kind, "broadcast") == 0)
    dt_diag_claim_all(g, &at, DT_FIND_ID_PART_ALONE, raw->mesh, raw->mdim, 0,
                      1, &fact, name, "an index within the part is "
                      "sent to all; where each part begins");
  if (w->kind == DT_PLACE_PICKED && strcmp(raw->kind, "all_reduce") == 0 &&
      raw->reduce && strcmp(raw->reduce, "sum") == 0)
    dt_diag_claim_all(g, &at, DT_FIND_ID_PART_ALONE, raw->mesh, raw->mdim, DT_SALT_PICKED_SUMMED,
                      1, &fact, name, "rows are picked out of each part, and "
                      "summed with those of the others, without leaving out the "
                      "indices that another rank has; where each part begins");
  if (w->kind == DT_PLACE_STAT && w->bent && raw->reduce &&
      strcmp(raw->kind, "all_reduce") == 0 &&
      (strcmp(raw->reduce, "sum") == 0 || strcmp(raw->reduce, "avg") == 0)) {
    const DtFact ratio[2] = { fact, { false, w->added } };
    if (w->added) at = dt_diag_origin(&w->fed_at, "");
    dt_diag_claim_all(g, &at, DT_FIND_ID_BENT_ADDEND, raw->mesh, raw->mdim, DT_SALT_STAT_REDUCED,
                      w->added ? 2 : 1, ratio, name, w->added
                      ? "a ratio or product of sums along each part is reduced; that "
                        "of the whole is made of the whole's sums; where each part "
                        "begins"
                      : "a norm, deviation or median of each "
                        "part is reduced; that of the whole is not their sum or "
                        "mean; where each part begins");
  }
  if (w->kind == DT_PLACE_BENT && strstr(raw->kind, "reduce") && raw->reduce &&
      (strcmp(raw->reduce, "sum") == 0 || strcmp(raw->reduce, "avg") == 0))
    dt_diag_claim_all(g, &at, DT_FIND_ID_BENT_ADDEND, raw->mesh, raw->mdim, DT_SALT_COLUMNS_REDUCED,
                      1, &fact, name, "it takes a sum along a part "
                      "of the columns, its result is reduced; where each part "
                      "begins");
}
