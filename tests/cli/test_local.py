"""Commands for this machine's installation: tables, keys, examination; and how they fail."""

from __future__ import annotations

import json
import socket
import sqlite3
import stat
from pathlib import Path

import pytest
from cryptography.fernet import Fernet

from tests.support.environments import Program, make_program
from tests.support.s3 import make_bucket, s3_server
from tests.support.services import redis_url


def test_tables_go_up_and_down(program: Program):
    """`db` shows the revision, brings the tables up, and takes them down when told twice."""
    assert json.loads(program.run("db", "revision", "--json").stdout)["revision"] is None
    up = json.loads(program.run("db", "upgrade", "--json").stdout)
    assert (up["before"], up["after"]) == (None, up["after"])
    assert json.loads(program.run("db", "revision", "--json").stdout)["revision"] == up["after"]
    asked = program.run("db", "downgrade", "base")
    assert (asked.returncode, "--yes" in asked.stderr) == (2, True)
    down = json.loads(program.run("db", "downgrade", "base", "--yes", "--json").stdout)
    assert (down["before"], down["after"]) == (up["after"], None)


def test_unknown_revision(program: Program):
    """The message names the revision and lists those that exist; nothing else is printed."""
    done = program.run("db", "upgrade", "--to", "9999")
    assert (done.returncode, done.stdout) == (2, "")
    assert "'9999'" in done.stderr
    assert "Traceback" not in done.stderr


def test_debug_shows_the_stack(program: Program):
    """Only --debug prints where an error happened."""
    done = program.run("db", "upgrade", "--to", "9999", "--debug")
    assert done.returncode == 2
    assert "Traceback" in done.stderr


def test_first_command_makes_the_installation(program: Program):
    """The first command that needs it makes key and admin; the token goes to stderr, once."""
    first = program.run("secrets", "status", "--json")
    second = program.run("secrets", "status", "--json")
    key = program.data_dir / "vault.key"
    assert json.loads(first.stdout) == {
        "keys": str(key),
        "count": 1,
        "settings": 0,
        "secrets": 0,
        "undecryptable": [],
    }
    assert first.stderr.count("tcrib_") == 1
    assert second.stderr == ""
    assert stat.S_IMODE(key.stat().st_mode) == 0o600
    assert stat.S_IMODE(program.data_dir.stat().st_mode) == 0o700


def test_rotation_adds_a_key(program: Program):
    """Where the keys are ours, rotation makes a new one before it seals."""
    program.run("secrets", "status")
    before = (program.data_dir / "vault.key").read_text().split()
    done = program.run("secrets", "rotate", "--json")
    after = (program.data_dir / "vault.key").read_text().split()
    assert json.loads(done.stdout) == {"sealed": 0, "left": 0}
    assert (len(after), after[1:]) == (2, before)


def test_rotation_counts_settings_and_secrets(tmp_path: Path):
    """Both are sealed anew; what an unknown key sealed is left, named, and counted."""
    old, new = Fernet.generate_key().decode(), Fernet.generate_key().decode()
    program = make_program(tmp_path, TOOLCRIB_VAULT_KEYS=old)
    for noun in ("settings", "secrets"):
        program.run(noun, "set", "LOST", stdin=f"{noun}-lost-value")
    program.extra["TOOLCRIB_VAULT_KEYS"] = new  # type: ignore[index] - a plain dict
    for noun in ("settings", "secrets"):
        program.run(noun, "set", "KEPT", stdin=f"{noun}-kept-value")
    status = json.loads(program.run("secrets", "status", "--json").stdout)
    assert (status["settings"], status["secrets"]) == (2, 2)
    assert status["undecryptable"] == ["setting LOST of user 1", "secret LOST"]
    done = program.run("secrets", "rotate", "--json")
    assert json.loads(done.stdout) == {"sealed": 2, "left": 2}
    code, found = findings(program)
    assert (code, found["sealed values"]) == (7, ["problem"])


def test_given_keys_are_used(tmp_path: Path):
    """With TOOLCRIB_VAULT_KEYS no key file is made, and `new-key` prints one that fits there."""
    one, two = Fernet.generate_key().decode(), Fernet.generate_key().decode()
    program = make_program(tmp_path, TOOLCRIB_VAULT_KEYS=f"{one},{two}")
    status = json.loads(program.run("secrets", "status", "--json").stdout)
    assert (status["keys"], status["count"]) == ("TOOLCRIB_VAULT_KEYS", 2)
    assert not (program.data_dir / "vault.key").exists()
    made = program.run("secrets", "new-key").stdout.strip()
    third = make_program(tmp_path / "third", TOOLCRIB_VAULT_KEYS=f"{made},{one}")
    assert json.loads(third.run("secrets", "status", "--json").stdout)["count"] == 2


@pytest.mark.parametrize(
    ("name", "value", "culprit"),
    [
        ("PORT", "many", "TOOLCRIB_PORT"),
        ("DATABASE_URL", "mysql://root:hidden-word@127.0.0.1/x", "'mysql'"),
        ("DATABASE_URL", "postgresql://me:hidden-word@127.0.0.1:1/x", "TOOLCRIB_DATABASE_URL"),
        ("VAULT_KEYS", "hidden-word", "TOOLCRIB_VAULT_KEYS"),
    ],
)
def test_bad_environment(program: Program, name: str, value: str, culprit: str):
    """What cannot be used is named, and the secret in it is not shown."""
    done = program.run("secrets", "status", extra={f"TOOLCRIB_{name}": value})
    assert (done.returncode, done.stdout) == (7, "")
    assert culprit in done.stderr
    assert "Traceback" not in done.stderr
    assert "hidden-word" not in done.stderr


def test_data_directory_that_cannot_be_made(program: Program, tmp_path: Path):
    """The directory is named, and the variable that sets it."""
    (tmp_path / "file").write_text("")
    done = program.run("secrets", "status", extra={"TOOLCRIB_DATA_DIR": f"{tmp_path}/file/data"})
    assert done.returncode == 7
    assert f"{tmp_path}/file/data" in done.stderr
    assert "TOOLCRIB_DATA_DIR" in done.stderr


def test_remote_address_is_not_ignored(program: Program):
    """A command for this machine refuses to run while TOOLCRIB_URL means another one."""
    done = program.run("db", "revision", extra={"TOOLCRIB_URL": "http://127.0.0.1:1"})
    assert done.returncode == 2
    assert "TOOLCRIB_URL" in done.stderr


def findings(program: Program) -> tuple[int, dict[str, list[str]]]:
    """Exit code, and the statuses by check."""
    done = program.run("doctor", "--json")
    found: dict[str, list[str]] = {}
    for item in json.loads(done.stdout)["items"]:
        found.setdefault(item["check"], []).append(item["status"])
    return done.returncode, found


def test_doctor_before_and_after(program: Program):
    """Looking changes nothing; a fresh installation has no problem, a made one neither."""
    code, found = findings(program)
    assert (code, found["database"], found["keys"]) == (0, ["note"], ["note"])
    assert not program.data_dir.exists()
    program.run("secrets", "status")
    code, found = findings(program)
    assert (code, found["database"], found["keys"]) == (0, ["ok"], ["ok"])
    assert (found["data directory"], found["sealed values"]) == (["ok"], ["ok"])


def test_doctor_finds_open_files(program: Program):
    """What others may read is a problem, and the code says so."""
    program.run("secrets", "status")
    program.data_dir.chmod(0o755)
    (program.data_dir / "vault.key").chmod(0o644)
    code, found = findings(program)
    assert (code, found["data directory"], found["keys"]) == (7, ["problem"], ["problem"])


def test_doctor_goes_on_after_what_cannot_be_read(program: Program):
    """A key file that is none, and addresses that are none: each is one finding among others."""
    program.run("secrets", "status")
    (program.data_dir / "vault.key").unlink()
    (program.data_dir / "vault.key").mkdir()
    wrong = {"TOOLCRIB_EGRESS_PROXY": "http://me:hidden-word@[::1"}
    done = program.run("doctor", "--json", extra=wrong)
    items = json.loads(done.stdout)["items"]
    found = {item["check"]: item for item in items}
    assert (done.returncode, found["keys"]["status"]) == (7, "problem")
    assert "Is a directory" in found["keys"]["detail"]
    assert found["trusted address"]["detail"] == "what is no address by TOOLCRIB_EGRESS_PROXY"
    assert "hidden-word" not in done.stdout + done.stderr


def test_doctor_finds_a_database_of_newer_code(program: Program):
    """It advises what helps: the newer version, or to go down with it; never an upgrade."""
    up = json.loads(program.run("db", "upgrade", "--json").stdout)
    with sqlite3.connect(program.data_dir / "toolcrib.db") as connection:
        connection.execute("UPDATE alembic_version SET version_num = 'zzzz'")
    connection.close()

    done = program.run("doctor", "--json")
    shown = program.run("db", "revision")
    refused = program.run("secrets", "status")

    found = {one["check"]: one for one in json.loads(done.stdout)["items"]}["database"]
    advice = (
        "Newer code made it: install that version of Toolcrib again. To stay with this one, let "
        f"that version take it down: toolcrib db downgrade {up['after']} --yes."
    )
    assert (done.returncode, found["status"], found["fix"]) == (7, "problem", advice)
    assert "'zzzz', which this code does not know" in found["detail"]
    assert "is at zzzz, made by newer code" in shown.stdout
    assert (refused.returncode, advice in " ".join(refused.stderr.split())) == (7, True)


def test_doctor_asks_redis(program: Program):
    """One that answers is well; of one that does not, the place is named and the password not."""
    url = redis_url()
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        place = f"127.0.0.1:{taken.getsockname()[1]}"
        gone = program.run(
            "doctor", "--json", extra={"TOOLCRIB_REDIS_URL": f"redis://:hidden-word@{place}"}
        )
    well = program.run("doctor", "--json", extra={"TOOLCRIB_REDIS_URL": url})

    def of_redis(answer: str) -> dict[str, str]:
        return {one["check"]: one for one in json.loads(answer)["items"]}["redis"]

    found = of_redis(gone.stdout)
    assert (gone.returncode, found["status"], place in found["detail"]) == (7, "problem", True)
    assert "hidden-word" not in gone.stdout + gone.stderr
    assert (well.returncode, of_redis(well.stdout)["status"]) == (0, "ok")


def test_doctor_lists_what_the_operator_trusts(tmp_path: Path):
    """Addresses that the guard lets through are shown, without their passwords."""
    program = make_program(
        tmp_path,
        TOOLCRIB_EGRESS_PROXY="http://me:hidden-word@proxy.test:3128",
        TOOLCRIB_EGRESS_ALLOW="10.0.0.0/8",
        TOOLCRIB_OIDC_ISSUER="https://login.test/realm",
        TOOLCRIB_OIDC_AUDIENCE="crib",
    )
    done = program.run("doctor")
    assert done.returncode == 0
    assert "login.test by TOOLCRIB_OIDC_ISSUER" in done.stdout
    assert "proxy.test:3128" in done.stdout
    assert "10.0.0.0/8" in done.stdout
    assert "hidden-word" not in done.stdout + done.stderr


def test_doctor_looks_at_the_bucket(program: Program):
    """A bucket for documents is asked, and its address is listed as trusted."""
    with s3_server() as address:
        make_bucket(address, "docs")
        url = f"s3://me:hidden-word@docs?endpoint={address}"
        done = program.run("doctor", "--json", extra={"TOOLCRIB_DOCUMENTS_URL": url})
    items = json.loads(done.stdout)["items"]
    found = {item["check"]: item for item in items if "TOOLCRIB_DOCUMENTS_URL" in item["detail"]}
    place = address.removeprefix("http://")
    assert (done.returncode, "hidden-word" in done.stdout) == (0, False)
    assert found["trusted address"]["detail"] == f"{place} by TOOLCRIB_DOCUMENTS_URL"
    assert [item["status"] for item in items if item["check"] == "documents"] == ["ok"]
    gone = program.run("doctor", "--json", extra={"TOOLCRIB_DOCUMENTS_URL": url})
    assert (gone.returncode, "hidden-word" in gone.stdout) == (7, False)
