package dev.troupe.plan.profile;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.troupe.schedule.Kind;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("plan")
class StepIntervalTest {
    private static final double LEVEL = 0.9;
    private static final int DRAWS = 200;

    private static Profile profile(List<Long> times) {
        Map<Kind, List<Long>> nanos = new EnumMap<>(Kind.class);
        for (Kind kind : List.of(Kind.FORWARD, Kind.BACKWARD_INPUT, Kind.BACKWARD_WEIGHT, Kind.FULL_BACKWARD,
                Kind.UPDATE)) {
            nanos.put(kind, times);
        }
        return new Profile("2026-11-28T03:00:00Z", 1, new ProfileSetting("Xeon", "cpu own", 1, "FLOAT32", 2, 64, 1,
                "gpt2 {}"), List.of("a"), Map.of("a", new LayerSamples(64, 32, nanos)));
    }

    private static long forward(Profile profile) {
        return profile.units().getFirst().cost().forwardNanos();
    }

    private static StepInterval interval(List<Long> times) {
        return StepInterval.of(profile(times), StepIntervalTest::forward, LEVEL, DRAWS, 1);
    }

    @Test
    void shouldBeAPointIfAllSamplesAreEqual() {
        assertEquals(new StepInterval(7, 7, 7), interval(List.of(7L, 7L, 7L)));
    }

    /** Of a hundred sets of independent samples, the interval has the true median nearly as often as its level. */
    @Test
    void shouldHaveTheTrueMedianAboutAsOftenAsItsLevel() {
        Random random = new Random(5);
        int held = 0;
        for (int set = 0; set < 100; set++) {
            List<Long> times = new ArrayList<>();
            for (int sample = 0; sample < 200; sample++) {
                times.add(Math.round(1_000_000 + 100_000 * random.nextGaussian()));
            }
            held += interval(times).contains(1_000_000) ? 1 : 0;
        }
        assertTrue(held >= 78 && held <= 99, held + " of 100");
    }

    /** A machine that is slower for half of the time may be in either state when a run is measured. */
    @Test
    void shouldBeWideIfTheMachineDrifts() {
        List<Long> times = new ArrayList<>();
        for (int sample = 0; sample < 200; sample++) {
            times.add(sample < 100 ? 100L : 130L);
        }
        StepInterval interval = interval(times);
        assertTrue(interval.contains(100) && interval.contains(130), interval.toString());
    }

    @Test
    void shouldBeTheSameForTheSameSeed() {
        List<Long> times = List.of(1L, 5L, 2L, 8L, 3L, 9L, 4L, 7L, 6L, 10L, 12L, 11L);
        assertEquals(interval(times), interval(times));
    }
}
