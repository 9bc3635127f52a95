package dev.troupe.config;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.troupe.config.fault.FaultSpec;
import dev.troupe.config.problem.ConfigException;
import dev.troupe.config.spec.CommitSpec;
import dev.troupe.config.spec.DataSpec;
import dev.troupe.config.spec.DropSpec;
import dev.troupe.config.spec.EmulatedSpec;
import dev.troupe.config.spec.EngineSpec;
import dev.troupe.config.spec.LoraSpec;
import dev.troupe.config.spec.MemorySpec;
import dev.troupe.config.spec.ModelSection;
import dev.troupe.config.spec.ObserveSpec;
import dev.troupe.config.spec.OffloadSpec;
import dev.troupe.config.spec.OverlapSpec;
import dev.troupe.config.spec.ParallelSpec;
import dev.troupe.config.spec.RecoverySpec;
import dev.troupe.config.spec.ReplaySpec;
import dev.troupe.config.spec.ShardingSpec;
import dev.troupe.config.spec.TrainingSpec;
import dev.troupe.config.spec.TransportSpec;
import dev.troupe.config.spec.UpdateSpec;
import dev.troupe.config.spec.update.LearningRateSpec;
import dev.troupe.config.spec.update.LossScaleSpec;
import dev.troupe.config.spec.update.OptimizerSpec;
import dev.troupe.config.spec.update.ReplicasSpec;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.OptionalInt;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

@Tag("plan")
class RunSpecReaderTest {
    private static final List<String> EVERY_KEY_CHANGED = List.of("name=other.run_2", "model.layers=6",
            "model.hidden=96",
            "model.heads=6", "model.sequence-length=24", "model.vocabulary-size=300", "model.tie-embeddings=false",
            "data.path=/tmp/some \"text\"\\.txt", "data.order=sequential", "data.seed=-9007199254740993",
            "data.validation-fraction=0.125", "data.special-tokens=true", "data.token-bytes=4", "data.pack=false",
            "data.cut-long-text=true", "data.cache=/tmp/cache",
            "data.validation-path=", "training.steps=7",
            "training.global-batch-size=12",
            "training.microbatch-size=3", "training.seed=42", "training.precision=bfloat16", "training.loss-scale=1024",
            "training.gradient-clip=0.5", "training.checkpoint-every=2", "training.checkpoint-interval=7m",
            "training.keep-checkpoints=5", "training.validate-every=3", "training.validation-microbatches=9",
            "training.recompute=full", "training.recompute-every=2", "training.recompute-ahead=3MiB",
            "training.recompute-partition=true", "offload.optimizer=disk", "offload.activations=disk",
            "offload.directory=/tmp/state", "training.dropout=0.1", "training.layer-drop.keep=0.5",
            "training.layer-drop.decay=20",
            "training.optimizer.kind=sgd", "training.optimizer.betas=[0.8, 0.999]", "training.optimizer.epsilon=1e-6",
            "training.optimizer.weight-decay=0.01",
            "training.optimizer.momentum=0.9", "training.optimizer.nesterov=true",
            "training.optimizer.error-feedback=true", "training.replicas.mode=diloco",
            "training.replicas.inner-steps=1", "training.replicas.outer-learning-rate=1.5",
            "training.replicas.outer-momentum=0.25",
            "training.learning-rate.schedule=constant",
            "training.learning-rate.peak=3e-4", "training.learning-rate.minimum=1e-5",
            "training.learning-rate.warmup-steps=1", "training.learning-rate.stable-steps=4",
            "training.learning-rate.decay-steps=6", "parallel.pipeline=3",
            "parallel.tensor=2", "parallel.data=4", "parallel.expert=2", "parallel.sequence=true",
            "parallel.sharding=inner -> tensor", "training.zero=2",
            "training.gradient-exchange=bfloat16",
            "parallel.virtual-stages=2", "parallel.schedule=interleaved-1f1b", "parallel.layout=Et|(tt|)*2tL",
            "parallel.split-cool-down=true", "parallel.flush-every=16", "parallel.updates=eager",
            "parallel.warm-up=2", "parallel.replicas=[2, 1, 3]",
            "engine.kind=reference", "engine.threads=2", "engine.device=3", "engine.products=/usr/lib/libblas.so.3",
            "engine.float32-products=bf16x6", "engine.exact-rows=true", "engine.emulated.forward=[1ms, 2500ns]",
            "engine.emulated.backward-input=3ms", "engine.emulated.backward-weight=[1s]",
            "engine.emulated.recompute=4ms", "engine.emulated.update=2ms",
            "engine.emulated.device-flops=1e12", "transport.credits=4", "transport.term-length=4MiB",
            "recovery.enabled=false", "recovery.most-per-step=7", "recovery.hang-timeout=12s",
            "recovery.warm-standby=false", "observe.port=8080", "observe.tensorboard=true", "observe.sample-tokens=20",
            "model.adapter=/tmp/adapter", "training.lora.rank=4", "training.lora.alpha=8",
            "training.lora.targets=[all-linear]", "training.lora.dropout=0.25", "transport.timeout=1500ms",
            "transport.network=udp", "transport.directory=/dev/shm/other",
            "faults=[\"slow stage=1 at=B factor=2.5\", drop]");

    private static final List<Duration> TWO_MS = List.of(Duration.ofMillis(2));

    @TempDir
    private Path folder;

    @Test
    void shouldReadTheDocumentedDefaults() {
        List<Object> expected = List.of("first-run",
                model(8, 128, 4, 128, 256, true),
                new DataSpec(List.of(), DataSpec.BYTES, false, 0, new DataSpec.Documents(true, false), "auto",
                        DataSpec.Order.RANDOM, 1, 0.05, List.of()),
                new TrainingSpec(300, 16, 2, 1, TrainingSpec.Precision.FLOAT32, new DropSpec(0, 1, 100),
                        new LoraSpec(Optional.empty(), OptionalInt.empty(), OptionalDouble.empty(), List.of(), 0),
                        new UpdateSpec(LossScaleSpec.NONE, 1.0, UpdateSpec.GradientExchange.FLOAT32,
                                new OptimizerSpec(OptimizerSpec.Kind.ADAMW, new OptimizerSpec.Betas(0.9, 0.95), 1e-8,
                                        0.1, 0, false, false),
                                new LearningRateSpec(LearningRateSpec.Schedule.CONSTANT, 1e-3, 1e-4, 10, 270, 300),
                                new ReplicasSpec(ReplicasSpec.Mode.NONE, 50, 0.7, 0.9)),
                        new MemorySpec(0, MemorySpec.Recompute.NONE, new ReplaySpec(1, 0, Long.MAX_VALUE, false),
                                new OffloadSpec(OffloadSpec.Place.NONE, OffloadSpec.Place.NONE, Optional.empty())),
                        new CommitSpec(0, Duration.ofMinutes(30), 2, 50, 16)),
                new ParallelSpec(4, 1, 1, 1, new ShardingSpec(false, ""), 1, "1f1b", "uniform", false,
                        new OverlapSpec(0, OverlapSpec.Updates.LAZY, 1, List.of())),
                new EngineSpec("auto", 0, OptionalInt.empty(), "auto", EngineSpec.Float32Products.EXACT, false,
                        new EmulatedSpec(TWO_MS, TWO_MS, TWO_MS, List.of(Duration.ZERO), List.of(Duration.ZERO), 0)),
                new TransportSpec(2, 0, Duration.ofSeconds(60), TransportSpec.Network.TCP, Optional.empty()),
                new RecoverySpec(true, 5, Duration.ofSeconds(30), true), new ObserveSpec(0, false, 240),
                Optional.empty(), List.of());
        RunSpec run = RunSpecReader.read(Optional.empty(), List.of());
        assertEquals(expected, sections(run));
        assertEquals(8, run.microbatchCount());
    }

    @Test
    void shouldReadEveryKey() {
        List<Object> expected = List.of("other.run_2",
                model(6, 96, 6, 24, 300, false),
                new DataSpec(List.of(Path.of("/tmp/some \"text\"\\.txt")), DataSpec.BYTES, true, 4,
                        new DataSpec.Documents(false, true), "/tmp/cache", DataSpec.Order.SEQUENTIAL,
                        -9007199254740993L, 0.125, List.of()),
                new TrainingSpec(7, 12, 3, 42, TrainingSpec.Precision.BFLOAT16, new DropSpec(0.1, 0.5, 20),
                        new LoraSpec(Optional.of(Path.of("/tmp/adapter")), OptionalInt.of(4), OptionalDouble.of(8),
                                List.of("all-linear"), 0.25),
                        new UpdateSpec(new LossScaleSpec(LossScaleSpec.Kind.FIXED, 1024), 0.5,
                                UpdateSpec.GradientExchange.BFLOAT16,
                                new OptimizerSpec(OptimizerSpec.Kind.SGD, new OptimizerSpec.Betas(0.8, 0.999), 1e-6,
                                        0.01, 0.9, true, true),
                                new LearningRateSpec(LearningRateSpec.Schedule.CONSTANT, 3e-4, 1e-5, 1, 4, 6),
                                new ReplicasSpec(ReplicasSpec.Mode.DILOCO, 1, 1.5, 0.25)),
                        new MemorySpec(2, MemorySpec.Recompute.FULL,
                                new ReplaySpec(2, Integer.MAX_VALUE, 3 << 20, true),
                                new OffloadSpec(OffloadSpec.Place.DISK, OffloadSpec.Place.DISK,
                                        Optional.of(Path.of("/tmp/state")))),
                        new CommitSpec(2, Duration.ofMinutes(7), 5, 3, 9)),
                new ParallelSpec(3, 2, 4, 2, new ShardingSpec(true, "inner -> tensor"), 2, "interleaved-1f1b",
                        "Et|(tt|)*2tL", true,
                        new OverlapSpec(16, OverlapSpec.Updates.EAGER, 2, List.of(2, 1, 3))),
                new EngineSpec("reference", 2, OptionalInt.of(3), "/usr/lib/libblas.so.3",
                        EngineSpec.Float32Products.BF16X6, true,
                        new EmulatedSpec(List.of(Duration.ofMillis(1), Duration.ofNanos(2500)),
                                List.of(Duration.ofMillis(3)),
                                List.of(Duration.ofSeconds(1)), List.of(Duration.ofMillis(4)), TWO_MS, 1e12)),
                new TransportSpec(4, 4 << 20, Duration.ofMillis(1500), TransportSpec.Network.UDP,
                        Optional.of(Path.of("/dev/shm/other"))),
                new RecoverySpec(false, 7, Duration.ofSeconds(12), false), new ObserveSpec(8080, true, 20),
                Optional.empty(),
                List.of(FaultSpec.parse("slow stage=1 at=B factor=2.5", "", ""), FaultSpec.parse("drop", "", "")));
        assertEquals(expected, sections(RunSpecReader.read(Optional.empty(), EVERY_KEY_CHANGED)));
    }

    @Test
    void shouldReadItsOwnText() throws IOException {
        assertReadsBack(List.of());
        assertReadsBack(EVERY_KEY_CHANGED);
        assertReadsBack(List.of("model.from=gpt2"));
        assertReadsBack(List.of("model.from=gpt2", "model.layers=2", "model.hidden=8", "model.heads=2",
                "model.sequence-length=16", "model.vocabulary-size=64", "model.tie-embeddings=false"));
        assertReadsBack(List.of("data.tokenizer=gpt2"));
        assertReadsBack(List.of("data.path=tokens.bin", "model.vocabulary-size=64"));
        assertReadsBack(List.of("training.steps=5"));
        for (String ahead : List.of("none", "all", "3", "65536B", "2 GiB")) {
            assertReadsBack(List.of("training.recompute=full", "training.recompute-ahead=" + ahead));
        }
        assertReadsBack(List.of("data.path=[a.txt, \"b c/*.txt\"]", "data.validation-path=[v, w]", "data.cache=none"));
    }

    @Test
    void shouldLetSettingsWinOverTheFileAndTheFileOverDefaults() throws IOException {
        Path file = write("troupe { training { steps = 20, global-batch-size = 32 }, parallel.pipeline = 2 }");
        RunSpec run = RunSpecReader.read(Optional.of(file), List.of("training.steps=30", "training.steps=40"));
        assertEquals(40, run.training().steps());
        assertEquals(32, run.training().globalBatchSize());
        assertEquals(2, run.parallel().pipeline());
        assertEquals(2, run.training().microbatchSize());
    }

    @Test
    void shouldLeaveTheShapeOfALoadedModelToItsDirectory() {
        ModelSection model = RunSpecReader.read(Optional.empty(), List.of("model.from=some/dir", "model.layers=4"))
                .model();
        assertEquals(new ModelSection(Optional.of(Path.of("some/dir").toAbsolutePath()), Optional.empty(),
                Map.of("layers", 4)), model);
    }

    @Test
    void shouldTakeTheVocabularyOfTheTokenizer() {
        ModelSection model = RunSpecReader.read(Optional.empty(), List.of("data.tokenizer=gpt2")).model();
        assertEquals(50257, model.values().get("vocabulary-size"));
    }

    @Test
    void shouldTakeADirectoryForATokenizer() throws IOException {
        Files.writeString(folder.resolve("tokenizer.json"), "{}");
        RunSpec run = RunSpecReader.read(Optional.empty(), List.of("data.tokenizer=" + folder));
        assertEquals(folder.toString(), run.data().tokenizer());
        assertEquals(0, run.model().values().get("vocabulary-size"));
        assertReadsBack(List.of("data.tokenizer=" + folder));
        assertReadsBack(List.of("data.tokenizer=" + folder, "model.vocabulary-size=9"));
    }

    @Test
    void shouldTakeTheTokenizerOfTheModelForTextUnlessAnotherIsNamed() throws IOException {
        String from = "model.from=" + folder;
        assertEquals("bytes", RunSpecReader.read(Optional.empty(), List.of(from)).data().tokenizer());
        Files.writeString(folder.resolve("tokenizer.json"), "{}");
        for (String auto : List.of("data.path=a.txt", "data.tokenizer=auto")) {
            assertEquals(folder.toString(),
                    RunSpecReader.read(Optional.empty(), List.of(from, auto)).data().tokenizer());
        }
        for (String other : List.of("data.path=a.bin", "data.tokenizer=bytes")) {
            assertEquals("bytes", RunSpecReader.read(Optional.empty(), List.of(from, other)).data().tokenizer());
        }
    }

    @Test
    void shouldTakeNoTokenizerForATokenFile() {
        RunSpec run = RunSpecReader.read(Optional.empty(), List.of("data.path=a.bin", "model.vocabulary-size=64"));
        assertTrue(run.data().namesTokenFiles());
        assertEquals(64, run.model().values().get("vocabulary-size"));
    }

    @Test
    void shouldValidateOnNothingOfAnOwnCorpusByDefault() {
        assertEquals(0, RunSpecReader.read(Optional.empty(), List.of("data.path=a.txt")).data().validationFraction());
        assertEquals(0.25, RunSpecReader.read(Optional.empty(),
                List.of("data.path=a.txt", "data.validation-fraction=0.25")).data().validationFraction());
    }

    @Test
    void shouldTakeAnotherCorpusForValidationInPlaceOfAFraction() {
        for (String path : List.of("data.path=", "data.path=a.txt")) {
            DataSpec data = RunSpecReader.read(Optional.empty(), List.of(path, "data.validation-path=v.txt")).data();
            assertEquals(List.of(Path.of("v.txt").toAbsolutePath()), data.validationPaths());
            assertEquals(0, data.validationFraction());
        }
    }

    @Test
    void shouldReadAListOfPaths() {
        DataSpec data = RunSpecReader.read(Optional.empty(), List.of("data.path=[b.bin, \"a/*.bin\"]",
                "model.vocabulary-size=64")).data();
        assertEquals(List.of(Path.of("b.bin").toAbsolutePath(), Path.of("a/*.bin").toAbsolutePath()), data.paths());
        assertTrue(data.namesTokenFiles());
    }

    @Test
    void shouldTakeTheBuiltInCorpusForAnEmptyPath() {
        assertEquals(List.of(), RunSpecReader.read(Optional.empty(), List.of("data.path=")).data().paths());
    }

    @Test
    void shouldResolveSubstitutionsOverDefaults() throws IOException {
        Path file = write("""
                troupe.training.steps = ${troupe.model.layers}
                troupe.data.path = /corpora/${troupe.data.path}
                troupe.data.seed = ${?NOT_SET_ANYWHERE}
                """);
        RunSpec run = RunSpecReader.read(Optional.of(file), List.of("model.layers=9"));
        assertEquals(9, run.training().steps());
        assertEquals(List.of(Path.of("/corpora/built-in")), run.data().paths());
        assertEquals(1, run.data().seed());
    }

    @Test
    void shouldIncludeFilesFromTheFolderOfTheIncludingOne() throws IOException {
        Files.createDirectory(folder.resolve("parts"));
        Files.writeString(folder.resolve("parts/a.conf"), "include file(\"b.conf\")\ntroupe.training.steps = 3");
        Files.writeString(folder.resolve("parts/b.conf"), "troupe.data.seed = 4, troupe.training.steps = 2");
        RunSpec run = RunSpecReader.read(Optional.of(write("include \"parts/a.conf\"")), List.of());
        assertEquals(3, run.training().steps());
        assertEquals(4, run.data().seed());
    }

    @Test
    void shouldReadNoSystemProperties() {
        System.setProperty("troupe.training.steps", "77");
        try {
            com.typesafe.config.ConfigFactory.invalidateCaches();
            assertEquals(300, RunSpecReader.read(Optional.empty(), List.of()).training().steps());
        } finally {
            System.clearProperty("troupe.training.steps");
        }
    }

    @Test
    void shouldCountRanksAndStages() {
        ParallelSpec parallel = RunSpecReader.read(Optional.empty(), List.of("parallel.tensor=2", "parallel.data=3",
                "parallel.virtual-stages=2", "training.global-batch-size=12")).parallel();
        assertEquals(24, parallel.worldSize());
        assertEquals(8, parallel.stageCount());
    }

    @Test
    void shouldChangeSomeKeysOfARun() {
        RunSpec run = RunSpecReader.read(Optional.empty(), EVERY_KEY_CHANGED);
        RunSpec changed = run.with(Map.of("training.steps", 12, "training.checkpoint-interval", Duration.ofMillis(1500),
                "data.path", List.of(Path.of("/a"), Path.of("/b c")), "observe.tensorboard", false));
        assertEquals(12, changed.training().steps());
        assertEquals(Duration.ofMillis(1500), changed.training().commits().checkpointInterval());
        assertEquals(List.of(Path.of("/a"), Path.of("/b c")), changed.data().paths());
        assertEquals(run.training().update(), changed.training().update());
        assertEquals(run,
                changed.with(Map.of("training.steps", 7, "training.checkpoint-interval", Duration.ofMinutes(7),
                        "data.path", run.data().paths().getFirst(), "observe.tensorboard", true)));
    }

    @Test
    void shouldCheckTheKeysThatAreChanged() {
        RunSpec run = RunSpecReader.read(Optional.empty(), List.of());
        ConfigException refused = assertThrows(ConfigException.class, () -> run.with(Map.of("parallel.data", 3)));
        assertEquals("training.global-batch-size (the default): expected a multiple of parallel.data x "
                + "training.microbatch-size = 3 x 2 = 6, found 16; the nearest that fit are 12 and 18.",
                refused.getMessage());
        assertThrows(ConfigException.class, () -> run.with(Map.of("training.steps", "many")));
        assertThrows(IllegalArgumentException.class, () -> run.with(Map.of("training.stepz", 1)));
    }

    /** A key that only follows from another one is no setting of the user, and does not stop a resumed run. */
    @Test
    void shouldKeepNoMomentumThatFollowsFromTheOptimizer() throws IOException {
        RunSpec begun = RunSpecReader.read(Optional.empty(), List.of("training.optimizer.kind=muon"));
        assertEquals(0.95, begun.training().update().optimizer().momentum());
        RunSpec resumed = RunSpecReader.read(Optional.of(write(begun.toHocon())),
                List.of("training.optimizer.kind=adamw"));
        assertEquals(0, resumed.training().update().optimizer().momentum());
    }

    private void assertReadsBack(List<String> settings) throws IOException {
        RunSpec run = RunSpecReader.read(Optional.empty(), settings);
        RunSpec again = RunSpecReader.read(Optional.of(write(run.toHocon())), List.of());
        assertEquals(run, again, run::toHocon);
        assertEquals(sections(run), sections(again), run::toHocon);
        assertEquals(run.toHocon(), again.toHocon());
    }

    private static ModelSection model(int layers, int hidden, int heads, int sequenceLength, int vocabularySize,
            boolean tieEmbeddings) {
        return new ModelSection(Optional.empty(), Optional.of("gpt2"), Map.of("layers", layers, "hidden", hidden,
                "heads", heads, "sequence-length", sequenceLength, "vocabulary-size", vocabularySize,
                "tie-embeddings", tieEmbeddings));
    }

    static List<Object> sections(RunSpec run) {
        return List.of(run.name(), run.model(), run.data(), run.training(), run.parallel(), run.engine(),
                run.transport(), run.recovery(), run.observe(), run.cluster(), run.faults());
    }

    private Path write(String text) throws IOException {
        return Files.writeString(folder.resolve("run.conf"), text);
    }
}
