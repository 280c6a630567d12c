/* SPDX-License-Identifier: MIT
** op/selfcheck.c: what every operator definition must say.
**
** An empty field needs the flag that means it is empty on purpose; rules must
** parse and have as many placements as the schema has tensors. */
#include <string.h>
#include "compat/profile.h"
#include "op/registry_int.h"

static DtStatus bad (DtCtx *cx, const DtOpDef *op, const char *what) {
  return dt_raise(cx, DT_E_INTERNAL, "operator %s: %s", op->sig->full, what);
}

static bool sharded_somehow (const DtOpDef *op) {
  return op->rules != NULL || op->rulefn != NULL || op->strategy != NULL ||
         op->decomp != NULL ||
         (op->flags & (DT_OP_POINTWISE | DT_OP_COMPOSITE | DT_OP_FACTORY |
                       DT_OP_HANDLER | DT_OP_NOSTRATEGY | DT_OP_DATADEP |
                       DT_OP_CUSTOM)) != 0;
}

/* Does its text say since when PyTorch has a strategy for it?  What has rows or
** a strategy of its own must say so: without the line no release has it. */
static bool has_its_release (const DtOpDef *op) {
  bool own = op->rules != NULL || op->rulefn != NULL || op->strategy != NULL ||
             (op->flags & DT_OP_POINTWISE) != 0;
  if (!own || (op->flags & (DT_OP_NOSTRATEGY | DT_OP_COMPOSITE)) != 0) return true;
  for (int r = DT_FIRST_RELEASE; r <= DT_LAST_RELEASE; r++)
    if (dt_profile_has_op(op->sig->full, r)) return true;
  return false;
}

/* What a definition must have, unless a flag says why it has not. */
static DtStatus check_fields (DtCtx *cx, const DtOpDef *op) {
  uint32_t f = op->flags;
  if (op->brief == NULL || op->brief[0] == '\0') return bad(cx, op, "no .brief");
  if ((f & (DT_OP_CUSTOM | DT_OP_SCHEMA_ONLY)) != 0) return DT_OK;
  if (op->meta == NULL && op->decomp == NULL &&
      (f & (DT_OP_DATADEP | DT_OP_HANDLER)) == 0)
    return bad(cx, op, "no .meta and not DT_OP_DATADEP");
  /* A decomposition computes where there is no kernel: beside one a kernel is a
  ** matter of speed. */
  if (op->kernel == NULL && op->decomp == NULL &&
      (f & (DT_OP_VIEW | DT_OP_SHARES | DT_OP_HANDLER)) == 0)
    return bad(cx, op, "no .kernel and not DT_OP_VIEW");
  if (!sharded_somehow(op)) return bad(cx, op, "no .rules, .rulefn or .strategy and not DT_OP_NOSTRATEGY");
  if (op->grad == NULL && op->decomp == NULL &&
      (f & (DT_OP_NOGRAD | DT_OP_COMPOSITE | DT_OP_FACTORY)) == 0)
    return bad(cx, op, "no .grad and not DT_OP_NOGRAD");
  if (op->grad != NULL && op->base == NULL && strcmp(op->sig->ns, "aten") == 0 &&
      (f & (DT_OP_NOGRAD | DT_OP_COMPOSITE)) == 0 && !dt_saved_said(op->sig))
    return bad(cx, op, "a gradient, and its text has no line \"keeps\"");
  if (op->grad != NULL && op->base == NULL && (f & DT_OP_SAVE_OUT) != 0 &&
      strcmp(op->sig->ns, "aten") == 0 && !dt_saved_results_said(op->sig))
    return bad(cx, op, "its gradient reads results, and its text has no line "
               "\"keeps-results\"");
  if (op->base == NULL && op->samples == NULL &&
      (f & (DT_OP_HANDLER | DT_OP_FACTORY)) == 0)
    return bad(cx, op, "no .samples");
  if (!has_its_release(op))
    return bad(cx, op, "rules, and its text has no line \"strategy\"");
  return DT_OK;
}

/* Fewest and most tensors of a call; false when it has lists of them. */
static bool tensor_range (const DtOpDef *op, int *min, int *max) {
  const DtSchema *s = op->sig;
  int i;
  *min = *max = 0;
  for (i = 0; i < s->nargs; i++) {
    const DtArgDef *d = &s->arg[i];
    if (d->type != DT_T_TENSOR) continue;
    if (d->list) return false;
    if (op->base != NULL && d->kwonly && d->write) continue;
    ++*max;
    *min += !d->opt && !d->has_default;
  }
  return true;
}

static DtStatus check_rules (DtCtx *cx, const DtOpDef *op) {
  const char *const *row;
  int min, max, nin, nout;
  bool counted = tensor_range(op, &min, &max);
  if (op->rules == NULL) return DT_OK;
  for (row = op->rules; *row != NULL; row++) {
    DT_TRY(cx, dt_row_arity(cx, *row, &nin, &nout));
    if ((op->flags & DT_OP_FOREACH) != 0) continue;
    if (counted && (nin < min || nin > max))
      return bad(cx, op, "a rule has another number of inputs");
    if (!op->sig->returns_list && nout != op->sig->nrets)
      return bad(cx, op, "a rule has another number of outputs");
  }
  return DT_OK;
}

DtStatus dt_opdef_check (DtCtx *cx, const DtOpDef *op) {
  DT_CHECK(cx, op->pw >= DT_PW_NONE && op->pw < DT_NPW, DT_E_INTERNAL,
           "operator %s: unknown class", op->sig->full);
  DT_TRY(cx, check_fields(cx, op));
  return check_rules(cx, op);
}
