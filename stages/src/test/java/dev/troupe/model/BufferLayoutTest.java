package dev.troupe.model;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("plan")
class BufferLayoutTest {
    private final Parameter table = Parameter.of("table", 5, 26);
    private final Parameter gamma = Parameter.of("gamma", 26);
    private final Parameter matrix = Parameter.of("matrix", 8, 8);
    private final Parameter bias = Parameter.of("bias", 65);

    @Test
    void shouldLayMatricesBeforeVectorsInTheOrderOfTheLayers() {
        // table 130, matrix 64 | gamma 26, bias 65, each to the next multiple of 64
        BufferLayout layout = new BufferLayout(List.of(table, gamma, matrix, bias));
        assertEquals(List.of(table, matrix, gamma, bias), layout.parameters());
        assertEquals(List.of(0L, 192L, 256L, 320L), layout.parameters().stream().map(layout::start).toList());
        assertEquals(256, layout.decayingCount());
        assertEquals(448, layout.elementCount());
    }

    @Test
    void shouldLayOutParametersOfOneKindAlone() {
        assertEquals(192, new BufferLayout(List.of(table)).decayingCount());
        assertEquals(192, new BufferLayout(List.of(table)).elementCount());
        assertEquals(0, new BufferLayout(List.of(gamma)).decayingCount());
        assertEquals(64, new BufferLayout(List.of(gamma)).elementCount());
    }
}
