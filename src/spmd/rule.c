/* SPDX-License-Identifier: MIT
** spmd/rule.c: the rule of one axis, and the conversions that mend a call. */
#include <string.h>
#include "spmd/rule_int.h"

static int count (const DtSpmdRow *row, char type) {
  int n = 0;
  for (int i = 0; i < row->n; i++) n += row->type[i] == type;
  return n;
}

/* A row with P in it and no V or I. */
static char with_addends (DtSpmdForm form, const DtSpmdRow *row, int p,
                          DtSpmdMessage *why) {
  if (form == DT_FORM_SUM && p == row->n) return 'P';
  if (form == DT_FORM_PRODUCT && p == 1) return 'P';
  *why = form == DT_FORM_SUM ? DT_SPMD_M_P_AFFINE
    : form == DT_FORM_PRODUCT ? DT_SPMD_M_P_TWICE : DT_SPMD_M_P_NONLINEAR;
  return 0;
}

char dt_spmd_rule (DtSpmdForm form, const DtSpmdRow *row, DtSpmdMessage *why) {
  int r = count(row, 'R'), i = count(row, 'I'), v = count(row, 'V'),
      p = count(row, 'P');
  if (r + i + v + p == 0) return 'R';           /* numbers only */
  if (i > 0 && r + v + p == 0) return 'I';
  if (i > 0) {
    *why = DT_SPMD_M_NOT_FROM_I;
    return 0;
  }
  if (p > 0 && v > 0) {
    *why = DT_SPMD_M_P_WITH_V;
    return 0;
  }
  if (p > 0) return with_addends(form, row, p, why);
  return v > 0 ? 'V' : 'R';
}

void dt_spmd_row_text (const DtSpmdRow *row, DtBuf *b) {
  dt_buf_addc(b, '[');
  for (int i = 0; i < row->n; i++) {
    if (i > 0) dt_buf_add(b, ", ");
    if (row->type[i] == DT_SPMD_NUMBER) dt_buf_add(b, "Scalar");
    else dt_buf_addc(b, row->type[i]);
  }
  dt_buf_addc(b, ']');
}

/* {==== Repairs ==== */

static const struct { char from, to; const char *call, *what; } repairs[] = {
  { 'I', 'R', "convert", "on the Invariant operand (no-op forward, all-reduce "
    "in backward)" },
  { 'I', 'P', "convert", "on the Invariant operand (zeros non-rank-0 in "
    "forward, no-op backward)" },
  { 'P', 'R', "all_reduce", "on the Partial operand (all-reduce in forward, "
    "all-reduce in backward)" },
  { 'P', 'I', "all_reduce", "on the Partial operand (all-reduce in forward, "
    "no-op backward)" },
  { 'R', 'P', "convert", "on the Replicate operand (zeros non-rank-0 in "
    "forward, zeros non-rank-0 in backward)" },
};

/* Does the call become legal when the first `from` becomes `to`, and gives it
** what the other operands alone give? */
static bool mends (DtSpmdForm form, const DtSpmdRow *row, char from, char to) {
  const char *at = memchr(row->type, from, (size_t)row->n);
  DtSpmdMessage why;
  DtSpmdRow now = *row, rest = *row;
  char got, alone;
  int i;
  if (at == NULL) return false;
  i = (int)(at - row->type);
  now.type[i] = to;
  got = dt_spmd_rule(form, &now, &why);
  if (got == 0) return false;
  memmove(rest.type + i, rest.type + i + 1, (size_t)(row->n - i - 1));
  if (--rest.n == 0) return true;
  alone = dt_spmd_rule(form, &rest, &why);
  return alone == 0 || alone == got;
}

void dt_spmd_repairs (const DtSpmd *s, DtSpmdForm form, const DtSpmdRow *row,
                      int axis, DtBuf *b) {
  bool any = false;
  for (size_t i = 0; i < sizeof repairs / sizeof repairs[0]; i++) {
    if (!mends(form, row, repairs[i].from, repairs[i].to)) continue;
    if (!any)
      dt_buf_add(b, "\nAre you missing a collective or a reinterpret/convert "
                 "call? e.g.,");
    any = true;
    dt_buf_addf(b, "\n  %s(tensor, ", repairs[i].call);
    dt_spmd_axis_text(s, axis, b);
    dt_buf_addf(b, ", src=%c, dst=%c) %s", repairs[i].from, repairs[i].to,
                repairs[i].what);
  }
}

/* }==== */
