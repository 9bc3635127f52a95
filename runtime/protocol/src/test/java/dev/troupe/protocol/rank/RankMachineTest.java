package dev.troupe.protocol.rank;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.troupe.protocol.Pass;
import dev.troupe.protocol.RowPosition;
import dev.troupe.schedule.Action;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class RankMachineTest {
    private static final Pass TRAINING = new Pass(7, Pass.Kind.TRAINING);
    private static final Pass NEXT = new Pass(8, Pass.Kind.TRAINING);
    private static final Pass VALIDATION = new Pass(7, Pass.Kind.VALIDATION);

    @Test
    void shouldWalkItsRow() {
        RankMachine rank = middle();

        assertEquals(List.of(), rank.on(new RankEvent.PassStarted(TRAINING)));
        assertEquals(List.of(run("1F0", "1SEND_F0")), rank.on(landed("1RECV_F0")));
        assertTrue(rank.isComputing());
        assertEquals(List.of(), rank.on(done("1F0")));
        assertFalse(rank.isComputing());
        assertEquals(List.of(run("1B0", "1SEND_B0"), run("1NORM")), rank.on(landed("1RECV_B0")));
        assertEquals(List.of(), rank.on(done("1B0")), "the norm was ordered behind it");
        assertEquals("computing 1NORM in step 7", rank.situation());
        assertEquals(List.of(new RankCommand.ReportPassDone(TRAINING)), rank.on(done("1NORM")));
        assertEquals("waiting for the coordinator to allow the update in step 7", rank.situation());
        assertEquals(List.of(run("1UPDATE"), run("1SNAPSHOT")), rank.on(new RankEvent.UpdateRequested()));
        assertEquals(List.of(), rank.on(done("1UPDATE")));
        assertEquals(List.of(new RankCommand.ReportUpdated(7)), rank.on(done("1SNAPSHOT")));
        assertEquals(Optional.empty(), rank.position());
    }

    @Test
    void shouldKeepAMessageThatComesBeforeItsTurn() {
        RankMachine rank = middle();
        assertEquals(List.of(), rank.on(landed("1RECV_F0")), "before the pass: its sender may have heard first");
        assertEquals(List.of(run("1F0", "1SEND_F0")), rank.on(new RankEvent.PassStarted(TRAINING)));
    }

    @Test
    void shouldOrderTheNextActionAheadIfItsInputsArePresent() {
        RankMachine rank = middle();
        rank.on(new RankEvent.PassStarted(TRAINING));
        rank.on(landed("1RECV_F0"));

        assertEquals(List.of(run("1B0", "1SEND_B0")), rank.on(landed("1RECV_B0")));
        assertEquals(List.of(run("1NORM")), rank.on(done("1F0")));
        assertEquals("computing 1B0 in step 7", rank.situation());
    }

    @Test
    void shouldReportThePositionInItsRow() {
        RankMachine rank = middle();
        assertEquals(Optional.empty(), rank.position());
        rank.on(new RankEvent.PassStarted(TRAINING));
        assertEquals(Optional.of(new RowPosition(Pass.Kind.TRAINING, 0)), rank.position(), "it waits");
        rank.on(landed("1RECV_F0"));
        rank.on(landed("1RECV_B0"));
        assertEquals(Optional.of(new RowPosition(Pass.Kind.TRAINING, 1)), rank.position(),
                "it computes, with one more ordered");
        rank.on(done("1F0"));
        rank.on(done("1B0"));
        assertEquals(Optional.of(new RowPosition(Pass.Kind.TRAINING, 6)), rank.position(), "it measures");
        rank.on(done("1NORM"));
        assertEquals(Optional.of(new RowPosition(Pass.Kind.TRAINING, 7)), rank.position(), "it waits to update");
    }

    @Test
    void shouldOrderNoMoreThanOneActionAhead() {
        RankMachine rank = new RankMachine(0, 1, row(3, "0F0", "0F1", "0F2"), row(1, "0F0"));
        assertEquals(List.of(run("0F0"), run("0F1")), rank.on(new RankEvent.PassStarted(TRAINING)));
        assertEquals(List.of(run("0F2")), rank.on(done("0F0")));
    }

    @Test
    void shouldSendAloneIfTheSendIsNotNextToItsAction() {
        RankMachine rank = new RankMachine(1, 1, row(2, "1RECV_F0", "1F0", "1RECV_F1", "1SEND_F0", "1F1"),
                row(1, "1RECV_F0", "1F0"));
        rank.on(new RankEvent.PassStarted(TRAINING));
        assertEquals(List.of(run("1F0")), rank.on(landed("1RECV_F0")));
        assertEquals(List.of(), rank.on(landed("1RECV_F1")), "what it sends is not computed yet");
        assertEquals(List.of(send("1SEND_F0"), run("1F1")), rank.on(done("1F0")));
    }

    @Test
    void shouldGoFromTheRowStraightToTheReportIfNothingIsTrained() {
        RankMachine rank = middle();
        rank.on(new RankEvent.PassStarted(VALIDATION));
        rank.on(landed("1RECV_F0", VALIDATION));

        assertEquals(List.of(new RankCommand.ReportPassDone(VALIDATION)), rank.on(done("1F0")));
        assertEquals(List.of(), rank.on(new RankEvent.PassStarted(NEXT)), "and be ready for the next pass");
    }

    @Test
    void shouldAddASharedGradientOnceItHasLanded() {
        RankMachine rank = shared();
        assertEquals("waiting for 0RECV_SHARED in step 7", rank.situation());
        assertEquals(List.of(run("0RECV_SHARED"), run("0NORM")), rank.on(landed("0RECV_SHARED")));
    }

    @Test
    void shouldNotWaitForASharedGradientOfItsOwn() {
        RankRow row = new RankRow(
                Stream.of("0F0", "1F0", "1B0", "0B0", "0SEND_SHARED", "1SEND_SHARED", "0RECV_SHARED", "1RECV_SHARED")
                        .map(Action::parse).toList(),
                2, Set.of(Action.parse("0RECV_SHARED"), Action.parse("1RECV_SHARED")));
        RankMachine rank = new RankMachine(0, 1, row, row(2, "0F0", "1F0"));
        rank.on(new RankEvent.PassStarted(TRAINING));
        for (String action : List.of("0F0", "1F0", "1B0", "0B0")) {
            rank.on(done(action));
        }
        assertEquals(List.of(run("0RECV_SHARED")), rank.on(done("0SEND_SHARED")));
    }

    @Test
    void shouldGiveBackAMessageThatComesTwiceOrTooLate() {
        RankMachine waiting = middle();
        waiting.on(landed("1RECV_B0"));
        assertEquals(List.of(discard("1RECV_B0")), waiting.on(landed("1RECV_B0")));

        RankMachine behind = middle();
        behind.on(new RankEvent.PassStarted(TRAINING));
        behind.on(landed("1RECV_F0"));
        assertEquals(List.of(discard("1RECV_F0")), behind.on(landed("1RECV_F0")));

        RankMachine over = middle();
        over.on(new RankEvent.PassStarted(VALIDATION));
        over.on(landed("1RECV_F0", VALIDATION));
        over.on(done("1F0"));
        assertEquals(List.of(discard("1RECV_F0", VALIDATION)), over.on(landed("1RECV_F0", VALIDATION)));
        assertEquals(List.of(discard("1RECV_F0")), over.on(landed("1RECV_F0", TRAINING)));
    }

    @Test
    void shouldReportWhatItHasUsedAndGiveBackTheRestWhenAnEpochBegins() {
        RankMachine rank = middle();
        assertEquals(List.of(new RankCommand.ReportEpochReady(1, -1, List.of())),
                rank.on(new RankEvent.EpochEntered(1)));
        rank.on(new RankEvent.PassStarted(TRAINING));
        rank.on(landed("1RECV_F0"));
        rank.on(landed("1RECV_F1"));
        assertEquals(List.of(discard("1RECV_F1"),
                new RankCommand.ReportEpochReady(2, TRAINING.number(), List.of(Action.parse("1RECV_F0")))),
                rank.on(new RankEvent.EpochEntered(2)));
        assertEquals(List.of(), rank.on(done("1F0")), "an action under way is finished");
    }

    @Test
    void shouldReportThatASharedGradientHasLandedAlsoOnceItIsAdded() {
        RankMachine rank = shared();
        rank.on(landed("0RECV_SHARED"));
        rank.on(done("0RECV_SHARED"));
        assertEquals(List.of(new RankCommand.ReportEpochReady(1, TRAINING.number(),
                List.of(Action.parse("0RECV_SHARED")))), rank.on(new RankEvent.EpochEntered(1)));
        assertEquals(List.of(discard("0RECV_SHARED")), rank.on(landed("0RECV_SHARED")), "it is not added again");
    }

    @Test
    void shouldRefuseToEndARowWithAMessageItHasNoUseFor() {
        RankMachine rank = middle();
        rank.on(landed("1RECV_F3", VALIDATION));
        rank.on(new RankEvent.PassStarted(VALIDATION));
        rank.on(landed("1RECV_F0", VALIDATION));
        assertRefused("rank 1 is at the end of its row in step 7 (validation) and has no use for [1RECV_F3]", rank,
                done("1F0"));
    }

    @Test
    void shouldRefuseEventsThatItsPhaseDoesNotAllow() {
        assertRefused("rank 1 cannot take a weight update while it is waiting for the coordinator to start a step",
                middle(), new RankEvent.UpdateRequested());
        assertRefused("rank 1 cannot take the end of 1F0 while it is waiting for the coordinator to start a step",
                middle(), done("1F0"));

        RankMachine walking = middle();
        walking.on(new RankEvent.PassStarted(TRAINING));
        assertRefused("rank 1 cannot take a new pass while it is waiting for 1RECV_F0 in step 7", walking,
                new RankEvent.PassStarted(TRAINING));
        walking.on(landed("1RECV_F0"));
        assertRefused("rank 1 cannot take the end of 1B0 while it is computing 1F0 in step 7", walking, done("1B0"));
    }

    @Test
    void shouldRefuseMoreLiveActivationsThanItsCertificateHas() {
        RankMachine rank = new RankMachine(0, 1, row(1, "0F0", "0F1", "0B0", "0B1"), row(1, "0F0"));
        assertRefused("rank 0 would hold 2 live activations at 0F1, but its plan is certified for 1", rank,
                new RankEvent.PassStarted(TRAINING));
    }

    /** Stage 1 of three. */
    private static RankMachine middle() {
        return new RankMachine(1, 1,
                row(1, "1RECV_F0", "1F0", "1SEND_F0", "1RECV_B0", "1B0", "1SEND_B0", "1NORM", "1UPDATE", "1SNAPSHOT"),
                row(1, "1RECV_F0", "1F0", "1SEND_F0"));
    }

    /** Stage 0 with a shared parameter, its own gradient sent. */
    private static RankMachine shared() {
        RankMachine rank = new RankMachine(0, 1,
                row(1, "0F0", "0B0", "0SEND_SHARED", "0RECV_SHARED", "0NORM", "0UPDATE"), row(1, "0F0"));
        rank.on(new RankEvent.PassStarted(TRAINING));
        rank.on(done("0F0"));
        rank.on(done("0B0"));
        rank.on(done("0SEND_SHARED"));
        return rank;
    }

    private static RankRow row(int peakActivations, String... actions) {
        return new RankRow(Arrays.stream(actions).map(Action::parse).toList(), peakActivations);
    }

    private static RankEvent landed(String receive) {
        return landed(receive, TRAINING);
    }

    private static RankEvent landed(String receive, Pass pass) {
        return new RankEvent.Landed(Action.parse(receive), pass.number());
    }

    private static RankCommand discard(String receive) {
        return discard(receive, TRAINING);
    }

    private static RankCommand discard(String receive, Pass pass) {
        return new RankCommand.Discard(Action.parse(receive), pass.number());
    }

    private static RankEvent done(String action) {
        return new RankEvent.ActionDone(Action.parse(action));
    }

    private static RankCommand run(String action, String... sends) {
        return new RankCommand.Run(Action.parse(action), Arrays.stream(sends).map(Action::parse).toList());
    }

    private static RankCommand send(String send) {
        return new RankCommand.Send(Action.parse(send));
    }

    private static void assertRefused(String sentence, RankMachine rank, RankEvent event) {
        assertEquals(sentence, assertThrows(IllegalStateException.class, () -> rank.on(event)).getMessage());
    }
}
