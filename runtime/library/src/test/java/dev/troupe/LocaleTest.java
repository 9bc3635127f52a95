package dev.troupe;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A run in an application of another locale than English: with other digits, or another lower case of I. */
@Tag("runtime")
@Timeout(120)
class LocaleTest {
    private final Locale ofTheTests = Locale.getDefault();

    @TempDir
    private Path home;

    @AfterEach
    void putBack() throws InterruptedException, IOException {
        Locale.setDefault(ofTheTests);
        SmallTraining.requireNothingLeft();
    }

    @ParameterizedTest
    @ValueSource(strings = {"ar-EG-u-nu-arab", "tr-TR", "th-TH-u-ca-buddhist-nu-thai"})
    void shouldWriteTheSameFiles(String locale) throws InterruptedException, IOException {
        Locale.setDefault(Locale.forLanguageTag(locale));
        Path run = Troupe.train(SmallTraining.spec(home.resolve("run")).set("observe.tensorboard", true).build(),
                TrainingData.ofText(SmallTraining.TEXT), _ -> {
                }).directory();

        List<String> names;
        try (Stream<Path> files = Files.walk(run)) {
            names = files.map(file -> run.relativize(file).toString()).toList();
        }
        assertEquals(List.of(), names.stream().filter(name -> !isAscii(name)).toList());
        assertTrue(names.contains("steps/000003.json"), names.toString());
        assertTrue(names.contains("checkpoints/step-000004"), names.toString());
        for (String text : List.of("metrics.jsonl", "events.jsonl", "config.conf", "run.json", "trace.json",
                "steps/000003.json", "model/config.json", "checkpoints/step-000004/manifest.json")) {
            assertTrue(isAscii(Files.readString(run.resolve(text))), text);
        }
    }

    private static boolean isAscii(String text) {
        return StandardCharsets.US_ASCII.newEncoder().canEncode(text);
    }
}
