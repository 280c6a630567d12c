/* SPDX-License-Identifier: MIT
** lua_calls.c: which functions of Lua modules ran.  scripts/cover.lua loads
** this before a program's own libraries (LD_PRELOAD); every state gets a hook
** that writes "source line", once for each function that is called, to the
** file that DTREPL_LUA_CALLS names.  The hook the program sets itself wins. */
#include <dlfcn.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <lua.h>

enum { SLOTS = 1 << 16 };               /* more than there are functions */

typedef void (*SetHook) (lua_State *, lua_Hook, int, int);
typedef lua_State *(*NewState) (lua_Alloc, void *);
typedef lua_Hook (*GetHook) (lua_State *);

static __thread uint64_t seen[SLOTS];

/* True at the first call with this function in this thread. */
static int add_seen (const lua_Debug *ar) {
  uint64_t h = 1469598103934665603u + (uint64_t)ar->linedefined;
  for (const char *s = ar->short_src; *s; s++)
    h = (h ^ (uint64_t)(unsigned char)*s) * 1099511628211u;
  size_t i = h % SLOTS;
  while (seen[i] != 0 && seen[i] != h)
    i = (i + 1) % SLOTS;
  if (seen[i] == h)
    return 0;
  seen[i] = h;
  return 1;
}

static void write_line (const char *line, size_t n) {
  static __thread int fd = -1;
  const char *name = getenv("DTREPL_LUA_CALLS");
  if (fd < 0 && name != NULL)
    fd = open(name, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
  if (fd >= 0 && write(fd, line, n) != (ssize_t)n)
    fd = -1;
}

static void on_call (lua_State *L, lua_Debug *ar) {
  char line[LUA_IDSIZE + 32];
  lua_getinfo(L, "S", ar);
  if (ar->linedefined < 0 || ar->source[0] != '=' || !add_seen(ar))
    return;
  int n = snprintf(line, sizeof line, "%s %d\n", ar->short_src, ar->linedefined);
  write_line(line, (size_t)n);
}

static void *next_symbol (const char *name) {
  void *p = dlsym(RTLD_NEXT, name);
  if (p == NULL)
    abort();
  return p;
}

void lua_sethook (lua_State *L, lua_Hook f, int mask, int count) {
  SetHook set;
  *(void **)&set = next_symbol("lua_sethook");
  if (f == NULL)
    set(L, on_call, LUA_MASKCALL, 0);
  else
    set(L, f, mask, count);
}

lua_Hook lua_gethook (lua_State *L) {
  GetHook get;
  *(void **)&get = next_symbol("lua_gethook");
  lua_Hook h = get(L);
  return h == on_call ? NULL : h;
}

lua_State *lua_newstate (lua_Alloc f, void *ud) {
  NewState new_state;
  *(void **)&new_state = next_symbol("lua_newstate");
  lua_State *L = new_state(f, ud);
  if (L != NULL)
    lua_sethook(L, NULL, 0, 0);
  return L;
}
