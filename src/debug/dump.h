/* SPDX-License-Identifier: MIT
** debug/dump.h: a record as bytes: written to a file, read without the script
** that made it.
**
** A file: magic, version, number of parts, size of the world, 0; then for each
** part, one a rank (one for all in a pretended world), where it
** lies and the part's hash, then the parts, compressed by zstd: what a step
** changes is a small part of what it keeps, and what a rank has is to a large
** part what another one has: behind dt_dump_base()'s part as its prefix.  In
** version 5 each part stood by itself; version 7 leaves out what arithmetic
** guesses (dt_dump_guess).  Which results were shown stands in the bits above the one
** that says that an operator ended: readers that do not know them see that it did.
** Numbers are little-endian, so that a record of a build machine opens on a laptop. */
#ifndef DT_DEBUG_DUMP_H
#define DT_DEBUG_DUMP_H

#include "debug/debug.h"

enum { DT_DUMP_VERSION = 7, DT_DUMP_OLDEST = 5 };

/* Sources go along, so that lines can be shown, and an annex: what others know
** of the record (findings), bytes that nobody here looks into. */
typedef struct DtDumpSources {
  void *ud;
  /* The whole text of a source, appended to `out`; false when unknown. */
  bool (*get) (void *ud, const char *name, DtBuf *out);
  void (*put) (void *ud, const char *name, const char *text, size_t n);
  void (*annex) (void *ud, DtBuf *out);
  void (*put_annex) (void *ud, const char *p, size_t n);
} DtDumpSources;

/* This rank's part.  `values`: with what tensors held.  NOMEM.  Local. */
DtStatus dt_dump_write (DtDebug *d, const DtDumpSources *s, bool values,
                        DtBuf *out);
/* Replace the record by a part.  What is wrong with the bytes is an IO error;
** the old record stays.  Nothing is recorded afterwards until :record on.
** Local. */
DtStatus dt_dump_read (DtDebug *d, const DtDumpSources *s, const char *p,
                       size_t n);

/* Could it have been recorded?  Asked of what was read, piece by piece: parts
** of a spec (meta, order: NULL when it has none), and a whole entry.  Pure. */
bool dt_dump_sound_spec (const DtMesh *mesh, int n, const DtPlacement *pl,
                         const DtMeta *meta, const DtShardOrder *order);
bool dt_dump_sound (const DtRecOp *r);

/* The n numbers that an elementwise operator gives by plain arithmetic on what
** its entry's inputs held, before its results are there; the same bits on every
** machine.  false: nobody can say.  Trusts no number of the entry.  Pure. */
bool dt_dump_guess (const DtRecOp *r, float *out, size_t n);

/* A part as a file has it: compressed, in the place of the bytes given.  `base`:
** the part of dt_dump_base() as it was before that, NULL where there is none.
** NOMEM.  Local. */
DtStatus dt_dump_pack (DtCtx *cx, DtBuf *part, const char *base, size_t nbase);

/* The lower rank whose part is the prefix of this rank's: the one that lies at
** the same place of inner mesh dimensions, half a world or less away; -1 for
** rank 0.  Pure. */
int dt_dump_base (int rank);

/* Bytes of the head for `ranks` parts; write it (len and hash by rank).
** Pure. */
size_t dt_dump_head_size (int ranks);
void dt_dump_head (DtBuf *out, int ranks, int world, const uint64_t *len,
                   const uint64_t *hash);
uint64_t dt_dump_hash (const char *p, size_t n);
/* Is there a file of this name that is no record, and holds something: a program
** that a record would replace?  Local. */
bool dt_dump_is_other (const char *path);
/* How many parts a file has, and the size of its world (larger when it was a
** pretended one); IO with what is wrong: not a record, another version, cut
** short.  Local. */
DtStatus dt_dump_peek (DtCtx *cx, const char *path, int *ranks, int *world);
/* The part of `rank`, as it was before dt_dump_pack, owned by the caller; IO.
** Local. */
DtStatus dt_dump_part (DtCtx *cx, const char *path, int rank, char **p,
                       size_t *n);

/* --- diff.c --- */
typedef struct DtRecSum { int64_t ops, colls, bytes; } DtRecSum;
typedef struct DtRecDiff {
  bool same;
  int64_t equal;                /* operators that are, from the first on */
  const DtRecOp *at[2];         /* the first that differ, of the records */
  DtRecSum sum[2];
} DtRecDiff;
/* Compare two records operator by operator: the first difference in operator,
** inputs, results, collectives, values; then sums.  As text and as data.
** Local. */
void dt_record_diff (DtDebug *a, const DtRecord *x, const char *xname,
                     const DtRecord *y, const char *yname, DtBuf *out,
                     DtRecDiff *res);

#endif
