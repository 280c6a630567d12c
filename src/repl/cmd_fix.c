/* SPDX-License-Identifier: MIT
** repl/cmd_fix.c: use a repair of the failed call.
**
** While the script is stopped where the error is raised, the call gets other
** inputs and goes on from there: nothing before it is done twice.  Where an
** input has a variable, the repair is made in the script's own words, so that
** the variable holds the repaired tensor from now on and gradients flow; else
** the inputs of the trial are used.  When the stop has been left, the failed
** line is run again after the repair. */
#include "base/error_tool.h"
#include "repl/cmd.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include "debug/debug.h"
#include "diag/finding.h"

static void list_fixes (const DtRepairs *v, bool python, DtBuf *out) {
  int num = 0;
  for (int i = 0; i < v->n; i++) {
    const DtRepair *r = &v->r[i];
    const char *words = python && r->torch != NULL ? r->torch : r->lua;
    if (dt_repair_good(r))
      dt_buf_addf(out, "%2d  %s\n", ++num, words);
    else
      dt_buf_addf(out, " x  %s\n", words);
    dt_buf_add(out, "      ");
    if (r->result != NULL)
      dt_buf_addf(out, "gives %s, ", r->result);
    if (!r->retry) {
      dt_buf_add(out, "moves ");
      dt_bytes_print(r->bytes, out);
      dt_buf_add(out, "/rank; ");
    }
    dt_buf_addf(out, "%s\n", r->note != NULL ? r->note : "not tried");
  }
  if (v->n == 0)
    dt_buf_add(out, "no repair is known for this error\n");
}

/* ---- the stop has been left: do it, and run the failed line again ---- */

static DtStatus run_again (DtCmdCall *c, const DtRepair *r) {
  DtRepl *p = c->r;
  DtBuf again;
  if (r->apply == NULL || p->failed.len == 0) {
    dt_buf_add(c->out, "not applied: an input has no variable of its own; "
               "write it into the line above\n");
    return DT_OK;
  }
  DtStatus st = dt_eval_line(p->L, r->apply, &p->diag);
  if (st != DT_OK)
    return st;
  dt_buf_addf(c->out, "again    %s\n", dt_buf_str(&p->failed));
  dt_buf_init(&again, p->cx);
  dt_buf_add(&again, dt_buf_str(&p->failed));
  st = p->set.python
    ? dt_eval_python_line(p, dt_buf_str(&again), again.len, NULL, 0)
    : dt_eval_line(p->L, dt_buf_str(&again), &p->diag);
  dt_buf_fini(&again);
  return st;
}

/* ---- stopped at the error ---- */

/* Evaluate `expr` at the stop; it must be a tensor.  Borrowed by the stack,
** which the caller restores. */
static DtStatus eval_tensor (DtRepl *r, const char *expr, DtVar **out) {
  bool expression;
  if (!dt_eval_compile(r->L, expr, &expression) || !expression) {
    const char *msg = lua_tostring(r->L, -1);
    return dt_raise(r->cx, DT_E_PARSE, "%s", msg != NULL && !expression
                    ? msg : "wanted an expression");
  }
  DtStatus st = dt_eval_call(r->L, 0, 1, &r->diag);
  if (st != DT_OK)
    return st;
  *out = dtL_test_tensor(r->L, -1);
  DT_CHECK(r->cx, *out != NULL, DT_E_TYPE, "%s is no tensor", expr);
  return DT_OK;
}

static DtStatus replace_input (DtRepl *r, int slot, DtVar *v) {
  DT_CHECK(r->cx, slot < 64, DT_E_LIMIT, "argument %d cannot be replaced",
           slot);
  dt_var_unref(r->fix[slot]);
  r->fix[slot] = dt_var_ref(v);
  r->at->fixed = true;
  return DT_OK;
}

/* Is `v` the input still, or what the input was detached from? */
static bool is_the_input (const DtFailed *f, int i, const DtVar *v) {
  const DtVar *in = f->in[i];
  return v == in || (v->spec == in->spec &&
                     v->local->storage == in->local->storage &&
                     v->local->offset == in->local->offset &&
                     dt_meta_same_shape(&v->local->m, &in->local->m));
}

/* In the script's words; each named input that changed goes into the call. */
static DtStatus fix_by_words (DtRepl *r, const DtRepair *x) {
  const DtFailed *f = &dt_debug_of(r->s)->failed;
  int top = lua_gettop(r->L), here = r->here;
  DT_TRY(r->cx, dt_stop_select(r, 0));  /* where the names are */
  if (x->retry) {               /* a rule names nothing of the script's */
    lua_pushnil(r->L);
    dt_eval_set_frame(r->L);
  }
  DtStatus st = dt_eval_line(r->L, x->apply, &r->diag);
  if (x->retry && dt_stop_select(r, 0) != DT_OK)
    dt_error_clear(r->cx);
  if (st == DT_OK && x->retry)  /* the call again, as it is */
    st = replace_input(r, 0, f->in[0]);
  for (int i = 0; i < f->nin && st == DT_OK; i++) {
    DtVar *v = NULL;
    if (!dt_failed_is_path(f->name[i]))
      continue;
    st = eval_tensor(r, f->name[i], &v);
    if (st == DT_OK && !is_the_input(f, i, v))
      st = replace_input(r, i, v);
    lua_settop(r->L, top);
  }
  if (st == DT_OK)
    st = dt_stop_select(r, here);
  return st;
}

static DtStatus fix_by_trial (DtRepl *r, int which) {
  DtDebug *d = dt_debug_of(r->s);
  DtVar *in[64];
  int n = d->failed.nin;
  DT_CHECK(r->cx, n <= 64, DT_E_LIMIT, "more than 64 inputs");
  DtStatus st = dt_repair_inputs(d, &d->failed, which, in);
  for (int i = 0; i < n; i++) {
    if (st == DT_OK && in[i] != NULL)
      st = replace_input(r, i, in[i]);
    dt_var_unref(in[i]);
  }
  return st;
}

static DtStatus go_on (DtCmdCall *c, bool retry) {
  DtRepl *r = c->r;
  if (!r->at->fixed)
    return dt_raise(r->cx, DT_E_COMMAND, "the repair changed no input");
  if (r->at->light) {
    dt_buf_addf(c->out, "goes on  %s:%d\n", r->at->file, r->at->line);
    dt_control_go(dt_control_of(r->s), DT_GO_ON);
  } else {
    dt_buf_addf(c->out, "the call %s; :continue goes on\n",
                retry ? "is made again" : "gets these inputs");
  }
  return DT_OK;
}

static bool at_error (const DtRepl *r) {
  return r->at != NULL && r->at->why == DT_WHY_ERROR && r->at->e != NULL;
}

/* ":fix other = dt.zeros(4)": a slot by the name or number of its argument. */
static DtStatus fix_by_hand (DtCmdCall *c, const char *eq) {
  DtRepl *r = c->r;
  const DtFailed *f = &dt_debug_of(r->s)->failed;
  size_t n = (size_t)(eq - c->arg);
  int top = lua_gettop(r->L), slot = -1, pos;
  DtVar *v = NULL;
  while (n > 0 && c->arg[n - 1] == ' ')
    n--;
  DT_CHECK(r->cx, at_error(r) && f->valid, DT_E_COMMAND,
           "no call is stopped at an error");
  for (int i = f->nin - 1; i >= 0; i--) {
    const char *arg = dt_slot_arg(&f->args, i, &pos), *name = f->name[i];
    if ((strlen(arg) == n && strncmp(arg, c->arg, n) == 0) ||
        (name != NULL && strlen(name) == n && strncmp(name, c->arg, n) == 0) ||
        (isdigit((unsigned char)*c->arg) && pos == atoi(c->arg)))
      slot = i;
  }
  if (slot < 0)
    return dt_cmd_error(c, 0, "the call has no tensor argument of this name");
  DtStatus st = eval_tensor(r, eq + 1 + strspn(eq + 1, " "), &v);
  if (st == DT_OK)
    st = replace_input(r, slot, v);
  lua_settop(r->L, top);
  return st == DT_OK ? go_on(c, false) : st;
}

/* Behind its label, or under it when there are several lines. */
static void show_words (const char *label, const char *s, DtBuf *out) {
  size_t n = strlen(s);
  while (n > 0 && strchr("\n ", s[n - 1]) != NULL)
    n--;
  if (memchr(s, '\n', n) != NULL)
    dt_buf_addf(out, "%s\n%.*s\n", label, (int)n, s);
  else
    dt_buf_addf(out, "%-7s  %.*s\n", label, (int)n, s);
}

/* ---- everywhere: the script's variables that hold a repaired input ---- */

typedef struct Spread {
  DtRepl *r;
  const DtVar *old;
  DtVar *now;
  DtBuf *out;
  int n;
} Spread;

/* `name` of the frame's environment at `env` holds the input: the repaired one
** from now on, unless the repair's own line has seen to that. */
static void spread_name (lua_State *L, Spread *p, int env, const char *name,
                         bool done, const char *where) {
  if (!done) {
    dtL_share_tensor(L, p->now);
    lua_setfield(L, env, name);
  }
  dt_buf_addf(p->out, "%s%s of %s", p->n++ > 0 ? ", " : "everywhere: ", name,
              where);
}

static void spread_frame (lua_State *L, Spread *p, const DtLuaFrame *f) {
  int top = lua_gettop(L);
  dtL_frame_locals(L, f);
  dtL_frame_env(L, f);
  for (lua_Integer i = 1; lua_rawgeti(L, top + 1, i) == LUA_TSTRING; i++) {
    const char *name = lua_tostring(L, -1);     /* held by the list */
    lua_getfield(L, top + 1, name);
    const DtVar *t = dtL_test_tensor(L, -1);
    bool done = t == p->now;
    lua_settop(L, top + 2);
    if (done || t == p->old)
      spread_name(L, p, top + 2, name, done, f->name);
  }
  lua_settop(L, top);
}

static int replace_in_frames (lua_State *L) {
  Spread *p = lua_touserdata(L, 1);
  for (int i = 0; i < p->r->nframe; i++)
    spread_frame(L, p, &p->r->frame[i]);
  return 0;
}

/* Later uses of the inputs that were repaired meet the repaired ones, too. */
static DtStatus fix_everywhere (DtCmdCall *c) {
  DtRepl *r = c->r;
  const DtFailed *f = &dt_debug_of(r->s)->failed;
  Spread p = {r, NULL, NULL, c->out, 0};
  if (!at_error(r) || !r->at->fixed)
    return DT_OK;
  for (int i = 0; i < f->nin && i < 64; i++) {
    if (r->fix[i] == NULL || r->fix[i] == f->in[i])
      continue;
    p.old = f->in[i];
    p.now = r->fix[i];
    lua_pushcfunction(r->L, replace_in_frames);
    lua_pushlightuserdata(r->L, &p);
    if (lua_pcall(r->L, 1, 0, 0) != LUA_OK)
      return dtL_catch(r->L, DT_E_LUA);
  }
  dt_buf_add(c->out, p.n > 0 ? "\n" : "no other variable holds it: "
             "this call and what comes of it\n");
  return DT_OK;
}

static DtStatus apply_fix (DtCmdCall *c, const DtRepairs *v, int which) {
  const DtRepair *x = &v->r[which];
  if (x->torch == NULL || !dt_debug_of(c->r->s)->failed.python)
    show_words("Lua", x->apply != NULL ? x->apply : x->lua, c->out);
  if (x->torch != NULL)
    show_words("PyTorch", x->torch, c->out);
  if (!at_error(c->r))
    return run_again(c, x);
  DtStatus st = x->apply != NULL ? fix_by_words(c->r, x)
                                 : fix_by_trial(c->r, which);
  return st == DT_OK ? go_on(c, x->retry) : st;
}

/* ---- nothing failed, but something was found ---- */

/* The last one that says more than a note, NULL: none. */
static DtStatus last_finding (const DtRepl *r, const DtFinding **last) {
  DtDiag *g = dt_diag_of(r->s);
  const DtFinding *f;
  if (g == NULL)
    return DT_OK;
  DT_TRY(r->cx, dt_diag_settle(g));
  for (int i = 0; (f = dt_diag_at(g, i)) != NULL; i++)
    if (f->kind->severity != DT_FIND_NOTE)
      *last = f;
  return DT_OK;
}

/* Its own words, and what was tried on the operator it names; not *found when
** there is none, or an operator failed.  One rank's may be no other's: all of
** them go through this. */
static DtStatus for_finding (DtCmdCall *c, bool *found) {
  DtDebug *d = dt_debug_of(c->r->s);
  const DtFinding *f = NULL;
  DtRepairs v;
  DT_TRY(c->r->cx, last_finding(c->r, &f));
  if (d->failed.valid)
    f = NULL;
  *found = f != NULL;
  if (f != NULL) {
    dt_finding_line(f, c->out);
    dt_buf_addf(c->out, "\n    Lua: %s\n    PyTorch: %s\n", f->lua,
                f->torch);
  }
  DtStatus st = dt_repair_recorded(d, f != NULL ? f->seq : 0, &v);
  if (st == DT_OK && v.n > 0) {
    dt_buf_add(c->out, "tried on this call:\n");
    list_fixes(&v, false, c->out);
  }
  dt_repairs_fini(d, &v);
  return st;
}

/* Is the script stopped before anything of this run has failed? */
static bool nothing_yet (const DtRepl *r) {
  const DtDebug *d = dt_debug_of(r->s);
  return r->at != NULL && r->at->why != DT_WHY_ERROR &&
         r->at->why != DT_WHY_LUA &&
         !(d->failed.valid && d->failed.seq >= d->from);
}

/* :fix, :fix N, :fix N everywhere, :fix name = Lua.  What it speaks of is, in
** this order: an error that was no operator's, the last finding (without a
** number), the operator that failed.  Repairs are tried again here, since names
** may have changed since the error was shown. */
DtStatus dt_cmd_fix (DtCmdCall *c) {
  DtCtx *cx = c->r->cx;
  DtDebug *d = dt_debug_of(c->r->s);
  const char *eq = strchr(c->arg, '=');
  char *end = NULL;
  long k = strtol(c->arg, &end, 10);
  if (eq != NULL)
    return fix_by_hand(c, eq);
  bool all = k > 0 && strcmp(end + strspn(end, " "), "everywhere") == 0;
  if (all)
    end += strlen(end);
  if (*end != '\0' || k < 0)
    return dt_cmd_error(c, 0, "wanted the number of a repair");
  if (nothing_yet(c->r))
    return dt_raise(cx, DT_E_COMMAND, "nothing has failed yet: :continue goes "
                    "on to where it does, then :fix repairs the call");
  if (dt_cmd_other_error(c, k == 0))
    return k == 0 ? DT_OK : dt_raise(cx, DT_E_COMMAND, "the last error is no "
                                     "operator's: there is no call to repair; "
                                     ":fix says what helps");
  if (d != NULL && k == 0 && *c->arg == '\0') {
    bool found = false;
    DT_TRY(cx, for_finding(c, &found));
    if (found)
      return DT_OK;
  }
  const DtRecOp *last = d != NULL ? dt_record_at(d, 0) : NULL;
  DT_CHECK(cx, last == NULL || last->st == DT_OK || d->failed.valid,
           DT_E_COMMAND, "#%lld failed, but only its record is here: :why and "
           ":explain %s speak of it, :run its script repairs it",
           (long long)last->seq, dt_error_info(last->st)->id);
  DT_CHECK(cx, d != NULL && d->failed.valid, DT_E_COMMAND,
           "no operator has failed");
  DtRepairs v;
  memset(&v, 0, sizeof v);
  DtStatus st = dt_repair_try(d, &d->failed, &v);
  int which = st == DT_OK ? dt_repair_nth(&v, (int)k) : -1;
  if (st == DT_OK && k == 0)
    list_fixes(&v, dt_debug_of(c->r->s)->failed.python, c->out);
  else if (st == DT_OK && which < 0)
    st = dt_cmd_error(c, 0, "no repair has this number; :fix lists them");
  else if (st == DT_OK)
    st = apply_fix(c, &v, which);
  if (st == DT_OK && all)
    st = fix_everywhere(c);
  dt_repairs_fini(d, &v);
  return st;
}
