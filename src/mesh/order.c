/* SPDX-License-Identifier: MIT
** mesh/order.c: shard order: which mesh dims cut a tensor dim, and in which
** order; and its other spelling, _StridedShard.
**
** The two spellings: mesh dim m that comes late in the order but early in the
** mesh must take its pieces out of every piece that later mesh dims made
** before it; the number of those pieces is the split factor.  Reading it
** backwards rebuilds the order by insertion from the last mesh dim on.
** Facts: _dtensor_spec.py, PyTorch 2.13. */
#include <string.h>
#include "mesh/spec_int.h"

/* {==== Default order and checks ==== */

static void print_reprs (const DtPlacement *pl, int n, DtBuf *b) {
  dt_buf_addc(b, '(');
  for (int i = 0; i < n; i++) {
    dt_buf_add(b, i > 0 ? ", " : "");
    dt_pl_repr(pl[i], b);
  }
  dt_buf_add(b, n == 1 ? ",)" : ")");
}

DtStatus dt_order_check_dims (DtCtx *cx, const DtPlacement *pl, int npl) {
  for (int i = 0; i < npl; i++) {
    if (!dt_pl_is_shard_like(pl[i]))
      continue;
    DT_CHECK(cx, pl[i].dim <= 127, DT_E_LIMIT,
             "shard dimension %d is too large", pl[i].dim);
    if (pl[i].dim >= 0)
      continue;
    DtBuf b;
    dt_buf_init(&b, cx);
    print_reprs(pl, npl, &b);
    DtStatus st = dt_raise(cx, DT_E_ASSERT, "Shard dim %d in placements %s "
                           "must be normalized", pl[i].dim, dt_buf_str(&b));
    dt_buf_fini(&b);
    return st;
  }
  return DT_OK;
}

/* Entries stay sorted by tensor dim, whichever mesh dim came first:
** dt_order_verify and dt_order_equal rely on it. */
static DtShardOrderEntry *entry_of (DtShardOrder *o, int tdim) {
  int i = 0;
  while (i < o->n && o->e[i].tdim < tdim)
    i++;
  if (i < o->n && o->e[i].tdim == tdim)
    return &o->e[i];
  for (int k = o->n; k > i; k--)
    o->e[k] = o->e[k - 1];
  o->n++;
  o->e[i].tdim = (int8_t)tdim;
  o->e[i].n = 0;
  return &o->e[i];
}

void dt_order_default (const DtPlacement *pl, int npl, DtShardOrder *out) {
  out->known = true;
  out->n = 0;
  for (int m = 0; m < npl; m++)
    if (dt_pl_is_shard_like(pl[m])) {
      DtShardOrderEntry *e = entry_of(out, pl[m].dim);
      e->mdims[e->n++] = (int8_t)m;
    }
}

bool dt_order_equal (const DtShardOrder *a, const DtShardOrder *b) {
  if (a->known != b->known || (a->known && a->n != b->n))
    return false;
  for (int i = 0; a->known && i < a->n; i++)
    if (a->e[i].tdim != b->e[i].tdim || a->e[i].n != b->e[i].n ||
        memcmp(a->e[i].mdims, b->e[i].mdims, (size_t)a->e[i].n) != 0)
      return false;
  return true;
}

static void add_mdims (DtBuf *b, const DtShardOrderEntry *e) {
  int64_t v[DT_MAX_MDIM];
  for (int k = 0; k < e->n; k++)
    v[k] = e->mdims[k];
  dt_buf_add_tuple(b, v, e->n);
}

/* "shard_order (ShardOrderEntry(...),) has <what>" */
static DtStatus bad_order (DtCtx *cx, const DtShardOrder *o, int i,
                           const char *what) {
  DtBuf b;
  dt_buf_init(&b, cx);
  for (int k = 0; k < o->n; k++) {
    dt_buf_addf(&b, "%sShardOrderEntry(tensor_dim=%d, mesh_dims=",
                k > 0 ? ", " : "", o->e[k].tdim);
    add_mdims(&b, &o->e[k]);
    dt_buf_addc(&b, ')');
  }
  dt_buf_addf(&b, "%s has %s", o->n == 1 ? ",)" : ")", what);
  if (strcmp(what, "invalid mesh dim ") == 0)
    add_mdims(&b, &o->e[i]);
  else if (strcmp(what, "invalid tensor dim ") == 0)
    dt_buf_addf(&b, "%d", o->e[i].tdim);
  DtStatus st = dt_raise(cx, DT_E_ASSERT, "shard_order (%s", dt_buf_str(&b));
  dt_buf_fini(&b);
  return st;
}

/* The checks and their sequence are those of _verify_shard_order
** (_dtensor_spec.py@2.15), which returns at once for any _StridedShard and
** has no text for the count; the last one is ours. */
DtStatus dt_order_verify (DtCtx *cx, const DtPlacement *pl, int npl,
                          const DtShardOrder *order) {
  int total = 0, prev = -1, shards = 0;
  for (int m = 0; m < npl; m++) {
    if (pl[m].kind == DT_PL_STRIDED)
      return DT_OK;
    shards += dt_pl_is_shard(pl[m]);
  }
  for (int i = 0; i < order->n; i++) {
    const DtShardOrderEntry *e = &order->e[i];
    if (e->n <= 0)
      return bad_order(cx, order, i, "empty mesh dim");
    if (e->tdim < 0)
      return bad_order(cx, order, i, "invalid tensor dim ");
    DT_CHECK(cx, e->tdim > prev, DT_E_ASSERT,
             "tensor dim should be sorted in shard_order");
    prev = e->tdim;
    total += e->n;
    for (int k = 0; k < e->n; k++) {
      int m = e->mdims[k];
      if (m < 0 || m >= npl)
        return bad_order(cx, order, i, "invalid mesh dim ");
      DT_CHECK(cx, dt_pl_is_shard(pl[m]) && pl[m].dim == e->tdim, DT_E_ASSERT,
               "placement[%d] doesn't have a matching shard in shard_order",
               m);
    }
  }
  DT_CHECK(cx, total == shards, DT_E_ASSERT, "%s", "");
  /* the same mesh dim twice while another is missing */
  for (int i = 0; i < order->n; i++)
    for (int k = 1; k < order->e[i].n; k++)
      for (int j = 0; j < k; j++)
        DT_CHECK(cx, order->e[i].mdims[k] != order->e[i].mdims[j],
                 DT_E_ASSERT, "%s", "");
  return DT_OK;
}

void dt_order_print (const DtPlacement *pl, int npl, const DtShardOrder *o,
                     DtBuf *b) {
  for (int m = 0; m < npl; m++) {
    dt_pl_print(pl[m], b);
    if (!o->known || !dt_pl_is_shard_like(pl[m]))
      continue;
    for (int i = 0; i < o->n; i++)
      for (int k = 0; o->e[i].n > 1 && k < o->e[i].n; k++)
        if (o->e[i].tdim == pl[m].dim && o->e[i].mdims[k] == m)
          dt_buf_addf(b, "[%d]", k);
  }
}

/* }==== Order to _StridedShard and back ==== */

/* `out` may be `pl`, and stays as it was on an error. Masks in the copy are
** borrowed: no reference is taken, so it must not outlive `pl`. */
DtStatus dt_order_to_strided (DtCtx *cx, const DtMesh *mesh, int npl,
                              const DtPlacement *pl, const DtShardOrder *order,
                              DtPlacement *out) {
  DtPlacement res[DT_MAX_MDIM];
  DtBuf b;
  DT_CHECK(cx, npl <= DT_MAX_MDIM, DT_E_LIMIT,
           "a spec has at most %d placements", DT_MAX_MDIM);
  if (npl > 0)
    memcpy(res, pl, (size_t)npl * sizeof *pl);
  for (int i = 0; i < order->n; i++) {
    const DtShardOrderEntry *e = &order->e[i];
    for (int k = 0; k < e->n; k++) {
      int m = e->mdims[k];
      int64_t sf = 1;
      if (!dt_pl_is_shard(pl[m])) {
        dt_buf_init(&b, cx);
        dt_buf_add(&b, "Only Shard placement can be converted to "
                   "_StridedShard, found ");
        dt_pl_print(pl[m], &b);
        dt_buf_add(&b, " in placements=");
        print_reprs(pl, npl, &b);
        DtStatus st = dt_raise(cx, DT_E_VALUE, "%s.", dt_buf_str(&b));
        dt_buf_fini(&b);
        return st;
      }
      for (int j = 0; j < k; j++)
        if (e->mdims[j] > m)
          sf *= mesh->shape[e->mdims[j]];
      res[m] = sf == 1 ? dt_pl_shard(e->tdim) : dt_pl_strided(e->tdim, sf);
    }
  }
  if (npl > 0)
    memcpy(out, res, (size_t)npl * sizeof *res);
  return DT_OK;
}

/* Insert mesh dim m where the factor fits; the first place wins.  Several
** places fit only around mesh dims of size 1, which leave the product as it
** is. */
static bool insert_dim (const DtMesh *mesh, DtShardOrderEntry *e, int m,
                        int64_t sf) {
  int64_t acc = 1;
  for (int i = 0; i <= e->n; i++) {
    if (acc == sf) {
      memmove(e->mdims + i + 1, e->mdims + i, (size_t)(e->n - i));
      e->mdims[i] = (int8_t)m;
      e->n++;
      return true;
    }
    if (i < e->n)
      acc *= mesh->shape[e->mdims[i]];
  }
  return false;
}

bool dt_strided_to_order (const DtMesh *mesh, int npl, const DtPlacement *pl,
                          DtPlacement *out, DtShardOrder *order) {
  DtShardOrder o;
  bool strided = false;
  for (int m = 0; m < npl; m++)
    strided = strided || pl[m].kind == DT_PL_STRIDED;
  if (!strided)
    dt_order_default(pl, npl, &o);
  else {
    o.known = true;
    o.n = 0;
    for (int m = npl - 1; m >= 0; m--) {
      int64_t sf = pl[m].kind == DT_PL_STRIDED ? pl[m].u.sf : 1;
      if (dt_pl_is_shard_like(pl[m]) &&
          !insert_dim(mesh, entry_of(&o, pl[m].dim), m, sf))
        return false;
    }
  }
  for (int m = 0; m < npl && out != NULL; m++)
    out[m] = pl[m].kind == DT_PL_STRIDED ? dt_pl_shard(pl[m].dim) : pl[m];
  *order = o;
  return true;
}

DtStatus dt_strided_normalize (DtCtx *cx, const DtMesh *mesh, int npl,
                               const DtPlacement *pl, DtPlacement *out,
                               DtShardOrder *order) {
  if (dt_strided_to_order(mesh, npl, pl, out, order))
    return DT_OK;
  DtBuf b;
  dt_buf_init(&b, cx);
  print_reprs(pl, npl, &b);
  DtStatus st = dt_raise_as(cx, DT_E_VALUE, "_StridedShardNotDecodableError",
                            "_StridedShard placements %s cannot be decoded "
                            "into a corresponding shard_order",
                            dt_buf_str(&b));
  dt_buf_fini(&b);
  return st;
}

/* }==== */
