"""`allyouneed train`: dry runs, a small run, a run that is stopped and goes on."""

import io
import json
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from rich.console import Console

from allyouneed.cli.progress import TrainingProgress, describe, time_left
from allyouneed.model_folder.folder import open_model_folder
from allyouneed.training import estimate, run

COMMAND = [sys.executable, "-c", "from allyouneed.cli.app import main; main()", "train", "reverse"]
SMALL = [
    *("data.train.0.pairs=120", "data.valid.0.pairs=10", "model.d_model=16", "model.d_ff=16"),
    *("model.encoder_layers=1", "model.decoder_layers=1", "training.batch_tokens=256"),
    *("training.log_every=1", "validation.sentences=4"),
]


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_dry_run_shows_the_recipe_and_what_it_takes(call, here: Path) -> None:
    done = call(
        "train", "reverse", *SMALL, "model.d_model=32", "--dry-run", "--measure", "--threads", 1
    )
    assert done.code == 0, done.err
    assert tomllib.loads(done.out)["model"]["d_model"] == 32
    told = done.lines[-7:]
    assert re.fullmatch(r"# [\d,]+ parameters, vocabulary of 300", told[0])
    assert told[1:3] == ["# train: made:reverse:1", "# valid: made:reverse:2"]
    assert told[3] == "# about 120 of 120 pairs are kept (duplicates are not counted)"
    assert re.fullmatch(
        r"# about 2\d\d target tokens per step, \d steps per epoch, 500 steps in all", told[4]
    )
    assert re.fullmatch(
        r"# about \d+\.\d GiB of memory, of \d+\.\d GiB that are free(: too much.*)?", told[5]
    )
    assert re.fullmatch(r"# about \S+ s per step on cpu, \d+:\d\d:\d\d in all, .*", told[6])


def test_a_dry_run_writes_nothing(here: Path) -> None:
    """Nor does it open any file to write, wherever it is. (torch makes a folder for itself.)"""
    (here / "pairs.tsv").write_text("a b\tc d\n" * 40)
    script = (
        "import os, sys\n"
        "sys.dont_write_bytecode = True\n"
        "def listen(event, arguments):\n"
        "    made = event in ('os.mkdir', 'os.rename', 'os.remove', 'os.link', 'os.symlink')\n"
        "    flags = os.O_WRONLY | os.O_RDWR | os.O_CREAT\n"
        "    written = event == 'open' and arguments[2] & flags and arguments[0] != os.devnull\n"
        "    if (made or written) and 'torchinductor' not in str(arguments):\n"
        "        sys.stderr.write(f'WRITES {event} {arguments}\\n')\n"
        "from allyouneed.cli.app import main\n"
        "import allyouneed.training.run, allyouneed.training.survey, allyouneed.training.estimate\n"
        "sys.addaudithook(listen)\n"
        "main()\n"
    )
    files = ('data.train=[{source = "pairs.tsv"}]', 'data.valid=[{source = "pairs.tsv"}]')
    arguments = [
        "train",
        "reverse",
        *SMALL[2:],
        *files,
        "--dry-run",
        "--measure",
        "--device",
        "cpu",
    ]
    command = [sys.executable, "-c", script, *arguments]
    done = subprocess.run(command, cwd=here, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "about 40 of 40 pairs" in done.stdout
    assert "WRITES" not in done.stderr
    assert [path.name for path in here.iterdir()] == ["pairs.tsv"]


def test_a_dry_run_finds_the_files(call, here: Path) -> None:
    (here / "pairs.tsv").write_text("a\tb\n")
    (here / "shards").mkdir()
    (here / "shards/1.tsv").write_text("c\td\ne\tf\n")
    recipe = (
        'name = "mine"\n[training]\nepochs = 3\nbatch_tokens = 128\n'
        '[[data.train]]\nsource = "pairs.tsv"\n[[data.train]]\nsource = "shards"\n'
        '[[data.valid]]\nsource = "pairs.tsv"\n[model]\npreset = "tiny"\n'
    )
    (here / "mine.toml").write_text(recipe)
    (line,) = call("train", "mine.toml", "--dry-run", "--measure", "--json").lines
    planned = json.loads(line)
    assert planned["parameters"] > 2_000_000  # with the default vocabulary
    assert [corpus["part"] for corpus in planned["data"]] == ["train", "train", "valid"]
    assert list(planned["data"][1]["files"]) == [str(here / "shards/1.tsv")]
    assert list(planned["data"][0]["files"].values()) == [4]
    assert (planned["pairs"], planned["steps_per_epoch"], planned["steps"]) == (3, 1, 3)
    assert planned["estimated_seconds"] == pytest.approx(3 * planned["seconds_per_step"])
    done = call("train", "mine.toml", "data.train.0.distill=absent", "--dry-run", "--measure")
    assert (done.code, done.out) == (1, "")
    assert "there is no model 'absent'" in done.err


def test_a_dry_run_says_that_the_teachers_time_is_not_counted(call, here: Path) -> None:
    shutil.copytree(open_model_folder("en-de").path, here / "second")
    teachers = 'data.train.0.distill=["en-de", "second"]'
    taught = [*SMALL, teachers, "--dry-run", "--measure"]
    told = call("train", "reverse", *taught).lines[-1]
    both = f"en-de and {here / 'second'}"
    assert told == f"# not counted: the translations by {both} that are made before step 1"
    assert json.loads(call("train", "reverse", *taught, "--json").out)["teachers"] == [
        "en-de",
        str(here / "second"),
    ]


def test_teachers_of_opposite_directions_are_refused(call, here: Path) -> None:
    opposite = 'data.train.0.distill=["en-de", "de-en"]'
    done = call("train", "reverse", *SMALL, opposite, "--dry-run", "--measure")
    assert (done.code, done.out) == (2, "")
    assert "de-en translates German to English, but this needs English to German" in done.err


def test_a_dry_run_plans_with_text_that_is_yet_to_be_translated_back(call, here: Path) -> None:
    (here / "text.txt").write_text("a b\nc d\n")
    back = 'data.train=[{target="text.txt", back_translate="de-en"}]'
    (line,) = call("train", "reverse", *SMALL, back, "--dry-run", "--measure", "--json").lines
    planned = json.loads(line)
    assert (planned["pairs"], planned["teachers"]) == (2, ["de-en"])


def test_a_dry_run_says_what_is_amiss_with_the_corpora(call, here: Path) -> None:
    (here / "three.tsv").write_text("a\tb\tc\n")
    (here / "empty.txt").write_text("\n\n")
    columns = call(
        "train", "reverse", 'data.train=[{source="three.tsv"}]', "--dry-run", "--measure"
    )
    assert "three.tsv: no pair is left; read 1 pairs; malformed: 1 (" in columns.err
    both = 'data.valid=[{source="empty.txt", target="empty.txt"}]'
    empty = call("train", "reverse", both, "--dry-run", "--measure")
    assert "empty.txt: no pair is left; read 2 pairs; empty source: 2 (" in empty.err
    assert (columns.code, empty.code) == (1, 1)


def test_a_dry_run_counts_updates_as_training_does(
    call, here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Five batches in groups of four are two updates, the second of one batch."""
    monkeypatch.setattr(estimate, "MEASURED_S", 0.01)
    (here / "pairs.tsv").write_text("".join(f"{n}\t{n}\n" for n in range(5)))
    small = ["training.epochs=3", "training.batch_tokens=3", "training.accumulate=4"]
    made = ['data.train=[{source="pairs.tsv"}]', 'data.valid=[{source="pairs.tsv"}]']
    done = call("train", "reverse", *made, *small, "--dry-run", "--measure", "--json")
    assert done.code == 0, done.err
    planned = json.loads(done.out)
    assert (planned["steps_per_epoch"], planned["steps"]) == (2, 6)


@pytest.mark.parametrize(
    ("name", "steps"), [("wmt14-base", 100_000), ("wmt14-big", 300_000), ("iwslt14", 50_000)]
)
def test_a_dry_run_of_published_models(
    call, here: Path, monkeypatch: pytest.MonkeyPatch, name: str, steps: int
) -> None:
    """On made-up text, and one layer deep: with all of them each takes seconds."""
    monkeypatch.setattr(estimate, "MEASURED_S", 0.05)
    made = ('data.train=[{made="copy", pairs=400}]', 'data.valid=[{made="copy", pairs=4}]')
    thin = ("model.encoder_layers=1", "model.decoder_layers=1", "vocabulary.size=280")
    done = call(
        "train", name, *made, *thin, "training.batch_tokens=512", "--dry-run", "--measure", "--json"
    )
    assert done.code == 0, done.err
    planned = json.loads(done.out)
    assert planned["steps"] == steps
    assert planned["needed_bytes"] > 16 * planned["parameters"]
    assert planned["estimated_seconds"] == pytest.approx(steps * planned["seconds_per_step"])


def test_a_small_run_prints_its_model_and_says_how_it_goes(call, here: Path) -> None:
    done = call("train", "reverse", *SMALL, "training.steps=3", "--threads", 1)
    assert done.code == 0, done.err
    assert done.lines == ["runs/reverse/model"]
    assert (here / "runs/reverse/model/model.safetensors").is_file()
    assert "step 3  " in done.err
    assert "validation: step 3" in done.err
    assert done.err.splitlines()[-1] == "note: curves and samples: runs/reverse/report.html"
    again = call("translate", "--model", "runs/reverse/model", "a b c")
    assert again.code == 0


def test_records_as_json(call, here: Path) -> None:
    done = call("train", "reverse", *SMALL, "training.steps=2", "--into", "x", "--json")
    assert (done.code, done.err) == (0, "")
    events = [json.loads(line)["event"] for line in done.lines]
    assert events.count("step") == 2
    assert events[-1] == "final"


def test_ctrl_c_before_the_first_step_says_what_is_kept(
    call, here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*what: object, **more: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(run, "train", interrupted)
    for how in ((), ("--json",)):
        done = call("train", "reverse", *SMALL, *how)
        assert done.code == 130
        assert "prepared data are kept, and the same command with --resume continues" in done.err


def test_a_stopped_run_goes_on(call, here: Path) -> None:
    arguments = [*SMALL, "training.steps=100000", "--into", "run"]
    with subprocess.Popen([*COMMAND, *arguments], stderr=subprocess.PIPE, text=True) as running:
        assert running.stderr is not None
        said = ""
        while not said.startswith("step "):
            said = running.stderr.readline()
            assert said
        running.send_signal(2)
        rest = running.stderr.read()
    assert running.returncode == 130
    assert "the same command with --resume continues" in rest.splitlines()[-1]
    kept = [path.name for path in (here / "run/checkpoints").iterdir()]
    assert len(kept) == 1

    step = int(kept[0].rpartition("-")[2])
    ended = call("train", "reverse", *SMALL, f"training.steps={step + 1}", "--into", "run")
    assert ended.code == 1
    assert "continue it with --resume" in ended.err
    ended = call(
        "train", "reverse", *SMALL, f"training.steps={step + 1}", "--into", "run", "--resume"
    )
    assert (ended.code, ended.lines) == (0, ["run/model"]), ended.err


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["revers"], 2, "did you mean reverse?"),
        (["reverse", "model.d_modl=3"], 2, "unknown key model.d_modl; did you mean model.d_model?"),
        (["reverse", "model.heads=5"], 2, "heads=5"),
        (["absent.toml"], 2, "absent.toml"),
        (["reverse", "--device", "abacus"], 2, "abacus"),
        (["reverse", "vocabulary.tokenizer=absent.json"], 1, "absent.json"),
    ],
)
def test_what_cannot_be_trained(
    call, here: Path, arguments: list[str], code: int, said: str
) -> None:
    ended = call("train", *arguments)
    assert (ended.code, ended.out) == (code, "")
    assert said in ended.err
    assert ended.err.splitlines()[-1].startswith("error: ")


STEP = {
    "event": "step",
    "step": 1200,
    "epoch": 2,
    "loss": 3.14159,
    "learning_rate": 0.0005,
    "tokens_per_second": 4321.0,
    "seconds": 60.0,
    "share_done": 0.25,
}


def test_a_step_in_one_line() -> None:
    assert describe(STEP) == (
        "step 1,200  epochs 2  loss 3.142  rate 5.00e-04  4,321 tokens/s  0:03:00 left"
    )
    assert time_left(10, 0.0) == "time left unknown"


def test_other_records_in_one_line() -> None:
    validation = {"event": "validation", "step": 7, "loss": 2.0, "bleu": 12.34, "best": True}
    assert describe(validation) == "validation: step 7  loss 2.000  BLEU 12.3  (best so far)"
    final = {"event": "final", "step": 7, "loss": 2.0, "bleu": None, "origin": "the average"}
    assert describe(final) == "final: step 7  loss 2.000  the average"
    assert describe({"event": "note", "text": "half [a] word"}) == "note: half [a] word"
    assert describe({"event": "data"}) == ""


def test_on_a_terminal_steps_are_one_live_line() -> None:
    screen = io.StringIO()
    console = Console(file=screen, force_terminal=True, width=120)
    with TrainingProgress(console) as progress:
        progress.show({"event": "note", "text": "begins"})
        progress.show(STEP)
    shown = screen.getvalue()
    assert "note: begins\n" in shown
    assert " 25%" in shown
    assert "3:00 left" in shown


@pytest.mark.parametrize(("total", "share"), [(8192, " 50%"), (None, "  0%")])
def test_on_a_terminal_the_preparation_is_seen(total: int | None, share: str) -> None:
    screen = io.StringIO()
    with TrainingProgress(Console(file=screen, force_terminal=True, width=120)) as progress:
        progress.show({"event": "preparing", "stage": "tokenising", "done": 4096, "total": total})
    last = screen.getvalue().rsplit("\r", 1)[-1]
    assert share in last
    assert "tokenising: 4,096" in last


def test_an_error_of_the_recipe_comes_without_torch(tmp_path: Path) -> None:
    (tmp_path / "wrong.toml").write_text("name = 'x'\nlayers = 3\n")
    large = ("model.d_model=1000000", "model.max_positions=1000000000000")
    for recipe in ("nonsense", str(tmp_path / "wrong.toml"), *(f"reverse {key}" for key in large)):
        script = (
            "import sys\nfrom allyouneed.cli.app import main\n"
            f"try: main(['train', *{recipe.split()}])\n"
            "except SystemExit as ended: assert ended.code\n"
            "assert 'torch' not in sys.modules"
        )
        done = subprocess.run(
            [sys.executable, "-c", script], capture_output=True, text=True, check=False
        )
        assert (done.returncode, done.stdout) == (0, "")
        assert done.stderr.startswith("error: ")
