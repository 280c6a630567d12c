/* SPDX-License-Identifier: MIT
** TEST: tags=one_thread
** tests/unit/test_op.c: values, schemas, binding, overloads, rows, emitter,
** registry. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>
#include <jansson.h>
#include <string.h>
#include "base/error_shard.h"
#include "compat/text.h"
#include "fixture.h"
#include "op/registry.h"

/* ---- a small table of operators ---- */

static DtStatus same_meta (DtMetaCall *c) {
  c->out[0] = *dt_in(c, 0);
  c->nout = 1;
  return DT_OK;
}

static DtStatus no_kernel (DtKernelCall *c) {
  (void)c;
  return DT_OK;
}

static const char *const pair_rules[] = { "S(0), S(0) -> S(0)", NULL };
static const char *const samples[] = { "f32[2]", NULL };

#define OP(id, text, rules_) \
  static const DtOpDef id = { \
    .schema = text, .brief = "A test.", .flags = DT_OP_NOGRAD, \
    .meta = same_meta, .kernel = no_kernel, .rules = rules_, \
    .samples = samples }
OP(op_add, "aten::add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) "
   "-> Tensor", pair_rules);
OP(op_mm, "aten::mm(Tensor self, Tensor mat2) -> Tensor", pair_rules);
OP(op_mm_dtype, "aten::mm.dtype(Tensor self, Tensor mat2, ScalarType "
   "out_dtype) -> Tensor", pair_rules);
OP(op_cat, "aten::cat(Tensor[] tensors, int dim=0) -> Tensor", NULL);
OP(op_t, "aten::t(Tensor(a) self) -> Tensor(a)", NULL);
OP(op_softmax, "aten::softmax.int(Tensor self, int dim, ScalarType? "
   "dtype=None) -> Tensor", NULL);
OP(op_clamp, "aten::clamp(Tensor self, Scalar? min=None, Scalar? max=None) "
   "-> Tensor", NULL);
OP(op_clamp_t, "aten::clamp.Tensor(Tensor self, Tensor? min=None, Tensor? "
   "max=None) -> Tensor", pair_rules);

static const DtOpDef *const ops[] = {
  &op_add, &op_cat, &op_clamp, &op_clamp_t, &op_mm, &op_mm_dtype, &op_softmax,
  &op_t, NULL
};
static const DtVariant variants[] = {
  { "aten::add_.Tensor(Tensor(a!) self, Tensor other, *, Scalar alpha=1) -> "
    "Tensor(a!)", "aten.add.Tensor", DT_VAR_INPLACE, false },
  { "aten::add.out(Tensor self, Tensor other, *, Scalar alpha=1, Tensor(a!) "
    "out) -> Tensor(a!)", "aten.add.Tensor", DT_VAR_OUT, false },
  { "aten::mm.out(Tensor self, Tensor mat2, *, Tensor(a!) out) -> "
    "Tensor(a!)", "aten.mm.default", DT_VAR_OUT, false },
  { "aten::mm.dtype_out(Tensor self, Tensor mat2, ScalarType out_dtype, *, "
    "Tensor(a!) out) -> Tensor(a!)", "aten.mm.dtype", DT_VAR_OUT, false },
  { "aten::clamp.out(Tensor self, Scalar? min=None, Scalar? max=None, *, "
    "Tensor(a!) out) -> Tensor(a!)", "aten.clamp.default", DT_VAR_OUT, false },
  { "aten::clamp.Tensor_out(Tensor self, Tensor? min=None, Tensor? max=None, "
    "*, Tensor(a!) out) -> Tensor(a!)", "aten.clamp.Tensor", DT_VAR_OUT, false },
  { "aten::_foreach_add.List(Tensor[] self, Tensor[] other, *, Scalar "
    "alpha=1) -> Tensor[]", "aten.add.Tensor", DT_VAR_FOREACH, false },
  { NULL, NULL, DT_VAR_INPLACE, false }
};

static DtRegistry *table (DtCtx *cx) {
  DtRegistry *r = NULL;
  assert_int_equal(dt_registry_new(cx, ops, variants, &r), DT_OK);
  return r;
}

static const char *message (DtCtx *cx) {
  return dt_buf_str(&cx->err.message);
}

/* ---- schemas ---- */

/* Every schema of the reference parses to the name it has there. */
static void test_schemas (void **state) {
  DtCtx *cx = fixture_cx(state);
  const char *dir = getenv("DT_PARITY_DIR");
  char path[512], *line = NULL;
  size_t cap = 0;
  int n = 0;
  (void)snprintf(path, sizeof path, "%s/registry/ops.jsonl",
                 dir != NULL ? dir : "tests/parity/2.13");
  FILE *f = fopen(path, "r");
  assert_non_null(f);
  while (getline(&line, &cap, f) >= 0) {
    DtArena a = { NULL, NULL };
    DtSchema *s = NULL;
    json_t *o = json_loads(line, 0, NULL);
    const char *text = json_string_value(json_object_get(o, "schema"));
    assert_non_null(text);
    assert_int_equal(dt_schema_parse(cx, &a, text, &s), DT_OK);
    assert_string_equal(s->full,
                        json_string_value(json_object_get(o, "op")));
    assert_int_equal(s->inplace,
                     json_is_true(json_object_get(o, "inplace")));
    dt_arena_fini(cx, &a);
    json_decref(o);
    n++;
  }
  free(line);
  (void)fclose(f);
  assert_true(n > 1000);
}

static void test_schema_parts (void **state) {
  DtCtx *cx = fixture_cx(state);
  DtArena a = { NULL, NULL };
  DtSchema *s = NULL;
  assert_int_equal(dt_schema_parse(cx, &a, "x::f.o(Tensor(a!)[] self, int[2] "
    "k=1, SymInt[]? d=None, Tensor?[] i, float[]? s=[0.5, 1.], *, "
    "MemoryFormat? m=None, str r='mean', bool b=True) -> (Tensor(a!) values, "
    "int)", &s), DT_OK);
  assert_string_equal(s->full, "x.f.o");
  assert_int_equal(s->nargs, 8);
  assert_int_equal(s->nkwonly, 3);
  assert_true(s->arg[0].list && s->arg[0].write);
  assert_int_equal(s->arg[1].dflt.u.list.n, 2);
  assert_true(s->arg[2].opt && s->arg[2].list && !s->arg[2].elem_opt);
  assert_true(s->arg[3].elem_opt && !s->arg[3].opt);
  assert_true(s->arg[4].dflt.u.list.v[1].kind == DT_V_FLOAT);
  assert_string_equal(s->arg[6].dflt.u.s, "mean");
  assert_string_equal(s->ret[0].name, "values");
  assert_int_equal(s->ret[1].type, DT_T_INT);
  dt_arena_fini(cx, &a);
}

static void test_schema_bad (void **state) {
  static const char *const bad[] = {
    "", "f(Tensor x) -> Tensor", "a::f", "a::f(", "a::f(Tensor) -> Tensor",
    "a::f(Tensor x", "a::f(Tensor x) Tensor", "a::f(Tensor x) -> Tensor y z",
    "a::f(int[ x) -> int", "a::f(int x=[1) -> int", "a::f(int x=@) -> int",
    "a::f(str s='x) -> int", "a::f(int x, int x) -> int",
    "a::f(*, *, int x) -> int", "a::f(Tensor(a x) -> int"
  };
  DtCtx *cx = fixture_cx(state);
  for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
    DtArena a = { NULL, NULL };
    DtSchema *s = NULL;
    assert_int_equal(dt_schema_parse(cx, &a, bad[i], &s), DT_E_PARSE);
    assert_null(s);
    dt_error_clear(cx);
    dt_arena_fini(cx, &a);
  }
}

/* ---- binding ---- */

typedef struct Wrong {
  const char *op;               /* "mm": all overloads */
  int npos, nkw;
  DtValue pos[4];
  const char *kwname;
  DtValue kw;
  const char *text;
} Wrong;

static void check_wrong (DtCtx *cx, DtRegistry *r, const Wrong *w) {
  const DtPacket *p = dt_registry_packet(cx, r, "aten", w->op);
  const DtOpDef *op = NULL;
  DtArgs args;
  assert_non_null(p);
  assert_int_equal(dt_packet_resolve(cx, p, &(DtGiven){
    w->npos, w->pos, w->nkw, &w->kwname, &w->kw }, &op, &args),
                   DT_E_TYPE);
  assert_string_equal(message(cx), w->text);
  assert_string_equal(cx->err.pyclass, "TypeError");
  dt_error_clear(cx);
}

static void test_argument_errors (void **state) {
  DtCtx *cx = fixture_cx(state);
  DtRegistry *r = table(cx);
  DtValue x = dt_v_slot(0), pair[2] = { x, dt_v_float(1) };
  const Wrong wrong[] = {
    { "mm", 1, 0, { x }, NULL, dt_v_none(),
      "mm() received an invalid combination of arguments - got (Tensor), but "
      "expected one of:\n * (Tensor input, Tensor mat2, *, Tensor out = None)"
      "\n * (Tensor input, Tensor mat2, torch.dtype out_dtype, *, Tensor out "
      "= None)\n" },
    { "mm", 2, 0, { x, dt_v_float(1) }, NULL, dt_v_none(),
      "mm(): argument 'mat2' (position 2) must be Tensor, not float" },
    { "clamp", 3, 0, { x, x, dt_v_float(1) }, NULL, dt_v_none(),
      "clamp() received an invalid combination of arguments - got (Tensor, "
      "Tensor, float), but expected one of:\n * (Tensor input, Tensor min = "
      "None, Tensor max = None, *, Tensor out = None)\n * (Tensor input, "
      "Number min = None, Number max = None, *, Tensor out = None)\n" },
    { "add", 2, 0, { x, dt_v_none() }, NULL, dt_v_none(),
      "add(): argument 'other' (position 2) must be Tensor, not NoneType" },
    { "add", 2, 1, { x, x }, "beta", dt_v_int(1),
      "add() got an unexpected keyword argument 'beta'" },
    { "t", 2, 0, { x, x }, NULL, dt_v_none(),
      "t() takes 1 positional argument but 2 were given" },
    { "cat", 0, 0, { x }, NULL, dt_v_none(),
      "cat() missing 1 required positional arguments: \"tensors\"" },
    { "cat", 1, 0, { dt_v_list(2, pair) }, NULL, dt_v_none(),
      "expected Tensor as element 1 in argument 0, but got float" },
    { "cat", 1, 0, { x }, NULL, dt_v_none(),
      "cat(): argument 'tensors' (position 1) must be tuple of Tensors, not "
      "Tensor" },
    { "softmax", 4, 0, { x, dt_v_int(0), dt_v_int(0), dt_v_int(0) }, NULL,
      dt_v_none(),
      "softmax() takes from 2 to 3 positional arguments but 4 were given" },
    { "softmax", 2, 0, { x, dt_v_str("a") }, NULL, dt_v_none(),
      "softmax(): argument 'dim' (position 2) must be int, not str" }
  };
  for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
    check_wrong(cx, r, &wrong[i]);
  dt_registry_free(cx, r);
}

static void test_resolve (void **state) {
  DtCtx *cx = fixture_cx(state);
  DtRegistry *r = table(cx);
  const DtPacket *p = dt_registry_packet(cx, r, "aten", "add");
  const DtOpDef *op = NULL;
  const char *out = "out", *input = "input";
  DtArgs args;
  DtValue v[3] = { dt_v_slot(0), dt_v_float(2), dt_v_slot(1) };
  assert_int_equal(dt_packet_resolve(cx, p, &(DtGiven){ .npos = 2, .pos = v },
    &op, &args),
                   DT_OK);
  assert_string_equal(op->sig->full, "aten.add.Tensor");
  assert_true(dt_arg_is_number(&args, 1));
  assert_int_equal(args.nslots, 1);
  assert_int_equal(dt_arg_int(&args, 2), 1);
  assert_int_equal(dt_packet_resolve(cx, p, &(DtGiven){ 2, v, 1, &out, &v[2] },
    &op, &args),
                   DT_OK);
  assert_string_equal(op->sig->full, "aten.add.out");
  p = dt_registry_packet(cx, r, "aten", "t");
  assert_int_equal(dt_packet_resolve(cx, p, &(DtGiven){ 0, v, 1, &input, v },
    &op, &args),
                   DT_OK);
  p = dt_registry_packet(cx, r, "aten", "clamp");
  assert_int_equal(dt_packet_resolve(cx, p, &(DtGiven){ .npos = 2, .pos = v },
    &op, &args),
                   DT_OK);
  assert_string_equal(op->sig->full, "aten.clamp.default");
  dt_registry_free(cx, r);
}

static void test_overload_errors (void **state) {
  DtCtx *cx = fixture_cx(state);
  DtRegistry *r = table(cx);
  const DtOpDef *mm = dt_registry_find(cx, r, "aten::mm");
  DtValue v[3] = { dt_v_slot(0), dt_v_float(1), dt_v_slot(1) };
  DtArgs args;
  assert_int_equal(dt_schema_bind(cx, mm->sig, &(DtGiven){ .npos = 2, .pos = v },
    &args),
                   DT_E_TYPE);
  assert_true(strncmp(message(cx), "aten::mm() Expected a value of type "
    "'Tensor' for argument 'mat2' but instead found type 'float'.\nPosition: "
    "1\nValue: 1.0\nDeclaration: aten::mm(Tensor self", 130) == 0);
  dt_error_clear(cx);
  assert_int_equal(dt_schema_bind(cx, mm->sig, &(DtGiven){ .npos = 1, .pos = v },
    &args),
                   DT_E_TYPE);
  assert_string_equal(message(cx), "aten::mm() is missing value for argument "
    "'mat2'. Declaration: aten::mm(Tensor self, Tensor mat2) -> Tensor");
  dt_error_clear(cx);
  assert_int_equal(dt_schema_bind(cx, mm->sig, &(DtGiven){ .npos = 3, .pos = v },
    &args),
                   DT_E_TYPE);
  assert_string_equal(message(cx), "aten::mm() expected at most 2 argument(s) "
    "but received 3 argument(s). Declaration: aten::mm(Tensor self, Tensor "
    "mat2) -> Tensor");
  dt_error_clear(cx);
  dt_registry_free(cx, r);
}

/* ---- registry ---- */

static void test_registry (void **state) {
  DtCtx *cx = fixture_cx(state);
  DtRegistry *r = table(cx);
  const DtOpDef *out, *inplace;
  const char *near[3];
  const DtPacket *p;
  int it = 0, n = 0;
  assert_null(dt_registry_find(cx, r, "aten.none.default"));
  assert_ptr_equal(dt_registry_find(cx, r, "aten.mm"),
                   dt_registry_find(cx, r, "aten::mm"));
  inplace = dt_registry_find(cx, r, "aten.add_.Tensor");
  assert_true((inplace->flags & DT_OP_INPLACE) != 0);
  assert_ptr_equal(inplace->base, dt_registry_find(cx, r, "aten.add.Tensor"));
  out = dt_registry_find(cx, r, "aten.add.out");
  assert_true((out->flags & DT_OP_OUT) != 0 && out->meta != same_meta);
  while ((p = dt_registry_next(cx, r, &it)) != NULL) n++;
  assert_int_equal(n, 8);
  assert_true(dt_registry_near(cx, r, "aten.softmx", near, 3) >= 1);
  assert_string_equal(near[0], "aten.softmax");
  assert_int_equal(dt_registry_selfcheck(cx, r), DT_E_INTERNAL);
  dt_error_clear(cx);
  dt_registry_free(cx, r);
}

static void test_register (void **state) {
  DtCtx *cx = fixture_cx(state);
  DtRegistry *r = table(cx);
  char text[] = "npu::f(Tensor x, Tensor? m=None) -> (Tensor, int)";
  DtOpDef def = { .schema = text, .brief = "Mine.", .meta = same_meta };
  const DtOpDef *op = NULL;
  assert_int_equal(dt_registry_add(cx, r, &def, &op), DT_OK);
  memset(text, 'x', 4);
  assert_string_equal(op->sig->full, "npu.f.default");
  assert_ptr_equal(dt_registry_find(cx, r, "npu.f"), op);
  memcpy(text, "npu:", 4);
  assert_int_equal(dt_registry_add(cx, r, &def, &op), DT_E_VALUE);
  dt_error_clear(cx);
  dt_registry_free(cx, r);
}

static void test_foreach_args (void **state) {
  DtCtx *cx = fixture_cx(state);
  DtRegistry *r = table(cx);
  const DtOpDef *op = dt_registry_find(cx, r, "aten._foreach_add.List");
  DtValue a[2] = { dt_v_slot(0), dt_v_slot(1) };
  DtValue b[2] = { dt_v_slot(2), dt_v_slot(3) };
  DtValue v[2] = { dt_v_list(2, a), dt_v_list(2, b) };
  DtArgs args, one;
  assert_int_equal(dt_schema_bind(cx, op->sig, &(DtGiven){ .npos = 2, .pos = v },
    &args),
                   DT_OK);
  assert_int_equal(dt_foreach_count(&args), 2);
  assert_int_equal(dt_foreach_args(cx, op, &args, 1, &one), DT_OK);
  assert_int_equal(dt_arg_slot(&one, 0), 1);
  assert_int_equal(dt_arg_slot(&one, 1), 3);
  assert_int_equal(dt_arg_int(&one, 2), 1);
  dt_registry_free(cx, r);
}

/* Whatever allocation fails, nothing is left behind. */
static void test_no_memory (void **state) {
  DtCtx *cx = fixture_cx(state);
  bool done = false;
  for (int64_t k = 0; !done && k < 400; k++) {
    DtRegistry *r = NULL;
    cx->mem.fail_at = cx->mem.nalloc + k;
    cx->mem.fail_on = true;
    DtStatus st = dt_registry_new(cx, ops, variants, &r);
    if (st == DT_OK) {
      done = dt_registry_packet(cx, r, "aten", "clamp") != NULL &&
             dt_registry_find(cx, r, "aten.mm.out") != NULL;
      dt_registry_free(cx, r);
    }
    cx->mem.fail_on = false;
    dt_error_clear(cx);
  }
  assert_true(done);
}

/* ---- rows and values ---- */

static void test_rows (void **state) {
  DtCtx *cx = fixture_cx(state);
  DtArena a = { NULL, NULL };
  DtRows r;
  DtBuf b;
  dt_rows_init(&r, cx, &a, 1, 2);
  dt_rows_text(&r, "S(0), R -> S(0)");
  dt_rows_text(&r, "P(sum),=S(1)->-");
  assert_int_equal(r.st, DT_OK);
  assert_int_equal(r.n, 2);
  assert_int_equal(r.cells[1].kind, DT_C_SHARD);
  assert_int_equal(r.cells[3].kind, DT_C_NONE);
  assert_int_equal(r.cells[5].kind, DT_C_FIXED);
  dt_buf_init(&b, cx);
  dt_row_print(&r, 1, &b);
  assert_string_equal(dt_buf_str(&b), "P(sum), =S(1) -> -");
  dt_buf_fini(&b);
  dt_rows_text(&r, "S(0) -> S(0)");
  assert_int_equal(r.st, DT_E_PARSE);
  dt_error_clear(cx);
  dt_arena_fini(cx, &a);
}

static void test_value_text (void **state) {
  DtCtx *cx = fixture_cx(state);
  DtValue e[3] = { dt_v_int(1), dt_v_str("x"), dt_v_none() };
  const struct { DtValue v; const char *text; } cases[] = {
    { dt_v_float(2), "2.0" }, { dt_v_bool(true), "True" },
    { dt_v_none(), "None" }, { dt_v_str("BNSD"), "BNSD" },
    { dt_v_dtype(DT_F32), "torch.float32" },
    { dt_v_list(3, e), "[1, 'x', None]" },
    { dt_v_code(DT_V_MEMFMT, DT_MF_PRESERVE), "torch.preserve_format" }
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    DtBuf b;
    dt_buf_init(&b, cx);
    dt_value_print(&cases[i].v, NULL, NULL, &b);
    assert_string_equal(dt_buf_str(&b), cases[i].text);
    dt_buf_fini(&b);
  }
  assert_int_equal(dt_memfmt_find("contiguous"), DT_MF_CONTIGUOUS);
}

/* ---- texts by release ---- */

static void say (DtCtx *cx, int release, const char *pyclass,
                 const char *text) {
  cx->release = release;
  dt_error_clear(cx);
  assert_int_equal(DT_SAY(cx, DT_E_REDIST, TO_PARTIAL, "R", "P(sum)"),
                   DT_E_REDIST);
  assert_string_equal(cx->err.pyclass, pyclass);
  assert_string_equal(dt_buf_str(&cx->err.message), text);
}

static void test_texts (void **state) {
  DtCtx *cx = fixture_cx(state);
  say(cx, 204, "RuntimeError", "Can not redistribute to Partial, redistributing "
      "to Partial is for internal use only!");
  say(cx, 213, "RuntimeError", "Can not redistribute from R to P(sum), "
      "redistributing to Partial is for internal use only!");
  say(cx, 0, "RuntimeError", "Can not redistribute from R to P(sum), "
      "redistributing to Partial is for internal use only!");
  say(cx, 215, "RuntimeError", "Can not redistribute from R to P(sum), only "
      "Shard to Partial(sum) redistribution is supported!");
  dt_error_clear(cx);
  assert_int_equal(DT_SAY0(cx, DT_E_RUNTIME, NEG_BOOL), DT_E_RUNTIME);
  assert_string_equal(cx->err.pyclass, "NotImplementedError");
  dt_error_clear(cx);
  cx->release = 0;
}

/* Each release has one wording of each key, whose holes all have an argument. */
static void test_texts_whole (void **state) {
  static const char *const names[] = {
#define KEY(name, nargs) #name,
#define SAID(first, last, pyclass, text)
#define CLASS(since, was, is, text)
#include "compat/texts.def"
#undef CLASS
#undef SAID
#undef KEY
  };
  (void)state;
  for (int k = 0; k < DT_NTEXTS; k++) {
    int nargs = -1;
    assert_int_equal(dt_text_find(names[k], &nargs), k);
    assert_in_range(nargs, 0, DT_TEXT_MAX_ARGS);
    for (int r = DT_FIRST_RELEASE; r <= DT_LAST_RELEASE; r++) {
      const char *text = dt_text_words((DtText)k, r), *at = text;
      assert_string_not_equal(text, "");
      while ((at = strchr(at, '{')) != NULL && at++ != NULL)
        if (at[0] >= '0' && at[0] <= '9' && at[1] == '}')
          assert_in_range(at[0] - '0', 1, nargs);
    }
  }
  int nargs;
  assert_int_equal(dt_text_find("NO_SUCH_TEXT", &nargs), DT_NTEXTS);
}

int main (void) {
#define T(name) \
  cmocka_unit_test_setup_teardown(test_##name, fixture_setup, fixture_teardown)
  const struct CMUnitTest tests[] = {
    T(schemas), T(schema_parts), T(schema_bad), T(argument_errors),
    T(resolve), T(overload_errors), T(registry), T(register),
    T(foreach_args), T(no_memory), T(rows), T(value_text), T(texts),
    T(texts_whole)
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
