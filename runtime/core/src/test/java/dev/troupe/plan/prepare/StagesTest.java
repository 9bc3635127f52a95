package dev.troupe.plan.prepare;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.troupe.config.RunSpec;
import dev.troupe.config.RunSpecReader;
import dev.troupe.plan.UsageException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The stages of preparation, and the stop after the memory. */
@Tag("plan")
class StagesTest {
    private static final List<String> SMALL = List.of("engine.kind=reference", "model.layers=4", "model.hidden=8",
            "model.heads=2", "model.sequence-length=16", "model.vocabulary-size=256", "parallel.pipeline=2",
            "parallel.virtual-stages=1", "parallel.schedule=1f1b", "training.steps=4", "training.global-batch-size=8",
            "training.microbatch-size=1", "training.validate-every=2", "training.validation-microbatches=4",
            "data.validation-fraction=0.2");

    @TempDir
    private Path home;

    @Test
    void shouldReachThePlanAndTheMemoryOfAPreparedRun() {
        try (PreparedRun run = PreparedRun.of(request(spec()));
                OpenedRun opened = OpenedRun.of(request(spec()))) {
            assertSameRun(run.planned(), run.memory(), SizedRun.of(PlannedRun.of(opened)));
        }
    }

    @Test
    void shouldStopAfterTheMemoryWithoutTheDirectory() throws IOException {
        Files.writeString(home.resolve("notes.txt"), "not of a run");
        RunRequest inUse = new RunRequest(spec(), new byte[4096], home, Optional.empty(), OptionalLong.empty());
        String refusal = assertThrows(UsageException.class, () -> PreparedRun.of(inUse).close()).getMessage();
        assertTrue(refusal.contains("it holds files that are of no run"), refusal);
        try (OpenedRun opened = OpenedRun.of(inUse)) {
            assertEquals(2, SizedRun.of(PlannedRun.of(opened)).memory().ranks().size());
        }
        try (Stream<Path> left = Files.list(home)) {
            assertEquals(List.of(home.resolve("notes.txt")), left.toList());
        }
    }

    @Test
    void shouldRefuseTooLittleMemoryOnlyWhenAsked() {
        try (OpenedRun opened = OpenedRun.of(request(spec()))) {
            SizedRun sized = SizedRun.of(PlannedRun.of(opened));
            long needed = sized.memory().total();
            sized.requireRoom(needed);
            String refusal = assertThrows(UsageException.class, () -> sized.requireRoom(needed - 1)).getMessage();
            assertTrue(refusal.startsWith("the run would take"), refusal);
        }
    }

    /** Pipeline, microbatches, the groups that share a sequence, replays, and ranks that share the cores of the machine. */
    @Test
    void shouldPlanOtherSizesOnTheSameModel() {
        List<Map<String, ?>> candidates = List.of(Map.of("parallel.schedule", "gpipe"),
                Map.of("parallel.pipeline", 4, "parallel.data", 2),
                Map.of("training.microbatch-size", 4, "training.recompute", "full"),
                Map.of("parallel.pipeline", 1, "parallel.tensor", 2, "parallel.sequence", true),
                Map.of("training.validate-every", 0, "training.zero", 1, "parallel.data", 2),
                Map.of("recovery.enabled", false, "training.steps", 2));
        try (OpenedRun opened = OpenedRun.of(request(spec()))) {
            SizedRun first = SizedRun.of(PlannedRun.of(opened));
            for (Map<String, ?> candidate : candidates) {
                RunSpec other = spec().with(candidate);
                SizedRun sized = SizedRun.of(PlannedRun.of(opened.with(other)));
                assertNotEquals(first.planned().opened().spec(), sized.planned().opened().spec(), candidate::toString);
                try (PreparedRun anew = PreparedRun.of(request(other))) {
                    assertSameRun(anew.planned(), anew.memory(), sized);
                }
            }
            assertSameRun(first.planned(), first.memory(), SizedRun.of(PlannedRun.of(opened)));
        }
    }

    @Test
    void shouldRefuseSizesThatNoPlanHas() {
        try (OpenedRun opened = OpenedRun.of(request(spec()))) {
            RunSpec tooMany = spec("training.global-batch-size=2097152");
            String refusal = assertThrows(UsageException.class, () -> opened.with(tooMany)).getMessage();
            assertTrue(refusal.startsWith("a step would have 4,194,304 forwards"), refusal);
        }
    }

    @Test
    void shouldNotTakeAnotherModelForTheSame() {
        try (OpenedRun opened = OpenedRun.of(request(spec()))) {
            for (String other : List.of("model.hidden=16", "training.seed=99", "data.seed=99",
                    "training.precision=float64", "training.lora.rank=2")) {
                assertThrows(IllegalArgumentException.class, () -> opened.with(spec(other)), other);
            }
        }
    }

    private static void assertSameRun(PlannedRun planned, Object memory, SizedRun sized) {
        assertEquals(planned.opened().spec(), sized.planned().opened().spec());
        assertEquals(planned.plan().training(), sized.planned().plan().training());
        assertEquals(planned.plan().validation(), sized.planned().plan().validation());
        assertEquals(planned.plan().stageSettings(), sized.planned().plan().stageSettings());
        assertEquals(planned.engine().ranksOfMachine(), sized.planned().engine().ranksOfMachine());
        assertEquals(planned.engine().settings().threads(), sized.planned().engine().settings().threads());
        assertEquals(planned.opened().batches().sequenceLength(), sized.planned().opened().batches().sequenceLength());
        assertEquals(planned.opened().batches().globalBatchSize(),
                sized.planned().opened().batches().globalBatchSize());
        assertEquals(memory, sized.memory());
    }

    private RunRequest request(RunSpec spec) {
        return new RunRequest(spec, new byte[4096], home.resolve("out"), Optional.empty(), OptionalLong.empty());
    }

    private static RunSpec spec(String... settings) {
        List<String> all = new ArrayList<>(SMALL);
        all.addAll(List.of(settings));
        return RunSpecReader.read(Optional.empty(), all);
    }
}
