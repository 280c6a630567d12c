/* SPDX-License-Identifier: MIT
** debug/dump_read.c: bytes as a record, with the sharing that was written.
** The reader trusts nothing: every count is checked against the bytes left.
**
** A text, mesh, spec or block that comes again is written as its number in a
** pool, 0 being the first time.  The numbers follow from the order of reading
** alone, so each reader below asks for its fields in the writer's order
** (dump_write.c), and what is read for its effect on the pools is never left out.
** After damage every reader goes on with zeros: `bad` is asked where a loop or
** an allocation depends on it, and once at the end. */
#include <stddef.h>
#include <string.h>
#include "debug/dump.h"

enum { MAX_POOL = 1 << 22, MAX_OPS = 1 << 20 };

typedef struct In {
  DtDebug *d;
  const unsigned char *p, *end;
  bool bad;
  const DtRecOp *made;          /* whose results are read, or NULL */
  const char **str; int nstr, capstr;
  DtMesh **mesh; int nmesh, capmesh;
  DtSpec **spec; int nspec, capspec;
  DtBlock **block; int nblock, capblock;
} In;

static size_t bytes_left (const In *in) { return (size_t)(in->end - in->p); }

static uint64_t r64 (In *in) {
  uint64_t v = 0;
  int i;
  if (bytes_left(in) < 8) { in->bad = true; in->p = in->end; return 0; }
  for (i = 0; i < 8; i++) v |= (uint64_t)in->p[i] << (8 * i);
  in->p += 8;
  return v;
}

/* A number: one byte below 255, or 255 and eight bytes. */
static int64_t rn (In *in) {
  if (bytes_left(in) < 1) { in->bad = true; return 0; }
  if (*in->p < 255) return *in->p++;
  in->p++;
  return (int64_t)r64(in);
}

static double rf (In *in) {
  uint64_t u = r64(in);
  double v;
  memcpy(&v, &u, sizeof v);
  return v;
}

/* A count of things of at least one byte each, at most `max`. */
static int rcount (In *in, int64_t max) {
  int64_t n = rn(in);
  if (n < 0 || n > max || (uint64_t)n > bytes_left(in)) {
    in->bad = true;
    return 0;
  }
  return (int)n;
}

static int rshort (In *in) {
  int64_t v = rn(in);
  if (v < INT32_MIN || v > INT32_MAX) { in->bad = true; return 0; }
  return (int)v;
}

/* Room for one more in a pool.  Called before the new entry is read: an
** entry without a place would leak what it holds. */
static bool grow_pool (In *in, void **v, int n, int *cap, size_t size) {
  void *more;
  int c;
  if (n < *cap) return true;
  c = *cap ? *cap * 2 : 64;
  more = c <= MAX_POOL ? dt_realloc(in->d->s->cx, *v, (size_t)c * size) : NULL;
  if (more == NULL) { in->bad = true; return false; }
  *v = more;
  *cap = c;
  return true;
}

/* A text, NULL where there was none.  It is interned: records keep pointers to
** texts, and the bytes are gone after reading. */
static const char *rstr (In *in) {
  int64_t k = rn(in), n;
  char *copy;
  const char *s;
  if (in->bad || k < 0 || k > in->nstr) { in->bad = true; return ""; }
  if (k > 0) return in->str[k - 1];
  n = rn(in);
  if (n == -1) return NULL;
  if (n < 0 || (uint64_t)n > bytes_left(in)) { in->bad = true; return ""; }
  if (!grow_pool(in, (void **)(void *)&in->str, in->nstr, &in->capstr,
                 sizeof *in->str)) return "";
  copy = dt_strndup(in->d->s->cx, (const char *)in->p, (size_t)n);
  s = copy ? dt_session_intern(in->d->s, copy) : NULL;
  dt_free(in->d->s->cx, copy);
  if (s == NULL) { in->bad = true; return ""; }
  in->p += n;
  in->str[in->nstr++] = s;
  return s;
}

static const char *rtext (In *in) {
  const char *s = rstr(in);
  return s ? s : "";
}

static void rmeta (In *in, DtMeta *m) {
  int i;
  memset(m, 0, sizeof *m);
  m->dtype = (uint8_t)rcount(in, DT_DTYPE_NONE - 1);
  m->device = (uint8_t)rn(in);
  m->wrapped = rn(in) != 0;
  m->ndim = (uint8_t)rcount(in, DT_MAX_NDIM);
  for (i = 0; i < m->ndim; i++) {
    m->shape[i] = rn(in);
    m->stride[i] = rn(in);
    if (m->shape[i] < 0 || m->stride[i] < 0) in->bad = true;
  }
}

/* A mesh of a record file. Everything is checked before it is made: as many
** ranks as the shape says, and no shape whose product could overflow. */
static DtMesh *new_mesh (In *in) {
  DtSession *s = in->d->s;
  const char *device = rtext(in), *name[DT_MAX_MDIM];
  int64_t shape[DT_MAX_MDIM], *ranks, numel = 1;
  int ndim = rcount(in, DT_MAX_MDIM), i, n;
  bool named = true;
  DtMesh *m = NULL;
  for (i = 0; i < ndim; i++) {
    shape[i] = rn(in);
    name[i] = rstr(in);
    named = named && name[i];
    numel = shape[i] > 0 && shape[i] < 1 << 21 ? numel * shape[i] : 0;
  }
  n = rcount(in, 1 << 20);
  if (in->bad || numel != n || n == 0) { in->bad = true; return NULL; }
  ranks = DT_NEWN(s->cx, int64_t, n);
  if (ranks == NULL) { in->bad = true; return NULL; }
  for (i = 0; i < n; i++) ranks[i] = rn(in);
  if (dt_mesh_new(s->cx, device, ndim, shape, ranks, named ? name : NULL,
                  s->comm->rank, s->comm->size, &m) != DT_OK) {
    dt_error_clear(s->cx);
    in->bad = true;
  }
  else {
    DtMeshRules rules = dt_mesh_rules(&s->profile);
    dt_mesh_print_as(m, &rules);
  }
  dt_free(s->cx, ranks);
  return m;
}

static DtMesh *rmesh (In *in) {
  int64_t k = rn(in);
  DtMesh *m;
  if (in->bad || k < 0 || k > in->nmesh) { in->bad = true; return NULL; }
  if (k > 0) return in->mesh[k - 1];
  if (!grow_pool(in, (void **)(void *)&in->mesh, in->nmesh, &in->capmesh,
                 sizeof *in->mesh)) return NULL;
  m = new_mesh(in);
  if (m) in->mesh[in->nmesh++] = m;
  return m;
}

/* The mask of a masked Partial is not written: what is left of it is a Partial
** with its operation. */
static DtPlacement rplacement (In *in) {
  DtPlacement p = dt_pl_replicate();
  p.kind = (uint8_t)rcount(in, DT_PL_NORM_PARTIAL);
  p.op = (uint8_t)rn(in);
  p.dim = (int16_t)rn(in);
  p.norm_is_int = rn(in) != 0;
  if (p.kind == DT_PL_STRIDED) p.u.sf = rn(in);
  else if (p.kind == DT_PL_NORM_PARTIAL) p.u.norm = rf(in);
  else if (p.kind == DT_PL_MASK_PARTIAL) p = dt_pl_partial((DtRedOp)p.op);
  return p;
}

static void rorder (In *in, DtShardOrder *o) {
  int i, k;
  memset(o, 0, sizeof *o);
  o->known = rn(in) != 0;
  o->n = (int8_t)rcount(in, DT_MAX_MDIM);
  for (i = 0; i < o->n; i++) {
    o->e[i].tdim = (int8_t)rn(in);
    o->e[i].n = (int8_t)rcount(in, DT_MAX_MDIM);
    for (k = 0; k < o->e[i].n; k++) o->e[i].mdims[k] = (int8_t)rn(in);
  }
}

/* A layout of a record file: dt_dump_sound_spec refuses what the engine could
** not have made, since the rest of the program takes a DtSpec at its word. */
static DtSpec *new_spec (In *in) {
  DtMesh *m = rmesh(in);
  DtPlacement pl[DT_MAX_MDIM];
  DtShardOrder order;
  DtMeta meta;
  int n = rcount(in, DT_MAX_MDIM), i;
  bool has_meta, has_order;
  int flag;
  DtSpec *s = NULL;
  for (i = 0; i < n; i++) pl[i] = rplacement(in);
  has_meta = rn(in) != 0;
  if (has_meta) rmeta(in, &meta);
  flag = rn(in) != 0;
  has_order = rn(in) != 0;
  if (has_order) rorder(in, &order);
  if (in->bad || m == NULL ||
      !dt_dump_sound_spec(m, n, pl, has_meta ? &meta : NULL,
                          has_order ? &order : NULL)) {
    in->bad = true;
    return NULL;
  }
  if (dt_spec_new(in->d->s->cx, m, n, pl, has_meta ? &meta : NULL,
                  has_order ? &order : NULL, flag, &s) != DT_OK) {
    dt_error_clear(in->d->s->cx);
    in->bad = true;
  }
  return s;
}

/* A reference of its own, NULL for a plain tensor. */
static DtSpec *rspec (In *in) {
  int64_t k = rn(in);
  DtSpec *s;
  if (k == -1) return NULL;
  if (in->bad || k < 0 || k > in->nspec) { in->bad = true; return NULL; }
  if (k > 0) return dt_spec_ref(in->spec[k - 1]);
  if (!grow_pool(in, (void **)(void *)&in->spec, in->nspec, &in->capspec,
                 sizeof *in->spec)) return NULL;
  s = new_spec(in);
  if (s == NULL) return NULL;
  in->spec[in->nspec++] = s;
  return dt_spec_ref(s);
}

/* What wplanes wrote. */
static void join_planes (unsigned char *to, const unsigned char *p, size_t n) {
  size_t k, i;
  for (k = 0; k < 4; k++)
    for (i = k; i < n; i += 4) to[i] = *p++;
}

/* What was guessed of these numbers is not in the file. */
static bool add_guess (In *in, void *data, size_t n) {
  DtCtx *cx = in->d->s->cx;
  float *guess = in->made ? DT_NEWN(cx, float, n) : NULL;
  bool known = guess != NULL && dt_dump_guess(in->made, guess, n);
  for (size_t i = 0; known && i < n; i++) {
    uint32_t rest, was;
    memcpy(&rest, (char *)data + i * sizeof rest, sizeof rest);
    memcpy(&was, &guess[i], sizeof was);
    rest += was;
    memcpy((char *)data + i * sizeof rest, &rest, sizeof rest);
  }
  dt_free(cx, guess);
  return known;
}

/* Bytes of one storage. A negative length marks floats that are stored as
** differences from a guess (add_guess). Four-byte values are stored by
** planes, all first bytes first, as these compress better.  Made by way of a
** tensor, since only that gives a block with aligned data; the snapshot's
** reference outlives it and is the pool's. */
static DtBlock *new_block (In *in) {
  DtCtx *cx = in->d->s->cx;
  int64_t given = rn(in), n = given < 0 && given >= -INT64_MAX ? -given : given;
  int64_t bytes = n;
  DtMeta m;
  DtTensor *t = NULL;
  DtBlock *b = NULL;
  void *p = NULL;
  if (in->bad || n < 0 || (uint64_t)n > bytes_left(in) ||
      dt_meta_init(cx, &m, DT_U8, 1, &bytes) != DT_OK ||
      dt_tensor_new(cx, &m, false, &t) != DT_OK) {
    in->bad = true;
    return NULL;
  }
  if (dt_tensor_data(cx, t, &p) == DT_OK && n > 0) {
    if (n % 4 == 0) join_planes((unsigned char *)p, in->p, (size_t)n);
    else memcpy(p, in->p, (size_t)n);
  }
  if (given < 0 && (p == NULL || n % 4 != 0 || !add_guess(in, p, (size_t)n / 4)))
    in->bad = true;
  in->p += n;
  if (dt_block_snapshot(cx, t->storage, &b) != DT_OK) in->bad = true;
  dt_tensor_unref(cx, t);
  return b;
}

/* A reference of its own, NULL without values.  The record's cost counts a block
** once, when the first variable keeps it. */
static DtBlock *rblock (In *in) {
  int64_t k = rn(in);
  DtBlock *b;
  if (k == -1) return NULL;
  if (in->bad || k < 0 || k > in->nblock) { in->bad = true; return NULL; }
  if (k == 0) {
    if (!grow_pool(in, (void **)(void *)&in->block, in->nblock, &in->capblock,
                   sizeof *in->block)) return NULL;
    b = new_block(in);
    if (b == NULL) return NULL;
    in->block[in->nblock++] = b;
  } else b = in->block[k - 1];
  b->refs++;
  if (b->kept++ == 0) in->d->rec.kept += dt_record_cost(b);
  return b;
}

/* A recorded tensor. A damaged length sets `bad` and leaves an empty tensor,
** so that the caller may go on and fail once, at the end of the row. */
static void rvar (In *in, DtArena *a, DtRecVar *v) {
  DtMeta *meta;
  int64_t *lay;
  int i;
  memset(v, 0, sizeof *v);
  v->meta = &dt_record_none;
  v->none = rn(in) != 0;
  if (v->none || in->bad) { v->none = true; return; }
  v->id = rn(in);
  v->spec = rspec(in);
  meta = DT_ANEWN(in->d->s->cx, a, DtMeta, 1);
  if (meta == NULL) { in->bad = true; return; }
  rmeta(in, meta);
  v->meta = meta;
  v->origin.seq = rn(in);
  v->origin.file = rtext(in);
  v->origin.line = rshort(in);
  v->origin.op = rtext(in);
  v->name = rstr(in);
  v->param = rn(in) != 0;
  v->needs_grad = rn(in) != 0;
  v->lndim = rcount(in, DT_MAX_NDIM);
  lay = DT_ANEWN(in->d->s->cx, a, int64_t, 2 * v->lndim + 1);
  if (lay == NULL) { in->bad = true; v->lndim = 0; return; }
  for (i = 0; i < v->lndim; i++) {
    lay[i] = rn(in);
    lay[v->lndim + i] = rn(in);
    if (lay[i] < 0 || lay[v->lndim + i] < 0) in->bad = true;
  }
  v->lshape = lay;
  v->lstride = lay + v->lndim;
  v->offset = rn(in);
  v->storage = rn(in);
  v->version = rn(in);
  v->block = rblock(in);
}

/* *n is never behind what holds references: a record that ends here is dropped,
** which gives back those of n variables. */
static DtRecVar *rvars (In *in, DtArena *a, int *n) {
  DtRecVar *v;
  int i, count = rcount(in, 1 << 16);
  *n = 0;
  v = DT_ANEWN(in->d->s->cx, a, DtRecVar, count + 1);
  if (v == NULL) { in->bad = true; return NULL; }
  for (i = 0; i < count && !in->bad; i++) { rvar(in, a, &v[i]); *n = i + 1; }
  return v;
}

/* An argument; lists nest at most eight deep, as they do when they are
** recorded, so a damaged file cannot use up the stack. */
static void rvalue (In *in, DtArena *a, DtValue *v, int depth) {
  int i, n;
  memset(v, 0, sizeof *v);
  v->kind = (uint8_t)rcount(in, DT_V_GENERATOR);
  switch (v->kind) {
    case DT_V_NONE: case DT_V_GENERATOR: break;
    case DT_V_BOOL: v->u.b = rn(in) != 0; break;
    case DT_V_FLOAT: v->u.f = rf(in); break;
    case DT_V_COMPLEX: v->u.c[0] = rf(in); v->u.c[1] = rf(in); break;
    case DT_V_STR: v->u.s = rtext(in); break;
    case DT_V_TENSOR: v->u.slot = rshort(in); break;
    case DT_V_LIST:
      n = depth < 8 ? rcount(in, 1 << 16) : -1;
      v->u.list.v = n >= 0 ? DT_ANEWN(in->d->s->cx, a, DtValue, n + 1) : NULL;
      if (v->u.list.v == NULL) { in->bad = true; v->kind = DT_V_NONE; return; }
      v->u.list.n = n;
      for (i = 0; i < n && !in->bad; i++)
        rvalue(in, a, &v->u.list.v[i], depth + 1);
      break;
    default: v->u.i = rn(in);
  }
}

/* An operator this build does not have is shown by its name alone. */
static void rargs (In *in, DtRecOp *r) {
  DtSession *s = in->d->s;
  int i;
  r->op = dt_registry_find(s->cx, s->registry, r->label);
  dt_error_clear(s->cx);
  r->args.n = rcount(in, DT_MAX_ARGS);
  r->args.npos = rshort(in);
  r->args.given = (uint32_t)rn(in);
  r->args.nslots = rshort(in);
  for (i = 0; i < r->args.n; i++) rvalue(in, &r->arena, &r->args.v[i], 0);
  if (r->op && (r->op->sig == NULL || r->op->sig->nargs != r->args.n ||
                r->args.npos < 0 || r->args.npos > r->args.n)) r->op = NULL;
  if (r->op) r->args.schema = r->op->sig;
}

static void rcolls (In *in, DtRecOp *r) {
  int i, n = rcount(in, 1 << 20);
  r->coll = DT_ANEWN(in->d->s->cx, &r->arena, DtRecColl, n + 1);
  if (r->coll == NULL) { in->bad = true; return; }
  r->ncoll = r->maxcoll = n;
  for (i = 0; i < n; i++) {
    DtRecColl *c = &r->coll[i];
    c->coll = rtext(in); c->reduce = rstr(in); c->mdim = rtext(in);
    c->ngroup = rshort(in); c->bytes_in = rn(in); c->bytes_out = rn(in);
    c->implicit = rn(in) != 0; c->slot = rshort(in);
  }
}

static void rmoves (In *in, DtRecOp *r) {
  int i, n = rcount(in, 1 << 16);
  r->move = DT_ANEWN(in->d->s->cx, &r->arena, DtRecMove, n + 1);
  if (r->move == NULL) { in->bad = true; return; }
  for (i = 0; i < n && !in->bad; i++) {
    DtRecMove *m = &r->move[i];
    r->nmove = r->maxmove = i + 1;      /* before, as in rvars */
    m->src = rspec(in); m->dst = rspec(in); m->slot = rshort(in);
    m->implicit = rn(in) != 0; m->graph = rn(in) != 0; m->nsteps = rshort(in);
    m->bytes = rn(in); m->coll = rshort(in); m->ncoll = rshort(in);
    if (m->src == NULL || m->dst == NULL) in->bad = true;
  }
}

static void rraw (In *in, DtRecOp *r) {
  DtRecRaw *w = DT_ANEWN(in->d->s->cx, &r->arena, DtRecRaw, 1);
  int64_t *split;
  int i;
  if (w == NULL) { in->bad = true; return; }
  w->kind = rtext(in); w->reduce = rstr(in); w->mesh = rmesh(in);
  w->mdim = rshort(in); w->dim = rshort(in); w->dim2 = rshort(in);
  w->root = rshort(in); w->nsplit = rcount(in, 1 << 20);
  split = DT_ANEWN(in->d->s->cx, &r->arena, int64_t, 2 * w->nsplit + 1);
  if (split == NULL || w->mesh == NULL) { in->bad = true; return; }
  for (i = 0; i < w->nsplit; i++) {
    split[i] = rn(in);
    split[w->nsplit + i] = rn(in);
  }
  w->in_split = split;
  w->out_split = split + w->nsplit;
  w->mesh = dt_mesh_ref(w->mesh);
  r->raw = w;
}

static void rdraw (In *in, DtRecOp *r) {
  DtRecDraw *g = DT_ANEWN(in->d->s->cx, &r->arena, DtRecDraw, 1);
  if (g == NULL) { in->bad = true; return; }
  g->seed = (uint64_t)rn(in); g->at = (uint64_t)rn(in);
  g->pair = (uint64_t)rn(in); g->end = (uint64_t)rn(in);
  g->end_pair = (uint64_t)rn(in);
  r->draw = g;
}

/* A status by its id, which stays when rows are added; none is DT_OK. */
static DtStatus rstatus (In *in) {
  const char *id = rstr(in);
  DtStatus st = id != NULL ? dt_error_find(id) : DT_OK;
  if (id != NULL && st == DT_OK) in->bad = true;
  return st;
}

/* One row of the record, in the order in which wop() writes it: whoever
** changes one changes the other and the number of the format. */
static void rop (In *in, DtRecOp *r) {
  bool has_op;
  int64_t done;
  const char *error;
  r->seq = rn(in); r->label = rtext(in);
  has_op = rn(in) != 0;
  r->file = rtext(in); r->line = rshort(in); r->module = rtext(in);
  r->scope = rtext(in); r->func = rtext(in); r->from = rn(in);
  r->backward = rn(in) != 0; r->hit = rn(in) != 0;
  done = rn(in);
  r->done = (done & 1) != 0;
  r->shown = (uint32_t)(done >> 1);
  r->st = rstatus(in);
  r->depth = rshort(in); r->via = (DtPropVia)rcount(in, DT_VIA_USER);
  r->cost = rf(in);
  error = rstr(in);
  r->error = error;
  r->reason = rstr(in);
  if (has_op) rargs(in, r);
  r->in = rvars(in, &r->arena, &r->nin);
  in->made = has_op ? r : NULL;
  r->out = rvars(in, &r->arena, &r->nout);
  in->made = NULL;
  rcolls(in, r);
  if (!in->bad) rmoves(in, r);
  switch (in->bad ? 0 : rcount(in, 2)) {
    case 1: rraw(in, r); break;
    case 2: rdraw(in, r); break;
    default: break;
  }
  if (!in->bad && !dt_dump_sound(r)) in->bad = true;
}

static void rsources (In *in, const DtDumpSources *s) {
  int i, n = rcount(in, 1 << 16);
  for (i = 0; i < n && !in->bad; i++) {
    const char *name = rtext(in);
    int64_t len = rn(in);
    if (len < 0 || (uint64_t)len > bytes_left(in)) { in->bad = true; return; }
    if (s && len > 0) s->put(s->ud, name, (const char *)in->p, (size_t)len);
    in->p += len;
  }
}

static void rnames (In *in) {
  int i, n = rcount(in, 1 << 26);
  for (i = 0; i < n && !in->bad; i++) {
    int64_t seq = rn(in);
    const char *scope = rtext(in), *name = rtext(in);
    dt_record_bind(in->d, seq, scope, name, rn(in));
  }
}

/* Where the annex lies. */
static void rannex (In *in, const unsigned char **p, size_t *n) {
  int64_t len = rn(in);
  if (in->bad || len < 0 || (uint64_t)len > bytes_left(in)) {
    in->bad = true;
    return;
  }
  *p = in->p;
  *n = (size_t)len;
  in->p += len;
}

static void pools_free (In *in) {
  DtCtx *cx = in->d->s->cx;
  int i;
  for (i = 0; i < in->nspec; i++) dt_spec_unref(cx, in->spec[i]);
  for (i = 0; i < in->nmesh; i++) dt_mesh_unref(cx, in->mesh[i]);
  for (i = 0; i < in->nblock; i++) dt_block_unref(cx, in->block[i]);
  dt_free(cx, in->str);
  dt_free(cx, in->spec);
  dt_free(cx, in->mesh);
  dt_free(cx, in->block);
}

/* Tensors made from now on, those looked at in the past among them, are none
** of the record's.  INT64_MAX / 2: a damaged id must not leave the counter
** without room. */
static void pass_ids (DtSession *s, const DtRecVar *v, int n) {
  for (int i = 0; i < n; i++)
    if (v[i].id > s->next_var_id && v[i].id < INT64_MAX / 2)
      s->next_var_id = v[i].id;
}

DtStatus dt_dump_read (DtDebug *d, const DtDumpSources *s, const char *p,
                       size_t n) {
  DtCtx *cx = d->s->cx;
  In in = { .d = d, .p = (const unsigned char *)p,
            .end = (const unsigned char *)p + n };
  DtRecord old;
  const unsigned char *annex = NULL;
  size_t nannex = 0;
  DtStatus st;
  int i, count;
  rsources(&in, s);
  count = rcount(&in, MAX_OPS);
  if (in.bad) {
    pools_free(&in);
    dt_error_clear(cx);
    return dt_raise(cx, DT_E_IO, "the record is damaged");
  }
  st = dt_record_take(d, count > 16 ? count : 16, &old);
  if (st != DT_OK) {
    pools_free(&in);
    return st;
  }
  d->rec.limit = INT64_MAX;
  for (i = 0; i < count && !in.bad; i++) {      /* counted first, then read */
    DtRecOp *r = &d->rec.ring[i];
    dt_arena_reserve(cx, &r->arena, 2048);
    d->rec.n = i + 1;
    d->rec.total = i + 1;
    d->rec.head = (i + 1) % d->rec.cap;
    rop(&in, r);
  }
  if (!in.bad) rnames(&in);
  if (!in.bad) rannex(&in, &annex, &nannex);
  pools_free(&in);
  if (in.bad || in.p != in.end) {       /* bytes left over are damage, too */
    dt_record_give(d, &old);
    dt_error_clear(cx);
    return dt_raise(cx, DT_E_IO, "the record is damaged");
  }
  dt_record_drop(d, &old);
  for (i = 0; i < count; i++) {
    pass_ids(d->s, d->rec.ring[i].in, d->rec.ring[i].nin);
    pass_ids(d->s, d->rec.ring[i].out, d->rec.ring[i].nout);
  }
  d->rec.off = true;
  if (s) s->put_annex(s->ud, (const char *)annex, nannex);
  return DT_OK;
}
