# SPDX-License-Identifier: MIT
"""packaging.version: versions as PEP 440 has and orders them."""
import re

_PATTERN = re.compile(
    r"v?(?:([0-9]+)!)?([0-9]+(?:\.[0-9]+)*)"
    r"(?:[-_.]?(alpha|a|beta|b|preview|pre|c|rc)[-_.]?([0-9]*))?"
    r"(?:-([0-9]+)|[-_.]?(post|rev|r)[-_.]?([0-9]*))?"
    r"(?:[-_.]?(dev)[-_.]?([0-9]*))?"
    r"(?:\+([a-z0-9]+(?:[-_.][a-z0-9]+)*))?")
_PRE = {"alpha": "a", "beta": "b", "c": "rc", "pre": "rc", "preview": "rc"}


class InvalidVersion(ValueError):
    """The text is no version."""
    __module__ = "packaging.version"


def _number(text):
    return int(text) if text else 0


class Version:
    def __init__(self, version):
        found = _PATTERN.fullmatch(version.strip().lower())
        if found is None:
            raise InvalidVersion(f"Invalid version: {version!r}")
        (epoch, release, pre, pre_n, bare_post, post, post_n, dev, dev_n,
         local) = found.groups()
        self.epoch = _number(epoch)
        self.release = tuple(int(n) for n in release.split("."))
        self.pre = (_PRE.get(pre, pre), _number(pre_n)) if pre else None
        self.post = int(bare_post) if bare_post \
            else _number(post_n) if post else None
        self.dev = _number(dev_n) if dev else None
        self.local = ".".join(
            str(int(p)) if p.isdigit() else p
            for p in re.split(r"[-_.]", local)) if local else None

    @property
    def public(self):
        return str(self).split("+", 1)[0]

    @property
    def base_version(self):
        epoch = f"{self.epoch}!" if self.epoch else ""
        return epoch + ".".join(str(n) for n in self.release)

    @property
    def is_prerelease(self):
        return self.dev is not None or self.pre is not None

    @property
    def is_postrelease(self):
        return self.post is not None

    @property
    def is_devrelease(self):
        return self.dev is not None

    @property
    def major(self):
        return self.release[0]

    @property
    def minor(self):
        return self.release[1] if len(self.release) > 1 else 0

    @property
    def micro(self):
        return self.release[2] if len(self.release) > 2 else 0

    def _key(self):
        """What is compared: without zeros at the release's end; a development
        release is before its pre-releases, these before the release."""
        release = self.release
        while len(release) > 1 and release[-1] == 0:
            release = release[:-1]
        if self.pre is not None:
            pre = (1,) + self.pre
        elif self.post is None and self.dev is not None:
            pre = (0, "", 0)
        else:
            pre = (2, "", 0)
        post = -1 if self.post is None else self.post
        dev = (1, 0) if self.dev is None else (0, self.dev)
        local = () if self.local is None else tuple(
            (1, int(p), "") if p.isdigit() else (0, 0, p)
            for p in self.local.split("."))
        return (self.epoch, release, pre, post, dev,
                self.local is not None, local)

    def __str__(self):
        text = self.base_version
        if self.pre is not None:
            text += f"{self.pre[0]}{self.pre[1]}"
        if self.post is not None:
            text += f".post{self.post}"
        if self.dev is not None:
            text += f".dev{self.dev}"
        if self.local is not None:
            text += f"+{self.local}"
        return text

    def __repr__(self):
        return f"<Version('{self}')>"

    def __hash__(self):
        return hash(self._key())

    def __eq__(self, other):
        if not isinstance(other, Version):
            return NotImplemented
        return self._key() == other._key()

    def __lt__(self, other):
        if not isinstance(other, Version):
            return NotImplemented
        return self._key() < other._key()

    def __le__(self, other):
        if not isinstance(other, Version):
            return NotImplemented
        return self._key() <= other._key()

    def __gt__(self, other):
        if not isinstance(other, Version):
            return NotImplemented
        return self._key() > other._key()

    def __ge__(self, other):
        if not isinstance(other, Version):
            return NotImplemented
        return self._key() >= other._key()


def parse(version):
    return Version(version)
