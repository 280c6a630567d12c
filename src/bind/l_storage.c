/* SPDX-License-Identifier: MIT
** bind/l_storage.c: what lies under tensors, for files that keep which of them
** share it (lua/dt/io/torch_file.lua): storages as bytes, views into them, and
** the checksum of the archives these are in. */
#include <stdint.h>
#include "bind/bind.h"
#include "diag/finding.h"
#include "tensor/tensor.h"

/* dt._storage(t) -> {id =, offset = (elements), bytes =, dropped =, conj =, neg =}
** of a plain tensor, or of a distributed one's local part; dropped: its memory
** was let go.  Local. */
static int l_storage (lua_State *L) {
  const DtTensor *t = dtL_check_tensor(L, 1)->local;
  lua_createtable(L, 0, 6);
  lua_pushinteger(L, t->storage ? t->storage->id : 0);
  lua_setfield(L, -2, "id");
  lua_pushinteger(L, t->offset);
  lua_setfield(L, -2, "offset");
  lua_pushinteger(L, t->storage ? (lua_Integer)t->storage->nbytes : 0);
  lua_setfield(L, -2, "bytes");
  lua_pushboolean(L, t->storage && t->storage->block == NULL &&
                         t->m.device != DT_DEV_META &&
                         !dt_session_no_data(dtL_session(L)));
  lua_setfield(L, -2, "dropped");
  lua_pushboolean(L, t->marks & DT_MARK_CONJ);
  lua_setfield(L, -2, "conj");
  lua_pushboolean(L, t->marks & DT_MARK_NEG);
  lua_setfield(L, -2, "neg");
  return 1;
}

/* dt._storage_bytes(t) -> the whole storage as text; META_NO_DATA.  Local. */
static int l_storage_bytes (lua_State *L) {
  DtSession *s = dtL_session(L);
  DtVar *v = dtL_check_tensor(L, 1);
  DtTensor *t = v->local, *whole = NULL;
  const int64_t n = t->storage ? (int64_t)t->storage->nbytes : 0;
  DtMeta m;
  DtStatus st;
  if (n > 0 && !dt_tensor_has_data(t))
    return dtL_errorf(L, DT_E_META_NO_DATA, "this tensor has no data to write");
  if (dt_diag_of(s)) dt_diag_result_read(dt_diag_of(s), v);
  st = dt_meta_init(s->cx, &m, DT_U8, 1, &n);
  if (st == DT_OK && n > 0) st = dt_tensor_view(s->cx, t, &m, 0, &whole);
  if (st != DT_OK) return dtL_raise(L);
  lua_pushlstring(L, n > 0 ? (const char *)dt_tensor_cdata(whole) : "",
                  (size_t)n);
  dt_tensor_unref(s->cx, whole);
  return 1;
}

/* dt._view_at(base, shape, stride, offset [, conj, neg]) -> a plain tensor of
** base's type in base's storage, perhaps marked; VALUE when it does not lie in
** it.  No operation of the program's: nothing is recorded, no gradient flows.
** Local. */
static int l_view_at (lua_State *L) {
  DtSession *s = dtL_session(L);
  DtTensor *base = dtL_check_tensor(L, 1)->local, *local = NULL;
  int64_t shape[DT_MAX_NDIM], stride[DT_MAX_NDIM];
  int n = dtL_check_ints(L, 2, shape, DT_MAX_NDIM), d;
  int strides = dtL_check_ints(L, 3, stride, DT_MAX_NDIM);
  int64_t at = luaL_checkinteger(L, 4);
  bool conj = lua_toboolean(L, 5), neg = lua_toboolean(L, 6);
  DtVar **box = dtL_box_tensor(L);
  DtMeta m;
  DtStatus st;
  if (strides != n)
    return dtL_errorf(L, DT_E_VALUE, "%d sizes, %d strides", n, strides);
  if (dt_meta_init(s->cx, &m, (DtDtype)base->m.dtype, n, shape) != DT_OK)
    return dtL_raise(L);
  m.device = base->m.device;
  for (d = 0; d < n; d++) m.stride[d] = stride[d];
  if (!dt_tensor_fits(base, &m, at))
    return dtL_errorf(L, DT_E_VALUE, "a tensor lies outside its storage of "
                      "%lld bytes", (long long)base->storage->nbytes);
  st = dt_tensor_view(s->cx, base, &m, at, &local);
  if (st == DT_OK) {
    local->marks = (uint8_t)((conj ? DT_MARK_CONJ : 0) |
                             (neg ? DT_MARK_NEG : 0));
    st = dt_var_new(s, local, NULL, box);
  }
  dt_tensor_unref(s->cx, local);
  return st == DT_OK ? 1 : dtL_raise(L);
}

/* dt._set_from(t, source): t is the data of source, which they share; nothing
** else of t changes.  RUNTIME where their types differ.  Local. */
static int l_set_from (lua_State *L) {
  DtVar *v = dtL_check_tensor(L, 1);
  DtTensor *t = dtL_check_tensor(L, 2)->local;
  if (t->m.dtype != v->local->m.dtype)
    return dtL_errorf(L, DT_E_RUNTIME, "Could not set tensor of type %s to a "
                      "tensor of type %s",
                      dt_dtype_info((DtDtype)t->m.dtype)->cpp,
                      dt_dtype_info((DtDtype)v->local->m.dtype)->cpp);
  t = dt_tensor_ref(t);
  dt_tensor_unref(v->s->cx, v->local);
  v->local = t;
  return 0;
}

/* dt._swap(a, b): each becomes what the other was, gradients and history, too.
** RUNTIME where a graph knows one of them.  Local. */
static int l_swap (lua_State *L) {
  DtVar *a = dtL_check_tensor(L, 1), *b = dtL_check_tensor(L, 2), was;
  if (a->acc || b->acc || a->view_base || b->view_base ||
      a->retains_grad || b->retains_grad)
    return dtL_errorf(L, DT_E_RUNTIME, "swap_tensors(): a graph of gradients "
                      "or a base of a view holds one of the tensors");
  was = *a;
  *a = *b;
  *b = was;
  b->refs = a->refs;                /* names and numbers stay where they are */
  a->refs = was.refs;
  b->id = a->id;
  a->id = was.id;
  b->name = a->name;
  a->name = was.name;
  return 0;
}

/* dt._crc32(text) -> the checksum that zip archives have.  Pure. */
static int l_crc32 (lua_State *L) {
  size_t n, i;
  const unsigned char *p = (const unsigned char *)luaL_checklstring(L, 1, &n);
  uint32_t table[256], crc = 0xFFFFFFFFu, k;
  for (k = 0; k < 256; k++) {
    uint32_t c = k;
    for (int bit = 0; bit < 8; bit++)
      c = c & 1 ? 0xEDB88320u ^ (c >> 1) : c >> 1;
    table[k] = c;
  }
  for (i = 0; i < n; i++) crc = table[(crc ^ p[i]) & 0xFF] ^ (crc >> 8);
  lua_pushinteger(L, (lua_Integer)(crc ^ 0xFFFFFFFFu));
  return 1;
}

void dtL_open_storage (lua_State *L, int dt) {
  static const luaL_Reg funcs[] = {
    {"_crc32", l_crc32}, {"_storage", l_storage},
    {"_storage_bytes", l_storage_bytes}, {"_view_at", l_view_at},
    {"_set_from", l_set_from}, {"_swap", l_swap}, {NULL, NULL}
  };
  lua_pushvalue(L, dt);
  luaL_setfuncs(L, funcs, 0);
  lua_pop(L, 1);
}
