package dev.troupe.cli.model;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.fasterxml.jackson.databind.node.TextNode;
import dev.troupe.cli.stop.ExitCode;
import dev.troupe.look.model.Generation;
import dev.troupe.look.model.GenerationQueue;
import dev.troupe.look.model.TextRequest;
import dev.troupe.plan.UsageException;
import java.io.PrintStream;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalInt;
import java.util.concurrent.Callable;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code troupe generate}: a model continues prompts, or answers in a chat. */
@Command(name = "generate", mixinStandardHelpOptions = true, description = {
        "Lets a model (model.from, or --from) continue a prompt, the prompts of a file, or a chat, on one rank. The keys and values of prompt and text are kept, so a token costs a forward of one row."})
public final class GenerateCommand implements Callable<Integer> {
    private static final int USUAL_TOKENS = 100;
    /** Texts that are written at a time, if there is memory for so many: a product of few rows costs about the same. */
    private static final int MOST_SLOTS = 16;
    private static final int MOST_LIKELY = 20;

    @Mixin
    private ModelOptions model;

    @Option(names = "--prompt", paramLabel = "TEXT", description = "The text to continue.")
    private String prompt;

    @Option(names = "--prompts", paramLabel = "FILE", description = {
            "Continues each line of a file, a JSON string or an object with messages; prints a JSON object for each text."})
    private Path prompts;

    @Option(names = "--chat", description = {
            "Answers what is typed, a line at a time, by the model's chat template; /new begins again, /exit ends."})
    private boolean isChat;

    @Option(names = "--system", paramLabel = "TEXT", description = "The first message of --chat, of the role system.")
    private String system;

    @Option(names = "--context", paramLabel = "N", description = {
            "The most tokens of a whole chat; default: 2048, or the number of the model's positions."})
    private Integer context;

    @Option(names = "--tokens", paramLabel = "N", description = {
            "The most tokens to add; default: 100, in a chat 1024, or the positions that the model has left."})
    private Integer tokens;

    @Option(names = "--answers", defaultValue = "1", paramLabel = "N", description = {
            "The number of texts for each prompt; more than one are printed as JSON objects. Default: 1."})
    private int answers;

    @Option(names = "--log-probabilities", paramLabel = "K", description = {
            "Prints JSON objects with the log-probability of each token and the K most likely ones at its place, at temperature 1."})
    private Integer likely;

    @Mixin
    private SamplingOptions sampling;

    private final PrintStream output = System.out;

    @Override
    public Integer call() throws InterruptedException {
        requireOptions();
        try (Generation generation = new Generation(model.read(), model.checkpoint())) {
            generation.notes().forEach(note -> System.err.println("Note: " + note + "."));
            if (isChat) {
                chat(generation);
            } else {
                continuePrompts(generation);
            }
        }
        return ExitCode.DONE;
    }

    private void requireOptions() {
        if (Stream.of(prompt != null, prompts != null, isChat).filter(given -> given).count() != 1) {
            throw new UsageException("give one of --prompt, --prompts and --chat");
        }
        if (!isChat && (system != null || context != null)) {
            throw new UsageException("--system and --context are for --chat; leave them out");
        }
        if (isChat && (answers != 1 || likely != null)) {
            throw new UsageException("--answers and --log-probabilities are for prompts; leave them out of a --chat");
        }
        requireAtLeastOne("--tokens", tokens);
        requireAtLeastOne("--context", context);
        requireAtLeastOne("--answers", answers);
        if (likely != null && (likely < 0 || likely > MOST_LIKELY)) {
            throw new UsageException(
                    "--log-probabilities must be from 0 to " + MOST_LIKELY + ", but found " + likely);
        }
        sampling.sampling();
    }

    private static void requireAtLeastOne(String option, Integer value) {
        if (value != null && value < 1) {
            throw new UsageException(option + " must be at least 1, but found " + value);
        }
    }

    private void chat(Generation generation) throws InterruptedException {
        int most = generation.context(context == null ? OptionalInt.empty() : OptionalInt.of(context), "--context");
        new ChatSession(generation, most, system, tokens, sampling, output).run(System.in);
    }

    /** Reads all prompts before it begins, so that a wrong one is refused before anything is printed. */
    private void continuePrompts(Generation generation) throws InterruptedException {
        List<JsonNode> lines = new ArrayList<>();
        List<TextRequest> requests = new ArrayList<>();
        if (prompt != null) {
            lines.add(TextNode.valueOf(prompt));
            requests.add(request(generation, generation.tokens(prompt)));
        } else {
            JsonLines.read(prompts, "a JSON string, or a JSON object with messages", line -> {
                boolean isPrompt = line.isTextual() || line.path("messages").isArray();
                if (isPrompt) {
                    lines.add(line);
                    requests.add(request(generation, tokensOf(generation, line)));
                }
                return isPrompt;
            });
        }
        if (requests.isEmpty()) {
            throw new UsageException(prompts + " must have a prompt, but is empty");
        }
        int longest = requests.stream().mapToInt(one -> one.prompt().length + one.most()).max().orElseThrow();
        if (prompt != null && answers == 1 && likely == null) {
            try (GenerationQueue queue = generation.open(longest, 1, 1)) {
                output.print(prompt);
                queue.write(requests.getFirst(), this::show);
                output.println();
            }
            return;
        }
        List<TextRequest> texts = requests.stream()
                .flatMap(request -> IntStream.range(0, answers).mapToObj(request::ofAnswer)).toList();
        try (GenerationQueue queue = generation.openSlots(longest, Math.min(MOST_SLOTS, texts.size()), texts.size())) {
            AtomicInteger number = new AtomicInteger();
            queue.writeAll(texts, text -> {
                int answer = number.getAndIncrement();
                output.println(AnswerJson.of(generation.tokenizer(), lines.get(answer / answers), answer % answers,
                        text));
                output.flush();
            });
        }
    }

    private void show(String piece) {
        output.print(piece);
        output.flush();
    }

    private static int[] tokensOf(Generation generation, JsonNode line) {
        return line instanceof ObjectNode chat ? generation.tokensOfChat(chat) : generation.tokens(line.textValue());
    }

    private TextRequest request(Generation generation, int[] prompt) {
        int positions = generation.positions();
        int count = tokens == null ? Math.clamp((long) positions - prompt.length, 1, USUAL_TOKENS) : tokens;
        Generation.requireRoom(prompt.length, count, positions);
        return sampling.request(prompt, count, likely == null ? -1 : likely);
    }
}
