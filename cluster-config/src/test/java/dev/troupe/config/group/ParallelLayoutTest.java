package dev.troupe.config.group;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

@Tag("plan")
class ParallelLayoutTest {
    private static final int LARGEST_DEGREE = 4;

    @Test
    void shouldGroupSixteenRanksAsMegatronDoes() {
        ParallelLayout layout = ParallelLayout.filling(16, 4, 2).dividingExperts(2);
        Map<GroupKind, List<List<Integer>>> expected = Map.of(
                GroupKind.TENSOR,
                List.of(List.of(0, 1), List.of(2, 3), List.of(4, 5), List.of(6, 7), List.of(8, 9), List.of(10, 11),
                        List.of(12, 13), List.of(14, 15)),
                GroupKind.PIPELINE,
                List.of(List.of(0, 4, 8, 12), List.of(1, 5, 9, 13), List.of(2, 6, 10, 14), List.of(3, 7, 11, 15)),
                GroupKind.DATA,
                List.of(List.of(0, 2), List.of(1, 3), List.of(4, 6), List.of(5, 7), List.of(8, 10), List.of(9, 11),
                        List.of(12, 14), List.of(13, 15)),
                GroupKind.EXPERT,
                List.of(List.of(0, 2), List.of(1, 3), List.of(4, 6), List.of(5, 7), List.of(8, 10), List.of(9, 11),
                        List.of(12, 14), List.of(13, 15)),
                GroupKind.EXPERT_DATA, IntStream.range(0, 16).mapToObj(List::of).toList(),
                GroupKind.MODEL, List.of(List.of(0, 1, 4, 5, 8, 9, 12, 13), List.of(2, 3, 6, 7, 10, 11, 14, 15)),
                GroupKind.EMBEDDING, List.of(List.of(0, 12), List.of(1, 13), List.of(2, 14), List.of(3, 15)),
                GroupKind.POSITION_EMBEDDING, List.of(List.of(0), List.of(1), List.of(2), List.of(3)));
        expected.forEach((kind, groups) -> assertEquals(groups, layout.groups(kind), kind.word()));
        assertEquals(GroupKind.values().length, expected.size());
        assertEquals(new ParallelLayout(4, 2, 2).dividingExperts(2), layout);
    }

    @Test
    void shouldDivideExpertsAmongConsecutiveDataRanks() {
        ParallelLayout layout = new ParallelLayout(2, 4, 1).dividingExperts(2);
        assertEquals(List.of(List.of(0, 1), List.of(2, 3), List.of(4, 5), List.of(6, 7)),
                layout.groups(GroupKind.EXPERT));
        assertEquals(List.of(List.of(0, 2), List.of(1, 3), List.of(4, 6), List.of(5, 7)),
                layout.groups(GroupKind.EXPERT_DATA));
        ParallelLayout whole = new ParallelLayout(2, 4, 1);
        assertEquals(whole.groups(GroupKind.DATA), whole.groups(GroupKind.EXPERT_DATA));
        assertThrows(LayoutException.class, () -> whole.dividingExperts(3));
    }

    @Test
    void shouldNumberTensorFastestThenDataThenPipeline() {
        ParallelLayout layout = new ParallelLayout(2, 3, 2);
        assertEquals(new Coordinates(0, 0, 1), layout.coordinates(1));
        assertEquals(new Coordinates(0, 1, 0), layout.coordinates(2));
        assertEquals(new Coordinates(1, 0, 0), layout.coordinates(6));
        assertEquals(new Coordinates(1, 2, 1), layout.coordinates(11));
    }

    @Test
    void shouldGiveEachRankOnePlace() {
        forEveryLayout(layout -> {
            for (int rank = 0; rank < layout.worldSize(); rank++) {
                assertEquals(rank, layout.rank(layout.coordinates(rank)), layout::toString);
            }
            assertEquals(layout.worldSize(),
                    IntStream.range(0, layout.worldSize()).mapToObj(layout::coordinates).distinct().count());
        });
    }

    @Test
    void shouldDivideTheRanksIntoGroupsOfOneSize() {
        forEveryLayout(layout -> {
            int world = layout.worldSize();
            List<Integer> all = IntStream.range(0, world).boxed().toList();
            requireParted(layout, GroupKind.TENSOR, layout.tensor(), all);
            requireParted(layout, GroupKind.PIPELINE, layout.pipeline(), all);
            requireParted(layout, GroupKind.DATA, layout.data(), all);
            requireParted(layout, GroupKind.MODEL, world / layout.data(), all);
            List<Integer> first = all.subList(0, world / layout.pipeline());
            requireParted(layout, GroupKind.POSITION_EMBEDDING, 1, first);
            List<Integer> ends = Stream.concat(first.stream(), all.subList(world - first.size(), world).stream())
                    .distinct().toList();
            requireParted(layout, GroupKind.EMBEDDING, Math.min(2, layout.pipeline()), ends);
        });
    }

    /** Every rank is in exactly one group, all groups are of one size, and each finds its own again. */
    private static void requireParted(ParallelLayout layout, GroupKind kind, int size, List<Integer> ranks) {
        List<List<Integer>> groups = layout.groups(kind);
        assertEquals(ranks, groups.stream().flatMap(List::stream).sorted().toList(), () -> kind + " of " + layout);
        for (List<Integer> group : groups) {
            assertEquals(size, group.size(), () -> kind + " of " + layout);
            assertEquals(group.stream().sorted().toList(), group);
            group.forEach(rank -> assertEquals(group, layout.group(kind, rank)));
        }
        assertEquals(groups.stream().map(List::getFirst).sorted().toList(),
                groups.stream().map(List::getFirst).toList());
        IntStream.range(0, layout.worldSize()).filter(rank -> !ranks.contains(rank))
                .forEach(rank -> assertEquals(List.of(), layout.group(kind, rank)));
    }

    @Test
    void shouldShareOneRankBetweenGroupsOfDifferentDimensions() {
        forEveryLayout(layout -> {
            for (int rank = 0; rank < layout.worldSize(); rank++) {
                int own = rank;
                for (List<GroupKind> pair : List.of(List.of(GroupKind.TENSOR, GroupKind.DATA),
                        List.of(GroupKind.TENSOR, GroupKind.PIPELINE), List.of(GroupKind.DATA, GroupKind.PIPELINE),
                        List.of(GroupKind.DATA, GroupKind.MODEL))) {
                    assertEquals(List.of(own), layout.group(pair.get(0), own).stream()
                            .filter(layout.group(pair.get(1), own)::contains).toList(), () -> pair + " of " + layout);
                }
                assertTrue(layout.group(GroupKind.MODEL, own).containsAll(layout.group(GroupKind.TENSOR, own)));
                assertTrue(layout.group(GroupKind.PIPELINE, own).containsAll(layout.group(GroupKind.EMBEDDING, own)));
            }
        });
    }

    @ParameterizedTest
    @CsvSource(delimiter = '!', value = {
            "15 ! 4 ! 2 ! a world of 15 ranks is not filled by pipeline x tensor = 4 x 2 = 8, whatever data is: make the"
                    + " world 8 or 16",
            "1 ! 4 ! 2 ! a world of 1 rank is not filled by pipeline x tensor = 4 x 2 = 8, whatever data is: make the"
                    + " world 8",
            "0 ! 1 ! 1 ! a world must have 1 rank or more, but found 0",
            "4 ! 0 ! 1 ! pipeline must be 1 or more, but found 0: a degree of 1 leaves it out",
            "4 ! 1 ! -1 ! tensor must be 1 or more, but found -1: a degree of 1 leaves it out",
            "4 ! 65536 ! 65536 ! pipeline x data x tensor must be at most 2147483647 ranks, but 65536 x 1 x 65536 are"
                    + " more: take fewer"})
    void shouldRefuseAWorldThatIsNotFilled(int world, int pipeline, int tensor, String sentence) {
        assertEquals(sentence, assertThrows(LayoutException.class,
                () -> ParallelLayout.filling(world, pipeline, tensor)).getMessage());
    }

    @Test
    void shouldRefuseMoreOrFewerRanksThanItHasPlaces() {
        ParallelLayout layout = new ParallelLayout(2, 3, 4);
        layout.requireFilledBy(24);
        for (int world : new int[]{23, 25, 48}) {
            assertEquals("a world of " + world + " ranks is not filled by pipeline x data x tensor = 2 x 3 x 4 = 24: "
                    + "make the world 24, or change a degree",
                    assertThrows(LayoutException.class, () -> layout.requireFilledBy(world)).getMessage());
        }
        assertEquals("data must be 1 or more, but found 0: a degree of 1 leaves it out",
                assertThrows(LayoutException.class, () -> new ParallelLayout(1, 0, 1)).getMessage());
    }

    @Test
    void shouldRefuseRanksOutsideTheWorld() {
        ParallelLayout layout = new ParallelLayout(2, 1, 2);
        assertThrows(IndexOutOfBoundsException.class, () -> layout.coordinates(4));
        assertThrows(IndexOutOfBoundsException.class, () -> layout.coordinates(-1));
        assertThrows(IndexOutOfBoundsException.class, () -> layout.rank(new Coordinates(0, 1, 0)));
        assertThrows(IndexOutOfBoundsException.class, () -> layout.group(GroupKind.DATA, 4));
    }

    @Test
    void shouldNameEachKindOnce() {
        assertEquals(GroupKind.values().length,
                Stream.of(GroupKind.values()).map(GroupKind::word).collect(Collectors.toSet()).size());
    }

    private static void forEveryLayout(Consumer<ParallelLayout> check) {
        for (int pipeline = 1; pipeline <= LARGEST_DEGREE; pipeline++) {
            for (int data = 1; data <= LARGEST_DEGREE; data++) {
                for (int tensor = 1; tensor <= LARGEST_DEGREE; tensor++) {
                    check.accept(new ParallelLayout(pipeline, data, tensor));
                }
            }
        }
    }

    /** Stage 0 on ranks 0 and 1, stage 1 on rank 2, stage 2 on ranks 3 to 5. */
    @Test
    void shouldNumberReplicasStageByStage() {
        ParallelLayout layout = new ParallelLayout(3, 1, 1, List.of(2, 1, 3), 1);
        assertEquals(6, layout.worldSize());
        assertEquals(new Coordinates(0, 1, 0), layout.coordinates(1));
        assertEquals(new Coordinates(1, 0, 0), layout.coordinates(2));
        assertEquals(new Coordinates(2, 2, 0), layout.coordinates(5));
        for (int rank = 0; rank < 6; rank++) {
            assertEquals(rank, layout.rank(layout.coordinates(rank)));
        }
        assertEquals(List.of(List.of(0, 1), List.of(2), List.of(3, 4, 5)), layout.groups(GroupKind.DATA));
        assertEquals(List.of(List.of(0, 1, 2, 3, 4, 5)), layout.groups(GroupKind.PIPELINE));
        assertEquals(List.of(List.of(0, 1, 3, 4, 5)), layout.groups(GroupKind.EMBEDDING));
        assertEquals(3, layout.holders(2));
        assertThrows(LayoutException.class, () -> new ParallelLayout(2, 1, 1, List.of(2, 1, 3), 1));
        assertThrows(LayoutException.class, () -> new ParallelLayout(3, 2, 1, List.of(2, 1, 3), 1));
    }
}
