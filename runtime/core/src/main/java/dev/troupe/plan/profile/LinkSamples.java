package dev.troupe.plan.profile;

import dev.troupe.schedule.simulator.Hop;
import java.util.List;
import java.util.function.UnaryOperator;

/**
 * One direction of the way between two nodes, measured by the transport of a run. A latency is half the time until a small
 * message is answered, since the clocks of two machines are not compared; a bandwidth is of one direction alone.
 *
 * @param from the node that sent
 * @param messageBytes size of the messages of which the bandwidth is: an activation between two stages
 * @param bytesPerSecond every measured bandwidth, with the credits of a run
 */
public record LinkSamples(String from, String to, long messageBytes, List<Long> latencyNanos,
        List<Long> bytesPerSecond) {
    public LinkSamples {
        latencyNanos = List.copyOf(latencyNanos);
        bytesPerSecond = List.copyOf(bytesPerSecond);
        if (latencyNanos.isEmpty() || bytesPerSecond.isEmpty()) {
            throw new IllegalArgumentException("the way from " + from + " to " + to + " has no samples");
        }
    }

    public Hop hop() {
        return new Hop(LayerSamples.quantile(latencyNanos, 0.5), LayerSamples.quantile(bytesPerSecond, 0.5));
    }

    LinkSamples drawn(UnaryOperator<List<Long>> draw) {
        return new LinkSamples(from, to, messageBytes, draw.apply(latencyNanos), draw.apply(bytesPerSecond));
    }
}
