"""The lab as a page without a server: one file with the front end of `tonopah serve`, the engine, and what never changes.

    python -m tonopah_dev.page MODULE.wasm FOLDER

The modules of the front end become one script, in which `offline.js` stands for `server.js`: a file opened from the disk cannot
load modules or other files. The hashes of its scripts in the page's policy keep every other script out, but one that these make
themselves: the algorithm that a reader runs, in the worker.
"""

import base64
import gzip
import hashlib
import json
import re
import sys
import tempfile
from pathlib import Path
from typing import Any

from tonopah import examples
from tonopah.lab.app import PAGE, STATIC
from tonopah.lab.context import Asking, Lab
from tonopah.lab.handlers import HANDLERS
from tonopah.report import vendor

FOLDERS = {"/static/": STATIC, "/page/": PAGE, "/vendor/": Path(vendor.FOLDER)}
ANSWERS = ("start", "algorithms", "lessons", "coast", "recorded")
"""What the server answers the same to everybody: computed once, by its own handlers."""
INSTEAD = {"server.js": "offline.js"}
EXAMPLE = Path(examples.__file__).parent / "reno.js"
POLICY = (
    "default-src 'none'; script-src {scripts} 'wasm-unsafe-eval' blob:; style-src {styles}; worker-src blob:; img-src data:; "
    "base-uri 'none'; form-action 'none'"
)
IMPORT = re.compile(r'^import (?P<names>\{[^}]*\}) from "(?P<file>[^"]+)";\n', re.MULTILINE)
PASSED_ON = re.compile(r'^export (?P<names>\{[^}]*\}) from "(?P<file>[^"]+)";\n', re.MULTILINE)
DECLARED = re.compile(r"^export (?P<what>(?:default )?(?:async )?(?:function|class|const) )(?P<name>\w+)", re.MULTILINE)
LATER = re.compile(r'import\("(?P<file>[^"]+)"\)')
LISTED = re.compile(r"export ?\{(?P<names>[^}]*)\};?\s*$")
STYLE = re.compile(r'<link rel="stylesheet" href="([^"]+)">\n')
SCRIPT = re.compile(r'<script src="([^"]+)"(?: defer| type="module")></script>\n')


def place(name: str) -> Path:
    """Return the file of an address of the server."""
    folder = next(folder for folder in FOLDERS if name.startswith(folder))
    return FOLDERS[folder] / name.removeprefix(folder)


def as_object(names: str) -> str:
    """Return names of an import, `a as b` among them, as the pattern of an object."""
    return re.sub(r"(\w+) as (\w+)", r"\1: \2", names)


class Bundle:
    """Modules as one script, each a function that is called once, after those that it imports."""

    def __init__(self) -> None:
        self.done: dict[str, str] = {}

    def key(self, file: str) -> str:
        """Return the name of a module in the script, which is added with all that it imports."""
        name = file.rpartition("/")[2]
        name = INSTEAD.get(name, name)
        if name not in self.done:
            self.done[name] = ""
            path = place(file) if file.startswith("/") else STATIC / name
            # Moved to the end: what it imports was added meanwhile.
            text = self.rewritten(path.read_text(encoding="utf-8"))
            del self.done[name]
            self.done[name] = text
        return json.dumps(name)

    def rewritten(self, text: str) -> str:
        """Return the body of the function of a module."""
        given = [
            f"default: {found['name']}" if "default" in found["what"] else found["name"] for found in DECLARED.finditer(text)
        ]
        given += [found["names"].strip("{} ") for found in PASSED_ON.finditer(text)]
        if found := LISTED.search(text):
            # Here the name outside stands last: `a as b`.
            given.append(re.sub(r"(\w+) as (\w+)", r"\2: \1", found["names"]))
            text = text[: found.start()]
        text = PASSED_ON.sub(lambda found: f"const {as_object(found['names'])} = MODULES[{self.key(found['file'])}];\n", text)
        text = IMPORT.sub(lambda found: f"const {as_object(found['names'])} = MODULES[{self.key(found['file'])}];\n", text)
        text = LATER.sub(lambda found: f"Promise.resolve(MODULES[{self.key(found['file'])}])", text)
        text = DECLARED.sub(lambda found: f"{found['what'].removeprefix('default ')}{found['name']}", text)
        if left := re.search(r"^(?:import|export)\b.*", text, re.MULTILINE):
            raise ValueError(f"this form of a module is not known here: {left[0]}")
        return f"{text}return {{ {', '.join(given)} }};\n"

    def script(self, first: str) -> str:
        """Return the script that begins with a module."""
        self.key(first)
        bodies = [f"MODULES[{json.dumps(name)}] = (() => {{\n{body}}})();\n" for name, body in self.done.items()]
        return "".join(["(() => {\n'use strict';\nconst MODULES = {};\n", *bodies, "})();\n"])


def answers() -> dict[str, Any]:
    """Return what the server would answer."""
    with tempfile.TemporaryDirectory() as folder:
        asking = Asking(Lab(Path(folder)))
        return {name: HANDLERS[name](asking, {}) for name in ANSWERS}


def data(name: str, kind: str, text: str) -> str:
    """Return an element with data: no script, whatever it holds."""
    return f'<script type="{kind}" id="{name}">{text}</script>\n'


def digest(text: str) -> str:
    """Return what stands for a script or style in the policy."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def page(module: bytes) -> str:
    """Return the page."""
    frame = (STATIC / "index.html").read_text(encoding="utf-8")
    icon = base64.b64encode((STATIC / "icon.svg").read_bytes()).decode()
    frame = frame.replace('href="/static/icon.svg"', f'href="data:image/svg+xml;base64,{icon}"')
    styles = [place(name).read_text(encoding="utf-8") for name in STYLE.findall(frame)]
    scripts = [
        Bundle().script(name) if name.endswith("app.js") else place(name).read_text(encoding="utf-8")
        for name in SCRIPT.findall(frame)
    ]
    worker = (STATIC / "worker.js").read_text(encoding="utf-8")
    example = EXAMPLE.read_text(encoding="utf-8")
    if any(end in text for text in (*styles, *scripts, worker, example) for end in ("</script", "</style", "<!--")):
        raise ValueError("a script or style would end its element")
    policy = POLICY.format(scripts=" ".join(map(digest, scripts)), styles=" ".join(map(digest, styles)))
    head = f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n<title>'
    parts = [
        data("answers", "application/json", json.dumps(answers(), separators=(",", ":")).replace("<", "\\u003c")),
        data("worker", "text/plain", worker),
        data("example", "text/plain", example),
        data("engine", "text/plain", base64.b64encode(gzip.compress(module, mtime=0)).decode()),
        *(f"<script>{text}</script>\n" for text in scripts),
    ]
    frame = SCRIPT.sub("", STYLE.sub("", frame)).replace("<title>", head)
    frame = frame.replace("</head>", "".join(f"<style>{text}</style>\n" for text in styles) + "</head>")
    return frame.replace("</body>", "".join(parts) + "</body>")


def main(module: str, folder: str) -> None:
    """Write the page."""
    out = Path(folder)
    out.mkdir(parents=True, exist_ok=True)
    text = page(Path(module).read_bytes())
    (out / "index.html").write_text(text, encoding="utf-8")
    packed = len(gzip.compress(text.encode(), mtime=0))
    print(f"{out / 'index.html'}: {len(text) / 1e6:.1f} MB, {packed / 1e6:.1f} MB with gzip")


if __name__ == "__main__":
    main(*sys.argv[1:])
