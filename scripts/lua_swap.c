/* SPDX-License-Identifier: MIT
** lua_swap.c: run a program with one of its built-in Lua files changed, without
** building it.  scripts/mutate.lua loads this before the program's own
** libraries (LD_PRELOAD).  DTREPL_SWAP_CHUNK names the chunk ("=[dt.util]", as
** scripts/embed.lua does), DTREPL_SWAP_FILE the file whose text stands for it. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <lua.h>
#include <lauxlib.h>

typedef int (*Load) (lua_State *, const char *, size_t, const char *,
                     const char *);

static Load next_load (void) {
  Load load;
  void *p = dlsym(RTLD_NEXT, "luaL_loadbufferx");
  if (p == NULL)
    abort();
  memcpy(&load, &p, sizeof load);       /* no cast from an object to a function */
  return load;
}

/* The file's text, the caller's to free.  A test without it would tell nothing
** of the change, so there is no going on. */
static char *read_text (const char *path, size_t *n) {
  FILE *f = fopen(path, "rb");
  long size;
  char *text;
  if (f == NULL || fseek(f, 0, SEEK_END) != 0 || (size = ftell(f)) < 0)
    abort();
  rewind(f);
  *n = (size_t)size;
  text = malloc(*n + 1);
  if (text == NULL || fread(text, 1, *n, f) != *n)
    abort();
  fclose(f);
  return text;
}

int luaL_loadbufferx (lua_State *L, const char *buf, size_t n, const char *name,
                      const char *mode) {
  const char *chunk = getenv("DTREPL_SWAP_CHUNK");
  const char *path = getenv("DTREPL_SWAP_FILE");
  if (chunk == NULL || path == NULL || name == NULL || strcmp(name, chunk) != 0)
    return next_load()(L, buf, n, name, mode);
  char *text = read_text(path, &n);
  int rc = next_load()(L, text, n, name, "t");
  free(text);
  return rc;
}
