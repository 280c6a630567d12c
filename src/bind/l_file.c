/* SPDX-License-Identifier: MIT
** bind/l_file.c: tensors as bytes and files as a whole, for dt.save, dt.load
** and checkpoints.  Formats are lua/dt/io's business. */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/file.h"
#include "bind/bind.h"
#include "diag/finding.h"
#include "kernel/kernel.h"
#include "mesh/layout.h"

/* dt._bytes(t) -> the elements of the local tensor in row-major order, as they
** lie in memory.  Local. */
static int l_bytes (lua_State *L) {
  DtSession *s = dtL_session(L);
  DtVar *v = dtL_check_tensor(L, 1);
  DtTensor *packed = NULL;
  DtMeta m;
  DtStatus st;
  void *p = NULL;
  size_t n;
  dt_meta_copy(&m, &v->local->m);
  dt_meta_set_contiguous(&m);
  n = (size_t)dt_meta_numel(&m) * dt_dtype_size((DtDtype)m.dtype);
  if (!dt_tensor_has_data(v->local) && n > 0)
    return dtL_errorf(L, DT_E_META_NO_DATA, "this tensor has no data to write");
  if (dt_diag_of(s)) dt_diag_result_read(dt_diag_of(s), v);
  st = dt_tensor_new(s->cx, &m, false, &packed);
  if (st == DT_OK && n > 0) st = dt_k_copy(s->cx, v->local, packed);
  if (st == DT_OK && n > 0) st = dt_tensor_data(s->cx, packed, &p);
  if (st == DT_OK) lua_pushlstring(L, n > 0 ? (const char *)p : "", n);
  dt_tensor_unref(s->cx, packed);
  return st == DT_OK ? 1 : dtL_raise(L);
}

/* dt._from_bytes(text, dtype, shape [, offset]) -> a plain tensor; VALUE when
** there are not as many bytes as the shape wants.  Local. */
static int l_from_bytes (lua_State *L) {
  DtSession *s = dtL_session(L);
  size_t have, want;
  const char *text = luaL_checklstring(L, 1, &have);
  DtDtype t = dtL_check_dtype(L, 2);
  int64_t shape[DT_MAX_NDIM], at = luaL_optinteger(L, 4, 0);
  int n = dtL_check_ints(L, 3, shape, DT_MAX_NDIM);
  DtVar **box = dtL_box_tensor(L);
  DtTensor *local = NULL;
  DtMeta m;
  DtStatus st;
  void *p;
  if (dt_meta_init(s->cx, &m, t, n, shape) != DT_OK) return dtL_raise(L);
  want = (size_t)dt_meta_numel(&m) * dt_dtype_size(t);
  if (at < 0 || (size_t)at > have || have - (size_t)at < want)
    return dtL_errorf(L, DT_E_VALUE, "%lld bytes wanted, %lld there",
                      (long long)want, (long long)have - (long long)at);
  st = dt_tensor_new(s->cx, &m, dt_session_no_data(s), &local);
  if (st == DT_OK && dt_tensor_has_data(local) && want > 0) {
    st = dt_tensor_data(s->cx, local, &p);
    if (st == DT_OK) memcpy(p, text + at, want);
  }
  if (st == DT_OK) st = dt_var_new(s, local, NULL, box);
  dt_tensor_unref(s->cx, local);
  return st == DT_OK ? 1 : dtL_raise(L);
}

/* dt._runs(t, dim) -> {{first, length}, ...}: the global indices along `dim`
** that this rank holds, in local order.  Local. */
static int l_runs (lua_State *L) {
  DtSession *s = dtL_session(L);
  DtVar *v = dtL_check_tensor(L, 1);
  int dim = (int)luaL_checkinteger(L, 2), k = 0;
  DtArenaMark mark = dt_arena_mark(&s->cx->scratch);
  int64_t *idx = NULL, n = 0, i, from;
  lua_newtable(L);
  if (v->spec == NULL)
    return dtL_errorf(L, DT_E_TYPE, "wanted a distributed tensor");
  if (dt_layout_indices(s->cx, v->spec, NULL, dim, &idx, &n) != DT_OK)
    return dtL_raise(L);
  for (i = from = 0; i < n; i++) {
    if (i + 1 < n && idx[i + 1] == idx[i] + 1) continue;
    lua_createtable(L, 2, 0);
    lua_pushinteger(L, idx[from]);
    lua_seti(L, -2, 1);
    lua_pushinteger(L, i + 1 - from);
    lua_seti(L, -2, 2);
    lua_seti(L, -2, ++k);
    from = i + 1;
  }
  dt_arena_release(&s->cx->scratch, mark);
  return 1;
}

static int io_error (lua_State *L, const char *what, const char *path) {
  return dtL_errorf(L, DT_E_IO, "%s %s: %s", what, path, strerror(errno));
}

/* dt._write_file(path, text...): all of it or nothing.  Local. */
static int l_write_file (lua_State *L) {
  DtCtx *cx = dtL_session(L)->cx;
  const char *path = luaL_checkstring(L, 1);
  int n = lua_gettop(L), i;
  DtFile w;
  for (i = 2; i <= n; i++) (void)luaL_checkstring(L, i);
  dtL_check_path(L, path);
  if (dt_file_begin(cx, &w, path) != DT_OK) return dtL_raise(L);
  for (i = 2; i <= n; i++) {
    size_t len;
    const char *text = lua_tolstring(L, i, &len);
    dt_file_add(&w, text, len);
  }
  return dt_file_end(cx, &w, path) == DT_OK ? 0 : dtL_raise(L);
}

/* dt._make_dir(path): there afterwards.  Local. */
static int l_make_dir (lua_State *L) {
  const char *path = luaL_checkstring(L, 1);
  dtL_check_path(L, path);
  if (mkdir(path, 0777) != 0 && errno != EEXIST)
    return io_error(L, "cannot make the folder", path);
  return 0;
}

/* dt._list_dir(path) -> the names in a folder, but "." and "..", in no order;
** nil where there is no such folder.  Local. */
static int l_list_dir (lua_State *L) {
  const char *path = luaL_checkstring(L, 1);
  const struct dirent *e;
  lua_Integer n = 0;
  DIR *d;
  dtL_check_path(L, path);
  lua_newtable(L);
  d = opendir(path);
  if (d == NULL) return 0;
  while ((e = readdir(d)) != NULL) {
    if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0) continue;
    lua_pushstring(L, e->d_name);
    lua_rawseti(L, -2, ++n);
  }
  closedir(d);
  return 1;
}

/* dt._temp_dir([shared]): a new folder among the system's temporary files,
** which may be written in without --trust; `shared`: the same one for all ranks
** of this process.  Local. */
static int l_temp_dir (lua_State *L) {
  char path[512];
  if (dtL_state(L)->o.sandbox)
    return dtL_errorf(L, DT_E_SANDBOX, "no files in the sandbox");
  bool shared = lua_toboolean(L, 1);
  int n = shared ? snprintf(path, sizeof path, "%s/" DTL_TEMP_NAME "%ld",
                            dtL_temp_root(), (long)getpid())
                 : snprintf(path, sizeof path, "%s/" DTL_TEMP_NAME "XXXXXX",
                            dtL_temp_root());
  if (n < 0 || (size_t)n >= sizeof path ||
      (shared ? mkdir(path, 0700) != 0 && errno != EEXIST
              : mkdtemp(path) == NULL))
    return io_error(L, "cannot make a folder in", dtL_temp_root());
  lua_pushstring(L, path);
  return 1;
}

void dtL_open_file (lua_State *L, int dt) {
  static const luaL_Reg funcs[] = {
    {"_bytes", l_bytes}, {"_from_bytes", l_from_bytes},
    {"_list_dir", l_list_dir}, {"_make_dir", l_make_dir}, {"_runs", l_runs},
    {"_temp_dir", l_temp_dir}, {"_write_file", l_write_file}, {NULL, NULL}
  };
  lua_pushvalue(L, dt);
  luaL_setfuncs(L, funcs, 0);
  lua_pop(L, 1);
}
