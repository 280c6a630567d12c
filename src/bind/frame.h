/* SPDX-License-Identifier: MIT
** bind/frame.h: the script's own functions on the Lua stack: where they are,
** their variables, an environment in which a line sees them; script lines as
** events; the texts of sources.
**
** Statements of Python that run inside one another in the same function are one
** frame, the innermost one's (pyframe.h).
**
** Frames of the library (chunks named "=[dt...]") and of C are passed over.
** All functions here are Local. */
#ifndef DT_BIND_FRAME_H
#define DT_BIND_FRAME_H

#include "bind/bind.h"
#include "debug/control.h"

/* A frame, valid while the function is under way. */
typedef struct DtLuaFrame {
  lua_State *co;
  int below;                    /* frames below it: its place from the bottom */
  const char *file; int line;   /* interned */
  const char *name;             /* "function f", "main chunk"; interned */
  int defined;                  /* first line of the function */
  const char *scope;            /* of a function of Python: "f.py:12"; interned;
                                ** NULL: of Lua */
} DtLuaFrame;

/* The coroutine of the script that runs, the main one where none does. */
lua_State *dtL_running (lua_State *L);
/* Frames of the script, innermost first; at most `max`, gives how many. */
int dtL_frames (lua_State *L, DtLuaFrame *out, int max);
/* How many there are. */
int dtL_frame_count (lua_State *L);
/* Push a table through which the frame's locals, then its upvalues, then
** what the prompt sees are read and written. */
void dtL_frame_env (lua_State *L, const DtLuaFrame *f);
/* The innermost frame of the script, valid while its function is under way:
** without names and places it costs little. */
typedef struct DtTop { lua_State *co; lua_Debug ar; } DtTop;
/* False: nothing of the script runs. */
bool dtL_top (lua_State *L, DtTop *t);
/* Push a variable of it; false, and nothing is pushed: it has none of the name. */
bool dtL_top_variable (lua_State *L, DtTop *t, const char *name);
/* Push its scope of Python; false, and nothing is pushed: it is Lua's. */
bool dtL_top_scope (lua_State *L, DtTop *t);
/* Push the environment of the innermost frame of the script. */
void dtL_script_env (lua_State *L);
/* Lines of Python at the prompt see this frame's scope; NULL: none.  Raises on
** NOMEM. */
void dtL_frame_select (lua_State *L, const DtLuaFrame *f);
/* Push a table name -> value of the frame's locals (the innermost of a
** name; of Python what is data), then what it sees of the functions around it;
** its list part holds the names in order. */
void dtL_frame_locals (lua_State *L, const DtLuaFrame *f);

/* The environment of prompt lines, used where a frame has no such name; set
** by the shell (a table on the top, popped).  Globals where none was set. */
void dtL_set_prompt_env (lua_State *L);
void dtL_push_prompt_env (lua_State *L);
/* And the table of the prompt's locals (popped), which the registry has, too. */
#define DTL_PROMPT_LOCALS "dt.prompt.locals"
void dtL_set_prompt_locals (lua_State *L);
void dtL_push_prompt_locals (lua_State *L);

/* Remember which globals a source assigns to: they are recorded by name. */
void dtL_names_from (lua_State *L, const char *text, size_t n);
/* Record which variables hold tensors just before operator #seq (DtDebug.names;
** `ud`: the DtBind).  Allocates nothing of Lua's.  Local. */
void dtL_bound (void *ud, DtDebug *d, int64_t seq);
/* Replace the environment on the top by one in which names are what they were
** just before operator #seq, in `scope` of the script (interned). */
void dtL_past_env (lua_State *L, int64_t seq, const char *scope);

/* Keep a source's text for :list and stops.  Raises on NOMEM: call it
** protected. */
void dtL_source_add (lua_State *L, const char *name, const char *text,
                     size_t n);
/* Keep `text` as the lines of that source that begin with line `line`; what
** followed from there on is forgotten, of a long session the oldest lines, too.
** Raises on NOMEM: call it protected.  Local. */
void dtL_source_append (lua_State *L, const char *name, int line,
                        const char *text, size_t n);
/* The text that was kept under the name, NULL when none was. */
const char *dtL_source_text (lua_State *L, const char *name);
/* Line `line` of it, from the kept text or the file; NULL when unknown. */
const char *dtL_source_line (lua_State *L, const char *file, int line,
                             size_t *n);

/* The control of a state's session, with hooks into this state. */
DtStatus dtL_control_open (lua_State *L);
/* Is the condition of a breakpoint true at an event (NULL: at a line)?  What it
** raised is added to `why` (cond.c). */
bool dtL_cond (lua_State *L, const DtBreak *b, const DtEvent *e, DtBuf *why);
/* Is a text an expression, of Lua or of Python?  Else `why` says what is wrong. */
bool dtL_cond_reads (lua_State *L, const char *expr, DtBuf *why);
/* What a kind of event is called.  Pure. */
const char *dtL_event_kind (int k);
/* Push a table of facts about an event (what conditions see); tensors as
** themselves. */
void dtL_push_event (lua_State *L, const DtEvent *e);
/* Write a value as JSON.  Cycles and functions become strings. */
void dtL_to_json (lua_State *L, int idx, DtBuf *b);

/* dt.debug.variables() -> {[name] = value}: modules and tensors that variables of
** the frames (innermost first), the prompt's locals and globals hold
** (modules.c). */
int dtL_variables (lua_State *L);

#endif
