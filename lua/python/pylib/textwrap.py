# SPDX-License-Identifier: MIT
"""textwrap: paragraphs in lines of a width, indents added and taken away."""
import _absent
import re

__all__ = ["TextWrapper", "wrap", "fill", "dedent", "indent", "shorten"]

_BLANK = "\t\n\x0b\x0c\r "


class TextWrapper:
    def __init__(self, width=70, initial_indent="", subsequent_indent="",
                 expand_tabs=True, replace_whitespace=True,
                 fix_sentence_endings=False, break_long_words=True,
                 drop_whitespace=True, break_on_hyphens=True, tabsize=8, *,
                 max_lines=None, placeholder=" [...]"):
        self.width = width
        self.initial_indent = initial_indent
        self.subsequent_indent = subsequent_indent
        self.expand_tabs = expand_tabs
        self.replace_whitespace = replace_whitespace
        self.fix_sentence_endings = fix_sentence_endings
        self.break_long_words = break_long_words
        self.drop_whitespace = drop_whitespace
        self.break_on_hyphens = break_on_hyphens
        self.tabsize = tabsize
        self.max_lines = max_lines
        self.placeholder = placeholder

    def _pieces(self, text):
        """Words and the blanks between them; words end behind a hyphen that
        stands between letters."""
        if self.expand_tabs:
            text = text.expandtabs(self.tabsize)
        if self.replace_whitespace:
            for c in _BLANK:
                text = text.replace(c, " ")
        out, at = [], 0
        while at < len(text):
            end = at
            blank = text[at] in _BLANK
            while end < len(text) and (text[end] in _BLANK) == blank:
                end += 1
            piece = text[at:end]
            out.extend([piece] if blank or not self.break_on_hyphens
                       else self._parts(piece))
            at = end
        return out

    def _parts(self, word):
        out, start = [], 0
        for i in range(2, len(word) - 1):
            if (word[i] == "-" and word[i - 1].isalpha()
                    and word[i - 2].isalpha() and word[i + 1].isalpha()
                    and i + 2 < len(word)
                    and (word[i + 2].isalpha() or word[i + 2] == "-")
                    and i + 1 - start > 1):
                out.append(word[start:i + 1])
                start = i + 1
        at = word.find("--", 1)
        if at > 0 and not out:
            end = at
            while end < len(word) and word[end] == "-":
                end += 1
            if end < len(word) and word[at - 1].isalnum() and word[end].isalnum():
                return [word[:at], word[at:end], *self._parts(word[end:])]
        return [*out, word[start:]]

    def wrap(self, text):
        if self.fix_sentence_endings:
            raise _absent.error("textwrap: fix_sentence_endings is not "
                                "part of dtrepl")
        if self.width <= 0:
            raise ValueError(f"invalid width {self.width!r} (must be > 0)")
        if self.max_lines is not None:
            first = (self.subsequent_indent if self.max_lines > 1
                     else self.initial_indent)
            if len(first) + len(self.placeholder.lstrip()) > self.width:
                raise ValueError("placeholder too large for max width")
        left = self._pieces(text)[::-1]
        lines = []
        while left:
            head = self.subsequent_indent if lines else self.initial_indent
            room = self.width - len(head)
            if self.drop_whitespace and lines and left[-1].strip() == "":
                left.pop()
            line, size = [], 0
            while left and size + len(left[-1]) <= room:
                size += len(left[-1])
                line.append(left.pop())
            if left and len(left[-1]) > room:
                self._take_long(left, line, size, room)
                size = sum(map(len, line))
            if self.drop_whitespace and line and line[-1].strip() == "":
                size -= len(line.pop())
            if not line:
                continue
            last = (not left or self.drop_whitespace and len(left) == 1
                    and not left[0].strip())
            if (self.max_lines is None or len(lines) + 1 < self.max_lines
                    or last and size <= room):
                lines.append(head + "".join(line))
                continue
            self._end(lines, line, size, room, head)
            break
        return lines

    def _take_long(self, left, line, size, room):
        space = 1 if room < 1 else room - size
        if self.break_long_words:
            piece, end = left[-1], space
            if self.break_on_hyphens and len(piece) > space:
                hyphen = piece.rfind("-", 0, space)
                if hyphen > 0 and any(c != "-" for c in piece[:hyphen]):
                    end = hyphen + 1
            line.append(piece[:end])
            left[-1] = piece[end:]
        elif not line:
            line.append(left.pop())

    def _end(self, lines, line, size, room, head):
        while line:
            if line[-1].strip() and size + len(self.placeholder) <= room:
                line.append(self.placeholder)
                lines.append(head + "".join(line))
                return
            size -= len(line.pop())
        if lines:
            before = lines[-1].rstrip()
            if len(before) + len(self.placeholder) <= self.width:
                lines[-1] = before + self.placeholder
                return
        lines.append(head + self.placeholder.lstrip())

    def fill(self, text):
        return "\n".join(self.wrap(text))


def wrap(text, width=70, **kwargs):
    return TextWrapper(width=width, **kwargs).wrap(text)


def fill(text, width=70, **kwargs):
    return TextWrapper(width=width, **kwargs).fill(text)


def shorten(text, width, **kwargs):
    return TextWrapper(width=width, max_lines=1, **kwargs).fill(
        " ".join(text.strip().split()))


def dedent(text):
    lines = ["" if not line.strip(" \t") else line for line in text.split("\n")]
    margin = None
    for line in lines:
        if not line:
            continue
        own = line[:len(line) - len(line.lstrip(" \t"))]
        if margin is None:
            margin = own
        n = 0
        while n < min(len(own), len(margin)) and own[n] == margin[n]:
            n += 1
        margin = margin[:n]
    n = len(margin or "")
    return "\n".join(line[n:] if line else line for line in lines)


def indent(text, prefix, predicate=None):
    out = []
    for line in text.splitlines(True):
        chosen = predicate(line) if predicate is not None else line.strip()
        out.append(prefix + line if chosen else line)
    return "".join(out)
