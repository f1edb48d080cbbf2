"""The shipped module reads what Python writes, in Node: the saved file and a packed answer."""

import json
import re
import shutil
import subprocess
from importlib import resources
from pathlib import Path

import numpy as np
import pytest

from allyouneed.widget import saved
from allyouneed.widget.packing import half
from allyouneed.widget.page import Start
from allyouneed.widget.saved import save
from allyouneed.widget.session import Session

HEAD = "decoder.layers.1.cross_attention[1]"
READ = """
import { readFileSync } from "node:fs";
const [view, file, asked] = process.argv.slice(1);
const { readSaved, savedTransport } = await import(view);
const base64 = /id="answers">([^<]*)</.exec(readFileSync(file, "utf8"))[1];
const ask = savedTransport(readSaved(base64));
const found = [];
for (const { kind, payload } of JSON.parse(asked))
  found.push(await ask(kind, payload).then(
    ({ json, arrays }) => ({ json, arrays: Object.fromEntries(Object.entries(arrays).map(
      ([name, { shape, data }]) => [name, { shape, bytes: Buffer.from(data).toString("hex") }])) }),
    (error) => ({ needsLiveModel: Boolean(error.needsLiveModel) })));
console.log(JSON.stringify(found));
"""


@pytest.mark.skipif(shutil.which("node") is None, reason="there is no Node on this machine")
def test_a_saved_file_is_read_as_it_was_written(
    session: Session, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(saved, "heads", lambda model: [HEAD, HEAD.replace("[1]", "[0]")])
    start = Start.of(["A man. </script> ü\u2028"], 1, 1)
    path, state = tmp_path / "view.html", start.states[0]
    save(session, start, path)
    live = session.ask("translate", {"state": state.to_json()})
    id = live.json["id"]
    of_a_layer = {"id": id, "kind": "cross", "layer": 2, "lens": "raw"}
    both = {"id": id, "heads": [HEAD.replace("[1]", "[0]"), HEAD], "request": 9}
    asked = [
        # keys in another order, and with what belongs to a page alone
        {
            "kind": "translate",
            "payload": {"pane": 1, "request": 5, "state": dict(reversed(state.to_json().items()))},
        },
        {"kind": "attention", "payload": of_a_layer},
        {"kind": "effects", "payload": both},
        {"kind": "translate", "payload": {"state": {**state.to_json(), "prefix": "x"}}},
    ]
    module = resources.files("allyouneed") / "widget" / "static" / "view.js"
    command = ["node", "--input-type=module", "-e", READ, str(module), str(path), json.dumps(asked)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    translation, attention, effects, other = json.loads(done.stdout)
    assert translation["json"]["source"] == live.json["source"]
    assert translation["json"]["text"] == live.json["text"]
    weights = attention["arrays"]["weights"]
    expected = session.ask("attention", of_a_layer).arrays["weights"]
    assert weights["shape"] == [*expected.shape]
    found = np.frombuffer(bytes.fromhex(weights["bytes"]), "<f2").reshape(expected.shape)
    np.testing.assert_array_equal(found, half(expected))
    assert [effect["name"] for effect in effects["json"]["effects"]] == both["heads"]
    assert other == {"needsLiveModel": True}
    assert not re.search(r"</script>\s*ü", path.read_text("utf-8"))
