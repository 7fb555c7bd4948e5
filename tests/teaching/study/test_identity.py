"""A question over edits: what keeps its id, and what does not."""

import itertools

import pytest

from lastgood.teaching.study.identity import LEDGER, IdentityError, identify, known

SAVE = "Why does saving more often reduce what a failure can destroy, and what do you pay for it?"
CLIP = "Gradient clipping looks at the global norm. What happens to a gradient whose norm is above it?"
RATE = "Does a larger model get a higher or a lower maximum learning rate?"


def ids(*texts, before=()):
    return identify(texts, dict(before))


def named(*texts):
    return dict(zip(ids(*texts), texts, strict=True))


def test_ids_come_from_the_text_so_that_every_machine_has_the_same():
    assert ids(SAVE) == ids(SAVE)
    assert len(set(ids(SAVE, CLIP, RATE))) == 3
    assert ids(CLIP, SAVE) == ids(SAVE, CLIP)[::-1]


@pytest.mark.parametrize(
    "edit",
    [
        SAVE.replace("reduce", "limit"),
        SAVE.replace(", and what do you pay for it", ", and what does it cost you"),
        SAVE.upper(),
        SAVE.replace("failure", "[failure](../../glossary.md#failure)").replace("often", "*often*"),
    ],
)
def test_a_small_edit_leaves_it_what_it_was(edit):
    assert ids(edit, CLIP, before=named(SAVE, CLIP)) == ids(SAVE, CLIP)


@pytest.mark.parametrize(
    "edit",
    [SAVE.partition(",")[0] + "?", "What do you pay for saving more often?", "Why?", RATE],
)
def test_a_large_edit_is_another_question(edit):
    assert ids(edit, before=named(SAVE))[0] not in named(SAVE)


def test_small_edits_one_after_another_keep_the_id_of_the_first():
    before = named(SAVE)
    for old, new in [("reduce", "limit"), ("destroy", "take"), ("failure", "crash"), ("pay", "give")]:
        edit = next(iter(before.values())).replace(old, new)
        before = dict(zip(ids(edit, before=before), [edit], strict=True))
    assert list(before) == ids(SAVE)


@pytest.mark.parametrize("order", list(itertools.permutations([SAVE, CLIP, RATE])))
def test_questions_that_move_or_change_places_stay_themselves(order):
    before = named(SAVE, CLIP, RATE)
    assert [before[name] for name in ids(*order, before=before)] == list(order)


def test_two_like_questions_that_change_places_and_are_edited_go_to_the_most_alike():
    one, other = (
        "What does a checkpoint without moments lose after a crash?",
        "What does a checkpoint without steps lose after a crash?",
    )
    before = named(one, other)
    edits = other.replace("a crash", "the crash"), one.replace("a crash", "the crash")
    assert [before[name] for name in ids(*edits, before=before)] == [other, one]


def test_a_question_beside_a_deleted_one_does_not_take_its_place():
    assert ids(CLIP, RATE, before=named(SAVE, CLIP, RATE)) == ids(CLIP, RATE)


def test_one_history_goes_to_one_question():
    copies = SAVE.replace("reduce", "limit"), SAVE.replace("often", "seldom")
    found = ids(*copies, before=named(SAVE))
    assert len(set(found)) == 2
    assert len(set(found) & named(SAVE).keys()) == 1


def test_a_text_that_an_edited_question_once_had_is_a_new_question():
    edit = SAVE.replace("reduce", "limit")
    before = dict(zip(ids(edit, before=named(SAVE)), [edit], strict=True))
    kept, fresh = ids(edit, SAVE, before=before)
    assert kept in before
    assert fresh != kept


@pytest.mark.parametrize("content", ["{", "[]", '{"a": 1}', "\xff"])
def test_a_ledger_that_cannot_be_read_says_how_to_get_it_back(tmp_path, content):
    (tmp_path / "course").mkdir()
    (tmp_path / LEDGER).write_text(content, encoding="latin-1")
    with pytest.raises(IdentityError, match=r"git checkout course/cards\.json"):
        known(tmp_path)


def test_without_a_ledger_nothing_is_known(tmp_path):
    assert known(tmp_path) == {}
