package dev.troupe.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import dev.troupe.config.RunSpec;
import dev.troupe.config.RunSpecReader;
import dev.troupe.config.cluster.ClusterSpec;
import dev.troupe.config.cluster.NodeSpec;
import dev.troupe.engine.conformance.share.Dealt;
import dev.troupe.plan.planner.MachineFigures;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** From a model and machines to a plan, and from the plan to a run. */
@Tag("real")
@Timeout(120)
class PlanCommandTest {
    private static final List<String> SETTINGS = List.of("model.layers=3", "model.hidden=16", "model.heads=2",
            "model.sequence-length=16", "training.global-batch-size=4", "training.steps=2", "engine.kind=emulated",
            "engine.emulated.device-flops=1e10");

    @TempDir
    private Path directory;

    private Execution plan(String... more) {
        List<String> arguments = new ArrayList<>(List.of("plan"));
        SETTINGS.forEach(setting -> arguments.addAll(List.of("-s", setting)));
        arguments.addAll(List.of(more));
        return Execution.of(arguments);
    }

    @Test
    void shouldWriteAConfigurationThatRuns() {
        Path conf = directory.resolve("plan.conf");
        Execution planned = plan("--ranks", "2", "--out", conf.toString()).requireDone();
        assertTrue(planned.output().contains("tokens/s"), planned.output());
        assertTrue(planned.output().contains("Searched "), planned.output());
        Execution.of(List.of("train", conf.toString(), "--out", directory.resolve("run").toString())).requireDone();
    }

    /** The page has a model, machines, a plan and a run. */
    @Test
    void shouldLeadFromAModelToARunAsThePageDoes() throws IOException {
        List<String> fences = Pages.fences(Pages.page("docs/plan.md")).stream().map(fence -> fence.group(1)).toList();
        Files.writeString(directory.resolve("my.conf"), fences.get(0));
        Files.writeString(directory.resolve("machines.conf"), fences.get(1));
        List<String> commands = fences.get(2).lines().toList();
        assertEquals(2, commands.size(), fences.get(2));
        for (String command : commands) {
            List<String> words = new ArrayList<>(Pages.words(command).stream().skip(1)
                    .map(word -> word.endsWith(".conf")
                            ? directory.resolve(word).toString()
                            : word)
                    .toList());
            if (words.getFirst().equals("train")) {
                words.addAll(List.of("--out", directory.resolve("run").toString()));
            }
            Execution.of(words).requireDone();
        }
    }

    @Dealt(5)
    @Test
    void shouldStateAnIntervalForMeasuredTimes() throws IOException {
        Path profile = directory.resolve("profile.json");
        List<String> arguments = new ArrayList<>(List.of("profile", "--out", profile.toString()));
        SETTINGS.forEach(setting -> arguments.addAll(List.of("-s", setting)));
        List.of("parallel.pipeline=2", "training.microbatch-size=1", "engine.threads=1", "engine.kind=reference")
                .forEach(setting -> arguments.addAll(List.of("-s", setting)));
        Execution.of(arguments).requireDone();
        JsonNode answer = new JsonMapper().readTree(plan("-s", "engine.kind=reference", "--ranks", "2", "--profile",
                profile.toString(), "--format", "json").requireDone().output());
        for (JsonNode plan : answer.get("plans")) {
            JsonNode interval = plan.get("stepSecondsInterval90");
            assertTrue(interval.get(0).asDouble() <= interval.get(1).asDouble(), plan::toString);
            assertEquals(1, plan.get("settings").get("training.microbatch-size").asInt());
        }
        assertTrue(answer.get("refused").get("profile").get("nearest").asText().startsWith("the profile is of "));
        plan("--ranks", "2", "--profile", profile.toString()).requireRefused("is of the engine reference");
    }

    @Test
    void shouldWriteTheNodesOfTheConfigurationWithRanksByRule() throws IOException {
        Path cluster = Files.writeString(directory.resolve("cluster.conf"), """
                troupe {
                  parallel.pipeline = 3
                  cluster.nodes = [
                    { name = one, host = h1, control-port = 7101, data-port = 7201, ranks = [0, 1] }
                    { name = two, host = h2, control-port = 7101, data-port = 7201, ranks = [2] }
                  ]
                }
                """);
        Path conf = directory.resolve("plan.conf");
        plan(cluster.toString(), "--ranks", "2", "--out", conf.toString()).requireDone();
        ClusterSpec nodes = RunSpecReader.read(Optional.of(conf), List.of()).cluster().orElseThrow();
        assertEquals(List.of(0, 1), nodes.nodeOfRank());
        assertEquals(List.of("one", "two"), nodes.nodes().stream().map(NodeSpec::name).toList());
    }

    /** The first node takes three times as long, so that the second one is given more layers; the third has no rank. */
    @Test
    void shouldPlanForNodesOfUnequalSpeedAndLeaveOutNodesWithoutRanks() throws IOException {
        Path cluster = Files.writeString(directory.resolve("cluster.conf"), """
                troupe {
                  parallel.pipeline = 3
                  model.layers = 12
                  cluster.nodes = [
                    { name = slow, host = h1, control-port = 7101, data-port = 7201, emulated-speed = 0.01 }
                    { name = fast, host = h2, control-port = 7101, data-port = 7201 }
                    { name = third, host = h3, control-port = 7101, data-port = 7201, emulated-speed = 0.33 }
                  ]
                }
                """);
        Path conf = directory.resolve("plan.conf");
        String[] more = {cluster.toString(), "--ranks", "3", "--out", conf.toString(), "-s", "model.layers=12"};
        String output = plan(more).requireDone().output();
        assertTrue(output.matches("(?s).*\nMachines in the order (fast, third|third, fast), slow; in the order of.*"),
                output);
        RunSpec run = RunSpecReader.read(Optional.of(conf), List.of());
        assertEquals(Set.of("fast", "third"),
                run.cluster().orElseThrow().nodes().stream().map(NodeSpec::name).collect(Collectors.toSet()));
        assertEquals(2, run.parallel().pipeline());
        assertEquals(0.33, run.cluster().orElseThrow().node("third").engine().emulated().speed());
        assertTrue(run.parallel().layout().contains("|"), run.parallel().layout());
        assertTrue(
                plan(cluster.toString(), "--ranks", "3", "--placement", "rule", "-s", "model.layers=12").requireDone()
                        .output().lines().noneMatch(line -> line.startsWith("Machines in the order")));
        plan(cluster.toString(), "--ranks", "4", "--nodes", "4", "--placement", "list", "-s", "model.layers=12")
                .requireRefused("--");
    }

    @Test
    void shouldPriceALinkWithAShareOfItsBandwidth() throws IOException {
        Path figures = Files.writeString(directory.resolve("machines.conf"), """
                device-flops = 1e9
                memory = 1GiB
                between { latency = 1ms, bandwidth = 1MB }
                """);
        String output = plan("--ranks", "2", "--costs", figures.toString(), "--what-if", "0,1,0.5")
                .requireDone().output();
        assertTrue(output.contains("If the link between 0 and 1 has 0.50 of its bandwidth, this plan takes "), output);
        plan("--ranks", "2", "--costs", figures.toString(), "--what-if", "0,7,0.5")
                .requireRefused("--what-if must be two of the machines 0, 1 (at most 64) and a share above 0");
    }

    @Test
    void shouldWriteTheFiguresOfAProfile() {
        Path profile = directory.resolve("profile.json");
        List<String> arguments = new ArrayList<>(List.of("profile", "--out", profile.toString()));
        SETTINGS.forEach(setting -> arguments.addAll(List.of("-s", setting)));
        Execution.of(arguments).requireDone();
        Path figures = directory.resolve("machines.conf");
        String one = profile.toString();
        plan("--ranks", "2", "--nodes", "2", "--profile", one + "," + one, "--figures", figures.toString())
                .requireDone();
        MachineFigures read = MachineFigures.read(figures);
        assertEquals(1, read.nodeRanks());
        assertEquals(List.of(), read.speeds());
        plan("--ranks", "2", "--costs", figures.toString()).requireDone();
        plan("--ranks", "2", "--figures", figures.toString()).requireRefused("but there is no --profile");
        plan("--ranks", "3", "--nodes", "3", "--profile", one + "," + one)
                .requireRefused("there are 2 speeds or profiles");
    }

    /** On a slow link rows with more microbatches on their way are shorter, and the planner prices them as a run. */
    @ParameterizedTest
    @ValueSource(strings = {"rows", "walk"})
    void shouldFindRowsForASlowLink(String search) throws IOException {
        Path figures = Files.writeString(directory.resolve("machines.conf"), """
                device-flops = 1e8
                between { latency = 2700us, bandwidth = 2MB }
                """);
        Path conf = directory.resolve("plan.conf");
        JsonNode plans = new JsonMapper().readTree(plan("--ranks", "4", "--costs", figures.toString(), "-s",
                "training.global-batch-size=8", "-s", "model.layers=6", "--format", "json", "--search", search, "--out",
                conf.toString()).requireDone().output()).at("/plans");
        double named = plans.at("/1/stepSeconds").asDouble();
        assertEquals("zb-h2", plans.at("/1/settings/parallel.schedule").asText());
        assertTrue(plans.at("/0/stepSeconds").asDouble() < 0.95 * named, plans::toString);
        assertEquals(directory.resolve("plan.csv").toString(), plans.at("/0/settings/parallel.schedule").asText());
        Execution.of(List.of("train", conf.toString(), "--out", directory.resolve("run").toString())).requireDone();
        plan("--ranks", "2", "--search", search)
                .requireRefused("finds rows, which a run reads from a file: give --out");
        plan("--ranks", "2", "--search", search, "--out", directory.resolve("same.csv").toString())
                .requireRefused("give it another ending");
    }

    /** The emulated times are exact, so a measured step is never shorter than the predicted one. */
    @Test
    void shouldMeasureTheBestPlansAndReportThem() throws IOException {
        Path report = directory.resolve("report.json");
        String measured = plan("-s", "engine.emulated.device-flops=1e8", "--ranks", "2", "--measure", "2",
                "--emulated", "--steps", "3", "--report", report.toString()).requireDone().output();
        assertTrue(measured.contains("Measured on the engine emulated, 3 steps of each plan"), measured);
        JsonNode answer = new JsonMapper().readTree(Files.readString(report));
        for (int place = 0; place < answer.get("plans").size(); place++) {
            JsonNode trial = answer.get("plans").get(place).get("measured");
            assertEquals(place < 2, trial != null, answer::toString);
            if (trial != null) {
                assertEquals(3, trial.get("stepSeconds").size());
                assertTrue(trial.get("medianSeconds").asDouble() >= trial.get("predictedSeconds").asDouble(),
                        trial::toString);
            }
        }
    }

    @Test
    void shouldPrintJson() throws IOException {
        JsonNode answer = new JsonMapper()
                .readTree(plan("--ranks", "2", "--top", "3", "--format", "json", "--memory", "1GiB").requireDone()
                        .output());
        assertEquals(3, answer.get("plans").size());
        double before = 0;
        for (JsonNode plan : answer.get("plans")) {
            assertTrue(plan.get("stepSeconds").asDouble() >= before);
            before = plan.get("stepSeconds").asDouble();
            assertTrue(plan.get("memoryBytes").asLong() <= answer.get("memoryBytes").asLong());
            assertTrue(plan.get("settings").has("parallel.schedule"));
        }
        assertTrue(answer.get("search").get("certified").asInt() > 0);
    }

    @Test
    void shouldRefuseWhatCannotBeAndWriteNothing() throws IOException {
        Path conf = directory.resolve("plan.conf");
        plan("--memory", "1KiB", "--out", conf.toString()).requireRefused("--memory is ", "alone takes ");
        plan("--memory", "much").requireRefused("--memory must be a number of bytes above 0, such as 80GiB");
        plan("--ranks", "0").requireRefused("--ranks must be 1 to 65536, but found 0");
        plan("--nodes", "9", "--ranks", "2").requireRefused("--nodes must be 1 to the 2 ranks, but found 9");
        plan("--top", "0").requireRefused("--top must be 1 or more, but found 0");
        plan("--tokens-per-step", "17").requireRefused("--tokens-per-step must be a multiple of the 16 tokens");
        plan("--out", directory.toString()).requireRefused("--out must be a file, but ");
        plan("--costs", directory.resolve("none").toString()).requireRefused("--costs: there is no file ");
        plan("--measure", "6").requireRefused("--measure must be 1 to the 5 plans of --top");
        plan("--measure", "1", "--asynchronous").requireRefused("--measure takes plans that do one step after");
        plan("--emulated").requireRefused("--emulated is of measured plans: give their number with --measure");
        plan("-s", "training.replicas.mode=diloco", "-s", "training.replicas.inner-steps=2")
                .requireRefused("training.replicas.mode = diloco, but plan chooses parallel.data");
        plan("-s", "engine.kind=reference").requireRefused("plan needs the costs of the model's layers");
        plan("-s", "offload.optimizer=disk")
                .requireRefused("offload.optimizer = disk, but plan knows no time of files");
        plan("-s", "training.recompute=full", "-s", "offload.activations=disk")
                .requireRefused("offload.activations = disk, but plan knows no time of files");
        plan("-s", "training.recompute=full", "-s", "training.recompute-partition=true").requireRefused(
                "training.recompute-partition = true, but plan knows no time of the gathers of inputs");
        assertFalse(Files.exists(conf));
    }
}
