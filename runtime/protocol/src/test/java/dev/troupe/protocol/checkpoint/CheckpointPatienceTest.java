package dev.troupe.protocol.checkpoint;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("plan")
class CheckpointPatienceTest {
    @Test
    void shouldWaitUntilAHangIsAssumed() {
        assertEquals(6, looks(new CheckpointPatience(100, 5, 1)));
    }

    @Test
    void shouldWaitForHalfOfTheTimeoutIfThatIsLess() {
        assertEquals(11, looks(new CheckpointPatience(20, 50, 1)));
    }

    @Test
    void shouldWaitForHalfOfTheTimeoutIfNoHangIsAssumed() {
        assertEquals(11, looks(new CheckpointPatience(20, 0, 1)));
    }

    @Test
    void shouldBeginAnewWhenSomethingMoves() {
        CheckpointPatience patience = new CheckpointPatience(20, 5, 2);
        assertEquals(3, looks(patience));
        patience.moved();
        assertEquals(3, looks(patience));
        patience.isOver(false);
        assertEquals(3, looks(patience));
    }

    private static int looks(CheckpointPatience patience) {
        int looks = 1;
        while (!patience.isOver(true)) {
            looks++;
        }
        return looks;
    }
}
