package dev.troupe.plan;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.troupe.config.RunSpec;
import dev.troupe.config.RunSpecReader;
import dev.troupe.model.ModelSpec;
import dev.troupe.model.gpt2.Gpt2;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The limits of runs in several processes, which ranks in one process do not have. */
@Tag("plan")
class ClusterLimitsTest {
    private static final ModelSpec MODEL = new Gpt2(2, 8, 2, 16, 256, true, Gpt2.NORM_EPSILON).spec();

    @Test
    void shouldRefuseAGroupThatItsMembersCannotNumber() {
        assertDoesNotThrow(() -> require("parallel.data=64", "training.global-batch-size=64"));
        assertEquals(
                "parallel.data = 66 ranks are a group on 2 nodes, and a group between processes has at most 64: lower"
                        + " it, or give all ranks of such a group to one node (cluster.nodes)",
                refusal("parallel.data=66", "training.global-batch-size=66"));
        assertDoesNotThrow(() -> require("parallel.data=66", "parallel.pipeline=2", "training.global-batch-size=66"),
                "each group is on a node of its own");
    }

    @Test
    void shouldRefuseMoreMicrobatchesThanAMessageHasLossesFor() {
        assertDoesNotThrow(() -> require("parallel.pipeline=2", "training.global-batch-size=16384"));
        assertEquals(
                "the report of a rank at the end of a step could take 300,128 bytes (20,000 microbatches, 2 blocks), and a"
                        + " control message between processes has room for 253,952: lower training.global-batch-size, or raise"
                        + " training.microbatch-size or parallel.pipeline",
                refusal("parallel.pipeline=2", "training.global-batch-size=20000"));
        List<String> alone = new ArrayList<>(SETTINGS);
        alone.addAll(List.of("parallel.pipeline=2", "training.global-batch-size=20000"));
        assertDoesNotThrow(() -> ClusterLimits.require(RunSpecReader.read(Optional.empty(), alone), MODEL),
                "in one process nothing is written");
    }

    @Test
    void shouldRefuseMoreMessagesThanAReportCanHold() {
        assertEquals("the report of a rank in a recovery could take 368,424 bytes (128 virtual stages, 10,400"
                + " microbatches), and a control message between processes has room for 253,952: lower"
                + " parallel.virtual-stages or training.global-batch-size, or raise training.microbatch-size",
                refusal("parallel.pipeline=2", "parallel.virtual-stages=128", "training.global-batch-size=10400"));
    }

    private static final List<String> SETTINGS = List.of("engine.kind=emulated", "model.layers=2", "model.hidden=8",
            "model.heads=2", "model.sequence-length=16", "parallel.pipeline=1", "parallel.virtual-stages=1",
            "parallel.schedule=1f1b", "training.global-batch-size=4", "training.microbatch-size=1");

    private static void require(String... settings) {
        List<String> all = new ArrayList<>(SETTINGS);
        all.addAll(List.of(settings));
        all.add("cluster.nodes=[{name=a,host=127.0.0.1,control-port=1,data-port=2},"
                + "{name=b,host=127.0.0.1,control-port=3,data-port=4}]");
        RunSpec spec = RunSpecReader.read(Optional.empty(), all);
        ClusterLimits.require(spec, MODEL);
    }

    private static String refusal(String... settings) {
        return assertThrows(UsageException.class, () -> require(settings)).getMessage();
    }
}
