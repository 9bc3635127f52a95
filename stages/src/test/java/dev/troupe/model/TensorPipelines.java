package dev.troupe.model;

import dev.troupe.engine.DataType;
import dev.troupe.model.NaivePipeline.StepResult;
import dev.troupe.parallel.InMemoryGroup;
import dev.troupe.parallel.TensorShare;
import dev.troupe.parallel.TensorSlice;
import dev.troupe.weights.WeightSource;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.function.Function;

/** As many pipelines as a tensor-parallel group has ranks, each in its thread; each stage's ranks are a group. */
final class TensorPipelines implements AutoCloseable {
    private final ExecutorService threads;
    final List<NaivePipeline> ranks = new ArrayList<>();
    final List<InMemoryGroup> groups = new ArrayList<>();

    /** How a run is set up beside its layout. */
    record Setup(Golden golden, WeightSource source, int microbatchSize, DataType floatType, Recompute recompute) {
        static Setup of(Golden golden, WeightSource source, int microbatchSize) {
            return new Setup(golden, source, microbatchSize, DataType.FLOAT64, Recompute.NONE);
        }
    }

    TensorPipelines(Setup setup, Partition partition, int size, boolean sequence) {
        threads = Executors.newFixedThreadPool(size);
        for (int stage = 0; stage < partition.stageCount(); stage++) {
            groups.add(new InMemoryGroup(size));
        }
        for (int member = 0; member < size; member++) {
            int rank = member;
            ranks.add(new NaivePipeline(setup.golden(), partition, setup.microbatchSize(), setup.source(),
                    setup.recompute(), setup.floatType(),
                    (stage, engine) -> new TensorShare(groups.get(stage).member(rank, engine), sequence)));
        }
    }

    /** A whole step; every rank must come to the same loss and norm. */
    StepResult step(int step, Order order) {
        return onAll(rank -> rank.step(step, order));
    }

    /** A step up to its update. */
    StepResult gradients(int step, Order order) {
        return onAll(rank -> rank.gradients(step, order));
    }

    /** The update of a step. */
    void update(int step, StepResult result) {
        ranks.forEach(rank -> rank.update(step, result));
    }

    private <T> T onAll(Function<NaivePipeline, T> work) {
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
        if (results.stream().distinct().count() != 1) {
            throw new AssertionError("the ranks of a group came to different results: " + results);
        }
        return results.getFirst();
    }

    /** Whole tensors by name, each put together from its slices; what several ranks have must be the same bits. */
    Map<String, double[]> values(Function<Stage, List<StateTensor>> tensors) {
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
        ranks.forEach(NaivePipeline::close);
    }
}
