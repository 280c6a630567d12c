/* SPDX-License-Identifier: MIT
** repl/cmd_test.c: commands of session files.  A file checked by
** `dtrepl --check` handles them itself (repl_check.c); here are their pages,
** and what they say when typed at a prompt. */
#include "base/error_tool.h"
#include "repl/cmd.h"

static DtStatus only_in_files (DtCmdCall *c) {
  return dt_raise(c->r->cx, DT_E_COMMAND, ":%s belongs into a session file: "
                  "dtrepl --check FILE", c->cmd->names);
}

const DtCmd dt_cmds_test[] = {
  {"testcase", "session files", 0, "NAME",
   "Begin a test case in a session file.\n"
   "Example: :testcase addition", only_in_files},
  {"expect", "session files", 0, "",
   "What the lines before must have written.\n"
   "The lines up to :end; a line ... stands for any lines.\n"
   "  DTREPL_BLESS=1 dtrepl --check FILE rewrites.\n"
   "Example: :expect", only_in_files},
  {NULL, NULL, 0, NULL, NULL, NULL}
};
