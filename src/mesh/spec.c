/* SPDX-License-Identifier: MIT
** mesh/spec.c: DtSpec: construction, comparison, questions, text.
**
** The order in which mesh dims shard a tensor dim is in order.c.  A spec
** keeps an order only when it is neither the default nor unknown, so that
** the common case compares by hash and a few words.
** Facts: _dtensor_spec.py, PyTorch 2.13. */
#include <string.h>
#include "base/hash.h"
#include "mesh/spec_int.h"

/* {==== Construction ==== */

static bool any_strided (const DtPlacement *pl, int n) {
  for (int i = 0; i < n; i++)
    if (pl[i].kind == DT_PL_STRIDED)
      return true;
  return false;
}

/* The placements behind npl are no part of it, nor of dt_spec_equal. Ranks
** compare this number, so it may depend on contents only. */
static uint64_t spec_hash (const DtSpec *s) {
  uint64_t h = dt_hash_u64(s->mesh->hash, (uint64_t)s->npl);
  for (int i = 0; i < s->npl; i++)
    h = dt_pl_hash(h, s->pl[i]);
  h = dt_hash_u64(h, (uint64_t)(s->default_order ? 1 : 2));
  if (s->order != NULL)
    for (int i = 0; i < s->order->n; i++)
      for (int k = 0; k < s->order->e[i].n; k++)
        h = dt_hash_u64(h, (uint64_t)(s->order->e[i].tdim * 64 +
                                      s->order->e[i].mdims[k]));
  return s->has_meta ? dt_meta_hash(h, &s->meta) : h;
}

/* Decide about the order; `order` may be NULL. */
static DtStatus set_order (DtCtx *cx, DtSpec *s, const DtShardOrder *order) {
  DtShardOrder def;
  if (s->strided_is_order) {
    DT_CHECK(cx, order == NULL, DT_E_VALUE,
             "DTensorSpec doesn't allow specify shard_order when "
             "use_strided_shard_as_shard_order is True. This may result in "
             "conflicting shard order.");
    return DT_OK;
  }
  if (order == NULL) {
    s->default_order = true;
    return dt_order_check_dims(cx, s->pl, s->npl);
  }
  DT_TRY(cx, dt_order_verify(cx, s->pl, s->npl, order));
  dt_order_default(s->pl, s->npl, &def);
  s->default_order = dt_order_equal(&def, order);
  if (s->default_order)
    return DT_OK;
  s->order = DT_NEW(cx, DtShardOrder);
  if (s->order == NULL)
    return DT_E_NOMEM;
  *s->order = *order;
  s->order->known = true;
  return DT_OK;
}

DtStatus dt_spec_new (DtCtx *cx, DtMesh *mesh, int npl, const DtPlacement *pl,
                      const DtMeta *meta, const DtShardOrder *order,
                      int strided_is_order, DtSpec **out) {
  DT_CHECK(cx, npl >= 0 && npl <= DT_MAX_MDIM, DT_E_LIMIT,
           "a spec has at most %d placements", DT_MAX_MDIM);
  if (meta != NULL) DT_TRY(cx, dt_meta_countable(cx, meta));
  /* As in PyTorch the list may be shorter than the mesh (finding DT1010).
  ** Rules go over the mesh: what they find behind the list is Replicate. */
  int room = mesh != NULL && npl < mesh->ndim ? mesh->ndim : npl;
  DtSpec *s = dt_calloc(cx, 1, sizeof *s + (size_t)room * sizeof *pl);
  if (s == NULL)
    return DT_E_NOMEM;
  s->refs = 1;
  s->mesh = dt_mesh_ref(mesh);
  s->npl = npl;
  /* the masks are shared with the caller's placements; their references are
  ** taken below, before anything can fail, because dt_spec_unref gives them
  ** back */
  if (npl > 0)
    memcpy(s->pl, pl, (size_t)npl * sizeof *pl);
  for (int i = npl; i < room; i++)
    s->pl[i] = dt_pl_replicate();
  for (int i = 0; i < npl; i++)
    if (pl[i].kind == DT_PL_MASK_PARTIAL)
      (void)dt_mask_ref(pl[i].u.mask);
  s->strided_is_order = strided_is_order < 0 ? any_strided(pl, npl)
                                             : strided_is_order != 0;
  if (meta != NULL) {
    s->has_meta = true;
    dt_meta_copy(&s->meta, meta);
  }
  DtStatus st = set_order(cx, s, order);
  if (st != DT_OK) {
    dt_spec_unref(cx, s);
    return dt_error_frame(cx, st, __func__, __FILE__, __LINE__);
  }
  s->hash = spec_hash(s);
  *out = s;
  return DT_OK;
}

DtSpec *dt_spec_ref (const DtSpec *s) {
  DtSpec *w = (DtSpec *)(uintptr_t)s;   /* only the count changes */
  if (w != NULL)
    w->refs++;
  return w;
}

void dt_spec_unref (DtCtx *cx, DtSpec *s) {
  if (s == NULL || --s->refs > 0)
    return;
  for (int i = 0; i < s->npl; i++)
    if (s->pl[i].kind == DT_PL_MASK_PARTIAL)
      dt_mask_unref(cx, s->pl[i].u.mask);
  dt_mesh_unref(cx, s->mesh);
  dt_free(cx, s->order);
  dt_free(cx, s);
}

/* The hash was taken at construction and a spec is never written again:
** whoever changes one in place makes this answer, and every cache keyed by
** it, wrong. */
bool dt_spec_equal (const DtSpec *a, const DtSpec *b) {
  if (a == b)
    return true;
  if (a->hash != b->hash || a->npl != b->npl ||
      a->default_order != b->default_order || a->has_meta != b->has_meta)
    return false;
  if (!dt_mesh_equal(a->mesh, b->mesh) ||
      !dt_pls_equal(a->pl, b->pl, a->npl) || !dt_spec_same_order(a, b))
    return false;
  return !a->has_meta || dt_meta_equal(&a->meta, &b->meta);
}

bool dt_spec_valid (DtCtx *cx, const DtSpec *s) {
  (void)cx;
  if (s->refs <= 0 || s->mesh == NULL || s->npl < 0 ||
      s->npl > DT_MAX_MDIM || s->hash != spec_hash(s))
    return false;
  if (s->strided_is_order && (s->order != NULL || s->default_order))
    return false;
  for (int i = 0; i < s->npl; i++)
    if (s->pl[i].kind > DT_PL_NORM_PARTIAL)
      return false;
  return true;
}

/* }==== Questions ==== */

bool dt_spec_same_order (const DtSpec *a, const DtSpec *b) {
  if (a->default_order != b->default_order)
    return false;
  if (a->order == NULL || b->order == NULL)
    return a->order == b->order;
  return dt_order_equal(a->order, b->order);
}

int64_t dt_spec_num_shards (const DtSpec *s) {
  int64_t n = 1;
  for (int i = 0; i < s->npl && i < s->mesh->ndim; i++)
    if (dt_pl_is_shard_like(s->pl[i]))
      n *= s->mesh->shape[i];
  return n;
}

bool dt_spec_is_replicated (const DtSpec *s) {
  for (int i = 0; i < s->npl; i++)
    if (!dt_pl_is_replicate(s->pl[i]))
      return false;
  return true;
}

bool dt_spec_is_sharded (const DtSpec *s) {
  for (int i = 0; i < s->npl; i++)
    if (dt_pl_is_shard_like(s->pl[i]))
      return true;
  return false;
}

bool dt_spec_has_strided (const DtSpec *s) {
  return any_strided(s->pl, s->npl);
}

bool dt_spec_has_partial (const DtSpec *s) {
  for (int i = 0; i < s->npl; i++)
    if (dt_pl_is_partial(s->pl[i]))
      return true;
  return false;
}

void dt_spec_order (const DtSpec *s, DtShardOrder *out) {
  if (s->order != NULL)
    *out = *s->order;
  else if (s->default_order)
    dt_order_default(s->pl, s->npl, out);
  else {
    out->known = false;
    out->n = 0;
  }
}

/* }==== Text ==== */

void dt_spec_print_placements (const DtSpec *s, DtBuf *b) {
  DtShardOrder o;
  dt_spec_order(s, &o);
  dt_order_print(s->pl, s->npl, &o, b);
}

void dt_spec_print (const DtSpec *s, DtBuf *b) {
  if (s->has_meta)
    dt_meta_print(&s->meta, b);
  dt_buf_add(b, "| ");
  dt_spec_print_placements(s, b);
}

void dt_spec_str (const DtSpec *s, DtBuf *b) {
  dt_buf_add(b, "Spec(");
  if (s->has_meta)
    dt_meta_print(&s->meta, b);
  else
    dt_buf_add(b, "unknown dtypeunknown shape");
  dt_buf_addc(b, '(');
  dt_spec_print_placements(s, b);
  dt_buf_add(b, "))");
}

/* }==== */
