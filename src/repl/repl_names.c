/* SPDX-License-Identifier: MIT
** repl/repl_names.c: names in a Lua state, for completion.
**
** Raw access only: pressing Tab must not run anybody's code.  Where a value
** has a metatable with a table as __index, that table is looked at too, a few
** steps deep, so methods of tensors and classes are found. */
#include "repl/repl_int.h"

#include <ctype.h>
#include <lauxlib.h>
#include <lua.h>
#include <string.h>

enum { MAX_STEPS = 8, MAX_NAMES = 4000 };

static const char *const words[] = {
  "and", "break", "do", "else", "elseif", "end", "false", "for", "function",
  "goto", "if", "in", "local", "nil", "not", "or", "repeat", "return", "then",
  "true", "until", "while"};

static bool is_name (const char *s) {
  if (isdigit((unsigned char)*s) || *s == '\0')
    return false;
  for (; *s != '\0'; s++)
    if (!isalnum((unsigned char)*s) && *s != '_')
      return false;
  return true;
}

/* Names of the table on the top that begin with `prefix`, after `before`. */
static void from_table (lua_State *L, const char *before, const char *prefix,
                        bool hidden, DtLineAdd add, void *sink) {
  size_t n = strlen(prefix);
  int count = 0;
  lua_pushnil(L);
  while (lua_next(L, -2) != 0) {
    lua_pop(L, 1);
    if (lua_type(L, -1) != LUA_TSTRING || count++ > MAX_NAMES)
      continue;
    const char *s = lua_tostring(L, -1);
    if (strncmp(s, prefix, n) != 0 || !is_name(s) ||
        (s[0] == '_' && n == 0 && !hidden))
      continue;
    lua_pushfstring(L, "%s%s", before, s);
    add(sink, lua_tostring(L, -1));
    lua_pop(L, 1);
  }
}

/* Replace the value on the top by the table its fields come from next; false
** (and popped) when there is none. */
static bool next_table (lua_State *L) {
  if (!lua_getmetatable(L, -1)) {
    lua_pop(L, 1);
    return false;
  }
  lua_remove(L, -2);
  lua_pushliteral(L, "__index");
  lua_rawget(L, -2);
  if (lua_iscfunction(L, -1) && lua_getupvalue(L, -1, 1) != NULL) {
    lua_remove(L, -2);          /* the binding's: its methods */
  } else if (!lua_istable(L, -1)) {
    lua_pop(L, 1);
    lua_pushliteral(L, "__methods");
    lua_rawget(L, -2);
  }
  lua_remove(L, -2);
  if (lua_istable(L, -1))
    return true;
  lua_pop(L, 1);
  return false;
}

/* The k-th place where a module keeps what is read as its fields; pushes its
** table. */
static bool module_part (lua_State *L, int k) {
  static const char *const part[] = {"_parameters", "_modules", "_buffers",
                                     "_attrs", "_class"};
  if (k >= (int)(sizeof part / sizeof part[0]) || !lua_istable(L, -1))
    return false;
  int top = lua_gettop(L);
  lua_pushliteral(L, "_class");
  int kind = lua_rawget(L, -2);
  lua_pop(L, 1);
  if (kind != LUA_TTABLE)
    return false;
  lua_pushstring(L, part[k]);
  if (lua_rawget(L, -2) == LUA_TTABLE && k < 3) {
    lua_pushliteral(L, "map");
    lua_rawget(L, -2);
    lua_remove(L, -2);
  }
  if (lua_istable(L, -1))
    return true;
  lua_settop(L, top);
  lua_newtable(L);
  return true;
}

/* Replace the value on the top by its field `s[0..n)`, raw, along __index. */
static bool push_field (lua_State *L, const char *s, size_t n) {
  for (int i = 0; i < MAX_STEPS; i++) {
    if (lua_istable(L, -1)) {
      lua_pushlstring(L, s, n);
      if (lua_rawget(L, -2) != LUA_TNIL) {
        lua_remove(L, -2);
        return true;
      }
      lua_pop(L, 1);
      for (int k = 0; module_part(L, k); k++) {
        lua_pushlstring(L, s, n);
        if (lua_rawget(L, -2) != LUA_TNIL) {
          lua_replace(L, -3);
          lua_pop(L, 1);
          return true;
        }
        lua_pop(L, 2);
      }
    }
    if (!next_table(L))
      return false;
  }
  lua_pop(L, 1);
  return false;
}

/* Push the locals of the selected frame of a stop; false when there is none. */
static bool frame_locals (lua_State *L) {
  DtRepl *r = dtL_state(L)->stop_ud;
  if (r == NULL || r->at == NULL || r->nframe == 0)
    return false;
  dtL_frame_locals(L, &r->frame[r->here]);
  return true;
}

/* Push the first name of a path: a local of the stopped function, a prompt's
** local, else a global. */
static bool first_name (lua_State *L, const char *s, size_t n) {
  if (frame_locals(L)) {
    lua_pushlstring(L, s, n);
    int kind = lua_rawget(L, -2);
    lua_remove(L, -2);
    if (kind != LUA_TNIL)
      return true;
    lua_pop(L, 1);
  }
  dt_eval_push_locals(L);
  lua_pushlstring(L, s, n);
  int t = lua_rawget(L, -2);
  lua_remove(L, -2);
  if (t != LUA_TNIL)
    return true;
  lua_pop(L, 1);
  lua_pushglobaltable(L);
  return push_field(L, s, n);
}

/* Push the value of a path ("a.b.", the last sign may be missing). */
static bool push_path (lua_State *L, const char *path) {
  size_t n = strcspn(path, ".:");
  if (!first_name(L, path, n))
    return false;
  const char *s = path + n;
  while (s[0] != '\0' && s[1] != '\0') {
    n = strcspn(s + 1, ".:");
    if (!push_field(L, s + 1, n))
      return false;
    s += n + 1;
  }
  return true;
}

static void offer_name (lua_State *L, const char *before, const char *s,
                        const char *prefix, DtLineAdd add, void *sink) {
  if (strncmp(s, prefix, strlen(prefix)) != 0 ||
      (s[0] == '_' && *prefix == '\0'))
    return;
  lua_pushfstring(L, "%s%s", before, s);
  add(sink, lua_tostring(L, -1));
  lua_pop(L, 1);
}

/* Operators, as methods of tensors and functions of dt. */
static void operators_of (lua_State *L, const char *before,
                          const char *prefix, DtLineAdd add, void *sink) {
  DtSession *s = dtL_session(L);
  int it = 0;
  const DtPacket *p;
  while ((p = dt_registry_next(s->cx, s->registry, &it)) != NULL)
    if (strcmp(p->ns, "aten") == 0)
      offer_name(L, before, p->base, prefix, add, sink);
}

/* The names dt.<f>() lists: of C and of our own library, nobody else's. */
static void offer_listed (lua_State *L, const char *f, const char *before,
                          const char *prefix, DtLineAdd add, void *sink) {
  int top = lua_gettop(L);
  lua_getfield(L, LUA_REGISTRYINDEX, "dt");
  lua_pushstring(L, f);
  if (lua_rawget(L, -2) == LUA_TFUNCTION) {
    lua_call(L, 0, 1);
    for (int i = 1; lua_rawgeti(L, -1, i) == LUA_TSTRING; i++) {
      offer_name(L, before, lua_tostring(L, -1), prefix, add, sink);
      lua_pop(L, 1);
    }
  }
  lua_settop(L, top);
}

/* Is the value on the top dt, or its field `name`? */
static bool is_of_dt (lua_State *L, const char *name) {
  int top = lua_gettop(L);
  bool is;
  lua_getfield(L, LUA_REGISTRYINDEX, "dt");
  if (name != NULL && lua_istable(L, -1)) {
    lua_pushstring(L, name);
    lua_rawget(L, -2);
  }
  is = lua_rawequal(L, -1, top);
  lua_settop(L, top);
  return is;
}

/* The commands are functions of dt.debug, which its __index finds. */
static void commands_of (lua_State *L, const char *path, const char *prefix,
                         DtLineAdd add, void *sink) {
  offer_listed(L, "_debug_names", path, prefix, add, sink);
  lua_pushliteral(L, "_commands");
  if (lua_rawget(L, -2) == LUA_TTABLE)
    from_table(L, path, prefix, *prefix != '\0', add, sink);
  lua_pop(L, 1);
}

/* What the value on the top has beyond tables: attributes, operators. */
static void offer_special (lua_State *L, const char *path, const char *prefix,
                           DtLineAdd add, void *sink) {
  static const char *const of_mesh[] = {"device_type", "mesh_dim_names",
                                        "ndim", "shape"};
  if (is_of_dt(L, "debug")) {
    commands_of(L, path, prefix, add, sink);
  } else if (is_of_dt(L, NULL)) {
    offer_listed(L, "_lazy_names", path, prefix, add, sink);
    operators_of(L, path, prefix, add, sink);
  } else if (luaL_testudata(L, -1, DTL_TENSOR) != NULL) {
    offer_listed(L, "_attr_names", path, prefix, add, sink);
    operators_of(L, path, prefix, add, sink);
  } else if (luaL_testudata(L, -1, DTL_MESH) != NULL) {
    for (size_t i = 0; i < sizeof of_mesh / sizeof of_mesh[0]; i++)
      offer_name(L, path, of_mesh[i], prefix, add, sink);
  }
  for (int k = 0; module_part(L, k); k++) {
    from_table(L, path, prefix, *prefix != '\0', add, sink);
    if (k < 4) {
      lua_pop(L, 1);
      continue;
    }
    int steps = 0;              /* the class's bases */
    while (next_table(L)) {
      from_table(L, path, prefix, *prefix != '\0', add, sink);
      if (++steps == MAX_STEPS) {
        lua_pop(L, 1);
        break;
      }
    }
  }
}

static void fields_of (lua_State *L, const char *path, const char *prefix,
                       DtLineAdd add, void *sink) {
  if (!push_path(L, path))
    return;
  offer_special(L, path, prefix, add, sink);
  for (int i = 0; i < MAX_STEPS; i++) {
    if (lua_istable(L, -1))
      from_table(L, path, prefix, *prefix != '\0', add, sink);
    if (!next_table(L))
      return;
  }
  lua_pop(L, 1);
}

static int offer_names (lua_State *L) {
  const char *path = lua_tostring(L, 1), *prefix = lua_tostring(L, 2);
  DtLineAdd *add = lua_touserdata(L, 3);
  void *sink = lua_touserdata(L, 4);
  if (*path != '\0') {
    fields_of(L, path, prefix, *add, sink);
    return 0;
  }
  for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
    if (*prefix != '\0' && strncmp(words[i], prefix, strlen(prefix)) == 0)
      (*add)(sink, words[i]);
  if (frame_locals(L)) {
    from_table(L, "", prefix, false, *add, sink);
    lua_pop(L, 1);
  }
  dt_eval_push_locals(L);
  from_table(L, "", prefix, false, *add, sink);
  lua_pushglobaltable(L);
  from_table(L, "", prefix, false, *add, sink);
  return 0;
}

/* Ask `fn` (path, prefix, add, sink) for names; an error offers none. */
static void call_offer (lua_State *L, lua_CFunction fn, const char *path,
                        const char *prefix, DtLineAdd add, void *sink) {
  int top = lua_gettop(L);
  lua_pushcfunction(L, fn);
  lua_pushstring(L, path);
  lua_pushstring(L, prefix);
  lua_pushlightuserdata(L, &add);
  lua_pushlightuserdata(L, sink);
  (void)lua_pcall(L, 4, 0, 0);
  lua_settop(L, top);
}

void dt_names_lua (lua_State *L, const char *path, const char *prefix,
                   DtLineAdd add, void *sink) {
  call_offer(L, offer_names, path, prefix, add, sink);
}

/* --- variables of commands that ask about a tensor --- */

typedef struct Held { DtLineAdd add; void *sink; int count; } Held;

static void count_held (void *ud, const char *word) {
  Held *h = ud;
  h->count++;
  h->add(h->sink, word);
}

static bool is_held (lua_State *L) {
  if (dtL_test_tensor(L, -1) != NULL || dtL_test_mesh(L, -1) != NULL)
    return true;
  if (!lua_istable(L, -1))
    return false;
  lua_pushliteral(L, "_parameters");
  bool yes = lua_rawget(L, -2) == LUA_TTABLE;
  lua_pop(L, 1);
  return yes;
}

/* Those among the names of the table on the top, which is popped. */
static void add_held (lua_State *L, const char *prefix, DtLineAdd add,
                      void *sink) {
  lua_pushnil(L);
  while (lua_next(L, -2) != 0) {
    bool held = lua_type(L, -2) == LUA_TSTRING && is_held(L);
    lua_pop(L, 1);
    if (held && is_name(lua_tostring(L, -1)))
      offer_name(L, "", lua_tostring(L, -1), prefix, add, sink);
  }
  lua_pop(L, 1);
}

static int held_names (lua_State *L) {
  const char *prefix = lua_tostring(L, 2);
  DtLineAdd *add = lua_touserdata(L, 3);
  void *sink = lua_touserdata(L, 4);
  if (frame_locals(L))
    add_held(L, prefix, *add, sink);
  dt_eval_push_locals(L);
  add_held(L, prefix, *add, sink);
  lua_pushglobaltable(L);
  add_held(L, prefix, *add, sink);
  return 0;
}

int dt_names_held (lua_State *L, const char *prefix, DtLineAdd add,
                   void *sink) {
  Held h = {add, sink, 0};
  call_offer(L, held_names, "", prefix, count_held, &h);
  return h.count;
}

/* --- keywords --- */

static int page_keywords (lua_State *L) {
  const char *prefix = lua_tostring(L, 2);
  DtLineAdd *add = lua_touserdata(L, 3);
  void *sink = lua_touserdata(L, 4);
  lua_getglobal(L, "require");
  lua_pushliteral(L, "repl.pages");
  lua_call(L, 1, 1);
  lua_getfield(L, -1, "keywords");
  lua_pushvalue(L, 1);
  lua_call(L, 1, 1);
  for (int i = 1; lua_rawgeti(L, -1, i) == LUA_TSTRING; i++) {
    lua_pushfstring(L, "%s = ", lua_tostring(L, -1));
    offer_name(L, "", lua_tostring(L, -1), prefix, *add, sink);
    lua_pop(L, 2);
  }
  return 0;
}

void dt_names_keywords (lua_State *L, const char *path, const char *prefix,
                        DtLineAdd add, void *sink) {
  call_offer(L, page_keywords, path, prefix, add, sink);
}

/* The names of the dimensions of the mesh at the path. */
static int mesh_names (lua_State *L) {
  const char *path = lua_tostring(L, 1), *prefix = lua_tostring(L, 2);
  DtLineAdd *add = lua_touserdata(L, 3);
  if (!push_path(L, path))
    return 0;
  DtMesh *m = dtL_test_mesh(L, -1);
  for (int i = 0; m != NULL && i < m->ndim; i++)
    if (m->name[i] != NULL)
      offer_name(L, "", m->name[i], prefix, *add, lua_touserdata(L, 4));
  return 0;
}

void dt_names_mesh (lua_State *L, const char *path, const char *prefix,
                    DtLineAdd add, void *sink) {
  call_offer(L, mesh_names, path, prefix, add, sink);
}

/* 1: the path, 2: the buffer -> "tensor", "mesh" or nil. */
static int kind_of_live (lua_State *L) {
  const char *path = lua_tostring(L, 1);
  DtBuf *out = lua_touserdata(L, 2);
  if (!push_path(L, path))
    return 0;
  DtVar *v = dtL_test_tensor(L, -1);
  DtMesh *m = dtL_test_mesh(L, -1);
  if (v != NULL)
    dt_var_print(v, out);
  if (v == NULL && m == NULL)
    return 0;
  lua_pushstring(L, v != NULL ? "tensor" : "mesh");
  return 1;
}

const char *dt_names_live (lua_State *L, const char *path, DtBuf *out) {
  static const char *const kinds[] = {"tensor", "mesh"};
  const char *kind = NULL;
  int top = lua_gettop(L);
  lua_pushcfunction(L, kind_of_live);
  lua_pushstring(L, path);
  lua_pushlightuserdata(L, out);
  if (lua_pcall(L, 2, 1, 0) == LUA_OK && lua_type(L, -1) == LUA_TSTRING)
    kind = kinds[strcmp(lua_tostring(L, -1), "mesh") == 0];
  lua_settop(L, top);
  return kind;
}
