package dev.troupe.protocol.run;

import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.troupe.protocol.Edge;
import dev.troupe.protocol.Incarnation;
import java.util.HashMap;
import java.util.Map;

/** The contents of messages: the same for every incarnation, and for every repetition. */
final class MessageContents {
    private record Sent(long pass, Edge edge, int microbatch) {
    }

    private final Map<Sent, Long> contents = new HashMap<>();

    void lands(Incarnation receiver, Carrier.Message message) {
        Long before = contents.put(new Sent(message.pass(), message.edge(), message.microbatch()), message.content());
        assertTrue(before == null || before == message.content(),
                () -> message + " says something else than when it came to " + receiver + " before");
    }
}
