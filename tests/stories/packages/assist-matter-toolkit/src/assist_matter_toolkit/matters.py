"""Tools for matters and timers."""

from langchain_core.runnables import RunnableConfig
from langchain_core.tools import tool
from pydantic import BaseModel, Field

from .settings import settings_of

MATTERS = {101: "Mill v. Brook", 102: "Estate of Field", 103: "Brook v. Field"}


class MatterQuery(BaseModel):
    query: str = Field(description="Words that the title holds")
    limit: int = Field(default=20, description="At most this many")


@tool("search_matters", args_schema=MatterQuery)
async def search_matters(query: str, limit: int, config: RunnableConfig) -> str:
    """
    Find matters by words of their titles.
    Gives a line with number and title for each.
    """
    office = await settings_of(config)
    found = [f"{n} {t}" for n, t in MATTERS.items() if query.lower() in t.lower()][:limit]
    return "\n".join([f"from {office.base_url}", *found])


class Timer(BaseModel):
    matter_id: int = Field(description="The matter that the time is for")
    description: str = Field(description="What is being done")


@tool("create_timer", args_schema=Timer)
async def create_timer(matter_id: int, description: str, config: RunnableConfig) -> str:
    """
    Start a timer for a matter.
    It runs until it is stopped.
    """
    office = await settings_of(config)
    values = config.get("configurable", {})
    return (
        f"timer on {matter_id} ({description}) for user {values.get('logged_user_id')} "
        f"in group {values.get('group_id')}, "
        f"chat {values.get('chat_id')}/{values.get('chat_uuid')}, key {office.key or 'none'}"
    )


matter_toolkit = [search_matters, create_timer]
