/* SPDX-License-Identifier: MIT
** repl/cmd_across.c: the session, or a program, under two releases of PyTorch.
**
** Rank 0 starts dtrepl twice, in worlds of threads of their own, with the lines
** typed so far as a prompt's input; the others wait for what it says.  Nothing
** of the session itself runs again. */
#include "base/error_tool.h"
#include "base/file.h"
#include "repl/cmd.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "bind/tool.h"

enum { MAX_WORDS = 32, WORD = 1024 };


typedef struct Words {
  DtRepl *r;
  int n;
  char *word[MAX_WORDS];
} Words;

static void add_word (Words *w, const char *text) {
  char *copy = w->n < MAX_WORDS ? dt_strdup(w->r->cx, text) : NULL;
  if (copy != NULL)
    w->word[w->n++] = copy;
}

static void add_option (Words *w, const char *name, const char *value) {
  if (value == NULL)
    return;
  add_word(w, name);
  add_word(w, value);
}

static void free_words (Words *w) {
  for (int i = 0; i < w->n; i++) dt_free(w->r->cx, w->word[i]);
}

/* The world, and what was said on the command line; no program yet. */
static void add_world (Words *w) {
  const DtApp *a = w->r->app;
  char n[24];
  snprintf(n, sizeof n, "%d", w->r->comm->size);
  add_option(w, w->r->comm->no_data ? "--fake" : "-n", n);
  add_option(w, "--device", a->o.device);
  if (a->o.sandbox)
    add_word(w, "--sandbox");
  else if (a->o.trust)
    add_word(w, "--trust");
}

/* The program given, else the session's own script with its prompt. */
static void add_program (Words *w, const char *program) {
  const DtApp *a = w->r->app;
  if (*program != '\0') {
    add_word(w, program);
  } else if (a->o.script != NULL && strcmp(a->o.script, "-") != 0) {
    add_word(w, "-i");
    add_word(w, a->o.script);
    for (int i = 0; i < a->o.nargs; i++) add_word(w, a->o.args[i]);
  }
}

/* An empty file of our own; its name into path[WORD]. */
static DtStatus make_file (DtRepl *r, char *path) {
  const char *dir = getenv("TMPDIR");
  snprintf(path, WORD, "%s/dtrepl-XXXXXX",
           dir != NULL && *dir != '\0' ? dir : "/tmp");
  int fd = mkstemp(path);
  DT_CHECK(r->cx, fd >= 0, DT_E_IO, "no place for a temporary file: %s", path);
  close(fd);
  return DT_OK;
}

static DtStatus append_file (DtRepl *r, const char *path, DtBuf *to) {
  char chunk[4096];
  size_t n;
  FILE *f = fopen(path, "rb");
  DT_CHECK(r->cx, f != NULL, DT_E_IO, "cannot read %s", path);
  while ((n = fread(chunk, 1, sizeof chunk, f)) > 0) dt_buf_addn(to, chunk, n);
  fclose(f);
  return dt_buf_ok(to);
}

/* Rank 0: run both; what they say goes into `out`. */
static DtStatus run_across (DtRepl *r, const char *releases,
                            const char *program, const char *typed,
                            const char *told, DtBuf *out) {
  Words w = {r, 0, {NULL}};
  int code = DT_EXIT_ERROR;
  add_option(&w, "--across", releases);
  add_option(&w, "--out", told);
  if (r->app->o.json)
    add_word(&w, "--json");
  if (*program == '\0')
    add_option(&w, "--typed", typed);
  add_world(&w);
  add_program(&w, program);
  DtStatus st = dt_file_write(r->cx, typed, dt_buf_str(&r->typed),
                             r->typed.len);
  if (st == DT_OK)
    st = dtL_tool_run(r->cx, "dt.across.cli", w.n, w.word, &code);
  if (st == DT_OK)
    st = append_file(r, told, out);
  free_words(&w);
  DT_TRY(r->cx, st);
  DT_CHECK(r->cx, code == DT_EXIT_OK || code == DT_EXIT_CHECK, DT_E_COMMAND,
           "%s", out->len > 0 ? dt_buf_str(out) : "it could not be run");
  return DT_OK;
}

/* "2.13", "2.13,2.14": both releases; *rest is what stands behind. */
static DtStatus read_releases (DtCmdCall *c, char *out, size_t size,
                               const char **rest) {
  size_t n = strcspn(c->arg, " \t");
  bool two = memchr(c->arg, ',', n) != NULL;
  if (n == 0 || n > 32)
    return dt_cmd_error(c, 0, "wanted a release: :across 2.13");
  int release = c->r->s->profile.release;
  if (two)
    snprintf(out, size, "%.*s", (int)n, c->arg);
  else
    snprintf(out, size, "%.*s,%d.%d", (int)n, c->arg, release / 100,
             release % 100);
  *rest = c->arg + n + strspn(c->arg + n, " \t");
  return DT_OK;
}

/* Runs protected: (text) -> the table that its JSON says, as DT_KEY_ANSWER. */
static int answer_across (lua_State *L) {
  lua_getfield(L, LUA_REGISTRYINDEX, "dt");
  lua_getfield(L, -1, "_json_decode");
  lua_pushvalue(L, 1);
  lua_call(L, 1, 1);
  lua_setfield(L, LUA_REGISTRYINDEX, DT_KEY_ANSWER);
  return 0;
}

/* Rank 0's alone: a page, which is not to be folded, or the data of --json. */
static DtStatus tell_across (DtRepl *r, DtBuf *said) {
  lua_State *L = r->L;
  if (!r->app->o.json) {
    dt_output_write(&r->app->out, DT_OUT_RESULT, dt_buf_str(said), said->len);
    return DT_OK;
  }
  if (said->len == 0)                   /* another rank */
    return DT_OK;
  lua_pushcfunction(L, answer_across);
  lua_pushlstring(L, dt_buf_str(said), said->len);
  int failed = lua_pcall(L, 1, 0, 0);
  if (failed != LUA_OK)
    lua_pop(L, 1);
  DT_CHECK(r->cx, failed == LUA_OK, DT_E_COMMAND, "no data came back");
  return DT_OK;
}

/* Rank 0 runs the two sessions and shares what came of them; the others only
** wait. A session that is itself one of two refuses: a file of typed lines may
** hold :across, and would start two more for ever. */
static DtStatus cmd_across (DtCmdCall *c) {
  DtRepl *r = c->r;
  char releases[96], typed[WORD], told[WORD];
  const char *program = "";
  DtStatus st;
  DtBuf b;
  DT_CHECK(r->cx, !r->app->o.sandbox, DT_E_SANDBOX,
           "no programs are started in the sandbox");
  /* Lines typed may hold :across, by an abbreviation or in a file loaded. */
  DT_CHECK(r->cx, getenv(DT_TOOL_CHILD) == NULL, DT_E_COMMAND,
           "this session is one of two that :across compares");
  DT_TRY(r->cx, read_releases(c, releases, sizeof releases, &program));
  if (!dt_repl_first(r))
    return dt_repl_as_first(r, DT_OK);
  dt_buf_init(&b, r->cx);
  st = make_file(r, typed);
  if (st == DT_OK && (st = make_file(r, told)) == DT_OK) {
    st = run_across(r, releases, program, typed, told, &b);
    (void)unlink(told);
  }
  (void)unlink(typed);
  st = dt_repl_as_first(r, st);
  if (st == DT_OK)
    st = tell_across(r, &b);
  dt_buf_fini(&b);
  return st;
}

const DtCmd dt_cmds_across[] = {
  {"across", "session", 0, "REL[,REL] [FILE]",
   "The session's lines, or the program FILE, under another release: what differs.\n"
   "Both run from the start in worlds of their own, with as many ranks; the first\n"
   "and every difference by line: decision, redistribution, collectives with\n"
   "bytes, error, dtype, what was printed; then totals.  With one release, the\n"
   "other is the session's.  dtrepl --across A,B FILE does it from a shell.\n"
   "Example: :across 2.13", cmd_across},
  {NULL, NULL, 0, NULL, NULL, NULL}
};
