# What names one of several types: typing's Union and Optional, and the sign |.
import typing
from typing import Any, List, Optional, TypeVar, Union

T = TypeVar("T")


class Own:
    pass


class Below(Own):
    pass


print(Optional[int] | str, str | Optional[int], Union[int, str] | float)
print(List[int] | None, int | Union[str, int] | None, T | None, Any | None)
print(int | int, (int | str) | (str | float), list[int] | None, Own | int)
print(Union[int | str, float], Union[int], Union[Optional[int], None])
print(typing.get_args(Optional[int] | str), (int | str | None).__args__)
print((int | str) == (str | int), Union[int, str] == Union[str, int],
      Union[int, str] == (str | int), (int | str) == (int | float))
for kinds in int | Optional[str], Union[int, str], Optional[Own], Own | None, \
        Union[bool, float] | int:
    print([isinstance(v, kinds) for v in (3, "a", None, 2.5, Own(), Below())],
          [issubclass(c, kinds) for c in (int, str, bool, type(None), Own, Below)])
for wrong in (lambda: isinstance(3, Union[List[int], str]),
              lambda: isinstance(3, list[int] | str), lambda: int | 3,
              lambda: Union[int, str]()):
    try:
        print(wrong())
    except TypeError as e:
        print(type(e).__name__, e)
