package dev.troupe.config.cluster;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.troupe.config.spec.EmulatedSpec;
import dev.troupe.config.spec.EngineSpec;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Nodes are drawn as their host and the number of their ranks, dead ones with an x: {@code a2 a0 b1 b1x}. */
@Tag("plan")
class BuddiesTest {
    private static final EngineSpec ENGINE = new EngineSpec("cpu", 1, OptionalInt.empty(), "auto",
            EngineSpec.Float32Products.EXACT, false,
            new EmulatedSpec(List.of(), List.of(), List.of(), List.of(), List.of(), 0));

    @ParameterizedTest
    @CsvSource({
            // alone
            "a4, ''", "a2 a2x, ''",
            // the next of the file that has ranks, in a circle
            "a1 a1 a1, 0>1 1>2 2>0", "a1 a1x a1, 0>2 2>0", "a2 b2, 0>1 1>0",
            // a standby before any other, whatever its place
            "a1 a1 a0, 0>2 1>2", "a0 a1 a1, 1>0 2>0", "a1 a1 a0x, 0>1 1>0",
            // spread evenly, in the order of the file
            "a1 a1 a0 a0, 0>2 1>3", "a1 a1 a1 a1 a0 a0, 0>4 1>5 2>4 3>5",
            // on another host if there is a choice
            "a1 a1 b1, 0>2 1>2 2>0", "a1 a1 b1 b1, 0>2 1>3 2>0 3>1", "a1 b1 a0 b0, 0>3 1>2",
            // a standby of the same host is still one that has the cores
            "a1 b1 a0, 0>2 1>2"
    })
    void shouldNameABuddy(String drawn, String expected) {
        assertEquals(expected, buddies(drawn).entrySet().stream()
                .map(pair -> pair.getKey() + ">" + pair.getValue()).collect(Collectors.joining(" ")));
    }

    /** Every cluster of up to five nodes on up to two hosts, with ranks, without or dead. */
    @Test
    void shouldNameALivingBuddyForEachNodeWithRanks() {
        List<String> kinds = List.of("a1", "a0", "a1x", "b1", "b0");
        for (int count = 1; count <= 5; count++) {
            for (int code = 0; code < (int) Math.pow(kinds.size(), count); code++) {
                int digits = code;
                String drawn = IntStream.range(0, count)
                        .mapToObj(place -> kinds.get(digits / (int) Math.pow(kinds.size(), place) % kinds.size()))
                        .collect(Collectors.joining(" "));
                requireBuddies(drawn);
            }
        }
    }

    @Test
    void shouldListTheRanksWithCopiesOnAMachine() {
        List<NodeSpec> nodes = nodes(List.of("a1", "a1", "b1", "b0"));
        ClusterSpec cluster = new ClusterSpec("test", nodes, Duration.ofSeconds(1), Optional.empty());
        assertEquals(List.of(0, 1), Buddies.ranksCopiedTo(cluster, "b"), "rank 2 is there itself");
        assertEquals(List.of(), Buddies.ranksCopiedTo(cluster, "a"));
        assertEquals(List.of(0, 1), Buddies.ranksCopied(cluster));
    }

    private static void requireBuddies(String drawn) {
        List<String> nodes = List.of(drawn.split(" "));
        Set<Integer> alive = alive(nodes);
        Map<Integer, Integer> buddies = buddies(drawn);
        long withRanks = nodes.stream().filter(node -> node.endsWith("1")).count();
        long free = nodes.stream().filter(node -> node.endsWith("0")).count();
        assertEquals(alive.size() > 1 ? withRanks : 0, buddies.size(), drawn);
        buddies.forEach((node, buddy) -> {
            assertNotEquals(node, buddy, drawn);
            assertTrue(alive.contains(buddy), drawn);
            assertEquals(free > 0, nodes.get(buddy).endsWith("0"), drawn);
        });
    }

    private static Map<Integer, Integer> buddies(String drawn) {
        List<String> nodes = List.of(drawn.split(" "));
        List<Integer> nodeOfRank = IntStream.range(0, nodes.size()).boxed()
                .flatMap(index -> IntStream.range(0, ranks(nodes.get(index))).mapToObj(_ -> index)).toList();
        return Buddies.of(nodes(nodes), nodeOfRank, alive(nodes));
    }

    private static List<NodeSpec> nodes(List<String> drawn) {
        return IntStream.range(0, drawn.size()).mapToObj(index -> {
            boolean isFree = ranks(drawn.get(index)) == 0;
            return new NodeSpec("n" + index, drawn.get(index).substring(0, 1), 1, 2, 0, ENGINE,
                    isFree ? List.of() : List.of(index), isFree);
        }).toList();
    }

    private static int ranks(String drawn) {
        return drawn.charAt(1) - '0';
    }

    private static Set<Integer> alive(List<String> nodes) {
        return IntStream.range(0, nodes.size()).filter(index -> !nodes.get(index).endsWith("x")).boxed()
                .collect(Collectors.toCollection(TreeSet::new));
    }
}
