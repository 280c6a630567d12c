/* SPDX-License-Identifier: MIT
** oplib/op_pointwise.c: how pointwise operators run: operands, types and what
** they refuse, and the call of the kernel.
**
** Which function, which promotion and which arguments is the operator's row.
** An operator refuses types in two places, and both texts are PyTorch's: before
** shapes are looked at ("first-refuses" in its .ops text), and in its CPU kernel
** ("kernel-refuses").
** The difficult part is rounding: PyTorch casts operands to the promoted type
** first, so a number added to f16 is rounded to f16, and -1 compared with u8
** is 255; only products and quotients by one element keep it in f32. */
#include "oplib/oplib_int.h"

#include <string.h>

/* ---- which types are refused ---- */

#define BIT(t) (UINT32_C(1) << DT_##t)
enum { ANY, ONE, OPERAND };
#define INTS (BIT(U8) | BIT(I8) | BIT(I16) | BIT(I32) | BIT(I64))
#define BOOL BIT(BOOL)
#define HALF (BIT(F16) | BIT(BF16))
#define WIDE (BIT(F32) | BIT(F64))
#define E4M3 BIT(F8E4M3)
#define F8 (BIT(F8E5M2) | BIT(F8E4M3))
#define CPLX (BIT(C64) | BIT(C128))
/* The two half complex types; what only the one on bfloat16 lacks. */
#define BC32 BIT(BC32)
#define C32 (BIT(C32) | BC32)
#define BYTE BIT(U8)

/* `text` is the argument of a key of compat/texts.def where there is one. */
typedef struct Refusal {
  const char *op, *text; uint32_t types; int when; DtStatus code; DtText key;
} Refusal;

/* Does the key have so many arguments?  Else it does not compile. */
#define TAKES(key, n) \
  (0 * (uint32_t)sizeof(char [DT_TEXT_ARGS_##key == (n) ? 1 : -1]))

static const Refusal kernel_refuses[] = {
#define T(op, name, types, when) \
  { op, name, types, when, DT_E_NOTIMPL, DT_NTEXTS },
#include "oplib/pw_types.def"
#undef T
};
static const Refusal meta_refuses[] = {
#define R(op, code, types, when, text) \
  { op, text, types, when, DT_E_##code, DT_NTEXTS },
#define S0(op, types, when, key, arg) \
  { op, arg, (types) + TAKES(key, 0), when, DT_E_RUNTIME, DT_TEXT_##key },
#define S1(op, types, when, key, arg) \
  { op, arg, (types) + TAKES(key, 1), when, DT_E_RUNTIME, DT_TEXT_##key },
#include "oplib/pw_refuse.def"
#undef S1
#undef S0
#undef R
};

/* "add.Tensor" for aten::add.Tensor(...); what variants are made from. */
static void root_name (const DtOpDef *op, char *out, size_t size) {
  size_t n;
  while (op->base != NULL) op = op->base;
  n = strcspn(op->schema + 6, "(");
  if (n >= size) n = size - 1;
  memcpy(out, op->schema + 6, n);
  out[n] = '\0';
}

/* Order of a table's name and an operator's: the word, then the overload; a
** table's bare word stands for every overload, "word." for the default. */
static int name_order (const char *row, const char *name) {
  size_t n = strlen(row);
  if (n > 0 && row[n - 1] == '.')       /* "x.": the default overload only */
    return strncmp(row, name, n - 1) == 0 && name[n - 1] == '\0' ? 0 : -1;
  int r = strncmp(row, name, n);
  if (r != 0) return r;
  return name[n] == '\0' || name[n] == '.' ? 0 : -1;
}

/* The rows for `name` that hold for `t`; NULL when none does. */
static const Refusal *find (const Refusal *rows, int n, const char *name,
                            DtDtype t, bool one, int skip) {
  int lo = 0, hi = n;
  char word[64];
  size_t len = strcspn(name, ".");
  const Refusal *bare = NULL;
  if (len >= sizeof word) return NULL;
  memcpy(word, name, len);
  word[len] = '\0';
  while (lo < hi) {
    int mid = (lo + hi) / 2;
    if (strcmp(rows[mid].op, word) < 0) lo = mid + 1;
    else hi = mid;
  }
  for (; lo < n && strncmp(rows[lo].op, word, len) == 0; lo++) {
    const Refusal *r = &rows[lo];
    if (name_order(r->op, name) != 0 || (r->types >> t & 1u) == 0 ||
        (r->when == ONE && !one) || r->when == skip)
      continue;
    if (r->op[len] == '.') return r;
    if (bare == NULL) bare = r;
  }
  return bare;
}

enum { N_KERNEL = sizeof kernel_refuses / sizeof kernel_refuses[0],
       N_META = sizeof meta_refuses / sizeof meta_refuses[0] };

/* Types no kernel here and no table has reservations about. */
static bool is_plain (DtDtype t) { return t == DT_F32 || t == DT_F64; }

static DtStatus kernel_allows (DtCtx *cx, const char *name, DtDtype t,
                               bool one) {
  const Refusal *r = find(kernel_refuses, N_KERNEL, name, t, one, -1);
  DT_CHECK(cx, r == NULL, DT_E_NOTIMPL, "\"%s\" not implemented for '%s'",
           r->text, dt_dtype_word(t));
  return DT_OK;
}

DtStatus op_kernel_allows (DtCtx *cx, const DtOpDef *op, const char *name,
                           DtDtype t, bool one) {
  char root[80];
  if (name == NULL) {
    root_name(op, root, sizeof root);
    name = root;
  }
  return kernel_allows(cx, name, t, one);
}

static DtStatus meta_allows (DtCtx *cx, const char *name, DtDtype t,
                             int skip) {
  const Refusal *r = find(meta_refuses, N_META, name, t, true, skip);
  if (r == NULL) return DT_OK;
  return r->key != DT_NTEXTS ? dt_say(cx, r->code, r->key, &r->text)
                             : dt_raise(cx, r->code, "%s", r->text);
}

/* ---- promotion ---- */

DtStatus op_promotable (DtCtx *cx, int n, const OpOperand *o) {
  DtPromote p;
  DtDtype a, b;
  dt_promote_init(&p, cx->bf16_complex);
  op_promote_all(&p, n, o);
  if (!dt_promote_refused(&p, &a, &b)) return DT_OK;
  if (b == DT_DTYPE_NONE)
    return dt_raise(cx, DT_E_RUNTIME, "Unknown Complex ScalarType for %s",
                    dt_dtype_word(a));
  return dt_raise(cx, DT_E_RUNTIME, "Promotion for Float8 Types is not "
                  "supported, attempted to promote %s and %s",
                  dt_dtype_word(a), dt_dtype_word(b));
}

/* where() and masked_fill() do not promote with their condition: operand
** `skip` stands outside. */
static int promo_skip (const DtOpDef *op) {
  return op->row[PWR_PROMO] >> 8;
}

static int promoted (const DtOpDef *op, int n, const OpOperand *o,
                     OpOperand *use) {
  int m = 0, skip = promo_skip(op) - 1;
  for (int i = 0; i < n; i++)
    if (i != skip) use[m++] = o[i];
  return m;
}

static void pw_types (const DtCtx *cx, const DtOpDef *op, int n,
                      const OpOperand *o, DtDtype *ct, DtDtype *rt) {
  OpOperand use[PWR_MAXN];
  int m = promoted(op, n, o, use);
  op_promo_types(cx, (OpPromo)(op->row[PWR_PROMO] & 255), m, use, ct, rt);
}

/* ---- numbers as elements ---- */

static double largest (DtDtype t) {
  switch (t) {
    case DT_F16: return 65504.0;
    case DT_BF16: return 3.3895313892515355e38;
    case DT_F32: return 3.4028234663852886e38;
    case DT_F8E4M3: return 448.0;
    case DT_F8E5M2: return 57344.0;
    default: return 1.7976931348623157e308;
  }
}

/* Negative integers may wrap into u8. */
static bool int_fits (DtScalar v, DtDtype t) {
  double top = t == DT_U8 ? 255 : t == DT_I8 ? 127 : t == DT_I16 ? 32767
               : t == DT_I32 ? 2147483647.0 : 0x1p63;
  double low = t == DT_U8 ? (v.kind == DT_K_FLOAT ? 0 : -255) : -top - 1;
  if (v.kind <= DT_K_INT)
    return t == DT_I64 || ((double)v.i >= low && (double)v.i <= top);
  if (t == DT_I64) return v.re >= -0x1p63 && v.re <= 0x1p63;
  return v.re >= low && v.re <= top;
}

DtStatus op_number_fits (DtCtx *cx, DtScalar v, DtDtype t) {
  static const char *const ints[] = {
    [DT_U8] = "uint8_t", [DT_I8] = "int8_t", [DT_I16] = "int16_t",
    [DT_I32] = "int", [DT_I64] = "int64_t"
  };
  bool fits = true, whole = dt_dtype_is_integral(t, false);
  double re = v.kind <= DT_K_INT ? (double)v.i : v.re;
  if (t == DT_BOOL) return DT_OK;
  if (v.kind == DT_K_COMPLEX && v.im != 0) fits = dt_dtype_is_complex(t);
  else if (whole) fits = int_fits(v, t);
  else if (dt_dtype_is_float(t))
    fits = re != re || (re - re != 0 && t != DT_F8E4M3) ||
           (re <= largest(t) && re >= -largest(t));
  DT_CHECK(cx, fits, DT_E_RUNTIME, "value cannot be converted to type %s "
           "without overflow", whole ? ints[t] : dt_dtype_info(t)->cpp);
  return DT_OK;
}

DtStatus op_number_fills (DtCtx *cx, DtScalar v, const DtTensor *out) {
  DtDtype t = (DtDtype)out->m.dtype;
  bool twice = (t == DT_F16 || t == DT_BF16) && dt_meta_numel(&out->m) == 1;
  return op_number_fits(cx, v, twice ? DT_F64 : t);
}

/* ---- operands ---- */

int op_pw_operands (const DtOpDef *op, const DtArgs *a,
                    const DtMeta *const *in, DtTensor *const *tin,
                    OpOperand *o) {
  const int *row = op->row;
  for (int i = 0; i < row[PWR_N]; i++) {
    int at = row[PWR_ARG + i], s = dt_arg_slot(a, at);
    memset(&o[i], 0, sizeof o[i]);
    if (s >= 0) {
      o[i].t = tin ? tin[s] : NULL;
      o[i].m = tin ? &tin[s]->m : in[s];
    } else if (!dt_arg_is_none(a, at)) {
      o[i].is_num = true;
      o[i].num = dt_arg_scalar(a, at);
    }
  }
  return row[PWR_N];
}

/* PyTorch's refusals before shapes: of an operand, then of a promotion, then
** of the promoted type. */
DtStatus op_pw_allows (DtCtx *cx, const DtOpDef *op, int n,
                       const OpOperand *o, DtDtype t) {
  char name[80];
  bool plain = is_plain(t);
  for (int i = 0; i < n; i++)
    plain &= o[i].m == NULL || is_plain((DtDtype)o[i].m->dtype);
  if (plain) return DT_OK;
  root_name(op, name, sizeof name);
  for (int i = 0; i < n; i++) {
    DtDtype u = o[i].is_num ? op_number_dtype(o[i].num)
                : o[i].m ? (DtDtype)o[i].m->dtype : DT_F32;
    DT_TRY(cx, meta_allows(cx, name, u, ANY));
  }
  if (t == DT_DTYPE_NONE) return op_promotable(cx, n, o);
  return meta_allows(cx, name, t, OPERAND);
}

DtStatus op_py_broadcast (DtCtx *cx, int n, const OpOperand *o) {
  int64_t all[DT_MAX_NDIM], length;
  int nd = 0, index = 0;
  for (int i = 0; i < n; i++)
    if (o[i].m && o[i].m->ndim > nd) nd = o[i].m->ndim;
  for (int d = 0; d < nd; d++) all[d] = 1;
  for (int i = 0; i < n; i++) {
    if (!o[i].m) continue;
    for (int k = 1; k <= o[i].m->ndim; k++) {
      OpText had, want;
      length = o[i].m->shape[o[i].m->ndim - k];
      if (all[nd - k] == 1) all[nd - k] = length;
      if (length == 1 || all[nd - k] == length) continue;
      had = op_shape_text(o[i].m);
      want = op_ints_text(nd, all);
      return dt_raise(cx, DT_E_SHAPE, "Attempting to broadcast a dimension of "
                      "length %lld at -%d! Mismatching argument at index %d "
                      "had torch.Size(%s); but expected shape should be "
                      "broadcastable to %s", (long long)length, k, index,
                      had.s, want.s);
    }
    index++;
  }
  return DT_OK;
}

DtStatus op_py_pair (DtCtx *cx, const DtMeta *a, const DtMeta *b,
                     DtMeta *out) {
  OpOperand o[2] = { { .m = a }, { .m = b } };
  DT_TRY(cx, op_py_broadcast(cx, 2, o));
  return out ? op_broadcast(cx, 2, o, (DtDtype)a->dtype, out) : DT_OK;
}

DtStatus op_pw_meta (DtMetaCall *c) {
  OpOperand o[PWR_MAXN], use[PWR_MAXN];
  DtDtype ct, rt;
  int n = op_pw_operands(c->op, c->args, c->in, NULL, o);
  int m = promoted(c->op, n, o, use);
  pw_types(c->cx, c->op, n, o, &ct, &rt);
  DT_TRY(c->cx, op_pw_allows(c->cx, c->op, m, use, ct));
  if (c->fake) DT_TRY(c->cx, op_py_broadcast(c->cx, n, o));
  c->nout = 1;
  return op_broadcast(c->cx, n, o, rt, &c->out[0]);
}

/* ---- kernels ---- */

/* Does every value of type `from` come out of a cast to `to` as the kernels'
** classes would load it? */
static bool loads_exactly (DtDtype from, DtDtype to) {
  if (from == to || from == DT_BOOL) return true;
  switch (to) {
    case DT_F32: case DT_F64: case DT_C64: case DT_C128: case DT_I64:
      return true;
    case DT_F16: case DT_BF16: return from == DT_U8 || from == DT_I8;
    case DT_U8: case DT_I8: case DT_I16: case DT_I32:
      return dt_dtype_size(from) < dt_dtype_size(to);
    default: return false;
  }
}

/* Operand as the kernel gets it: numbers as 0-dim tensors, others cast to the
** compute type where that rounds.  *own is a reference to give back. */
static DtStatus cast_operand (DtCtx *cx, const OpOperand *o, DtDtype ct,
                              OpNumber *num, DtTensor **t, DtTensor **own) {
  *own = NULL;
  *t = o->t;
  if (o->is_num) {
    *t = op_number(num, o->num, ct);
    return DT_OK;
  }
  if (o->t == NULL || loads_exactly((DtDtype)o->m->dtype, ct)) return DT_OK;
  DT_TRY(cx, op_temp(cx, ct, o->m->ndim, o->m->shape, own));
  *t = *own;
  return dt_k_copy(cx, o->t, *own);
}

static bool one_element (const OpOperand *o) {
  return o->is_num || (o->m != NULL && dt_meta_numel(o->m) == 1);
}

/* Does PyTorch's kernel have the operands the other way round?  mul_.Scalar
** calls it with the number first. */
static bool turned (const DtOpDef *op) {
  return op->sig != NULL && op->sig->inplace && op->row[PWR_FN] == DT_B_mul &&
         op->sig->arg[1].type == DT_T_SCALAR;
}

/* Is the operand that PyTorch's kernel has second one element? */
static bool by_one (const DtOpDef *op, const OpOperand *o) {
  return one_element(&o[turned(op) ? 0 : 1]);
}

/* A second operand of one element stays in f32 under f16 and bf16; where it
** is the tensor, it has been rounded long ago. */
static bool keeps_number (const DtOpDef *op, DtDtype ct,
                          const OpOperand *o) {
  int fn = op->row[PWR_FN];
  return op->row[PWR_N] == 2 && (ct == DT_F16 || ct == DT_BF16) &&
         (fn == DT_B_mul || fn == DT_B_div || fn == DT_B_div_floor ||
          fn == DT_B_div_trunc) && !turned(op) && by_one(op, o);
}

/* Parameters: numbers, booleans, None (NaN) and the words of aten's options
** (0 for the first, usually the default). */
static DtScalar pw_param (const DtArgs *a, int i) {
  if (dt_arg_is_none(a, i)) return dt_scalar_float(0.0 / 0.0);
  if (a->v[i].kind == DT_V_STR)
    return dt_scalar_int(strcmp(dt_arg_str(a, i), "tanh") == 0);
  return dt_arg_scalar(a, i);
}

DtStatus op_pw_run (DtCtx *cx, const DtOpDef *op, int fn, DtDtype ct,
                    const DtScalar *p, int n, const OpOperand *o,
                    DtTensor *out) {
  OpNumber num[PWR_MAXN];
  DtTensor *t[PWR_MAXN] = { NULL, NULL, NULL };
  DtTensor *own[PWR_MAXN] = { NULL, NULL, NULL };
  DtStatus st = DT_OK;
  int skip = promo_skip(op) - 1;
  bool keep = keeps_number(op, ct, o);
  for (int i = 0; i < n && st == DT_OK; i++) {
    if (i == 1 && keep)
      t[i] = o[i].is_num ? op_number(&num[i], o[i].num, DT_F32) : o[i].t;
    else if (i == skip)
      t[i] = o[i].is_num ? op_number(&num[i], o[i].num,
                                     op_number_dtype(o[i].num)) : o[i].t;
    else
      st = cast_operand(cx, &o[i], ct, &num[i], &t[i], &own[i]);
  }
  if (st != DT_OK) { /* nothing to compute */ }
  else if (n == 1)
    st = dt_k_unary(cx, (DtUnary)fn, ct, p, t[0], out);
  else if (n == 2)
    st = dt_k_binary(cx, (DtBinary)fn, ct, p, t[0], t[1], out);
  else
    st = dt_k_ternary(cx, (DtTernary)fn, ct, p, t[0], t[1], t[2], out);
  for (int i = 0; i < n; i++)
    if (own[i] != NULL) dt_tensor_unref(cx, own[i]);
  return st;
}

/* The i-th number of a call in the type in which PyTorch reads it: that of the
** arithmetic, or the elements' own: alpha, what shrinks, what threshold puts. */
static DtDtype number_type (const int *row, int n, int i, DtDtype ct) {
  int fn = row[PWR_FN];
  bool own = n == 1 ? fn == DT_U_hardshrink || fn == DT_U_softshrink ||
                      (fn == DT_U_threshold && i == 1)
           : n == 2 && (fn == DT_B_add || fn == DT_B_sub || fn == DT_B_rsub ||
                        fn == DT_B_hardshrink_backward ||
                        fn == DT_B_softshrink_backward);
  return own ? ct : dt_dtype_acc(ct);
}

/* A number that the schema calls a Scalar must fit; others are doubles. */
static DtStatus number_allowed (DtKernelCall *c, int n, int i, DtScalar v,
                                DtDtype ct) {
  int at = c->op->row[PWR_PAR + i];
  if (dt_dtype_is_complex(ct) || ct == DT_BOOL ||
      c->op->sig->arg[at].type != DT_T_SCALAR)
    return DT_OK;
  return op_number_fits(c->cx, v, number_type(c->op->row, n, i, ct));
}

DtStatus op_pw_kernel (DtKernelCall *c) {
  OpOperand o[PWR_MAXN];
  DtScalar p[4];
  DtDtype ct, rt;
  const int *row = c->op->row;
  int n = op_pw_operands(c->op, c->args, NULL, c->in, o);
  pw_types(c->cx, c->op, n, o, &ct, &rt);
  if (!is_plain(ct) || !dt_k_computes(n, row[PWR_FN], ct))
    DT_TRY(c->cx, op_kernel_allows(c->cx, c->op, NULL, ct,
                                   n > 1 && by_one(c->op, o)));
  for (int i = 0; i < 4; i++) {
    if (i >= row[PWR_NPAR]) {
      p[i] = dt_scalar_int(0);
      continue;
    }
    p[i] = pw_param(c->args, row[PWR_PAR + i]);
    DT_TRY(c->cx, number_allowed(c, n, i, p[i], ct));
  }
  return op_pw_run(c->cx, c->op, row[PWR_FN], ct, p, n, o, c->out[0]);
}
