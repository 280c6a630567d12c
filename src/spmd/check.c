/* SPDX-License-Identifier: MIT
** spmd/check.c: one call: are the operands typed on the same axes, what the
** rule of each axis gives, and what may be written. */
#include <string.h>
#include "spmd/rule_int.h"

/* {==== Axes ==== */

typedef struct AxisSet { int n, axis[DT_SPMD_AXES * 4]; } AxisSet;

static void join (AxisSet *set, int axis) {
  for (int i = 0; i < set->n; i++)
    if (set->axis[i] == axis) return;
  if (set->n < (int)(sizeof set->axis / sizeof set->axis[0]))
    set->axis[set->n++] = axis;
}

static DtStatus compare_names (const DtSpmd *s, int a, int b, int *out) {
  DtBuf x, y;
  DtStatus st;
  dt_buf_init(&x, s->cx);
  dt_buf_init(&y, s->cx);
  dt_spmd_axis_text(s, a, &x);
  dt_spmd_axis_text(s, b, &y);
  *out = strcmp(dt_buf_str(&x), dt_buf_str(&y));
  st = dt_buf_ok(&x);
  if (st == DT_OK) st = dt_buf_ok(&y);
  dt_buf_fini(&x);
  dt_buf_fini(&y);
  return st;
}

/* The first axis that fails is the one reported, so their order must not
** depend on which was made first. */
static DtStatus sort_by_name (const DtSpmd *s, AxisSet *set) {
  for (int i = 1; i < set->n; i++)
    for (int j = i; j > 0; j--) {
      int order, t = set->axis[j];
      DT_TRY(s->cx, compare_names(s, t, set->axis[j - 1], &order));
      if (order >= 0) break;
      set->axis[j] = set->axis[j - 1];
      set->axis[j - 1] = t;
    }
  return DT_OK;
}

static void axes_of (const DtSpmdType *t, AxisSet *set) {
  for (int i = 0; t != NULL && i < t->n; i++) join(set, t->at[i].axis);
}

/* }==== */

/* {==== What is missing ==== */

static DtStatus set_text (const DtSpmd *s, const DtSpmdType *t, DtBuf *b) {
  AxisSet set = { 0, { 0 } };
  axes_of(t, &set);
  dt_spmd_axes_text(s, set.n, set.axis, b);
  return dt_buf_ok(b);
}

static bool in_mesh (const DtSpmd *s, int axis) {
  for (int i = 0; i < s->nmesh; i++)
    if (s->mesh[i] == axis) return true;
  return false;
}

/* Raise what is said of operand i, which lacks the axis. */
static DtStatus raise_missing (DtSpmd *s, const DtSpmdCall *c, int i, int axis,
                               const AxisSet *all) {
  bool mesh = in_mesh(s, axis);
  DtBuf name, set, text;
  char index[16];
  DtStatus st;
  dt_buf_init(&name, s->cx);
  dt_buf_init(&set, s->cx);
  dt_buf_init(&text, s->cx);
  dt_buf_addf(&text, "%d", i);
  strncpy(index, dt_buf_str(&text), sizeof index - 1);
  index[sizeof index - 1] = '\0';
  dt_buf_clear(&text);
  dt_spmd_axis_text(s, axis, &name);
  if (mesh) dt_spmd_axes_text(s, s->nmesh, s->mesh, &text);
  else dt_spmd_axes_text(s, all->n, all->axis, &text);
  st = set_text(s, c->in[i].type, &set);
  if (st == DT_OK)
    st = dt_spmd_raise(s, mesh ? DT_SPMD_M_MISSING_MESH
                       : DT_SPMD_M_MISSING_UNION, "i", index, "axis",
                       dt_buf_str(&name), "mesh", dt_buf_str(&text), "union",
                       dt_buf_str(&text), "set", dt_buf_str(&set),
                       (char *)NULL);
  dt_buf_fini(&name);
  dt_buf_fini(&set);
  dt_buf_fini(&text);
  return st;
}

/* Under the strict mode every operand has every axis of the current mesh, or
** of all operands where there is none. */
static DtStatus check_has (DtSpmd *s, const DtSpmdCall *c, int axis,
                           const AxisSet *all) {
  if (!s->strict) return DT_OK;
  for (int i = 0; i < c->n; i++)
    if (!c->in[i].number && dt_spmd_type_on(c->in[i].type, axis) == 0)
      return raise_missing(s, c, i, axis, all);
  return DT_OK;
}

/* }==== */

/* {==== One axis ==== */

/* R and I of operands that no gradient reaches are what those are that one
** reaches, or R.  Gives whether anything changed.  Only where I meets
** something else: operands that are all I stay so. The first operand with a
** gradient decides; two that contradict each other are left for the rule to
** refuse. */
static void without_grad (const DtSpmd *s, const DtSpmdCall *c,
                          const int *from, DtSpmdRow *row) {
  char flavour = 0;
  bool invariant = false, other = false;
  for (int i = 0; i < row->n; i++) {
    invariant |= row->type[i] == 'I';
    other |= row->type[i] != 'I' && row->type[i] != DT_SPMD_NUMBER;
  }
  if (!invariant || !other) return;
  for (int i = 0; i < row->n && flavour == 0; i++)
    if ((row->type[i] == 'R' || row->type[i] == 'I') && s->grad_mode &&
        c->in[from[i]].takes_grad)
      flavour = row->type[i];
  for (int i = 0; i < row->n; i++)
    if ((row->type[i] == 'R' || row->type[i] == 'I') &&
        !(s->grad_mode && c->in[from[i]].takes_grad))
      row->type[i] = flavour ? flavour : 'R';
}

/* The operands' types on an axis; `from`: which operands they are of. */
static void row_of (const DtSpmdCall *c, int axis, DtSpmdRow *row, int *from) {
  row->n = 0;
  for (int i = 0; i < c->n && i < DT_SPMD_OPERANDS; i++) {
    char t = c->in[i].number ? (char)DT_SPMD_NUMBER
      : dt_spmd_type_on(c->in[i].type, axis);
    if (t == 0) continue;
    from[row->n] = i;
    row->type[row->n++] = t;
  }
}

static DtStatus raise_rule (DtSpmd *s, const DtSpmdCall *c, DtSpmdForm form,
                            const DtSpmdRow *told, int axis,
                            DtSpmdMessage why) {
  DtBuf name, types;
  DtStatus st;
  dt_buf_init(&name, s->cx);
  dt_buf_init(&types, s->cx);
  dt_spmd_axis_text(s, axis, &name);
  dt_spmd_row_text(told, &types);
  st = dt_spmd_raise(s, why, "op", c->name, "axis", dt_buf_str(&name),
                     "types", dt_buf_str(&types), (char *)NULL);
  if (why != DT_SPMD_M_P_PLACE)
    dt_spmd_repairs(s, form, told, axis, &s->cx->err.message);
  dt_buf_fini(&name);
  dt_buf_fini(&types);
  return st;
}

static DtSpmdForm form_of (DtSpmdClass cls) {
  switch (cls) {
    case DT_SPMD_LINEAR1: case DT_SPMD_LINEAR2: case DT_SPMD_LINEAR_LIST:
      return DT_FORM_SUM;
    case DT_SPMD_MULTILINEAR: case DT_SPMD_DIVIDE: case DT_SPMD_RDIVIDE:
    case DT_SPMD_SUM_PRODUCT:
      return DT_FORM_PRODUCT;
    default:
      return DT_FORM_ANY;
  }
}

/* Is it an operand that divides? */
static bool divides (DtSpmdClass cls, const DtSpmdOperand *in) {
  return (cls == DT_SPMD_DIVIDE && in->arg == 1) ||
         (cls == DT_SPMD_RDIVIDE && in->arg == 0);
}

static bool numbers_only (const DtSpmdRow *row) {
  for (int i = 0; i < row->n; i++)
    if (row->type[i] != DT_SPMD_NUMBER) return false;
  return true;
}

/* Errors show the types as they were told, not as without_grad has turned
** them. */
static DtStatus check_axis (DtSpmd *s, const DtSpmdCall *c, int axis,
                            DtSpmdType *out) {
  DtSpmdForm form = form_of(c->cls);
  DtSpmdMessage why;
  DtSpmdRow told, row;
  int from[DT_SPMD_OPERANDS];
  char got;
  row_of(c, axis, &told, from);
  if (numbers_only(&told)) return DT_OK;        /* no operand has a type */
  for (int i = 0; i < told.n; i++)
    if (told.type[i] == 'P' && divides(c->cls, &c->in[from[i]]))
      return raise_rule(s, c, form, &told, axis, DT_SPMD_M_P_PLACE);
  row = told;
  if (c->cls != DT_SPMD_SUM_PRODUCT) without_grad(s, c, from, &row);
  got = dt_spmd_rule(form, &row, &why);
  if (got == 0) return raise_rule(s, c, form, &told, axis, why);
  return dt_spmd_type_put(s, out, axis, got);
}

/* }==== */

/* A call whose operands are all of one form. */
static DtStatus check_plain (DtSpmd *s, const DtSpmdCall *c, DtSpmdType *out) {
  AxisSet all = { 0, { 0 } };
  int typed = 0;
  for (int i = 0; i < c->n; i++) axes_of(c->in[i].type, &all);
  for (int i = 0; i < s->nmesh; i++)
    if (dt_spmd_axis_size(s, s->mesh[i]) > 1) join(&all, s->mesh[i]);
  DT_TRY(s->cx, sort_by_name(s, &all));
  for (int i = 0; i < c->n; i++) typed += !c->in[i].number;
  for (int i = 0; i < all.n && typed > 0; i++) {
    DT_TRY(s->cx, check_has(s, c, all.axis[i], &all));
    DT_TRY(s->cx, check_axis(s, c, all.axis[i], out));
  }
  return DT_OK;
}

/* b @ c, then that and a. */
static DtStatus check_sum_product (DtSpmd *s, const DtSpmdCall *c,
                                   DtSpmdType *out) {
  DtSpmdType product;
  DtSpmdOperand sum[2];
  DtSpmdCall part = *c;
  dt_spmd_type_init(&product);
  part.in = c->in + 1;
  part.n = 2;
  DT_TRY(s->cx, check_plain(s, &part, &product));
  memset(sum, 0, sizeof sum);
  sum[0].type = &product;
  sum[1] = c->in[0];
  sum[0].takes_grad = sum[1].takes_grad = true;
  part.in = sum;
  part.cls = DT_SPMD_LINEAR2;
  return check_plain(s, &part, out);
}

/* R on every axis of the current mesh. */
static DtStatus replicated (DtSpmd *s, const int *axis, int n,
                            DtSpmdType *out) {
  for (int i = 0; i < n; i++)
    DT_TRY(s->cx, dt_spmd_type_put(s, out, axis[i], 'R'));
  return DT_OK;
}

DtStatus dt_spmd_check (DtSpmd *s, const DtSpmdCall *c, DtSpmdType *out) {
  dt_spmd_type_init(out);
  DT_CHECK(s->cx, c->n <= DT_SPMD_OPERANDS, DT_E_LIMIT,
           "%s: more than %d operands with SPMD types", c->name,
           DT_SPMD_OPERANDS);
  if (c->cls == DT_SPMD_SUM_PRODUCT && c->n == 3)
    return check_sum_product(s, c, out);
  if (c->n == 0 || c->cls == DT_SPMD_FOLLOWS)
    return (c->cls == DT_SPMD_REPLICATED || c->n > 0) && s->nmesh > 0
      ? replicated(s, s->mesh, s->nmesh, out) : DT_OK;
  return check_plain(s, c, out);
}

DtStatus dt_spmd_check_write (DtSpmd *s, const char *name,
                              const DtSpmdType *old, const DtSpmdType *now,
                              bool had_grad) {
  for (int i = 0; old != NULL && i < now->n; i++) {
    int axis = now->at[i].axis;
    char was = dt_spmd_type_on(old, axis), is = now->at[i].type;
    DtBuf b;
    DtStatus st;
    if (was == 0 || was == is) continue;
    if (is == 'V' && was != 'P' && !had_grad) continue;
    dt_buf_init(&b, s->cx);
    dt_spmd_axis_text(s, axis, &b);
    st = dt_spmd_raise(s, DT_SPMD_M_MUTATES, "op", name, "axis",
                       dt_buf_str(&b), "from", dt_spmd_long(was), "to",
                       dt_spmd_long(is), (char *)NULL);
    dt_buf_fini(&b);
    return st;
  }
  return DT_OK;
}
