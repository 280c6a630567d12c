/* SPDX-License-Identifier: MIT
** comm/fake.c: one rank of a pretend world of up to 2^20.  Nobody is waited
** for: every collective succeeds.  As it is made, tensors have no data and
** buffers may be NULL; dt_comm_pretend gives this rank's tensors data. */
#include <string.h>
#include "base/error_tool.h"
#include "comm/board_int.h"

enum { MAX_SIZE = 1 << 20 };

static DtStatus fake_agree (DtCtx *cx, DtGroup *g, const DtCollInfo *i,
                            const DtOffer *o) {
  (void)g; (void)i; (void)o;
  return dt_ctx_poll(cx);
}

/* Where tensors have data the others have this rank's: PyTorch's fake process
** group.  all_gather, all_to_all, all_reduce, reduce_scatter, scatter. */
static void copy (const DtGroup *g, void *out, const void *in, size_t n) {
  if (!g->comm->no_data && in != NULL && out != NULL && in != out && n > 0)
    memcpy(out, in, n);
}

static DtStatus fake_gather (DtCtx *cx, DtGroup *g, const void *in,
                             size_t nbytes, void *out) {
  (void)cx;
  for (int r = 0; out != NULL && r < g->size; r++)
    copy(g, (char *)out + (size_t)r * nbytes, in, nbytes);
  return DT_OK;
}

static DtStatus fake_exchange (DtCtx *cx, DtGroup *g, const void *in,
                               size_t nbytes, void *out) {
  (void)cx;
  copy(g, out, in, nbytes * (size_t)g->size);
  return DT_OK;
}

static DtStatus fake_all_reduce (DtCtx *cx, DtGroup *g, const DtReduction *r) {
  (void)cx;
  copy(g, r->out, r->in, (size_t)r->n * dt_dtype_size(r->dtype));
  return DT_OK;
}

static DtStatus fake_reduce_scatter (DtCtx *cx, DtGroup *g,
                                     const DtReduction *r) {
  size_t nbytes = (size_t)r->n * dt_dtype_size(r->dtype);
  (void)cx;
  if (r->in != NULL)
    copy(g, r->out, (const char *)r->in + (size_t)g->me * nbytes, nbytes);
  return DT_OK;
}

static DtStatus fake_broadcast (DtCtx *cx, DtGroup *g, void *buf,
                                size_t nbytes, int root) {
  (void)cx; (void)g; (void)buf; (void)nbytes; (void)root;
  return DT_OK;
}

static DtStatus fake_scatter (DtCtx *cx, DtGroup *g, const void *in,
                              size_t nbytes, void *out, int root) {
  (void)cx;
  if (g->me == root && in != NULL)
    copy(g, out, (const char *)in + (size_t)g->me * nbytes, nbytes);
  return DT_OK;
}

/* The others do as this rank does. */
static DtStatus fake_meet (DtCtx *cx, DtComm *c, DtStatus mine,
                           const DtCollInfo *i, DtStatus *all) {
  int r;
  (void)cx; (void)i;
  for (r = 0; all != NULL && r < c->size; r++)
    all[r] = mine;
  c->epoch++;
  return mine;
}

static DtStatus fake_share (DtCtx *cx, DtComm *c, char **text, size_t *n) {
  (void)c; (void)n;
  DT_CHECK(cx, *text != NULL, DT_E_WORLD,
           "the fake world has one rank: nobody else sends a line");
  return DT_OK;
}

static DtStatus fake_alive (DtCtx *cx, DtComm *c) {
  (void)cx; (void)c;
  return DT_OK;
}

static void fake_status (DtComm *c, DtBuf *b) {
  dt_buf_addf(b, "rank %d of a pretend world of %d: running\n", c->rank,
              c->size);
}

static const DtCommVt fake_vt = {
  .name = "fake",
  .kind = DT_WORLD_FAKE,
  .agree = fake_agree,
  .all_gather = fake_gather,
  .all_to_all = fake_exchange,
  .all_reduce = fake_all_reduce,
  .reduce_scatter = fake_reduce_scatter,
  .broadcast = fake_broadcast,
  .scatter = fake_scatter,
  .meet = fake_meet,
  .share = fake_share,
  .alive = fake_alive,
  .status = fake_status
};

DtStatus dt_comm_fake (DtCtx *cx, int size, int rank, DtComm **out) {
  DtComm *c;
  DtStatus st;
  DT_CHECK(cx, size > 0 && size <= MAX_SIZE, DT_E_VALUE,
           "the fake world has 1 to %d ranks, not %d", (int)MAX_SIZE, size);
  DT_CHECK(cx, rank >= 0 && rank < size, DT_E_VALUE,
           "rank %d is not in the world of %d", rank, size);
  DT_TRY(cx, dt_comm_new(cx, &fake_vt, rank, size, &c));
  c->no_data = true;
  DT_TRYG(cx, dt_comm_setup(cx, c));
  *out = c;
  return DT_OK;
done:
  dt_comm_free(cx, c);
  return st;
}

void dt_comm_pretend (DtComm *c, bool data) {
  if (c->vt == &fake_vt) c->no_data = !data;
}
