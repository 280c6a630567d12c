/* SPDX-License-Identifier: MIT
** bind/embed.h: the Lua library, compiled into the program.
** The table is generated from lua/ by scripts/embed.lua at build time; embed.c
** loads from it.  Beside its source every module has what Lua compiled it to,
** names and lines included, so that a start need not compile: that is half of
** the time of a short script.  Lua checks no more of such code than its head,
** so it is used only where the library that runs is the very release that
** compiled it; elsewhere, and where it does not load, the source is. */
#ifndef DT_BIND_EMBED_H
#define DT_BIND_EMBED_H

#include <stddef.h>
#include <lua.h>

typedef struct DtEmbed {
  const char *name;   /* "dt.nn.linear"; for nn/init.lua "dt.nn" */
  const char *file;   /* "lua/dt/nn/linear.lua", for messages */
  const char *text;   /* 0-terminated source */
  size_t len;
  const char *code;   /* the same, compiled, of a Python text its tree
                         (bind/tree.h); NULL = not at hand */
  size_t ncode;
} DtEmbed;

/* The module called `module`, NULL when there is none.  Pure. */
const DtEmbed *dt_embed_find (const char *module);
/* All modules, sorted by name; their number in *n.  Pure. */
const DtEmbed *dt_embed_all (size_t *n);
/* "Lua 5.4.6": the release that compiled them; "" = none did.  Pure. */
const char *dt_embed_release (void);

/* Push the module's main function, compiled by `release` if at all.  Raises
** Lua's errors.  Local. */
void dtL_load_embed (lua_State *L, const DtEmbed *m, const char *release);

#endif
