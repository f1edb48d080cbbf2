"""The check of links between built pages finds those that lead nowhere."""

from pathlib import Path

from links import broken_links


def test_links_that_lead_nowhere_are_found(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "other.zip").write_text("")
    (tmp_path / "index.html").write_text(
        '<a href="a/page.html#place">right</a> <a href="other.zip">right</a> <a href="#top">no</a>'
        '<a href="https://example.org/x">elsewhere</a> <a href="a/none.html">no</a>'
    )
    (tmp_path / "a" / "page.html").write_text(
        '<p id="place"><a href="../index.html#gone">no</a> <img src="x%20y.png">'
    )
    assert list(broken_links(tmp_path)) == [
        "a/page.html: ../index.html#gone",
        "a/page.html: x%20y.png",
        "index.html: #top",
        "index.html: a/none.html",
    ]


def test_a_sound_site_has_none(tmp_path: Path) -> None:
    (tmp_path / "x y.html").write_text('<p id="a">')
    (tmp_path / "index.html").write_text('<a href="x%20y.html#a">a</a> <a href="?q=1#">b</a>')
    assert list(broken_links(tmp_path)) == []
