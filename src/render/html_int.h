/* SPDX-License-Identifier: MIT
** render/html_int.h: what the files of the page share. */
#ifndef DT_RENDER_HTML_INT_H
#define DT_RENDER_HTML_INT_H

#include "render/html.h"

/* Text with & < > " escaped; NULL is nothing.  Pure. */
void dt_html_text (DtBuf *b, const char *s);
/* Its first n bytes.  Pure. */
void dt_html_text_n (DtBuf *b, const char *s, size_t n);
/* "repro.lua:14 ", a link to the line of the source; nothing for line 0.
** Pure. */
void dt_html_place (DtBuf *b, const char *file, int line);

/* The last name of each variable: the record's log, turned over. */
typedef struct DtVarNames {
  int size;                     /* of both; a power of 2 */
  int64_t *id; const char **name;
} DtVarNames;

/* NOMEM.  Local. */
DtStatus dt_var_names_new (DtCtx *cx, const DtRecord *k, DtVarNames *out);
void dt_var_names_free (DtCtx *cx, DtVarNames *n);
/* NULL: nobody named it.  Pure. */
const char *dt_var_name (const DtVarNames *n, const DtRecVar *v);

/* The section of all operators, folded by hundreds, with its search.  NOMEM.
** Pure. */
DtStatus dt_html_operators (const DtPage *p, const DtVarNames *names, DtBuf *b);
/* The section of parameters.  Pure. */
void dt_html_parameters (const DtPage *p, DtBuf *b);

#endif
