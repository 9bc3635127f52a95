package dev.troupe.model;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.troupe.model.spec.ModelConfig;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Which layers each stage gets: drawn cases, and rules over all small models. */
@Tag("plan")
class PartitionTest {
    @ParameterizedTest
    @CsvSource({"1, 1, EtL", "2, 2, Et|tL", "4, 4, Et|t|t|tL", "4, 6, E|t|t|t|t|L", "4, 5, Et|t|t|t|L",
            "8, 4, Ett|tt|tt|ttL", "6, 4, Et|tt|tt|tL", "6, 3, Ett|tt|ttL", "7, 4, Ett|tt|t*2|tL", "5, 4, Et|tt|t|tL",
            "12, 4, Ettt|ttt|ttt|tttL", "1, 3, E|t|L", "1, 2, Et|L"})
    void shouldSpreadLayersUniformly(int blocks, int stageCount, String layout) {
        ModelConfig model = model(blocks, 16);
        assertEquals(drawn(Partition.layout(model, stageCount, layout)), drawn(Partition.uniform(model, stageCount)));
    }

    @ParameterizedTest
    // A block of width 8 has 872 parameters; the embedding 8 V + 32, the head 8 V + 16.
    @CsvSource({"4, 16, 2, Ett|ttL", "4, 16, 3, Et|tt|tL", "4, 109, 3, Et|tt|tL", "4, 1000, 3, E|tttt|L",
            "6, 1000, 4, E|ttt|ttt|L", "5, 1000, 4, E|ttt|tt|L", "5, 1, 4, Et|tt|t|tL", "4, 16, 6, E|t|t|t|t|L"})
    void shouldBalanceParameters(int blocks, int vocabulary, int stageCount, String layout) {
        ModelConfig model = model(blocks, vocabulary);
        assertEquals(drawn(Partition.layout(model, stageCount, layout)),
                drawn(Partition.byParameters(model, stageCount)));
    }

    @Test
    void shouldPutEveryLayerOnOneStageUnderEveryRuleAndSize() {
        for (int blocks = 1; blocks <= 12; blocks++) {
            ModelConfig model = model(blocks, 100);
            for (int stageCount = 1; stageCount <= blocks + 2; stageCount++) {
                Partition uniform = Partition.uniform(model, stageCount);
                assertEveryLayerOnce(uniform, stageCount);
                List<Integer> sizes = uniform.stages().stream().map(LayerRange::size).toList();
                assertTrue(sizes.stream().mapToInt(i -> i).max().orElseThrow()
                        - sizes.stream().mapToInt(i -> i).min().orElseThrow() <= 1, () -> "sizes " + sizes);
                assertEveryLayerOnce(Partition.byParameters(model, stageCount), stageCount);
            }
        }
    }

    @Test
    void shouldReadEveryPossibleLayoutOfSmallModels() {
        for (int blocks = 1; blocks <= 7; blocks++) {
            ModelConfig model = model(blocks, 100);
            long smallest = Long.MAX_VALUE;
            // Each bit says whether a border follows the layer.
            for (int borders = 0; borders < 1 << (blocks + 1); borders++) {
                StringBuilder layout = new StringBuilder("E");
                for (int layer = 1; layer <= blocks + 1; layer++) {
                    layout.append((borders >> (layer - 1) & 1) == 1 ? "|" : "").append(layer <= blocks ? "t" : "L");
                }
                int stageCount = Integer.bitCount(borders) + 1;
                Partition partition = Partition.of(model, stageCount, layout.toString());
                assertEveryLayerOnce(partition, stageCount);
                assertEquals(layout.toString(), drawn(partition));
                long balanced = largest(Partition.byParameters(model, stageCount));
                assertTrue(balanced <= largest(partition), () -> "balanced " + balanced + ", but better: " + layout);
                smallest = Math.min(smallest, largest(partition));
            }
            assertEquals(largest(Partition.byParameters(model, blocks + 2)), smallest);
        }
    }

    @ParameterizedTest
    @CsvSource({"4, 7", "4, 0", "1, 64"})
    void shouldRefuseMoreStagesThanLayersWithTheNumbers(int blocks, int stageCount) {
        String expected = "a model of " + blocks + " blocks has " + (blocks + 2) + " layers with embedding and head,"
                + " which make 1 to " + (blocks + 2) + " stages, but found " + stageCount
                + ": lower parallel.pipeline or parallel.virtual-stages, or raise model.layers";
        for (String layout : List.of("uniform", "parameters")) {
            assertEquals(expected, assertThrows(IllegalArgumentException.class,
                    () -> Partition.of(model(blocks, 16), stageCount, layout)).getMessage());
        }
    }

    @Test
    void shouldRefuseStagesThatLoseOrRepeatALayer() {
        ModelConfig model = model(2, 16);
        for (List<LayerRange> stages : List.of(List.of(new LayerRange(0, 1), new LayerRange(3, 3)),
                List.of(new LayerRange(0, 2), new LayerRange(2, 3)), List.of(new LayerRange(0, 2)),
                List.of(new LayerRange(0, 4)), List.<LayerRange>of())) {
            assertThrows(IllegalArgumentException.class, () -> new Partition(model, stages));
        }
    }

    @Test
    void shouldPrintTheAssignment() {
        ModelConfig model = new ModelConfig(12, 768, 12, 1024, 50257, true, ModelConfig.NORM_EPSILON);
        assertEquals("""
                stage  layers                      parameters
                    0  embedding, h.0 .. h.2       60,647,424
                    1  h.3 .. h.5                  21,263,616
                    2  h.6                          7,087,872
                    3  h.7 .. h.11, head           74,038,272""",
                Partition.of(model, 4, "Ettt|ttt|t|t*5L").describe());
        assertEquals("""
                stage  layers                             parameters
                    0  embedding, h.0 .. h.11, head      124,439,808""", Partition.uniform(model, 1).describe());
    }

    private static void assertEveryLayerOnce(Partition partition, int stageCount) {
        assertEquals(stageCount, partition.stageCount());
        List<Integer> layers = new ArrayList<>();
        for (int stage = 0; stage < stageCount; stage++) {
            partition.layers(stage).numbers().forEach(layers::add);
        }
        List<Integer> all = new ArrayList<>();
        for (int layer = 0; layer < partition.model().layers() + 2; layer++) {
            all.add(layer);
        }
        assertEquals(all, layers);
    }

    private static long largest(Partition partition) {
        return partition.stages().stream()
                .mapToLong(range -> range.numbers().mapToLong(partition.model()::parameterCount).sum()).max()
                .orElseThrow();
    }

    private static String drawn(Partition partition) {
        int last = partition.model().layerCount() - 1;
        return partition.stages().stream().map(range -> range.numbers()
                .mapToObj(layer -> layer == 0 ? "E" : layer == last ? "L" : "t").collect(Collectors.joining()))
                .collect(Collectors.joining("|"));
    }

    private static ModelConfig model(int blocks, int vocabulary) {
        return new ModelConfig(blocks, 8, 2, 4, vocabulary, true, ModelConfig.NORM_EPSILON);
    }
}
