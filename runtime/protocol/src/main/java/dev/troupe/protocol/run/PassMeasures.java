package dev.troupe.protocol.run;

import dev.troupe.protocol.MicrobatchLoss;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** What the ranks measured in the pass under way. One thread. */
final class PassMeasures {
    // In the order of ranks.
    private final Map<Integer, RunEvent.PassDone> byRank = new TreeMap<>();

    void put(RunEvent.PassDone done) {
        byRank.put(done.from().rank(), done);
    }

    void remove(int rank) {
        byRank.remove(rank);
    }

    void clear() {
        byRank.clear();
    }

    List<LayerSquaredSum> squaredSums() {
        return byRank.values().stream().flatMap(done -> done.squaredSums().stream()).toList();
    }

    /** The mean loss of all microbatches, added up in their order. */
    double meanLoss() {
        List<MicrobatchLoss> losses = byRank.values().stream().flatMap(done -> done.losses().stream())
                .sorted(Comparator.comparingInt(MicrobatchLoss::microbatch)).toList();
        double sum = 0;
        for (MicrobatchLoss loss : losses) {
            sum += loss.loss();
        }
        return sum / losses.size();
    }
}
