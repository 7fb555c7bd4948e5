"""The corpus: the same everywhere, unambiguous, and of the entropy that its grammar says."""

import hashlib
import math
import random
from collections import Counter

import pytest

from lastgood.training import logbook
from lastgood.training.logbook import (
    Vocabulary,
    chain,
    derivations,
    draw,
    entropy,
    generate,
    mean_length,
    one_of,
)


def test_a_seed_gives_the_same_text_on_every_platform() -> None:
    digest = hashlib.sha256(generate(18, 10_000).encode()).hexdigest()
    assert digest == "0fe115043610eca69cb299a91d189510fb5a3a1d02cb53e2d4c55c6248f9995d"


def test_a_longer_text_begins_with_the_shorter_one() -> None:
    assert generate(3, 5_000).startswith(generate(3, 777))
    assert len(generate(3, 777)) == 777
    assert generate(3, 777) != generate(4, 777)


def test_entropy_of_a_small_grammar_is_that_of_its_texts_written_out() -> None:
    node = chain(one_of("a", "b", weights=[3, 1]), one_of("x", chain("y", one_of("0", "1"))))
    texts = {"ax": 3 / 8, "ay0": 3 / 16, "ay1": 3 / 16, "bx": 1 / 8, "by0": 1 / 16, "by1": 1 / 16}
    assert entropy(node) == pytest.approx(-sum(p * math.log(p) for p in texts.values()))
    assert mean_length(node) == pytest.approx(sum(p * len(text) for text, p in texts.items()))
    source = random.Random(0)
    counts = Counter(draw(node, source) for _ in range(8_000))
    assert counts.keys() == texts.keys()
    assert all(counts[text] / 8_000 == pytest.approx(p, abs=0.02) for text, p in texts.items())


def test_no_line_has_two_derivations_and_their_surprise_averages_to_the_entropy() -> None:
    lines = generate(5, 60_000).splitlines(keepends=True)[:-1]
    surprise = 0.0
    for line in lines:
        whole = [log_p for log_p, rest in derivations(logbook.LINE, line) if not rest]
        assert len(whole) == 1, line
        surprise -= whole[0]
    per_character = surprise / sum(map(len, lines))
    assert per_character == pytest.approx(logbook.ENTROPY, rel=0.01)  # 1,500 lines: a standard error of 0.2%


def test_vocabulary_round_trip_covers_every_character_of_the_corpus() -> None:
    vocabulary, text = Vocabulary(), generate(1, 3_000)
    assert set(text) <= set(vocabulary.characters)
    assert vocabulary.decode(vocabulary.encode(text)) == text


def test_an_unknown_character_is_named_with_its_place() -> None:
    with pytest.raises(ValueError, match="'Q' at position 2"):
        Vocabulary().encode("noQde")


def test_a_negative_length_is_refused() -> None:
    with pytest.raises(ValueError, match="n_chars=-1"):
        generate(1, -1)
