package dev.troupe.cli;

import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.troupe.config.fault.FaultSpec;
import dev.troupe.rank.fault.FaultLog;
import java.nio.file.Path;
import java.util.List;

/** Checks that the faults of a test struck: a run without its faults ends well too, and proves nothing. */
final class Struck {
    private Struck() {
    }

    /** Each of these faults struck in a run. */
    static void require(Path run, String... faults) {
        List<String> struck = FaultLog.read(run).stream().map(fired -> fired.fault()).toList();
        for (String fault : faults) {
            String text = FaultSpec.parse(fault, "a test", "").text();
            assertTrue(struck.contains(text), () -> "\"" + text + "\" did not strike in " + run + ", only " + struck);
        }
    }
}
