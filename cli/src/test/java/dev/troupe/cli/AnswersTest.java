package dev.troupe.cli;

import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The answers of chats as the targets of a run, under templates that mark them in different ways. */
@Tag("real")
@Timeout(60)
class AnswersTest {
    @TempDir
    private Path directory;
    private Path tokenizer;

    @BeforeEach
    void makeTokenizer() throws Exception {
        tokenizer = Files.createDirectory(directory.resolve("tokenizer"));
        copy("tokenizer.json", "tokenizer.json");
        copy("tokenizer_config.json", "tokenizer_config.json");
    }

    private void copy(String resource, String name) throws IOException, URISyntaxException {
        Files.copy(published(resource), tokenizer.resolve(name));
    }

    private static Path published(String resource) throws URISyntaxException {
        return Path.of(AnswersTest.class.getResource("/answers/" + resource).toURI());
    }

    private List<String> settings(Path chats) {
        return List.of("model.family=llama", "model.layers=1", "model.hidden=8", "model.heads=2",
                "model.sequence-length=64", "parallel.pipeline=1", "engine.kind=reference", "training.steps=1",
                "training.global-batch-size=1", "training.microbatch-size=1", "data.path=" + chats,
                "data.tokenizer=" + tokenizer, "data.cache=none");
    }

    private Execution eval(Path chats) {
        List<String> arguments = new ArrayList<>(List.of("eval"));
        settings(chats).forEach(setting -> arguments.addAll(List.of("-s", setting)));
        return Execution.of(arguments);
    }

    /** Five letters and the token that ends the answer; the header of the answer is no target. */
    @ParameterizedTest
    @ValueSource(strings = {"plain.jinja", "default-for-the-prompt.jinja"})
    void shouldCountTheAnswerAlone(String template) throws Exception {
        copy(template, "chat_template.jinja");
        String output = eval(published("chat.jsonl")).requireDone().output();
        assertTrue(output.contains(" on 6 targets in 1 sequences of "), output);
        Execution.train(directory.resolve("run"), settings(published("chat.jsonl"))).requireDone();
    }

    @ParameterizedTest
    @ValueSource(strings = {"null", "[{\"type\": \"text\", \"text\": \"Hello\"}]"})
    void shouldRefuseAnAnswerThatIsNoText(String content) throws Exception {
        copy("adds-texts.jinja", "chat_template.jinja");
        Path chats = Files.writeString(directory.resolve("chat.jsonl"),
                "{\"messages\": [{\"role\": \"user\", \"content\": \"Hi\"}, {\"role\": \"assistant\", \"content\": "
                        + content + "}]}\n");
        Path out = directory.resolve("run");
        eval(chats).requireRefused("line 1", "cannot compute a value of type str + ");
        Execution.train(out, settings(chats)).requireRefused("line 1", "cannot compute a value of type str + ");
        assertTrue(Files.notExists(out));
    }
}
