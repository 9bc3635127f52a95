package dev.troupe.parallel;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.troupe.parallel.ShardingMove.Collective;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("plan")
class ShardingMoveTest {
    private static final List<ShardType> TYPES = List.of(ShardType.REPLICATED, ShardType.INVARIANT, ShardType.PARTIAL,
            new ShardType.Varying(), ShardType.ROWS, new ShardType.Cut("inner"));

    @Test
    void shouldHaveALegalDualOfEveryLegalMove() {
        int legal = 0;
        for (ShardType from : TYPES) {
            assertEquals(from, from.dual().dual());
            for (ShardType to : TYPES) {
                ShardingMove move = new ShardingMove(from, to);
                assertEquals(move, move.dual().dual());
                assertEquals(move.legal().isPresent(), move.dual().legal().isPresent(), move.text());
                legal += move.legal().isPresent() ? 1 : 0;
            }
        }
        assertTrue(legal > TYPES.size() && legal < TYPES.size() * TYPES.size(), legal + " legal moves");
    }

    /** Both together send as two all-reduces do, whether rows are cut or not (Korthikanti et al. 2022). */
    @Test
    void shouldSendTheSameInEveryDivisionOfALayer() {
        for (boolean cutsRows : new boolean[]{false, true}) {
            LayerMoves moves = LayerMoves.of(cutsRows, false);
            assertEquals(4 * 1200 * 3 / 4, List.of(moves.enter(), moves.leave()).stream()
                    .mapToLong(move -> move.sentElements(1200, 4) + move.dual().sentElements(1200, 4)).sum());
        }
        LayerMoves whole = LayerMoves.of(true, true);
        assertEquals(Collective.ALL_GATHER, whole.enter().collective());
        assertEquals(Collective.SLICE, whole.enter().dual().collective());
        assertEquals(Collective.SLICE, whole.leave().collective());
        assertEquals(Collective.ALL_GATHER, whole.leave().dual().collective());
    }

    @Test
    void shouldRefuseAMoveThatDoesNotExist() {
        assertEquals("there is no move replicated -> partial", assertThrows(IllegalArgumentException.class,
                () -> new ShardingMove(ShardType.REPLICATED, ShardType.PARTIAL).collective()).getMessage());
    }
}
