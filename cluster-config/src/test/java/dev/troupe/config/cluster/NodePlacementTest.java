package dev.troupe.config.cluster;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.troupe.config.group.GroupKind;
import dev.troupe.config.group.ParallelLayout;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("plan")
class NodePlacementTest {
    private static final Optional<List<Integer>> TO_PLACE = Optional.empty();
    private static final Optional<List<Integer>> STANDBY = Optional.of(List.of());

    @Test
    void shouldPutTensorGroupsWithinANodeAndThePipelineAcrossNodes() {
        // Pipeline 4, data 2, tensor 2: each place of the pipeline is four ranks, and goes to a node of its own.
        assertEquals(
                List.of(List.of(0, 1, 2, 3), List.of(4, 5, 6, 7), List.of(8, 9, 10, 11), List.of(12, 13, 14, 15)),
                place(new ParallelLayout(4, 2, 2), List.of(TO_PLACE, TO_PLACE, TO_PLACE, TO_PLACE)));
    }

    @Test
    void shouldGiveTheFirstNodesOneGroupMoreIfTheGroupsDoNotDivide() {
        assertEquals(List.of(List.of(0, 1, 2, 3), List.of(4, 5), List.of(6, 7)),
                place(new ParallelLayout(4, 1, 2), List.of(TO_PLACE, TO_PLACE, TO_PLACE)));
    }

    @Test
    void shouldPlaceNothingOnStandbysAndNodesWithRanks() {
        assertEquals(List.of(List.of(0, 1), List.of(), List.of(2), List.of(3)),
                place(new ParallelLayout(4, 1, 1), List.of(TO_PLACE, STANDBY, Optional.of(List.of(2)), TO_PLACE)));
    }

    @Test
    void shouldPlaceTheRemainingRanksOfAGroup() {
        assertEquals(List.of(List.of(1), List.of(0, 2, 3)),
                place(new ParallelLayout(2, 1, 2), List.of(Optional.of(List.of(1)), TO_PLACE)));
    }

    @Test
    void shouldSplitGroupsOnlyIfAllowedAndNeeded() {
        ParallelLayout layout = new ParallelLayout(1, 1, 4);
        List<Optional<List<Integer>>> two = List.of(TO_PLACE, TO_PLACE);
        assertEquals(List.of(List.of(0, 1, 2, 3), List.of()), NodePlacement.place(two, layout, false));
        assertEquals(List.of(List.of(0, 1), List.of(2, 3)), NodePlacement.place(two, layout, true));
        assertEquals(List.of(List.of(0, 1, 2, 3), List.of(4, 5, 6, 7)),
                NodePlacement.place(two, new ParallelLayout(2, 1, 4), true));
    }

    /** Every world of up to 4 x 3 x 3 ranks on up to 6 nodes. */
    @Test
    void shouldPlaceEveryRankOnceInWholeGroupsAndEvenly() {
        for (int pipeline = 1; pipeline <= 4; pipeline++) {
            for (int data = 1; data <= 3; data++) {
                for (int tensor = 1; tensor <= 3; tensor++) {
                    for (int nodes = 1; nodes <= 6; nodes++) {
                        assertPlacedWell(new ParallelLayout(pipeline, data, tensor), nodes);
                    }
                }
            }
        }
    }

    private static void assertPlacedWell(ParallelLayout layout, int nodes) {
        String message = layout + " on " + nodes;
        List<List<Integer>> placed = NodePlacement.place(Collections.nCopies(nodes, TO_PLACE), layout, false);
        assertEquals(nodes, placed.size(), message);
        assertEquals(IntStream.range(0, layout.worldSize()).boxed().toList(),
                placed.stream().flatMap(List::stream).toList(), message);
        for (List<Integer> group : layout.groups(GroupKind.TENSOR)) {
            assertEquals(1, placed.stream().filter(ranks -> !Collections.disjoint(ranks, group)).count(), message);
        }
        int most = placed.stream().mapToInt(List::size).max().orElseThrow();
        int fewest = placed.stream().mapToInt(List::size).min().orElseThrow();
        assertTrue(most - fewest <= layout.tensor(), message);
    }

    private static List<List<Integer>> place(ParallelLayout layout, List<Optional<List<Integer>>> given) {
        return NodePlacement.place(given, layout, false);
    }
}
