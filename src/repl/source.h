/* SPDX-License-Identifier: MIT
** repl/source.h: Lua text as people type and paste it at a prompt. */
#ifndef DT_REPL_SOURCE_H
#define DT_REPL_SOURCE_H

#include "base/ctx.h"

#define DT_PROMPT       "dt> "
#define DT_PROMPT_PYTHON "py> "
#define DT_PROMPT_MORE  "..> "

/* Names of the two tables through which a top-level local is set; the
** prompt's environment knows them (repl_eval.c). */
#define DT_LOCALS "_DT_local"
#define DT_CONSTS "_DT_const"

/* Take away prompts that were pasted along ("dt> ", ">>> ", "> "); lines
** between prompts that carry none are output and go too.  NOMEM.  Pure. */
DtStatus dt_source_strip (DtCtx *cx, const char *text, DtBuf *out);

/* Is one line a session's: a prompt and what was typed behind it, or the
** greeting?  Pure. */
typedef enum DtPrompted {
  DT_PROMPTED_NOT, DT_PROMPTED_LINE, DT_PROMPTED_GREETING
} DtPrompted;
DtPrompted dt_source_prompted (const char *line);

/* Turn each top-level `local x = e` into an assignment that outlives the
** chunk; `local function f` likewise; <const> is kept in mind, a list with
** <close> is left alone.  Line numbers stay.  NOMEM.  Pure. */
DtStatus dt_source_locals (DtCtx *cx, const char *text, DtBuf *out);

/* Does the text end with ';' (then its value is not shown)?  *n: its length
** without that and the blanks around.  Pure. */
bool dt_source_hidden (const char *text, size_t *n);
/* Does the line begin as no line of Lua does, but one of Python?  Pure. */
bool dt_line_is_python (const char *s);

#endif
