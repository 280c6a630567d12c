/* SPDX-License-Identifier: MIT
** op/rows.h: rules for one mesh dimension, as rows of placements.
**
** A row lists outputs first, then tensor inputs in slot order (positional,
** then keyword ones).  In the text form:  "S(0), R -> S(0)" (inputs ->
** outputs).  S(d) is a placeholder for any shard kind found among the inputs
** (plain or strided); =S(d) is exactly Shard(d).  P(sum), P(avg)... R and "-"
** (None).  All-Replicate is inserted first when no row says it.
** All functions here are Local. */
#ifndef DT_OP_ROWS_H
#define DT_OP_ROWS_H

#include "mesh/placement.h"

enum { DT_MAX_ROW = 512 };      /* placements in a row (outputs + inputs) */

typedef enum DtCellKind {
  DT_C_NONE, DT_C_R, DT_C_SHARD /* placeholder */, DT_C_FIXED
} DtCellKind;
typedef struct DtCell {
  uint8_t kind;                 /* DtCellKind */
  int16_t dim;                  /* SHARD */
  DtPlacement pl;               /* FIXED (shards, partials) */
} DtCell;

/* Growing list of rows, all of the same width. */
typedef struct DtRows {
  DtCtx *cx; DtArena *arena;
  int nout, nin, n, cap;
  DtCell *cells;                /* n rows of nout + nin */
  DtStatus st;                  /* sticky */
} DtRows;

/* Cells for building rows. */
DtCell dt_c_none (void);
DtCell dt_c_r (void);
DtCell dt_c_s (int dim);                       /* placeholder */
DtCell dt_c_fix (DtPlacement p);
DtCell dt_c_p (DtRedOp op);                    /* P(op) */

void dt_rows_init (DtRows *r, DtCtx *cx, DtArena *arena, int nout, int nin);
/* Append a row: `cells` has nout + nin entries.  Sticky errors. */
void dt_rows_add (DtRows *r, const DtCell *cells);
/* Append from text "R, S(1) -> S(1)".  PARSE is sticky. */
void dt_rows_text (DtRows *r, const char *text);
/* Number of inputs and outputs of a row's text.  PARSE.  Pure. */
DtStatus dt_row_arity (DtCtx *cx, const char *text, int *nin, int *nout);
/* Masks made by a rule function belong to its rows: one reference for each
** mask, however many cells show it.  Let go of them. */
void dt_rows_unref_masks (DtRows *r);
/* Print a row in the text form.  Pure. */
void dt_row_print (const DtRows *r, int row, DtBuf *b);

#endif
