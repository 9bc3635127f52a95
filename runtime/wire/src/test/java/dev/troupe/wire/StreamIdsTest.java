package dev.troupe.wire;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.HashSet;
import java.util.Set;
import org.junit.jupiter.api.Test;

class StreamIdsTest {
    private static final int NODES = 16;

    @Test
    void shouldNeverGiveAnIdTwice() {
        Set<Integer> given = new HashSet<>();
        int count = 0;
        for (int since = 0; since < 50; since++) {
            for (int from = 0; from < NODES; from++) {
                for (int to = 0; to < NODES; to++) {
                    given.add(StreamIds.ofNodes(from, to, NODES, since));
                    count++;
                }
            }
        }
        for (int number = 0; number < 200; number++) {
            for (int member = 0; member < StreamIds.MOST_MEMBERS; member++) {
                given.add(StreamIds.ofMember(number, member));
                count++;
            }
        }
        for (int number = 1; number < 5000; number++) {
            given.add(StreamIds.ofProcess(number));
            given.add(StreamIds.ofCopies(number));
            count += 2;
        }
        assertEquals(count, given.size());
    }

    /** The last id of each range is below the first of the next one. */
    @Test
    void shouldRefuseAnIdThatIsOfAnotherUse() {
        int lastOfProcesses = StreamIds.ofProcess((1L << 30) - 1);
        assertThrows(IllegalStateException.class, () -> StreamIds.ofProcess(1L << 30));
        int moves = ((1 << 30) - 1) / (NODES * NODES);
        assertTrue(lastOfProcesses < StreamIds.ofNodes(0, 0, NODES, moves));
        assertThrows(IllegalStateException.class, () -> StreamIds.ofNodes(0, 0, NODES, moves + 1));
        assertTrue(StreamIds.ofNodes(300, 300, 301, 0) < StreamIds.ofMember(0, 0));
        assertThrows(IllegalStateException.class, () -> StreamIds.ofNodes(400, 400, 401, 0));
        int groups = (1_000_000_000 - 100_000) / StreamIds.MOST_MEMBERS;
        assertTrue(StreamIds.ofMember(groups - 1, StreamIds.MOST_MEMBERS - 1) < StreamIds.ofCopies(0));
        assertTrue(assertThrows(IllegalStateException.class, () -> StreamIds.ofMember(groups + 1, 0)).getMessage()
                .startsWith("the 999900000 stream ids for groups and moves of ranks do not reach: number "));
        assertTrue(StreamIds.ofCopies(StreamIds.MOST_RECEIVERS - 1) > 0);
    }
}
