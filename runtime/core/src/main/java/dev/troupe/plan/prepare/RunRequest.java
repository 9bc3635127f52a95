package dev.troupe.plan.prepare;

import dev.troupe.config.RunSpec;
import dev.troupe.config.cluster.NodeSpec;
import dev.troupe.config.spec.EngineSpec;
import dev.troupe.engine.provider.EngineProvider;
import dev.troupe.engine.provider.EngineSettings;
import dev.troupe.model.ModelSpec;
import dev.troupe.plan.checkpoint.Checkpoint;
import dev.troupe.plan.profile.LayoutByCosts;
import dev.troupe.plan.profile.ProfileSetting;
import dev.troupe.schedule.Schedule;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.stream.IntStream;

/**
 * The request of a user.
 *
 * @param builtInCorpus UTF-8 text to train on if the configuration names none
 * @param resume the run, or the checkpoint, to resume
 * @param gradientsOf the step, from 0, with gradients to be written to a file
 * @param isExperiment whether the run is only measured, and leaves no checkpoint
 * @param share the part of the run in this process, if there are several
 * @param text UTF-8 text in memory to train on, which the run writes to the one file that the configuration names
 */
public record RunRequest(RunSpec spec, byte[] builtInCorpus, Path output, Optional<Path> resume,
        OptionalLong gradientsOf, boolean isExperiment, Optional<Share> share,
        Optional<byte[]> text) {
    /**
     * One process's part of a run.
     *
     * @param ranksOfMachine the ranks for which this machine provides memory and cores
     * @param ranksCopiedHere the ranks with copies of their snapshots on this machine
     * @param leads whether this process creates the run's directory
     */
    public record Share(List<Integer> ranksOfMachine, List<Integer> ranksCopiedHere, boolean leads) {
        public Share {
            ranksOfMachine = List.copyOf(ranksOfMachine);
            ranksCopiedHere = List.copyOf(ranksCopiedHere);
        }
    }

    public RunRequest(RunSpec spec, byte[] builtInCorpus, Path output, Optional<Path> resume,
            OptionalLong gradientsOf, boolean isExperiment, Optional<Share> share) {
        this(spec, builtInCorpus, output, resume, gradientsOf, isExperiment, share, Optional.empty());
    }

    /** Creates a request for a run in this process alone that leaves checkpoints. */
    public RunRequest(RunSpec spec, byte[] builtInCorpus, Path output, Optional<Path> resume,
            OptionalLong gradientsOf) {
        this(spec, builtInCorpus, output, resume, gradientsOf, false, Optional.empty());
    }

    /** Returns the ranks for which this machine provides memory and cores. */
    List<Integer> ranksOfMachine() {
        return share.map(Share::ranksOfMachine)
                .orElseGet(() -> IntStream.range(0, spec.parallel().worldSize()).boxed().toList());
    }

    /** Returns the ranks of other nodes with copies of their snapshots on nodes of this machine. */
    List<Integer> ranksCopiedHere() {
        return share.map(Share::ranksCopiedHere).orElse(List.of());
    }

    /**
     * Returns the engine of this process's ranks. A resumed run uses the product libraries of its checkpoint, unless the
     * configuration names others.
     */
    EngineChoice engine() {
        EngineSpec engine = spec.engine();
        String products = engine.products().equals(EngineSpec.AUTO) && resume.isPresent()
                ? Checkpoint.products(resume.get())
                : engine.products();
        List<EngineProvider> installed = EngineChoice.installed();
        return EngineChoice.of(engine, spec.training().precision(), ranksOfMachine(), installed)
                .withProducts(products, spec.cluster()
                        .map(cluster -> cluster.nodes().stream().map(NodeSpec::host).distinct().count() == 1)
                        .orElse(true), installed);
    }

    /** Returns the same request with the chosen libraries of matrix products, for the run's directory. */
    RunRequest with(EngineChoice choice) {
        String products = choice.settings().products();
        return products.equals(EngineSettings.OWN_PRODUCTS)
                ? this
                : with(spec.on(spec.engine().withProducts(products)));
    }

    /** Returns the same request for another run. */
    public RunRequest with(RunSpec other) {
        return new RunRequest(other, builtInCorpus, output, resume, gradientsOf, isExperiment, share, text);
    }

    /**
     * Returns the same request with the layout string of its stages, if they are cut by costs. So all nodes have the same
     * layout, although their profiles may differ.
     */
    RunRequest cut(EngineChoice choice, ModelSpec model, int sequenceLength, Schedule schedule) {
        return LayoutByCosts.units(spec, model,
                () -> ProfileSetting.of(spec, model, sequenceLength, choice.provider().kind(), choice.settings()))
                .map(units -> LayoutByCosts.of(model, units, schedule.plan(spec.parallel().pipeline(),
                        spec.parallel().virtualStages(), spec.microbatchCount())))
                .map(partition -> with(spec.with(Map.of("parallel.layout", partition.layout()))))
                .orElse(this);
    }

    boolean leads() {
        return share.isEmpty() || share.get().leads();
    }

    /** Returns whether the run continues in the directory from which it resumes. */
    public boolean continuesInPlace() {
        return resume.isPresent()
                && Checkpoint.runDirectoryOf(resume.get()).equals(output.toAbsolutePath().normalize());
    }
}
