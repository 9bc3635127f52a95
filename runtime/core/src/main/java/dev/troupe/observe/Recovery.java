package dev.troupe.observe;

import java.util.List;

/**
 * What was done about a failure. Times are milliseconds of the wall clock.
 *
 * @param epoch the epoch that began with it
 * @param step steps that were committed by then
 * @param ranks the ranks that were restarted; none where messages were lost and sent again
 * @param reason what had happened, in one sentence
 * @param detectedAtMillis when the coordinator heard of it
 * @param resumedAtMillis when all ranks were ready in the new epoch and were told to resume
 * @param caughtUpAtMillis when the restarted ranks had done again what the pass had asked of them
 */
public record Recovery(int epoch, long step, List<Integer> ranks, String reason, long detectedAtMillis,
        long resumedAtMillis, long caughtUpAtMillis) {
    public Recovery {
        ranks = List.copyOf(ranks);
    }
}
