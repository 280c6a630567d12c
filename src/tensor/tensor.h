/* SPDX-License-Identifier: MIT
** tensor/tensor.h: a dense strided tensor of one process: a view (meta +
** offset) of reference-counted storage.  No placement, no autograd.
** All functions here are Local. */
#ifndef DT_TENSOR_TENSOR_H
#define DT_TENSOR_TENSOR_H

#include "tensor/meta.h"

/* Reference-counted bytes of one rank.  A snapshot shares `data` until
** somebody writes (copy on write), which is what makes going back cheap. */
typedef struct DtBlock {
  int64_t refs;
  int64_t kept;           /* of these, the record's (debug/record.c) */
  size_t nbytes; void *data;
} DtBlock;
typedef struct DtStorage {
  int64_t refs;
  size_t nbytes;
  DtBlock *block;         /* NULL: no data (meta, fake) */
  int64_t version;        /* bumped by every in-place write */
  int64_t unseen;         /* of these, the ones that autograd does not count:
                          ** what c10d's collectives and x.data write */
  int64_t id;             /* unique per context */
  bool refilled;         /* its memory is new: who writes next brings its data back */
  bool drawn;             /* of random numbers that nobody seeded: kept by
                          ** diag/ */
  uint8_t cut;            /* came through a collective that autograd does not
                          ** see: kept by diag/ */
} DtStorage;

/* The elements are those of the storage, conjugated or negated: lazy, as
** PyTorch's bits.  A view has its base's marks.  Kernels read the storage as it
** is, so the dispatcher writes such tensors out first (engine/marks.c). */
enum { DT_MARK_CONJ = 1, DT_MARK_NEG = 2 };

/* Writes through x.data and its views, which those of x do not count. */
typedef struct DtWrites {
  int64_t refs, n;
} DtWrites;

typedef struct DtTensor {
  DtMeta m;
  uint8_t marks;
  int64_t refs;
  int64_t offset;         /* in elements */
  DtStorage *storage;
  DtWrites *own;          /* NULL: the storage counts */
} DtTensor;

/* Uninitialised tensor with the strides of `m`; no data when `m->device` is
** META or `nodata`.  Caller owns one reference.  NOMEM. Local. */
DtStatus dt_tensor_new (DtCtx *cx, const DtMeta *m, bool nodata,
                        DtTensor **out);
/* A view with its own meta and offset, sharing storage.  The caller must have
** checked bounds (dt_tensor_fits).  Local. */
DtStatus dt_tensor_view (DtCtx *cx, DtTensor *base, const DtMeta *m,
                         int64_t offset, DtTensor **out);
bool dt_tensor_fits (const DtTensor *base, const DtMeta *m, int64_t offset);
/* The same elements as a tensor whose writes, and those of its views, are counted
** apart (x.data).  Caller owns one reference.  NOMEM.  Local. */
DtStatus dt_tensor_apart (DtCtx *cx, DtTensor *t, DtTensor **out);
/* A user wrote into it. */
void dt_tensor_count_write (DtTensor *t);
/* How often that was, as autograd counts.  Pure. */
int64_t dt_tensor_writes (const DtTensor *t);
/* The last `n` are not to count. */
void dt_tensor_forget_writes (DtTensor *t, int64_t n);
DtTensor *dt_tensor_ref (DtTensor *t);
void dt_tensor_unref (DtCtx *cx, DtTensor *t);     /* NULL accepted */
bool dt_tensor_has_data (const DtTensor *t);
/* The storage lets go of its memory, for all tensors of it, and gets zeros of the
** same size again (PyTorch's storage.resize_(0) and back).  What had no data, or has
** some again, stays as it is.  NOMEM.  Local. */
void dt_tensor_drop (DtCtx *cx, DtTensor *t);
DtStatus dt_tensor_refill (DtCtx *cx, DtTensor *t, bool nodata);
/* First element for reading.  NULL when no data or empty.  Pure. */
const void *dt_tensor_cdata (const DtTensor *t);
/* First element for writing: takes the block out of sharing with snapshots
** (copies when shared).  Bumps nothing: callers that write in place on behalf
** of a user bump storage->version.  NOMEM, META_NO_DATA.  Local. */
DtStatus dt_tensor_data (DtCtx *cx, DtTensor *t, void **out);
/* Snapshot of a storage's bytes (shares the block) and back.  Local. */
DtStatus dt_block_snapshot (DtCtx *cx, DtStorage *s, DtBlock **out);
void dt_block_restore (DtCtx *cx, DtStorage *s, DtBlock *b);
void dt_block_unref (DtCtx *cx, DtBlock *b);
/* Read one element by index (row-major list), for printing and tests; marks
** are applied, here and by item. */
DtScalar dt_tensor_get (const DtTensor *t, const int64_t *index);
/* The single element of a one-element tensor.  RUNTIME "a Tensor with 6
** elements cannot be converted to Scalar". */
DtStatus dt_tensor_item (DtCtx *cx, const DtTensor *t, DtScalar *out);
/* Bitwise equality of shape, dtype and values (NaN equals itself).  Pure. */
bool dt_tensor_identical (const DtTensor *a, const DtTensor *b);

/* Options of printing, as torch.set_printoptions. */
typedef struct DtPrintOpts {
  int precision, threshold, edgeitems, linewidth; bool sci_mode, sci_set;
} DtPrintOpts;
void dt_print_defaults (DtPrintOpts *o);
/* The values as PyTorch prints them, without "tensor(": nested brackets,
** aligned, summarised with "..." when large; `indent` columns are taken. */
void dt_tensor_print (const DtTensor *t, const DtPrintOpts *o, int indent,
                      DtBuf *b);

#endif
