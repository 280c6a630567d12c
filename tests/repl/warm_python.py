# SPDX-License-Identifier: MIT
"""A python whose PyTorch is imported already.

Two seconds of every exported script, and half a second of each of its ranks,
are imports; a test that runs forty of them imports once.

warm_python.py serve SOCKET          imports, then waits for scripts, as long as
                                     SOCKET is there
warm_python.py run SOCKET SCRIPT...  runs one as `python SCRIPT...` would, in a
                                     process of its own; kill it, and that ends

A script that uses a module of PyTorch without importing it would run here and
nowhere else: it is given to an ordinary python.
"""
import array
import ast
import gc
import json
import os
import select
import signal
import socket
import subprocess
import sys
import types


def request(path, arguments):
    """Pass on our folder, environment and the three open files."""
    with socket.socket(socket.AF_UNIX) as s:
        s.connect(path)
        text = json.dumps([os.getcwd(), arguments, dict(os.environ)]).encode()
        head = len(text).to_bytes(8, "little")
        files = array.array("i", [0, 1, 2])
        s.sendmsg([head], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, files)])
        s.sendall(text)
        answer = s.recv(16)
    return int(answer) if answer else 1


def receive(s):
    head, extra, _, _ = s.recvmsg(8, socket.CMSG_SPACE(12))
    files = array.array("i")
    files.frombytes(extra[0][2][:12])
    text, size = b"", int.from_bytes(head, "little")
    while len(text) < size:
        part = s.recv(size - len(text))
        if not part:
            sys.exit(1)
        text += part
    return json.loads(text), files


def dotted(node):
    names = []
    while isinstance(node, ast.Attribute):
        names.append(node.attr)
        node = node.value
    return [node.id, *reversed(names)] if isinstance(node, ast.Name) else []


def leans_on_us(source, plain):
    """Does it name a module that `import torch` alone does not load, or set what
    PyTorch reads while it is imported?"""
    if "TORCH_DISTRIBUTED_DEBUG" in source:
        return True
    try:
        tree = ast.parse(source)
    except SyntaxError:
        return True
    has, uses, meant = set(plain), set(), {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            has.update(a.name for a in node.names)
            meant.update({a.asname: a.name for a in node.names if a.asname})
        elif isinstance(node, ast.ImportFrom) and node.module:
            names = {a.asname or a.name: f"{node.module}.{a.name}"
                     for a in node.names}
            has.update(names.values(), [node.module])
            meant.update(names)
        elif isinstance(node, ast.Attribute):
            uses.add(tuple(dotted(node)))
    for name in list(has):
        while "." in name:
            name = name.rpartition(".")[0]
            has.add(name)
    for names in filter(None, uses):
        names = meant.get(names[0], names[0]).split(".") + list(names[1:])
        for k in range(2, len(names) + 1):
            module = ".".join(names[:k])
            if module in sys.modules and module not in has:
                return True
    return False


def execute(arguments, plain):
    """As `python SCRIPT...`; returns to let the interpreter end as usual."""
    path = arguments[0]
    source = open(path).read()
    if leans_on_us(source, plain):
        sys.exit(subprocess.call([sys.executable, *arguments]))
    main = types.ModuleType("__main__")
    main.__file__, main.__builtins__ = path, __builtins__
    sys.modules["__main__"] = main
    sys.argv, sys.path[0] = arguments, os.path.dirname(os.path.abspath(path))
    try:
        exec(compile(source, path, "exec"), main.__dict__)
    except Exception as e:
        e.__traceback__ = e.__traceback__.tb_next       # without this file
        sys.excepthook(type(e), e, e.__traceback__)
        sys.exit(1)


def attend(s, plain):
    """In a process of its own: run one script, tell how it ended."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    (folder, arguments, environment), files = receive(s)
    pid = os.fork()
    if pid == 0:
        os.setpgid(0, 0)
        s.close()
        for fd in range(3):
            os.dup2(files[fd], fd)
        os.closerange(3, max(files) + 1)
        os.chdir(folder)
        os.environ.clear()
        os.environ.update(environment)
        return execute(arguments, plain)
    for fd in files:
        os.close(fd)
    over = os.pidfd_open(pid)
    if s in select.select([s, over], [], [])[0]:        # who asked is gone
        os.killpg(pid, signal.SIGKILL)
    code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    try:
        s.sendall(str(code if code >= 0 else 128 - code).encode())
    except OSError:
        pass
    os._exit(0)


def serve(path):
    import torch
    plain = set(sys.modules)
    import torch._dynamo                # what every rank would import by itself
    gc.freeze()                         # not gone through at the end of each
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    with socket.socket(socket.AF_UNIX) as door:
        door.bind(path + ".new")
        door.listen(64)
        door.settimeout(1)
        os.rename(path + ".new", path)                  # only now it is there
        while os.path.exists(path):                     # until it is taken away
            try:
                s = door.accept()[0]
            except socket.timeout:
                continue
            if os.fork() == 0:
                door.close()
                s.setblocking(True)
                return attend(s, plain)
            s.close()


if __name__ == "__main__":
    if sys.argv[1] == "serve":
        serve(sys.argv[2])
    else:
        sys.exit(request(sys.argv[2], sys.argv[3:]))
