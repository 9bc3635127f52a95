package dev.troupe.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.troupe.cli.progress.RunSummary;
import dev.troupe.cli.stop.ExitCode;
import dev.troupe.config.RunSpecReader;
import dev.troupe.plan.prepare.BuiltInCorpus;
import dev.troupe.plan.prepare.PreparedRun;
import dev.troupe.plan.prepare.RunRequest;
import dev.troupe.schedule.Plan;
import dev.troupe.schedule.certificate.PlanValidator;
import dev.troupe.schedule.certificate.Purpose;
import dev.troupe.schedule.family.Schedules;
import dev.troupe.schedule.lowering.AddTransfers;
import dev.troupe.schedule.simulator.Costs;
import dev.troupe.schedule.simulator.Simulator;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.function.IntUnaryOperator;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Facts about the code in the README and the guides that can be computed. */
@Tag("runtime")
class ReadmeFactsTest {
    private static final int P = 4;
    private static final int M = 8;

    @Test
    void shouldNameTheStepsWithAFile() {
        String source = Pages.text("runtime/core/src/main/java/dev/troupe/look/output/StepRecords.java");
        Map<String, String> constants = Pattern.compile("int (NEWEST|SLOWEST|TAGGED|TRACED) = (\\d+);").matcher(source)
                .results().collect(Collectors.toMap(found -> found.group(1), found -> found.group(2)));
        for (String page : List.of("docs/training.md", "docs/observe.md")) {
            String said = Pages.text(page).replaceAll("\\s+", " ");
            assertTrue(said.contains("newest " + constants.get("NEWEST") + " steps, the slowest "
                    + constants.get("SLOWEST") + ", and the newest " + constants.get("TAGGED")),
                    page + ": " + constants);
            assertTrue(said.contains("the last " + constants.get("TRACED") + " steps"), page + ": " + constants);
        }
    }

    @Test
    void shouldListTheExitCodes() {
        String said = Pages.text("docs/training.md").replaceAll("\\s+", " ")
                .replaceFirst(".*Exit codes: (.*?)\\.( .*|$)", "$1");
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
        try (PreparedRun run = PreparedRun.of(new RunRequest(RunSpecReader.read(Optional.empty(), List.of()),
                BuiltInCorpus.utf8(), home.resolve("run"), Optional.empty(), OptionalLong.empty()))) {
            RunSummary.print(run, new PrintStream(printed, true, StandardCharsets.UTF_8));
        }
        List<String> lines = printed.toString(StandardCharsets.UTF_8).lines().map(String::stripTrailing).toList();
        String readme = Pages.text(Pages.README);
        String shown = readme.substring(readme.indexOf("## The first run"));
        List<String> header = shown.substring(shown.indexOf("first-run: "), shown.indexOf("Warm-up: ")).lines()
                .filter(line -> !line.equals("...")).toList();
        assertTrue(header.size() > 8, header.toString());
        assertEquals(List.of(), header.stream().filter(line -> !lines.contains(line)).toList(),
                () -> "is not in\n" + String.join("\n", lines));
    }

    /** The rows of the table of schedules: name, bubble and activations, as they are written. */
    private static List<String[]> scheduleRows() {
        String page = Pages.text("docs/schedules.md");
        String table = page.substring(page.indexOf("| schedule | bubble"));
        return table.substring(0, table.indexOf("\n\n")).lines().skip(2)
                .map(row -> row.substring(2, row.length() - 2).split(" \\| ")).toList();
    }

    @Test
    void shouldListEverySchedule() {
        Set<String> listed = scheduleRows().stream()
                .flatMap(row -> Pattern.compile("`([^`]+)`").matcher(row[0]).results()).map(found -> found.group(1))
                .collect(Collectors.toSet());
        assertTrue(listed.containsAll(Schedules.names()), listed + " for " + Schedules.names());
        assertEquals(List.of(), listed.stream().filter(name -> !Schedules.ofTraining().contains(name)).toList());
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
        String architecture = Pages.text("docs/architecture.md");
        List<String> modules = Pattern.compile("<module>([^<]+)</module>").matcher(Pages.text("pom.xml")).results()
                .map(found -> found.group(1)).toList();
        assertTrue(modules.size() > 20, modules.toString());
        assertEquals(List.of(), modules.stream().filter(module -> !architecture.contains("`" + module + "`")).toList());
    }
}
