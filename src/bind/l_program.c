/* SPDX-License-Identifier: MIT
** bind/l_program.c: what a Python program's modules are read from, and where
** its ranks meet while it runs. */
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/error_comm.h"
#include "bind/bind.h"
#include "bind/embed.h"
#include "bind/tree.h"

/* dt._library_text(name) -> the text of a module compiled in, or nil.  Pure. */
static int l_library_text (lua_State *L) {
  const DtEmbed *m = dt_embed_find(luaL_checkstring(L, 1));
  if (m == NULL) return 0;
  lua_pushlstring(L, m->text, m->len);
  return 1;
}

/* dt._library_tree(name) -> the tree of a Python text compiled in, as the
** parser makes it, or nil.  Pure. */
static int l_library_tree (lua_State *L) {
  const DtEmbed *m = dt_embed_find(luaL_checkstring(L, 1));
  if (m == NULL || m->code == NULL || strncmp(m->name, "py:", 3) != 0) return 0;
  dtL_push_tree(L, m->code, m->ncode);
  return 1;
}

/* Push the bytes of an open file, or nil where they cannot be read. */
static void push_file (lua_State *L, FILE *f) {
  luaL_Buffer b;
  luaL_buffinit(L, &b);
  for (size_t n = 1; n > 0;) {
    char *p = luaL_prepbuffer(&b);
    n = fread(p, 1, LUAL_BUFFERSIZE, f);
    luaL_addsize(&b, n);
  }
  luaL_pushresult(&b);
  if (!ferror(f)) return;
  lua_pop(L, 1);
  lua_pushnil(L);
}

/* Where the last name of the program's path begins; 0: in the working folder,
** or nowhere, when no file is run. */
static size_t folder_length (const char *program) {
  const char *slash = program != NULL ? strrchr(program, '/') : NULL;
  return slash != NULL ? (size_t)(slash - program) + 1 : 0;
}

/* Runs protected, so that the file is closed: (FILE *) -> its bytes. */
static int read_open (lua_State *L) {
  push_file(L, lua_touserdata(L, 1));
  return 1;
}

static bool is_folder (FILE *f) {
  struct stat s;
  return fstat(fileno(f), &s) == 0 && S_ISDIR(s.st_mode);
}

/* dt._read_beside(path) -> the bytes of a file below the program's folder (nil
** for a folder) and its path from the working folder; nil where there is none,
** the program is no file, or files are not to be touched.  `path` is relative
** to the folder or begins with it.  Only for reading.  Local. */
static int l_read_beside (lua_State *L) {
  const char *path = luaL_checkstring(L, 1);
  const DtBindOpts *o = &dtL_state(L)->o;
  size_t n = folder_length(o->program);
  FILE *f;
  int st;
  if (o->program == NULL || o->sandbox) return 0;
  if (n > 0 && strncmp(path, o->program, n) == 0) path += n;
  if (!dtL_path_is_below(path)) return 0;
  lua_pushlstring(L, o->program, n);
  lua_pushstring(L, path);
  lua_concat(L, 2);
  lua_pushcfunction(L, read_open);
  f = fopen(lua_tostring(L, -2), "rb");
  if (f == NULL) return 0;
  if (is_folder(f)) {
    fclose(f);
    lua_pushnil(L);
    lua_replace(L, -2);                         /* read_open */
    lua_insert(L, -2);
    return 2;
  }
  lua_pushlightuserdata(L, f);
  st = lua_pcall(L, 1, 1, 0);
  fclose(f);
  if (st != LUA_OK) return lua_error(L);
  if (lua_isnil(L, -1)) return 0;
  lua_insert(L, -2);
  return 2;
}

/* dt._world_part(n): the program sees ranks 0 to n - 1 alone; dt._world_fake(n
** [, rank]): it is one of a pretended world of n.  Until dt._world_home(), or
** the end of the chunk.  Findings rest in a pretended world.  Local. */
static int l_world_part (lua_State *L) {
  if (dt_session_part(dtL_session(L), (int)luaL_checkinteger(L, 1)) != DT_OK)
    return dtL_raise(L);
  return 0;
}

static int l_world_fake (lua_State *L) {
  lua_Integer n = luaL_checkinteger(L, 1), rank = luaL_optinteger(L, 2, 0);
  if (n > 1 << 20) n = (1 << 20) + 1;           /* refused by name */
  if (rank < 0 || rank > n) rank = n;
  if (dt_session_pretend(dtL_session(L), (int)n, (int)rank) != DT_OK)
    return dtL_raise(L);
  return 0;
}

static int l_world_home (lua_State *L) {
  dt_session_home(dtL_session(L));
  return 0;
}

/* dt._folder() -> the working folder's path, nil in the sandbox. */
static int l_folder (lua_State *L) {
  char here[PATH_MAX];
  if (dtL_state(L)->o.sandbox || getcwd(here, sizeof here) == NULL)
    lua_pushnil(L);
  else
    lua_pushstring(L, here);
  return 1;
}

/* dt._environment() -> {name = value} of this process; empty in the sandbox,
** where a stranger's program is to learn nothing of the machine.  Local. */
static int l_environment (lua_State *L) {
  lua_newtable(L);
  if (dtL_state(L)->o.sandbox) return 1;
  for (char **e = environ; e != NULL && *e != NULL; e++) {
    const char *eq = strchr(*e, '=');
    if (eq == NULL) continue;
    lua_pushlstring(L, *e, (size_t)(eq - *e));
    lua_pushstring(L, eq + 1);
    lua_rawset(L, -3);
  }
  return 1;
}

/* dt._wants_ranks(n) -> true when the program may be begun again with n ranks:
** it is, when it ends, with nothing else of it done.  Local. */
static int l_wants_ranks (lua_State *L) {
  DtSession *s = dtL_session(L);
  lua_Integer n = luaL_checkinteger(L, 1);
  bool may = s->may_grow && n >= 1 && n <= DT_PART_MAX;
  if (may) s->wants_ranks = (int)n;
  lua_pushboolean(L, may);
  return 1;
}

/* dt._meet(failed) -> for each rank, did it fail?  Nil where one rank stands
** for all.  All ranks come together, whatever they were at: one that waits in
** a collective for another that is here learns that it waits for nothing, and
** comes too; collectives work again afterwards.  Between the tests of a
** program.  Ctrl-C is raised on every rank.  Collective over the world. */
static int l_meet (lua_State *L) {
  DtSession *s = dtL_session(L);
  DtCtx *cx = s->cx;
  DtComm *c = s->comm;
  DtCollInfo info = {"end of a test", 0, "", "", ""};
  bool failed = lua_toboolean(L, 1), stopped = false;
  DtStatus *all, st;
  if (c->no_data) return 0;
  all = lua_newuserdatauv(L, sizeof *all * (size_t)c->size, 0);
  lua_createtable(L, c->size, 0);
  dt_error_clear(cx);
  if (failed) (void)dt_raise(cx, DT_E_RUNTIME, "this rank's test failed");
  st = dt_comm_meet(cx, c, failed ? DT_E_RUNTIME : DT_OK, &info, all);
  if (st == DT_E_RANK_LOST) return dtL_raise(L);
  dt_error_clear(cx);
  for (int r = 0; r < c->size; r++) {
    stopped = stopped || all[r] == DT_E_INTERRUPTED;
    lua_pushboolean(L, all[r] != DT_OK);
    lua_rawseti(L, -2, r + 1);
  }
  if (stopped || st == DT_E_INTERRUPTED)
    return dtL_errorf(L, DT_E_INTERRUPTED, "interrupted");
  return 1;
}

void dtL_open_program (lua_State *L, int dt) {
  static const luaL_Reg funcs[] = {
    {"_environment", l_environment}, {"_folder", l_folder},
    {"_library_text", l_library_text}, {"_library_tree", l_library_tree},
    {"_meet", l_meet}, {"_read_beside", l_read_beside},
    {"_wants_ranks", l_wants_ranks},
    {"_world_fake", l_world_fake}, {"_world_home", l_world_home},
    {"_world_part", l_world_part}, {NULL, NULL}
  };
  lua_pushvalue(L, dt);
  luaL_setfuncs(L, funcs, 0);
  lua_pop(L, 1);
}
