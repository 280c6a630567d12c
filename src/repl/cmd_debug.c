/* SPDX-License-Identifier: MIT
** repl/cmd_debug.c: commands that explain.  Those that only ask call the
** function of dt.debug that scripts call too; :bt works on the last error,
** which the shell keeps. */
#include "base/error_tool.h"
#include "repl/cmd.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "debug/debug.h"

static DtStatus cmd_history (DtCmdCall *c) {
  return dt_cmd_debug(c, "history_text", "n");
}

/* Without a number: the operator looked at, the one that failed or is
** stopped, the last.  A tensor: the operator that made it. */
static DtStatus cmd_why (DtCmdCall *c) {
  DtRepl *r = c->r;
  char seq[32];
  int64_t n = r->past != 0 ? r->past
    : r->at != NULL && r->at->e != NULL ? r->at->seq : 0;
  if (*c->arg == '\0' && n != 0 &&
      dt_record_find(dt_debug_of(r->s), n) != NULL) {
    snprintf(seq, sizeof seq, "%lld", (long long)n);
    c->arg = seq;
  }
  if (isalpha((unsigned char)*c->arg) || *c->arg == '_')
    return dt_cmd_debug(c, "why_of", "r");
  return dt_cmd_debug(c, "why", strchr(c->arg, '+') != NULL ? "s" : "n");
}

static DtStatus cmd_show (DtCmdCall *c) {
  if (*c->arg == '\0')
    return dt_cmd_error(c, 0, "wanted a distributed tensor or a mesh");
  return dt_cmd_debug(c, "show", "e");
}

static DtStatus cmd_plan (DtCmdCall *c) {
  if (*c->arg == '\0')
    return dt_cmd_error(c, 0, "wanted a tensor and placements");
  return dt_cmd_debug(c, "plan", "es");
}

static DtStatus cmd_rules (DtCmdCall *c) {
  if (*c->arg == '\0')
    return dt_cmd_error(c, 0, "wanted an operator");
  return dt_cmd_debug(c, "rules", "s");
}

static DtStatus cmd_fix (DtCmdCall *c) { return dt_cmd_fix(c); }

static DtStatus cmd_ledger (DtCmdCall *c) {
  return dt_cmd_debug(c, "ledger", "nn");
}

/* ---- :bt ---- */

/* A frame of the shell or of the library, not of the person's script. */
static bool is_foreign_frame (const char *line, size_t n) {
  static const char *const marks[] = {"[C]", "[dt", "stack traceback",
                                      "(...tail calls"};
  for (size_t i = 0; i < sizeof marks / sizeof marks[0]; i++) {
    const char *at = strstr(line, marks[i]);
    if (at != NULL && (size_t)(at - line) < n)
      return true;
  }
  return false;
}

/* At a stop the frames of the program, else those of the last error, without
** frames of the library and of the shell. */
static DtStatus cmd_bt (DtCmdCall *c) {
  DtRepl *r = c->r;
  lua_State *L = r->L;
  int top = lua_gettop(L);
  const char *trace = NULL;
  if (r->at != NULL) {
    dt_cmd_where(r, c->out);
    return DT_OK;
  }
  if (lua_getfield(L, LUA_REGISTRYINDEX, DT_KEY_ERROR) == LUA_TTABLE) {
    lua_pushliteral(L, "traceback");
    if (lua_rawget(L, -2) == LUA_TSTRING)
      trace = lua_tostring(L, -1);
  }
  if (trace == NULL) {
    lua_settop(L, top);
    return dt_raise(r->cx, DT_E_COMMAND, "no error has a trace");
  }
  int frame = 0;
  for (const char *s = trace; *s != '\0'; ) {
    size_t n = strcspn(s, "\n"), skip = strspn(s, " \t");
    if (n > skip && !is_foreign_frame(s, n))
      dt_buf_addf(c->out, "%2d  %.*s\n", frame++, (int)(n - skip), s + skip);
    s += n + (s[n] == '\n');
  }
  lua_pushliteral(L, "where");
  if (frame == 0 && lua_rawget(L, top + 1) == LUA_TSTRING)
    dt_buf_addf(c->out, " 0  %s\n", lua_tostring(L, -1));
  lua_settop(L, top);
  return DT_OK;
}

const DtCmd dt_cmds_debug[] = {
  {"history ops", "explain", 0, "[N]",
   "List the operators that ran, the last N of them.  What was typed at a\n"
   "stop stands between them as #7+1, #7+2: the program's numbers, :rerun and\n"
   ":export leave it out.\n"
   "Example: :history 10", cmd_history},
  {"why", "explain", 0, "[#N|#N+K|X]",
   "Why an operator got its strategy.\n"
   "The candidates of operator #N (or the last one, or the one that made the\n"
   "tensor X), their moves and costs; #N+K was typed at a stop, as :history\n"
   "shows it.\n"
   "Example: :why #7", cmd_why},
  {"fix", "explain", DT_NEED_DATA, "[N [everywhere] | ARG = EXPR]",
   "The repairs of the last error (or, when nothing failed, of the last\n"
   "finding); with N, use one.\n"
   "Each was tried on the real inputs.  Where a script is stopped at the\n"
   "error, the call gets the repaired inputs and :continue goes on; a line\n"
   "typed at the prompt goes on at once.  ARG = EXPR gives an argument a\n"
   "value of your own.  With everywhere all variables of the script that hold\n"
   "the input hold the repaired one, so later uses are cured, too.\n"
   "Example: :fix", cmd_fix},
  {"bt w backtrace where", "explain", 0, "",
   "Where the last error was raised: the script's lines.\n"
   "Example: :bt", cmd_bt},
  {"show", "explain", 0, "X",
   "A picture of a tensor, or of a mesh: which rank holds what.\n"
   "0, 1: both have the same; 0 + 1: addends; 0 / 1: other planes of it.\n"
   "Example: :show x", cmd_show},
  {"plan", "explain", 0, "X PLACEMENTS",
   "The steps of a redistribution, their bytes and cost.\n"
   "Example: :plan x \"R S(0)\"", cmd_plan},
  {"rules", "explain", 0, "OP [ARGS]",
   "The sharding rules of an operator, with ARGS for these inputs: tensors, or\n"
   "shapes as in  :rules mm f32[64, 128], f32[128, 64]\n"
   "Example: :rules mm", cmd_rules},
  {"ledger", "explain", 0, "[#FIRST [#LAST]]",
   "Bytes and counts of the collectives so far.\n"
   "By mesh dimension and collective, operator, module, line.\n"
   "Example: :ledger", cmd_ledger},
  {NULL, NULL, 0, NULL, NULL, NULL}
};
