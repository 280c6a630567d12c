/* SPDX-License-Identifier: MIT
** repl/repl_stop.c: the prompt at a stop.
**
** The debugger's core (debug/control.h) calls on_stop() inside an event.  When
** all ranks have come to a stop, they go through rounds as at the prompt: rank
** 0 reads, all run, all meet.  Meeting in the middle of a chunk is sound: every
** rank is between two operations, and counts from the same place afterwards.
** Whatever lines do here leaves no trace in the record, in operator numbers or
** in the generator; what they assign stays.
**
** An error of a line typed at the prompt stops lightly: commands see the stop
** (:why, :fix, :bt, :up), but a line of Lua leaves it, so that a session goes
** on as if the line had just failed. */
#include "base/error_tool.h"
#include "repl/repl_int.h"

#include <lauxlib.h>
#include <lua.h>
#include <stdio.h>
#include <string.h>
#include "bind/pyframe.h"
#include "bind/names.h"
#include "debug/autopsy.h"
#include "repl/cmd.h"

/* What must be as before when the script goes on. */
typedef struct Saved {
  DtError err;
  DtMute mute;
  int depth, sdepth, call_depth;
  int64_t cur_seq;
  const DtOpDef *cur_op;
  const char *cur_file, *module;
  int cur_line;
  bool backward, err_told, grad;
  uint64_t fix_mask;
  DtStatus status;
  DtStopAt *at;
  lua_State *cur;               /* coroutine */
} Saved;

/* What a prompt at a stop may disturb, kept to go on as if nothing had been
** typed: the pending error, depths, the operator being run, grad mode.  The
** error is moved with the buffers it owns and the context gets empty ones,
** so that neither side frees the other's; restore_state has to follow on
** every way out. */
static void save_state (DtRepl *r, Saved *v) {
  DtSession *s = r->s;
  memset(v, 0, sizeof *v);
  v->err = r->cx->err;
  memset(&r->cx->err, 0, sizeof r->cx->err);
  dt_buf_init(&r->cx->err.message, r->cx);
  dt_buf_init(&r->cx->err.explain, r->cx);
  v->sdepth = s->depth;
  v->call_depth = s->call_depth;
  v->cur_seq = s->cur_seq;
  v->cur_op = s->cur_op;
  v->cur_file = s->cur_file;
  v->cur_line = s->cur_line;
  v->module = s->module;
  v->backward = s->backward;
  v->err_told = s->err_told;
  v->fix_mask = s->fix_mask;
  v->grad = s->grad_enabled;
  v->status = r->status;
  v->at = r->at;
  v->cur = dtL_state(r->L)->cur;
}

static void restore_state (DtRepl *r, const Saved *v) {
  DtSession *s = r->s;
  dt_error_clear(r->cx);
  dt_buf_fini(&r->cx->err.message);
  dt_buf_fini(&r->cx->err.explain);
  r->cx->err = v->err;
  s->depth = v->sdepth;
  s->call_depth = v->call_depth;
  s->cur_seq = v->cur_seq;
  s->cur_op = v->cur_op;
  s->cur_file = v->cur_file;
  s->cur_line = v->cur_line;
  s->module = v->module;
  s->backward = v->backward;
  s->err_told = v->err_told;
  s->grad_enabled = v->grad;
  r->status = v->status;
  r->at = v->at;
  dtL_set_current(v->cur);
}

/* ---- frames ---- */

typedef struct Env {
  const DtLuaFrame *f;          /* NULL: the prompt's own */
  int64_t seq; const char *scope;       /* of the past; 0: now */
} Env;

static int push_env (lua_State *L) {
  Env *e = lua_touserdata(L, 1);
  dtL_frame_select(L, e->f);
  if (e->f != NULL)
    dtL_frame_env(L, e->f);
  else if (e->seq != 0)
    lua_getfield(L, LUA_REGISTRYINDEX, "dt.frame.env");
  else
    lua_pushnil(L);
  if (e->seq != 0)
    dtL_past_env(L, e->seq, e->scope);
  dtL_py_past(L, e->seq != 0);
  return 1;
}

/* What lines see follows from the selected frame and the time looked at. */
static DtStatus set_env (DtRepl *r) {
  DtRecOp *op = r->past != 0 ? dt_record_find(dt_debug_of(r->s), r->past)
                             : NULL;
  Env e = {r->at != NULL && r->nframe > 0 ? &r->frame[r->here] : NULL,
           r->past, op != NULL ? op->scope : ""};
  lua_pushcfunction(r->L, push_env);
  lua_pushlightuserdata(r->L, &e);
  if (lua_pcall(r->L, 1, 1, 0) != LUA_OK)
    return dtL_catch(r->L, DT_E_NOMEM);
  dt_eval_set_frame(r->L);
  return DT_OK;
}

DtStatus dt_stop_select (DtRepl *r, int i) {
  DT_CHECK(r->cx, r->at != NULL, DT_E_COMMAND, "nothing is stopped");
  DT_CHECK(r->cx, i >= 0, DT_E_INDEX, "this is the innermost frame");
  DT_CHECK(r->cx, i < r->nframe || i == 0, DT_E_INDEX,
           "this is the outermost frame");
  r->here = i;
  r->list_from = r->list_to = 0;
  return set_env(r);
}

DtStatus dt_stop_past (DtRepl *r, int64_t seq) {
  r->past = seq;
  return set_env(r);
}

/* ---- what is shown ---- */

static void show_displays (DtRepl *r) {
  for (int i = 0; i < r->ndisplay; i++) {
    DtBuf *out = dtL_out(r->L);
    size_t before = r->diag.len;
    dt_buf_addf(out, "%s = ", r->display[i]);
    if (dt_eval_line(r->L, r->display[i], &r->diag) == DT_OK && r->diag.s != NULL)
      r->diag.s[r->diag.len = before] = '\0';      /* hints for what is typed */
    if (out->len > 0 && out->s[out->len - 1] != '\n')
      dt_buf_addc(out, '\n');
  }
}

/* The whole report of the failed call, as it will not be given again. */
static bool show_autopsy (DtRepl *r, DtStatus code, DtBuf *out) {
  DtDebug *d = dt_debug_of(r->s);
  DtRepairs fixes;
  DtBuf text;
  memset(&fixes, 0, sizeof fixes);
  dtL_name_failed(r->L, &d->failed);
  dt_buf_init(&text, r->cx);
  bool got = dt_autopsy_text(r->s, code, &fixes, &text);
  if (got)
    dt_buf_addf(out, "%s\n", dt_buf_str(&text));
  dt_buf_fini(&text);
  dt_repairs_fini(d, &fixes);
  return got;
}

/* An error is a diagnostic, with all that belongs to it. */
static void show_stop (DtRepl *r, DtControl *c, const DtStopAt *at,
                       DtStatus code, const char *message) {
  DtBuf *out = dtL_out(r->L);
  if (at->why != DT_WHY_ERROR && at->why != DT_WHY_LUA) {
    if (r->app->o.json) {
      dt_cmd_json_stop(r);
      return;
    }
    if (r->app->editor != NULL)
      return;                     /* the editor shows it */
    dt_buf_add(out, "stopped ");
    dt_stop_text(c, at, out);
    return;
  }
  if (r->app->o.json)
    dt_cmd_json_stop(r);
  if (at->why == DT_WHY_ERROR) {
    if (!show_autopsy(r, code, &r->diag)) {
      dt_buf_addf(&r->diag, "%s %s: %s\n", dt_error_info(code)->id,
                  dt_error_info(code)->pyclass, message);
      dtL_note_stopped(r->L, code, message);
    }
    dt_buf_clear(&r->told);
    dt_buf_add(&r->told, message);
  }
  if (at->light) {              /* the line's end comes with the next line */
    if (r->lua != NULL)
      dt_slip_hint(r->L, "raised", r->lua, message, &r->diag);
    return;
  }
  dt_stop_line(c, at, &r->diag);
  dt_buf_add(&r->diag, at->why == DT_WHY_LUA
             ? "stopped where it was raised; :kill or :continue ends it\n"
             : "stopped where it is raised; :fix N and :continue, or :kill\n");
}

/* ---- rounds ---- */

/* How many ranks say yes (their text begins with 1); `at` hears the rest of the
** texts, NULL: nobody.  Collective. */
static DtStatus count_ranks (DtRepl *r, const char *what, const char *mine,
                             DtStopAt *at, int *yes) {
  DtCtx *cx = r->cx;
  int n = r->comm->size;
  DtCollInfo info = {"debugger", 0, what, "", ""};
  *yes = mine[0] == '1' ? n : 0;
  if (n == 1 || r->comm->no_data)
    return DT_OK;
  char **text = DT_NEWN(cx, char *, n);
  size_t *len = DT_NEWN(cx, size_t, n);
  DtStatus st = text != NULL && len != NULL ? DT_OK : DT_E_NOMEM;
  bool all = true;
  if (st == DT_OK)
    st = dt_comm_gather_text(cx, r->comm->world, &info, mine, strlen(mine),
                             text, len);
  *yes = 0;
  for (int i = 0; i < n && text != NULL; i++) {
    all = all && text[i] != NULL;
    *yes += text[i] != NULL && text[i][0] == '1';
    if (text[i] != NULL)
      memmove(text[i], text[i] + 1, strlen(text[i]));
  }
  if (st == DT_OK && all && at != NULL)
    dt_stop_hear(cx, at, n, text);
  for (int i = 0; i < n && text != NULL; i++)
    dt_free(cx, text[i]);
  dt_free(cx, text);
  dt_free(cx, len);
  return st;
}

/* All go on or none: "@2 :continue" would tear the ranks apart. */
static void agree_to_go (DtRepl *r, DtControl *c) {
  int yes = 0;
  DtStatus st = count_ranks(r, "who goes on", c->resumed ? "1" : "0", NULL,
                            &yes);
  dt_error_clear(r->cx);
  if (st == DT_OK && (yes == 0 || yes == r->comm->size || r->comm->no_data))
    return;
  if (st == DT_OK && dt_repl_first(r))
    dt_output_add(&r->app->out, DT_OUT_DIAG, "dtrepl: all ranks go on or "
                  "none: say it without @\n");
  c->resumed = c->abort = false;
  c->way.mode = DT_GO_ON;
}

/* Lines of a breakpoint's commands, run as if typed.  Where all that were hit end
** in :continue, and no step ends here, there is no stop: a step goes on. */
static void run_commands (DtRepl *r, DtControl *c, const DtStopAt *at) {
  bool pass = at->nhit > 0 && !at->step;
  for (int i = 0; i < at->nhit; i++) {
    bool passing = false;
    const DtBreak *b = dt_bp_find(c, at->hit[i]);
    char *text = b != NULL && b->commands != NULL
      ? dt_strdup(r->cx, b->commands) : NULL;
    for (char *s = text; s != NULL && *s != '\0' && !passing &&
         !c->resumed && !r->quit; ) {
      size_t n = strcspn(s, "\n");
      bool more = s[n] == '\n';
      s[n] = '\0';
      r->passing = &passing;
      if (*s != '\0')
        (void)dt_repl_run(r, s, NULL);
      r->passing = NULL;
      s += n + more;
    }
    dt_free(r->cx, text);
    pass = pass && passing;
  }
  if (pass && !c->resumed && !r->quit)
    dt_control_resume(c);
}

/* A command that looks at things; one that runs a program is as a line. */
static bool is_command (DtRepl *r, const char *s) {
  const DtCmd *c;
  s += strspn(s, " \t\n");
  if (*s != ':' || s[1] == ':')
    return *s == '?' || *s == '\001';
  s += 1 + strspn(s + 1, " \t");
  bool program = dt_cmd_find(r->cx, s, strcspn(s, " \t\n"), &c) == DT_OK &&
                 (c->needs & DT_CMD_PROGRAM) != 0;
  dt_error_clear(r->cx);
  return !program;
}

/* Rank 0's next line, to all.  False: leave the program.  Without a line
** rank 0 still begins the round: the others wait to hear that it leaves. */
static bool next_line (DtRepl *r) {
  DtBuf chunk;
  bool got = false;
  dt_buf_init(&chunk, r->cx);
  if (dt_repl_first(r))
    got = r->read(r, &chunk);
  bool more = !r->quit && dt_repl_round(r, got ? dt_buf_str(&chunk) : NULL);
  dt_buf_fini(&chunk);
  return more;
}

/* The prompt at a stop, until all ranks agree to go on. The report is printed
** before recording is muted, as it reads the call. */
static void run_prompt (DtRepl *r, DtControl *c, DtStopAt *at, Saved *v) {
  DtDebug *d = dt_debug_of(r->s);
  bool *passing = r->passing;   /* a command's line has come to a stop of its own */
  c->resumed = false;
  r->passing = NULL;
  show_stop(r, c, at, v->err.code, dt_buf_str(&v->err.message));
  dt_notes_take(r->notes, &r->diag);
  if (at->why == DT_WHY_ERROR && dt_repl_first(r) && !r->person &&
      r->app->editor == NULL &&
      r->code == DT_EXIT_OK)
    r->code = DT_EXIT_ERROR;
  dt_debug_mute(d, &v->mute);   /* the report above reads the call: not muted */
  r->s->grad_enabled = v->grad;
  if (!at->light)
    show_displays(r);
  run_commands(r, c, at);
  (void)dt_repl_meet(r, DT_OK);
  if (r->resumed > 0)
    dt_repl_tell_time(r);
  while (!c->resumed && !r->quit && r->stash == NULL && next_line(r))
    agree_to_go(r, c);
  r->resumed = r->quit ? 0 : dt_repl_seconds();
  r->passing = passing;
  dt_debug_unmute(d, &v->mute);
}

bool dt_stop_leaves (DtRepl *r, const char *text) {
  if (r->at == NULL || !r->at->light || is_command(r, text))
    return false;
  r->stash = dt_strdup(r->cx, text);
  if (r->stash == NULL)
    dt_repl_tell(r);
  return true;
}

/* ---- hooks ---- */

/* What :fix gave goes into the call that failed.  64: the session keeps a
** bit for each input (fix_mask). */
static void give_fixes (DtRepl *r, const DtStopAt *at) {
  for (int i = 0; i < 64; i++) {
    if (r->fix[i] != NULL && at->fixed &&
        dt_session_fix(r->s, i, r->fix[i]) != DT_OK)
      dt_error_clear(r->cx);
    dt_var_unref(r->fix[i]);
    r->fix[i] = NULL;
  }
  if (at->fixed)
    dt_buf_clear(&r->told);
}

/* The rule that a person gave for the operator of a stop; NULL: none. */
static const void *rule_at (DtRepl *r, const DtStopAt *at) {
  void *rule = NULL;
  if (at->why != DT_WHY_ERROR || at->e == NULL || at->e->op == NULL ||
      dt_registry_strategy(r->s->registry, at->e->op, &rule) == NULL)
    return NULL;
  return rule;
}

/* What :continue means at an error: the call is made again when it got other
** inputs or its operator another rule; else the error goes on, and it is
** said so.  A new rule needs no other input, but only a call with a replaced
** one is made again: input 0 takes its own place. */
static void apply_mend (DtRepl *r, const DtControl *c, DtStopAt *at,
                        const void *rule) {
  if (at->why != DT_WHY_ERROR || at->light || at->fixed || c->abort)
    return;
  if (rule_at(r, at) != rule && at->e->nin > 0 && at->e->in[0] != NULL) {
    r->fix[0] = dt_var_ref(at->e->in[0]);
    at->fixed = true;
    dt_buf_add(&r->diag, "its operator has a rule now: the call is made "
               "again\n");
  } else {
    dt_buf_add(&r->diag, "the error goes on: nothing was repaired\n");
  }
}

static void be_stopped (DtRepl *r, DtControl *c, DtStopAt *at, Saved *v) {
  const void *rule = rule_at(r, at);
  r->at = at;
  r->lone.times = 0;
  r->nframe = dtL_frames(r->L, r->frame, 64);
  r->here = r->list_from = r->list_to = 0;
  r->past = 0;
  if (dt_stop_select(r, 0) != DT_OK)
    dt_error_clear(r->cx);
  run_prompt(r, c, at, v);
  if (!r->quit)
    apply_mend(r, c, at, rule);
  lua_pushnil(r->L);
  dt_eval_set_frame(r->L);
  dtL_py_leave(r->L);
  r->past = 0;
  r->nframe = 0;
  if (r->quit)
    dt_control_go(c, DT_GO_QUIT);
}

static bool can_stop (void *ud) {
  DtRepl *r = ud;
  return r->asks && r->at == NULL && !r->quit && !r->lost && r->read != NULL;
}

/* Wait for all ranks; *all when the prompt may begin. */
static DtStatus gather_ranks (DtRepl *r, DtStopAt *at, bool *all) {
  char what[80], where[64];
  DtCollInfo info = {"debugger", 0, what, where, ""};
  int any = 0;
  snprintf(what, sizeof what, "stop #%lld", (long long)at->seq);
  snprintf(where, sizeof where, "%.50s:%d", at->file != NULL ? at->file : "",
           at->line);
  *all = false;
  DT_TRY(r->cx, dt_comm_stop(r->cx, r->comm->world, &info, all));
  if (!*all)
    return DT_OK;
  DtBuf mine;
  dt_buf_init(&mine, r->cx);
  dt_buf_addc(&mine, at->why != DT_WHY_END ? '1' : '0');
  dt_stop_say(at, &mine);
  DtStatus st = count_ranks(r, "who has stopped", dt_buf_str(&mine), at, &any);
  dt_buf_fini(&mine);
  *all = st == DT_OK && any > 0;
  return st;
}

enum { LONE_SECONDS = 1, LONE_TIMES = 4 };

/* Ctrl-C could not stop here, as the others wait for this rank, which tries again
** at its next line.  When it gets to no operator for a while, nothing would ever
** be seen of that Ctrl-C: what runs has to end. */
static bool is_alone (DtRepl *r) {
  if (r->lone.times == 0 || r->lone.seq != r->s->seq)
    r->lone = (DtLone){r->s->seq, 0, dt_repl_seconds()};
  return ++r->lone.times > LONE_TIMES &&
         dt_repl_seconds() - r->lone.since > LONE_SECONDS;
}

/* A stop of one rank is one of all: they meet here. If the others cannot come
** (the program has ended there, or waits in another collective), the stop is
** missed and told later; Ctrl-C ends a rank that is alone. */
static DtStatus on_stop (void *ud, DtControl *c, DtStopAt *at) {
  DtRepl *r = ud;
  Saved v;
  bool all = false;
  if (!lua_checkstack(r->L, 40)) {
    at->missed = true;
    return DT_OK;
  }
  save_state(r, &v);
  DtStatus st = gather_ranks(r, at, &all);
  if (st == DT_OK && all) {
    be_stopped(r, c, at, &v);
    restore_state(r, &v);
    give_fixes(r, at);
    if (c->abort) {
      dt_repl_hook(r->L);
      dt_repl_hook(dtL_state(r->L)->cur);
    }
    dt_repl_running(r, true);
    dt_editor_running(r);
    return DT_OK;
  }
  at->missed = true;
  restore_state(r, &v);
  if (st == DT_OK && at->why == DT_WHY_INTERRUPT && is_alone(r)) {
    if (r->cx->interrupt != NULL)
      atomic_store(r->cx->interrupt, 1);
    st = DT_E_INTERRUPTED;
  }
  return st == DT_E_INTERRUPTED ? dt_raise(r->cx, st, "interrupted") : DT_OK;
}

/* A breakpoint that was hit where the others could not come. */
static void tell_missed (DtRepl *r, DtControl *c) {
  const DtStopAt *p = &c->pending;
  if (!c->has_pending || p->why == DT_WHY_INTERRUPT)   /* that one ended it */
    return;
  dt_buf_add(&r->diag, "not stopped, the other ranks could not come: ");
  for (int i = 0; i < p->nhit; i++)
    dt_buf_addf(&r->diag, "breakpoint %d ", p->hit[i]);
  dt_buf_addf(&r->diag, "at %s:%d, op #%lld\n",
              p->file != NULL ? p->file : "?", p->line, (long long)p->seq);
}

/* A rank whose program has ended still comes to the stops of the others, until
** none of them wants one. */
void dt_stop_end (DtRepl *r) {
  DtControl *c = dt_control_of(r->s);
  if (c == NULL || !can_stop(r) || c->abort)
    return;
  while (r->comm->size > 1 && !r->comm->no_data &&
         (c->nbp > 0 || c->way.mode != DT_GO_ON) && !c->abort && !r->quit) {
    DtStopAt at;
    DtStopAt *outer = c->at;
    Saved v;
    bool all = false;
    memset(&at, 0, sizeof at);
    at.why = DT_WHY_END;
    at.seq = r->s->seq;
    save_state(r, &v);
    DtStatus st = gather_ranks(r, &at, &all);
    if (st == DT_OK && all) {
      c->at = &at;
      be_stopped(r, c, &at, &v);
      c->at = outer;
    }
    restore_state(r, &v);
    if (st != DT_OK || !all)
      break;
    dt_repl_running(r, true);
  }
  tell_missed(r, c);
}

/* The shell forgets for this rank that Ctrl-C was pressed: its operators run
** again, while collectives stay broken off until the end of the text, as other
** ranks may have gone.  What is found from now on is found of ranks that may have
** left at different places: only what was found before is told. */
static void on_handled (void *ud) {
  DtRepl *r = ud;
  if (r->cx->interrupt != NULL && r->findings != NULL)
    while (dt_diag_at(r->findings, r->nbefore) != NULL) r->nbefore++;
  r->cx->interrupt = NULL;
  atomic_store(&r->app->handled, 1);
  dt_stop_handled(r->app->stop);
}

void dt_stop_open (DtRepl *r) {
  DtBind *b = dtL_state(r->L);
  b->interrupt_hook = dt_repl_interrupt_hook();
  b->on_handled = on_handled;
  b->on_stop = on_stop;
  b->can_stop = can_stop;
  b->on_raised = dt_stop_raised;
  b->stop_ud = r;
}

void dt_stop_close (DtRepl *r) {
  for (int i = 0; i < r->ndisplay; i++)
    dt_free(r->cx, r->display[i]);
  dt_free(r->cx, r->stash);
  dt_free(r->cx, r->rerun.text);
  dt_free(r->cx, r->rerun.name);
  dt_buf_fini(&r->again);
  dt_buf_fini(&r->told);
}

/* ---- Ctrl-C ---- */

static void on_soft (lua_State *L, lua_Debug *ar) {
  DtRepl *r = dtL_state(L)->stop_ud;
  DtControl *c = dt_control_of(dtL_session(L));
  const char *file = "";
  int line = 0;
  (void)ar;
  lua_sethook(L, NULL, 0, 0);
  if (r == NULL || c == NULL)
    return;
  if (c->lines)
    c->h.lines(c->h.ud, true);
  if (r->s->where != NULL)
    r->s->where(r->s->where_ud, &file, &line);
  DtBind *b = dtL_state(L);
  lua_State *outer = b->hooked;
  b->hooked = L;
  DtStatus st = dt_control_stop(c, DT_WHY_INTERRUPT, file, line, NULL);
  b->hooked = outer;
  if (st != DT_OK)
    dtL_raise(L);
}

void dt_stop_soft_hook (lua_State *L) {
  lua_sethook(L, on_soft, LUA_MASKCALL | LUA_MASKRET | LUA_MASKCOUNT, 100);
}

bool dt_stop_is_soft (lua_Hook h) { return h == on_soft; }

/* A typed line that failed at a stop does not end the stepping. */
void dt_stop_unhook (lua_State *L) {
  DtRepl *r = dtL_state(L)->stop_ud;
  DtControl *c = dt_control_of(dtL_session(L));
  lua_sethook(L, NULL, 0, 0);
  if (r != NULL && r->at != NULL && c != NULL && c->lines)
    c->h.lines(c->h.ud, true);
}

/* ---- errors of Lua's own ---- */

static const char *error_field (lua_State *L, const char *key) {
  const char *s = "";
  if (!lua_istable(L, 1))
    return s;
  lua_pushstring(L, key);
  if (lua_rawget(L, 1) == LUA_TSTRING)
    s = lua_tostring(L, -1);
  lua_pop(L, 1);
  return s;
}

static void raised_text (lua_State *L, DtRepl *r) {
  size_t before = r->diag.len;
  DtBuf b;
  if (lua_istable(L, 1)) {
    dtL_error_text(L, 1, &r->diag);
    dt_buf_add(&r->told, error_field(L, "message"));
  } else {
    dt_buf_init(&b, r->cx);
    dtL_error_text(L, 1, &b);
    dt_buf_addf(&r->diag, "%s %s: %s", dt_error_info(DT_E_LUA)->id,
                dt_error_info(DT_E_LUA)->pyclass, dt_buf_str(&b));
    dt_buf_add(&r->told, dt_buf_str(&b));
    dt_buf_fini(&b);
  }
  dt_buf_addc(&r->diag, '\n');
  if (strstr(dt_buf_str(&r->diag) + before, "(global '") != NULL)
    dt_near_hint(L, &r->diag, before);
}

/* An error is raised and nobody will catch it: stop before Lua unwinds, while
** the call can still be repaired.  Not for what was already shown at a stop,
** nor for a stack overflow, which has no stack left to stop on. */
void dt_stop_raised (lua_State *L) {
  DtRepl *r = dtL_state(L)->stop_ud;
  DtControl *c = dt_control_of(dtL_session(L));
  const char *file = "";
  int line = 0;
  if (r == NULL || c == NULL || !c->attached || c->abort || c->d->muted > 0 ||
      !can_stop(r) || strcmp(error_field(L, "code"), "INTERRUPTED") == 0)
    return;
  if (lua_isstring(L, 1) && strstr(lua_tostring(L, 1), "stack overflow"))
    return;
  if (r->told.len > 0 &&
      strcmp(error_field(L, "message"), dt_buf_str(&r->told)) == 0)
    return;
  size_t before = r->diag.len;
  dt_buf_clear(&r->told);
  dt_eval_keep_error(L, 1);
  raised_text(L, r);
  if (r->s->where != NULL)
    r->s->where(r->s->where_ud, &file, &line);
  c->way.mode = DT_GO_ON;
  if (dt_control_stop(c, DT_WHY_LUA, file, line, NULL) != DT_OK)
    dt_error_clear(r->cx);
  if (r->diag.len > before) {   /* not stopped: printed as usual */
    r->diag.len = before;
    r->diag.s[before] = '\0';
    dt_buf_clear(&r->told);
  }
}
