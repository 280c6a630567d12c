/* SPDX-License-Identifier: MIT
** parity/release.c: slicing of meshes by release against
** seeds/submesh_by_release.jsonl, and the slicing program of
** seeds/seed3.jsonl.  The lines hold Python expressions: a reader for the few
** forms they have. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include "parity/mesh_int.h"
#include "compat/profile.h"

/* {==== Reading expressions ==== */

/* A reader for the few Python expressions of these files. */
typedef struct Expr {
  DtParity *p;
  const char *s;
  DtMeshRules rules;
  int rank;
  DtMesh *m;
  DtBuf warning;
} Expr;

static bool take (Expr *e, const char *word) {
  size_t n = strlen(word);
  while (*e->s == ' ' || *e->s == ',')
    e->s++;
  if (strncmp(e->s, word, n) != 0)
    return false;
  e->s += n;
  return true;
}

/* 'a','b' up to a closing bracket; the texts go to `buf`. */
static int take_names (Expr *e, char buf[][16], const char **names) {
  int n = 0;
  while (take(e, "'") && n < DT_MAX_MDIM) {
    int k = 0;
    for (; *e->s != '\'' && *e->s != 0 && k < 15; e->s++)
      buf[n][k++] = *e->s;
    buf[n][k] = 0;
    e->s++;
    names[n] = buf[n];
    n++;
  }
  return n;
}

static int take_ints (Expr *e, int64_t *out) {
  int n = 0;
  while (take(e, "") && isdigit((unsigned char)*e->s)) {
    out[n++] = *e->s - '0';
    e->s++;
  }
  return n;
}

static DtStatus expr_base (Expr *e) {
  static const char *const ao[] = { "ddp", "fsdp", "abcd" };
  static const int64_t s222[] = { 2, 2, 2 }, s42[] = { 4, 2 };
  char device[1][16], buf[DT_MAX_MDIM][16];
  const char *dev[1], *names[DT_MAX_MDIM];
  int64_t shape[DT_MAX_MDIM];
  if (take(e, "mesh2"))
    return dt_mesh_init_as(e->p->cx, "cpu", 2, s42, 2, ao, &e->rules, e->rank,
                           8, &e->m);
  if (take(e, "mesh"))
    return dt_mesh_init_as(e->p->cx, "cpu", 3, s222, 3, ao, &e->rules,
                           e->rank, 8, &e->m);
  if (!take(e, "init_device_mesh("))
    return dt_raise(e->p->cx, DT_E_INTERNAL, "cannot read %s", e->s);
  (void)take(e, "'");
  e->s--;
  (void)take_names(e, device, dev);
  (void)take(e, "(");
  int n = take_ints(e, shape), k = 0;
  (void)take(e, ")");
  if (take(e, "mesh_dim_names=(")) {
    k = take_names(e, buf, names);
    (void)take(e, ")");
  }
  (void)take(e, ")");
  return dt_mesh_init_as(e->p->cx, dev[0], n, shape, k,
                         k > 0 ? names : NULL, &e->rules, e->rank, 8, &e->m);
}

static DtStatus expr_step (Expr *e) {
  char buf[DT_MAX_MDIM][16];
  const char *names[DT_MAX_MDIM];
  const DtMesh *gm = NULL;
  DtMesh *out = NULL;
  DtCtx *cx = e->p->cx;
  int n, d = 0;
  if (take(e, "[")) {
    n = take_names(e, buf, names);
    (void)take(e, "]");
    DT_TRY(cx, dt_mesh_slice(cx, e->m, n, names, &e->rules, &e->warning,
                             &out));
  }
  else if (take(e, "._flatten(")) {
    n = take_names(e, buf, names);
    (void)take(e, ")");
    DT_TRY(cx, dt_mesh_flatten_as(cx, e->m, n > 0 ? names[0] : NULL,
                                  &e->rules, &out));
  }
  else {
    bool local = take(e, ".get_local_rank(");
    if (!local && !take(e, ".get_group("))
      return dt_raise(cx, DT_E_INTERNAL, "cannot read %s", e->s);
    n = take_names(e, buf, names);
    (void)take(e, ")");
    DT_TRY(cx, dt_mesh_group_dim(cx, e->m, n > 0 ? names[0] : NULL, NULL,
                                 local, &gm, &d));
    return DT_OK;
  }
  dt_mesh_unref(cx, e->m);
  e->m = out;
  return DT_OK;
}

static DtStatus expr_run (Expr *e, const char *text) {
  bool repr;
  e->s = text;
  repr = take(e, "repr(");
  DtStatus st = expr_base(e);
  while (st == DT_OK && *e->s != 0 && !(repr && strcmp(e->s, ")") == 0))
    st = expr_step(e);
  return st;
}

/* "2.10" to the rules that compat gives to it, and the context's words to that
** release; of an unknown one: the newest rules. */
static DtMeshRules follow (DtParity *p, const char *release) {
  DtProfile profile;
  if (dt_profile_init(p->cx, &profile, release, NULL) != DT_OK) {
    dt_error_clear(p->cx);
    return (DtMeshRules){ 0 };
  }
  p->cx->release = profile.release;
  return dt_mesh_rules(&profile);
}

static void expr_init (Expr *e, DtParity *p, DtMeshRules rules, int rank) {
  memset(e, 0, sizeof *e);
  e->p = p;
  e->rules = rules;
  e->rank = rank;
  dt_buf_init(&e->warning, p->cx);
}

static void expr_fini (Expr *e) {
  dt_mesh_unref(e->p->cx, e->m);
  dt_buf_fini(&e->warning);
}

bool dt_check_release (DtParity *p, const json_t *o) {
  const char *text = dt_jstr(o, "expr"), *want = dt_jstr(o, "ok");
  const json_t *warn = json_object_get(o, "warns");
  const int before = p->cx->release;
  Expr e;
  if (strstr(text, "_init_backend") != NULL) {
    p->skipped = true;          /* a mesh without groups cannot be made */
    return true;
  }
  expr_init(&e, p, follow(p, dt_jstr(o, "release")), 0);
  DtStatus st = expr_run(&e, text);
  bool ok = want != NULL
            ? dt_no_error(p, st) && dt_same_repr(p, want, e.m)
            : dt_same_error(p, json_object_get(o, "raises"), st);
  if (ok)
    ok = dt_same_text(p, "warning", json_array_size(warn) > 0
                   ? json_string_value(json_array_get(warn, 0)) : "",
                   dt_buf_str(&e.warning));
  expr_fini(&e);
  p->cx->release = before;
  return ok;
}

/* seed3.jsonl, program 0: slices as each rank sees them.  Two steps need the
** mesh that an earlier step flattened. */
static bool seed_rank (DtParity *p, const json_t *o, int rank) {
  const json_t *raises = json_object_get(o, "raises");
  const json_t *want = json_object_get(json_array_get(
      json_object_get(o, "per_rank"), (size_t)rank), "mesh");
  const char *step = dt_jstr(o, "step"), *dp[1] = { "dp" };
  const char *two[2] = { "dp", "abcd" };
  DtMesh *sub = NULL;
  Expr e;
  dt_error_clear(p->cx);
  expr_init(&e, p, follow(p, DT_BASE_RELEASE_NAME), rank);
  bool again = strstr(step, "after that") != NULL;
  bool both = strcmp(step, "mesh['dp','abcd']") == 0;
  DtStatus st = expr_run(&e, again || both
                             ? "mesh['ddp','fsdp']._flatten('dp')" : step);
  if (st == DT_OK && (again || both)) {
    st = dt_mesh_slice(p->cx, e.m->root, both ? 2 : 1, both ? two : dp,
                       &e.rules, NULL, &sub);
    dt_mesh_unref(p->cx, e.m);
    e.m = sub;
  }
  bool ok = raises != NULL ? dt_same_error(p, raises, st)
      : dt_no_error(p, st) &&
        dt_same_repr(p, dt_jstr(want, "repr"), e.m) &&
        dt_same_ints(p, "shape", json_object_get(want, "shape"), e.m->shape,
                  e.m->ndim) &&
        dt_same_names(p, json_object_get(want, "names"), e.m) &&
        dt_same_ranks(p, json_object_get(want, "ranks"), e.m) &&
        dt_same_coord(p, json_object_get(want, "coordinate"), e.m);
  expr_fini(&e);
  return ok;
}

bool dt_check_seed (DtParity *p, const json_t *o) {
  const int before = p->cx->release;
  bool ok = true;
  if (strncmp(dt_jstr(o, "id"), "seed3/00/", 9) != 0) {
    p->skipped = true;
    return true;
  }
  for (int r = 0; ok && r < 8; r++)
    ok = seed_rank(p, o, r);
  p->cx->release = before;
  return ok;
}

/* }==== */
