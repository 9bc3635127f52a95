package dev.troupe.engine.cpu.table;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.troupe.engine.DataType;
import dev.troupe.engine.cpu.CpuEngineProvider;
import dev.troupe.engine.cpu.product.ProductForm;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ProductTableTest {
    private static final ProductTable TABLE = new ProductTable("a processor and libraries",
            Instant.parse("2026-11-23T21:00:00Z"), List.of(new FormTimes(ProductForm.LARGE, 100, 90, 0.9),
                    new FormTimes(ProductForm.GRADIENT, 100, 104, 1.04),
                    new FormTimes(ProductForm.SMALL, 80, 88, 1.1), new FormTimes(ProductForm.ATTENTION, 50, 50, 1)));

    @TempDir
    private Path folder;

    @Test
    void shouldTakeOneDnnWithinNoise() {
        assertEquals("large=onednn gradient=onednn small=openblas attention=onednn", TABLE.choice().text());
        assertEquals("small: oneDNN 80, OpenBLAS 88 GFLOP/s (1.10 times): openblas", TABLE.lines().get(2));
    }

    @Test
    void shouldReadItsOwnText() {
        assertEquals(TABLE, ProductTable.parse(TABLE.text()));
    }

    @Test
    void shouldRefuseEveryDamage() {
        String text = TABLE.text();
        assertThrows(IllegalArgumentException.class, () -> ProductTable.parse(""));
        for (int end = 0; end < text.length(); end++) {
            String cut = text.substring(0, end);
            assertThrows(IllegalArgumentException.class, () -> ProductTable.parse(cut), cut);
            String other = cut + (char) (text.charAt(end) ^ 1) + text.substring(end + 1);
            assertThrows(IllegalArgumentException.class, () -> ProductTable.parse(other), other);
        }
    }

    @Test
    void shouldMeasureOnceAndThenReadTheFile() throws IOException {
        CpuProducts products = new CpuProducts(new CpuEngineProvider()::open, 1);
        assertEquals("onednn", products.fastest(DataType.FLOAT32, folder)); // without a table
        List<String> lines = products.measured(folder);
        // The first line is about split floats, which are measured each time.
        assertEquals(lines.subList(1, lines.size()), products.measured(folder).subList(1, lines.size()));
        assertTrue(lines.getLast().endsWith("engine.products = auto takes "
                + products.fastest(DataType.FLOAT32, folder)), lines.getLast());
        assertEquals("onednn", products.fastest(DataType.BFLOAT16, folder));

        Path file = Stream.of(folder.toFile().listFiles()).findFirst().orElseThrow().toPath();
        Files.writeString(file, Files.readString(file).replace("small", "smell"));
        String said = assertThrows(IllegalStateException.class, () -> products.fastest(DataType.FLOAT32, folder))
                .getMessage();
        assertTrue(
                said.matches(
                        "the table of products in \\Q" + file + "\\E cannot be read: its last line should be the sum"
                                + " [0-9a-f]{8}; delete it and run ./troupe doctor, or set engine.products = onednn"),
                said);
    }
}
