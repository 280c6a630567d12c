/* SPDX-License-Identifier: MIT
** engine/dist.c: the DTensor calls: between plain and distributed variables.
**
** Checks come in PyTorch's order, for the first one wins; what PyTorch does
** not check (the number of placements of from_local and redistribute, the
** truth of a given shape) is not checked here either.  Gradients of these
** calls are in dist_grad.c. */
#include "base/error_shard.h"
#include "base/error_tool.h"
#include "compat/text.h"
#include "engine/dist_int.h"

#include <string.h>
#include "mesh/layout.h"

/* --- telling: these calls have numbers as operators have --- */

DtStatus dt_api_begin (DtSession *s, DtApi *a, const char *name, int nin,
                       DtVar *const *in) {
  DtEvent e = { .kind = DT_EV_FUNC, .text = name, .nin = nin, .in = in };
  DtStatus st = DT_OK;
  a->name = name;
  a->op = s->cur_op;
  a->seq = s->cur_seq;
  a->file = s->cur_file;
  a->line = s->cur_line;
  if (s->call_depth == 0) s->err_told = false;
  s->cur_op = NULL;
  s->cur_seq = ++s->seq;
  s->cur_file = NULL;
  if (dt_session_heard(s)) st = dt_event_emit(s, &e);
  a->at = s->cur_file;
  a->at_line = s->cur_line;
  return st;
}

DtStatus dt_api_end (DtSession *s, const DtApi *a, int nin, DtVar *const *in,
                     DtVar **out, DtStatus st) {
  DtStatus lst = DT_OK;
  bool again;
  if (st == DT_OK) {
    s->cur_file = a->at;
    s->cur_line = a->at_line;
    (*out)->origin = dt_ev_where(s);
    (*out)->origin.op = a->name;
  }
  if (dt_session_heard(s)) {
    DtEvent e = { .kind = DT_EV_FUNC_END, .text = a->name, .nin = nin,
                  .in = in, .status = st, .file = a->at,
                  .line = a->at_line };
    if (st == DT_OK) {
      e.nout = 1;
      e.out = out;
    } else {
      st = dt_ev_error(s, &(DtCall){ NULL, NULL, nin, in }, st, &again);
    }
    e.status = st;
    lst = dt_event_emit(s, &e);
    if (st == DT_OK && lst != DT_OK) dt_drop_var(out);
  }
  s->cur_op = a->op;
  s->cur_seq = a->seq;
  s->cur_file = a->file;
  s->cur_line = a->line;
  return st != DT_OK ? st : lst;
}

DtStatus dt_named_call (DtSession *s, const char *name, int nin,
                        DtVar *const *in, DtNamedFn fn, void *ud) {
  enum { MAX_OUT = 64 };
  DtVar *out[MAX_OUT];
  DtApi a;
  DtStatus st, lst = DT_OK;
  int nout = 0;
  DT_TRY(s->cx, dt_api_begin(s, &a, name, nin, in));
  st = fn(ud, MAX_OUT, &nout, out);
  if (dt_session_heard(s)) {
    DtEvent e = { .kind = DT_EV_FUNC_END, .text = name, .nin = nin, .in = in,
                  .nout = nout, .out = out, .status = st, .file = a.at,
                  .line = a.at_line };
    lst = dt_event_emit(s, &e);
  }
  s->cur_op = a.op;
  s->cur_seq = a.seq;
  s->cur_file = a.file;
  s->cur_line = a.line;
  return st != DT_OK ? st : lst;
}

/* --- small things --- */

/* A second tensor object over the same data. */
static DtStatus same_view (DtSession *s, DtTensor *t, DtTensor **out) {
  return dt_tensor_view(s->cx, t, &t->m, t->offset, out);
}

static DtStatus make_empty (DtSession *s, const DtTensor *t, DtTensor **out) {
  int64_t zero = 0;
  return dt_mv_empty(s, &t->m, 1, &zero, out);
}

/* Shard dims counted from the end, once. */
static void wrap_dims (DtPlacement *pl, int n, int ndim) {
  for (int i = 0; i < n; i++)
    if (dt_pl_is_shard_like(pl[i]) && pl[i].dim < 0)
      pl[i].dim = (int16_t)(pl[i].dim + ndim);
}

/* "(Shard(dim=0),)" or "[Replicate()]". */
static void add_reprs (DtBuf *b, const DtPlacement *pl, int n, bool list) {
  dt_buf_addc(b, list ? '[' : '(');
  for (int i = 0; i < n; i++) {
    if (i) dt_buf_add(b, ", ");
    dt_pl_repr(pl[i], b);
  }
  if (!list && n == 1) dt_buf_addc(b, ',');
  dt_buf_addc(b, list ? ']' : ')');
}

static DtStatus copy_pls (DtSession *s, int npl, const DtPlacement *from,
                          DtPlacement *to) {
  DT_CHECK(s->cx, npl <= DT_MAX_MDIM, DT_E_LIMIT,
           "more than %d placements", DT_MAX_MDIM);
  for (int i = 0; i < npl; i++) to[i] = from[i];
  return DT_OK;
}

/* --- distribute_tensor --- */

static DtStatus already_dist (DtSession *s, DtVar *t, DtMesh *mesh, int npl,
                              const DtPlacement *pl, DtVar **out) {
  DtBuf b;
  DtStatus st;
  bool same_mesh = dt_mesh_equal(t->spec->mesh, mesh);
  if (same_mesh && t->spec->npl == npl &&
      dt_pls_equal(t->spec->pl, pl, npl)) {
    *out = dt_var_ref(t);
    return DT_OK;
  }
  dt_buf_init(&b, s->cx);
  if (!same_mesh) {
    dt_buf_add(&b, "Cannot distribute a DTensor with device mesh ");
    dt_mesh_repr(t->spec->mesh, &b);
    dt_buf_add(&b, " to a different device mesh ");
    dt_mesh_repr(mesh, &b);
    dt_buf_addc(&b, '.');
  } else {
    dt_buf_add(&b, "Cannot distribute a DTensor with placements ");
    add_reprs(&b, t->spec->pl, t->spec->npl, false);
    dt_buf_add(&b, " to a different placements ");
    add_reprs(&b, pl, npl, true);
    dt_buf_add(&b, ". do you want to call `redistribute` instead?");
  }
  st = dt_buf_ok(&b);
  if (st == DT_OK) st = dt_raise(s->cx, DT_E_VALUE, "%s", dt_buf_str(&b));
  dt_buf_fini(&b);
  return st;
}

static DtStatus scatter_part (DtSession *s, DtTensor *t, DtMesh *m, int mdim,
                              DtPlacement p, int root, DtTensor **out) {
  int64_t n = m->shape[mdim], me = m->coord[mdim];
  DtTensor **part = DT_NEWN(s->cx, DtTensor *, n), *got = NULL, *cut = NULL;
  int64_t *pad = DT_NEWN(s->cx, int64_t, n);
  DtStatus st = part && pad ? dt_redist_parts(s, t, p, n, part, pad)
                            : DT_E_NOMEM;
  bool have = st == DT_OK;
  for (int64_t i = 1; i < n && st == DT_OK; i++)
    if (!dt_meta_same_shape(&part[0]->m, &part[i]->m))
      st = dt_raise(s->cx, DT_E_ASSERT, "%s", "");
  if (st == DT_OK)
    st = dt_mv_empty(s, &part[0]->m, part[0]->m.ndim, part[0]->m.shape, &got);
  if (st == DT_OK)
    st = dt_coll_scatter(s, m, mdim, root, (int)n, part, got);
  if (st == DT_OK && pad[me] > 0) {
    st = dt_mv_narrow(s, got, p.dim, 0, got->m.shape[p.dim] - pad[me], &cut);
    if (st == DT_OK) st = dt_mv_contiguous(s, cut, out);
  } else if (st == DT_OK) {
    *out = dt_tensor_ref(got);
  }
  dt_tensor_unref(s->cx, cut);
  dt_tensor_unref(s->cx, got);
  if (have) dt_mv_unref_all(s, n, part);
  dt_free(s->cx, part);
  dt_free(s->cx, pad);
  return st;
}

static DtStatus spread_copy (DtSession *s, DtTensor *t, DtMesh *m, int mdim,
                             int root, DtTensor **out) {
  DtTensor *c;
  DtStatus st;
  DT_TRY(s->cx, dt_mv_contiguous(s, t, &c));
  st = root < 0 ? DT_OK : dt_coll_broadcast(s, m, mdim, root, c);
  if (st != DT_OK) dt_tensor_unref(s->cx, c);
  else *out = c;
  return st;
}

/* One mesh dimension.  A rank outside holds nothing. */
static DtStatus apply_placement (DtSession *s, DtTensor *t, DtMesh *m, int mdim,
                                 DtPlacement p, int root, DtTensor **out) {
  DtTensor *c = NULL;
  DtStatus st;
  if (!m->member) return make_empty(s, t, out);
  if (dt_pl_is_shard_like(p)) {
    if (p.dim < 0) p.dim = (int16_t)(p.dim + t->m.ndim);
    if (root < 0)
      return dt_redist_part(s, t, p, m->shape[mdim], m->coord[mdim], out);
    return scatter_part(s, t, m, mdim, p, root, out);
  }
  if (dt_pl_is_replicate(p)) return spread_copy(s, t, m, mdim, root, out);
  st = spread_copy(s, t, m, mdim, root, &c);
  if (st == DT_OK) st = dt_redist_partition(s, c, m, mdim, p, out);
  dt_tensor_unref(s->cx, c);
  return st;
}

static DtStatus check_distribute (DtSession *s, DtVar *t, DtMesh *mesh,
                                  int npl, const DtPlacement *pl) {
  if (mesh->device == DT_DEV_XLA && s->profile.device->own_type[0] == 0)
    return dt_raise_as(s->cx, DT_E_DEVICE, "ImportError",
                       "To use DTensor API with xla, you must install the "
                       "torch_xla package!");
  DT_CHECK(s->cx, t->grad_fn == NULL, DT_E_RUNTIME,
           "`distribute_tensor` should be used to distribute leaf tensors! "
           "but found non-leaf tensor!");
  DT_CHECK(s->cx, npl == mesh->ndim, DT_E_VALUE,
           "`placements` must have the same length as `device_mesh.ndim`! "
           "Found placements length: %d, and device_mesh.ndim: %d.", npl,
           mesh->ndim);
  return dt_pls_check_partials(s->cx, pl, npl);
}

/* Dims still counted from the end: torch.chunk refuses those before the first.
** What it can still count the spec refuses. */
static DtStatus check_wrapped (DtCtx *cx, const DtPlacement *pl, int n,
                               int ndim) {
  for (int i = 0; i < n; i++) {
    if (!dt_pl_is_shard_like(pl[i]) || pl[i].dim >= (ndim > 0 ? -ndim : 0))
      continue;
    DT_CHECK(cx, ndim > 0, DT_E_RUNTIME,
             "chunk expects at least a 1-dimensional tensor");
    return dt_raise(cx, DT_E_INDEX, "Dimension out of range (expected to be in "
                    "range of [%d, %d], but got %d)", -ndim, ndim - 1,
                    pl[i].dim);
  }
  return DT_OK;
}

static DtStatus distribute_plain (DtSession *s, DtVar *t, DtMesh *mesh, int npl,
                                  const DtPlacement *given, int root,
                                  DtVar **out) {
  DtPlacement pl[DT_MAX_MDIM];
  DtTensor *local;
  DtSpec *spec = NULL;
  DtStatus st = DT_OK;
  DT_TRY(s->cx, check_distribute(s, t, mesh, npl, given));
  if (t->spec != NULL) return already_dist(s, t, mesh, npl, given, out);
  DT_TRY(s->cx, copy_pls(s, npl, given, pl));
  wrap_dims(pl, npl, t->local->m.ndim);
  DT_TRY(s->cx, check_wrapped(s->cx, pl, npl, t->local->m.ndim));
  DT_TRY(s->cx, dt_spec_make(s, mesh, npl, pl, &t->local->m, -1, &spec));
  local = dt_tensor_ref(t->local);
  for (int i = 0; i < npl && st == DT_OK; i++) {
    DtTensor *next;
    st = apply_placement(s, local, mesh, i, pl[i], root, &next);
    if (st != DT_OK) break;
    dt_tensor_unref(s->cx, local);
    local = next;
  }
  if (st == DT_OK) st = dt_var_result(s, local, spec, out);
  if (st == DT_OK) (*out)->requires_grad = t->requires_grad;
  dt_spec_unref(s->cx, spec);
  dt_tensor_unref(s->cx, local);
  return st;
}

DtStatus dt_distribute_tensor (DtSession *s, DtVar *t, DtMesh *mesh, int npl,
                               const DtPlacement *pl, int src_data_rank,
                               DtVar **out) {
  DtApi a;
  DtStatus st;
  DT_TRY(s->cx, dt_api_begin(s, &a, "distribute_tensor", 1, &t));
  st = distribute_plain(s, t, mesh, npl, pl, src_data_rank, out);
  return dt_api_end(s, &a, 1, &t, out, st);
}

/* --- from_local --- */

/* Does everybody of the world have the same metadata? */
static DtStatus check_meta (DtSession *s, const DtVar *v, bool shapes) {
  DtCtx *cx = s->cx;
  int64_t mine[3 + 2 * DT_MAX_NDIM], *all;
  const DtMeta *m = &v->local->m;
  DtCollInfo info = { "all_gather_object", sizeof mine, "from_local", "", "" };
  DtStatus st;
  bool same = true;
  memset(mine, 0, sizeof mine);
  mine[0] = m->dtype;
  mine[1] = v->requires_grad;
  mine[2] = shapes ? m->ndim : 0;
  for (int i = 0; shapes && i < m->ndim; i++) {
    mine[3 + 2 * i] = m->shape[i];
    mine[4 + 2 * i] = m->stride[i];
  }
  if (dt_session_no_data(s) || s->comm == NULL) return DT_OK;
  all = DT_NEWN(cx, int64_t, dt_session_size(s) * (int)(sizeof mine / 8));
  if (all == NULL) return DT_E_NOMEM;
  st = dt_comm_all_gather(cx, dt_session_ranks(s), &info, mine, sizeof mine,
                          all);
  for (int r = 0; st == DT_OK && r < dt_session_size(s); r++)
    same = same && memcmp(all + (size_t)r * (sizeof mine / 8), mine,
                          sizeof mine) == 0;
  dt_free(cx, all);
  if (st == DT_OK && !same)
    st = dt_raise(cx, DT_E_VALUE, "Inconsistent tensor metadata (including "
                  "shape and stride) across ranks.");
  return st;
}

static DtStatus run_checks (DtSession *s, DtVar *v, DtMesh *mesh, int npl,
                            const DtPlacement *pl, bool shapes,
                            DtTensor **local) {
  DT_TRY(s->cx, check_meta(s, v, shapes));
  for (int i = 0; i < npl && i < mesh->ndim; i++) {
    DtTensor *c;
    DtStatus st;
    if (!dt_pl_is_replicate(pl[i])) continue;
    DT_TRY(s->cx, dt_mv_contiguous(s, *local, &c));
    st = dt_coll_broadcast(s, mesh, i, 0, c);
    if (st != DT_OK) {
      dt_tensor_unref(s->cx, c);
      return st;
    }
    dt_tensor_unref(s->cx, *local);
    *local = c;
  }
  return DT_OK;
}

static DtStatus from_local (DtSession *s, DtVar *v, DtMesh *mesh, int npl,
                            const DtPlacement *given, bool run_check,
                            const DtMeta *global, const DtPlacement *gpl,
                            DtVar **out) {
  DtCtx *cx = s->cx;
  DtPlacement pl[DT_MAX_MDIM];
  DtMeta m;
  DtTensor *local = NULL, *view = NULL;
  DtSpec *spec = NULL;
  DtStatus st = DT_OK;
  DT_CHECK(cx, v->spec == NULL, DT_E_RUNTIME, "the local_tensor argument only "
           "accepts torch.Tensor but got <class 'torch.distributed.tensor."
           "DTensor'> value.");
  DT_TRY(cx, copy_pls(s, npl, given, pl));
  wrap_dims(pl, npl, v->local->m.ndim);
  DT_TRY(cx, dt_pls_check_partials(cx, pl, npl));
  if (global != NULL) dt_meta_copy(&m, global);
  else DT_TRY(cx, dt_layout_global(cx, mesh, npl, pl, &v->local->m, &m));
  m.dtype = v->local->m.dtype;
  m.device = v->local->m.device;
  if (!mesh->member) {
    st = make_empty(s, v->local, &local);
  } else {
    local = dt_tensor_ref(v->local);
    if (run_check)
      st = run_checks(s, v, mesh, npl, pl, global == NULL, &local);
  }
  if (st == DT_OK) st = same_view(s, local, &view);
  if (st == DT_OK) st = dt_spec_make(s, mesh, npl, pl, &m, -1, &spec);
  if (st == DT_OK) st = dt_var_result(s, view, spec, out);
  if (st == DT_OK) {
    st = dt_from_local_grad(s, v, *out, gpl, npl);
    if (st != DT_OK) dt_drop_var(out);
  }
  dt_tensor_unref(cx, view);
  dt_tensor_unref(cx, local);
  dt_spec_unref(cx, spec);
  return st;
}

DtStatus dt_from_local (DtSession *s, DtVar *local, DtMesh *mesh, int npl,
                        const DtPlacement *pl, bool run_check,
                        const DtMeta *global, const DtPlacement *gpl,
                        DtVar **out) {
  DtApi a;
  DtStatus st;
  DT_TRY(s->cx, dt_api_begin(s, &a, "dtensor.from_local", 1, &local));
  st = from_local(s, local, mesh, npl, pl, run_check, global, gpl, out);
  return dt_api_end(s, &a, 1, &local, out, st);
}

/* --- to_local --- */

static DtStatus need_dist (DtSession *s, const DtVar *v, const char *what) {
  DT_CHECK(s->cx, v->spec != NULL, DT_E_ATTR,
           "'Tensor' object has no attribute '%s'", what);
  return DT_OK;
}

/* What to_local gives is a view of the local tensor, made by an autograd.Function: it
** may not be written where a gradient is recorded. */
static DtStatus forbid_writes (DtSession *s, const DtVar *t, DtVar *out) {
  DtVar *base;
  DT_TRY(s->cx, dt_var_new(s, t->local, NULL, &base));
  dt_view_forbid(out, base, DT_VIEW_IN_FUNCTION);
  dt_var_unref(base);
  return DT_OK;
}

static DtStatus to_local (DtSession *s, DtVar *t, const DtPlacement *gpl,
                          int ngpl, DtVar **out) {
  DtTensor *view;
  DtStatus st;
  DT_TRY(s->cx, need_dist(s, t, "to_local"));
  if (!s->grad_enabled) {
    DT_TRY(s->cx, dt_var_result(s, t->local, NULL, out));
  } else {
    DT_TRY(s->cx, same_view(s, t->local, &view));
    st = dt_var_result(s, view, NULL, out);
    dt_tensor_unref(s->cx, view);
    if (st != DT_OK) return st;
    st = dt_to_local_grad(s, t, *out, gpl, ngpl);
    if (st == DT_OK) st = forbid_writes(s, t, *out);
    if (st != DT_OK) {
      dt_drop_var(out);
      return st;
    }
  }
  (*out)->is_param = t->is_param;
  return DT_OK;
}

DtStatus dt_to_local (DtSession *s, DtVar *t, const DtPlacement *gpl, int ngpl,
                      DtVar **out) {
  DtApi a;
  DtStatus st;
  DT_TRY(s->cx, dt_api_begin(s, &a, "dtensor.to_local", 1, &t));
  st = to_local(s, t, gpl, ngpl, out);
  return dt_api_end(s, &a, 1, &t, out, st);
}

/* --- redistribute --- */

static DtStatus check_targets (DtSession *s, DtVar *t, int npl,
                               DtPlacement *pl) {
  bool to_sum = dt_switch(&s->profile, DT_SW_SHARD_TO_PARTIAL) != 0;
  DtCtx *cx = s->cx;
  DtBuf a, b;
  DtStatus st = DT_OK;
  for (int i = 0; i < npl && st == DT_OK; i++) {
    if (dt_pl_is_partial(pl[i])) {
      DT_CHECK(cx, i < t->spec->npl, DT_E_INDEX, "tuple index out of range");
      if (dt_pl_equal(t->spec->pl[i], pl[i])) continue;
      if (to_sum && dt_pl_is_shard(t->spec->pl[i]) &&
          dt_pl_equal(pl[i], dt_pl_partial(DT_OP_SUM)))
        continue;
      dt_buf_init(&a, cx);
      dt_buf_init(&b, cx);
      dt_pl_print(t->spec->pl[i], &a);
      dt_pl_print(pl[i], &b);
      st = DT_SAY(cx, DT_E_REDIST, TO_PARTIAL, dt_buf_str(&a), dt_buf_str(&b));
      dt_buf_fini(&a);
      dt_buf_fini(&b);
    } else {
      wrap_dims(&pl[i], 1, dt_var_meta(t)->ndim);
    }
  }
  return st;
}

/* The input in the dtype of the forward collective. */
static DtStatus cast_input (DtSession *s, DtVar *t, DtMesh *mesh,
                            DtDtype dtype, DtTensor **local, DtSpec **spec) {
  DtMeta m;
  if (dtype == (DtDtype)t->local->m.dtype) {
    *local = dt_tensor_ref(t->local);
    *spec = dt_spec_ref(t->spec);
    return DT_OK;
  }
  DT_TRY(s->cx, dt_mv_cast(s, t->local, dtype, local));
  dt_meta_copy(&m, dt_var_meta(t));
  m.dtype = (uint8_t)dtype;
  return dt_spec_make(s, mesh, t->spec->npl, t->spec->pl, &m,
                      t->spec->strided_is_order, spec);
}

/* The cast to forward_dtype comes before anything moves, as in PyTorch
** (_redistribute.py:Redistribute.forward@2.13).  Placements that are there already
** move nothing and are a node of the graph all the same.  Too few of them fail where
** the plan is made: on the ranks of the mesh only. */
static DtStatus redistribute_dist (DtSession *s, DtVar *t, DtMesh *mesh,
                                   int npl, const DtPlacement *given,
                                   DtDtype fwd, DtDtype bwd, DtVar **out) {
  DtCtx *cx = s->cx;
  DtPlacement pl[DT_MAX_MDIM];
  DtTensor *local = NULL, *res = NULL;
  DtSpec *src = NULL, *dst = NULL;
  DtDtype own;
  DtStatus st;
  DT_TRY(cx, need_dist(s, t, "redistribute"));
  DT_CHECK(cx, npl >= 0, DT_E_RUNTIME, "placements is needed for "
           "redistribute!");
  DT_TRY(cx, copy_pls(s, npl, given, pl));
  DT_TRY(cx, check_targets(s, t, npl, pl));
  own = (DtDtype)t->local->m.dtype;
  if (mesh == NULL) mesh = t->spec->mesh;
  st = cast_input(s, t, mesh, fwd == DT_DTYPE_NONE ? own : fwd, &local, &src);
  if (st == DT_OK && src->npl == npl && dt_pls_equal(src->pl, pl, npl)) {
    dst = dt_spec_ref(src);
    res = dt_tensor_ref(local);
  } else if (st == DT_OK) {
    st = dt_spec_make(s, mesh, npl, pl, &src->meta, -1, &dst);
    if (st == DT_OK && npl < src->mesh->ndim && src->mesh->member)
      st = dt_raise(cx, DT_E_INDEX, "list index out of range");
    if (st == DT_OK)
      st = dt_redist_local(s, local, src, dst, false, 0, &res);
  }
  if (st == DT_OK) st = dt_var_result(s, res, dst, out);
  if (st == DT_OK) {
    st = dt_redistribute_grad(s, t, *out, src,
                              bwd == DT_DTYPE_NONE ? own : bwd, own);
    if (st != DT_OK) dt_drop_var(out);
  }
  dt_tensor_unref(cx, local);
  dt_tensor_unref(cx, res);
  dt_spec_unref(cx, src);
  dt_spec_unref(cx, dst);
  return st;
}

DtStatus dt_redistribute (DtSession *s, DtVar *t, DtMesh *mesh, int npl,
                          const DtPlacement *pl, DtDtype forward_dtype,
                          DtDtype backward_dtype, DtVar **out) {
  DtApi a;
  DtStatus st;
  DT_TRY(s->cx, dt_api_begin(s, &a, "dtensor.redistribute", 1, &t));
  st = redistribute_dist(s, t, mesh, npl, pl, forward_dtype, backward_dtype,
                         out);
  return dt_api_end(s, &a, 1, &t, out, st);
}

DtStatus dt_full_tensor (DtSession *s, DtVar *t, const DtPlacement *gpl,
                         DtVar **out) {
  DtPlacement pl[DT_MAX_MDIM];
  DtVar *r;
  DtStatus st;
  int n;
  DT_TRY(s->cx, need_dist(s, t, "full_tensor"));
  n = t->spec->mesh->ndim;
  for (int i = 0; i < n; i++) pl[i] = dt_pl_replicate();
  DT_TRY(s->cx, dt_redistribute(s, t, NULL, n, pl, DT_DTYPE_NONE,
                                DT_DTYPE_NONE, &r));
  st = dt_to_local(s, r, gpl, gpl ? n : 0, out);
  dt_var_unref(r);
  return st;
}
