package dev.troupe.run.news;

import com.fasterxml.jackson.annotation.JsonProperty;
import java.util.List;

/**
 * The recovery from a failure: a line of {@code recoveries.jsonl}. Times are milliseconds since 1970 on the wall clock.
 *
 * @param step steps that were committed by then
 * @param ranks the ranks that were restarted; empty if messages were lost and resent
 * @param reason the failure, in one sentence
 * @param detectedAtMillis when the coordinator was notified
 * @param resumedAtMillis when all ranks were ready in the new epoch and resumed
 * @param caughtUpAtMillis when the restarted ranks had repeated their part of the pass
 */
public record Recovery(@JsonProperty(required = true) int epoch, @JsonProperty(required = true) long step,
        @JsonProperty(required = true) List<Integer> ranks, @JsonProperty(required = true) String reason,
        @JsonProperty(value = "detected_ms", required = true) long detectedAtMillis,
        @JsonProperty(value = "resumed_ms", required = true) long resumedAtMillis,
        @JsonProperty(value = "caught_up_ms", required = true) long caughtUpAtMillis) {
    public Recovery {
        ranks = List.copyOf(ranks);
    }
}
