package dev.troupe.stage;

import dev.troupe.engine.DataType;
import dev.troupe.engine.Engine;
import dev.troupe.layer.DropoutSettings;
import dev.troupe.parallel.DataShare;
import dev.troupe.parallel.StreamSharding;
import dev.troupe.parallel.TensorShare;
import dev.troupe.parallel.TensorSlice;
import dev.troupe.parallel.Zero;
import dev.troupe.partition.Partition;
import dev.troupe.shard.StateTensor;
import dev.troupe.stage.NaivePipeline.StepResult;
import dev.troupe.weights.WeightSource;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.function.Function;

/**
 * A pipeline for each pair of a tensor-parallel and a data-parallel rank, each in its thread. The tensor-parallel ranks of a
 * stage are a group, and so are the ranks with the same weights.
 */
final class TensorPipelines implements Training, AutoCloseable {
    private final ExecutorService threads;
    /** One for each rank: its work on the other thread is in order. */
    private final List<ExecutorService> asides = new ArrayList<>();
    private final int size;
    final List<NaivePipeline> ranks = new ArrayList<>();
    final List<InMemoryGroup> groups = new ArrayList<>();
    /** By tensor-parallel rank. */
    final List<InMemoryGroup> dataGroups = new ArrayList<>();

    /** The settings of a run apart from its layout. */
    record Setup(StageGolden golden, WeightSource source, int microbatchSize, DataType parameterType,
            Recompute recompute,
            DropoutSettings dropout, Replay replay) {
        Setup(StageGolden golden, WeightSource source, int microbatchSize, DataType parameterType, Recompute recompute,
                DropoutSettings dropout) {
            this(golden, source, microbatchSize, parameterType, recompute, dropout, Replay.INSIDE);
        }

        Setup with(Replay other) {
            return new Setup(golden, source, microbatchSize, parameterType, recompute, dropout, other);
        }

        static Setup of(StageGolden golden, WeightSource source, int microbatchSize) {
            return new Setup(golden, source, microbatchSize, DataType.FLOAT64, Recompute.NONE, DropoutSettings.NONE);
        }
    }

    TensorPipelines(Setup setup, Partition partition, int size, boolean sequence) {
        this(setup, partition, size, sequence, 1, Zero.NONE);
    }

    TensorPipelines(Setup setup, Partition partition, int size, boolean sequence, int holders, Zero zero) {
        this(setup, partition, size, sequence, holders, zero, true);
    }

    TensorPipelines(Setup setup, Partition partition, int size, boolean sequence, int holders, Zero zero,
            boolean tellsLast) {
        this(setup, partition, size, StreamSharding.of(sequence), holders, zero, tellsLast);
    }

    TensorPipelines(Setup setup, Partition partition, int size, StreamSharding sharding, int holders, Zero zero,
            boolean tellsLast) {
        this.size = size;
        threads = Executors.newFixedThreadPool(size * holders);
        for (int rank = 0; rank < size; rank++) {
            dataGroups.add(new InMemoryGroup(holders));
        }
        for (int holder = 0; holder < holders; holder++) {
            List<InMemoryGroup> ofStages = new ArrayList<>();
            for (int stage = 0; stage < partition.stageCount(); stage++) {
                ofStages.add(new InMemoryGroup(size));
            }
            groups.addAll(ofStages);
            for (int rank = 0; rank < size; rank++) {
                asides.add(Executors.newSingleThreadExecutor());
                ranks.add(new NaivePipeline(setup.golden(), partition, setup.microbatchSize(), setup.source(),
                        setup.recompute(), setup.dropout(), setup.parameterType(),
                        new Place(ofStages, dataGroups.get(rank), rank, sharding, holder, zero, asides.getLast(),
                                tellsLast, setup.replay())));
            }
        }
    }

    /** The place of a rank. */
    private record Place(List<InMemoryGroup> ofStages, InMemoryGroup holders, int rank, StreamSharding sharding,
            int holder,
            Zero zero, Executor aside, boolean tellsLast, Replay replay) implements NaivePipeline.Shares {
        @Override
        public TensorShare of(int stage, Engine engine) {
            return new TensorShare(ofStages.get(stage).member(rank, engine), sharding);
        }

        @Override
        public DataShare data(Engine engine) {
            return new DataShare(holders.member(holder, engine), zero, aside::execute);
        }
    }

    /** Runs a whole step; every rank must have the same loss and norm. */
    StepResult step(int step, Order order) {
        StepResult result = gradients(step, order);
        update(step, result);
        return result;
    }

    /** Runs a step up to its update. */
    @Override
    public StepResult gradients(int step, Order order) {
        List<StepResult> results = onAll(rank -> rank.gradients(step, order));
        double loss = 0;
        for (int first = 0; first < results.size(); first += size) {
            requireOne(results.subList(first, first + size));
            loss += results.get(first).loss() * size / results.size();
        }
        requireOne(results.stream().map(StepResult::norm).toList());
        return new StepResult(loss, results.getFirst().norm());
    }

    private static void requireOne(List<?> results) {
        if (results.stream().distinct().count() != 1) {
            throw new AssertionError("the ranks of a group came to different results: " + results);
        }
    }

    @Override
    public void update(int step, StepResult result) {
        onAll(rank -> {
            rank.update(step, result);
            return null;
        });
    }

    private <T> List<T> onAll(Function<NaivePipeline, T> work) {
        List<Future<T>> futures = ranks.stream().map(rank -> threads.submit(() -> work.apply(rank))).toList();
        List<T> results = new ArrayList<>();
        for (Future<T> future : futures) {
            try {
                results.add(future.get());
            } catch (ExecutionException failed) {
                throw new AssertionError(failed.getCause());
            } catch (InterruptedException interrupted) {
                Thread.currentThread().interrupt();
                throw new AssertionError(interrupted);
            }
        }
        return results;
    }

    /**
     * Returns whole tensors by name, each put together from its slices; common tensors of several ranks must be the same
     * bits.
     */
    @Override
    public Map<String, double[]> values(Function<Stage, List<StateTensor>> tensors) {
        Map<String, double[]> values = new TreeMap<>();
        Map<String, List<TensorSlice>> written = new HashMap<>();
        ranks.forEach(rank -> rank.forEach(tensors, (named, read) -> {
            if (!named.copy()) {
                double[] whole = values.computeIfAbsent(named.name(),
                        name -> new double[(int) named.slice().whole().elementCount()]);
                named.slice().paste(MemorySegment.ofArray(read), MemorySegment.ofArray(whole), Double.BYTES);
                written.computeIfAbsent(named.name(), name -> new ArrayList<>()).add(named.slice());
            }
        }));
        written.values().forEach(TensorSlice::requireWhole);
        ranks.forEach(rank -> rank.forEach(tensors, (named, read) -> {
            double[] own = new double[read.length];
            named.slice().cut(MemorySegment.ofArray(values.get(named.name())), MemorySegment.ofArray(own),
                    Double.BYTES);
            if (!Arrays.equals(own, read)) {
                throw new AssertionError("two ranks have " + named.name() + " with different bits");
            }
        }));
        return values;
    }

    @Override
    public void close() {
        threads.shutdownNow();
        asides.forEach(ExecutorService::shutdownNow);
        ranks.forEach(NaivePipeline::close);
    }
}
