/* SPDX-License-Identifier: MIT
** repl/repl_addr.c: which ranks a line is for: "@all x", "@2 x", "@0,2-3 x",
** "@tp=1 x", "@dp=0,tp=* x".
**
** Coordinates are those of a mesh the person has: the variable `mesh` when it
** has the named dimensions, else the first one by name: at a stop among the
** variables of the script's functions, from the selected one out, then among the
** prompt's locals and the globals; else that of a distributed tensor there.
** Every rank decides for itself, from names and its own coordinate, so no
** message is needed. */
#include "base/error_tool.h"
#include "repl/repl_int.h"

#include <lua.h>
#include <stdlib.h>
#include <string.h>

typedef struct Want { const char *name; size_t n; int64_t coord; } Want;

enum { ANY = -1, MAX_WANT = 16 };

static int mesh_dim (const DtMesh *m, const Want *w) {
  for (int d = 0; d < m->ndim; d++)
    if (m->name[d] != NULL && strlen(m->name[d]) == w->n &&
        memcmp(m->name[d], w->name, w->n) == 0)
      return d;
  return -1;
}

static bool has_dims (const DtMesh *m, const Want *w, int n) {
  for (int i = 0; i < n; i++)
    if (mesh_dim(m, &w[i]) < 0)
      return false;
  return true;
}

/* The mesh at the top, or that of the tensor there; NULL: neither. */
static const DtMesh *mesh_of (lua_State *L, bool tensors) {
  const DtVar *v = tensors ? dtL_test_tensor(L, -1) : NULL;
  if (tensors)
    return v != NULL && v->spec != NULL ? v->spec->mesh : NULL;
  return dtL_test_mesh(L, -1);
}

/* A mesh with these dimensions in the table on the top; its name decides among
** several, so that every rank takes the same. */
static const DtMesh *mesh_in (lua_State *L, bool tensors, const Want *w,
                              int n) {
  const DtMesh *best = NULL;
  const char *best_name = NULL;
  lua_pushnil(L);
  while (lua_next(L, -2) != 0) {
    const DtMesh *m = mesh_of(L, tensors);
    if (m != NULL && lua_type(L, -2) == LUA_TSTRING && has_dims(m, w, n)) {
      const char *name = lua_tostring(L, -2);
      if (best == NULL || strcmp(name, "mesh") == 0 ||
          (strcmp(best_name, "mesh") != 0 && strcmp(name, best_name) < 0)) {
        best = m;
        best_name = name;
      }
    }
    lua_pop(L, 1);
  }
  return best;
}

static int push_locals (lua_State *L) {
  dtL_frame_locals(L, lua_touserdata(L, 1));
  return 1;
}

/* Among the variables of the script that is stopped. */
static const DtMesh *mesh_at_stop (DtRepl *r, bool tensors, const Want *w,
                                   int n) {
  lua_State *L = r->L;
  int top = lua_gettop(L), frames = r->at != NULL ? r->nframe : 0;
  const DtMesh *m = NULL;
  for (int i = r->here; i < frames && m == NULL; i++) {
    lua_pushcfunction(L, push_locals);
    lua_pushlightuserdata(L, &r->frame[i]);
    if (lua_pcall(L, 1, 1, 0) == LUA_OK)
      m = mesh_in(L, tensors, w, n);
    lua_settop(L, top);
  }
  return m;
}

static const DtMesh *find_among (DtRepl *r, bool tensors, const Want *w,
                                 int n) {
  lua_State *L = r->L;
  const DtMesh *m = mesh_at_stop(r, tensors, w, n);
  if (m == NULL) {
    dt_eval_push_locals(L);
    m = mesh_in(L, tensors, w, n);
    lua_pop(L, 1);
  }
  if (m == NULL) {
    lua_pushglobaltable(L);
    m = mesh_in(L, tensors, w, n);
    lua_pop(L, 1);
  }
  return m;
}

static const DtMesh *find_mesh (DtRepl *r, const Want *w, int n) {
  const DtMesh *m = find_among(r, false, w, n);
  return m != NULL ? m : find_among(r, true, w, n);
}

/* "dp=0,tp=*" in s[0..n). */
static DtStatus by_coord (DtRepl *r, const char *s, size_t n, bool *mine) {
  Want w[MAX_WANT] = {{NULL, 0, 0}};
  int k = 0;
  const char *end = s + n;
  while (s < end) {
    size_t part = 0;
    while (s + part < end && s[part] != ',')
      part++;
    const char *eq = memchr(s, '=', part);
    DT_CHECK(r->cx, eq != NULL && eq > s && k < MAX_WANT, DT_E_COMMAND,
             "@%.*s: wanted dimension=coordinate", (int)n, end - n);
    w[k].name = s;
    w[k].n = (size_t)(eq - s);
    size_t len = part - w[k].n - 1;
    char *stop = NULL;
    if (len == 1 && eq[1] == '*') {
      w[k].coord = ANY;
    } else {
      w[k].coord = strtoll(eq + 1, &stop, 10);
      DT_CHECK(r->cx, stop == eq + 1 + len && len > 0 && w[k].coord >= 0,
               DT_E_COMMAND, "@%.*s: a coordinate is a number or *", (int)n,
               end - n);
    }
    k++;
    s += part + 1;
  }
  const DtMesh *m = find_mesh(r, w, k);
  DT_CHECK(r->cx, m != NULL, DT_E_COMMAND,
           "@%.*s: no variable holds a mesh with these dimensions", (int)n,
           end - n);
  *mine = m->member;
  for (int i = 0; i < k && *mine; i++) {
    int d = mesh_dim(m, &w[i]);
    DT_CHECK(r->cx, w[i].coord < m->shape[d], DT_E_COMMAND,
             "@%.*s: %.*s goes from 0 to %lld", (int)n, end - n,
             (int)w[i].n, w[i].name, (long long)m->shape[d] - 1);
    *mine = w[i].coord == ANY || w[i].coord == m->coord[d];
  }
  return DT_OK;
}

/* "2", "0,2-3" in s[0..n). */
static DtStatus by_number (DtRepl *r, const char *s, size_t n, bool *mine) {
  const char *end = s + n;
  *mine = false;
  while (s < end) {
    char *e;
    long from = strtol(s, &e, 10), to = from;
    bool ok = e > s && from >= 0;
    if (ok && *e == '-' && e < end) {
      s = e + 1;
      to = strtol(s, &e, 10);
      ok = e > s && to >= from;
    }
    DT_CHECK(r->cx, ok && (e == end || *e == ','), DT_E_COMMAND,
             "@%.*s: wanted all, ranks as 0,2-3 or dimensions as tp=1",
             (int)n, end - n);
    DT_CHECK(r->cx, to < r->comm->size, DT_E_COMMAND,
             "@%.*s: ranks go from 0 to %d", (int)n, end - n,
             r->comm->size - 1);
    *mine = *mine || (r->comm->rank >= from && r->comm->rank <= to);
    s = e + 1;
  }
  return DT_OK;
}

bool dt_addr_is (const char *s) {
  size_t n = strcspn(s, " \t\n");
  return s[strspn(s + n, " \t") + n] != '\0' &&
         ((s[1] >= '0' && s[1] <= '9') || (n == 4 && memcmp(s, "@all", 4) == 0) ||
          (memchr(s, '=', n) != NULL && memchr(s, '(', n) == NULL));
}

DtStatus dt_addr_parse (DtRepl *r, const char *text, bool *mine,
                        const char **rest) {
  const char *s = text + 1;
  size_t n = strcspn(s, " \t\n");
  *rest = s + n + strspn(s + n, " \t\n");
  DT_CHECK(r->cx, n > 0, DT_E_COMMAND,
           "@ wants ranks: @all, @2, @0,2-3, @tp=1");
  DT_CHECK(r->cx, **rest != '\0', DT_E_COMMAND,
           "@%.*s: what shall be evaluated there?", (int)n, s);
  if (n == 3 && memcmp(s, "all", 3) == 0) {
    *mine = true;
    return DT_OK;
  }
  if (memchr(s, '=', n) != NULL)
    return by_coord(r, s, n, mine);
  return by_number(r, s, n, mine);
}
