/* SPDX-License-Identifier: MIT
** bind/embed.h: the Lua library, compiled into the program.
** The table is generated from lua/ by scripts/embed.lua at build time. */
#ifndef DT_BIND_EMBED_H
#define DT_BIND_EMBED_H

#include <stddef.h>

typedef struct DtEmbed {
  const char *name;   /* "dt.nn.linear"; for nn/init.lua "dt.nn" */
  const char *file;   /* "lua/dt/nn/linear.lua", for messages */
  const char *text;   /* 0-terminated source */
  size_t len;
} DtEmbed;

/* The module called `module`, NULL when there is none.  Pure. */
const DtEmbed *dt_embed_find (const char *module);
/* All modules, sorted by name; their number in *n.  Pure. */
const DtEmbed *dt_embed_all (size_t *n);

#endif
