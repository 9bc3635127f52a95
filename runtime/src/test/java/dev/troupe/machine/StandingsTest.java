package dev.troupe.machine;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.troupe.transport.Edge;
import dev.troupe.transport.MessageKind;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class StandingsTest {
    private static final Parcel FIRST = new Parcel(new Edge(0, 1, 1, MessageKind.ACTIVATION), 0);
    private static final Parcel SECOND = new Parcel(new Edge(0, 2, 2, MessageKind.ACTIVATION), 0);

    @Test
    void shouldBeCompleteWhenEveryRankStands() {
        Standings standings = begun();
        assertFalse(standings.stand(1, Parcels.of(List.of(FIRST))));
        assertTrue(standings.awaits(0));
        assertFalse(standings.stand(0, Parcels.of(List.of())));
        assertFalse(standings.isComplete());
        assertTrue(standings.stand(2, Parcels.of(List.of(SECOND))));
        assertTrue(standings.isComplete());
        assertEquals(Map.of(0, Parcels.of(List.of(FIRST, SECOND))), standings.received(), "by the rank that sent it");
    }

    @Test
    void shouldForgetWhoStoodWhenAnotherEpochBegins() {
        Standings standings = begun();
        standings.stand(1, Parcels.of(List.of(FIRST)));
        standings.begin(3);
        assertTrue(standings.awaits(1));
        assertEquals(Map.of(), standings.received());
    }

    @Test
    void shouldRefuseARankThatStandsTwice() {
        Standings standings = begun();
        standings.stand(1, Parcels.of(List.of()));
        assertThrows(IllegalStateException.class, () -> standings.stand(1, Parcels.of(List.of())));
    }

    private static Standings begun() {
        Standings standings = new Standings();
        standings.begin(3);
        return standings;
    }
}
