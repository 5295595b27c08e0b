"""This module reads a function's signature: a pydantic model of what the model fills in."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, get_args, get_origin

from pydantic import BaseModel, ConfigDict, Field, ValidationError, create_model
from pydantic.fields import FieldInfo

from toolcrib.sources.native.configs import configurable_of
from toolcrib.sources.native.failures import problems_of
from toolcrib.sources.native.hints import hints_of, is_call_id, is_config, is_injected, is_mapping
from toolcrib.sources.native.schemas import first_line, schema_of
from toolcrib.sources.native.tool import CannotCall, NotATool
from toolcrib.tools.call import Call

_EMPTY = inspect.Parameter.empty


@dataclass(frozen=True, kw_only=True, slots=True)
class Parameters:
    """How a call's arguments become a function's."""

    model: type[BaseModel]
    schema: Mapping[str, Any]
    filled: Mapping[str, inspect.Parameter]
    """Fields of the model (`p0`, `p1` …) to the parameters that they stand for."""
    configs: tuple[str, ...] = ()
    call_ids: tuple[str, ...] = ()
    by_name: Mapping[str, bool] = field(default_factory=dict[str, bool])
    """Other injected parameters, and whether each must be there."""

    def bind(self, call: Call) -> tuple[list[Any], dict[str, Any]]:
        """Positional and keyword arguments. Raises CannotCall."""
        made = validated(self.model, dict(call.arguments))
        places: list[Any] = []
        names: dict[str, Any] = {}
        for key, parameter in self.filled.items():
            if parameter.kind is parameter.POSITIONAL_ONLY:
                places.append(getattr(made, key))
            elif key in made.model_fields_set or isinstance(parameter.default, FieldInfo):
                names[parameter.name] = getattr(made, key)
        if self.configs or self.by_name:
            values = configurable_of(call)
            names |= {name: {"configurable": values} for name in self.configs}
            names |= injected_values(self.by_name, values)
        return places, names | dict.fromkeys(self.call_ids, call.call_id)


def validated(model: type[BaseModel], values: dict[str, Any]) -> Any:
    """An instance of the model. Raises CannotCall that names the fields and not their values."""
    try:
        return model.__pydantic_validator__.validate_python(values)
    except ValidationError as error:
        raise CannotCall("invalid_arguments", "; ".join(problems_of(error))) from error


def injected_values(by_name: Mapping[str, bool], values: Mapping[str, Any]) -> dict[str, Any]:
    """What the call carries under these names. Raises CannotCall for one that must be there."""
    for name, required in by_name.items():
        if required and name not in values:
            raise CannotCall(
                "tool_error",
                f"The tool needs the injected argument {name!r}, which this call does not carry.",
            )
    return {name: values[name] for name in by_name if name in values}


def read_parameters(function: Callable[..., Any]) -> Parameters:
    """Raises NotATool for a signature that no JSON Schema can describe."""
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError) as error:
        raise NotATool("its signature cannot be read") from error
    hints = hints_of(function)
    fields: dict[str, tuple[Any, Any]] = {}
    filled: dict[str, inspect.Parameter] = {}
    configs: list[str] = []
    call_ids: list[str] = []
    by_name: dict[str, bool] = {}
    for parameter in signature.parameters.values():
        name = parameter.name
        hint = hints.get(name, parameter.annotation)
        if parameter.kind in {parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD}:
            raise NotATool(f"it takes {parameter}, which no JSON Schema can describe")
        if is_config(hint) or (name == "config" and is_mapping(hint)):
            configs.append(name)
        elif is_call_id(hint):
            call_ids.append(name)
        elif is_injected(hint):
            by_name[name] = parameter.default is _EMPTY
        else:
            key = f"p{len(fields)}"
            fields[key] = (
                _hint(name, hint),
                ... if parameter.default is _EMPTY else parameter.default,
            )
            filled[key] = parameter
    model = _model(function, fields)
    return Parameters(
        model=model,
        schema=schema_of(model),
        filled=filled,
        configs=tuple(configs),
        call_ids=tuple(call_ids),
        by_name=by_name,
    )


def _hint(name: str, hint: Any) -> Any:
    """The annotation under the parameter's own name; a bare text in `Annotated` describes it."""
    if isinstance(hint, str):
        raise NotATool(f"the annotation {hint!r} of {name!r} cannot be resolved")
    if hint is _EMPTY:
        return Annotated[Any, Field(alias=name)]
    extras = get_args(hint)[1:] if get_origin(hint) is Annotated else ()
    words = next((extra for extra in extras if isinstance(extra, str)), None)
    described = any(isinstance(extra, FieldInfo) and extra.description for extra in extras)
    if words and not described:
        return Annotated[hint, Field(alias=name, description=words)]
    return Annotated[hint, Field(alias=name)]


def _model(function: Callable[..., Any], fields: Mapping[str, tuple[Any, Any]]) -> type[BaseModel]:
    """Fields are called p0, p1 …, for a parameter may be named like a method of BaseModel."""
    members: dict[str, Any] = dict(fields)
    try:
        return create_model(
            getattr(function, "__name__", "Arguments"),
            __config__=ConfigDict(extra="forbid", hide_input_in_errors=True),
            **members,
        )
    except Exception as error:
        raise NotATool(
            f"its arguments cannot be described: {type(error).__name__}: {first_line(error)}"
        ) from error
