/* SPDX-License-Identifier: MIT
** base/testing.h: sizes that a test build makes small, to give growth and
** reuse code "a chance" to go wrong where a test sees it.  [Lua ltests.h] */
#ifndef DT_BASE_TESTING_H
#define DT_BASE_TESTING_H

#if defined(DT_TESTMODE)
enum { DT_BUF_FIRST = 8, DT_MAP_FIRST = 2, DT_ARENA_BLOCK = 64 };
#else
enum { DT_BUF_FIRST = 64, DT_MAP_FIRST = 8, DT_ARENA_BLOCK = 8192 };
#endif

#endif
