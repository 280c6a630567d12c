/* SPDX-License-Identifier: MIT
** fuzz_schema.c: any text is a schema or a PARSE error; nothing leaks. */
#include <stdlib.h>
#include <string.h>
#include "base/ctx.h"
#include "op/schema.h"

int LLVMFuzzerTestOneInput (const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput (const uint8_t *data, size_t size) {
  DtCtx *cx;
  DtArena arena = {0};
  DtSchema *schema = NULL;
  int i;
  char *s = malloc(size + 1);
  if (s == NULL || dt_ctx_new(&cx) != DT_OK)
    abort();
  memcpy(s, data, size);
  s[size] = '\0';
  if (dt_schema_parse(cx, &arena, s, &schema) == DT_OK) {
    for (i = 0; i < schema->nargs; i++) {
      if (dt_schema_arg(schema, schema->arg[i].name) < 0)
        abort();
    }
  } else if (cx->err.code == DT_OK || cx->err.message.len == 0) {
    abort();
  }
  dt_arena_fini(cx, &arena);
  dt_ctx_free(cx);
  free(s);
  return 0;
}
