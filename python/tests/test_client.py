"""The client against a real service, started from the wheel's command."""

import subprocess
import sys
import threading

import numpy as np
import pytest

import geowalk
from geowalk import Client, ServiceError

COMMAND = [sys.executable, "-m", "geowalk._command"]


@pytest.fixture
def service(tmp_path):
    started, readers = [], []

    def start(*flags):
        arguments = ["serve", "--dir", str(tmp_path / "state"), "--listen", "127.0.0.1:0", *flags]
        process = subprocess.Popen([*COMMAND, *arguments], stderr=subprocess.PIPE, text=True)
        started.append(process)
        for line in process.stderr:
            if line.startswith("geowalk serves "):
                readers.append(threading.Thread(target=process.stderr.read))
                readers[-1].start()
                return line.split()[-1], process
        raise AssertionError("the service did not start")

    yield start
    for process in started:
        process.kill()
        process.wait()
    for reader in readers:
        reader.join()
    for process in started:
        process.stderr.close()


def rows(count, begin=0):
    of = ((k, (k * 29 % 53) / 26 - 1) for k in range(begin, begin + count))
    return [{"x": x, "z": k % 3, "label": "yes" if x > 0 else "no"} for k, x in of]


def test_learn_predict_feedback_certificate(service, tmp_path):
    url, process = service("--model", 'm={"task": "binary", "label": "label"}')
    with Client(url) as client:
        assert client.models() == ["m"]
        assert client.learn("m", rows(200)) == 200
        assert client.learn("m", rows(5), id="a") == client.learn("m", rows(5), id="a") == 205
        assert client.predict("m", {"x": np.float64(0.9), "z": np.int64(1)}) == "yes"
        assert client.predict("m", [{"x": 0.9, "z": 1}, {"x": -0.9, "z": 1}]) == ["yes", "no"]
        assert client.predict("m", {"x": 0.9, "z": 1}, proba=True)["yes"] > 0.5
        client.predict("m", {"x": 0.1, "z": 1}, id="later")
        assert client.feedback("m", "later", "yes") == 206
        assert client.certificate("m")["certificate"]["status"] == "valid"
        # What was downloaded is a model like any other.
        path = tmp_path / "m.gw"
        path.write_bytes(client.download("m"))
        assert geowalk.load(path).predict([[0.9, 1.0]]) == ["yes"]
        assert client.create("copy", path.read_bytes())["examples"] == 206
        assert client.rollback("m", 200) == 207
        assert client.describe("m")["examples"] == 200
        client.delete("copy")
        assert client.models() == ["m"]
    process.terminate()
    assert process.wait() == 0


def test_refusals_have_place_and_remedy(service):
    url, _ = service("--model", 'm={"task": "binary", "label": "label"}')
    client = Client(url, retries=0)
    with pytest.raises(ServiceError) as error:
        client.learn("m", [*rows(3), {"x": 1}])
    assert (error.value.status, error.value.line) == (422, 4)
    assert "nothing of it was learned" in error.value.remedy
    with pytest.raises(ServiceError, match="there is no model 'no'"):
        client.predict("no", {"x": 1})
    with pytest.raises(ServiceError, match="waits for a label"):
        client.feedback("m", "unknown", "yes")
    with pytest.raises(TypeError, match="cannot be sent as JSON"):
        client.learn("m", {"x": object()})
    with pytest.raises(ValueError, match="not like http"):
        Client("127.0.0.1:8080")


def test_tokens_and_a_service_that_is_gone(service, tmp_path):
    tokens = tmp_path / "tokens"
    tokens.write_text("0123456789abcdef admin *\n")
    url, process = service("--tokens", str(tokens), "--model", 'm={"task": "regression", "label": "y"}')
    with pytest.raises(ServiceError) as error:
        Client(url, "wrong").describe("m")
    assert error.value.status == 401
    client = Client(url, "0123456789abcdef", retries=1)
    assert client.learn("m", {"x": 1.0, "y": 2.0}) == 1
    process.kill()
    process.wait()
    with pytest.raises(ServiceError, match="is the service running"):
        client.learn("m", {"x": 1.0, "y": 2.0})
