/* SPDX-License-Identifier: MIT
** kernel/spatial.h: arithmetic over the last one to three dims of a tensor,
** its spatial dims; everything before them is planes.
**
** Two shapes of work cover pooling, resizing and padding.  A linear map that
** is separable (averages, interpolation, mirrored borders) is a list of taps
** for each dim: output position i of the dim reads taps start[i]..start[i+1]
** and divides by div[i].  Its transpose is its gradient.  A maximum over
** windows is a range of positions for each dim; its gradient scatters by the
** indices found.  Adding an operator of either kind means filling tables.
** All functions are Local; outputs arrive allocated, any strides; errors:
** NOMEM, INTERRUPTED, RUNTIME for indices out of range. */
#ifndef DT_KERNEL_SPATIAL_H
#define DT_KERNEL_SPATIAL_H

#include "tensor/tensor.h"

enum { DT_MAX_SPATIAL = 3 };

/* Taps of one dim, of size `in`, read by `out` positions. */
typedef struct DtTaps {
  int64_t in, out;
  int64_t *start;               /* out + 1 */
  int64_t *index;               /* of taps, within [0, in) */
  double *weight;               /* of taps */
  double *div;                  /* out */
  int64_t at, ntaps, cap;       /* while filling */
} DtTaps;

/* Room for `out` positions of at most `most` taps each.  Caller calls
** dt_taps_fini in every case. */
DtStatus dt_taps_init (DtCtx *cx, DtTaps *t, int64_t in, int64_t out,
                       int64_t most);
void dt_taps_fini (DtCtx *cx, DtTaps *t);
/* A tap of the position being filled; positions outside are left out. */
void dt_taps_add (DtTaps *t, int64_t index, double weight);
/* The position is complete. */
void dt_taps_next (DtTaps *t, double div);

/* How results are formed. */
typedef struct DtResample {
  int nd;                       /* spatial dims */
  const DtTaps *taps;           /* nd */
  double div;                   /* instead of the taps' own; 0: theirs */
  bool rounds;                  /* sums are kept in the tensors' own type, as
                                ** some loops of PyTorch do with f16, bf16
                                ** (forward: only taps of weight 1) */
} DtResample;
/* out = the map of a; integers are truncated once, at the end. */
DtStatus dt_k_resample (DtCtx *cx, const DtResample *r, const DtTensor *a,
                        DtTensor *out);
/* gin = the transposed map of g; integers are truncated before summing. */
DtStatus dt_k_resample_back (DtCtx *cx, const DtResample *r,
                             const DtTensor *g, DtTensor *gin);
/* The same where every position has one tap of weight 1: elements are copied,
** whatever their type. */
DtStatus dt_k_pick (DtCtx *cx, const DtResample *r, const DtTensor *a,
                    DtTensor *out);
/* The map of bytes with weights of fixed point and bytes between the dims,
** last dim first, as image libraries do. */
DtStatus dt_k_resample_u8 (DtCtx *cx, const DtResample *r, const DtTensor *a,
                           DtTensor *out);

/* Windows of one dim: position i covers lo[i], lo[i]+step.. below hi[i]. */
typedef struct DtWindow {
  int64_t in, out, step;
  int64_t *lo, *hi;             /* out, or planes * out */
  bool per_plane;
} DtWindow;
DtStatus dt_window_init (DtCtx *cx, DtWindow *w, int64_t in, int64_t out,
                         int64_t step, int64_t planes);
void dt_window_fini (DtCtx *cx, DtWindow *w);
/* Largest element of each window and its place within the plane (i64); the
** first on ties, the last NaN.  An empty window gives the place of its
** corner. */
DtStatus dt_k_window_max (DtCtx *cx, int nd, const DtWindow *w,
                          const DtTensor *a, DtTensor *value,
                          DtTensor *index);
/* out (zeroed here) at `index` within the plane += g. */
DtStatus dt_k_plane_add (DtCtx *cx, int nd, const DtTensor *g,
                         const DtTensor *index, DtTensor *out);
/* out (zeroed here) at `index` within the plane = a.  RUNTIME "Found an
** invalid max index". */
DtStatus dt_k_plane_set (DtCtx *cx, int nd, const DtTensor *a,
                         const DtTensor *index, DtTensor *out);

/* Sliding blocks: in[n, c, *x] to or from cols[n, c * prod(k), prod(y)]. */
typedef struct DtBlocks {
  int nd;
  int64_t n, c, x[3], k[3], y[3], stride[3], pad[3], dil[3];
} DtBlocks;
DtStatus dt_k_unfold (DtCtx *cx, const DtBlocks *b, const DtTensor *in,
                      DtTensor *cols);
/* Sums what overlaps. */
DtStatus dt_k_fold (DtCtx *cx, const DtBlocks *b, const DtTensor *cols,
                    DtTensor *out);

/* Convolution of x[n, c, *x] with w[o, c / groups, *k] into y[n, o, *y]; dims
** that are missing have size 1 and come first.  Makes one of the three from the
** other two: the result, or a gradient (which is also what a transposed
** convolution is).  bias[channels of what is made], or NULL.  Computed in f32
** or f64, whichever the type made is nearer to, and rounded once. */
typedef struct DtConv {
  int64_t n, c, o, groups, x[3], y[3], k[3], stride[3], pad[3], dil[3];
} DtConv;
typedef enum DtConvMake { DT_CONV_X, DT_CONV_W, DT_CONV_Y } DtConvMake;
DtStatus dt_k_conv (DtCtx *cx, DtConvMake make, const DtConv *v, DtTensor *x,
                    DtTensor *w, DtTensor *y, const DtTensor *bias);

/* Samples of a at places given by grid (last dim: x, y[, z] in [-1, 1]).
** `mode`: 0 linear, 1 nearest, 2 cubic; `pad`: 0 zeros, 1 border,
** 2 reflection. */
typedef struct DtGridSample { int nd, mode, pad; bool align; } DtGridSample;
DtStatus dt_k_grid_sample (DtCtx *cx, const DtGridSample *s,
                           const DtTensor *a, const DtTensor *grid,
                           DtTensor *out);
/* Either gradient may be NULL. */
DtStatus dt_k_grid_sample_back (DtCtx *cx, const DtGridSample *s,
                                const DtTensor *g, const DtTensor *a,
                                const DtTensor *grid, DtTensor *ga,
                                DtTensor *ggrid);

#endif
