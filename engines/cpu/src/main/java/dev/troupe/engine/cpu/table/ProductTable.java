package dev.troupe.engine.cpu.table;

import dev.troupe.engine.cpu.product.ProductChoice;
import dev.troupe.engine.cpu.product.ProductForm;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.time.format.DateTimeParseException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.zip.CRC32C;

/**
 * The measured speeds of oneDNN and OpenBLAS for each form of product.
 *
 * @param subject the processor, the versions of the libraries and the type for which the table is valid
 * @param date of the measurement
 * @param rows a row for each form, oneDNN first
 */
record ProductTable(String subject, Instant date, List<FormTimes> rows) {
    private static final String HEAD = "troupe products 1";
    private static final int ROW_WORDS = 4;
    /** The ratio from which OpenBLAS computes a form; a smaller difference may be noise. */
    private static final double NOISE = 1.05;

    ProductTable {
        rows = List.copyOf(rows);
    }

    /** Returns the faster library of each form; oneDNN within noise. */
    ProductChoice choice() {
        Map<ProductForm, String> libraries = new EnumMap<>(ProductForm.class);
        rows.forEach(row -> libraries.put(row.form(), libraryOf(row)));
        return ProductChoice.of(libraries);
    }

    private static String libraryOf(FormTimes row) {
        return row.ratio() > NOISE ? ProductChoice.OPENBLAS : ProductChoice.ONEDNN;
    }

    List<String> lines() {
        return rows.stream()
                .map(row -> String.format(Locale.ROOT, "%s: oneDNN %.0f, OpenBLAS %.0f GFLOP/s (%.2f times): %s",
                        row.form().word(), row.first(), row.second(), row.ratio(), libraryOf(row)))
                .toList();
    }

    /** Returns the content of its file, which ends with a checksum. */
    String text() {
        StringBuilder text = new StringBuilder(HEAD + "\n" + subject + "\n" + date + "\n");
        rows.forEach(row -> text.append(row.form().word()).append(' ').append(row.first()).append(' ')
                .append(row.second()).append(' ').append(row.ratio()).append('\n'));
        return text + sum(text.toString()) + "\n";
    }

    /**
     * Reads the content of a file.
     *
     * @throws IllegalArgumentException with the reason, if it is damaged
     */
    static ProductTable parse(String text) {
        List<String> lines = new ArrayList<>(text.lines().toList());
        if (lines.size() < 2 || !text.endsWith("\n") || !lines.getFirst().equals(HEAD)) {
            throw new IllegalArgumentException("its first line should be \"" + HEAD + "\", and its last a sum");
        }
        String expected = sum(text.substring(0, text.length() - lines.getLast().length() - 1));
        if (!lines.removeLast().equals(expected)) {
            throw new IllegalArgumentException("its last line should be the sum " + expected);
        }
        try {
            List<FormTimes> rows = lines.stream().skip(3).map(ProductTable::row).toList();
            if (!rows.stream().map(FormTimes::form).toList().equals(Arrays.asList(ProductForm.values()))) {
                throw new IllegalArgumentException("it should have a row for each form of product");
            }
            return new ProductTable(lines.get(1), Instant.parse(lines.get(2)), rows);
        } catch (DateTimeParseException | IndexOutOfBoundsException wrong) {
            throw new IllegalArgumentException("its third line should be a date", wrong);
        }
    }

    private static FormTimes row(String line) {
        String[] words = line.split(" ");
        if (words.length != ROW_WORDS) {
            throw new IllegalArgumentException("a row should be a form and three numbers, but is \"" + line + "\"");
        }
        return new FormTimes(ProductForm.valueOf(words[0].toUpperCase(Locale.ROOT)), Double.parseDouble(words[1]),
                Double.parseDouble(words[2]), Double.parseDouble(words[3]));
    }

    static String sum(String text) {
        CRC32C sum = new CRC32C();
        sum.update(text.getBytes(StandardCharsets.UTF_8));
        return String.format(Locale.ROOT, "%08x", sum.getValue());
    }
}
