package dev.troupe.schedule.drawing;

import dev.troupe.schedule.timeline.Span;
import dev.troupe.schedule.timeline.Timeline;

/** A timeline as a table: a line an action, by rank and then by start, for a spreadsheet or a script. */
public final class TimelineCsv {
    private TimelineCsv() {
    }

    /** Returns the table with its header, times in the unit of a scale; every line ends in a line feed. */
    public static String write(Timeline timeline, TimeScale scale) {
        StringBuilder csv = new StringBuilder("rank,action,stage,kind,microbatch,start,end\n");
        for (Span span : timeline.spans()) {
            csv.append(span.rank()).append(',').append(span.action()).append(',').append(span.action().stage())
                    .append(',').append(span.action().kind().code()).append(',').append(span.action().microbatch())
                    .append(',').append(scale.plain(span.startNanos())).append(',').append(scale.plain(span.endNanos()))
                    .append('\n');
        }
        return csv.toString();
    }
}
