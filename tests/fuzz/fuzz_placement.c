/* SPDX-License-Identifier: MIT
** fuzz_placement.c: any text is a placement list or a PARSE error, and what
** was read is printed in a form that reads back as the same. */
#include <stdlib.h>
#include <string.h>
#include "base/ctx.h"
#include "mesh/placement.h"

int LLVMFuzzerTestOneInput (const uint8_t *data, size_t size);

enum { MAX = 64 };

static bool has_mask (const DtPlacement *p, int n) {
  int i;
  for (i = 0; i < n; i++) {
    if (p[i].kind == DT_PL_MASK_PARTIAL || p[i].kind == DT_PL_NORM_PARTIAL)
      return true;                /* masks are equal by identity only */
  }
  return false;
}

int LLVMFuzzerTestOneInput (const uint8_t *data, size_t size) {
  DtCtx *cx;
  DtBuf b;
  DtPlacement p[MAX], q[MAX];
  int n = 0, k = 0;
  char *s = malloc(size + 1);
  if (s == NULL || dt_ctx_new(&cx) != DT_OK)
    abort();
  memcpy(s, data, size);
  s[size] = '\0';
  dt_buf_init(&b, cx);
  if (dt_pls_parse(cx, s, p, MAX, &n) == DT_OK) {
    dt_pls_print(p, n, &b);
    if (!has_mask(p, n)) {
      if (dt_pls_parse(cx, dt_buf_str(&b), q, MAX, &k) != DT_OK || k != n ||
          !dt_pls_equal(p, q, n))
        abort();
    }
  } else if (cx->err.code == DT_OK || cx->err.message.len == 0) {
    abort();
  }
  dt_buf_fini(&b);
  dt_ctx_free(cx);
  free(s);
  return 0;
}
