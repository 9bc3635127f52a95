package dev.troupe.machine;

import dev.troupe.schedule.Action;
import java.util.List;

/** What a rank wants done. */
public sealed interface RankCommand {
    /**
     * Have a stage do a task, after all that were ordered before, and then hand the tensors of these sends (SEND_F or
     * SEND_B) to the transport; {@link RankEvent.TaskDone} answers.
     */
    record Run(StageTask task, List<Action> sends) implements RankCommand {
        public Run {
            sends = List.copyOf(sends);
        }
    }

    /** Hand the tensor of a send (SEND_F or SEND_B) to the transport. */
    record Send(Action send) implements RankCommand {
    }

    /** Give the tensor of a receive that landed back to the transport, for another message of its edge. */
    record Discard(Action receive) implements RankCommand {
    }

    /**
     * Tell the coordinator that the rank stands in an epoch, and what it has of a pass.
     *
     * @param pass
     *            the number of the pass under way, or of the last one; -1 for none
     * @param received
     *            its receives that are behind
     * @param tiedReceived
     *            the stages whose other end's gradient has landed
     */
    record ReportEpochReady(int epoch, long pass, List<Action> received,
            List<Integer> tiedReceived) implements RankCommand {
        public ReportEpochReady {
            received = List.copyOf(received);
            tiedReceived = List.copyOf(tiedReceived);
        }
    }

    /** Tell the coordinator that the row is done, with what the stages have measured. */
    record ReportPassDone(Pass pass) implements RankCommand {
    }

    /** Tell the coordinator that the new weights stand. */
    record ReportUpdated(long step) implements RankCommand {
    }
}
