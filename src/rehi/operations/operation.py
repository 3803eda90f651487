"""An operation: one thing that can be asked over HTTP, as declared by its row and its function."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, get_origin, get_type_hints

from rehi.builtin import load_place
from rehi.errors import RehiError

if TYPE_CHECKING:
    from pydantic import BaseModel

JSON = "application/json"
SUBJECTS = ("house", "service", "request")  # what the first parameter of a function may be called


@dataclass(frozen=True, slots=True)
class Operation:
    """A row of the table of operations.

    The function is given by its address and imported when it is first asked for. Its first parameter is what it works
    on: the ``house``, the running ``service``, or the HTTP ``request`` if it answers by itself. All others are keyword
    parameters; they stand in the path, in the query of a GET or in the JSON body of a POST. Their annotations are
    their types, limits and descriptions, and the function's annotation is the type of the answer.
    """

    name: str
    address: str  # method and path, as in "GET /api/documents/{document_id}"
    function: str  # "module:function"
    summary: str
    changes: bool = False  # needs the token, where there is one
    status: int = 200  # of a good answer
    statuses: tuple[int, ...] = ()  # others that are no errors
    errors: tuple[type[RehiError], ...] = ()
    keeps_status: bool = False  # what was kept with an error comes again with its status
    media_types: tuple[str, ...] = (JSON,)  # of the answer; none if it has no body
    accepts: Mapping[str, str] | None = None  # media types of the request's body, if it is no JSON: "module:Type"
    writes: Mapping[str, str] | None = None  # types of what the function writes by itself, by media type: "module:Type"
    headers: Mapping[int, tuple[str, ...]] | None = None  # that may come with an answer of a status

    @property
    def method(self) -> str:
        """The HTTP method."""
        return self.address.partition(" ")[0]

    @property
    def path(self) -> str:
        """The path as routes have it, as in ``/api/entities/{kind}/{slug:path}``."""
        return self.address.partition(" ")[2]

    @property
    def template(self) -> str:
        """The path as OpenAPI has it, without the converters of routes."""
        return re.sub(r":\w+}", "}", self.path)

    @property
    def in_path(self) -> tuple[str, ...]:
        """The names of the parameters that stand in the path."""
        return tuple(re.findall(r"{(\w+)", self.path))

    def load(self) -> Callable[..., Any]:
        """Import the function, now and not before."""
        function: Callable[..., Any] = load_place(self.function)
        return function


@dataclass(frozen=True, slots=True, kw_only=True)
class Signature:
    """What a function takes and gives: models with a field for each keyword parameter, which refuse all else."""

    subject: str  # one of SUBJECTS
    path: type[BaseModel]  # the parameters in the path
    rest: type[BaseModel]  # those in the query or the body
    lists: frozenset[str]  # those of the rest that may be given several times
    answer: Any  # the type of what comes back

    @property
    def names(self) -> list[str]:
        """The names under which the rest is asked for, in their order."""
        return [field.alias or name for name, field in self.rest.model_fields.items()]


@cache
def read_signature(function: Callable[..., Any], in_path: tuple[str, ...] = ()) -> Signature:
    """Read a function's parameters and answer from its annotations; done once for each function."""
    from pydantic import ConfigDict, create_model

    hints = get_type_hints(function, include_extras=True)
    subject, *keywords = inspect.signature(function).parameters.values()
    if subject.name not in SUBJECTS:
        raise TypeError(f"the first parameter of {function.__qualname__} is one of {', '.join(SUBJECTS)}")
    fields: dict[str, Any] = {
        one.name: (hints[one.name], ... if one.default is one.empty else one.default) for one in keywords
    }
    name = "".join(word.capitalize() for word in function.__name__.split("_"))
    config = ConfigDict(extra="forbid", frozen=True)
    path = {one: fields.pop(one) for one in in_path}
    rest: type[BaseModel] = create_model(
        f"{name}Parameters", __config__=config, __module__=function.__module__, **fields
    )
    repeated = {field.alias or one for one, field in rest.model_fields.items() if get_origin(field.annotation) is tuple}
    return Signature(
        subject=subject.name,
        path=create_model(f"{name}Path", __config__=config, __module__=function.__module__, **path),
        rest=rest,
        lists=frozenset(repeated),
        answer=hints["return"],
    )
