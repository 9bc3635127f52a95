package dev.troupe.cli.report;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.troupe.compare.Contestant;
import dev.troupe.compare.Figures;
import dev.troupe.compare.Outcome;
import dev.troupe.compare.StepTime;
import dev.troupe.config.RunSpec;
import dev.troupe.config.RunSpecReader;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("plan")
final class VerdictTest {
    private static final RunSpec SPEC = RunSpecReader.read(Optional.empty(), List.of());

    @Test
    void shouldNameTheFastestWhereItsRangeIsItsOwn() {
        assertEquals("1f1b was the fastest: 20.0 % less time a step than gpipe, the next.",
                sentence(outcome("gpipe", 10, 9, 11), outcome("1f1b", 8, 7.5, 8.5), outcome("zbv", 12, 11, 13)));
        assertEquals("gpipe took 10.0 ms a step.", sentence(outcome("gpipe", 10, 9, 11)));
    }

    @Test
    void shouldSayWhichCannotBeToldApart() {
        assertEquals("1f1b and gpipe cannot be told apart: the ranges of their steps overlap; zbv took longer.",
                sentence(outcome("gpipe", 10, 8.25, 11), outcome("1f1b", 8, 7.5, 8.5), outcome("zbv", 12, 11, 13)));
        assertEquals("1f1b, gpipe and zb-h1 cannot be told apart: the ranges of their steps overlap.",
                sentence(outcome("gpipe", 10, 8, 11), outcome("1f1b", 8, 7.5, 8.5), outcome("zb-h1", 12, 8, 13)));
    }

    private static String sentence(Outcome... outcomes) {
        return Verdict.of(SPEC, List.of(outcomes)).sentence();
    }

    private static Outcome outcome(String schedule, double millis, double least, double most) {
        return new Outcome(new Contestant(schedule, 1), "cpu", null, new Figures(millis / 1e3, 0, 0, 1, 1),
                new StepTime(millis / 1e3, least / 1e3, most / 1e3), null, List.of(), "", null);
    }
}
