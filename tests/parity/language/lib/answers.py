# SPDX-License-Identifier: MIT
"""What a call gives, or the error it ends with: for the programs beside this
folder."""


def answer(call):
    try:
        return call()
    except Exception as e:
        return f"{type(e).__name__}: {e}"
