/* SPDX-License-Identifier: MIT
** repl/repl_int.h: the shell's own structures: what the process has (DtApp)
** and what each rank has (DtRepl).
**
** Rank 0 reads a line and shares it; every rank runs the same text; all meet;
** outputs are gathered, folded and written by rank 0. */
#ifndef DT_REPL_REPL_INT_H
#define DT_REPL_REPL_INT_H

#include "bind/bind.h"
#include "bind/frame.h"
#include "engine/session.h"
#include "engine/world.h"
#include "repl/line.h"
#include "diag/finding.h"
#include "repl/notes.h"
#include "repl/options.h"
#include "repl/out.h"
#include "repl/stop.h"

/* One per process; rank threads only read it, rank 0 writes. */
typedef struct DtApp {
  DtOptions o;
  const char *argv0;
  DtWorldKind world;
  bool launched;                /* by mpirun */
  bool interactive;             /* a person at a terminal */
  const char *editor;           /* DTREPL_EDITOR: an adapter's session */
  DtTty tty;
  DtOutput out;                 /* rank 0's */
  char *script;                 /* text of the script, NULL = none */
  size_t nscript;
  atomic_int interrupt, handled;        /* Ctrl-C: asked for; dealt with by a program */
  double began;                 /* as dt_repl_seconds() */
  int wants_ranks;              /* the program is to begin again with so many */
  DtStop *stop;
} DtApp;

/* What :set changes; the same on every rank. */
typedef struct DtSettings {
  bool raw, notes, findings, timing, traceback, pager, wrap, python;
} DtSettings;

/* The last script, as :rerun needs it. */
typedef struct DtRerun {
  char *text, *name; size_t n;
  int64_t seq; DtGenerators rng;       /* before it ran */
  bool asked; int64_t to;       /* :rerun: run it again, up to #to */
} DtRerun;

/* A Ctrl-C that could not stop all ranks here: the number of the last operator,
** how often that was so since, and from when on. */
typedef struct DtLone { int64_t seq; int times; double since; } DtLone;

typedef struct DtRepl DtRepl;
struct DtRepl {
  DtApp *app;
  DtCtx *cx;
  DtComm *comm;
  DtSession *s;
  lua_State *L;
  DtLine *line;                 /* rank 0's, while reading */
  DtBuf history;                /* its file */
  DtNotes *notes;
  DtDiag *findings;
  bool prose;                   /* this line writes help: texts of ours */
  int nbefore;                  /* those from before a Ctrl-C that the program dealt
                                ** with */
  char **found; size_t *found_len;      /* room for what each rank found: a rank
                                ** without memory must come all the same */
  DtSettings set;
  struct DtStream *stream;      /* rank 0's: shows what is printed meanwhile */
  bool streams;                 /* print() is not read again by who runs it */
  DtBuf diag;                   /* diagnostics of this chunk */
  DtBuf failed;                 /* the line that raised last, for :fix */
  DtBuf typed; size_t typed_last;       /* lines so far, rank 0's, for :save */
  int line_from, line_next;     /* "prompt:7": lines typed, the same on every
                                ** rank: the last text's first; the next one's */
  bool renumber;                /* rank 0's: the next text begins at line 1 */
  bool transcript;              /* rank 0's: lines with prompts are piped in */
  DtBuf paste; size_t pasted;   /* a pasted session, rank 0's; so much is run */
  int nplay; bool playing;      /* files in :load; a lesson, not the person */
  bool quit, lost;              /* leave; the world is broken */
  bool exited;                  /* a program called for it (os.exit) */
  int code;                     /* exit code so far */
  DtStatus status;              /* of the last chunk, over all ranks */
  int depth;                    /* :run within :run */
  bool part;                    /* a line for some ranks only is run */
  bool keep;                    /* the program leaves its names to the prompt */
  double elapsed;               /* seconds of the last text */
  double resumed;               /* when a stop was left, dt_repl_seconds(), until
                                ** the program stops again or ends; 0: not */
  /* stops (repl_stop.c) */
  bool asks;                    /* lines can be read: stops make sense */
  atomic_int *interrupt;        /* the flag of Ctrl-C, as cx->interrupt mostly */
  bool person;                  /* rank 0 sits at a terminal; on all ranks */
  bool (*read) (DtRepl *r, DtBuf *chunk);  /* rank 0's next lines */
  void *read_ud;
  DtStopAt *at;                 /* the stop under way, NULL = none */
  DtLuaFrame frame[64]; int nframe, here;       /* its frames; selected */
  int list_from, list_to;       /* what :list showed */
  DtBuf again;                  /* what an empty line repeats */
  DtVar *fix[64];               /* :fix: what replaces inputs; owned */
  bool *passing;                /* breakpoint's commands: said they :continue? */
  DtBuf told;                   /* message of the error reported at its stop */
  DtLone lone;                  /* Ctrl-C found this rank alone */
  const char *lua;              /* the line of Lua that runs, or NULL */
  char *stash;                  /* a line that left a light stop */
  char *display[16]; int ndisplay;
  DtRerun rerun;
  int begin;                    /* the adapter has said: run, or stop first */
  int ended;                    /* what the program's exit code would be */
  int64_t past;                 /* looking at the past, before #past; 0: now */
};

/* Does this rank read and write for all?  In the fake world there is no
** other. */
static inline bool dt_repl_first (const DtRepl *r) {
  return r->comm->rank == 0 || r->comm->no_data;
}

/* --- repl_start.c --- */
/* One rank's whole session: preludes, script, prompt.  Its exit code.
** Collective. */
int dt_repl_main (DtCtx *cx, DtComm *comm, void *app);

/* --- repl_prompt.c --- */
/* Everything a prompt needs, once; scripts that are debugged need it too.
** Collective. */
void dt_prompt_open (DtRepl *r);
/* Rounds until the person leaves.  Collective. */
void dt_prompt_run (DtRepl *r);
/* Rounds until an adapter lets the program begin.  Collective. */
void dt_prompt_until_begin (DtRepl *r);

/* --- repl_findings.c; repl_write.c --- */
/* Gather what all ranks wrote; rank 0 folds and writes it.  NOMEM, RANK_LOST.
** Collective. */
DtStatus dt_repl_put (DtRepl *r);
/* What print() writes is shown while a chunk runs, see stream.h; a chunk begins.
** Local. */
void dt_repl_stream_open (DtRepl *r);
void dt_repl_stream_begin (DtRepl *r);
/* New findings, a line each; what ranks promised is compared first.  Local. */
void dt_repl_findings (DtRepl *r);
/* A script has ended: what was found in it, a line each, on the error output;
** with --strict it makes the exit code.  Collective. */
void dt_repl_report_findings (DtRepl *r);
/* A diagnostic with at most one %s, at once and without memory: out of it is
** one of the things to be said.  Local. */
void dt_repl_say (DtRepl *r, const char *fmt, const char *arg);
/* The world is broken: what this rank has is written as it is, and the session
** ends.  Local. */
void dt_repl_lost (DtRepl *r);
/* Free the n texts of a gathering, and their list.  Local. */
void dt_repl_free_texts (DtCtx *cx, char **v, int n);

/* --- repl.c --- */
/* Seconds of the monotonic clock.  Local. */
double dt_repl_seconds (void);
/* Run one text on every rank that calls it; nothing is written.  `name` is
** Lua's chunk name.  Local, as long as the text is. */
DtStatus dt_repl_run (DtRepl *r, const char *text, const char *name);
/* What was printed so far goes out, folded; then the ranks agree on the
** status.  RANK_LOST ends the session.  Collective. */
DtStatus dt_repl_meet (DtRepl *r, DtStatus mine);
/* Test builds: arrange the failing allocation that the environment asks for.
** Local. */
void dt_repl_fail_alloc (DtCtx *cx, int rank);
/* What the rank that runs `L` is in the middle of; safe in a signal handler.
** Local. */
void dt_repl_doing (lua_State *L, char *text, size_t n);
/* Make `L` raise INTERRUPTED at its next instruction; safe in a signal
** handler.  Local. */
void dt_repl_hook (lua_State *L);
/* Is it that hook?  Pure. */
bool dt_repl_is_hook (lua_Hook h);
lua_Hook dt_repl_interrupt_hook (void);
/* COMMAND when only some ranks run the line: what all ranks do together would
** wait for the others.  Local. */
DtStatus dt_repl_all_come (DtRepl *r);
/* How it went on rank 0, which did something for all: `mine` there, and the
** same error with the same words on the others.  Collective. */
DtStatus dt_repl_as_first (DtRepl *r, DtStatus mine);
/* Read a file on rank 0 and give its text to all; the caller frees it.  IO on
** every rank alike; COMMAND in a line for some ranks.  Collective. */
DtStatus dt_repl_file (DtRepl *r, const char *path, char **text, size_t *n);

/* One text from rank 0 to all; the caller frees it.  RANK_LOST.  Collective.
*/
DtStatus dt_repl_share (DtRepl *r, char **text, size_t *n);
/* A round with a text every rank has; `name` as for dt_repl_run().
** Collective. */
void dt_repl_round_all (DtRepl *r, const char *text, const char *name);
/* What :timing tells of the last text, or of the program since a stop was left.
** Local. */
void dt_repl_tell_time (DtRepl *r);
/* The exit code a status stands for.  Pure. */
int dt_repl_code_of (DtStatus st);
/* Rank 0's text (NULL: leave; others pass anything) is shared, run, and its
** output written.  False when the session ends.  Collective. */
bool dt_repl_round (DtRepl *r, const char *text);
/* From now on Ctrl-C stops what runs (true), or is a key again.  Local. */
void dt_repl_running (DtRepl *r, bool running);
/* The first Ctrl-C is a stop of the debugger (true), the next one ends what
** runs; or the first does.  Nothing was asked yet.  Local. */
void dt_repl_stop_softly (DtRepl *r, bool on);
/* Rank 0's exit code for all.  Collective. */
int dt_repl_share_code (DtRepl *r, int code);
/* The error pending in the context becomes a diagnostic.  Local. */
void dt_repl_tell (DtRepl *r);

/* --- repl_eval.c --- */
/* Registry key of the error object that was reported last (:bt). */
#define DT_KEY_ERROR "dt.repl.error"
/* And of the one a call of Lua ended in last, also where it is not kept. */
#define DT_KEY_SLIP "dt.repl.slip"
/* Keep the error object at `idx` as that, with the operator it came after.
** Local. */
void dt_eval_keep_error (lua_State *L, int idx);
/* Push what is kept (two values); keep again what is on the top, and pop. */
void dt_eval_push_error (lua_State *L);
void dt_eval_pop_error (lua_State *L);
/* dt.debug.last_error() -> the error object, the number of the last operator
** before it; nil when nothing was raised.  Local. */
int dt_eval_last_error (lua_State *L);

/* The environment in which prompt lines run: globals, and the locals that
** outlive their line.  LUA.  Local. */
DtStatus dt_eval_open (lua_State *L);
/* Run Lua as typed at the prompt: as an expression, whose values are shown
** (into print's buffer) and kept in _, else as statements.  Diagnostics go to
** `diag`.  Status of what was raised.  Local. */
DtStatus dt_eval_line (lua_State *L, const char *text, DtBuf *diag);
/* Keep a text typed as the lines of "prompt" that begin with `line`; without
** memory stops do not show them.  Local. */
void dt_eval_keep_typed (lua_State *L, int line, const char *text);
/* Run n bytes of Python (lua/torch/prompt.lua): of a file, or (NULL) typed so
** many lines below the command's; what the last line is worth is shown.
** Diagnostics go to r->diag.  Local. */
DtStatus dt_eval_python_line (DtRepl *r, const char *text, size_t n,
                              const char *file, int below);
/* Is the program Python's?  Its name says so ("@x.py", "@x.lua"), else its first
** line ("#!"), else --python.  Pure. */
bool dt_eval_is_python (const DtRepl *r, const char *name, const char *text,
                        size_t n);
/* Run a whole script, Lua's or Python's; `name` as Lua wants it ("@x.lua").
** Local. */
DtStatus dt_eval_script (lua_State *L, const char *text, size_t n,
                         const char *name, int nargs, char **args,
                         DtBuf *diag);
/* Would more lines make this a whole chunk?  Local. */
bool dt_eval_incomplete (lua_State *L, const char *text);
/* Compile `text` as an expression, or as statements, in the prompt's
** environment, onto the stack.  False with the message on the stack.
** Local. */
bool dt_eval_compile (lua_State *L, const char *text, bool *expression);
/* Call the function on the stack (nargs below it) with a traceback; on
** failure the report is in `diag` and the stack is as before.  Local. */
DtStatus dt_eval_call (lua_State *L, int nargs, int nresults, DtBuf *diag);
/* lua_pcall with a message handler; at a stop that a hook of `L` made in a
** thread of its own, so that Ctrl-C ends it.  Local. */
int dt_eval_pcall (lua_State *L, int nargs, int nresults,
                   lua_CFunction handler);
/* Push the table of the prompt's locals.  Local. */
void dt_eval_push_locals (lua_State *L);

/* --- repl_editor.c --- */

/* The word of an adapter that runs this session; NULL: none does.  Pure. */
const char *dt_editor_word (void);
/* Rank 0 waits for a line: said to the adapter, if there is one.  Local. */
void dt_editor_ready (DtRepl *r);
/* Something runs that an interrupt would stop: said by rank 0.  Local. */
void dt_editor_running (DtRepl *r);
/* What an adapter asks (a line without its byte 1) is answered; a line that is
** to be run instead goes into `line`.  Collective. */
void dt_editor_line (DtRepl *r, const char *text, DtBuf *line);
/* Functions that answers need, into dt.debug on the top of the stack.  LUA.
** Local. */
void dt_editor_open (lua_State *L);

/* --- repl_paste.c --- */

/* `chunk` was read at once, from what was `typed`; where it is several lines
** that are no chunk of Lua, it becomes the first of them, or :python.
** Local. */
void dt_paste_look (DtRepl *r, DtBuf *chunk, const char *typed);
/* Did dt_paste_look() make this chunk of a traceback's first line, whose others
** are to come?  Pure. */
bool dt_paste_opens (const char *chunk);
/* The next lines of a pasted session; false when there are none.  Local. */
bool dt_paste_next (DtRepl *r, DtBuf *chunk);

/* --- repl_python.c --- */

/* Would more lines make this a whole text, as in Python's own shell?  `pasted`:
** its last lines came at once.  Local. */
bool dt_python_incomplete (lua_State *L, const char *text, bool pasted);
/* Names that begin with `prefix`: attributes of what `path` ("a.b.") says, or
** (path "") names in sight.  No program's code runs.  Local. */
void dt_python_names (lua_State *L, const char *path, const char *prefix,
                      DtLineAdd add, void *sink);

/* --- repl_slips.c --- */

/* A line was a slip: append what repl.slips' function `f` says of it, if
** anything ("syntax": no Lua; "raised": `more` is the error).  Local. */
void dt_slip_hint (lua_State *L, const char *f, const char *text,
                   const char *more, DtBuf *diag);
/* A line that is no line of the language begins with a command's name, without
** its colon: append that.  false: it does not.  Local. */
bool dt_slip_command (DtRepl *r, const char *text, DtBuf *diag);
/* The same of a line whose value, at `idx`, is likely not meant.  Local. */
void dt_slip_value (lua_State *L, int idx, const char *text, DtBuf *diag);

/* --- repl_keep.c --- */

#define DT_KEEP "_DT_KEEP"
/* luaL_loadbufferx() of a program that may leave its locals.  Local. */
int dt_keep_load (lua_State *L, const char *text, size_t n, const char *name);
/* An error is being raised in it: they are taken now.  Local. */
void dt_keep_raised (lua_State *L);
/* What a program of Python left is given to Lua's lines.  NOMEM, and what the
** library raises.  Local. */
DtStatus dt_keep_python (lua_State *L, DtBuf *diag);

/* The environment lines run in while the script is stopped (a table on the
** top, popped; nil: the prompt's own).  Local. */
void dt_eval_set_frame (lua_State *L);

/* --- repl_co.c --- */
/* Let Ctrl-C reach coroutines: coroutine.resume and wrap of this state.  Lua's
** memory may run out.  Local. */
void dt_co_open (lua_State *L);

/* --- repl_stop.c --- */
/* Be the shell's part of stops.  Local. */
void dt_stop_open (DtRepl *r);
void dt_stop_close (DtRepl *r);
/* Frame `i` of the stop is the one whose variables lines see.  INDEX.
** Local. */
DtStatus dt_stop_select (DtRepl *r, int i);
/* Lines see the state just before operator #seq; 0: the present.  Local. */
DtStatus dt_stop_past (DtRepl *r, int64_t seq);
/* Ctrl-C asks for a stop: make `L` stop at its next instruction; safe in a
** signal handler.  Local. */
void dt_stop_soft_hook (lua_State *L);
/* Is it that hook?  Pure. */
bool dt_stop_is_soft (lua_Hook h);
/* No hook in `L` from now on but the one that makes steps.  Local. */
void dt_stop_unhook (lua_State *L);
/* An error that is not an operator's, in a script that is debugged: be
** stopped where it was raised.  The error object is at index 1.  Local. */
void dt_stop_raised (lua_State *L);
/* This rank has run its text; while others are stopped in theirs it takes part
** in their prompt.  Collective, softly. */
void dt_stop_end (DtRepl *r);
/* A line at a light stop that is no command leaves it: true, and it is kept
** for afterwards.  Local. */
bool dt_stop_leaves (DtRepl *r, const char *text);

/* --- repl_json.c --- */
/* Run a command; one line of JSON instead of its text.  Local, as the command
** is. */
DtStatus dt_cmd_json (DtRepl *r, const char *line);
/* The stop as one line.  Local. */
void dt_cmd_json_stop (DtRepl *r);
/* dt.debug.command and the commands as functions.  NOMEM.  Local. */
DtStatus dt_cmd_open (lua_State *L);

/* --- cmd_record.c --- */
/* All ranks' records into one file, or from one.  IO.  Collective. */
DtStatus dt_record_save (DtRepl *r, const char *path);
DtStatus dt_record_open (DtRepl *r, const char *path);
/* A script is about to run; :rerun was asked for; do it.  Local; Collective.
*/
void dt_rerun_remember (DtRepl *r, const char *text, size_t n,
                        const char *name);
bool dt_rerun_pending (DtRepl *r);
DtStatus dt_rerun_run (DtRepl *r);

/* --- cmd_files.c --- */
/* The person's lines, for :save.  Local. */
void dt_typed_add (DtRepl *r, const char *text);

/* --- pager.c --- */
/* What this prompt writes is cut for the terminal, and goes through a pager
** when it is long, if there is a person.  Local. */
void dt_pager_open (DtRepl *r);
/* Without a prompt: diagnostics alone are cut, where they go to a terminal.
** Local. */
void dt_narrow_open (DtRepl *r);
/* The end of both, before `r` goes.  Local. */
void dt_pager_close (DtRepl *r);

/* --- repl_one.c --- */
/* Run the program on one rank as well, where it has ended well and nothing was
** found, and compare.  What is found is rank 0's.  Collective. */
void dt_repl_compare_one (DtRepl *r);

/* --- repl_addr.c --- */
/* Does the text begin with an address, and not as one of Python's decorators
** does?  Pure. */
bool dt_addr_is (const char *s);
/* "@all expr", "@2,3 expr", "@tp=1 expr": is this rank meant, and where does
** the rest begin?  COMMAND for what cannot be read.  Local. */
DtStatus dt_addr_parse (DtRepl *r, const char *text, bool *mine,
                        const char **rest);

/* --- repl_check.c --- */
/* Read the session file and run it; the exit code.  Collective. */
int dt_check_file (DtRepl *r, const char *path);

/* --- near.c --- */
/* The report in `diag`, from byte `from` on, is of a name that is not there:
** add the names near it.  Local. */
void dt_near_hint (lua_State *L, DtBuf *diag, size_t from);

/* --- repl_names.c --- */
/* Names for completion: globals and locals that begin with `prefix`, or
** fields and methods of the live object `path` ("a.b"); raw access only.
** Local. */
void dt_names_lua (lua_State *L, const char *path, const char *prefix,
                   DtLineAdd add, void *sink);
/* Variables that hold a tensor, a mesh or a module and begin with `prefix`;
** how many.  Raw access only.  Local. */
int dt_names_held (lua_State *L, const char *prefix, DtLineAdd add, void *sink);
/* What keywords the page on the function `path` ("nn.Linear") shows, as
** "bias = ".  Local. */
void dt_names_keywords (lua_State *L, const char *path, const char *prefix,
                        DtLineAdd add, void *sink);
/* "tensor" or "mesh" when the variable or path `path` holds one, whose header
** is added to `out`; else NULL.  Raw access only.  Local. */
const char *dt_names_live (lua_State *L, const char *path, DtBuf *out);
/* Names of the dimensions of the mesh that the variable or path holds.
** Local. */
void dt_names_mesh (lua_State *L, const char *path, const char *prefix,
                    DtLineAdd add, void *sink);

#endif
