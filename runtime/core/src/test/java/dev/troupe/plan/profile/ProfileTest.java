package dev.troupe.plan.profile;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.troupe.plan.UsageException;
import dev.troupe.schedule.Kind;
import dev.troupe.schedule.search.Unit;
import dev.troupe.schedule.simulator.Hop;
import dev.troupe.schedule.simulator.StageCost;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

@Tag("plan")
class ProfileTest {
    private static final ProfileSetting SETTING = new ProfileSetting("Xeon", "cpu own", 1, "FLOAT32", 2, 64, 1,
            "gpt2 {}");
    @TempDir
    private Path directory;

    private static LayerSamples samples(long unit) {
        Map<Kind, List<Long>> nanos = new EnumMap<>(Kind.class);
        long times = unit;
        for (Kind kind : List.of(Kind.FORWARD, Kind.BACKWARD_INPUT, Kind.BACKWARD_WEIGHT, Kind.FULL_BACKWARD,
                Kind.UPDATE)) {
            nanos.put(kind, List.of(9 * times, times, 2 * times, 3 * times, 5 * times));
            times *= 10;
        }
        return new LayerSamples(64, 32, nanos);
    }

    private static Profile profile() {
        return new Profile("2026-11-28T03:00:00Z", 2, SETTING, List.of("E", "a", "m", "a", "m", "L"),
                Map.of("E", samples(1), "a", samples(2), "m", samples(3), "L", samples(4)));
    }

    private Path written(String json) throws IOException {
        return Files.writeString(directory.resolve("profile.json"), json);
    }

    @Test
    void shouldBeReadAsItWasWritten() throws IOException {
        assertEquals(profile(), Profile.read(written(profile().toJson())));
    }

    @Test
    void shouldHaveNoOverheadsInAnOlderFile() throws IOException {
        Profile timed = profile().with(new StepOverheads(List.of(1_200_000L, 900_000L, 1_100_000L), List.of(7L, 9L, 8L),
                List.of(40L, 20L, 30L), List.of(1L, 2L, 3L), List.of(100L, 300L, 200L)));
        assertEquals(timed, Profile.read(written(timed.toJson())));
        assertEquals(1.1, timed.overheads().actionFactor());
        assertEquals(List.of(8L, 30L, 202L), List.of(timed.overheads().control(), timed.overheads().hop(),
                timed.overheads().once()));
        String older = profile().toJson().replaceFirst("(?s),\\s*\"overheads\" : \\{.*\\}\\s*\\}\\s*$", "}");
        assertFalse(older.contains("overheads"), older);
        assertEquals(profile(), Profile.read(written(older)));
        assertEquals(1, profile().overheads().actionFactor());
        assertEquals(0, profile().overheads().once());
    }

    @Test
    void shouldTakeTheMedianOfEachLayer() {
        List<Unit> units = profile().units();
        assertEquals(new Unit("a", new StageCost(6, 60, 600, 6000, 32, Map.of(Kind.UPDATE, 60000L)), 0, 64),
                units.get(1));
        assertEquals(units.get(2), units.get(4));
        assertEquals(List.of(1L, 3L, 9L), List.of(0.2, 0.5, 0.9).stream()
                .map(q -> samples(1).quantile(Kind.FORWARD, q)).toList());
    }

    @Test
    void shouldHaveTheWaysBetweenNodes() throws IOException {
        Profile linked = profile().with(List.of(new LinkSamples("a", "b", 64, List.of(5L, 3L, 9L), List.of(1000L)),
                new LinkSamples("b", "a", 64, List.of(7L), List.of(10L, 20L, 40L))));
        assertEquals(linked, Profile.read(written(linked.toJson())));
        assertEquals(Optional.of(new Hop(5, 1000)), linked.hop("a", "b"));
        assertEquals(Optional.of(new Hop(7, 20)), linked.hop("b", "a"));
        assertEquals(Optional.empty(), linked.hop("a", "c"));
    }

    /** A machine that is slower for a while is slower for all layers, so the order of time must survive. */
    @Test
    void shouldKeepTheOrderOfTimeWhenSamplesAreJoined() {
        LayerSamples joined = LayerSamples.together(List.of(
                new LayerSamples(1, 1, Map.of(Kind.FORWARD, List.of(1L, 2L, 3L))),
                new LayerSamples(1, 1, Map.of(Kind.FORWARD, List.of(10L, 20L)))));
        assertEquals(List.of(1L, 10L, 2L, 20L, 3L), joined.nanos().get(Kind.FORWARD));
    }

    @Test
    void shouldBeRefusedForAnotherRunByName() {
        Path file = Path.of("p.json");
        assertSame(SETTING, profile().requireFor(SETTING, file).setting());
        assertEquals("the profile p.json is of the processor Xeon, but the run has EPYC: measure one for this run with"
                + " ./troupe profile",
                refusal(new ProfileSetting("EPYC", "cpu own", 2, "FLOAT32", 2, 64, 1, "gpt2 {}")));
        assertEquals("the profile p.json is of the model gpt2 {}, but the run has gpt2 {layers=3}: measure one for this"
                + " run with ./troupe profile",
                refusal(new ProfileSetting("Xeon", "cpu own", 1, "FLOAT32", 2, 64, 1, "gpt2 {layers=3}")));
        assertEquals(
                "the profile p.json is of training.microbatch-size = 2, but the run has 4: measure one for this run"
                        + " with ./troupe profile",
                refusal(new ProfileSetting("Xeon", "cpu own", 1, "FLOAT32", 4, 64, 1, "gpt2 {}")));
    }

    private static String refusal(ProfileSetting run) {
        return assertThrows(UsageException.class, () -> profile().requireFor(run, Path.of("p.json"))).getMessage();
    }

    @Test
    void shouldRefuseWhatIsNoProfile() throws IOException {
        Path none = directory.resolve("none.json");
        assertEquals(
                "there is no profile " + none + ": measure one with ./troupe profile and the same configuration, or"
                        + " name another file as in measured(FILE)",
                assertThrows(UsageException.class, () -> Profile.read(none)).getMessage());
        for (String json : List.of("", "{}", "[]", "null", profile().toJson().replace("\"m\" : {", "\"n\" : {"),
                profile().toJson().replace("FORWARD", "RECV_F"))) {
            Path file = written(json);
            assertEquals(file + " is no profile, or is damaged: measure a new one with ./troupe profile",
                    assertThrows(UsageException.class, () -> Profile.read(file)).getMessage(), json);
        }
    }
}
