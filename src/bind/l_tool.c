/* SPDX-License-Identifier: MIT
** bind/l_tool.c: a Lua state without ranks, for subcommands such as
** `dtrepl diagnose`, and the few things Lua has not: a clock, is this a
** terminal, and running a program with a time limit.
**
** The program that is run gets text on its standard input and its output is
** kept, both through pipes that one poll() serves; it is the leader of a
** process group, so that what it started ends with it. */
#include <errno.h>
#include <fcntl.h>
#include <lualib.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "bind/bind.h"
#include "bind/process.h"
#include "bind/tool.h"
#include "compat/profile.h"
#include "compat/text.h"

extern char **environ;
int luaopen_lpeg (lua_State *L);

enum { MAX_ARGS = 32, MAX_OUTPUT = 1 << 20, CHUNK = 1 << 14 };

static int64_t now_ms (void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static int l_clock (lua_State *L) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  lua_pushnumber(L, (lua_Number)t.tv_sec + (lua_Number)t.tv_nsec * 1e-9);
  return 1;
}

static int l_isatty (lua_State *L) {
  lua_pushboolean(L, isatty((int)luaL_checkinteger(L, 1)));
  return 1;
}

static int l_program (lua_State *L) {
  char path[4096];
  ssize_t n = readlink("/proc/self/exe", path, sizeof path);
  if (n <= 0) return 0;
  lua_pushlstring(L, path, (size_t)n);
  return 1;
}

/* --- running a program --- */

#define CHILD_META "dt.tool.child"

typedef struct Child {
  pid_t pid;                    /* -1 = waited for */
  int in, out;                  /* our ends; -1 = closed */
  const char *text; size_t len; /* still to be written */
} Child;

/* The environment without what an MPI launcher has set: a program started
** here is no rank of our world; and with DT_TOOL_CHILD.  NULL without
** memory. */
static char **child_environment (DtCtx *cx) {
  static const char *const launcher[] = {"OMPI_", "PMIX_", "PMI_", "MPI_"};
  size_t n = 0, k = 0;
  while (environ[n] != NULL) n++;
  char **out = DT_NEWN(cx, char *, n + 2);
  static char mark[] = DT_TOOL_CHILD "=1";
  for (size_t i = 0; out != NULL && i < n; i++) {
    bool set = false;
    for (size_t j = 0; j < sizeof launcher / sizeof *launcher; j++)
      set = set || strncmp(environ[i], launcher[j], strlen(launcher[j])) == 0;
    if (!set) out[k++] = environ[i];
  }
  if (out != NULL) {
    out[k] = mark;
    out[k + 1] = NULL;
  }
  return out;
}

static void close_fd (int *fd) {
  if (*fd >= 0) (void)close(*fd);
  *fd = -1;
}

static int make_pipes (int in[2], int out[2]) {
  if (pipe2(in, O_CLOEXEC) != 0) return errno;
  if (pipe2(out, O_CLOEXEC) == 0) return 0;
  int err = errno;
  close_fd(&in[0]);
  close_fd(&in[1]);
  return err;
}

/* Start argv; returns an errno value.  stdout and stderr go the same way. */
static int child_start (Child *c, char **argv, char **env) {
  int in[2] = {-1, -1}, out[2] = {-1, -1};
  posix_spawn_file_actions_t fa;
  posix_spawnattr_t at;
  sigset_t def;
  int err = make_pipes(in, out);
  if (err != 0) return err;
  sigemptyset(&def);
  sigaddset(&def, SIGPIPE);
  posix_spawn_file_actions_init(&fa);
  posix_spawnattr_init(&at);
  posix_spawn_file_actions_adddup2(&fa, in[0], 0);
  posix_spawn_file_actions_adddup2(&fa, out[1], 1);
  posix_spawn_file_actions_adddup2(&fa, out[1], 2);
  posix_spawnattr_setflags(&at, POSIX_SPAWN_SETPGROUP |
                                POSIX_SPAWN_SETSIGDEF);
  posix_spawnattr_setsigdefault(&at, &def);
  err = posix_spawn(&c->pid, argv[0], &fa, &at, argv, env);
  posix_spawn_file_actions_destroy(&fa);
  posix_spawnattr_destroy(&at);
  close_fd(&in[0]);
  close_fd(&out[1]);
  c->in = in[1];
  c->out = out[0];
  if (err != 0) {
    close_fd(&c->in);
    close_fd(&c->out);
    return err;
  }
  (void)fcntl(c->in, F_SETFL, O_NONBLOCK);
  return 0;
}

/* The pipe does not block: a program that fills its output before it reads
** its input would otherwise wait for us while we wait for it. One that
** closes its input early has read enough. */
static void child_feed (Child *c) {
  if (c->len > 0) {
    ssize_t n = write(c->in, c->text, c->len);
    if (n < 0 && (errno == EAGAIN || errno == EINTR)) return;
    if (n < 0) c->len = 0;
    else c->text += n, c->len -= (size_t)n;
  }
  if (c->len == 0) close_fd(&c->in);
}

/* Read until the program closes its output; false at the deadline.  What is
** beyond MAX_OUTPUT is read and dropped. */
static bool child_talk (Child *c, DtBuf *got, int64_t deadline) {
  char chunk[CHUNK];
  while (c->out >= 0) {
    int64_t left = deadline - now_ms();
    struct pollfd p[2] = {{c->out, POLLIN, 0}, {c->in, POLLOUT, 0}};
    if (left <= 0) return false;
    int n = poll(p, c->in >= 0 ? 2 : 1, (int)(left < 1000 ? left : 1000));
    if (n < 0 && errno != EINTR) return false;
    if (n <= 0) continue;
    if (c->in >= 0 && p[1].revents != 0) child_feed(c);
    if (p[0].revents == 0) continue;
    ssize_t k = read(c->out, chunk, sizeof chunk);
    if (k == 0 || (k < 0 && errno != EINTR)) close_fd(&c->out);
    else if (k > 0 && got->len < MAX_OUTPUT)
      dt_buf_addn(got, chunk, (size_t)k);
  }
  return true;
}

static int check_argv (lua_State *L, char **argv) {
  lua_Integer n = luaL_len(L, 1);
  luaL_argcheck(L, n >= 1 && n < MAX_ARGS, 1, "1 to 31 words");
  for (lua_Integer i = 1; i <= n; i++) {
    lua_geti(L, 1, i);                       /* stays: it holds the string */
    argv[i - 1] = (char *)(size_t)luaL_checkstring(L, -1);
  }
  argv[n] = NULL;
  return (int)n;
}

/* Protected, since Lua may run out of memory while we own the text. */
static int push_text (lua_State *L) {
  const DtBuf *b = (const DtBuf *)lua_touserdata(L, 1);
  lua_pushlstring(L, b->s != NULL ? b->s : "", b->len);
  return 1;
}

/* The whole process group: a shell's children hold the pipe open. */
static void child_end (Child *c) {
  int status;
  close_fd(&c->in);
  close_fd(&c->out);
  if (c->pid < 0) return;
  (void)kill(-c->pid, SIGKILL);
  while (waitpid(c->pid, &status, 0) < 0 && errno == EINTR) continue;
  c->pid = -1;
}

static int l_child_gc (lua_State *L) {
  child_end((Child *)luaL_checkudata(L, 1, CHILD_META));
  return 0;
}

/* tool.start(argv, input) -> a program that runs, for tool.finish(); nil,
** message when it cannot be started. */
static int l_start (lua_State *L) {
  char *argv[MAX_ARGS];
  DtCtx *cx = (DtCtx *)lua_touserdata(L, lua_upvalueindex(1));
  luaL_checktype(L, 1, LUA_TTABLE);
  luaL_checkstring(L, 2);
  luaL_checkstack(L, MAX_ARGS + 4, NULL);
  Child *c = (Child *)lua_newuserdatauv(L, sizeof *c, 1);
  *c = (Child){-1, -1, -1, NULL, 0};
  luaL_setmetatable(L, CHILD_META);
  int child = lua_gettop(L);
  lua_pushvalue(L, 2);          /* the text lives as long as the program */
  lua_setiuservalue(L, child, 1);
  c->text = lua_tolstring(L, 2, &c->len);
  check_argv(L, argv);
  char **env = child_environment(cx);
  int err = env == NULL ? ENOMEM : child_start(c, argv, env);
  dt_free(cx, env);
  dt_error_clear(cx);
  if (err != 0) {
    c->pid = -1;
    lua_pushnil(L);
    lua_pushstring(L, strerror(err));
    return 2;
  }
  lua_pushvalue(L, child);
  return 1;
}

/* tool.finish(program, seconds) -> output, exit code or nil, "time" |
** signal. */
static int l_finish (lua_State *L) {
  DtCtx *cx = (DtCtx *)lua_touserdata(L, lua_upvalueindex(1));
  Child *c = (Child *)luaL_checkudata(L, 1, CHILD_META);
  int64_t limit = (int64_t)(luaL_checknumber(L, 2) * 1000);
  DtBuf got;
  int status = 0;
  luaL_argcheck(L, c->pid >= 0, 1, "it has been waited for");
  dt_buf_init(&got, cx);
  bool in_time = child_talk(c, &got, now_ms() + limit);
  if (!in_time) (void)kill(-c->pid, SIGKILL);
  close_fd(&c->in);
  close_fd(&c->out);
  while (waitpid(c->pid, &status, 0) < 0 && errno == EINTR) continue;
  c->pid = -1;
  if (dt_buf_ok(&got) != DT_OK) {
    dt_error_clear(cx);
    dt_buf_clear(&got);
  }
  lua_pushcfunction(L, push_text);
  lua_pushlightuserdata(L, &got);
  int rc = lua_pcall(L, 1, 1, 0);
  dt_buf_fini(&got);
  if (rc != LUA_OK) return lua_error(L);
  if (in_time && WIFEXITED(status)) {
    lua_pushinteger(L, WEXITSTATUS(status));
    return 2;
  }
  lua_pushnil(L);
  if (in_time) lua_pushinteger(L, WTERMSIG(status));
  else lua_pushliteral(L, "time");
  return 3;
}

/* tool.run(argv, input, seconds): start and finish; nil, message when it
** cannot be started. */
static int l_run (lua_State *L) {
  luaL_checknumber(L, 3);
  lua_settop(L, 3);
  lua_pushvalue(L, lua_upvalueindex(1));
  lua_pushcclosure(L, l_start, 1);
  lua_pushvalue(L, 1);
  lua_pushvalue(L, 2);
  lua_call(L, 2, 2);
  if (lua_isnil(L, -2)) return 2;
  lua_pop(L, 1);
  lua_pushvalue(L, lua_upvalueindex(1));
  lua_pushcclosure(L, l_finish, 1);
  lua_insert(L, -2);
  lua_pushvalue(L, 3);
  lua_call(L, 2, LUA_MULTRET);
  return lua_gettop(L) - 3;
}

/* tool.worded_releases(): the releases whose words differ from the next one's,
** newest first. */
static int l_worded_releases (lua_State *L) {
  lua_Integer n = 0;
  lua_newtable(L);
  for (int r = DT_LAST_RELEASE - 1; r >= DT_FIRST_RELEASE; r--) {
    if (!dt_text_ends(r)) continue;
    lua_pushfstring(L, "%d.%d", r / 100, r % 100);
    lua_rawseti(L, -2, ++n);
  }
  return 1;
}

/* --- the state --- */

static void *tool_alloc (void *ud, void *p, size_t osize, size_t nsize) {
  DtCtx *cx = (DtCtx *)ud;
  (void)osize;
  if (nsize == 0) { dt_free(cx, p); return NULL; }
  void *q = dt_realloc(cx, p, nsize);
  if (q == NULL && cx->err.code == DT_E_NOMEM) dt_error_clear(cx);
  return q;
}

void dtL_preload_lpeg (lua_State *L) {
  luaL_getsubtable(L, LUA_REGISTRYINDEX, LUA_PRELOAD_TABLE);
  lua_pushcfunction(L, luaopen_lpeg);
  lua_setfield(L, -2, "lpeg");
  lua_pop(L, 1);
}

static int add_traceback (lua_State *L) {
  luaL_traceback(L, L, luaL_tolstring(L, 1, NULL), 1);
  return 1;
}

/* Stack: name, argc, argv.  Leaves the exit code. */
static int tool_main (lua_State *L) {
  static const luaL_Reg fns[] = {
    {"clock", l_clock}, {"decode", dtL_json_plain}, {"isatty", l_isatty},
    {"program", l_program}, {"run", l_run}, {"start", l_start},
    {"finish", l_finish}, {"worded_releases", l_worded_releases}, {NULL, NULL}
  };
  const char *name = (const char *)lua_touserdata(L, 1);
  int argc = (int)lua_tointeger(L, 2);
  char **argv = (char **)lua_touserdata(L, 3);
  void *cx;
  lua_getallocf(L, &cx);
  luaL_openlibs(L);
  dtL_preload_lpeg(L);
  lua_getglobal(L, "package");
  lua_getfield(L, -1, "searchers");
  lua_pushcfunction(L, dtL_search_embed);
  lua_seti(L, -2, 2);             /* built-in modules only */
  lua_pushnil(L);
  lua_seti(L, -2, 3);
  lua_pushnil(L);
  lua_seti(L, -2, 4);
  lua_getglobal(L, "require");
  lua_pushstring(L, name);
  lua_call(L, 1, 1);
  luaL_newmetatable(L, CHILD_META);
  lua_pushcfunction(L, l_child_gc);
  lua_setfield(L, -2, "__gc");
  lua_pop(L, 1);
  luaL_newlibtable(L, fns);
  lua_pushlightuserdata(L, cx);
  luaL_setfuncs(L, fns, 1);
  dtL_process_open(L);
  lua_createtable(L, argc, 0);
  for (int i = 0; i < argc; i++) {
    lua_pushstring(L, argv[i]);
    lua_seti(L, -2, i + 1);
  }
  lua_call(L, 2, 1);
  return 1;
}

DtStatus dtL_tool_run (DtCtx *cx, const char *name, int argc, char **argv,
                       int *code) {
  DtStatus st = DT_OK;
  lua_State *L = lua_newstate(tool_alloc, cx);
  if (L == NULL) return dt_raise(cx, DT_E_NOMEM, "no memory for a Lua state");
  lua_gc(L, LUA_GCGEN, 0, 0);
  lua_pushcfunction(L, add_traceback);
  lua_pushcfunction(L, tool_main);
  lua_pushlightuserdata(L, (char *)(size_t)name);
  lua_pushinteger(L, argc);
  lua_pushlightuserdata(L, argv);
  int rc = lua_pcall(L, 3, 1, 1);
  if (rc == LUA_OK)
    *code = (int)lua_tointeger(L, -1);
  else if (rc == LUA_ERRMEM)
    st = dt_raise(cx, DT_E_NOMEM, "no memory for %s", name);
  else
    st = dt_raise(cx, DT_E_LUA, "%s", lua_type(L, -1) == LUA_TSTRING
                  ? lua_tostring(L, -1) : "an error without a message");
  lua_close(L);
  return st;
}
