package dev.troupe.springai;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.troupe.GenerationOptions;
import dev.troupe.RequestException;
import dev.troupe.TrainingData;
import dev.troupe.TrainingSpec;
import dev.troupe.Troupe;
import dev.troupe.TroupeGenerator;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.ai.chat.messages.AssistantMessage;
import org.springframework.ai.chat.messages.SystemMessage;
import org.springframework.ai.chat.messages.ToolResponseMessage;
import org.springframework.ai.chat.messages.UserMessage;
import org.springframework.ai.chat.model.ChatResponse;
import org.springframework.ai.chat.prompt.ChatOptions;
import org.springframework.ai.chat.prompt.Prompt;
import org.springframework.ai.model.tool.StructuredOutputChatOptions;
import reactor.core.Disposable;
import reactor.core.Exceptions;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Hooks;

/** Answers of a small model through Spring AI's interface. */
@Tag("real")
@Timeout(120)
class SpringChatModelTest {
    private static final int TOKENS = 8;

    @TempDir
    private static Path directory;
    private static TroupeGenerator generator;

    @BeforeAll
    static void train() throws Exception {
        Path tokenizer = Path.of(SpringChatModelTest.class.getResource("/tokenizers/qwen").toURI());
        Troupe.train(
                TrainingSpec.builder().output(directory.resolve("run")).engine("reference").stages(1).steps(1)
                        .batch(1, 1).set("model.layers", 1).set("model.hidden", 16).set("model.heads", 2)
                        .set("model.sequence-length", 128).set("data.tokenizer", tokenizer.toString()).build(),
                TrainingData.ofText("To be, or not to be, that is the question. ".repeat(40)), _ -> {
                });
        generator = TroupeGenerator.builder(directory.resolve("run")).slots(2).open();
    }

    @AfterAll
    static void close() {
        generator.close();
    }

    private static GenerationOptions.Builder options() {
        return GenerationOptions.builder().seed(5).temperature(1.5).tokens(TOKENS);
    }

    private static TroupeGenerator.Text expected(GenerationOptions options) throws InterruptedException {
        return generator.chat(List.of(TroupeGenerator.Message.system("Be brief."),
                TroupeGenerator.Message.user("To be?"), TroupeGenerator.Message.assistant("Or not."),
                TroupeGenerator.Message.user("Why?")), options);
    }

    private static SpringChatModel model() {
        return new SpringChatModel(generator, options().build());
    }

    private static Prompt prompt(ChatOptions.Builder<?> options) {
        return new Prompt(List.of(new SystemMessage("Be brief."), new UserMessage("To be?"),
                new AssistantMessage("Or not."), new UserMessage("Why?")), options.build());
    }

    private static Prompt prompt() {
        return prompt(ChatOptions.builder());
    }

    private static String text(ChatResponse response) {
        return response.getResult().getOutput().getText();
    }

    @Test
    void shouldAnswerAsTheGeneratorDoes() throws Exception {
        TroupeGenerator.Text expected = expected(options().build());
        ChatResponse response = model().call(prompt());
        assertEquals(expected.text(), text(response));
        assertEquals("LENGTH", response.getResult().getMetadata().getFinishReason());
        assertEquals(expected.promptTokens(), response.getMetadata().getUsage().getPromptTokens());
        assertEquals(TOKENS, response.getMetadata().getUsage().getCompletionTokens());
        assertEquals(expected(options().temperature(0.7).topP(0.9).topK(50).frequencyPenalty(0.5).presencePenalty(-0.5)
                .tokens(5).build()).text(),
                text(model().call(prompt(ChatOptions.builder().temperature(0.7).topP(0.9).topK(50).frequencyPenalty(0.5)
                        .presencePenalty(-0.5).maxTokens(5)))));
        String stop = expected.text().substring(1, 2);
        ChatResponse stopped = model().call(prompt(ChatOptions.builder().stopSequences(List.of(stop))));
        assertEquals(expected.text().substring(0, expected.text().indexOf(stop)), text(stopped));
        assertEquals("STOP", stopped.getResult().getMetadata().getFinishReason());
    }

    @Test
    void shouldReplaceTheStopsOfTheDefaultOptions() throws Exception {
        String expected = expected(options().build()).text();
        SpringChatModel stops = new SpringChatModel(generator, options().stop(expected.substring(1, 2)).build());
        assertEquals("STOP", stops.call(prompt()).getResult().getMetadata().getFinishReason());
        assertEquals(expected,
                text(stops.call(prompt(ChatOptions.builder().stopSequences(List.of("never written"))))));
    }

    @Test
    void shouldEndAStreamWithAnError() {
        AssertionError broken = new AssertionError("broken");
        Prompt prompt = new Prompt(new UserMessage("To be?") {
            @Override
            public String getText() {
                throw broken;
            }
        });
        assertEquals(broken, Exceptions.unwrap(assertThrows(Throwable.class,
                () -> model().stream(prompt).blockLast(Duration.ofSeconds(60)))));
    }

    @Test
    void shouldStreamToASubscriberThatWaitsWhileOthersAreAnswered() throws Exception {
        CountDownLatch others = new CountDownLatch(1);
        CountDownLatch received = new CountDownLatch(1);
        StringBuffer pieces = new StringBuffer();
        Flux<ChatResponse> stream = model().stream(prompt()).doOnNext(response -> {
            try {
                assertTrue(others.await(60, TimeUnit.SECONDS));
            } catch (InterruptedException interrupted) {
                throw new IllegalStateException(interrupted);
            }
            pieces.append(text(response));
            if (response.getResult().getMetadata().getFinishReason() != null) {
                assertEquals(TOKENS, response.getMetadata().getUsage().getCompletionTokens());
                received.countDown();
            }
        });
        Disposable subscription = stream.subscribe();
        String expected = expected(options().build()).text();
        assertEquals("", pieces.toString());
        others.countDown();
        assertTrue(received.await(60, TimeUnit.SECONDS));
        assertEquals(expected, pieces.toString());
        subscription.dispose();
    }

    @Test
    void shouldAnswerAfterACancelledStream() {
        List<Throwable> dropped = new CopyOnWriteArrayList<>();
        Hooks.onErrorDropped(dropped::add);
        try (TroupeGenerator one = TroupeGenerator.builder(directory.resolve("run")).slots(1).open()) {
            SpringChatModel model = new SpringChatModel(one, options().tokens(60).build());
            ChatResponse first = model.stream(prompt()).blockFirst();
            assertTrue(text(model.call(prompt())).startsWith(text(first)));
        } finally {
            Hooks.resetOnErrorDropped();
        }
        assertEquals(List.of(), dropped);
    }

    @Test
    void shouldRefuseWhatTheModelCannotDo() {
        refused(RequestException.class, "there is no adapter rude", prompt(ChatOptions.builder().model("rude")));
        refused(RequestException.class, "shorten the prompt", new Prompt("a b".repeat(140)));
        refused(RequestException.class, "top-p above 0", prompt(ChatOptions.builder().topP(0.0)));
        refused(UnsupportedOperationException.class, "only text is written",
                prompt(StructuredOutputChatOptions.builder().outputSchema("{}")));
        refused(UnsupportedOperationException.class, "tools are not supported",
                new Prompt(ToolResponseMessage.builder().responses(List.of()).build()));
        refused(UnsupportedOperationException.class, "one of the type assistant has none",
                new Prompt(new AssistantMessage(null)));
    }

    private static void refused(Class<? extends Exception> kind, String part, Prompt prompt) {
        String sentence = assertThrows(kind, () -> model().call(prompt)).getMessage();
        assertTrue(sentence.contains(part), sentence);
        assertEquals(sentence, assertThrows(kind, () -> model().stream(prompt).blockLast()).getMessage());
    }
}
