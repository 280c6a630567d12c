/* SPDX-License-Identifier: MIT
** debug/control.h: stopping: stepping over the tree of events, breakpoints,
** stops.  No terminal, no Lua: what needs them is asked through DtHooks.
**
** The tree is that of events: script line > function > operator >
** redistribution > collective > kernel.  A stop is taken at the event that
** begins one of them (or at the end, for breakpoints that look at results),
** inside the listener: whoever called the engine waits.  Every rank decides
** by itself, from what is equal on all ranks, so all stop at the same place
** without a message; a stop that only some reach (values differ, a branch of
** one rank) asks the others to stop at their next event and waits for them
** softly, see dt_comm_stop().
**
** To add a kind of breakpoint: a row in bp.c's table and its match function.
** Help, completion and dt.debug.kinds() read the table. */
#ifndef DT_DEBUG_CONTROL_H
#define DT_DEBUG_CONTROL_H

#include "debug/debug.h"

typedef struct DtControl DtControl;
typedef struct DtBreak DtBreak;

typedef enum DtStopWhy {
  DT_WHY_NONE, DT_WHY_START, DT_WHY_STEP, DT_WHY_BREAK, DT_WHY_ERROR,
  DT_WHY_CALL,                  /* dt.breakpoint() */
  DT_WHY_INTERRUPT,             /* Ctrl-C */
  DT_WHY_ASKED,                 /* another rank has stopped */
  DT_WHY_LUA,                   /* an error of Lua's own: post-mortem */
  DT_WHY_END                    /* this rank is through, others have stopped */
} DtStopWhy;

/* Where and why this rank has stopped. */
typedef struct DtStopAt {
  DtStopWhy why;
  const DtEvent *e;             /* the event, borrowed; NULL: a script line */
  const char *file; int line;   /* of the script */
  int64_t seq;                  /* operator under way or coming */
  int depth;                    /* of events; lines: 0 */
  int level;                    /* Lua frames below the stopped one */
  int nhit; int hit[8];         /* ids of breakpoints */
  /* Breakpoints that may be true on some ranks only (bp.c): one was asked
  ** here; the first that was hit, on any rank once they have met; hit on this
  ** rank. */
  bool varies; int own; bool mine;
  char note[512];               /* more words, "" = none */
  const char *message;          /* ERROR: its text, borrowed */
  bool light;                   /* error of a line typed at the prompt: only
                                ** commands see the stop */
  bool fixed;                   /* :fix gave other arguments */
  bool missed;                  /* the others could not come: not stopped */
  bool step;                    /* BREAK: a step ends here, too */
} DtStopAt;

typedef enum DtStepMode {
  DT_GO_ON,                     /* until a breakpoint */
  DT_GO_STEP,                   /* next event or line, whatever */
  DT_GO_NEXT,                   /* next one not inside this one */
  DT_GO_FINISH,                 /* next one outside the enclosing one */
  DT_GO_LINE,                   /* next script line, functions at once */
  DT_GO_UNTIL,                  /* a line or an operator number */
  DT_GO_OP,                     /* next operator */
  DT_GO_QUIT                    /* end what runs */
} DtStepMode;

/* A step under way: how, and from where. */
typedef struct DtWay {
  DtStepMode mode;
  int depth, level;             /* of the stop we go on from */
  bool from_line;
  const char *file; int line;   /* of that stop; UNTIL: the goal */
  int64_t until;                /* operator number, 0 = a line */
} DtWay;

/* One breakpoint.  Split: as declared / at run time. */
struct DtBreak {
  int id;
  const struct DtBpKind *kind;
  char *text;                   /* "collective all_gather on tp" */
  char *arg, *arg2;             /* the kind's: glob, variable; dim, placement */
  int64_t num;                  /* line, bytes */
  bool implicit;
  char *cond;                   /* Lua expression, NULL = none */
  char *commands;               /* lines, NULL = none */
  int64_t ignore;               /* hits to pass over */
  bool once, off;
  /* run time */
  int64_t hits;
  bool was;                     /* placement: was it so last time? */
  const DtOpDef *seen[32]; bool yes[32];        /* op: answers by operator */
};

/* What the core asks of the shell and the binding. */
typedef struct DtHooks {
  void *ud;
  /* Be at the stop; says by dt_control_go() how to go on.  An error ends what
  ** runs. */
  DtStatus (*stop) (void *ud, DtControl *c, DtStopAt *at);
  /* Can anybody be asked?  Without, nothing stops. */
  bool (*present) (void *ud);
  /* The condition's truth; an error text into `why` (which stops, too). */
  bool (*cond) (void *ud, const DtBreak *b, const DtEvent *e, DtBuf *why);
  /* Script lines are wanted (true) or not. */
  void (*lines) (void *ud, bool on);
  /* Would the error under way be caught by the script? */
  bool (*caught) (void *ud);
  /* Is the running code a line typed at the prompt, with no script's function
  ** under way? */
  bool (*typed) (void *ud);
  /* How deep the script's functions are. */
  int (*level) (void *ud);
  /* Append the lines that are under way, innermost first: "\n\tFILE:LINE: in
  ** NAME" each; nothing where no script runs. */
  void (*trace) (void *ud, DtBuf *out);
  /* Line `line` of a source, without its newline; NULL when unknown. */
  const char *(*source) (void *ud, const char *file, int line, size_t *n);
  /* Script variables that hold these tensors; NULL where none does. */
  void (*names) (void *ud, int n, DtVar *const *v, const char **out);
  /* The tensor a script variable holds, borrowed; NULL when none. */
  DtVar *(*variable) (void *ud, const char *name);
} DtHooks;

struct DtControl {
  DtDebug *d;
  DtHooks h;
  int listener; uint64_t mask;  /* what is listened to now */
  bool lines;                   /* line events are on */
  DtWay way;
  DtWay before;                 /* at a stop: the step that it interrupted */
  bool attached;                /* a script is being debugged: errors stop */
  bool prompt;                  /* errors of typed lines stop lightly */
  bool abort;                   /* everything ends */
  bool starting;                /* the next step is the first */
  bool resumed;                 /* at a stop: it was said how to go on */
  /* breakpoints */
  DtBreak *bp; int nbp, capbp, next_id;
  uint64_t lines_set[16];       /* line numbers of breakpoints, mod 1024 */
  /* the stop under way, the one that waits for the others, the last */
  DtStopAt *at;
  DtStopAt pending; bool has_pending;
  int64_t stopped_seq; int stopped_line;
};

/* The control of a session, made with dt_debug's; NULL hooks are allowed and
** mean that nothing ever stops.  Freed with the session's debugger.  NOMEM.
** Local. */
DtStatus dt_control_new (DtDebug *d, const DtHooks *h, DtControl **out);
void dt_control_free (DtDebug *d);
static inline DtControl *dt_control_of (const DtSession *s) {
  DtDebug *d = dt_debug_of(s);
  return d ? (DtControl *)d->control : NULL;
}

/* Go on from the stop (or begin, when nothing is stopped) in this mode.
** UNTIL: to operator #until, or to `line` of `file`.  Agreed. */
void dt_control_go (DtControl *c, DtStepMode mode);
void dt_control_until (DtControl *c, int64_t op, const char *file, int line);
/* Go on as if there had been no stop: a step under way stays one.  Agreed. */
void dt_control_resume (DtControl *c);
/* Listen to what steps and breakpoints need now, no more.  Local. */
void dt_control_arm (DtControl *c);
/* Nothing runs any more: forget stepping and a stop that waits.  Local. */
void dt_control_rest (DtControl *c);
/* The script comes to a line (only while hooks.lines is on).  An error ends
** what runs.  Collective, softly. */
DtStatus dt_control_line (DtControl *c, const char *file, int line, int level);
/* Could a breakpoint or a step want this line?  Cheap.  Pure. */
static inline bool dt_control_wants_line (const DtControl *c, int line) {
  return c->way.mode != DT_GO_ON || c->has_pending ||
         (c->lines_set[line >> 6 & 15] >> (line & 63) & 1) != 0;
}
/* dt.breakpoint(), Ctrl-C, an error of Lua's: stop here.  Collective,
** softly. */
DtStatus dt_control_stop (DtControl *c, DtStopWhy why, const char *file,
                          int line, const char *note);

/* --- bp.c --- */
typedef struct DtBpKind {
  const char *name, *args;      /* "op", "GLOB" */
  uint64_t events;              /* kinds of event it looks at; 0: lines */
  bool (*match) (DtControl *c, DtBreak *b, const DtEvent *e);
  const char *text;             /* one line of help */
  /* It looks at numbers, which differ by rank: appends what was found. */
  void (*found) (DtControl *c, const DtEvent *e, DtBuf *b);
} DtBpKind;
/* All kinds; NULL at the end.  Pure. */
const DtBpKind *dt_bp_kind (int i);
/* Set one: `text` as typed ("op aten.mm*", "repro.lua:14",
** "redistribute > 1M implicit", with " if EXPR" at its end).  COMMAND with
** the words wrong in it.  *id.  Agreed. */
DtStatus dt_bp_add (DtControl *c, const char *text, bool once, int *id);
/* NULL when there is none with this id.  Pure. */
DtBreak *dt_bp_find (DtControl *c, int id);
/* Delete one, or all with id 0.  INDEX.  Agreed. */
DtStatus dt_bp_delete (DtControl *c, int id);
/* Replace its condition or commands; NULL takes them away.  Agreed. */
DtStatus dt_bp_set_cond (DtControl *c, DtBreak *b, const char *cond);
DtStatus dt_bp_set_commands (DtControl *c, DtBreak *b, const char *text);
/* One line: "1  op aten.mm*  if n > 2  hits 3".  Pure. */
void dt_bp_print (const DtBreak *b, DtBuf *out);
/* A text that dt_bp_load() reads back: all of them.  Pure. */
void dt_bp_save (const DtControl *c, DtBuf *out);
/* COMMAND names the line that cannot be read; those before it are set.
** Agreed. */
DtStatus dt_bp_load (DtControl *c, const char *text);
/* Ids of the breakpoints this event hits, counted; stops wanted in at->hit,
** those that may be true on some ranks only in at->own.  Local. */
void dt_bp_event (DtControl *c, const DtEvent *e, DtStopAt *at);
void dt_bp_line (DtControl *c, const char *file, int line, DtStopAt *at);
/* at->own is what all ranks stop for now: it joins at->hit, counted also on
** the ranks where it was not true.  Local. */
void dt_bp_settle (DtControl *c, DtStopAt *at);
/* Event kinds the enabled ones need; sets lines_set.  Pure. */
uint64_t dt_bp_events (DtControl *c, bool *lines);
void dt_bp_free (DtControl *c);
/* Shell-like pattern with * and ?; case matters.  Pure. */
bool dt_glob (const char *pattern, const char *text);

/* --- bp_note.c --- */
/* ":break nan": where the first NaN of the results is, how many there are, and
** whether an input had one already.  Local. */
bool dt_bp_nan (DtControl *c, DtBreak *b, const DtEvent *e);
void dt_bp_nan_found (DtControl *c, const DtEvent *e, DtBuf *b);
/* What this rank has to say about its stop, and the note of the stop from what
** all ranks said, one text a rank: equal words once, others with their ranks.
** Local; Agreed. */
void dt_stop_say (const DtStopAt *at, DtBuf *b);
void dt_stop_hear (DtCtx *cx, DtStopAt *at, int n, char *const *said);

/* --- stopview.c --- */
/* The stop in words: line with a mark, operator, arguments with spec and
** origin, what the dispatcher will do.  Local. */
void dt_stop_text (DtControl *c, const DtStopAt *at, DtBuf *b);
/* Only the script line of the stop, and which breakpoints were hit.  Local. */
void dt_stop_line (DtControl *c, const DtStopAt *at, DtBuf *b);
/* Lines around `line` of `file`, the line itself marked.  Local. */
void dt_list_text (DtControl *c, const char *file, int line, int from, int to,
                   DtBuf *b);
/* "aten.mm.default #7", "redistribute S(0)R -> RR of arg 1", "all_gather on
** tp, 64 B".  Pure. */
void dt_event_text (const DtEvent *e, DtBuf *b);
/* What dispatch will do with a call: chosen placements, redistributions with
** bytes; or why it will fail.  Local. */
void dt_dispatch_text (DtDebug *d, const DtOpDef *op, const DtArgs *args,
                       int nin, DtVar *const *in, DtBuf *b);

#endif
