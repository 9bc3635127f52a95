package dev.troupe.protocol.run;

import dev.troupe.protocol.MicrobatchLoss;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.ToDoubleFunction;

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

    List<LayerSquaredSum> squaredSums() {
        return byRank.values().stream().flatMap(done -> done.squaredSums().stream()).toList();
    }

    /** Returns the mean loss of all microbatches, added in their order. */
    double meanLoss() {
        return mean(MicrobatchLoss::loss);
    }

    /** Returns the mean auxiliary loss likewise; NaN if the model has no experts. */
    double meanAuxiliaryLoss() {
        return mean(MicrobatchLoss::auxiliary);
    }

    private double mean(ToDoubleFunction<MicrobatchLoss> number) {
        List<MicrobatchLoss> losses = byRank.values().stream().flatMap(done -> done.losses().stream())
                .sorted(Comparator.comparingInt(MicrobatchLoss::microbatch)).toList();
        double sum = 0;
        for (MicrobatchLoss loss : losses) {
            sum += number.applyAsDouble(loss);
        }
        return sum / losses.size();
    }
}
