package dev.troupe.protocol.rank;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.troupe.protocol.Pass;
import dev.troupe.protocol.WeightUpdate;
import dev.troupe.schedule.Action;
import dev.troupe.schedule.Kind;
import dev.troupe.schedule.Plan;
import dev.troupe.schedule.certificate.Certificate;
import dev.troupe.schedule.certificate.PlanValidator;
import dev.troupe.schedule.certificate.Purpose;
import dev.troupe.schedule.family.Schedules;
import dev.troupe.schedule.lowering.AddNormAndUpdate;
import dev.troupe.schedule.lowering.AddSnapshot;
import dev.troupe.schedule.lowering.AddTransfers;
import dev.troupe.schedule.lowering.LoweringPass;
import dev.troupe.schedule.simulator.Costs;
import dev.troupe.schedule.simulator.Hop;
import dev.troupe.schedule.simulator.StageCost;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Queue;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * A new collective in the step is one kind, one pass and one method. The kind is a constant of {@link Kind} with its line in
 * {@link StepOps#perform}, which cannot be added from a test: REDUCE_GRAD takes its place, in a plan of one rank a stage, if
 * nothing else has it. The pass and the method are here. Certificate, text, simulator and walker need no change.
 */
@Tag("plan")
class NewCollectiveTest {
    private static final int STAGES = 2;

    /** The pass: the collective comes right before the norm, on every other stage. */
    private record AddOnEvenStages() implements LoweringPass {
        @Override
        public Plan apply(Plan plan) {
            List<List<Action>> rows = new ArrayList<>();
            for (List<Action> row : plan.rows()) {
                List<Action> with = new ArrayList<>();
                for (Action action : row) {
                    if (action.kind() == Kind.NORM && action.stage() % 2 == 0) {
                        with.add(action.as(Kind.REDUCE_GRAD));
                    }
                    with.add(action);
                }
                rows.add(with);
            }
            return plan.withRows(rows, plan.overlaps());
        }
    }

    /** The method is {@link #reduceGradients}; all others record their calls. */
    private static final class WrittenOps implements StepOps {
        private final List<String> done = new ArrayList<>();

        @Override
        public void reduceGradients(Action action) {
            done.add("collective of stage " + action.stage());
        }

        @Override
        public ActionResult compute(Action action, Pass pass) {
            return write(action);
        }

        @Override
        public void send(Action send, Pass pass) {
            write(send);
        }

        @Override
        public void unshard(Action action) {
            write(action);
        }

        @Override
        public void reshard(Action action) {
            write(action);
        }

        @Override
        public void sendShared(Action send, Pass pass) {
            write(send);
        }

        @Override
        public void addShared(Action receive, Pass pass) {
            write(receive);
        }

        @Override
        public ActionResult norm(Action action, Pass pass) {
            return write(action);
        }

        @Override
        public void update(Action action, WeightUpdate update) {
            write(action);
        }

        @Override
        public void snapshot(Action action, Pass pass) {
            write(action);
        }

        private ActionResult write(Action action) {
            done.add(action.toString());
            return ActionResult.NOTHING;
        }
    }

    @Test
    void shouldBeOneKindOnePassAndOneMethod() {
        Plan plan = LoweringPass.lower(Schedules.named("1f1b").plan(STAGES, 1, 1),
                List.of(new AddTransfers(), new AddNormAndUpdate(false), new AddOnEvenStages(), new AddSnapshot()));
        assertEquals("""
                0F0,0SEND_F0,0RECV_B0,0B0,0REDUCE_GRAD,0NORM,0UPDATE,0SNAPSHOT
                1RECV_F0,1F0,1B0,1SEND_B0,1NORM,1UPDATE,1SNAPSHOT
                """, plan.toCsv());
        Certificate certificate = PlanValidator.certify(plan, Purpose.TRAINING, 1);

        assertEquals(List.of("0F0", "0SEND_F0", "0B0", "collective of stage 0", "0NORM", "0UPDATE", "0SNAPSHOT"),
                walk(certificate));
        assertEquals(6 + 5, certificate.under(costs(5)).makespanNanos(), "F and B of both stages, and the collective");
    }

    private static List<String> walk(Certificate certificate) {
        RankRow row = new RankRow(certificate.plan().rows().getFirst(), certificate.peakActivations().getFirst());
        RankMachine machine = new RankMachine(0, 1, row, new RankRow(List.of(), 0));
        Pass pass = new Pass(0, Pass.Kind.TRAINING);
        WrittenOps ops = new WrittenOps();
        Queue<RankEvent> events = new ArrayDeque<>(List.of(new RankEvent.PassStarted(pass)));
        row.actions().stream().filter(action -> action.kind().isReceive())
                .forEach(receive -> events.add(new RankEvent.Landed(receive, pass.number())));
        while (!events.isEmpty()) {
            for (RankCommand command : machine.on(events.remove())) {
                if (command instanceof RankCommand.Run(Action action, List<Action> sends)) {
                    ops.perform(action, pass, Optional.of(new WeightUpdate(0, 0.1, 1, 1, false)));
                    sends.forEach(send -> ops.send(send, pass));
                    events.add(new RankEvent.ActionDone(action));
                } else if (command instanceof RankCommand.ReportPassDone) {
                    events.add(new RankEvent.UpdateRequested());
                }
            }
        }
        return ops.done;
    }

    private static Costs costs(long collective) {
        return Costs.uniform(STAGES, new StageCost(1, 1, 1, 2, 0, Map.of(Kind.REDUCE_GRAD, collective)), Hop.FREE);
    }
}
