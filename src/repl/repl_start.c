/* SPDX-License-Identifier: MIT
** repl/repl_start.c: one rank's session from its first to its last step: the
** engine, start-up files, what the command line gave, the prompt, the end. */
#include "base/error_comm.h"
#include "base/file.h"
#include "repl/repl_int.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "bind/embed.h"
#include "debug/control.h"
#include "debug/debug.h"
#include "oplib/ops.h"
#include "repl/cmd.h"
#include "repl/stream.h"

/* -l MOD, -l g=MOD. */
static DtStatus run_require (DtRepl *r, const char *arg) {
  DtBuf b;
  const char *eq = strchr(arg, '=');
  const char *mod = eq != NULL ? eq + 1 : arg;
  dt_buf_init(&b, r->cx);
  if (eq != NULL)
    dt_buf_addf(&b, "%.*s = require '%s'", (int)(eq - arg), arg, mod);
  else
    dt_buf_addf(&b, "_G['%.*s'] = require '%s'", (int)strcspn(mod, "."), mod,
                mod);
  DtStatus st = dt_buf_ok(&b);
  if (st == DT_OK) {
    dt_repl_round_all(r, dt_buf_str(&b), "=(command line)");
    st = r->status;
  }
  dt_buf_fini(&b);
  return st;
}

/* The default start-up file, then the person's own. */
static void start_files (DtRepl *r) {
  const DtEmbed *rc = dt_embed_find("repl.rc");
  if (rc != NULL)
    (void)dt_eval_script(r->L, rc->text, rc->len, "=[dt.rc]", 0, NULL,
                         &r->diag);
  if (r->app->o.no_rc || r->app->o.no_env || r->app->o.sandbox)
    return;
  DtBuf path;
  dt_buf_init(&path, r->cx);
  if (dt_repl_first(r)) {
    const char *config = getenv("XDG_CONFIG_HOME"), *home = getenv("HOME");
    if (config != NULL && config[0] == '/')
      dt_buf_addf(&path, "%s/dtrepl/init.lua", config);
    else if (home != NULL)
      dt_buf_addf(&path, "%s/.config/dtrepl/init.lua", home);
    FILE *f = path.len > 0 ? fopen(dt_buf_str(&path), "rb") : NULL;
    if (f != NULL)
      fclose(f);
    else
      dt_buf_clear(&path);
  }
  bool first = dt_repl_first(r);
  char *name = first ? dt_strdup(r->cx, dt_buf_str(&path)) : NULL;
  size_t n = path.len;
  dt_buf_fini(&path);
  if ((name != NULL || !first) && dt_repl_share(r, &name, &n) == DT_OK &&
      n > 0) {
    char *text = NULL;
    size_t k;
    if (dt_repl_file(r, name, &text, &k) == DT_OK) {
      dt_repl_round_all(r, text, "@init.lua");
      dt_free(r->cx, text);
    } else {
      dt_repl_tell(r);
      (void)dt_repl_meet(r, DT_OK);
    }
  }
  dt_free(r->cx, name);
}

/* A script that is debugged: its errors stop where they are raised; with -d
** it stops before its first operator. */
static void attach_debugger (DtRepl *r, bool yes, bool first) {
  DtControl *c = dt_control_of(r->s);
  if (c == NULL || !r->asks)
    return;
  c->attached = yes && (r->app->o.debug || r->app->o.interactive);
  c->starting = yes && first;
  dt_repl_stop_softly(r, c->attached);
  if (yes && first)
    dt_control_go(c, DT_GO_OP);
  dt_control_arm(c);
}

/* The prompt that follows has the names of the program that ended. */
static void keep_names (DtRepl *r, bool python) {
  if (r->keep && !r->quit && python &&
      dt_keep_python(r->L, &r->diag) != DT_OK)
    dt_error_clear(r->cx);
  r->keep = false;
}

/* -i: as in Python, a program that ends itself ends before the prompt. */
static void stay_after_exit (DtRepl *r) {
  if (!r->exited || !r->app->o.interactive || r->lost) return;
  r->quit = r->exited = dtL_state(r->L)->exiting = false;
}

/* Preludes and script in order; stops at the first error. */
static void run_given (DtRepl *r) {
  DtApp *a = r->app;
  for (int i = 0; i < a->o.nprelude && !r->quit; i++) {
    const DtPrelude *p = &a->o.prelude[i];
    if (p->kind == 'e')
      dt_repl_round_all(r, p->text, "=(command line)");
    else
      (void)run_require(r, p->text);
    if (r->status != DT_OK)
      goto failed;
  }
  if (a->o.script != NULL && !r->quit) {
    char *text = NULL, name[512];
    size_t n;
    DtStatus st = dt_repl_file(r, a->o.script, &text, &n);
    if (st == DT_OK) {
      snprintf(name, sizeof name, "@%s", strcmp(a->o.script, "-") == 0
               ? "stdin" : a->o.script);
      dt_rerun_remember(r, text, n, name);
      attach_debugger(r, true, a->o.debug && r->begin != 1);
      r->keep = a->o.debug || a->o.interactive;
      dt_repl_round_all(r, text, name);
      stay_after_exit(r);
      keep_names(r, dt_eval_is_python(r, name, text, n));
      attach_debugger(r, false, false);
      dt_free(r->cx, text);
    } else if (!r->lost) {
      dt_repl_tell(r);
      (void)dt_repl_meet(r, st);
    }
    if (r->status != DT_OK)
      goto failed;
  }
  return;
failed:
  if (!r->quit || r->lost)
    r->code = dt_repl_code_of(r->status);
}

/* Operators kept for :history, :why, :goto and the reports of errors. */
enum { RECORD = 10000 };

/* One rank's engine, record, findings and Lua.  The order is that of who
** listens to whom: the record hears events before findings do, which ask it;
** Lua comes last, since its library looks at the session when it opens. */
static DtStatus open_rank (DtRepl *r) {
  DtApp *a = r->app;
  const char *seed = getenv("DTREPL_SEED");
  DtSessionOpts so = {dt_ops, dt_variants,
                      a->o.torch,
                      a->o.device != NULL ? a->o.device : "cpu",
                      seed != NULL ? strtoull(seed, NULL, 10) : 0, dt_rulings};
  DtBindOpts bo = {a->o.bare, a->o.trust, a->o.sandbox, a->o.alone,
                   a->o.sandbox ? (int64_t)1 << 30 : 0, a->argv0,
                   a->o.script};
  DT_TRY(r->cx, dt_session_new(r->cx, r->comm, &so, &r->s));
  r->s->may_grow = a->world == DT_WORLD_THREADS && a->o.ranks == 0 &&
                   a->o.script != NULL && strcmp(a->o.script, "-") != 0 &&
                   a->o.nprelude == 0 && !a->o.interactive && !a->o.debug &&
                   !a->o.sandbox;
  DT_TRY(r->cx, dt_debug_new(r->s, RECORD, NULL));
  DT_TRY(r->cx, dt_notes_new(r->s, &r->notes));
  DT_TRY(r->cx, dt_diag_new(r->s, &r->findings));
  r->found = DT_NEWN(r->cx, char *, dt_comm_running(r->comm));
  r->found_len = DT_NEWN(r->cx, size_t, dt_comm_running(r->comm));
  if (r->found == NULL || r->found_len == NULL)
    return dt_raise(r->cx, DT_E_NOMEM, "no memory for the ranks' findings");
  if (a->o.fast)
    dt_diag_enable(r->findings, false);
  DT_TRY(r->cx, dtL_state_new(r->s, &bo, &r->L));
  DT_TRY(r->cx, dt_eval_open(r->L));
  dt_stop_open(r);
  DT_TRY(r->cx, dt_cmd_open(r->L));
  if (a->o.warnings)
    lua_warning(r->L, "@on", 0);
  return DT_OK;
}

/* The ranks meet before anything else: one that could not start must not
** leave the others waiting.  The first that failed says why. */
static bool all_started (DtRepl *r, DtStatus st) {
  enum { MANY = 4096 };
  DtCtx *cx = r->cx;
  DtStatus all[MANY];
  char why[1024];
  bool known = r->comm->size <= MANY && !r->comm->no_data;
  DtCollInfo info = {"start", 0, "", "", ""};
  snprintf(why, sizeof why, "%s %s", dt_error_info(st)->id,
           cx->err.code != DT_OK ? dt_buf_str(&cx->err.message)
                                 : dt_error_info(st)->text);
  DtStatus met = dt_comm_meet(cx, r->comm, st, &info, known ? all : NULL);
  int first = 0;
  while (known && met != DT_OK && met != DT_E_RANK_LOST &&
         first < r->comm->size && all[first] == DT_OK)
    first++;
  if (met == DT_E_RANK_LOST && dt_repl_first(r))
    dt_repl_say(r, "dtrepl: %s\n", dt_buf_str(&cx->err.message));
  else if (st != DT_OK && (!known || first == r->comm->rank))
    dt_repl_say(r, "dtrepl: %s\n", why);
  dt_error_clear(cx);
  return met == DT_OK;
}

/* The record as `:export json` writes it, or a line a call.  Collective. */
static DtStatus save_log (DtRepl *r, const char *path, bool calls) {
  lua_State *L = r->L;
  int top = lua_gettop(L);
  DtStatus st = DT_OK;
  size_t n;
  if (!dt_repl_first(r)) return DT_OK;
  lua_pushcfunction(L, dtL_traceback);
  if (luaL_loadstring(L, calls ? "return dt.debug._calls()"
                               : "return (dt.debug.export('json'))") != LUA_OK ||
      lua_pcall(L, 0, 1, top + 1) != LUA_OK)
    st = dtL_catch(L, DT_E_LUA);
  if (st == DT_OK) {
    const char *text = luaL_tolstring(L, -1, &n);
    st = dt_file_write(r->cx, path, text, n);
  }
  lua_settop(L, top);
  return st;
}

/* --record FILE: also, and most of all, when the script failed.  It ends in
** a meeting, so all ranks come here, also those that write nothing. */
static void save_record (DtRepl *r) {
  const char *path = r->app->o.record, *end;
  if (path == NULL || r->lost)
    return;
  end = strrchr(path, '.');
  bool calls = end != NULL && strcmp(end, ".calls") == 0;   /* for --across */
  DtStatus st = calls || (end != NULL && strcmp(end, ".json") == 0)
                  ? save_log(r, path, calls) : dt_record_save(r, path);
  if (st != DT_OK) {
    dt_repl_tell(r);
    if (r->code == DT_EXIT_OK)
      r->code = DT_EXIT_ERROR;
  }
  (void)dt_repl_meet(r, st);
}

/* --open FILE: its last state is looked at first. */
static bool open_record (DtRepl *r) {
  const char *path = r->app->o.open;
  DtDebug *d = dt_debug_of(r->s);
  if (path == NULL)
    return true;
  DtStatus st = dt_record_open(r, path);
  if (st == DT_OK && d->rec.n > 0) {
    dt_buf_addf(dtL_out(r->L), "%s: operators #%lld to #%lld of %d ranks\n",
                path, (long long)dt_record_at(d, d->rec.n - 1)->seq,
                (long long)dt_record_at(d, 0)->seq, r->comm->size);
    st = dt_stop_past(r, dt_record_at(d, 0)->seq);
  }
  dt_repl_tell(r);
  (void)dt_repl_meet(r, st);
  if (st != DT_OK)
    r->code = DT_EXIT_ERROR;
  return st == DT_OK;
}

/* One rank's session from start to end: what was given, then the prompt.  The
** prompt's breakpoints must be there before the program runs, findings are told
** after --verify has ended (it may add some), and a program's record is saved
** before a person's prompt adds lines of its own. */
static void run_session (DtRepl *r) {
  DtApp *a = r->app;
  bool given = a->o.script != NULL || a->o.nprelude > 0;
  bool wants_prompt = a->o.interactive || (a->o.debug && given) ||
                      (!given && a->o.check == NULL);
  r->set.raw = a->o.raw;
  if (wants_prompt)             /* only rank 0 sees the terminal */
    r->person = r->set.notes = r->set.findings =
      dt_repl_share_code(r, a->interactive) == 1;
  /* A person goes on in the program's language. */
  r->set.python = a->o.python || (r->person && a->o.script != NULL &&
                                  dt_is_python_file(a->o.script));
  if (a->o.debug || a->o.interactive)
    dt_prompt_open(r);
  if (wants_prompt || a->o.check != NULL)
    start_files(r);
  if (a->o.check != NULL) {
    r->code = dt_check_file(r, a->o.check);
    return;
  }
  if (!open_record(r))
    return;
  DtStatus st = dt_verify_begin(r);
  if (st != DT_OK)
    dt_repl_tell(r);
  if (a->editor != NULL && a->o.script != NULL)
    dt_prompt_until_begin(r);
  run_given(r);
  r->ended = r->code;
  dt_verify_end(r);
  dt_repl_report_findings(r);
  bool typed = wants_prompt && !r->quit && (!given || !r->person);
  if (!typed)
    save_record(r);
  dt_notes_enable(r->notes, r->set.notes);
  if (wants_prompt && !r->quit) {
    if (a->o.debug && given && r->status == DT_OK && a->editor == NULL &&
        dt_repl_first(r))
      dt_repl_say(r, "%s", "the program has ended: its names are here, and "
                  ":ledger, :mem, :findings, :history\n");
    r->code = DT_EXIT_OK;
    r->status = DT_OK;
    dt_prompt_run(r);
  }
  if (typed)
    save_record(r);
}

/* A rank that has stopped keeps the others waiting: said by one of them. */
static void on_notice (void *ud, const char *line) {
  DtRepl *r = ud;
  if (dt_repl_first(r))
    dt_repl_say(r, "dtrepl: %s\n", line);
}

/* A rank that leaves alone for want of memory says so itself: rank 0 can only
** see that it has left. */
static void say_why (const DtRepl *r) {
  char line[80];
  if (dt_repl_first(r) || r->cx->mem.nfailed == 0 || r->code == DT_EXIT_OK)
    return;
  int n = snprintf(line, sizeof line, "dtrepl: rank %d ran out of memory\n",
                   r->comm->rank);
  if (write(STDERR_FILENO, line, (size_t)n) < 0)
    return;                     /* nobody is there to read it */
}

/* One rank from its beginning to its end. The order at the end matters: the
** Lua state goes before the session whose tensors it holds, and the interrupt
** flag is put back before the comm that owns it is freed. */
int dt_repl_main (DtCtx *cx, DtComm *comm, void *app) {
  DtRepl r;
  memset(&r, 0, sizeof r);
  r.app = app;
  r.cx = cx;
  r.comm = comm;
  if (cx->interrupt == NULL)
    cx->interrupt = &r.app->interrupt;
  r.interrupt = cx->interrupt;
  if (comm->rank != 0 && r.app->world == DT_WORLD_THREADS)
    dt_stop_thread_init();
  dt_buf_init(&r.diag, cx);
  dt_buf_init(&r.failed, cx);
  dt_buf_init(&r.typed, cx);
  dt_buf_init(&r.paste, cx);
  r.set.pager = r.set.wrap = true;
  dt_buf_init(&r.again, cx);
  dt_buf_init(&r.told, cx);
  dt_buf_init(&r.history, cx);
  if (comm->rank == 0 || r.app->world != DT_WORLD_THREADS)
    dt_stop_flag(r.app->stop, cx->interrupt);
  dt_repl_fail_alloc(cx, comm->rank);
  comm->notice = on_notice;
  comm->notice_ud = &r;
  DtStatus st = open_rank(&r);
  if (st == DT_OK)              /* before any rank can print */
    dt_repl_stream_open(&r);
  dt_narrow_open(&r);
  if (all_started(&r, st))
    run_session(&r);
  else
    r.code = DT_EXIT_ERROR;
  dt_line_close(r.line);
  dt_stream_free(r.cx, r.stream);
  dt_pager_close(&r);
  dt_buf_fini(&r.history);
  say_why(&r);
  if (r.s != NULL && dt_repl_first(&r))
    r.app->wants_ranks = r.s->wants_ranks;
  if (r.s == NULL || r.s->wants_ranks == 0)     /* else it begins anew */
    dt_mem_leave(cx);
  dtL_state_free(r.L);
  dt_free(cx, r.found);
  dt_free(cx, r.found_len);
  dt_notes_free(r.notes);
  dt_diag_free(r.findings);
  if (r.s != NULL)
    dt_debug_free(r.s);
  dt_session_free(r.s);
  /* The flag Ctrl-C sets lives in the comm, which goes before the handler. */
  if (comm->rank == 0 || r.app->world != DT_WORLD_THREADS)
    dt_stop_flag(r.app->stop, &r.app->interrupt);
  dt_buf_fini(&r.diag);
  dt_buf_fini(&r.failed);
  dt_buf_fini(&r.typed);
  dt_buf_fini(&r.paste);
  dt_stop_close(&r);
  return r.code;
}
