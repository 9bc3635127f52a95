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
        for (boolean starting : List.of(true, false)) {
            assertEquals(Optional.of(new ProgressAnswer.Question(17, starting)),
                    ProgressAnswer.Question.of(ProgressAnswer.ask(17, starting)));
        }
        for (ProgressAnswer answer : List.of(new ProgressAnswer(17, false, OptionalLong.empty()),
                new ProgressAnswer(17, true, OptionalLong.empty()), new ProgressAnswer(17, true, OptionalLong.of(0)),
                new ProgressAnswer(17, true, OptionalLong.of(240)))) {
            assertEquals(Optional.of(answer), ProgressAnswer.of(answer.line()));
        }
    }

    @Test
    void shouldLeaveOtherLinesAlone() {
        for (String line : List.of("", "stop", "step 17/20", "troupe-progress", "troupe-progress x", "progress 17 18",
                "troupe-progress 17 18 19", " troupe-progress 17", "progress 1234567890123456789")) {
            assertEquals(Optional.empty(), ProgressAnswer.of(line), line);
            assertEquals(Optional.empty(), ProgressAnswer.Question.of(line), line);
        }
    }
}
