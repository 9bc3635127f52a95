package dev.troupe.cli.report;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.troupe.config.RunSpec;
import dev.troupe.config.RunSpecReader;
import dev.troupe.look.compare.Contestant;
import dev.troupe.look.compare.Figures;
import dev.troupe.look.compare.ScheduleOutcome;
import dev.troupe.look.figure.StepTime;
import java.util.List;
import java.util.Optional;
import java.util.stream.DoubleStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("plan")
final class VerdictTest {
    private static final RunSpec SPEC = RunSpecReader.read(Optional.empty(), List.of());

    /** Steps of six turns of a machine that becomes slower: the times of the schedules overlap. */
    private static final double[] TURNS = {1, 1.2, 1.5, 1.9, 2.4, 3};

    @Test
    void shouldNameTheFastestTurnByTurn() {
        assertEquals(
                "1f1b was the fastest: 20.0 % less time a step than gpipe, the next (20.0 to 20.0 %, turn by turn).",
                sentence(outcome("gpipe", 10, TURNS), outcome("1f1b", 8, TURNS), outcome("zbv", 12, TURNS)));
        assertEquals("gpipe took 17.0 ms a step.", sentence(outcome("gpipe", 10, TURNS)));
    }

    @Test
    void shouldNameTheOnesThatCannotBeDistinguished() {
        double[] lucky = TURNS.clone();
        lucky[2] = 1.2; // one turn in which gpipe was faster
        assertEquals("1f1b and gpipe cannot be told apart: in some rounds one is faster, in some another; zbv took"
                + " longer.",
                sentence(outcome("gpipe", 9, lucky), outcome("1f1b", 8, TURNS), outcome("zbv", 12, TURNS)));
        assertEquals("1f1b and gpipe cannot be told apart: in some rounds one is faster, in some another.",
                sentence(outcome("gpipe", 9, 1, 1, 1, 1, 1), outcome("1f1b", 8, 1, 1, 1, 1, 1)),
                "five turns are too few");
    }

    private static String sentence(ScheduleOutcome... outcomes) {
        return Verdict.of(SPEC, List.of(outcomes)).sentence();
    }

    private static ScheduleOutcome outcome(String schedule, double millis, double... turns) {
        List<Double> seconds = DoubleStream.of(turns).mapToObj(turn -> millis / 1e3 * turn).toList();
        double median = seconds.stream().sorted().skip((seconds.size() - 1) / 2).limit(2 - seconds.size() % 2)
                .mapToDouble(Double::doubleValue).average().orElseThrow();
        return new ScheduleOutcome(new Contestant(schedule, 1), "cpu", null, new Figures(median, 0, 0, 1, 1),
                new StepTime(median, seconds.getFirst(), seconds.getLast()), seconds, null, List.of(), "", null);
    }
}
