/* SPDX-License-Identifier: MIT
** bind/l_tensor.c: tensor objects: attributes, methods (any aten packet by
** name), metamethods for arithmetic, indexing by {0, dt.slice(1, 3)}, printing.
** Methods written in Lua (dt/tensor) are in the table dt.Tensor and win
** over aten packets, which are found by name and kept there. */
#include <limits.h>
#include <math.h>
#include <string.h>
#include "bind/bind.h"
#include "bind/field.h"
#include "debug/grads.h"
#include "diag/finding.h"

static int t_gc (lua_State *L) {
  DtVar **b = (DtVar **)luaL_checkudata(L, 1, DTL_TENSOR);
  DtVar *v = *b;
  *b = NULL;
  dt_var_unref(v);
  return 0;
}

/* --- attributes --- */

typedef void (*AttrGet) (lua_State *L, DtVar *v);
typedef struct Attr { const char *name; AttrGet get; } Attr;

static void a_shape (lua_State *L, DtVar *v) {
  const DtMeta *m = dt_var_meta(v);
  dtL_push_size(L, m->shape, m->ndim);
}
static void a_ndim (lua_State *L, DtVar *v) {
  lua_pushinteger(L, dt_var_meta(v)->ndim);
}
static void a_dtype (lua_State *L, DtVar *v) {
  dtL_push_dtype(L, (DtDtype)dt_var_meta(v)->dtype);
}
static void a_device (lua_State *L, DtVar *v) {
  DtDevice d = (DtDevice)v->local->m.device;
  lua_pushstring(L, v->spec && d != DT_DEV_META ? v->spec->mesh->device_name
                                                : dt_device_name(d));
}
static void a_requires_grad (lua_State *L, DtVar *v) {
  lua_pushboolean(L, dt_var_needs_grad(v));
}
static void a_is_leaf (lua_State *L, DtVar *v) {
  lua_pushboolean(L, v->grad_fn == NULL);
}
static void a_retains_grad (lua_State *L, DtVar *v) {
  lua_pushboolean(L, v->retains_grad && v->grad_fn != NULL);
}
static void a_is_param (lua_State *L, DtVar *v) {
  lua_pushboolean(L, v->is_param);
}
static void a_inference (lua_State *L, DtVar *v) {
  lua_pushboolean(L, v->inference);
}
static void a_is_dtensor (lua_State *L, DtVar *v) {
  lua_pushboolean(L, v->spec != NULL);
}
static void a_grad (lua_State *L, DtVar *v) {
  dtL_share_tensor(L, v->grad);
}
static void a_grad_dtype (lua_State *L, DtVar *v) {
  int t = dt_var_grad_dtype(v);
  if (t == DT_GRAD_ANY) dtL_push_none(L);
  else dtL_push_dtype(L, (DtDtype)t);
}
static void a_grad_dtype_set (lua_State *L, DtVar *v) {
  lua_pushboolean(L, v->grad_dtype_set);
}
static void a_grad_fn (lua_State *L, DtVar *v) {
  if (v->grad_fn && v->grad_fn->name) lua_pushstring(L, v->grad_fn->name);
  else lua_pushnil(L);
}
static void a_name (lua_State *L, DtVar *v) {
  if (v->name) lua_pushstring(L, v->name); else lua_pushnil(L);
}
static void a_mesh (lua_State *L, DtVar *v) {
  if (v->spec == NULL) { lua_pushnil(L); return; }
  *dtL_box_mesh(L) = dt_mesh_ref(v->spec->mesh);
}
static void a_placements (lua_State *L, DtVar *v) {
  if (v->spec == NULL) { lua_pushnil(L); return; }
  dtL_push_placements(L, v->spec->pl, v->spec->npl);
}
static void a_spec (lua_State *L, DtVar *v) {
  DtBuf b;
  dt_buf_init(&b, v->s->cx);
  dt_var_print(v, &b);
  dtL_push_buf(L, &b);
}
static void a_local_shape (lua_State *L, DtVar *v) {
  dtL_push_size(L, v->local->m.shape, v->local->m.ndim);
}
static void a_origin (lua_State *L, DtVar *v) {
  lua_createtable(L, 0, 4);
  lua_pushinteger(L, v->origin.seq); lua_setfield(L, -2, "seq");
  dtL_set_str(L, "file", v->origin.file ? v->origin.file : "");
  lua_pushinteger(L, v->origin.line); lua_setfield(L, -2, "line");
  dtL_set_str(L, "op", v->origin.op ? v->origin.op : "");
}
static void a_version (lua_State *L, DtVar *v) {
  lua_pushinteger(L, dt_tensor_writes(v->local));
}
static void a_id (lua_State *L, DtVar *v) { lua_pushinteger(L, v->id); }

static int find_method (lua_State *L);

/* x.T and its like: what dt.Tensor's function of that name makes of x. */
static void a_computed (lua_State *L, DtVar *v) {
  (void)v;
  find_method(L);
  lua_pushvalue(L, 1);
  lua_call(L, 1, 1);
}

/* Sorted: looked up by bisection, listed for completion. */
static const Attr attrs[] = {
  {"H", a_computed}, {"T", a_computed},
  {"_has_grad_dtype_override", a_grad_dtype_set}, {"_id", a_id}, {"_inference", a_inference},
  {"_local_shape", a_local_shape}, {"_spec", a_spec},
  {"_version", a_version}, {"device", a_device}, {"device_mesh", a_mesh},
  {"dtype", a_dtype}, {"grad", a_grad}, {"grad_dtype", a_grad_dtype},
  {"grad_fn", a_grad_fn},
  {"is_dtensor", a_is_dtensor}, {"is_leaf", a_is_leaf},
  {"is_parameter", a_is_param}, {"mH", a_computed}, {"mT", a_computed},
  {"name", a_name}, {"ndim", a_ndim},
  {"origin", a_origin}, {"placements", a_placements},
  {"requires_grad", a_requires_grad}, {"retains_grad", a_retains_grad},
  {"shape", a_shape}
};

static const Attr *find_attr (const char *k) {
  int lo = 0, hi = (int)(sizeof attrs / sizeof attrs[0]) - 1;
  while (lo <= hi) {
    int mid = (lo + hi) / 2, c = strcmp(k, attrs[mid].name);
    if (c == 0) return &attrs[mid];
    if (c < 0) hi = mid - 1; else lo = mid + 1;
  }
  return NULL;
}

/* upvalue 1: dt.Tensor.  Names found as aten packets are kept there.  Kept
** for good, since packets are only ever added; a method that a program
** defines later goes into the same table and wins. */
static int find_method (lua_State *L) {
  lua_pushvalue(L, 2);
  if (lua_rawget(L, lua_upvalueindex(1)) != LUA_TNIL) return 1;
  lua_pop(L, 1);
  lua_getfield(L, LUA_REGISTRYINDEX, "dt");
  lua_getfield(L, -1, "_find");
  lua_pushvalue(L, 2);
  lua_pushboolean(L, 1);
  lua_call(L, 2, 1);
  if (lua_isnil(L, -1)) return 0;
  lua_pushvalue(L, 2);
  lua_pushvalue(L, -2);
  lua_rawset(L, lua_upvalueindex(1));
  return 1;
}

static int index_with (lua_State *L, const char *fname) {
  lua_getfield(L, lua_upvalueindex(1), fname);
  lua_insert(L, 1);
  lua_call(L, lua_gettop(L) - 1, 1);
  return 1;
}

/* PyTorch's attributes come first, then methods, then what a program has
** set: the reverse of Python's order for instances, but no program can hide
** an attribute (t_newindex refuses). */
static int t_index (lua_State *L) {
  DtVar *v = dtL_check_tensor(L, 1);
  const Attr *a;
  if (lua_type(L, 2) != LUA_TSTRING) return index_with(L, "_getitem");
  a = find_attr(lua_tostring(L, 2));
  if (a) { a->get(L, v); return 1; }
  if (find_method(L)) return 1;
  if (lua_getiuservalue(L, 1, 1) == LUA_TTABLE) {     /* user attributes */
    lua_pushvalue(L, 2);
    lua_rawget(L, -2);
    if (!lua_isnil(L, -1)) return 1;
  }
  return dtL_errorf(L, DT_E_ATTR, "'%s' object has no attribute '%s'",
                    v->spec ? "DTensor" : "Tensor", lua_tostring(L, 2));
}

/* dt._own_attr(t, name): an attribute somebody set on the tensor, or nil. */
static int l_own_attr (lua_State *L) {
  dtL_check_tensor(L, 1);
  luaL_checkstring(L, 2);
  if (lua_getiuservalue(L, 1, 1) != LUA_TTABLE) return 0;
  lua_pushvalue(L, 2);
  lua_rawget(L, -2);
  return 1;
}

static int set_requires_grad (lua_State *L, DtVar *v, bool on) {
  if (!on && v->grad_fn)
    return dtL_errorf(L, DT_E_RUNTIME, "you can only change requires_grad "
      "flags of leaf variables. If you want to use a computed variable in a "
      "subgraph that doesn't require differentiation use var_no_grad = "
      "var.detach().");
  if (on && !dt_dtype_is_float((DtDtype)dt_var_meta(v)->dtype)
      && !dt_dtype_is_complex((DtDtype)dt_var_meta(v)->dtype))
    return dtL_errorf(L, DT_E_RUNTIME, "only Tensors of floating point dtype "
                      "can require gradients");
  if (on && v->inference && !dtL_session(L)->inference)
    return dtL_errorf(L, DT_E_RUNTIME, "Setting requires_grad=True on "
                      "inference tensor outside InferenceMode is not allowed.");
  if (v->requires_grad && !on && dt_diag_of(dtL_session(L)))
    dt_diag_frozen(dt_diag_of(dtL_session(L)), v);
  v->requires_grad = on;
  return 0;
}

static int set_grad (lua_State *L, DtVar *v, int idx) {
  DtVar *g = dtL_is_none(L, idx) ? NULL : dtL_check_tensor(L, idx);
  if (g && dt_var_check_grad(v, g) != DT_OK) return dtL_raise(L);
  DtDebug *d = dt_debug_of(dtL_session(L));
  if (d) dt_grads_set(d, v, g);
  if (g) dt_var_ref(g);
  dt_var_unref(v->grad);
  v->grad = g;
  return 0;
}

static int set_grad_dtype (lua_State *L, DtVar *v, int idx) {
  int t = dtL_is_none(L, idx) ? DT_GRAD_ANY : (int)dtL_check_dtype(L, idx);
  return dt_var_set_grad_dtype(v, t) == DT_OK ? 0 : dtL_raise(L);
}

/* Own attributes of Python and Lua programs live in a table in the tensor's
** user value, made by the first write; PyTorch's read-only attributes raise
** before that, or a program would hide them. */
static int t_newindex (lua_State *L) {
  DtVar *v = dtL_check_tensor(L, 1);
  const char *k;
  if (lua_type(L, 2) != LUA_TSTRING) return index_with(L, "_setitem");
  k = lua_tostring(L, 2);
  if (strcmp(k, "requires_grad") == 0)
    return set_requires_grad(L, v, lua_toboolean(L, 3));
  if (strcmp(k, "grad") == 0) return set_grad(L, v, 3);
  if (strcmp(k, "grad_dtype") == 0) return set_grad_dtype(L, v, 3);
  if (strcmp(k, "name") == 0) {
    v->name = dt_session_intern(v->s, luaL_checkstring(L, 3));
    return v->name ? 0 : dtL_raise(L);
  }
  if (find_attr(k))
    return dtL_errorf(L, DT_E_ATTR, "attribute '%s' of 'torch._C.TensorBase' "
                      "objects is not writable", k);
  if (lua_getiuservalue(L, 1, 1) != LUA_TTABLE) {
    lua_newtable(L);
    lua_pushvalue(L, -1);
    lua_setiuservalue(L, 1, 1);
    lua_replace(L, -2);
  }
  lua_pushvalue(L, 2);
  lua_pushvalue(L, 3);
  lua_rawset(L, -3);
  return 0;
}

/* --- arithmetic: upvalue 1 dt.Tensor, 2 the name of the method --- */

static int t_arith (lua_State *L) {
  const char *name = lua_tostring(L, lua_upvalueindex(2));
  const char *rname = lua_tostring(L, lua_upvalueindex(3));
  lua_settop(L, 2);
  if (dtL_test_tensor(L, 1) == NULL && *rname) {      /* 2 - x */
    lua_insert(L, 1);
    name = rname;
  }
  lua_getfield(L, LUA_REGISTRYINDEX, "dt");
  lua_getfield(L, -1, "_arith");
  lua_getfield(L, -1, name);
  lua_insert(L, 1);
  lua_settop(L, 3);
  lua_call(L, 2, 1);
  return 1;
}

static int t_unm (lua_State *L) {
  lua_getfield(L, LUA_REGISTRYINDEX, "dt");
  lua_getfield(L, -1, "neg");
  lua_pushvalue(L, 1);
  lua_call(L, 1, 1);
  return 1;
}

static int t_len (lua_State *L) {
  const DtMeta *m = dt_var_meta(dtL_check_tensor(L, 1));
  if (m->ndim == 0)
    return dtL_errorf(L, DT_E_TYPE, "len() of a 0-d tensor");
  lua_pushinteger(L, m->shape[0]);
  return 1;
}

static int t_eq (lua_State *L) {
  lua_pushboolean(L, dtL_test_tensor(L, 1) == dtL_test_tensor(L, 2));
  return 1;
}

/* --- printing --- */

/* One more word after the values; on a line of its own when the last line
** would grow longer than the line. */
static void print_word (DtBuf *b, size_t from, int width, const char *word) {
  size_t at = b->len;
  while (at > from && b->s[at - 1] != '\n') at--;
  dt_buf_add(b, b->len - at + 2 + strlen(word) + 2 > (size_t)width
             ? ",\n       " : ", ");
  dt_buf_add(b, word);
}

static void print_tail (DtVar *v, const DtMeta *m, int width, DtBuf *b,
                        size_t from) {
  DtDtype t = (DtDtype)m->dtype;
  DtBuf w;
  dt_buf_init(&w, v->s->cx);
  if (dt_meta_numel(m) == 0 && m->ndim != 1) {
    dt_buf_add(&w, "size=(");
    for (int i = 0; i < m->ndim; i++)
      dt_buf_addf(&w, i ? ", %lld" : "%lld", (long long)m->shape[i]);
    dt_buf_add(&w, ")");
    print_word(b, from, width, dt_buf_str(&w));
    dt_buf_clear(&w);
  }
  bool seen = (t == DT_I64 || t == DT_BOOL || t == DT_C64) &&
              dt_meta_numel(m) > 0;
  if (t != DT_F32 && !seen) {   /* no element shows it */
    dt_buf_addf(&w, "dtype=%s", dt_dtype_info(t)->torch);
    print_word(b, from, width, dt_buf_str(&w));
    dt_buf_clear(&w);
  }
  if (v->grad_fn && v->spec == NULL && v->grad_fn->name) {
    dt_buf_addf(&w, "grad_fn=<%s>", v->grad_fn->name);
    print_word(b, from, width, dt_buf_str(&w));
  }
  else if (v->requires_grad && v->spec == NULL)
    print_word(b, from, width, "requires_grad=True");
  dt_buf_fini(&w);
}

static DtPrintOpts *print_opts (lua_State *L) {
  DtBind *k = dtL_state(L);
  if (!k->print_set) dt_print_defaults(&k->print);
  k->print_set = true;
  return &k->print;
}

/* A number of printing: the new one where an argument is given. */
static void print_number (lua_State *L, int arg, int *v) {
  if (!lua_isnoneornil(L, arg)) {
    lua_Integer n = luaL_checkinteger(L, arg);
    *v = n > INT_MAX ? INT_MAX : n < 0 ? 0 : (int)n;
  }
  lua_pushinteger(L, *v);
}

/* dt._printoptions([precision, threshold, edgeitems, linewidth[, sci_mode]])
** -> all five as they are now; sci_mode is kept only when not given at all. */
static int l_printoptions (lua_State *L) {
  DtPrintOpts *o = print_opts(L);
  if (lua_gettop(L) >= 5) {
    o->sci_set = !lua_isnil(L, 5);
    o->sci_mode = lua_toboolean(L, 5);
  }
  lua_settop(L, 4);
  print_number(L, 1, &o->precision);
  print_number(L, 2, &o->threshold);
  print_number(L, 3, &o->edgeitems);
  print_number(L, 4, &o->linewidth);
  if (o->sci_set) lua_pushboolean(L, o->sci_mode);
  else lua_pushnil(L);
  return 5;
}

static void print_local (lua_State *L, DtVar *v, DtBuf *b) {
  const DtPrintOpts *o = print_opts(L);
  if (!dt_tensor_has_data(v->local)) {     /* as long as it is: no line ends */
    dt_buf_add(b, "tensor(..., device='meta', size=");
    dt_buf_add_tuple(b, v->local->m.shape, v->local->m.ndim);
    if (v->local->m.dtype != DT_F32)
      dt_buf_addf(b, ", dtype=%s",
                  dt_dtype_info((DtDtype)v->local->m.dtype)->torch);
    if (v->grad_fn && v->grad_fn->name)
      dt_buf_addf(b, ", grad_fn=<%s>", v->grad_fn->name);
    else if (v->requires_grad) dt_buf_add(b, ", requires_grad=True");
    dt_buf_addc(b, ')');
    return;
  }
  size_t from = b->len;
  dt_buf_add(b, "tensor(");
  dt_tensor_print(v->local, o, 7, b);
  print_tail(v, &v->local->m, o->linewidth, b, from);
  dt_buf_addc(b, ')');
}

/* The program sees all values: rules and the record know. */
static void note_shown (const DtVar *v) {
  if (dt_diag_of(v->s)) dt_diag_result_read(dt_diag_of(v->s), v);
  if (dt_debug_of(v->s)) dt_record_show(dt_debug_of(v->s), v);
}

/* Plain: as PyTorch.  Distributed: one header in PyTorch's notation, then the
** local values (the shell folds equal ranks). */
static int t_tostring (lua_State *L) {
  DtVar *v = dtL_check_tensor(L, 1);
  DtBuf b;
  dt_buf_init(&b, v->s->cx);
  if (v->spec) {
    dt_var_print(v, &b);
    dt_buf_add(&b, "  mesh ");
    dt_mesh_print(v->spec->mesh, &b);
    dt_buf_addc(&b, '\n');
  }
  print_local(L, v, &b);
  if (dt_buf_ok(&b) != DT_OK) { dt_buf_fini(&b); return dtL_raise(L); }
  note_shown(v);
  dtL_push_buf(L, &b);
  return 1;
}

static int m_header (lua_State *L) {
  DtVar *v = dtL_check_tensor(L, 1);
  DtBuf b;
  dt_buf_init(&b, v->s->cx);
  dt_var_print(v, &b);
  if (v->spec) { dt_buf_add(&b, "  mesh "); dt_mesh_print(v->spec->mesh, &b); }
  dtL_push_buf(L, &b);
  return 1;
}

static int m_local_text (lua_State *L) {
  DtVar *v = dtL_check_tensor(L, 1);
  DtBuf b;
  dt_buf_init(&b, v->s->cx);
  print_local(L, v, &b);
  dtL_push_buf(L, &b);
  return 1;
}

/* --- methods in C: those that are no operators --- */

/* Argument 2 as a dim of `v`.  A tensor without dims has none here (PyTorch's
** maybe_wrap_dim with wrap_scalar false), where other operators take 0 for
** one. */
static int check_own_dim (lua_State *L, const DtVar *v) {
  const int ndim = dt_var_meta(v)->ndim;
  lua_Integer dim = luaL_checkinteger(L, 2);
  int d;
  if (ndim == 0)
    dtL_errorf(L, DT_E_INDEX, "Dimension specified as %lld but tensor has no "
               "dimensions", (long long)dim);
  if (dt_meta_wrap_dim(v->s->cx, dim, ndim, &d) != DT_OK) dtL_raise(L);
  return d;
}

static int m_size (lua_State *L) {
  const DtVar *v = dtL_check_tensor(L, 1);
  const DtMeta *m = dt_var_meta(v);
  if (lua_isnoneornil(L, 2)) { dtL_push_size(L, m->shape, m->ndim); return 1; }
  lua_pushinteger(L, m->shape[check_own_dim(L, v)]);
  return 1;
}

static int m_stride (lua_State *L) {
  const DtVar *v = dtL_check_tensor(L, 1);
  const DtMeta *m = dt_var_meta(v);
  if (lua_isnoneornil(L, 2)) { dtL_push_size(L, m->stride, m->ndim); return 1; }
  lua_pushinteger(L, m->stride[check_own_dim(L, v)]);
  return 1;
}

static int m_numel (lua_State *L) {
  lua_pushinteger(L, dt_meta_numel(dt_var_meta(dtL_check_tensor(L, 1))));
  return 1;
}

static int m_is_contiguous (lua_State *L) {
  lua_pushboolean(L, dt_meta_is_contiguous(dt_var_meta(
                                               dtL_check_tensor(L, 1))));
  return 1;
}

static int m_is_conj (lua_State *L) {
  lua_pushboolean(L, dtL_check_tensor(L, 1)->local->marks & DT_MARK_CONJ);
  return 1;
}

static int m_is_neg (lua_State *L) {
  lua_pushboolean(L, dtL_check_tensor(L, 1)->local->marks & DT_MARK_NEG);
  return 1;
}

static void push_scalar (lua_State *L, DtScalar v) {
  if (v.kind == DT_K_BOOL) lua_pushboolean(L, v.i != 0);
  else if (v.kind == DT_K_INT) lua_pushinteger(L, v.i);
  else if (v.kind == DT_K_FLOAT) lua_pushnumber(L, v.re);
  else {
    lua_createtable(L, 2, 0);
    lua_pushnumber(L, v.re); lua_seti(L, -2, 1);
    lua_pushnumber(L, v.im); lua_seti(L, -2, 2);
  }
}

static void push_nested (lua_State *L, const DtTensor *t, int d,
                         int64_t *index) {
  int64_t i;
  if (d == t->m.ndim) { push_scalar(L, dt_tensor_get(t, index)); return; }
  luaL_checkstack(L, 4, "tensor is nested too deeply");
  lua_createtable(L, (int)t->m.shape[d], 0);
  for (i = 0; i < t->m.shape[d]; i++) {
    index[d] = i;
    push_nested(L, t, d + 1, index);
    lua_seti(L, -2, i + 1);
  }
}

static int m_tolist (lua_State *L) {
  DtVar *v = dtL_check_tensor(L, 1);
  int64_t index[DT_MAX_NDIM] = {0};
  if (v->spec)
    return dtL_errorf(L, DT_E_RUNTIME, ".tolist() is not supported for tensor "
                      "subclasses.");
  if (!dt_tensor_has_data(v->local))
    return dtL_errorf(L, DT_E_META_NO_DATA, "this tensor has no data");
  note_shown(v);
  push_nested(L, v->local, 0, index);
  return 1;
}

static int m_requires_grad_ (lua_State *L) {
  DtVar *v = dtL_check_tensor(L, 1);
  set_requires_grad(L, v, lua_isnoneornil(L, 2) || lua_toboolean(L, 2));
  lua_settop(L, 1);
  return 1;
}

static int m_data_ptr (lua_State *L) {
  DtVar *v = dtL_check_tensor(L, 1);
  lua_pushinteger(L, v->local->storage ? v->local->storage->id : 0);
  return 1;
}

/* Bitwise equality of the local parts: shape, dtype and every bit. */
static int m_identical (lua_State *L) {
  DtVar *a = dtL_check_tensor(L, 1), *b = dtL_check_tensor(L, 2);
  lua_pushboolean(L, dt_tensor_identical(a->local, b->local));
  return 1;
}

static void arith_meta (lua_State *L, int methods) {
  static const char *const ops[][3] = {
    {"__add", "add", "radd"}, {"__sub", "sub", "rsub"},
    {"__mul", "mul", "rmul"}, {"__div", "div", "rdiv"},
    {"__idiv", "floordiv", "rfloordiv"}, {"__mod", "mod", "rmod"},
    {"__pow", "pow", "rpow"}, {"__band", "band", "rband"},
    {"__bor", "bor", "rbor"}, {"__bxor", "bxor", "rbxor"},
    {"__shl", "shl", "rshl"}, {"__shr", "shr", "rshr"}
  };
  size_t i;
  for (i = 0; i < sizeof ops / sizeof ops[0]; i++) {
    lua_pushvalue(L, methods);
    lua_pushstring(L, ops[i][1]);
    lua_pushstring(L, ops[i][2]);
    lua_pushcclosure(L, t_arith, 3);
    lua_setfield(L, -2, ops[i][0]);
  }
}

static int l_attr_names (lua_State *L) {
  size_t i;
  lua_newtable(L);
  for (i = 0; i < sizeof attrs / sizeof attrs[0]; i++) {
    lua_pushstring(L, attrs[i].name);
    lua_seti(L, -2, (lua_Integer)i + 1);
  }
  return 1;
}

void dtL_open_tensor (lua_State *L) {
  static const luaL_Reg meta[] = {
    {"__close", t_gc}, {"__eq", t_eq}, {"__gc", t_gc}, {"__len", t_len},
    {"__tostring", t_tostring}, {"__unm", t_unm}, {NULL, NULL}
  };
  static const luaL_Reg methods[] = {
    {"_data_id", m_data_ptr}, {"_header", m_header},
    {"_identical", m_identical}, {"_local_text", m_local_text},
    {"is_conj", m_is_conj}, {"is_contiguous", m_is_contiguous},
    {"is_neg", m_is_neg}, {"nelement", m_numel},
    {"numel", m_numel}, {"requires_grad_", m_requires_grad_},
    {"size", m_size}, {"stride", m_stride}, {"tolist", m_tolist},
    {NULL, NULL}
  };
  int mt, tm;
  luaL_newmetatable(L, DTL_TENSOR);
  mt = lua_gettop(L);
  luaL_setfuncs(L, meta, 0);
  luaL_newlib(L, methods);
  tm = lua_gettop(L);
  lua_pushvalue(L, tm);
  lua_pushcclosure(L, t_index, 1);
  lua_setfield(L, mt, "__index");
  lua_pushvalue(L, tm);
  lua_pushcclosure(L, t_newindex, 1);
  lua_setfield(L, mt, "__newindex");
  lua_pushvalue(L, mt);
  arith_meta(L, tm);
  lua_pop(L, 1);
  lua_getfield(L, LUA_REGISTRYINDEX, "dt");
  lua_pushvalue(L, tm);
  lua_setfield(L, -2, "Tensor");
  lua_pushcfunction(L, l_attr_names);
  lua_setfield(L, -2, "_attr_names");
  lua_pushcfunction(L, l_own_attr);
  lua_setfield(L, -2, "_own_attr");
  lua_pushcfunction(L, l_printoptions);
  lua_setfield(L, -2, "_printoptions");
  lua_settop(L, mt - 1);
}
