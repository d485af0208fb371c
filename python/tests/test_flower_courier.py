"""The couriers of `reticent_flower`, with a grid that is made up: no Flower is needed here."""

import importlib.util
import pathlib
import socket
import struct
import sys
import threading

import pytest

SOURCE = pathlib.Path(__file__).resolve().parent.parent / "reticent_flower" / "reticent_flower" / "courier.py"
if sys.platform == "win32":
    pytest.skip("couriers need Unix sockets", allow_module_level=True)
spec = importlib.util.spec_from_file_location("courier", SOURCE)
courier = importlib.util.module_from_spec(spec)
sys.modules["courier"] = courier
spec.loader.exec_module(courier)


def parcel(text=b"", channel=7, over=False):
    return b"RTP1" + bytes([channel]) * 16 + bytes(16) + bytes([over]) + text


class Daemon:
    """A socket of Reticent that answers by a list."""

    def __init__(self, path, answers):
        self.heard = []
        self.line = socket.socket(socket.AF_UNIX)
        self.line.bind(str(path))
        self.line.listen()
        self.thread = threading.Thread(target=self.serve, args=(answers,), daemon=True)
        self.thread.start()

    def serve(self, answers):
        for answer in answers:
            line, _ = self.line.accept()
            with line:
                wait, length = struct.unpack("<II", line.recv(8, socket.MSG_WAITALL))
                self.heard.append((wait, line.recv(length, socket.MSG_WAITALL) if length else b""))
                line.sendall(struct.pack("<I", len(answer)) + answer)


def test_a_visit_hands_a_parcel_in_and_takes_one_along(tmp_path):
    long = parcel(bytes(300_000))
    daemon = Daemon(tmp_path / "s", [long, b""])
    assert courier.visit(str(tmp_path / "s"), parcel(b"in"), 0.25) == long
    assert courier.visit(str(tmp_path / "s"), b"", 0) == b""
    daemon.thread.join(5)
    assert daemon.heard == [(250, parcel(b"in")), (0, b"")]


def test_who_is_not_there_is_gone_and_what_is_no_socket_is_refused(tmp_path):
    with pytest.raises(courier.Gone):
        courier.visit(str(tmp_path / "none"), b"", 0)
    (tmp_path / "file").write_text("x")
    with pytest.raises(PermissionError):
        courier.visit(str(tmp_path / "file"), b"", 0)
    Daemon(tmp_path / "short", [])
    # A socket at which nobody answers any more.
    left = socket.socket(socket.AF_UNIX)
    left.bind(str(tmp_path / "left"))
    left.close()
    with pytest.raises(courier.Gone):
        courier.visit(str(tmp_path / "left"), b"", 0)


class Grid:
    """An engine whose nodes answer by a function; some parcels are lost."""

    def __init__(self, answer, lost=()):
        self.answer, self.lost = answer, set(lost)
        self.sent, self.flying = [], {}

    def nodes(self):
        return [1, 2]

    def send(self, node, parcel):
        ticket = f"ticket-{len(self.sent)}"
        self.sent.append((node, parcel))
        self.flying[ticket] = None if len(self.sent) in self.lost else self.answer(node, parcel)
        return ticket

    def collect(self, tickets):
        assert set(tickets) <= set(self.flying)
        return {ticket: self.flying.pop(ticket) for ticket in tickets}


class Time:
    """A clock that goes when somebody sleeps."""

    def __init__(self):
        self.now = 0.0

    def sleep(self, seconds):
        self.now += seconds


def carried(grid, lead, **more):
    time = Time()
    return courier.carry(grid, lead, clock=lambda: time.now, sleep=time.sleep, **more), time


def test_a_socket_of_another_user_is_taken_from_the_owner_of_its_folder_for_our_group_alone(tmp_path, monkeypatch):
    monkeypatch.setattr(courier.os, "geteuid", lambda: 1001)
    monkeypatch.setattr(courier.os, "getegid", lambda: 1001)
    monkeypatch.setattr(courier.os, "getgroups", lambda: [7])

    def status(mode, user, group):
        return courier.os.stat_result((mode, 0, 0, 1, user, group, 0, 0, 0, 0))

    def is_for_us(socket_of, folder):
        return courier._is_for_us(status(*socket_of), status(*folder))

    folder = (0o42750, 1000, 7)
    assert is_for_us((0o140600, 1001, 1001), folder)
    assert is_for_us((0o140660, 1000, 7), folder)
    # Its owner's alone, of another group, and put there by somebody who does not own the folder, or by anybody.
    assert not is_for_us((0o140600, 1000, 7), folder)
    assert not is_for_us((0o140660, 1000, 8), folder)
    assert not is_for_us((0o140660, 1002, 7), folder)
    assert not is_for_us((0o140660, 1000, 7), (0o42770, 1000, 7))
    assert not is_for_us((0o140660, 1000, 7), (0o41777, 1000, 7))


@pytest.mark.parametrize("lost", [(), (1, 4, 5)])
def test_what_parties_say_is_carried_to_the_lead_and_its_answer_to_the_same_party(lost):
    rounds, heard = 4, {1: [], 2: []}

    def party(node, said):
        if said[37:]:
            heard[node].append(said[37:])
        return parcel(b"answer %d" % len(set(heard[node])), channel=node)

    def lead(said):
        if not said or len(set(heard[1])) >= rounds and len(set(heard[2])) >= rounds:
            raise courier.Gone("it is over")
        node = said[4]
        return parcel(b"ask %d of %d" % (len(set(heard[node])), node), channel=node)

    grid = Grid(party, lost)
    why, _ = carried(grid, lead, patience=5)
    assert "over" in why or "gone" in why
    for node in (1, 2):
        # In order, nothing of another's; what was lost was carried again.
        assert sorted(set(heard[node]), key=heard[node].index) == [b"ask %d of %d" % (i, node) for i in range(rounds)]
        assert all(said[4] == node for to, said in grid.sent if to == node and said)


def test_who_has_spoken_is_not_asked_again_until_the_lead_answers():
    def lead(said):
        return parcel(channel=said[4]) if clock.now < 90 and said else gone()

    def gone():
        raise courier.Gone("it is over")

    clock = Time()
    grid = Grid(lambda node, said: parcel(b"spoken", channel=node))
    courier.carry(grid, lead, patience=1, quiet=20, clock=lambda: clock.now, sleep=clock.sleep)
    # Asked once, and then every twenty seconds, because the party may have something else to say.
    assert len([node for node, _ in grid.sent if node == 1]) == 5


def test_a_lead_that_is_not_there_is_waited_for_and_then_left():
    def lead(_):
        raise courier.Gone("nobody")

    why, time = carried(Grid(lambda node, said: parcel(b"x", channel=node)), lead, patience=30)
    assert why == "nobody" and 30 <= time.now < 32


def test_a_courier_has_no_key_and_no_data_and_switches_reports_off_first():
    folder = SOURCE.parent
    texts = {path.name: path.read_text() for path in folder.glob("*.py")}
    assert set(texts) == {"__init__.py", "client_app.py", "courier.py", "server_app.py"}
    assert "flwr" not in texts["courier.py"]
    for name in ("client_app.py", "server_app.py"):
        imports = [line for line in texts[name].splitlines() if line.startswith(("import ", "from "))]
        first = next(i for i, line in enumerate(imports) if "flwr" in line)
        assert any("import reticent_flower" in line for line in imports[:first]), name
    for variable, value in [("FLWR_TELEMETRY_ENABLED", "0"), ("FLWR_DISABLE_UPDATE_CHECK", "1")]:
        assert f'os.environ["{variable}"] = "{value}"' in texts["__init__.py"]
    assert "context.state" not in "".join(texts.values())
    project = (folder.parent / "pyproject.toml").read_text()
    assert 'dependencies = ["flwr==1.41.0"]' in project
