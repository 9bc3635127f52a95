package dev.troupe.cli.stop;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("plan")
class ProgressAnswerTest {
    @Test
    void shouldReadItsOwnLines() {
        assertEquals(OptionalLong.of(17), ProgressAnswer.asked(ProgressAnswer.ask(17)));
        for (OptionalLong steps : List.of(OptionalLong.empty(), OptionalLong.of(0), OptionalLong.of(240))) {
            ProgressAnswer answer = new ProgressAnswer(17, steps);
            assertEquals(Optional.of(answer), ProgressAnswer.of(answer.line()));
        }
    }

    @Test
    void shouldLeaveOtherLinesAlone() {
        for (String line : List.of("", "stop", "step 17/20", "troupe-progress", "troupe-progress x", "progress 17 18",
                "troupe-progress 17 18 19", " troupe-progress 17", "progress 1234567890123456789")) {
            assertEquals(Optional.empty(), ProgressAnswer.of(line), line);
            assertEquals(OptionalLong.empty(), ProgressAnswer.asked(line), line);
        }
    }
}
