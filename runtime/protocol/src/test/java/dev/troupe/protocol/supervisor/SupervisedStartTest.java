package dev.troupe.protocol.supervisor;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Processes that are lost, fail or take long before the run has begun, or while nobody knows of it. */
@Tag("plan")
class SupervisedStartTest extends OneSupervisor {
    /** A run that has not begun has nothing to lose, and the others would find no cluster while they wait. */
    @Test
    void shouldBeginAgainAtOnceIfAProcessIsLostBeforeTheRunHasBegun() {
        start();
        for (String node : List.of("b", "c")) {
            on(new SupervisorEvent.Answered(node, 2, true, OptionalLong.empty()));
        }
        assertEquals(List.of(new SupervisorCommand.Complain("a ended by signal 9; its log is logs/a.log"),
                new SupervisorCommand.End(true)), ended("a", ProcessState.LOST));
        assertEquals(List.of(
                new SupervisorCommand.Say(
                        "a was lost: all nodes start again, from the beginning, since there is no checkpoint yet"),
                new SupervisorCommand.LaunchAgain()), on(new SupervisorEvent.AllEnded(OptionalLong.empty())));
    }

    /** The coordinator ends the run if it sees the loss, and its end may be reported before the lost process's. */
    @Test
    void shouldFindTheLostProcessThatMadeAnotherGiveUp() {
        start();
        assertEquals(List.of(), ended("a", ProcessState.FAILED));
        assertEquals(List.of(), tick(Duration.ofSeconds(1)).stream()
                .filter(SupervisorCommand.End.class::isInstance).toList());
        assertEquals(new SupervisorCommand.End(true), ended("b", ProcessState.LOST).getLast());
        assertEquals(Optional.of("b"), lost());
    }

    @Test
    void shouldNotWaitForOthersIfAStartFails() {
        start();
        on(new SupervisorEvent.NodeEnded("a", ProcessState.FAILED, "with exit code 1", true));
        tick(Duration.ofSeconds(2));
        assertFalse(machine.isOver());
        assertEquals(new SupervisorCommand.End(false), tick(Duration.ofMillis(1)).getLast());
        assertEquals(MachineEnd.FAILED, machine.end());
    }

    @Test
    void shouldNotWaitForAProcessThatRejoinsARunThatNobodyKnowsAnyMore() {
        begin();
        ended("a", ProcessState.LOST);
        askAfter(Duration.ofSeconds(1), 1);
        assertEquals(startsAgain("a"), askAfter(Duration.ofSeconds(1), 2));
        assertEquals(List.of(killed("b")), ended("b", ProcessState.LOST));
        assertEquals(List.of(killed("c"), new SupervisorCommand.End(true)), ended("c", ProcessState.LOST));
        assertEquals(Optional.of("b"), lost());
    }

    @Test
    void shouldWaitForAProcessThatHasRejoined() {
        begin();
        ended("a", ProcessState.LOST);
        askAfter(Duration.ofSeconds(1), 1);
        askAfter(Duration.ofSeconds(1), 2);
        askAfter(Duration.ofSeconds(1), 2); // it is a standby now
        ended("b", ProcessState.LOST);
        ended("c", ProcessState.LOST);
        assertFalse(machine.isOver());
    }

    /** Nodes of other machines may continue the run, and take the process in. */
    @Test
    void shouldWaitForARejoiningProcessIfOtherMachinesHaveNodes() {
        SupervisorMachine part = new SupervisorMachine(new SupervisorSettings(
                List.of(new SupervisorSettings.Node("a", HOST), new SupervisorSettings.Node("b", HOST)), "a", 2, false,
                "logs"), new RunRestarts(true, 1, OptionalLong.empty()));
        part.on(new SupervisorEvent.Begin(), 0);
        part.on(new SupervisorEvent.DriverReady(HOST), 0);
        part.on(new SupervisorEvent.Answered("a", 1, true, OptionalLong.of(3)), 0);
        part.on(new SupervisorEvent.NodeEnded("a", ProcessState.LOST, KILLED, false), 1);
        assertFalse(part.isOver());
    }

    @Test
    void shouldReportWhileAProcessStartsAndNoLongerThanTenMinutes() {
        start();
        tick(Duration.ofSeconds(1));
        on(new SupervisorEvent.Answered("a", 1, true, OptionalLong.empty()));
        on(new SupervisorEvent.Answered("b", 2, true, OptionalLong.empty()));
        assertEquals(List.of(new SupervisorCommand.Ask("a", 4, true), new SupervisorCommand.Ask("b", 5, true)),
                tick(Duration.ofMinutes(9)), "c does not answer yet");
        on(new SupervisorEvent.Answered("a", 4, true, OptionalLong.empty()));
        assertEquals(List.of(new SupervisorCommand.Ask("a", 6, false)), tick(Duration.ofMinutes(1)));
        on(new SupervisorEvent.Answered("c", 3, true, OptionalLong.empty()));
        on(new SupervisorEvent.Answered("a", 6, true, OptionalLong.empty()));
        assertEquals(new SupervisorCommand.Ask("a", 7, true), tick(Duration.ofSeconds(1)).getFirst(),
                "c has time to join");
    }

    /** On a loaded machine on which JVMs took a minute to start, they take minutes to find each other. */
    @Test
    void shouldGiveASlowStartTimeToJoin() {
        start();
        tick(Duration.ofMinutes(1));
        for (String node : List.of("a", "b", "c")) {
            on(new SupervisorEvent.Answered(node, 1 + "abc".indexOf(node), true, OptionalLong.empty()));
        }
        assertEquals(new SupervisorCommand.Ask("a", 4, true), tick(Duration.ofSeconds(179)).getFirst());
        on(new SupervisorEvent.Answered("a", 4, true, OptionalLong.empty()));
        assertEquals(new SupervisorCommand.Ask("a", 7, false), tick(Duration.ofSeconds(1)).getFirst());
    }

    @Test
    void shouldReportTheCauseBeforeItsConsequences() {
        begin();
        on(new SupervisorEvent.NodeEnded("b", ProcessState.FAILED, "with exit code 1 (java.io.IOException: no)",
                false));
        List<SupervisorCommand> told = tick(Duration.ofSeconds(61)).stream()
                .filter(SupervisorCommand.Complain.class::isInstance).toList();
        assertEquals(List.of(
                new SupervisorCommand.Complain(
                        "b ended with exit code 1 (java.io.IOException: no); its log is logs/b.log"),
                new SupervisorCommand.Complain("[a, c] did not end within 60 seconds after another had failed")), told);
    }
}
