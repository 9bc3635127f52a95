package dev.troupe.schedule.certificate;

import dev.troupe.schedule.Action;
import dev.troupe.schedule.Kind;
import dev.troupe.schedule.Place;
import dev.troupe.schedule.Plan;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * The number of copies of weights and of gradient sums that a plan needs, and the staleness of its gradients. Each list has
 * a number for each stage, which holds for each of its replicas. A plan that continues begins with as old versions as the
 * staleness of its stages requires, and leaves the same number for the next plan.
 *
 * @param liveVersions the most versions of the weights at one time; a version lives from the update that makes it to the
 *     next update or to its last reader, whichever is later; 1 if steps do not overlap
 * @param liveGradients the most sums of gradients at one time; the sum of a step lives from its first gradient to its
 *     update; 1 if steps do not overlap
 * @param staleness the most updates between the weights at which a step's gradients are computed and the weights that they
 *     update
 */
public record WeightVersions(List<Integer> liveVersions, List<Integer> liveGradients, List<Integer> staleness) {
    public WeightVersions {
        liveVersions = List.copyOf(liveVersions);
        liveGradients = List.copyOf(liveGradients);
        staleness = List.copyOf(staleness);
    }

    static WeightVersions of(Plan plan) {
        List<Map<Integer, List<Place>>> places = IntStream.range(0, plan.rankCount())
                .mapToObj(rank -> IntStream.range(0, plan.length(rank)).mapToObj(position -> new Place(rank, position))
                        .collect(Collectors.groupingBy(place -> plan.at(place).stage())))
                .toList();
        List<Lives> stages = IntStream.range(0, plan.stageCount()).mapToObj(stage -> new Lives(plan, stage,
                places.get(plan.ranksOf(stage).getFirst()).getOrDefault(stage, List.of()))).toList();
        return new WeightVersions(stages.stream().map(lives -> lives.versions.most()).toList(),
                stages.stream().map(lives -> lives.gradients.most()).toList(),
                stages.stream().map(lives -> lives.staleness).toList());
    }

    /** The positions of a stage's row at which its versions and its sums of gradients begin and end. */
    private static final class Lives {
        private final Spans versions = new Spans();
        private final Spans gradients = new Spans();
        private final int firstVersion;
        private final int staleness;

        Lives(Plan plan, int stage, List<Place> places) {
            this.firstVersion = plan.firstVersion();
            this.staleness = places.stream().map(plan::at).filter(Action::namesVersion)
                    .mapToInt(
                            action -> firstVersion + plan.updatesBefore(stage, plan.stepOf(action)) - action.version())
                    .max().orElse(0);
            useAll(firstVersion, plan.continues() ? staleness : 0, 0);
            for (Place place : places) {
                Action action = plan.at(place);
                take(action, plan.updatesBefore(stage, plan.stepOf(action)), place.position());
            }
            if (plan.continues()) {
                useAll(firstVersion + plan.updatesBefore(stage, plan.stepCount()), staleness,
                        plan.length(plan.ranksOf(stage).getFirst()));
            }
        }

        private void useAll(int newest, int older, int position) {
            for (int version = Math.max(0, newest - older); version <= newest; version++) {
                versions.use(version, position);
            }
        }

        private void take(Action action, int update, int position) {
            if (action.kind() == Kind.UPDATE) {
                versions.use(firstVersion + update, position);
                versions.use(firstVersion + update + 1, position + (staleness == 0 ? 1 : 0)); // or in place
                gradients.use(update, position);
            } else if (action.kind().freesActivation()) {
                gradients.use(update, position);
            }
            if (action.namesVersion()) {
                versions.use(action.version(), position);
            }
        }
    }

    /** The first and the last position at which each of several copies is in use. */
    private static final class Spans {
        private final Map<Integer, Integer> first = new HashMap<>();
        private final Map<Integer, Integer> last = new HashMap<>();

        void use(int copy, int position) {
            first.putIfAbsent(copy, position);
            last.merge(copy, position, Math::max);
        }

        /** Returns the most copies in use at one position; the number is largest at the beginning of a copy. */
        int most() {
            int[] ends = last.values().stream().mapToInt(Integer::intValue).sorted().toArray();
            int begun = 0;
            int ended = 0;
            int most = 0;
            for (int position : first.values().stream().sorted().toList()) {
                begun++;
                while (ends[ended] < position) {
                    ended++;
                }
                most = Math.max(most, begun - ended);
            }
            return most;
        }
    }
}
