/* SPDX-License-Identifier: MIT
** op/refuse.c: which element types the CPU kernels of PyTorch refuse, for
** operators that are not pointwise (those look at promoted types:
** oplib/op_pointwise.c).
**
** The table is made of the lines "refuses" in the .ops texts of oplib: a bare name
** stands for every overload, "name." for the default one.  Rows of one operator
** are adjacent, and the first that holds counts.  A derived form (in place,
** out=) refuses what its base refuses, so names are compared without a trailing "_" and an overload
** "out" counts as every overload.  Rows are found once, at registration. */
#include "op/refuse.h"

#include <string.h>

struct DtRefusal { const char *op; uint32_t types; const char *text;
                   bool words; };

#define BIT(t) (UINT32_C(1) << DT_##t)
#define INTS (BIT(U8) | BIT(I8) | BIT(I16) | BIT(I32) | BIT(I64))
#define BOOL BIT(BOOL)
#define FLOAT (BIT(F16) | BIT(BF16) | BIT(F32) | BIT(F64))
#define F8 (BIT(F8E5M2) | BIT(F8E4M3))
#define CPLX (BIT(C64) | BIT(C128))

static const DtRefusal rows[] = {
#define R(op, types, text) { op, types, text, false },
#define W(op, types, text) { op, types, text, true },
#include "op/refuse.def"
#undef W
#undef R
  { NULL, 0, NULL, false }
};

/* Is the row for this operator? */
static bool is_for (const DtRefusal *r, const DtSchema *sig) {
  size_t n = strcspn(r->op, "."), len = strlen(sig->base);
  const char *over = sig->overload;
  if (sig->inplace && len > 0 && sig->base[len - 1] == '_') len--;
  if (n != len || strncmp(r->op, sig->base, n) != 0) return false;
  if (r->op[n] == '\0') return true;
  if (r->op[n + 1] == '\0')     /* "max.": the default */
    return over[0] == '\0' || strcmp(over, "default") == 0;
  return strncmp(over, r->op + n + 1, strlen(r->op + n + 1)) == 0;
}

const DtRefusal *dt_refusal_find (const DtSchema *sig) {
  if (strcmp(sig->ns, "aten") != 0) return NULL;
  for (const DtRefusal *r = rows; r->op != NULL; r++)
    if (is_for(r, sig)) return r;
  return NULL;
}

static DtDtype counted (const DtSchema *sig, const DtArgs *args, int nin,
                        const DtMeta *const *in) {
  DtDtype t = nin > 0 ? (DtDtype)in[0]->dtype : DT_DTYPE_NONE;
  for (int i = 0; i < sig->nargs; i++) {
    if (strcmp(sig->arg[i].name, "dtype") != 0) continue;
    if (!dt_arg_is_none(args, i)) return dt_arg_dtype(args, i);
    return t == DT_BOOL ? DT_I64 : t;           /* summed as integers */
  }
  return t;
}

DtStatus dt_refuse (DtCtx *cx, const DtRefusal *r, const DtSchema *sig,
                    const DtArgs *args, int nin, const DtMeta *const *in) {
  DtDtype t = counted(sig, args, nin, in);
  if (t == DT_DTYPE_NONE) return DT_OK;
  for (; r->op != NULL && is_for(r, sig); r++) {
    if ((r->types >> t & 1u) == 0) continue;
    if (r->words)
      return strstr(r->text, "%s") == NULL
           ? dt_raise(cx, DT_E_RUNTIME, "%s", r->text)
           : dt_raise(cx, DT_E_RUNTIME, "%.*s%s",
                      (int)(strstr(r->text, "%s") - r->text), r->text,
                      dt_dtype_word(t));
    return dt_raise(cx, DT_E_NOTIMPL, "\"%s\" not implemented for '%s'",
                    r->text, dt_dtype_word(t));
  }
  return DT_OK;
}
