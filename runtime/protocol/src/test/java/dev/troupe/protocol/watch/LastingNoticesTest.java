package dev.troupe.protocol.watch;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.troupe.protocol.watch.Notice.Kind;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("plan")
class LastingNoticesTest {
    private final LastingNotices notices = new LastingNotices();

    private void add(Kind kind, int stage, String sentence) {
        notices.add(new Notice(kind, 7, 0, "", List.of(), List.of(stage), 2, sentence));
    }

    @Test
    void shouldKeepTheNewestSentenceOfEachSubject() {
        add(Kind.STRAGGLER, 1, "stage 1 is slow");
        add(Kind.STRAGGLER, 2, "stage 2 is slow");
        add(Kind.PACE, 0, "a node is lost");
        add(Kind.STRAGGLER_CHANGED, 1, "stage 1 is slower");
        assertEquals(List.of("stage 1 is slower", "stage 2 is slow", "a node is lost"), notices.sentences());
    }

    @Test
    void shouldDropASubjectThatHasEnded() {
        add(Kind.STRAGGLER, 1, "stage 1 is slow");
        add(Kind.ALL_SLOWER, 0, "all stages are slow");
        add(Kind.STRAGGLER_ENDED, 2, "stage 2 is as fast as before");
        add(Kind.LOSS_SPIKE, 1, "the loss is high");
        assertEquals(List.of("stage 1 is slow", "all stages are slow"), notices.sentences());
        add(Kind.STRAGGLER_ENDED, 1, "stage 1 is as fast as before");
        add(Kind.ALL_SLOWER_ENDED, 0, "all stages are as fast as before");
        assertEquals(List.of(), notices.sentences());
    }

    @Test
    void shouldReadEachKindByItsName() {
        for (Kind kind : Kind.values()) {
            assertEquals(Optional.of(kind), Kind.of(kind.code()));
        }
        assertEquals("all-slower-ended", Kind.ALL_SLOWER_ENDED.code());
        assertEquals(Optional.empty(), Kind.of("started"));
    }
}
