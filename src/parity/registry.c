/* SPDX-License-Identifier: MIT
** parity/registry.c: what is registered against registry/: schemas, the kind
** of strategy, and the rows of single-mesh-dimension strategies. */
#include "parity/parity_int.h"

#include <stdlib.h>

/* {==== ops.jsonl ==== */

bool dt_check_op (DtParity *p, const json_t *o) {
  if (!dt_no_error(p, dt_parity_tables(p)))
    return false;
  const DtOpDef *op = dt_parity_op(p, p->reg, dt_jstr(o, "op"));
  if (op == NULL)
    return false;
  if (!dt_same_text(p, "schema", dt_jstr(o, "schema"), op->schema) ||
      !dt_same_text(p, "name", dt_jstr(o, "op"), op->sig->full))
    return false;
  if (json_object_get(o, "inplace") != NULL &&
      !dt_same_flag(p, "inplace", dt_jtrue(o, "inplace"), op->sig->inplace))
    return false;
  return true;
}

/* }==== decomp_refused.jsonl, decomp_not_sampled.jsonl ==== */

static const DtOpDef *known_op (DtParity *p, const json_t *o) {
  const char *name = dt_jstr(o, "op");
  if (!dt_no_error(p, dt_parity_tables(p)))
    return NULL;
  const DtOpDef *op = dt_registry_find(p->cx, p->reg, name);
  if (op == NULL) {
    dt_error_clear(p->cx);
    (void)dt_fails(p, "there is no operator %s", name);
  }
  return op;
}

bool dt_check_known (DtParity *p, const json_t *o) {
  const DtOpDef *op = known_op(p, o);
  return op != NULL && dt_same_text(p, "name", dt_jstr(o, "op"),
                                    op->sig->full);
}

/* The tensors of the calls that are tried, S(0): shapes decide which checks a
** call passes before it is refused. */
static const struct { const char *dtype; int ndim, shape[5]; } tries[] = {
  { "f32", 2, { 8, 8 } }, { "f32", 3, { 8, 8, 8 } },
  { "f32", 4, { 8, 8, 8, 8 } }, { "f32", 5, { 8, 8, 8, 8, 8 } },
  { "f32", 1, { 8 } }, { "i64", 1, { 8 } }, { "bool", 2, { 8, 8 } },
};

/* A value for an argument that must be given. */
static json_t *made_value (const DtArgDef *a, int k) {
  json_t *v, *shape;
  switch (a->type) {
    case DT_T_TENSOR:
      shape = json_array();
      for (int i = 0; i < tries[k].ndim; i++)
        json_array_append_new(shape, json_integer(tries[k].shape[i]));
      v = json_pack("{s:s, s:o, s:[s]}", "dt", tries[k].dtype, "shape", shape,
                    "pl", "S(0)");
      break;
    case DT_T_INT: v = json_integer(1); break;
    case DT_T_BOOL: v = json_false(); break;
    case DT_T_STR: v = json_string("sum"); break;
    case DT_T_DTYPE: v = json_pack("{s:s}", "dtype", "f32"); break;
    case DT_T_DEVICE: v = json_pack("{s:s}", "device", "cpu"); break;
    case DT_T_MEMFMT:
      v = json_pack("{s:s}", "memory_format", "contiguous");
      break;
    default: v = json_real(0.5); break;
  }
  if (!a->list)
    return v;
  json_t *list = json_array();
  for (int i = 0; i < (a->fixed ? a->fixed : 1); i++)
    json_array_append(list, v);
  json_decref(v);
  return list;
}

/* A call of the operator with what must be given, as a line of prop/... that
** wants the error of `o`. */
static json_t *made_call (const DtSchema *sig, const json_t *o, int k) {
  json_t *args = json_array(), *kw = json_object();
  for (int i = 0; i < sig->nargs; i++) {
    const DtArgDef *a = &sig->arg[i];
    if (a->has_default)
      continue;
    json_t *v = a->opt && !a->write ? json_null() : made_value(a, k);
    if (a->kwonly)
      json_object_set_new(kw, a->name, v);
    else
      json_array_append_new(args, v);
  }
  return json_pack("{s:O, s:O, s:{s:[i], s:[s]}, s:o, s:o, s:O}", "id",
                   json_object_get(o, "id"), "op", json_object_get(o, "op"),
                   "mesh", "shape", 2, "names", "tp", "args", args, "kw", kw,
                   "error", json_object_get(o, "error"));
}

static bool takes_tensors (const DtSchema *sig) {
  for (int i = 0; i < sig->nargs; i++)
    if (sig->arg[i].type == DT_T_TENSOR)
      return true;
  return false;
}

static bool writes_keyword (const DtSchema *sig) {
  for (int i = 0; i < sig->nargs; i++)
    if (sig->arg[i].kwonly && sig->arg[i].write)
      return true;
  return false;
}

static bool is_view (const DtSchema *sig) {
  for (int i = 0; i < sig->nrets; i++)
    if (sig->ret[i].alias && !sig->ret[i].write)
      return true;
  return false;
}

/* PyTorch refused every sample it tried: the operator must be there, of this
** schema and without rules of its own, and no call may be decided: what its
** shapes refuse is refused, else the error is the line's. */
bool dt_check_refused (DtParity *p, const json_t *o) {
  const DtOpDef *op = known_op(p, o);
  if (op == NULL ||
      !dt_same_text(p, "schema", dt_jstr(o, "schema"), op->schema) ||
      !dt_same_flag(p, "view", dt_jtrue(o, "view"), is_view(op->sig)) ||
      !dt_same_flag(p, "inplace", dt_jtrue(o, "inplace"),
                    op->sig->inplace) ||
      !dt_same_flag(p, "out", dt_jtrue(o, "out"), writes_keyword(op->sig)) ||
      !dt_same_flag(p, "rules of its own", false,
                    op->rules != NULL || op->rulefn != NULL ||
                    op->strategy != NULL ||
                    (op->flags & DT_OP_POINTWISE) != 0))
    return false;
  if (!takes_tensors(op->sig))
    return true;
  bool ok = true, met = false;
  for (int k = 0; ok && !met && k < (int)(sizeof tries / sizeof tries[0]);
       k++) {
    json_t *call = made_call(op->sig, o, k);
    dt_error_clear(p->cx);
    ok = dt_check_undecided(p, call, &met);
    json_decref(call);
  }
  return ok;
}

/* }==== single_dim_rules.jsonl ==== */

/* "S*(0), R -> P(sum)" as the rows of ours print it: S*(d) is our plain S(d),
** a fixed S(d) is our =S(d), None is "-". */
static void to_ours (const char *s, DtBuf *b) {
  for (; *s != '\0'; s++) {
    bool start = b->len == 0 || dt_buf_str(b)[b->len - 1] == ' ';
    if (start && s[0] == 'S' && s[1] == '*') {
      dt_buf_addc(b, 'S');
      s++;
    } else if (start && ((s[0] == 'S' && s[1] == '(') ||
                         (s[0] == '_' && s[1] == 'S'))) {
      dt_buf_addc(b, '=');
      dt_buf_addc(b, *s);
    } else if (start && strncmp(s, "None", 4) == 0) {
      dt_buf_addc(b, '-');
      s += 3;
    } else {
      dt_buf_addc(b, *s);
    }
  }
}

/* Our text as the file has it: masks without their shape, and no outputs for
** operators that return none. */
static void shorten (DtBuf *b, bool outputs) {
  static const char mask[] = "MaskP(sum, torch.Size(";
  char *s = b->s, *at;
  if (s == NULL)
    return;
  while ((at = strstr(s, mask)) != NULL) {
    char *end = strchr(at + sizeof mask - 1, ')');      /* of the shape */
    end = end != NULL ? strchr(end + 1, ')') : NULL;    /* of the mask */
    if (end == NULL)
      break;
    memmove(at + 9, end, strlen(end) + 1);
  }
  at = strstr(s, "-> ");
  if (!outputs && at != NULL)
    at[3] = '\0';
  b->len = strlen(s);
}

static bool same_row (DtParity *p, const char *want, const DtRows *rows,
                      int i, bool outputs) {
  DtBuf a, b;
  dt_buf_init(&a, p->cx);
  dt_buf_init(&b, p->cx);
  to_ours(want, &a);
  if (i < rows->n)
    dt_row_print(rows, i, &b);
  shorten(&b, outputs);
  bool ok = dt_same_text(p, "row", dt_buf_str(&a), dt_buf_str(&b));
  dt_buf_fini(&a);
  dt_buf_fini(&b);
  if (!ok)
    dt_buf_addf(&p->why, " (row %d)", i);
  return ok;
}

static bool same_rules (DtParity *p, const json_t *o, const DtRows *rows,
                        bool inserted) {
  const json_t *want = json_object_get(o, "rules");
  const char *all = dt_jstr(o, "replicate_added");
  bool outs = dt_jint(o, "outputs", 1) > 0;
  int at = 0;
  if (!dt_same_flag(p, "all-replicate row added", all != NULL, inserted))
    return false;
  if (all != NULL && !same_row(p, all, rows, at++, outs))
    return false;
  for (size_t i = 0; i < json_array_size(want); i++, at++)
    if (!same_row(p, json_string_value(json_array_get(want, i)), rows, at,
                  outs))
      return false;
  if (at != rows->n)
    return dt_fails(p, "rows: want %d, got %d", at, rows->n);
  return true;
}

bool dt_check_rules (DtParity *p, const json_t *o) {
  DtJCall c;
  DtRows rows;
  bool inserted = false;
  if (!dt_no_error(p, dt_parity_tables(p)))
    return false;
  const DtOpDef *op = dt_parity_op(p, p->reg, dt_jstr(o, "op"));
  if (op == NULL || !dt_no_error(p, dt_jcall(p, o, op, &c)))
    return false;
  const DtMeta **in = DT_ANEWN(p->cx, &p->arena, const DtMeta *, c.nin + 1);
  DtMeta *m = DT_ANEWN(p->cx, &p->arena, DtMeta, c.nin + 1);
  if (in == NULL || m == NULL)
    return dt_fails(p, "no memory");
  for (int i = 0; i < c.nin; i++) {
    if (!dt_jtensor_meta(p, c.tensor[i], &m[i]))
      return false;
    in[i] = &m[i];
  }
  return dt_no_error(p, dt_prop_rows(p->cx, p->prop, c.op, &c.args, c.nin, in,
                                     &p->arena, &rows, &inserted)) &&
         same_rules(p, o, &rows, inserted);
}

/* }==== */
