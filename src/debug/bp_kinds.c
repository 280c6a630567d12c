/* SPDX-License-Identifier: MIT
** debug/bp_kinds.c: the kinds of breakpoints: which events each looks at, and
** when such an event is one. */
#include <string.h>
#include "base/error_comm.h"
#include "base/error_shard.h"
#include "debug/bp_int.h"

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
bool dt_bp_op_matches (const char *glob, const char *full) {
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
  if (e->op == NULL) return dt_bp_op_matches(b->arg, event_name(e));
  if (b->seen[k] != e->op) {
    b->yes[k] = dt_bp_op_matches(b->arg, event_name(e));
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
bool dt_bp_coll_matches (const char *glob, const char *name) {
  const DtCollName *known = dt_coll_find(name);
  size_t n = strlen(glob);
  return dt_glob(glob, name) || (known && dt_glob(glob, known->does)) ||
         (strncmp(name, glob, n) == 0 && (name[n] == '_' || name[n] == 0));
}

static bool m_collective (DtControl *c, DtBreak *b, const DtEvent *e) {
  DtBuf label;
  bool yes;
  if (b->arg && !dt_bp_coll_matches(b->arg, e->coll)) return false;
  if (b->arg2 == NULL) return true;
  if (e->mesh == NULL || e->mdim < 0) return false;
  dt_buf_init(&label, c->d->s->cx);
  dt_mesh_dim_label(e->mesh, e->mdim, &label);
  yes = strcmp(dt_buf_str(&label), b->arg2) == 0;
  dt_buf_fini(&label);
  return yes;
}

/* One placement: on any mesh dimension; several: all of them. */
static bool has_placements (const DtSpec *s, const DtPlacement *pl, int n) {
  int i;
  if (n > 1 || s->npl == 1)
    return n == s->npl && dt_pls_equal(s->pl, pl, n);
  for (i = 0; i < s->npl; i++) if (dt_pl_equal(s->pl[i], pl[0])) return true;
  return false;
}

/* "P" is any Partial. */
static bool has_placement (const DtBreak *b, const DtVar *v,
                           const DtPlacement *pl, int n) {
  if (v == NULL || v->spec == NULL) return false;
  if (strcmp(b->arg2, "P") != 0) return has_placements(v->spec, pl, n);
  for (int i = 0; i < v->spec->npl; i++)
    if (dt_pl_is_partial(v->spec->pl[i])) return true;
  return false;
}

/* Without a variable: a result has it, and no input had. */
static bool arises_here (DtControl *c, const DtBreak *b, const DtEvent *e) {
  DtPlacement pl[DT_MAX_MDIM];
  int n = 0, i;
  bool yes = false;
  if (dt_pls_parse(c->d->s->cx, b->arg2, pl, DT_MAX_MDIM, &n) != DT_OK) {
    dt_error_clear(c->d->s->cx);
    return false;
  }
  for (i = 0; i < e->nout; i++) yes = yes || has_placement(b, e->out[i], pl, n);
  for (i = 0; i < e->nin; i++) yes = yes && !has_placement(b, e->in[i], pl, n);
  return yes;
}

/* Hits when it becomes so, not while it stays. */
static bool m_placement (DtControl *c, DtBreak *b, const DtEvent *e) {
  DtPlacement pl[DT_MAX_MDIM];
  int n = 0;
  bool now = false, was = b->was;
  if (b->arg == NULL) return e->kind == DT_EV_OP_END && arises_here(c, b, e);
  if (e->kind != DT_EV_OP) return false;
  DtVar *v = c->h.variable ? c->h.variable(c->h.ud, b->arg) : NULL;
  if (v && v->spec) {
    if (dt_pls_parse(c->d->s->cx, b->arg2, pl, DT_MAX_MDIM, &n) == DT_OK)
      now = has_placements(v->spec, pl, n);
    else dt_error_clear(c->d->s->cx);
  }
  b->was = now;
  return now && !was;
}

/* Another tensor in the variable, or other values or placements in it.  Where it
** is not seen, in another function, nothing is known of it. */
static bool m_watch (DtControl *c, DtBreak *b, const DtEvent *e) {
  DtVar *v = c->h.variable ? c->h.variable(c->h.ud, b->arg) : NULL;
  (void)e;
  if (v == NULL) return false;
  int64_t now = v->id * 1000003 + v->local->storage->version * 31 +
                (int64_t)(v->spec ? v->spec->hash >> 8 : 0);
  bool changed = b->was && now != b->num;
  b->was = true;
  b->num = now;
  return changed;
}

static bool is_uneven (const DtSpec *s) {
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
    if (e->out[i] && e->out[i]->spec && is_uneven(e->out[i]->spec)) return true;
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
  {"line", "FILE:LINE", 0, NULL, "before a line of the script", NULL},
  {"op", "GLOB", BIT(OP) | BIT(FUNC), m_op,
   "before an operator: aten.mm*, mm, aten.linear", NULL},
  {"mixed", "", BIT(OP), m_mixed,
   "before an operator that gets plain and distributed tensors", NULL},
  {"missing", "", BIT(ERROR), m_missing,
   "where an operator has no sharding strategy", NULL},
  {"redistribute", "[> BYTES] [implicit]", BIT(REDIST), m_redistribute,
   "before a redistribution: > 1M bytes sent per rank, implicit ones only", NULL},
  {"collective", "[NAME] [on MDIM]", BIT(COLL), m_collective,
   "before a collective: all_gather on tp", NULL},
  {"placement", "[X =] PLACEMENTS", BIT(OP) | BIT(OP_END), m_placement,
   "where the variable X comes to have placements: x = P(sum); without X, where "
   "an operator makes them of others: P", NULL},
  {"watch", "X", BIT(OP), m_watch,
   "where the variable X holds something else than before", NULL},
  {"uneven", "", BIT(OP_END), m_uneven,
   "after an operator whose result does not divide evenly", NULL},
  {"cast", "", BIT(OP_END), m_cast,
   "after an operator that changed a floating dtype", NULL},
  {"nan", "", BIT(OP_END), dt_bp_nan,
   "after an operator whose result has a NaN on some rank", dt_bp_nan_found},
  {"diverge", "", BIT(ERROR), m_diverge,
   "where ranks turn out to have taken different paths", NULL},
  {"error", "[CODE]", BIT(ERROR), m_error,
   "where an error is raised, also one the script catches", NULL},
  {"backward", "", BIT(BACKWARD), m_always, "before backward", NULL},
  {"module", "[GLOB]", BIT(MODULE), m_module,
   "before the forward of a module: layers.0.*", NULL},
  {"grad", "", BIT(GRAD), m_always, "when a gradient reaches a leaf", NULL},
  {"warning", "", BIT(WARNING), m_always, "where PyTorch would warn", NULL},
};
enum { NKINDS = sizeof kinds / sizeof kinds[0] };

const DtBpKind *dt_bp_kind (int i) {
  return i >= 0 && i < NKINDS ? &kinds[i] : NULL;
}
