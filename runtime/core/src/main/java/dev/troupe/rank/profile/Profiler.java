package dev.troupe.rank.profile;

import dev.troupe.config.RunSpec;
import dev.troupe.engine.Engine;
import dev.troupe.engine.provider.Work;
import dev.troupe.model.LayerSpec;
import dev.troupe.model.ModelSpec;
import dev.troupe.plan.UsageException;
import dev.troupe.plan.error.UserErrors;
import dev.troupe.plan.memory.MachineMemory;
import dev.troupe.plan.prepare.OpenedRun;
import dev.troupe.plan.prepare.PlannedRun;
import dev.troupe.plan.prepare.RunRequest;
import dev.troupe.plan.prepare.SizedRun;
import dev.troupe.plan.profile.LayerSamples;
import dev.troupe.plan.profile.Profile;
import dev.troupe.plan.profile.ProfileSetting;
import java.nio.file.Path;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * The measurement of a profile. Layers of one form, which have equal parameters and operations, are measured as one. As many
 * ranks compute at the same time as a run has in this process, up to the cores, since they share caches and memory.
 *
 * <p>Thread rule: one thread, which waits for those that measure.
 */
public final class Profiler {
    /** Layers of a form that are measured, in turn, so that the weights of one do not stay in a cache. */
    private static final int LAYERS_OF_A_FORM = 3;

    private final RunSpec spec;
    private final byte[] builtInCorpus;
    private final int ranksOfMachine;
    private final int mostTogether;

    /**
     * @param ranksOfMachine the ranks that share the cores of this machine in a run
     * @param mostTogether the ranks that compute at the same time in this process
     */
    public Profiler(RunSpec spec, byte[] builtInCorpus, int ranksOfMachine, int mostTogether) {
        this.spec = spec;
        this.builtInCorpus = builtInCorpus;
        this.ranksOfMachine = ranksOfMachine;
        this.mostTogether = mostTogether;
    }

    /**
     * Measures.
     *
     * @throws RuntimeException with a sentence for the user if the configuration is wrong: see {@link UserErrors}
     */
    public Profile measure() throws InterruptedException {
        int cores = Runtime.getRuntime().availableProcessors();
        RunSpec whole = alone(spec.onOneRank(cores, "1f1b"), Map.of("engine.threads",
                spec.engine().threads() > 0 ? spec.engine().threads() : Math.max(1, cores / ranksOfMachine)));
        try (OpenedRun opened = opened(whole)) {
            PlannedRun run = PlannedRun.of(opened);
            if (!run.engine().computes() && run.engine().settings().costs().nanos(0, Work.FORWARD) > 0
                    && spec.engine().emulated().deviceFlops() == 0) {
                throw new UsageException(
                        "engine.kind = emulated takes the times of stages from engine.emulated, which has"
                                + " none of single layers: set engine.emulated.device-flops to profile it");
            }
            String layout = run.model().layers().stream().map(layer -> "" + layer.letter())
                    .collect(Collectors.joining("|"));
            try (OpenedRun layers = opened(alone(whole, Map.of("parallel.pipeline", run.model().layers().size(),
                    "parallel.tensor", spec.parallel().tensor(), "parallel.sequence", spec.parallel().sequence(),
                    "parallel.layout", layout, "parallel.schedule", "1f1b")))) {
                return measure(SizedRun.of(PlannedRun.of(layers)),
                        Math.clamp(cores / layers.whole().choice().settings().threads(), 1, mostTogether));
            }
        }
    }

    private OpenedRun opened(RunSpec of) {
        return OpenedRun.of(new RunRequest(of, builtInCorpus, Path.of("runs", "profile"), Optional.empty(),
                OptionalLong.empty(), true, Optional.empty()));
    }

    private static RunSpec alone(RunSpec of, Map<String, Object> more) {
        Map<String, Object> values = new HashMap<>(Map.of("training.global-batch-size",
                2 * of.training().microbatchSize(), "training.zero", 0, "training.checkpoint-every", 0,
                "training.validate-every", 0, "training.recompute", "none", "training.recompute-ahead", "none"));
        values.putAll(more);
        return of.with(values);
    }

    /** The model may be larger than the memory of this machine: only the measured layers take any. */
    private Profile measure(SizedRun sized, int together) throws InterruptedException {
        PlannedRun run = sized.planned();
        ModelSpec model = run.model();
        Map<List<Object>, String> names = new HashMap<>();
        Map<String, List<Integer>> layersOf = new HashMap<>();
        List<String> forms = new ArrayList<>();
        for (int layer = 0; layer < model.layers().size(); layer++) {
            String form = names.computeIfAbsent(form(model.layers().get(layer), run), name(model, layer));
            forms.add(form);
            layersOf.computeIfAbsent(form, _ -> new ArrayList<>()).add(layer);
        }
        List<Integer> measured = layersOf.values().stream()
                .flatMap(layers -> layers.stream().limit(LAYERS_OF_A_FORM)).sorted().toList();
        if (run.engine().computes()) {
            sized.memory()
                    .onMachine(measured.stream().map(layer -> layer * run.plan().ranksPerPlace()).toList(), List.of())
                    .requireRoom(MachineMemory.availableBytes() / together);
        }
        List<Map<Integer, LayerSamples>> all = samples(run, measured, together);
        Map<String, LayerSamples> samples = new HashMap<>();
        layersOf.forEach((form, layers) -> samples.put(form, LayerSamples.together(all.stream()
                .flatMap(one -> layers.stream().map(one::get).filter(Objects::nonNull)).toList())));
        return new Profile(Instant.now().truncatedTo(ChronoUnit.SECONDS).toString(), together,
                ProfileSetting.of(run.spec(), model, run.plan().stageSettings().sequenceLength(),
                        run.engine().provider().kind(), run.engine().settings()),
                forms, samples);
    }

    private static Function<List<Object>, String> name(ModelSpec model, int layer) {
        return _ -> model.layers().get(layer).name();
    }

    private static List<Object> form(LayerSpec layer, PlannedRun run) {
        return List.of(layer.letter(), layer.parameterCount(),
                layer.costs().of(run.plan().stageSettings().rows(), run.plan().stageSettings().sequenceLength()));
    }

    private static List<Map<Integer, LayerSamples>> samples(PlannedRun run, List<Integer> layers, int together)
            throws InterruptedException {
        List<Future<Map<Integer, LayerSamples>>> ranks;
        try (ExecutorService threads = Executors.newFixedThreadPool(together,
                Thread.ofPlatform().name("profiled-", 0).factory())) {
            ranks = threads.invokeAll(IntStream.range(0, together).mapToObj(rank -> (LayerClock.Measurement) () -> {
                try (Engine engine = run.engine().open(rank);
                        LayerClock clock = new LayerClock(run.plan(), layers, engine, run.engine().clock())) {
                    return clock.measure();
                }
            }).toList());
        }
        List<Map<Integer, LayerSamples>> samples = new ArrayList<>();
        for (Future<Map<Integer, LayerSamples>> rank : ranks) {
            try {
                samples.add(rank.get());
            } catch (ExecutionException failure) {
                throw new IllegalStateException("a layer cannot be measured: " + failure.getCause(), failure);
            }
        }
        return samples;
    }
}
