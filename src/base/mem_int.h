/* SPDX-License-Identifier: MIT
** base/mem_int.h: allocation that does not raise, for the code that raising
** itself depends on (errors and buffers). */
#ifndef DT_BASE_MEM_INT_H
#define DT_BASE_MEM_INT_H

#include "base/mem.h"

/* dt_realloc without an error: NULL on failure, `p` stays valid.  Local. */
void *dt_mem_realloc_quiet (DtCtx *cx, void *p, size_t n);
/* Give the free blocks kept for reuse back to the C library.  Local. */
void dt_mem_trim (DtCtx *cx);

#endif
