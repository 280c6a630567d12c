/* SPDX-License-Identifier: MIT
** engine/var.c: variables: a local tensor, its spec when distributed, its
** place in the autograd graph and its origin.  Reference counted within one
** rank; freeing one may free the whole history behind it (without recursion,
** see node.c). */
#include "engine/engine_int.h"

DtStatus dt_var_new (DtSession *s, DtTensor *local, DtSpec *spec,
                     DtVar **out) {
  DtVar *v = DT_NEW(s->cx, DtVar);
  if (v == NULL) return DT_E_NOMEM;
  v->refs = 1;
  v->id = ++s->next_var_id;
  v->s = s;
  v->local = dt_tensor_ref(local);
  v->spec = spec ? dt_spec_ref(spec) : NULL;
  v->origin.file = "";
  v->origin.op = "";
  *out = v;
  return DT_OK;
}

DtStatus dt_var_result (DtSession *s, DtTensor *local, DtSpec *spec,
                        DtVar **out) {
  DT_TRY(s->cx, dt_var_new(s, local, spec, out));
  (*out)->origin = dt_ev_where(s);
  (*out)->inference = s->inference;
  return DT_OK;
}

DtStatus dt_var_alias (DtVar *v, DtVar **out) {
  DtStatus st = dt_var_new(v->s, v->local, v->spec, out);
  if (st != DT_OK) return st;
  (*out)->origin = v->origin;
  (*out)->name = v->name;
  (*out)->inference = v->inference;
  return DT_OK;
}

DtVar *dt_var_ref (DtVar *v) {
  if (v != NULL) v->refs++;
  return v;
}

static void var_free (DtVar *v) {
  DtSession *s = v->s;
  if (v->grad_fn != NULL && v->grad_fn->retain != NULL &&
      v->grad_fn->retain[v->output_nr] == v)
    v->grad_fn->retain[v->output_nr] = NULL;
  for (int i = 0; i < v->nhooks; i++)
    if (v->hooks[i].ud_free) v->hooks[i].ud_free(v->hooks[i].ud);
  dt_free(s->cx, v->hooks);
  if (v->types != NULL) v->types->free(s->cx, v->types);
  dt_var_unref(v->grad);
  dt_node_unref(s, v->grad_fn);
  dt_view_unref(s, v->view);
  dt_var_unref(v->view_base);
  dt_spec_unref(s->cx, v->spec);
  dt_tensor_unref(s->cx, v->local);
  dt_free(s->cx, v);
}

void dt_var_unref (DtVar *v) {
  if (v != NULL && --v->refs == 0) var_free(v);
}

const DtMeta *dt_var_meta (const DtVar *v) {
  return v->spec && v->spec->has_meta ? &v->spec->meta : &v->local->m;
}

bool dt_var_needs_grad (const DtVar *v) {
  return v->requires_grad || v->grad_fn != NULL;
}

void dt_var_print (const DtVar *v, DtBuf *b) {
  if (v->spec) {
    dt_buf_add(b, "dt: ");
    dt_spec_print(v->spec, b);
  } else {
    dt_buf_add(b, "t: ");
    dt_meta_print(&v->local->m, b);
  }
}
