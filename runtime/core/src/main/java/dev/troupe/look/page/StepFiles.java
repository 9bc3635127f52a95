package dev.troupe.look.page;

import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import dev.troupe.look.output.StepHead;
import dev.troupe.look.output.StepJson;
import dev.troupe.look.output.StepRecords;
import dev.troupe.run.http.Answer;
import dev.troupe.tokenizer.file.BoundedFile;
import dev.troupe.tokenizer.file.FileReason;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Optional;
import java.util.TreeMap;
import java.util.stream.Stream;

/** The steps of a run with a file, {@code steps/000412.json}. Thread rule: one thread at a time. */
final class StepFiles {
    /** The maximum size of a file; a step of 20,000 actions takes about 5 MB. */
    private static final long MOST_BYTES = 64L << 20;
    /** More than a tick of a file system's clock: two changes within a tick leave the directory with the same time. */
    private static final long TICK_MILLIS = 20;
    private static final JsonMapper JSON = new JsonMapper();

    private final Path directory;
    private final NavigableMap<Long, StepHead> heads = new TreeMap<>();
    /** The time of each file, since a resumed run repeats steps. */
    private final Map<Long, FileTime> written = new HashMap<>();
    /** The time of the directory at the last look; -1 if another change may have the same time. */
    private long changedMillis = -1;

    StepFiles(Path run) {
        this.directory = run.resolve(StepRecords.DIRECTORY);
    }

    /** Looks for new files; returns whether there may be any. */
    boolean look() {
        long now = System.currentTimeMillis();
        try {
            long changed = Files.getLastModifiedTime(directory).toMillis();
            if (changed == changedMillis) {
                return false;
            }
            changedMillis = now - changed > TICK_MILLIS ? changed : -1;
        } catch (IOException _) {
            return false; // no step is done yet
        }
        try (Stream<Path> files = Files.list(directory)) {
            NavigableMap<Long, Path> found = new TreeMap<>();
            files.forEach(file -> StepHead.number(file).ifPresent(number -> found.put(number, file)));
            heads.keySet().retainAll(found.keySet());
            written.keySet().retainAll(found.keySet());
            for (Map.Entry<Long, Path> file : found.entrySet()) {
                FileTime time = Files.getLastModifiedTime(file.getValue());
                if (!time.equals(written.put(file.getKey(), time))) {
                    StepHead.read(file.getValue()).ifPresent(head -> heads.put(file.getKey(), head));
                }
            }
        } catch (IOException _) {
            changedMillis = -1; // it changed meanwhile: the next look sees more
        }
        return true;
    }

    /** Returns a step; null if it has no file. */
    StepHead head(long number) {
        return heads.get(number);
    }

    Optional<StepHead> newest() {
        return heads.isEmpty() ? Optional.empty() : Optional.of(heads.lastEntry().getValue());
    }

    /** Returns the newest steps with a file, the newest first. */
    List<StepHead> newest(int most) {
        return heads.descendingMap().values().stream().limit(most).toList();
    }

    /** Returns the text of a step's file, or the reason why there is none. */
    Answer answer(long number, long stepsDone) {
        Path file = directory.resolve(StepRecords.fileName(number));
        try {
            BoundedFile.requireRegular(file);
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
            return Answer.unreadable("the file of step " + number + " cannot be read: " + FileReason.of(unreadable));
        }
    }

    private String why(long number) {
        return "step " + number
                + " has no file: the newest twenty steps have one, the slowest thirty, and the newest hundred"
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

    /** Reads a part of a step before its ranks; empty if its file was deleted or is of another version. */
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
