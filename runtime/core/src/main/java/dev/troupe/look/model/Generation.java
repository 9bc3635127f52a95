package dev.troupe.look.model;

import com.fasterxml.jackson.databind.node.ObjectNode;
import com.typesafe.config.ConfigUtil;
import dev.troupe.config.RunSpec;
import dev.troupe.config.RunSpecReader;
import dev.troupe.engine.Engine;
import dev.troupe.generate.Continuation;
import dev.troupe.generate.Generator;
import dev.troupe.generate.Sampling;
import dev.troupe.model.ModelSpec;
import dev.troupe.model.spec.Axis;
import dev.troupe.plan.UsageException;
import dev.troupe.plan.checkpoint.Checkpoint;
import dev.troupe.plan.checkpoint.RunCompanions;
import dev.troupe.plan.directory.RunDirectory;
import dev.troupe.plan.error.UserErrors;
import dev.troupe.plan.prepare.WholeModel;
import dev.troupe.rows.ChatPrompts;
import dev.troupe.tokenizer.Tokenizer;
import dev.troupe.weights.huggingface.EndTokens;
import dev.troupe.weights.peft.PeftAdapter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.IntStream;

/**
 * A model that continues texts, with its tokenizer and chat template, after all checks. Nothing is written.
 *
 * <p>Thread rule: any thread; close it after its queue.
 */
public final class Generation implements AutoCloseable {
    private static final int USUAL_CONTEXT = 2048;

    private final WholeModel whole;
    private final Set<Integer> ends = new TreeSet<>();
    private final ChatPrompts chats;
    private final Map<String, PeftAdapter> adapters = new LinkedHashMap<>();

    /**
     * Opens and checks all parts.
     *
     * @param from the run or checkpoint that has the weights; empty: the weights with which a run of the configuration
     *     begins
     * @throws RuntimeException with a sentence for the user if the request is wrong: see {@link UserErrors}
     */
    public Generation(RunSpec spec, Optional<Path> from) {
        whole = WholeModel.of(spec, from);
        try {
            whole.tokenizer().endOfText().ifPresent(ends::add);
            RunCompanions.of(spec, model(), Optional.of(whole.tokenizer()), from).model().map(EndTokens::in)
                    .ifPresent(ends::addAll);
            chats = new ChatPrompts(whole.tokenizer());
        } catch (RuntimeException refused) {
            whole.close();
            throw refused;
        }
    }

    /**
     * Opens a model in Hugging Face layout with its tokenizer, or the model of a run or checkpoint.
     *
     * @param settings {@code key=value}, which win over the configuration of a run
     * @param adapters the directories of its adapters, by the names with which requests choose them; or of runs that trained
     *     them
     */
    public static Generation of(Path modelOrRun, List<String> settings, Map<String, Path> adapters) {
        Generation generation = of(modelOrRun, settings);
        try {
            adapters.forEach(generation::open);
            return generation;
        } catch (RuntimeException refused) {
            generation.close();
            throw refused;
        }
    }

    private void open(String name, Path directory) {
        if (model().lora().isPresent()) {
            throw new UsageException("adapters by name need a model without adapters, but this one has some: take the"
                    + " model for which they were trained, and give these a name too");
        }
        Path trained = directory.resolve(RunDirectory.MODEL);
        PeftAdapter adapter = PeftAdapter.open(Files.isDirectory(trained) ? trained : directory, model(),
                whole.start().identity());
        adapters.put(name, adapter);
        PeftAdapter.trained(adapter.model()).forEach(
                parameter -> adapter.requireNumbers(parameter.name(), whole.choice().settings().parameterType()));
    }

    /** As {@link #of(Path, List, Map)}, without adapters. */
    public static Generation of(Path modelOrRun, List<String> settings) {
        boolean isRun = Files.isRegularFile(Checkpoint.runDirectoryOf(modelOrRun).resolve(RunDirectory.CONFIG));
        if (!isRun && !Files.isRegularFile(modelOrRun.resolve("config.json"))) {
            throw new UsageException(modelOrRun + " must be a directory with a config.json and weights, a run or a"
                    + " checkpoint, but has none of their files");
        }
        if (isRun) {
            return new Generation(RunSpecReader.read(Optional.of(RunDirectory.configOf(modelOrRun)), settings),
                    Optional.of(modelOrRun));
        }
        String directory = ConfigUtil.quoteString(modelOrRun.toAbsolutePath().toString());
        List<String> all = new ArrayList<>(List.of("model.from=" + directory, "data.tokenizer=" + directory));
        all.addAll(settings);
        return new Generation(RunSpecReader.read(Optional.empty(), all), Optional.empty());
    }

    public ModelSpec model() {
        return whole.start().model();
    }

    /** Returns the names of the adapters. */
    public Set<String> adapters() {
        return Collections.unmodifiableSet(adapters.keySet());
    }

    public Tokenizer tokenizer() {
        return whole.tokenizer();
    }

    /** Returns sentences for the user on unusual facts in the files of the model. */
    public List<String> notes() {
        return whole.start().notes();
    }

    /** Returns the most tokens of prompt and text together. */
    public int positions() {
        return model().size(Axis.POSITION);
    }

    /**
     * Returns the most tokens of a prompt and its text together: the number that is asked for, or else 2048 or the
     * positions of the model.
     *
     * @param option the name of the number, for the sentence
     * @throws UsageException if the model has fewer positions
     */
    public int context(OptionalInt asked, String option) {
        int positions = positions();
        if (asked.isPresent() && asked.getAsInt() > positions) {
            throw new UsageException(option + " must be at most " + positions
                    + ", for which the model has positions, but found " + asked.getAsInt());
        }
        return asked.orElse(Math.min(positions, USUAL_CONTEXT));
    }

    /**
     * Returns the tokens of a prompt, with the tokens before a text.
     *
     * @throws UsageException if there is none, or one that the model does not know
     */
    public int[] tokens(String prompt) {
        return known(IntStream.concat(IntStream.of(tokenizer().beforeText()),
                IntStream.of(tokenizer().encode(prompt))).toArray());
    }

    /** As {@link #tokensOfChat(ObjectNode)}, of messages alone. */
    public int[] tokensOfChat(List<ChatPrompts.Turn> turns) {
        return known(chats.tokens(turns));
    }

    /**
     * Returns the tokens of a chat, as the model's template writes it, up to the begin of the next answer.
     *
     * @param chat an object with {@code messages}; other members are variables of the template
     * @throws RuntimeException with a sentence for the user if there is no template, or it refuses the chat
     */
    public int[] tokensOfChat(ObjectNode chat) {
        return known(chats.tokens(chat));
    }

    /**
     * Returns the tokens of a prompt after checks.
     *
     * @throws UsageException if there is none, or one that the model does not know
     */
    public int[] known(int[] tokens) {
        if (tokens.length == 0) {
            throw new UsageException("a prompt must have at least one token, but found none: write a word");
        }
        int vocabulary = model().size(Axis.VOCABULARY);
        IntStream.of(tokens).filter(token -> token < 0 || token >= vocabulary).findFirst().ifPresent(token -> {
            throw new UsageException(
                    "the prompt has the token " + token + ", but the model's vocabulary has " + vocabulary
                            + " tokens: set data.tokenizer to the model's own");
        });
        return tokens;
    }

    /**
     * Checks that prompt and text fit in a context.
     *
     * @param prompt tokens of the prompt
     * @param count maximum number of added tokens
     * @throws UsageException if they do not
     */
    public static void requireRoom(int prompt, int count, int context) {
        if (prompt >= context) {
            throw new UsageException("the prompt has " + prompt + " tokens, but the context has room for "
                    + context + ", of which the text needs one at least: shorten the prompt");
        }
        long longest = (long) prompt + count;
        if (longest > context) {
            throw new UsageException("the prompt of " + prompt + " tokens and " + count + " more are " + longest
                    + ", but the context has room for " + context + ": ask for " + (context - prompt)
                    + " or fewer, or shorten the prompt");
        }
    }

    /**
     * Reads the weights and starts to serve texts.
     *
     * @param context the most tokens of a prompt and its text together, for which each slot has a cache
     * @param slots the most texts at a time
     * @param waiting the most texts that wait for a slot
     * @throws UsageException if that takes more memory than is free
     */
    public GenerationQueue open(int context, int slots, int waiting) {
        whole.requireRoom(sizes -> {
            try (AdaptedGenerators generators = generators(sizes, context)) {
                List<Continuation> texts = new ArrayList<>();
                for (int slot = 0; slot < slots; slot++) {
                    texts.add(begun(generators.base(), context));
                }
                texts.forEach(Continuation::close); // an adapter takes their caches
                generators.adapted().forEach(generator -> begun(generator, context).close());
                return sizes.allocatedBytes();
            }
        });
        Engine engine = whole.choice().open();
        try {
            return new GenerationQueue(engine, generators(engine, context), tokenizer(), ends, slots, waiting);
        } catch (RuntimeException refused) {
            engine.close();
            throw refused;
        }
    }

    /**
     * As {@link #open}, with fewer slots if that takes more memory than is free.
     *
     * @param slots the most slots
     */
    public GenerationQueue openSlots(int context, int slots, int waiting) {
        try {
            return open(context, slots, waiting);
        } catch (UsageException refused) {
            if (slots == 1) {
                throw refused;
            }
            return openSlots(context, slots / 2, waiting);
        }
    }

    /** Begins the longest text after the longest prompt, so that all of its memory is allocated. */
    private static Continuation begun(Generator generator, int context) {
        Continuation text = generator.begin(new int[Math.max(1, context - 1)], new Sampling(0, 0, 0));
        text.next();
        if (context > 2) {
            text.next();
        }
        return text;
    }

    private AdaptedGenerators generators(Engine engine, int context) {
        return new AdaptedGenerators(new Generator(engine, model(), whole.start().weights(), context), adapters);
    }

    @Override
    public void close() {
        adapters.values().forEach(PeftAdapter::close);
        whole.close();
    }
}
