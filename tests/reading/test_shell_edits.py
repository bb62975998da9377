"""Files that a shell command says it changes."""

from __future__ import annotations

import pytest

from recollect.reading.shell_edits import changed_files

PATCH = """cd web && apply_patch <<'EOF'
*** Begin Patch
*** Update File: a.ts
@@
-x
+y
*** Add File: b.ts
+z
*** End Patch
EOF"""


@pytest.mark.parametrize(
    ("command", "files"),
    [
        ("echo hi > a.txt", ["a.txt"]),
        ("make 2>&1 | tee -a build.log", ["build.log"]),
        ("sed -i 's/a/b/' x.py y.py", ["x.py", "y.py"]),
        ("sed -i.bak -e 's/a/b/' -e 's/c/d/' x.py", ["x.py"]),
        ("sed -i '' 's/a/b/' x.py", ["x.py"]),
        ("perl -0pi -e 's/a/b/' x.rs && sed -i '/c/d' x.rs", ["x.rs"]),
        ("cd src && sed -i s/a/b/ x.py", ["src/x.py"]),
        ("git mv old.py new.py", ["old.py", "new.py"]),
        ("mv a.py b.py pkg/", ["a.py", "b.py", "pkg/a.py", "pkg/b.py"]),
        ("cp template.yml config.yml", ["config.yml"]),
        ("git rm -q old.yaml && make dev", ["old.yaml"]),
        ("git checkout main -- Makefile", ["Makefile"]),
        ("git restore src/app.py", ["src/app.py"]),
        ("npx prettier --write src/a.ts", ["src/a.ts"]),
        ("uv run ruff format src/a.py && uv run ruff check --fix b.py", ["src/a.py", "b.py"]),
        ("dd if=/dev/zero of=disk.img", ["disk.img"]),
        ("bash -lc \"echo x >> notes.md\"", ["notes.md"]),
        (PATCH, ["web/a.ts", "web/b.ts"]),
    ],
)  # fmt: skip
def test_a_command_that_names_the_file_is_recognised(command: str, files: list[str]) -> None:
    """Agents edit through the shell as often as with their own tools."""
    assert changed_files(command) == files


@pytest.mark.parametrize(
    "command",
    ["sed -n 1,20p x.py", "sed 's/a/b/' x.py", "cat x.py", "git checkout main",
    "git -C other rm x.py", "sed -i s/a/b/ src/*.py",
     "echo x > $file", "make > /dev/null 2>&1", "grep '> x.py' notes", "cd $DIR && touch x.py",
     "prettier --check x.ts", "black --check x.py", "ruff check x.py",
     "ruff format"],
)  # fmt: skip
def test_what_is_not_sure_is_left_out(command: str) -> None:
    """Never a guess: reading is no change, and a pattern or a variable may be any file."""
    assert changed_files(command) == []
