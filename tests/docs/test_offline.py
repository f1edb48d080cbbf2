"""The check that a built site loads nothing from the network finds what would."""

from pathlib import Path

import pytest
from offline import addresses_in_scripts, addresses_in_styles, addresses_loaded, remote_resources

LOADING = [
    '<script src="https://cdn.example/x.js"></script>',
    '<script src="//cdn.example/x.js"></script>',
    '<link rel="stylesheet" href="https://fonts.example/css">',
    '<link rel="preconnect" href="https://fonts.example">',
    '<link href="http://fonts.example/css">',
    '<img src="http://example.org/x.png">',
    '<img srcset="a.png 1x, https://example.org/b.png 2x">',
    '<iframe src="https://example.org"></iframe>',
    '<p style="background: url(https://example.org/x.png)">',
    "<style>@import 'https://fonts.example/css';</style>",
    "<style>@font-face { src: url(//fonts.example/f.woff2) }</style>",
    "<script>import('https://cdn.example/x.js')</script>",
    '<iframe srcdoc="&lt;script src=https://cdn.example/x.js&gt;&lt;/script&gt;"></iframe>',
    '<svg><image href="https://example.org/x.png"/></svg>',
]
NOT_LOADING = [
    '<a href="https://example.org">a link</a>',
    '<link rel="canonical" href="https://example.org/page">',
    '<link rel="stylesheet" href="_static/house.css">',
    '<script src="../_static/x.js"></script>',
    '<img src="data:image/png;base64,AAAA">',
    "<p>Write url(https://example.org) in CSS</p>",
    '<script>const home = "https://example.org";</script>',
    '<svg xmlns="http://www.w3.org/2000/svg"></svg>',
]


@pytest.mark.parametrize("page", LOADING)
def test_what_would_load_is_found(page: str) -> None:
    assert len(addresses_loaded(page)) == 1


@pytest.mark.parametrize("page", NOT_LOADING)
def test_what_would_not_is_left(page: str) -> None:
    assert addresses_loaded(page) == []


def test_styles_and_scripts_by_themselves() -> None:
    assert addresses_in_styles("@import url(https://a.example/x.css); a { color: red }") != []
    assert addresses_in_styles("a { background: url(../x.png) }") == []
    assert addresses_in_scripts('fetch("https://a.example/x.json")') == ["https://a.example/x.json"]
    assert addresses_in_scripts('import x from "https://a.example/x.js"') != []
    assert addresses_in_scripts('// see "https://a.example"') == []


def test_a_site_is_read_whole(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "page.html").write_text(LOADING[0], "utf-8")
    (tmp_path / "x.css").write_text("@import 'https://b.example/x.css'", "utf-8")
    (tmp_path / "x.js").write_text('import "https://c.example/x.js"', "utf-8")
    (tmp_path / "fine.html").write_text(NOT_LOADING[0], "utf-8")
    assert list(remote_resources(tmp_path)) == [
        "a/page.html: https://cdn.example/x.js",
        "x.css: https://b.example/x.css",
        "x.js: https://c.example/x.js",
    ]
