"""Training on two hosts, each of them a network namespace of this machine: `python two_hosts.py`.

They reach each other by a virtual cable only. The losses have to be those of one process; then a
worker on the second host is killed, and the run has to come back by itself, to the bit. Needs root
and `ip netns` (iproute2); says so and does nothing where they are missing.
"""

import json
import math
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

STEPS = 20
RECIPE = f"""
name = "two-hosts"
data.train = [{{made = "reverse", pairs = 120, seed = 1}}]
data.valid = [{{made = "reverse", pairs = 20, seed = 2}}]
vocabulary.size = 280
schedule = {{name = "inverse-sqrt", learning_rate = 0.01, warmup = 5}}
validation.sentences = 0

[model]
preset = "tiny"
encoder_layers = 1
decoder_layers = 1
d_model = 16
d_ff = 32
heads = 2
dropout = 0.0
max_positions = 64

[training]
steps = {STEPS}
batch_tokens = 64
accumulate = 3
log_every = 1
checkpoint_every_steps = 3
"""
HOSTS = ("allyouneed-1", "allyouneed-2")
ADDRESSES = ("10.213.77.1", "10.213.77.2")
CABLE = ("ayn-cable-1", "ayn-cable-2")
PORT = 29511


def ip(*words: str) -> None:
    subprocess.run(["ip", *words], check=True, capture_output=True, text=True)


@contextmanager
def hosts() -> Iterator[None]:
    """Two namespaces with a cable between them."""
    try:
        for host in HOSTS:
            ip("netns", "add", host)
        ip("link", "add", CABLE[0], "type", "veth", "peer", "name", CABLE[1])
        for host, cable, address in zip(HOSTS, CABLE, ADDRESSES, strict=True):
            ip("link", "set", cable, "netns", host)
            ip("-n", host, "address", "add", f"{address}/24", "dev", cable)
            ip("-n", host, "link", "set", cable, "up")
            ip("-n", host, "link", "set", "lo", "up")
        yield
    finally:
        for host in HOSTS:
            subprocess.run(["ip", "netns", "del", host], check=False, capture_output=True)


def start(number: int, recipe: Path, into: Path, *options: str) -> subprocess.Popen[str]:
    """One host's torchrun, with one worker."""
    launch = [sys.executable, "-m", "torch.distributed.run", "--nnodes=2", "--nproc-per-node=1"]
    meet = ["--rdzv-backend=c10d", f"--rdzv-endpoint={ADDRESSES[0]}:{PORT}", "--rdzv-id=1"]
    meet += [f"--local-addr={ADDRESSES[number]}", "--max-restarts=1"]
    meet += [f"--rdzv-conf=is_host={'false' if number else 'true'}"]
    train = ["-m", "allyouneed", "train", str(recipe), "--into", str(into), *options]
    environment = {**os.environ, "GLOO_SOCKET_IFNAME": CABLE[number], "OMP_NUM_THREADS": "1"}
    return subprocess.Popen(
        ["ip", "netns", "exec", HOSTS[number], *launch, *meet, *train],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def losses(run: Path) -> list[float]:
    lines = (run / "log.jsonl").read_text().splitlines()
    return [r["loss"] for r in map(json.loads, lines) if r["event"] == "step"]


def finish(running: Sequence[subprocess.Popen[str]]) -> None:
    for process in running:
        out, err = process.communicate(timeout=600)
        if process.returncode:
            raise SystemExit(f"FAILED: exit {process.returncode}\n{out}{err}")


def kill_a_worker(agent: subprocess.Popen[str], run: Path) -> None:
    """Kills the one worker of a host's torchrun when the run has its second checkpoint."""
    while not (run / "checkpoints" / "step-00000006").exists():
        time.sleep(0.02)
    children = Path(f"/proc/{agent.pid}/task/{agent.pid}/children").read_text().split()
    for child in map(int, children):
        os.kill(child, signal.SIGKILL)


def main() -> None:
    if os.geteuid() != 0 or shutil.which("ip") is None:
        raise SystemExit("skipped: two namespaces need root and iproute2's `ip netns`")
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        recipe = root / "recipe.toml"
        recipe.write_text(RECIPE)
        command = [sys.executable, "-m", "allyouneed", "train", str(recipe), "--into"]
        subprocess.run([*command, str(root / "one")], check=True, capture_output=True)
        try:
            with hosts():
                finish([start(number, recipe, root / "two") for number in (0, 1)])
                same_losses(losses(root / "one"), losses(root / "two"))
                pair = [start(number, recipe, root / "killed") for number in (0, 1)]
                kill_a_worker(pair[1], root / "killed")
                finish(pair)
                same_weights(root / "two", root / "killed")
        except subprocess.CalledProcessError as error:
            raise SystemExit(f"skipped: no namespaces here: {error.stderr.strip()}") from error


def same_losses(one: Sequence[float], two: Sequence[float]) -> None:
    apart = max(abs(a - b) / a for a, b in zip(one, two, strict=True))
    print(f"{len(two)} steps on two hosts; largest relative distance to one process: {apart:.1e}")
    if len(two) != STEPS or not math.isfinite(apart) or apart > 1e-5:
        raise SystemExit("FAILED: the losses are not those of one process")


def same_weights(two: Path, killed: Path) -> None:
    weights = [(run / "model" / "model.safetensors").read_bytes() for run in (two, killed)]
    if "continues from step" not in (killed / "log.jsonl").read_text():
        raise SystemExit("FAILED: the killed run did not go on from a checkpoint")
    if weights[0] != weights[1] or losses(two) != losses(killed):
        raise SystemExit("FAILED: the killed run has other losses or weights")
    print("a worker of the second host killed: the same losses and weights, to the bit")


if __name__ == "__main__":
    main()
