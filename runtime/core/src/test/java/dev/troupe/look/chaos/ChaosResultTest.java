package dev.troupe.look.chaos;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.troupe.config.fault.FaultPoint;
import dev.troupe.config.fault.FaultSpec;
import dev.troupe.engine.DataType;
import dev.troupe.engine.Shape;
import dev.troupe.look.chaos.KeptThroughput.Basis;
import dev.troupe.rank.fault.FiredFault;
import dev.troupe.run.news.Recovery;
import dev.troupe.weights.NamedTensor;
import dev.troupe.weights.SafeTensorsWriter;
import java.io.IOException;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.stream.IntStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

@Tag("plan")
class ChaosResultTest {
    private static final Path WEIGHTS = Path.of("weights.safetensors");
    private static final FaultSpec EXCEPTION = FaultSpec.parse("exception step=1", "", "");
    private static final FaultSpec HANG = FaultSpec.parse("hang step=2", "", "");

    @TempDir
    private Path home;

    private Path one;
    private Path other;

    @BeforeEach
    void makeTwoRuns() throws IOException {
        one = Files.createDirectory(home.resolve("one"));
        other = Files.createDirectory(home.resolve("other"));
        weights(one, 1, 2, 3);
        weights(other, 1, 2, 3);
    }

    private static void weights(Path run, int... bits) throws IOException {
        SafeTensorsWriter.write(run.resolve(WEIGHTS), Map.of(), List.of(
                new NamedTensor("w", Shape.of(bits.length), DataType.INT32, target -> IntStream.range(0, bits.length)
                        .forEach(i -> target.setAtIndex(ValueLayout.JAVA_INT_UNALIGNED, i, bits[i])))));
    }

    /** Steps that begin at 0 and take a second each, with losses of 5, 4 and so on. */
    private static List<CommittedStep> steps(int count) {
        return IntStream.range(0, count).mapToObj(step -> new CommittedStep(step, 5.0 - step, 1, 1000L * (step + 1)))
                .toList();
    }

    private RunRecord undisturbed() {
        return new RunRecord(one, steps(3), List.of(), List.of(), 0);
    }

    private static FiredFault fired(FaultSpec fault, int index, long millis) {
        return new FiredFault(millis, fault.text(), index, "node-0", FaultPoint.FORWARD, 1, 1,
                fault.step().orElse(1), 0, Optional.empty());
    }

    private static Recovery recovery(int epoch, long detected, long resumed, long caughtUp) {
        return new Recovery(epoch, 1, List.of(1), "a test", detected, resumed, caughtUp);
    }

    private ChaosResult compare(RunRecord disturbed, Optional<String> failure, FaultSpec... asked) {
        return compare(disturbed, failure, new AskedFaults(List.of(asked), List.of()), Basis.UNDISTURBED_RUN);
    }

    private ChaosResult compare(RunRecord disturbed, Optional<String> failure, AskedFaults asked, Basis basis) {
        return ChaosResult.of(undisturbed(), disturbed, asked, failure, WEIGHTS, basis);
    }

    @Test
    void shouldGiveEachFaultTheRecoveryThatFollowsIt() {
        RunRecord disturbed = new RunRecord(other, steps(3),
                List.of(fired(HANG, 1, 1500), fired(EXCEPTION, 0, 1100)),
                List.of(recovery(1, 1110, 1150, 1300), recovery(2, 2500, 2600, 2650)), 0);
        List<FaultOutcome> faults = compare(disturbed, Optional.empty(), EXCEPTION, HANG).faults();
        assertEquals(List.of("exception step=1", "hang step=2"), faults.stream().map(FaultOutcome::fault).toList());
        assertEquals(OptionalDouble.of(0.01), faults.get(0).secondsToDetect());
        assertEquals(OptionalDouble.of(0.04), faults.get(0).secondsToRestart());
        assertEquals(OptionalDouble.of(0.15), faults.get(0).secondsToCatchUp());
        assertEquals(OptionalDouble.of(1), faults.get(1).secondsToDetect());
    }

    /** The recovery for the second is not the first's, for which nothing had to restart. */
    @Test
    void shouldLeaveAFaultWithoutTheRecoveryOfTheNext() {
        RunRecord disturbed = new RunRecord(other, steps(3),
                List.of(fired(EXCEPTION, 0, 1100), fired(HANG, 1, 1500)), List.of(recovery(1, 1510, 1600, 1700)), 0);
        List<FaultOutcome> faults = compare(disturbed, Optional.empty(), EXCEPTION, HANG).faults();
        assertEquals(Optional.empty(), faults.get(0).recovery());
        assertEquals(OptionalDouble.of(0.01), faults.get(1).secondsToDetect());
    }

    @Test
    void shouldDistinguishAFaultWithoutEffectFromOneThatNeverStruck() {
        RunRecord disturbed = new RunRecord(other, steps(3), List.of(fired(HANG, 1, 1500)), List.of(), 0);
        List<FaultOutcome> faults = compare(disturbed, Optional.empty(), EXCEPTION, HANG).faults();
        assertEquals(List.of("hang step=2", "exception step=1"), faults.stream().map(FaultOutcome::fault).toList());
        assertTrue(faults.get(0).fired().isPresent() && faults.get(0).recovery().isEmpty());
        assertTrue(faults.get(1).fired().isEmpty());
        assertEquals(Optional.empty(), faults.get(0).missed());
        assertEquals(Optional.of(new MissedFault("no rank passed a place that matches", true)),
                faults.get(1).missed());
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            exception step=1                      | no rank passed a place that matches
            drop step=1                           | no message that matches was sent
            disk-full step=2                      | no part of a checkpoint that matches was written
            exception at=checkpoint               | no part of a checkpoint that matches was written
            exception probability=0.001 seed=5    | of the places that match, its probability and its seed, 5, drew none
            kill-coordinator stage=1              | only ranks of the node that leads count, and none of them passed a place that matches
            slow stage=1 step=2 microbatch=0 at=F | "hang step=2" struck there first, and the place did not come again
            """)
    void shouldExplainWhyAFaultDidNotStrikeInAWholeRun(String fault, String why) {
        FiredFault other = fired(HANG, 1, 1500); // at F of microbatch 0 on stage 1
        FaultSpec asked = FaultSpec.parse(fault, "", "");
        RunRecord disturbed = new RunRecord(this.other, steps(3),
                fault.startsWith("slow") ? List.of(other) : List.of(), List.of(), 0);
        ChaosResult result = compare(disturbed, Optional.empty(), asked);
        FaultOutcome outcome = result.faults().getLast();
        assertEquals(Optional.of(new MissedFault(why, true)), outcome.missed());
        assertEquals(List.of(outcome), result.missed());
        assertTrue(result.isEqual());
        assertFalse(result.isProven());
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            exception step=2 | the run ended in step 1, before step 2
            exception step=1 | the run ended in step 1, before a place that matches
            exception        | the run ended in step 1, before a place that matches
            exception step=0 | no rank passed a place that matches
            """)
    void shouldReportThatTheRunEndedBeforeAFaultWasDue(String fault, String why) {
        RunRecord disturbed = new RunRecord(other, steps(1), List.of(), List.of(), 0);
        FaultSpec asked = FaultSpec.parse(fault, "", "");
        assertEquals(List.of(Optional.of(new MissedFault(why, true))), compare(disturbed, Optional.of("a reason"),
                asked).faults().stream().map(FaultOutcome::missed).toList());
    }

    /** The draw has no faults beyond the end of the run. */
    @Test
    void shouldCountADrawnFaultAsMissedOnlyIfItWasDue() {
        FaultSpec passed = FaultSpec.parse("exception step=0", "", "");
        AskedFaults asked = new AskedFaults(List.of(), List.of(passed, HANG));
        ChaosResult result = compare(new RunRecord(other, steps(1), List.of(), List.of(), 0), Optional.of("a reason"),
                asked, Basis.OWN_STEPS);
        assertEquals(List.of("exception step=0"), result.missed().stream().map(FaultOutcome::fault).toList());
        assertEquals(Optional.of(new MissedFault("the run ended in step 1, before step 2", false)),
                result.faults().get(1).missed());
    }

    /** Each step takes a second, except for the struck one, which takes three; before it another waits for half a second. */
    @Test
    void shouldCompareARunWithItsOwnUndisturbedSteps() {
        List<CommittedStep> steps = List.of(new CommittedStep(0, 5, 1.5, 1500), new CommittedStep(1, 4, 1, 3000),
                new CommittedStep(2, 3, 3, 6000), new CommittedStep(3, 2, 1, 7000), new CommittedStep(4, 1, 0.5, 7500));
        RunRecord undisturbed = new RunRecord(one, steps.stream().map(step -> new CommittedStep(step.step(),
                step.loss(), 9, 9000 * (step.step() + 1))).toList(), List.of(), List.of(), 0);
        FaultSpec delay = FaultSpec.parse("delay seconds=1", "", "");
        KeptThroughput kept = ChaosResult.of(undisturbed,
                new RunRecord(other, steps, List.of(fired(delay, 0, 3500)), List.of(), 0),
                new AskedFaults(List.of(delay), List.of()), Optional.empty(), WEIGHTS, Basis.OWN_STEPS).kept();
        assertEquals((7.5 - 3 + 1) / 7.5, kept.share().orElseThrow(), 1e-9);
    }

    /** The recovery spans the steps 1 and 2; a clock that jumps by an hour is no hour of the run. */
    @Test
    void shouldCountTheStepsOfARecoveryAsTouchedAndNoneOfAClock() {
        List<CommittedStep> steps = List.of(new CommittedStep(0, 5, 1, 1000), new CommittedStep(1, 4, 2, 3000),
                new CommittedStep(2, 3, 2, 5000), new CommittedStep(3, 2, 1, 6000), new CommittedStep(4, 1, 1, 7000));
        FaultSpec jump = FaultSpec.parse("clock-jump seconds=3600", "", "");
        KeptThroughput kept = ChaosResult.of(new RunRecord(one, steps, List.of(), List.of(), 0),
                new RunRecord(other, steps, List.of(fired(jump, 0, 2000)), List.of(recovery(1, 2500, 2600, 4000)), 0),
                new AskedFaults(List.of(jump), List.of()), Optional.empty(), WEIGHTS, Basis.OWN_STEPS).kept();
        assertEquals(5.0 / 7, kept.share().orElseThrow(), 1e-9);
    }

    @Test
    void shouldGiveNoFigureIfNearlyEveryStepWasTouched() {
        RunRecord disturbed = new RunRecord(other, steps(3), List.of(fired(EXCEPTION, 0, 1100)), List.of(), 0);
        assertEquals(Optional.empty(), compare(disturbed, Optional.empty(),
                new AskedFaults(List.of(EXCEPTION), List.of()), Basis.OWN_STEPS).kept().share());
    }

    @Test
    void shouldFindNothingDifferentInEqualRuns() {
        ChaosResult result = compare(new RunRecord(other, steps(3), List.of(), List.of(), 0), Optional.empty());
        assertTrue(result.isEqual());
        assertTrue(result.isProven());
        assertEquals(new KeptThroughput(Optional.of(1.0), Basis.UNDISTURBED_RUN), result.kept());
    }

    @Test
    void shouldFindASingleBitOfTheWeights() throws IOException {
        weights(other, 1, 2, 3 ^ 1 << 8);
        assertEquals(Optional.of("tensor w differs from byte 9 on"),
                compare(new RunRecord(other, steps(3), List.of(), List.of(), 0), Optional.empty()).difference());
    }

    @Test
    void shouldFindWeightsOfAnotherShape() throws IOException {
        weights(other, 1, 2);
        assertFalse(compare(new RunRecord(other, steps(3), List.of(), List.of(), 0), Optional.empty()).isEqual());
    }

    @Test
    void shouldFindALossThatDiffersAndOneThatIsMissing() {
        List<CommittedStep> steps = List.of(steps(3).get(0), new CommittedStep(1, Math.nextUp(4.0), 1, 2000),
                steps(3).get(2));
        assertEquals(Optional.of("step 1 has the loss 4.0 undisturbed, and 4.000000000000001 disturbed"),
                compare(new RunRecord(other, steps, List.of(), List.of(), 0), Optional.empty()).difference());
        assertEquals(Optional.of("step 2 has the loss 3.0 undisturbed, and is not there disturbed"),
                compare(new RunRecord(other, steps(2), List.of(), List.of(), 0), Optional.empty()).difference());
    }

    @Test
    void shouldReportThatTheRunFailedBeforeAnythingElse() {
        assertEquals(Optional.of("the disturbed run failed: a reason"),
                compare(new RunRecord(other, steps(1), List.of(), List.of(), 0), Optional.of("a reason")).difference());
    }

    @Test
    void shouldCountStepsDoneAgainAndTimeLost() {
        List<CommittedStep> steps = List.of(steps(3).get(0), steps(3).get(1), new CommittedStep(0, 5, 1, 4000),
                new CommittedStep(1, 4, 1, 5000), new CommittedStep(2, 3, 1, 6000));
        ChaosResult result = compare(new RunRecord(other, steps, List.of(), List.of(), 0), Optional.empty());
        assertTrue(result.isEqual());
        assertEquals(2, result.disturbed().stepsLost());
        assertEquals(Optional.of(0.5), result.kept().share());
    }

    /** Three steps; ends; continues from the checkpoint after one, and does two again. */
    @Test
    void shouldCountWhatACheckpointSavedAsARecovery() {
        RunRecord before = new RunRecord(other, steps(3), List.of(), List.of(recovery(1, 10, 20, 30)), 0);
        List<CommittedStep> whole = List.of(steps(3).get(0), new CommittedStep(1, 4, 1, 9000),
                new CommittedStep(2, 3, 1, 10_000), new CommittedStep(3, 2, 1, 11_000));
        RunRecord both = before.resumed(
                new RunRecord(other, whole, List.of(fired(HANG, 0, 2900)), List.of(recovery(1, 10, 20, 30)), 0), 5000,
                1);
        assertEquals(2, both.stepsLost());
        assertEquals(1, both.resumed());
        assertEquals(6, both.steps().size());
        assertEquals(List.of(recovery(1, 10, 20, 30), new Recovery(0, 1, List.of(),
                "the run ended, and resumed from the checkpoint after 1 steps", 5000, 8000, 10_000)),
                both.recoveries());
        assertEquals(1, both.fired().size());
    }

    @Test
    void shouldReadTheFilesOfARun() throws IOException {
        Path metrics = Files.writeString(one.resolve("metrics.jsonl"),
                "{\"step\":0,\"loss\":5.5,\"step_seconds\":0.25,\"skipped\":false,\"time_ms\":1000}\n"
                        + "{\"steps_done\":1,\"checkpoint_failed\":\"a full disk\"}\n");
        RecoveryLog.append(one, recovery(1, 10, 20, 30));
        RecoveryLog.append(one, recovery(2, 40, 50, 60));
        RunRecord read = RunRecord.read(one, metrics);
        assertEquals(List.of(new CommittedStep(0, 5.5, 0.25, 1000)), read.steps());
        assertEquals(List.of(recovery(1, 10, 20, 30), recovery(2, 40, 50, 60)), read.recoveries());
        assertEquals(0.25, read.seconds());
        assertEquals(new RunRecord(other, List.of(), List.of(), List.of(), 0),
                RunRecord.read(other, other.resolve("metrics.jsonl")));
    }
}
