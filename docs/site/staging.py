"""Pages as Sphinx takes them, from the Markdown of docs/: what blocks printed is below them, and
links to files of the repository lead to pages that show these files."""

from __future__ import annotations

import dataclasses
import json
import re
import shutil
import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path

import c_interface
import printed
from page_blocks import Block, blocks, console_commands

ROOT = Path(__file__).resolve().parents[2]
HERE = Path(__file__).resolve().parent
DOCS = ROOT / "docs"
RENAMED = {
    DOCS / "index.md": "all-pages", DOCS / "search.md": "graph-search", ROOT / "README.md": "index",
    ROOT / "ARCHITECTURE.md": "architecture", ROOT / "STYLE.md": "style",
    ROOT / "CONTRIBUTING.md": "contributing", ROOT / "CHANGELOG.md": "changelog",
    **{c_interface.INCLUDE / name: c_interface.page_name(name) for name in c_interface.HEADERS},
}
"""Pages whose name on the site is not that of their file; search and genindex are Sphinx's own."""
OUTSIDE = ("architecture", "style", "contributing", "changelog")
LANGUAGES = {".rs": "rust", ".py": "python", ".c": "c", ".h": "c", ".toml": "toml",
             ".j2": "html+jinja", ".json": "json"}
LINK = re.compile(
    r"(?P<ticks>`+)(?!`).*?(?<!`)(?P=ticks)(?!`)"
    r"|\[(?P<text>(?:[^\[\]]|\[[^\]]*\])*)\]\((?P<target>[^)\s#]*)(?P<anchor>#[^)\s]*)?\)",
    re.DOTALL)
"""A span of code, or a link."""
NOT_SEARCHED = "---\nnosearch: true\n---\n\n"
"""What a page begins with that the search does not look into."""
STRICT = ("-W", "--keep-going", "-n", "-q", "-b", "html")
"""How Sphinx is called: a warning fails the build, and all of them are shown."""
LONG = 24
"""Lines of output, above which it scrolls in a box."""


@dataclasses.dataclass
class Staging:
    """What is written for Sphinx, and what could not be shown."""

    folder: Path
    written: set[Path] = dataclasses.field(default_factory=set)
    files: dict[Path, str] = dataclasses.field(default_factory=dict)  # shown, and their pages
    without_output: list[str] = dataclasses.field(default_factory=list)

    def write(self, name: str, text: str) -> None:
        """Write a page, where it is another than the one that is there: Sphinx reads that anew."""
        path = self.folder / f"{name}.md"
        self.written.add(path)
        path.parent.mkdir(parents=True, exist_ok=True)
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")

    def copy(self, source: Path, name: str) -> None:
        """Copy a file that pages show."""
        path = self.folder / name
        self.written.add(path)
        path.parent.mkdir(parents=True, exist_ok=True)
        if not path.exists() or path.read_bytes() != source.read_bytes():
            shutil.copyfile(source, path)

    def remove_others(self) -> None:
        """Remove what an earlier build had and this one has not."""
        for path in sorted(self.folder.rglob("*"), reverse=True):
            if path.is_file() and path not in self.written:
                path.unlink()
            elif path.is_dir() and not any(path.iterdir()):
                path.rmdir()


def staged_name(path: Path) -> str | None:
    """The name on the site of a page of Markdown; none of other files."""
    if path in RENAMED:
        return RENAMED[path]
    if path.suffix != ".md" or not path.is_relative_to(DOCS):
        return None
    return "-".join(path.relative_to(DOCS).with_suffix("").parts)


def page(staging: Staging, path: Path) -> str:
    """A page of the repository for the site."""
    text = path.read_text(encoding="utf-8")
    name = str(path.relative_to(ROOT))
    known = printed.found(name, text)
    lines = text.splitlines()
    parts, at = [], 0
    for block in blocks(text):
        opening, closing = block.line - 2, block.line - 1 + block.text.count("\n")
        parts.append(linked(staging, path, "\n".join(lines[at:opening])))
        parts.append(shown_block(staging, name, block, lines[opening:closing + 1], known))
        at = closing + 1
    parts.append(linked(staging, path, "\n".join(lines[at:])))
    return "\n".join(parts) + "\n"


def shown_block(staging: Staging, name: str, block: Block, lines: list[str],
                known: dict[str, list[str]] | None) -> str:
    """A block with what it printed; as it is written where that is not known or nothing is run."""
    as_written = "\n".join(lines)
    if block.language not in ("console", "python"):
        return as_written
    if why := re.fullmatch(r"<!-- not run: (\S.*) -->", block.above):
        return f"{as_written}\n{not_run(why[1])}"
    texts = (known or {}).get(printed.block_digest(block))
    if texts is None:
        staging.without_output.append(f"{name}:{block.line}")
        needed = re.fullmatch(r"<!-- needs: (.*) -->", block.above)
        why = f"it needs {', '.join(needed[1].split())}" if needed and known is not None else ""
        return f"{as_written}\n{not_run(why)}" if why else as_written
    if block.language == "python":
        return f"{as_written}\n{output(texts[0], folded=False)}"
    parts: list[str] = []
    typed: list[str] = []  # commands since the last output
    for command, text in zip(console_commands(block.text), texts, strict=True):
        typed.append(f"$ {command.typed}")
        if text.strip():
            parts += [console(typed), output(text, folded=not command.shown.strip())]
            typed = []
    return "\n\n".join([*parts, *([console(typed)] if typed else [])]) + "\n"


def not_run(why: str) -> str:
    """A line below a block that was not run."""
    return f"\n```{{div}} not-run\nNot run for this page: {why}.\n```\n"


def console(typed: list[str]) -> str:
    """Commands as a block."""
    return "```console\n" + "\n".join(typed) + "\n```"


def output(text: str, *, folded: bool) -> str:
    """What was printed, in a box of its own; folded where the page says nothing of it."""
    if not text.strip():
        return ""
    text = text.rstrip("\n").expandtabs()
    fence = fence_around(text)
    kind = "printed long" if text.count("\n") >= LONG else "printed"
    box = f"{fence}{{code-block}} text\n:class: {kind}\n\n{text}\n{fence}"
    if folded:
        title = "<details class=\"printed\"><summary>What it prints</summary>"
        return f"{title}\n\n{box}\n\n</details>\n"
    return box


def fence_around(text: str) -> str:
    """A fence that is longer than any in a text."""
    return "`" * max([3, *(len(run) + 1 for run in re.findall("`+", text))])


def linked(staging: Staging, path: Path, prose: str) -> str:
    """Prose with links as they are on the site."""
    def replaced(found: re.Match) -> str:
        text, target, anchor = found["text"], found["target"], found["anchor"] or ""
        if not target or "://" in target or target.startswith("mailto:"):  # code, or not a file
            return found[0]
        place = (path.parent / target).resolve()
        if place.suffix == ".svg":
            staging.copy(place, f"pictures/{place.name}")
            return f"[{text}](pictures/{place.name})"
        if place.suffix == ".html" and place.is_file():  # Sphinx copies it, as conf.py says
            return f'<a href="{place.name}">{text}</a>'
        if name := staged_name(place):
            if re.fullmatch(r"`?[\w/-]+\.md`?", text) and place.is_file():
                text = title_of(place.read_text(encoding="utf-8"))
            return f"[{text}]({name}.md{anchor})"
        if path.is_relative_to(DOCS):
            staging.files.setdefault(place, f"files-{slug(place)}")
        elif place not in staging.files:
            return text if text.startswith("`") else f"`{text}`"
        return f"[{text}]({staging.files[place]}.md)"

    return LINK.sub(replaced, prose)


def slug(place: Path) -> str:
    """A file's path as a word of an address."""
    return re.sub(r"[^A-Za-z0-9]+", "-", str(place.relative_to(ROOT))).strip("-").lower()


def file_pages(staging: Staging) -> Iterator[tuple[str, str]]:
    """Name and text of the pages that show files of the repository, to which pages link."""
    seen: list[Path] = []
    while waiting := [place for place in staging.files if place not in seen]:
        for place in waiting:
            seen.append(place)
            yield staging.files[place], f"{NOT_SEARCHED}{file_page(staging, place)}"
    rows = "\n".join(f"- [{place.relative_to(ROOT)}]({name}.md)"
                     for place, name in sorted(staging.files.items()))
    toctree = "\n".join(name for _, name in sorted(staging.files.items()))
    yield "files", ("# Files of the repository\n\nThose that pages speak of.\n\n" + rows +
                    f"\n\n```{{toctree}}\n:hidden:\n\n{toctree}\n```\n")


def file_page(staging: Staging, place: Path) -> str:
    """The page of a file, or of a folder."""
    title = f"# {place.relative_to(ROOT)}\n\n"
    if place.is_dir():
        inside = sorted(path for path in place.iterdir() if path.is_file())
        for path in inside:
            staging.files.setdefault(path, f"files-{slug(path)}")
        return title + "".join(f"- [{path.name}]({staging.files[path]}.md)\n" for path in inside)
    text = place.read_text(encoding="utf-8").rstrip("\n")
    if place.suffix == ".md":
        return linked(staging, place, text) + "\n"
    fence = fence_around(text)
    first = text.partition("\n")[0]
    language = LANGUAGES.get(place.suffix) or ("python" if "python" in first else "text")
    return f"{title}{fence}{language}\n{text}\n{fence}\n"


def navigation() -> dict:
    """The parts of the site, and what readers want of some pages."""
    return tomllib.loads((HERE / "navigation.toml").read_text(encoding="utf-8"))


def wishes() -> dict[str, str]:
    """What a reader wants who goes to a page, as docs/index.md says, by the page's name."""
    found: dict[str, str] = dict(navigation()["wish"])
    rows = re.findall(r"^\| (.*?) \| \[[^\]]*\]\(([\w-]+)\.md(#[^)]*)?\) \|$",
                      (DOCS / "index.md").read_text(encoding="utf-8"), flags=re.MULTILINE)
    for wish, name, anchor in rows:
        if not anchor or name not in found:
            found.setdefault(staged_name(DOCS / f"{name}.md"), wish)
    return found


def title_of(text: str) -> str:
    """The title of a page of Markdown."""
    return re.search(r"^# (.+)$", text, flags=re.MULTILINE)[1]


def search_order() -> str:
    """The script by which the search page orders what it finds: Sphinx's own scores, and the weight
    of a page's part."""
    weights = {name: part["weight"] for part in navigation()["part"] for group in part["group"]
               for name in group["pages"]}
    scores = {"objNameMatch": 11, "objPartialMatch": 6, "objPrio": {"0": 15, "1": 5, "2": -5},
              "objPrioDefault": 0, "title": 15, "partialTitle": 7, "term": 5, "partialTerm": 2}
    return (f"var weights = {json.dumps(weights)};\n"
            f"var Scorer = {json.dumps(scores)};\n"
            "Scorer.score = (found) => found[4] + (weights[found[0]] || 0);\n")


def part_page(part: dict, titles: dict[str, str]) -> str:
    """The first page of a part: what is in it, in groups."""
    said, lines = wishes(), [f"# {part['title']}", "", part["about"]]
    for group in part["group"]:
        lines += ["", f"## {group['title']}", ""]
        for name in group["pages"]:
            about = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", said.get(name, ""))
            lines.append(f"- [{titles[name]}]({name}.md)" + (f": {about}" if about else ""))
    for group in part["group"]:
        names = "\n".join(group["pages"])
        lines += ["", f"```{{toctree}}\n:hidden:\n:caption: {group['title']}\n\n{names}\n```"]
    return "\n".join(lines) + "\n"


def stage(staging: Staging, generated: dict[str, Callable[[], dict[str, str]]]) -> None:
    """Write all pages; `generated` are those that are made from sources, by what makes them."""
    texts = {staged_name(path): page(staging, path) for path in sorted(DOCS.rglob("*.md"))}
    for path, name in RENAMED.items():
        if name in OUTSIDE:
            texts[name] = linked(staging, path, path.read_text(encoding="utf-8"))
    for make in generated.values():
        texts |= make()
    texts |= dict(file_pages(staging))
    titles = {name: title_of(text) for name, text in texts.items()}
    texts["index"] = (HERE / "front.myst").read_text(encoding="utf-8")
    for name in re.findall(r"\(pictures/([\w.]+)\)", texts["index"]):
        staging.copy(DOCS / "pictures" / name, f"pictures/{name}")
    for part in navigation()["part"]:
        texts[part["name"]] = part_page(part, titles)
    for name, text in texts.items():
        staging.write(name, text)
    staging.remove_others()
