/* SPDX-License-Identifier: MIT
** tests/unit/parity.h: run a file of reference lines through a checker and
** count.  One JSON object a line; a checker returns true when our answer is
** the line's, else leaves the reason in p->why.  Header only, so that any
** test binary can include it.  The data lies in DT_PARITY_DIR or
** tests/parity/2.13. */
#ifndef DT_TESTS_PARITY_H
#define DT_TESTS_PARITY_H

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "mesh/layout.h"

enum { PARITY_SHOW = 12 };      /* failures printed per file */

typedef struct Parity {
  DtCtx *cx;
  int pass, fail, skip;         /* skip: nothing in the line is ours */
  bool skipped;                 /* set by a checker, for this line */
  DtBuf why;
} Parity;

typedef bool (*ParityFn) (Parity *p, const json_t *line);

static inline const char *parity_dir (void) {
  const char *dir = getenv("DT_PARITY_DIR");
  return dir != NULL ? dir : "tests/parity/2.13";
}

/* Check every line of <dir>/<name>; returns the number of failures, -1 when
** the file cannot be read. */
static inline int parity_file (Parity *p, const char *name, ParityFn fn) {
  char path[512], *line = NULL;
  size_t cap = 0;
  (void)snprintf(path, sizeof path, "%s/%s", parity_dir(), name);
  FILE *f = fopen(path, "r");
  p->pass = p->fail = p->skip = 0;
  if (f == NULL) {
    (void)fprintf(stderr, "cannot read %s\n", path);
    return -1;
  }
  while (getline(&line, &cap, f) >= 0) {
    json_error_t e;
    json_t *o = json_loads(line, JSON_DECODE_ANY, &e);
    dt_buf_clear(&p->why);
    dt_error_clear(p->cx);
    p->skipped = false;
    bool ok = o != NULL && fn(p, o);
    if (p->skipped)
      p->skip++;
    else if (ok)
      p->pass++;
    else if (++p->fail <= PARITY_SHOW)
      (void)fprintf(stderr, "%s: %s\n",
                    o != NULL ? json_string_value(json_object_get(o, "id"))
                              : path,
                    o != NULL ? dt_buf_str(&p->why) : e.text);
    json_decref(o);
  }
  free(line);
  (void)fclose(f);
  (void)fprintf(stderr, "%s: %d pass, %d fail, %d skip\n", name, p->pass,
                p->fail, p->skip);
  return p->fail;
}

static inline void parity_init (Parity *p, DtCtx *cx) {
  memset(p, 0, sizeof *p);
  p->cx = cx;
  dt_buf_init(&p->why, cx);
}

static inline void parity_fini (Parity *p) {
  dt_buf_fini(&p->why);
}

/* A file and who checks its lines. */
typedef struct ParitySuite {
  const char *file;
  ParityFn fn;
} ParitySuite;

/* Run suites; lines that failed, an unreadable or empty file counting one. */
static inline int parity_suites (DtCtx *cx, const ParitySuite *s, int n) {
  int failed = 0;
  for (int i = 0; i < n; i++) {
    Parity p;
    parity_init(&p, cx);
    int f = parity_file(&p, s[i].file, s[i].fn);
    failed += f != 0 ? (f < 0 ? 1 : f) : p.pass == 0;
    parity_fini(&p);
  }
  return failed;
}

/* {==== Reading ==== */

static inline const char *jstr (const json_t *o, const char *key) {
  return json_string_value(json_object_get(o, key));
}

static inline int64_t jint (const json_t *o, const char *key, int64_t def) {
  const json_t *v = json_object_get(o, key);
  return json_is_integer(v) ? json_integer_value(v) : def;
}

/* A number, or {"inf":1}. */
static inline double jnum (const json_t *v) {
  if (json_is_object(v))
    return (double)jint(v, "inf", 1) * INFINITY;
  return json_number_value(v);
}

static inline int jints (const json_t *a, int64_t *out, int max) {
  int n = (int)json_array_size(a);
  for (int i = 0; i < n && i < max; i++) {
    const json_t *v = json_array_get(a, (size_t)i);
    out[i] = json_is_real(v) ? (int64_t)json_real_value(v)
                             : json_integer_value(v);
  }
  return n < max ? n : max;
}

static inline int jstrs (const json_t *a, const char **out, int max) {
  int n = 0;
  if (json_is_string(a)) {
    out[0] = json_string_value(a);
    return 1;
  }
  for (; n < (int)json_array_size(a) && n < max; n++)
    out[n] = json_string_value(json_array_get(a, (size_t)n));
  return n;
}

static inline int jpls (Parity *p, const json_t *a, DtPlacement *out) {
  int n = (int)json_array_size(a);
  for (int i = 0; i < n && i < DT_MAX_MDIM; i++) {
    const char *s = json_string_value(json_array_get(a, (size_t)i));
    if (s == NULL || dt_pl_parse(p->cx, &s, &out[i]) != DT_OK)
      return -1;
  }
  return n;
}

static inline DtShardOrder *jorder (const json_t *a, DtShardOrder *o) {
  if (!json_is_array(a))
    return NULL;
  o->known = true;
  o->n = (int8_t)json_array_size(a);
  for (int i = 0; i < o->n; i++) {
    int64_t m[DT_MAX_MDIM];
    const json_t *e = json_array_get(a, (size_t)i);
    o->e[i].tdim = (int8_t)json_integer_value(json_array_get(e, 0));
    o->e[i].n = (int8_t)jints(json_array_get(e, 1), m, DT_MAX_MDIM);
    for (int k = 0; k < o->e[i].n; k++)
      o->e[i].mdims[k] = (int8_t)m[k];
  }
  return o;
}

/* The mesh of a line as `rank` sees it; NULL on failure. */
static inline DtMesh *jmesh (Parity *p, const json_t *line, int rank) {
  const json_t *m = json_object_get(line, "mesh");
  const char *names[DT_MAX_MDIM], *device = jstr(line, "device");
  int64_t shape[DT_MAX_MDIM], world = 1;
  DtMesh *mesh = NULL;
  int n = jints(json_object_get(m, "shape"), shape, DT_MAX_MDIM);
  int k = jstrs(json_object_get(m, "names"), names, DT_MAX_MDIM);
  for (int i = 0; i < n; i++)
    world *= shape[i];
  if (dt_mesh_init(p->cx, device != NULL ? device : "cpu", n, shape,
                   k == n && k > 0 ? names : NULL, rank, (int)world,
                   &mesh) != DT_OK)
    dt_buf_addf(&p->why, "mesh: %s", dt_buf_str(&p->cx->err.message));
  return mesh;
}

static inline bool jmeta (Parity *p, const json_t *line, DtMeta *m) {
  int64_t shape[DT_MAX_NDIM];
  const char *dt = jstr(line, "dtype");
  int n = jints(json_object_get(line, "shape"), shape, DT_MAX_NDIM);
  return dt_meta_init(p->cx, m, dt_dtype_find(dt != NULL ? dt : "f32"), n,
                      shape) == DT_OK;
}

/* }==== Comparing ==== */

static inline bool same_ints (Parity *p, const char *what, const json_t *want,
                              const int64_t *got, int n) {
  bool ok = (int)json_array_size(want) == n;
  for (int i = 0; ok && i < n; i++)
    ok = json_integer_value(json_array_get(want, (size_t)i)) == got[i];
  if (!ok) {
    char *s = json_dumps(want, JSON_COMPACT | JSON_ENCODE_ANY);
    dt_buf_addf(&p->why, "%s: want %s, got ", what, s);
    dt_buf_add_i64s(&p->why, got, n);
    free(s);
  }
  return ok;
}

static inline bool same_text (Parity *p, const char *what, const char *want,
                              const char *got) {
  if (want != NULL && strcmp(want, got) == 0)
    return true;
  dt_buf_addf(&p->why, "%s: want %s, got %s", what, want, got);
  return false;
}

static inline bool same_num (Parity *p, const char *what, const json_t *want,
                             double got) {
  double w = jnum(want);
  if (!(w < got) && !(w > got))
    return true;
  dt_buf_addf(&p->why, "%s: want %.17g, got %.17g", what, w, got);
  return false;
}

static inline bool same_flag (Parity *p, const char *what, bool want,
                              bool got) {
  if (want == got)
    return true;
  dt_buf_addf(&p->why, "%s: want %d, got %d", what, want, got);
  return false;
}

/* The pending error is the line's {"class","text"}. */
static inline bool same_error (Parity *p, const json_t *want, DtStatus st) {
  const char *cls = jstr(want, "class"), *text = jstr(want, "text");
  const DtError *e = &p->cx->err;
  if (st == DT_OK) {
    dt_buf_addf(&p->why, "no error, want %s: %s", cls, text);
    return false;
  }
  bool ok = strcmp(cls, e->pyclass) == 0 &&
            strcmp(text, dt_buf_str(&e->message)) == 0;
  if (!ok)
    dt_buf_addf(&p->why, "want %s: %s, got %s: %s", cls, text, e->pyclass,
                dt_buf_str(&e->message));
  return ok;
}

static inline bool no_error (Parity *p, DtStatus st) {
  if (st != DT_OK)
    dt_buf_addf(&p->why, "error %s: %s", p->cx->err.pyclass,
                dt_buf_str(&p->cx->err.message));
  return st == DT_OK;
}

static inline bool same_pls (Parity *p, const char *what, const json_t *want,
                             const DtPlacement *pl, int n) {
  DtBuf b;
  bool ok = (int)json_array_size(want) == n;
  dt_buf_init(&b, p->cx);
  for (int i = 0; ok && i < n; i++) {
    dt_buf_clear(&b);
    dt_pl_print(pl[i], &b);
    ok = same_text(p, what, json_string_value(json_array_get(want, (size_t)i)),
                   dt_buf_str(&b));
  }
  dt_buf_fini(&b);
  return ok;
}

static inline bool same_order (Parity *p, const char *what,
                               const json_t *want, const DtShardOrder *got) {
  DtShardOrder o;
  if (!json_is_array(want))
    return same_flag(p, what, false, got->known);
  if (dt_order_equal(jorder(want, &o), got))
    return true;
  dt_buf_addf(&p->why, "%s differs", what);
  return false;
}

/* }==== */

#endif
