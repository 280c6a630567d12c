/* SPDX-License-Identifier: MIT
** repl/cmd_ask.c: commands that explain and whose answers are made by the
** library (lua/dt/debug): each calls the function of dt.debug that has its
** name, which scripts call too.  The reading of the rest of the line is in
** `args`, see dt_cmd_debug(). */
#include "repl/cmd.h"

#include <string.h>
#include "debug/verify.h"
#include "diag/finding.h"

typedef struct Ask {
  const char *name, *args;
  const char *wanted;           /* without an argument: what to say; or NULL */
} Ask;

static const Ask asks[] = {
  {"blame", "es", "wanted a tensor"},
  {"types", "e", "wanted a tensor"},
  {"who", "eeeeeeeee", "wanted a tensor and an index for each dimension"},
  {"mem", "", NULL},
  {"grads", "", NULL},
  {"verify", "s", NULL},
  {"check", "r", "wanted a tensor"},
  {"same", "r", "wanted a tensor"},
  {"report", "s", NULL},
  {"export", "s", "wanted torch, lua, json, html or trace, and a file"},
  {"whatif", "sv", "wanted NAME = PLACEMENTS, #N.I = PLACEMENTS, drop #N, "
   "rule OP: IN -> OUT, or planner = graph"},
  {"shrink", "s", NULL},
  {"sweep", "r", "wanted a function"},
  {"doctor", "s", NULL},
};

/* What nobody reads at a prompt goes to a file. */
static bool for_a_file (const char *name, const char *arg) {
  return strcmp(name, "export") == 0 &&
         (strcmp(arg, "html") == 0 || strcmp(arg, "json") == 0 ||
          strcmp(arg, "trace") == 0);
}

static DtStatus run_question (DtCmdCall *c) {
  char name[32];
  dt_cmd_name(c->cmd, name);
  for (size_t i = 0; i < sizeof asks / sizeof asks[0]; i++) {
    if (strcmp(asks[i].name, name) != 0)
      continue;
    if ((*c->arg == '\0' || for_a_file(name, c->arg)) &&
        asks[i].wanted != NULL)
      return dt_cmd_error(c, strlen(c->arg), "%s", asks[i].wanted);
    return dt_cmd_debug(c, name, asks[i].args);
  }
  return dt_raise(c->r->cx, DT_E_INTERNAL, ":%s has no row", name);
}

/* --verify: before the script, and after it. */
DtStatus dt_verify_begin (DtRepl *r) {
  lua_State *L = r->L;
  int top = lua_gettop(L);
  DtStatus st = DT_OK;
  if (!r->app->o.verify)
    return DT_OK;
  if (luaL_dostring(L, "dt.debug.verify_set(true)") != LUA_OK)
    st = dtL_catch(L, DT_E_LUA);
  lua_settop(L, top);
  return st;
}

/* What was noticed beside the comparison; is some of it wrong? */
static bool findings_end (DtRepl *r, DtBuf *out) {
  DtDiag *g = dt_diag_of(r->s);
  const DtFinding *f;
  bool wrong = false;
  if (g == NULL)
    return false;
  if (dt_diag_settle(g) != DT_OK)
    dt_error_clear(r->cx);        /* without what only all ranks know */
  dt_diag_fresh(g, out);
  for (int i = 0; (f = dt_diag_at(g, i)) != NULL; i++)
    wrong = wrong || f->kind->severity == DT_FIND_WRONG;
  return wrong;
}

/* Hand-written programs: what their types allow to compare. */
static void by_hand (DtRepl *r) {
  lua_State *L = r->L;
  int top = lua_gettop(L);
  lua_getglobal(L, "require");
  lua_pushliteral(L, "dt.debug.byhand");
  if (lua_pcall(L, 1, 1, 0) == LUA_OK) {
    lua_getfield(L, -1, "at_end");
    lua_pushboolean(L, r->code == DT_EXIT_OK);
    if (lua_pcall(L, 1, 0, 0) != LUA_OK)
      dt_buf_addf(dtL_out(L), "verify: plain tensors were not compared: %s\n",
                  luaL_tolstring(L, -1, NULL));
  }
  dt_error_clear(r->cx);
  lua_settop(L, top);
}

void dt_verify_end (DtRepl *r) {
  const DtVerify *k = dt_debug_of(r->s)->verify;
  DtBuf *out = dtL_out(r->L);
  if (!r->app->o.verify || k == NULL || r->lost)
    return;
  by_hand(r);
  dt_buf_add(out, "verify: ");
  dt_verify_summary(k, out);
  dt_buf_addc(out, '\n');
  bool wrong = findings_end(r, out);
  if (r->code == DT_EXIT_OK && (wrong || k->count[DT_VF_WRONG] > 0))
    r->code = DT_EXIT_CHECK;
  (void)dt_repl_meet(r, DT_OK);
}

const DtCmd dt_cmds_ask[] = {
  {"blame", "explain", 0, "X [MDIM]",
   "Where a placement came from, back to the line that set it.\n"
   "For each mesh dimension (or one, by name or number) the operators that\n"
   "passed the placement on, newest first.\n"
   "Example: :blame y tp", run_question},
  {"types", "explain", 0, "X",
   "SPMD types of a tensor on each mesh dimension, and why.\n"
   "R: equal on all ranks; I: equal, and so is its gradient; V: each rank its\n"
   "own; P: addends of a sum; S(d): parts along dimension d; ?: not known.\n"
   "Reasons, newest first: placement, collective, inference (what an operator\n"
   "makes of its inputs), data (the bits of all ranks, where nothing else\n"
   "tells), assertion (spmd.assert_type).\n"
   "Example: :types x", run_question},
  {"who", "explain", 0, "X I J ...",
   "Which ranks hold an element, where in their part, with which value.\n"
   "Indices count from 0.\n"
   "Example: :who x 1 4", run_question},
  {"mem", "explain", 0, "",
   "Memory of each rank by kind, now and at its peak.\n"
   "Counted over the operators of the record: what the program needs, not\n"
   "what the allocator keeps.\n"
   "Example: :mem", run_question},
  {"grads", "explain", 0, "",
   "Placements of leaves and of their gradients, side by side.\n"
   "Says where a reduction is missing or was made twice.\n"
   "Example: :grads", run_question},
  {"verify", "explain", DT_NEED_DATA, "[on|off|#N]",
   "Compare operators with one device: each from now on, or operator #N.\n"
   "Without an argument: what was found.  Verdicts: exact (the same bits);\n"
   "rounding, with its proof; wrong, with the cause.  Proofs: the parts are\n"
   "computed one by one and added in rank order on one device, which gives\n"
   "the same bits, and in double precision one device's numbers; or else a\n"
   "bound, which is stated.  What was not compared is counted with why.\n"
   "dtrepl --verify does it for a whole script, at whose end hand-written parts\n"
   "are compared too, as far as SPMD types tell of what whole the plain tensors\n"
   "are parts; it exits with 3 only for wrong numbers.\n"
   "Example: :verify on", run_question},
  {"check", "explain", DT_NEED_DATA, "X",
   "Compare all operators behind one tensor with one device.\n"
   "Example: :check y", run_question},
  {"same", "explain", DT_NEED_DATA, "X",
   "Is a plain tensor the same, bit by bit, on all ranks?\n"
   "Example: :same mask", run_question},
  {"report", "explain", 0, "[FILE]",
   "A bug report of what failed, or came out wrong, last.\n"
   "Wrong is what :verify or a finding calls so.\n"
   "Repro in Lua and PyTorch, expected and actual, what each rank held,\n"
   "versions; the repros are run before they are written.  Without FILE it\n"
   "is shown.\n"
   "Example: :report", run_question},
  {"export", "explain", 0, "KIND FILE",
   "Write the record: as a script for PyTorch (torch), for dtrepl (lua), one\n"
   "JSON object a line (json), a page for a browser (html: findings, meshes,\n"
   "layouts, timeline, ledger, source), or a trace for Chrome and Perfetto\n"
   "(trace).\n"
   "Example: :export torch repro.py", run_question},
  {"whatif", "explain", 0, "CHANGE[; CHANGE ...]",
   "What would be different?  The record is planned again without data:\n"
   "collectives, bytes, errors and memory, before and after.  CHANGE is\n"
   "  w = R S(1), v = R R    tensors placed otherwise\n"
   "  #7.1 = R S(1)          input 1 of operator #7 redistributed before it\n"
   "  drop #5                the redistribute #5 left out\n"
   "  rule aten.mm.default: R, S(1) -> S(1)   only this rule (on each mesh\n"
   "                         dimension) or all Replicate, for this operator\n"
   "  planner = graph        how redistributions are planned: greedy, graph\n"
   "Example: :whatif w = R S(1)", run_question},
  {"shrink", "explain", 0, "[DTnnnn] [FILE]",
   "Make the recorded failure small: fewer operators, a smaller mesh, smaller\n"
   "sizes, the same error; what shadow mode found wrong when nothing failed;\n"
   "else the last finding that says that numbers are wrong, or that of a code:\n"
   "the smallest script that still runs into it.  With FILE the result is\n"
   "written there.\n"
   "Example: :shrink", run_question},
  {"sweep", "explain", DT_NEED_DATA, "F",
   "Run a function over sizes 0 to 5 and meshes of 1 to 4 ranks.\n"
   "F(n, mesh) makes tensors of size n, cut unevenly by the mesh; every\n"
   "operator is compared with one device.  The smallest case that fails is\n"
   "kept.  dt.debug.sweep(f, {sizes =, ranks =}) takes other ranges.\n"
   "Example: :sweep function(n, mesh) return dt.distribute_tensor(dt.ones(n), "
   "mesh, \"S(0)\"):sum() end", run_question},
  {"doctor", "explain", DT_NEED_DATA, "[OP [ARGS]]",
   "Which placements are valid for an operator?\n"
   "Every combination is tried on small uneven inputs and compared with one\n"
   "device; what holds is written as register_sharding, in Lua and in Python,\n"
   "forward and backward.  ARGS as in f32[6, 4], f32[4, 8]; without them the\n"
   "operator's own samples, or the inputs of its last recorded call.\n"
   "Example: :doctor aten.mm.default", run_question},
  {NULL, NULL, 0, NULL, NULL, NULL}
};
