"""Random spans that a translation copies exactly: addresses, numbers, placeholders, code, names."""

import re
import string
from random import Random


def _words(text: str) -> tuple[str, ...]:
    return tuple(text.split())


SYLLABLES = _words(
    "ba be bo da do el en fa fi ga go ha hi ka ko la le li lo ma mi mo na ne no or pa pe ra "
    "ri ro sa se so ta te to ul va vi wa zo"
)
WORDS = _words(
    "report invoice team update login data backup user index main test config order project "
    "photo map game news shop help docs api cloud build sales info office summer garden music "
    "city market final draft notes list table price"
)
FIRST_NAMES = _words(
    "Anna Peter Maria Lena Jonas Emma Noah Olivia Liam Sophie Lukas Felix Hannah Clara Ali "
    "Fatima Yusuf Aisha Omar Layla Wei Chen Yuki Haruto Kenji Priya Arjun Ananya Ivan Olga "
    "Sergei Natasha Pierre Camille Carlos Lucia Diego Sofia Giulia Marco Erik Ingrid Lars "
    "Astrid Kasia Piotr Zsofia Dimitri Eleni Mehmet Elif Kwame Ama Chidi Ngozi Thabo Nguyen "
    "Linh Siobhan Gwen Hamish Emily Oliver Charlotte George Ruth Joshua Grace Samuel David "
    "Sarah Laura Daniel Julia Thomas Robert Alice"
)
LAST_NAMES = _words(
    "Smith Jones Taylor Brown Miller Wilson Walker Young Müller Schmidt Schneider Fischer "
    "Weber Becker Hoffmann Schäfer Koch Bauer Richter Klein Schröder Neumann Krüger García "
    "Martínez López Rossi Ferrari Bianchi Dubois Lefèvre Moreau Nowak Kowalski Novák Svensson "
    "Hansen Larsen Nielsen Virtanen Ivanov Petrov Yılmaz Kaya Tanaka Suzuki Sato Watanabe "
    "Zhang Tran Kim Park Singh Patel Kumar Sharma Khan Ahmed Hassan Cohen Levi Okafor Mensah "
    "Dlamini Murphy Kelly Campbell Silva Santos Oliveira Popescu Horvat Kovács Papadopoulos"
)
PLACEHOLDERS = _words("{%} {%} {%} ${%} {{%}} <%> [%] %%s %%d %%1$s %%@ %%(%)s {} {0} {1}")
SUFFIXES = ("pdf", "txt", "py", "js", "csv", "docx", "png", "json", "zip")

_COPIED = re.compile(r"\S*(?:[@/\\{}<>_=%#`$]|\w\.\w|\d)\S*")


def is_copied(word: str) -> bool:
    """Whether a word looks like an address, a placeholder, code or a number."""
    return _COPIED.fullmatch(word) is not None


def name(chance: Random) -> str:
    """A first or last name, or both. One of four is invented."""
    first = chance.choice(FIRST_NAMES) if chance.random() < 0.75 else _made_up(chance).capitalize()
    last = chance.choice(LAST_NAMES) if chance.random() < 0.75 else _made_up(chance).capitalize()
    return chance.choice((first, first, last, f"{first} {last}", f"{first} {last}"))


def url(chance: Random) -> str:
    """A web address."""
    host = (
        chance.choice(("", "www.", "docs."))
        + _word(chance)
        + chance.choice(("", f"-{_word(chance)}"))
    )
    end = chance.choice((".com", ".org", ".net", ".de", ".io", ".eu", ".co.uk"))
    folders = "".join(f"/{_identifier(chance)}" for _ in range(chance.randint(0, 3)))
    tail = chance.choice(
        ("", "", "/", ".html", f"?id={_letters(chance, 2, 6)}", f"#{_word(chance)}")
    )
    start = chance.choice(("https://", "https://", "http://", ""))
    return start + host + end + folders + (tail if folders else "")


def mail(chance: Random) -> str:
    """An e-mail address."""
    who = chance.choice(
        (_word(chance), f"{_word(chance)}.{_made_up(chance)}", f"{_word(chance)}_7")
    )
    return f"{who}@{_word(chance)}{chance.choice(('.com', '.org', '.net', '.de', '.io'))}"


def number(chance: Random) -> str:
    """A number that both languages write alike: a count, time, date, version or telephone
    number."""
    draw = chance.randint
    return chance.choice(
        (
            str(draw(0, 99)),
            str(draw(100, 2100)),
            str(draw(1000, 10**9)),
            f"{draw(0, 23):02}:{draw(0, 59):02}",
            f"{draw(1990, 2035)}-{draw(1, 12):02}-{draw(1, 28):02}",
            f"v{draw(1, 9)}.{draw(0, 20)}.{draw(0, 20)}",
            f"+{draw(1, 99)} {draw(10, 999)} {draw(10000, 9999999)}",
            f"{draw(1, 999)}/{draw(1, 99)}",
            _letters(chance, 4, 9, string.ascii_uppercase + string.digits),
        )
    )


def placeholder(chance: Random) -> str:
    """A placeholder that a program replaces by a value."""
    form = chance.choice(PLACEHOLDERS).replace("%%", "\0")
    return form.replace("%", _identifier(chance)).replace("\0", "%")


def code(chance: Random) -> str:
    """A name in a program, or a file, folder, command or tag."""
    one, other = _word(chance), _word(chance)
    return chance.choice(
        (
            f"{one}_{other}",
            one + other.capitalize(),
            f"{one}.{chance.choice(SUFFIXES)}",
            f"/{one}/{other}",
            f"C:\\{one.capitalize()}\\{other}",
            f"{one}()",
            f"{one}.{other}()",
            f"--{one}",
            f"`{one} --{other}`",
            f"{one.upper()}_{other.upper()}",
            f"@{one}{chance.randint(1, 99)}",
            f"<{one}>",
            f"{one}={chance.randint(0, 9)}",
        )
    )


KINDS = (url, mail, number, placeholder, code, name)


def span(chance: Random) -> str:
    """A span of one of these kinds."""
    return chance.choice(KINDS)(chance)


def _made_up(chance: Random) -> str:
    return "".join(chance.choices(SYLLABLES, k=chance.randint(2, 4)))


def _letters(
    chance: Random, least: int, most: int, of: str = string.ascii_letters + string.digits
) -> str:
    return "".join(chance.choices(of, k=chance.randint(least, most)))


def _word(chance: Random) -> str:
    kinds = (chance.choice(WORDS), _made_up(chance), _letters(chance, 3, 8, string.ascii_lowercase))
    return chance.choice(kinds)


def _identifier(chance: Random) -> str:
    return chance.choice(
        (_word(chance), f"{_word(chance)}_{_word(chance)}", str(chance.randint(0, 99)))
    )
