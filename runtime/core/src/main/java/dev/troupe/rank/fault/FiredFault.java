package dev.troupe.rank.fault;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonProperty;
import dev.troupe.config.fault.FaultMessage;
import dev.troupe.config.fault.FaultPoint;
import dev.troupe.config.fault.FaultSpec;
import java.util.Optional;

/**
 * A fault that has struck: a line of {@code faults.jsonl}.
 *
 * @param timeMillis the time, on the wall clock, in milliseconds since 1970
 * @param index the index of the fault in the run, from 0
 * @param microbatch the microbatch; -1 at points that come once in a step
 * @param message the message that is sent or received; empty at other points
 */
public record FiredFault(@JsonProperty(value = "time_ms", required = true) long timeMillis,
        @JsonProperty(required = true) String fault, @JsonProperty(required = true) int index,
        @JsonProperty(required = true) String node, @JsonProperty(required = true) FaultPoint point,
        @JsonProperty(required = true) int rank, @JsonProperty(required = true) int stage,
        @JsonProperty(required = true) long step, @JsonProperty(required = true) int microbatch,
        @JsonInclude(JsonInclude.Include.NON_ABSENT) Optional<FaultMessage> message) {

    static FiredFault of(FaultSpec fault, int index, String node, FaultSite site, long timeMillis) {
        return new FiredFault(timeMillis, fault.text(), index, node, site.point(), site.rank(), site.stage(),
                site.step(), site.microbatch(), site.message());
    }

    /** Whether this is the same fault of the run; a resumed run may have other faults. */
    boolean isOf(FiredFault other) {
        return index == other.index && fault.equals(other.fault);
    }

    boolean isAt(FaultSite site) {
        return site.equals(site());
    }

    /** Whether the fault struck at a site that another fault matches, without its probability. */
    public boolean isWhere(FaultSpec other) {
        return site().matches(other);
    }

    private FaultSite site() {
        return new FaultSite(point, rank, stage, step, microbatch, message);
    }
}
