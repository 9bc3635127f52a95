package dev.troupe.protocol.rank;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.troupe.protocol.Edge;
import dev.troupe.protocol.MessageKey;
import dev.troupe.protocol.MessageKeys;
import dev.troupe.protocol.MessageKind;
import java.util.List;
import org.junit.jupiter.api.Test;

class SendLogTest {
    @Test
    void shouldSendAtOnceWhileItIsOpen() {
        SendLog<String> log = new SendLog<>(true);
        assertTrue(log.add(key(0), "a"));
        log.close();
        assertFalse(log.add(key(1), "b"));
    }

    @Test
    void shouldResendMissingMessagesInOrder() {
        SendLog<String> log = new SendLog<>(true);
        for (int microbatch = 4; microbatch > 0; microbatch--) {
            log.add(key(microbatch), "m" + microbatch);
        }
        log.close();
        log.add(key(0), "m0");
        assertEquals(List.of("m4", "m2", "m0"),
                List.copyOf(log.open(MessageKeys.of(List.of(key(3), key(1)))).values()));
    }

    @Test
    void shouldSuppressMessagesOfARestartedRankThatReceiversHave() {
        SendLog<String> log = new SendLog<>(false);
        assertFalse(log.add(key(0), "a"), "nobody has said yet what it has");
        log.open(MessageKeys.of(List.of(key(0), key(1))));
        assertFalse(log.add(key(1), "b"));
        assertTrue(log.add(key(2), "c"));
    }

    @Test
    void shouldForgetTheEarlierPassWithItsReceivedMessages() {
        SendLog<String> log = new SendLog<>(true);
        log.add(key(0), "old");
        log.open(MessageKeys.of(List.of(key(0))));
        assertEquals(List.of("old"), List.copyOf(log.clear().values()));
        assertTrue(log.add(key(0), "new"));
    }

    @Test
    void shouldRefuseASecondMessageOfOneName() {
        SendLog<String> log = new SendLog<>(true);
        log.add(key(0), "a");
        assertThrows(IllegalStateException.class, () -> log.add(key(0), "b"));
    }

    private static MessageKey key(int microbatch) {
        return new MessageKey(new Edge(0, 1, 1, MessageKind.ACTIVATION), microbatch);
    }
}
