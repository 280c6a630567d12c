/* SPDX-License-Identifier: MIT
** repl/cmd_debug.c: commands that explain.  Each calls the function of the
** same name in dt.debug, so that scripts get the same answers as data. */
#include "repl/cmd.h"

static DtStatus cmd_history (DtCmdCall *c) {
  return dt_cmd_debug(c, "history", "n");
}

static DtStatus cmd_why (DtCmdCall *c) {
  return dt_cmd_debug(c, "why", "n");
}

static DtStatus cmd_fix (DtCmdCall *c) {
  return dt_cmd_debug(c, "fix", "n");
}

static DtStatus cmd_bt (DtCmdCall *c) {
  return dt_cmd_debug(c, "bt", "");
}

static DtStatus cmd_show (DtCmdCall *c) {
  return dt_cmd_debug(c, "show", "e");
}

static DtStatus cmd_ledger (DtCmdCall *c) {
  return dt_cmd_debug(c, "ledger", "s");
}

const DtCmd dt_cmds_debug[] = {
  {"history ops", "explain", 0, "[N]",
   "List the operators that ran, the last N of them.\n"
   "Example: :history 10", cmd_history},
  {"why", "explain", 0, "[#N]",
   "Why an operator got its strategy.\n"
   "The candidates of operator #N (or the last one), their moves and costs.\n"
   "Example: :why #7", cmd_why},
  {"fix", "explain", DT_NEED_DATA, "[N]",
   "The repairs of the last error.\n"
   "Each was tried on the real inputs; with N, apply one.\n"
   "Example: :fix 2", cmd_fix},
  {"bt backtrace", "explain", 0, "",
   "Where the last error was raised: the script's lines.\n"
   "Example: :bt", cmd_bt},
  {"show", "explain", 0, "X",
   "A picture of a tensor: which rank holds what.\n"
   "Example: :show x", cmd_show},
  {"ledger", "explain", 0, "[BY]",
   "Bytes and counts of the collectives so far.\n"
   "Example: :ledger", cmd_ledger},
  {NULL, NULL, 0, NULL, NULL, NULL}
};
