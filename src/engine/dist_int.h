/* SPDX-License-Identifier: MIT
** engine/dist_int.h: between the DTensor calls and their gradients. */
#ifndef DT_ENGINE_DIST_INT_H
#define DT_ENGINE_DIST_INT_H

#include "engine/engine_int.h"

/* A numbered call that is no operator (events FUNC with text and no op). */
typedef struct DtApi {
  const char *name;
  const DtOpDef *op; int64_t seq;     /* of the call around it */
  const char *file; int line;
  const char *at; int at_line;        /* of this one; NULL = not asked */
} DtApi;
DtStatus dt_api_begin (DtSession *s, DtApi *a, const char *name, int nin,
                       DtVar *const *in);
DtStatus dt_api_end (DtSession *s, const DtApi *a, int nin, DtVar *const *in,
                     DtVar **out, DtStatus st);

/* Record the backward of each call: `in` became `out`. */
DtStatus dt_from_local_grad (DtSession *s, DtVar *in, DtVar *out,
                             const DtPlacement *gpl, int npl);
DtStatus dt_to_local_grad (DtSession *s, DtVar *in, DtVar *out,
                           const DtPlacement *gpl, int ngpl);
DtStatus dt_redistribute_grad (DtSession *s, DtVar *in, DtVar *out,
                               const DtSpec *src, DtDtype op_dtype,
                               DtDtype out_dtype);

#endif
