package dev.troupe.run.news;

import java.util.List;

/**
 * The recovery from a failure. Times are milliseconds of the wall clock.
 *
 * @param epoch the epoch that began with it
 * @param step steps that were committed by then
 * @param ranks the ranks that were restarted; empty if messages were lost and resent
 * @param reason the failure, in one sentence
 * @param detectedAtMillis when the coordinator was notified
 * @param resumedAtMillis when all ranks were ready in the new epoch and resumed
 * @param caughtUpAtMillis when the restarted ranks had repeated their part of the pass
 */
public record Recovery(int epoch, long step, List<Integer> ranks, String reason, long detectedAtMillis,
        long resumedAtMillis, long caughtUpAtMillis) {
    public Recovery {
        ranks = List.copyOf(ranks);
    }
}
