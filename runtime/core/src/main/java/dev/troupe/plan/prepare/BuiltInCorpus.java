package dev.troupe.plan.prepare;

import dev.troupe.plan.UsageException;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;

/**
 * The text of a first run: a million characters of Shakespeare; {@code NOTICE} has its source. It never changes, so that
 * every version has the losses in the documents.
 */
public final class BuiltInCorpus {
    private static final String RESOURCE = "built-in-corpus.txt";

    private BuiltInCorpus() {
    }

    public static byte[] utf8() {
        try (InputStream corpus = BuiltInCorpus.class.getResourceAsStream(RESOURCE)) {
            if (corpus == null) {
                throw new UsageException(
                        "the built-in corpus is missing from this build: build it with ./mvnw package");
            }
            return corpus.readAllBytes();
        } catch (IOException failure) {
            throw new UncheckedIOException(failure);
        }
    }
}
