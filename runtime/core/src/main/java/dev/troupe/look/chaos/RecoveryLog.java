package dev.troupe.look.chaos;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.troupe.rank.lines.JsonLog;
import dev.troupe.run.news.Recovery;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** {@code recoveries.jsonl} in a run's directory: a line for each recovery. */
public final class RecoveryLog {
    public static final String FILE = "recoveries.jsonl";

    private static final JsonMapper JSON = new JsonMapper();

    private RecoveryLog() {
    }

    /** @throws UncheckedIOException if it cannot be written */
    public static void append(Path runDirectory, Recovery recovery) {
        try {
            JsonLog.append(runDirectory.resolve(FILE), JSON.writeValueAsString(recovery));
        } catch (IOException failure) {
            throw new UncheckedIOException("cannot write down a recovery", failure);
        }
    }

    /**
     * Reads the recoveries of a run, in their order.
     *
     * @throws UncheckedIOException if the file cannot be read, or does not have this format
     */
    public static List<Recovery> read(Path runDirectory) {
        Path file = runDirectory.resolve(FILE);
        List<Recovery> recoveries = new ArrayList<>();
        for (ObjectNode object : JsonLog.objects(file)) {
            try {
                recoveries.add(JSON.treeToValue(object, Recovery.class));
            } catch (JsonProcessingException failure) {
                throw new UncheckedIOException("cannot read " + file, failure);
            }
        }
        return recoveries;
    }
}
