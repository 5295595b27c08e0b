"""Every error of ours has its place in the protocol's table."""

from __future__ import annotations

import inspect

from toolcrib import errors
from toolcrib.errors import ToolcribError
from toolcrib.surfaces.mcp.failures import CODES, of_error


def test_every_class_is_in_the_table() -> None:
    known = {
        one
        for _, one in inspect.getmembers(errors, inspect.isclass)
        if issubclass(one, ToolcribError)
    }
    assert set(CODES) == known


def test_what_only_the_operator_can_act_on_is_not_told() -> None:
    told = of_error(errors.SchemaOutdated("the database at /var/lib is old"))
    assert "/var/lib" not in told.message
    assert told.data == {"code": "internal"}
