/* SPDX-License-Identifier: MIT
** base/json.c: text as a JSON string. */
#include "base/json.h"

/* Bytes of the character at s[0..n), 0 when it is no UTF-8: cut short, longer
** than needed, half of a surrogate pair, beyond U+10FFFF. */
static size_t utf8_size (const unsigned char *s, size_t n) {
  static const unsigned least[] = { 0, 0, 0x80, 0x800, 0x10000 };
  unsigned c = s[0], code;
  size_t size = c < 0x80 ? 1 : c >= 0xc2 && c < 0xe0 ? 2
              : c >= 0xe0 && c < 0xf0 ? 3 : c >= 0xf0 && c < 0xf5 ? 4 : 0;
  size_t i;
  if (size <= 1 || size > n) return size > n ? 0 : size;
  code = c & (0x7fu >> size);
  for (i = 1; i < size; i++) {
    if ((s[i] & 0xc0) != 0x80) return 0;
    code = code << 6 | (s[i] & 0x3f);
  }
  return code < least[size] || code > 0x10ffff ||
         (code >= 0xd800 && code < 0xe000) ? 0 : size;
}

void dt_json_string (DtBuf *b, const char *s, size_t n) {
  size_t i = 0;
  dt_buf_addc(b, '"');
  while (i < n) {
    unsigned char c = (unsigned char)s[i];
    size_t k, size = utf8_size((const unsigned char *)s + i, n - i);
    if (c == '"' || c == '\\') dt_buf_addc(b, '\\');
    if (size == 0) dt_buf_add(b, "\\ufffd");
    else if (c == '\n') dt_buf_add(b, "\\n");
    else if (c < 32 || c == 127) dt_buf_addf(b, "\\u%04x", c);
    else for (k = 0; k < size; k++) dt_buf_addc(b, s[i + k]);
    i += size ? size : 1;
  }
  dt_buf_addc(b, '"');
}
