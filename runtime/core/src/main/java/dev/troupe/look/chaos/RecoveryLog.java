package dev.troupe.look.chaos;

import com.fasterxml.jackson.annotation.JsonProperty;
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

    /** A line of the file; times are milliseconds since 1970 on the wall clock. */
    private record Line(@JsonProperty(required = true) int epoch, @JsonProperty(required = true) long step,
            @JsonProperty(required = true) List<Integer> ranks, @JsonProperty(required = true) String reason,
            @JsonProperty(value = "detected_ms", required = true) long detectedMillis,
            @JsonProperty(value = "resumed_ms", required = true) long resumedMillis,
            @JsonProperty(value = "caught_up_ms", required = true) long caughtUpMillis) {
    }

    /** @throws UncheckedIOException if it cannot be written */
    public static void append(Path runDirectory, Recovery recovery) {
        Line line = new Line(recovery.epoch(), recovery.step(), recovery.ranks(), recovery.reason(),
                recovery.detectedAtMillis(), recovery.resumedAtMillis(), recovery.caughtUpAtMillis());
        try {
            JsonLog.append(runDirectory.resolve(FILE), JSON.writeValueAsString(line));
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
                Line line = JSON.treeToValue(object, Line.class);
                recoveries.add(new Recovery(line.epoch(), line.step(), line.ranks(), line.reason(),
                        line.detectedMillis(), line.resumedMillis(), line.caughtUpMillis()));
            } catch (JsonProcessingException failure) {
                throw new UncheckedIOException("cannot read " + file, failure);
            }
        }
        return recoveries;
    }
}
