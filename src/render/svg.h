/* SPDX-License-Identifier: MIT
** render/svg.h: pictures as SVG: meshes, layouts, timelines; no scripts, no
** outside assets.  Colours are classes, which the page defines for light and
** dark.  All functions here are Pure: model in, buffer out. */
#ifndef DT_RENDER_SVG_H
#define DT_RENDER_SVG_H

#include "debug/spans.h"
#include "mesh/spec.h"

/* Text with & < > " escaped. */
void dt_xml (DtBuf *b, const char *text);
/* The ranks of a mesh, its last two dims as a grid. */
void dt_svg_mesh (DtCtx *cx, const DtMesh *m, DtBuf *b);
/* Who holds what.  NOMEM. */
DtStatus dt_svg_layout (DtCtx *cx, const DtSpec *s, DtBuf *b);
/* One lane of operators and one of collectives for each rank; `v[r]` are the
** n[r] spans of rank r. */
void dt_svg_timeline (int nranks, DtSpan *const *v, const int *n, DtBuf *b);
/* Chrome's trace format (trace.c): one process per rank.  NOMEM. */
DtStatus dt_trace_json (DtCtx *cx, int nranks, DtSpan *const *v, const int *n,
                        DtBuf *b);

#endif
