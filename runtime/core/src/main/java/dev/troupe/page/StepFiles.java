package dev.troupe.page;

import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import dev.troupe.output.StepJson;
import dev.troupe.output.StepRecords;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Optional;
import java.util.TreeMap;
import java.util.stream.Stream;

/**
 * The steps of a run that have a file, {@code steps/000412.json}.
 *
 * <p>Thread rule: one thread at a time.
 */
final class StepFiles {
    /** A file is at most of this size; a step of 20,000 actions takes some 5 MB. */
    private static final long MOST_BYTES = 64L << 20;
    private static final String SUFFIX = ".json";
    private static final JsonMapper JSON = new JsonMapper();

    /**
     * The begin of a file.
     *
     * @param number
     *            of the step
     * @param nanos
     *            the time that the step accounts for
     * @param plannedNanos
     *            the time that was planned
     * @param ranks
     *            the number of ranks
     * @param tags
     *            of the step
     * @param roots
     *            what cost the most beyond the plan, the greatest first
     */
    record Head(long number, long nanos, long plannedNanos, int ranks, List<String> tags, List<Root> roots) {
        /** A cause and the rank at its root. */
        record Root(String cause, int rank, long nanos) {
        }
    }

    private final Path directory;
    private final NavigableMap<Long, Head> heads = new TreeMap<>();
    private long changedMillis = -1;

    StepFiles(Path run) {
        this.directory = run.resolve(StepRecords.DIRECTORY);
    }

    /** Looks which files there are; returns whether there are others than before. */
    boolean look() {
        try {
            long changed = Files.getLastModifiedTime(directory).toMillis();
            if (changed == changedMillis) {
                return false;
            }
            changedMillis = changed;
        } catch (IOException _) {
            return false; // no step is done yet
        }
        try (Stream<Path> files = Files.list(directory)) {
            NavigableMap<Long, Path> found = new TreeMap<>();
            files.forEach(file -> number(file).ifPresent(number -> found.put(number, file)));
            heads.keySet().retainAll(found.keySet());
            for (Map.Entry<Long, Path> file : found.entrySet()) {
                if (!heads.containsKey(file.getKey())) {
                    head(file.getValue()).ifPresent(head -> heads.put(file.getKey(), head));
                }
            }
        } catch (IOException _) {
            changedMillis = -1; // it changed meanwhile: the next look sees more
        }
        return true;
    }

    private static Optional<Long> number(Path file) {
        String name = file.getFileName().toString();
        try {
            return name.endsWith(SUFFIX)
                    ? Optional.of(Long.parseLong(name.substring(0, name.length() - SUFFIX.length())))
                    : Optional.empty();
        } catch (NumberFormatException _) {
            return Optional.empty();
        }
    }

    /** Reads a file as far as its ranks; empty where it is gone, or of another version. */
    private static Optional<Head> head(Path file) {
        long number = -1;
        long nanos = 0;
        long planned = 0;
        int ranks = 1;
        List<String> tags = new ArrayList<>();
        List<Head.Root> roots = new ArrayList<>();
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
                            roots.add(new Head.Root(root.path("cause").asText(), root.path("rank").asInt(),
                                    root.path("ns").asLong()));
                        }
                    }
                    case "costs" -> {
                        return Optional.of(new Head(number, nanos, planned, ranks, tags, roots));
                    }
                    default -> json.skipChildren();
                }
            }
        } catch (IOException _) {
            return Optional.empty(); // it was deleted meanwhile
        }
        return Optional.empty();
    }

    /** The steps that have a file, by their number. */
    Collection<Head> heads() {
        return heads.values();
    }

    /** The step of a number; null where it has no file. */
    Head head(long number) {
        return heads.get(number);
    }

    /** The newest step that has a file. */
    Optional<Head> newest() {
        return heads.isEmpty() ? Optional.empty() : Optional.of(heads.lastEntry().getValue());
    }

    /** The numbers of the newest steps that have a file, the newest first. */
    List<Long> newest(int most) {
        return heads.descendingKeySet().stream().limit(most).toList();
    }

    /**
     * Returns the text of a step's file; why there is none, where there is none.
     *
     * @param stepsDone
     *            the steps that are committed
     */
    Answer answer(long number, long stepsDone) {
        Path file = directory.resolve(StepRecords.fileName(number));
        try {
            if (Files.size(file) > MOST_BYTES) {
                return Answer
                        .unreadable(file.getFileName() + " has more than " + MOST_BYTES + " bytes, so no run wrote it");
            }
            byte[] text = Files.readAllBytes(file);
            int schema = schema(text);
            return schema == StepJson.SCHEMA
                    ? new Answer(Answer.OK, Answer.JSON, text)
                    : Answer.unreadable("the file of step " + number + " is of version " + schema
                            + ", and this Troupe reads version " + StepJson.SCHEMA
                            + ": serve the page with the Troupe that trained");
        } catch (NoSuchFileException absent) {
            return Answer.absent(number < 0 || number >= stepsDone
                    ? "there is no step " + number + " yet: " + stepsDone + " steps are done"
                    : why(number));
        } catch (IOException unreadable) {
            return Answer.unreadable("the file of step " + number + " cannot be read: " + unreadable.getMessage());
        }
    }

    private String why(long number) {
        return "step " + number
                + " has no file: the newest twenty steps have one, the slowest twenty, and the newest hundred"
                + " with a tag" + (heads.isEmpty()
                        ? "; this run has none yet"
                        : "; the nearest is step " + nearest(number));
    }

    private long nearest(long number) {
        Long below = heads.floorKey(number);
        Long above = heads.ceilingKey(number);
        return below == null || above != null && above - number < number - below ? above : below;
    }

    private static int schema(byte[] text) throws IOException {
        try (JsonParser json = JSON.createParser(text)) {
            json.nextToken();
            while (json.nextToken() == JsonToken.FIELD_NAME) {
                boolean isSchema = json.currentName().equals("schema");
                json.nextToken();
                if (isSchema) {
                    return json.getIntValue();
                }
                json.skipChildren();
            }
            return 0;
        }
    }

    /** Reads a part of a step that is in front of its ranks; empty where its file is gone or of another version. */
    Optional<JsonNode> read(long number, String part) {
        try (JsonParser json = JSON.createParser(directory.resolve(StepRecords.fileName(number)).toFile())) {
            json.nextToken();
            while (json.nextToken() == JsonToken.FIELD_NAME) {
                boolean isWanted = json.currentName().equals(part);
                json.nextToken();
                if (isWanted) {
                    return Optional.of(JSON.readTree(json));
                }
                json.skipChildren();
            }
        } catch (IOException _) {
            // it was deleted meanwhile
        }
        return Optional.empty();
    }
}
