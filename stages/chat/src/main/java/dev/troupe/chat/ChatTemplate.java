package dev.troupe.chat;

import com.fasterxml.jackson.databind.JsonNode;
import com.sun.management.ThreadMXBean;
import dev.troupe.chat.render.Template;
import dev.troupe.chat.value.None;
import dev.troupe.chat.value.TemplateException;
import dev.troupe.tokenizer.file.BoundedFile;
import dev.troupe.tokenizer.file.FilePart;
import dev.troupe.tokenizer.file.FileReason;
import dev.troupe.tokenizer.file.TokenizerException;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.charset.CharacterCodingException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Duration;
import java.time.LocalDateTime;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.UnaryOperator;

/**
 * The chat template of a directory in Hugging Face layout: {@code chat_template.jinja}, else {@code chat_template} of
 * {@code tokenizer_config.json}. It makes the same text as transformers, or refuses the chat. A template is untrusted: it
 * has limited time, memory and length of text, it reads no files, and it has no values but its variables.
 *
 * <p>Thread rule: any thread may use it. Each text is made on its own thread, which ends with the text, or soon after the
 * time limit.
 */
public final class ChatTemplate {
    private static final String FILE = "chat_template.jinja";
    private static final String SETTINGS = "tokenizer_config.json";
    private static final List<String> SPECIAL_TOKENS = List.of("bos_token", "eos_token", "unk_token", "sep_token",
            "pad_token",
            "cls_token", "mask_token");
    private static final String DEFAULT_NAME = "default";
    private static final SecureRandom MARKS = new SecureRandom();
    private static final long MOST_ALLOCATED_BYTES = 1L << 29;
    private static final long LOOK_EVERY_MILLIS = 10;
    /** Enough for the deepest template and chat within the limits of depth. */
    private static final long STACK_BYTES = 64L << 20;
    private static final Duration LONGEST = Duration.ofSeconds(10);
    private static final ThreadMXBean ALLOCATIONS = (ThreadMXBean) ManagementFactory.getThreadMXBean();

    private final String name;
    private final Template template;
    private final Map<String, Object> specialTokens;
    private final Duration longest;

    private ChatTemplate(String name, String source, Map<String, Object> specialTokens, Duration longest) {
        this.name = name;
        this.specialTokens = specialTokens;
        this.longest = longest;
        this.template = onItsThread(() -> Template.of(source));
    }

    /**
     * Reads the template of a directory.
     *
     * @throws TokenizerException if it has none, or one that cannot be read
     */
    public static ChatTemplate of(Path directory) {
        return of(directory, LONGEST);
    }

    static ChatTemplate of(Path directory, Duration longest) {
        Path settings = directory.resolve(SETTINGS);
        Optional<FilePart> whole = Files.exists(settings) ? Optional.of(FilePart.read(settings)) : Optional.empty();
        Map<String, Object> tokens = new LinkedHashMap<>();
        for (String token : SPECIAL_TOKENS) {
            whole.map(part -> part.at(token)).filter(part -> !part.isAbsent())
                    .ifPresent(part -> tokens.put(token, part.isText() ? part.text() : part.at("content").text()));
        }
        Path file = directory.resolve(FILE);
        if (Files.exists(file)) {
            return new ChatTemplate(file.toString(), read(file), tokens, longest);
        }
        FilePart template = whole.map(part -> part.at("chat_template")).filter(part -> !part.isAbsent())
                .orElseThrow(() -> new TokenizerException(directory + " has no chat template: no file " + FILE
                        + ", and no chat_template in " + SETTINGS));
        FilePart chosen = template.isText() ? template : byName(template);
        return new ChatTemplate(settings + ": " + chosen.path(), chosen.text(), tokens, longest);
    }

    /** Returns the default of several templates with names. */
    private static FilePart byName(FilePart list) {
        return list.elements().stream().filter(one -> one.at("name").text().equals(DEFAULT_NAME))
                .map(one -> one.at("template")).findFirst()
                .orElseThrow(() -> list.refusal("has no template of the name " + DEFAULT_NAME));
    }

    /**
     * Returns the text of a chat, the same as Hugging Face's {@code apply_chat_template}. It has the special tokens that it
     * needs, so it is encoded without the tokens of a post-processor.
     *
     * @param chat an object with {@code messages}; its other members are variables too, such as
     *     {@code add_generation_prompt} and {@code tools}
     * @throws TokenizerException if the template fails, takes too long, or makes too long a text
     */
    public String render(JsonNode chat) {
        return render(chat, UnaryOperator.identity());
    }

    /** Returns whether the template marks the assistant's words, with {@code {% generation %}}. */
    public boolean marksAnswers() {
        return template.marksAnswers();
    }

    /**
     * As {@link #render(JsonNode)}, with the marks of the template.
     *
     * @throws TokenizerException also if the template changes the marked text, so that marks and text cannot be
     *     distinguished
     */
    public MarkedText renderMarked(JsonNode chat) {
        // No text of a chat can have a mark, since the number is not known before.
        String number = Long.toUnsignedString(MARKS.nextLong());
        try {
            MarkedText marked = MarkedText.of(
                    render(chat, answer -> MarkedText.beginMark(number) + answer + MarkedText.endMark(number)), number);
            if (marked.text().equals(render(chat))) {
                return marked;
            }
            throw new TokenizerException(changed());
        } catch (IllegalArgumentException damaged) {
            throw new TokenizerException(changed(), damaged);
        }
    }

    private String changed() {
        return name
                + ": the chat template changes the text that it marks with {% generation %} after it, so the assistant's"
                + " words are lost; put the mark around the part that is written last";
    }

    /**
     * Returns the contents of the files that define a directory's template and its variables, to compare directories; empty
     * if there is no template.
     */
    public static String contents(Path directory) {
        StringBuilder contents = new StringBuilder();
        for (String file : List.of(FILE, SETTINGS)) {
            Path path = directory.resolve(file);
            if (Files.exists(path)) {
                contents.append(file).append('\n').append(read(path)).append('\n');
            }
        }
        return contents.toString();
    }

    private static String read(Path file) {
        try {
            return BoundedFile.text(file);
        } catch (CharacterCodingException binary) {
            throw new TokenizerException(file + " is not UTF-8 text: save it as such", binary);
        } catch (IOException failure) {
            throw new TokenizerException("cannot read " + file + ": " + FileReason.of(failure), failure);
        }
    }

    private String render(JsonNode chat, UnaryOperator<String> marking) {
        Map<String, Object> variables = new LinkedHashMap<>(specialTokens);
        // transformers passes these in any case
        variables.put("tools", None.NONE);
        variables.put("documents", None.NONE);
        variables.put("add_generation_prompt", false);
        chat.properties().forEach(member -> variables.put(member.getKey(), JsonValues.of(member.getValue())));
        LocalDateTime now = LocalDateTime.now();
        return onItsThread(() -> template.text(variables, now, marking));
    }

    /** Runs an untrusted template on a thread that can be stopped. */
    private <T> T onItsThread(java.util.concurrent.Callable<T> work) {
        FutureTask<T> task = new FutureTask<>(work);
        Thread thread = new Thread(null, task, "chat-template", STACK_BYTES);
        thread.setDaemon(true);
        thread.start();
        try {
            return awaited(task, thread);
        } catch (ExecutionException failure) {
            throw refusal(failure.getCause());
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
            throw new TokenizerException(name + ": the thread was interrupted", interrupted);
        } finally {
            task.cancel(true);
        }
    }

    private TokenizerException refusal(Throwable cause) {
        return switch (cause) {
            case TemplateException wrong -> new TokenizerException(name + ": "
                    + (wrong.line() == 0
                            ? ""
                            : "line " + wrong.line()
                                    + " of ")
                    + "the chat template: " + wrong.getMessage(), wrong);
            case StackOverflowError _ ->
                new TokenizerException(name + ": the chat template: values or calls are nested too deeply", cause);
            case OutOfMemoryError _ ->
                new TokenizerException(name + ": the chat template takes too much memory", cause);
            default -> new TokenizerException(name + ": the chat template fails: " + cause, cause);
        };
    }

    /** Waits for a result, and checks the allocation of its thread meanwhile. */
    private <T> T awaited(FutureTask<T> task, Thread thread) throws ExecutionException, InterruptedException {
        long end = System.nanoTime() + longest.toNanos();
        while (System.nanoTime() < end) {
            try {
                return task.get(LOOK_EVERY_MILLIS, TimeUnit.MILLISECONDS);
            } catch (TimeoutException _) {
                if (ALLOCATIONS.getThreadAllocatedBytes(thread.threadId()) > MOST_ALLOCATED_BYTES) {
                    throw new TokenizerException(name + ": the chat template takes more than "
                            + (MOST_ALLOCATED_BYTES >> 20) + " MiB for one chat");
                }
            }
        }
        throw new TokenizerException(
                name + ": the chat template takes longer than " + longest.toMillis() + " ms for one chat");
    }
}
