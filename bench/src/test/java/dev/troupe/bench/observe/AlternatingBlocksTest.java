package dev.troupe.bench.observe;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.troupe.protocol.StepResult;
import dev.troupe.protocol.Traffic;
import dev.troupe.run.news.RunNews;
import java.io.IOException;
import java.io.InputStream;
import java.lang.classfile.ClassFile;
import java.lang.classfile.ClassModel;
import java.lang.classfile.MethodModel;
import java.lang.classfile.instruction.InvokeInstruction;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("plan")
class AlternatingBlocksTest {
    private static final int STEPS_IS_LEFT_OUT = Recorded.STEPS.ordinal();

    @AfterEach
    void recordAll() {
        RecordingSwitch.recordAll();
    }

    private static StepResult step(long number) {
        return new StepResult(number, 1, 1, 1, 1, false, Traffic.NONE);
    }

    /** Blocks of two steps, and one before each that does not count: with, without, without, with. */
    @Test
    void shouldCountAlternatingBlocksWithoutTheirFirstStep() {
        AlternatingBlocks turns = new AlternatingBlocks(EnumSet.of(Recorded.STEPS), 1, 2);
        List<Boolean> leftOut = new ArrayList<>();
        double[] seconds = {9, 9, 2, 2, 9, 1, 1, 9, 1, 1, 9, 4, 4};
        assertEquals(seconds.length, turns.steps(2));
        for (int number = 0; number < seconds.length; number++) {
            leftOut.add(RecordingSwitch.leavesOut(STEPS_IS_LEFT_OUT));
            turns.on(new RunNews.StepDone(step(number), seconds[number]));
        }
        assertEquals(List.of(false, false, false, false, true, true, true, true, true, true, false, false, false),
                leftOut);
        assertEquals(List.of(0.5, 0.25), turns.ratios(AlternatingBlocks.Block::medianSeconds));
        assertEquals(1, turns.medianSeconds(false));
    }

    @Test
    void shouldTakeTurnsInTheWarmUpWithoutCountingThem() {
        AlternatingBlocks turns = new AlternatingBlocks(EnumSet.of(Recorded.STEPS), 7, 2);
        List<Boolean> leftOut = new ArrayList<>();
        double[] seconds = {9, 9, 3, 3, 9, 3, 3, 9, 2, 2, 9, 1, 1};
        for (int number = 0; number < seconds.length; number++) {
            leftOut.add(RecordingSwitch.leavesOut(STEPS_IS_LEFT_OUT));
            turns.on(new RunNews.StepDone(step(number), seconds[number]));
        }
        assertEquals(List.of(false, true, true, true, false, false, false, false, false, false, true, true, true),
                leftOut);
        assertEquals(List.of(0.5), turns.ratios(AlternatingBlocks.Block::medianSeconds));
    }

    @Test
    void shouldHaveTheMedianInItsInterval() {
        List<Double> samples = new ArrayList<>();
        for (int i = 0; i < 31; i++) {
            samples.add(1 + (i - 15) / 100.0);
        }
        BootstrapMedian median = BootstrapMedian.of(samples);
        assertEquals(1, median.median());
        assertTrue(median.low() < 1 && median.low() > 0.9 && median.high() > 1 && median.high() < 1.1,
                median::toString);
        assertEquals(new BootstrapMedian(1.5, 1, 2), BootstrapMedian.of(List.of(1.0, 2.0)));
    }

    /** The classes that the agent changes are still whole, and have every method that is named. */
    @Test
    void shouldPutAQuestionInFrontOfEveryMethodThatRecords() throws IOException {
        for (Recorded kind : Recorded.values()) {
            for (Recorded.Method method : kind.methods()) {
                String file = method.type().replace('.', '/') + ".class";
                try (InputStream stream = getClass().getClassLoader().getResourceAsStream(file)) {
                    byte[] changed = RecordingAgent.changed(method.type(), stream.readAllBytes());
                    ClassModel model = ClassFile.of().parse(changed);
                    assertEquals(List.of(), ClassFile.of().verify(model), () -> "of " + method);
                    List<MethodModel> named = model.methods().stream()
                            .filter(one -> one.methodName().equalsString(method.name())).toList();
                    assertFalse(named.isEmpty(), () -> "there is no " + method);
                    named.forEach(one -> assertTrue(one.code().orElseThrow().elementStream()
                            .anyMatch(part -> part instanceof InvokeInstruction call
                                    && call.name().equalsString("leavesOut")),
                            () -> "nothing is asked in " + method));
                }
            }
        }
    }
}
