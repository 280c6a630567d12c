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
#include "compat/text.h"

#include <string.h>

/* A kernel's name; words; or the argument of a key of compat/texts.def. */
typedef enum Form { FORM_NAME, FORM_WORDS, FORM_KEY } Form;

struct DtRefusal { const char *op; uint32_t types; const char *text;
                   Form form; DtText key; };

/* Does the key have so many arguments?  Else it does not compile. */
#define TAKES(key, n) \
  (0 * (uint32_t)sizeof(char [DT_TEXT_ARGS_##key == (n) ? 1 : -1]))

#define BIT(t) (UINT32_C(1) << DT_##t)
#define INTS (BIT(U8) | BIT(I8) | BIT(I16) | BIT(I32) | BIT(I64))
#define BOOL BIT(BOOL)
#define FLOAT (BIT(F16) | BIT(BF16) | BIT(F32) | BIT(F64))
#define F8 (BIT(F8E5M2) | BIT(F8E4M3))
#define CPLX (BIT(C64) | BIT(C128))

static const DtRefusal rows[] = {
#define R(op, types, text) { op, types, text, FORM_NAME, DT_NTEXTS },
#define W(op, types, text) { op, types, text, FORM_WORDS, DT_NTEXTS },
#define S0(op, types, key, arg) \
  { op, (types) + TAKES(key, 0), arg, FORM_KEY, DT_TEXT_##key },
#define S1(op, types, key, arg) \
  { op, (types) + TAKES(key, 1), arg, FORM_KEY, DT_TEXT_##key },
#include "op/refuse.def"
#undef S1
#undef S0
#undef W
#undef R
  { NULL, 0, NULL, FORM_NAME, DT_NTEXTS }
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
    if (r->form == FORM_KEY)
      return dt_say(cx, DT_E_RUNTIME, r->key, &r->text);
    if (r->form == FORM_WORDS)
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
