package dev.troupe.cli.progress;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.troupe.rank.idle.Cause;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.IntPredicate;
import java.util.function.ToLongFunction;
import java.util.stream.Stream;

/**
 * The idle time of a step, as the file of the step has it.
 *
 * @param step the step's number
 * @param byRoot nanoseconds by cause, and by the rank at the root
 * @param error the greatest share of a rank's idle time by which its parts and its actions miss the length of the step
 */
record StepIdle(long step, Map<Cause, Map<Integer, Long>> byRoot, double error) {
    private static final ObjectMapper JSON = new ObjectMapper();

    /** Reads the step files of a run, by their numbers. */
    static List<StepIdle> all(Path run) {
        try (Stream<Path> files = Files.list(run.resolve("steps"))) {
            return files.sorted().map(StepIdle::read).toList();
        } catch (IOException failure) {
            throw new UncheckedIOException(failure);
        }
    }

    private static StepIdle read(Path file) {
        try {
            JsonNode step = JSON.readTree(file.toFile());
            Map<Cause, Map<Integer, Long>> byRoot = new HashMap<>();
            double error = 0;
            for (JsonNode rank : step.path("ranks")) {
                long parted = 0;
                long computed = 0;
                for (JsonNode action : rank.path("actions")) {
                    computed += action.path("end_ns").longValue() - action.path("start_ns").longValue();
                }
                for (JsonNode gap : rank.path("gaps")) {
                    for (JsonNode part : gap.path("parts")) {
                        Cause cause = Arrays.stream(Cause.values())
                                .filter(one -> one.code().equals(part.path("cause").textValue())).findFirst()
                                .orElseThrow();
                        long nanos = part.path("ns").longValue();
                        byRoot.computeIfAbsent(cause, _ -> new HashMap<>()).merge(part.path("rank").intValue(), nanos,
                                Long::sum);
                        parted += nanos;
                        computed -= gap.path("inside").booleanValue() ? nanos : 0;
                    }
                }
                long idle = step.path("end_ns").longValue() - computed;
                error = Math.max(error, Math.abs(parted - idle) / (double) Math.max(1, idle));
            }
            return new StepIdle(step.path("step").longValue(), byRoot, error);
        } catch (IOException failure) {
            throw new UncheckedIOException(failure);
        }
    }

    /** The nanoseconds of a cause with these ranks at the root. */
    long nanos(Cause cause, IntPredicate isRoot) {
        return byRoot.getOrDefault(cause, Map.of()).entrySet().stream().filter(root -> isRoot.test(root.getKey()))
                .mapToLong(Map.Entry::getValue).sum();
    }

    /** The nanoseconds of all causes. */
    long nanos() {
        return Arrays.stream(Cause.values()).mapToLong(cause -> nanos(cause, _ -> true)).sum();
    }

    /** The median of something in these steps. */
    static long median(List<StepIdle> steps, ToLongFunction<StepIdle> of) {
        return steps.stream().mapToLong(of).sorted().skip(steps.size() / 2).findFirst().orElseThrow();
    }

    @Override
    public String toString() {
        StringBuilder text = new StringBuilder("step " + step + ", ms by cause and root:");
        byRoot.forEach((cause, roots) -> roots.forEach((rank, nanos) -> {
            if (nanos >= 1_000_000) {
                text.append(' ').append(cause.code()).append('@').append(rank).append('=').append(nanos / 1_000_000);
            }
        }));
        return text.toString();
    }
}
