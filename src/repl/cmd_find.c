/* SPDX-License-Identifier: MIT
** repl/cmd_find.c: findings: the traps a program ran into. */
#include "repl/cmd.h"

#include <string.h>
#include "diag/finding.h"

static DtStatus cmd_findings (DtCmdCall *c) {
  DtCmdCall call = *c;
  if (strcmp(c->arg, "clear") == 0) {
    call.arg = "";
    return dt_cmd_debug(&call, "findings_clear", "");
  }
  return dt_cmd_debug(&call, "findings", "s");
}

const DtCmd dt_cmds_find[] = {
  {"findings traps", "explain", 0, "[CODE|TRAP|OP|clear]",
   "The silent traps the program ran into, with evidence and fix.\n"
   "They are noticed while it runs: a partial tensor read as a number, a mean\n"
   "over uneven parts, a plain tensor that differs between ranks, and so on.\n"
   "At the prompt each is printed once, in one line; :set findings off stops\n"
   "that.  The same as data: dt.debug.findings().\n"
   "Example: :findings", cmd_findings},
  {NULL, NULL, 0, NULL, NULL, NULL}
};
