package dev.troupe.chat;

import com.fasterxml.jackson.core.type.TypeReference;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.hubspot.jinjava.Jinjava;
import com.hubspot.jinjava.JinjavaConfig;
import com.hubspot.jinjava.LegacyOverrides;
import com.hubspot.jinjava.el.JinjavaNodePreProcessor;
import com.hubspot.jinjava.el.JinjavaProcessors;
import com.hubspot.jinjava.interpret.Context.Library;
import com.hubspot.jinjava.interpret.RenderResult;
import com.hubspot.jinjava.interpret.TemplateError;
import com.hubspot.jinjava.lib.filter.Filter;
import com.hubspot.jinjava.lib.fn.ELFunctionDefinition;
import com.sun.management.ThreadMXBean;
import dev.troupe.tokenizer.file.FilePart;
import dev.troupe.tokenizer.file.TokenizerException;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * The chat template of a directory in Hugging Face layout: {@code chat_template.jinja}, else {@code chat_template} of
 * {@code tokenizer_config.json}. A template is untrusted: it has limited time, memory and length of text, it reads no
 * files, and of Java objects it reaches none but the values that it is given.
 *
 * <p>Thread rule: any thread may use it. Each text is made on a thread of its own, which ends with it; one that does not
 * answer when its time is over is left behind as a daemon.
 */
public final class ChatTemplate {
    private static final String FILE = "chat_template.jinja";
    private static final String SETTINGS = "tokenizer_config.json";
    private static final Set<String> SPECIAL_TOKENS = Set.of("bos_token", "eos_token", "unk_token", "pad_token");
    private static final String DEFAULT_NAME = "default";
    private static final Pattern GENERATION = Pattern.compile("\\{%[-+]?\\s*generation\\s*[-+]?%}");
    private static final SecureRandom MARKS = new SecureRandom();
    /** The characters of any text that a template makes. */
    static final int LONGEST_TEXT = 1 << 24;
    /** The elements of any list. */
    static final int MOST_ELEMENTS = 1 << 20;
    private static final long MOST_ALLOCATED_BYTES = 1L << 29;
    private static final long LOOK_EVERY_MILLIS = 10;
    /** The filters of published templates; some others take a width, and as much memory as it says. */
    private static final Set<String> FILTERS = Set.of("abs", "capitalize", "count", "d", "default", "dictsort", "e",
            "escape", "first", "float", "int", "items", "join", "last", "length", "list", "lower", "map", "reject",
            "rejectattr", "replace", "reverse", "safe", "select", "selectattr", "sort", "string", "sum", "title",
            "tojson", "trim", "unique", "upper");
    private static final int DEEPEST = 64;
    private static final Duration LONGEST = Duration.ofSeconds(10);
    private static final ThreadMXBean ALLOCATIONS = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    private static final JsonMapper JSON = JsonMapper.builder().enable(DeserializationFeature.USE_LONG_FOR_INTS)
            .build();

    private final String name;
    private final String source;
    private final Map<String, Object> specialTokens;
    private final Duration longest;
    private final Jinjava jinjava;

    private ChatTemplate(String name, String source, Map<String, Object> specialTokens, Duration longest) {
        this.name = name;
        this.specialTokens = specialTokens;
        this.longest = longest;
        this.jinjava = jinjava();
        String lines = source.replace("\r\n", "\n");
        // Jinja drops the end of a template's last line, but not of what it puts out.
        String whole = lines.endsWith("\n") ? lines.substring(0, lines.length() - 1) : lines;
        try {
            this.source = TemplateSource.rewritten(whole,
                    FILTERS::contains,
                    test -> jinjava.getGlobalContext().getExpTest(test) != null);
        } catch (IllegalArgumentException unknown) {
            throw new TokenizerException(name + ": " + unknown.getMessage(), unknown);
        }
    }

    /**
     * Reads the template of a directory.
     *
     * @throws TokenizerException
     *             where it has none
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

    /** Of several templates, each with its name, the one that is the default. */
    private static FilePart byName(FilePart list) {
        return list.elements().stream().filter(one -> one.at("name").text().equals(DEFAULT_NAME))
                .map(one -> one.at("template")).findFirst()
                .orElseThrow(() -> list.refusal("has no template of the name " + DEFAULT_NAME));
    }

    private static Set<String> otherFilters() {
        return new Jinjava().getGlobalContext().getAllFilters().stream().map(Filter::getName)
                .filter(filter -> !FILTERS.contains(filter)).collect(Collectors.toUnmodifiableSet());
    }

    private static Jinjava jinjava() {
        JinjavaConfig config = JinjavaConfig.newBuilder().withTrimBlocks(true)
                .withKeepTrailingNewline(true).withNestedInterpretationEnabled(false).withMaxOutputSize(LONGEST_TEXT)
                .withMaxStringLength(LONGEST_TEXT).withMaxListSize(MOST_ELEMENTS).withMaxMapSize(MOST_ELEMENTS)
                .withMaxRenderDepth(DEEPEST).withMaxMacroRecursionDepth(DEEPEST).withEnableRecursiveMacroCalls(true)
                .withReadOnlyResolver(true).withElResolver(new TemplateValues())
                .withProcessors(
                        JinjavaProcessors.newBuilder().withNodePreProcessor(new JinjavaNodePreProcessor()).build())
                .withDisabled(Map.of(Library.TAG, Set.of("include", "import", "from", "extends"),
                        Library.FILTER, otherFilters()))
                .withLegacyOverrides(LegacyOverrides.newBuilder().withEvaluateMapKeys(true)
                        .withIterateOverMapKeys(true).withUsePyishObjectMapper(true)
                        .withUseNaturalOperatorPrecedence(true).withParseWhitespaceControlStrictly(true)
                        .withAllowAdjacentTextNodes(true).withUseTrimmingForNotesAndExpressions(true)
                        .withKeepNullableLoopValues(true).withHandleBackslashInQuotesOnly(true).build())
                .build();
        Jinjava jinjava = new Jinjava(config);
        jinjava.setResourceLocator((file, _, _) -> {
            throw new IOException("a chat template reads no files, but asks for " + file);
        });
        jinjava.getGlobalContext().registerTag(new GenerationTag());
        jinjava.getGlobalContext().registerFilter(new ToJson());
        jinjava.getGlobalContext().registerFilter(new Replace());
        jinjava.getGlobalContext().registerFunction(
                new ELFunctionDefinition("", "raise_exception", TemplateFunctions.class, "raise", Object.class));
        jinjava.getGlobalContext().registerFunction(
                new ELFunctionDefinition("", "strftime_now", TemplateFunctions.class, "now", String.class));
        return jinjava;
    }

    /**
     * The text of a chat, as Hugging Face's {@code apply_chat_template} makes it. It has the special tokens that it needs,
     * so its ids are those of the tokenizer without what a post-processor adds.
     *
     * @param chat
     *            an object with {@code messages}; its other members are variables too, such as {@code
     *            add_generation_prompt} and {@code tools}
     * @throws TokenizerException
     *             where the template fails, takes too long, or makes too much of it
     */
    public String render(JsonNode chat) {
        return render(chat, Map.of());
    }

    /** Whether the template marks what the assistant says, with {@code {% generation %}}. */
    public boolean marksAnswers() {
        return GENERATION.matcher(source).find();
    }

    /**
     * As {@link #render(JsonNode)}, with what the template marks.
     *
     * @throws TokenizerException
     *             also where the template changes what it marks, so that nobody can tell the marks from the text
     */
    public MarkedText renderMarked(JsonNode chat) {
        // No text of a chat can have a mark: nobody knows the number before.
        String number = Long.toUnsignedString(MARKS.nextLong());
        try {
            MarkedText marked = MarkedText.of(render(chat, Map.of(GenerationTag.NUMBER, number)), number);
            if (marked.text().equals(render(chat))) {
                return marked;
            }
            throw new TokenizerException(changed());
        } catch (IllegalArgumentException damaged) {
            throw new TokenizerException(changed(), damaged);
        }
    }

    private String changed() {
        return name + ": the chat template changes the text that it marks with {% generation %} after it, so what the"
                + " assistant says is lost; put the mark around what is written last";
    }

    /**
     * The contents of the files of a directory that a template and its variables are read from, which two directories share
     * only if their templates make the same texts; empty where it has none.
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
            return Files.readString(file);
        } catch (IOException failure) {
            throw new TokenizerException("cannot read " + file + ": " + failure.getMessage(), failure);
        }
    }

    private String render(JsonNode chat, Map<String, Object> more) {
        Map<String, Object> variables = new LinkedHashMap<>(specialTokens);
        variables.put("add_generation_prompt", false);
        variables.putAll(JSON.convertValue(chat, new TypeReference<Map<String, Object>>() {
        }));
        variables.putAll(more);
        FutureTask<RenderResult> rendering = new FutureTask<>(() -> jinjava.renderForResult(source, variables));
        Thread thread = Thread.ofPlatform().name("chat-template").daemon().start(rendering);
        try {
            RenderResult result = awaited(rendering, thread);
            Optional<TemplateError> error = result.getErrors().stream()
                    .filter(one -> one.getSeverity() == TemplateError.ErrorType.FATAL).findFirst();
            if (error.isPresent()) {
                throw new TokenizerException(name + ": line " + error.get().getLineno() + " of the chat template: "
                        + cause(error.get()));
            }
            return result.getOutput();
        } catch (ExecutionException failure) {
            Throwable cause = failure.getCause(); // a StackOverflowError has no message
            throw new TokenizerException(name + ": the chat template fails: "
                    + Objects.requireNonNullElse(cause.getMessage(), cause.toString()), cause);
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
            throw new TokenizerException(name + ": the thread was interrupted", interrupted);
        } finally {
            rendering.cancel(true);
        }
    }

    /** Waits for a text, and looks at what its thread has allocated meanwhile. */
    private RenderResult awaited(FutureTask<RenderResult> rendering, Thread thread)
            throws ExecutionException, InterruptedException {
        long end = System.nanoTime() + longest.toNanos();
        while (System.nanoTime() < end) {
            try {
                return rendering.get(LOOK_EVERY_MILLIS, TimeUnit.MILLISECONDS);
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

    /** The first cause: the library wraps the exceptions of our functions. */
    private static String cause(TemplateError error) {
        Throwable cause = error.getException();
        while (cause != null && cause.getCause() != null) {
            cause = cause.getCause();
        }
        return cause == null || cause.getMessage() == null ? error.getMessage() : cause.getMessage();
    }
}
