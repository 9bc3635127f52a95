package dev.troupe.look.output;

import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.troupe.protocol.watch.Notice;
import dev.troupe.rank.lines.JsonLog;
import dev.troupe.run.news.RunListener;
import dev.troupe.run.news.RunNews;
import dev.troupe.tokenizer.file.FileReason;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.function.Consumer;

/**
 * {@code events.jsonl} in a run's directory: a JSON object for each {@link RunNews.Event}, with the time, the epoch and the
 * number of committed steps. The coordinator's process writes it.
 */
public final class EventsFile implements RunListener {
    public static final String FILE = "events.jsonl";

    private static final JsonMapper JSON = new JsonMapper();

    private final Path file;
    private final Consumer<String> trouble;
    private int epoch;

    /** @param trouble receives a sentence if a line cannot be written; the run continues without the line */
    public EventsFile(Path directory, Consumer<String> trouble) {
        this.file = directory.resolve(FILE);
        this.trouble = trouble;
    }

    @Override
    public void on(RunNews news) {
        if (news instanceof RunNews.Event event) {
            RunNews.Line of = event.line();
            epoch = of.epoch();
            ObjectNode line = line(of.kind(), of.stepsDone());
            if (event instanceof RunNews.Noticed(Notice notice) && !notice.node().isEmpty()) {
                line.put("node", notice.node());
            }
            add(line, "ranks", of.ranks());
            if (event instanceof RunNews.Noticed(Notice notice)) {
                add(line, "stages", notice.stages());
                line.put("times", notice.times());
            }
            append(line.put("sentence", of.sentence()));
        }
    }

    /** Writes an event of this process, such as the end of the run. */
    public void write(String event, long stepsDone, String sentence) {
        append(line(event, stepsDone).put("sentence", sentence));
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
            trouble.accept("cannot write " + file + " (" + FileReason.of(unwritten) + "); it lacks: "
                    + line.path("sentence").asText());
        }
    }
}
