package dev.troupe.output;

import dev.troupe.protocol.watch.Notice;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** The notices on a run's speed that still hold. One thread adds, any thread reads. */
final class Notices {
    private final Map<String, Notice> lasting = new LinkedHashMap<>();

    synchronized void add(Notice notice) {
        String about = switch (notice.kind()) {
            case STRAGGLER, STRAGGLER_CHANGED, STRAGGLER_ENDED -> "stages " + notice.stages() + notice.ranks();
            case ALL_SLOWER, ALL_SLOWER_ENDED -> "all";
            case PACE, PACE_ENDED -> "pace";
            case STANDBY_LOST, STANDBY_BACK -> "standby";
            case OVERLOADED -> "load";
            case LOSS_SPIKE -> "loss";
        };
        if (notice.kind().isLasting()) {
            lasting.put(about, notice);
        } else {
            lasting.remove(about);
        }
    }

    /** Returns the sentences, in the order in which they were first printed. */
    synchronized List<String> lasting() {
        return lasting.values().stream().map(Notice::sentence).toList();
    }
}
