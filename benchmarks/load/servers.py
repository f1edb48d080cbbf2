"""Servers in processes of their own: the service, and FastAPI around CTranslate2."""

import atexit
import os
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Sequence
from pathlib import Path

START_SECONDS = 120.0  # that a server may take to be ready
STOP_SECONDS = 60.0

# Both peers hold the same weights as int8, and translate with two workers of one thread each.
PEER = """
import asyncio, json, sys, uvicorn, ctranslate2, fastapi, pydantic
from allyouneed.model_folder.folder import open_model_folder
tokenizer = open_model_folder("en-de").tokenizer
ids = json.loads(tokenizer.to_json())["model"]["vocab"]
names = sorted(ids, key=ids.__getitem__)
model = ctranslate2.Translator(sys.argv[1], compute_type="int8", inter_threads=2, intra_threads=1)
app = fastapi.FastAPI()
class Body(pydantic.BaseModel):
    q: str
def pieces(text):
    return [names[id] for id in tokenizer.encode(text).ids]
def text(found):
    return tokenizer.decode([ids[piece] for piece in found.hypotheses[0]]).strip()
OPTIONS = dict(beam_size=4, length_penalty=0.6)
@app.get("/ready")
def ready():
    return {}
"""
# A handler that is a plain function runs in FastAPI's pool of threads.
POOL = """
@app.post("/translate")
def translate(body: Body):
    [found] = model.translate_batch([pieces(body.q)], **OPTIONS)
    return {"translatedText": text(found)}
"""
# A task takes all texts that wait, and gives them to CTranslate2 as one asynchronous batch. Each
# result is asked for once: of two threads that ask for one result, one gets it without hypotheses.
BATCHES = """
waiting = asyncio.Queue()
async def collect():
    while True:
        some = [await waiting.get()]
        while not waiting.empty() and len(some) < 64:
            some.append(waiting.get_nowait())
        asked = model.translate_batch(
            [pieces(one) for one, _ in some], asynchronous=True, max_batch_size=32, **OPTIONS)
        given = [asyncio.create_task(give(answer, one)) for (_, answer), one in zip(some, asked)]
        await given[len(given) // 2]
async def give(answer, one):
    answer.set_result(text(await asyncio.to_thread(one.result)))
@app.on_event("startup")
async def begin():
    app.state.collecting = asyncio.create_task(collect())
@app.post("/translate")
async def translate(body: Body):
    answer = asyncio.get_running_loop().create_future()
    await waiting.put((body.q, answer))
    return {"translatedText": await answer}
"""
RUN = 'uvicorn.run(app, port=int(sys.argv[2]), log_level="error", http="httptools")\n'
PEERS = {"thread pool": PEER + POOL + RUN, "asynchronous batches": PEER + BATCHES + RUN}


class Process:
    """A server that runs `python COMMAND` and is ready when /ready answers."""

    def __init__(self, command: Sequence[str], port: int) -> None:
        if is_ready(port):
            sys.exit(f"a server runs on port {port} already; end it, or its figures would be shown")
        began = time.perf_counter()
        self.port = port
        self.process = subprocess.Popen(
            [sys.executable, *command], stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL
        )
        atexit.register(self.process.kill)  # where an error ends the run before `stop`
        while not is_ready(port):
            if self.process.poll() is not None:
                sys.exit(f"the server ended before it was ready: python {' '.join(command)[:200]}")
            if time.perf_counter() > began + START_SECONDS:
                sys.exit(f"the server was not ready within {START_SECONDS:.0f} s")
            time.sleep(0.005)
        self.ready = time.perf_counter() - began

    @property
    def mebibytes(self) -> float:
        """Resident memory."""
        pages = int(Path(f"/proc/{self.process.pid}/statm").read_text().split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE") / 2**20

    def stop(self) -> None:
        """Ends it."""
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(STOP_SECONDS)


def our_service(port: int, threads: int, models: Sequence[str] = ()) -> Process:
    """`allyouneed serve` with the models of these names, by default all bundled ones; open even
    where this user has made keys."""
    options = ["--open", "--port", str(port), "--threads", str(threads)]
    options += (word for name in models for word in ("--model", name))
    return Process(["-m", "allyouneed", "serve", *options], port)


def is_ready(port: int) -> bool:
    """Whether /ready answers 200."""
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/ready", timeout=5) as answer:
            return bool(answer.status == 200)
    except (urllib.error.URLError, ConnectionError, TimeoutError):
        return False
