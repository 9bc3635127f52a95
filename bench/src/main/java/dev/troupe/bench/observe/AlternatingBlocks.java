package dev.troupe.bench.observe;

import dev.troupe.bench.Samples;
import dev.troupe.bench.profile.ThreadTimes;
import dev.troupe.look.observe.Observation;
import dev.troupe.protocol.StepResult;
import dev.troupe.run.news.RunNews;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.ToDoubleFunction;

/**
 * Alternating blocks of steps: recorded, left out, left out, recorded, and so on. The first step of a block does not count,
 * since what the one before left is still written in it. The steps of the warm-up take turns too, so that both ways are
 * compiled when the first block begins.
 *
 * <p>Thread rule: the coordinator's thread, between two steps; the rest when the run is over.
 */
final class AlternatingBlocks implements Observation {
    private final Set<Recorded> kinds;
    private final int warmUpSteps;
    private final int blockSteps;
    private final List<Block> blocks = new ArrayList<>();
    private Samples seconds = new Samples();
    private ThreadTimes begin;

    /**
     * The steps of a block that count.
     *
     * @param threads the processor time of all of them together
     */
    record Block(boolean isRecorded, double medianSeconds, ThreadTimes threads) {
        double cpuSeconds() {
            return threads.cpuNanos().values().stream().mapToLong(Long::longValue).sum() / 1e9;
        }
    }

    /**
     * Blocks of a run.
     *
     * @param kinds the kinds that are left out in every other block
     * @param warmUpSteps steps before the first block
     */
    AlternatingBlocks(Set<Recorded> kinds, int warmUpSteps, int blockSteps) {
        this.kinds = kinds;
        this.warmUpSteps = warmUpSteps;
        this.blockSteps = blockSteps;
    }

    int steps(int pairs) {
        return warmUpSteps + 2 * pairs * (blockSteps + 1);
    }

    private boolean isRecorded(int block) {
        int turn = Math.floorMod(block, 4);
        return turn == 0 || turn == 3;
    }

    @Override
    public void on(RunNews news) {
        switch (news) {
            case RunNews.StepDone(StepResult result, double stepSeconds) -> add(result, stepSeconds);
            case RunNews.Validated _ -> throw new IllegalStateException("a measured run measures no validation loss");
            case RunNews.CheckpointFailed _ ->
                throw new IllegalStateException("a measured run has one checkpoint, at its end");
            default -> {
                // not measured
            }
        }
    }

    private void add(StepResult result, double stepSeconds) {
        int done = (int) result.step() + 1 - warmUpSteps;
        int inBlock = Math.floorMod(done, blockSteps + 1);
        if (inBlock != 1) {
            seconds.add(stepSeconds);
        }
        if (inBlock == 1) {
            begin = ThreadTimes.now();
            seconds = new Samples();
        } else if (inBlock == 0) {
            change(Math.floorDiv(done, blockSteps + 1));
        }
    }

    /** A block is over, which counts after the warm-up, and the next begins. */
    private void change(int next) {
        if (next > 0) {
            blocks.add(new Block(isRecorded(next - 1), seconds.median(), ThreadTimes.now().since(begin)));
        }
        if (isRecorded(next)) {
            RecordingSwitch.recordAll();
        } else {
            RecordingSwitch.leaveOut(kinds);
        }
    }

    /** Returns a figure for each pair of neighbouring blocks: the one without records over the one with them. */
    List<Double> ratios(ToDoubleFunction<Block> figure) {
        List<Double> ratios = new ArrayList<>();
        for (int pair = 0; 2 * pair + 1 < blocks.size(); pair++) {
            Block first = blocks.get(2 * pair);
            Block second = blocks.get(2 * pair + 1);
            double ratio = figure.applyAsDouble(first) / figure.applyAsDouble(second);
            ratios.add(first.isRecorded() ? 1 / ratio : ratio);
        }
        return ratios;
    }

    /** Processor milliseconds of a step by kind of thread, of the blocks that are recorded or of the others. */
    Map<String, Double> cpuMillis(boolean isRecorded) {
        Map<String, Double> sums = new TreeMap<>();
        List<Block> chosen = blocks.stream().filter(block -> block.isRecorded() == isRecorded).toList();
        chosen.forEach(block -> block.threads().cpuNanos().forEach((kind, nanos) -> sums.merge(kind,
                nanos / 1e6 / blockSteps / chosen.size(), Double::sum)));
        return sums;
    }

    /** The median over blocks of the median time of a step. */
    double medianSeconds(boolean isRecorded) {
        Samples medians = new Samples();
        blocks.stream().filter(block -> block.isRecorded() == isRecorded).map(Block::medianSeconds)
                .forEach(medians::add);
        return medians.median();
    }

    @Override
    public void close() {
        RecordingSwitch.recordAll();
    }
}
