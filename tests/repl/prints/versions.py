# SPDX-License-Identifier: MIT
# packaging.version, as programs compare torch.__version__ by it.
import torch
from packaging import version
from packaging.version import InvalidVersion, Version, parse

print(version.parse(torch.__version__) >= version.parse("2.0"), Version("2.10") > Version("2.9"))
names = ["1.0.post1", "1.0", "1.0a1", "1.0.dev3", "1.0rc2", "1.0b1.dev2", "1.0+cpu", "1!0.1", "1.0.1", "v1.0.0", "1.0-2", "1.0a1.post2", "1.0+cu118.x"]
print([str(v) for v in sorted(map(parse, names))])
for n in names[:4] + ["2.13.0a0+git12AB-C", "1.0ALPHA"]:
    v = Version(n)
    print(repr(v), v.major, v.minor, v.micro, v.release, v.pre, v.post, v.dev, v.local, v.public, v.base_version, v.is_prerelease)
print(parse("1.0") == parse("1.0.0"), hash(parse("1.0")) == hash(parse("1")), parse("1.0") == "1.0")
for bad in ("abc", "1..0", ""):
    try:
        parse(bad)
    except InvalidVersion as e:
        print(e)
