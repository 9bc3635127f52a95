package dev.troupe.run;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.troupe.checkpoint.CheckpointException;
import dev.troupe.data.DataException;
import dev.troupe.schedule.PlanException;
import dev.troupe.transport.TransportException;
import dev.troupe.weights.WeightException;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class RefusalsTest {
    @Test
    void shouldGiveTheSentenceOfEveryExceptionThatIsOneForTheUser() {
        for (RuntimeException refusal : List.of(new RequestException("why"), new CheckpointException("why"),
                new TransportException("why"), new PlanException("why"), new WeightException("why"),
                new DataException("why"))) {
            assertEquals(Optional.of("why"), Refusals.sentenceOf(refusal), refusal.getClass().getSimpleName());
        }
    }

    @Test
    void shouldTakeAnythingElseForADefect() {
        assertEquals(Optional.empty(), Refusals.sentenceOf(new IllegalStateException("what?")));
    }
}
