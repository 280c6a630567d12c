/* SPDX-License-Identifier: MIT
** spmd/rule_int.h: the rule of one axis, and repairs of what breaks it. */
#ifndef DT_SPMD_RULE_INT_H
#define DT_SPMD_RULE_INT_H

#include "spmd/spmd.h"

/* What operands do: a plain nonlinear function, a sum, a product. */
typedef enum DtSpmdForm { DT_FORM_ANY, DT_FORM_SUM, DT_FORM_PRODUCT } DtSpmdForm;

enum { DT_SPMD_NUMBER = '#' };  /* a plain number as an addend */

/* The types on one axis, in the order of the operands. */
typedef struct DtSpmdRow { int n; char type[DT_SPMD_OPERANDS]; } DtSpmdRow;

/* The result's type; or 0 and the message in *why. */
char dt_spmd_rule (DtSpmdForm form, const DtSpmdRow *row, DtSpmdMessage *why);
/* "[I, P, Scalar]" */
void dt_spmd_row_text (const DtSpmdRow *row, DtBuf *b);
/* The lines of the conversions that make the call legal, after the message
** that is pending. */
void dt_spmd_repairs (const DtSpmd *s, DtSpmdForm form, const DtSpmdRow *row,
                      int axis, DtBuf *b);

/* Frees what known.c keeps. */
void dt_spmd_forget_known (DtSpmd *s);

#endif
