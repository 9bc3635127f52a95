package dev.troupe.langchain4j;

import static java.util.Objects.requireNonNull;

import dev.langchain4j.data.message.AiMessage;
import dev.langchain4j.data.message.ChatMessage;
import dev.langchain4j.data.message.Content;
import dev.langchain4j.data.message.SystemMessage;
import dev.langchain4j.data.message.TextContent;
import dev.langchain4j.data.message.UserMessage;
import dev.langchain4j.exception.InvalidRequestException;
import dev.langchain4j.exception.LangChain4jException;
import dev.langchain4j.exception.UnsupportedFeatureException;
import dev.langchain4j.model.ModelProvider;
import dev.langchain4j.model.chat.Capability;
import dev.langchain4j.model.chat.ChatModel;
import dev.langchain4j.model.chat.StreamingChatModel;
import dev.langchain4j.model.chat.listener.ChatModelListener;
import dev.langchain4j.model.chat.request.ChatRequest;
import dev.langchain4j.model.chat.request.ChatRequestParameters;
import dev.langchain4j.model.chat.request.ResponseFormatType;
import dev.langchain4j.model.chat.response.ChatResponse;
import dev.langchain4j.model.chat.response.StreamingChatResponseHandler;
import dev.langchain4j.model.output.FinishReason;
import dev.langchain4j.model.output.TokenUsage;
import dev.troupe.GenerationOptions;
import dev.troupe.RequestException;
import dev.troupe.TroupeGenerator;
import java.util.List;
import java.util.Set;
import java.util.function.Consumer;
import java.util.stream.Collectors;

/**
 * A chat model of LangChain4j that answers with a {@link TroupeGenerator} of this JVM, whole or in a stream. The options of
 * a request win over the default options; its model name, if it has one, is the name of an adapter.
 *
 * <p>Tools, JSON formats and contents other than text are refused by {@link UnsupportedFeatureException}, and requests that
 * the generator refuses by {@link InvalidRequestException}.
 *
 * <p>Thread rule: any thread. A stream calls its handler on a thread of its own, so the handler may wait.
 */
public final class LangChainChatModel implements ChatModel, StreamingChatModel {
    private final TroupeGenerator generator;
    private final GenerationOptions defaults;
    private final List<ChatModelListener> listeners;

    /** Creates a model with the default options. */
    public LangChainChatModel(TroupeGenerator generator) {
        this(generator, GenerationOptions.defaults(), List.of());
    }

    /**
     * Creates a model.
     *
     * @param generator closed by the caller
     * @param listeners are called for each request
     */
    public LangChainChatModel(TroupeGenerator generator, GenerationOptions defaults,
            List<ChatModelListener> listeners) {
        this.generator = requireNonNull(generator, "generator");
        this.defaults = requireNonNull(defaults, "defaults");
        this.listeners = List.copyOf(listeners);
    }

    @Override
    public ChatRequestParameters defaultRequestParameters() {
        return ChatRequestParameters.builder().build();
    }

    @Override
    public List<ChatModelListener> listeners() {
        return listeners;
    }

    @Override
    public ModelProvider provider() {
        return ModelProvider.OTHER;
    }

    @Override
    public Set<Capability> supportedCapabilities() {
        return Set.of();
    }

    @Override
    public ChatResponse doChat(ChatRequest request) {
        return answer(request, _ -> {
        });
    }

    @Override
    public void doChat(ChatRequest request, StreamingChatResponseHandler handler) {
        HandlerThread.start(handler, pieces -> answer(request, pieces));
    }

    private ChatResponse answer(ChatRequest request, Consumer<String> piece) {
        List<TroupeGenerator.Message> chat = request.messages().stream().map(LangChainChatModel::message).toList();
        try {
            TroupeGenerator.Text text = generator.chat(chat, options(request.parameters()), piece);
            return ChatResponse.builder().aiMessage(AiMessage.from(text.text()))
                    .finishReason(text.isComplete() ? FinishReason.STOP : FinishReason.LENGTH)
                    .tokenUsage(new TokenUsage(text.promptTokens(), text.tokens())).build();
        } catch (RequestException refused) {
            throw new InvalidRequestException(refused);
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
            throw new LangChain4jException("the thread that waited for an answer was interrupted", interrupted);
        }
    }

    private static TroupeGenerator.Message message(ChatMessage message) {
        return switch (message) {
            case SystemMessage system -> TroupeGenerator.Message.system(system.text());
            case UserMessage user -> TroupeGenerator.Message.user(user.contents().stream()
                    .map(LangChainChatModel::text).collect(Collectors.joining()));
            case AiMessage answer when answer.text() != null && !answer.hasToolExecutionRequests() ->
                TroupeGenerator.Message.assistant(answer.text());
            default -> throw new UnsupportedFeatureException(
                    "a message must be text of a system, a user or an assistant, but is of the type " + message.type());
        };
    }

    private static String text(Content content) {
        if (content instanceof TextContent text) {
            return text.text();
        }
        throw new UnsupportedFeatureException("a message must be text, but has " + content.type());
    }

    private GenerationOptions options(ChatRequestParameters asked) {
        if (!asked.toolSpecifications().isEmpty()) {
            throw new UnsupportedFeatureException("tools are not supported: send the chat without tools");
        }
        if (asked.responseFormat() != null && asked.responseFormat().type() != ResponseFormatType.TEXT) {
            throw new UnsupportedFeatureException("only text is written, and no JSON that is certain to be well-formed:"
                    + " ask for JSON in a message, and parse the answer");
        }
        GenerationOptions.Builder options = defaults.toBuilder();
        set(asked.modelName(), options::adapter);
        set(asked.temperature(), options::temperature);
        set(asked.topP(), options::topP);
        set(asked.topK(), options::topK);
        set(asked.frequencyPenalty(), options::frequencyPenalty);
        set(asked.presencePenalty(), options::presencePenalty);
        set(asked.maxOutputTokens(), options::tokens);
        if (!asked.stopSequences().isEmpty()) {
            options.stops(asked.stopSequences());
        }
        return options.build();
    }

    private static <T> void set(T asked, Consumer<T> option) {
        if (asked != null) {
            option.accept(asked);
        }
    }
}
