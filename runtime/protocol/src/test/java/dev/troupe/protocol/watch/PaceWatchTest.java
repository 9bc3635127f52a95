package dev.troupe.protocol.watch;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("plan")
class PaceWatchTest {
    private static final List<String> HOSTS = List.of("a", "a", "b", "b");
    private static final List<String> MOVED = List.of("a", "a", "a", "a");

    private final PaceWatch pace = new PaceWatch(HOSTS, List.of());
    private final List<Notice> said = new ArrayList<>();
    private long done;

    private void steps(int count, double seconds) {
        for (int step = 0; step < count; step++) {
            pace.onStep(++done, 1, seconds, false).ifPresent(said::add);
        }
    }

    private List<String> sentences() {
        return said.stream().map(Notice::sentence).toList();
    }

    @Test
    void shouldReportOnceWhatALostNodeCosts() {
        steps(15, 0.1);
        pace.onMoved(MOVED);
        pace.onStep(++done, 1, 5, true).ifPresent(said::add); // the step of the recovery
        steps(9, 0.19);
        assertEquals(List.of(), said);
        steps(30, 0.19);
        assertEquals(List
                .of("the run continues more slowly: ranks 2 and 3 now share node a with ranks 0 and 1; steps take 1.9"
                        + " times as long as before the loss (median of 10 steps: 190 ms, before it 100 ms)"),
                sentences());
        assertEquals(Notice.Kind.PACE, said.getFirst().kind());
        assertEquals(1.9, said.getFirst().times(), 1e-9);
    }

    @Test
    void shouldReportThatTheSpeedIsBack() {
        steps(15, 0.1);
        pace.onMoved(MOVED);
        steps(20, 0.19);
        steps(20, 0.1);
        assertEquals(List.of(Notice.Kind.PACE, Notice.Kind.PACE_ENDED), said.stream().map(Notice::kind).toList());
        assertTrue(said.getLast().sentence().startsWith("steps are as fast again as before"),
                sentences().toString());
    }

    @Test
    void shouldReportThatAStandbyCostsNoSpeed() {
        steps(15, 0.1);
        pace.onMoved(List.of("a", "a", "c", "c"));
        steps(10, 0.1);
        assertEquals(List.of("the run is as fast as before: ranks 2 and 3 now live on node c; steps take 1.0 times"
                + " as long as before the loss (median of 10 steps: 100 ms, before it 100 ms)"), sentences());
        steps(30, 0.19); // of that, nobody says that the loss was it
        assertEquals(1, said.size());
    }

    @Test
    void shouldReportWhatTheLossOfAStandbyMeans() {
        steps(15, 0.1);
        Notice lost = pace.onStandbyLost(15, 0, "c", Set.of("a", "b"));
        assertEquals(
                "standby node c is lost; there is no other standby, so the ranks of the next lost node will share a node,"
                        + " and steps will take longer",
                lost.sentence());
        steps(10, 0.1);
        assertEquals(1, said.size());
        assertTrue(said.getFirst().sentence().startsWith("the run is as fast as before: standby node c is lost"));
        assertEquals(
                Optional.of(
                        "node c is a standby: it takes over the ranks of the next node that is lost, and none before"),
                pace.onJoined(25, 0, "c").map(Notice::sentence));
    }

    @Test
    void shouldCompareASecondLossWithTheSpeedBeforeTheFirst() {
        PaceWatch three = new PaceWatch(List.of("a", "b", "c"), List.of());
        List<Notice> notices = new ArrayList<>();
        for (int step = 1; step <= 45; step++) {
            if (step == 15) {
                three.onMoved(List.of("a", "a", "c"));
            }
            if (step == 30) {
                three.onMoved(List.of("a", "a", "a"));
            }
            three.onStep(step, 0, step < 15 ? 0.1 : step < 30 ? 0.2 : 0.3, false).ifPresent(notices::add);
        }
        assertEquals(List.of(2.0, 3.0),
                notices.stream().map(notice -> Math.round(notice.times() * 10) / 10.0).toList());
        assertTrue(notices.getLast().sentence().contains("rank 2 now shares node a with ranks 0 and 1"),
                notices.getLast().sentence());
    }

    @Test
    void shouldReportAtTheEndWhatWasMeasuredUntilThen() {
        steps(15, 0.1);
        pace.onMoved(MOVED);
        steps(2, 0.2);
        assertEquals(Optional.empty(), pace.onEnd(done, 1));
        steps(1, 0.2);
        assertTrue(pace.onEnd(done, 1).orElseThrow().sentence().contains("(median of 3 steps: 200 ms"));
    }

    @Test
    void shouldKnowTheStepsThatAnotherCoordinatorLed() {
        PaceWatch taken = new PaceWatch(HOSTS, Collections.nCopies(12, 0.1));
        taken.onMoved(MOVED);
        Optional<Notice> notice = Optional.empty();
        for (int step = 0; step < 10; step++) {
            notice = taken.onStep(20 + step, 1, 0.2, false);
        }
        assertEquals(2, notice.orElseThrow().times(), 1e-9);
    }

    @Test
    void shouldReportThatNothingWasMeasuredBefore() {
        pace.onMoved(MOVED);
        steps(12, 0.2);
        assertTrue(
                said.getFirst().sentence()
                        .endsWith("the time of steps before the loss was not measured (median of 10 steps: 200 ms)"),
                sentences().toString());
    }

    @Test
    void shouldReportNothingForARunThatLosesNothing() {
        steps(50, 0.1);
        steps(50, 0.3);
        assertEquals(List.of(), said);
        assertEquals(Optional.empty(), pace.onJoined(100, 0, "c"));
        assertEquals(Optional.empty(), pace.onEnd(100, 0));
    }
}
