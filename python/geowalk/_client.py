"""A client of `geowalk serve`, with the standard library alone."""

from __future__ import annotations

import http.client
import json
import time
import urllib.parse
import uuid
from collections.abc import Iterable, Mapping
from typing import Any

__all__ = ["Client", "ServiceError"]


class ServiceError(Exception):
    """The service refused a request, or did not answer.

    `status` is the HTTP status (0 without an answer), `detail` what happened, `remedy` what to do, and `line` and
    `column` the place in the rows, or None.

    >>> from geowalk import ServiceError
    >>> str(ServiceError(404, {"detail": "there is no model 'no'", "remedy": "GET /v1/models lists them"}))
    "there is no model 'no'; GET /v1/models lists them"

    Reference: RFC 9457, Problem details for HTTP APIs, 2023.
    """

    def __init__(self, status: int, problem: Mapping[str, Any]) -> None:
        self.status = status
        self.detail = str(problem.get("detail", "the service did not answer"))
        self.remedy = str(problem.get("remedy", ""))
        self.line = problem.get("line")
        self.column = problem.get("column")
        super().__init__("; ".join(part for part in (self.detail, self.remedy) if part))


def _plain(value: Any) -> Any:
    """numpy scalars and arrays as JSON has them."""
    if hasattr(value, "tolist"):
        return value.tolist()
    raise TypeError(f"{type(value).__name__} cannot be sent as JSON; use numbers, texts, None, lists or dictionaries")


class Client:
    """A connection to `geowalk serve`.

    Rows are dictionaries from names to numbers or texts. `learn` sends each batch with an id, so a batch that is sent
    again after a lost answer is learned from once.

    >>> from geowalk import Client
    >>> client = Client("http://127.0.0.1:8080")                                    # doctest: +SKIP
    >>> client.learn("churn", [{"age": 31, "plan": "pro", "label": "stays"}])       # doctest: +SKIP
    >>> client.predict("churn", {"age": 40, "plan": "free"})                        # doctest: +SKIP
    'leaves'

    A client is not for several threads at once: give each thread one.

    Reference: RFC 9110, HTTP semantics, 2022.
    """

    def __init__(self, url: str, token: str | None = None, *, timeout: float = 30.0, retries: int = 5) -> None:
        parts = urllib.parse.urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ValueError(f"the address {url!r} is not like http://127.0.0.1:8080")
        kind = http.client.HTTPSConnection if parts.scheme == "https" else http.client.HTTPConnection
        self._connection = kind(parts.hostname, parts.port, timeout=timeout)
        self._prefix = parts.path.rstrip("/")
        self._headers = {"Authorization": f"Bearer {token}"} if token else {}
        self._retries = retries

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Closes the connection; the next request opens it again."""
        self._connection.close()

    def _ask(
        self, method: str, path: str, body: Any = None, kind: str = "application/json", *, again: bool = True
    ) -> bytes:
        """Sends a request; a busy or lost service is asked again if the request can be repeated."""
        data = body
        if body is not None and not isinstance(body, bytes):
            data = json.dumps(body, default=_plain, allow_nan=False).encode()
        headers = {**self._headers, **({"Content-Type": kind} if data is not None else {})}
        if not again:
            # The service may have closed an idle connection; this request cannot be sent twice.
            self._connection.close()
        for attempt in range(self._retries + 1):
            last = attempt == self._retries
            try:
                self._connection.request(method, self._prefix + path, data, headers)
                answer = self._connection.getresponse()
                content = answer.read()
            except (OSError, http.client.HTTPException) as error:
                self._connection.close()
                if last or not again:
                    raise ServiceError(0, {"detail": f"no answer: {error}", "remedy": "is the service running?"}) from error
            else:
                if answer.status < 400:
                    return content
                # A refusal may come before the request was read; the service then closes the connection.
                self._connection.close()
                if answer.status != 429 or last:
                    try:
                        problem = json.loads(content)
                    except ValueError:
                        problem = {"detail": f"status {answer.status}"}
                    raise ServiceError(answer.status, problem)
            time.sleep(min(0.1 * 2**attempt, 2.0))
        raise AssertionError("unreachable")

    @staticmethod
    def _path(model: str, what: str = "", **query: str | None) -> str:
        pairs = {key: value for key, value in query.items() if value is not None}
        tail = f"/{what}" if what else ""
        question = f"?{urllib.parse.urlencode(pairs)}" if pairs else ""
        return f"/v1/models/{urllib.parse.quote(model, safe='')}{tail}{question}"

    @staticmethod
    def _lines(rows: Mapping[str, Any] | Iterable[Mapping[str, Any]]) -> bytes:
        rows = [rows] if isinstance(rows, Mapping) else rows
        return "".join(json.dumps(dict(row), default=_plain, allow_nan=False) + "\n" for row in rows).encode()

    def create(self, model: str, settings: Mapping[str, Any] | bytes) -> dict[str, Any]:
        """Creates a model from settings such as `{"task": "binary"}`, or from the bytes of a model file."""
        if isinstance(settings, bytes):
            return json.loads(self._ask("POST", self._path(model), settings, "application/octet-stream", again=False))
        return json.loads(self._ask("POST", self._path(model), dict(settings), again=False))

    def describe(self, model: str) -> dict[str, Any]:
        """Settings, metrics and state of a model."""
        return json.loads(self._ask("GET", self._path(model)))

    def models(self) -> list[str]:
        """The names of the models."""
        return json.loads(self._ask("GET", "/v1/models"))["models"]

    def delete(self, model: str) -> None:
        """Removes a model and all its rows."""
        self._ask("DELETE", self._path(model), again=False)

    def predict(
        self,
        model: str,
        rows: Mapping[str, Any] | Iterable[Mapping[str, Any]],
        *,
        proba: bool = False,
        id: str | None = None,
    ) -> Any:
        """The prediction of a row, or a list of those of several; with `proba` the probabilities of the classes.

        With an `id`, one row waits for its label: see `feedback`.
        """
        one = isinstance(rows, Mapping)
        path = self._path(model, "predict", id=id, proba="true" if proba else None)
        answer = json.loads(self._ask("POST", path, self._lines(rows), "application/x-ndjson"))
        found = answer["probabilities"] if proba and "probabilities" in answer else answer["predictions"]
        return found[0] if one else found

    def learn(
        self, model: str, rows: Mapping[str, Any] | Iterable[Mapping[str, Any]], *, id: str | None = None
    ) -> int:
        """Learns from rows with labels, all of them or none; gives the sequence number once they are on disk."""
        path = self._path(model, "learn", id=id or uuid.uuid4().hex)
        return json.loads(self._ask("POST", path, self._lines(rows), "application/x-ndjson"))["sequence"]

    def feedback(self, model: str, id: str, label: Any) -> int:
        """Learns from a row that was predicted with this id; gives the sequence number once it is on disk."""
        body = {"id": id, "label": label}
        return json.loads(self._ask("POST", self._path(model, "feedback"), body))["sequence"]

    def certificate(self, model: str) -> dict[str, Any]:
        """The guarantees of a model, and the difference to its shadow."""
        return json.loads(self._ask("GET", self._path(model, "certificate")))

    def rollback(self, model: str, sequence: int) -> int:
        """Goes back to the state after a sequence number that the service answered."""
        answer = self._ask("POST", self._path(model, "rollback"), {"sequence": sequence}, again=False)
        return json.loads(answer)["sequence"]

    def download(self, model: str) -> bytes:
        """The model file: what `geowalk.load` reads once it is saved."""
        return self._ask("GET", self._path(model, "model"))
