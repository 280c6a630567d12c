/* SPDX-License-Identifier: MIT
** debug/bp.c: breakpoints: what they are (the table of kinds), how they are
** written, when they hit.
**
** A breakpoint has a kind, the kind's arguments, and what all have: condition,
** count of hits to ignore, commands, on or off, once.  A kind names the events
** it looks at, and only those are listened to while it is on. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "debug/control.h"

#define BIT(k) (UINT64_C(1) << DT_EV_##k)

bool dt_glob (const char *p, const char *t) {
  for (; *p; p++, t++) {
    if (*p == '*') {
      while (p[1] == '*') p++;
      for (; *t; t++) if (dt_glob(p + 1, t)) return true;
      return p[1] == 0;
    }
    if (*t == 0 || (*p != '?' && *p != *t)) return false;
  }
  return *t == 0;
}

/* --- what an event is --- */

/* "aten.mm*" matches by the full name, "mm" and "aten.mm" by the base. */
static bool op_matches (const char *glob, const char *full) {
  char base[128];
  const char *ns = strchr(full, '.');
  size_t n;
  if (dt_glob(glob, full)) return true;
  if (ns == NULL) return false;
  if (dt_glob(glob, ns + 1)) return true;
  n = strcspn(ns + 1, ".") + (size_t)(ns + 1 - full);
  if (n >= sizeof base) return false;
  memcpy(base, full, n);
  base[n] = 0;
  return dt_glob(glob, base) || dt_glob(glob, base + (ns + 1 - full));
}

static const char *event_name (const DtEvent *e) {
  if (e->op && e->op->sig) return e->op->sig->full;
  return e->text ? e->text : "";
}

/* The answer for an operator is kept: asking again costs a look. */
static bool m_op (DtControl *c, DtBreak *b, const DtEvent *e) {
  unsigned k = (unsigned)((uintptr_t)e->op >> 5) % 32;
  (void)c;
  if (e->op == NULL) return op_matches(b->arg, event_name(e));
  if (b->seen[k] != e->op) {
    b->yes[k] = op_matches(b->arg, event_name(e));
    b->seen[k] = e->op;
  }
  return b->yes[k];
}

static bool m_mixed (DtControl *c, DtBreak *b, const DtEvent *e) {
  bool dist = false, plain = false;
  int i;
  (void)c; (void)b;
  for (i = 0; i < e->nin; i++) {
    if (e->in[i] == NULL) continue;
    if (e->in[i]->spec) dist = true;
    else if (dt_meta_numel(dt_var_meta(e->in[i])) != 1) plain = true;
  }
  return dist && plain;
}

static bool m_missing (DtControl *c, DtBreak *b, const DtEvent *e) {
  (void)c; (void)b;
  return e->status == DT_E_MISSING;
}

static bool m_diverge (DtControl *c, DtBreak *b, const DtEvent *e) {
  (void)c; (void)b;
  return e->status == DT_E_DIVERGED;
}

static bool m_error (DtControl *c, DtBreak *b, const DtEvent *e) {
  const DtErrorInfo *i = dt_error_info(e->status);
  (void)c;
  return b->arg == NULL || strcmp(b->arg, i->id) == 0 ||
         strcmp(b->arg, i->name) == 0;
}

static bool m_redistribute (DtControl *c, DtBreak *b, const DtEvent *e) {
  (void)c;
  return e->plan && (!b->implicit || e->implicit) &&
         (b->num < 0 || dt_plan_bytes(e->plan) > b->num);
}

/* By what it does, which is how people call it, or by its name. */
static bool coll_matches (const char *glob, const char *name) {
  const DtCollName *known = dt_coll_find(name);
  size_t n = strlen(glob);
  return dt_glob(glob, name) || (known && dt_glob(glob, known->does)) ||
         (strncmp(name, glob, n) == 0 && (name[n] == '_' || name[n] == 0));
}

static bool m_collective (DtControl *c, DtBreak *b, const DtEvent *e) {
  DtBuf label;
  bool yes;
  if (b->arg && !coll_matches(b->arg, e->coll)) return false;
  if (b->arg2 == NULL) return true;
  if (e->mesh == NULL || e->mdim < 0) return false;
  dt_buf_init(&label, c->d->s->cx);
  dt_mesh_dim_label(e->mesh, e->mdim, &label);
  yes = strcmp(dt_buf_str(&label), b->arg2) == 0;
  dt_buf_fini(&label);
  return yes;
}

/* One placement: on any mesh dimension; several: all of them. */
static bool placed (const DtSpec *s, const DtPlacement *pl, int n) {
  int i;
  if (n > 1 || s->npl == 1)
    return n == s->npl && dt_pls_equal(s->pl, pl, n);
  for (i = 0; i < s->npl; i++) if (dt_pl_equal(s->pl[i], pl[0])) return true;
  return false;
}

/* Hits when it becomes so, not while it stays. */
static bool m_placement (DtControl *c, DtBreak *b, const DtEvent *e) {
  DtPlacement pl[DT_MAX_MDIM];
  int n = 0;
  bool now = false, was = b->was;
  DtVar *v = c->h.variable ? c->h.variable(c->h.ud, b->arg) : NULL;
  (void)e;
  if (v && v->spec) {
    if (dt_pls_parse(c->d->s->cx, b->arg2, pl, DT_MAX_MDIM, &n) == DT_OK)
      now = placed(v->spec, pl, n);
    else dt_error_clear(c->d->s->cx);
  }
  b->was = now;
  return now && !was;
}

/* Another tensor in the variable, or other values or placements in it. */
static bool m_watch (DtControl *c, DtBreak *b, const DtEvent *e) {
  DtVar *v = c->h.variable ? c->h.variable(c->h.ud, b->arg) : NULL;
  int64_t now = v == NULL ? 0
    : v->id * 1000003 + v->local->storage->version * 31 +
      (int64_t)(v->spec ? v->spec->hash >> 8 : 0);
  bool changed = b->was && now != b->num;
  (void)e;
  b->was = true;
  b->num = now;
  return changed;
}

static bool uneven (const DtSpec *s) {
  int64_t parts[DT_MAX_NDIM];
  int d, m;
  if (!s->has_meta) return false;
  for (d = 0; d < s->meta.ndim; d++) parts[d] = 1;
  for (m = 0; m < s->npl; m++)
    if (dt_pl_is_shard_like(s->pl[m]) && s->pl[m].dim >= 0 &&
        s->pl[m].dim < s->meta.ndim)
      parts[s->pl[m].dim] *= s->mesh->shape[m];
  for (d = 0; d < s->meta.ndim; d++)
    if (s->meta.shape[d] % parts[d] != 0) return true;
  return false;
}

static bool m_uneven (DtControl *c, DtBreak *b, const DtEvent *e) {
  int i;
  (void)c; (void)b;
  for (i = 0; i < e->nout; i++)
    if (e->out[i] && e->out[i]->spec && uneven(e->out[i]->spec)) return true;
  return false;
}

static bool is_float (const DtVar *v) {
  return dt_dtype_info((DtDtype)dt_var_meta(v)->dtype)->kind == DT_K_FLOAT;
}

/* A result whose floating type is not that of every floating input. */
static bool m_cast (DtControl *c, DtBreak *b, const DtEvent *e) {
  int i, k;
  (void)c; (void)b;
  for (i = 0; i < e->nout; i++) {
    if (e->out[i] == NULL || !is_float(e->out[i])) continue;
    for (k = 0; k < e->nin; k++)
      if (e->in[k] && is_float(e->in[k]) && !dt_var_meta(e->in[k])->wrapped &&
          dt_var_meta(e->in[k])->ndim > 0 &&
          dt_var_meta(e->in[k])->dtype != dt_var_meta(e->out[i])->dtype)
        return true;
  }
  return false;
}

static bool has_nan (const DtTensor *t) {
  int64_t index[DT_MAX_NDIM] = {0}, n = dt_meta_numel(&t->m), i;
  int d;
  if (!dt_tensor_has_data(t)) return false;
  if (t->m.dtype == DT_F32 && dt_meta_is_contiguous(&t->m)) {
    const float *p = (const float *)dt_tensor_cdata(t);
    for (i = 0; i < n; i++) if (p[i] != p[i]) return true;
    return false;
  }
  for (i = 0; i < n; i++) {
    DtScalar v = dt_tensor_get(t, index);
    if (v.re != v.re || v.im != v.im) return true;
    for (d = t->m.ndim - 1; d >= 0; d--) {
      if (++index[d] < t->m.shape[d]) break;
      index[d] = 0;
    }
  }
  return false;
}

static bool m_nan (DtControl *c, DtBreak *b, const DtEvent *e) {
  int i;
  (void)c; (void)b;
  for (i = 0; i < e->nout; i++)
    if (e->out[i] && is_float(e->out[i]) && has_nan(e->out[i]->local))
      return true;
  return false;
}

static bool m_always (DtControl *c, DtBreak *b, const DtEvent *e) {
  (void)c; (void)b; (void)e;
  return true;
}

static bool m_module (DtControl *c, DtBreak *b, const DtEvent *e) {
  (void)c;
  return b->arg == NULL || (e->text && dt_glob(b->arg, e->text));
}

/* --- the table --- */

static const DtBpKind kinds[] = {
  {"line", "FILE:LINE", 0, NULL, "before a line of the script"},
  {"op", "GLOB", BIT(OP) | BIT(FUNC), m_op,
   "before an operator: aten.mm*, mm, aten.linear"},
  {"mixed", "", BIT(OP), m_mixed,
   "before an operator that gets plain and distributed tensors"},
  {"missing", "", BIT(ERROR), m_missing,
   "where an operator has no sharding strategy"},
  {"redistribute", "[> BYTES] [implicit]", BIT(REDIST), m_redistribute,
   "before a redistribution: > 1M bytes sent per rank, implicit ones only"},
  {"collective", "[NAME] [on MDIM]", BIT(COLL), m_collective,
   "before a collective: all_gather on tp"},
  {"placement", "X = PLACEMENTS", BIT(OP), m_placement,
   "where the variable X comes to have placements: x = P(sum)"},
  {"watch", "X", BIT(OP), m_watch,
   "where the variable X holds something else than before"},
  {"uneven", "", BIT(OP_END), m_uneven,
   "after an operator whose result does not divide evenly"},
  {"cast", "", BIT(OP_END), m_cast,
   "after an operator that changed a floating dtype"},
  {"nan", "", BIT(OP_END), m_nan, "after an operator whose result has a NaN"},
  {"diverge", "", BIT(ERROR), m_diverge,
   "where ranks turn out to have taken different paths"},
  {"error", "[CODE]", BIT(ERROR), m_error,
   "where an error is raised, also one the script catches"},
  {"backward", "", BIT(BACKWARD), m_always, "before backward"},
  {"module", "[GLOB]", BIT(MODULE), m_module,
   "before the forward of a module: layers.0.*"},
  {"grad", "", BIT(GRAD), m_always, "when a gradient reaches a leaf"},
  {"warning", "", BIT(WARNING), m_always, "where PyTorch would warn"},
};
enum { NKINDS = sizeof kinds / sizeof kinds[0] };

const DtBpKind *dt_bp_kind (int i) {
  return i >= 0 && i < NKINDS ? &kinds[i] : NULL;
}

/* --- reading --- */

typedef struct Parse { DtControl *c; DtBreak b; const char *s; } Parse;

static void skip (Parse *p) { while (isspace((unsigned char)*p->s)) p->s++; }

static char *word (Parse *p) {
  size_t n = strcspn(p->s, " \t");
  char *w = dt_strndup(p->c->d->s->cx, p->s, n);
  p->s += n;
  skip(p);
  return w;
}

static DtStatus bad (Parse *p, const char *what) {
  return dt_raise(p->c->d->s->cx, DT_E_COMMAND, "%s, not \"%s\"", what, p->s);
}

/* "1M", "64k", "100". */
static DtStatus parse_bytes (Parse *p) {
  char *end;
  double v = strtod(p->s, &end);
  if (end == p->s || v < 0 || v > 1e15)
    return bad(p, "wanted a number of bytes as 100, 64k, 1M, 2G after >");
  switch (tolower((unsigned char)*end)) {
    case 'k': v *= 1 << 10; end++; break;
    case 'm': v *= 1 << 20; end++; break;
    case 'g': v *= 1 << 30; end++; break;
    default: break;
  }
  if (*end == 'B' || *end == 'b') end++;
  p->b.num = (int64_t)v;
  p->s = end;
  skip(p);
  return DT_OK;
}

static DtStatus parse_redistribute (Parse *p) {
  p->b.num = -1;
  while (*p->s) {
    if (*p->s == '>') {
      p->s++;
      skip(p);
      DT_TRY(p->c->d->s->cx, parse_bytes(p));
    } else if (strncmp(p->s, "implicit", 8) == 0) {
      p->b.implicit = true;
      p->s += 8;
      skip(p);
    } else return bad(p, "redistribute takes > BYTES and implicit");
  }
  return DT_OK;
}

static DtStatus parse_collective (Parse *p) {
  if (strcmp(p->s, "on") == 0)
    return bad(p, "wanted a mesh dimension after on");
  if (*p->s && strncmp(p->s, "on ", 3) != 0) p->b.arg = word(p);
  if (strncmp(p->s, "on ", 3) == 0) {
    p->s += 3;
    skip(p);
    if (*p->s == 0) return bad(p, "wanted a mesh dimension after on");
    p->b.arg2 = word(p);
  }
  return DT_OK;
}

static DtStatus parse_placement (Parse *p) {
  DtCtx *cx = p->c->d->s->cx;
  const char *eq = strchr(p->s, '=');
  DtPlacement pl[DT_MAX_MDIM];
  size_t n;
  int npl;
  if (eq == NULL || eq == p->s)
    return bad(p, "wanted a variable and placements, as x = P(sum)");
  for (n = (size_t)(eq - p->s); n > 0 && p->s[n - 1] == ' '; ) n--;
  p->b.arg = dt_strndup(cx, p->s, n);
  p->s = eq + 1;
  skip(p);
  if (dt_pls_parse(cx, p->s, pl, DT_MAX_MDIM, &npl) != DT_OK || npl == 0) {
    dt_error_clear(cx);
    return bad(p, "wanted placements as P(sum) or S(0) R");
  }
  p->b.arg2 = dt_strdup(cx, p->s);
  p->s += strlen(p->s);
  return DT_OK;
}

/* "repro.lua:14", "14": a place in the script. */
static DtStatus parse_line (Parse *p) {
  DtCtx *cx = p->c->d->s->cx;
  const char *colon = strrchr(p->s, ':');
  const char *num = colon ? colon + 1 : p->s;
  char *end;
  long line = strtol(num, &end, 10);
  if (end == num || *end != 0 || line <= 0 || line > 100000000)
    return bad(p, "wanted FILE:LINE, or a kind of breakpoint (:help break)");
  p->b.num = line;
  if (colon) p->b.arg = dt_strndup(cx, p->s, (size_t)(colon - p->s));
  else if (p->c->at && p->c->at->file)
    p->b.arg = dt_strdup(cx, p->c->at->file);
  p->s += strlen(p->s);
  return DT_OK;
}

static DtStatus parse_args (Parse *p) {
  const char *name = p->b.kind->name;
  if (strcmp(name, "line") == 0) return parse_line(p);
  if (strcmp(name, "redistribute") == 0) return parse_redistribute(p);
  if (strcmp(name, "collective") == 0) return parse_collective(p);
  if (strcmp(name, "placement") == 0) return parse_placement(p);
  if (*p->s && *p->b.kind->args) p->b.arg = word(p);
  else if (*p->b.kind->args && p->b.kind->args[0] != '[')
    return dt_raise(p->c->d->s->cx, DT_E_COMMAND, "%s wants %s: %s",
                    p->b.kind->name, p->b.kind->args, p->b.kind->text);
  return DT_OK;
}

static const DtBpKind *find_kind (const char *s) {
  size_t n = strcspn(s, " \t");
  int i;
  for (i = 0; i < NKINDS; i++)
    if (strlen(kinds[i].name) == n && strncmp(kinds[i].name, s, n) == 0)
      return &kinds[i];
  return NULL;
}

/* What would never hit is an error: a collective that nothing is called, an
** error code that does not exist, what is no name of a variable. */
/* What collectives do, each once. */
static void add_collectives (DtBuf *b) {
  const DtCollName *k, *before;
  int i, j;
  for (i = 0; (k = dt_coll_name(i)) != NULL; i++) {
    for (j = 0; (before = dt_coll_name(j)) != k; j++)
      if (strcmp(before->does, k->does) == 0) break;
    if (before == k) dt_buf_addf(b, "%s%s", i ? ", " : "", k->does);
  }
}

static DtStatus check_collective (DtControl *c, const DtBreak *b) {
  const DtCollName *k;
  DtBuf all;
  DtStatus st;
  int i;
  if (b->arg == NULL) return DT_OK;
  for (i = 0; (k = dt_coll_name(i)) != NULL; i++)
    if (coll_matches(b->arg, k->name)) return DT_OK;
  dt_buf_init(&all, c->d->s->cx);
  add_collectives(&all);
  st = dt_raise(c->d->s->cx, DT_E_COMMAND, "no collective is called %s; "
                "there are %s", b->arg, dt_buf_str(&all));
  dt_buf_fini(&all);
  return st;
}

static DtStatus check_error (DtControl *c, const DtBreak *b) {
  if (b->arg == NULL || dt_error_find(b->arg) != DT_OK) return DT_OK;
  return dt_raise(c->d->s->cx, DT_E_COMMAND, "no error has the code %s (one "
                  "has: DT0101, or MIXED)", b->arg);
}

static DtStatus check_variable (DtControl *c, const DtBreak *b) {
  const char *s = b->arg;
  if (isalpha((unsigned char)*s) || *s == '_')
    while (isalnum((unsigned char)*s) || *s == '_' || *s == '.') s++;
  DT_CHECK(c->d->s->cx, s != b->arg && *s == 0, DT_E_COMMAND, "\"%s\" is no "
           "name of a variable", b->arg);
  return DT_OK;
}

/* Does the operator exist?  A pattern that no operator matches would never
** hit. */
static DtStatus check_op (DtControl *c, const DtBreak *b) {
  DtSession *s = c->d->s;
  const DtPacket *pk;
  const char *near[3];
  int it = 0, n;
  while ((pk = dt_registry_next(s->cx, s->registry, &it)) != NULL) {
    char full[256];
    snprintf(full, sizeof full, "%s.%s.default", pk->ns, pk->base);
    if (op_matches(b->arg, full)) return DT_OK;
  }
  if (dt_registry_find(s->cx, s->registry, b->arg)) return DT_OK;
  dt_error_clear(s->cx);
  if (strpbrk(b->arg, "*?") && strchr(b->arg, '.') &&
      strncmp(b->arg, "aten.", 5) != 0) return DT_OK;   /* a user's, later */
  if (strstr(b->arg, "redistribute") || strstr(b->arg, "distribute_tensor"))
    return DT_OK;
  n = dt_registry_near(s->cx, s->registry, b->arg, near, 3);
  return dt_raise(s->cx, DT_E_COMMAND, "no operator is called %s%s%s%s",
                  b->arg, n ? "; did you mean " : "", n ? near[0] : "",
                  n ? "?" : "");
}

static DtStatus check (DtControl *c, const DtBreak *b) {
  const char *kind = b->kind->name;
  if (strcmp(kind, "op") == 0) return check_op(c, b);
  if (strcmp(kind, "collective") == 0) return check_collective(c, b);
  if (strcmp(kind, "error") == 0) return check_error(c, b);
  if (strcmp(kind, "watch") == 0 || strcmp(kind, "placement") == 0)
    return check_variable(c, b);
  return DT_OK;
}

static void break_fini (DtControl *c, DtBreak *b) {
  DtCtx *cx = c->d->s->cx;
  dt_free(cx, b->text);
  dt_free(cx, b->arg);
  dt_free(cx, b->arg2);
  dt_free(cx, b->cond);
  dt_free(cx, b->commands);
}

static DtStatus replace (DtControl *c, char **slot, const char *text) {
  char *copy = NULL;
  if (text && *text) {
    copy = dt_strdup(c->d->s->cx, text);
    if (copy == NULL) return DT_E_NOMEM;
  }
  dt_free(c->d->s->cx, *slot);
  *slot = copy;
  return DT_OK;
}

static DtStatus parse (Parse *p, const char *text) {
  DtCtx *cx = p->c->d->s->cx;
  const char *cond = strstr(text, " if ");
  size_t n = cond ? (size_t)(cond - text) : strlen(text);
  char *head;
  DtStatus st;
  if (cond) DT_TRY(cx, dt_bp_set_cond(p->c, &p->b, cond + 4));
  while (n > 0 && isspace((unsigned char)text[n - 1])) n--;
  p->b.text = dt_strndup(cx, text, n);
  head = p->b.text;
  if (head == NULL) return DT_E_NOMEM;
  p->s = head;
  skip(p);
  p->b.num = -1;
  p->b.kind = find_kind(p->s);
  if (p->b.kind) {
    p->s += strlen(p->b.kind->name);
    skip(p);
  } else p->b.kind = &kinds[0];
  st = parse_args(p);
  if (st == DT_OK && *p->s)
    st = dt_raise(cx, DT_E_COMMAND, "%s takes %s, not \"%s\"",
                  p->b.kind->name,
                  *p->b.kind->args ? p->b.kind->args : "nothing more", p->s);
  if (st == DT_OK && cx->err.code == DT_E_NOMEM) st = DT_E_NOMEM;
  if (st == DT_OK) st = check(p->c, &p->b);
  return st;
}

DtStatus dt_bp_add (DtControl *c, const char *text, bool once, int *id) {
  DtCtx *cx = c->d->s->cx;
  Parse p;
  DtStatus st;
  memset(&p, 0, sizeof p);
  p.c = c;
  st = parse(&p, text);
  if (st == DT_OK && c->nbp == c->capbp) {
    int cap = c->capbp ? c->capbp * 2 : 8;
    DtBreak *more = dt_realloc(cx, c->bp, (size_t)cap * sizeof *more);
    if (more == NULL) st = DT_E_NOMEM;
    else { c->bp = more; c->capbp = cap; }
  }
  if (st != DT_OK) { break_fini(c, &p.b); return st; }
  p.b.once = once;
  p.b.id = ++c->next_id;
  c->bp[c->nbp++] = p.b;
  if (id) *id = p.b.id;
  if (c->at == NULL) dt_control_arm(c);
  return DT_OK;
}

DtBreak *dt_bp_find (DtControl *c, int id) {
  int i;
  for (i = 0; i < c->nbp; i++) if (c->bp[i].id == id) return &c->bp[i];
  return NULL;
}

DtStatus dt_bp_delete (DtControl *c, int id) {
  int i;
  bool found = id == 0;
  for (i = c->nbp - 1; i >= 0; i--) {
    if (id != 0 && c->bp[i].id != id) continue;
    found = true;
    break_fini(c, &c->bp[i]);
    memmove(&c->bp[i], &c->bp[i + 1],
            sizeof *c->bp * (size_t)(c->nbp - i - 1));
    c->nbp--;
  }
  DT_CHECK(c->d->s->cx, found, DT_E_INDEX, "there is no breakpoint %d", id);
  if (c->at == NULL) dt_control_arm(c);
  return DT_OK;
}

DtStatus dt_bp_set_cond (DtControl *c, DtBreak *b, const char *cond) {
  return replace(c, &b->cond, cond);
}

DtStatus dt_bp_set_commands (DtControl *c, DtBreak *b, const char *text) {
  return replace(c, &b->commands, text);
}

/* --- writing --- */

void dt_bp_print (const DtBreak *b, DtBuf *out) {
  dt_buf_addf(out, "%-3d %s", b->id, b->text);
  if (b->cond) dt_buf_addf(out, " if %s", b->cond);
  if (b->once) dt_buf_add(out, "  once");
  if (b->off) dt_buf_add(out, "  off");
  if (b->ignore > 0)
    dt_buf_addf(out, "  ignores %lld", (long long)b->ignore);
  if (b->hits > 0) dt_buf_addf(out, "  hits %lld", (long long)b->hits);
}

void dt_bp_save (const DtControl *c, DtBuf *out) {
  int i;
  for (i = 0; i < c->nbp; i++) {
    const DtBreak *b = &c->bp[i];
    const char *s = b->commands;
    dt_buf_addf(out, "%s %s", b->once ? "tbreak" : "break", b->text);
    if (b->cond) dt_buf_addf(out, " if %s", b->cond);
    dt_buf_addc(out, '\n');
    if (b->off) dt_buf_add(out, "off\n");
    if (b->ignore > 0)
      dt_buf_addf(out, "ignore %lld\n", (long long)b->ignore);
    while (s && *s) {
      size_t n = strcspn(s, "\n");
      dt_buf_addf(out, "command %.*s\n", (int)n, s);
      s += n + (s[n] == '\n');
    }
  }
}

static DtStatus add_command (DtControl *c, DtBreak *b, const char *line) {
  DtBuf t;
  DtStatus st;
  dt_buf_init(&t, c->d->s->cx);
  if (b->commands) dt_buf_addf(&t, "%s\n", b->commands);
  dt_buf_add(&t, line);
  st = dt_buf_ok(&t);
  if (st == DT_OK) st = replace(c, &b->commands, dt_buf_str(&t));
  dt_buf_fini(&t);
  return st;
}

static DtStatus load_line (DtControl *c, int *id, const char *s) {
  DtBreak *b = *id ? dt_bp_find(c, *id) : NULL;
  if (strncmp(s, "break ", 6) == 0) return dt_bp_add(c, s + 6, false, id);
  if (strncmp(s, "tbreak ", 7) == 0) return dt_bp_add(c, s + 7, true, id);
  if (b && strcmp(s, "off") == 0) { b->off = true; return DT_OK; }
  if (b && strncmp(s, "ignore ", 7) == 0) {
    b->ignore = strtoll(s + 7, NULL, 10);
    return DT_OK;
  }
  if (b && strncmp(s, "command ", 8) == 0) return add_command(c, b, s + 8);
  return dt_raise(c->d->s->cx, DT_E_COMMAND, "this is no line of saved "
                  "breakpoints: \"%.60s\"", s);
}

DtStatus dt_bp_load (DtControl *c, const char *text) {
  DtCtx *cx = c->d->s->cx;
  DtStatus st = DT_OK;
  int id = 0;
  while (*text && st == DT_OK) {
    size_t n = strcspn(text, "\r\n");
    char *line = dt_strndup(cx, text, n);
    if (line == NULL) return DT_E_NOMEM;
    if (*line && strncmp(line, "--", 2) != 0) st = load_line(c, &id, line);
    dt_free(cx, line);
    text += n;
    text += strspn(text, "\r\n");
  }
  if (c->at == NULL) dt_control_arm(c);
  return st;
}

/* --- hitting --- */

static void hit (DtControl *c, DtBreak *b, const DtEvent *e, DtStopAt *at) {
  if (b->cond && c->h.cond) {
    DtBuf why;
    bool yes, wrong;
    dt_buf_init(&why, c->d->s->cx);
    yes = c->h.cond(c->h.ud, b, e, &why);
    wrong = why.len > 0;
    if (wrong)
      snprintf(at->note, sizeof at->note, "condition of breakpoint %d: %s",
               b->id, dt_buf_str(&why));
    dt_buf_fini(&why);
    if (!yes && !wrong) return;
  }
  b->hits++;
  if (b->ignore > 0) { b->ignore--; return; }
  if (b->once) b->off = true;
  if (at->nhit < 8) at->hit[at->nhit++] = b->id;
}

void dt_bp_event (DtControl *c, const DtEvent *e, DtStopAt *at) {
  int i;
  for (i = 0; i < c->nbp; i++) {
    DtBreak *b = &c->bp[i];
    if ((b->kind->events >> e->kind & 1) == 0 || b->off) continue;
    if (b->kind->match(c, b, e)) hit(c, b, e, at);
  }
}

/* "a.lua" and "dir/a.lua" are the same script when one ends in the other. */
static bool same_file (const char *want, const char *file) {
  size_t n = strlen(want), k = strlen(file);
  if (strncmp(want, "./", 2) == 0) return same_file(want + 2, file);
  if (n > k) return false;
  return strcmp(file + k - n, want) == 0 && (n == k || file[k - n - 1] == '/');
}

void dt_bp_line (DtControl *c, const char *file, int line, DtStopAt *at) {
  int i;
  for (i = 0; i < c->nbp; i++) {
    DtBreak *b = &c->bp[i];
    if (b->kind->events != 0 || b->off || b->num != line) continue;
    if (b->arg == NULL || same_file(b->arg, file)) hit(c, b, NULL, at);
  }
}

uint64_t dt_bp_events (DtControl *c, bool *lines) {
  uint64_t mask = 0;
  int i;
  memset(c->lines_set, 0, sizeof c->lines_set);
  for (i = 0; i < c->nbp; i++) {
    const DtBreak *b = &c->bp[i];
    if (b->off) continue;
    mask |= b->kind->events;
    if (b->kind->events == 0) {
      c->lines_set[b->num >> 6 & 15] |= UINT64_C(1) << (b->num & 63);
      *lines = true;
    }
  }
  return mask;
}

void dt_bp_free (DtControl *c) {
  int i;
  for (i = 0; i < c->nbp; i++) break_fini(c, &c->bp[i]);
  dt_free(c->d->s->cx, c->bp);
  c->bp = NULL;
  c->nbp = c->capbp = 0;
}
