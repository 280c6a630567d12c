/* SPDX-License-Identifier: MIT
** parity/promotion.c: result dtypes against values/promotion.jsonl.  A line is
** a table over dtypes; it passes when every cell agrees.  The arguments of a
** cell follow from the line's mode; operators that need more than their
** operands have a row below. */
#include "parity/values_int.h"

#include <stdlib.h>

/* Arguments of a call, as in captured cases.  A and B stand for the operands
** of the row and of the column (M, N: as matrices, Q, U: in three dimensions,
** Z: the column's in none), I for indices, K for a mask.  Checked against
** PyTorch: these calls give the tables. */
typedef struct Form { const char *op, *args; } Form;
static const Form forms[] = {
  { "aten._foreach_add.List", "[[A],[B]]" },
  { "aten._foreach_add_.List", "[[A],[B]]" },
  { "aten.addcdiv.default", "[A,B,B]" },
  { "aten.addcmul.default", "[A,B,B]" },
  { "aten.all.dim", "[A,0]" },
  { "aten.any.dim", "[A,0]" },
  { "aten.cat.default", "[[A,B]]" },
  { "aten.convolution.default", "[Q,U,null,[1],[0],[1],false,[0],1]" },
  { "aten.clamp.Tensor", "[A,B,B]" },
  { "aten.cumprod.default", "[A,0]" },
  { "aten.cumsum.default", "[A,0]" },
  { "aten.baddbmm.default", "[Q,U,U]" },
  { "aten.equal.default", "[A,B]" },
  { "aten.flip.default", "[M,[0]]" },
  { "aten.index_add.default", "[A,0,I,B]" },
  { "aten.index_put.default", "[A,[I],B]" },
  { "aten.index_select.default", "[A,0,B]" },
  { "aten.kthvalue.default", "[A,1]" },
  { "aten.lerp.Scalar", "[A,B,0.5]" },
  { "aten.lerp.Tensor", "[A,A,B]" },
  { "aten.linear.default", "[M,N]" },
  { "aten.log_softmax.int", "[A,0]" },
  { "aten.logcumsumexp.default", "[A,0]" },
  { "aten.logsumexp.default", "[A,[0]]" },
  { "aten.masked_fill.Scalar", "[A,K,B]" },
  { "aten.masked_fill.Tensor", "[A,K,Z]" },
  { "aten.masked_scatter.default", "[A,K,B]" },
  { "aten.outer.default", "[A,B]" },
  { "aten.polar.default", "[A,B]" },
  { "aten.scatter.src", "[A,0,I,B]" },
  { "aten.select_scatter.default", "[A,Z,0,0]" },
  { "aten.softmax.int", "[A,0]" },
  { "aten.sum.dim_IntList", "[A,[0]]" },
  { "aten.threshold_backward.default", "[A,A,B]" },
  { "aten.topk.default", "[A,1]" },
  { "aten.trace.default", "[M]" },
  { "aten.tril.default", "[M]" },
  { "aten.triu.default", "[M]" },
  { "aten._linalg_det.default", "[M]" },
  { "aten._linalg_svd.default", "[M]" },
  { "aten.linalg_cholesky_ex.default", "[M]" },
  { "aten.linalg_eigh.default", "[M]" },
  { "aten.linalg_inv_ex.default", "[M]" },
  { "aten.linalg_lu_factor_ex.default", "[M]" },
  { "aten.linalg_qr.default", "[M]" },
  { "aten.where.self", "[K,A,B]" },
  { NULL, NULL }
};

/* One table under check. */
typedef struct Table {
  DtParity *p;
  const json_t *o;
  const DtOpDef *op;
  const char *form;             /* NULL: by mode */
  int64_t bad, cells;
} Table;

/* An operand: a tensor of ones, 1-d or 0-dim, or a Python number. */
static void operand (DtBuf *b, const char *type, char how) {
  if (how == 'S')
    dt_buf_add(b, strcmp(type, "bool") == 0 ? "true"
                  : strcmp(type, "int") == 0 ? "2"
                  : strcmp(type, "float") == 0 ? "2.5" : "{\"c\":[1.0,2.0]}");
  else
    dt_buf_addf(b, "{\"t\":\"%s\",\"shape\":%s,\"data\":%s}", type,
                how == '0' ? "[]" : "[2]", how == '0' ? "[1]" : "[1,1]");
}

/* A letter of a form; false when it is text. */
static bool letter (DtBuf *b, char c, const char *row, const char *col,
                    const char *how) {
  bool of_row = c == 'A' || c == 'M' || c == 'Q';
  const char *type = of_row ? row : col;
  switch (c) {
    case 'A': operand(b, row, how[0]); return true;
    case 'B': operand(b, col, how[1]); return true;
    case 'Z': operand(b, col, '0'); return true;
    case 'M': case 'N': case 'Q': case 'U':
      dt_buf_addf(b, "{\"t\":\"%s\",\"shape\":%s,\"data\":[1,1,1,1]}", type,
                  c == 'M' || c == 'N' ? "[2,2]" : "[1,2,2]");
      return true;
    case 'I':
      dt_buf_add(b, "{\"t\":\"i64\",\"shape\":[2],\"data\":[0,1]}");
      return true;
    case 'K':
      dt_buf_add(b, "{\"t\":\"bool\",\"shape\":[2],\"data\":[true,false]}");
      return true;
    default: return false;
  }
}

/* "tt", "t0", "0t", "00", "tS", "St", "0S": how the operands come. */
static const char *how_of (const char *mode) {
  static const char *const two[] = { "tt", "t0", "0t", "00", "tS", "St",
                                     "0S" };
  for (size_t i = 0; i < sizeof two / sizeof two[0]; i++)
    if (strncmp(mode, two[i], 2) == 0)
      return two[i];
  return "tt";
}

static char *cell_text (Table *t, const char *row, const char *col) {
  const char *mode = dt_jstr(t->o, "mode"), *how = how_of(mode);
  const char *round = strstr(mode, "rounding_mode=");
  bool one = strcmp(mode, "one operand") == 0;
  const char *form = t->form != NULL ? t->form : one ? "[A]" : "[A,B]";
  bool typed = strncmp(mode, "rows = input dtype", 18) == 0;
  DtBuf b;
  char *text;
  dt_buf_init(&b, t->p->cx);
  dt_buf_add(&b, "{\"args\":");
  for (const char *s = typed && t->form == NULL ? "[A]" : form; *s != '\0';
       s++) {
    if (!letter(&b, *s, row, col, how))
      dt_buf_addc(&b, *s);
  }
  if (round != NULL)
    dt_buf_addf(&b, ",\"kw\":{\"rounding_mode\":\"%s\"}", round + 14);
  else if (typed && strcmp(col, "none") != 0)
    dt_buf_addf(&b, ",\"kw\":{\"dtype\":{\"dtype\":\"%s\"}}", col);
  dt_buf_addc(&b, '}');
  text = dt_arena_strdup(t->p->cx, &t->p->arena, dt_buf_str(&b));
  dt_buf_fini(&b);
  return text;
}

/* Results into a list of arguments: the type of the first. */
static const char *written_type (const DtVCall *v) {
  for (int i = 0; i < v->vars.n; i++)
    if (v->vars.v[i] != NULL && v->vars.v[i]->local != NULL)
      return dt_dtype_info((DtDtype)v->vars.v[i]->local->m.dtype)->name;
  return "none";
}

static const char *result_type (const DtVCall *v) {
  if (v->r.n > 0 && dt_result(&v->r, 0) != NULL)
    return dt_dtype_info((DtDtype)dt_result(&v->r, 0)->local->m.dtype)->name;
  switch (v->r.ret.kind) {
    case DT_V_BOOL: return "bool";
    case DT_V_INT: return "i64";
    case DT_V_FLOAT: return "f64";
    default: return written_type(v);
  }
}

static bool same_cell (Table *t, const json_t *want, DtVCall *v) {
  const json_t *err = json_object_get(want, "err");
  if (err != NULL)
    return dt_same_error(t->p, json_array_get(json_object_get(t->o, "errors"),
                         (size_t)json_integer_value(err)), v->st);
  if (json_is_array(want)) {    /* a type for each result */
    for (size_t i = 0; v->st == DT_OK && i < json_array_size(want); i++)
      if ((int)i >= v->r.n ||
          !dt_same_text(t->p, "dtype",
                        json_string_value(json_array_get(want, i)),
                        dt_dtype_info((DtDtype)dt_result(&v->r, (int)i)
                                      ->local->m.dtype)->name))
        return false;
    return dt_no_error(t->p, v->st);
  }
  const char *type = json_string_value(want);
  if (type != NULL && dt_dtype_find(type) == DT_DTYPE_NONE)
    return true;                /* a type that is not ours (c32) */
  return dt_no_error(t->p, v->st) &&
         dt_same_text(t->p, "dtype", type, result_type(v));
}

static bool check_cell (Table *t, const json_t *want, const char *row,
                        const char *col) {
  char *text = cell_text(t, row, col);
  json_error_t e;
  json_t *call = text != NULL ? json_loads(text, 0, &e) : NULL;
  DtVCall v;
  memset(&v, 0, sizeof v);
  v.s = dt_parity_session(t->p, 1, 0);
  dt_error_clear(t->p->cx);
  if (call == NULL || v.s == NULL) {
    json_decref(call);
    return dt_fails(t->p, "no cell");
  }
  v.st = dt_jcall(t->p, call, t->op, &v.call);
  if (v.st == DT_OK)
    v.st = dt_jvars(t->p, v.s, &v.call, NULL, &v.vars);
  dt_vcall_run(&v);
  bool ok = same_cell(t, want, &v);
  dt_vcall_fini(&v);
  json_decref(call);
  if (!ok)
    dt_buf_addf(&t->p->why, " (%s, %s)", row, col);
  return ok;
}

/* Operands of a call by mode: may the operator be called with them alone? */
static bool suits (const Table *t) {
  const DtSchema *s = t->op->sig;
  const char *mode = dt_jstr(t->o, "mode");
  int need = 0;
  for (int i = 0; i < s->nargs; i++)
    need += !s->arg[i].has_default;
  if (strstr(mode, "rounding_mode=") != NULL)
    need--;
  if (strcmp(mode, "one operand") == 0 ||
      strncmp(mode, "rows = input dtype", 18) == 0)
    return need == 1;
  return strncmp(mode, "rows", 4) != 0 && need <= 2;
}

static const char *form_of (const char *op) {
  for (const Form *f = forms; f->op != NULL; f++)
    if (strcmp(f->op, op) == 0)
      return f->args;
  return NULL;
}

bool dt_check_promotion (DtParity *p, const json_t *o) {
  const char *op = dt_jstr(o, "op");
  const json_t *rows = json_object_get(o, "rows");
  const json_t *cols = json_object_get(o, "cols");
  const json_t *table = json_object_get(o, "table");
  DtSession *s = dt_parity_session(p, 1, 0);
  Table t = { p, o, NULL, form_of(op), 0, 0 };
  if (s == NULL)
    return false;
  if (strncmp(op, "torch.", 6) == 0)
    return dt_parity_skip(p);
  t.op = dt_parity_op(p, s->registry, op);
  if (t.op == NULL)
    return false;
  if (t.form == NULL && !suits(&t))
    return dt_parity_skip(p);
  for (size_t i = 0; i < json_array_size(rows); i++) {
    const json_t *line = json_array_get(table, i);
    for (size_t k = 0; k < json_array_size(cols); k++) {
      DtArenaMark mark = dt_arena_mark(&p->arena);
      size_t had = p->why.len;
      t.cells++;
      if (check_cell(&t, json_array_get(line, k),
                     json_string_value(json_array_get(rows, i)),
                     json_string_value(json_array_get(cols, k))))
        had = p->why.len;
      else
        t.bad++;
      if (t.bad > 1 && had < p->why.len) {      /* the first is enough */
        p->why.len = had;
        p->why.s[had] = '\0';
      }
      dt_arena_release(&p->arena, mark);
    }
  }
  if (t.bad > 0)
    dt_buf_addf(&p->why, "; %lld of %lld cells", (long long)t.bad,
                (long long)t.cells);
  return t.bad == 0;
}
