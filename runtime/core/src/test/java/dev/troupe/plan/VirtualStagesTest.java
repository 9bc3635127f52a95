package dev.troupe.plan;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.troupe.config.RunSpecReader;
import dev.troupe.schedule.family.Schedules;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The stages of a rank if a configuration does not give their number. */
@Tag("plan")
class VirtualStagesTest {
    @Test
    void shouldBeTwoUnderEveryScheduleThatHasNoOtherNumber() {
        for (String schedule : Schedules.names()) {
            assertEquals(takesOne(schedule) ? 1 : 2, virtualStages("parallel.schedule=" + schedule), schedule);
        }
    }

    @Test
    void shouldBeThoseThatAreGiven() {
        assertEquals(1, virtualStages("parallel.schedule=zbv", "parallel.virtual-stages=1"));
        assertEquals(3, virtualStages("parallel.schedule=interleaved-1f1b", "parallel.virtual-stages=3"));
    }

    private static int virtualStages(String... settings) {
        return RunSpecReader.read(Optional.empty(), List.of(settings)).parallel().virtualStages();
    }

    private static boolean takesOne(String schedule) {
        try {
            Schedules.named(schedule).plan(2, 1, 4);
            return true;
        } catch (RuntimeException refused) {
            return !refused.getMessage().contains("set virtual-stages to 2");
        }
    }
}
