package dev.troupe.protocol.supervisor;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The media drivers of a launcher, before its nodes and with them: a and b on one host, c on another. */
@Tag("plan")
class DriverSupervisionTest {
    private static final String HOST = "127.0.0.1";
    private static final String OTHER_HOST = "127.0.0.2";
    private static final long LONGEST_NANOS = TimeUnit.MINUTES.toNanos(10);

    private final SupervisorMachine machine = new SupervisorMachine(new SupervisorSettings(
            List.of(new SupervisorSettings.Node("a", HOST), new SupervisorSettings.Node("b", HOST),
                    new SupervisorSettings.Node("c", OTHER_HOST)),
            "a", 2, true, "logs"), new RunRestarts(true, 1, OptionalLong.empty()));

    /** Returns the lost process for which the run is launched again. */
    private Optional<String> lost() {
        return on(new SupervisorEvent.AllEnded(OptionalLong.of(7))).stream()
                .filter(SupervisorCommand.Say.class::isInstance).map(said -> ((SupervisorCommand.Say) said).sentence())
                .map(sentence -> sentence.substring(0, sentence.indexOf(" was lost"))).findFirst();
    }

    private List<SupervisorCommand> on(SupervisorEvent event) {
        return machine.on(event, 0);
    }

    @Test
    void shouldStartTheDriverOfEachHostAndThenTheNodes() {
        assertEquals(List.of(new SupervisorCommand.StartDriver(HOST)), on(new SupervisorEvent.Begin()));
        assertEquals(List.of(), on(new SupervisorEvent.DriverReady(OTHER_HOST)));
        assertEquals(List.of(new SupervisorCommand.StartDriver(OTHER_HOST)), on(new SupervisorEvent.DriverReady(HOST)));
        assertEquals(List.of(new SupervisorCommand.StartNode("a", false), new SupervisorCommand.StartNode("b", false),
                new SupervisorCommand.StartNode("c", false),
                new SupervisorCommand.Say("3 nodes start; their logs are in logs")),
                on(new SupervisorEvent.DriverReady(OTHER_HOST)));
    }

    @Test
    void shouldExplainWhyADriverDidNotStart() {
        on(new SupervisorEvent.Begin());
        assertEquals(List.of(new SupervisorCommand.Refuse("no room")), on(
                new SupervisorEvent.DriverEnded(HOST, false, "with exit code 2", Optional.of("no room"))));
        assertTrue(machine.isOver());
    }

    @Test
    void shouldNameTheLogOfADriverThatGaveNoReason() {
        on(new SupervisorEvent.Begin());
        on(new SupervisorEvent.DriverReady(HOST));
        assertEquals(List.of(new SupervisorCommand.Refuse(
                "the media driver of 127.0.0.2 did not start; see logs/media-driver-127.0.0.2.log")),
                on(new SupervisorEvent.DriverEnded(OTHER_HOST, true, "with exit code 0", Optional.empty())));
    }

    @Test
    void shouldWaitTenMinutesForADriver() {
        on(new SupervisorEvent.Begin());
        assertEquals(List.of(), machine.on(new SupervisorEvent.Tick(), LONGEST_NANOS));
        assertEquals(
                List.of(new SupervisorCommand.Refuse("the media driver of 127.0.0.1 did not start within 600 seconds;"
                        + " see logs/media-driver-127.0.0.1.log")),
                machine.on(new SupervisorEvent.Tick(), LONGEST_NANOS + 1));
    }

    @Test
    void shouldEndTheRunIfADriverIsKilled() {
        on(new SupervisorEvent.Begin());
        on(new SupervisorEvent.DriverReady(HOST));
        on(new SupervisorEvent.DriverReady(OTHER_HOST));
        assertEquals(List.of(
                new SupervisorCommand.Complain("media-driver-127.0.0.1 ended by signal 9; its log is"
                        + " logs/media-driver-127.0.0.1.log"),
                new SupervisorCommand.End(true)),
                on(new SupervisorEvent.DriverEnded(HOST, false, "by signal 9", Optional.empty())));
        assertEquals(Optional.of("media-driver-127.0.0.1"), lost());
        assertEquals(MachineEnd.FAILED, machine.end());
    }

    @Test
    void shouldLetADriverEndThatHasNoNodeLeft() {
        on(new SupervisorEvent.Begin());
        on(new SupervisorEvent.DriverReady(HOST));
        on(new SupervisorEvent.DriverReady(OTHER_HOST));
        assertEquals(List.of(), on(new SupervisorEvent.DriverEnded(HOST, true, "with exit code 0", Optional.empty())));
        assertFalse(machine.isOver());
    }

    @Test
    void shouldStartNothingIfItIsStoppedBefore() {
        on(new SupervisorEvent.StopAsked(false));
        assertEquals(List.of(), on(new SupervisorEvent.Begin()));
        assertTrue(machine.isOver());
        assertEquals(MachineEnd.STOPPED, machine.end());
    }

    @Test
    void shouldStartNoNodeIfItIsStoppedWhileADriverStarts() {
        on(new SupervisorEvent.Begin());
        assertEquals(List.of(new SupervisorCommand.End(false)), on(new SupervisorEvent.StopAsked(false)));
        assertEquals(MachineEnd.STOPPED, machine.end());
    }
}
