/* SPDX-License-Identifier: MIT
** mesh/mesh.c: device meshes: construction, life time, coordinates, groups.
**
** Slicing and flattening are in mesh_slice.c, text in mesh_print.c, the
** layout arithmetic in axis.c.  A mesh is a layout over positions of its
** root's rank map; a sub-mesh has one such layout for all its slices and
** remembers in `base` where its own slice starts.  Nothing here is of the
** size of the world unless ranks were listed: coordinates are digits of the
** rank's position, taken mode by mode.
** Facts: torch/distributed/device_mesh.py, PyTorch 2.13. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/error_shard.h"
#include "base/hash.h"
#include "compat/text.h"
#include "mesh/mesh_int.h"

/* {==== Life time ==== */

/* A flattened mesh lives as long as its root and counts there.  With a count
** of its own it would have to hold the root, which holds it in `flat`: a
** circle that is never freed. */
static DtMesh *counted (DtMesh *m) {
  return m->is_flat ? m->root : m;
}

DtMesh *dt_mesh_ref (DtMesh *m) {
  if (m != NULL)
    counted(m)->refs++;
  return m;
}

/* Rank map and index belong to the root; derived meshes borrow them and hold
** a reference to the root instead. */
static void mesh_free (DtCtx *cx, DtMesh *m) {
  for (int i = 0; i < m->ndim; i++)
    dt_free(cx, m->name[i]);
  if (m->flat != NULL) {
    for (int i = 0; i < m->flat->n; i++)
      mesh_free(cx, m->flat->mesh[i]);
    dt_free(cx, m->flat->mesh);
    dt_free(cx, m->flat);
  }
  if (m->root == NULL) {
    dt_free(cx, m->rank_map);
    dt_free(cx, m->index);
  }
  dt_free(cx, m);
}

void dt_mesh_unref (DtCtx *cx, DtMesh *m) {
  if (m == NULL)
    return;
  m = counted(m);
  if (--m->refs > 0)
    return;
  DtMesh *root = m->root;
  mesh_free(cx, m);
  if (root != NULL)
    dt_mesh_unref(cx, root);
}

/* }==== Coordinates ==== */

int64_t dt_mesh_pos (const DtMesh *m, int rank) {
  if (rank < 0)
    return -1;
  if (m->rank_map == NULL)
    return rank < m->nranks ? rank : -1;
  return rank < m->nindex ? m->index[rank] : -1;
}

/* Coordinate along one axis of the position `pos`; *off receives how far the
** axis contributes to the position. */
static int64_t axis_coord (const DtAxis *a, int64_t pos, int64_t *off) {
  int64_t c = 0;
  *off = 0;
  for (int i = 0; i < a->n; i++) {
    int64_t digit = pos / a->stride[i] % a->size[i];
    c = c * a->size[i] + digit;
    *off += digit * a->stride[i];
  }
  return c;
}

static int64_t coord_at (const DtMesh *m, int64_t pos, int64_t *coord) {
  int64_t base = pos, off;
  for (int i = 0; i < m->ndim; i++) {
    coord[i] = axis_coord(&m->axis[i], pos, &off);
    base -= off;
  }
  return base;
}

bool dt_mesh_coord_of (const DtMesh *m, int rank, int64_t *coord) {
  int64_t pos = dt_mesh_pos(m, rank);
  if (pos < 0)
    return false;
  (void)coord_at(m, pos, coord);
  return true;
}

int dt_mesh_rank_at (const DtMesh *m, const int64_t *coord) {
  int64_t pos = m->base;
  for (int i = 0; i < m->ndim; i++)
    pos += dt_axis_offset(&m->axis[i], coord[i]);
  return (int)dt_mesh_map(m, pos);
}

void dt_mesh_group (const DtMesh *m, int mdim, int rank, int *ranks) {
  int64_t off, pos = dt_mesh_pos(m, rank);
  const DtAxis *a = &m->axis[mdim];
  if (pos < 0) {
    for (int64_t c = 0; c < m->shape[mdim]; c++)
      ranks[c] = -1;
    return;
  }
  (void)axis_coord(a, pos, &off);
  for (int64_t c = 0; c < m->shape[mdim]; c++)
    ranks[c] = (int)dt_mesh_map(m, pos - off + dt_axis_offset(a, c));
}

void dt_mesh_ranks (const DtMesh *m, int64_t *ranks) {
  int64_t n = dt_mesh_size(m);
  for (int64_t k = 0; k < n; k++) {
    int64_t rest = k, pos = m->base;
    for (int i = m->ndim - 1; i >= 0; i--) {
      pos += dt_axis_offset(&m->axis[i], rest % m->shape[i]);
      rest /= m->shape[i];
    }
    ranks[k] = dt_mesh_map(m, pos);
  }
}

int64_t dt_mesh_size (const DtMesh *m) {
  int64_t n = 1;
  for (int i = 0; i < m->ndim; i++)
    n *= m->shape[i];
  return n;
}

const DtMesh *dt_mesh_root (const DtMesh *m) {
  return m->root != NULL ? m->root : m;
}

int64_t dt_mesh_ngroups (const DtMesh *m, int mdim) {
  return m->nranks / m->shape[mdim];
}

DtStatus dt_mesh_nth_group (DtCtx *cx, const DtMesh *m, int mdim, int64_t g,
                            int *ranks) {
  DtFlat self, c;
  int64_t base = 0;
  dt_flat_collapse(&m->axis[mdim], 1, &self);
  DT_TRY(cx, dt_flat_complement(cx, &self, m->nranks, &c));
  for (int i = c.n - 1; i >= 0; i--) {
    base += g % c.size[i] * c.stride[i];
    g /= c.size[i];
  }
  for (int64_t k = 0; k < m->shape[mdim]; k++)
    ranks[k] = (int)dt_mesh_map(m, base + dt_axis_offset(&m->axis[mdim], k));
  return DT_OK;
}

/* }==== Equality ==== */

/* By contents: meshes of two roots are equal when the roots list the same
** ranks. The hash is only the quick no. */
bool dt_mesh_same_map (const DtMesh *a, const DtMesh *b) {
  if (a->nranks != b->nranks || a->map_hash != b->map_hash)
    return false;
  if (a->rank_map == b->rank_map)
    return true;
  return a->rank_map != NULL && b->rank_map != NULL &&
         memcmp(a->rank_map, b->rank_map,
                (size_t)a->nranks * sizeof *a->rank_map) == 0;
}

static bool same_name (const char *a, const char *b) {
  return a == b || (a != NULL && b != NULL && strcmp(a, b) == 0);
}

bool dt_mesh_equal (const DtMesh *a, const DtMesh *b) {
  if (a == b)
    return true;
  if (a->hash != b->hash || a->ndim != b->ndim || !dt_mesh_same_map(a, b) ||
      strcmp(a->device_name, b->device_name) != 0)
    return false;
  for (int i = 0; i < a->ndim; i++)
    if (!dt_axis_equal(&a->axis[i], &b->axis[i]) ||
        !same_name(a->name[i], b->name[i]))
      return false;
  return true;
}

/* Goes into the hash of specs, which ranks compare before a collective:
** nothing of this process, such as an address, may be in it. A missing name
** is the number 7, so that it differs from the empty name. */
static void set_hash (DtMesh *m) {
  uint64_t h = dt_hash_u64(m->map_hash, (uint64_t)m->ndim);
  h = dt_hash_str(h, m->device_name);
  for (int i = 0; i < m->ndim; i++) {
    for (int k = 0; k < m->axis[i].n; k++) {
      h = dt_hash_u64(h, (uint64_t)m->axis[i].size[k]);
      h = dt_hash_u64(h, (uint64_t)m->axis[i].stride[k]);
    }
    h = m->name[i] != NULL ? dt_hash_str(h, m->name[i]) : dt_hash_u64(h, 7);
  }
  m->hash = h;
}

/* }==== Construction ==== */

static DtStatus mesh_set_names (DtCtx *cx, DtMesh *m, int nnames,
                                const char *const *names) {
  for (int i = 0; names != NULL && i < m->ndim && i < nnames; i++) {
    m->name[i] = dt_strdup(cx, names[i]);
    if (m->name[i] == NULL)
      return DT_E_NOMEM;
  }
  return DT_OK;
}

/* The rest of a mesh whose axes, names, rank map and device are set. */
static DtStatus mesh_finish (DtCtx *cx, DtMesh *m) {
  DtFlat self, c;
  dt_flat_collapse(m->axis, m->ndim, &self);
  DT_CHECK(cx, dt_flat_orthogonal(&self), DT_E_ASSERT,
           "Please use a non-overlapping layout when creating a DeviceMesh.");
  DT_TRY(cx, dt_flat_complement(cx, &self, m->nranks, &c));
  m->nslices = 1;
  for (int i = 0; i < c.n; i++)
    m->nslices *= c.size[i];
  int64_t pos = dt_mesh_pos(m, m->my_rank);
  m->member = pos >= 0;
  DT_CHECK(cx, m->member || m->nslices == 1, DT_E_MESH,
           "In order to get the mesh Tensor of a DeviceMesh it needs to "
           "either have all its original dimensions (e.g., no slicing) "
           "or it needs to contain the local rank");
  m->base = m->member ? coord_at(m, pos, m->coord) : 0;
  for (int i = 0; i < m->ndim; i++)
    m->shape[i] = dt_axis_size(&m->axis[i]);
  int64_t stride = 1;
  for (int i = m->ndim - 1; i >= 0; i--) {
    m->tstride[i] = stride;
    stride *= m->shape[i];
  }
  set_hash(m);
  return DT_OK;
}

/* The root and not `like` is kept alive: a slice of a slice does not hold
** the slice between. The rank map is borrowed for as long as that reference
** lives. */
DtStatus dt_mesh_derive (DtCtx *cx, DtMesh *like, const DtMeshParts *parts,
                         DtMesh **out) {
  DtMesh *root = like->root != NULL ? like->root : like;
  DtStatus st = DT_OK;
  DT_CHECK(cx, parts->ndim <= DT_MAX_MDIM, DT_E_LIMIT,
           "a mesh has at most %d dimensions", DT_MAX_MDIM);
  DtMesh *m = DT_NEW(cx, DtMesh);
  if (m == NULL)
    return DT_E_NOMEM;
  m->refs = 1;
  m->device = like->device;
  memcpy(m->device_name, like->device_name, sizeof m->device_name);
  m->ndim = parts->ndim;
  if (parts->ndim > 0)
    memcpy(m->axis, parts->axis, (size_t)parts->ndim * sizeof *m->axis);
  m->nranks = root->nranks;
  m->rank_map = root->rank_map;
  m->nindex = root->nindex;
  m->index = root->index;
  m->map_hash = root->map_hash;
  m->my_rank = root->my_rank;
  m->root = dt_mesh_ref(root);
  m->style = like->style;
  DT_TRYG(cx, mesh_set_names(cx, m, parts->nnames, parts->names));
  DT_TRYG(cx, mesh_finish(cx, m));
  *out = m;
  return DT_OK;
done:
  dt_mesh_unref(cx, m);
  return st;
}

/* What PyTorch says of sizes that no mesh can have. */
static DtStatus check_shape (DtCtx *cx, int ndim, const int64_t *shape) {
  int64_t n = 1;
  int neg = -1;
  bool modulo = false;          /* a stride is divided by an inner size */
  DT_CHECK(cx, ndim <= DT_MAX_MDIM, DT_E_LIMIT,
           "a mesh has at most %d dimensions", DT_MAX_MDIM);
  for (int i = 0; i < ndim; i++) {
    DT_CHECK(cx, !__builtin_mul_overflow(n, shape[i], &n), DT_E_OVERFLOW,
             "the mesh has more ranks than an integer can hold");
    modulo = modulo || (i > 0 && shape[i] == 0);
    if (neg < 0 && shape[i] < 0)
      neg = i;
  }
  if (modulo)
    return dt_raise_as(cx, DT_E_MESH, "ZeroDivisionError",
                       "integer modulo by zero");
  if (ndim > 0 && shape[0] == 0)
    return dt_raise(cx, DT_E_ASSERT, "%s", "");
  DT_CHECK(cx, n >= 0, DT_E_MESH,
           "upper bound and lower bound inconsistent with step sign");
  if (neg >= 0) {
    DtBuf b;
    dt_buf_init(&b, cx);
    for (int i = 0; i < ndim; i++)
      dt_buf_addf(&b, ", %lld", (long long)shape[i]);
    DtStatus st = dt_raise(cx, DT_E_MESH,
                           "invalid shape dimension %lld at index %d of shape "
                           "[-1%s]", (long long)shape[neg], neg + 1,
                           dt_buf_str(&b));
    dt_buf_fini(&b);
    return st;
  }
  return DT_OK;
}

static DtStatus check_world (DtCtx *cx, int64_t n, int world) {
  DT_CHECK_SAY(cx, n <= world, DT_E_MESH, MESH_TOO_LARGE, DT_NUM(world),
               DT_NUM(n));
  return DT_OK;
}

/* A contiguous root without a rank map. */
static DtStatus mesh_alloc (DtCtx *cx, const char *device, int ndim,
                            const int64_t *shape, int my_rank, DtMesh **out) {
  DT_CHECK(cx, strlen(device) < sizeof (*out)->device_name, DT_E_LIMIT,
           "the name of the device type is too long: %s", device);
  DtMesh *m = DT_NEW(cx, DtMesh);
  if (m == NULL)
    return DT_E_NOMEM;
  m->refs = 1;
  m->device = dt_device_find(device);
  if (m->device == DT_NDEVICES)
    m->device = DT_DEV_CPU;
  memcpy(m->device_name, device, strlen(device) + 1);
  m->ndim = ndim;
  m->nranks = 1;
  for (int i = ndim - 1; i >= 0; i--) {
    dt_axis_one(&m->axis[i], shape[i], m->nranks);
    m->nranks *= shape[i];
  }
  m->my_rank = my_rank;
  m->map_hash = dt_hash_u64(DT_HASH_SEED, (uint64_t)m->nranks);
  *out = m;
  return DT_OK;
}

/* }==== Listed ranks ==== */

static int by_value (const void *a, const void *b) {
  int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
  return x < y ? -1 : x > y;
}

static DtStatus bad_group (DtCtx *cx, int n, const int64_t *ranks,
                           const char *before, const char *after) {
  DtBuf b;
  dt_buf_init(&b, cx);
  dt_buf_add_i64s(&b, ranks, n);
  DtStatus st = dt_raise_as(cx, after[0] != 0 ? DT_E_MESH : DT_E_VALUE,
                            after[0] != 0 ? "RuntimeError" : "ValueError",
                            "%s%s%s", before, dt_buf_str(&b), after);
  dt_buf_fini(&b);
  return st;
}

/* One group of a mesh whose ranks repeat or leave the world, as new_group
** sees it: sorted, no rank twice, all in the world. */
static DtStatus check_group (DtCtx *cx, int n, int64_t *sorted,
                             const int64_t *ranks, int me, int world,
                             bool *seen) {
  char text[120];
  memcpy(sorted, ranks, (size_t)n * sizeof *sorted);
  qsort(sorted, (size_t)n, sizeof *sorted, by_value);
  for (int k = 1; k < n; k++)
    if (sorted[k] == sorted[k - 1])
      return bad_group(cx, n, sorted, "ranks list must not contain duplicate "
                       "entries, got ", "");
  for (int k = 0; k < n; k++)
    DT_CHECK(cx, sorted[k] >= 0 && sorted[k] < world, DT_E_VALUE,
             "Rank %lld is out of range. Valid ranks are 0 to %d "
             "(world_size=%d)", (long long)sorted[k], world - 1, world);
  for (int k = 0; k < n; k++) {
    if (ranks[k] != me)
      continue;
    (void)snprintf(text, sizeof text, "Each device mesh dimension should get "
                   "only one process group, but got %d in ", me);
    if (*seen)
      return bad_group(cx, n, ranks, text, "!");
    *seen = true;
  }
  return DT_OK;
}

/* As PyTorch builds them: one group for each row of each mesh dim. A dim as
** long as the world uses the default group and does not look at who is listed;
** a rank must be in a group on every dim or on none. */
static DtStatus check_groups (DtCtx *cx, const DtMesh *m, int world) {
  DtStatus st = DT_OK;
  bool world_group = false, left_out = false;
  int64_t *tmp = DT_NEWN(cx, int64_t, 2 * m->nranks + 1);
  if (tmp == NULL)
    return DT_E_NOMEM;
  for (int i = 0; i < m->ndim; i++) {
    bool seen = false;
    int n = (int)dt_axis_size(&m->axis[i]);
    int64_t inner = m->axis[i].n > 0 ? m->axis[i].stride[0] : 1;
    if (n == world) {           /* the world's group, whoever is listed */
      world_group = true;
      continue;
    }
    for (int64_t p = 0; p < m->nranks; p++) {
      if (p / inner % n != 0)
        continue;
      for (int k = 0; k < n; k++)
        tmp[k] = m->rank_map[p + k * inner];
      DT_TRYG(cx, check_group(cx, n, tmp + m->nranks, tmp, m->my_rank, world,
                              &seen));
    }
    left_out = left_out || !seen;
  }
  /* a rank has a group on every dim or on none */
  DT_CHECKG(cx, !world_group || !left_out, DT_E_ASSERT, "%s", "");
done:
  dt_free(cx, tmp);
  return st;
}

/* Take over a list of ranks; identity needs none.  A list that is the
** identity must leave no map behind: map_hash then is that of
** init_device_mesh with the same shape, and the two meshes are equal. Where
** the list is wrong, the groups complain before the coordinates do, since
** DeviceMesh.__init__ (device_mesh.py@2.15) makes them in that order. */
static DtStatus mesh_set_ranks (DtCtx *cx, DtMesh *m, const int64_t *ranks,
                                int world) {
  bool identity = true, regular = true;
  int64_t n = m->nranks, mine = 0;
  for (int64_t p = 0; p < n && identity; p++)
    identity = ranks[p] == p;
  if (identity)
    return DT_OK;
  m->rank_map = dt_alloc(cx, (size_t)n * sizeof *m->rank_map);
  m->index = dt_alloc(cx, (size_t)world * sizeof *m->index);
  if (m->rank_map == NULL || m->index == NULL)
    return DT_E_NOMEM;
  m->nindex = world;
  for (int r = 0; r < world; r++)
    m->index[r] = -1;
  for (int64_t p = 0; p < n; p++) {
    m->rank_map[p] = ranks[p];
    mine += ranks[p] == m->my_rank;
    if (ranks[p] < 0 || ranks[p] >= world || m->index[ranks[p]] >= 0)
      regular = false;
    else
      m->index[ranks[p]] = p;
  }
  m->map_hash = dt_hash_bytes(m->map_hash, ranks, (size_t)n * sizeof *ranks);
  if (!regular)
    DT_TRY(cx, check_groups(cx, m, world));
  for (int64_t p = 0; p < n && !regular; p++)
    DT_CHECK(cx, ranks[p] >= 0 && ranks[p] < world, DT_E_VALUE,
             "Rank %lld is out of range. Valid ranks are 0 to %d "
             "(world_size=%d)", (long long)ranks[p], world - 1, world);
  DT_CHECK(cx, mine <= 1, DT_E_ASSERT,
           "rank_coords.size(0) must be 0 or 1, got %lld", (long long)mine);
  return DT_OK;
}

DtStatus dt_mesh_new (DtCtx *cx, const char *device, int ndim,
                      const int64_t *shape, const int64_t *ranks,
                      const char *const *names, int my_rank, int world_size,
                      DtMesh **out) {
  DtMesh *m = NULL;
  DtStatus st = DT_OK;
  DT_TRY(cx, check_shape(cx, ndim, shape));
  DT_TRY(cx, mesh_alloc(cx, device, ndim, shape, my_rank, &m));
  DT_TRYG(cx, check_world(cx, m->nranks, world_size));
  DT_TRYG(cx, mesh_set_ranks(cx, m, ranks, world_size));
  DT_TRYG(cx, mesh_set_names(cx, m, ndim, names));
  DT_TRYG(cx, mesh_finish(cx, m));
  *out = m;
  return DT_OK;
done:
  dt_mesh_unref(cx, m);
  return st;
}

/* }==== init_device_mesh ==== */

static DtStatus bad_names (DtCtx *cx, int ndim, int n,
                           const char *const *names) {
  DtBuf b;
  DtStatus st;
  bool twice = false;
  for (int i = 0; i < n; i++)
    for (int k = 0; k < i; k++)
      twice = twice || strcmp(names[i], names[k]) == 0;
  if (!twice && n == ndim)
    return DT_OK;
  if (!twice)
    return DT_SAY(cx, DT_E_MESH, MESH_NAMES_OTHER, DT_NUM(n), DT_NUM(ndim));
  dt_buf_init(&b, cx);
  dt_buf_add_pynames(&b, names, n, false);
  st = DT_SAY(cx, DT_E_MESH, MESH_NAME_TWICE, dt_buf_str(&b));
  dt_buf_fini(&b);
  return st;
}

static DtStatus check_device (DtCtx *cx, const char *device) {
  bool letters = true;
  for (const char *p = device; *p != 0; p++)
    letters = letters && isalpha((unsigned char)*p);
  DT_CHECK_SAY(cx, letters, DT_E_MESH, MESH_DEVICE_INDEX, device);
  return DT_OK;
}

DtStatus dt_mesh_init_as (DtCtx *cx, const char *device, int ndim,
                          const int64_t *shape, int nnames,
                          const char *const *names, const DtMeshRules *rules,
                          int my_rank, int world_size, DtMesh **out) {
  DtMesh *m = NULL;
  DtStatus st = DT_OK;
  if (names != NULL)
    DT_TRY(cx, bad_names(cx, ndim, nnames, names));
  DT_TRY(cx, check_device(cx, device));
  DT_TRY(cx, check_shape(cx, ndim, shape));
  DT_TRY(cx, mesh_alloc(cx, device, ndim, shape, my_rank, &m));
  dt_mesh_print_as(m, rules);
  DT_TRYG(cx, check_world(cx, m->nranks, world_size));
  DT_TRYG(cx, mesh_set_names(cx, m, nnames, names));
  DT_TRYG(cx, mesh_finish(cx, m));
  *out = m;
  return DT_OK;
done:
  dt_mesh_unref(cx, m);
  return st;
}

DtStatus dt_mesh_init (DtCtx *cx, const char *device, int ndim,
                       const int64_t *shape, const char *const *names,
                       int my_rank, int world_size, DtMesh **out) {
  return dt_mesh_init_as(cx, device, ndim, shape, ndim, names, NULL, my_rank,
                         world_size, out);
}

/* }==== */
