/* SPDX-License-Identifier: MIT
** diag/rules_stale.c: weights that were gathered once, and their parts updated
** since.
**
** What an all_gather or a redistribution makes of parts is another tensor: an
** update of the parts does not reach it.  A program that goes on computing with it,
** step after step, trains with the weights it began with.  What is gathered again,
** or written over, is as new; what is used without gradients is kept on purpose, as
** the weights of a reference model are. */
#include <string.h>
#include "diag/diag_int.h"

enum { STALES = 64 };

typedef struct Stale {
  int64_t storage, source;      /* of the gathered tensor, by storage; of a part */
  int64_t behind, used;         /* updates of the parts since; at the last use */
  bool told;
  DtOrigin at;
} Stale;

struct DtStales { Stale v[STALES]; };

void dt_diag_stales_free (DtDiag *g) {
  dt_free(g->s->cx, g->stales);
  g->stales = NULL;
  g->nstales = 0;
}

static Stale *find_stale (const DtDiag *g, int64_t storage) {
  Stale *s = g->stales ? &g->stales->v[(uint64_t)storage % STALES] : NULL;
  return s && s->storage == storage ? s : NULL;
}

static void note_gathered (DtDiag *g, const DtVar *copy, int64_t source,
                           const DtOrigin *at) {
  const int64_t id = copy->local->storage->id;
  if (source == id || !dt_dtype_is_float((DtDtype)copy->local->m.dtype) ||
      g->s->backward) return;
  if (g->stales == NULL &&
      (g->stales = DT_NEW(g->s->cx, struct DtStales)) == NULL) {
    dt_error_clear(g->s->cx);
    return;
  }
  g->stales->v[(uint64_t)id % STALES] = (Stale){ .storage = id, .source = source,
                                                 .at = *at };
  g->nstales++;
}

void dt_diag_stale_gathered (DtDiag *g, const DtVar *mine, const DtVar *out) {
  DtOrigin here;
  if (mine->spec || out->spec || mine->grad_fn) return;
  here = dt_diag_here(g, "all_gather");
  note_gathered(g, out, mine->local->storage->id, &here);
}

/* A parameter, or what shares its memory, is redistributed. */
static void on_redistribute (DtDiag *g, const DtEvent *e) {
  const DtOrigin at = { .op = "redistribute", .file = e->file, .line = e->line,
                        .seq = e->seq };
  if (e->status == DT_OK && !e->backward && e->nin > 0 && e->nout > 0 && e->in[0] &&
      e->out[0] && dt_idset_has(&g->params, e->in[0]->local->storage->id) &&
      !e->in[0]->requires_grad)
    note_gathered(g, e->out[0], e->in[0]->local->storage->id, &at);
}

static void on_joined (DtDiag *g, const DtEvent *e) {
  const Stale *s = e->status == DT_OK && !e->backward && e->nin > 1 && e->in[0] &&
                   e->nout > 0 && e->out[0]
                   ? find_stale(g, e->in[0]->local->storage->id) : NULL;
  if (s) {
    const DtOrigin at = s->at;
    note_gathered(g, e->out[0], s->source, &at);
  }
}

/* What was gathered of parameters is put into tensors that the program gave. */
static void on_put (DtDiag *g, const DtEvent *e) {
  const DtVar *to = e->nin > 1 ? e->in[0] : NULL;
  const Stale *s = to && e->in[1] && dt_diag_is(g, e, DT_DO_COPY)
                   ? find_stale(g, e->in[1]->local->storage->id) : NULL;
  if (s && dt_idset_has(&g->params, s->source)) {
    const DtOrigin at = s->at;
    note_gathered(g, to, s->source, &at);
  }
}

/* The gathered tensor is written over, or a part of it is updated. */
static void on_written (DtDiag *g, const DtEvent *e) {
  const DtVar *v = e->nin > 0 ? e->in[0] : NULL;
  Stale *s;
  if (v == NULL || e->status != DT_OK || e->backward) return;
  s = find_stale(g, v->local->storage->id);
  if (s) s->storage = 0;
  for (int i = 0; i < STALES; i++)
    if (g->stales->v[i].source == v->local->storage->id) g->stales->v[i].behind++;
  on_put(g, e);
}

static void on_used (DtDiag *g, const DtEvent *e) {
  if (e->status != DT_OK || e->backward || !g->s->grad_enabled) return;
  for (int i = 0; i < e->nin && i < 3; i++) {
    Stale *s = e->in[i] ? find_stale(g, e->in[i]->local->storage->id) : NULL;
    if (s == NULL || s->behind == s->used || s->told) continue;
    if (s->used > 0) {
      s->told = true;
      dt_diag_add(g, e, DT_FIND_ID_STALE_COPY, e->in[i], 0, NULL, "it was gathered at "
                  "%s:%d; its parts were written %lld times since", s->at.file
                  ? s->at.file : "", s->at.line, (long long)s->behind);
    }
    s->used = s->behind;
  }
}

static bool multiplies (const DtDiag *g, const DtOpDef *op) {
  static const char *const names[] = { "aten.embedding.default", "aten.index.Tensor",
    "aten.index_select.default", "aten.convolution.default", "aten.linear.default",
    NULL };
  (void)g;
  return dt_diag_product(op) != NULL || dt_diag_named(op, names);
}

static bool joins (const DtDiag *g, const DtOpDef *op) {
  return dt_diag_op_is(g, op, DT_DO_CAT) || dt_diag_op_is(g, op, DT_DO_STACK);
}

const DtDiagRule dt_rules_stale[] = {
  { DT_EV_FUNC_END, on_redistribute, NULL, DT_CALLED(REDISTRIBUTE) },
  { DT_EV_OP_END, on_joined, joins, DT_WHEN(nstales) },
  { DT_EV_OP_END, on_written, dt_diag_inplace, DT_WHEN(nstales) },
  { DT_EV_OP_END, on_used, multiplies, DT_WHEN(nstales) },
  { 0, NULL, NULL, 0 }
};
