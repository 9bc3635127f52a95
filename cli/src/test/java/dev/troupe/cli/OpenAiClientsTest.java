package dev.troupe.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.openai.errors.BadRequestException;
import com.openai.errors.NotFoundException;
import com.openai.errors.UnauthorizedException;
import dev.langchain4j.agent.tool.ToolSpecification;
import dev.langchain4j.data.message.SystemMessage;
import dev.langchain4j.data.message.UserMessage;
import dev.langchain4j.exception.AuthenticationException;
import dev.langchain4j.exception.InvalidRequestException;
import dev.langchain4j.exception.ModelNotFoundException;
import dev.langchain4j.model.chat.request.ChatRequest;
import dev.langchain4j.model.chat.response.ChatResponse;
import dev.langchain4j.model.chat.response.StreamingChatResponseHandler;
import dev.langchain4j.model.openai.OpenAiChatModel;
import dev.langchain4j.model.openai.OpenAiStreamingChatModel;
import dev.langchain4j.model.output.FinishReason;
import dev.troupe.look.model.Generation;
import dev.troupe.look.model.GenerationQueue;
import dev.troupe.serve.ApiServer;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.ai.chat.prompt.Prompt;
import org.springframework.ai.openai.OpenAiChatOptions;

/** The clients of OpenAI that LangChain4j and Spring AI have, against the server of {@code troupe serve}. */
@Tag("real")
@Timeout(120)
class OpenAiClientsTest {
    private static final int TOKENS = 6;
    private static final double TEMPERATURE = 1.3;
    private static final int SEED = 7;

    @TempDir
    private static Path directory;
    private static Generation generation;
    private static GenerationQueue queue;
    private static ApiServer server;
    /** The answers of {@code troupe generate} with {@link #SEED}, and with the next seed. */
    private static List<String> expected;

    @BeforeAll
    static void open() throws Exception {
        SmallModel.write(directory, "llama", "qwen", Map.of("key-value-heads", 2));
        generation = Generation.of(directory, List.of());
        queue = generation.open(60, 2, 4);
        server = ApiServer.open(new ApiServer.Settings(new InetSocketAddress("127.0.0.1", 0), Optional.empty(),
                Optional.of("secret"), "small"), generation, queue, 60);
        expected = generated();
        assertEquals(2, expected.stream().distinct().count());
    }

    @AfterAll
    static void close() {
        queue.close();
        server.close();
        generation.close();
    }

    private static List<String> generated() throws Exception {
        Path chats = Files.writeString(directory.resolve("chats.jsonl"), "{\"messages\": [{\"role\": \"system\","
                + " \"content\": \"Be brief.\"}, {\"role\": \"user\", \"content\": \"To be?\"}]}\n");
        return Execution.of(List.of("generate", "-s", "model.from=" + directory, "-s", "data.tokenizer=" + directory,
                "--prompts", chats.toString(), "--tokens", "" + TOKENS, "--temperature", "" + TEMPERATURE, "--seed",
                "" + SEED, "--answers", "2")).requireDone().output().lines().map(OpenAiClientsTest::text).toList();
    }

    private static String text(String line) {
        try {
            return new ObjectMapper().readTree(line).get("text").asText();
        } catch (Exception malformed) {
            throw new AssertionError(line, malformed);
        }
    }

    private static String base() {
        return server.address() + "/v1";
    }

    private static OpenAiChatModel.OpenAiChatModelBuilder ofLangChain() {
        return OpenAiChatModel.builder().baseUrl(base()).apiKey("secret").modelName("small").maxTokens(TOKENS)
                .temperature(TEMPERATURE).seed(SEED).maxRetries(0);
    }

    private static ChatRequest.Builder langChainRequest() {
        return ChatRequest.builder().messages(SystemMessage.from("Be brief."), UserMessage.from("To be?"));
    }

    private static void requireAnswer(ChatResponse response) {
        assertEquals(expected.getFirst(), response.aiMessage().text());
        assertEquals(FinishReason.LENGTH, response.finishReason());
        assertEquals(TOKENS, response.tokenUsage().outputTokenCount());
        assertTrue(response.tokenUsage().inputTokenCount() > TOKENS);
        assertEquals("small", response.modelName());
    }

    @Test
    void shouldAnswerLangChain() {
        requireAnswer(ofLangChain().build().chat(langChainRequest().build()));
        requireAnswer(ofLangChain().maxTokens(null).maxCompletionTokens(TOKENS).logprobs(true).topLogprobs(2)
                .user("someone").build().chat(langChainRequest().build()));
    }

    @Test
    void shouldStreamToLangChain() throws Exception {
        StringBuilder pieces = new StringBuilder();
        CompletableFuture<ChatResponse> whole = new CompletableFuture<>();
        OpenAiStreamingChatModel.builder().baseUrl(base()).apiKey("secret").modelName("small").maxTokens(TOKENS)
                .temperature(TEMPERATURE).seed(SEED).build()
                .chat(langChainRequest().build(), new StreamingChatResponseHandler() {
                    @Override
                    public void onPartialResponse(String piece) {
                        pieces.append(piece);
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
        requireAnswer(whole.get(60, TimeUnit.SECONDS));
        assertEquals(expected.getFirst(), pieces.toString());
    }

    @Test
    void shouldRefuseWhatLangChainUnderstands() {
        ChatRequest plain = langChainRequest().build();
        requirePart("there is no model \\\"large\\\"", assertThrows(ModelNotFoundException.class,
                () -> ofLangChain().modelName("large").build().chat(plain)));
        requirePart("Bearer", assertThrows(AuthenticationException.class,
                () -> ofLangChain().apiKey("wrong").build().chat(plain)));
        requirePart("shorten the prompt", assertThrows(InvalidRequestException.class,
                () -> ofLangChain().build().chat("To be ".repeat(60))));
        ChatRequest withTool = langChainRequest()
                .toolSpecifications(ToolSpecification.builder().name("weather").build()).build();
        requirePart("tools is not supported", assertThrows(InvalidRequestException.class,
                () -> ofLangChain().build().chat(withTool)));
        requirePart("response_format is not supported", assertThrows(InvalidRequestException.class,
                () -> ofLangChain().responseFormat("json_object").build().chat(plain)));
    }

    private static void requirePart(String part, Exception refusal) {
        assertTrue(refusal.getMessage().contains(part), refusal.getMessage());
    }

    private static OpenAiChatOptions.Builder options() {
        OpenAiChatOptions.Builder options = new OpenAiChatOptions.Builder();
        options.baseUrl(base()).apiKey("secret").model("small").maxTokens(TOKENS).temperature(TEMPERATURE).seed(SEED)
                .maxRetries(0);
        return options;
    }

    private static org.springframework.ai.openai.OpenAiChatModel ofSpring(OpenAiChatOptions options) {
        return org.springframework.ai.openai.OpenAiChatModel.builder().options(options).build();
    }

    private static Prompt springPrompt() {
        return new Prompt(List.of(new org.springframework.ai.chat.messages.SystemMessage("Be brief."),
                new org.springframework.ai.chat.messages.UserMessage("To be?")));
    }

    @Test
    void shouldAnswerSpring() {
        OpenAiChatOptions.Builder two = options();
        two.n(2).logprobs(true).topLogprobs(2);
        org.springframework.ai.chat.model.ChatResponse response = ofSpring(two.build()).call(springPrompt());
        assertEquals(expected, response.getResults().stream().map(answer -> answer.getOutput().getText()).toList());
        assertEquals("LENGTH", response.getResult().getMetadata().getFinishReason());
        assertEquals(2 * TOKENS, response.getMetadata().getUsage().getCompletionTokens());
        assertEquals("small", response.getMetadata().getModel());
    }

    @Test
    void shouldStreamToSpring() {
        OpenAiChatOptions.Builder streamed = options();
        streamed.streamUsage(true);
        List<org.springframework.ai.chat.model.ChatResponse> responses = ofSpring(streamed.build())
                .stream(springPrompt()).collectList().block();
        StringBuilder pieces = new StringBuilder();
        responses.stream().flatMap(response -> response.getResults().stream())
                .map(answer -> answer.getOutput().getText()).filter(text -> text != null).forEach(pieces::append);
        assertEquals(expected.getFirst(), pieces.toString());
        assertEquals(TOKENS, responses.getLast().getMetadata().getUsage().getCompletionTokens());
    }

    @Test
    void shouldRefuseWhatSpringUnderstands() {
        OpenAiChatOptions.Builder large = options();
        large.model("large");
        requirePart("there is no model", assertThrows(NotFoundException.class,
                () -> ofSpring(large.build()).call(springPrompt())));
        OpenAiChatOptions.Builder stranger = options();
        stranger.apiKey("wrong");
        requirePart("Bearer", assertThrows(UnauthorizedException.class,
                () -> ofSpring(stranger.build()).call(springPrompt())));
        requirePart("shorten the prompt", assertThrows(BadRequestException.class,
                () -> ofSpring(options().build()).call(new Prompt("To be ".repeat(60)))));
        OpenAiChatOptions.Builder json = options();
        json.outputSchema("{\"type\": \"object\"}");
        requirePart("response_format is not supported", assertThrows(BadRequestException.class,
                () -> ofSpring(json.build()).call(springPrompt())));
    }
}
