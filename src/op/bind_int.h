/* SPDX-License-Identifier: MIT
** op/bind_int.h: what binding one overload and trying many share.  Private to
** op/. */
#ifndef DT_OP_BIND_INT_H
#define DT_OP_BIND_INT_H

#include "op/schema.h"

/* The values of a call, and how it was written. */
typedef struct DtBindCall {
  DtGiven v;
  bool python;                  /* torch.<op>: a bool is no int there */
  int self;                     /* 1: of a method, whose errors leave out the
                                   first value; else 0 */
  bool undefined;               /* None fits where a tensor is wanted */
} DtBindCall;

/* Bind; with `cx` NULL nothing is raised, only the status is set.  Pure. */
DtStatus dt_bind_try (DtCtx *cx, const DtSchema *s, const DtBindCall *c,
                      DtArgs *out);
/* Do the tensor arguments of this operator take numbers?  Pure. */
bool dt_bind_wraps (const DtSchema *s);
/* Does a value of this call fit the argument?  Pure. */
bool dt_bind_fits (const DtBindCall *c, const DtArgDef *d, const DtValue *v,
                   bool wrap);
/* First element of list `v` that does not fit, -1 when all do.  Pure. */
int dt_bind_misfit (const DtArgDef *d, const DtValue *v);
/* Index of the keyword for the argument `name` at position `pos`, -1 without
** one.  torch.<op> takes "input" for "self", and NumPy's names ("axis").
** Pure. */
int dt_bind_kw (const DtBindCall *c, const char *name, int pos);

/* listed.c: the signatures that PyTorch lists for torch.<base>, or the method
** of that name, each ended by '\n'; NULL: it has a single one, or none.
** Pure. */
const char *dt_listed_find (const char *base, bool method);
/* How many arguments the first of `line` takes.  Pure. */
void dt_listed_room (const char *line, int *min, int *max);
/* Is the first of `line` that of the overload `s`, whose first `self`
** arguments a method does not list?  Pure. */
bool dt_listed_is (const char *line, const DtSchema *s, int self);
/* Has a function of torch the out= form `s`?  The list of its signatures says;
** where there is none, every form is taken for one.  Pure. */
bool dt_listed_has_out (const DtSchema *s);
/* Append the types of a call's values, as errors have them. */
void dt_bind_print_got (const DtBindCall *c, DtBuf *b);
/* "base() received an invalid combination of arguments ...": the error. */
DtStatus dt_listed_raise (DtCtx *cx, const char *base, const char *lines,
                          const DtBindCall *c);

#endif
