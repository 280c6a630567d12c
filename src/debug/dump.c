/* SPDX-License-Identifier: MIT
** debug/dump.c: write a record, read it back.
**
** Strings, meshes, specs and blocks occur many times: each is written where it
** is met first and called by its number afterwards, so a file is as small as
** the record is in memory, and reading makes the same sharing again.  The
** reader trusts nothing: every count is checked against the bytes left. */
#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include "base/hash.h"
#include "base/map.h"
#include "debug/dump.h"

static const char magic[16] = "dtrepl-record\n\0";

enum { MAX_POOL = 1 << 22, MAX_OPS = 1 << 20, HEAD = sizeof magic + 16 };

/* --- writing --- */

typedef struct Pool { DtMap map; int n; } Pool;

typedef struct Out {
  DtDebug *d;
  DtBuf *b;
  bool values;
  Pool str, mesh, spec, block;
} Out;

static void w64 (Out *o, uint64_t v) {
  char c[8];
  int i;
  for (i = 0; i < 8; i++) c[i] = (char)(v >> (8 * i) & 255);
  dt_buf_addn(o->b, c, 8);
}

/* Small numbers in one byte, others in nine. */
static void wn (Out *o, int64_t v) {
  if (v >= 0 && v < 255) dt_buf_addc(o->b, (char)v);
  else { dt_buf_addc(o->b, (char)255); w64(o, (uint64_t)v); }
}

static void wf (Out *o, double v) {
  uint64_t u;
  memcpy(&u, &v, sizeof u);
  w64(o, u);
}

static bool eq_ptr (const void *a, const void *b) { return a == b; }

/* Number of `key`, from 1; 0 written first when it is new (true). */
static bool pooled (Out *o, Pool *p, const void *key, uint64_t hash) {
  void *v = dt_map_get(&p->map, hash, key);
  if (v) { wn(o, (int64_t)(intptr_t)v); return false; }
  p->n++;
  if (dt_map_put(&p->map, hash, key, (void *)(intptr_t)p->n) != DT_OK)
    o->b->oom = true;
  wn(o, 0);
  return true;
}

static uint64_t ptr_hash (const void *p) {
  return dt_hash_u64(DT_HASH_SEED, (uint64_t)(uintptr_t)p);
}

/* NULL is written as the empty text with number 0 and length -1. */
static void wstr (Out *o, const char *s) {
  if (s == NULL) { wn(o, 0); wn(o, -1); return; }
  if (!pooled(o, &o->str, s, dt_hash_str(DT_HASH_SEED, s))) return;
  wn(o, (int64_t)strlen(s));
  dt_buf_add(o->b, s);
}

static void wmeta (Out *o, const DtMeta *m) {
  int i;
  wn(o, m->dtype); wn(o, m->device); wn(o, m->wrapped);
  wn(o, m->ndim);
  for (i = 0; i < m->ndim; i++) { wn(o, m->shape[i]); wn(o, m->stride[i]); }
}

static void wmesh (Out *o, const DtMesh *m) {
  DtCtx *cx = o->d->s->cx;
  int64_t n = dt_mesh_size(m), i;
  int64_t *ranks;
  if (!pooled(o, &o->mesh, m, ptr_hash(m))) return;
  ranks = DT_NEWN(cx, int64_t, n + 1);
  if (ranks == NULL) { o->b->oom = true; return; }
  dt_mesh_ranks(m, ranks);
  wstr(o, m->device_name);
  wn(o, m->ndim);
  for (i = 0; i < m->ndim; i++) { wn(o, m->shape[i]); wstr(o, m->name[i]); }
  wn(o, n);
  for (i = 0; i < n; i++) wn(o, ranks[i]);
  dt_free(cx, ranks);
}

static void wplacement (Out *o, DtPlacement p) {
  wn(o, p.kind); wn(o, p.op); wn(o, p.dim); wn(o, p.norm_is_int);
  if (p.kind == DT_PL_STRIDED) wn(o, p.u.sf);
  else if (p.kind == DT_PL_NORM_PARTIAL) wf(o, p.u.norm);
}

static void wspec (Out *o, const DtSpec *s) {
  int i, k;
  if (s == NULL) { wn(o, -1); return; }
  if (!pooled(o, &o->spec, s, ptr_hash(s))) return;
  wmesh(o, s->mesh);
  wn(o, s->npl);
  for (i = 0; i < s->npl; i++) wplacement(o, s->pl[i]);
  wn(o, s->has_meta);
  if (s->has_meta) wmeta(o, &s->meta);
  wn(o, s->strided_is_order);
  wn(o, s->order != NULL);
  if (s->order == NULL) return;
  wn(o, s->order->known); wn(o, s->order->n);
  for (i = 0; i < s->order->n; i++) {
    wn(o, s->order->e[i].tdim); wn(o, s->order->e[i].n);
    for (k = 0; k < s->order->e[i].n; k++) wn(o, s->order->e[i].mdims[k]);
  }
}

static void wblock (Out *o, const DtBlock *b) {
  if (b == NULL || !o->values) { wn(o, -1); return; }
  if (!pooled(o, &o->block, b, ptr_hash(b))) return;
  wn(o, (int64_t)b->nbytes);
  dt_buf_addn(o->b, (const char *)b->data, b->nbytes);
}

static void wvar (Out *o, const DtRecVar *v) {
  int i;
  wn(o, v->none);
  if (v->none) return;
  wn(o, v->id); wspec(o, v->spec); wmeta(o, v->meta);
  wn(o, v->origin.seq); wstr(o, v->origin.file); wn(o, v->origin.line);
  wstr(o, v->origin.op); wstr(o, v->name);
  wn(o, v->param); wn(o, v->needs_grad);
  wn(o, v->lndim);
  for (i = 0; i < v->lndim; i++) { wn(o, v->lshape[i]); wn(o, v->lstride[i]); }
  wn(o, v->offset); wn(o, v->storage); wn(o, v->version);
  wblock(o, v->block);
}

static void wvalue (Out *o, const DtValue *v) {
  int i;
  wn(o, v->kind);
  switch (v->kind) {
    case DT_V_NONE: case DT_V_GENERATOR: break;
    case DT_V_BOOL: wn(o, v->u.b); break;
    case DT_V_FLOAT: wf(o, v->u.f); break;
    case DT_V_COMPLEX: wf(o, v->u.c[0]); wf(o, v->u.c[1]); break;
    case DT_V_STR: wstr(o, v->u.s); break;
    case DT_V_TENSOR: wn(o, v->u.slot); break;
    case DT_V_LIST:
      wn(o, v->u.list.n);
      for (i = 0; i < v->u.list.n; i++) wvalue(o, &v->u.list.v[i]);
      break;
    default: wn(o, v->u.i);
  }
}

static void wop (Out *o, const DtRecOp *r) {
  int i;
  wn(o, r->seq); wstr(o, r->label);
  wn(o, r->op != NULL);
  wstr(o, r->file); wn(o, r->line); wstr(o, r->module); wstr(o, r->scope);
  wstr(o, r->func); wn(o, r->from);
  wn(o, r->backward); wn(o, r->hit); wn(o, r->done); wn(o, (int64_t)r->st);
  wn(o, r->depth); wn(o, (int64_t)r->via); wf(o, r->cost); wstr(o, r->error);
  if (r->op) {
    wn(o, r->args.n); wn(o, r->args.npos); wn(o, r->args.given);
    wn(o, r->args.nslots);
    for (i = 0; i < r->args.n; i++) wvalue(o, &r->args.v[i]);
  }
  wn(o, r->nin); for (i = 0; i < r->nin; i++) wvar(o, &r->in[i]);
  wn(o, r->nout); for (i = 0; i < r->nout; i++) wvar(o, &r->out[i]);
  wn(o, r->ncoll);
  for (i = 0; i < r->ncoll; i++) {
    const DtRecColl *c = &r->coll[i];
    wstr(o, c->coll); wstr(o, c->reduce); wstr(o, c->mdim); wn(o, c->ngroup);
    wn(o, c->bytes_in); wn(o, c->bytes_out); wn(o, c->implicit);
    wn(o, c->slot);
  }
  wn(o, r->nmove);
  for (i = 0; i < r->nmove; i++) {
    const DtRecMove *m = &r->move[i];
    wspec(o, m->src); wspec(o, m->dst); wn(o, m->slot); wn(o, m->implicit);
    wn(o, m->graph); wn(o, m->nsteps); wn(o, m->bytes); wn(o, m->coll);
    wn(o, m->ncoll);
  }
}

static void wsources (Out *o, const DtDumpSources *s) {
  DtCtx *cx = o->d->s->cx;
  DtMap seen;
  DtMapEntry *e;
  DtBuf text;
  int32_t it = 0;
  int i;
  dt_map_init(&seen, cx, NULL);
  dt_buf_init(&text, cx);
  for (i = 0; i < o->d->rec.n; i++) {
    const DtRecOp *r = dt_record_at(o->d, i);
    if (r->file && *r->file && dt_map_put_str(&seen, r->file,
        (void *)(uintptr_t)r->file) != DT_OK) o->b->oom = true;
  }
  wn(o, s ? dt_map_count(&seen) : 0);
  while (s && (e = dt_map_next(&seen, &it)) != NULL) {
    dt_buf_clear(&text);
    wstr(o, (const char *)e->value);
    if (!s->get(s->ud, (const char *)e->value, &text)) dt_buf_clear(&text);
    wn(o, (int64_t)text.len);
    dt_buf_addn(o->b, dt_buf_str(&text), text.len);
  }
  dt_buf_fini(&text);
  dt_map_fini(&seen);
}

static void wannex (Out *o, const DtDumpSources *s) {
  DtBuf text;
  dt_buf_init(&text, o->d->s->cx);
  if (s) s->annex(s->ud, &text);
  wn(o, (int64_t)text.len);
  dt_buf_addn(o->b, dt_buf_str(&text), text.len);
  if (text.oom) o->b->oom = true;
  dt_buf_fini(&text);
}

DtStatus dt_dump_write (DtDebug *d, const DtDumpSources *s, bool values,
                        DtBuf *out) {
  DtCtx *cx = d->s->cx;
  Out o = { .d = d, .b = out, .values = values };
  int i;
  dt_map_init(&o.str.map, cx, NULL);
  dt_map_init(&o.mesh.map, cx, eq_ptr);
  dt_map_init(&o.spec.map, cx, eq_ptr);
  dt_map_init(&o.block.map, cx, eq_ptr);
  wsources(&o, s);
  wn(&o, d->rec.n);
  for (i = d->rec.n - 1; i >= 0; i--) wop(&o, dt_record_at(d, i));
  wn(&o, d->rec.nname);
  for (i = 0; i < d->rec.nname; i++) {
    const DtRecName *n = &d->rec.name[i];
    wn(&o, n->seq); wstr(&o, n->scope); wstr(&o, n->name); wn(&o, n->var);
  }
  wannex(&o, s);
  dt_map_fini(&o.str.map);
  dt_map_fini(&o.mesh.map);
  dt_map_fini(&o.spec.map);
  dt_map_fini(&o.block.map);
  if (out->oom) dt_error_clear(cx);
  return out->oom ? dt_raise(cx, DT_E_NOMEM, "no memory to write the record")
                  : DT_OK;
}

/* --- reading --- */

typedef struct In {
  DtDebug *d;
  const unsigned char *p, *end;
  bool bad;
  const char **str; int nstr, capstr;
  DtMesh **mesh; int nmesh, capmesh;
  DtSpec **spec; int nspec, capspec;
  DtBlock **block; int nblock, capblock;
} In;

static size_t left (const In *in) { return (size_t)(in->end - in->p); }

static uint64_t r64 (In *in) {
  uint64_t v = 0;
  int i;
  if (left(in) < 8) { in->bad = true; in->p = in->end; return 0; }
  for (i = 0; i < 8; i++) v |= (uint64_t)in->p[i] << (8 * i);
  in->p += 8;
  return v;
}

static int64_t rn (In *in) {
  if (left(in) < 1) { in->bad = true; return 0; }
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
  if (n < 0 || n > max || (uint64_t)n > left(in)) { in->bad = true; return 0; }
  return (int)n;
}

static int rshort (In *in) {
  int64_t v = rn(in);
  if (v < INT32_MIN || v > INT32_MAX) { in->bad = true; return 0; }
  return (int)v;
}

/* Room for one more in a pool. */
static bool grow (In *in, void **v, int n, int *cap, size_t size) {
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

static const char *rstr (In *in) {
  int64_t k = rn(in), n;
  char *copy;
  const char *s;
  if (in->bad || k < 0 || k > in->nstr) { in->bad = true; return ""; }
  if (k > 0) return in->str[k - 1];
  n = rn(in);
  if (n == -1) return NULL;
  if (n < 0 || (uint64_t)n > left(in)) { in->bad = true; return ""; }
  if (!grow(in, (void **)(void *)&in->str, in->nstr, &in->capstr,
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
  dt_free(s->cx, ranks);
  return m;
}

static DtMesh *rmesh (In *in) {
  int64_t k = rn(in);
  DtMesh *m;
  if (in->bad || k < 0 || k > in->nmesh) { in->bad = true; return NULL; }
  if (k > 0) return in->mesh[k - 1];
  if (!grow(in, (void **)(void *)&in->mesh, in->nmesh, &in->capmesh,
            sizeof *in->mesh)) return NULL;
  m = new_mesh(in);
  if (m) in->mesh[in->nmesh++] = m;
  return m;
}

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
  if (in->bad || m == NULL) { in->bad = true; return NULL; }
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
  if (!grow(in, (void **)(void *)&in->spec, in->nspec, &in->capspec,
            sizeof *in->spec)) return NULL;
  s = new_spec(in);
  if (s == NULL) return NULL;
  in->spec[in->nspec++] = s;
  return dt_spec_ref(s);
}

static DtBlock *new_block (In *in) {
  DtCtx *cx = in->d->s->cx;
  int64_t n = rn(in), bytes = n;
  DtMeta m;
  DtTensor *t = NULL;
  DtBlock *b = NULL;
  void *p = NULL;
  if (in->bad || n < 0 || (uint64_t)n > left(in) ||
      dt_meta_init(cx, &m, DT_U8, 1, &bytes) != DT_OK ||
      dt_tensor_new(cx, &m, false, &t) != DT_OK) {
    in->bad = true;
    return NULL;
  }
  if (dt_tensor_data(cx, t, &p) == DT_OK && n > 0) memcpy(p, in->p, (size_t)n);
  in->p += n;
  if (dt_block_snapshot(cx, t->storage, &b) != DT_OK) in->bad = true;
  dt_tensor_unref(cx, t);
  return b;
}

static DtBlock *rblock (In *in) {
  int64_t k = rn(in);
  DtBlock *b;
  if (k == -1) return NULL;
  if (in->bad || k < 0 || k > in->nblock) { in->bad = true; return NULL; }
  if (k == 0) {
    if (!grow(in, (void **)(void *)&in->block, in->nblock, &in->capblock,
              sizeof *in->block)) return NULL;
    b = new_block(in);
    if (b == NULL) return NULL;
    in->block[in->nblock++] = b;
  } else b = in->block[k - 1];
  b->refs++;
  if (b->kept++ == 0) in->d->rec.kept += (int64_t)b->nbytes;
  return b;
}

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

static DtRecVar *rvars (In *in, DtArena *a, int *n) {
  DtRecVar *v;
  int i, count = rcount(in, 1 << 16);
  *n = 0;
  v = DT_ANEWN(in->d->s->cx, a, DtRecVar, count + 1);
  if (v == NULL) { in->bad = true; return NULL; }
  for (i = 0; i < count && !in->bad; i++) { rvar(in, a, &v[i]); *n = i + 1; }
  return v;
}

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
    r->nmove = r->maxmove = i + 1;
    m->src = rspec(in); m->dst = rspec(in); m->slot = rshort(in);
    m->implicit = rn(in) != 0; m->graph = rn(in) != 0; m->nsteps = rshort(in);
    m->bytes = rn(in); m->coll = rshort(in); m->ncoll = rshort(in);
    if (m->src == NULL || m->dst == NULL) in->bad = true;
  }
}

static void rop (In *in, DtRecOp *r) {
  bool has_op;
  const char *error;
  r->seq = rn(in); r->label = rtext(in);
  has_op = rn(in) != 0;
  r->file = rtext(in); r->line = rshort(in); r->module = rtext(in);
  r->scope = rtext(in); r->func = rtext(in); r->from = rn(in);
  r->backward = rn(in) != 0; r->hit = rn(in) != 0; r->done = rn(in) != 0;
  r->st = (DtStatus)rcount(in, DT_E_COUNT - 1);
  r->depth = rshort(in); r->via = (DtPropVia)rcount(in, DT_VIA_USER);
  r->cost = rf(in);
  error = rstr(in);
  r->error = error;
  if (has_op) rargs(in, r);
  r->in = rvars(in, &r->arena, &r->nin);
  r->out = rvars(in, &r->arena, &r->nout);
  rcolls(in, r);
  if (!in->bad) rmoves(in, r);
}

static void rsources (In *in, const DtDumpSources *s) {
  int i, n = rcount(in, 1 << 16);
  for (i = 0; i < n && !in->bad; i++) {
    const char *name = rtext(in);
    int64_t len = rn(in);
    if (len < 0 || (uint64_t)len > left(in)) { in->bad = true; return; }
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
  if (in->bad || len < 0 || (uint64_t)len > left(in)) {
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

DtStatus dt_dump_read (DtDebug *d, const DtDumpSources *s, const char *p,
                       size_t n) {
  DtCtx *cx = d->s->cx;
  In in = { .d = d, .p = (const unsigned char *)p,
            .end = (const unsigned char *)p + n };
  DtRecord old;
  const unsigned char *annex = NULL;
  size_t nannex = 0;
  int i, count;
  rsources(&in, s);
  count = rcount(&in, MAX_OPS);
  if (in.bad)
    return dt_raise(cx, DT_E_IO, "the record is damaged");
  DT_TRY(cx, dt_record_take(d, count > 16 ? count : 16, &old));
  d->rec.limit = INT64_MAX;
  for (i = 0; i < count && !in.bad; i++) {
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
  if (in.bad || in.p != in.end) {
    dt_record_give(d, &old);
    dt_error_clear(cx);
    return dt_raise(cx, DT_E_IO, "the record is damaged");
  }
  dt_record_drop(d, &old);
  d->rec.off = true;
  if (s) s->put_annex(s->ud, (const char *)annex, nannex);
  return DT_OK;
}

/* --- files --- */

size_t dt_dump_head_size (int ranks) {
  return HEAD + (size_t)ranks * 24;
}

static void add_u (DtBuf *b, uint64_t v, int bytes) {
  int i;
  for (i = 0; i < bytes; i++) dt_buf_addc(b, (char)(v >> (8 * i) & 255));
}

void dt_dump_head (DtBuf *out, int ranks, int world, const uint64_t *len,
                   const uint64_t *hash) {
  uint64_t at = dt_dump_head_size(ranks);
  int r;
  dt_buf_addn(out, magic, sizeof magic);
  add_u(out, DT_DUMP_VERSION, 4);
  add_u(out, (uint64_t)ranks, 4);
  add_u(out, (uint64_t)world, 4);
  add_u(out, 0, 4);
  for (r = 0; r < ranks; r++) {
    add_u(out, at, 8);
    add_u(out, len[r], 8);
    add_u(out, hash[r], 8);
    at += len[r];
  }
}

uint64_t dt_dump_hash (const char *p, size_t n) {
  return dt_hash_bytes(DT_HASH_SEED, p, n);
}

static uint64_t get_u (const unsigned char *p, int bytes) {
  uint64_t v = 0;
  int i;
  for (i = 0; i < bytes; i++) v |= (uint64_t)p[i] << (8 * i);
  return v;
}

static DtStatus open_file (DtCtx *cx, const char *path, FILE **f,
                           int *ranks, int *world) {
  unsigned char head[HEAD];
  size_t n;
  uint64_t version;
  *f = fopen(path, "rb");
  DT_CHECK(cx, *f != NULL, DT_E_IO, "cannot read %s: %s", path,
           strerror(errno));
  n = fread(head, 1, sizeof head, *f);
  if (n < sizeof magic || memcmp(head, magic, sizeof magic) != 0) {
    fclose(*f);
    return dt_raise(cx, DT_E_IO, "%s is no record of dtrepl", path);
  }
  version = n == sizeof head ? get_u(head + sizeof magic, 4) : 0;
  if (n == sizeof head && version != DT_DUMP_VERSION) {
    fclose(*f);
    return dt_raise(cx, DT_E_IO, "%s is a record of version %llu; this "
                    "program reads version %d", path,
                    (unsigned long long)version, (int)DT_DUMP_VERSION);
  }
  *ranks = n == sizeof head ? (int)get_u(head + sizeof magic + 4, 4) : 0;
  *world = n == sizeof head ? (int)get_u(head + sizeof magic + 8, 4) : 0;
  if (*ranks <= 0 || *ranks > 1 << 20 || *world < *ranks ||
      *world > 1 << 20) {
    fclose(*f);
    return dt_raise(cx, DT_E_IO, "%s is cut short", path);
  }
  return DT_OK;
}

DtStatus dt_dump_peek (DtCtx *cx, const char *path, int *ranks, int *world) {
  FILE *f;
  DT_TRY(cx, open_file(cx, path, &f, ranks, world));
  fclose(f);
  return DT_OK;
}

DtStatus dt_dump_part (DtCtx *cx, const char *path, int rank, char **p,
                       size_t *n) {
  unsigned char row[24];
  FILE *f;
  int ranks, world;
  uint64_t at = 0, len = 0;
  char *data = NULL;
  bool ok;
  long end = 0;
  DT_TRY(cx, open_file(cx, path, &f, &ranks, &world));
  ok = rank < ranks &&
       fseek(f, (long)(HEAD + (size_t)rank * 24), SEEK_SET) == 0 &&
       fread(row, 1, sizeof row, f) == sizeof row &&
       fseek(f, 0, SEEK_END) == 0 && (end = ftell(f)) >= 0;
  if (ok) {
    at = get_u(row, 8);
    len = get_u(row + 8, 8);
    ok = at <= (uint64_t)end && len <= (uint64_t)end - at &&
         fseek(f, (long)at, SEEK_SET) == 0;
  }
  if (ok) {
    data = dt_alloc(cx, (size_t)len + 1);
    ok = data != NULL && fread(data, 1, (size_t)len, f) == len;
  }
  fclose(f);
  if (!ok) {
    dt_free(cx, data);
    dt_error_clear(cx);
    return dt_raise(cx, DT_E_IO, rank < ranks ? "%s is cut short"
                    : "%s has no part for this rank", path);
  }
  if (dt_dump_hash(data, (size_t)len) != get_u(row + 16, 8)) {
    dt_free(cx, data);
    return dt_raise(cx, DT_E_IO, "%s is damaged", path);
  }
  *p = data;
  *n = (size_t)len;
  return DT_OK;
}
