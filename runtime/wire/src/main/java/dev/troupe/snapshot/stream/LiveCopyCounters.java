package dev.troupe.snapshot.stream;

import dev.troupe.snapshot.copy.CopyCounters;
import java.util.concurrent.atomic.LongAdder;

/** The counters of the copying thread. Any thread reads. */
final class LiveCopyCounters {
    final LongAdder bytesSent = new LongAdder();
    final LongAdder sent = new LongAdder();
    final LongAdder brokenOff = new LongAdder();
    final LongAdder received = new LongAdder();
    final LongAdder refused = new LongAdder();

    CopyCounters counters() {
        return new CopyCounters(bytesSent.sum(), sent.sum(), brokenOff.sum(), received.sum(), refused.sum());
    }
}
