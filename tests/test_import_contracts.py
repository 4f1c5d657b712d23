"""The import contracts name every module, so that a new one cannot slip past them."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[1]


def test_both_contracts_that_fence_the_agent_name_all_of_its_modules() -> None:
    contracts = (ROOT / "pyproject.toml").read_text().split("[[tool.importlinter.contracts]]")[2:]
    modules = {
        f"agent.{path.stem}"
        for path in (ROOT / "agent").iterdir()
        if (path.suffix == ".py" or (path / "__init__.py").exists())
        and not path.name.startswith("_")
        and path.stem != "formats"
    }
    assert len(modules) > 20
    assert len(contracts) == 2
    for contract in contracts:
        named = set(re.findall(r'"(agent\.\w+)"', contract.partition("forbidden_modules")[2]))
        assert named == modules
