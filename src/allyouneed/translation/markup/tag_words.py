"""Finds the words of a translation that a tag holds."""

import math
from collections.abc import Iterable
from functools import cache

from allyouneed.text.tongues.known import TONGUES
from allyouneed.translation.markup.aligned_atoms import AlignedAtoms
from allyouneed.translation.markup.items import Area, Item
from allyouneed.translation.markup.nodes import Around
from allyouneed.translation.markup.transfer import Range

ALIGNED = 0.9  # weight of the alignment against the place, in deciding which words a tag holds
NEAR = 1.5  # distance in words from a tag's place at which the weight falls by the factor e
LIKELY = 0.2  # least weight of the first and of the last word of a tag
COMPARED = 60  # most candidates for each end of a tag; of more, only the outermost are tried


class TagWords:
    """Finds the words of a translation that belong into a tag.

    The first of four rules that finds some decides: the tag's own text stands in the translation;
    the sign of an ordinal number; the alignment; the nearest word.
    """

    def __init__(self, aligned: AlignedAtoms, languages: tuple[str, str]) -> None:
        self._aligned = aligned
        self._small = [_small_words(code) for code in languages]  # of source and target

    def found(self, item: Item, s_area: Range, area: Area, taken: Iterable[Range]) -> Range | None:
        """The atoms of the translation that a tag holds, none of them `taken`; None if there is no
        room for it. `s_area` are the atoms of the source around it."""
        low, high = area.atoms
        free = [True] * (high - low)
        for begin, end in taken:
            free[begin - low : end - low] = [False] * (end - begin)
        if item.atoms == s_area and all(free) and low < high:
            return low, high
        return (
            self._same_text(item, area, free)
            or self._sign_of_ordinal(item, area, free)
            or self._best(item, s_area, area, free)
            or self._nearest(item, s_area, area, free)
        )

    def _same_text(self, item: Item, area: Area, free: list[bool]) -> Range | None:
        """The place of the tag's own words in the translation, if they are unchanged there, such
        as a name; or that of its signs, if it has no words."""
        own = self._aligned.s_atoms[slice(*item.atoms)]
        wanted = [atom.text for atom in own]
        words = [atom.text for atom in own if atom.is_word]
        if words and max(map(len, words)) < 2 and not all(map(str.isdigit, words)):
            return None
        low, high = area.atoms
        found = [
            t
            for t in range(low, high - len(wanted) + 1)
            if self._aligned.t_atoms[t].text == wanted[0]
            and all(free[t - low : t - low + len(wanted)])
            and [atom.text for atom in self._aligned.t_atoms[t : t + len(wanted)]] == wanted
        ]
        if not found:
            return None

        def agreeing(t: int) -> int:
            origin = self._aligned.origin[t : t + len(wanted)]
            return sum(item.atoms[0] <= s < item.atoms[1] for s in origin)

        best = max(found, key=lambda t: (agreeing(t), -t))
        return best, best + len(wanted)

    def _sign_of_ordinal(self, item: Item, area: Area, free: list[bool]) -> Range | None:
        """The full stop behind a number, for the raised letters of `1<sup>st</sup>`."""
        number = item.atoms[0] - 1
        if not (isinstance(item.node, Around) and item.node.script == "super" and number >= 0):
            return None
        if not self._aligned.s_atoms[number].text.isdigit():
            return None
        low, high = area.atoms
        for t in self._aligned.come_from(number, area):
            stop = t + 1
            if stop < high and free[stop - low] and self._aligned.t_atoms[stop].text == ".":
                return stop, stop + 1
        return None

    def _best(self, item: Item, s_area: Range, area: Area, free: list[bool]) -> Range | None:
        """The range of atoms with the highest Dice coefficient with the atoms that belong to the
        tag. Both alignment and place say how much an atom belongs to it, because attention is often
        one word off, and the order of words is mostly the same."""
        low, high = area.atoms
        words = [atom.is_word for atom in self._aligned.t_atoms[low:high]]
        expected = (
            self._aligned.words(item.atoms) * sum(words) / max(self._aligned.words(s_area), 1)
        )
        known = self._aligned.count_from(item.atoms, area) > 0
        most = high - low if known else max(round(expected), 1)
        belongs = self._belonging(item, s_area, area)
        sums, counts, blocked = [0.0], [0], [0]
        for one, is_word, is_free in zip(belongs, words, free, strict=True):
            sums.append(sums[-1] + one * is_word)
            counts.append(counts[-1] + is_word)
            blocked.append(blocked[-1] + (not is_free))
        ends = [n for n, one in enumerate(belongs) if one >= LIKELY and free[n] and words[n]]
        if len(ends) > COMPARED:
            ends = ends[: COMPARED // 2] + ends[-COMPARED // 2 :]
        best, best_score = None, 0.0
        for n, begin in enumerate(ends):
            for last in ends[n:]:
                end = last + 1
                if blocked[end] > blocked[begin] or counts[end] - counts[begin] > most:
                    break
                score = 2 * (sums[end] - sums[begin]) / (counts[end] - counts[begin] + expected)
                if score > best_score:
                    best, best_score = (low + begin, low + end), score
        return self._with_signs(item, self._trimmed(item, best), area, free) if best else None

    def _trimmed(self, item: Item, found: Range) -> Range:
        """The range without articles, prepositions and the like at an end at which the tag has none
        in the source: "Click <b>Save</b>" becomes "Klicken Sie auf <b>Speichern</b>"."""
        own = [a.text.casefold() for a in self._aligned.s_atoms[slice(*item.atoms)] if a.is_word]
        if not own or not all(self._small):
            return found
        of_source, of_target = self._small
        ends = [
            n
            for n in range(*found)
            if self._aligned.t_atoms[n].is_word
            and self._aligned.t_atoms[n].text.casefold() not in of_target
        ]
        if not ends:
            return found
        begin = found[0] if own[0] in of_source else ends[0]
        return begin, found[1] if own[-1] in of_source else ends[-1] + 1

    def _belonging(self, item: Item, s_area: Range, area: Area) -> list[float]:
        """How much each atom of the area belongs to a tag, from 0 to 1."""
        first, last = item.atoms
        before, inside = self._aligned.words((s_area[0], first)), self._aligned.words(item.atoms)
        targets = self._aligned.t_atoms[slice(*area.atoms)]
        scale = sum(atom.is_word for atom in targets) / max(self._aligned.words(s_area), 1)
        begin, end = before * scale, (before + inside) * scale
        found = []
        words = 0
        for atom, origin in zip(targets, self._aligned.origin[slice(*area.atoms)], strict=True):
            away = max(begin - words - 0.5, words + 0.5 - end, 0.0)
            by_origin = first <= origin < last
            found.append(ALIGNED * by_origin + (1 - ALIGNED) * math.exp(-away / NEAR))
            words += atom.is_word
        return found

    def _with_signs(self, item: Item, found: Range, area: Area, free: list[bool]) -> Range:
        """The range, extended by the sign before or after it if the tag begins or ends with the
        same sign."""
        begin, end = found
        first, last = self._aligned.s_atoms[item.atoms[0]], self._aligned.s_atoms[item.atoms[1] - 1]
        low, high = area.atoms
        if not first.is_word and begin > low and free[begin - 1 - low]:
            begin -= self._aligned.t_atoms[begin - 1].text == first.text
        if not last.is_word and end < high and free[end - low]:
            end += self._aligned.t_atoms[end].text == last.text
        return begin, end

    def _nearest(self, item: Item, s_area: Range, area: Area, free: list[bool]) -> Range | None:
        """One free word near the expected place of the tag, preferably a word without a link. A tag
        such as a hyperlink needs a word, or nobody could click on it."""
        low, high = area.atoms
        words = [t for t in range(low, high) if free[t - low] and self._aligned.t_atoms[t].is_word]
        if not words:
            return None
        share = (sum(item.atoms) / 2 - s_area[0]) / max(s_area[1] - s_area[0], 1)
        middle = low + share * (high - low) - 0.5
        best = min(words, key=lambda t: (abs(t - middle) + 2 * (self._aligned.origin[t] >= 0), t))
        return best, best + 1


@cache
def _small_words(language: str) -> frozenset[str]:
    """The articles, prepositions and the like of a language; empty if it is not known."""
    tongue = TONGUES.get(language)
    return frozenset(tongue.small.split()) if tongue else frozenset()
