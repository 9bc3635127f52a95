package dev.troupe.run.cluster;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;

import dev.troupe.config.RunSpecReader;
import dev.troupe.plan.prepare.PreparedRun;
import dev.troupe.plan.prepare.RunRequest;
import dev.troupe.protocol.membership.Roster;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

@Tag("plan")
class CompatibilityKeysTest {
    @TempDir
    private Path home;

    /** The number follows from the sizes of a node's own engine. */
    @Test
    void shouldHaveTheBlocksThatFitInABudgetOfMemory() {
        assertEquals("1", keys("4KiB").get(Roster.BLOCKS_AHEAD));
        assertEquals("2", keys("16KiB").get(Roster.BLOCKS_AHEAD));
        assertNull(keys("2").get(Roster.BLOCKS_AHEAD), "a number of blocks is the same on every engine");
    }

    @Test
    void shouldCompareTheKeysOfTheConfigurationThatMayNotDiffer() {
        Map<String, String> keys = keys("2");
        assertEquals("6", keys.get("model.layers"));
        assertEquals("\"1f1b\"", keys.get("parallel.schedule"));
        assertEquals("0", keys.get("data.validation-fraction"));
        assertEquals("\"1800s\"", keys.get("training.checkpoint-interval"));
        assertEquals(List.of(), keys.keySet().stream().filter(key -> key.startsWith("engine.")
                || key.startsWith("data.path") || key.startsWith("cluster.tls") || key.equals("data.cache")).toList());
    }

    private Map<String, String> keys(String ahead) {
        List<String> settings = List.of("engine.kind=reference", "model.layers=6", "model.hidden=8", "model.heads=2",
                "model.sequence-length=16", "data.validation-fraction=0", "parallel.pipeline=2",
                "parallel.schedule=1f1b", "training.global-batch-size=4", "training.microbatch-size=1",
                "training.validate-every=0", "training.recompute=full", "training.recompute-ahead=" + ahead);
        try (PreparedRun run = PreparedRun.of(new RunRequest(RunSpecReader.read(Optional.empty(), settings),
                new byte[1 << 17], home.resolve("out"), Optional.empty(), OptionalLong.empty()))) {
            return CompatibilityKeys.of(run, "1");
        }
    }
}
