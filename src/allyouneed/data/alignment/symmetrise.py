"""One alignment out of two, one in each direction: grow-diag-final-and (Koehn et al. 2003)."""

from collections.abc import Iterable, Sequence

Link = tuple[int, int]
"""Number of a source word and of a target word, both from 0."""

NEIGHBOURS = ((-1, 0), (0, -1), (1, 0), (0, 1), (-1, -1), (-1, 1), (1, -1), (1, 1))


def grow_diag_final_and(forward: Sequence[int], backward: Sequence[int]) -> list[Link]:
    """The links, sorted. Links that both directions have are taken first. Then neighbours of these
    are taken, if one direction has them and one of the two words has no link yet. Last, links of
    one direction are taken between two words that both have no link yet.

    `forward` has the source word of each target word, `backward` the target word of each source
    word; -1 stands for none.
    """
    one = {(source, target) for target, source in enumerate(forward) if source >= 0}
    other = {(source, target) for source, target in enumerate(backward) if target >= 0}
    links = one & other
    either = (one | other) - links
    if not either:
        return sorted(links)
    sources = {source for source, _ in links}
    targets = {target for _, target in links}

    def take(link: Link) -> None:
        links.add(link)
        sources.add(link[0])
        targets.add(link[1])

    grew = True
    while grew and either:
        grew = False
        for source, target in sorted(links):
            for down, right in NEIGHBOURS:
                near = source + down, target + right
                if near in either and not (near[0] in sources and near[1] in targets):
                    either.discard(near)
                    take(near)
                    grew = True
    for direction in (one, other):
        for link in sorted(direction - links):
            if link[0] not in sources and link[1] not in targets:
                take(link)
    return sorted(links)


def linked(links: Iterable[Link], source: Sequence[int], target: Sequence[int]) -> list[Link]:
    """The same links between larger units. `source` and `target` name the unit of each word. Each
    link occurs once, in order; links of unit -1 are left out."""
    pairs = {(source[one], target[other]) for one, other in links}
    return sorted(pair for pair in pairs if min(pair) >= 0)
