package dev.troupe.partition;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.troupe.model.LayerSpec;
import dev.troupe.model.ModelSpec;
import dev.troupe.model.gpt2.Gpt2;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The layers of each stage: drawn cases, and rules over all small models. */
@Tag("plan")
class PartitionTest {
    @ParameterizedTest
    @CsvSource({"1, 1, EtL", "2, 2, Et|tL", "4, 4, Et|t|t|tL", "4, 6, E|t|t|t|t|L", "4, 5, Et|t|t|t|L",
            "8, 4, Ett|tt|tt|ttL", "6, 4, Et|tt|tt|tL", "6, 3, Ett|tt|ttL", "7, 4, Ett|tt|t*2|tL", "5, 4, Et|tt|t|tL",
            "12, 4, Ettt|ttt|ttt|tttL", "1, 3, E|t|L", "1, 2, Et|L"})
    void shouldSpreadLayersUniformly(int blocks, int stageCount, String layout) {
        ModelSpec model = model(blocks, 16);
        assertEquals(drawn(Partition.layout(model, stageCount, layout)), drawn(Partition.uniform(model, stageCount)));
    }

    @ParameterizedTest
    // A block of width 8 has 872 parameters, 304 in its attention half; the embedding 8 V + 32, the head 8 V + 16.
    @CsvSource({"4, 16, 2, Ett|ttL", "4, 16, 3, Eta|mt|tL", "4, 109, 3, Et|tt|tL", "4, 1000, 3, E|tttt|L",
            "6, 1000, 4, E|ttt|ttt|L", "5, 1000, 4, E|tta|mtt|L", "5, 1, 4, Et|ta|mt|tL", "4, 16, 6, Ea|ma|ma|m|a|mL"})
    void shouldBalanceParameters(int blocks, int vocabulary, int stageCount, String layout) {
        ModelSpec model = model(blocks, vocabulary);
        assertEquals(drawn(Partition.layout(model, stageCount, layout)),
                drawn(Partition.byParameters(model, stageCount)));
    }

    @Test
    void shouldPutEveryLayerOnOneStageUnderEveryRuleAndSize() {
        for (int blocks = 1; blocks <= 12; blocks++) {
            ModelSpec model = model(blocks, 100);
            for (int stageCount = 1; stageCount <= blocks + 2; stageCount++) {
                Partition uniform = Partition.uniform(model, stageCount);
                assertEveryLayerOnce(uniform, stageCount);
                List<Integer> sizes = Arrays.stream(drawn(uniform).split("\\|")).map(String::length).toList();
                assertTrue(sizes.stream().mapToInt(i -> i).max().orElseThrow()
                        - sizes.stream().mapToInt(i -> i).min().orElseThrow() <= 1, () -> "sizes " + sizes);
            }
            for (int stageCount = 1; stageCount <= 2 * blocks + 2; stageCount++) {
                assertEveryLayerOnce(Partition.byParameters(model, stageCount), stageCount);
            }
        }
    }

    @Test
    void shouldReadEveryPossibleLayoutOfSmallModels() {
        for (int blocks = 1; blocks <= 4; blocks++) {
            ModelSpec model = model(blocks, 100);
            List<LayerSpec> layers = model.layers();
            long smallest = Long.MAX_VALUE;
            // Each bit is a border before the layer.
            for (int borders = 0; borders < 1 << (layers.size() - 1); borders++) {
                StringBuilder layout = new StringBuilder("E");
                for (int layer = 1; layer < layers.size(); layer++) {
                    layout.append((borders >> (layer - 1) & 1) == 1 ? "|" : "").append(layers.get(layer).letter());
                }
                int stageCount = Integer.bitCount(borders) + 1;
                Partition partition = Partition.of(model, stageCount, layout.toString());
                assertEveryLayerOnce(partition, stageCount);
                assertEquals(layout.toString().replace("am", "t"), drawn(partition));
                assertEquals(partition, Partition.of(model, stageCount, drawn(partition)));
                assertEquals(partition, Partition.of(model, stageCount, partition.layout()));
                long balanced = largest(Partition.byParameters(model, stageCount));
                assertTrue(balanced <= largest(partition), () -> "balanced " + balanced + ", but better: " + layout);
                smallest = Math.min(smallest, largest(partition));
            }
            assertEquals(largest(Partition.byParameters(model, layers.size())), smallest);
        }
    }

    @Test
    void shouldWriteRepeatedBlocksAsANumber() {
        String layout = "Ettta|mt*4|t*5a|mL";
        assertEquals(layout, Partition.layout(model(14, 16), 4, layout).layout());
    }

    /** As 8 layers on 4 ranks, cut 1, 2, 2 and 3, with the head on the last: a planner of others counted 2 (Bridge 5077). */
    @Test
    void shouldCountAllParametersOfTheHeaviestStage() {
        Partition partition = Partition.layout(model(8, 16), 4, "Et|tt|tt|tttL");
        int block = 872;
        int table = 16 * 8;
        assertEquals(List.of(table + 4L * 8 + block, 2L * block, 2L * block, 3L * block + 2 * 8 + table),
                IntStream.range(0, 4).mapToObj(partition::parameterCount).toList());
    }

    @ParameterizedTest
    @CsvSource({"4, 11", "4, 0", "1, 64"})
    void shouldRefuseMoreStagesThanLayersWithTheNumbers(int blocks, int stageCount) {
        for (boolean byHalves : new boolean[]{false, true}) {
            int most = byHalves ? 2 * blocks + 2 : blocks + 2;
            String expected = "a model of " + blocks + " blocks has " + most + " layers with embedding and head"
                    + (byHalves ? ", halves of blocks counted" : "") + ", which make 1 to " + most
                    + " stages, but found " + stageCount
                    + ": lower parallel.pipeline or parallel.virtual-stages, or raise model.layers";
            assertEquals(expected, assertThrows(IllegalArgumentException.class,
                    () -> Partition.of(model(blocks, 16), stageCount, byHalves ? "parameters" : "uniform"))
                    .getMessage());
        }
    }

    @Test
    void shouldRefuseStagesThatLoseOrRepeatALayer() {
        ModelSpec model = model(2, 16);
        for (List<LayerRange> stages : List.of(List.of(new LayerRange(0, 1), new LayerRange(3, 5)),
                List.of(new LayerRange(0, 2), new LayerRange(2, 5)), List.of(new LayerRange(0, 4)),
                List.of(new LayerRange(0, 6)), List.<LayerRange>of())) {
            assertThrows(IllegalArgumentException.class, () -> new Partition(model, stages));
        }
    }

    @Test
    void shouldPrintTheAssignment() {
        ModelSpec model = new Gpt2(12, 768, 12, 1024, 50257, true, Gpt2.NORM_EPSILON).spec();
        assertEquals("""
                stage  layers                      parameters
                    0  embedding, h.0 .. h.2       60,647,424
                    1  h.3 .. h.5                  21,263,616
                    2  h.6                          7,087,872
                    3  h.7 .. h.11, head           74,038,272""",
                Partition.of(model, 4, "Ettt|ttt|t|t*5L").describe());
        assertEquals("""
                stage  layers                                     parameters
                    0  embedding, h.0.attention                   41,747,712
                    1  h.0.mlp, h.1                               11,811,840
                    2  h.2.attention                               2,363,904
                    3  h.2.mlp, h.3 .. h.10, h.11.attention       63,790,848
                    4  h.11.mlp, head                             43,322,880""",
                Partition.of(model, 5, "Ea|mt|a|mt*8a|mL").describe());
        assertEquals("""
                stage  layers                             parameters
                    0  embedding, h.0 .. h.11, head      124,439,808""", Partition.uniform(model, 1).describe());
    }

    private static void assertEveryLayerOnce(Partition partition, int stageCount) {
        assertEquals(stageCount, partition.stageCount());
        List<LayerSpec> layers = new ArrayList<>();
        for (int stage = 0; stage < stageCount; stage++) {
            layers.addAll(partition.layers(stage).of(partition.model()));
        }
        assertEquals(partition.model().layers(), layers);
    }

    private static long largest(Partition partition) {
        return partition.stages().stream().mapToLong(
                range -> range.of(partition.model()).stream().mapToLong(LayerSpec::parameterCount).sum()).max()
                .orElseThrow();
    }

    /** The letters of the layers, both halves of a block as one. */
    private static String drawn(Partition partition) {
        return partition.stages().stream()
                .map(range -> range.of(partition.model()).stream().map(layer -> String.valueOf(layer.letter()))
                        .collect(Collectors.joining()).replace("am", "t"))
                .collect(Collectors.joining("|"));
    }

    private static ModelSpec model(int blocks, int vocabulary) {
        return new Gpt2(blocks, 8, 2, 4, vocabulary, true, Gpt2.NORM_EPSILON).spec();
    }
}
