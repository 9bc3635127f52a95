package dev.troupe.schedule.lowering;

import dev.troupe.schedule.Action;
import dev.troupe.schedule.Kind;
import dev.troupe.schedule.Place;
import dev.troupe.schedule.Plan;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * The pass that moves the replay of a forward out of its backward, before it, if the rank waits there for a gradient (Huang
 * et al. 2019, GPipe, section 2.3).
 *
 * <pre>
 *          0F0          0B0              0F0 0RECOMPUTE0 0B0
 *              1F0 1B0           =>          1F0         1B0
 * </pre>
 *
 * <p>A replay right before its backward begins no later than the replay inside it, whatever time actions take, so that no
 * plan becomes slower. A rank replays one microbatch at a time, so that memory does not grow. A stage that receives no
 * gradient by message is left as it is, since it does not wait.
 *
 * <p>The plan must only compute; a stage with replays remains as it is.
 */
public record AddRecompute() implements LoweringPass {
    @Override
    public Plan apply(Plan plan) {
        Set<Integer> replaying = plan.stagesThatReplay();
        Set<Integer> waiting = IntStream.range(0, plan.stageCount())
                .filter(stage -> !replaying.contains(stage) && plan.needsMessage(new Action(stage, Kind.RECV_B, 0)))
                .boxed().collect(Collectors.toSet());
        Set<Place> overlaps = new HashSet<>();
        List<List<Action>> rows = new ArrayList<>();
        for (int rank = 0; rank < plan.rankCount(); rank++) {
            List<Action> old = plan.rows().get(rank);
            List<Action> row = new ArrayList<>();
            for (int position = 0; position < old.size(); position++) {
                boolean isPair = plan.overlaps().contains(new Place(rank, position));
                List<Action> together = old.subList(position, position + (isPair ? 2 : 1));
                together.stream()
                        .filter(action -> action.kind().makesInputGradient() && waiting.contains(action.stage()))
                        .forEach(action -> row.add(action.as(Kind.RECOMPUTE)));
                if (isPair) {
                    overlaps.add(new Place(rank, row.size()));
                }
                row.addAll(together);
                position += together.size() - 1;
            }
            rows.add(row);
        }
        return plan.withRows(rows, overlaps);
    }
}
