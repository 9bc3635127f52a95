package dev.troupe.schedule;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;

/** The plans under {@code src/test/resources/plans}, as PyTorch builds them or by the rule. */
public final class PlanFiles {
    private PlanFiles() {
    }

    /** Returns the text of the file of a schedule; it names the virtual stages only if there are several on a rank. */
    public static String csv(String schedule, int pipeline, int virtualStages, int microbatches) {
        String virtual = virtualStages == 1 ? "" : "_v" + virtualStages;
        String path = "/plans/" + schedule + "_p" + pipeline + virtual + "_m" + microbatches + ".csv";
        try (InputStream file = PlanFiles.class.getResourceAsStream(path)) {
            if (file == null) {
                throw new IllegalArgumentException("There is no " + path + " among the test resources.");
            }
            return new String(file.readAllBytes(), StandardCharsets.US_ASCII);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
