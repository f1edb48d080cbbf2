"""Bergamot, Firefox's engine, in a process of its own. Runs in Python 3.7 to 3.10, for which there
are wheels; the standard library is all that it needs.

Standard input gives one JSON object a line: first {"workers": n}, then {"config": path of a
decoder.yml, "texts": [...]}. Each is answered by one line, the second kind by the translations.
"""

import importlib.util
import json
import sys
from pathlib import Path


def library():
    """The compiled module. The package itself is not imported, because that needs a network."""
    package = importlib.util.find_spec("bergamot")
    if package is None:
        sys.exit("the package bergamot is not installed here")
    folder = Path(package.origin).parent
    [path] = folder.glob("_bergamot*")
    spec = importlib.util.spec_from_file_location("_bergamot", str(path))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def main():
    """Answers every line of standard input."""
    bergamot = library()
    asked = json.loads(sys.stdin.readline())
    service = bergamot.Service(bergamot.ServiceConfig(numWorkers=asked["workers"], cacheSize=0))
    options = bergamot.ResponseOptions(qualityScores=False, sentenceMappings=False)
    models = {}
    answer(True)
    for line in sys.stdin:
        asked = json.loads(line)
        path = asked["config"]
        if path not in models:
            models[path] = service.modelFromConfigPath(path)
        texts = bergamot.VectorString(asked["texts"])
        answer(
            [response.target.text for response in service.translate(models[path], texts, options)]
        )


def answer(value):
    """Writes the value as a line of JSON."""
    sys.stdout.write(json.dumps(value) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
