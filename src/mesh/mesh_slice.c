/* SPDX-License-Identifier: MIT
** mesh/mesh_slice.c: meshes made of meshes: slicing, flattening, unflattening,
** concatenation, and names to dims.
**
** Every derived mesh shares its root's rank map and differs only in its axes.
** What releases 2.4 to 2.9 refused or worded otherwise follows DtMeshRules.
** Facts: torch/distributed/device_mesh.py, PyTorch 2.13, and the observed
** behaviour of each release. */
#include <string.h>
#include "base/error_shard.h"
#include "compat/text.h"
#include "mesh/mesh_int.h"

static DtMesh *root_of (DtMesh *m) {
  return m->root != NULL ? m->root : m;
}

static bool is_named (const DtMesh *m) {
  return m->ndim > 0 && m->name[0] != NULL;
}

static const char *const *names_of (const DtMesh *m) {
  return (const char *const *)m->name;
}

int dt_mesh_own_name (const DtMesh *m, const char *name) {
  for (int i = 0; i < m->ndim; i++)
    if (m->name[i] != NULL && strcmp(m->name[i], name) == 0)
      return i;
  return -1;
}

DtMesh *dt_mesh_flat_named (const DtMesh *root, const char *name) {
  for (int i = 0; root->flat != NULL && i < root->flat->n; i++)
    if (strcmp(root->flat->mesh[i]->name[0], name) == 0)
      return root->flat->mesh[i];
  return NULL;
}

/* Raise the text of `b` (as Python prints a KeyError: quoted) and free it. */
static DtStatus raise_buf (DtCtx *cx, DtStatus code, DtBuf *b) {
  DtStatus st;
  if (code == DT_E_KEY) {
    DtBuf q;
    dt_buf_init(&q, cx);
    dt_buf_add_pystr(&q, dt_buf_str(b));
    st = dt_raise(cx, code, "%s", dt_buf_str(&q));
    dt_buf_fini(&q);
  }
  else
    st = dt_raise(cx, code, "%s", dt_buf_str(b));
  dt_buf_fini(b);
  return st;
}

/* {==== Names to dims ==== */

DtStatus dt_mesh_dim (DtCtx *cx, const DtMesh *m, const char *name,
                      int *out) {
  DtBuf b, t;
  DT_CHECK(cx, is_named(m), DT_E_KEY, "'No `mesh_dim_names` found.'");
  int i = dt_mesh_own_name(m, name);
  if (i >= 0) {
    *out = i;
    return DT_OK;
  }
  /* a tuple of two strings */
  dt_buf_init(&b, cx);
  dt_buf_init(&t, cx);
  dt_buf_addf(&t, "Mesh dimension '%s' does not exist.", name);
  dt_buf_addc(&b, '(');
  dt_buf_add_pystr(&b, dt_buf_str(&t));
  dt_buf_clear(&t);
  dt_buf_add(&t, "Available mesh dimensions are: mesh_dim_names=");
  dt_buf_add_pynames(&t, names_of(m), m->ndim, false);
  dt_buf_add(&b, ", ");
  dt_buf_add_pystr(&b, dt_buf_str(&t));
  dt_buf_addc(&b, ')');
  DtStatus st = dt_raise(cx, DT_E_KEY, "%s", dt_buf_str(&b));
  dt_buf_fini(&t);
  dt_buf_fini(&b);
  return st;
}

DtStatus dt_mesh_group_dim (DtCtx *cx, const DtMesh *m, const char *name,
                            const int *mdim, bool local_rank,
                            const DtMesh **gm, int *gdim) {
  int i = 0;
  bool given = name != NULL || mdim != NULL;
  DT_CHECK(cx, given || m->ndim <= 1 || local_rank, DT_E_RUNTIME,
           "('Found the DeviceMesh have %d dimensions', 'Optional kwarg "
           "`mesh_dim` needs to be specified when device_mesh.ndim > 1.', 'If "
           "you want to get the list of all the ProcessGroups in the "
           "DeviceMesh,please use `get_all_groups()` instead.')", m->ndim);
  DT_CHECK(cx, given || m->ndim <= 1, DT_E_RUNTIME,
           "('Found the DeviceMesh have %d dimensions', 'Optional kwarg "
           "`mesh_dim` needs to be specified when device_mesh.ndim > 1.')",
           m->ndim);
  DtMesh *flat = name != NULL ? dt_mesh_flat_named(dt_mesh_root(m), name)
                              : NULL;
  if (flat != NULL)
    m = flat;
  else if (name != NULL)
    DT_TRY(cx, dt_mesh_dim(cx, m, name, &i));
  else if (mdim != NULL)
    i = *mdim < 0 ? *mdim + m->ndim : *mdim;
  DT_CHECK(cx, m->member && i >= 0 && i < m->ndim, DT_E_INDEX,
           "list index out of range");
  *gm = m;
  *gdim = i;
  return DT_OK;
}

/* }==== Slicing ==== */

typedef struct Slice {
  DtMesh *mesh;
  int n;
  const char *const *names;
  const DtMeshRules *rules;
  DtAxis axis[DT_MAX_MDIM];
  int flat_of[DT_MAX_MDIM];     /* 1: the name of a flattened mesh */
} Slice;

static DtStatus bad_slice (DtCtx *cx, const Slice *s, const char *why) {
  DtBuf b;
  dt_buf_init(&b, cx);
  dt_buf_add(&b, "Invalid mesh_dim_names ");
  dt_buf_add_pynames(&b, s->names, s->n, false);
  dt_buf_add(&b, " specified. ");
  dt_buf_add(&b, why);
  return raise_buf(cx, DT_E_KEY, &b);
}

static DtStatus unknown_name (DtCtx *cx, const Slice *s, bool from_root) {
  const DtMeshFlat *f = dt_mesh_root(s->mesh)->flat;
  DtBuf b;
  dt_buf_init(&b, cx);
  dt_buf_add(&b, "Valid mesh_dim_names are [");
  for (int i = 0; i < s->mesh->ndim; i++) {
    dt_buf_add(&b, i > 0 ? ", " : "");
    dt_buf_add_pystr(&b, s->mesh->name[i]);
  }
  for (int i = 0; from_root && f != NULL && i < f->n; i++) {
    dt_buf_add(&b, ", ");
    dt_buf_add_pystr(&b, f->mesh[i]->name[0]);
  }
  dt_buf_add(&b, "].");
  DtStatus st = bad_slice(cx, s, dt_buf_str(&b));
  dt_buf_fini(&b);
  return st;
}

/* Release 2.4: names must follow each other in the mesh, as far as its own
** (short) comparison looks. */
static DtStatus check_contiguous (DtCtx *cx, const Slice *s) {
  const DtMesh *m = s->mesh;
  bool ok = s->n <= m->ndim;
  for (int i = 0; ok && i < s->n; i++)
    ok = dt_mesh_own_name(m, s->names[i]) >= 0;
  int first = ok && s->n > 0 ? dt_mesh_own_name(m, s->names[0]) : 0;
  for (int i = 0; ok && first + i < s->n; i++)
    ok = strcmp(s->names[i], m->name[first + i]) == 0;
  if (ok)
    return DT_OK;
  DtBuf b;
  dt_buf_init(&b, cx);
  dt_buf_add(&b, "Invalid mesh_dim_name ");
  dt_buf_add_pynames(&b, s->names, s->n, false);
  dt_buf_add(&b, " specified. Valid mesh_dim_names should be a contiguous "
             "subsequence of ");
  dt_buf_add_pynames(&b, names_of(m), m->ndim, false);
  dt_buf_addc(&b, '.');
  return raise_buf(cx, DT_E_KEY, &b);
}

/* Names are looked up in the mesh itself; names of flattened meshes only
** count when the root is sliced. Warnings are collected for the caller: one
** rank prints them.  All names are checked before the first warning is
** written: a slice that is refused warns of nothing. */
static DtStatus find_axes (DtCtx *cx, Slice *s, DtBuf *warning) {
  DtMesh *m = s->mesh;
  const DtMesh *root = root_of(m);
  bool from_root = dt_mesh_equal(m, root);
  for (int i = 0; i < s->n; i++)
    if (dt_mesh_own_name(m, s->names[i]) < 0 &&
        (!from_root || dt_mesh_flat_named(root, s->names[i]) == NULL))
      return unknown_name(cx, s, from_root);
  for (int i = 0; i < s->n; i++) {
    int own = dt_mesh_own_name(m, s->names[i]);
    s->flat_of[i] = own < 0;
    if (own >= 0) {
      s->axis[i] = m->axis[own];
      continue;
    }
    s->axis[i] = dt_mesh_flat_named(root, s->names[i])->axis[0];
    if (warning != NULL && dt_mesh_style(s->rules) >= DT_MESH_COLONS)
      dt_buf_addf(warning, "%sSlicing a flattened dim from root mesh will be "
                  "deprecated in PT 2.11. Users need to bookkeep the "
                  "flattened mesh directly. ", warning->len > 0 ? "\n" : "");
  }
  return DT_OK;
}

/* The dims of `m` that the i-th name of a slice stands for, ascending. */
static int dims_of (const Slice *s, int i, int *dims) {
  const DtMesh *m = s->mesh;
  int n = 0;
  if (!s->flat_of[i]) {
    dims[0] = dt_mesh_own_name(m, s->names[i]);
    return 1;
  }
  for (int d = 0; d < m->ndim; d++)
    for (int k = 0; m->axis[d].n > 0 && k < s->axis[i].n; k++) {
      int64_t in = m->axis[d].stride[0], a = s->axis[i].stride[k];
      if (in >= a && in < a * s->axis[i].size[k])
        dims[n++] = d;
    }
  return n;
}

/* Releases 2.5 to 2.9 compare dim numbers. */
static DtStatus check_numbers (DtCtx *cx, const Slice *s) {
  int dims[DT_MAX_MDIM], prev = -1, n;
  bool ok = true;
  for (int i = 0; ok && i < s->n; i++) {
    n = dims_of(s, i, dims);
    ok = n == 0 || dims[0] > prev;
    prev = n > 0 ? dims[n - 1] : prev;
  }
  if (ok)
    return DT_OK;
  DtBuf b;
  dt_buf_init(&b, cx);
  for (int i = 0; i < s->n; i++) {
    int64_t wide[DT_MAX_MDIM];
    n = dims_of(s, i, dims);
    for (int k = 0; k < n; k++)
      wide[k] = dims[k];
    dt_buf_add(&b, i > 0 ? ", " : "Found mesh dim indices to slice: [");
    dt_buf_add_tuple(&b, wide, n);
  }
  if (dt_mesh_style(s->rules) == DT_MESH_COLONS) {
    dt_buf_add(&b, "]. Mesh dim indices should be in ascending order.");
    DtStatus st = bad_slice(cx, s, dt_buf_str(&b));
    dt_buf_fini(&b);
    return st;
  }
  DtBuf t;
  dt_buf_init(&t, cx);
  dt_buf_add(&t, "Invalid mesh_dim_names ");
  dt_buf_add_pynames(&t, s->names, s->n, false);
  dt_buf_add(&t, " specified. ");
  DtStatus st = dt_raise(cx, DT_E_KEY, "(\"%s\", '%s]. ', 'Mesh dim indices "
                         "should be in ascending order.')", dt_buf_str(&t),
                         dt_buf_str(&b));
  dt_buf_fini(&t);
  dt_buf_fini(&b);
  return st;
}

static DtStatus check_layout (DtCtx *cx, const Slice *s) {
  DtFlat f;
  DtBuf b;
  dt_flat_collapse(s->axis, s->n, &f);
  if (!dt_flat_sorted(&f))
    return bad_slice(cx, s, "Mesh dim indices should be in ascending order.");
  if (dt_flat_orthogonal(&f))
    return DT_OK;
  dt_buf_init(&b, cx);
  dt_buf_add(&b, "Slicing overlapping dim_names ");
  dt_buf_add_pynames(&b, s->names, s->n, false);
  dt_buf_add(&b, " is not allowed.");
  return raise_buf(cx, DT_E_MESH, &b);
}

/* Strides of the mesh tensor as releases before 2.10 made it: the dims left
** out are moved to the front and merged; when they cannot be, it is a copy. */
static void slice_strides (const DtMesh *m, const Slice *s, DtMesh *sub) {
  int64_t prev_stride = 0;
  bool view = true, any = false;
  for (int d = m->ndim - 1; d >= 0; d--) {
    bool taken = false;
    for (int i = 0; i < s->n; i++)
      taken = taken || (!s->flat_of[i] &&
                        dt_mesh_own_name(m, s->names[i]) == d);
    if (taken || m->shape[d] == 1)
      continue;
    if (any && m->tstride[d] != prev_stride)
      view = false;
    any = true;
    prev_stride = m->tstride[d] * m->shape[d];
  }
  for (int i = 0; view && i < s->n; i++)
    if (!s->flat_of[i])
      sub->tstride[i] = m->tstride[dt_mesh_own_name(m, s->names[i])];
}

/* What a release says before it looks at the names. */
static DtStatus check_submesh (DtCtx *cx, const Slice *s, DtBuf *warning) {
  if (s->rules == NULL || dt_mesh_equal(s->mesh, root_of(s->mesh)))
    return DT_OK;
  DT_CHECK(cx, !s->rules->submesh_refused, DT_E_SUBMESH,
           "Cannot create a submesh from a submesh.");
  if (s->rules->submesh_warns && warning != NULL)
    dt_buf_addf(warning, "%sYou are attempting to slice a submesh from another "
                "submesh. While we support this operation, it is users' "
                "responsibility to ensure that the submesh is consistently "
                "sliced across all ranks. If not, this may result in some "
                "ranks receiving the submesh while others encounter errors.",
                warning->len > 0 ? "\n" : "");
  return DT_OK;
}

/* All names in their own order give the mesh itself, not an equal one, as
** __getitem__ does (device_mesh.py@2.15); programs compare with `is`. */
DtStatus dt_mesh_slice (DtCtx *cx, DtMesh *m, int n, const char *const *names,
                        const DtMeshRules *rules, DtBuf *warning,
                        DtMesh **out) {
  Slice s;
  DtMeshStyle style = dt_mesh_style(rules);
  bool all = n == m->ndim;
  DT_CHECK(cx, is_named(m), DT_E_MESH,
           "Cannot slice a DeviceMesh without mesh_dim_names!");
  for (int i = 0; all && i < n; i++)
    all = m->name[i] != NULL && strcmp(names[i], m->name[i]) == 0;
  if (all) {
    *out = dt_mesh_ref(m);
    return DT_OK;
  }
  DT_CHECK(cx, n <= DT_MAX_MDIM, DT_E_LIMIT,
           "a mesh has at most %d dimensions", DT_MAX_MDIM);
  s.mesh = m;
  s.n = n;
  s.names = names;
  s.rules = rules;
  if (style == DT_MESH_RANKS)
    DT_TRY(cx, check_contiguous(cx, &s));
  else
    DT_TRY(cx, check_submesh(cx, &s, warning));
  DT_TRY(cx, find_axes(cx, &s, warning));
  if (style == DT_MESH_DEVICE || style == DT_MESH_COLONS)
    DT_TRY(cx, check_numbers(cx, &s));
  if (style > DT_MESH_RANKS)
    DT_TRY(cx, check_layout(cx, &s));
  DtMeshParts parts = { n, s.axis, n, names };
  DT_TRY(cx, dt_mesh_derive(cx, m, &parts, out));
  (*out)->is_slice = true;
  slice_strides(m, &s, *out);
  return DT_OK;
}

/* }==== Flattening ==== */

static DtStatus flat_taken (DtCtx *cx, const DtMesh *root, const char *name) {
  DtBuf b, t;
  dt_buf_init(&b, cx);
  dt_buf_init(&t, cx);
  dt_buf_addf(&t, "%s already exists for submesh of the ", name);
  dt_mesh_repr(root, &t);
  dt_buf_add(&t, ". ");
  dt_buf_addc(&b, '(');
  dt_buf_add_pystr(&b, dt_buf_str(&t));
  dt_buf_clear(&t);
  dt_buf_add(&t, "The mesh_dim_names of submesh and flattened mesh are ");
  dt_buf_add_pynames(&t, names_of(root), root->ndim, false);
  dt_buf_add(&t, ". Please specify another valid mesh_dim_name.");
  dt_buf_add(&b, ", ");
  dt_buf_add_pystr(&b, dt_buf_str(&t));
  dt_buf_addc(&b, ')');
  dt_buf_fini(&t);
  return raise_buf(cx, DT_E_VALUE, &b);
}

/* A place in the root's list for one more. */
static DtStatus flat_reserve (DtCtx *cx, DtMesh *root) {
  if (root->flat == NULL) {
    root->flat = DT_NEW(cx, DtMeshFlat);
    if (root->flat == NULL)
      return DT_E_NOMEM;
  }
  DtMeshFlat *f = root->flat;
  if (f->n < f->cap)
    return DT_OK;
  int cap = f->cap == 0 ? 4 : 2 * f->cap;
  DtMesh **p = dt_realloc(cx, f->mesh, (size_t)cap * sizeof *p);
  if (p == NULL)
    return DT_E_NOMEM;
  f->mesh = p;
  f->cap = cap;
  return DT_OK;
}

/* Room in the root's list comes before the mesh: once it counts at its root
** it has no count left by which an error could release it. */
static DtStatus flat_make (DtCtx *cx, DtMesh *m, const char *name,
                           DtMesh **out) {
  DtMesh *root = root_of(m), *f;
  DtAxis axis;
  if (!is_named(root))
    return dt_raise(cx, DT_E_TYPE, "Invariant encountered: value was None "
                    "when it should not be");
  if (dt_mesh_own_name(root, name) >= 0)
    return flat_taken(cx, root, name);
  DT_TRY(cx, dt_axis_collapse(cx, m->axis, m->ndim, &axis));
  f = dt_mesh_flat_named(root, name);
  if (f != NULL) {
    DT_CHECK(cx, dt_axis_equal(&axis, &f->axis[0]), DT_E_VALUE,
             "Flatten mesh with mesh_dim_name %s has been created before, "
             "Please specify another valid mesh_dim_name.", name);
    *out = dt_mesh_ref(f);
    return DT_OK;
  }
  DtMeshParts parts = { 1, &axis, 1, &name };
  DT_TRY(cx, flat_reserve(cx, root));
  DT_TRY(cx, dt_mesh_derive(cx, root, &parts, &f));
  /* the reference to the root that derive took is now the caller's, since a
  ** flattened mesh counts at its root */
  f->is_flat = true;
  f->refs = 0;
  if (axis.n == 1 && m->ndim > 0)
    f->tstride[0] = axis.stride[0];
  root->flat->mesh[root->flat->n++] = f;
  *out = f;
  return DT_OK;
}

DtStatus dt_mesh_flatten (DtCtx *cx, DtMesh *m, const char *name,
                          DtMesh **out) {
  DtBuf b;
  DtStatus st;
  DT_CHECK(cx, is_named(m), DT_E_MESH,
           "Cannot flatten a DeviceMesh without mesh_dim_names!");
  dt_buf_init(&b, cx);
  if (name != NULL && name[0] != 0)
    dt_buf_add(&b, name);
  else
    for (int i = 0; i < m->ndim; i++)
      dt_buf_addf(&b, "%s%s", i > 0 ? "_" : "", m->name[i]);
  st = dt_buf_ok(&b);
  if (st == DT_OK && m->ndim == 1 &&
      strcmp(m->name[0], dt_buf_str(&b)) == 0)
    *out = dt_mesh_ref(m);
  else if (st == DT_OK)
    st = flat_make(cx, m, dt_buf_str(&b), out);
  dt_buf_fini(&b);
  return st;
}

DtStatus dt_mesh_flatten_as (DtCtx *cx, DtMesh *m, const char *name,
                             const DtMeshRules *rules, DtMesh **out) {
  DT_CHECK(cx, dt_mesh_style(rules) > DT_MESH_RANKS, DT_E_ATTR,
           "'DeviceMesh' object has no attribute '_flatten'");
  return dt_mesh_flatten(cx, m, name, out);
}

/* By layout and not by name: mesh dims that happen to cover the same ranks
** are found whatever they were called when they were flattened. */
DtMesh *dt_mesh_find_flat (const DtMesh *m, int n, const int *mdims) {
  const DtMeshFlat *f = dt_mesh_root(m)->flat;
  DtAxis pick[DT_MAX_MDIM];
  DtFlat want;
  if (f == NULL || !is_named(m) || n > DT_MAX_MDIM)
    return NULL;
  for (int i = 0; i < n; i++)
    pick[i] = m->axis[mdims[i]];
  dt_flat_collapse(pick, n, &want);
  for (int i = 0; i < f->n; i++) {
    const DtAxis *a = &f->mesh[i]->axis[0];
    bool same = a->n == want.n;
    for (int k = 0; same && k < a->n; k++)
      same = a->size[k] == want.size[k] && a->stride[k] == want.stride[k];
    if (same)
      return f->mesh[i];
  }
  return NULL;
}

/* }==== Unflattening and concatenation ==== */

static DtStatus check_split (DtCtx *cx, const DtMesh *m, int dim, int n,
                             const int64_t *sizes) {
  int at = dim < 0 ? dim + m->ndim : dim;
  int64_t p = 1;
  DtBuf b;
  DT_CHECK(cx, at >= 0, DT_E_INDEX, "tuple index out of range");
  for (int i = 0; i < n; i++)
    p *= sizes[i];
  if (p == m->shape[at])
    return DT_OK;
  dt_buf_init(&b, cx);
  dt_buf_add(&b, "The product of mesh_sizes=");
  dt_buf_add_tuple(&b, sizes, n);
  dt_buf_addf(&b, " is %lld, but the original dimension at dim=%d has size "
              "%lld. These must be equal for unflatten to work correctly.",
              (long long)p, dim, (long long)m->shape[at]);
  return raise_buf(cx, DT_E_VALUE, &b);
}

/* Python's list[dim:dim+1] = ..., which for dim -1 inserts before the last. */
static DtStatus unflatten_at (DtCtx *cx, DtMesh *m, int dim,
                              const DtMeshCut *into, DtMesh **out) {
  DtAxis axis[DT_MAX_MDIM], part[DT_MAX_MDIM];
  const char *name[DT_MAX_MDIM];
  int start = dim < 0 ? dim + m->ndim : dim;
  int stop = dim < -1 ? dim + 1 + m->ndim : dim + 1, k = 0, n = into->n;
  stop = stop < start ? start : stop;
  DT_TRY(cx, check_split(cx, m, dim, n, into->sizes));
  DT_CHECK(cx, m->ndim - (stop - start) + n <= DT_MAX_MDIM, DT_E_LIMIT,
           "a mesh has at most %d dimensions", DT_MAX_MDIM);
  DT_TRY(cx, dt_axis_split(cx, &m->axis[start], n, into->sizes, part));
  if (!is_named(m))
    return dt_raise(cx, DT_E_TYPE, "Invariant encountered: value was None "
                    "when it should not be");
  /* a dim of size 1 cut into nothing: PyTorch runs out of names */
  DT_CHECK(cx, n > 0, DT_E_INDEX, "tuple index out of range");
  for (int i = 0; i < start; i++, k++) {
    axis[k] = m->axis[i];
    name[k] = m->name[i];
  }
  for (int i = 0; i < n; i++, k++) {
    axis[k] = part[i];
    name[k] = into->names[i];
  }
  for (int i = stop; i < m->ndim; i++, k++) {
    axis[k] = m->axis[i];
    name[k] = m->name[i];
  }
  DtMeshParts parts = { k, axis, k, name };
  return dt_mesh_derive(cx, m, &parts, out);
}

DtStatus dt_mesh_unflatten (DtCtx *cx, DtMesh *m, const char *dim, int mdim,
                            const DtMeshCut *into, DtMesh **out) {
  if (dim == NULL)
    DT_CHECK(cx, mdim < m->ndim, DT_E_VALUE,
             "dim %d specified in `_unflatten` is out of range %d", mdim,
             m->ndim);
  else if (!is_named(m))
    return dt_raise(cx, DT_E_TYPE, "Invariant encountered: value was None "
                    "when it should not be");
  else {
    mdim = dt_mesh_own_name(m, dim);
    if (mdim < 0) {
      DtBuf b;
      dt_buf_init(&b, cx);
      dt_buf_addf(&b, "dim %s specified in `_unflatten` is not in ", dim);
      dt_buf_add_pynames(&b, names_of(m), m->ndim, false);
      return raise_buf(cx, DT_E_VALUE, &b);
    }
  }
  DT_CHECK(cx, into->n == into->nnames, DT_E_MESH, "mesh_dim_names must have "
           "same length as mesh_sizes in _unflatten!");
  DT_CHECK(cx, into->n <= DT_MAX_MDIM, DT_E_LIMIT,
           "a mesh has at most %d dimensions", DT_MAX_MDIM);
  return unflatten_at(cx, m, mdim, into, out);
}

DtStatus dt_mesh_concat (DtCtx *cx, int n, DtMesh *const *meshes,
                         DtMesh **out) {
  DtAxis axis[DT_MAX_MDIM];
  const char *name[DT_MAX_MDIM];
  DtFlat f;
  int k = 0;
  DT_CHECK(cx, n > 0, DT_E_INDEX, "list index out of range");
  for (int i = 0; i < n; i++) {
    const DtMesh *m = meshes[i];
    if (!is_named(m))
      return dt_raise(cx, DT_E_TYPE, "Invariant encountered: value was None "
                      "when it should not be");
    DT_CHECK_SAY0(cx, dt_mesh_same_map(m, meshes[0]), DT_E_MESH,
                  MESH_OTHER_ROOT);
    DT_CHECK(cx, k + m->ndim <= DT_MAX_MDIM, DT_E_LIMIT,
             "a mesh has at most %d dimensions", DT_MAX_MDIM);
    for (int d = 0; d < m->ndim; d++, k++) {
      axis[k] = m->axis[d];
      name[k] = m->name[d];
    }
  }
  dt_flat_collapse(axis, k, &f);
  if (!dt_flat_orthogonal(&f)) {
    DtBuf b;
    dt_buf_init(&b, cx);
    dt_buf_add(&b, "Cannot concatenate overlapping meshes: [");
    for (int i = 0; i < n; i++) {
      dt_buf_add(&b, i > 0 ? ", " : "");
      dt_mesh_repr(meshes[i], &b);
    }
    dt_buf_addc(&b, ']');
    return raise_buf(cx, DT_E_MESH, &b);
  }
  DtMeshParts parts = { k, axis, k, name };
  return dt_mesh_derive(cx, meshes[0], &parts, out);
}

/* }==== */
