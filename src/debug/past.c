/* SPDX-License-Identifier: MIT
** debug/past.c: asking the record: which tensor a name held, what a tensor was
** and held, just before an operator.
**
** What a storage held then is the newest state any entry knew of it, whoever
** wrote it: so a write through a view is seen too. */
#include <string.h>
#include "debug/debug.h"
#include "debug/grads.h"

DtRecOp *dt_record_at (DtDebug *d, int i) {
  return dt_record_of(&d->rec, i);
}

const DtRecOp *dt_record_maker (const DtRecord *k, int64_t storage) {
  for (int i = k->n - 1; i >= 0; i--) {
    const DtRecOp *r = dt_record_of(k, i);
    for (int j = 0; j < r->nout; j++)
      if (!r->out[j].none && r->out[j].storage == storage) return r;
  }
  return NULL;
}

bool dt_record_blank (const DtRecord *k, const DtRecVar *v) {
  const DtRecOp *r = v->none || v->version != 0
    ? NULL : dt_record_maker(k, v->storage);
  return r && r->op && strstr(r->op->sig->base, "empty") != NULL;
}

/* Numbers rise along the ring but for communication that is entered late:
** a little further back it may still be. */
enum { LATE = 64 };

/* Raw collectives have no number: they come after the operator before them. */
static bool is_numbered (const DtRecOp *r) { return r->seq > 0; }

/* An entry newer than which #seq is not, by halving: whatever comes after an
** entry LATE above #seq is not older than it.  The numbers are not quite
** sorted (LATE), so halving leads to the neighbourhood only; who calls it
** walks on from there. */
static int skip_newer (DtDebug *d, int64_t seq) {
  int from = 0, to = d->rec.n;
  while (to - from > LATE) {
    int mid = from + (to - from) / 2, i = mid;
    while (i < to && !is_numbered(dt_record_at(d, i))) i++;
    if (i < to && dt_record_at(d, i)->seq - LATE > seq) from = i + 1;
    else to = mid;
  }
  return from;
}

DtRecOp *dt_record_find (DtDebug *d, int64_t seq) {
  DtRecOp *newest = dt_record_at(d, 0);
  if (seq <= 0) return newest;
  int i = newest && newest->seq - LATE > seq ? skip_newer(d, seq) : 0;
  for (; i < d->rec.n; i++) {
    DtRecOp *r = dt_record_at(d, i);
    if (r->seq == seq) return r;
    if (is_numbered(r) && r->seq < seq - LATE) return NULL;
  }
  return NULL;
}

DtRecOp *dt_record_typed (DtDebug *d, int64_t seq, int64_t k) {
  int i;
  for (i = 0; i < d->typed.n; i++) {
    DtRecOp *r = dt_record_of(&d->typed, i);
    if (r->from == seq && r->seq - r->from == k) return r;
  }
  return NULL;
}

DtRecOp *dt_record_after (DtDebug *d, int64_t seq) {
  DtRecOp *found = NULL;
  int i;
  for (i = 0; i < d->rec.n; i++) {
    DtRecOp *r = dt_record_at(d, i);
    if (r->seq > seq && (found == NULL || r->seq < found->seq)) found = r;
    if (is_numbered(r) && r->seq < seq - LATE) break;
  }
  return found;
}

/* --- tensors --- */

static bool is_var (const DtRecVar *v, int64_t id) {
  return !v->none && v->id == id;
}

/* Does the entry know what is asked just before #seq?  Its results count when
** it came earlier; its inputs when it is #seq itself, too. */
static const DtRecVar *find_known_var (const DtRecOp *r, int64_t seq,
                                       bool (*match) (const DtRecVar *, int64_t),
                                       int64_t what) {
  int i;
  if (r->seq < seq)
    for (i = 0; i < r->nout; i++)
      if (match(&r->out[i], what)) return &r->out[i];
  for (i = 0; i < r->nin; i++)
    if (match(&r->in[i], what)) return &r->in[i];
  return NULL;
}

/* Is the i-th newest entry without a number, and came operator #seq before it? */
static bool comes_after (DtDebug *d, int i, int64_t seq) {
  if (is_numbered(dt_record_at(d, i))) return false;
  while (++i < d->rec.n)
    if (is_numbered(dt_record_at(d, i))) return dt_record_at(d, i)->seq >= seq;
  return false;
}

static const DtRecVar *find_newest (DtDebug *d, int64_t seq,
                                    bool (*match) (const DtRecVar *, int64_t),
                                    int64_t what, int64_t *at) {
  int i;
  for (i = 0; i < d->rec.n; i++) {
    const DtRecOp *r = dt_record_at(d, i);
    const DtRecVar *v =
      r->seq > seq ? NULL : find_known_var(r, seq, match, what);
    if (v && !comes_after(d, i, seq)) { *at = r->seq; return v; }
  }
  return NULL;
}

/* First met later, but made before: nobody wrote it in between. */
static const DtRecVar *find_later (DtDebug *d, int64_t id, int64_t seq,
                                   int64_t *at) {
  int i, k;
  for (i = d->rec.n - 1; i >= 0; i--) {
    const DtRecOp *r = dt_record_at(d, i);
    if (r->seq <= seq) continue;
    for (k = 0; k < r->nin; k++)
      if (is_var(&r->in[k], id)) {
        *at = r->seq;
        return r->in[k].origin.seq < seq ? &r->in[k] : NULL;
      }
    for (k = 0; k < r->nout; k++)
      if (is_var(&r->out[k], id)) return NULL;
  }
  return NULL;
}

const DtRecVar *dt_record_var (DtDebug *d, int64_t id, int64_t seq,
                               int64_t *at) {
  int64_t where;
  const DtRecVar *v = find_newest(d, seq, is_var, id, &where);
  if (v == NULL) v = find_later(d, id, seq, &where);
  if (v && at) *at = where;
  return v;
}

static bool holds_storage (const DtRecVar *v, int64_t storage) {
  return !v->none && v->storage == storage && v->block != NULL;
}

static DtBlock *block_of (DtDebug *d, const DtRecVar *v, int64_t seq) {
  int64_t at;
  const DtRecVar *w = find_newest(d, seq, holds_storage, v->storage, &at);
  return w ? w->block : v->block;
}

/* The local part as it was; without data when that was not kept.  The
** storage is made without data and given the kept block, whose bytes are
** shared until somebody writes. A record from a file may claim an offset or
** size that the block does not have: such a tensor comes back without data. */
static DtStatus revive_local (DtDebug *d, const DtRecVar *v, DtBlock *b,
                              DtTensor **out) {
  DtCtx *cx = d->s->cx;
  DtMeta m, none;
  DtTensor *base;
  DtStatus st;
  size_t n = (size_t)v->lndim * sizeof m.shape[0];
  dt_meta_copy(&m, v->meta);
  m.ndim = (uint8_t)v->lndim;
  if (n) {
    memcpy(m.shape, v->lshape, n);
    memcpy(m.stride, v->lstride, n);
  }
  if (b == NULL) return dt_tensor_new(cx, &m, true, out);
  none = m;
  none.ndim = 0;
  DT_TRY(cx, dt_tensor_new(cx, &none, true, &base));
  dt_block_restore(cx, base->storage, b);
  if (dt_tensor_fits(base, &m, v->offset))
    st = dt_tensor_view(cx, base, &m, v->offset, out);
  else
    st = dt_tensor_new(cx, &m, true, out);
  if (st == DT_OK) (*out)->marks = v->marks;
  dt_tensor_unref(cx, base);
  return st;
}

/* The gradient that leaf `v` had then: what an operator made in its storage,
** as large as the leaf. */
static const DtRecVar *grad_before (DtDebug *d, const DtRecVar *v,
                                    int64_t seq) {
  int64_t storage = v->needs_grad ? dt_grads_before(d, v->id, seq) : 0;
  for (int i = 0; storage != 0 && i < d->rec.n; i++) {
    const DtRecOp *r = dt_record_at(d, i);
    for (int j = 0; r->seq < seq && j < r->nout; j++)
      if (!r->out[j].none && r->out[j].storage == storage &&
          dt_meta_same_shape(r->out[j].meta, v->meta))
        return &r->out[j];
  }
  return NULL;
}

/* A leaf's gradient stays out where it is not known; NOMEM. */
static DtStatus revive_grad (DtDebug *d, const DtRecVar *v, int64_t seq,
                             DtVar *leaf) {
  const DtRecVar *g = grad_before(d, v, seq);
  if (g == NULL || g->id == v->id) return DT_OK;
  return dt_record_revive(d, g->id, seq, &leaf->grad);
}

DtStatus dt_record_revive (DtDebug *d, int64_t id, int64_t seq, DtVar **out) {
  DtCtx *cx = d->s->cx;
  const DtRecVar *v = dt_record_var(d, id, seq, NULL);
  DtTensor *t;
  DtStatus st;
  DT_CHECK(cx, v != NULL, DT_E_INDEX, "the record does not know this tensor "
           "before operator #%lld", (long long)seq);
  DT_TRY(cx, revive_local(d, v, block_of(d, v, seq), &t));
  st = dt_var_new(d->s, t, v->spec, out);
  dt_tensor_unref(cx, t);
  if (st != DT_OK) return st;
  (*out)->origin = v->origin;
  (*out)->name = v->name;
  (*out)->is_param = v->param;
  st = revive_grad(d, v, seq, *out);
  if (st != DT_OK) {
    dt_var_unref(*out);
    *out = NULL;
  }
  return st;
}

/* --- what is looked at --- */

/* Is it that tensor, with the values of now? */
static bool holds_now (const DtRecVar *r, const DtVar *v) {
  const DtTensor *t = v->local;
  if (r->none || r->storage != t->storage->id || r->version != t->storage->version)
    return false;
  if (r->id == v->id) return true;
  return r->offset == t->offset && r->lndim == t->m.ndim &&
         (r->lndim == 0 ||
          (memcmp(r->lshape, t->m.shape, (size_t)r->lndim * sizeof *r->lshape) == 0 &&
           memcmp(r->lstride, t->m.stride, (size_t)r->lndim * sizeof *r->lstride) == 0));
}

/* FAR: what was made longer ago is not looked for at every print. BITS:
** `shown` has one for each of the first 32 outputs. */
void dt_record_show (DtDebug *d, const DtVar *v) {
  enum { FAR = 1024, BITS = 32 };
  if (d->rec.off || !d->rec.values || v->local->storage == NULL) return;
  for (int i = 0; i < FAR && i < d->rec.n; i++) {
    DtRecOp *r = dt_record_at(d, i);
    for (int j = 0; j < r->nout && j < BITS; j++)
      if (holds_now(&r->out[j], v)) {
        r->shown |= (uint32_t)1 << j;
        return;
      }
  }
}

/* --- names --- */

static bool same_name (const DtRecName *n, const char *scope,
                       const char *name) {
  return n->scope == scope && n->name == name;
}

/* Scopes and names are interned: the pointers say it all.  Where an entry
** lies in a table depends on them, so no answer may depend on the place. */
static unsigned name_hash (const char *scope, const char *name) {
  uintptr_t h = ((uintptr_t)scope * 31 + (uintptr_t)name) >> 4;
  return (unsigned)(h ^ (h >> 9));
}

/* A set of entries by (scope, name), open addressing; 0 = empty, else index
** + 1. */
typedef struct Seen { int *slot; unsigned mask; } Seen;

static bool seen_new (DtDebug *d, Seen *s, int n) {
  unsigned size = 16;
  while (size < 2 * (unsigned)n) size *= 2;
  s->slot = DT_ANEWN(d->s->cx, &d->s->cx->scratch, int, size);
  s->mask = size - 1;
  if (s->slot == NULL) dt_error_clear(d->s->cx);
  return s->slot != NULL;
}

/* Add entry i; false when its name was there. */
static bool seen_add (Seen *s, const DtRecName *all, int i) {
  const DtRecName *n = &all[i];
  unsigned k = name_hash(n->scope, n->name) & s->mask;
  for (; s->slot[k]; k = (k + 1) & s->mask)
    if (same_name(&all[s->slot[k] - 1], n->scope, n->name)) return false;
  s->slot[k] = i + 1;
  return true;
}

/* The place in k->newest of a name: its own, or the free one where it goes.
** Ends because the table is at most half full; the pointer is good until the
** next newest_build. */
static int *newest_of (DtRecord *k, const char *scope, const char *name) {
  unsigned i = name_hash(scope, name);
  for (;; i++) {
    int *at = &k->newest[i & (unsigned)(k->sizenewest - 1)];
    if (*at == 0 || same_name(&k->name[*at - 1], scope, name)) return at;
  }
}

/* Index the newest entry of every name anew, at most half full. */
static void newest_build (DtDebug *d) {
  DtRecord *k = &d->rec;
  int i, size = k->sizenewest ? k->sizenewest : 64;
  while (size <= 2 * k->nnewest) size *= 2;
  if (size != k->sizenewest) {
    int *more = DT_NEWN(d->s->cx, int, size);
    if (more == NULL) { dt_error_clear(d->s->cx); return; }
    dt_free(d->s->cx, k->newest);
    k->newest = more;
    k->sizenewest = size;
  } else {
    memset(k->newest, 0, sizeof *k->newest * (size_t)size);
  }
  k->nnewest = 0;
  for (i = 0; i < k->nname; i++) {
    int *at = newest_of(k, k->name[i].scope, k->name[i].name);
    k->nnewest += *at == 0;
    *at = i + 1;
  }
}

/* Drop entries that a later one replaced before the oldest operator. */
static void names_compact (DtDebug *d) {
  DtRecord *k = &d->rec;
  DtArenaMark mark = dt_arena_mark(&d->s->cx->scratch);
  int64_t oldest = k->n ? dt_record_at(d, k->n - 1)->seq : 0;
  Seen s;
  int i, at;
  if (!seen_new(d, &s, k->nname)) return;
  at = k->nname;
  for (i = k->nname - 1; i >= 0; i--) {
    k->name[--at] = k->name[i];       /* moves up: below is not yet visited */
    if (k->name[at].seq <= oldest && !seen_add(&s, k->name, at)) at++;
  }
  memmove(k->name, k->name + at, sizeof *k->name * (size_t)(k->nname - at));
  k->nname -= at;
  newest_build(d);
  dt_arena_release(&d->s->cx->scratch, mark);
}

static bool names_grow (DtDebug *d) {
  DtRecord *k = &d->rec;
  int cap = k->capname ? k->capname * 2 : 256;
  DtRecName *more;
  if (k->nname > 2 * k->cap) {
    names_compact(d);
    if (k->nname <= k->capname / 2) return true;
  }
  more = dt_realloc(d->s->cx, k->name, sizeof *more * (size_t)cap);
  if (more == NULL) { dt_error_clear(d->s->cx); return false; }
  k->name = more;
  k->capname = cap;
  return true;
}

/* A name that holds the same tensor as before gets no entry: most lines
** change nothing, and a loop would fill the list. Scope and name must be
** interned. */
void dt_record_bind (DtDebug *d, int64_t seq, const char *scope,
                     const char *name, int64_t var) {
  DtRecord *k = &d->rec;
  int *at;
  if (2 * k->nnewest >= k->sizenewest) newest_build(d);
  if (2 * k->nnewest >= k->sizenewest) return;         /* no memory */
  at = newest_of(k, scope, name);
  if (*at && k->name[*at - 1].var == var) return;
  if (k->nname == k->capname) {
    if (!names_grow(d)) return;
    at = newest_of(k, scope, name);                        /* they moved */
  }
  k->nnewest += *at == 0;
  k->name[k->nname++] = (DtRecName){ seq, scope, name, var };
  *at = k->nname;
}

/* Globals, and locals of a main chunk, which its functions see. */
static bool is_outer (const char *scope) {
  size_t n = strlen(scope);
  return n == 0 || (n > 1 && strcmp(scope + n - 2, ":0") == 0);
}

const char *dt_record_var_name (const DtRecord *k, const DtRecVar *v) {
  for (int i = k->nname - 1; i >= 0; i--)
    if (k->name[i].var == v->id) return k->name[i].name;
  return v->name;
}

int64_t dt_record_name (DtDebug *d, const char *scope, const char *name,
                        int64_t seq) {
  const DtRecName *other = NULL;
  const DtRecOp *op = dt_record_find(d, seq);
  int64_t from = op ? op->from : 0;
  int i;
  for (i = d->rec.nname - 1; i >= 0; i--) {
    const DtRecName *n = &d->rec.name[i];
    if (n->seq > seq || strcmp(n->name, name) != 0) continue;
    if (*n->scope && n->seq < from) continue;   /* an earlier run's */
    if (scope && strcmp(n->scope, scope) == 0) return n->var;
    if (other == NULL && (scope == NULL || is_outer(n->scope))) other = n;
  }
  return other ? other->var : 0;
}

int dt_record_names (DtDebug *d, int64_t seq, const DtRecName **out,
                     int max) {
  DtRecord *k = &d->rec;
  DtArenaMark mark = dt_arena_mark(&d->s->cx->scratch);
  Seen s;
  int i, n = 0;
  if (!seen_new(d, &s, k->nname)) return 0;
  for (i = k->nname - 1; i >= 0 && n < max; i--)
    if (k->name[i].seq <= seq && seen_add(&s, k->name, i) &&
        k->name[i].var != 0)
      out[n++] = &k->name[i];
  dt_arena_release(&d->s->cx->scratch, mark);
  return n;
}
