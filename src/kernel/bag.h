/* SPDX-License-Identifier: MIT
** kernel/bag.h: bags of rows of a table; rows cut to a length. */
#ifndef DT_KERNEL_BAG_H
#define DT_KERNEL_BAG_H

#include "tensor/tensor.h"

typedef enum DtBagMode { DT_BAG_SUM, DT_BAG_MEAN, DT_BAG_MAX } DtBagMode;

typedef struct DtBagCall {
  DtBagMode mode;
  const DtTensor *weight;       /* (rows, len) */
  const DtTensor *indices;      /* (n), integers */
  const DtTensor *offsets;      /* (nbags), or (nbags + 1) with last_given;
                                ** never falling, the last <= n */
  const DtTensor *scale;        /* (n), for each row, or NULL */
  int64_t padding;              /* a row that does not count; < 0: none */
  bool last_given;              /* the last bag's sum ends at offsets' end; its
                                ** indices are counted to their end all the
                                ** same */
  DtTensor *out;                /* (nbags, len) */
  int64_t *bag_of;              /* [n] the bag of each index, or NULL */
  int64_t *count;               /* [nbags] rows in each, or NULL */
  int64_t *largest;             /* [nbags * len] MAX: the row; or NULL */
} DtBagCall;

/* Fill out, and what else is wanted.  Local.  Errors: RUNTIME (an index that
** names no row, with PyTorch's text), META_NO_DATA, NOMEM. */
DtStatus dt_k_bag (DtCtx *cx, const DtBagCall *k);

typedef struct DtBagGrad {
  DtBagMode mode;
  const DtTensor *grad;         /* (nbags, len) of the bags */
  const DtTensor *indices;      /* (n) */
  const DtTensor *bag_of;       /* (n) the bag of each, or empty: `offsets` */
  const DtTensor *offsets;      /* (nbags) or more */
  const DtTensor *count;        /* (nbags): MEAN, MAX */
  const DtTensor *largest;      /* (nbags, len): MAX, the row each is of */
  const DtTensor *scale;        /* (n) or NULL */
  bool by_count;                /* divide by how often a row is asked for */
  int64_t padding;              /* as DtBagCall */
} DtBagGrad;

/* out (rows, len) = the gradient of the table.  Local.  Errors as dt_k_bag();
** sizes that are not those of one call: RUNTIME. */
DtStatus dt_k_bag_backward (DtCtx *cx, const DtBagGrad *k, DtTensor *out);
/* out (n) = the gradient of `scale`: of each index the product of its bag's
** gradient and its row of `weight`.  Local.  Errors as above. */
DtStatus dt_k_bag_scale_backward (DtCtx *cx, const DtBagGrad *k,
                                  const DtTensor *weight, DtTensor *out);

/* Rows of `table` (rows, len) that `indices` name and whose p-norm is above max
** become max / norm times themselves.  Local.  Errors: INDEX, NOMEM. */
DtStatus dt_k_renorm_rows (DtCtx *cx, DtTensor *table, const DtTensor *indices,
                           double max, double p);

#endif
