"""Who may ask the lab, and for what (docs/lab.md, Security)."""

import http.client
import json
import re
import signal
import socket
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import pytest
from websockets.exceptions import ConnectionClosed, InvalidStatus

from tonopah.errors import InputError
from tonopah.examples import reno
from tonopah.lab.handlers import HANDLERS
from tonopah.lab.messages import MOST_BYTES
from tonopah.lab.security import RequestGuard, hosts_of
from tonopah.lab.serve import MOST_CONNECTIONS, listen, open_page
from tonopah.lab.session import SessionLimits

TOML = """duration = "2s"
[network]
kind = "dumbbell"
flows = 1
"""


def run_message(**changes) -> str:
    return json.dumps({"kind": "run", "version": 1, "toml": TOML} | changes)


@pytest.mark.parametrize("path", ["/", "/static/app.js", "/page/report.css", "/vendor/uPlot.min.css"])
def test_the_page_is_answered_without_the_token_and_sets_no_cookie(lab, path):
    status, headers, body = lab.request("GET", path, headers={})
    assert status == 200 and "set-cookie" not in headers and lab.token.encode() not in body


@pytest.mark.parametrize(
    "given", [{}, {"Authorization": "Bearer wrong"}, {"Authorization": "{token}"}, {"Cookie": "tonopah-lab={token}"}]
)
def test_without_the_token_nothing_is_told(lab, given):
    headers = {name: value.format(token=lab.token) for name, value in given.items()} | {"Origin": lab.headers["Origin"]}
    for route in HANDLERS:
        assert lab.request("POST", f"/api/{route}", b"{}", headers)[0] == 403
    assert lab.request("POST", f"/api/start?token={lab.token}", b"{}", headers)[0] == 403


@pytest.mark.parametrize("host", ["evil.example", "evil.example:{port}", "127.0.0.1", "127.0.0.1:1", "10.0.0.1:{port}"])
def test_another_host_is_refused_even_with_the_token(lab, host):
    # DNS rebinding: a name of someone else that points here.
    host = host.format(port=lab.port)
    assert lab.request("GET", "/", headers={**lab.headers, "Host": host})[0] == 403
    headers = {**lab.headers, "Host": host, "Origin": f"http://{host}"}
    assert lab.request("POST", "/api/start", b"{}", headers)[0] == 403


@pytest.mark.parametrize("origin", ["http://evil.example", "null", "https://127.0.0.1:{port}", None])
def test_a_request_of_another_site_is_refused(lab, origin):
    known = {"Authorization": lab.headers["Authorization"]}
    headers = known | ({"Origin": origin.format(port=lab.port)} if origin else {})
    assert lab.request("POST", "/api/start", b"{}", headers)[0] == 403


@pytest.mark.parametrize("changes", [{"token": ""}, {"token": "wrong"}, {"Origin": "http://evil.example"}, {"Origin": None}])
def test_a_socket_of_another_site_is_refused(lab, changes):
    with pytest.raises(InvalidStatus) as refused, lab.socket(**changes):
        pass
    assert refused.value.response.status_code == 403


@pytest.mark.parametrize(
    ("host", "served"),
    [("192.0.2.7:8600", True), ("[2001:db8::7]:8600", True), ("192.0.2.7", True), ("evil.example:8600", False), ("", False),
     ("1.2.3.4.evil.example", False)],
)  # fmt: skip
def test_a_server_at_every_address_knows_addresses_in_numbers_but_no_other_names(host, served):
    guard = RequestGuard(None, "token", hosts_of("here", 8600), everywhere=True)
    scope = {"type": "http", "method": "GET", "path": "/", "headers": [(b"host", host.encode())]}
    assert (guard.refusal(scope) is None) == served
    assert guard.refusal({**scope, "headers": [(b"host", b"here:8600")]}) is None


def test_the_port_that_browsers_leave_out_may_be_missing():
    assert {"127.0.0.1", "localhost:80"} <= set(hosts_of("127.0.0.1", 80)) and "127.0.0.1" not in hosts_of("127.0.0.1", 8600)


def test_the_browser_is_opened_by_a_file_that_only_its_owner_reads(tmp_path, monkeypatch):
    opened = []
    monkeypatch.setattr("webbrowser.open", opened.append)
    open_page("http://127.0.0.1:8600/#token=secret", tmp_path / "open.html")
    assert opened == [(tmp_path / "open.html").as_uri()] and "secret" in (tmp_path / "open.html").read_text()
    assert (tmp_path / "open.html").stat().st_mode & 0o777 == 0o600


def test_a_name_that_is_not_known_is_a_matter_of_the_host():
    with pytest.raises(InputError, match=r"^--host: no.such.name.invalid is no name"):
        listen("no.such.name.invalid", 0)


def test_who_says_nothing_is_not_waited_for(serve, monkeypatch):
    monkeypatch.setattr("tonopah.lab.serve.HEAD_S", 0.2)
    lab = serve()
    silent = [socket.create_connection(("127.0.0.1", lab.port), 300) for _ in range(MOST_CONNECTIONS + 20)]
    for one in silent:
        one.settimeout(300)
        with suppress(ConnectionResetError):
            assert one.recv(1) == b""
        one.close()
    assert lab.ask("start")[0] == 200


LONG = {"duration": "1000000s", "network": {"kind": "dumbbell", "flows": 4, "bottleneck": {"rate": "1Gbps", "delay": "1ms"}}}


def until(condition):
    for _ in range(3000):
        if condition():
            return
        time.sleep(0.1)
    raise AssertionError("it did not happen in five minutes")


@pytest.mark.parametrize(
    ("route", "asked"),
    [
        ("export", {"document": LONG, "form": "csv"}),
        ("compare", {"document": LONG, "other": LONG, "replicates": 20}),
        ("packets", {"document": LONG, "from_s": 900_000.0, "until_s": 900_001.0}),
    ],
)
def test_what_a_closed_page_asked_for_ends(serve, route, asked):
    lab = serve()
    connection = http.client.HTTPConnection("127.0.0.1", lab.port, timeout=300)
    connection.request("POST", f"/api/{route}", json.dumps(asked), lab.headers)
    until(lambda: lab.lab.askings)
    (asking,) = lab.lab.askings
    until(lambda: asking.sessions)
    connection.close()
    until(lambda: asking.gone.is_set() and not lab.lab.askings and not asking.sessions[0].thread.is_alive())
    until(lambda: lab.lab.runs.slots.free._value == 2)


def test_many_long_requests_leave_room_for_short_ones_and_end_with_the_server(serve):
    lab = serve(limits=SessionLimits(waiting=4))
    connections = [http.client.HTTPConnection("127.0.0.1", lab.port, timeout=300) for _ in range(4)]
    for connection in connections:
        connection.request("POST", "/api/export", json.dumps({"document": LONG, "form": "csv"}), lab.headers)
    until(lambda: len(lab.lab.askings) == 4)
    assert lab.ask("start")[0] == 200
    status, answer = lab.ask("check", document=LONG)
    assert status == 422 and "4 requests" in answer["error"]["message"]
    lab.lab.stop_all()
    for connection in connections:
        assert connection.getresponse().status == 422
        connection.close()


def test_what_cannot_be_a_file_or_a_document_is_a_sentence(serve, tmp_path):
    (tmp_path / "x.toml").symlink_to("x.toml")
    (tmp_path / "good.toml").write_text("question = 'q'\n[scenario]\nduration = '1s'\n")
    lab = serve(tmp_path)
    assert lab.request("GET", f"/static/{'a' * 5000}")[0] == 404
    status, answer = lab.ask("studies")
    assert status == 200 and "good.toml" in [one["name"] for one in answer["studies"]]
    for route, asked in (
        ("toml", {"document": {"a": [None]}}),
        ("toml", {"document": {"a": "\ud800"}}),
        ("check", {"document": json.loads('{"a":' * 900 + "1" + "}" * 900)}),
        ("study", {"name": "a" * 300}),
        ("study", {"name": "x.toml"}),
        ("check", {"document": scenario_with("x.toml")}),
    ):
        status, answer = lab.ask(route, **asked)
        assert status == 422 and answer["error"]["message"], (route, answer)


def test_every_answer_has_the_policy(lab):
    for path in ("/", "/static/app.js", "/nothing"):
        headers = lab.request("GET", path)[1]
        policy = headers["content-security-policy"]
        assert "script-src 'self';" in policy and "default-src 'none'" in policy and "unsafe" not in policy
        assert headers["x-content-type-options"] == "nosniff" and headers["referrer-policy"] == "no-referrer"


def test_the_page_has_no_script_of_its_own_and_names_no_other_server(lab):
    page = lab.request("GET", "/")[2].decode()
    assert "<script>" not in page and " on" not in page.replace(" onto", "") and "style=" not in page
    assert "http" not in page.replace("http-equiv", "")


@pytest.mark.parametrize(
    "path",
    [
        "/static/../app.py",
        "/static/..%2fapp.py",
        "/static/%2e%2e/app.py",
        "/static//etc/passwd",
        "/static/%00",
        "/page/../part.py",
    ],
)
def test_files_outside_the_served_folders_are_not_sent(lab, path):
    status, _, body = lab.request("GET", path)
    assert status == 404 and b"import" not in body and b"root:" not in body


def scenario_with(file: str) -> dict:
    service = {"kind": "trace", "file": file}
    return {"duration": "1s", "network": {"kind": "dumbbell", "flows": 1, "bottleneck": {"service": service}}}


def test_a_scenario_reads_only_files_of_the_folder(serve, tmp_path):
    folder = tmp_path / "folder"
    folder.mkdir()
    (tmp_path / "secret").write_text("1\n2\n3\n")
    (folder / "trace").write_text("1\n2\n3\n")
    (folder / "link").symlink_to(tmp_path / "secret")
    lab = serve(folder)
    assert lab.ask("check", document=scenario_with("trace"))[0] == 200
    for name in ("../secret", str(tmp_path / "secret"), "link", "/etc/passwd", "a/../../secret"):
        status, answer = lab.ask("check", document=scenario_with(name))
        assert status == 422 and "below the folder" in answer["error"]["message"]
        assert answer["error"]["path"] == "network.bottleneck.service.file"


# A working algorithm that leaves a trace when it is executed.
ALGORITHM = (
    f'{Path(reno.__file__).read_text(encoding="utf-8")}\nfrom pathlib import Path\nPath(__file__).with_name("executed").touch()\n'
)
CLASS = next(name for name, one in vars(reno).items() if isinstance(one, type) and one.__module__ == reno.__name__)


@pytest.mark.parametrize(
    "cc", [f"mine.py:{CLASS}", {"python": f"mine.py:{CLASS}"}, {"name": f"mine.py:{CLASS}"}, "os:getcwd", {"python": "os:getcwd"}]
)
def test_python_of_the_folder_is_not_executed_unless_allowed(serve, tmp_path, cc):
    (tmp_path / "mine.py").write_text(ALGORITHM)
    lab = serve(tmp_path)
    status, answer = lab.ask("check", document={"duration": "1s", "network": {"kind": "dumbbell", "flows": 1}, "tcp": {"cc": cc}})
    assert status == 422 and "--allow-python" in answer["error"]["hint"] and answer["error"]["path"].startswith("tcp.cc")
    assert not (tmp_path / "executed").exists()


@pytest.mark.parametrize("cc", ["libmine.so", {"native": "libmine.so"}, {"name": "./libmine.so"}])
def test_a_library_is_never_executed(serve, tmp_path, cc):
    lab = serve(tmp_path, allow_python=True)
    status, answer = lab.ask("check", document={"duration": "1s", "network": {"kind": "dumbbell", "flows": 1}, "tcp": {"cc": cc}})
    assert status == 422 and "is a library, which this server does not execute" in answer["error"]["message"]


def test_python_of_the_folder_is_executed_if_allowed_but_no_other(serve, tmp_path):
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "mine.py").write_text(ALGORITHM)
    (tmp_path / "other.py").write_text(ALGORITHM)
    lab = serve(folder, allow_python=True)
    world = {"duration": "1s", "network": {"kind": "dumbbell", "flows": 1}}
    for reference in (f"../other.py:{CLASS}", "os:getcwd"):
        assert lab.ask("check", document={**world, "tcp": {"cc": reference}})[0] == 422
    assert not (tmp_path / "executed").exists()
    assert lab.ask("check", document={**world, "tcp": {"cc": f"mine.py:{CLASS}"}})[0] == 200
    assert (folder / "executed").exists()


@pytest.mark.parametrize(
    "message",
    [
        "no JSON", "[]", "{}", json.dumps({"kind": "format the disk"}), run_message(version=2), run_message(seed=-1),
        run_message(seed="1"), run_message(further=1), "[" * 100_000, run_message(pace=0),
        '{"kind":"run","version":1,"pace":NaN}',
    ],
)  # fmt: skip
def test_what_is_no_message_closes_that_socket_with_a_reason(lab, message):
    with lab.socket() as other, lab.socket() as socket:
        socket.send(message)
        with pytest.raises(ConnectionClosed) as closed:
            socket.recv(300)
        assert closed.value.rcvd.code == 1008 and closed.value.rcvd.reason
        # It harms nothing else.
        other.send(run_message())
        assert json.loads(other.recv(20))["kind"] == "started"


@pytest.mark.parametrize(
    "wrong", [{"columns": 10**9}, {"columns": 0}, {"until_s": 0}, {"until_s": 1e300}, {"from_s": -1}, {"names": ["x"] * 100}]
)
def test_a_wish_that_cannot_be_met_closes_the_socket(lab, wrong):
    with lab.socket() as socket:
        socket.send(run_message())
        socket.recv(300)
        socket.send(json.dumps({"kind": "show", "from_s": 0, "until_s": 2, "columns": 100} | wrong))
        with pytest.raises(ConnectionClosed) as closed:
            while True:
                socket.recv(300)
        assert closed.value.rcvd.code == 1008


def test_a_binary_message_ends_the_socket(lab):
    with lab.socket() as socket:
        socket.send(b"\0" * 100)
        with pytest.raises(ConnectionClosed):
            socket.recv(300)


def test_too_large_a_scenario_is_refused(lab):
    with lab.socket() as socket:
        with pytest.raises(ConnectionClosed) as closed:
            socket.send(run_message(toml="#" * (MOST_BYTES + 10_000)))
            socket.recv(300)
        assert closed.value.rcvd.code == 1009
    status, _, body = lab.request("POST", "/api/document", json.dumps({"toml": "#" * MOST_BYTES}).encode())
    assert status == 413 and b"bytes" in body


@pytest.mark.parametrize("body", [b"no JSON", b"[1]", b"\xff", b"[" * 100_000])
def test_a_request_that_is_no_object_is_refused(lab, body):
    status, _, answer = lab.request("POST", "/api/document", body)
    assert status == 400 and json.loads(answer)["error"]["message"]


@pytest.mark.parametrize(
    ("name", "values"), [("document", {}), ("document", {"toml": 5}), ("check", {"document": {}, "seed": True})]
)
def test_a_request_with_a_wrong_value_names_it(lab, name, values):
    status, answer = lab.ask(name, **values)
    assert status == 422 and answer["error"]["message"]


def end_of(socket) -> dict:
    """Return what the server says at the end of the run of a socket."""
    while (message := json.loads(socket.recv(300)))["kind"] not in ("ended", "refused"):
        pass
    return message


def test_a_run_that_needs_too_much_is_stopped_with_a_reason(serve):
    small = serve(limits=SessionLimits(memory_bytes=3_000_000, seconds=0.3, samples=10**9))
    for text, reason in (
        ('duration = "1s"\n[network]\nkind = "dumbbell"\npairs = 1000\nflows = 10000\n', "limit is"),
        (
            'duration = "100000s"\n[network]\nkind = "dumbbell"\nflows = 2\n[record]\nevery = "1000s"\nseries = ["cwnd"]\n',
            "of computing",
        ),
    ):
        with small.socket() as socket:
            socket.send(run_message(toml=text))
            assert reason in end_of(socket)["error"]["message"]


def test_more_samples_than_allowed_are_not_kept(lab):
    with lab.socket() as socket:
        socket.send(run_message(toml=TOML.replace("2s", "1000s") + '[record]\nevery = "1us"\nseries = ["cwnd", "queue"]\n'))
        assert "record.every" in end_of(socket)["error"]["message"]


def test_a_wrong_scenario_is_refused_with_its_place(lab):
    with lab.socket() as socket:
        socket.send(run_message(toml=TOML.replace("flows = 1", 'flows = "many"')))
        refused = json.loads(socket.recv(300))
        assert refused["kind"] == "refused" and refused["error"]["path"] == "network.flows" and refused["error"]["message"]
        # The socket lives on: the user mends it.
        socket.send(run_message())
        assert json.loads(socket.recv(300))["kind"] == "started"


def test_ctrl_c_ends_the_server_and_what_it_computes(tmp_path):
    command = [sys.executable, "-m", "tonopah", "serve", str(tmp_path), "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        host, token = re.search(r"http://(\S+)/#token=(\S+)", process.stdout.readline()).groups()
        connection = http.client.HTTPConnection(host, timeout=300)
        headers = {"Authorization": f"Bearer {token}", "Origin": f"http://{host}"}
        connection.request("POST", "/api/export", json.dumps({"document": LONG, "form": "csv"}), headers)
        time.sleep(1)
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=300)
        assert (process.returncode, said) == (0, "")
        connection.close()
