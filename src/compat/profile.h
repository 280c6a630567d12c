/* SPDX-License-Identifier: MIT
** compat/profile.h: what a PyTorch release or a device type changes.  Data,
** no algorithms: profiles.def has a row per switch, devices.def one per
** device, each with its source. */
#ifndef DT_COMPAT_PROFILE_H
#define DT_COMPAT_PROFILE_H

#include "base/buf.h"
#include "base/ctx.h"
#include "compat/release.h"
#include "tensor/dtype.h"

typedef enum DtSwitch {
#define X(name, ...) DT_SW_##name,
#include "compat/profiles.def"
#undef X
  DT_NSWITCHES
} DtSwitch;

typedef struct DtDeviceInfo {
  const char *name;             /* "npu" */
  DtDevice device;
  const char *sdpa;             /* fused attention op SDPA reaches, or "" */
  const char *own_type;         /* "XLAShardedTensor" or "" */
  int64_t devices_per_host;     /* of the cost model */
  const char *note;             /* source */
} DtDeviceInfo;

typedef struct DtProfile {
  int release;                  /* DT_FIRST_RELEASE .. DT_LAST_RELEASE */
  const DtDeviceInfo *device;
  int sw[DT_NSWITCHES];         /* value of each switch in this release */
} DtProfile;

typedef struct DtSwitchInfo {
  const char *name, *doc, *source; int since, until, on, off;
} DtSwitchInfo;
/* Fill from "2.6" ("torch-2.6", "2.6.0" too) and "npu".  KEY naming the known
** ones.  Pure. */
DtStatus dt_profile_init (DtCtx *cx, DtProfile *p, const char *release,
                          const char *device);
static inline int dt_switch (const DtProfile *p, DtSwitch s) {
  return p->sw[s];
}
/* Tell the context the release: for texts, and what kernels do otherwise.
** Local. */
static inline void dt_profile_tell (const DtProfile *p, DtCtx *cx) {
  cx->release = p->release;
  cx->bf16_complex = p->sw[DT_SW_BF16_COMPLEX] != 0;
  cx->arange_in_float = p->sw[DT_SW_ARANGE_COUNTS_IN_FLOAT] != 0;
  cx->linspace_in_float = p->sw[DT_SW_LINSPACE_IN_FLOAT] != 0;
}
/* What strict views do in the release: DtViewRules.  Pure. */
static inline int dt_profile_views (const DtProfile *p) {
  return p->sw[DT_SW_VIEW_REPLICATES] | p->sw[DT_SW_VIEW_FLATTEN_REFUSED];
}
/* The value of a switch in `release`, where there is no profile.  Pure. */
int dt_switch_in (DtSwitch s, int release);
/* Has operator `name` ("aten.mm.default") a sharding strategy in `release`, by
** the lines "strategy" of the .ops texts?  Operators of other namespaces than
** aten and prims: true.  Pure. */
bool dt_profile_has_op (const char *name, int release);
const DtSwitchInfo *dt_switch_info (DtSwitch s);

#endif
