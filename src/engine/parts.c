/* SPDX-License-Identifier: MIT
** engine/parts.c: do the ranks of an exchange mean the same parts?
**
** Gloo sends bytes without their number being agreed on: a part that is too small
** leaves memory as it was, one that is too large ends the process of the receiver,
** and another type's bytes are taken for numbers.  Here every rank hears what each
** one sends and expects, before anything moves, so all of them raise alike and name
** the first two that do not agree. */
#include "engine/engine_int.h"

#include <inttypes.h>
#include <string.h>
#include "engine/parts.h"

/* What a rank says of itself: two words, then what goes to and comes from each. */
enum { DTYPE, ROW, HEAD };

typedef struct Said {
  int n;                        /* ranks of the group */
  const int *ranks;             /* of the world */
  const int64_t *words;         /* HEAD + 2 n of each rank */
} Said;

static const int64_t *words_of (const Said *a, int r) {
  return a->words + (size_t)r * (size_t)(HEAD + 2 * a->n);
}
static int64_t sends (const Said *a, int r, int to) {
  const int64_t *w = words_of(a, r);
  return w[HEAD + to] * w[ROW];
}
static int64_t expects (const Said *a, int r, int from) {
  const int64_t *w = words_of(a, r);
  return w[HEAD + a->n + from] * w[ROW];
}
static const char *type_of (const Said *a, int r) {
  return dt_dtype_info((DtDtype)words_of(a, r)[DTYPE])->tag;
}

static bool fits (const Said *a, int r, int q) {
  int64_t k = sends(a, r, q);
  return k == expects(a, q, r) &&
         (k == 0 || words_of(a, r)[DTYPE] == words_of(a, q)[DTYPE]);
}

/* "rank 1: sends [4, 0], expects [2, 2] elements of f32" */
static void add_rank (const Said *a, int r, DtBuf *b) {
  dt_buf_addf(b, "rank %d: sends [", a->ranks[r]);
  for (int q = 0; q < a->n; q++)
    dt_buf_addf(b, "%s%" PRId64, q ? ", " : "", sends(a, r, q));
  dt_buf_add(b, "], expects [");
  for (int q = 0; q < a->n; q++)
    dt_buf_addf(b, "%s%" PRId64, q ? ", " : "", expects(a, r, q));
  dt_buf_addf(b, "] elements of %s\n", type_of(a, r));
}

static DtStatus refuse (DtCtx *cx, const Said *a, const char *name, int r, int q) {
  enum { MOST = 8 };            /* ranks whose sizes are all printed */
  DtStatus st = dt_raise(cx, DT_E_RUNTIME, "%s: rank %d sends %s[%" PRId64 "] to rank "
                         "%d, which expects %s[%" PRId64 "] from it", name, a->ranks[r],
                         type_of(a, r), sends(a, r, q), a->ranks[q], type_of(a, q),
                         expects(a, q, r));
  for (int i = 0; i < a->n; i++)
    if (a->n <= MOST || i == r || i == q) add_rank(a, i, &cx->err.explain);
  return st;
}

static DtStatus compare (DtCtx *cx, const Said *a, const char *name) {
  for (int r = 0; r < a->n; r++)
    for (int q = 0; q < a->n; q++)
      if (!fits(a, r, q)) return refuse(cx, a, name, r, q);
  return DT_OK;
}

DtStatus dt_parts_agree (DtCtx *cx, DtGroup *g, const DtCollInfo *i, const DtParts *p,
                         int64_t *largest) {
  const size_t each = (size_t)(HEAD + 2 * g->size);
  int64_t *mine = DT_NEWN(cx, int64_t, each);
  int64_t *all = DT_NEWN(cx, int64_t, each * (size_t)g->size);
  Said a = { .n = g->size, .ranks = g->ranks, .words = all };
  DtStatus st = mine && all ? DT_OK : DT_E_NOMEM;
  if (st == DT_OK) {
    mine[DTYPE] = p->dtype;
    mine[ROW] = p->row;
    memcpy(mine + HEAD, p->in, (size_t)a.n * sizeof *p->in);
    memcpy(mine + HEAD + a.n, p->out, (size_t)a.n * sizeof *p->out);
    st = dt_comm_all_gather(cx, g, i, mine, each * sizeof *mine, all);
  }
  /* Of a fake world all are this rank, and PyTorch's fake group compares nothing:
  ** there a part may be expected that is larger than any that is sent. */
  if (st == DT_OK && g->comm->vt->kind != DT_WORLD_FAKE)
    st = compare(cx, &a, i->op);
  *largest = 0;
  for (int r = 0; st == DT_OK && r < a.n; r++)
    for (int q = 0; q < a.n; q++) {
      if (sends(&a, r, q) > *largest) *largest = sends(&a, r, q);
      if (expects(&a, r, q) > *largest) *largest = expects(&a, r, q);
    }
  dt_free(cx, mine);
  dt_free(cx, all);
  return st;
}
