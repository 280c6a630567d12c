/* SPDX-License-Identifier: MIT
** TEST: tags=one_thread
** tests/unit/test_oplib.c: the operator tables themselves: every definition
** complete, sorted, known by name, every derived form made from its base.
** What the operators decide and compute is compared elsewhere with data
** (parity_prop.c, the validators of tests/ops). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>

#include "oplib/ops.h"

static int setup (void **state) {
  DtCtx *cx;
  if (dt_ctx_new(&cx) != DT_OK) return -1;
  *state = cx;
  return 0;
}
static int teardown (void **state) {
  DtCtx *cx = *state;
  int live = (int)cx->mem.nlive;
  dt_ctx_free(cx);
  return live > 8;              /* scratch blocks only */
}

static void test_selfcheck (void **state) {
  DtCtx *cx = *state;
  DtRegistry *r;
  assert_int_equal(dt_registry_new(cx, dt_ops, dt_variants, &r), DT_OK);
  if (dt_registry_selfcheck(cx, r) != DT_OK)
    fail_msg("%s", dt_buf_str(&cx->err.message));
  dt_registry_free(cx, r);
}

/* A ruling names an operator, in rising releases, and changes what it shards
** like; going back gives what was. */
static void test_rulings (void **state) {
  DtCtx *cx = *state;
  DtRegistry *r;
  assert_int_equal(dt_registry_new(cx, dt_ops, dt_variants, &r), DT_OK);
  const DtOpDef *sum = dt_registry_find(cx, r, "aten.sum.default");
  DtStratFn strategy = sum->strategy;
  assert_non_null(strategy);
  assert_int_equal(dt_registry_release(cx, r, dt_rulings, 215), DT_OK);
  assert_null(sum->strategy);
  assert_non_null(sum->rulefn);
  for (int i = 0; dt_rulings[i].op; i++) {
    const DtRuling *l = &dt_rulings[i];
    const DtOpDef *op = dt_registry_find(cx, r, l->op);
    if (op == NULL) fail_msg("%s is not an operator", l->op);
    bool rows = l->rules != NULL || l->rulefn != NULL;
    if (rows && (op->rulefn != l->rulefn || op->rules != l->rules))
      fail_msg("%s is ruled twice", l->op);
    assert_true((op->flags & l->flags) == l->flags);
    assert_true(l->since > 213);
  }
  assert_int_equal(dt_registry_release(cx, r, dt_rulings, 213), DT_OK);
  assert_true(sum->strategy == strategy && sum->rulefn == NULL);
  dt_registry_free(cx, r);
}

/* A definition asked for in one release and again in the next is what the next
** release's own would be. */
static void test_refilled (void **state) {
  DtCtx *cx = *state;
  DtRegistry *moved, *fresh;
  assert_int_equal(dt_registry_new(cx, dt_ops, dt_variants, &moved), DT_OK);
  assert_int_equal(dt_registry_selfcheck(cx, moved), DT_OK);    /* fills all */
  assert_int_equal(dt_registry_release(cx, moved, dt_rulings, 215), DT_OK);
  assert_int_equal(dt_registry_new(cx, dt_ops, dt_variants, &fresh), DT_OK);
  assert_int_equal(dt_registry_release(cx, fresh, dt_rulings, 215), DT_OK);
  for (int i = 0; dt_variants[i].schema; i++) {
    char name[160] = "";
    size_t n = strcspn(dt_variants[i].schema, "(");
    assert_true(n < sizeof name);
    memcpy(name, dt_variants[i].schema, n);
    const DtOpDef *a = dt_registry_find(cx, moved, name);
    const DtOpDef *b = dt_registry_find(cx, fresh, name);
    assert_true(a != NULL && b != NULL);
    if (a->flags != b->flags || a->rulefn != b->rulefn ||
        a->strategy != b->strategy || a->decomp != b->decomp)
      fail_msg("%s: flags %x where %x are due", name, a->flags, b->flags);
  }
  dt_registry_free(cx, moved);
  dt_registry_free(cx, fresh);
}

/* Full names ("add.Tensor"; "mm." for a default overload) in order. */
static void name_of (const DtOpDef *op, char *out, size_t size) {
  size_t n = strcspn(op->schema, "(");
  assert_true(n + 10 < size);
  memcpy(out, op->schema, n);
  strcpy(out + n, strchr(out, '.') && memchr(op->schema, '.', n)
                  ? "" : ".default");
}

static void test_sorted (void **state) {
  char a[160] = "", b[160];
  int n = 0;
  (void)state;
  for (int i = 0; dt_ops[i]; i++, n++) {
    memset(b, 0, sizeof b);
    name_of(dt_ops[i], b, sizeof b);
    if (strcmp(a, b) >= 0) fail_msg("%s stands before %s", a, b);
    strcpy(a, b);
  }
  assert_true(n >= 200);
}

/* The text of an operator and its definition name the same overload. */
static void test_names (void **state) {
  static const char *const ids[] = {
#define X(id) #id,
#include "oplib/ops.def"
#undef X
  };
  (void)state;
  for (size_t i = 0; i < sizeof ids / sizeof *ids; i++) {
    const char *schema = dt_ops[i]->schema;
    bool aten = strncmp(schema, "aten::", 6) == 0;
    char name[160] = "";
    size_t n = strcspn(schema, "("), k = 0;
    assert_true(n < sizeof name);
    for (size_t j = aten ? 6 : 0; j < n; j++) {
      if (schema[j] == ':' && schema[j + 1] == ':') continue;
      name[k++] = schema[j] == '.' || schema[j] == ':' ? '_' : schema[j];
    }
    if (strcmp(name, ids[i]) != 0)
      fail_msg("dt_op_%s defines %s", ids[i], schema);
  }
}

static void test_variants (void **state) {
  DtCtx *cx = *state;
  DtRegistry *r;
  char name[160];
  assert_int_equal(dt_registry_new(cx, dt_ops, dt_variants, &r), DT_OK);
  for (int i = 0; dt_variants[i].schema; i++) {
    size_t n = strcspn(dt_variants[i].schema, "(");
    if (dt_variants[i].kind == DT_VAR_KNOWN) continue;
    assert_true(n < sizeof name);
    memcpy(name, dt_variants[i].schema, n);
    name[n] = 0;
    const DtOpDef *op = dt_registry_find(cx, r, name);
    if (!op || !op->base) fail_msg("%s is not derived", name);
    assert_string_equal(op->base->sig->full, dt_variants[i].base);
  }
  dt_registry_free(cx, r);
}

int main (void) {
  const struct CMUnitTest tests[] = {
    cmocka_unit_test_setup_teardown(test_selfcheck, setup, teardown),
    cmocka_unit_test_setup_teardown(test_rulings, setup, teardown),
    cmocka_unit_test_setup_teardown(test_refilled, setup, teardown),
    cmocka_unit_test_setup_teardown(test_sorted, setup, teardown),
    cmocka_unit_test(test_names),
    cmocka_unit_test_setup_teardown(test_variants, setup, teardown),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
