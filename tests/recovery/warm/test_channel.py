"""Frames arrive whole, in either direction, or an error says what cut them."""

from __future__ import annotations

import socket
from collections.abc import Iterator

import pytest

from lastgood.recovery.warm import Channel, ChannelError

PATIENCE = 10.0  # seconds, reached by a failing test only


@pytest.fixture
def pair() -> Iterator[tuple[Channel, Channel]]:
    left, right = (Channel(end) for end in socket.socketpair())
    yield left, right
    left.close()
    right.close()


def test_receiving_goes_on_in_the_middle_of_a_frame_after_a_timeout() -> None:
    left, right = socket.socketpair()
    channel = Channel(right)
    left.sendall(b"\x00\x00\x00\x05he")
    with pytest.raises(TimeoutError):
        channel.recv(0)
    left.sendall(b"llo")
    assert channel.recv(0) == b"hello"
    left.sendall(b"\x00\x00\x00\x05he")
    left.close()
    with pytest.raises(EOFError, match="6 bytes into a frame"):
        channel.recv(PATIENCE)


def test_what_was_sent_before_hanging_up_is_still_received(pair: tuple[Channel, Channel]) -> None:
    left, right = pair
    left.send(b"last words")
    left.close()
    assert right.recv(PATIENCE) == b"last words"
    with pytest.raises(EOFError):
        right.recv(PATIENCE)
    with pytest.raises(EOFError):
        right.send(b"anyone there?")
    with pytest.raises(EOFError, match="at this end"):
        left.recv(0)


def test_sending_to_an_end_that_does_not_read_times_out_and_hangs_up(pair: tuple[Channel, Channel]) -> None:
    left, right = pair
    with pytest.raises(TimeoutError):
        left.send(bytes(4_000_000), timeout=0.01)
    with pytest.raises(EOFError, match="into a frame"):
        right.recv(PATIENCE)


def test_a_frame_over_the_limit_is_refused_at_both_ends(pair: tuple[Channel, Channel]) -> None:
    left, right = pair
    with pytest.raises(ChannelError, match="67,108,865 bytes refused"):
        left.send(bytes(64 * 1024 * 1024 + 1), timeout=0.1)
    left.send(b"the refusal did not spoil the channel")
    assert right.recv(PATIENCE) == b"the refusal did not spoil the channel"
    right.max_frame = 10
    left.send(b"12345678901")
    with pytest.raises(ChannelError, match="11 bytes refused"):
        right.recv(PATIENCE)
