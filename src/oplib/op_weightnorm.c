/* SPDX-License-Identifier: MIT
** oplib/op_weightnorm.c: norms over all dims but one, the direction and length
** of weights as nn.utils.weight_norm takes them, and diagonals that are filled
** in place: composites of a few calls each. */
#include "oplib/oplib_int.h"
#include "oplib/emitting.h"

/* ---- norm_except_dim, _weight_norm ---- */

/* The norm of each slice along `dim` (0 or the last), the others of size 1. */
static DtHandle *norm_at_end (DtDecompCall *c, DtHandle *v, const DtMeta *m,
                              int64_t p, bool first) {
  int last = m->ndim - 1;
  int64_t n = m->shape[first ? 0 : last], flat[2] = { -1, -1 };
  int64_t over = first ? 1 : 0, shape[DT_MAX_NDIM];
  flat[first ? 0 : 1] = n;
  for (int i = 0; i < m->ndim; i++) shape[i] = 1;
  shape[first ? 0 : last] = n;
  v = EMIT("aten.contiguous.default", "t", v);
  v = EMIT("aten.view.default", "tI", v, 2, flat);
  v = EMIT("aten.norm.ScalarOpt_dim", "tiI", v, p, 1, &over);
  return EMIT("aten.view.default", "tI", v, (int)m->ndim, shape);
}

static DtHandle *norm_except (DtDecompCall *c, DtHandle *v, int64_t p,
                              int64_t dim) {
  DtMeta m = meta_of(c, v);
  if (!dt_emit_ok(c->e)) return NULL;
  if (dim == -1) return EMIT("aten.norm.Scalar", "ti", v, p);
  if (m.ndim == 0) {
    c->e->st = op_has_dim(CX, &m, (int)dim);
    return NULL;
  }
  if (dim == 0 || dim == m.ndim - 1) return norm_at_end(c, v, &m, p, dim == 0);
  v = EMIT("aten.transpose.int", "tii", v, (int64_t)0, dim);
  v = norm_except(c, v, p, 0);
  return EMIT("aten.transpose.int", "tii", v, (int64_t)0, dim);
}

static DtStatus norm_except_decomp (DtDecompCall *c) {
  return finish(c, norm_except(c, c->in[0], dt_arg_int(c->args, 1),
                               dt_arg_int(c->args, 2)));
}

static DtStatus weight_norm_decomp (DtDecompCall *c) {
  DtMeta m = meta_of(c, c->in[0]);
  int64_t dim = dt_arg_int(c->args, 2);
  DtHandle *two[2] = { NULL, NULL }, *g;
  if (!dt_emit_ok(c->e)) return c->e->st;
  DT_TRY(CX, op_has_dim(CX, &m, (int)dim));
  if (dim == 0 || dim == m.ndim - 1) {
    dt_emit_n(c->e, "aten._weight_norm_interface.default", two, 2, "ttv",
              c->in[0], c->in[1], c->args->v[2]);
    return finish(c, two[0]);
  }
  g = norm_except(c, c->in[0], 2, dim);
  g = EMIT("aten.div.Tensor", "tt", c->in[1], g);
  return finish(c, EMIT("aten.mul.Tensor", "tt", c->in[0], g));
}

/* ---- fill_diagonal_ ---- */

static DtStatus check_square (DtDecompCall *c, const DtMeta *m) {
  DT_CHECK(CX, m->ndim >= 2, DT_E_RUNTIME, "dimensions must larger than 1");
  for (int i = 1; m->ndim > 2 && i < m->ndim; i++)
    DT_CHECK(CX, m->shape[i] == m->shape[0], DT_E_RUNTIME,
             "all dimensions of input must be of equal length");
  return DT_OK;
}

/* A handle has no storage offset: what begins further
** down is a slice. */
static void fill_from (DtDecompCall *c, DtHandle *x, int64_t size,
                       int64_t step) {
  DtHandle *d = EMIT("aten.as_strided.default", "tIIn", x, 1, &size, 1, &step);
  EMIT("aten.fill_.Scalar", "tv", d, c->args->v[1]);
}

static DtStatus fill_diagonal_decomp (DtDecompCall *c) {
  DtMeta m = meta_of(c, c->in[0]);
  int64_t step = 0;
  if (!dt_emit_ok(c->e)) return c->e->st;
  DT_TRY(CX, check_square(c, &m));
  int64_t rows = m.shape[0], cols = m.shape[1];
  bool wrap = dt_arg_bool(c->args, 2) && m.ndim == 2;
  for (int i = 0; i < m.ndim; i++) step += m.stride[i];
  fill_from(c, c->in[0], rows < cols ? rows : cols, step);
  for (int64_t at = cols + 1; wrap && at < rows; at += cols + 1) {
    DtHandle *x = EMIT("aten.slice.Tensor", "tii", c->in[0], (int64_t)0, at);
    fill_from(c, x, rows - at < cols ? rows - at : cols, step);
  }
  return finish(c, c->in[0]);
}

static const char *const v_samples[] = { "f32[8, 6]", "f32[3, 5, 2], 2, 1",
                                         NULL };
static const char *const vg_samples[] = { "f32[8, 6], f32[8, 1]",
                                          "f32[3, 5, 2], f32[1, 5, 1], 1",
                                          NULL };
static const char *const diagonal_samples[] = { "f32[6, 6], 2.0",
                                                "f32[7, 3], 1.0, True", NULL };

#define COMPOSITE(id, schema_, brief_, flags_, decomp_, samples_) \
  const DtOpDef dt_op_##id = { \
    .schema = "aten::" schema_, .brief = brief_, \
    .flags = DT_OP_COMPOSITE | (flags_), .decomp = decomp_, \
    .samples = samples_ }
COMPOSITE(_weight_norm, "_weight_norm(Tensor v, Tensor g, int dim=0) -> Tensor",
          "A weight from its direction and lengths.", 0, weight_norm_decomp,
          vg_samples);
COMPOSITE(fill_diagonal_, "fill_diagonal_(Tensor(a!) self, Scalar fill_value, "
          "bool wrap=False) -> Tensor(a!)", "A number along the diagonal.",
          DT_OP_INPLACE, fill_diagonal_decomp, diagonal_samples);
COMPOSITE(norm_except_dim, "norm_except_dim(Tensor v, int pow=2, int dim=0) -> "
          "Tensor", "The norm of each slice along a dim.", 0,
          norm_except_decomp, v_samples);
