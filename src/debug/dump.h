/* SPDX-License-Identifier: MIT
** debug/dump.h: a record as bytes: written to a file, read without the script
** that made it.
**
** A file: magic, version, number of ranks, then for each rank where its part
** lies and the part's hash, then the parts.  Numbers are little-endian, so
** that a record of a build machine opens on a laptop. */
#ifndef DT_DEBUG_DUMP_H
#define DT_DEBUG_DUMP_H

#include "debug/debug.h"

enum { DT_DUMP_VERSION = 1 };

/* Sources go along, so that lines can be shown. */
typedef struct DtDumpSources {
  void *ud;
  /* The whole text of a source, appended to `out`; false when unknown. */
  bool (*get) (void *ud, const char *name, DtBuf *out);
  void (*put) (void *ud, const char *name, const char *text, size_t n);
} DtDumpSources;

/* This rank's part.  `values`: with what tensors held.  NOMEM.  Local. */
DtStatus dt_dump_write (DtDebug *d, const DtDumpSources *s, bool values,
                        DtBuf *out);
/* Replace the record by a part.  What is wrong with the bytes is an IO error;
** the old record stays.  Nothing is recorded afterwards until :record on.
** Local. */
DtStatus dt_dump_read (DtDebug *d, const DtDumpSources *s, const char *p,
                       size_t n);

/* Bytes of the head for `ranks` parts; write it (len and hash by rank).
** Pure. */
size_t dt_dump_head_size (int ranks);
void dt_dump_head (DtBuf *out, int ranks, const uint64_t *len,
                   const uint64_t *hash);
uint64_t dt_dump_hash (const char *p, size_t n);
/* How many ranks a file is of; IO with what is wrong: not a record, another
** version, cut short.  Local. */
DtStatus dt_dump_peek (DtCtx *cx, const char *path, int *ranks);
/* The part of `rank`, owned by the caller; IO.  Local. */
DtStatus dt_dump_part (DtCtx *cx, const char *path, int rank, char **p,
                       size_t *n);

/* --- diff.c --- */
/* Compare two records operator by operator: the first difference in operator,
** inputs, results, collectives, values; then sums.  Local. */
void dt_record_diff (DtDebug *a, const DtRecord *x, const char *xname,
                     const DtRecord *y, const char *yname, DtBuf *out,
                     bool *same);

#endif
