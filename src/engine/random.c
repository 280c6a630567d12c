/* SPDX-License-Identifier: MIT
** engine/random.c: random numbers of distributed tensors.
**
** Devices with a generator state (not the cpu) share one sequence: each shard
** starts where its elements begin, and all ranks end at the same place
** (OffsetBasedRNGTracker).  On a cpu mesh there is no
** tracker: every rank draws from its own generator, as in PyTorch. */
#include "engine/engine_int.h"

#include <string.h>
#include "mesh/layout.h"

/* ORDER torch/distributed/tensor/_dispatch.py: the operators it knows. */
static bool is_tracked (const DtOpDef *op) {
  static const char *const names[] = {
    "aten.native_dropout.default", "aten.normal_.default",
    "aten.rand_like.default", "aten.randn_like.default",
    "aten.randint_like.default", "aten.randint_like.low_dtype",
    "aten.randint_like.low_dtype_out", "aten.uniform_.default",
    "aten.bernoulli.default", "aten.bernoulli_.float",
  };
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
    if (strcmp(op->sig->full, names[i]) == 0) return true;
  return false;
}

static bool has_tracker (const DtMesh *m) {
  return m->device == DT_DEV_CUDA || m->device == DT_DEV_NPU;
}

static int64_t round_up_to_4 (int64_t n) { return (n + 3) / 4 * 4; }

void dt_rng_offsets (const DtSpec *spec, int64_t *start, int64_t *end,
                     int64_t *first) {
  int64_t idx[DT_MAX_NDIM] = { 0 }, num[DT_MAX_NDIM];
  const DtMeta *m = &spec->meta;
  int64_t linear = 0, size = 1;
  for (int d = 0; d < m->ndim; d++) num[d] = 1, first[d] = m->shape[d];
  for (int k = 0; k < spec->npl && k < spec->mesh->ndim; k++) {
    DtPlacement p = spec->pl[k];
    int64_t n = spec->mesh->shape[k], off;
    if (!dt_pl_is_shard_like(p) || p.dim < 0 || p.dim >= m->ndim) continue;
    idx[p.dim] = idx[p.dim] * n + spec->mesh->coord[k];
    num[p.dim] *= n;
    if (p.kind == DT_PL_STRIDED)
      dt_strided_size(m->shape[p.dim], p.u.sf, n, 0, &first[p.dim], &off);
    else
      dt_shard_size(m->shape[p.dim], n, 0, &first[p.dim], &off);
  }
  for (int d = 0; d < m->ndim; d++) {
    linear = linear * num[d] + idx[d];
    size *= first[d];
  }
  *start = round_up_to_4(linear * size);
  *end = round_up_to_4(dt_meta_numel(m));
}

/* The tracker starts with rank 0's state on all ranks. */
static DtStatus tracker_start (DtSession *s) {
  uint64_t state[2] = { s->rng.device.seed, s->rng.device.offset };
  DtCollInfo info = { "broadcast_", sizeof state, "RNG state", "", "" };
  s->dist_rng = true;
  if (dt_session_no_data(s) || s->comm == NULL || dt_session_size(s) == 1)
    return DT_OK;
  DT_TRY(s->cx, dt_comm_broadcast(s->cx, dt_session_ranks(s), &info, state,
                                  sizeof state, 0));
  s->rng.device.seed = state[0];
  s->rng.device.offset = state[1];
  return DT_OK;
}

/* What PyTorch says where a device keeps no state of its generator. */
static void warn_no_tracker (DtSession *s, const DtMesh *m) {
  DtBuf b;
  dt_buf_init(&b, s->cx);
  dt_buf_addf(&b, "DTensor random operators may not have complete support on "
              "%s device mesh", m->device_name);
  dt_session_warn(s, dt_buf_str(&b));
  dt_buf_fini(&b);
}

DtStatus dt_rng_region_begin (DtSession *s, const DtOpDef *op,
                              const DtSpec *spec, DtRngRegion *r) {
  int64_t start, end, first[DT_MAX_NDIM];
  r->on = false;
  if (s->warn_random && spec != NULL && !has_tracker(spec->mesh) &&
      is_tracked(op))
    warn_no_tracker(s, spec->mesh);
  if (spec == NULL || !has_tracker(spec->mesh) || !is_tracked(op)) return DT_OK;
  if (!s->dist_rng) DT_TRY(s->cx, tracker_start(s));
  dt_rng_offsets(spec, &start, &end, first);
  r->on = true;
  r->old = s->rng.device.offset;
  r->end = r->old + (uint64_t)end;
  s->rng.device.offset += (uint64_t)start;
  return DT_OK;
}

void dt_rng_region_end (DtSession *s, const DtRngRegion *r) {
  if (r->on) s->rng.device.offset = r->end;
}
