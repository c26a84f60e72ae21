"""Which events `log` shows: of tasks, of paths, of both."""

from tests.cli.conftest import Here
from tests.conftest import Repo


def test_the_events_on_a_path(here: Here, repo: Repo) -> None:
    repo.commit({"gen/old.txt": "a line that stays\nand another\n"})
    one = here.task("one", "--start")
    here("run", "--", "sh", "-c", "echo 1 > n.txt; echo 1 > gen/a")
    here("run", "--", "mv", "gen/old.txt", "moved.txt")
    two = here.task("two", "--start")
    here("run", "--", "sh", "-c", "echo 2 > n.txt; echo 2 > gen.txt")
    here("run", "--", "rm", "gen/a")

    def found(*names: str, cwd: str = ".") -> list[str]:
        events = here("log", "--reverse", "--json", *names, cwd=repo.path / cwd).json
        ids = [event["id"] for event in steps]
        return [str(ids.index(event["id"])) for event in events]

    steps = here("log", "--reverse", "--json", "--kind", "ran", "--kind", "stepped").json
    assert len(steps) == 4
    assert found("n.txt") == found("--", "n.txt") == found("../n.txt", cwd="gen") == ["0", "2"]
    assert found(two, "--", "n.txt") == found(two, "n.txt") == ["2"]
    assert found("gen") == found("--", "gen/") == ["0", "1", "3"], "a folder, with what was moved out of it"
    assert found("--", ".") == ["0", "1", "2", "3"]
    assert found("gen/a") == ["0", "3"], "a file that is gone"
    assert found("moved.txt", "gen.txt") == ["1", "2"]
    assert found("--", "never.txt") == []
    assert here("log", "never.txt", status=128).stderr.startswith("error: no task matches 'never.txt'\n")
    assert here("log", "n.txt", "never.txt", status=128).stdout == ""
    here("log", "--", "../outside", status=128)
    (repo.path / one).write_text("a file that is called as a task is")
    assert len(here("log", "--json", one).json) > 2
    assert found("--", one) == []
