package dev.troupe.protocol.rank;

import dev.troupe.protocol.Pass;
import dev.troupe.schedule.Action;
import java.util.List;

/** A command of a rank to its shell. */
public sealed interface RankCommand {
    /**
     * Order a stage to do an action, after all earlier orders, and then hand the tensors of these sends (SEND_F or SEND_B)
     * to the transport. {@link RankEvent.ActionDone} answers.
     */
    record Run(Action action, List<Action> sends) implements RankCommand {
        public Run {
            sends = List.copyOf(sends);
        }
    }

    /** Hand the tensor of a send (SEND_F or SEND_B) to the transport. */
    record Send(Action send) implements RankCommand {
    }

    /** Return the buffer of a landed message to the transport, for another message of its edge. */
    record Discard(Action receive, long pass) implements RankCommand {
    }

    /**
     * Report to the coordinator that the rank is ready in an epoch, with the messages that it has received.
     *
     * @param pass the number of the pass in progress, or of the last one; -1 for none
     */
    record ReportEpochReady(int epoch, long pass, List<Action> received) implements RankCommand {
        public ReportEpochReady {
            received = List.copyOf(received);
        }
    }

    /**
     * Report to the coordinator that a step of the pass is done up to its decision, with the measurements of its stages.
     */
    record ReportPassDone(Pass pass, long step) implements RankCommand {
        /** Creates the report on the first step of the pass. */
        public ReportPassDone(Pass pass) {
            this(pass, pass.step());
        }
    }

    /** Report to the coordinator that the new weights of a pass, named by its first step, are in place. */
    record ReportUpdated(long step) implements RankCommand {
    }
}
