package dev.troupe.schedule.drawing;

import dev.troupe.schedule.timeline.Span;
import dev.troupe.schedule.timeline.Timeline;

/** A timeline as a table: a line an action, by rank and then by start, for a spreadsheet or a script. */
public final class TimelineCsv {
    private TimelineCsv() {
    }

    /** The table with its header; every line ends in a line feed. */
    public static String write(Timeline timeline) {
        StringBuilder csv = new StringBuilder("rank,action,stage,kind,microbatch,start_nanos,end_nanos\n");
        for (Span span : timeline.spans()) {
            csv.append(span.rank()).append(',').append(span.action()).append(',').append(span.action().stage())
                    .append(',').append(span.action().kind().code()).append(',').append(span.action().microbatch())
                    .append(',').append(span.startNanos()).append(',').append(span.endNanos()).append('\n');
        }
        return csv.toString();
    }
}
