/* SPDX-License-Identifier: MIT
** op/variant.c: in-place, out=, scalar, functional and list forms, made from
** the definition of their base.
**
** A variant has its own schema and flags, and everything else from the base.
** Its arguments are the base's, with the out arguments after them, or lists
** of them; so only shape inference needs adapters: in-place results keep the
** type of self, out= results are the given tensors, list operators infer
** element by element. */
#include <string.h>
#include "op/out_types.h"
#include "op/registry_int.h"

/* ---- shape inference ---- */

static DtStatus base_meta (DtMetaCall *c) {
  DtMetaCall b = *c;
  DtStatus st;
  b.op = c->op->base;
  st = b.op->meta(&b);
  c->nout = b.nout;
  return st;
}

/* torch.can_cast: never to a lower kind, except that bool takes part only
** upwards. */
static DtStatus check_cast (DtCtx *cx, DtDtype from, DtDtype to) {
  DtKind f = dt_dtype_info(from)->kind, t = dt_dtype_info(to)->kind;
  DT_CHECK(cx, f <= t, DT_E_DTYPE, "result type %s can't be cast to the "
           "desired output type %s", dt_dtype_word(from), dt_dtype_word(to));
  return DT_OK;
}

/* In-place forms whose result does not fit say it in words of their own. */
typedef enum OddCast { CAST_PLAIN, CAST_CPP, CAST_BASE, CAST_BARE,
                       CAST_BACK, CAST_REAL } OddCast;
static OddCast odd_cast (const DtSchema *s) {
  static const struct { const char *full; OddCast odd; } odd[] = {
    { "aten._foreach_abs_.default", CAST_REAL },
    { "aten._foreach_clamp_max_.Scalar", CAST_CPP },
    { "aten._foreach_clamp_min_.Scalar", CAST_CPP },
    { "aten.abs_.default", CAST_REAL },
    { "aten.absolute_.default", CAST_REAL },
    { "aten.clamp_.default", CAST_CPP },
    { "aten.clamp_max_.default", CAST_CPP },
    { "aten.clamp_min_.default", CAST_CPP },
    { "aten.clip_.default", CAST_CPP },
    { "aten.float_power_.Scalar", CAST_BASE },
    { "aten.float_power_.Tensor", CAST_BASE },
    { "aten.ldexp_.default", CAST_BARE },
    { "aten.mvlgamma_.default", CAST_BACK }
  };
  size_t i;
  for (i = 0; i < sizeof odd / sizeof odd[0]; i++)
    if (strcmp(odd[i].full, s->full) == 0) return odd[i].odd;
  return CAST_PLAIN;
}

static DtStatus check_self_cast (DtCtx *cx, const DtSchema *s, DtDtype from,
                                 DtDtype to) {
  DtKind f = dt_dtype_info(from)->kind, t = dt_dtype_info(to)->kind;
  OddCast odd = odd_cast(s);
  if (odd == CAST_BASE)
    DT_CHECK(cx, from == to, DT_E_DTYPE, "the base given to %s has dtype %s "
             "but the operation's result requires dtype %s", s->base,
             dt_dtype_word(to), dt_dtype_word(from));
  DT_CHECK(cx, odd != CAST_REAL || t != DT_K_COMPLEX, DT_E_DTYPE,
           "In-place abs is not supported for complex tensors.");
  if (f <= t) return DT_OK;
  switch (odd) {
    case CAST_CPP:
      return dt_raise(cx, DT_E_DTYPE, "result type %s can't be cast to the "
                      "desired output type %s", dt_dtype_word(from),
                      dt_dtype_info(to)->cpp);
    case CAST_BARE:
      return dt_raise(cx, DT_E_DTYPE, "ldexp can't be cast to the desired "
                      "output type %s", dt_dtype_word(to));
    case CAST_BACK:
      return dt_raise(cx, DT_E_DTYPE, "mvlgamma: result type %s can't be cast "
                      "to the desired output type %s", dt_dtype_word(to),
                      dt_dtype_word(from));
    default: return check_cast(cx, from, to);
  }
}

/* What propagation, which runs functions written in Python, says of a result
** that does not fit. */
static DtStatus unsafe_cast (DtCtx *cx, DtDtype from, DtDtype to) {
  DT_CHECK(cx, dt_dtype_info(from)->kind <= dt_dtype_info(to)->kind, DT_E_DTYPE,
           "Attempting to cast from %s to out tensor with dtype %s, but this "
           "can't be cast because it is not safe!", dt_dtype_info(from)->torch,
           dt_dtype_info(to)->torch);
  return DT_OK;
}

static bool named (const char *name, const char *const *list) {
  while (*list != NULL && strcmp(name, *list) != 0) list++;
  return *list != NULL;
}

/* The same in place.  Four operators have functions of their own there: that of
** mul_ looks at no type, and the local call is what refuses. */
static DtStatus fake_self_cast (DtCtx *cx, const DtSchema *s, DtDtype from,
                                DtDtype to) {
  static const char *const mul[] = { "mul_", "multiply_", NULL };
  static const char *const add[] = { "add_", "sub_", "subtract_", NULL };
  static const char *const div[] = { "div_", "divide_", "true_divide_", NULL };
  DtKind f = dt_dtype_info(from)->kind, t = dt_dtype_info(to)->kind;
  const char *base = s->base;
  OddCast odd = odd_cast(s);
  if (strncmp(base, "_foreach_", 9) == 0) base += 8;
  if (*base == '_') base++;
  if (odd != CAST_PLAIN && odd != CAST_CPP)
    return check_self_cast(cx, s, from, to);
  if (f <= t || named(base, mul)) return DT_OK;
  if (named(base, add))
    return t != DT_K_BOOL && f != DT_K_FLOAT ? DT_OK
           : dt_raise(cx, DT_E_DTYPE, "Promotion of %s in in-place ops are not "
                      "possible due to element size change.", t == DT_K_BOOL
                      ? "bool.add/sub_(others)" : "int.add/sub_(float)");
  if (named(base, div) && strstr(s->overload, "mode") == NULL)
    return dt_raise(cx, DT_E_DTYPE, "result type %s can't be cast to the "
                    "desired output type %s", dt_dtype_info(from)->torch,
                    dt_dtype_info(to)->torch);
  return unsafe_cast(cx, from, to);
}

DtStatus dt_inplace_cast (DtCtx *cx, const DtOpDef *op, DtDtype from,
                          DtDtype to) {
  return check_self_cast(cx, op->sig, from, to);
}

/* `python`: as a meta function written in Python prints shapes. */
static DtStatus raise_shape (DtCtx *cx, const DtMeta *self,
                             const DtMeta *res, bool python) {
  DtBuf a, b;
  DtStatus st;
  dt_buf_init(&a, cx);
  dt_buf_init(&b, cx);
  if (python) dt_buf_add(&a, "torch.Size(");
  dt_buf_add_i64s(&a, self->shape, self->ndim);
  if (python) dt_buf_addc(&a, ')');
  if (python) dt_buf_add_tuple(&b, res->shape, res->ndim);
  else dt_buf_add_i64s(&b, res->shape, res->ndim);
  st = dt_raise(cx, DT_E_SHAPE, "output with shape %s doesn't match the "
                "broadcast shape %s", dt_buf_str(&a), dt_buf_str(&b));
  dt_buf_fini(&a);
  dt_buf_fini(&b);
  return st;
}

/* The result of `op` into `self`: *out becomes self's.  In propagation a
** pointwise result may be larger: there PyTorch resizes a pretend self, and
** the local call is what refuses. */
static DtStatus into_self (const DtMetaCall *c, uint32_t op,
                           const DtMeta *self, DtMeta *out) {
  bool same = dt_meta_same_shape(self, out);
  bool late = c->fake && (op & DT_OP_POINTWISE) != 0 &&
              (op & (DT_OP_PYMETA | DT_OP_ITERMETA)) == 0;
  if (odd_cast(c->op->sig) == CAST_BASE)      /* comes before shapes */
    DT_TRY(c->cx, check_self_cast(c->cx, c->op->sig, (DtDtype)out->dtype,
                                  (DtDtype)self->dtype));
  if (!same && !late)
    return raise_shape(c->cx, self, out, c->fake && (op & DT_OP_PYMETA) != 0);
  DT_TRY(c->cx, (c->fake ? fake_self_cast : check_self_cast)(c->cx,
         c->op->sig, (DtDtype)out->dtype, (DtDtype)self->dtype));
  if (same) dt_meta_copy(out, self);
  else out->dtype = self->dtype;
  return DT_OK;
}

/* Views in place (squeeze_) change the shape of self; others must not. */
static DtStatus inplace_meta (DtMetaCall *c) {
  const DtMeta *self = dt_in(c, 0);
  DT_TRY(c->cx, base_meta(c));
  if (self == NULL || c->nout < 1 || (c->op->flags & DT_OP_VIEW) != 0)
    return DT_OK;
  return into_self(c, c->op->flags, self, &c->out[0]);
}

/* May result k be written to `given`?  Propagation asks less than kernels. */
static DtStatus check_out (DtMetaCall *c, int k, const DtMeta *given) {
  DtDtype from = (DtDtype)c->out[k].dtype, to = (DtDtype)given->dtype;
  return c->fake ? unsafe_cast(c->cx, from, to)
                 : dt_out_type_check(c->cx, c->op->sig, c->args, from, to);
}

/* Results are the tensors given, resized when their shape differs. */
static DtStatus out_meta (DtMetaCall *c) {
  const DtSchema *s = c->op->sig;
  int i, k = 0;
  DT_TRY(c->cx, base_meta(c));
  for (i = 0; i < s->nargs && k < c->nout; i++) {
    const DtMeta *given;
    if (!s->arg[i].kwonly || !s->arg[i].write) continue;
    given = dt_in(c, i);
    if (given != NULL) {
      DT_TRY(c->cx, check_out(c, k, given));
      if (dt_meta_same_shape(given, &c->out[k]))
        dt_meta_copy(&c->out[k], given);
      else
        c->out[k].dtype = given->dtype;
    }
    k++;
  }
  return DT_OK;
}

/* A list form that is not registered is inferred as its elements run. */
#define POINTWISE ((uint32_t)DT_OP_POINTWISE)

/* The tensors of one element alone, numbered from 0 as the base has them. */
static void only_element (const DtMetaCall *c, DtArgs *args,
                          const DtMeta *in[DT_MAX_ARGS]) {
  int k, n = 0;
  for (k = 0; k < args->n; k++)
    if (args->v[k].kind == DT_V_TENSOR) {
      in[n] = c->in[args->v[k].u.slot];
      args->v[k].u.slot = n++;
    }
  args->nslots = n;
}

/* The meta function of one element's plain operator answers for a list's i-th
** result. */
static DtStatus foreach_element (DtMetaCall *c, int i, DtArgs *args) {
  DtMetaCall b = *c;
  const DtMeta *in[DT_MAX_ARGS];
  DtMeta out[8];
  bool none[8];
  int64_t offset[8];
  DT_TRY(c->cx, dt_foreach_args(c->cx, c->op, c->args, i, args));
  only_element(c, args, in);
  b.in = in;
  b.nin = args->nslots;
  memset(none, 0, sizeof none);
  memset(offset, 0, sizeof offset);
  b.op = c->op->base;
  b.args = args;
  b.nout = 1;
  b.maxout = 8;
  b.out = out;
  b.none = none;
  b.offset = offset;
  DT_TRY(c->cx, b.op->meta(&b));
  if ((c->op->flags & DT_OP_INPLACE) != 0) {
    const DtMeta *self = dt_in(&b, 0);
    if (self != NULL)
      DT_TRY(c->cx, into_self(c, (b.op->flags & (c->op->flags | ~POINTWISE))
                              | (c->op->flags & (uint32_t)DT_OP_PYMETA), self,
                              &out[0]));
  } else {
    DT_CHECK(c->cx, i < c->maxout, DT_E_LIMIT, "more than %d results",
             c->maxout);
    dt_meta_copy(&c->out[i], &out[0]);
    c->none[i] = false;
  }
  return DT_OK;
}

static DtStatus foreach_meta (DtMetaCall *c) {
  int i, n = dt_foreach_count(c->args);
  DtArgs *args = (DtArgs *)dt_alloc(c->cx, sizeof *args);
  DtStatus st = args == NULL ? DT_E_NOMEM : DT_OK;
  if (st == DT_OK && c->fake)
    st = dt_foreach_check(c->cx, c->op, c->args, c->in);
  for (i = 0; i < n && st == DT_OK; i++)
    st = foreach_element(c, i, args);
  c->nout = (c->op->flags & DT_OP_INPLACE) != 0 && c->op->sig->nrets == 0
            ? 0 : n;
  dt_free(c->cx, args);
  return st;
}

/* ---- list operators ---- */

int dt_foreach_count (const DtArgs *args) {
  int i;
  for (i = 0; i < args->n; i++)
    if (args->v[i].kind == DT_V_LIST &&
        args->schema->arg[i].type == DT_T_TENSOR)
      return args->v[i].u.list.n;
  return 0;
}

/* The list operator's argument that stands for argument `k` of the base: the
** one at the same place if it could be it, else the one of that name. */
static int foreach_from (const DtSchema *s, const DtSchema *b, int k) {
  int i;
  for (i = 0; i < s->nargs; i++)
    if (strcmp(s->arg[i].name, b->arg[k].name) == 0) return i;
  if (k >= s->nargs) return -1;
  if (s->arg[k].kwonly != b->arg[k].kwonly    /* scalars for *, value=1 */
      && strcmp(s->arg[k].name, "scalars") != 0)
    return -1;
  return dt_schema_arg(b, s->arg[k].name) < 0 ? k : -1;
}

DtStatus dt_foreach_check (DtCtx *cx, const DtOpDef *op, const DtArgs *args,
                           const DtMeta *const *in) {
  const DtSchema *s = op->sig;
  int n = dt_foreach_count(args), k;
  for (k = 0; n == 0 && k < args->n; k++)
    if (args->v[k].kind == DT_V_LIST && s->arg[k].type == DT_T_TENSOR)
      DT_CHECK(cx, args->v[k].u.list.n == 0, DT_E_RUNTIME, "Tensor lists must "
               "have the same number of tensors, got 0 and %d",
               args->v[k].u.list.n);
  DT_CHECK(cx, n > 0, DT_E_RUNTIME,
           "Tensor list must have at least one tensor.");
  for (k = 0; k < args->n; k++) {
    const DtValue *v = &args->v[k];
    bool tensors = s->arg[k].type == DT_T_TENSOR;
    if (v->kind == DT_V_LIST && s->arg[k].list)
      DT_CHECK(cx, v->u.list.n == n, DT_E_RUNTIME,
               tensors ? "Tensor lists must have the same number of tensors, "
                         "got %d and %d"
                       : "Tensor list must have same number of elements as "
                         "scalar list.", n, v->u.list.n);
    else if (k > 0 && v->kind == DT_V_TENSOR && in[v->u.slot] != NULL)
      DT_CHECK(cx, in[v->u.slot]->ndim == 0 &&
                   dt_meta_numel(in[v->u.slot]) == 1, DT_E_RUNTIME,
               "scalar tensor expected to be 0 dim but it has %d dimensions "
               "and %lld elements.", (int)in[v->u.slot]->ndim,
               (long long)dt_meta_numel(in[v->u.slot]));
  }
  return DT_OK;
}

DtStatus dt_foreach_args (DtCtx *cx, const DtOpDef *op, const DtArgs *args,
                          int i, DtArgs *out) {
  const DtSchema *s = op->sig, *b = op->base->sig;
  int k, from;
  out->schema = b;
  out->n = b->nargs;
  out->npos = b->nargs - b->nkwonly;
  out->given = 0;
  out->nslots = args->nslots;
  for (k = 0; k < b->nargs; k++) {
    const DtValue *v;
    from = foreach_from(s, b, k);
    out->v[k] = b->arg[k].dflt;
    if (from < 0) continue;
    v = &args->v[from];
    if (v->kind == DT_V_LIST && s->arg[from].list && !b->arg[k].list) {
      DT_CHECK(cx, i < v->u.list.n, DT_E_RUNTIME, "Tensor lists must have the "
               "same number of tensors, got %d and %d",
               dt_foreach_count(args), v->u.list.n);
      v = &v->u.list.v[i];
    }
    out->v[k] = *v;
    out->given |= UINT32_C(1) << k;
  }
  return DT_OK;
}

/* ---- filling ---- */

/* Forms that PyTorch registers with another class than their base's. */
static DtPwClass variant_class (const DtSchema *s, DtPwClass base) {
  static const struct { const char *full; DtPwClass pw; } odd[] = {
    { "aten._foreach_clamp_max_.Scalar", DT_PW_NONDECREASING },
    { "aten._foreach_clamp_min_.Scalar", DT_PW_NONDECREASING },
    { "aten.clamp_max.Tensor_out", DT_PW_NONE },
    { "aten.clamp_max_.Tensor", DT_PW_NONE },
    { "aten.clamp_min.Tensor_out", DT_PW_NONE },
    { "aten.clamp_min_.Tensor", DT_PW_NONE },
    { "aten.max.other", DT_PW_NONE },
    { "aten.min.other", DT_PW_NONE },
    { "aten.special_modified_bessel_i1.out", DT_PW_NONE },
    { "aten.special_modified_bessel_k0.out", DT_PW_NONE },
    { "aten.special_modified_bessel_k1.out", DT_PW_NONE },
    { "aten.special_scaled_modified_bessel_k0.out", DT_PW_NONE },
    { "aten.special_scaled_modified_bessel_k1.out", DT_PW_NONE },
    { "aten.special_xlog1py.out", DT_PW_NONE },
    { "aten.true_divide.out", DT_PW_NONE },
    { "aten.true_divide_.Tensor", DT_PW_NONE }
  };
  size_t i;
  for (i = 0; i < sizeof odd / sizeof odd[0]; i++)
    if (strcmp(odd[i].full, s->full) == 0) return odd[i].pw;
  return base;
}

/* ---- out= forms that have no strategy of their own ---- */

/* Strategies over the whole mesh are registered for few out= forms. */
static bool has_out_strategy (const DtSchema *s) {
  static const char *const names[] = {
    "aten.amax.out", "aten.amin.out", "aten.any.out", "aten.eye.m_out",
    "aten.mean.out", "aten.prod.int_out", "aten.randint_like.low_dtype_out",
    "aten.std.correction_out", "aten.var.correction_out",
    "aten.var_mean.correction_out"
  };
  size_t i;
  for (i = 0; i < sizeof names / sizeof names[0]; i++)
    if (strcmp(names[i], s->full) == 0) return true;
  return false;
}

/* The values of a call as its base operator takes them. */
typedef struct BaseCall {
  DtGiven given;
  const char *name[DT_MAX_ARGS];
  DtValue kw[DT_MAX_ARGS];
} BaseCall;

static const DtGiven *base_call (const DtDecompCall *c, BaseCall *call) {
  const DtSchema *b = c->op->base->sig;
  int npos = b->nargs - b->nkwonly, n = 0;
  for (int i = npos; i < b->nargs; i++) {
    call->name[n] = b->arg[i].name;
    call->kw[n++] = c->args->v[i];
  }
  call->given = (DtGiven){ npos, c->args->v, n, call->name, call->kw };
  return &call->given;
}

/* The others are traced: the base operator, then a copy into out. */
static DtStatus out_decomp (DtDecompCall *c) {
  const DtSchema *s = c->op->sig, *b = c->op->base->sig;
  DtHandle *res[16] = { NULL };
  DtOutputs got = { res, 16, 0, NULL };
  BaseCall call;
  int i, k = 0, nin = c->nin;
  for (i = b->nargs; i < s->nargs; i++)         /* out tensors come last */
    if (dt_arg_slot(c->args, i) >= 0 && dt_arg_slot(c->args, i) < nin)
      nin = dt_arg_slot(c->args, i);
  DT_TRY(c->e->cx, c->e->vt->call(c->e, b->full, base_call(c, &call), nin,
                                  c->in, &got));
  for (i = b->nargs; i < s->nargs && k < got.n && k < c->maxout; i++) {
    DtHandle *out = dt_hin(c, i);
    if (!s->arg[i].write) continue;
    if (out != NULL && res[k] != NULL && !c->e->pretend)
      DT_TRY(c->e->cx, dt_out_type_check(c->e->cx, s, c->args,
               (DtDtype)dt_emit_meta(c->e, res[k])->dtype,
               (DtDtype)dt_emit_meta(c->e, out)->dtype));
    c->out[k] = out == NULL || res[k] == NULL ? res[k]
                : dt_emit(c->e, "aten.copy_.default", "tt", out, res[k]);
    k++;
  }
  c->nout = k;
  return c->e->st;
}

/* In-place forms without rules: the base, then a copy into self. */
static DtStatus inplace_decomp (DtDecompCall *c) {
  DtHandle *res[16] = { NULL };
  DtOutputs got = { res, 16, 0, NULL };
  BaseCall call;
  DT_TRY(c->e->cx, c->e->vt->call(c->e, c->op->base->sig->full,
                                  base_call(c, &call), c->nin, c->in, &got));
  if (odd_cast(c->op->sig) == CAST_BASE && res[0] != NULL)
    DT_TRY(c->e->cx, check_self_cast(c->e->cx, c->op->sig,
             (DtDtype)dt_emit_meta(c->e, res[0])->dtype,
             (DtDtype)dt_emit_meta(c->e, dt_hin(c, 0))->dtype));
  c->out[0] = dt_emit(c->e, "aten.copy_.default", "tt", dt_hin(c, 0), res[0]);
  c->nout = 1;
  return c->e->st;
}

/* Another name: the base with the same arguments. */
static DtStatus alias_decomp (DtDecompCall *c) {
  DtOutputs got = { c->out, c->maxout, 0, NULL };
  BaseCall call;
  DtStatus st = c->e->vt->call(c->e, c->op->base->sig->full,
                               base_call(c, &call), c->nin, c->in, &got);
  c->nout = got.n;
  return st;
}

static DtStatus alias_fill (DtOpDef *def, const DtOpDef *base) {
  const DtOpDef named = {
    .schema = def->schema, .sig = def->sig, .base = base,
    .brief = base->brief, .doc = base->doc, .samples = base->samples,
    .flags = DT_OP_COMPOSITE |
             (base->flags & (uint32_t)(DT_OP_INPLACE | DT_OP_OUT)),
    .decomp = alias_decomp
  };
  *def = named;
  return DT_OK;
}

static DtStatus check_same_args (DtCtx *cx, const DtOpDef *base,
                                 const DtOpDef *def) {
  const DtSchema *a = base->sig, *b = def->sig;
  int i;
  for (i = 0; i < a->nargs && i < b->nargs; i++)
    if (a->arg[i].list != b->arg[i].list) break;
  DT_CHECK(cx, i == a->nargs, DT_E_INTERNAL, "%s cannot be made from %s: "
           "argument %d differs", b->full, a->full, i);
  return DT_OK;
}

/* A variant is its base but for how the result is written.  Traps: `*def = *base`
** overwrites what the variant was found by, so its schema is saved first; an
** operator in place must not be decomposed where its base has a rule, since the
** tensor that is written cannot move; a *_TRACED one must lose every way to
** decide (rules, rulefn, strategy, rewrite), or it would decide where PyTorch,
** which has no strategy for it, traces base and copy_; an out= form is no view
** and has no gradient, whatever its base is. */
DtStatus dt_variant_fill (DtCtx *cx, DtVariantKind kind, const DtOpDef *base,
                          DtOpDef *def) {
  const char *schema = def->schema;
  const DtSchema *sig = def->sig;
  *def = *base;
  def->schema = schema;
  def->sig = sig;
  def->base = base;
  def->samples = NULL;
  def->pw = variant_class(sig, base->pw);
  if (kind != DT_VAR_FOREACH) DT_TRY(cx, check_same_args(cx, base, def));
  switch (kind) {
    case DT_VAR_TRACED:
    case DT_VAR_INPLACE:
      def->flags |= DT_OP_INPLACE;
      if (base->meta != NULL) def->meta = inplace_meta;
      def->samples = base->samples;
      def->decomp = base->decomp != NULL && base->rules == NULL &&
                    base->rulefn == NULL && base->strategy == NULL
                    ? inplace_decomp : NULL;
      /* a pointwise one has an operator in place at its end */
      if ((def->flags & DT_OP_COMPOSITE) != 0 && base->decomp != NULL &&
          (def->flags & DT_OP_POINTWISE) != 0 && odd_cast(sig) != CAST_BASE)
        def->decomp = base->decomp;
      if (kind == DT_VAR_TRACED) {
        def->flags &= ~(uint32_t)DT_OP_POINTWISE;
        def->rules = NULL;
        def->rulefn = NULL;
        def->strategy = NULL;
        def->rewrite = NULL;
        def->decomp = inplace_decomp;
      }
      break;
    case DT_VAR_OUT:
    case DT_VAR_OUT_TRACED:
      def->flags = (def->flags | DT_OP_OUT | DT_OP_NOGRAD) &
                   ~(uint32_t)(DT_OP_VIEW | DT_OP_SHARES | DT_OP_COMPOSITE |
                               DT_OP_INPLACE);
      if (base->meta != NULL) def->meta = out_meta;
      def->grad = NULL;
      def->decomp = base->decomp != NULL ? out_decomp : NULL;
      if (kind == DT_VAR_OUT_TRACED ||
          (base->strategy != NULL && base->rules == NULL &&
           base->rulefn == NULL && !has_out_strategy(sig))) {
        def->rules = NULL;
        def->rulefn = NULL;
        def->strategy = NULL;
        def->rewrite = NULL;
        def->decomp = out_decomp;
      }
      break;
    case DT_VAR_FOREACH:
      def->flags |= DT_OP_FOREACH;
      if (sig->inplace) def->flags |= DT_OP_INPLACE;
      if (base->meta != NULL) def->meta = foreach_meta;
      if ((base->flags & DT_OP_POINTWISE) != 0) def->strategy = NULL;
      if (base->decomp != NULL && base->strategy == NULL &&
          base->rules == NULL && base->rulefn == NULL)
        def->flags |= DT_OP_POINTWISE | DT_OP_UNEVEN;   /* _foreach_zero */
      def->decomp = NULL;
      break;
    case DT_VAR_FUNCTIONAL:
      def->flags &= ~(uint32_t)DT_OP_INPLACE;
      break;
    case DT_VAR_ALIAS: return alias_fill(def, base);
    default: break;
  }
  return DT_OK;
}
