/* SPDX-License-Identifier: MIT
** repl/cmd_ask.c: commands that explain and whose answers are made by the
** library (lua/dt/debug): each calls the function of dt.debug that has its
** name, which scripts call too.  How the rest of the line is read stands in
** `args`, see dt_cmd_debug(). */
#include "repl/cmd.h"

#include <string.h>

typedef struct Ask {
  const char *name, *args;
  const char *wanted;           /* without an argument: what to say; or NULL */
} Ask;

static const Ask asks[] = {
  {"blame", "es", "wanted a tensor"},
  {"who", "eeeeeeeee", "wanted a tensor and an index for each dimension"},
  {"mem", "", NULL},
  {"grads", "", NULL},
  {"verify", "s", NULL},
  {"check", "r", "wanted a tensor"},
  {"same", "r", "wanted a tensor"},
};

static DtStatus ask (DtCmdCall *c) {
  char name[32];
  dt_cmd_name(c->cmd, name);
  for (size_t i = 0; i < sizeof asks / sizeof asks[0]; i++) {
    if (strcmp(asks[i].name, name) != 0)
      continue;
    if (*c->arg == '\0' && asks[i].wanted != NULL)
      return dt_cmd_error(c, 0, "%s", asks[i].wanted);
    return dt_cmd_debug(c, name, asks[i].args);
  }
  return dt_raise(c->r->cx, DT_E_INTERNAL, ":%s has no row", name);
}

const DtCmd dt_cmds_ask[] = {
  {"blame", "explain", 0, "X [MDIM]",
   "Where a placement came from, back to the line that set it.\n"
   "For each mesh dimension (or one, by name or number) the operators that\n"
   "passed the placement on, newest first.\n"
   "Example: :blame y tp", ask},
  {"who", "explain", 0, "X I J ...",
   "Which ranks hold an element, where in their part, with which value.\n"
   "Indices count from 0.\n"
   "Example: :who x 1 4", ask},
  {"mem", "explain", 0, "",
   "Memory of each rank by kind, now and at its peak.\n"
   "Counted over the operators of the record: what the program needs, not\n"
   "what the allocator keeps.\n"
   "Example: :mem", ask},
  {"grads", "explain", 0, "",
   "Placements of leaves and of their gradients, side by side.\n"
   "Says where a reduction is missing or was made twice.\n"
   "Example: :grads", ask},
  {"verify", "explain", DT_NEED_DATA, "[on|off|#N]",
   "Compare operators with one device: each from now on, or operator #N.\n"
   "Without an argument: what was found.  Verdicts: exact (the same bits);\n"
   "rounding (within a bound that holds for every order of additions); wrong,\n"
   "with the cause.  dtrepl --verify does it for a whole script.\n"
   "Example: :verify on", ask},
  {"check", "explain", DT_NEED_DATA, "X",
   "Compare all operators behind one tensor with one device.\n"
   "Example: :check y", ask},
  {"same", "explain", DT_NEED_DATA, "X",
   "Is a plain tensor the same, bit by bit, on all ranks?\n"
   "Example: :same x", ask},
  {NULL, NULL, 0, NULL, NULL, NULL}
};
