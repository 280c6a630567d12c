/* SPDX-License-Identifier: MIT
** parity/read.c: JSON of the reference data to the engine's values.
**
** Everything decoded lives in the arena of the line.  Meshes are few and lines
** are many: they are kept by their text. */
#include "parity/parity_int.h"

#include <math.h>

enum { MAX_TENSORS = 256 };

/* {==== Plain readers ==== */

const char *dt_jstr (const json_t *o, const char *key) {
  return json_string_value(json_object_get(o, key));
}

int64_t dt_jint (const json_t *o, const char *key, int64_t def) {
  const json_t *v = json_object_get(o, key);
  return json_is_integer(v) ? json_integer_value(v) : def;
}

bool dt_jtrue (const json_t *o, const char *key) {
  return json_is_true(json_object_get(o, key));
}

double dt_jnum (const json_t *v) {
  if (json_object_get(v, "nan") != NULL)
    return NAN;
  if (json_is_object(v))
    return (double)dt_jint(v, "inf", 1) * INFINITY;
  return json_number_value(v);
}

int dt_jints (const json_t *a, int64_t *out, int max) {
  int n = (int)json_array_size(a);
  for (int i = 0; i < n && i < max; i++) {
    const json_t *v = json_array_get(a, (size_t)i);
    out[i] = json_is_real(v) ? (int64_t)json_real_value(v)
                             : json_integer_value(v);
  }
  return n < max ? n : max;
}

int dt_jstrs (const json_t *a, const char **out, int max) {
  int n = 0;
  if (json_is_string(a)) {
    out[0] = json_string_value(a);
    return 1;
  }
  for (; n < (int)json_array_size(a) && n < max; n++)
    out[n] = json_string_value(json_array_get(a, (size_t)n));
  return n;
}

/* }==== Placements, meshes, specs ==== */

int dt_jpls (DtParity *p, const json_t *a, DtPlacement *out) {
  int n = (int)json_array_size(a);
  for (int i = 0; i < n && i < DT_MAX_MDIM; i++) {
    const char *s = json_string_value(json_array_get(a, (size_t)i));
    if (s == NULL || dt_pl_parse(p->cx, &s, &out[i]) != DT_OK)
      return -1;
  }
  return n;
}

DtShardOrder *dt_jorder (const json_t *a, DtShardOrder *o) {
  if (!json_is_array(a))
    return NULL;
  o->known = true;
  o->n = (int8_t)json_array_size(a);
  for (int i = 0; i < o->n; i++) {
    int64_t m[DT_MAX_MDIM];
    const json_t *e = json_array_get(a, (size_t)i);
    o->e[i].tdim = (int8_t)json_integer_value(json_array_get(e, 0));
    o->e[i].n = (int8_t)dt_jints(json_array_get(e, 1), m, DT_MAX_MDIM);
    for (int k = 0; k < o->e[i].n; k++)
      o->e[i].mdims[k] = (int8_t)m[k];
  }
  return o;
}

DtMesh *dt_jmesh (DtParity *p, const json_t *line, int rank) {
  const json_t *m = json_object_get(line, "mesh");
  const char *names[DT_MAX_MDIM], *device = dt_jstr(line, "device");
  int64_t shape[DT_MAX_MDIM], world = 1;
  DtMesh *mesh = NULL;
  int n = dt_jints(json_object_get(m, "shape"), shape, DT_MAX_MDIM);
  int k = dt_jstrs(json_object_get(m, "names"), names, DT_MAX_MDIM);
  for (int i = 0; i < n; i++)
    world *= shape[i];
  if (dt_mesh_init_as(p->cx, device != NULL ? device : "cpu", n, shape, n,
                      k == n && k > 0 ? names : NULL, &p->mesh_rules, rank,
                      (int)world, &mesh) != DT_OK)
    dt_buf_addf(&p->why, "mesh: %s", dt_buf_str(&p->cx->err.message));
  return mesh;
}

DtMesh *dt_jmesh_cached (DtParity *p, const json_t *line, int rank) {
  char key[160];
  const json_t *m = json_object_get(line, "mesh");
  const char *names[DT_MAX_MDIM];
  int64_t shape[DT_MAX_MDIM];
  int n = dt_jints(json_object_get(m, "shape"), shape, DT_MAX_MDIM);
  int k = dt_jstrs(json_object_get(m, "names"), names, DT_MAX_MDIM);
  size_t at = (size_t)snprintf(key, sizeof key, "%d", rank);
  for (int i = 0; i < n && at < sizeof key; i++)
    at += (size_t)snprintf(key + at, sizeof key - at, ",%lld",
                           (long long)shape[i]);
  for (int i = 0; i < k && at < sizeof key; i++)
    at += (size_t)snprintf(key + at, sizeof key - at, ",%s", names[i]);
  DtMesh *have = dt_map_get_str(&p->meshes, key);
  if (have != NULL)
    return have;
  have = dt_jmesh(p, line, rank);
  char *own = have != NULL ? dt_strdup(p->cx, key) : NULL;
  if (own == NULL || dt_map_put_str(&p->meshes, own, have) != DT_OK) {
    dt_free(p->cx, own);
    dt_mesh_unref(p->cx, have);
    return NULL;
  }
  return have;
}

bool dt_jmeta (DtParity *p, const json_t *line, DtMeta *m) {
  int64_t shape[DT_MAX_NDIM];
  const char *dt = dt_jstr(line, "dtype");
  int n = dt_jints(json_object_get(line, "shape"), shape, DT_MAX_NDIM);
  return dt_meta_init(p->cx, m, dt_dtype_find(dt != NULL ? dt : "f32"), n,
                      shape) == DT_OK;
}

DtDtype dt_jdtype (const json_t *t) {
  const char *s = dt_jstr(t, "dt");
  if (s == NULL)
    s = dt_jstr(t, "t");
  return s != NULL ? dt_dtype_find(s) : DT_DTYPE_NONE;
}

bool dt_jtensor_meta (DtParity *p, const json_t *t, DtMeta *m) {
  int64_t shape[DT_MAX_NDIM];
  const json_t *stride = json_object_get(t, "stride");
  int n = dt_jints(json_object_get(t, "shape"), shape, DT_MAX_NDIM);
  DtDtype d = dt_jdtype(t);
  if (d == DT_DTYPE_NONE)
    return dt_fails(p, "unknown dtype");
  if (dt_meta_init(p->cx, m, d, n, shape) != DT_OK)
    return dt_no_error(p, DT_E_RUNTIME);
  if (stride != NULL)
    dt_jints(stride, m->stride, DT_MAX_NDIM);
  return true;
}

/* The masks of a MaskP are given beside the placements. */
static bool read_masks (DtParity *p, const json_t *masks, DtPlacement *pl,
                        int n) {
  for (int i = 0; i < n; i++) {
    const json_t *m = json_array_get(masks, (size_t)i);
    int64_t shape[8];
    if (pl[i].kind != DT_PL_MASK_PARTIAL)
      continue;
    pl[i].u.mask = NULL;
    if (json_is_object(m)) {
      int k = dt_jints(json_object_get(m, "shape"), shape, 8);
      pl[i].u.mask = dt_mask_new(p->cx, k, shape,
                                 (int)dt_jint(m, "dim", 0));
      if (pl[i].u.mask == NULL)
        return dt_no_error(p, DT_E_NOMEM);
    }
  }
  return true;
}

DtSpec *dt_jspec (DtParity *p, const json_t *t, DtMesh *mesh) {
  DtPlacement pl[DT_MAX_MDIM];
  DtShardOrder order;
  DtMeta meta;
  DtSpec *s = NULL;
  const json_t *flag = json_object_get(t, "strided_order");
  int n = dt_jpls(p, json_object_get(t, "pl"), pl);
  if (n < 0) {
    (void)dt_no_error(p, DT_E_PARSE);
    return NULL;
  }
  if (!dt_jtensor_meta(p, t, &meta) ||
      !read_masks(p, json_object_get(t, "mask"), pl, n))
    return NULL;
  (void)dt_no_error(p, dt_spec_new(p->cx, mesh, n, pl, &meta,
                                   dt_jorder(json_object_get(t, "order"),
                                             &order),
                                   flag == NULL ? -1 : json_is_true(flag),
                                   &s));
  for (int i = 0; i < n; i++)
    if (pl[i].kind == DT_PL_MASK_PARTIAL && pl[i].u.mask != NULL)
      dt_mask_unref(p->cx, pl[i].u.mask);
  return s;
}

/* }==== Arguments of a call ==== */

static bool add_tensor (DtParity *p, const json_t *v, DtJCall *c,
                        const char *path, DtValue *out) {
  if (c->nin >= c->cap)
    return dt_fails(p, "more than %d tensors", c->cap);
  *out = dt_v_slot(c->nin);
  c->tensor[c->nin] = v;
  c->path[c->nin++] = path;
  return true;
}

static bool read_list (DtParity *p, const json_t *v, DtJCall *c,
                       const char *path, DtValue *out) {
  int n = (int)json_array_size(v);
  DtValue *e = DT_ANEWN(p->cx, &p->arena, DtValue, n > 0 ? n : 1);
  bool ok = e != NULL;
  for (int i = 0; ok && i < n; i++) {
    const json_t *x = json_array_get(v, (size_t)i);
    const char *at = json_is_object(x)
        ? dt_arena_printf(p->cx, &p->arena, "%s[%d]", path, i) : path;
    ok = at != NULL && dt_jvalue(p, x, c, at, &e[i]);
  }
  *out = dt_v_list(n, e);
  return ok;
}

static bool read_object (DtParity *p, const json_t *v, DtJCall *c,
                         const char *path, DtValue *out) {
  const json_t *x;
  if (dt_jis_dist(v) || dt_jis_plain(v))
    return add_tensor(p, v, c, path, out);
  if ((x = json_object_get(v, "dtype")) != NULL)
    *out = dt_v_dtype(dt_dtype_find(json_string_value(x)));
  else if ((x = json_object_get(v, "device")) != NULL)
    *out = dt_v_code(DT_V_DEVICE, dt_device_find(json_string_value(x)));
  else if ((x = json_object_get(v, "layout")) != NULL)
    *out = dt_v_code(DT_V_LAYOUT, dt_layout_find(json_string_value(x)));
  else if ((x = json_object_get(v, "memory_format")) != NULL) {
    char name[64];
    (void)snprintf(name, sizeof name, "%s", json_string_value(x));
    if (dt_memfmt_find(name) == DT_NMEMFMTS)
      (void)snprintf(name, sizeof name, "%s_format", json_string_value(x));
    *out = dt_v_code(DT_V_MEMFMT, dt_memfmt_find(name));
  }
  else if ((x = json_object_get(v, "c")) != NULL)
    *out = dt_v_complex(dt_jnum(json_array_get(x, 0)),
                        dt_jnum(json_array_get(x, 1)));
  else if (json_object_get(v, "inf") != NULL ||
           json_object_get(v, "nan") != NULL)
    *out = dt_v_float(dt_jnum(v));
  else
    return dt_fails(p, "an argument of unknown kind");
  return true;
}

bool dt_jvalue (DtParity *p, const json_t *v, DtJCall *c, const char *path,
                DtValue *out) {
  switch (json_typeof(v)) {
    case JSON_NULL: *out = dt_v_none(); return true;
    case JSON_TRUE: *out = dt_v_bool(true); return true;
    case JSON_FALSE: *out = dt_v_bool(false); return true;
    case JSON_INTEGER: *out = dt_v_int(json_integer_value(v)); return true;
    case JSON_REAL: *out = dt_v_float(json_real_value(v)); return true;
    case JSON_STRING: *out = dt_v_str(json_string_value(v)); return true;
    case JSON_ARRAY: return read_list(p, v, c, path, out);
    default: return read_object(p, v, c, path, out);
  }
}

/* The values as written: positional ones, then the keywords in the schema's
** order, because slots are numbered so. */
typedef struct Given {
  int npos, nkw;
  DtValue pos[DT_MAX_ARGS], kw[DT_MAX_ARGS];
  const char *name[DT_MAX_ARGS];
} Given;

static bool read_kw (DtParity *p, const char *name, const json_t *v,
                     DtJCall *c, Given *g) {
  const char *path = dt_arena_printf(p->cx, &p->arena, "kw.%s", name);
  if (g->nkw >= DT_MAX_ARGS || path == NULL)
    return dt_fails(p, "too many arguments");
  g->name[g->nkw] = name;
  return dt_jvalue(p, v, c, path, &g->kw[g->nkw++]);
}

static bool read_given (DtParity *p, const json_t *line, const DtSchema *sig,
                        DtJCall *c, Given *g) {
  const json_t *args = json_object_get(line, "args");
  json_t *kw = json_object_get(line, "kw"), *v;
  const char *name;
  bool ok = true;
  memset(c, 0, sizeof *c);
  g->npos = (int)json_array_size(args);
  g->nkw = 0;
  c->cap = MAX_TENSORS;
  c->tensor = DT_ANEWN(p->cx, &p->arena, const json_t *, MAX_TENSORS);
  c->path = DT_ANEWN(p->cx, &p->arena, const char *, MAX_TENSORS);
  if (c->tensor == NULL || c->path == NULL || g->npos > DT_MAX_ARGS)
    return dt_fails(p, "too many arguments");
  for (int i = 0; ok && i < g->npos; i++) {
    const char *path = dt_arena_printf(p->cx, &p->arena, "args[%d]", i);
    ok = path != NULL && dt_jvalue(p, json_array_get(args, (size_t)i), c,
                                   path, &g->pos[i]);
  }
  for (int i = 0; ok && kw != NULL && sig != NULL && i < sig->nargs; i++)
    if ((v = json_object_get(kw, sig->arg[i].name)) != NULL)
      ok = read_kw(p, sig->arg[i].name, v, c, g);
  json_object_foreach(kw, name, v)
    if (ok && (sig == NULL || dt_schema_arg(sig, name) < 0))
      ok = read_kw(p, name, v, c, g);
  return ok;
}

DtStatus dt_jcall (DtParity *p, const json_t *line, const DtOpDef *op,
                   DtJCall *c) {
  Given g;
  if (!read_given(p, line, op->sig, c, &g))
    return dt_raise(p->cx, DT_E_INTERNAL, "the line cannot be read");
  c->op = op;
  return dt_schema_bind(p->cx, op->sig, &(DtGiven){ g.npos, g.pos, g.nkw, g.name,
                                                    g.kw }, &c->args);
}

DtStatus dt_jcall_packet (DtParity *p, const json_t *line,
                          const DtPacket *packet, DtJCall *c) {
  Given g;
  if (!read_given(p, line, NULL, c, &g))
    return dt_raise(p->cx, DT_E_INTERNAL, "the line cannot be read");
  return dt_packet_resolve(p->cx, packet, &(DtGiven){ g.npos, g.pos, g.nkw, g.name,
                                                      g.kw }, &c->op, &c->args);
}

/* }==== */
