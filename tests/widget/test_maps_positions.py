"""Small maps are averages that leave nothing out; a shift of positions is a matrix."""

import torch

from allyouneed.core.positions import sinusoidal_encoding
from allyouneed.translation.translator import Translator
from allyouneed.widget.maps import small
from allyouneed.widget.positions import largest_deviation, positions, shift_matrix


def test_what_is_small_stays_as_it_is() -> None:
    weights = torch.rand(2, 3, 32, 7)
    assert small(weights) is weights


def test_blocks_are_averaged() -> None:
    weights = torch.rand(1, 2, 64, 96)
    found = small(weights)
    assert found.shape == (1, 2, 32, 32)
    torch.testing.assert_close(found[0, 1, 3, 5], weights[0, 1, 6:8, 15:18].mean())
    assert small(torch.rand(1, 1, 256, 5)).shape == (1, 1, 32, 5)


def test_one_matrix_shifts_every_position() -> None:
    table = sinusoidal_encoding(60, 16).double()
    for shift in (1, 7):
        torch.testing.assert_close(
            table[:-shift] @ shift_matrix(16, shift).mT, table[shift:], atol=1e-6, rtol=0
        )
        assert largest_deviation(table, shift) < 1e-6
    assert largest_deviation(table.flip(0), 1) > 0.1


def test_what_the_view_is_told(translator: Translator, small_model, small_tokenizer) -> None:
    told = positions(translator.model)
    assert (told["d_model"], told["base"]) == (16, 10_000)
    assert [shift["k"] for shift in told["shift"]] == [1, 2, 5, 10, 50]
    assert max(shift["deviation"] for shift in told["shift"]) < 1e-6
    assert positions(small_model(positions="learned"))["shift"] == []
