/* SPDX-License-Identifier: MIT
** render/html.h: a record as one page: nothing is fetched; its only script
** searches the operators, and without it the page shows the same. */
#ifndef DT_RENDER_HTML_H
#define DT_RENDER_HTML_H

#include "diag/finding.h"
#include "render/svg.h"

/* A parameter of the program's modules; or a variable of its own. */
typedef struct DtPageParam {
  const char *name;             /* "model.layers[0].weight" */
  const DtVar *var;
  bool variable;
} DtPageParam;

/* What the page is made of; everything is borrowed. */
typedef struct DtPage {
  DtCtx *cx;
  const char *title;            /* name of the script */
  int nranks;
  DtDebug *d;                   /* record of this rank */
  const DtDiag *diag;           /* NULL: none */
  const char *failure;          /* the report of what failed last, NULL */
  const char *file; int line;   /* where that was; NULL: not known */
  DtSpan *const *span; const int *nspan;        /* by rank */
  int nparam; const DtPageParam *param;
  /* Line `line` (from 1) of a source; NULL past its end or unknown. */
  const char *(*source) (void *ud, const char *file, int line, size_t *n);
  void *ud;
} DtPage;

/* Append the page.  NOMEM.  Pure. */
DtStatus dt_html_page (const DtPage *p, DtBuf *b);

#endif
