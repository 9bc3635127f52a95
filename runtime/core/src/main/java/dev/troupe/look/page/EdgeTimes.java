package dev.troupe.look.page;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import dev.troupe.look.output.StepHead;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.LongStream;

/**
 * The messages of the newest steps with a file, by their edge. Each file is read once. Thread rule: one thread at a time.
 */
final class EdgeTimes {
    private static final int MOST_STEPS = 20;
    private static final JsonMapper JSON = new JsonMapper();

    private record Edge(int from, int to) implements Comparable<Edge> {
        @Override
        public int compareTo(Edge other) {
            return from == other.from ? Integer.compare(to, other.to) : Integer.compare(from, other.from);
        }
    }

    private record Messages(long[] nanos, long creditNanos, long bytes) {
        static Messages of(JsonNode message) {
            return new Messages(
                    new long[]{message.path("landed_ns").asLong() - message.path("sent_ns").asLong()},
                    message.path("without_credit_ns").asLong(), message.path("bytes").asLong());
        }

        Messages and(Messages others) {
            return new Messages(LongStream.concat(Arrays.stream(nanos), Arrays.stream(others.nanos)).toArray(),
                    creditNanos + others.creditNanos, bytes + others.bytes);
        }
    }

    private final Map<StepHead, Map<Edge, Messages>> bySteps = new HashMap<>();

    /** Returns each edge with its messages, sorted by the sending rank. */
    ArrayNode of(StepFiles steps) {
        List<StepHead> newest = steps.newest(MOST_STEPS);
        bySteps.keySet().retainAll(newest);
        for (StepHead step : newest) {
            if (!bySteps.containsKey(step)) {
                steps.read(step.number(), "messages").ifPresent(all -> bySteps.put(step, messages(all)));
            }
        }
        Map<Edge, Messages> together = new TreeMap<>();
        bySteps.values().forEach(
                step -> step.forEach((edge, messages) -> together.merge(edge, messages, Messages::and)));
        ArrayNode edges = JSON.createArrayNode();
        together.forEach((edge, messages) -> {
            long[] sorted = messages.nanos().clone();
            Arrays.sort(sorted);
            edges.addObject().put("from", edge.from()).put("to", edge.to()).put("messages", sorted.length)
                    .put("p50_us", percentile(sorted, 50)).put("p99_us", percentile(sorted, 99))
                    .put("longest_us", percentile(sorted, 100)).put("without_credit_ns", messages.creditNanos())
                    .put("bytes", messages.bytes());
        });
        return edges;
    }

    int stepCount() {
        return bySteps.size();
    }

    private static Map<Edge, Messages> messages(JsonNode all) {
        Map<Edge, List<Messages>> byEdge = new HashMap<>();
        for (JsonNode message : all) {
            byEdge.computeIfAbsent(new Edge(message.path("from").asInt(), message.path("to").asInt()),
                    _ -> new ArrayList<>()).add(Messages.of(message));
        }
        Map<Edge, Messages> messages = new HashMap<>();
        byEdge.forEach((edge, each) -> messages.put(edge, each.stream().reduce(Messages::and).orElseThrow()));
        return messages;
    }

    /** Returns a percentile by the nearest rank, in microseconds. */
    private static double percentile(long[] sorted, int percent) {
        int rank = Math.max(1, Math.ceilDiv(sorted.length * percent, 100));
        return sorted[rank - 1] / 1e3;
    }
}
