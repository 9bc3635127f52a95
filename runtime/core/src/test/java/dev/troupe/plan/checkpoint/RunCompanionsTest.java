package dev.troupe.plan.checkpoint;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A run on bytes that began from a model with a tokenizer of its own. */
@Tag("runtime")
class RunCompanionsTest {
    @TempDir
    private Path home;
    private Path model;
    private Path run;

    @BeforeEach
    void makeTheModelAndTheRun() throws IOException {
        model = Files.createDirectory(home.resolve("model"));
        run = Files.createDirectory(home.resolve("run"));
        Files.writeString(model.resolve("tokenizer.json"), "{}");
        Files.writeString(run.resolve("config.conf"),
                "troupe { data.tokenizer = bytes, model.from = \"" + model + "\" }");
    }

    @Test
    void shouldNotPublishATokenizerOfOtherTokens() throws IOException {
        Path folder = Files.createDirectory(run.resolve(RunCompanions.FOLDER));
        Files.writeString(folder.resolve("config.json"), "{}");
        RunCompanions.Found found = RunCompanions.in(run);
        assertEquals(Optional.of(folder), found.directory());
        assertEquals(Optional.of("The model has no tokenizer files next to it: its tokens are bytes (data.tokenizer"
                + " = bytes), which the files of " + model + ", from which the run began, do not make."),
                found.sentence());
    }

    @Test
    void shouldTakeNoChatTemplateForATokenizer() throws IOException {
        Files.move(model.resolve("tokenizer.json"), model.resolve("chat_template.jinja"));
        assertEquals(Optional.of(model + ", from which the run began, has none"), RunCompanions.in(run).notice());
    }
}
