package dev.troupe.cli;

import dev.troupe.run.RequestException;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;

/** The text of a first run: this repository's own documents and sources, put together by the build. */
final class BuiltInCorpus {
    private static final String RESOURCE = "built-in-corpus.txt";

    private BuiltInCorpus() {
    }

    static byte[] utf8() {
        try (InputStream corpus = BuiltInCorpus.class.getResourceAsStream(RESOURCE)) {
            if (corpus == null) {
                throw new RequestException(
                        "the built-in corpus is missing from this build: build it with ./mvnw package");
            }
            return corpus.readAllBytes();
        } catch (IOException failure) {
            throw new UncheckedIOException(failure);
        }
    }
}
