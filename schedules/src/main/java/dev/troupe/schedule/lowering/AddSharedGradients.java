package dev.troupe.schedule.lowering;

import dev.troupe.schedule.Action;
import dev.troupe.schedule.Kind;
import dev.troupe.schedule.Plan;
import dev.troupe.schedule.StageGraph;
import dev.troupe.schedule.StageGraph.Channel;
import dev.troupe.schedule.StageGraph.Flow;
import java.util.ArrayList;
import java.util.List;

/**
 * The pass that sums the gradients of a shared parameter at the end of rows: each stage sends its own, then adds the
 * other's.
 *
 * <pre>
 *   ... 0B3         ... 0B3 0SEND_SHARED 0RECV_SHARED
 *   ... 1B3    =>   ... 1B3
 *   ... 2B3         ... 2B3 2SEND_SHARED 2RECV_SHARED
 * </pre>
 *
 * <p>If one stage uses a parameter twice, nothing is sent: {@code 0RECV_SHARED} adds the second gradient to the first.
 *
 * <p>If steps overlap, shared gradients are sent after the other gradients of their step. The norm counts a shared parameter
 * at its first stage, which adds the other's gradient at once. The last stage ends a step long before the first stage. So it
 * continues with the next step, and adds the first stage's gradient right before its update.
 */
public record AddSharedGradients(List<Channel> channels) implements LoweringPass {
    public AddSharedGradients {
        channels = List.copyOf(channels);
    }

    /** Returns the channels of a parameter that two stages share, or that one stage uses twice. */
    public static List<Channel> between(int one, int other) {
        return one == other
                ? List.of(new Channel(one, one, Flow.SHARED))
                : List.of(new Channel(one, other, Flow.SHARED), new Channel(other, one, Flow.SHARED));
    }

    @Override
    public Plan apply(Plan plan) {
        StageGraph graph = plan.graph().with(channels);
        if (plan.overlapsSteps()) {
            Plan sent = StepTail.afterGradients(plan, (stage, step) -> ofStep(graph, stage, step));
            return StepTail.beforeUpdates(sent, (stage, step) -> graph.source(Flow.SHARED, stage) != StageGraph.NONE
                    && graph.source(Flow.SHARED, stage) < stage
                            ? List.of(new Action(stage, Kind.RECV_SHARED, step))
                            : List.of())
                    .withGraph(graph);
        }
        return StepTail.append(plan, rank -> {
            List<Action> tail = new ArrayList<>();
            for (int stage : plan.stagesOf(rank)) {
                int target = graph.target(Flow.SHARED, stage);
                if (target != StageGraph.NONE && target != stage) {
                    tail.add(new Action(stage, Kind.SEND_SHARED));
                }
            }
            for (int stage : plan.stagesOf(rank)) {
                if (graph.source(Flow.SHARED, stage) != StageGraph.NONE) {
                    tail.add(new Action(stage, Kind.RECV_SHARED));
                }
            }
            return tail;
        }).withGraph(graph);
    }

    /** Returns the actions of a stage on its shared gradient once the gradients of a step are complete. */
    private static List<Action> ofStep(StageGraph graph, int stage, int step) {
        List<Action> actions = new ArrayList<>();
        int target = graph.target(Flow.SHARED, stage);
        if (target != StageGraph.NONE && target != stage) {
            actions.add(new Action(stage, Kind.SEND_SHARED, step));
        }
        if (graph.source(Flow.SHARED, stage) >= stage) {
            actions.add(new Action(stage, Kind.RECV_SHARED, step));
        }
        return actions;
    }
}
