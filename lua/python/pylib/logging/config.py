# SPDX-License-Identifier: MIT
"""logging.config: loggers, handlers and formatters from a dict."""
import importlib
import logging
import logging.handlers
import sys

import _absent

_OWN = ("class", "level", "formatter", "filters")


def _resolve(name):
    parts = name.split(".")
    value, at = None, len(parts)
    while at > 0:
        try:
            value = importlib.import_module(".".join(parts[:at]))
            break
        except ImportError:
            at -= 1
    if at == 0:
        value, at = getattr(sys.modules["__main__"], parts[0]), 1
    for part in parts[at:]:
        value = getattr(value, part)
    return value


def _value(v, config):
    if isinstance(v, str):
        if v.startswith("ext://"):
            return _resolve(v[6:])
        if v.startswith("cfg://"):
            out = config
            for part in v[6:].split("."):
                out = out[part]
            return out
    elif isinstance(v, dict):
        return {k: _value(x, config) for k, x in v.items()}
    elif isinstance(v, list):
        return [_value(x, config) for x in v]
    return v


class _Setup:
    def __init__(self, config):
        self.config = config
        self.made = {"formatters": {}, "filters": {}, "handlers": {}}

    def custom(self, spec):
        spec = {k: _value(v, self.config) for k, v in spec.items()}
        make = spec.pop("()")
        attributes = spec.pop(".", None)
        made = (make if callable(make) else _resolve(make))(**spec)
        for name, v in (attributes or {}).items():
            setattr(made, name, v)
        return made

    def formatter(self, spec):
        if "()" in spec:
            return self.custom(spec)
        kind = spec.get("class")
        kind = _resolve(kind) if kind else logging.Formatter
        return kind(spec.get("format"), spec.get("datefmt"),
                    spec.get("style", "%"))

    def filter(self, spec):
        if "()" in spec:
            return self.custom(spec)
        return logging.Filter(spec.get("name", ""))

    def handler(self, spec):
        if "()" in spec:
            own = {k: v for k, v in spec.items() if k in _OWN[1:]}
            made = self.custom({k: v for k, v in spec.items()
                                if k not in own})
        else:
            own = {k: v for k, v in spec.items() if k in _OWN}
            given = {k: _value(v, self.config) for k, v in spec.items()
                     if k not in _OWN and k != "."}
            if "target" in given and isinstance(given["target"], str):
                given["target"] = self.made["handlers"][given["target"]]
            kind = spec["class"]
            made = (_resolve(kind) if isinstance(kind, str) else kind)(**given)
        if own.get("formatter"):
            made.setFormatter(self.made["formatters"][own["formatter"]])
        if own.get("level") is not None:
            made.setLevel(own["level"])
        self.add_filters(made, own)
        return made

    def add_filters(self, to, spec):
        for name in spec.get("filters") or ():
            to.addFilter(self.made["filters"][name]
                         if isinstance(name, str) else name)

    def logger(self, logger, spec):
        if spec.get("level") is not None:
            logger.setLevel(spec["level"])
        for handler in logger.handlers[:]:
            logger.removeHandler(handler)
        for name in spec.get("handlers") or ():
            logger.addHandler(self.made["handlers"][name])
        self.add_filters(logger, spec)
        if spec.get("propagate") is not None:
            logger.propagate = spec["propagate"]
        logger.disabled = False

    def make(self, kind, one):
        for name, spec in (self.config.get(kind + "s") or {}).items():
            try:
                self.made[kind + "s"][name] = one(spec)
            except Exception as e:
                raise ValueError("Unable to configure %s %r"
                                 % (kind, name)) from e

    def run(self):
        config = self.config
        if "version" not in config:
            raise ValueError("dictionary doesn't specify a version")
        if config["version"] != 1:
            raise ValueError("Unsupported version: %s" % config["version"])
        if config.get("incremental"):
            raise _absent.error("logging.config.dictConfig with incremental "
                                "is not part of dtrepl")
        before = list(logging._loggers)
        self.make("formatter", self.formatter)
        self.make("filter", self.filter)
        self.make("handler", self.handler)
        named = config.get("loggers") or {}
        for name, spec in named.items():
            self.logger(logging.getLogger(name), spec)
        if config.get("disable_existing_loggers", True):
            for name in before:
                if name not in named and not any(
                        name.startswith(n + ".") for n in named):
                    logging.getLogger(name).disabled = True
        if config.get("root"):
            self.logger(logging.root, config["root"])


def dictConfig(config):
    _Setup(config).run()


def fileConfig(fname, defaults=None, disable_existing_loggers=True,
               encoding=None):
    raise _absent.error("logging.config.fileConfig is not part of dtrepl")
