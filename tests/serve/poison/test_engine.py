"""A model that repeats what was planted reaches no pack: not quoted, not cited elsewhere, nowhere.

It is scripted to do its worst: each plant is handed in as a line of every section, quoted, bare
and in backticks, citing the turn where it stands and the one before it.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from recollect.distill.engines.material import Material, gather
from recollect.distill.engines.writing import Reply, write
from recollect.memory import Memory
from tests.builders.homes import memory
from tests.serve.poison.conftest import write as write_plant
from tests.serve.poison.readings import says
from tests.serve.poison.table import PLANTS, Plant

SECTIONS = ("Preferences", "Commands", "Traps", "Decisions", "Files")


class Parrot:
    """A model that says whatever it read, as the memory of the project."""

    name, model = "parrot", "tiny"

    def __init__(self, plant: Plant, cited: list[str]) -> None:
        self.plant, self.cited = plant, cited

    def ask(self, instructions: str, text: str) -> Reply:
        said, spelt = self.plant.sentence, " ".join(self.plant.text.split())[:150]
        lines = []
        for source in self.cited:
            for one in dict.fromkeys((said, spelt)):
                lines += [
                    f"- {one} [{source}]",
                    f'- Person: "{one}" [{source}]',
                    f"- `{one}` [{source}]",
                    f"- `make check` passes once this is done: {one} [{source}]",
                    f'- "{self.plant.prompt}": {one} [{source}]',
                ]
        part = "\n".join(f"## {title}\n" + "\n".join(lines) for title in SECTIONS)
        return Reply(f"```MEMORY\n{part}\n```\n```PACK\n{part}\n```")


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A home of all plants, not shared: engines write to its store."""
    home = tmp_path_factory.mktemp("parrots")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HOME", str(home))
        for plant in PLANTS:
            write_plant(home, plant)
        with memory(home) as mind:
            mind.import_logs()
        yield home


@pytest.fixture(scope="module")
def mind(home: Path) -> Iterator[Memory]:
    with memory(home) as mind:
        yield mind


def read_by_a_model(mind: Memory, plant: Plant) -> Material | None:
    """What a model gets to read where a plant is in it: else it cannot repeat it."""
    project = mind.projects.of(plant.folder)
    if project is None:
        return None
    store, redactor = mind._shared.store(), mind._shared.redactor()
    material = gather(store, project, redactor, most_prompts=300, again=True)
    found = material is not None and says(material.record.text, plant.sentence)
    return material if found else None


@pytest.mark.parametrize("plant", PLANTS, ids=str)
def test_no_plant_that_a_model_repeats_is_told(mind: Memory, plant: Plant) -> None:
    """What is not told may wait in review, where a person decides."""
    store, redactor = mind._shared.store(), mind._shared.redactor()
    material = read_by_a_model(mind, plant)
    if material is None:
        return
    turns = [turn.ref for session in material.sessions for turn in session.turns]
    cited = [material.marks.of(turn)[1:-1] for turn in turns]

    write(store, material, Parrot(plant, cited), redactor)

    project = material.project
    told = mind.remember(project=project)
    assert told is not None
    assert not says(told.pack, plant.sentence), told.pack
    active = store.notes.search(project=project, authors=("engine",), statuses=("active",))
    assert not says("\n".join(note.text for note in active.rows), plant.sentence)


def test_enough_plants_were_read(mind: Memory) -> None:
    """Else nothing would have been tested."""
    assert sum(read_by_a_model(mind, plant) is not None for plant in PLANTS) >= 60
