/* SPDX-License-Identifier: MIT
** op/out_types.c: what an out= of another type than the result does, by the
** lines "out" in the .ops texts of oplib.  An operator whose text says "cast"
** has no row: what the result can be cast to is written.  Asked only where types
** differ, so the rows are searched in order.
**
** In the texts of errors {r} and {o} are the result's and the out='s type, {R}
** and {O} the same as C++ spells them, {f} is whether the result is i32; SET is
** what structured kernels say that set their outputs themselves. */
#include "op/out_types.h"
#include "base/buf.h"
#include "tensor/dtype_text.h"

#include <string.h>

typedef enum Allowed { SAME, CAST, ANY, TYPED } Allowed;
typedef struct OutType {
  const char *op;
  Allowed allowed;
  DtStatus code;
  const char *text;
} OutType;

#define SET "Expected out tensor to have dtype {R}, but got {O} instead"
#define FOUND "Found dtype {o} but expected {r}"
#define REDUCED "Expected the dtype for input and out to match, but got {r} " \
  "for input's dtype and {o} for out's dtype."
#define SEARCHED "torch.searchsorted(): output tensor's dtype is wrong, it can " \
  "only be Int(int32) or Long(int64) depending on whether out_int32 flag is " \
  "True, but we got output tensor's dtype {o} and out_int32 flag is {f}"
#define MEDIAN "Expected tensor for 'values' to have the same type as tensor " \
  "for argument #2 'self'; but type torch.{o}Tensor does not equal " \
  "torch.{r}Tensor (while checking arguments for median)"
#define USUAL "result type {r} can't be cast to the desired output type {o}"

static const OutType rows[] = {
#define O(op, allowed, code, text) { op, allowed, DT_E_##code, text },
#include "op/out_types.def"
#undef O
};

static const OutType *find_row (const DtSchema *sig) {
  static const OutType usual = { "", CAST, DT_E_DTYPE, USUAL };
  if (strcmp(sig->ns, "aten") != 0) return &usual;
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
    if (strcmp(rows[i].op, sig->base) == 0 ||
        strcmp(rows[i].op, sig->full + sizeof "aten." - 1) == 0)
      return &rows[i];
  return &usual;
}

/* `text` with the names of the two types in their places. */
static void put_types (DtBuf *b, const char *text, DtDtype from, DtDtype to) {
  for (const char *s = text; *s != '\0'; s++) {
    if (*s != '{') {
      dt_buf_addn(b, s, 1);
      continue;
    }
    switch (s[1]) {
      case 'r': dt_buf_add(b, dt_dtype_word(from)); break;
      case 'o': dt_buf_add(b, dt_dtype_word(to)); break;
      case 'R': dt_buf_add(b, dt_dtype_info(from)->cpp); break;
      case 'O': dt_buf_add(b, dt_dtype_info(to)->cpp); break;
      case 'f': dt_buf_add(b, from == DT_I32 ? "True" : "False"); break;
      default: break;
    }
    s += 2;
  }
}

/* Was the result's type asked for by dtype=? */
static bool has_dtype (const DtSchema *sig, const DtArgs *args) {
  int i = dt_schema_arg(sig, "dtype");
  return i >= 0 && !dt_arg_is_none(args, i);
}

DtStatus dt_out_type_check (DtCtx *cx, const DtSchema *sig, const DtArgs *args,
                            DtDtype from, DtDtype to) {
  const OutType *row = find_row(sig);
  DtBuf b;
  DtStatus st;
  if (from == to || row->allowed == ANY) return DT_OK;
  if (row->allowed == TYPED && !has_dtype(sig, args)) return DT_OK;
  if (row->allowed == CAST && dt_dtype_can_cast(from, to)) return DT_OK;
  dt_buf_init(&b, cx);
  put_types(&b, row->text, from, to);
  st = dt_raise(cx, row->code, "%s", dt_buf_str(&b));
  dt_buf_fini(&b);
  return st;
}
