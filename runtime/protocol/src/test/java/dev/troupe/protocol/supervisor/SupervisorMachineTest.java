package dev.troupe.protocol.supervisor;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The machine event by event: the nodes a, which leads, and b on one host, and c on another. */
@Tag("plan")
class SupervisorMachineTest extends OneSupervisor {
    @Test
    void shouldAskAProcessOneQuestionAtATime() {
        start();
        assertEquals(List.of(new SupervisorCommand.Ask("a", 1, true),
                new SupervisorCommand.Ask("b", 2, true), new SupervisorCommand.Ask("c", 3, true)),
                tick(Duration.ofMillis(200)));
        on(new SupervisorEvent.Answered("b", 2, true, OptionalLong.empty()));
        assertEquals(List.of(new SupervisorCommand.Ask("b", 4, true)), tick(Duration.ofMillis(200)));
    }

    @Test
    void shouldStartAProcessAgainOnceAStepIsCommittedWithoutIt() {
        begin();
        askAfter(Duration.ofSeconds(1), 5);
        assertEquals(List.of(killed("b")), ended("b", ProcessState.LOST), "before a recovery that follows from it");
        assertEquals(List.of(), askAfter(Duration.ofSeconds(1), 6), "the step may be from before the end");
        assertEquals(List.of(), askAfter(Duration.ofSeconds(1), 6));
        assertEquals(startsAgain("b"), askAfter(Duration.ofSeconds(1), 7));
    }

    @Test
    void shouldNotTakeALateAnswerForAStepWithoutTheProcess() {
        begin();
        tick(Duration.ofSeconds(1)); // the questions 1 to 3
        answer("a", 1, 5);
        ended("b", ProcessState.LOST);
        assertEquals(List.of(), answer("c", 3, 7), "the question is older than the end");
        tick(Duration.ofMillis(199)); // 4 and 5
        assertEquals(List.of(), answer("c", 5, 8), "a node may not have heard of a commit yet");
        tick(Duration.ofMillis(1)); // 6
        assertEquals(List.of(), answer("a", 4, 9), "the question is of the first moment too");
        assertEquals(List.of(), answer("c", 6, 9));
        assertEquals(startsAgain("b"), askAfter(Duration.ofSeconds(1), 10));
    }

    /** As after a partition: the minority gives up, and the majority has only a few quick steps left. */
    @Test
    void shouldSeeThatAQuickRunContinuesWithoutAProcessThatGaveUp() {
        begin();
        askAfter(Duration.ofSeconds(1), 7);
        ended("b", ProcessState.FAILED);
        askAfter(Duration.ofMillis(200), 8);
        assertEquals("b ended with an exit code; the run continues without it, and its process starts again",
                ((SupervisorCommand.Say) askAfter(Duration.ofMillis(200), 9).getFirst()).sentence());
        ended("a", ProcessState.DONE);
        ended("c", ProcessState.DONE);
        ended("b", ProcessState.STOPPED);
        assertEquals(MachineEnd.DONE, machine.end());
    }

    @Test
    void shouldNotTakeAnAnswerOfAFormerProcessForTheNewOnes() {
        begin();
        askAfter(Duration.ofSeconds(1), 5);
        tick(Duration.ofSeconds(1)); // b is asked number 5
        ended("b", ProcessState.LOST);
        answer("a", 4, 5);
        answer("c", 6, 5);
        askAfter(Duration.ofSeconds(1), 5);
        assertEquals(startsAgain("b"), askAfter(Duration.ofSeconds(1), 6));
        assertTrue(tick(Duration.ofSeconds(1)).toString().contains("Ask[node=b"));
        answer("b", 5, 5);
        assertFalse(tick(Duration.ofSeconds(1)).toString().contains("Ask[node=b"),
                "its own question has no answer yet");
    }

    @Test
    void shouldKeepTheRestartBudget() {
        begin();
        for (int time = 0; time < 2; time++) {
            ended("b", ProcessState.LOST);
            askAfter(Duration.ofSeconds(1), 10 * time + 1);
            assertEquals(startsAgain("b"), askAfter(Duration.ofSeconds(1), 10 * time + 2));
        }
        ended("b", ProcessState.LOST);
        askAfter(Duration.ofSeconds(1), 50);
        assertEquals(List.of(goesOnWithout("b", false)), askAfter(Duration.ofSeconds(1), 51));
        assertFalse(machine.isOver());
        ended("a", ProcessState.DONE);
        assertEquals(List.of(new SupervisorCommand.End(false)), ended("c", ProcessState.DONE));
        assertEquals(MachineEnd.DONE, machine.end());
    }

    @Test
    void shouldNotStartARefusedProcessAThirdTime() {
        begin();
        ended("b", ProcessState.LOST);
        askAfter(Duration.ofSeconds(1), 1);
        askAfter(Duration.ofSeconds(1), 2);
        ended("b", ProcessState.REFUSED);
        askAfter(Duration.ofSeconds(1), 3);
        assertEquals(List.of(new SupervisorCommand.Say("b ended with an exit code; the run continues without it")),
                askAfter(Duration.ofSeconds(1), 4));
        assertFalse(machine.isOver());
    }

    @Test
    void shouldEndWithTheRun() {
        start();
        assertEquals(List.of(), ended("a", ProcessState.DONE));
        assertEquals(List.of(), ended("b", ProcessState.DONE));
        assertEquals(List.of(new SupervisorCommand.End(false)), ended("c", ProcessState.DONE));
        assertEquals(MachineEnd.DONE, machine.end());
        assertEquals(Optional.empty(), lost());
        assertEquals(List.of(), tick(Duration.ofHours(1)));
    }

    @Test
    void shouldStartNoProcessAgainOnceTheRunIsOver() {
        begin();
        ended("a", ProcessState.DONE);
        assertEquals(List.of(killed("b"), goesOnWithout("b", false)), ended("b", ProcessState.LOST));
        assertEquals(List.of(new SupervisorCommand.End(false)), ended("c", ProcessState.DONE));
        assertEquals(MachineEnd.DONE, machine.end());
    }

    /** As after a partition: the majority has its last steps before anybody can ask for them. */
    @Test
    void shouldBeDoneWithoutAProcessThatGaveUpBeforeTheEnd() {
        begin();
        ended("b", ProcessState.FAILED);
        assertEquals(List.of(new SupervisorCommand.Say("b ended with an exit code; the run continues without it")),
                ended("c", ProcessState.DONE));
        assertEquals(List.of(new SupervisorCommand.End(false)), ended("a", ProcessState.DONE));
        assertEquals(MachineEnd.DONE, machine.end());
    }

    @Test
    void shouldFailIfAProcessGaveUpInARunThatWasStopped() {
        begin();
        ended("b", ProcessState.FAILED);
        ended("c", ProcessState.STOPPED);
        ended("a", ProcessState.STOPPED);
        assertEquals(MachineEnd.FAILED, machine.end());
    }

    @Test
    void shouldFailIfTheLeaderIsLostBeforeItHasWrittenTheModel() {
        begin();
        ended("b", ProcessState.DONE);
        ended("c", ProcessState.DONE);
        assertEquals(List.of(new SupervisorCommand.Complain("a ended by signal 9; its log is logs/a.log"),
                new SupervisorCommand.End(true)), ended("a", ProcessState.LOST));
        assertEquals(Optional.of("a"), lost());
        assertEquals(MachineEnd.FAILED, machine.end());
    }

    @Test
    void shouldFailIfTheLostLeaderHadRejoined() {
        begin();
        ended("b", ProcessState.LOST);
        askAfter(Duration.ofSeconds(1), 1);
        askAfter(Duration.ofSeconds(1), 2);
        on(new SupervisorEvent.TookOver("b"));
        ended("a", ProcessState.DONE);
        ended("c", ProcessState.DONE);
        assertEquals(new SupervisorCommand.End(true), ended("b", ProcessState.LOST).getLast());
        assertEquals(MachineEnd.FAILED, machine.end());
    }

    @Test
    void shouldNotMissAFormerLeader() {
        begin();
        on(new SupervisorEvent.TookOver("b"));
        ended("b", ProcessState.DONE);
        assertEquals(List.of(killed("a"), goesOnWithout("a", false)), ended("a", ProcessState.LOST));
    }

    @Test
    void shouldEndAProcessThatRejoinedTooLateForTheEnd() {
        begin();
        ended("b", ProcessState.LOST);
        askAfter(Duration.ofSeconds(1), 1);
        askAfter(Duration.ofSeconds(1), 2);
        ended("a", ProcessState.DONE);
        ended("c", ProcessState.DONE);
        tick(Duration.ofSeconds(5));
        assertFalse(machine.isOver());
        assertEquals(List.of(new SupervisorCommand.End(false)), List.of(tick(Duration.ofMillis(1)).getLast()));
        ended("b", ProcessState.STOPPED);
        assertEquals(MachineEnd.DONE, machine.end());
    }

    @Test
    void shouldNameTheLostProcessThatEndedTheOthers() {
        begin();
        assertEquals(List.of(killed("c")), ended("c", ProcessState.LOST));
        ended("a", ProcessState.FAILED);
        assertEquals(List.of(new SupervisorCommand.End(true)), ended("b", ProcessState.FAILED));
        assertEquals(Optional.of("c"), lost());
        assertEquals(MachineEnd.FAILED, machine.end());
    }

    /** A step that was almost committed is still committed after the loss of a process; then the others end. */
    @Test
    void shouldNameAProcessThatWasLostAMomentBeforeTheEnd() {
        begin();
        ended("c", ProcessState.LOST);
        askAfter(Duration.ofSeconds(1), 1);
        assertEquals(startsAgain("c"), askAfter(Duration.ofSeconds(1), 2));
        ended("a", ProcessState.FAILED);
        ended("b", ProcessState.FAILED);
        ended("c", ProcessState.FAILED);
        assertTrue(machine.isOver());
        assertEquals(Optional.of("c"), lost());
    }

    @Test
    void shouldRefuseIfANodeIsRefusedAtItsStart() {
        start();
        assertEquals(List.of(new SupervisorCommand.Complain("b ended with an exit code; its log is logs/b.log"),
                new SupervisorCommand.End(false)), ended("b", ProcessState.REFUSED));
        ended("a", ProcessState.STOPPED);
        ended("c", ProcessState.STOPPED);
        assertEquals(MachineEnd.REFUSED, machine.end());
    }

    @Test
    void shouldEndNodesThatDoNotFollowAFailedOne() {
        begin();
        on(new SupervisorEvent.NodeEnded("b", ProcessState.FAILED, "with exit code 1", true));
        tick(Duration.ofSeconds(60));
        assertFalse(machine.isOver());
        assertEquals(List.of(
                new SupervisorCommand.Complain("[a, c] did not end within 60 seconds after another had failed"),
                new SupervisorCommand.End(false)), tick(Duration.ofMillis(1)));
        assertEquals(MachineEnd.FAILED, machine.end());
    }

    @Test
    void shouldWaitForThreeOfTheLongestStepsMore() {
        start();
        askAfter(Duration.ofSeconds(1), 0);
        askAfter(Duration.ofSeconds(100), 1); // with the start of the run in it
        askAfter(Duration.ofSeconds(20), 2);
        askAfter(Duration.ofSeconds(10), 3);
        ended("b", ProcessState.FAILED);
        tick(Duration.ofSeconds(120));
        assertFalse(machine.isOver());
        assertTrue(tick(Duration.ofMillis(1)).toString().contains("within 120 seconds"));
    }

    @Test
    void shouldStopAfterTheStep() {
        start();
        assertEquals(List.of(new SupervisorCommand.Stop("a", false), new SupervisorCommand.Stop("b", false),
                new SupervisorCommand.Stop("c", false)), on(new SupervisorEvent.StopAsked(false)));
        ended("a", ProcessState.STOPPED);
        ended("b", ProcessState.STOPPED);
        tick(Duration.ofHours(1));
        assertEquals(List.of(new SupervisorCommand.End(false)), ended("c", ProcessState.STOPPED));
        assertEquals(MachineEnd.STOPPED, machine.end());
    }

    @Test
    void shouldKillProcessesThatDoNotStopInTime() {
        start();
        on(new SupervisorEvent.StopAsked(false));
        assertEquals(List.of(new SupervisorCommand.Stop("a", true), new SupervisorCommand.Stop("b", true),
                new SupervisorCommand.Stop("c", true)), on(new SupervisorEvent.StopAsked(true)));
        tick(Duration.ofSeconds(35));
        assertFalse(machine.isOver());
        assertEquals(new SupervisorCommand.End(true), tick(Duration.ofMillis(1)).getLast());
        assertEquals(MachineEnd.STOPPED, machine.end());
    }

    @Test
    void shouldIgnoreReportsOfAProcessThatHasEnded() {
        begin();
        tick(Duration.ofSeconds(1));
        ended("a", ProcessState.DONE);
        ended("b", ProcessState.LOST);
        assertEquals(List.of(), answer("b", 2, 7));
        assertEquals(List.of(), ended("b", ProcessState.LOST));
    }

    @Test
    void shouldLaunchTheRunAgainIfItCannotContinueWithoutALostProcess() {
        begin();
        ended("a", ProcessState.LOST);
        ended("b", ProcessState.FAILED);
        ended("c", ProcessState.FAILED);
        assertEquals(List.of(
                new SupervisorCommand.Say("a was lost: all nodes start again, from the checkpoint after 7 steps"),
                new SupervisorCommand.LaunchAgain()), on(new SupervisorEvent.AllEnded(OptionalLong.of(7))));
        assertEquals(List.of(), on(new SupervisorEvent.AllEnded(OptionalLong.of(7))), "its budget is one restart");
    }

    @Test
    void shouldNotRelaunchARunThatTheUserStops() {
        begin();
        ended("a", ProcessState.LOST);
        ended("b", ProcessState.FAILED);
        ended("c", ProcessState.FAILED);
        on(new SupervisorEvent.StopAsked(false));
        assertEquals(List.of(), on(new SupervisorEvent.AllEnded(OptionalLong.of(7))));
    }
}
