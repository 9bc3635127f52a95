package dev.troupe.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.troupe.config.RunSpec;
import dev.troupe.config.RunSpecReader;
import dev.troupe.engine.conformance.share.Dealt;
import dev.troupe.plan.error.UserErrors;
import dev.troupe.plan.memory.RankMemory;
import dev.troupe.plan.prepare.PreparedRun;
import dev.troupe.plan.prepare.RunRequest;
import dev.troupe.schedule.family.Schedules;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Any configuration, however large, ends before the start in the memory of each rank or in a sentence that refuses it:
 * never in another exception, in a number below zero or in a wait without end. Nothing is started and nothing written.
 */
@Tag("plan")
@Dealt(3)
class SizesTest {
    private static final long SEED = Long.getLong("troupe.seed", 20_240_607);
    private static final int FEW_CONFIGURATIONS = 15;
    private static final int CONFIGURATIONS = Integer.getInteger("troupe.configurations", 40);
    private static final byte[] CORPUS = new byte[1 << 18];

    @TempDir
    Path home;

    @Test
    void shouldAnnounceOrRefuseWhateverIsAsked() {
        requireAnswers(SEED, FEW_CONFIGURATIONS);
    }

    @Tag("long")
    @Test
    void shouldAnnounceOrRefuseWhateverElseIsAsked() {
        requireAnswers(SEED + FEW_CONFIGURATIONS, CONFIGURATIONS);
    }

    private void requireAnswers(long seed, int count) {
        int announced = 0;
        for (int i = 0; i < count; i++) {
            List<String> settings = new DropoutKey(new SplittableRandom(seed + i)).settings();
            try {
                announced += refusal(settings).isEmpty() ? 1 : 0;
            } catch (RuntimeException | Error wrong) {
                throw new AssertionError("with -Dtroupe.seed=" + (seed + i) + " the configuration " + settings, wrong);
            }
        }
        assertTrue(announced > count / 20, "only " + announced + " of " + count + " got so far");
    }

    /** 128 blocks of 12 x 25,600 x 25,600 weights. */
    @Test
    void shouldAnnounceATrillionParametersOnAsManyRanksAsThereMayBeAndRefuseMore() {
        List<String> settings = new ArrayList<>(List.of("model.layers=128", "model.hidden=25600", "model.heads=160",
                "model.sequence-length=2048", "model.vocabulary-size=51200", "parallel.tensor=16",
                "parallel.pipeline=64",
                "training.microbatch-size=1", "engine.kind=emulated"));
        assertEquals(Optional.empty(),
                refusal(with(settings, "parallel.data=64", "training.global-batch-size=8192")));
        String refused = refusal(with(settings, "parallel.data=98", "training.global-batch-size=12544")).orElseThrow();
        assertTrue(refused.contains("100,352") || refused.contains("100352"), refused);
    }

    private static List<String> with(List<String> settings, String... more) {
        List<String> all = new ArrayList<>(settings);
        all.addAll(List.of(more));
        return all;
    }

    /** Returns the error of the configurations, or nothing if the memory of each rank was announced. */
    private Optional<String> refusal(List<String> settings) {
        Path output = home.resolve("out");
        try (PreparedRun run = PreparedRun.of(new RunRequest(RunSpecReader.read(Optional.empty(), settings), CORPUS,
                output, Optional.empty(), OptionalLong.empty()))) {
            RunSpec spec = run.spec();
            assertEquals(spec.parallel().worldSize(), run.memory().ranks().size());
            for (RankMemory rank : run.memory().ranks()) {
                assertTrue(rank.weights() > 0 && rank.gradients() > 0 && rank.optimizer() >= 0 && rank.activations() > 0
                        && rank.boundary() >= 0 && rank.snapshots() >= 0 && rank.copies() >= 0
                        && rank.total() >= rank.weights() + rank.gradients(), () -> rank.toString());
            }
            return Optional.empty();
        } catch (RuntimeException refused) {
            String sentence = UserErrors.sentenceOf(refused).orElseThrow(() -> refused);
            assertTrue(!sentence.isBlank() && !sentence.contains("Exception"), sentence);
            return Optional.of(sentence);
        } finally {
            assertTrue(Files.notExists(output), "something was written");
        }
    }

    /** One configuration, drawn: small numbers as likely as large ones, most of them such that they divide. */
    private record DropoutKey(SplittableRandom random) {
        List<String> settings() {
            int tensor = 1 << upTo(10);
            int pipeline = (int) logarithmic(4096);
            int data = (int) logarithmic(Math.max(1, 100_000 / tensor / pipeline));
            int virtualStages = random.nextInt(3) == 0 ? (int) logarithmic(16) : 1;
            long layers = Math.max(1, (long) pipeline * virtualStages - 2 + logarithmic(200));
            long heads = tensor * logarithmic(64);
            long hidden = heads * (random.nextBoolean() ? 64 : logarithmic(1024));
            long microbatchSize = logarithmic(random.nextInt(8) == 0 ? Integer.MAX_VALUE : 256);
            // Plans that are prepared in a moment, and some that no memory could hold.
            long microbatches = random.nextInt(16) == 0
                    ? 1 << 20
                    : logarithmic(Math.max(1, 10_000 / pipeline / virtualStages));
            long sequence = tensor * logarithmic(random.nextInt(8) == 0 ? 1 << 24 : 2048);
            List<String> settings = new ArrayList<>(List.of("parallel.tensor=" + tensor,
                    "parallel.pipeline=" + pipeline,
                    "parallel.data=" + data, "parallel.virtual-stages=" + virtualStages, "model.layers=" + layers,
                    "model.heads=" + heads, "model.hidden=" + hidden, "model.sequence-length=" + sequence,
                    "model.vocabulary-size=" + Math.max(256, logarithmic(random.nextInt(8) == 0 ? 1L << 31 : 300_000)),
                    "model.tie-embeddings=" + random.nextBoolean(), "training.microbatch-size=" + microbatchSize,
                    "training.global-batch-size=" + data * microbatches * microbatchSize,
                    "training.zero=" + upTo(3), "training.recompute=" + anyOf("none", "selective", "full"),
                    "training.optimizer.kind=" + anyOf("adamw", "sgd"),
                    "parallel.sequence=" + (tensor > 1 && random.nextBoolean()),
                    "parallel.layout=" + anyOf("uniform", "parameters"),
                    "parallel.schedule=" + Schedules.names().get(random.nextInt(Schedules.names().size())),
                    "transport.credits=" + logarithmic(1024),
                    "engine.kind=" + anyOf("emulated", "emulated", "emulated", "cpu", "reference", "auto")));
            settings.add("training.validate-every=" + upTo(1));
            return settings;
        }

        private int upTo(int most) {
            return random.nextInt(most + 1);
        }

        /** From 1 to {@code most}, each power of two as likely as any other. */
        private long logarithmic(long most) {
            return Math.clamp(Math.round(Math.exp(random.nextDouble() * Math.log(most))), 1, most);
        }

        private String anyOf(String... words) {
            return words[random.nextInt(words.length)];
        }
    }
}
