/* SPDX-License-Identifier: MIT
** engine/unwrap.c: from variables to specs: which mesh computes, and what a
** plain tensor among distributed ones means.
**
** A plain tensor of one element is replicated; any other is the mixed error
** unless implicit replication is on.  PyTorch has two wordings: its compiled
** path and its Python path.  The Python one is met by operators with a
** handler, and by keyword-only tensors of registered operators whose schema
** info names no keywords: of all rules the pointwise ones name theirs (out),
** and four reductions name others.  Operators without a registration are met
** by the compiled path. */
#include "base/error_shard.h"
#include "compat/text.h"
#include "engine/engine_int.h"

#include <string.h>

bool dt_unwrap_any_dist (int nin, DtVar *const *in) {
  for (int i = 0; i < nin; i++)
    if (in[i] != NULL && in[i]->spec != NULL) return true;
  return false;
}

static bool value_has_slot (const DtValue *v, int slot) {
  if (v->kind == DT_V_TENSOR) return v->u.slot == slot;
  if (v->kind == DT_V_LIST)
    for (int i = 0; i < v->u.list.n; i++)
      if (value_has_slot(&v->u.list.v[i], slot)) return true;
  return false;
}

int dt_unwrap_arg_of (const DtArgs *args, int slot) {
  for (int j = 0; j < args->n; j++)
    if (value_has_slot(&args->v[j], slot)) return j;
  return -1;
}

static bool slot_is_kwonly (const DtOpDef *op, const DtArgs *args, int slot) {
  int j = dt_unwrap_arg_of(args, slot);
  return j >= 0 && op->sig->arg[j].kwonly;
}

static bool takes_list (const DtOpDef *op) {
  return op->sig->nargs > 0 && op->sig->arg[0].list &&
         op->sig->arg[0].type == DT_T_TENSOR;
}

/* Does the registration of an operator leave its keywords to Python?
** Source: static_kwargkey of the schema infos of PyTorch 2.13. */
static bool keywords_in_python (const DtSession *s, const DtOpDef *op) {
  static const char *const named[] = {
    "aten.randint_like.low_dtype_out", "aten.std.correction_out",
    "aten.var.correction_out", "aten.var_mean.correction_out",
  };
  if (op->flags & DT_OP_CUSTOM) return true;
  if (op->flags & DT_OP_POINTWISE) return (op->flags & DT_OP_FOREACH) != 0;
  if (op->rules == NULL && op->rulefn == NULL && op->strategy == NULL)
    return takes_list(op) || !dt_prop_was_traced(s->prop, op);
  for (size_t i = 0; i < sizeof named / sizeof named[0]; i++)
    if (strcmp(op->sig->full, named[i]) == 0) return false;
  return true;
}

static DtStatus mixed_error (DtSession *s, const DtOpDef *op,
                             const DtArgs *args, int slot) {
  const char *name = op->sig->full;
  void *ud;
  bool python = dt_handler_get(s, op, &ud) != NULL;
  if (slot_is_kwonly(op, args, slot) && keywords_in_python(s, op))
    python = true;
  return python ? DT_SAY(s->cx, DT_E_MIXED, MIXED_IN_PYTHON, name)
                : DT_SAY(s->cx, DT_E_MIXED, MIXED, name);
}

/* The mesh: that of the first tensor when it is distributed, else of the
** first distributed one among the positional arguments. */
static DtStatus find_mesh (DtSession *s, const DtCall *c, DtMesh **out) {
  const DtSchema *sig = c->op->sig;
  for (int i = 0; i < c->nin; i++) {
    if (c->in[i] == NULL || c->in[i]->spec == NULL) continue;
    if (i > 0 && slot_is_kwonly(c->op, c->args, i)) continue;
    *out = c->in[i]->spec->mesh;
    return DT_OK;
  }
  for (int i = 0; i < c->nin; i++)     /* only keyword ones: no plain before */
    if (c->in[i] != NULL && c->in[i]->spec == NULL)
      return dt_raise_as(s->cx, DT_E_NOMESH, "ValueError",
                         "Cannot find device mesh from args for op : "
                         "%s::%s%s%s", sig->ns, sig->base,
                         strcmp(sig->overload, "default") ? "." : "",
                         strcmp(sig->overload, "default") ? sig->overload
                                                          : "");
  for (int i = 0; i < c->nin; i++)
    if (c->in[i] != NULL && c->in[i]->spec != NULL) {
      *out = c->in[i]->spec->mesh;
      return DT_OK;
    }
  return dt_raise(s->cx, DT_E_NOMESH,
                  "found no DeviceMesh from dtensor args for %s!", sig->full);
}

void dt_unwrap_warn (DtSession *s) {
  dt_session_warn(s, dt_text_words(DT_TEXT_NUMEL1, s->profile.release));
}

static DtStatus replicate_plain (DtSession *s, const DtOpDef *op,
                                 const DtArgs *args, int slot, DtVar *v,
                                 DtUnwrapped *u) {
  DtPlacement pl[DT_MAX_MDIM];
  DtSpec *spec;
  bool one = dt_meta_numel(&v->local->m) == 1;
  if (!one && !s->implicit_replication)
    return mixed_error(s, op, args, slot);
  if (one && v->local->m.ndim == 1) {
    dt_unwrap_warn(s);
    /* the compiled path has said it before, where it looks at this one */
    u->nwarn += !(slot_is_kwonly(op, args, slot) &&
                  keywords_in_python(s, op));
  }
  for (int m = 0; m < u->mesh->ndim; m++) pl[m] = dt_pl_replicate();
  DT_TRY(s->cx, dt_spec_make(s, u->mesh, u->mesh->ndim, pl, &v->local->m, -1,
                             &spec));
  u->spec[slot] = spec;
  u->made[slot / 64] |= UINT64_C(1) << (slot % 64);
  return DT_OK;
}

/* Specs of the inputs. Plain tensors are replicated on the mesh of the first
** distributed one where that is allowed (replicate_plain), else refused: the
** mixed case of DT0101. */
DtStatus dt_unwrap (DtSession *s, const DtCall *c, DtUnwrapped *u) {
  DtStatus st = DT_OK;
  u->nin = 0;
  u->on_heap = false;
  u->spec = u->specs_;
  u->nmade = 0;
  u->nwarn = 0;
  u->mesh = NULL;
  DT_CHECK(s->cx, c->nin <= DT_MAX_OUTS, DT_E_LIMIT,
           "%s: more than %d tensors", c->op->sig->full, DT_MAX_OUTS);
  if (c->nin > (int)(sizeof u->specs_ / sizeof u->specs_[0])) {
    u->spec = DT_NEWN(s->cx, const DtSpec *, c->nin);
    if (u->spec == NULL) return DT_E_NOMEM;
    u->on_heap = true;
  }
  if (c->nin > 0 && c->in[0] != NULL && c->in[0]->spec != NULL)
    u->mesh = c->in[0]->spec->mesh;
  else
    st = find_mesh(s, c, &u->mesh);
  for (int i = 0; i < c->nin && st == DT_OK; i++) {
    u->nin = i + 1;
    u->spec[i] = c->in[i] ? c->in[i]->spec : NULL;
    if (c->in[i] != NULL && c->in[i]->spec == NULL) {
      if (u->nmade == 0) memset(u->made, 0, sizeof u->made);
      u->nmade++;
      st = replicate_plain(s, c->op, c->args, i, c->in[i], u);
    }
  }
  if (st != DT_OK) {
    dt_unwrap_fini(s, u);
    return dt_error_frame(s->cx, st, __func__, __FILE__, __LINE__);
  }
  return DT_OK;
}

void dt_unwrap_fini (DtSession *s, DtUnwrapped *u) {
  if (u->nmade > 0)
    for (int i = 0; i < u->nin; i++)
      if (u->made[i / 64] >> (i % 64) & 1) {
        DtSpec *mine = (DtSpec *)(uintptr_t)u->spec[i];
        dt_spec_unref(s->cx, mine);
      }
  if (u->on_heap) dt_free(s->cx, u->spec);
  u->on_heap = false;
  u->nmade = 0;
}
