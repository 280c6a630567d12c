/* SPDX-License-Identifier: MIT
** compat/release.h: how a PyTorch release is written as a number: 2.6 is 206,
** 2.13 is 213.  The operator table and the texts in the code are those of the
** base release; the `since` lines of oplib's .ops texts, profiles.def and
** texts.def say what others do.  A session without a choice follows the
** default release. */
#ifndef DT_COMPAT_RELEASE_H
#define DT_COMPAT_RELEASE_H

#define DT_BASE_MINOR 13
#define DT_DEFAULT_MINOR 15

enum {
  DT_FIRST_RELEASE = 204, DT_LAST_RELEASE = 215,
  DT_STILL = 999,               /* where a table says until when: it holds yet */
  DT_BASE_RELEASE = 200 + DT_BASE_MINOR,
  DT_DEFAULT_RELEASE = 200 + DT_DEFAULT_MINOR
};

#define DT_RELEASE_TEXT_(minor) "2." #minor
#define DT_RELEASE_TEXT(minor) DT_RELEASE_TEXT_(minor)
#define DT_BASE_RELEASE_NAME DT_RELEASE_TEXT(DT_BASE_MINOR)
#define DT_DEFAULT_RELEASE_NAME DT_RELEASE_TEXT(DT_DEFAULT_MINOR)

#endif
