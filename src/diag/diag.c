/* SPDX-License-Identifier: MIT
** diag/diag.c: the list of what the rules found (listen.c asks them), and its
** words.
**
** The same line may find the same thing a thousand times in a loop: a finding
** is kept once per code, operator and script line, and counted.  Recording
** never fails the program, so what memory is lacking for is left out. */
#include <math.h>
#include <string.h>
#include "base/hash.h"
#include "debug/control.h"
#include "diag/diag_int.h"
#include "mesh/layout.h"

enum { MAX_FOUND = 1000 };

static const DtFindKind kinds[] = {
#define X(name, code, trap, sev, title, cause, lua, torch) \
  { DT_FIND_ID_##name, #name, code, trap, DT_FIND_##sev, title, cause, lua, \
    torch },
#include "diag/findings.def"
#undef X
};

const DtFindKind *dt_find_kind (int id) {
  return id >= 0 && id < DT_NFINDS ? &kinds[id] : NULL;
}

const DtFindKind *dt_find_lookup (const char *word) {
  int i;
  for (i = 0; i < DT_NFINDS; i++)
    if (strcmp(kinds[i].code, word) == 0 || strcmp(kinds[i].trap, word) == 0 ||
        strcmp(kinds[i].name, word) == 0) return &kinds[i];
  return NULL;
}

const char *dt_find_severity (DtFindSeverity s) {
  return s == DT_FIND_WRONG ? "wrong" : s == DT_FIND_WARN ? "warning" : "note";
}

/* A fix as it reads without a tensor at hand. */
static void fill_without_tensor (const char *text, DtBuf *b) {
  for (; *text; text++) {
    if (*text != '%') { dt_buf_addc(b, *text); continue; }
    text++;
    dt_buf_add(b, *text == 'x' ? "x" : *text == 'd' ? "dim = 0" : "...");
  }
}

void dt_find_page (const DtFindKind *k, DtBuf *out) {
  dt_buf_addf(out, "%s %s (finding, %s): %s\n%s.\nFix:     ", k->code,
              k->trap, dt_find_severity(k->severity), k->title, k->cause);
  fill_without_tensor(k->lua, out);
  dt_buf_add(out, "\nPyTorch: ");
  fill_without_tensor(k->torch, out);
  dt_buf_addf(out, "\nThose met so far: :findings %s\n", k->code);
}

/* --- sets --- */

static int probe_id (const DtIdSet *s, int64_t id) {
  int i = (int)((uint64_t)id * UINT64_C(0x9e3779b97f4a7c15) >> 32) &
          (s->cap - 1);
  while (s->v[i] != 0 && s->v[i] != id) i = (i + 1) & (s->cap - 1);
  return i;
}

void dt_idset_add (DtDiag *g, DtIdSet *s, int64_t id) {
  if (2 * (s->n + 1) > s->cap) {
    DtIdSet more = { NULL, s->n, s->cap ? s->cap * 2 : 64 };
    int i;
    more.v = DT_NEWN(g->s->cx, int64_t, more.cap);
    if (more.v == NULL) { dt_error_clear(g->s->cx); return; }
    for (i = 0; i < s->cap; i++)
      if (s->v[i] != 0) more.v[probe_id(&more, s->v[i])] = s->v[i];
    dt_free(g->s->cx, s->v);
    *s = more;
  }
  {
    int i = probe_id(s, id);
    if (s->v[i] == 0) s->n++;
    s->v[i] = id;
  }
}

bool dt_idset_has (const DtIdSet *s, int64_t id) {
  return s->n > 0 && s->v[probe_id(s, id)] == id;
}

/* Those that follow in the same run of slots are put in anew. */
void dt_idset_del (DtIdSet *s, int64_t id) {
  int i, k;
  if (!dt_idset_has(s, id)) return;
  i = probe_id(s, id);
  s->v[i] = 0;
  s->n--;
  for (k = (i + 1) & (s->cap - 1); s->v[k] != 0; k = (k + 1) & (s->cap - 1)) {
    int64_t again = s->v[k];
    s->v[k] = 0;
    s->v[probe_id(s, again)] = again;
  }
}

/* --- texts of a finding --- */

/* What a line calls the tensors that another line makes does not change from one
** step of a loop to the next; a parameter is known by itself. */
static DtNamed *find_named (DtDiag *g, const DtVar *v) {
  uint64_t h = dt_hash_u64(DT_HASH_SEED, (uint64_t)g->s->cur_line);
  DtNamed *n;
  h = dt_hash_u64(h, (uint64_t)(uintptr_t)g->s->cur_file);
  h = dt_hash_u64(h, (uint64_t)v->origin.line);
  h = dt_hash_u64(h, (uint64_t)(uintptr_t)v->origin.op);
  if (v->is_param) h = dt_hash_u64(h, (uint64_t)v->id);
  n = &g->named[h % DT_NAMED];
  if (n->key != h) *n = (DtNamed){ .key = h };
  return n;
}

/* Asking Lua means to look through all it holds: not more often than a loop of a
** few steps takes. */
const char *dt_diag_name (DtDiag *g, const DtVar *v) {
  enum { OFTEN = 8 };
  DtControl *c = dt_control_of(g->s);
  DtVar *one = (DtVar *)v;
  const char *name = NULL;
  DtNamed *n;
  if (v == NULL) return "";
  n = find_named(g, v);
  if (n->asked >= OFTEN && n->name != NULL) return n->name;
  if (c && c->h.names) c->h.names(c->h.ud, 1, &one, &name);
  name = name ? name : v->name ? v->name : "";
  if (++n->asked >= OFTEN &&
      (n->name = dt_session_intern(g->s, name)) == NULL)
    dt_error_clear(g->s->cx);
  return name;
}

static void add_pls (DtBuf *b, bool lua, int npl, const DtPlacement *pl) {
  int i;
  for (i = 0; i < npl; i++) {
    if (i) dt_buf_add(b, ", ");
    if (lua && pl[i].kind == DT_PL_SHARD)
      dt_buf_addf(b, "dt.Shard(%d)", pl[i].dim);
    else if (lua && pl[i].kind == DT_PL_REPLICATE)
      dt_buf_add(b, "dt.Replicate()");
    else if (lua) {
      dt_buf_addc(b, '"');
      dt_pl_print(pl[i], b);
      dt_buf_addc(b, '"');
    } else dt_pl_repr(pl[i], b);
  }
}

typedef struct DtFix {
  DtFindId id;
  const char *what, *lua, *torch;       /* fixes.def */
} DtFix;

/* Fill %x and %p of a fix; owned, NULL without memory. */
static char *fill_fix (DtDiag *g, const char *text, bool lua,
                       const char *subject, int npl, const DtPlacement *pl) {
  DtBuf b;
  char *out;
  dt_buf_init(&b, g->s->cx);
  for (; *text; text++) {
    if (text[0] == '%' && text[1] == 'x') {
      dt_buf_add(&b, *subject ? subject : "<tensor>");
      text++;
    } else if (text[0] == '%' && text[1] == 'p') {
      add_pls(&b, lua, npl, pl);
      text++;
    } else if (text[0] == '%' && text[1] == 'd') {
      dt_buf_addf(&b, "dim = %d", npl > 0 ? pl[0].dim : 0);
      text++;
    } else dt_buf_addc(&b, *text);
  }
  out = b.oom ? NULL : dt_strdup(g->s->cx, dt_buf_str(&b));
  dt_buf_fini(&b);
  if (out == NULL) dt_error_clear(g->s->cx);
  return out;
}

void dt_diag_untry (DtDiag *g, DtFinding *f) {
  dt_free(g->s->cx, f->tried_lua);
  dt_free(g->s->cx, f->tried_torch);
  dt_free(g->s->cx, f->verdict);
  f->tried_lua = f->tried_torch = f->verdict = NULL;
}

static void finding_fini (DtDiag *g, DtFinding *f) {
  dt_free(g->s->cx, f->subject);
  dt_free(g->s->cx, f->evidence);
  dt_free(g->s->cx, f->lua);
  dt_free(g->s->cx, f->torch);
  dt_free(g->s->cx, f->edit);
  dt_diag_untry(g, f);
}

/* The finding under this key, NULL: none.  What a text that runs does is told of
** that text; `seq` in an earlier one is told already. */
static DtFinding *find (DtDiag *g, uint64_t key, int64_t seq) {
  int64_t from = g->d->from;
  for (int i = g->n - 1; i >= 0; i--)
    if (g->key[i] == key && (seq < from || g->found[i].from == from))
      return &g->found[i];
  return NULL;
}

/* The known one, or a new one to be filled. */
static DtFinding *find_or_add (DtDiag *g, uint64_t key, int64_t seq, bool *known) {
  DtCtx *cx = g->s->cx;
  DtFinding *old = find(g, key, seq);
  *known = old != NULL;
  if (old) return old;
  if (g->n == MAX_FOUND) { g->ndropped++; return NULL; }
  if (g->n == g->cap) {
    int cap = g->cap ? g->cap * 2 : 16;
    DtFinding *f = dt_realloc(cx, g->found, (size_t)cap * sizeof *f);
    uint64_t *k;
    if (f == NULL) { dt_error_clear(cx); return NULL; }
    g->found = f;
    k = dt_realloc(cx, g->key, (size_t)cap * sizeof *k);
    if (k == NULL) { dt_error_clear(cx); return NULL; }
    g->key = k;
    g->cap = cap;
  }
  g->key[g->n] = key;
  memset(&g->found[g->n], 0, sizeof g->found[0]);
  return &g->found[g->n++];
}

uint64_t dt_diag_key (const DtFindKind *k, const char *op, const char *file,
                      int line) {
  uint64_t h = dt_hash_u64(DT_HASH_SEED, (uint64_t)k->id);
  h = dt_hash_str(h, op);
  h = dt_hash_str(h, file ? file : "");
  return dt_hash_u64(h, (uint64_t)line);
}

/* The same edit for another tensor: its lines come behind those of the first. */
static void join_edits (DtDiag *g, DtFinding *f, const char *more) {
  const char *own = f->edit;
  size_t n = 0, m = 0;
  DtBuf b;
  char *joined;
  while (own[n] == '+' || (n == 0 && own[n] == ' ')) n += strcspn(own + n, "\n") + 1;
  if (*more == ' ') more += strcspn(more, "\n") + 1;
  while (more[m] == '+') m += strcspn(more + m, "\n") + 1;
  dt_buf_init(&b, g->s->cx);
  dt_buf_addn(&b, more, m);
  if (n == 0 || m == 0 || b.oom || strstr(own, dt_buf_str(&b)) != NULL) {
    dt_buf_fini(&b);
    return;
  }
  dt_buf_clear(&b);
  dt_buf_addn(&b, own, n);
  dt_buf_addn(&b, more, m);
  dt_buf_add(&b, own + n);
  joined = b.oom ? NULL : dt_strdup(g->s->cx, dt_buf_str(&b));
  dt_buf_fini(&b);
  if (joined == NULL) {
    dt_error_clear(g->s->cx);
    return;
  }
  dt_free(g->s->cx, f->edit);
  f->edit = joined;
}

void dt_diag_keep (DtDiag *g, const DtFinding *f, const char *subject,
                   const char *evidence, const char *lua, const char *torch,
                   const char *edit) {
  DtCtx *cx = g->s->cx;
  bool known;
  DtFinding *n = find_or_add(g, dt_diag_key(f->kind, f->op, f->file, f->line),
                             f->seq, &known);
  if (n == NULL) return;
  if (known) {
    n->count += f->seq >= g->d->from;
    if (edit != NULL && *edit) join_edits(g, n, edit);
    return;
  }
  *n = *f;
  n->from = g->d->from;
  n->subject = dt_strdup(cx, subject);
  n->evidence = dt_strdup(cx, evidence);
  n->lua = lua ? dt_strdup(cx, lua) : NULL;
  n->torch = torch ? dt_strdup(cx, torch) : NULL;
  n->edit = dt_strdup(cx, edit ? edit : "");
  if (n->subject && n->evidence && n->lua && n->torch && n->edit) return;
  dt_error_clear(cx);
  finding_fini(g, n);
  g->n--;
}

/* What mends a finding where that depends on `what`; else the kind's own. */
static const DtFix *fix_of (const DtFindKind *kind, const char *what, DtFix *own) {
  static const DtFix rows[] = {
#define X(kind, what, ...) { DT_FIND_ID_##kind, what, __VA_ARGS__ },
#include "diag/fixes.def"
#undef X
  };
  for (size_t i = 0; what && i < sizeof rows / sizeof rows[0]; i++)
    if (rows[i].id == kind->id && strncmp(what, rows[i].what, strlen(rows[i].what)) == 0)
      return &rows[i];
  *own = (DtFix){ kind->id, "", kind->lua, kind->torch };
  return own;
}

DtEvent dt_diag_called (const DtDiag *g, const DtEvent *e) {
  const DtOrigin *from = e->backward ? g->s->node_at : NULL;
  DtEvent at = *e;
  if (from != NULL && from->line > 0) {
    at.file = from->file;
    at.line = from->line;
  }
  return at;
}

void dt_diag_put (DtDiag *g, const DtFinding *f, int npl,
                 const DtPlacement *pl, const char *subject,
                 const char *evidence) {
  dt_diag_put_for(g, f, f->op, npl, pl, subject, evidence);
}

void dt_diag_put_for (DtDiag *g, const DtFinding *f, const char *what, int npl,
                      const DtPlacement *pl, const char *subject,
                      const char *evidence) {
  DtFix own;
  const DtFix *fix = fix_of(f->kind, what, &own);
  char *lua = fill_fix(g, fix->lua, true, subject, npl, pl);
  char *torch = fill_fix(g, fix->torch, false, subject, npl, pl);
  DtFinding one = *f;
  DtBuf edit;
  dt_buf_init(&edit, g->s->cx);
  dt_diag_edit(g, f, what, subject, evidence, &edit);
  one.count = 1;
  dt_diag_keep(g, &one, subject, evidence, lua, torch,
               edit.oom ? NULL : dt_buf_str(&edit));
  dt_buf_fini(&edit);
  dt_free(g->s->cx, lua);
  dt_free(g->s->cx, torch);
}

static void add_v (DtDiag *g, const DtEvent *e, DtFindId id, const DtVar *v,
                   int npl, const DtPlacement *pl, const char *fmt,
                   va_list ap) {
  DtPlacement all[DT_MAX_MDIM];
  DtFinding f = { .kind = &kinds[id], .seq = e->seq, .op = dt_diag_op(e),
                  .file = e->file, .line = e->line, .module = e->module,
                  .backward = e->backward };
  DtBuf b;
  if (pl == NULL && v && v->spec) {
    for (npl = 0; npl < v->spec->npl && npl < DT_MAX_MDIM; npl++) {
      all[npl] = v->spec->pl[npl];
      if (!dt_pl_is_replicate(all[npl]) &&
          (id != DT_FIND_ID_PARTIAL_LOCAL || dt_pl_is_partial(all[npl])))
        all[npl] = dt_pl_replicate();
    }
    pl = all;
  }
  dt_buf_init(&b, g->s->cx);
  dt_buf_addv(&b, fmt, ap);
  if (!b.oom)
    dt_diag_put(g, &f, pl ? npl : 0, pl, dt_diag_name(g, v), dt_buf_str(&b));
  else dt_error_clear(g->s->cx);
  dt_buf_fini(&b);
}

void dt_diag_add (DtDiag *g, const DtEvent *e, DtFindId id, const DtVar *v,
                  int npl, const DtPlacement *pl, const char *fmt, ...) {
  va_list ap;
  uint64_t key = dt_diag_key(&kinds[id], dt_diag_op(e), e->file, e->line);
  DtFinding *old = find(g, key, e->seq);
  if (old) {                            /* a repeat costs no words */
    old->count += e->seq >= g->d->from;
    return;
  }
  va_start(ap, fmt);
  add_v(g, e, id, v, npl, pl, fmt, ap);
  va_end(ap);
}

DtOrigin dt_diag_here (const DtDiag *g, const char *op) {
  const char *file = "";
  int line = 0;
  if (g->s->where) g->s->where(g->s->where_ud, &file, &line);
  return (DtOrigin){ .op = op, .file = file ? file : "", .line = line,
                     .seq = g->s->seq };
}

void dt_diag_tell (DtDiag *g, DtFindId id, DtVar *v, const char *op,
                   const char *evidence) {
  DtEvent e = { .kind = DT_EV_WARNING, .text = g->s->module, .seq = g->s->seq,
                .module = g->s->module ? g->s->module : "" };
  const char *file = "";
  int line = 0;
  if (!g->on || g->d->muted) return;
  if (g->s->where) g->s->where(g->s->where_ud, &file, &line);
  e.file = file ? file : "";
  e.line = line;
  if (op && (op = dt_session_intern(g->s, op)) == NULL)
    dt_error_clear(g->s->cx);
  e.text = op ? op : kinds[id].name;
  dt_diag_add(g, &e, id, v, 0, NULL, "%s", evidence);
}

void dt_diag_tell_made (DtDiag *g, DtFindId id, DtVar *v,
                        const char *evidence) {
  DtEvent e = dt_diag_origin(&v->origin, kinds[id].name);
  if (g->on && !g->d->muted && e.line > 0)
    dt_diag_add(g, &e, id, v, 0, NULL, "%s", evidence);
}

void dt_diag_withdraw (DtDiag *g, DtFindId id, const char *evidence) {
  int i, n = 0;
  for (i = 0; i < g->n; i++) {
    if (g->found[i].kind->id == id &&
        strcmp(g->found[i].evidence, evidence) == 0) {
      finding_fini(g, &g->found[i]);
      continue;
    }
    g->found[n] = g->found[i];
    g->key[n++] = g->key[i];
  }
  g->n = n;
}

bool dt_diag_was_source (const DtDiag *g, int64_t var_id) {
  return dt_idset_has(&g->source, var_id);
}

void dt_diag_source (DtDiag *g, const DtVar *v) {
  dt_idset_add(g, &g->source, v->id);
}

/* --- the local part --- */

bool dt_diag_fits (DtDiag *g, DtSpec *spec, int ndim, const int64_t *shape) {
  int i = (int)(((uintptr_t)spec >> 5) % 64), n = 0;
  if (g->fit[i].spec != spec) {
    if (!spec->mesh->member || !spec->has_meta ||
        spec->npl != spec->mesh->ndim) return true;
    if (dt_layout_local(g->s->cx, spec, NULL, g->fit[i].shape, NULL, &n)
        != DT_OK) {
      dt_error_clear(g->s->cx);
      return true;
    }
    dt_spec_unref(g->s->cx, g->fit[i].spec);
    g->fit[i].spec = dt_spec_ref(spec);
    g->fit[i].ndim = n;
  }
  for (n = 0; n < ndim && g->fit[i].shape[n] == shape[n]; n++) { }
  return n == ndim && ndim == g->fit[i].ndim;
}

/* --- the session's --- */

void dt_diag_enable (DtDiag *g, bool on) {
  uint64_t mask = 0;
  int k;
  if (on == g->on) return;
  if (!on) {
    dt_event_unlisten(g->s, g->listener);
    g->on = false;
    return;
  }
  for (k = 0; k < DT_NEVENTS; k++)
    if (g->nrule[k] > 0) mask |= UINT64_C(1) << k;
  if (dt_event_listen(g->s, mask, dt_diag_hear, g, &g->listener) == DT_OK)
    g->on = true;
  else dt_error_clear(g->s->cx);
}

bool dt_diag_enabled (const DtDiag *g) { return g->on; }

DtStatus dt_diag_new (DtSession *s, DtDiag **out) {
  DtDebug *d = dt_debug_of(s);
  DtDiag *g = DT_NEW(s->cx, DtDiag);
  int n;
  if (g == NULL) return DT_E_NOMEM;
  g->s = s;
  g->d = d;
  g->root = NAN;
  n = dt_comm_running(s->comm);
  g->text = DT_NEWN(s->cx, char *, n);
  g->len = DT_NEWN(s->cx, size_t, n);
  if (!g->text || !g->len || dt_spans_new(d, &g->spans) != DT_OK) {
    dt_free(s->cx, g->text);
    dt_free(s->cx, g->len);
    dt_free(s->cx, g);
    return DT_E_NOMEM;
  }
  if (dt_diag_rules(g) != DT_OK) {
    dt_diag_free(g);
    return DT_E_INTERNAL;
  }
  d->diag = g;
  dt_diag_enable(g, true);
  *out = g;
  return DT_OK;
}

DtDiag *dt_diag_of (const DtSession *s) {
  const DtDebug *d = dt_debug_of(s);
  return d ? (DtDiag *)d->diag : NULL;
}

void dt_diag_clear (DtDiag *g) {
  int i;
  dt_diag_numbers(g);
  for (i = 0; i < g->n; i++) finding_fini(g, &g->found[i]);
  g->n = 0;
  g->ndropped = 0;
  dt_diag_unclaim(g);
  dt_diag_learn_free(g);
  dt_diag_batch_free(g);
  dt_diag_places_free(g);
  dt_diag_splits_free(g);
  dt_diag_besides_free(g);
  dt_diag_graph_free(g);
  dt_diag_shards_free(g);
  dt_diag_drifts_free(g);
  dt_diag_masters_free(g);
  dt_diag_stales_free(g);
  dt_diag_picks_free(g);
  dt_diag_clamps_free(g);
  dt_diag_caps_free(g);
  dt_diag_noises_free(g);
  dt_diag_perms_free(g);
  dt_diag_decks_free(g);
  dt_diag_unreads_free(g);
  dt_diag_answers_free(g);
  dt_diag_adjoints_free(g);
  g->nbuffers = g->nresults = g->nmetered = g->nfilled = 0;
}

void dt_diag_free (DtDiag *g) {
  size_t i;
  if (g == NULL) return;
  dt_diag_enable(g, false);
  dt_spans_free(g->spans);
  dt_diag_clear(g);
  for (i = 0; i < sizeof g->fit / sizeof g->fit[0]; i++)
    dt_spec_unref(g->s->cx, g->fit[i].spec);
  dt_free(g->s->cx, g->text);
  dt_free(g->s->cx, g->len);
  dt_free(g->s->cx, g->found);
  dt_free(g->s->cx, g->key);
  dt_free(g->s->cx, g->claim);
  dt_free(g->s->cx, g->group);
  dt_free(g->s->cx, g->blank.v);
  dt_free(g->s->cx, g->source.v);
  for (i = 0; i < DT_NMARKS; i++) dt_free(g->s->cx, g->mark[i].v);
  dt_free(g->s->cx, g->loaded.v);
  dt_free(g->s->cx, g->strided.v);
  dt_free(g->s->cx, g->gains.v);
  dt_free(g->s->cx, g->sent_some.v);
  dt_free(g->s->cx, g->own_pieces.v);
  dt_free(g->s->cx, g->scattered.v);
  dt_free(g->s->cx, g->factors.v);
  dt_free(g->s->cx, g->mapped.v);
  dt_free(g->s->cx, g->waiting.v);
  dt_free(g->s->cx, g->apart.v);
  dt_free(g->s->cx, g->noise.v);
  dt_free(g->s->cx, g->uniform.v);
  dt_free(g->s->cx, g->inner_gains.v);
  dt_free(g->s->cx, g->lowered.v);
  dt_free(g->s->cx, g->differences.v);
  dt_free(g->s->cx, g->copies.v);
  dt_free(g->s->cx, g->shown.v);
  dt_free(g->s->cx, g->coarse_told.v);
  dt_free(g->s->cx, g->params.v);
  dt_free(g->s->cx, g->moved_params.v);
  dt_free(g->s->cx, g->tied.v);
  dt_free(g->s->cx, g->looked.v);
  dt_free(g->s->cx, g->checksums.v);
  dt_free(g->s->cx, g->counts.v);
  dt_free(g->s->cx, g->unreduced.v);
  dt_free(g->s->cx, g->unread.v);
  dt_free(g->s->cx, g->thawed.v);
  dt_free(g->s->cx, g->used_lines.v);
  dt_diag_shares_free(g);
  dt_diag_copies_free(g);
  dt_diag_rules_free(g);
  g->d->diag = NULL;
  dt_free(g->s->cx, g);
}

/* The decision for a call, seen before it is dispatched; NULL if it would fail
** or is not a distributed one. It is the cached one when there is one, as the
** dispatch that follows will find. */
DtProp *dt_diag_decide (DtDiag *g, const DtEvent *e, const DtArgs *args) {
  enum { MOST = 16 };
  const DtSpec *in[MOST];
  DtCtx *cx = g->s->cx;
  DtSpec *first = NULL;
  DtProp *p = NULL;
  int i;
  if (e->nin < 1 || e->nin > MOST) return NULL;
  for (i = 0; i < e->nin; i++) {
    if (e->in[i] == NULL || e->in[i]->spec == NULL) return NULL;
    in[i] = e->in[i]->spec;
  }
  if (dt_handler_first_spec(g->s, e->op, e->nin, in, &first) == DT_OK) {
    in[0] = first;
    if (dt_prop_run(cx, g->s->prop, &(DtOpSchema){ e->op, args, e->nin, in },
                    NULL, &p) != DT_OK)
      dt_error_clear(cx);
    dt_spec_unref(cx, first);
  } else {
    dt_error_clear(cx);
  }
  return p;
}

const DtSpans *dt_diag_spans (const DtDiag *g) { return g->spans; }

const DtFinding *dt_diag_at (const DtDiag *g, int i) {
  return i >= 0 && i < g->n ? &g->found[i] : NULL;
}

/* --- words --- */

static void add_place (const DtFinding *f, DtBuf *b) {
  if (f->line > 0) dt_buf_addf(b, "%s:%d ", f->file ? f->file : "", f->line);
  if (f->seq > 0) dt_buf_addf(b, "#%lld ", (long long)f->seq);
  dt_buf_addf(b, "%s", f->op);
  if (f->backward) dt_buf_add(b, " (backward)");
}

void dt_finding_line (const DtFinding *f, DtBuf *b) {
  dt_buf_addf(b, "%s %s ", f->kind->code, f->kind->trap);
  add_place(f, b);
  dt_buf_addf(b, ": %s", f->kind->title);
  if (*f->evidence) dt_buf_addf(b, ": %s", f->evidence);
}

void dt_finding_brief (const DtFinding *f, DtBuf *b) {
  dt_buf_addf(b, "%s ", f->kind->code);
  if (f->line > 0) dt_buf_addf(b, "%s:%d ", f->file ? f->file : "", f->line);
  dt_buf_addf(b, "%s: %s", *f->subject ? f->subject : f->op, f->kind->title);
  if (*f->evidence) dt_buf_addf(b, ": %s", f->evidence);
  if (f->count > 1) dt_buf_addf(b, " (%lld times)", (long long)f->count);
}

static bool is_python (const DtFinding *f) {
  size_t n = f->file ? strlen(f->file) : 0;
  return n > 3 && strcmp(f->file + n - 3, ".py") == 0;
}

bool dt_finding_tried (const DtFinding *f, DtBuf *b) {
  if (f->verdict == NULL) return false;
  dt_buf_addf(b, "%s: %s", is_python(f) ? f->tried_torch : f->tried_lua,
              f->verdict);
  return true;
}

/* An edit of several lines, beside the word. */
static void add_edit (const char *edit, DtBuf *b) {
  for (const char *word = "edit", *end; *edit; edit = end + 1, word = "") {
    end = strchr(edit, '\n');
    dt_buf_addf(b, "  %-8s %.*s\n", word, (int)(end - edit), edit);
  }
}

void dt_finding_text (const DtFinding *f, DtBuf *b) {
  dt_buf_addf(b, "%s %s %s: %s\n  at       ", f->kind->code, f->kind->trap,
              dt_find_severity(f->kind->severity), f->kind->title);
  add_place(f, b);
  if (f->module && *f->module) dt_buf_addf(b, "  in %s", f->module);
  if (f->count > 1) dt_buf_addf(b, "  %lld times", (long long)f->count);
  if (*f->subject) dt_buf_addf(b, "\n  tensor   %s", f->subject);
  if (*f->evidence) dt_buf_addf(b, "\n  evidence %s", f->evidence);
  dt_buf_addf(b, "\n  cause    %s\n  fix      %s\n  PyTorch  %s\n",
              f->kind->cause, f->lua, f->torch);
  add_edit(f->edit, b);
  if (f->verdict != NULL) {
    dt_buf_add(b, "  tried    ");
    dt_finding_tried(f, b);
    dt_buf_addc(b, '\n');
  }
}

void dt_diag_fresh (DtDiag *g, DtBuf *b) {
  int i;
  for (i = 0; i < g->n; i++) {
    if (g->found[i].shown) continue;
    g->found[i].shown = true;
    dt_finding_line(&g->found[i], b);
    dt_buf_addc(b, '\n');
  }
}
