package dev.troupe.machine;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.troupe.transport.Edge;
import dev.troupe.transport.MessageKind;
import java.util.List;
import org.junit.jupiter.api.Test;

class SendLogTest {
    @Test
    void shouldLetGoAtOnceWhileItIsOpen() {
        SendLog<String> log = new SendLog<>(true);
        assertTrue(log.add(parcel(0), "a"));
        log.close();
        assertFalse(log.add(parcel(1), "b"));
    }

    @Test
    void shouldSendAgainInOrderWhatReceiversDoNotHave() {
        SendLog<String> log = new SendLog<>(true);
        for (int microbatch = 4; microbatch > 0; microbatch--) {
            log.add(parcel(microbatch), "m" + microbatch);
        }
        log.close();
        log.add(parcel(0), "m0");
        assertEquals(List.of("m4", "m2", "m0"),
                List.copyOf(log.open(Parcels.of(List.of(parcel(3), parcel(1)))).values()));
    }

    @Test
    void shouldKeepToItselfWhatARestartedRankSendsAndReceiversHave() {
        SendLog<String> log = new SendLog<>(false);
        assertFalse(log.add(parcel(0), "a"), "nobody has said yet what it has");
        log.open(Parcels.of(List.of(parcel(0), parcel(1))));
        assertFalse(log.add(parcel(1), "b"));
        assertTrue(log.add(parcel(2), "c"));
    }

    @Test
    void shouldForgetThePassBeforeWithWhatReceiversHadOfIt() {
        SendLog<String> log = new SendLog<>(true);
        log.add(parcel(0), "old");
        log.open(Parcels.of(List.of(parcel(0))));
        assertEquals(List.of("old"), List.copyOf(log.clear().values()));
        assertTrue(log.add(parcel(0), "new"));
    }

    @Test
    void shouldKnowTheVeryContentThatItKeeps() {
        SendLog<Object> log = new SendLog<>(true);
        Object kept = new Object();
        log.add(parcel(0), kept);
        assertTrue(log.keeps(kept));
        assertFalse(log.keeps(new Object()));
        log.clear();
        assertFalse(log.keeps(kept));
    }

    @Test
    void shouldRefuseASecondMessageOfOneName() {
        SendLog<String> log = new SendLog<>(true);
        log.add(parcel(0), "a");
        assertThrows(IllegalStateException.class, () -> log.add(parcel(0), "b"));
    }

    private static Parcel parcel(int microbatch) {
        return new Parcel(new Edge(0, 1, 1, MessageKind.ACTIVATION), microbatch);
    }
}
