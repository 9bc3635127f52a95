package dev.troupe.output;

import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.troupe.lines.JsonLog;
import dev.troupe.observe.Recovery;
import dev.troupe.protocol.watch.Notice;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.function.Consumer;

/**
 * {@code events.jsonl} in a run's directory: a JSON object for each event of the run besides its steps, with the time,
 * the epoch and the number of steps committed by then. The coordinator's process writes it.
 */
public final class EventsFile {
    /** Its name in the run's directory. */
    public static final String FILE = "events.jsonl";

    private static final JsonMapper JSON = new JsonMapper();

    private final Path file;
    private final Consumer<String> trouble;
    private int epoch;

    /**
     * @param trouble receives a sentence where a line cannot be written; the run continues without the line
     */
    public EventsFile(Path directory, Consumer<String> trouble) {
        this.file = directory.resolve(FILE);
        this.trouble = trouble;
    }

    public void write(Notice notice) {
        epoch = notice.epoch();
        ObjectNode line = line(notice.kind().name().toLowerCase(Locale.ROOT).replace('_', '-'), notice.stepsDone());
        if (!notice.node().isEmpty()) {
            line.put("node", notice.node());
        }
        add(line, "ranks", notice.ranks());
        add(line, "stages", notice.stages());
        append(line.put("times", notice.times()).put("sentence", notice.sentence()));
    }

    /** Writes an event that is about the run as a whole, such as its start or its end. */
    public void write(String event, long stepsDone, String sentence) {
        append(line(event, stepsDone).put("sentence", sentence));
    }

    /** Writes that an epoch begins. */
    public void recoveryBegins(int newEpoch, long stepsDone, List<Integer> ranks, String reason) {
        epoch = newEpoch;
        ObjectNode line = line("recovery-begins", stepsDone);
        add(line, "ranks", ranks);
        append(line.put("sentence", reason));
    }

    public void write(Recovery recovery) {
        epoch = recovery.epoch();
        ObjectNode line = line("recovery", recovery.step());
        add(line, "ranks", recovery.ranks());
        append(line.put("sentence", recovery.reason()));
    }

    public void checkpoint(long stepsDone, Path directory) {
        append(line("checkpoint", stepsDone).put("sentence", "a checkpoint is complete in " + directory));
    }

    public void checkpointFailed(long stepsDone, String why) {
        append(line("checkpoint-failed", stepsDone).put("sentence", why));
    }

    private ObjectNode line(String event, long stepsDone) {
        return JSON.createObjectNode().put("event", event).put("time_ms", System.currentTimeMillis())
                .put("epoch", epoch).put("step", stepsDone);
    }

    private static void add(ObjectNode line, String field, List<Integer> numbers) {
        if (!numbers.isEmpty()) {
            numbers.forEach(line.withArray(field)::add);
        }
    }

    private void append(ObjectNode line) {
        try {
            JsonLog.append(file, line.toString());
        } catch (IOException unwritten) { // a lost line does not end the run
            trouble.accept("cannot write " + file + " (" + unwritten.getMessage() + "); it lacks: "
                    + line.path("sentence").asText());
        }
    }
}
