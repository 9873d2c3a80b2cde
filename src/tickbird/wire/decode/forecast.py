"""What is to be expected of the next days."""

from __future__ import annotations

from tickbird.domain.forecast.forecast import Forecast, ForecastComparison, HourStats, QueueForecast, ScheduleForecast
from tickbird.domain.forecast.suggestions import Suggestion
from tickbird.wire.decode.parts import Document, maybe, second


def read_simulation(document: Document) -> ForecastComparison:
    """As things are, and as they would be."""
    return ForecastComparison(_forecast(document["baseline"]), maybe(_forecast, document["what_if"]))


def _forecast(document: Document) -> Forecast:
    lateness = document["lateness"]
    plain = ("schedules", "without_history", "assumed", "paused", "unserved", "workers", "slots", "ticks", "runs")
    after = ("skips", "cancelled", "overlaps", "lost", "held", "left_over")
    return Forecast(
        start=second(document["from"]),
        end=second(document["to"]),
        **{name: document[name] for name in (*plain, *after)},
        peak=document["peak"]["busy"],
        peak_at=second(document["peak"]["at"]),
        max_queued=document["max_queued"]["runs"],
        max_queued_at=second(document["max_queued"]["at"]),
        lateness={name: lateness[name] for name in ("p50", "p99", "max")},
        latest=None if lateness["schedule"] is None else (lateness["schedule"], second(lateness["at"])),
        hours=[HourStats(second(each["at"]), each["ticks"], each["runs"], each["busy"]) for each in document["hours"]],
        busiest=[(second(each["at"]), each["ticks"]) for each in document["busiest_minutes"]],
        queues=[
            QueueForecast(
                each["name"],
                each["slots"],
                each["runs"],
                each["peak"],
                second(each["peak_at"]),
                each["worst_lateness"],
            )
            for each in document["queues"]
        ],
        rows=[
            ScheduleForecast(
                each["name"],
                each["runs"],
                each["skips"],
                each["cancelled"],
                each["worst_lateness"],
                each["duration"],
                each["has_history"],
            )
            for each in document["by_schedule"]
        ],
        suggestions=[
            Suggestion(
                each["schedule"],
                each["cron"],
                each["to_cron"],
                each["minute"],
                each["to_minute"],
                each["others"],
                each["others_then"],
            )
            for each in document["suggestions"]
        ],
    )
