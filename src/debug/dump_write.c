/* SPDX-License-Identifier: MIT
** debug/dump_write.c: a record as bytes.
**
** Strings, meshes, specs and blocks occur many times: each is written where it
** is met first and called by its number afterwards, so a file is as small as
** the record is in memory. */
#include <string.h>
#include "base/hash.h"
#include "base/map.h"
#include "debug/dump.h"

typedef struct Pool { DtMap map; int n; } Pool;

typedef struct Out {
  DtDebug *d;
  DtBuf *b;
  bool values;
  const DtRecOp *made;          /* whose results are written, or NULL */
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

/* Blocks are values, never changed: equal bytes are written once. */
static bool eq_block (const void *a, const void *b) {
  const DtBlock *x = (const DtBlock *)a, *y = (const DtBlock *)b;
  return x == y || (x->nbytes == y->nbytes &&
                    (x->nbytes == 0 ||
                     memcmp(x->data, y->data, x->nbytes) == 0));
}

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

/* Numbers of four bytes: all first bytes, all second ones, ... since high bytes
** are alike and low ones noise, that leaves a fifth less after packing. */
static void wplanes (Out *o, const char *data, size_t nbytes) {
  char part[4096];
  size_t k, i, n = 0;
  for (k = 0; k < 4; k++)
    for (i = k; i < nbytes; i += 4) {
      part[n++] = data[i];
      if (n < sizeof part) continue;
      dt_buf_addn(o->b, part, n);
      n = 0;
    }
  dt_buf_addn(o->b, part, n);
}

/* What an operator gave, less what can be guessed of it, where that leaves zeros
** of at least half of the numbers: true, and it is written. */
static bool wguessed (Out *o, const DtBlock *b) {
  size_t n = b->nbytes / sizeof(uint32_t), i, zeros = 0;
  DtCtx *cx = o->d->s->cx;
  float *guess = o->made && n > 0 && n * sizeof(float) == b->nbytes
    ? DT_NEWN(cx, float, n) : NULL;
  uint32_t *rest = (uint32_t *)(void *)guess;
  bool fits = guess != NULL && dt_dump_guess(o->made, guess, n);
  for (i = 0; fits && i < n; i++) {
    uint32_t bits, was;
    memcpy(&was, &guess[i], sizeof was);
    memcpy(&bits, (const char *)b->data + i * sizeof bits, sizeof bits);
    bits -= was;
    memcpy(&rest[i], &bits, sizeof bits);
    zeros += bits == 0;
  }
  fits = fits && zeros >= n / 2;
  if (fits) {
    wn(o, -(int64_t)b->nbytes);
    wplanes(o, (const char *)rest, b->nbytes);
  }
  dt_free(cx, guess);
  return fits;
}

static void wblock (Out *o, const DtBlock *b) {
  if (b == NULL || !o->values) { wn(o, -1); return; }
  if (!pooled(o, &o->block, b, dt_hash_bytes(DT_HASH_SEED, b->data,
                                             b->nbytes))) return;
  if (wguessed(o, b)) return;
  wn(o, (int64_t)b->nbytes);
  if (b->nbytes % 4 == 0) wplanes(o, (const char *)b->data, b->nbytes);
  else dt_buf_addn(o->b, (const char *)b->data, b->nbytes);
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

/* Which of the two an entry has, and what it says. */
static void wextra (Out *o, const DtRecOp *r) {
  const DtRecRaw *w = r->raw;
  const DtRecDraw *g = r->draw;
  int i;
  wn(o, w ? 1 : g ? 2 : 0);
  if (w) {
    wstr(o, w->kind); wstr(o, w->reduce); wmesh(o, w->mesh); wn(o, w->mdim);
    wn(o, w->dim); wn(o, w->dim2); wn(o, w->root); wn(o, w->nsplit);
    for (i = 0; i < w->nsplit; i++) {
      wn(o, w->in_split[i]);
      wn(o, w->out_split[i]);
    }
  } else if (g) {
    wn(o, (int64_t)g->seed); wn(o, (int64_t)g->at); wn(o, (int64_t)g->pair);
    wn(o, (int64_t)g->end); wn(o, (int64_t)g->end_pair);
  }
}

/* One row of the record, in the order in which rop() reads it. Outputs name
** their operator while they are written (`made`): a value that is the
** operator's plain result need not be stored. */
static void wop (Out *o, const DtRecOp *r) {
  int i;
  wn(o, r->seq); wstr(o, r->label);
  wn(o, r->op != NULL);
  wstr(o, r->file); wn(o, r->line); wstr(o, r->module); wstr(o, r->scope);
  wstr(o, r->func); wn(o, r->from);
  wn(o, r->backward); wn(o, r->hit);
  wn(o, r->done | (int64_t)r->shown << 1);
  wstr(o, r->st != DT_OK ? dt_error_info(r->st)->id : NULL);
  wn(o, r->depth); wn(o, (int64_t)r->via); wf(o, r->cost); wstr(o, r->error);
  wstr(o, r->reason);
  if (r->op) {
    wn(o, r->args.n); wn(o, r->args.npos); wn(o, r->args.given);
    wn(o, r->args.nslots);
    for (i = 0; i < r->args.n; i++) wvalue(o, &r->args.v[i]);
  }
  wn(o, r->nin); for (i = 0; i < r->nin; i++) wvar(o, &r->in[i]);
  o->made = r->op ? r : NULL;
  wn(o, r->nout); for (i = 0; i < r->nout; i++) wvar(o, &r->out[i]);
  o->made = NULL;
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
  wextra(o, r);
}

/* The text of each file that the record names, once, so that a record opens
** where the program is not. */
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
  dt_map_init(&o.block.map, cx, eq_block);
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
