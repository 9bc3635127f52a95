package dev.troupe.collective.shared;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.troupe.collective.CollectiveException;
import dev.troupe.collective.CollectiveGroup;
import dev.troupe.collective.Crowd;
import dev.troupe.collective.GroupContract;
import dev.troupe.collective.Membership;
import java.time.Duration;
import java.util.List;
import java.util.OptionalInt;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("parity")
class SharedGroupTest extends GroupContract {
    private static final Duration DEADLINE = Duration.ofSeconds(30);

    @Override
    protected List<CollectiveGroup> members(int size, Duration deadline) {
        SharedGroup group = group(size, deadline);
        return IntStream.range(0, size).mapToObj(member -> group.join(member, 0)).toList();
    }

    private static SharedGroup group(int size, Duration deadline) {
        return new SharedGroup(new Membership("tensor", IntStream.range(10, 10 + size).boxed().toList(), deadline));
    }

    @Test
    void shouldEndAnEpochWhenTheNextBegins() {
        SharedGroup group = group(2, DEADLINE);
        CollectiveGroup old = group.join(0, 3);
        List<Throwable> failures = Crowd.failures(List.of(0, 1), member -> {
            if (member == 0) {
                old.barrier();
            } else {
                group.join(1, 4);
            }
        });
        String sentence = assertInstanceOf(CollectiveException.class, failures.getFirst()).getMessage();
        assertEquals(
                "member 0 (rank 10) of the tensor group [10, 11], epoch 3, at collective 0, barrier: epoch 4 has begun",
                sentence);
        assertThrows(CollectiveException.class, old::barrier);
    }

    @Test
    void shouldRefuseAMemberOfAnEarlierEpoch() {
        SharedGroup group = group(2, DEADLINE);
        group.join(0, 4);
        CollectiveException refusal = assertThrows(CollectiveException.class, () -> group.join(1, 3));
        assertEquals("member 1 (rank 11) cannot join the tensor group [10, 11] in epoch 3: epoch 4 has begun",
                refusal.getMessage());
        assertEquals(OptionalInt.of(1), refusal.culprit());
        assertTrue(assertThrows(CollectiveException.class, () -> group.join(0, 4)).getMessage()
                .contains("it has joined already"));
    }

    @Test
    void shouldWorkAgainInTheNextEpoch() {
        SharedGroup group = group(3, DEADLINE);
        for (int epoch = 0; epoch < 3; epoch++) {
            int present = epoch;
            List<CollectiveGroup> members = IntStream.range(0, 3).mapToObj(member -> group.join(member, present))
                    .toList();
            Crowd.play(members, CollectiveGroup::barrier);
            members.get(epoch).close();
            assertThrows(CollectiveException.class, members.get(0)::barrier);
        }
    }
}
