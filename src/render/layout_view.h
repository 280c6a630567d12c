/* SPDX-License-Identifier: MIT
** render/layout_view.h: pictures of layouts. */
#ifndef DT_RENDER_LAYOUT_VIEW_H
#define DT_RENDER_LAYOUT_VIEW_H

#include "mesh/spec.h"

/* Append a table of ranks with local shapes and ranges, and for one or two
** tensor dims a picture of owners; empty shards and Partial are said.  A spec
** without meta is an error of the caller.  NOMEM.  Pure. */
DtStatus dt_layout_view (DtCtx *cx, const DtSpec *s, DtBuf *b);

#endif
