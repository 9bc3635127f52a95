package dev.troupe.config;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.troupe.config.problem.ConfigException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The configuration of the run on one rank, to which {@code verify} compares any other, is one that can be read. */
@Tag("plan")
class OneRankTest {
    /** A value for every key that could depend on the grid, in addition to its default. */
    private static final List<List<String>> SETTINGS = List.of(
            List.of("parallel.data=2"), List.of("parallel.tensor=2"),
            List.of("parallel.data=3", "training.global-batch-size=12"),
            List.of("parallel.tensor=2", "parallel.sequence=true"), List.of("parallel.split-cool-down=true"),
            List.of("parallel.virtual-stages=2", "parallel.schedule=interleaved-1f1b"),
            List.of("parallel.virtual-stages=2", "parallel.schedule=zbv"), List.of("parallel.schedule=zb-h1"),
            List.of("parallel.schedule=pipedream-2bw", "parallel.flush-every=4", "parallel.warm-up=2"),
            List.of("parallel.schedule=pipedream-2bw", "parallel.updates=eager",
                    "training.optimizer.error-feedback=true"),
            List.of("parallel.schedule=pipedream", "parallel.replicas=[2,1,1,1]"),
            List.of("parallel.layout=parameters"),
            List.of("training.gradient-exchange=bfloat16", "parallel.data=2"), List.of("training.zero=1"),
            List.of("training.zero=3", "parallel.data=2"), List.of("training.precision=bfloat16"),
            List.of("training.precision=float64", "engine.kind=reference"), List.of("training.loss-scale=dynamic"),
            List.of("training.recompute=full", "training.recompute-every=2", "training.recompute-ahead=64MiB",
                    "training.recompute-partition=true"),
            List.of("training.recompute=full", "training.recompute-ahead=all"), List.of("training.recompute=selective"),
            List.of("training.dropout=0.1"), List.of("training.layer-drop.keep=0.5"),
            List.of("training.lora.rank=4", "training.lora.dropout=0.1"),
            List.of("training.optimizer.kind=muon"), List.of("training.optimizer.kind=sgd",
                    "training.optimizer.momentum=0.9", "training.optimizer.nesterov=true"),
            List.of("training.learning-rate.schedule=wsd"), List.of("training.learning-rate.peak=1e-2"),
            List.of("training.checkpoint-every=3", "training.validate-every=7"), List.of("data.order=epochs"),
            List.of("data.validation-fraction=0"), List.of("engine.threads=3"), List.of("engine.device=1"),
            List.of("engine.products=onednn", "engine.kind=cpu"), List.of("transport.network=udp"),
            List.of("transport.credits=4"), List.of("recovery.enabled=false"), List.of("observe.tensorboard=true"),
            List.of("faults=[\"exception stage=2 step=5\"]"));

    @TempDir
    private Path folder;

    @Test
    void shouldBeReadableForEveryPairOfSettings() throws IOException {
        int read = 0;
        for (int first = 0; first < SETTINGS.size(); first++) {
            for (List<String> other : SETTINGS.subList(first, SETTINGS.size())) {
                List<String> both = new ArrayList<>(SETTINGS.get(first));
                both.addAll(other);
                RunSpec spec;
                try {
                    spec = RunSpecReader.read(Optional.empty(), both);
                } catch (ConfigException _) {
                    continue; // nobody can ask for both
                }
                RunSpec alone = spec.onOneRank(2, "1f1b");
                Path file = Files.writeString(folder.resolve("one-rank.conf"), alone.toHocon());
                RunSpec again = RunSpecReader.read(Optional.of(file), List.of());
                assertEquals(alone, again, both.toString());
                assertEquals(RunSpecReaderTest.sections(alone), RunSpecReaderTest.sections(again), both.toString());
                read++;
            }
        }
        assertTrue(read > SETTINGS.size() * SETTINGS.size() / 4, read + " pairs can be asked for");
    }
}
