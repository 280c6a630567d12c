/* SPDX-License-Identifier: MIT
** tensor/meta.h: what is known of a tensor without its data: dtype, shape,
** strides, device.  Everything a sharding decision needs. */
#ifndef DT_TENSOR_META_H
#define DT_TENSOR_META_H

#include "base/ctx.h"
#include "tensor/dtype.h"

enum { DT_MAX_NDIM = 16 };

typedef struct DtMeta {
  uint8_t dtype;                 /* DtDtype */
  uint8_t device;                /* DtDevice */
  uint8_t ndim;
  bool wrapped;                  /* a Python number turned into a tensor */
  int64_t shape[DT_MAX_NDIM];
  int64_t stride[DT_MAX_NDIM];   /* in elements */
} DtMeta;

/* Contiguous meta.  LIMIT when ndim > DT_MAX_NDIM, RUNTIME for a negative
** size (PyTorch's text), OVERFLOW when the bytes do not fit.  Pure. */
DtStatus dt_meta_init (DtCtx *cx, DtMeta *m, DtDtype dtype, int ndim,
                       const int64_t *shape);
/* Copy / compare only what is in use (not the unused tail).  Pure. */
void dt_meta_copy (DtMeta *dst, const DtMeta *src);
bool dt_meta_equal (const DtMeta *a, const DtMeta *b);      /* with strides */
bool dt_meta_same_shape (const DtMeta *a, const DtMeta *b);
uint64_t dt_meta_hash (uint64_t h, const DtMeta *m);
/* RUNTIME when the number of elements does not fit (an expanded view needs no
** memory).  Pure. */
DtStatus dt_meta_countable (DtCtx *cx, const DtMeta *m);
int64_t dt_meta_numel (const DtMeta *m);
int64_t dt_meta_nbytes (const DtMeta *m);
bool dt_meta_is_contiguous (const DtMeta *m);
/* Strides cover the elements once, in some order of dims.  Pure. */
bool dt_meta_is_dense (const DtMeta *m);
/* Row-major strides for the shape.  Pure. */
void dt_meta_set_contiguous (DtMeta *m);
/* Strides of a new tensor of `shape` that keeps the dim order of `like`
** (torch's empty_like with preserve_format).  Pure. */
void dt_meta_strides_like (DtMeta *m, const DtMeta *like);
/* NumPy broadcasting.  SHAPE with PyTorch's text ("The size of tensor a (3)
** must match the size of tensor b (4) at non-singleton dimension 0").  Pure. */
DtStatus dt_meta_broadcast (DtCtx *cx, const DtMeta *a, const DtMeta *b,
                            DtMeta *out);
/* Dim in [-ndim, ndim) to [0, ndim); a 0-dim tensor counts as one dim.
** INDEX "Dimension out of range (expected to be in range of [-2, 1], but got
** 2)".  Pure. */
DtStatus dt_meta_wrap_dim (DtCtx *cx, int64_t dim, int ndim, int *out);
/* "f32[8, 32]" (dtype tag as DebugMode prints it).  Pure. */
void dt_meta_print (const DtMeta *m, DtBuf *b);

#endif
