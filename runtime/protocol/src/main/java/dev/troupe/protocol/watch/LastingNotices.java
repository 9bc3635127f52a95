package dev.troupe.protocol.watch;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** The notices on a run that are still valid. */
public final class LastingNotices {
    private final Map<String, String> sentences = new LinkedHashMap<>();

    /** Adds a notice: it replaces or ends the earlier one on its subject. */
    public void add(Notice notice) {
        add(notice.kind(), notice.stages(), notice.ranks(), notice.sentence());
    }

    /** Adds a notice that was read from a file; see {@link #add(Notice)}. */
    public void add(Notice.Kind kind, List<Integer> stages, List<Integer> ranks, String sentence) {
        String subject = switch (kind) {
            case STRAGGLER, STRAGGLER_CHANGED, STRAGGLER_ENDED -> "stages " + stages + ranks;
            case ALL_SLOWER, ALL_SLOWER_ENDED -> "all";
            case PACE, PACE_ENDED -> "pace";
            case STANDBY_LOST, STANDBY_BACK -> "standby";
            case OVERLOADED -> "load";
            case LOSS_SPIKE -> "loss";
        };
        if (kind.isLasting()) {
            sentences.put(subject, sentence);
        } else {
            sentences.remove(subject);
        }
    }

    /** Returns the sentences, in the order in which their subjects were first reported. */
    public List<String> sentences() {
        return List.copyOf(sentences.values());
    }
}
