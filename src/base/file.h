/* SPDX-License-Identifier: MIT
** base/file.h: files that are written whole or not at all.
**
** A file is written beside its name, flushed, and renamed: who reads it finds
** the old one or the new one, never half of it, also when the disk is full.
** What a link leads to is replaced, not the link; devices and pipes, and files
** in folders where none can be made, are written as they are. */
#ifndef DT_BASE_FILE_H
#define DT_BASE_FILE_H

#include "base/ctx.h"

#include <stdio.h>

typedef struct DtFile {
  FILE *f;
  char *path, *beside;          /* `beside` NULL: `path` itself is written */
} DtFile;

/* Begin; IO names `path` and says why it cannot be written.  Local. */
DtStatus dt_file_begin (DtCtx *cx, DtFile *w, const char *path);
/* Add to it; what goes wrong is kept for the end.  Local. */
void dt_file_add (DtFile *w, const char *s, size_t n);
/* End: it is there under its name, or as it was before (IO).  `path` is how it
** is called in the message.  Local. */
DtStatus dt_file_end (DtCtx *cx, DtFile *w, const char *path);
/* All three.  Local. */
DtStatus dt_file_write (DtCtx *cx, const char *path, const char *s, size_t n);

#endif
