"""A network between a client and a server that can be cut after so many bytes, or fall silent."""

from __future__ import annotations

import contextlib
import socket
import threading

CHUNK = 1 << 14


class Proxy:
    """Passes on what comes, until it is told to do worse."""

    def __init__(self, port: int) -> None:
        self.target = port
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = int(self.listener.getsockname()[1])
        # Bytes, in both directions together, after which every connection is cut.
        self.left: int | None = None
        self.is_silent = False
        # Words that nothing follows, and are not passed on themselves.
        self.last_words: bytes | None = None
        # Words that, once they pass, leave so many bytes before the cut.
        self.inside: tuple[bytes, int] | None = None
        self.open: list[socket.socket] = []
        threading.Thread(target=self._accept, daemon=True).start()

    def cut_after(self, size: int | None) -> None:
        self.left = size

    def cut_inside(self, words: bytes, size: int) -> None:
        """Cut so many bytes after these words went by."""
        self.inside = words, size

    def close(self) -> None:
        self.listener.close()
        self.hang_up()

    def hang_up(self) -> None:
        for one in self.open:
            with contextlib.suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)
            one.close()
        self.open.clear()

    def _accept(self) -> None:
        while True:
            try:
                near, _ = self.listener.accept()
            except OSError:
                return
            try:
                far = socket.create_connection(("127.0.0.1", self.target), 5)
                far.settimeout(None)
            except OSError:
                near.close()
                continue
            self.open += [near, far]
            for one, other in ((near, far), (far, near)):
                threading.Thread(target=self._pass_on, args=(one, other), daemon=True).start()

    def _pass_on(self, one: socket.socket, other: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while data := one.recv(CHUNK):
                if self.last_words is not None and self.last_words in data:
                    self.is_silent, self.last_words = True, None
                if self.is_silent:
                    continue
                if self.inside is not None and self.inside[0] in data:
                    self.left, self.inside = len(data) + self.inside[1], None
                if self.left is not None:
                    data = data[: self.left]
                    self.left -= len(data)
                other.sendall(data)
                if self.left == 0:
                    break
        for end in (one, other):
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
