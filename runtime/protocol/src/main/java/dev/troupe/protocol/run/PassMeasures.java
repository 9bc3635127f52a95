package dev.troupe.protocol.run;

import dev.troupe.protocol.ExpertMeasures;
import dev.troupe.protocol.MicrobatchLoss;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;

/** The measurements of all ranks in one step, or in a pass over validation data. One thread. */
final class PassMeasures {
    // By rank, ascending.
    private final Map<Integer, RunEvent.PassDone> byRank = new TreeMap<>();

    void put(RunEvent.PassDone done) {
        byRank.put(done.from().rank(), done);
    }

    void remove(int rank) {
        byRank.remove(rank);
    }

    boolean has(int rank) {
        return byRank.containsKey(rank);
    }

    int rankCount() {
        return byRank.size();
    }

    /** Returns the sums of each replica, in their order; a single list if there is one, which may be empty. */
    List<List<LayerSquaredSum>> squaredSumsByReplica() {
        TreeMap<Integer, List<LayerSquaredSum>> byReplica = new TreeMap<>(Map.of(0, new ArrayList<>()));
        byRank.values().stream().flatMap(done -> done.squaredSums().stream())
                .forEach(sum -> byReplica.computeIfAbsent(sum.replica(), _ -> new ArrayList<>()).add(sum));
        return List.copyOf(byReplica.values());
    }

    /** Returns the mean loss of all microbatches, added in their order. */
    double meanLoss() {
        List<MicrobatchLoss> losses = inOrder();
        double sum = 0;
        for (MicrobatchLoss loss : losses) {
            sum += loss.loss();
        }
        return sum / losses.size();
    }

    /** Returns the measures of the experts in all microbatches. */
    ExpertMeasures experts() {
        List<ExpertMeasures> reported = inOrder().stream().map(MicrobatchLoss::experts).filter(Objects::nonNull)
                .toList();
        return reported.isEmpty() ? ExpertMeasures.NONE : ExpertMeasures.of(reported);
    }

    private List<MicrobatchLoss> inOrder() {
        return byRank.values().stream().flatMap(done -> done.losses().stream())
                .sorted(Comparator.comparingInt(MicrobatchLoss::microbatch)).toList();
    }
}
