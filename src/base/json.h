/* SPDX-License-Identifier: MIT
** base/json.h: text as a JSON string. */
#ifndef DT_BASE_JSON_H
#define DT_BASE_JSON_H

#include "base/buf.h"

/* Append n bytes as a string in quotes.  Bytes that are no UTF-8 become U+FFFD
** each, so what is written is valid JSON whatever a name contains.  Local. */
void dt_json_string (DtBuf *b, const char *s, size_t n);

#endif
