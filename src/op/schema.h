/* SPDX-License-Identifier: MIT
** op/schema.h: PyTorch's schema strings, parsed:
**   "aten::add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor"
** Types, defaults, keyword-only, alias marks, returns.  Binding, help,
** completion, traces and argument errors read this. */
#ifndef DT_OP_SCHEMA_H
#define DT_OP_SCHEMA_H

#include "op/value.h"

typedef enum DtType {
  DT_T_TENSOR, DT_T_SCALAR, DT_T_INT, DT_T_FLOAT, DT_T_BOOL, DT_T_STR,
  DT_T_DTYPE, DT_T_DEVICE, DT_T_LAYOUT, DT_T_MEMFMT, DT_T_GENERATOR,
  DT_T_COMPLEX, DT_T_STORAGE, DT_T_DIMNAME, DT_T_ANY
} DtType;

typedef struct DtArgDef {
  const char *name;
  uint8_t type;                 /* DtType of the element */
  bool list;                    /* Tensor[], int[2], ... */
  bool elem_opt;                /* Tensor?[] */
  int fixed;                    /* int[2]: 2, else 0 */
  bool opt;                     /* may be None */
  bool kwonly;
  bool has_default;
  bool alias, write;            /* (a), (a!) */
  char alias_set;               /* 'a' */
  DtValue dflt;
} DtArgDef;

typedef struct DtRetDef {
  uint8_t type; bool list; bool alias, write; char alias_set;
  const char *name;             /* "values" or NULL */
} DtRetDef;

struct DtSchema {
  const char *ns, *base, *overload;   /* "aten", "add", "Tensor" ("default") */
  const char *full;             /* "aten.add.Tensor" */
  const char *text;             /* the schema as given */
  int nargs, nrets;
  int nkwonly;                  /* last nkwonly arguments */
  DtArgDef arg[DT_MAX_ARGS];
  DtRetDef ret[16];
  bool inplace;                 /* base name ends in '_' (PyTorch's test) */
  bool is_out;                  /* overload name contains "out" */
  bool writes_out;              /* it has out= arguments, whatever its name */
  bool returns_list;            /* one return that is Tensor[] */
};

/* Parse.  Result lives in `arena`.  PARSE with the column.  Pure. */
DtStatus dt_schema_parse (DtCtx *cx, DtArena *arena, const char *text,
                          DtSchema **out);
/* Index of the argument called `name`, -1.  Pure. */
int dt_schema_arg (const DtSchema *s, const char *name);
/* Does a value fit an argument (int fits float and Scalar, a number fits
** Tensor in PyTorch's wrapped sense when `wrap`)?  Pure. */
bool dt_schema_fits (const DtArgDef *d, const DtValue *v, bool wrap);
/* The values a call gives, in their places and by name, before an overload's
** schema has sorted them.  All borrowed. */
typedef struct DtGiven {
  int npos;
  const DtValue *pos;
  int nkw;
  const char *const *kwname;
  const DtValue *kw;
} DtGiven;
/* Fill `args` from what is given: order, defaults, kinds.  TYPE with the text
** PyTorch's argument parser uses.  Pure. */
DtStatus dt_schema_bind (DtCtx *cx, const DtSchema *s, const DtGiven *given,
                         DtArgs *out);
/* Type name as PyTorch prints it: "Optional[Tensor]", "List[int]".  Pure. */
void dt_schema_print_type (const DtArgDef *d, DtBuf *b);

#endif
