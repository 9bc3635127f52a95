package dev.troupe.cli.launch;

import dev.troupe.cli.stop.ExitCode;
import dev.troupe.protocol.supervisor.ProcessState;
import dev.troupe.protocol.supervisor.SupervisorEvent;

/**
 * A node of this machine as a process.
 *
 * @param words the reason that it printed for its end
 */
record NodeProcess(ChildProcess process, LastWords words) {
    SupervisorEvent ended() {
        ProcessState state = switch (process.exitCode()) {
            case ExitCode.DONE -> ProcessState.DONE;
            case ExitCode.RUN_FAILED -> ProcessState.FAILED;
            case ExitCode.WRONG_REQUEST -> ProcessState.REFUSED;
            case ExitCode.STOPPED -> ProcessState.STOPPED;
            default -> ProcessState.LOST;
        };
        return new SupervisorEvent.NodeEnded(process.name(), state, words.with(process.howItEnded()),
                words.complaint().isPresent());
    }
}
