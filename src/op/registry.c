/* SPDX-License-Identifier: MIT
** op/registry.c: names to operator definitions.
**
** At start only names are entered: a schema is parsed, and a variant filled
** from its base, when somebody asks for it.  Definitions handed out live as
** long as the registry, so callers keep the pointers. */
#include <stdio.h>
#include <string.h>
#include "base/hash.h"
#include "compat/profile.h"
#include "op/registry_int.h"
#include "op/saved.h"

typedef struct Entry {
  const char *name;             /* "aten.mm.default" */
  const char *text;             /* schema */
  const DtOpDef *src;           /* written definition, or */
  const DtVariant *var;         /* how to derive it */
  struct Group *group;
  struct Entry *next;           /* in its group */
  DtOpDef *def;                 /* once filled */
  bool busy;                    /* being filled (a base that is its own) */
  bool stale;                   /* filled for another release */
} Entry;

typedef struct Group {
  char *name;                   /* "aten.mm" */
  Entry *first, *last;
  int n;
  DtPacket *packet;             /* once asked for */
} Group;

typedef struct UserStrategy {
  DtStratFn fn;
  void *ud;
  void (*free_ud) (void *);
  bool forced;                  /* wins over single-dim rules */
} UserStrategy;

struct DtRegistry {
  DtArena arena;
  DtMap entries, groups;        /* by name */
  DtMap strategies;             /* by DtOpDef pointer */
  const DtRuling *rulings;      /* of releases after the default, or NULL */
  int release;
  const char *shadowed;         /* known by schema, yet defined */
  Group **sorted;               /* by name; NULL = to be made */
  int nsorted;
};

/* ---- building ---- */

/* "aten::add.Tensor(…" -> "aten.add.Tensor"; *dot = where the overload's dot
** stands.  Some thousands are made at every start: no formatting. */
static DtStatus entry_name (DtCtx *cx, DtArena *a, const char *schema,
                            char **out, size_t *dot) {
  static const char plain[] = "default";
  const char *open = strchr(schema, '(');
  const char *colon = open ? memchr(schema, ':', (size_t)(open - schema)) : NULL;
  const char *base, *point, *over = plain;
  size_t nspace, nbase, nover = sizeof plain - 1;
  char *p;
  DT_CHECK(cx, colon != NULL && colon[1] == ':', DT_E_PARSE,
           "schema \"%s\": expected ns::name(arguments) -> results", schema);
  base = colon + 2;
  point = memchr(base, '.', (size_t)(open - base));
  nspace = (size_t)(colon - schema);
  nbase = (size_t)((point != NULL ? point : open) - base);
  if (point != NULL) {
    over = point + 1;
    nover = (size_t)(open - over);
  }
  *dot = nspace + 1 + nbase;
  *out = p = (char *)dt_arena_raw(cx, a, *dot + 1 + nover + 1);
  if (p == NULL) return DT_E_NOMEM;
  memcpy(p, schema, nspace);
  p[nspace] = '.';
  memcpy(p + nspace + 1, base, nbase);
  p[*dot] = '.';
  memcpy(p + *dot + 1, over, nover);
  p[*dot + 1 + nover] = '\0';
  return DT_OK;
}

static DtStatus group_get (DtCtx *cx, DtRegistry *r, const char *name,
                           size_t len, Group **out) {
  uint64_t hash = dt_hash_bytes(DT_HASH_SEED, name, len);
  DtArenaMark mark = dt_arena_mark(&r->arena);
  char *key = (char *)dt_arena_raw(cx, &r->arena, len + 1);
  if (key == NULL) return DT_E_NOMEM;
  memcpy(key, name, len);
  key[len] = '\0';
  *out = (Group *)dt_map_get(&r->groups, hash, key);
  if (*out != NULL) {
    dt_arena_release(&r->arena, mark);
    return DT_OK;
  }
  *out = DT_ANEWN(cx, &r->arena, Group, 1);
  if (*out == NULL) return DT_E_NOMEM;
  (*out)->name = key;
  r->sorted = NULL;
  return dt_map_put(&r->groups, hash, key, *out);
}

static DtStatus enter (DtCtx *cx, DtRegistry *r, const char *schema,
                       const DtOpDef *src, const DtVariant *var,
                       Entry **out) {
  Entry *e;
  char *name = NULL;
  size_t dot = 0;
  uint64_t hash;
  DT_TRY(cx, entry_name(cx, &r->arena, schema, &name, &dot));
  hash = dt_hash_str(DT_HASH_SEED, name);
  e = (Entry *)dt_map_get(&r->entries, hash, name);
  if (e != NULL && var != NULL && var->kind == DT_VAR_KNOWN) {
    r->shadowed = schema;       /* the selfcheck refuses it */
    return DT_OK;
  }
  DT_CHECK(cx, e == NULL, DT_E_VALUE,
           "Tried to register an operator (%s) with the same name and "
           "overload name multiple times.", schema);
  e = DT_ANEWN(cx, &r->arena, Entry, 1);
  if (e == NULL) return DT_E_NOMEM;
  e->name = name;
  e->text = schema;
  e->src = src;
  e->var = var;
  DT_TRY(cx, group_get(cx, r, name, dot, &e->group));
  DT_CHECK(cx, e->group->n < DT_MAX_OVERLOADS, DT_E_LIMIT,
           "more than %d overloads of %s", DT_MAX_OVERLOADS, e->group->name);
  DT_TRY(cx, dt_map_put(&r->entries, hash, name, e));
  if (e->group->last == NULL) e->group->first = e;
  else e->group->last->next = e;
  e->group->last = e;
  e->group->n++;
  e->group->packet = NULL;
  if (out != NULL) *out = e;
  return DT_OK;
}

static bool never_equal (const void *a, const void *b) { return a == b; }

DtStatus dt_registry_new (DtCtx *cx, const DtOpDef *const *ops,
                          const DtVariant *variants, DtRegistry **out) {
  DtRegistry *r = DT_NEW(cx, DtRegistry);
  DtStatus st = DT_OK;
  if (r == NULL) return DT_E_NOMEM;
  dt_map_init(&r->entries, cx, NULL);
  dt_map_init(&r->groups, cx, NULL);
  dt_map_init(&r->strategies, cx, never_equal);
  r->release = DT_BASE_RELEASE;
  for (; ops != NULL && *ops != NULL && st == DT_OK; ops++)
    st = enter(cx, r, (*ops)->schema, *ops, NULL, NULL);
  for (; variants != NULL && variants->schema != NULL && st == DT_OK;
       variants++)
    st = enter(cx, r, variants->schema, NULL, variants, NULL);
  if (st != DT_OK) {
    dt_registry_free(cx, r);
    return dt_error_frame(cx, st, __func__, __FILE__, __LINE__);
  }
  *out = r;
  return DT_OK;
}

void dt_registry_free (DtCtx *cx, DtRegistry *r) {
  DtMapEntry *m;
  int32_t it = 0;
  if (r == NULL) return;
  while ((m = dt_map_next(&r->strategies, &it)) != NULL) {
    UserStrategy *u = (UserStrategy *)m->value;
    if (u->free_ud != NULL) u->free_ud(u->ud);
    dt_free(cx, u);
  }
  dt_map_fini(&r->strategies);
  dt_map_fini(&r->entries);
  dt_map_fini(&r->groups);
  dt_arena_fini(cx, &r->arena);
  dt_free(cx, r);
}

/* ---- filling on first use ---- */

static DtStatus fill (DtCtx *cx, DtRegistry *r, Entry *e);

/* Does the release have this ruling for an operator? */
static bool rules_on (const DtRegistry *r, const DtRuling *it,
                      const char *name) {
  return it->since <= r->release && strcmp(it->op, name) == 0;
}

/* Does the release rule how an operator shards?  The marks of later ways of
** its definition say nothing of that. */
static bool has_ruling (const DtRegistry *r, const char *name) {
  const DtRuling *it;
  for (it = r->rulings; it != NULL && it->op != NULL; it++)
    if (it->flags != DT_OP_LATER && it->flags != DT_OP_LATEST &&
        rules_on(r, it, name)) return true;
  return false;
}

/* One ruling, in place of what the operator says itself.  A gradient that was
** not there at first comes with a later way. */
static void apply_ruling (const DtRuling *it, DtOpDef *def) {
  def->flags |= it->flags;
  if ((it->flags & (DT_OP_LATER | DT_OP_LATEST)) != 0 && def->grad != NULL)
    def->flags &= ~(uint32_t)DT_OP_NOGRAD;
  if (it->decomp != NULL) def->decomp = it->decomp;
  if (it->rules == NULL && it->rulefn == NULL) return;
  def->flags = (def->flags & ~(uint32_t)(DT_OP_POINTWISE | DT_OP_UNEVEN |
                                         DT_OP_NOSTRATEGY)) | it->flags;
  def->pw = DT_PW_NONE;
  def->rules = it->rules;
  def->rulefn = it->rulefn;
  def->filter = it->filter;
  def->strategy = NULL;
}

static void apply_rulings (const DtRegistry *r, const Entry *e, DtOpDef *def) {
  const DtRuling *it;
  for (it = r->rulings; it != NULL && it->op != NULL; it++)
    if (rules_on(r, it, e->name)) apply_ruling(it, def);
}

/* How a variant is derived in the release: PyTorch may have registered by then
** what it had not, and an out= form without a registration is traced even
** where its base has rows now. */
static DtVariantKind kind_of (const DtRegistry *r, const Entry *e) {
  DtVariantKind kind = e->var->kind;
  if (dt_profile_has_op(e->name, r->release))
    return kind == DT_VAR_TRACED ? DT_VAR_INPLACE : kind;
  return kind == DT_VAR_OUT && has_ruling(r, e->var->base)
         ? DT_VAR_OUT_TRACED : kind;
}

/* Has PyTorch no strategy for a form whose base has one? */
static bool is_bare (const DtRegistry *r, const Entry *e) {
  return e->var->bare && !dt_profile_has_op(e->name, r->release);
}

/* Pointwise forms in place may refuse a larger result when they are inferred,
** in Python's words. */
static void infer_in_python (const DtRegistry *r, DtOpDef *def) {
  if (dt_switch_in(DT_SW_INPLACE_IN_PYTHON, r->release) != 0 &&
      (def->flags & DT_OP_INPLACE) != 0 &&
      (def->flags & DT_OP_POINTWISE) != 0 &&
      (def->flags & DT_OP_ITERMETA) == 0)
    def->flags |= DT_OP_PYMETA;
}

/* The definition of a variant is made from its base's, when it is asked for.
** One whose strategy PyTorch does not register (is_bare) loses the rules it
** would inherit. */
static DtStatus fill_from (DtCtx *cx, DtRegistry *r, Entry *e, DtOpDef *def) {
  const DtOpDef *base;
  if (e->src != NULL) {
    const DtSchema *sig = def->sig;
    *def = *e->src;
    def->sig = sig;
    return DT_OK;
  }
  def->schema = e->text;
  if (e->var->kind == DT_VAR_KNOWN) {
    dt_schema_only_fill(def);
    return DT_OK;
  }
  base = dt_registry_find(cx, r, e->var->base);
  if (base == NULL) {
    if (cx->err.code != DT_OK) return cx->err.code;
    return dt_raise(cx, DT_E_INTERNAL, "%s: there is no base %s", e->name,
                    e->var->base);
  }
  DT_TRY(cx, dt_variant_fill(cx, kind_of(r, e), base, def));
  if (is_bare(r, e)) {
    def->flags = (def->flags | DT_OP_NOSTRATEGY) & ~(uint32_t)DT_OP_POINTWISE;
    def->pw = DT_PW_NONE;
    def->rules = NULL;
    def->rulefn = NULL;
    def->strategy = NULL;
    def->rewrite = NULL;
  }
  return DT_OK;
}

/* Saved tensors that the forward call may have left undefined. */
static void take_undefined (DtSchema *sig) {
  for (int i = 0; i < sig->nargs; i++) {
    const char *name = sig->arg[i].name;
    if (strncmp(name, "philox_", 7) == 0 || strncmp(name, "cum_seq_", 8) == 0 ||
        strcmp(name, "attn_bias") == 0)
      sig->arg[i].opt = true;
  }
}

/* The same definition for another release; its schema stays. */
static DtStatus refill (DtCtx *cx, DtRegistry *r, Entry *e) {
  DtOpDef now;
  memset(&now, 0, sizeof now);
  now.sig = e->def->sig;
  e->stale = false;
  DT_TRY(cx, fill_from(cx, r, e, &now));
  now.saved = e->def->saved;
  now.refusal = e->def->refusal;
  now.user = e->def->user;
  apply_rulings(r, e, &now);
  infer_in_python(r, &now);
  *e->def = now;
  return DT_OK;
}

/* A definition is completed when it is first found: the registry has thousands
** of entries and a program uses a few dozen. `busy` breaks a circle of bases;
** a stale one is filled again for another release. */
static DtStatus fill (DtCtx *cx, DtRegistry *r, Entry *e) {
  DtOpDef *def;
  DtSchema *sig;
  DtStatus st;
  if (e->def != NULL && !e->stale) return DT_OK;
  if (e->def != NULL) return refill(cx, r, e);
  DT_CHECK(cx, !e->busy, DT_E_INTERNAL, "%s is its own base", e->name);
  def = DT_ANEWN(cx, &r->arena, DtOpDef, 1);
  if (def == NULL) return DT_E_NOMEM;
  DT_TRY(cx, dt_schema_parse(cx, &r->arena, e->text, &sig));
  def->sig = sig;
  e->busy = true;
  st = fill_from(cx, r, e, def);
  e->busy = false;
  DT_TRY(cx, st);
  apply_rulings(r, e, def);
  infer_in_python(r, def);
  if ((def->flags & DT_OP_UNDEFINED) != 0) take_undefined(sig);
  def->saved = dt_saved_find(sig);
  def->refusal = dt_refusal_find(sig);
  e->def = def;
  return DT_OK;
}

DtStatus dt_registry_release (DtCtx *cx, DtRegistry *r,
                              const DtRuling *rulings, int release) {
  DtMapEntry *m;
  int32_t it = 0;
  if (r->release == release && r->rulings == rulings) return DT_OK;
  r->rulings = rulings;
  r->release = release;
  while ((m = dt_map_next(&r->entries, &it)) != NULL) {
    Entry *e = (Entry *)m->value;
    e->stale = e->def != NULL && (e->def->flags & DT_OP_CUSTOM) == 0;
  }
  for (it = 0; (m = dt_map_next(&r->entries, &it)) != NULL;) {
    Entry *e = (Entry *)m->value;
    if (e->stale) DT_TRY(cx, fill(cx, r, e));
  }
  return DT_OK;
}

/* Canonical form of a name: "aten::mm" and "aten.mm" to "aten.mm.default". */
static bool canonical (const char *name, char *out, size_t size) {
  const char *colon = strstr(name, "::");
  size_t n = strlen(name), i, k = 0;
  int dots = 0;
  if (n + 9 > size) return false;
  for (i = 0; i < n; i++) {
    char c = name[i];
    if (colon != NULL && name + i == colon) {
      c = '.';
      i++;
    }
    dots += c == '.';
    out[k++] = c;
  }
  out[k] = '\0';
  if (dots == 1) memcpy(out + k, ".default", 9);
  return true;
}

const DtOpDef *dt_registry_find (DtCtx *cx, DtRegistry *r, const char *name) {
  Entry *e = (Entry *)dt_map_get_str(&r->entries, name);
  char buf[256];
  if (e == NULL && canonical(name, buf, sizeof buf))
    e = (Entry *)dt_map_get_str(&r->entries, buf);
  if (e == NULL || fill(cx, r, e) != DT_OK) return NULL;
  return e->def;
}

static DtStatus make_packet (DtCtx *cx, DtRegistry *r, Group *g) {
  DtPacket *p = DT_ANEWN(cx, &r->arena, DtPacket, 1);
  const DtOpDef **op = DT_ANEWN(cx, &r->arena, const DtOpDef *, g->n);
  int known = 0;
  Entry *e;
  if (p == NULL || op == NULL) return DT_E_NOMEM;
  for (e = g->first; e != NULL; e = e->next) {
    DT_TRY(cx, fill(cx, r, e));
    if ((e->def->flags & DT_OP_SCHEMA_ONLY) == 0) op[p->n++] = e->def;
    else op[g->n - ++known] = e->def;   /* the parser's last resort */
  }
  p->ns = op[0]->sig->ns;
  p->base = op[0]->sig->base;
  p->op = op;
  DT_TRY(cx, dt_packet_sort(cx, p->n, op));
  p->n = g->n;
  g->packet = p;
  return DT_OK;
}

const DtPacket *dt_registry_packet (DtCtx *cx, DtRegistry *r, const char *ns,
                                    const char *base) {
  char key[256];
  Group *g;
  size_t a = strlen(ns), b = strlen(base);
  if (a + b + 2 > sizeof key) return NULL;
  memcpy(key, ns, a);
  key[a] = '.';
  memcpy(key + a + 1, base, b + 1);
  g = (Group *)dt_map_get_str(&r->groups, key);
  if (g == NULL) return NULL;
  if (g->packet == NULL && make_packet(cx, r, g) != DT_OK) return NULL;
  return g->packet;
}

/* ---- iteration ---- */

static DtStatus sort_groups (DtCtx *cx, DtRegistry *r) {
  int n = (int)dt_map_count(&r->groups), i = 0, j, gap;
  Group **g = DT_ANEWN(cx, &r->arena, Group *, n + 1);
  DtMapEntry *m;
  int32_t it = 0;
  if (g == NULL) return DT_E_NOMEM;
  while ((m = dt_map_next(&r->groups, &it)) != NULL && i < n)
    g[i++] = (Group *)m->value;
  for (gap = n / 2; gap > 0; gap /= 2)          /* shell sort */
    for (i = gap; i < n; i++) {
      Group *t = g[i];
      for (j = i; j >= gap && strcmp(g[j - gap]->name, t->name) > 0; j -= gap)
        g[j] = g[j - gap];
      g[j] = t;
    }
  r->sorted = g;
  r->nsorted = n;
  return DT_OK;
}

const DtPacket *dt_registry_next (DtCtx *cx, DtRegistry *r, int *it) {
  Group *g;
  if (r->sorted == NULL && sort_groups(cx, r) != DT_OK) return NULL;
  if (*it < 0 || *it >= r->nsorted) return NULL;
  g = r->sorted[(*it)++];
  if (g->packet == NULL && make_packet(cx, r, g) != DT_OK) return NULL;
  return g->packet;
}

/* ---- users' operators ---- */

static DtStatus copy_lines (DtCtx *cx, DtRegistry *r,
                            const char *const *src, const char *const **out) {
  const char **v;
  int n = 0, i;
  if (src == NULL) return DT_OK;
  while (src[n] != NULL) n++;
  v = DT_ANEWN(cx, &r->arena, const char *, n + 1);
  if (v == NULL) return DT_E_NOMEM;
  for (i = 0; i < n; i++)
    if ((v[i] = dt_arena_strdup(cx, &r->arena, src[i])) == NULL)
      return DT_E_NOMEM;
  *out = v;
  return DT_OK;
}

static DtStatus copy_text (DtCtx *cx, DtRegistry *r, const char **s) {
  if (*s == NULL) return DT_OK;
  *s = dt_arena_strdup(cx, &r->arena, *s);
  return *s == NULL ? DT_E_NOMEM : DT_OK;
}

DtStatus dt_registry_add (DtCtx *cx, DtRegistry *r, const DtOpDef *def,
                          const DtOpDef **out) {
  DtOpDef *d = DT_ANEWN(cx, &r->arena, DtOpDef, 1);
  DtSchema *sig;
  Entry *e;
  if (d == NULL) return DT_E_NOMEM;
  *d = *def;
  d->flags |= DT_OP_CUSTOM;
  DT_TRY(cx, copy_text(cx, r, &d->schema));
  DT_TRY(cx, copy_text(cx, r, &d->brief));
  DT_TRY(cx, copy_text(cx, r, &d->doc));
  DT_TRY(cx, copy_lines(cx, r, def->rules, &d->rules));
  DT_TRY(cx, copy_lines(cx, r, def->samples, &d->samples));
  DT_TRY(cx, dt_schema_parse(cx, &r->arena, d->schema, &sig));
  d->sig = sig;
  d->saved = dt_saved_find(sig);
  if (sig->inplace) d->flags |= DT_OP_INPLACE;
  DT_TRY(cx, enter(cx, r, d->schema, d, NULL, &e));
  e->def = d;
  *out = d;
  return DT_OK;
}

static uint64_t op_hash (const DtOpDef *op) {
  return dt_hash_u64(DT_HASH_SEED, (uint64_t)(uintptr_t)op);
}

DtStatus dt_registry_set_strategy (DtCtx *cx, DtRegistry *r,
                                   const DtOpDef *op, DtStratFn fn,
                                   void *ud, void (*free_ud) (void *)) {
  UserStrategy *u = (UserStrategy *)dt_map_get(&r->strategies, op_hash(op),
                                               op);
  if (u == NULL) {
    DtStatus st;
    u = DT_NEW(cx, UserStrategy);
    if (u == NULL) return DT_E_NOMEM;
    st = dt_map_put(&r->strategies, op_hash(op), op, u);
    if (st != DT_OK) {
      dt_free(cx, u);
      return st;
    }
  } else if (u->free_ud != NULL) {
    u->free_ud(u->ud);
  }
  u->fn = fn;
  u->ud = ud;
  u->free_ud = free_ud;
  return DT_OK;
}

DtStratFn dt_registry_strategy (const DtRegistry *r, const DtOpDef *op,
                                void **ud) {
  const UserStrategy *u;
  if (dt_map_count(&r->strategies) == 0) return NULL;
  u = (const UserStrategy *)dt_map_get(&r->strategies, op_hash(op), op);
  if (u == NULL) return NULL;
  if (ud != NULL) *ud = u->ud;
  return u->fn;
}

void dt_registry_force (DtRegistry *r, const DtOpDef *op) {
  UserStrategy *u = (UserStrategy *)dt_map_get(&r->strategies, op_hash(op),
                                               op);
  if (u != NULL) u->forced = true;
}

bool dt_registry_forced (const DtRegistry *r, const DtOpDef *op) {
  const UserStrategy *u;
  if (dt_map_count(&r->strategies) == 0) return false;
  u = (const UserStrategy *)dt_map_get(&r->strategies, op_hash(op), op);
  return u != NULL && u->forced;
}

/* ---- near names ---- */

enum { NEAR_MAX = 64 };

/* Levenshtein distance, names cut to NEAR_MAX. */
static int distance (const char *a, const char *b) {
  int row[NEAR_MAX + 1], i, j, n = (int)strlen(b);
  if (n > NEAR_MAX) n = NEAR_MAX;
  for (j = 0; j <= n; j++) row[j] = j;
  for (i = 1; a[i - 1] != '\0' && i <= NEAR_MAX; i++) {
    int diag = row[0];
    row[0] = i;
    for (j = 1; j <= n; j++) {
      int up = row[j], best = diag + (a[i - 1] != b[j - 1]);
      if (up + 1 < best) best = up + 1;
      if (row[j - 1] + 1 < best) best = row[j - 1] + 1;
      row[j] = best;
      diag = up;
    }
  }
  return row[n];
}

const char *dt_packet_near (const DtPacket *p, const char *overload) {
  int i, best = (int)strlen(overload) / 3 + 2;
  const char *near = NULL;
  for (i = 0; i < p->n; i++) {
    int d = distance(overload, p->op[i]->sig->overload);
    if (d >= best) continue;
    best = d;
    near = p->op[i]->sig->overload;
  }
  return near;
}

/* Names like the one that was not found, nearest first, by insertion into out[]:
** n is small.  A name without its namespace is compared with bases alone, or the
** namespace's letters would count as differences. */
int dt_registry_near (DtCtx *cx, DtRegistry *r, const char *name,
                      const char **out, int n) {
  const char *last = strrchr(name, '.'), *plain = name;
  int dist[16], k = 0, i, it, limit;
  if (n > 16) n = 16;
  if (n <= 0) return 0;
  if (r->sorted == NULL && sort_groups(cx, r) != DT_OK) return 0;
  if (strchr(name, '.') == last && last != NULL) plain = last + 1;
  limit = (int)strlen(plain) / 3 + 1;
  for (it = 0; it < r->nsorted; it++) {
    const char *full = r->sorted[it]->name;
    const char *cand = plain == name && last != NULL
                       ? full : strchr(full, '.') + 1;
    int d = distance(plain, cand);
    if (d > limit || (k == n && d >= dist[k - 1])) continue;
    if (k < n) k++;
    for (i = k - 1; i > 0 && dist[i - 1] > d; i--) {
      dist[i] = dist[i - 1];
      out[i] = out[i - 1];
    }
    dist[i] = d;
    out[i] = full;
  }
  return k;
}

/* ---- self-check ---- */

/* Tables by name speak of operators that exist. */
static DtStatus check_names (DtCtx *cx, DtRegistry *r) {
  const char *name;
  for (int i = 0; (name = dt_saved_name(i)) != NULL; i++) {
    char full[128];
    int n = snprintf(full, sizeof full, "aten.%s%s", name,
                     strchr(name, '.') != NULL ? "" : ".default");
    DT_CHECK(cx, n < (int)sizeof full &&
             dt_map_get_str(&r->entries, full) != NULL, DT_E_INTERNAL,
             "keeps, in an .ops text: there is no operator %s", full);
  }
  for (int i = 0; (name = dt_untraced_name(i)) != NULL; i++)
    DT_CHECK(cx, dt_map_get_str(&r->entries, name) != NULL, DT_E_INTERNAL,
             "untraced, in an .ops text: there is no operator %s", name);
  return DT_OK;
}

DtStatus dt_registry_selfcheck (DtCtx *cx, DtRegistry *r) {
  DtMapEntry *m;
  int32_t it = 0;
  DT_CHECK(cx, r->shadowed == NULL, DT_E_INTERNAL,
           "%s is known by its schema, and defined elsewhere", r->shadowed);
  while ((m = dt_map_next(&r->entries, &it)) != NULL) {
    Entry *e = (Entry *)m->value;
    DT_TRY(cx, fill(cx, r, e));
    DT_TRY(cx, dt_opdef_check(cx, e->def));
  }
  return check_names(cx, r);
}
