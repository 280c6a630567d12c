/* SPDX-License-Identifier: MIT
** oplib/op_spatial.h: what the operators over spatial dims share: pooling,
** resizing, padding, sampling.  Private to oplib. */
#ifndef DT_OP_SPATIAL_H
#define DT_OP_SPATIAL_H

#include "kernel/spatial.h"
#include "oplib/oplib_int.h"

/* Sets of dtypes a kernel knows. */
enum {
  OP_T_F3264 = 1, OP_T_HALF = 2, OP_T_I64 = 4, OP_T_INTS = 8 /* and i64 */,
  OP_T_COMPLEX = 16, OP_T_BOOL = 32, OP_T_U8 = 64,
  OP_T_FLOAT = OP_T_F3264 | OP_T_HALF
};
/* NOTIMPL "\"name\" not implemented for 'Long'" unless the set has t. */
DtStatus op_sp_dtype (DtCtx *cx, const char *name, DtDtype t, int set);

/* A result of in's leading dims, then n sizes; keeps in's channels_last
** order when `format` and in has it. */
DtStatus op_sp_result (DtCtx *cx, const DtMeta *in, DtDtype t, int n,
                       const int64_t *size, bool format, DtMeta *out);
/* Are these the strides of channels_last (4-D), channels_last_3d (5-D)? */
bool op_sp_channels_last (const DtMeta *m);
/* "Expected a tensor of dimension 4 and tensor.size[2] == 2 ...". */
DtStatus op_sp_check_dim (DtCtx *cx, const DtMeta *m, int ndim, int dim,
                          int64_t size);
/* A dim that is not the batch and has size 0, -1 when there is none; `nd`
** spatial dims, one channel dim. */
int op_sp_empty_dim (const DtMeta *m, int nd, bool channel);
/* "float", "double": names of C++ types in texts. */
const char *op_sp_ctype (DtDtype t);
/* "f(): expects this dtype" checks that would read beyond the gradient. */
DtStatus op_sp_same_planes (DtCtx *cx, const char *op, const DtMeta *a,
                            const DtMeta *b, int nd);
/* Emit one op on the 2-D form of a 1-D call and squeeze its results. */
DtStatus op_sp_as_2d (DtDecompCall *c, const char *op, int nargs,
                      const DtValue *args);
/* Candidates R, S(0), then what the caller adds, all placements alike. */
DtStatus op_sp_alike (DtStratCall *c, int n, const DtPlacement *pl);

#endif
