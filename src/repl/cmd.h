/* SPDX-License-Identifier: MIT
** repl/cmd.h: the commands, lines that begin with ':'.
**
** To add a command: a row in a table dt_cmds_<topic>[] (cmd_<topic>.c) and a
** function; a new table is listed once, in cmd.c.  Help, completion, prefixes
** and "did you mean" follow from the row.  Commands run on every rank, like
** any line; what they write is folded like any output. */
#ifndef DT_REPL_CMD_H
#define DT_REPL_CMD_H

#include "repl/repl_int.h"

enum {                          /* what a command needs */
  DT_NEED_DATA = 1,             /* a world with data */
  DT_NEED_PERSON = 2,           /* a prompt on a terminal */
  DT_CMD_REPEATS = 4,           /* an empty line runs it again */
  DT_CMD_TEXT = 8,              /* alone, it reads the lines after it */
  DT_CMD_TEXT_OF = 16,          /* with a number alone, the lines after it */
  DT_CMD_PROGRAM = 32           /* what follows is run as a line typed */
};

typedef struct DtCmd DtCmd;

typedef struct DtCmdCall {
  DtRepl *r;
  const DtCmd *cmd;
  const char *arg;              /* what follows the name, trimmed */
  DtBuf *out;                   /* results, as text */
  int below;                    /* so many lines below the command's line */
} DtCmdCall;

/* Raises into the context (COMMAND for a wrong argument); what the person saw
** already (a Lua error's report) returns its status with no error pending. */
typedef DtStatus (*DtCmdFn) (DtCmdCall *c);

struct DtCmd {
  const char *names;            /* "quit q": the first is canonical */
  const char *group;            /* "session" */
  int needs;
  const char *args;             /* "FILE", "[on|off]"; "" = none */
  const char *help;             /* first line: summary; has an example */
  DtCmdFn fn;
};

/* Tables, each ended by a row without names. */
extern const DtCmd dt_cmds_session[];
extern const DtCmd dt_cmds_files[];
extern const DtCmd dt_cmds_data[];
extern const DtCmd dt_cmds_find[];
extern const DtCmd dt_cmds_test[];
extern const DtCmd dt_cmds_debug[];
extern const DtCmd dt_cmds_import[];
extern const DtCmd dt_cmds_run[];
extern const DtCmd dt_cmds_break[];
extern const DtCmd dt_cmds_time[];
extern const DtCmd dt_cmds_record[];
extern const DtCmd dt_cmds_ask[];
extern const DtCmd dt_cmds_across[];

/* All commands one after the other; *it from 0; NULL at the end.  Pure. */
const DtCmd *dt_cmd_next (int *it);
/* The command that has this name, whole; NULL for none.  Pure. */
const DtCmd *dt_cmd_named (const char *name, size_t n);
/* The command called `name`, or the only one it abbreviates.  COMMAND naming
** the candidates or the nearest names.  Pure. */
DtStatus dt_cmd_find (DtCtx *cx, const char *name, size_t n,
                      const DtCmd **out);
/* Run a line that begins with ':'.  Local, as long as the command is. */
DtStatus dt_cmd_run (DtRepl *r, const char *line);
/* Is the text a command that reads the lines after it (DT_CMD_TEXT, _OF)?
** Local. */
bool dt_chunk_is_text (DtRepl *r, const char *text);
/* Is the text a whole chunk, or are more lines to come?  A command is one
** line, one that reads a text ends with a line "."; Lua says it itself.
** Local. */
bool dt_chunk_whole (DtRepl *r, const char *text);
/* First name of a command, 0-terminated in buf[32].  Pure. */
const char *dt_cmd_name (const DtCmd *c, char *buf);

/* Raise COMMAND with the line and a caret under byte `at` of it.  Local. */
DtStatus dt_cmd_error (DtCmdCall *c, size_t at, const char *fmt, ...)
#if defined(__GNUC__)
  __attribute__((format(printf, 3, 4)))
#endif
;
/* Edit distance of short words, for "did you mean"; 99 for long ones.
** Pure. */
int dt_word_distance (const char *a, size_t na, const char *b, size_t nb);
/* "on", "off", "" (turns around) into *v.  COMMAND.  Local. */
DtStatus dt_cmd_onoff (DtCmdCall *c, bool *v);
/* Registry key of the table the last dt_cmd_debug() got, or nil. */
#define DT_KEY_ANSWER "dt.repl.answer"
/* Call dt.debug.<name>(...) and show what it returns.  `args` says how the
** rest of the line is read, one letter each: 'n' a number ("#7" or "7"), 'e' a
** Lua expression without blanks outside brackets, 'r' all the rest as one
** expression, 's' as a string; a last 'v' reads nothing and gives the variables
** that expressions see.  Missing ones are left out.  Local. */
DtStatus dt_cmd_debug (DtCmdCall *c, const char *name, const char *args);

/* cmd_time.c: one operator later, when the past is looked at; *done false when
** it is not.  Local. */
DtStatus dt_cmd_later (DtCmdCall *c, bool *done);
/* cmd_import.c: is the last error another than an operator's?  With `tell` the
** fixes that are known for its class are written, untried.  Local. */
bool dt_cmd_other_error (DtCmdCall *c, bool tell);
/* cmd_fix.c: repairs of the last error: list, use one.  Collective. */
DtStatus dt_cmd_fix (DtCmdCall *c);
/* What is under way at the stop, innermost first, then the script's
** functions.  Local. */
void dt_cmd_where (DtRepl *r, DtBuf *out);

/* cmd_ask.c: --verify: shadow mode for what was given on the command line; at
** the end sums, and exit code 3 when something was wrong.  Local;
** Collective. */
DtStatus dt_verify_begin (DtRepl *r);
void dt_verify_end (DtRepl *r);

/* --- help.c --- */
/* A page on a command, operator, error code, setting or topic; "" = the
** overview.  KEY with the nearest names.  Pure but for the operator table. */
DtStatus dt_help_page (DtRepl *r, const char *what, DtBuf *out);
/* What people come for by a word of theirs ("hang"), or a question; "tasks": all.
** Pure. */
bool dt_help_tasks (const char *what, DtBuf *out);
/* Page on a function of the Lua library ("dt.zeros", "nn.Linear", "F.linear"):
** the comment above it, with `source` its text too.  False when there is none
** of that name.  Pure. */
bool dt_help_lua (const char *what, bool source, DtBuf *out);
/* Page on a public name that is no operator ("full_tensor", "dt.rank",
** "x:item", "torch.nn.Linear"), in the language of the prompt.  Local. */
bool dt_help_everyday (DtRepl *r, const char *what, DtBuf *out);
/* What the definition of an overload ("aten.mm.default") holds: an example that
** ran, placements.  False when it has neither.  Local. */
bool dt_help_operator (DtRepl *r, const char *full, DtBuf *out);
/* The whole page on the operator of that overload, as Python programs call it.
** False where none could be made.  Local. */
bool dt_help_python (DtRepl *r, const char *full, DtBuf *out);
/* The operator ("aten.sum") that a name with its place means ("x:sum",
** "torch.sum"), into `out`; false for none.  Local. */
bool dt_help_packet (DtRepl *r, const char *what, DtBuf *out);
/* Is the line "NAME?" or "NAME??" (then *source)?  The name goes into *name.
** Pure. */
bool dt_help_asked (const char *text, DtBuf *name, bool *source);
/* All pages whose words contain `word`.  Local. */
void dt_help_apropos (DtRepl *r, const char *word, DtBuf *out);

/* Name of the i-th topic, from 0; NULL at the end.  Pure. */
const char *dt_help_topic (int i);

/* --- cmd_session.c --- */
/* Name of the i-th setting, from 0; NULL at the end.  Pure. */
const char *dt_setting_name (int i);

/* --- cmd_user.c: commands of the person's own, dt.command() --- */
/* Run the command called name[0..n), or the only one it begins; false when
** there is none.  Local, as long as the command is. */
bool dt_user_command (DtRepl *r, const char *name, size_t n, const char *arg,
                      bool whole, DtStatus *st);
/* Their names that begin with `prefix`, each after `before`.  Local. */
void dt_user_commands (lua_State *L, const char *before, const char *prefix,
                       DtLineAdd add, void *sink);
/* The page on one; false when there is none of this name.  Local. */
bool dt_user_help (lua_State *L, const char *name, DtBuf *out);
/* All of them with their first lines.  Local. */
void dt_user_list (lua_State *L, DtBuf *out);

/* --- complete.c --- */
/* Completion of a prompt line, see DtLineComplete; `ud` is the DtRepl.
** Local. */
void dt_complete (void *ud, const char *line, int point, int *start,
                  DtLineAdd add, void *sink);
/* dt.debug.complete(line) -> what Tab offers at its end, where the word
** begins.  Local. */
int dt_complete_lua (lua_State *L);

#endif
