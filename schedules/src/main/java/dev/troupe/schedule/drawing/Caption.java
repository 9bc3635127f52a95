package dev.troupe.schedule.drawing;

import dev.troupe.schedule.timeline.Timeline;

/** The text over the drawing of a timeline. */
final class Caption {
    private Caption() {
    }

    static String of(Timeline timeline, TimeScale scale) {
        return timeline.title() + ": " + numbers(timeline, scale);
    }

    static String numbers(Timeline timeline, TimeScale scale) {
        return scale.text(timeline.endNanos()) + "; bubble " + percent(timeline.bubbleOverIdeal()) + " of ideal time, "
                + percent(timeline.bubbleOverTotal()) + " of total";
    }

    private static String percent(double fraction) {
        return TimeScale.number(Math.round(1000 * fraction) / 10.0) + "%";
    }
}
