package dev.troupe;

import static java.util.Objects.requireNonNull;

import dev.troupe.engine.provider.InstalledEngines;
import dev.troupe.look.model.Generation;
import dev.troupe.look.model.GenerationQueue;
import dev.troupe.look.model.QueueFullException;
import dev.troupe.look.model.TextEnd;
import dev.troupe.look.model.WrittenAnswer;
import dev.troupe.rows.ChatPrompts;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import java.util.function.Consumer;

/**
 * A model that continues prompts and answers chats. Its weights are read once, and several texts are written at a time. With
 * exact rows ({@code engine.exact-rows}, or the engine reference) no text changes a character of another.
 *
 * <p>Thread rule: any thread.
 */
public final class TroupeGenerator implements AutoCloseable {
    private final Generation generation;
    private final GenerationQueue queue;
    private final int context;

    /**
     * A message of a chat.
     *
     * @param role {@code system}, {@code user}, {@code assistant}, or another that the model's chat template knows
     * @param content the text
     */
    public record Message(String role, String content) {
        /** Creates a message. */
        public Message {
            requireNonNull(role, "role");
            requireNonNull(content, "content");
        }

        /** Returns an instruction to the model, the first message of a chat. */
        public static Message system(String content) {
            return new Message("system", content);
        }

        /** Returns a message of the user. */
        public static Message user(String content) {
            return new Message("user", content);
        }

        /** Returns an earlier answer of the model. */
        public static Message assistant(String content) {
            return new Message("assistant", content);
        }
    }

    /**
     * A text that a model wrote.
     *
     * @param text the text, without the prompt
     * @param isComplete whether the model or a stop text ended it; if not, it has the most tokens that were asked for
     * @param promptTokens the number of tokens before it
     * @param tokens the number of its tokens, with one that ended it
     */
    public record Text(String text, boolean isComplete, int promptTokens, int tokens) {
    }

    private TroupeGenerator(Generation generation, GenerationQueue queue, int context) {
        this.generation = generation;
        this.queue = queue;
        this.context = context;
    }

    /**
     * Opens a model with the defaults of {@link #builder}.
     *
     * @throws RequestException if the model, this machine or this JVM cannot serve
     */
    public static TroupeGenerator open(Path modelOrRun) {
        return builder(modelOrRun).open();
    }

    /**
     * Returns a builder.
     *
     * @param modelOrRun a directory in Hugging Face layout, or a run or checkpoint of Troupe
     */
    public static Builder builder(Path modelOrRun) {
        return new Builder(requireNonNull(modelOrRun, "modelOrRun"));
    }

    /** As {@link #generate(String, GenerationOptions, Consumer)}, for the whole text alone. */
    public Text generate(String prompt, GenerationOptions options) throws InterruptedException {
        return generate(prompt, options, _ -> {
        });
    }

    /**
     * Continues a prompt.
     *
     * @param piece receives the text in pieces while it is written, on the thread that writes all texts, so it must not
     *     wait; a character is never split. If it throws an exception, the text ends with that exception
     * @throws RequestException if prompt and text do not fit in the context, there is no such adapter, or too many
     *     texts wait
     * @throws InterruptedException if this thread was interrupted; the text is cancelled
     * @throws IllegalStateException if the generator is closed
     */
    public Text generate(String prompt, GenerationOptions options, Consumer<String> piece)
            throws InterruptedException {
        requireNonNull(prompt, "prompt");
        return write(Refusals.translate(() -> generation.tokens(prompt)), options, piece);
    }

    /** As {@link #chat(List, GenerationOptions, Consumer)}, for the whole answer alone. */
    public Text chat(List<Message> messages, GenerationOptions options) throws InterruptedException {
        return chat(messages, options, _ -> {
        });
    }

    /**
     * Answers a chat, as the model's chat template writes it.
     *
     * @param messages from the first to the one to answer
     * @param piece as in {@link #generate(String, GenerationOptions, Consumer)}
     * @throws RequestException also if the model has no chat template, or the template refuses the chat
     */
    public Text chat(List<Message> messages, GenerationOptions options, Consumer<String> piece)
            throws InterruptedException {
        List<ChatPrompts.Turn> turns = requireNonNull(messages, "messages").stream()
                .map(message -> new ChatPrompts.Turn(message.role(), message.content())).toList();
        return write(Refusals.translate(() -> generation.tokensOfChat(turns)), options, piece);
    }

    private Text write(int[] prompt, GenerationOptions options, Consumer<String> piece)
            throws InterruptedException {
        requireNonNull(options, "options");
        requireNonNull(piece, "piece");
        WrittenAnswer answer;
        try {
            answer = Refusals.translate(() -> {
                options.requireAdapter(generation.adapters());
                int most = options.most(prompt.length, context);
                Generation.requireRoom(prompt.length, most, context);
                return queue.write(options.request(prompt, most), piece);
            });
        } catch (QueueFullException full) {
            throw full.isClosed()
                    ? new IllegalStateException("the generator is closed", full)
                    : new RequestException(String.valueOf(full.getMessage()), full);
        }
        TextEnd.Reason reason = answer.end().reason();
        if (reason == TextEnd.Reason.CANCELLED) {
            throw new IllegalStateException("the generator was closed before the text was complete");
        }
        return new Text(answer.text(), reason == TextEnd.Reason.STOP, prompt.length, answer.end().tokens());
    }

    /** Returns the most tokens of a prompt and its text together. */
    public int context() {
        return context;
    }

    /** Cancels texts in progress, and releases the memory of the model. */
    @Override
    public void close() {
        queue.close();
        generation.close();
    }

    /** The builder of a generator. Used by one thread. */
    public static final class Builder {
        private static final int USUAL_SLOTS = 4;
        private static final int USUAL_WAITING = 64;

        private final Path modelOrRun;
        private final List<String> settings = new ArrayList<>();
        private final Map<String, Path> adapters = new LinkedHashMap<>();
        private OptionalInt context = OptionalInt.empty();
        private int slots = USUAL_SLOTS;
        private int waiting = USUAL_WAITING;

        private Builder(Path modelOrRun) {
            this.modelOrRun = modelOrRun;
        }

        /**
         * Sets a key of the configuration, such as {@code engine.kind}.
         *
         * @param key as in {@link TrainingSpec.Builder#set}
         */
        public Builder set(String key, Object value) {
            requireNonNull(value, "value");
            settings.add(requireNonNull(key, "key") + "=" + SettingText.of(key, value));
            return this;
        }

        /**
         * Adds an adapter of the model, which {@link GenerationOptions.Builder#adapter} chooses. The weights of the model
         * are in memory once.
         *
         * @param directory an adapter in PEFT's layout, or a run that trained one
         */
        public Builder adapter(String name, Path directory) {
            adapters.put(requireNonNull(name, "name"), requireNonNull(directory, "directory"));
            return this;
        }

        /**
         * Sets the most tokens of a prompt and its text together, for which each slot has memory; by default 2048, or the
         * positions of the model.
         */
        public Builder context(int tokens) {
            context = OptionalInt.of(positive("context", tokens));
            return this;
        }

        /** Sets the most texts at a time, by default 4. */
        public Builder slots(int count) {
            slots = positive("slots", count);
            return this;
        }

        /** Sets the most texts that wait for a slot, by default 64; a text beyond is refused. */
        public Builder waiting(int count) {
            waiting = positive("waiting", count);
            return this;
        }

        private static int positive(String name, int value) {
            if (value < 1) {
                throw new RequestException(name + " must be at least 1, but found " + value);
            }
            return value;
        }

        /**
         * Reads the weights.
         *
         * @throws RequestException if the model, this machine or this JVM cannot serve
         */
        public TroupeGenerator open() {
            JvmFlags.require();
            // as in Troupe: libraries look for their services by the class loader of the thread
            ClassLoader before = Thread.currentThread().getContextClassLoader();
            Thread.currentThread().setContextClassLoader(InstalledEngines.loader());
            try {
                return Refusals.translate(this::opened);
            } finally {
                Thread.currentThread().setContextClassLoader(before);
            }
        }

        private TroupeGenerator opened() {
            Generation generation = Generation.of(modelOrRun, settings, adapters);
            try {
                int most = generation.context(context, "context");
                return new TroupeGenerator(generation, generation.open(most, slots, waiting), most);
            } catch (RuntimeException refused) {
                generation.close();
                throw refused;
            }
        }
    }
}
