package dev.troupe.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assertions.fail;

import dev.troupe.cli.page.PageCommandTest;
import dev.troupe.cli.stop.ExitCode;
import dev.troupe.engine.conformance.share.Dealt;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * The {@code ./troupe} commands of the README and the guides: each ends with exit code 0. Runs of the guides that do not
 * continue the README are long tests.
 */
@Tag("real")
@Dealt(4)
@Timeout(300)
class ReadmeTest {
    private static final Path ROOT = Path.of("..");
    /** Pages of which every command is run. */
    private static final List<String> PAGES = List.of("README.md", "docs/README.md", "docs/training.md",
            "docs/fine-tuning.md", "docs/generate.md", "docs/serve.md", "docs/systems.md", "docs/schedules.md",
            "docs/pytorch.md");
    /** Commands of all guides that cost no time, and those that start runs. */
    private static final Set<String> QUICK = Set.of("schedule", "layout", "keys");
    private static final Set<String> RUNS = Set.of("train", "launch", "chaos");
    /** A schedule that the reader writes. */
    private static final String OF_THE_READER = "paired-1f1b";
    /** The files that commands read and write. */
    private static final String FILE = "^(data\\.path=|parallel\\.schedule=)?"
            + "(my\\.(?:txt|conf|bin|jsonl)|(?:paired|found)\\.csv|runs/.*|texts/|at-.*|merged|my-gguf)$";
    private static final Pattern STEP_OF_A_FAULT = Pattern.compile("\\bstep=(\\d+)");
    /** A line of a fence, or a span of code in a sentence. */
    private static final Pattern COMMAND = Pattern.compile("(?m)(?:^(?:\\$ )?|`)\\./troupe( [^`\\n]*)");
    private static final Path TOKENIZER = ROOT.resolve("stages/tokenizers/src/test/resources/tokenizers/smollm");
    private static final List<String> TWO_STEPS = List.of("-s", "training.steps=2");
    /** Commands that start processes or several runs, and a model of a published size. */
    private static final List<String> LONG = List.of("launch", "chaos", "compare", "verify");
    private static final String LARGE_MODEL = "smollm2-135m";
    /** Commands that need a run next to them, with the test that has one. */
    private static final Map<String, Class<?>> ELSEWHERE = Map.of("node", ClusterTest.class, "status",
            GuardedRunTest.class, "page", PageCommandTest.class, "serve", ServeCommandTest.class);
    /** Waits for the other nodes of a file; {@code LinkProfilerTest} measures links among three of them. */
    private static final String OF_ALL_NODES = "profile FILE --node NAME";
    /** Reads what the command before it on the page wrote; {@code PlanCommandTest} runs both. */
    private static final String OF_A_PLAN = "train plan.conf";
    /** The name alone, in a sentence about the command. */
    private static final Set<String> NAMES = Set.of("layout", "schedule", "keys");

    @TempDir
    private Path directory;

    static Stream<String> commands() {
        return Stream.concat(PAGES.stream().flatMap(ReadmeTest::commandsOf), quickCommands()).distinct()
                .filter(command -> !ELSEWHERE.containsKey(verb(command)) && !isLong(command))
                .filter(command -> !command.equals(OF_ALL_NODES));
    }

    static Stream<String> longCommands() {
        return PAGES.stream().flatMap(ReadmeTest::commandsOf).distinct().filter(ReadmeTest::isLong);
    }

    /** Runs of the other guides, in fences. */
    static Stream<String> runsOfGuides() {
        List<String> known = PAGES.stream().flatMap(ReadmeTest::commandsOf).toList();
        return Pages.guides().stream().flatMap(page -> Pages.fences(page).stream())
                .flatMap(fence -> commandsIn(fence.group(1))).distinct()
                .filter(command -> RUNS.contains(verb(command)) && !known.contains(command))
                .filter(command -> !command.equals(OF_A_PLAN));
    }

    private static Stream<String> quickCommands() {
        return Pages.guides().stream().flatMap(page -> commandsIn(Pages.text(page)))
                .filter(command -> QUICK.contains(verb(command)) && !command.contains(OF_THE_READER));
    }

    private static Stream<String> commandsOf(String page) {
        return commandsIn(Pages.text(page));
    }

    private static Stream<String> commandsIn(String text) {
        return COMMAND.matcher(text.replaceAll("\\\\\n *", "")).results()
                .map(found -> found.group(1).replaceFirst(" +#.*", "").replace(" [PREFIX]", "").strip())
                .filter(command -> !command.contains("COMMAND") && !NAMES.contains(command));
    }

    @Test
    void shouldFindCommandsOnThePages() {
        assertTrue(commands().count() > 20);
        assertTrue(longCommands().count() > 5);
        assertTrue(runsOfGuides().count() > 5);
    }

    @Test
    void shouldLeaveOutWhatAnotherTestRuns() {
        ELSEWHERE.forEach((verb, test) -> assertTrue(SourceTree
                .read(Path.of("src/test/java", test.getName().replace('.', '/') + ".java"))
                .contains("\"" + verb + "\", "),
                () -> test + " runs no " + verb));
    }

    private static boolean isLong(String command) {
        return LONG.contains(verb(command)) || command.contains(LARGE_MODEL);
    }

    private static String verb(String command) {
        return command.split(" ")[0];
    }

    /** The values of the placeholders. */
    @BeforeEach
    void makeFiles() throws IOException {
        String text = "To be, or not to be, that is the question. ".repeat(500);
        Files.writeString(directory.resolve("my.txt"), text);
        Files.writeString(Files.createDirectory(directory.resolve("texts")).resolve("one.txt"), text);
        Files.writeString(directory.resolve("my.jsonl"),
                """
                        {"messages": [{"role": "user", "content": "To be?"}, {"role": "assistant", "content": "That is the question."}]}
                        """
                        .repeat(20));
        Files.writeString(directory.resolve("my.conf"), "troupe { model.layers = 2, model.hidden = 16 }\n");
        Files.writeString(directory.resolve("paired.csv"), """
                0F0,0F1,0F2,0F3,0B0,0B1,0B2,0B3
                1F0,1F1,1B0,1B1,1F2,1F3,1B2,1B3
                """);
    }

    @ParameterizedTest
    @MethodSource("commands")
    void shouldEndAsAReaderExpects(String command) throws IOException, InterruptedException {
        switch (verb(command)) {
            case "doctor" -> OtherJvm.run(directory, Map.of(), List.of(), Troupe.class, words(command));
            case "train" -> train(command);
            case "export", "eval", "generate" -> fromRun(command);
            case "profile" -> run(command, command.contains("--out")
                    ? List.of()
                    : List.of("--out", directory.resolve("profile.json").toString()));
            case "schedule" -> {
                if (command.contains("--profile")) {
                    run("profile -s model.layers=2 -s model.hidden=16 --out runs/profile-first-run.json", List.of());
                }
                run(command, List.of());
            }
            default -> run(command, List.of());
        }
    }

    @Tag("long")
    @Timeout(800) // a busy machine is several times slower
    @ParameterizedTest
    @MethodSource("longCommands")
    void shouldEndAsAReaderExpectsOfSeveralProcesses(String command) {
        run(command, List.of("-s", "training.steps=" + steps(command), "--out", directory.resolve("out").toString()));
    }

    @Tag("long")
    @Timeout(800) // as above
    @ParameterizedTest
    @MethodSource("runsOfGuides")
    void shouldEndAsAReaderOfAGuideExpects(String command) {
        if (command.contains("mixtral/")) {
            trainSmallMixtral();
        }
        shouldEndAsAReaderExpectsOfSeveralProcesses(command);
    }

    /** Few, but the faults of the command must have their time. */
    private static long steps(String command) {
        if (command.contains("--random")) {
            return 300;
        }
        return STEP_OF_A_FAULT.matcher(command).results().mapToLong(found -> Long.parseLong(found.group(1)) + 10)
                .findFirst().orElse(4);
    }

    private void train(String command) {
        if (words(command).contains("parallel.layout=measured")) {
            run("profile --out runs/measured.json", List.of());
            train(command.replace("layout=measured",
                    "layout=measured(" + directory.resolve("runs/measured.json") + ")"));
            return;
        }
        if (command.contains("found.csv")) {
            run("schedule --search --pipeline 4 --microbatches 8 --hop 1 --format csv --out found.csv", List.of());
        }
        List<String> more = new ArrayList<>();
        if (command.contains("--resume")) {
            run("train -s model.layers=2 -s model.hidden=16 --out runs/mine", TWO_STEPS);
            more.addAll(List.of("-s", "training.steps=4"));
        } else {
            more.addAll(TWO_STEPS);
            if (!command.contains("--out")) {
                more.addAll(List.of("--out", directory.resolve("out").toString()));
            }
        }
        if (command.contains("DIR")) {
            run("train -s model.layers=4 -s model.hidden=8 -s model.heads=2 -s data.tokenizer=gpt2 --out runs/small",
                    TWO_STEPS);
        }
        if (command.contains("LLAMA")) {
            trainSmallLlama();
        }
        run(command, more);
    }

    /** With the files of a tokenizer, which the run copies. */
    private void trainSmallLlama() {
        run("train -s model.family=llama -s model.layers=2 -s model.hidden=8 -s model.heads=2 -s model.sequence-length=256 -s"
                + " parallel.pipeline=2 -s data.tokenizer=" + TOKENIZER + " --out runs/llama", TWO_STEPS);
    }

    private void trainSmallMixtral() {
        run("train -s model.family=mixtral -s model.layers=6 -s model.experts=4 -s model.hidden=8 -s model.heads=2"
                + " -s model.sequence-length=64 -s data.tokenizer=" + TOKENIZER + " --out runs/mixtral", TWO_STEPS);
    }

    private void fromRun(String command) {
        if (command.contains("runs/tuned")) {
            trainSmallLlama();
            run("train -s model.from=LLAMA -s data.path=my.jsonl -s training.lora.rank=2 --out runs/tuned", TWO_STEPS);
        } else {
            run("train -s model.layers=2 -s model.hidden=16 --out runs/mine", TWO_STEPS);
        }
        InputStream before = System.in;
        try {
            System.setIn(new ByteArrayInputStream("To be?\n".getBytes(StandardCharsets.UTF_8))); // of a chat
            run(command, List.of());
        } finally {
            System.setIn(before);
        }
    }

    private void run(String command, List<String> more) {
        List<String> arguments = new ArrayList<>();
        String model = verb(command).equals("tokenize")
                ? TOKENIZER.toString()
                : directory.resolve("runs/small/model").toString();
        for (String word : words(command)) {
            arguments.add(word.replace("DIR", model).replace("LLAMA", directory.resolve("runs/llama/model").toString())
                    .replace("mixtral/", directory.resolve("runs/mixtral/model").toString())
                    .replaceFirst(FILE, "$1" + directory + "/$2")
                    .replaceFirst("^1000$", "2") // the step of a checkpoint
                    .replaceFirst("^(cluster-config|examples)/", ROOT + "/$1/"));
        }
        arguments.addAll(more);
        Execution execution = Execution.of(arguments);
        if (execution.exitCode() != ExitCode.DONE) {
            fail(String.join(" ", arguments) + " ended with exit code " + execution.exitCode() + "\n"
                    + execution.output() + execution.errors());
        }
    }

    private static List<String> words(String command) {
        assertEquals(command.chars().filter(character -> character == '"').count() % 2, 0, command);
        return Pages.words(command);
    }
}
