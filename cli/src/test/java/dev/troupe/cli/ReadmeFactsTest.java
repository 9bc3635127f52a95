package dev.troupe.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.troupe.cli.progress.RunSummary;
import dev.troupe.cli.stop.ExitCode;
import dev.troupe.config.Key;
import dev.troupe.config.Keys;
import dev.troupe.config.RunSpecReader;
import dev.troupe.engine.Engine;
import dev.troupe.engine.Kernel;
import dev.troupe.prepare.BuiltInCorpus;
import dev.troupe.prepare.PreparedRun;
import dev.troupe.prepare.RunRequest;
import dev.troupe.schedule.Plan;
import dev.troupe.schedule.certificate.PlanValidator;
import dev.troupe.schedule.certificate.Purpose;
import dev.troupe.schedule.family.Schedules;
import dev.troupe.schedule.lowering.AddTransfers;
import dev.troupe.schedule.simulator.Costs;
import dev.troupe.schedule.simulator.Simulator;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.io.UncheckedIOException;
import java.lang.reflect.Method;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.function.IntUnaryOperator;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import picocli.CommandLine;
import picocli.CommandLine.ParameterException;

/** What the README and the guides say of the code that can be computed is computed. */
@Tag("runtime")
class ReadmeFactsTest {
    private static final Path ROOT = Path.of("..").toAbsolutePath().normalize();
    private static final int P = 4;
    private static final int M = 8;

    static Stream<Path> pages() throws IOException {
        try (Stream<Path> docs = Files.list(ROOT.resolve("docs"));
                Stream<Path> all = Files.walk(ROOT.resolve("bench"))) {
            return Stream.of(Stream.of("README.md", "CONTRIBUTING.md").map(ROOT::resolve), docs, all)
                    .flatMap(some -> some)
                    .filter(file -> file.toString().endsWith(".md") && !file.endsWith("LOG.md")).sorted().toList()
                    .stream();
        }
    }

    private static String text(Path file) {
        try {
            return Files.readString(file);
        } catch (IOException unreadable) {
            throw new UncheckedIOException(unreadable);
        }
    }

    private static String readme() {
        return text(ROOT.resolve("README.md"));
    }

    @Test
    void shouldCountTheKernels() {
        Set<String> methods = Arrays.stream(Engine.class.getInterfaces())
                .filter(group -> group.getName().endsWith("Kernels"))
                .flatMap(group -> Arrays.stream(group.getDeclaredMethods())).map(Method::getName)
                .collect(Collectors.toSet());
        long kernels = Arrays.stream(Kernel.values()).filter(kernel -> methods.contains(kernel.method())).count();
        assertTrue(readme().contains("the interface to a device: " + kernels + " kernels"), kernels + " kernels");
    }

    @Test
    void shouldSayWhichStepsHaveAFile() {
        String source = text(
                ROOT.resolve("runtime/core/src/main/java/dev/troupe/output/StepRecords.java"));
        Map<String, String> constants = Pattern.compile("int (NEWEST|SLOWEST|TAGGED|TRACED) = (\\d+);").matcher(source)
                .results().collect(Collectors.toMap(found -> found.group(1), found -> found.group(2)));
        for (Path page : List.of(ROOT.resolve("README.md"), ROOT.resolve("docs/observe.md"))) {
            String said = text(page).replaceAll("\\s+", " ");
            assertTrue(said.contains("newest " + constants.get("NEWEST") + " steps, the slowest "
                    + constants.get("SLOWEST") + ", and the newest " + constants.get("TAGGED")),
                    page + ": " + constants);
            assertTrue(said.contains("the last " + constants.get("TRACED") + " steps"), page + ": " + constants);
        }
    }

    @Test
    void shouldListTheExitCodes() {
        String said = readme().replaceAll("\\s+", " ").replaceFirst(".*Exit codes: (.*?)\\.( .*|$)", "$1");
        List<Integer> listed = Arrays.stream(said.split("; ")).map(code -> Integer.valueOf(code.split(" ")[0]))
                .toList();
        assertEquals(Arrays.stream(ExitCode.class.getFields()).map(field -> {
            try {
                return (Integer) field.get(null);
            } catch (IllegalAccessException hidden) {
                throw new AssertionError(hidden);
            }
        }).toList(), listed);
    }

    /** The header of the first run, of which the README leaves lines out. */
    @Test
    void shouldShowTheHeaderOfTheFirstRun(@TempDir Path home) {
        ByteArrayOutputStream printed = new ByteArrayOutputStream();
        try (PreparedRun run = new PreparedRun(new RunRequest(RunSpecReader.read(Optional.empty(), List.of()),
                BuiltInCorpus.utf8(), home.resolve("run"), Optional.empty(), OptionalLong.empty()))) {
            RunSummary.print(run, new PrintStream(printed, true, StandardCharsets.UTF_8));
        }
        List<String> lines = printed.toString(StandardCharsets.UTF_8).lines().map(String::stripTrailing).toList();
        String shown = readme().substring(readme().indexOf("## What you see"));
        List<String> header = shown.substring(shown.indexOf("first-run: "), shown.indexOf("Warm-up: ")).lines()
                .filter(line -> !line.equals("...")).toList();
        assertTrue(header.size() > 8, header.toString());
        assertEquals(List.of(), header.stream().filter(line -> !lines.contains(line)).toList(),
                () -> "is not in\n" + String.join("\n", lines));
    }

    /** The rows of the table of schedules: name, bubble and activations, as they are written. */
    private static List<String[]> scheduleRows() {
        String table = readme().substring(readme().indexOf("| schedule | bubble"));
        return table.substring(0, table.indexOf("\n\n")).lines().skip(2)
                .map(row -> row.substring(2, row.length() - 2).split(" \\| ")).toList();
    }

    @Test
    void shouldListEverySchedule() {
        Set<String> listed = scheduleRows().stream()
                .flatMap(row -> Pattern.compile("`([^`]+)`").matcher(row[0]).results()).map(found -> found.group(1))
                .collect(Collectors.toSet());
        assertTrue(listed.containsAll(Schedules.names()), listed + " for " + Schedules.names());
        assertEquals(List.of(), listed.stream()
                .filter(name -> !Schedules.names().contains(name) && !Schedules.overlapsSteps(name)).toList());
    }

    /** Formulas of bubble and of activations against the simulator and the certificate. */
    @Test
    void shouldHaveTheBubbleAndTheActivationsOfEachSchedule() {
        int checked = 0;
        for (String[] row : scheduleRows()) {
            String name = row[0].replace("`", "");
            if (!row[1].matches("\\(P-1\\)/.*|0 within .*") || !Schedules.names().contains(name)) {
                continue; // in words, which tests of the schedules hold
            }
            int v = Schedules.named(name).usualVirtualStages();
            Plan plan = Schedules.named(name).plan(P, v, M);
            double ideal = 3.0 * v * M;
            double bubble = Simulator.run(plan, Costs.units(plan.stageCount())).makespanNanos() / ideal - 1;
            if (row[1].startsWith("(P-1)/")) {
                String below = row[1].substring("(P-1)/".length()).replaceAll("[()]", "");
                double product = Pattern.compile("\\d+|[PVM]").matcher(below).results().map(MatchResult::group)
                        .mapToDouble(factor -> switch (factor) {
                            case "P" -> P;
                            case "V" -> v;
                            case "M" -> M;
                            default -> Double.parseDouble(factor);
                        }).reduce(1, (a, b) -> a * b);
                assertEquals((P - 1) / product, bubble, 1e-9, name + ": " + row[1]);
            }
            IntUnaryOperator peak = peak(row[2], v);
            List<Integer> peaks = PlanValidator.certify(new AddTransfers().apply(plan), Purpose.TRAINING, 2)
                    .peakActivations();
            List<Integer> said = IntStream.range(0, P).map(peak).boxed().toList();
            if (row[2].contains("rank r")) {
                assertEquals(said, peaks, name + ": " + row[2]);
            } else {
                assertEquals(said.getFirst(), peaks.stream().max(Integer::compare).orElseThrow(), name + ": " + row[2]);
            }
            checked++;
        }
        assertEquals(9, checked);
    }

    private static IntUnaryOperator peak(String formula, int v) {
        return switch (formula) {
            case "M" -> _ -> M;
            case "V M" -> _ -> v * M;
            case "P" -> _ -> P;
            case "V P" -> _ -> v * P;
            case "2P" -> _ -> 2 * P;
            case "2P-1" -> _ -> 2 * P - 1;
            case "2P + 1" -> _ -> 2 * P + 1;
            case "min(M, P-r) on rank r" -> r -> Math.min(M, P - r);
            case "(V-1)P + 2(P-1-r) + 1 on rank r" -> r -> (v - 1) * P + 2 * (P - 1 - r) + 1;
            default -> throw new AssertionError("a formula that this test does not know: " + formula);
        };
    }

    @Test
    void shouldNameEveryModule() {
        String architecture = text(ROOT.resolve("docs/architecture.md"));
        List<String> modules = Pattern.compile("<module>([^<]+)</module>").matcher(text(ROOT.resolve("pom.xml")))
                .results().map(found -> found.group(1)).toList();
        assertTrue(modules.size() > 20, modules.toString());
        assertEquals(List.of(), modules.stream().filter(module -> !architecture.contains("`" + module + "`")).toList());
    }

    /** Links to files and to headings. */
    @ParameterizedTest(name = "{0}")
    @MethodSource("pages")
    void shouldLinkToWhatExists(Path page) {
        List<String> broken = new ArrayList<>();
        Pattern.compile("]\\(([^)\\s]+)\\)").matcher(text(page)).results().map(found -> found.group(1))
                .filter(link -> !link.matches("(https?|mailto):.*")).forEach(link -> {
                    String[] parts = link.split("#", 2);
                    Path target = parts[0].isEmpty() ? page : page.resolveSibling(parts[0]).normalize();
                    if (!Files.exists(target) || parts.length > 1 && !headings(target).contains(parts[1])) {
                        broken.add(link);
                    }
                });
        assertEquals(List.of(), broken);
    }

    private static Set<String> headings(Path page) {
        return text(page).lines().filter(line -> line.matches("#+ .*"))
                .map(line -> line.replaceFirst("#+ ", "").toLowerCase(Locale.ROOT).replaceAll("[^\\p{L}\\p{N} _-]", "")
                        .replace(' ', '-'))
                .collect(Collectors.toSet());
    }

    /** Options and subcommands; values in capitals stand for anything. */
    @ParameterizedTest(name = "{0}")
    @MethodSource("pages")
    void shouldWriteCommandsThatExist(Path page) {
        CommandLine line = Troupe.commandLine();
        List<String> wrong = new ArrayList<>();
        Pattern.compile("(?m)(?:^ *(?:[a-z0-9-]+)?\\$? ?|`)(?:\\./)?troupe ([a-z][^`\\n]*)").matcher(text(page))
                .results()
                .map(found -> found.group(1).replaceFirst("(\\s#|[|&>;\\\\)]|\\.\\.\\.|\\[).*", "").strip())
                .filter(command -> line.getSubcommands().containsKey(command.split("[^a-z]")[0]))
                .forEach(command -> {
                    try {
                        line.parseArgs(words(command));
                    } catch (ParameterException refused) {
                        if (!refused.getMessage().startsWith("Missing required")) { // a sentence about the command
                            wrong.add(command + ": " + refused.getMessage());
                        }
                    }
                });
        assertEquals(List.of(), wrong);
    }

    private static String[] words(String command) {
        return Pattern.compile("\"([^\"]*)\"|'([^']*)'|(\\S+)").matcher(command).results()
                .map(found -> found.group().replaceAll("^[\"']|[\"']$", "")).toArray(String[]::new);
    }

    /** Keys in spans of code, and of {@code -s}: each is a key or a section, or the beginning of one. */
    @ParameterizedTest(name = "{0}")
    @MethodSource("pages")
    void shouldNameKeysThatExist(Path page) {
        Set<String> keys = new Keys().all().stream().map(Key::path).collect(Collectors.toSet());
        String sections = keys.stream().filter(key -> key.contains(".")).map(key -> key.split("[.\\[]")[0]).distinct()
                .collect(Collectors.joining("|"));
        List<String> unknown = Stream.concat(
                Pattern.compile("-s ([a-z][a-z.-]*)=").matcher(text(page)).results(),
                Pattern.compile("`((?:" + sections + ")\\.[a-z][a-z.-]*)(?: = [^`]*|=[^`]*)?`").matcher(text(page))
                        .results())
                .map(found -> found.group(1)).distinct()
                .filter(name -> keys.stream().noneMatch(key -> key.equals(name) || key.startsWith(name + ".")))
                .filter(name -> !name.matches("model\\.(gguf|safetensors)|training\\.log|key")).toList();
        assertEquals(List.of(), unknown);
    }

    @Test
    void shouldFindSomethingToHold() throws IOException {
        assertTrue(pages().count() > 20);
        assertFalse(headings(ROOT.resolve("docs/cluster.md")).isEmpty());
    }
}
