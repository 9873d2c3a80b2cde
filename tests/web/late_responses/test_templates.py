"""Every request that a template sends has a test in this folder."""

import re
from collections import Counter
from pathlib import Path

import tickbird.web

TEMPLATES = Path(tickbird.web.__file__).parent / "templates"
# Every element of a template that sends a request, and the test that holds its response back.
COVERED = {
    ("actions/trigger.html", "hx-get"): 1,  # test_a_recent_payload_keeps_newer_input
    ("macros.html", "hx-get"): 2,  # action: test_the_last_opener_wins; live: test_a_live_refresh_keeps_ticked_rows
    ("macros.html", "hx-post"): 2,  # sends_form: test_a_late_refusal_keeps_newer_input; following_cli
    ("preview_part.html", "hx-post"): 2,  # test_a_late_preview_…, test_the_fields_of_another_task_…
    ("schedule.html", "hx-get"): 1,  # “change” of a tick, by opens_dialog: test_a_late_refusal_keeps_newer_input
    ("schedules.html", "hx-get"): 1,  # test_a_late_list_keeps_a_newer_search
    ("schedules.html", "hx-post"): 1,  # the buttons for many, by opens_dialog: test_a_late_refusal_keeps_newer_input
}
# Templates with a form that `sends_form` sends; actions/frame.html and event_frame.html are the frames of actions.
SENT = {"actions/frame.html", "actions/event_frame.html", "bulk.html", *(f"{name}.html" for name in (
    "backfill_cancel", "drain", "held_decide", "resign", "run_cancel", "run_change", "run_resolve",
    "run_retry"))}  # fmt: skip


def test_every_request_of_a_template_is_covered() -> None:
    """A request that is added later needs a test, too; a form is sent by the one macro that does it right."""
    found: Counter[tuple[str, str]] = Counter()
    sent = set()
    for path in TEMPLATES.rglob("*.html"):
        name, text = path.relative_to(TEMPLATES).as_posix(), path.read_text()
        found.update((name, verb) for verb in re.findall(r"\b(hx-(?:get|post|put|patch|delete|boost))=", text))
        # Parts out of band are swapped past keep_input.js: only readings of instants, which hold no field.
        assert text.count("hx-select-oob=") == (name == "macros.html"), name
        if "{{ sends_form(" in text:
            sent.add(name)
        for tag in re.findall(r"<[^>]*hx-(?:get|post)=[^>]*(?:#dialog-body|closest #form)[^>]*>", text):
            assert "hx-sync=" in tag, f"{name}: a request for a form without hx-sync: {tag}"
    assert found == COVERED
    assert sent == SENT
