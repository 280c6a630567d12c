/* SPDX-License-Identifier: MIT
** bind/l_libm.c: functions of C's mathematics that Lua has not, for the module
** math of Python programs: dt._libm.NAME(x) or (x, y), all in doubles. */
#include <math.h>
#include "bind/bind.h"

typedef struct One { const char *name; double (*f) (double); } One;
typedef struct Two { const char *name; double (*f) (double, double); } Two;

static const One ones[] = {
  {"acosh", acosh}, {"asinh", asinh}, {"atanh", atanh}, {"cbrt", cbrt},
  {"cosh", cosh}, {"erf", erf}, {"erfc", erfc}, {"exp2", exp2},
  {"expm1", expm1}, {"gamma", tgamma}, {"log10", log10}, {"log1p", log1p},
  {"log2", log2}, {"sinh", sinh}, {"tanh", tanh}, {"trunc", trunc}
};
static const Two twos[] = {
  {"atan2", atan2}, {"copysign", copysign}, {"fmod", fmod}, {"hypot", hypot},
  {"nextafter", nextafter}, {"pow", pow}, {"remainder", remainder}
};

static int call_one (lua_State *L) {
  const One *o = lua_touserdata(L, lua_upvalueindex(1));
  lua_pushnumber(L, o->f(luaL_checknumber(L, 1)));
  return 1;
}

static int call_two (lua_State *L) {
  const Two *t = lua_touserdata(L, lua_upvalueindex(1));
  lua_pushnumber(L, t->f(luaL_checknumber(L, 1), luaL_checknumber(L, 2)));
  return 1;
}

/* ln |gamma(x)|, by the form that keeps no state for all threads. */
static int call_lgamma (lua_State *L) {
  int sign;
  lua_pushnumber(L, lgamma_r(luaL_checknumber(L, 1), &sign));
  return 1;
}

/* x -> m, e with x = m * 2^e and 0.5 <= |m| < 1. */
static int call_frexp (lua_State *L) {
  int e = 0;
  lua_pushnumber(L, frexp(luaL_checknumber(L, 1), &e));
  lua_pushinteger(L, e);
  return 2;
}

/* x, e -> x * 2^e; e beyond an int is as good as its largest. */
static int call_ldexp (lua_State *L) {
  lua_Integer e = luaL_checkinteger(L, 2);
  int n = e > 100000 ? 100000 : e < -100000 ? -100000 : (int)e;
  lua_pushnumber(L, ldexp(luaL_checknumber(L, 1), n));
  return 1;
}

void dtL_open_libm (lua_State *L, int dt) {
  static const luaL_Reg others[] = { {"lgamma", call_lgamma},
    {"frexp", call_frexp}, {"ldexp", call_ldexp}, {NULL, NULL} };
  luaL_newlib(L, others);
  for (size_t i = 0; i < sizeof ones / sizeof *ones; i++) {
    lua_pushlightuserdata(L, (void *)&ones[i]);
    lua_pushcclosure(L, call_one, 1);
    lua_setfield(L, -2, ones[i].name);
  }
  for (size_t i = 0; i < sizeof twos / sizeof *twos; i++) {
    lua_pushlightuserdata(L, (void *)&twos[i]);
    lua_pushcclosure(L, call_two, 1);
    lua_setfield(L, -2, twos[i].name);
  }
  lua_setfield(L, dt, "_libm");
}
