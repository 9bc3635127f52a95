package dev.troupe.protocol.supervisor;

import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;

/** A machine for tests event by event: the nodes a, which leads, and b on one host, and c on another. */
abstract class OneSupervisor {
    static final String HOST = "127.0.0.1";
    static final String OTHER_HOST = "127.0.0.2";
    static final String KILLED = "by signal 9";

    final SupervisorMachine machine = new SupervisorMachine(new SupervisorSettings(
            List.of(new SupervisorSettings.Node("a", HOST), new SupervisorSettings.Node("b", HOST),
                    new SupervisorSettings.Node("c", OTHER_HOST)),
            "a", 2, true, "logs"), new RunRestarts(true, 1, OptionalLong.empty()));
    long now = -5_000_000_000L; // a monotonic clock may be negative

    /** Returns the lost process for which the run is launched again. */
    Optional<String> lost() {
        return on(new SupervisorEvent.AllEnded(OptionalLong.of(7))).stream()
                .filter(SupervisorCommand.Say.class::isInstance).map(said -> ((SupervisorCommand.Say) said).sentence())
                .map(sentence -> sentence.substring(0, sentence.indexOf(" was lost"))).findFirst();
    }

    List<SupervisorCommand> on(SupervisorEvent event) {
        return machine.on(event, now);
    }

    List<SupervisorCommand> tick(Duration later) {
        now += later.toNanos();
        return on(new SupervisorEvent.Tick());
    }

    void start() {
        on(new SupervisorEvent.Begin());
        on(new SupervisorEvent.DriverReady(HOST));
        on(new SupervisorEvent.DriverReady(OTHER_HOST));
    }

    /** Starts, and has every process report that the run has begun. */
    void begin() {
        start();
        askAfter(Duration.ZERO, 0);
    }

    List<SupervisorCommand> ended(String node, ProcessState state) {
        String how = state == ProcessState.LOST ? KILLED : "with an exit code";
        return on(new SupervisorEvent.NodeEnded(node, state, how, false));
    }

    /** Asks the living nodes after some time; each answers with these steps. */
    List<SupervisorCommand> askAfter(Duration time, long stepsDone) {
        List<SupervisorCommand> last = List.of();
        for (SupervisorCommand command : tick(time)) {
            if (command instanceof SupervisorCommand.Ask(String node, long question, boolean _)) {
                List<SupervisorCommand> commands = answer(node, question, stepsDone);
                last = commands.isEmpty() ? last : commands;
            }
        }
        return last;
    }

    List<SupervisorCommand> answer(String node, long question, long stepsDone) {
        return on(new SupervisorEvent.Answered(node, question, true, OptionalLong.of(stepsDone)));
    }

    static SupervisorCommand killed(String node) {
        return new SupervisorCommand.Complain(node + " ended " + KILLED + "; its log is logs/" + node + ".log");
    }

    static SupervisorCommand goesOnWithout(String node, boolean startsAgain) {
        return new SupervisorCommand.Say("the run continues without " + node
                + (startsAgain ? ", and its process starts again" : ""));
    }

    static List<SupervisorCommand> startsAgain(String node) {
        return List.of(goesOnWithout(node, true), new SupervisorCommand.StartNode(node, true));
    }
}
