package dev.troupe.look.output;

import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * The summary of a step, at the beginning of its file in {@code steps}.
 *
 * @param nanos the time that the step accounts for
 * @param roots the largest costs beyond the plan, in falling order
 */
public record StepHead(long number, long nanos, long plannedNanos, int ranks, List<String> tags, List<Root> roots) {
    private static final String SUFFIX = ".json";
    private static final JsonMapper JSON = new JsonMapper();

    public record Root(String cause, int rank, long nanos) {
    }

    /** Returns the number of the step of a file; empty if the name has none. */
    public static Optional<Long> number(Path file) {
        String name = file.getFileName().toString();
        try {
            return name.endsWith(SUFFIX)
                    ? Optional.of(Long.parseLong(name.substring(0, name.length() - SUFFIX.length())))
                    : Optional.empty();
        } catch (NumberFormatException _) {
            return Optional.empty();
        }
    }

    /** Reads a file up to its costs; empty if it was deleted, or is of another version. */
    public static Optional<StepHead> read(Path file) {
        long number = -1;
        long nanos = 0;
        long planned = 0;
        int ranks = 1;
        List<String> tags = new ArrayList<>();
        List<Root> roots = new ArrayList<>();
        try (JsonParser json = JSON.createParser(file.toFile())) {
            json.nextToken();
            while (json.nextToken() == JsonToken.FIELD_NAME) {
                String field = json.currentName();
                json.nextToken();
                switch (field) {
                    case "schema" -> {
                        if (json.getIntValue() != StepJson.SCHEMA) {
                            return Optional.empty();
                        }
                    }
                    case "step" -> number = json.getLongValue();
                    case "pipeline_ranks", "ranks_per_place" -> ranks *= json.getIntValue();
                    case "end_ns" -> nanos = json.getLongValue();
                    case "planned_ns" -> planned = json.getLongValue();
                    case "tags" -> {
                        while (json.nextToken() == JsonToken.VALUE_STRING) {
                            tags.add(json.getText());
                        }
                    }
                    case "roots" -> {
                        while (json.nextToken() == JsonToken.START_OBJECT) {
                            JsonNode root = JSON.readTree(json);
                            roots.add(new Root(root.path("cause").asText(), root.path("rank").asInt(),
                                    root.path("ns").asLong()));
                        }
                    }
                    case "costs" -> {
                        return Optional.of(new StepHead(number, nanos, planned, ranks, tags, roots));
                    }
                    default -> json.skipChildren();
                }
            }
        } catch (IOException _) {
            return Optional.empty(); // it was deleted meanwhile
        }
        return Optional.empty();
    }
}
