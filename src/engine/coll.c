/* SPDX-License-Identifier: MIT
** engine/coll.c: collectives on local tensors of one mesh dimension, as
** PyTorch's functional ones: results are new tensors, gathers and scatters
** work on dim 0 and are cut and joined for other dims.
**
** The order is always: event, agreement and bytes in comm, end event.  In a
** world without data nothing moves, but events and shapes are the same. */
#include "engine/engine_int.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include "base/hash.h"
#include "engine/parts.h"

/* --- names --- */

enum {
#define X(id, name, does) id,
#include "engine/collectives.def"
#undef X
  NNAMES
};

static const DtCollName names[] = {
#define X(id, name, does) {name, does},
#include "engine/collectives.def"
#undef X
};

const DtCollName *dt_coll_name (int i) {
  return i >= 0 && i < NNAMES ? &names[i] : NULL;
}

const DtCollName *dt_coll_find (const char *name) {
  int i;
  for (i = 0; i < NNAMES; i++)
    if (strcmp(names[i].name, name) == 0) return &names[i];
  return NULL;
}

/* One collective under way. */
typedef struct Coll {
  const char *name;             /* "all_reduce" */
  DtRedOp op;                   /* of those that reduce, */
  const char *reduce;           /* and its name: "sum", or NULL */
  const DtMesh *mesh;
  int mdim;
  int n, *ranks;
  int64_t bytes_in, bytes_out;
  const DtMeta *meta;           /* of the input; hashed for agreement */
  DtTensor *in;                 /* all_reduce: what this rank gives */
  int from;                     /* broadcast: the member that gives */
  int root;                     /* that all must name, + 1; 0: none.  Hashed, too */
  DtTensor *pair[2];            /* what goes in and what comes out, of functional
                                ** ones: lout of the event */
  DtGroup *group;
  char what[96], where[96], size[56];
  DtCollInfo info;
  int ranks_[64];
} Coll;

static bool moves_data (const DtSession *s, const DtTensor *t) {
  return !dt_session_no_data(s) && s->comm != NULL && t != NULL &&
         (dt_tensor_has_data(t) || dt_meta_numel(&t->m) == 0) &&
         t->m.device != DT_DEV_META;
}

static uint64_t coll_hash (const Coll *c) {
  uint64_t h = dt_hash_str(DT_HASH_SEED, c->name);
  if (c->reduce) h = dt_hash_str(h, c->reduce);
  h = dt_hash_u64(h, (uint64_t)c->bytes_in);
  h = dt_hash_u64(h, (uint64_t)c->bytes_out);
  h = dt_hash_u64(h, (uint64_t)c->root);
  if (c->meta != NULL) {
    h = dt_hash_u64(h, c->meta->dtype);
    for (int i = 0; i < c->meta->ndim; i++)
      h = dt_hash_u64(h, (uint64_t)c->meta->shape[i]);
  }
  return h;
}

/* "f32[4, 2]", as far as there is room: written by hand, since it is written for
** every collective and read only where ranks disagree. */
static void write_size (const DtMeta *m, char *out, size_t room) {
  const char *word = m != NULL ? dt_dtype_info((DtDtype)m->dtype)->tag : "";
  size_t n = strlen(word);
  out[0] = '\0';
  if (m == NULL || n + 3 > room) return;
  memcpy(out, word, n);
  out[n++] = '[';
  for (int i = 0; i < m->ndim; i++) {
    char digits[20];
    size_t k = sizeof digits;
    int64_t v = m->shape[i];
    do digits[--k] = (char)('0' + v % 10); while ((v /= 10) > 0);
    if (n + (sizeof digits - k) + 4 > room) break;
    if (i > 0) { out[n++] = ','; out[n++] = ' '; }
    memcpy(out + n, digits + k, sizeof digits - k);
    n += sizeof digits - k;
  }
  out[n++] = ']';
  out[n] = '\0';
}

/* What else all ranks must say alike: how to reduce, and who is the root. */
static void add_rest (const Coll *c, char *out, size_t room) {
  const char *op = c->reduce ? c->reduce : "";
  size_t n = strlen(op);
  out[0] = '\0';
  if (n > 0 && n + 3 < room) {
    memcpy(out, ", ", 2);
    memcpy(out + 2, op, n + 1);
    out += n + 2;
    room -= n + 2;
  }
  if (c->root > 0) (void)snprintf(out, room, ", root %d", c->root - 1);
}

static void coll_words (DtSession *s, Coll *c) {
  enum { REST = 26 };           /* ", product, root 1023" */
  DtOrigin o = dt_ev_where(s);
  c->what[0] = c->where[0] = 0;
  if (s->cur_op != NULL)
    (void)snprintf(c->what, sizeof c->what, "%s #%" PRId64,
                   s->cur_op->sig->full, s->cur_seq);
  if (o.line > 0)
    (void)snprintf(c->where, sizeof c->where, "%s:%d", o.file, o.line);
  c->info.op = c->name;
  c->info.hash = coll_hash(c);
  c->info.what = c->what;
  c->info.where = c->where;
  write_size(c->meta, c->size, sizeof c->size - REST);
  add_rest(c, c->size + strlen(c->size), REST);
  c->info.size = c->size;
}

/* On CPU the data goes through gloo, which does not know float8. */
static DtStatus check_sendable (DtCtx *cx, const DtMeta *m) {
  bool f8 = m != NULL && (m->dtype == DT_F8E4M3 || m->dtype == DT_F8E5M2);
  DT_CHECK(cx, !f8 || m->device != DT_DEV_CPU, DT_E_RUNTIME,
           "Invalid scalar type");
  return DT_OK;
}

/* The event goes out before the ranks meet: a rank that waits for ever has
** already said what for. */
static DtStatus coll_begin (DtSession *s, Coll *c, bool comm) {
  DtCtx *cx = s->cx;
  DT_CHECK(cx, s->modes.level == 0, DT_E_NOTIMPL, "%s inside a "
           "TorchDispatchMode, which would see it as an operator, is not "
           "supported by dtrepl", c->name);
  if (s->coll_as != NULL) c->name = s->coll_as;
  s->coll_as = NULL;
  if (s->coll_root > 0) c->root = s->coll_root;
  s->coll_root = 0;
  c->n = (int)c->mesh->shape[c->mdim];
  c->ranks = c->ranks_;
  if (c->n > (int)(sizeof c->ranks_ / sizeof c->ranks_[0])) {
    c->ranks = DT_NEWN(cx, int, c->n);
    if (c->ranks == NULL) return DT_E_NOMEM;
  }
  dt_mesh_group(c->mesh, c->mdim, c->mesh->my_rank, c->ranks);
  if (dt_session_heard(s)) {
    DtEvent e = { .kind = DT_EV_COLL, .coll = c->name, .reduce = c->reduce,
                  .mesh = c->mesh, .mdim = c->mdim, .ngroup = c->n,
                  .group = c->ranks, .bytes_in = c->bytes_in,
                  .bytes_out = c->bytes_out, .nlocal = c->in != NULL,
                  .local = &c->in, .nlout = c->pair[0] != NULL ? 2 : 0,
                  .lout = c->pair, .slot = c->root > 0 ? c->root - 1 : 0 };
    DT_TRY(cx, dt_event_emit(s, &e));
  }
  if (!comm) return DT_OK;
  DT_TRY(cx, check_sendable(cx, c->meta));
  coll_words(s, c);
  return dt_comm_group(cx, s->comm, c->n, c->ranks, &c->group);
}

static DtStatus coll_end (DtSession *s, Coll *c, DtStatus st) {
  DtStatus lst = DT_OK;
  if (dt_session_heard(s)) {
    DtEvent e = { .kind = DT_EV_COLL_END, .coll = c->name,
                  .reduce = c->reduce, .mesh = c->mesh, .mdim = c->mdim,
                  .ngroup = c->n, .group = c->ranks,
                  .bytes_in = c->bytes_in, .bytes_out = c->bytes_out,
                  .status = st };
    lst = dt_event_emit(s, &e);
  }
  if (c->ranks != c->ranks_) dt_free(s->cx, c->ranks);
  c->ranks = c->ranks_;
  return st != DT_OK ? st : lst;
}

static DtStatus out_ptr (DtSession *s, DtTensor *t, void **p) {
  *p = NULL;
  if (dt_meta_numel(&t->m) == 0) return DT_OK;
  return dt_tensor_data(s->cx, t, p);
}

/* An average of integers cannot be stored in integers. */
static DtStatus check_avg (DtSession *s, DtRedOp op, const DtTensor *t) {
  DtDtype d = (DtDtype)t->m.dtype;
  DT_CHECK(s->cx, op != DT_OP_AVG || !dt_dtype_is_integral(d, true),
           DT_E_DTYPE,
           "result type Float can't be cast to the desired output type %s",
           dt_dtype_legacy(d));
  return DT_OK;
}

/* What a collective does with the bytes of one tensor, into those of another. */
typedef DtStatus Move (DtCtx *cx, Coll *k, const DtTensor *c, void *out);

/* From the first event to the last.  `c` and `res` stay the caller's. */
static DtStatus coll_run (DtSession *s, Coll *k, const DtTensor *c, DtTensor *res,
                          Move *move) {
  void *p = NULL;
  DtStatus st = coll_begin(s, k, moves_data(s, c));
  if (st == DT_OK && moves_data(s, c)) {
    st = out_ptr(s, res, &p);
    if (st == DT_OK) st = move(s->cx, k, c, p);
  }
  return k->n > 0 ? coll_end(s, k, st) : st;
}

/* --- all_reduce --- */

static DtStatus move_all_reduce (DtCtx *cx, Coll *k, const DtTensor *c, void *out) {
  return dt_comm_all_reduce(cx, k->group, &k->info, &(DtReduction){
    k->op, (DtDtype)c->m.dtype, dt_tensor_cdata(c), out, dt_meta_numel(&c->m) });
}

DtStatus dt_coll_all_reduce (DtSession *s, const DtMesh *m, int mdim,
                             DtRedOp op, DtTensor *in, DtTensor **out) {
  DtCtx *cx = s->cx;
  DtTensor *c = NULL, *res = NULL;
  DtStatus st;
  Coll k = { .name = names[ALL_REDUCE].name, .op = op, .reduce = dt_redop_name(op), .mesh = m,
             .mdim = mdim, .bytes_in = dt_meta_nbytes(&in->m),
             .bytes_out = dt_meta_nbytes(&in->m), .meta = &in->m, .in = in };
  DT_CHECK(cx, op < DT_NREDOPS, DT_E_RUNTIME, "Unrecognized reduce_op: %s",
           dt_redop_name(op));
  DT_TRY(cx, check_avg(s, op, in));
  DT_TRY(cx, dt_mv_contiguous(s, in, &c));
  st = dt_mv_empty(s, &c->m, c->m.ndim, c->m.shape, &res);
  k.pair[0] = c;
  k.pair[1] = res;
  if (st == DT_OK) st = coll_run(s, &k, c, res, move_all_reduce);
  dt_tensor_unref(cx, c);
  if (st != DT_OK) dt_tensor_unref(cx, res);
  else *out = res;
  return st;
}

/* --- all_gather --- */

static DtStatus move_all_gather (DtCtx *cx, Coll *k, const DtTensor *c, void *out) {
  return dt_comm_all_gather(cx, k->group, &k->info, dt_tensor_cdata(c),
                            (size_t)k->bytes_in, out);
}

DtStatus dt_coll_all_gather (DtSession *s, const DtMesh *m, int mdim,
                             int gather_dim, DtTensor *in, DtTensor **out) {
  DtCtx *cx = s->cx;
  int64_t n = m->shape[mdim], shape[DT_MAX_NDIM];
  int ndim = in->m.ndim > 0 ? in->m.ndim : 1;
  DtTensor *c = NULL, *res = NULL;
  DtStatus st;
  int64_t nbytes = dt_meta_nbytes(&in->m);
  Coll k = { .name = names[ALL_GATHER].name, .mesh = m, .mdim = mdim,
             .bytes_in = nbytes, .bytes_out = nbytes * n, .meta = &in->m };
  shape[0] = in->m.ndim > 0 ? in->m.shape[0] * n : n;
  for (int i = 1; i < ndim; i++) shape[i] = in->m.shape[i];
  DT_TRY(cx, dt_mv_contiguous(s, in, &c));
  st = dt_mv_empty(s, &c->m, ndim, shape, &res);
  k.pair[0] = c;
  k.pair[1] = res;
  if (st == DT_OK) st = coll_run(s, &k, c, res, move_all_gather);
  if (st == DT_OK) st = dt_mv_rejoin(s, res, n, gather_dim, out);
  dt_tensor_unref(cx, c);
  dt_tensor_unref(cx, res);
  return st;
}

/* --- reduce_scatter --- */

static DtStatus move_reduce_scatter (DtCtx *cx, Coll *k, const DtTensor *c, void *out) {
  return dt_comm_reduce_scatter(cx, k->group, &k->info, &(DtReduction){
    k->op, (DtDtype)c->m.dtype, dt_tensor_cdata(c), out,
    dt_meta_numel(&c->m) / k->n });
}

DtStatus dt_coll_reduce_scatter (DtSession *s, const DtMesh *m, int mdim,
                                 DtRedOp op, int scatter_dim, DtTensor *in,
                                 DtTensor **out) {
  DtCtx *cx = s->cx;
  int64_t n = m->shape[mdim], shape[DT_MAX_NDIM];
  DtTensor *c = NULL, *res = NULL;
  DtStatus st;
  int64_t nbytes = dt_meta_nbytes(&in->m);
  Coll k = { .name = names[REDUCE_SCATTER].name, .op = op,
             .reduce = dt_redop_name(op), .mesh = m, .mdim = mdim, .bytes_in = nbytes,
             .bytes_out = nbytes / n };
  DT_CHECK(cx, scatter_dim < in->m.ndim && in->m.shape[scatter_dim] % n == 0,
           DT_E_RUNTIME, "input dimension %d (%lld must be a multiple of "
           "group_size %lld)", scatter_dim,
           (long long)(scatter_dim < in->m.ndim ? in->m.shape[scatter_dim]
                                                : 0), (long long)n);
  DT_TRY(cx, check_avg(s, op, in));
  DT_TRY(cx, dt_mv_unjoin(s, in, n, scatter_dim, &c));
  k.meta = &c->m;
  memcpy(shape, in->m.shape, sizeof shape);
  shape[scatter_dim] /= n;
  st = dt_mv_empty(s, &c->m, in->m.ndim, shape, &res);
  k.pair[0] = c;
  k.pair[1] = res;
  if (st == DT_OK) st = coll_run(s, &k, c, res, move_reduce_scatter);
  dt_tensor_unref(cx, c);
  if (st != DT_OK) dt_tensor_unref(cx, res);
  else *out = res;
  return st;
}

/* --- all_to_all: split along one dim, joined along another --- */

static DtStatus move_all_to_all (DtCtx *cx, Coll *k, const DtTensor *c, void *out) {
  return dt_comm_all_to_all(cx, k->group, &k->info, dt_tensor_cdata(c),
                            (size_t)(k->bytes_in / k->n), out);
}

DtStatus dt_coll_all_to_all (DtSession *s, const DtMesh *m, int mdim,
                             int split_dim, int concat_dim, DtTensor *in,
                             DtTensor **out) {
  DtCtx *cx = s->cx;
  int64_t n = m->shape[mdim];
  DtTensor *c = NULL, *res = NULL;
  DtStatus st;
  int64_t nbytes = dt_meta_nbytes(&in->m);
  Coll k = { .name = names[ALL_TO_ALL].name, .mesh = m, .mdim = mdim,
             .bytes_in = nbytes, .bytes_out = nbytes };
  DT_CHECK(cx, split_dim < in->m.ndim && in->m.shape[split_dim] % n == 0,
           DT_E_RUNTIME, "dimension %d is not divisible by %lld", split_dim,
           (long long)n);
  DT_TRY(cx, dt_mv_unjoin(s, in, n, split_dim, &c));
  k.meta = &c->m;
  st = dt_mv_empty(s, &c->m, c->m.ndim, c->m.shape, &res);
  if (st == DT_OK) st = coll_run(s, &k, c, res, move_all_to_all);
  /* block i holds the piece from member i, stacked on dim 0 */
  if (st == DT_OK) st = dt_mv_rejoin(s, res, n, concat_dim, out);
  dt_tensor_unref(cx, c);
  dt_tensor_unref(cx, res);
  return st;
}

/* --- all_to_all with sizes --- */

/* Blocks of `rows` rows one after the other <-> blocks of `size` bytes. */
static void repack_blocks (const Coll *k, const int64_t *rows, int64_t row,
                           int64_t size, char *dense, char *padded, bool in) {
  for (int i = 0; i < k->n; i++) {
    size_t n = (size_t)(rows[i] * row);
    if (n == 0) continue;               /* an empty tensor has no memory */
    if (in) memcpy(padded + i * size, dense, n);
    else memcpy(dense, padded + i * size, n);
    dense += n;
  }
}

static DtStatus exchange_blocks (DtSession *s, Coll *k,
                                 const int64_t *in_splits,
                                 const int64_t *out_splits, int64_t row,
                                 DtTensor *c, DtTensor *res) {
  DtCtx *cx = s->cx;
  const int64_t width = (int64_t)dt_dtype_size((DtDtype)c->m.dtype);
  const DtParts parts = { .dtype = (DtDtype)c->m.dtype, .row = row / width,
                          .in = in_splits, .out = out_splits };
  int64_t size = 0;
  char *a = NULL, *b = NULL;
  void *p = NULL;
  DtStatus st = dt_parts_agree(cx, k->group, &k->info, &parts, &size);
  size *= width;                /* all send as much as the largest, padded */
  if (st == DT_OK && size > 0) {
    a = dt_alloc(cx, (size_t)(size * k->n));
    b = dt_alloc(cx, (size_t)(size * k->n));
    if (a == NULL || b == NULL) st = DT_E_NOMEM;
    if (st == DT_OK) {
      memset(a, 0, (size_t)(size * k->n));
      repack_blocks(k, in_splits, row, size,
                    (char *)(uintptr_t)dt_tensor_cdata(c), a, true);
      st = dt_comm_all_to_all(cx, k->group, &k->info, a, (size_t)size, b);
    }
    if (st == DT_OK) st = out_ptr(s, res, &p);
    if (st == DT_OK && p != NULL)
      repack_blocks(k, out_splits, row, size, p, b, false);
  }
  dt_free(cx, a);
  dt_free(cx, b);
  return st;
}

DtStatus dt_coll_all_to_all_v (DtSession *s, const DtMesh *m, int mdim,
                               const int64_t *in_splits,
                               const int64_t *out_splits, DtTensor *in,
                               DtTensor **out) {
  DtCtx *cx = s->cx;
  int64_t shape[DT_MAX_NDIM], row, total = 0, have = 0;
  DtTensor *c = NULL, *res = NULL;
  DtStatus st;
  Coll k = { .name = names[ALL_TO_ALL].name, .mesh = m, .mdim = mdim };
  DT_CHECK(cx, in->m.ndim > 0, DT_E_RUNTIME,
           "Split sizes doesn't match total dim 0 size");
  for (int i = 0; i < m->shape[mdim]; i++) {
    total += out_splits[i];
    have += in_splits[i];
  }
  DT_CHECK(cx, have == in->m.shape[0], DT_E_RUNTIME,
           "Split sizes doesn't match total dim 0 size");
  DT_TRY(cx, dt_mv_contiguous(s, in, &c));
  memcpy(shape, c->m.shape, sizeof shape);
  shape[0] = total;
  st = dt_mv_empty(s, &c->m, c->m.ndim, shape, &res);
  row = (int64_t)dt_dtype_size((DtDtype)c->m.dtype);
  for (int i = 1; i < c->m.ndim; i++) row *= c->m.shape[i];
  k.bytes_in = have * row;
  k.bytes_out = total * row;
  if (st == DT_OK) st = coll_begin(s, &k, moves_data(s, c));
  if (st == DT_OK && moves_data(s, c)) {
    k.bytes_in = k.bytes_out = 0;       /* sizes differ between the ranks */
    k.info.hash = coll_hash(&k);
    st = exchange_blocks(s, &k, in_splits, out_splits, row, c, res);
  }
  if (k.n > 0) st = coll_end(s, &k, st);
  if (st == DT_OK) *out = res;
  else dt_tensor_unref(cx, res);
  dt_tensor_unref(cx, c);
  return st;
}

/* --- from one rank --- */

static DtStatus move_broadcast (DtCtx *cx, Coll *k, const DtTensor *c, void *out) {
  (void)c;                      /* the same */
  return dt_comm_broadcast(cx, k->group, &k->info, out, (size_t)k->bytes_in, k->from);
}

static DtStatus check_root (DtSession *s, const DtMesh *m, int mdim, int root,
                            const char *what) {
  bool fake = s->comm != NULL && s->comm->vt->kind == DT_WORLD_FAKE;
  if (fake && strcmp(what, "broadcast") == 0)
    return DT_OK;               /* PyTorch's fake group does not look */
  DT_CHECK(s->cx, root >= 0 && root < m->shape[mdim], DT_E_RUNTIME,
           "%s::%s: invalid root rank: %d", fake ? "FakeProcessGroup"
           : "ProcessGroupGloo", what, root);
  return DT_OK;
}

DtStatus dt_coll_broadcast (DtSession *s, const DtMesh *m, int mdim, int root,
                            DtTensor *io) {
  int64_t nbytes = dt_meta_nbytes(&io->m);
  Coll k = { .name = names[C10D_BROADCAST].name, .mesh = m, .mdim = mdim,
             .bytes_in = nbytes, .bytes_out = nbytes, .meta = &io->m,
             .pair = { io, io }, .from = root, .root = root + 1 };
  DT_TRY(s->cx, check_root(s, m, mdim, root, "broadcast"));
  return coll_run(s, &k, io, io, move_broadcast);
}

/* The pieces of the root, one after the other. */
static DtStatus pack_pieces (DtSession *s, int n, DtTensor *const *in,
                             int64_t each, char **out) {
  char *buf = dt_alloc(s->cx, (size_t)(each * n) + 1);
  DtStatus st = DT_OK;
  if (buf == NULL) return DT_E_NOMEM;
  for (int i = 0; i < n && st == DT_OK; i++) {
    DtTensor *c;
    st = dt_mv_contiguous(s, in[i], &c);
    if (st != DT_OK) break;
    if (each > 0)
      memcpy(buf + each * i, dt_tensor_cdata(c), (size_t)each);
    dt_tensor_unref(s->cx, c);
  }
  if (st != DT_OK) dt_free(s->cx, buf);
  else *out = buf;
  return st;
}

DtStatus dt_coll_scatter (DtSession *s, const DtMesh *m, int mdim, int root,
                          int n, DtTensor *const *in, DtTensor *out) {
  DtCtx *cx = s->cx;
  DtStatus st;
  void *p = NULL;
  char *buf = NULL;
  bool mine = m->member && m->coord[mdim] == root;
  int64_t each = dt_meta_nbytes(&out->m);
  Coll k = { .name = names[C10D_SCATTER].name, .mesh = m, .mdim = mdim,
             .bytes_in = mine ? each * n : 0, .bytes_out = each,
             .meta = NULL, .pair = { out, out }, .root = root + 1 };
  DT_TRY(cx, check_root(s, m, mdim, root, "scatter"));
  st = coll_begin(s, &k, moves_data(s, out));
  if (st == DT_OK && moves_data(s, out)) {
    k.info.hash = dt_hash_u64(dt_hash_u64(DT_HASH_SEED, (uint64_t)each),
                              (uint64_t)root);
    st = out_ptr(s, out, &p);
    if (st == DT_OK && mine) st = pack_pieces(s, n, in, each, &buf);
    if (st == DT_OK)
      st = dt_comm_scatter(cx, k.group, &k.info, buf, (size_t)each, p, root);
    dt_free(cx, buf);
  }
  return k.n > 0 ? coll_end(s, &k, st) : st;
}
