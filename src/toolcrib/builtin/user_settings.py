"""This module stores settings of the user who is talking: values go in and never come out."""

from __future__ import annotations

from toolcrib.builtin.tool import BuiltIn, answers
from toolcrib.kit.metadata import method_metadata, tool_metadata
from toolcrib.kit.result import ToolResult
from toolcrib.kit.schema import openapi_schema, param
from toolcrib.tools.call import current_call

GUIDE = """
`edit_user_setting` makes or replaces a setting of the user: a key for a service, an address. The
value is sealed, shown to nobody and kept out of the record of calls. A model that is told the value
has seen it: where that matters, `PUT /api/v1/settings/NAME` stores it without you.
"""


@tool_metadata(
    "User settings",
    "Store a setting of the user",
    icon="key",
    color="slate",
    weight=130,
    visible=True,
    usage_guide=GUIDE,
    category="utility",
)
class UserSettingsTool(BuiltIn):
    """The caller's own settings, and nobody else's."""

    @method_metadata("Edit a setting", "Stores a value under a name")
    @openapi_schema(
        name="edit_user_setting",
        description="Store a setting of the user. The answer does not show the value.",
    )
    @param("name", "string", "Its name", required=True, pattern="^[A-Za-z0-9_]{1,128}$")
    @param("value", "string", "Its value", required=True, maxLength=65_536, writeOnly=True)
    @answers
    async def edit_user_setting(self, name: str, value: str) -> ToolResult:
        call = current_call.get()
        if call is not None:
            call.secrets.add(value)
        notes = await self.lent.settings.put(name, value)
        return self.success_response(" ".join([f"The setting {name!r} is stored.", *notes]))
