"""A verb takes a dataclass; the command line has an option for each of its fields."""

from dataclasses import dataclass, field
from typing import Annotated

import pytest
import typer
from typer.testing import CliRunner

from allyouneed.cli.option_groups import with_single_options


@dataclass(frozen=True, kw_only=True)
class Size:
    width: Annotated[int, typer.Option(help="In metres.", rich_help_panel="Size")] = 2
    unit: str = field(default="m", init=False)
    height: Annotated[int | None, typer.Option("--high", min=0)] = None

    def __post_init__(self) -> None:
        if self.width == 13:
            raise ValueError("13 brings bad luck")


def paint(
    *, colour: Annotated[str, typer.Argument()] = "red", size: Size, wet: bool = False
) -> None:
    """Paint a wall."""
    typer.echo(f"{colour} {size.width}{size.unit} {size.height} {wet}")


@pytest.fixture
def painted():
    app = typer.Typer()
    app.command()(with_single_options(paint))
    return lambda *arguments: CliRunner().invoke(app, [*arguments])


def test_fields_are_options(painted) -> None:
    assert painted().output == "red 2m None False\n"
    assert painted("blue", "--width", "5", "--high", "3", "--wet").output == "blue 5m 3 True\n"


def test_a_field_that_is_not_for_the_caller_is_no_option(painted) -> None:
    assert painted("--unit", "ft").exit_code == 2


def test_options_of_a_group_keep_their_help_and_limits(painted) -> None:
    shown = painted("--help").output
    assert "Paint a wall." in shown
    assert "In metres." in shown
    assert painted("--high", "-1").exit_code == 2


def test_a_group_may_refuse_its_values(painted) -> None:
    assert isinstance(painted("--width", "13").exception, ValueError)


def test_a_verb_without_groups_stays_as_it_is() -> None:
    def wait(seconds: int = 1) -> None: ...

    assert with_single_options(wait) is wait
