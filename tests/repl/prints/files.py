# SPDX-License-Identifier: MIT
import io
import os
import shutil
import tempfile
import torch

# Files of torch.save are files as any other.
d = tempfile.mkdtemp()
p = os.path.join(d, "a.pt")
print(os.path.exists(p), os.path.isdir(d), os.listdir(d))
torch.save({"a": torch.arange(3), "b": [1, 2.5, "x", None, True]}, p)
print(os.path.exists(p), os.path.isfile(p), os.path.isdir(p), os.listdir(d))
print(os.path.getsize(p))
with open(p, "rb") as f:
    print(len(f.read()))
with open(p, "rb") as f:
    print(torch.load(f))
with open(p, "wb") as f:
    torch.save(torch.ones(2), f)
torch.save(torch.ones(3), open(os.path.join(d, "b.pt"), "wb"))
print(sorted(os.listdir(d)), torch.load(p), torch.load(os.path.join(d, "b.pt")))
with io.BytesIO() as buffer:
    torch.save(1, buffer)
    print(len(buffer.getvalue()) == buffer.tell())
os.remove(p)
print(os.path.exists(p), os.listdir(d))
for f in (os.remove, torch.load, open, os.path.getsize, os.listdir):
    try:
        f(p)
    except FileNotFoundError as e:
        print(e.errno, str(e).startswith("[Errno 2] No such file or directory: '"))
try:
    open(d)
except IsADirectoryError as e:
    print(e.errno)

# Folders.
deep = os.path.join(d, "x", "y")
os.makedirs(deep)
os.makedirs(deep, exist_ok=True)
try:
    os.makedirs(deep)
except FileExistsError as e:
    print(e.errno)
try:
    os.mkdir(os.path.join(d, "no", "where"))
except FileNotFoundError as e:
    print(e.errno)
torch.save(5, os.path.join(deep, "c.pt"))
print(os.listdir(deep), torch.load(os.path.join(deep, "c.pt")), sorted(os.listdir(d)))

# Texts.
log = os.path.join(d, "log.txt")
with open(log, "w") as f:
    print(f.write("one\n"), f.write("two\nthree"))
with open(log, "a") as f:
    f.write("!\n")
with open(log) as f:
    print([line.strip() for line in f])
print(open(log).read().splitlines(), open(log).readlines())
try:
    f.read()
except ValueError as e:
    print(e)
shutil.rmtree(d)
print(os.path.exists(d), os.path.exists(log))
with tempfile.TemporaryDirectory() as d:
    torch.save(1, os.path.join(d, "a.pt"))
    print(os.path.exists(d))
print(os.path.exists(d))
