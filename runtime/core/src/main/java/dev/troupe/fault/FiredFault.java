package dev.troupe.fault;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonProperty;
import dev.troupe.config.fault.FaultMessage;
import dev.troupe.config.fault.FaultPoint;
import dev.troupe.config.fault.FaultSpec;
import java.util.Optional;

/**
 * A fault that has struck: a line of {@code faults.jsonl}.
 *
 * @param timeMillis
 *            the time, on the wall clock, in milliseconds since 1970
 * @param fault
 *            the fault as text
 * @param index
 *            the index of the fault in the run, from 0
 * @param node
 *            the node it struck
 * @param point
 *            the point of the step
 * @param rank
 *            the rank it struck
 * @param stage
 *            the stage
 * @param step
 *            the optimizer step
 * @param microbatch
 *            the microbatch; -1 at points that come once in a step
 * @param message
 *            the message that is sent or received there; empty at other points
 */
public record FiredFault(@JsonProperty(value = "time_ms", required = true) long timeMillis,
        @JsonProperty(required = true) String fault, @JsonProperty(required = true) int index,
        @JsonProperty(required = true) String node, @JsonProperty(required = true) FaultPoint point,
        @JsonProperty(required = true) int rank, @JsonProperty(required = true) int stage,
        @JsonProperty(required = true) long step, @JsonProperty(required = true) int microbatch,
        @JsonInclude(JsonInclude.Include.NON_ABSENT) Optional<FaultMessage> message) {

    static FiredFault of(FaultSpec fault, int index, String node, Place place, long timeMillis) {
        return new FiredFault(timeMillis, fault.text(), index, node, place.point(), place.rank(), place.stage(),
                place.step(), place.microbatch(), place.message());
    }

    /** Whether this is the same fault of the run: a resumed run may have other faults. */
    boolean isOf(FiredFault other) {
        return index == other.index && fault.equals(other.fault);
    }

    /** Whether the fault struck at this place. */
    boolean isAt(Place place) {
        return place.equals(place());
    }

    /** Whether the fault struck at a place that another fault matches, without its probability. */
    public boolean isWhere(FaultSpec other) {
        return place().matches(other);
    }

    private Place place() {
        return new Place(point, rank, stage, step, microbatch, message);
    }
}
