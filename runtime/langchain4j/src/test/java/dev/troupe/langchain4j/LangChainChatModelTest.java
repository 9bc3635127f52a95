package dev.troupe.langchain4j;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.langchain4j.agent.tool.ToolSpecification;
import dev.langchain4j.data.message.AiMessage;
import dev.langchain4j.data.message.Content;
import dev.langchain4j.data.message.ImageContent;
import dev.langchain4j.data.message.SystemMessage;
import dev.langchain4j.data.message.UserMessage;
import dev.langchain4j.exception.InvalidRequestException;
import dev.langchain4j.exception.UnsupportedFeatureException;
import dev.langchain4j.model.chat.request.ChatRequest;
import dev.langchain4j.model.chat.request.ResponseFormat;
import dev.langchain4j.model.chat.response.ChatResponse;
import dev.langchain4j.model.chat.response.StreamingChatResponseHandler;
import dev.langchain4j.model.output.FinishReason;
import dev.troupe.GenerationOptions;
import dev.troupe.TrainingData;
import dev.troupe.TrainingSpec;
import dev.troupe.Troupe;
import dev.troupe.TroupeGenerator;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Answers of a small model through LangChain4j's interfaces. */
@Tag("real")
@Timeout(120)
class LangChainChatModelTest {
    private static final int TOKENS = 8;

    @TempDir
    private static Path directory;
    private static TroupeGenerator generator;

    @BeforeAll
    static void train() throws Exception {
        Path tokenizer = Path.of(LangChainChatModelTest.class.getResource("/tokenizers/qwen").toURI());
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

    private static LangChainChatModel model() {
        return new LangChainChatModel(generator, options().build(), List.of());
    }

    private static ChatRequest.Builder request() {
        return ChatRequest.builder().messages(SystemMessage.from("Be brief."), UserMessage.from("To be?"),
                AiMessage.from("Or not."), UserMessage.from("Why?"));
    }

    @Test
    void shouldAnswerAsTheGeneratorDoes() throws Exception {
        TroupeGenerator.Text expected = expected(options().build());
        ChatResponse response = model().chat(request().build());
        assertEquals(expected.text(), response.aiMessage().text());
        assertEquals(FinishReason.LENGTH, response.finishReason());
        assertEquals(expected.promptTokens(), response.tokenUsage().inputTokenCount());
        assertEquals(TOKENS, response.tokenUsage().outputTokenCount());
        ChatResponse other = model().chat(request().temperature(0.7).topP(0.9).topK(50).frequencyPenalty(0.5)
                .presencePenalty(-0.5).maxOutputTokens(5).build());
        assertEquals(expected(options().temperature(0.7).topP(0.9).topK(50).frequencyPenalty(0.5).presencePenalty(-0.5)
                .tokens(5).build()).text(), other.aiMessage().text());
        String stop = expected.text().substring(1, 2);
        ChatResponse stopped = model().chat(request().stopSequences(List.of(stop)).build());
        assertEquals(expected.text().substring(0, expected.text().indexOf(stop)), stopped.aiMessage().text());
        assertEquals(FinishReason.STOP, stopped.finishReason());
    }

    @Test
    void shouldReplaceTheStopsOfTheDefaultOptions() throws Exception {
        String expected = expected(options().build()).text();
        LangChainChatModel stops = new LangChainChatModel(generator, options().stop(expected.substring(1, 2)).build(),
                List.of());
        assertEquals(FinishReason.STOP, stops.chat(request().build()).finishReason());
        assertEquals(expected,
                stops.chat(request().stopSequences(List.of("never written")).build()).aiMessage().text());
    }

    /** A stream that calls a receiver for each piece. */
    private static CompletableFuture<ChatResponse> stream(ChatRequest request, Consumer<String> receiver) {
        CompletableFuture<ChatResponse> whole = new CompletableFuture<>();
        model().chat(request, new StreamingChatResponseHandler() {
            @Override
            public void onPartialResponse(String piece) {
                receiver.accept(piece);
            }

            @Override
            public void onCompleteResponse(ChatResponse response) {
                whole.complete(response);
            }

            @Override
            public void onError(Throwable failure) {
                whole.completeExceptionally(failure);
            }
        });
        return whole;
    }

    @Test
    void shouldStreamToAHandlerThatWaitsWhileOthersAreAnswered() throws Exception {
        CountDownLatch others = new CountDownLatch(1);
        StringBuffer pieces = new StringBuffer();
        CompletableFuture<ChatResponse> whole = stream(request().build(), piece -> {
            try {
                assertTrue(others.await(60, TimeUnit.SECONDS));
            } catch (InterruptedException interrupted) {
                throw new IllegalStateException(interrupted);
            }
            pieces.append(piece);
        });
        String expected = expected(options().build()).text();
        assertEquals("", pieces.toString());
        others.countDown();
        assertEquals(expected, whole.get(60, TimeUnit.SECONDS).aiMessage().text());
        assertEquals(expected, pieces.toString());
    }

    @Test
    void shouldPassOnTheFailureOfAHandlerAndOfARequest() {
        IllegalStateException enough = new IllegalStateException("enough");
        assertEquals(enough, assertThrows(ExecutionException.class, () -> stream(request().build(), _ -> {
            throw enough;
        }).get(60, TimeUnit.SECONDS)).getCause());
        Throwable refused = assertThrows(ExecutionException.class,
                () -> stream(request().modelName("rude").build(), _ -> {
                }).get(60, TimeUnit.SECONDS)).getCause();
        assertTrue(refused instanceof InvalidRequestException, refused.toString());
    }

    @Test
    void shouldPassOnAnErrorOfAHandlerAndOfARequest() {
        AssertionError broken = new AssertionError("broken");
        assertEquals(broken, assertThrows(ExecutionException.class, () -> stream(request().build(), _ -> {
            throw broken;
        }).get(60, TimeUnit.SECONDS)).getCause());
        Content content = () -> {
            throw broken;
        };
        assertEquals(broken,
                assertThrows(ExecutionException.class,
                        () -> stream(request().messages(UserMessage.from(content)).build(), _ -> {
                        }).get(60, TimeUnit.SECONDS)).getCause());
    }

    @Test
    void shouldEndTheTextOfAHandlerThatFailsAtItsFailure() throws Exception {
        CountDownLatch interrupted = new CountDownLatch(1);
        HandlerThread.start(new StreamingChatResponseHandler() {
            @Override
            public void onPartialResponse(String piece) {
                throw new IllegalStateException("enough");
            }

            @Override
            public void onCompleteResponse(ChatResponse response) {
                throw new IllegalStateException("the text has not ended");
            }

            @Override
            public void onError(Throwable failure) {
                throw new IllegalStateException("enough of failures, too", failure);
            }
        }, pieces -> {
            pieces.accept("To be");
            try {
                TimeUnit.SECONDS.sleep(60);
            } catch (InterruptedException _) {
                interrupted.countDown();
            }
            return ChatResponse.builder().aiMessage(AiMessage.from("To be")).build();
        });
        assertTrue(interrupted.await(30, TimeUnit.SECONDS));
    }

    @Test
    void shouldRefuseWhatTheModelCannotDo() {
        refused(InvalidRequestException.class, "there is no adapter rude", request().modelName("rude"));
        refused(InvalidRequestException.class, "shorten the prompt",
                request().messages(UserMessage.from("a b".repeat(140))));
        refused(InvalidRequestException.class, "top-p above 0", request().topP(0.0));
        refused(UnsupportedFeatureException.class, "tools are not supported",
                request().toolSpecifications(ToolSpecification.builder().name("weather").build()));
        refused(UnsupportedFeatureException.class, "only text is written",
                request().responseFormat(ResponseFormat.JSON));
        refused(UnsupportedFeatureException.class, "must be text, but has IMAGE",
                request().messages(UserMessage.from(ImageContent.from("http://127.0.0.1/a.png"))));
    }

    private static void refused(Class<? extends Exception> kind, String part, ChatRequest.Builder request) {
        String sentence = assertThrows(kind, () -> model().chat(request.build())).getMessage();
        assertTrue(sentence.contains(part), sentence);
    }
}
