/* SPDX-License-Identifier: MIT
** repl/cmd_files.c: sessions as files: the lines typed so far into one, the
** lines of one run as if typed, an editor in between, and the guided tour,
** whose lessons are such files too (lua/repl/lessons.lua).
**
** Every rank has the whole text and cuts it at the same places; each chunk is
** a round of its own inside the command's, so that output, errors and stops
** come in their order. */
#include "base/error_tool.h"
#include "base/file.h"
#include "repl/cmd.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include "debug/control.h"
#include "repl/source.h"

/* ---- what was typed ---- */

static bool is_own (const char *text) {
  static const char *const own[] = {"save", "load", "e", "lesson", "quit", "q",
                                    "exit", "across"};
  const char *s = text + strspn(text, " \t\n");
  if (*s != ':')
    return false;
  s += 1 + strspn(s + 1, " \t");
  size_t n = strcspn(s, " \t\n");
  for (size_t i = 0; i < sizeof own / sizeof own[0]; i++)
    if (strlen(own[i]) == n && memcmp(own[i], s, n) == 0)
      return true;
  return false;
}

void dt_typed_add (DtRepl *r, const char *text) {
  if (is_own(text))
    return;
  if (r->typed.len == 0 && r->set.python)
    dt_buf_add(&r->typed, ":set python on\n");
  r->typed_last = r->typed.len;
  dt_buf_addf(&r->typed, "%s\n", text);
  if (r->typed.oom) {             /* nothing to save is better than a part */
    dt_buf_clear(&r->typed);
    r->typed_last = 0;
  }
}

/* ---- lines of a text, as if typed ---- */

static bool starts_with (const char *s, const char *word) {
  size_t n = strlen(word);
  return strncmp(s, word, n) == 0 && (s[n] == '\0' || s[n] == ' ');
}

/* The next chunk of *at; false at the end.  What a session file holds for the
** tests is passed over; comments go to `said` when there is one. */
static bool cut_chunk (DtRepl *r, char **at, DtBuf *chunk, DtBuf *said) {
  bool block = false;
  dt_buf_clear(chunk);
  while (**at != '\0') {
    char *s = *at;
    size_t n = strcspn(s, "\n");
    *at += n + (s[n] == '\n');
    if (n > 0 && s[n - 1] == '\r')
      n--;
    s[n] = '\0';
    if (chunk->len == 0) {
      if (block || starts_with(s, ":expect")) {
        block = strcmp(s, ":end") != 0;
        continue;
      }
      if (strncmp(s, "--", 2) == 0 && s[2] != '[') {
        if (said != NULL)
          dt_buf_addf(said, "%s\n", s + 2 + (s[2] == ' '));
        continue;
      }
      if (s[strspn(s, " \t")] == '\0' || starts_with(s, ":testcase") ||
          strncmp(s, "#!", 2) == 0)
        continue;
    } else {
      dt_buf_addc(chunk, '\n');
    }
    dt_buf_add(chunk, s);
    if (dt_chunk_whole(r, dt_buf_str(chunk)))
      return true;
  }
  return chunk->len > 0;
}

static void echo_input (DtRepl *r, const char *s) {
  DtBuf *out = dtL_out(r->L);
  for (const char *prompt = DT_PROMPT; *s != '\0'; prompt = DT_PROMPT_MORE) {
    size_t n = strcspn(s, "\n");
    dt_buf_addf(out, "%s%.*s\n", prompt, (int)n, s);
    s += n + (s[n] == '\n');
  }
}

/* Run `text` (changed) line by line.  Errors are printed and the rest runs, as
** at the prompt; Ctrl-C ends it.  The first failure's status.  Collective. */
static DtStatus play_lines (DtCmdCall *c, char *text, bool loud) {
  DtRepl *r = c->r;
  DtControl *k = dt_control_of(r->s);
  bool stops = k != NULL && k->prompt, outer = r->playing;
  DtStatus st = DT_OK;
  DtBuf chunk;
  DT_TRY(r->cx, dt_repl_all_come(r));
  if (r->nplay >= 8)
    return dt_raise(r->cx, DT_E_COMMAND, "files load each other without end");
  dt_buf_init(&chunk, r->cx);
  r->nplay++;
  r->playing = loud;
  if (k != NULL)
    k->prompt = false;
  while (cut_chunk(r, &text, &chunk, loud ? dtL_out(r->L) : NULL)) {
    if (loud)
      echo_input(r, dt_buf_str(&chunk));
    if (k != NULL) {            /* another line 1 */
      k->d->names_file = NULL;
      k->d->from = r->s->seq + 1;
    }
    if (!dt_repl_round(r, dt_buf_str(&chunk)))
      break;
    if (st == DT_OK)
      st = r->status;
    if (r->status == DT_E_INTERRUPTED || r->lost)
      break;
  }
  if (k != NULL)
    k->prompt = stops;
  r->playing = outer;
  r->nplay--;
  dt_buf_fini(&chunk);
  return st;
}

static DtStatus no_sandbox (DtCmdCall *c) {
  DT_CHECK(c->r->cx, !c->r->app->o.sandbox, DT_E_SANDBOX,
           "no files in the sandbox: %s", c->arg);
  return DT_OK;
}

/* ---- the commands ---- */

/* Only rank 0 writes. What it says of it is written past the ranks' common
** output, where the silence of the others would fold it. */
static DtStatus cmd_save (DtCmdCall *c) {
  static const char head[] =
    "-- A session of dtrepl; :load runs it again, one line after the other.\n";
  DtRepl *r = c->r;
  DtStatus st;
  DtBuf b;
  int lines = 0;
  if (*c->arg == '\0')
    return dt_cmd_error(c, 0, "wanted a file");
  DT_TRY(r->cx, no_sandbox(c));
  if (!dt_repl_first(r))
    return dt_repl_as_first(r, DT_OK);
  dt_buf_init(&b, r->cx);
  dt_buf_add(&b, head);
  dt_buf_addn(&b, dt_buf_str(&r->typed), r->typed.len);
  for (size_t i = 0; i < r->typed.len; i++)
    lines += r->typed.s[i] == '\n';
  st = dt_buf_ok(&b);
  if (st == DT_OK)
    st = dt_file_write(r->cx, c->arg, dt_buf_str(&b), b.len);
  dt_buf_fini(&b);
  st = dt_repl_as_first(r, st);
  if (st == DT_OK) {            /* rank 0's alone: not to be folded */
    dt_buf_init(&b, r->cx);
    dt_buf_addf(&b, "%d line%s in %s\n", lines, lines == 1 ? "" : "s", c->arg);
    dt_output_write(&r->app->out, DT_OUT_RESULT, dt_buf_str(&b), b.len);
    dt_buf_fini(&b);
  }
  return st;
}

static DtStatus load_path (DtCmdCall *c, const char *path) {
  char *text = NULL;
  size_t n;
  DT_TRY(c->r->cx, dt_repl_file(c->r, path, &text, &n));
  DtStatus st = play_lines(c, text, false);
  dt_free(c->r->cx, text);
  return st;
}

static DtStatus cmd_load (DtCmdCall *c) {
  if (*c->arg == '\0')
    return dt_cmd_error(c, 0, "wanted a file");
  DT_TRY(c->r->cx, no_sandbox(c));
  return load_path(c, c->arg);
}

/* Rank 0: the editor on `path`; 0 when it ended well. */
static int run_editor (DtRepl *r, const char *path) {
  DtBuf b;
  int rc = -1;
  dt_buf_init(&b, r->cx);
  dt_buf_add(&b, "${VISUAL:-${EDITOR:-vi}} '");
  for (const char *s = path; *s != '\0'; s++)
    if (*s == '\'')
      dt_buf_add(&b, "'\\''");
    else
      dt_buf_addc(&b, *s);
  dt_buf_addc(&b, '\'');
  if (!b.oom)
    rc = system(dt_buf_str(&b));
  dt_buf_fini(&b);
  return rc == -1 || !WIFEXITED(rc) ? 1 : WEXITSTATUS(rc);
}

/* A file of its own with the last chunk typed; its name into `path`. */
static DtStatus write_scratch (DtRepl *r, DtBuf *path) {
  const char *dir = getenv("TMPDIR");
  dt_buf_addf(path, "%s/dtrepl-XXXXXX", dir != NULL && *dir != '\0' ? dir
                                                                    : "/tmp");
  DT_TRY(r->cx, dt_buf_ok(path));
  int fd = mkstemp(path->s);
  DT_CHECK(r->cx, fd >= 0, DT_E_IO, "cannot write %s: %s", path->s,
           strerror(errno));
  close(fd);
  return dt_file_write(r->cx, path->s, dt_buf_str(&r->typed) + r->typed_last,
                      r->typed.len - r->typed_last);
}

/* The editor runs on rank 0; all ranks then load the file by its path. The
** code is shared before anything is raised, so that no rank waits for
** another. */
static DtStatus cmd_e (DtCmdCall *c) {
  DtRepl *r = c->r;
  DtBuf path;
  int code = 0;
  DT_TRY(r->cx, no_sandbox(c));
  DT_CHECK(r->cx, r->person, DT_E_COMMAND, "an editor needs a terminal");
  DT_TRY(r->cx, dt_repl_all_come(r));
  dt_buf_init(&path, r->cx);
  dt_buf_add(&path, c->arg);
  if (dt_repl_first(r)) {
    if (r->app->tty.forwarded)
      code = 2;
    else if (path.len == 0 && write_scratch(r, &path) != DT_OK)
      code = 3;
    else
      code = run_editor(r, dt_buf_str(&path)) == 0 ? 0 : 1;
    dt_error_clear(r->cx);
  }
  code = dt_repl_share_code(r, code);
  DtStatus st = code == 0 ? load_path(c, dt_buf_str(&path)) : DT_OK;
  if (dt_repl_first(r) && *c->arg == '\0' && path.len > 0)
    (void)unlink(dt_buf_str(&path));
  dt_buf_fini(&path);
  DT_CHECK(r->cx, code != 1, DT_E_COMMAND, "the editor failed: nothing is run");
  DT_CHECK(r->cx, code != 2, DT_E_COMMAND, "a launcher keeps the terminal: "
           "edit in another window, then :load FILE");
  DT_CHECK(r->cx, code == 0, DT_E_IO, "no place for a temporary file");
  return st;
}

/* repl.lessons.page(arg) -> what is written first, the text to play or nil. */
static DtStatus cmd_lesson (DtCmdCall *c) {
  lua_State *L = c->r->L;
  int top = lua_gettop(L);
  DtStatus st = DT_OK;
  c->r->prose = true;
  lua_pushcfunction(L, dtL_traceback);
  lua_getglobal(L, "require");
  lua_pushliteral(L, "repl.lessons");
  int rc = lua_pcall(L, 1, 1, top + 1);
  if (rc == LUA_OK) {
    lua_getfield(L, -1, "page");
    lua_pushstring(L, c->arg);
    rc = lua_pcall(L, 1, 2, top + 1);
  }
  if (rc != LUA_OK) {
    st = dtL_catch(L, DT_E_KEY);
  } else if (lua_isnil(L, -2)) {
    st = dt_cmd_error(c, 0, "%s", lua_tostring(L, -1));
  } else {
    dt_buf_add(c->out, lua_tostring(L, -2));
    if (!lua_isnil(L, -1)) {
      char *text = dt_strdup(c->r->cx, lua_tostring(L, -1));
      bool python = c->r->set.python;
      c->r->set.python = false;
      st = text == NULL ? DT_E_NOMEM : play_lines(c, text, true);
      c->r->set.python = python;
      dt_free(c->r->cx, text);
      if (st != DT_E_NOMEM && st != DT_E_INTERRUPTED)
        st = DT_OK;             /* lessons show errors on purpose */
    }
  }
  lua_settop(L, top);
  return st;
}

const DtCmd dt_cmds_files[] = {
  {"lesson", "session", 0, "[N]",
   "A guided tour of ten minutes; without N, its lessons.\n"
   "A lesson runs its lines for you, with words between them; what it made\n"
   "stays, to try things on.\n"
   "Example: :lesson 1", cmd_lesson},
  {"save", "files", 0, "FILE",
   "Write the lines typed so far to FILE, to be run again by :load.\n"
   "With :testcase and :expect added it is a test: dtrepl --check FILE.\n"
   "Example: :save session.dt", cmd_save},
  {"load", "files", 0, "FILE",
   "Run the lines of FILE as if they were typed, commands too.\n"
   ":source runs a whole script instead, :run debugs one.\n"
   "Example: :load session.dt", cmd_load},
  {"e edit", "files", DT_NEED_PERSON, "[FILE]",
   "Edit FILE, or the last lines typed, then run it as :load does.\n"
   "The editor is $VISUAL, else $EDITOR, else vi.\n"
   "Example: :e", cmd_e},
  {NULL, NULL, 0, NULL, NULL, NULL}
};
