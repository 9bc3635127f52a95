package dev.troupe.springai;

import static java.util.Objects.requireNonNull;

import dev.troupe.GenerationOptions;
import dev.troupe.RequestException;
import dev.troupe.TroupeGenerator;
import java.util.List;
import java.util.concurrent.CancellationException;
import java.util.function.Consumer;
import org.springframework.ai.chat.messages.AssistantMessage;
import org.springframework.ai.chat.messages.Message;
import org.springframework.ai.chat.messages.MessageType;
import org.springframework.ai.chat.metadata.ChatGenerationMetadata;
import org.springframework.ai.chat.metadata.ChatResponseMetadata;
import org.springframework.ai.chat.metadata.DefaultUsage;
import org.springframework.ai.chat.model.ChatModel;
import org.springframework.ai.chat.model.ChatResponse;
import org.springframework.ai.chat.model.Generation;
import org.springframework.ai.chat.prompt.ChatOptions;
import org.springframework.ai.chat.prompt.Prompt;
import org.springframework.ai.content.MediaContent;
import org.springframework.ai.model.tool.StructuredOutputChatOptions;
import org.springframework.ai.model.tool.ToolCallingChatOptions;
import reactor.core.publisher.Flux;
import reactor.core.publisher.FluxSink;
import reactor.core.scheduler.Schedulers;

/**
 * A chat model of Spring AI that answers with a {@link TroupeGenerator} of this JVM, whole or in a stream. The options of a
 * prompt win over the default options; its model, if it has one, is the name of an adapter.
 *
 * <p>Tools, output schemas and contents other than text are refused by {@link UnsupportedOperationException}, and prompts
 * that the generator refuses by {@link RequestException}.
 *
 * <p>Thread rule: any thread. A stream is received on a thread that may wait; if it is cancelled, so is its text.
 */
public final class SpringChatModel implements ChatModel {
    private final TroupeGenerator generator;
    private final GenerationOptions defaults;

    /** Creates a model with the default options. */
    public SpringChatModel(TroupeGenerator generator) {
        this(generator, GenerationOptions.defaults());
    }

    /**
     * Creates a model.
     *
     * @param generator closed by the caller
     */
    public SpringChatModel(TroupeGenerator generator, GenerationOptions defaults) {
        this.generator = requireNonNull(generator, "generator");
        this.defaults = requireNonNull(defaults, "defaults");
    }

    @Override
    public ChatResponse call(Prompt prompt) {
        try {
            TroupeGenerator.Text text = answer(prompt, _ -> {
            });
            return response(text.text(), text);
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
            throw new CancellationException("the thread that waited for an answer was interrupted");
        }
    }

    /** The last response has no text, but the end and the numbers of tokens. */
    @Override
    public Flux<ChatResponse> stream(Prompt prompt) {
        return Flux.<ChatResponse>create(sink -> {
            Thread waiting = Thread.ofVirtual().name("spring-ai-stream").unstarted(() -> write(prompt, sink));
            sink.onDispose(waiting::interrupt);
            waiting.start();
        }).publishOn(Schedulers.boundedElastic()); // the generator's thread writes the texts of others, so it must not wait
    }

    private void write(Prompt prompt, FluxSink<ChatResponse> sink) {
        try {
            TroupeGenerator.Text text = answer(prompt, piece -> sink
                    .next(new ChatResponse(List.of(new Generation(new AssistantMessage(piece))))));
            sink.next(response("", text));
            sink.complete();
        } catch (InterruptedException cancelled) {
            sink.complete(); // nobody receives it
        } catch (Throwable failure) { // after an Error, too, the stream must end
            sink.error(failure);
            if (failure instanceof Error error) {
                throw error;
            }
        }
    }

    private TroupeGenerator.Text answer(Prompt prompt, Consumer<String> piece) throws InterruptedException {
        return generator.chat(prompt.getInstructions().stream().map(SpringChatModel::message).toList(),
                options(prompt.getOptions()), piece);
    }

    private static ChatResponse response(String shown, TroupeGenerator.Text text) {
        ChatGenerationMetadata end = ChatGenerationMetadata.builder()
                .finishReason(text.isComplete() ? "STOP" : "LENGTH").build();
        return new ChatResponse(List.of(new Generation(new AssistantMessage(shown), end)), ChatResponseMetadata
                .builder().usage(new DefaultUsage(text.promptTokens(), text.tokens())).build());
    }

    private static TroupeGenerator.Message message(Message message) {
        if (message.getMessageType() == MessageType.TOOL
                || message instanceof AssistantMessage answer && answer.hasToolCalls()) {
            throw new UnsupportedOperationException("tools are not supported: send the chat without their messages");
        }
        if (message instanceof MediaContent content && !content.getMedia().isEmpty()) {
            throw new UnsupportedOperationException("a message must be text, but has media");
        }
        String text = message.getText();
        if (text == null) {
            throw new UnsupportedOperationException("a message must be text, but one of the type "
                    + message.getMessageType().getValue() + " has none");
        }
        return new TroupeGenerator.Message(message.getMessageType().getValue(), text);
    }

    private GenerationOptions options(ChatOptions asked) {
        if (asked == null) {
            return defaults;
        }
        if (asked instanceof ToolCallingChatOptions tools && !tools.getToolCallbacks().isEmpty()) {
            throw new UnsupportedOperationException("tools are not supported: send the chat without tools");
        }
        if (asked instanceof StructuredOutputChatOptions output && output.getOutputSchema() != null) {
            throw new UnsupportedOperationException("only text is written, and no JSON that is certain to be"
                    + " well-formed: ask for JSON in a message, and parse the answer");
        }
        GenerationOptions.Builder options = defaults.toBuilder();
        set(asked.getModel(), options::adapter);
        set(asked.getTemperature(), options::temperature);
        set(asked.getTopP(), options::topP);
        set(asked.getTopK(), options::topK);
        set(asked.getFrequencyPenalty(), options::frequencyPenalty);
        set(asked.getPresencePenalty(), options::presencePenalty);
        set(asked.getMaxTokens(), options::tokens);
        set(asked.getStopSequences(), options::stops);
        return options.build();
    }

    private static <T> void set(T asked, Consumer<T> option) {
        if (asked != null) {
            option.accept(asked);
        }
    }
}
