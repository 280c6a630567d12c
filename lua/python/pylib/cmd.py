# SPDX-License-Identifier: MIT
"""cmd: programs that read commands by lines."""
import string
import sys

IDENTCHARS = string.ascii_letters + string.digits + "_"


class Cmd:
    prompt = "(Cmd) "
    identchars = IDENTCHARS
    ruler, lastcmd, intro = "=", "", None
    doc_leader = ""
    doc_header = "Documented commands (type help <topic>):"
    misc_header = "Miscellaneous help topics:"
    undoc_header = "Undocumented commands:"
    nohelp = "*** No help on %s"
    use_rawinput = 1

    def __init__(self, completekey="tab", stdin=None, stdout=None):
        self.stdin = sys.stdin if stdin is None else stdin
        self.stdout = sys.stdout if stdout is None else stdout
        self.cmdqueue = []
        self.completekey = completekey

    def _read(self):
        if self.use_rawinput:
            try:
                return input(self.prompt)
            except EOFError:
                return "EOF"
        self.stdout.write(self.prompt)
        self.stdout.flush()
        line = self.stdin.readline()
        return line.rstrip("\r\n") if len(line) else "EOF"

    def cmdloop(self, intro=None):
        self.preloop()
        if intro is not None:
            self.intro = intro
        if self.intro:
            self.stdout.write(str(self.intro) + "\n")
        stop = None
        while not stop:
            line = self.cmdqueue.pop(0) if self.cmdqueue else self._read()
            line = self.precmd(line)
            stop = self.onecmd(line)
            stop = self.postcmd(stop, line)
        self.postloop()

    def precmd(self, line):
        return line

    def postcmd(self, stop, line):
        return stop

    def preloop(self):
        pass

    def postloop(self):
        pass

    def parseline(self, line):
        line = line.strip()
        if not line:
            return None, None, line
        if line[0] == "?":
            line = "help " + line[1:]
        elif line[0] == "!":
            if not hasattr(self, "do_shell"):
                return None, None, line
            line = "shell " + line[1:]
        i = 0
        while i < len(line) and line[i] in self.identchars:
            i += 1
        return line[:i], line[i:].strip(), line

    def onecmd(self, line):
        cmd, arg, line = self.parseline(line)
        if not line:
            return self.emptyline()
        if cmd is None:
            return self.default(line)
        self.lastcmd = "" if line == "EOF" else line
        func = getattr(self, "do_" + cmd, None) if cmd else None
        return self.default(line) if func is None else func(arg)

    def emptyline(self):
        if self.lastcmd:
            return self.onecmd(self.lastcmd)

    def default(self, line):
        self.stdout.write("*** Unknown syntax: %s\n" % line)

    def completedefault(self, *ignored):
        return []

    def completenames(self, text, *ignored):
        return [a[3:] for a in self.get_names() if a.startswith("do_" + text)]

    def get_names(self):
        return dir(self.__class__)

    def complete_help(self, *args):
        topics = {a[5:] for a in self.get_names()
                  if a.startswith("help_" + args[0])}
        return list(set(self.completenames(*args)) | topics)

    def do_help(self, arg):
        'List available commands with "help" or detailed help with "help cmd".'
        if not arg:
            return self._list_topics()
        func = getattr(self, "help_" + arg, None)
        if func is not None:
            return func()
        doc = getattr(getattr(self, "do_" + arg, None), "__doc__", None)
        self.stdout.write("%s\n" % (str(doc) if doc
                                    else self.nohelp % (arg,)))

    def _list_topics(self):
        names = sorted(set(self.get_names()))
        topics = {n[5:] for n in names if n.startswith("help_")}
        told, untold = [], []
        for name in names:
            if name.startswith("do_"):
                word = name[3:]
                known = word in topics or getattr(self, name).__doc__
                topics.discard(word)
                (told if known else untold).append(word)
        self.stdout.write("%s\n" % str(self.doc_leader))
        self.print_topics(self.doc_header, told, 15, 80)
        self.print_topics(self.misc_header, sorted(topics), 15, 80)
        self.print_topics(self.undoc_header, untold, 15, 80)

    def print_topics(self, header, cmds, cmdlen, maxcol):
        if cmds:
            self.stdout.write("%s\n" % str(header))
            if self.ruler:
                self.stdout.write("%s\n" % str(self.ruler * len(header)))
            self.columnize(cmds, maxcol - 1)
            self.stdout.write("\n")

    def columnize(self, list, displaywidth=80):
        if not list:
            self.stdout.write("<empty>\n")
            return
        size = len(list)
        for nrows in range(1, size + 1):
            ncols = (size + nrows - 1) // nrows
            widths = [max(len(x) for x in list[c * nrows:(c + 1) * nrows])
                      for c in range(ncols) if list[c * nrows:(c + 1) * nrows]]
            if sum(widths) + 2 * (len(widths) - 1) <= displaywidth:
                break
        for row in range(nrows):
            texts = list[row::nrows]
            self.stdout.write("%s\n" % "  ".join(
                x.ljust(w) for x, w in zip(texts, widths)))
