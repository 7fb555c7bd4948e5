"""Framed bytes between two processes: what a warm worker and its owner talk through.

A frame is four bytes of length (big-endian) and then the data. Bytes only: what they mean is agreed
between the two ends, and reading a frame never runs anything that the other end chose.
"""

from __future__ import annotations

import contextlib
import json
import math
import select
import socket
import struct
import time
from collections.abc import Sequence

MAX_FRAME = 64 * 1024 * 1024  # bytes
Argument = bytes | str | int | float | None
_LENGTH = struct.Struct(">I")
_CHUNK = 256 * 1024  # bytes a read; about what a Unix socket buffers


class ChannelError(Exception):
    """A frame is larger than the channel allows, or an argument of a kind that it does not carry."""


def frame(data: bytes) -> bytes:
    """`data` with its length in front, as it travels."""
    return _LENGTH.pack(len(data)) + data


def deadline_after(timeout: float | None) -> float | None:
    """The `time.monotonic()` at which `timeout` seconds will be over; None never comes."""
    return None if timeout is None else time.monotonic() + timeout


def wait_until(sock: socket.socket, event: int, deadline: float | None) -> None:
    """Block until `sock` is ready for `event` (POLLIN or POLLOUT) or has failed.

    Raises TimeoutError at the deadline.
    """
    poller = select.poll()  # select.select refuses descriptors above 1023
    poller.register(sock, event)
    left_ms = None if deadline is None else math.ceil(max(0.0, deadline - time.monotonic()) * 1000)
    if not poller.poll(left_ms):
        raise TimeoutError("nothing happened on the channel before the deadline")


class Channel:
    """One end of a socket pair that carries whole frames.

    One thread may send while another receives; two at once in the same direction need a lock of
    their own. A channel that is no longer referenced closes itself.
    """

    def __init__(self, sock: socket.socket, max_frame: int = MAX_FRAME) -> None:
        self._socket = sock
        sock.setblocking(False)  # waiting is done by deadline, each direction with its own
        self._received = bytearray()
        self.max_frame = max_frame  # bytes of data, the length field not counted

    def send(self, data: bytes, timeout: float | None = None) -> None:
        """Send one frame; `timeout` in seconds, None waits until the other end has read enough.

        Raises ChannelError if `data` exceeds `max_frame`; EOFError if the other end is gone;
        TimeoutError. A send that was interrupted or timed out closes the channel.
        """
        if len(data) > self.max_frame:
            raise ChannelError(
                f"frame of {len(data):,} bytes refused: this channel sends at most {self.max_frame:,}. "
                "Send it in parts."
            )
        try:
            self._send_all(memoryview(frame(data)), deadline_after(timeout))
        except BaseException:
            self.close()  # half a frame cannot be taken back, and the next would be read as its rest
            raise

    def recv(self, timeout: float | None = None) -> bytes:
        """Receive one frame; `timeout` in seconds, None waits forever.

        Raises EOFError once the other end has closed and all it sent was read; TimeoutError, after
        which the frame can be asked for again; ChannelError, closing the channel, if the other end
        announces more than `max_frame` bytes.
        """
        deadline = deadline_after(timeout)
        self._fill(_LENGTH.size, deadline)
        (size,) = _LENGTH.unpack_from(self._received)
        if size > self.max_frame:
            self.close()
            raise ChannelError(
                f"frame of {size:,} bytes refused: this channel receives at most {self.max_frame:,}. "
                "It is closed now, because what follows cannot be read."
            )
        self._fill(_LENGTH.size + size, deadline)
        data = bytes(self._received[_LENGTH.size :])
        self._received.clear()
        return data

    def end_sending(self) -> None:
        """Tell the other end that nothing more comes; receiving goes on."""
        with contextlib.suppress(OSError):  # closed here, or by the other end: either way it is told
            self._socket.shutdown(socket.SHUT_WR)

    def close(self) -> None:
        """Hang up; the other end then reads EOFError. Closing twice does nothing."""
        self._socket.close()

    def __del__(self) -> None:
        self.close()

    def _send_all(self, rest: memoryview, deadline: float | None) -> None:
        while rest:
            self._require_open()
            try:
                rest = rest[self._socket.send(rest) :]
            except BlockingIOError:
                wait_until(self._socket, select.POLLOUT, deadline)
            except (BrokenPipeError, ConnectionResetError) as error:
                raise EOFError("the other end of the channel is gone") from error

    def _fill(self, size: int, deadline: float | None) -> None:
        """Read until `size` bytes are buffered, never past them: the next frame stays in the socket."""
        while len(self._received) < size:
            self._require_open()
            try:
                chunk = self._socket.recv(min(size - len(self._received), _CHUNK))
            except BlockingIOError:
                wait_until(self._socket, select.POLLIN, deadline)
                continue
            except ConnectionResetError:
                chunk = b""
            if not chunk:
                cut = f", {len(self._received)} bytes into a frame" if self._received else ""
                raise EOFError(f"the other end has closed the channel{cut}")
            self._received += chunk

    def _require_open(self) -> None:
        if self._socket.fileno() < 0:
            raise EOFError("this channel was closed at this end")


def encode_arguments(args: Sequence[Argument]) -> list[bytes]:
    """The frames that carry `args`: the plain ones as JSON, then one frame for each bytes."""
    for place, arg in enumerate(args, start=1):
        if not isinstance(arg, bytes | str | int | float | None):
            raise ChannelError(
                f"argument {place} is a {type(arg).__name__}: only bytes, str, int, float and None travel. "
                "Turn it into bytes first."
            )
    header = [[False, None] if isinstance(arg, bytes) else [True, arg] for arg in args]
    return [json.dumps(header).encode(), *(arg for arg in args if isinstance(arg, bytes))]


def recv_arguments(channel: Channel) -> list[Argument]:
    """Read what `encode_arguments` made. Raises EOFError if the other end is gone."""
    return [value if plain else channel.recv() for plain, value in json.loads(channel.recv())]
