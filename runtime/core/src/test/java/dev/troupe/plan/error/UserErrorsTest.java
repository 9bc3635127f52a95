package dev.troupe.plan.error;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.troupe.data.DataException;
import dev.troupe.plan.UsageException;
import dev.troupe.plan.checkpoint.CheckpointException;
import dev.troupe.schedule.PlanException;
import dev.troupe.tokenizer.file.TokenizerException;
import dev.troupe.transport.TransportException;
import dev.troupe.weights.WeightException;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class UserErrorsTest {
    @Test
    void shouldGiveTheSentenceOfEveryExceptionThatIsOneForTheUser() {
        for (RuntimeException refusal : List.of(new UsageException("why"), new CheckpointException("why"),
                new TransportException("why"), new PlanException("why"), new WeightException("why"),
                new DataException("why"), new TokenizerException("why"))) {
            assertEquals(Optional.of("why"), UserErrors.sentenceOf(refusal), refusal.getClass().getSimpleName());
        }
    }

    @Test
    void shouldTakeAnythingElseForADefect() {
        assertEquals(Optional.empty(), UserErrors.sentenceOf(new IllegalStateException("what?")));
    }
}
