/* SPDX-License-Identifier: MIT
** engine/local.c: one operator on local tensors: shapes, allocation, views,
** in-place and out= forms, lists element by element, the kernel itself.
**
** What an output is follows from the schema's alias marks alone: a return
** marked for writing is the argument with the same mark, any other marked
** return of a view operator shares storage with input 0, the rest are new.
** Kernels that cannot write over their inputs get a temporary, which is then
** copied: so every kernel is written once, for fresh outputs. */
#include "base/sat.h"
#include "engine/engine_int.h"
#include "op/out_types.h"
#include "tensor/dtype_text.h"

#include <string.h>

enum { INLINE_OUTS = 4 };

typedef struct LocalCall {
  DtSession *s;
  const DtOpDef *op;
  const DtArgs *args;
  int nin;
  DtTensor *const *in, *const *kin;     /* kin: what kernels read */
  bool nodata, quiet;
  int max, n;                   /* outputs: room, number */
  DtMeta *m;
  bool *none;
  int64_t *off;
  DtTensor **out;
  DtValue *ret;
} LocalCall;

const char *dt_dtype_legacy (DtDtype t) { return dt_dtype_word(t); }

/* Results of _conj and _neg_view turn a mark. */
static DtStatus turn_mark (LocalCall *c, const DtTensor *base, DtTensor *t) {
  const char *name = c->op->sig->base;
  bool other = t->m.dtype != base->m.dtype;
  DT_CHECK(c->s->cx, !other || !(base->marks & DT_MARK_CONJ) ||
           strcmp(name, "view_as_real") != 0, DT_E_RUNTIME,
           "view_as_real doesn't work on unresolved conjugated tensors.  To "
           "resolve the conjugate tensor so you can view it as real, use "
           "self.resolve_conj(); however, be warned that the resulting tensor "
           "will NOT alias the original.");
  for (int i = 0; i < 2 && other && strcmp(name, "view") == 0; i++)
    DT_CHECK(c->s->cx, !(base->marks & (i ? DT_MARK_NEG : DT_MARK_CONJ)),
             DT_E_RUNTIME, "torch.Tensor.view is not supported for %s when "
             "converting to a different dtype.", i
             ? "tensors with negative bit set" : "conjugate view tensors");
  if (strcmp(name, "_conj") == 0) t->marks ^= DT_MARK_CONJ;
  if (strcmp(name, "_neg_view") == 0) t->marks ^= DT_MARK_NEG;
  if (t->marks != 0) c->s->marked = true;
  return DT_OK;
}

static bool has_data (const DtTensor *t) {
  return dt_tensor_has_data(t) || dt_meta_numel(&t->m) == 0;
}

static bool any_nodata (const LocalCall *c) {
  if (dt_session_no_data(c->s)) return true;
  for (int i = 0; i < c->nin; i++)
    if (c->in[i] != NULL && !has_data(c->in[i])) return true;
  return false;
}

/* --- events --- */

static DtStatus tell_begin (LocalCall *c) {
  DtEvent e = { .kind = DT_EV_KERNEL, .op = c->op, .args = c->args,
                .nlocal = c->nin, .local = c->in };
  if (c->quiet || !dt_session_heard(c->s)) return DT_OK;
  return dt_event_emit(c->s, &e);
}

static DtStatus tell_end (LocalCall *c, DtStatus st) {
  DtStatus lst;
  DtEvent e = { .kind = DT_EV_KERNEL_END, .op = c->op, .args = c->args,
                .nlocal = c->nin, .local = c->in, .status = st,
                .nlout = st == DT_OK ? c->n : 0, .lout = c->out };
  if (c->quiet || !dt_session_heard(c->s)) return st;
  lst = dt_event_emit(c->s, &e);
  return st != DT_OK ? st : lst;
}

/* --- which argument an output is --- */

/* Slot of the argument that return `i` writes, -1 for a new output. */
static int ret_slot (const LocalCall *c, int i) {
  const DtSchema *sig = c->op->sig;
  if (i >= sig->nrets || !sig->ret[i].write || sig->ret[i].list) return -1;
  for (int j = 0; j < sig->nargs; j++)
    if (sig->arg[j].write && !sig->arg[j].list &&
        sig->arg[j].alias_set == sig->ret[i].alias_set)
      return dt_arg_slot(c->args, j);
  return -1;
}

static void bump_value (const LocalCall *c, const DtValue *v) {
  if (v->kind == DT_V_TENSOR) {
    if (v->u.slot >= 0 && v->u.slot < c->nin && c->in[v->u.slot] != NULL)
      dt_tensor_count_write(c->in[v->u.slot]);
  } else if (v->kind == DT_V_LIST) {
    for (int k = 0; k < v->u.list.n; k++) bump_value(c, &v->u.list.v[k]);
  }
}

static void bump_versions (const LocalCall *c) {
  const DtSchema *sig = c->op->sig;
  for (int j = 0; j < sig->nargs; j++)
    if (sig->arg[j].write) bump_value(c, &c->args->v[j]);
}

/* --- writing into existing tensors --- */

static void buf_add_shape (DtBuf *b, const DtMeta *m) {
  dt_buf_add_i64s(b, m->shape, m->ndim);
}

static DtStatus shape_error (DtCtx *cx, const DtMeta *dst, const DtMeta *m) {
  DtStatus st;
  DtBuf a, b;
  dt_buf_init(&a, cx);
  dt_buf_init(&b, cx);
  buf_add_shape(&a, dst);
  buf_add_shape(&b, m);
  st = dt_raise(cx, DT_E_SHAPE,
                "output with shape %s doesn't match the broadcast shape %s",
                dt_buf_str(&a), dt_buf_str(&b));
  dt_buf_fini(&a);
  dt_buf_fini(&b);
  return st;
}

static DtStatus check_cast (DtCtx *cx, DtDtype from, DtDtype to) {
  DT_CHECK(cx, dt_dtype_can_cast(from, to), DT_E_DTYPE,
           "result type %s can't be cast to the desired output type %s",
           dt_dtype_legacy(from), dt_dtype_legacy(to));
  return DT_OK;
}

/* Give `t` the storage and shape of a new tensor of meta `m`. */
static DtStatus resize_to (DtCtx *cx, DtTensor *t, const DtMeta *m,
                           bool nodata) {
  DtTensor *fresh;
  DtStorage *old = t->storage;
  DtMeta want;
  dt_meta_copy(&want, m);
  want.dtype = t->m.dtype;
  want.device = t->m.device;
  dt_meta_set_contiguous(&want);
  DT_TRY(cx, dt_tensor_new(cx, &want, nodata, &fresh));
  t->storage = fresh->storage;
  fresh->storage = old;
  dt_meta_copy(&t->m, &want);
  t->offset = 0;
  dt_tensor_unref(cx, fresh);
  return DT_OK;
}

DtStatus dt_local_resize_out (DtCtx *cx, DtTensor *out, const DtMeta *m) {
  if (dt_meta_same_shape(&out->m, m)) return DT_OK;
  return resize_to(cx, out, m, !has_data(out));
}

/* May the kernel write straight into `dst`? */
static bool writes_directly (const LocalCall *c, int i, const DtTensor *dst) {
  bool safe = (c->op->flags & DT_OP_ALIAS_SAFE) != 0;
  if (c->m[i].dtype != dst->m.dtype || c->kin != c->in) return false;
  for (int k = 0; k < c->nin; k++) {
    const DtTensor *t = c->in[k];
    if (t == NULL || t == dst || t->storage != dst->storage) continue;
    if (t->offset != dst->offset || !dt_meta_equal(&t->m, &dst->m) || !safe)
      return false;
  }
  if (c->op->sig->writes_out) return true;
  return safe;
}

/* Is a tensor that is written also read, as in max(x, 0, out=(x, i))? */
static bool reads_too (const LocalCall *c, const DtTensor *dst) {
  int times = 0;
  for (int k = 0; k < c->nin; k++) times += c->in[k] == dst;
  return times > 1;
}

/* Output `i`, which is argument tensor `dst`.  One that is read as well gets
** its new shape when all is computed (copy_back). */
static DtStatus prepare_written (LocalCall *c, int i, DtTensor *dst,
                                 DtTensor **work) {
  DtCtx *cx = c->s->cx;
  bool same = dt_meta_same_shape(&dst->m, &c->m[i]);
  if (c->m[i].dtype != dst->m.dtype)
    DT_TRY(cx, check_cast(cx, c->m[i].dtype, dst->m.dtype));
  if (!same) {
    if (!c->op->sig->writes_out) return shape_error(cx, &dst->m, &c->m[i]);
    dt_resized_warn(c->s, &dst->m, &c->m[i]);
    if (reads_too(c, dst))
      return dt_tensor_new(cx, &c->m[i], c->nodata, work);
    DT_TRY(cx, resize_to(cx, dst, &c->m[i], c->nodata));
  }
  if (writes_directly(c, i, dst)) {
    *work = dt_tensor_ref(dst);
    return DT_OK;
  }
  return dt_tensor_new(cx, &c->m[i], c->nodata, work);
}

/* --- the three ways --- */

/* An offset counts elements: of another size in a view of another dtype. */
static DtStatus scale_offset (LocalCall *c, const DtTensor *base,
                              const DtMeta *m, int64_t *off) {
  int64_t from = (int64_t)dt_dtype_size((DtDtype)base->m.dtype);
  int64_t to = (int64_t)dt_dtype_size((DtDtype)m->dtype);
  DT_CHECK(c->s->cx, *off * from % to == 0, DT_E_RUNTIME,
           "Tensor must have a storage_offset divisible by %lld",
           (long long)(to / from));
  *off = *off * from / to;
  return DT_OK;
}

/* Where output `i` begins in the storage of `base`. */
static DtStatus view_offset (LocalCall *c, const DtTensor *base, int i,
                             int64_t *off) {
  bool absolute = (c->op->flags & DT_OP_ABSOLUTE) != 0 &&
                  !dt_arg_is_none(c->args, c->args->n - 1);
  *off = absolute ? 0 : base->offset;
  if (c->m[i].dtype != base->m.dtype)           /* view_as_real, _complex */
    DT_TRY(c->s->cx, scale_offset(c, base, &c->m[i], off));
  *off += c->off[i];
  return DT_OK;
}

static DtStatus out_of_storage (const LocalCall *c, const DtTensor *base,
                                const DtMeta *m, int64_t off) {
  DtStatus st;
  DtBuf a, b;
  int64_t size = (int64_t)dt_dtype_size((DtDtype)m->dtype);
  int64_t last = dt_sat_add(off, 1);
  for (int i = 0; i < m->ndim; i++)
    last = dt_sat_add(last, dt_sat_mul(m->shape[i] - 1, m->stride[i]));
  dt_buf_init(&a, c->s->cx);
  dt_buf_init(&b, c->s->cx);
  dt_buf_add_i64s(&a, m->shape, m->ndim);
  dt_buf_add_i64s(&b, m->stride, m->ndim);
  st = dt_raise(c->s->cx, DT_E_RUNTIME, "setStorage: sizes %s, strides %s, "
                "storage offset %lld, and itemsize %lld requiring a storage "
                "size of %lld are out of bounds for storage of size %zu",
                dt_buf_str(&a), dt_buf_str(&b), (long long)off,
                (long long)size, (long long)dt_sat_mul(last, size),
                base->storage->nbytes);
  dt_buf_fini(&a);
  dt_buf_fini(&b);
  return st;
}

static DtStatus make_views (LocalCall *c) {
  DtCtx *cx = c->s->cx;
  DtTensor *base = c->nin > 0 ? c->in[0] : NULL;
  DT_ASSERT(cx, base != NULL);
  for (int i = 0; i < c->n; i++) {
    int64_t off;
    if (c->none[i]) continue;
    DT_TRY(cx, view_offset(c, base, i, &off));
    if (!dt_tensor_fits(base, &c->m[i], off))
      return out_of_storage(c, base, &c->m[i], off);
    DT_TRY(cx, dt_tensor_view(cx, base, &c->m[i], off, &c->out[i]));
    if (base->marks == 0 && !(c->op->flags & DT_OP_TURNS)) continue;
    DtStatus st = turn_mark(c, base, c->out[i]);
    if (st != DT_OK) {
      dt_tensor_unref(cx, c->out[i]);
      c->out[i] = NULL;
      return st;
    }
  }
  return DT_OK;
}

/* Of the device the numbers are for. */
static DtRng *generator_of (LocalCall *c) {
  const DtMeta *m = c->n > 0 ? &c->m[0] : c->nin > 0 ? &c->kin[0]->m : NULL;
  return m == NULL || m->device == DT_DEV_CPU ? &c->s->rng.cpu
                                              : &c->s->rng.device;
}

static DtStatus call_kernel (LocalCall *c, DtTensor *const *work) {
  DtKernelCall k = { .cx = c->s->cx, .op = c->op, .args = c->args,
                     .nin = c->nin, .in = c->kin, .nout = c->n, .out = work,
                     .ret = c->ret, .rng = generator_of(c) };
  if (c->nodata) {
    DT_CHECK(k.cx, c->n > 0 || c->op->sig->nrets == 0, DT_E_META_NO_DATA,
             "%s needs data, and this tensor has none", c->op->sig->full);
    return DT_OK;
  }
  return c->op->kernel(&k);
}

static DtStatus copy_back (LocalCall *c, int i, const DtTensor *work,
                           DtTensor *dst) {
  if (work == dst) return DT_OK;
  if (!dt_meta_same_shape(&dst->m, &c->m[i]))
    DT_TRY(c->s->cx, resize_to(c->s->cx, dst, &c->m[i], c->nodata));
  if (c->nodata) return DT_OK;
  return dt_k_copy(c->s->cx, work, dst);
}

/* Allocate or find the outputs, run, copy temporaries to where they belong. */
static DtStatus run_kernel (LocalCall *c, DtTensor **work) {
  DtCtx *cx = c->s->cx;
  DtStatus st = DT_OK;
  int i;
  for (i = 0; i < c->n; i++) {
    int slot = ret_slot(c, i);
    if (slot >= 0) {
      DT_TRYG(cx, prepare_written(c, i, c->in[slot], &work[i]));
    } else if (!c->none[i]) {
      DT_TRYG(cx, dt_tensor_new(cx, &c->m[i], c->nodata, &work[i]));
    }
  }
  DT_TRYG(cx, call_kernel(c, work));
  for (i = 0; i < c->n; i++) {
    int slot = ret_slot(c, i);
    if (slot < 0) {
      c->out[i] = work[i];
      work[i] = NULL;
      continue;
    }
    DT_TRYG(cx, copy_back(c, i, work[i], c->in[slot]));
    c->out[i] = dt_tensor_ref(c->in[slot]);
  }
  bump_versions(c);
done:
  for (i = 0; i < c->n; i++) dt_tensor_unref(cx, work[i]);
  if (st != DT_OK)
    for (i = 0; i < c->n; i++) {
      dt_tensor_unref(cx, c->out[i]);
      c->out[i] = NULL;
    }
  return st;
}

/* Types that no kernel takes: asked when all else is right. */
static DtStatus check_type (const LocalCall *c) {
  const DtMeta *m = c->nin > 0 ? &c->in[0]->m : NULL;
  if (c->op->refusal == NULL) return DT_OK;
  return dt_refuse(c->s->cx, c->op->refusal, c->op->sig, c->args, c->nin > 0,
                   &m);
}

static DtStatus infer_metas (LocalCall *c, int nmetas) {
  DtCtx *cx = c->s->cx;
  const DtMeta *inl[16], **metas = inl;
  if (c->nin > 16) {
    metas = DT_ANEWN(cx, &cx->scratch, const DtMeta *, c->nin);
    if (metas == NULL) return DT_E_NOMEM;
  }
  for (int i = 0; i < c->nin; i++) {
    DT_ASSERT(cx, c->in[i] != NULL);
    metas[i] = &c->in[i]->m;
  }
  DtMetaCall m = { .cx = cx, .op = c->op, .args = c->args, .nin = c->nin,
                   .in = metas, .maxout = nmetas, .out = c->m, .none = c->none,
                   .offset = c->off };
  DT_TRY(cx, dt_prop_meta(&m));
  c->n = m.nout;
  return DT_OK;
}

/* --- lists element by element --- */

/* Tensors of one element get slots of their own, so that an element costs the
** same however long the lists are. */
static int compact_slots (const LocalCall *c, DtArgs *a, DtTensor **ein) {
  int n = 0;
  for (int j = 0; j < a->n; j++) {
    DtValue *v = &a->v[j];
    if (v->kind != DT_V_TENSOR) continue;
    ein[n] = c->in[v->u.slot];
    v->u.slot = n++;
  }
  a->nslots = n;
  return n;
}

static DtStatus run_element (const LocalCall *c, int i, DtTensor **res) {
  DtCtx *cx = c->s->cx;
  DtMeta m[INLINE_OUTS];
  bool none[INLINE_OUTS] = { false };
  int64_t off[INLINE_OUTS] = { 0 };
  DtTensor *out[INLINE_OUTS] = { NULL }, *work[INLINE_OUTS] = { NULL };
  DtTensor *ein[DT_MAX_ARGS];
  DtArgs a;
  LocalCall e = { .s = c->s, .op = c->op->base, .args = &a, .in = ein, .kin = ein,
                  .nodata = c->nodata, .quiet = true, .max = INLINE_OUTS,
                  .m = m, .none = none, .off = off, .out = out };
  DT_TRY(cx, dt_foreach_args(cx, c->op, c->args, i, &a));
  e.nin = compact_slots(c, &a, ein);
  DT_TRY(cx, infer_metas(&e, INLINE_OUTS));
  DT_TRY(cx, run_kernel(&e, work));
  for (int k = 1; k < e.n; k++) dt_tensor_unref(cx, out[k]);
  *res = out[0];
  return DT_OK;
}

/* In-place lists whose base is a functional operator: write it back. */
static DtStatus element_store (const LocalCall *c, int i, DtTensor *res) {
  DtCtx *cx = c->s->cx;
  const DtValue *self = &c->args->v[0];
  DtTensor *dst;
  if (self->kind != DT_V_LIST || i >= self->u.list.n) return DT_OK;
  dst = c->in[self->u.list.v[i].u.slot];
  if (res == dst) return DT_OK;
  if (!dt_meta_same_shape(&dst->m, &res->m))
    return shape_error(cx, &dst->m, &res->m);
  DT_TRY(cx, dt_inplace_cast(cx, c->op, (DtDtype)res->m.dtype,
                             (DtDtype)dst->m.dtype));
  if (!c->nodata) DT_TRY(cx, dt_k_copy(cx, res, dst));
  dt_tensor_count_write(dst);
  return DT_OK;
}

static DtStatus foreach_check (LocalCall *c) {
  DtCtx *cx = c->s->cx;
  DtArenaMark mark = dt_arena_mark(&cx->scratch);
  const DtMeta **in = DT_ANEWN(cx, &cx->scratch, const DtMeta *, c->nin + 1);
  DtStatus st = DT_E_NOMEM;
  for (int i = 0; in && i < c->nin; i++)
    in[i] = c->in[i] != NULL ? &c->in[i]->m : NULL;
  if (in) st = dt_foreach_check(cx, c->op, c->args, in);
  dt_arena_release(&cx->scratch, mark);
  return st;
}

/* Element by element. In place, the results of the elements done stay when a
** later one fails, as they do in PyTorch's slow path; otherwise nothing is
** left. */
static DtStatus run_foreach (LocalCall *c) {
  DtCtx *cx = c->s->cx;
  DtStatus st = DT_OK;
  bool inplace = c->op->sig->nargs > 0 && c->op->sig->arg[0].write;
  int n = dt_foreach_count(c->args), i;
  DT_TRY(cx, foreach_check(c));
  DT_CHECK(cx, n <= c->max, DT_E_LIMIT, "%s: more than %d tensors",
           c->op->sig->full, c->max);
  for (i = 0; i < n && st == DT_OK; i++) {
    DtTensor *res = NULL;
    st = run_element(c, i, &res);
    if (st != DT_OK) break;
    if (!inplace) {
      c->out[i] = res;
      continue;
    }
    st = element_store(c, i, res);
    dt_tensor_unref(cx, res);
  }
  if (st != DT_OK) {
    while (!inplace && i-- > 0) {
      dt_tensor_unref(cx, c->out[i]);
      c->out[i] = NULL;
    }
    return st;
  }
  c->n = inplace ? 0 : n;
  return DT_OK;
}

/* --- an operator without a kernel of its own --- */

static DtStatus decomp_calls (LocalCall *c, DtDecompCall *d, DtRun *run,
                              DtHandle **in) {
  DtStatus st = DT_OK;
  for (int i = 0; i < c->nin && st == DT_OK; i++) {
    DtVar *v;
    st = dt_var_new(c->s, c->in[i], NULL, &v);
    if (st == DT_OK) in[i] = dt_run_keep(run, v);
    if (run->e.st != DT_OK) st = run->e.st;
  }
  if (st == DT_OK) st = c->op->decomp(d);
  if (st == DT_OK) st = run->e.st;
  for (int i = 0; i < d->nout && st == DT_OK; i++)
    c->out[i] = d->out[i] ? dt_tensor_ref(((DtVar *)(void *)d->out[i])->local)
                          : NULL;
  c->n = d->nout;
  return st;
}

static DtTensor *given_out (const LocalCall *c) {
  const DtSchema *sig = c->op->sig;
  int slot = sig->writes_out ? dt_arg_slot(c->args, sig->nargs - 1) : -1;
  return slot >= 0 && slot < c->nin ? c->in[slot] : NULL;
}

/* The decomposition, without events when it stands for a kernel: what a
** composite calls is seen, what a kernel does is not. */
static DtStatus run_decomp (LocalCall *c) {
  DtSession *s = c->s;
  DtCtx *cx = s->cx;
  DtArenaMark mark = dt_arena_mark(&cx->scratch);
  DtHandle **in = DT_ANEWN(cx, &cx->scratch, DtHandle *, c->nin + 1);
  DtHandle **out = DT_ANEWN(cx, &cx->scratch, DtHandle *, c->max + 1);
  bool grad = s->grad_enabled, kernel = !(c->op->flags & DT_OP_COMPOSITE);
  uint64_t mask = s->listen_mask;
  int64_t seq = s->seq;
  DtRun run;
  DtMeta had;                   /* of its out=, before it may be resized */
  DtDecompCall d = { .op = c->op, .args = c->args, .nin = c->nin, .in = in,
                     .out = out, .maxout = c->max };
  DtStatus st = in && out ? DT_OK : DT_E_NOMEM;
  dt_run_init(&run, s, &cx->scratch);
  d.e = &run.e;
  if (kernel) run.given = given_out(c);
  if (run.given != NULL) dt_meta_copy(&had, &run.given->m);
  s->grad_enabled = false;
  if (st == DT_OK && kernel) st = tell_begin(c);
  if (kernel) s->listen_mask = 0;
  if (st == DT_OK) st = decomp_calls(c, &d, &run, in);
  s->listen_mask = mask;
  if (kernel) s->seq = seq;
  if (run.given != NULL) dt_resized_warn(s, &had, &run.given->m);
  dt_run_fini(&run);
  s->grad_enabled = grad;
  dt_arena_release(&cx->scratch, mark);
  return kernel ? tell_end(c, st) : st;
}

/* --- results whose shapes depend on data: the kernel makes them --- */

/* What the kernel made goes into the out= tensors, where some were given. */
static DtStatus store_made (LocalCall *c) {
  DtCtx *cx = c->s->cx;
  for (int i = 0; i < c->n; i++) {
    int slot = ret_slot(c, i);
    DtTensor *dst = slot >= 0 ? c->in[slot] : NULL, *made = c->out[i];
    if (dst == NULL || made == NULL) continue;
    DT_TRY(cx, dt_out_type_check(cx, c->op->sig, c->args,
                                 (DtDtype)made->m.dtype, (DtDtype)dst->m.dtype));
    dt_resized_warn(c->s, &dst->m, &made->m);
    DT_TRY(cx, dt_local_resize_out(cx, dst, &made->m));
    DT_TRY(cx, dt_k_copy(cx, made, dst));
    dt_tensor_unref(cx, made);
    c->out[i] = dt_tensor_ref(dst);
  }
  bump_versions(c);
  return DT_OK;
}

static DtStatus run_datadep (LocalCall *c) {
  DtKernelCall k = { .cx = c->s->cx, .op = c->op, .args = c->args,
                     .nin = c->nin, .in = c->kin, .nout = c->op->sig->nrets,
                     .ret = c->ret, .rng = generator_of(c), .made = c->out };
  DtStatus st;
  DT_CHECK(k.cx, !c->nodata, DT_E_META_NO_DATA, "%s needs data, and this "
           "tensor has none", c->op->sig->full);
  DT_TRY(k.cx, tell_begin(c));
  st = c->op->kernel(&k);
  c->n = k.nout;
  if (st == DT_OK && c->op->sig->writes_out) st = store_made(c);
  for (int i = 0; i < k.nout && st != DT_OK; i++) {
    dt_tensor_unref(k.cx, c->out[i]);
    c->out[i] = NULL;
  }
  return tell_end(c, st);
}

/* --- the entry --- */

/* Does the kernel make the result's shape?  That of x[i] depends on data where
** a mask is among the indices: without data, and without one, its meta does. */
static bool shape_needs_data (const LocalCall *c) {
  if (c->op->kernel == NULL || !(c->op->flags & DT_OP_DATADEP)) return false;
  if (!c->nodata || c->op->meta == NULL) return true;
  for (int i = 1; i < c->nin; i++)
    if (c->in[i] != NULL && (c->in[i]->m.dtype == DT_BOOL ||
                             c->in[i]->m.dtype == DT_U8))
      return true;
  return false;
}

static bool on_meta (const DtTensor *t) { return t->m.device == DT_DEV_META; }

/* Does argument t of a call whose tensors are on `meta` or not fit there?  A
** CPU number fits everywhere, one of meta only there. */
static bool fits_device (const DtTensor *t, bool meta) {
  return on_meta(t) == meta || (!on_meta(t) && t->m.ndim == 0);
}

/* Tensors of meta have no data, so that what is computed of them and of others
** has none: without this check the result of a sum over a parameter that was
** forgotten there would be a meta tensor, and a copy from one do nothing.
** Pointwise operators and cat refuse both orders, as PyTorch does; the others
** refuse what would have to read data that is not there, where PyTorch's
** kernels read what memory holds.  */
static DtStatus check_devices (LocalCall *c) {
  DtCtx *cx = c->s->cx;
  const char *base = c->op->sig->base;
  bool strict = (c->op->flags & DT_OP_POINTWISE) || strcmp(base, "cat") == 0 ||
                strcmp(base, "stack") == 0;
  const DtTensor *first = NULL;
  if (c->op->flags & (DT_OP_NODATA | DT_OP_VIEW | DT_OP_OUT | DT_OP_FOREACH))
    return DT_OK;
  for (int i = 0; i < c->nin && (first == NULL || first->m.ndim == 0); i++)
    if (c->in[i] != NULL && (first == NULL || c->in[i]->m.ndim > 0))
      first = c->in[i];
  if (first == NULL || (on_meta(first) && !strict)) return DT_OK;
  for (int i = 0; i < c->nin; i++) {
    const DtTensor *t = c->in[i];
    if (t == NULL || fits_device(t, on_meta(first)) || t == c->in[0]) continue;
    DT_CHECK(cx, strcmp(base, "copy_") != 0 || !on_meta(t), DT_E_NOTIMPL,
             "Cannot copy out of meta tensor; no data!");
    DT_CHECK(cx, c->op->flags & DT_OP_INPLACE, DT_E_RUNTIME,
             "Tensor on device %s is not on the expected device %s!",
             dt_device_name((DtDevice)t->m.device),
             dt_device_name((DtDevice)first->m.device));
  }
  return DT_OK;
}

/* One call on local tensors: overlap and shapes are checked before the event,
** so that a call that PyTorch refuses is never seen as begun.  Operators whose
** shape depends on data (nonzero) have no meta: the kernel makes both. */
static DtStatus run_checked (LocalCall *c, int nmetas, DtTensor **work) {
  DtCtx *cx = c->s->cx;
  bool each = (c->op->flags & DT_OP_FOREACH) && c->op->base != NULL;
  bool view = (c->op->flags & (DT_OP_VIEW | DT_OP_SHARES)) != 0;
  dt_resized_like(c->s, c->op, c->nin, c->in);
  DT_TRY(cx, dt_check_overlap(c->s, c->op, c->args, c->nin, c->in));
  if (!each && c->op->kernel == NULL && !view) {
    DT_CHECK(cx, c->op->decomp != NULL, DT_E_NOTIMPL,
             "%s has no kernel", c->op->sig->full);
    DT_TRY(cx, check_type(c));
    return run_decomp(c);
  }
  if (c->nodata && !dt_session_no_data(c->s)) DT_TRY(cx, check_devices(c));
  bool datadep = shape_needs_data(c);
  if (!each && !datadep) DT_TRY(cx, infer_metas(c, nmetas));
  if (!each) DT_TRY(cx, check_type(c));
  if (datadep) return run_datadep(c);
  if (!each && c->n > 0 && c->m[0].device == DT_DEV_META) c->nodata = true;
  else if (!each && c->n > 0 && (c->op->flags & DT_OP_NODATA))
    c->nodata = dt_session_no_data(c->s);       /* zeros_like(meta, "cpu") */
  DT_TRY(cx, tell_begin(c));
  if (each) return tell_end(c, run_foreach(c));
  if (view) return tell_end(c, make_views(c));
  return tell_end(c, run_kernel(c, work));
}

static DtStatus run_many (LocalCall *c) {
  DtCtx *cx = c->s->cx;
  DtArenaMark mark = dt_arena_mark(&cx->scratch);
  DtTensor **work = DT_ANEWN(cx, &cx->scratch, DtTensor *, c->max + 1);
  DtStatus st = DT_E_NOMEM;
  c->m = DT_ANEWN(cx, &cx->scratch, DtMeta, c->max + 1);
  c->none = DT_ANEWN(cx, &cx->scratch, bool, c->max + 1);
  c->off = DT_ANEWN(cx, &cx->scratch, int64_t, c->max + 1);
  if (work && c->m && c->none && c->off) st = run_checked(c, c->max, work);
  dt_arena_release(&cx->scratch, mark);
  return st;
}

/* `c`: the call and its inputs. */
static DtStatus run_local (LocalCall *c, DtLocalOut *out) {
  DtMeta m[INLINE_OUTS];
  bool none[INLINE_OUTS] = { false };
  int64_t off[INLINE_OUTS] = { 0 };
  DtTensor *work[INLINE_OUTS] = { NULL };
  DtValue dropped = { .kind = DT_V_NONE };
  DtStatus st;
  c->m = m;
  c->none = none;
  c->off = off;
  c->max = out->max;
  c->out = out->v;
  c->ret = out->ret ? out->ret : &dropped;
  for (int i = 0; i < out->max; i++) out->v[i] = NULL;
  c->nodata = any_nodata(c);
  if (c->op->sig->returns_list || c->op->sig->nrets > INLINE_OUTS ||
      c->nin > 16 || (c->op->flags & DT_OP_FOREACH)) {
    st = run_many(c);
  } else {
    DtArena *scratch = &c->s->cx->scratch;
    DtArenaMark mark = dt_arena_mark(scratch);
    st = run_checked(c, INLINE_OUTS, work);
    dt_arena_release(scratch, mark);
  }
  if (st == DT_OK) out->n = c->n;
  return st;
}

DtStatus dt_run_local (DtSession *s, const DtOpDef *op, const DtArgs *args,
                       int nin, DtTensor *const *in, DtLocalOut *out) {
  LocalCall c = { .s = s, .op = op, .args = args, .nin = nin, .in = in,
                  .kin = in };
  DtArenaMark mark;
  DtTensor **kin;
  DtStatus st;
  if (!s->marked) return run_local(&c, out);
  mark = dt_arena_mark(&s->cx->scratch);
  st = dt_marks_inputs(s, op, nin, in, &kin);
  if (st == DT_OK) {
    if (kin) c.kin = kin;
    st = run_local(&c, out);
  }
  dt_marks_drop(s, nin, kin);
  dt_arena_release(&s->cx->scratch, mark);
  return st;
}
