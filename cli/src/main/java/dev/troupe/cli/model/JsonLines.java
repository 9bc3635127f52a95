package dev.troupe.cli.model;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.json.JsonReadFeature;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import dev.troupe.plan.UsageException;
import dev.troupe.tokenizer.file.FileReason;
import dev.troupe.tokenizer.file.JsonDefect;
import java.io.BufferedReader;
import java.io.IOException;
import java.nio.charset.MalformedInputException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.function.Predicate;

/** Files with a JSON value on each line. */
final class JsonLines {
    private static final JsonMapper JSON = JsonMapper.builder().enable(JsonReadFeature.ALLOW_NON_NUMERIC_NUMBERS)
            .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
            .build();

    private static final String BYTE_ORDER_MARK = "\uFEFF";

    private JsonLines() {
    }

    /**
     * Reads a file, a line at a time.
     *
     * @param expected the description of a line, in words
     * @param line receives the value of each line; returns false for an unexpected one
     * @throws UsageException with file and line of an unexpected value
     */
    static void read(Path file, String expected, Predicate<JsonNode> line) {
        if (Files.exists(file) && !Files.isRegularFile(file)) { // a pipe may never end
            throw new UsageException(file + " is no regular file: save it as one");
        }
        int number = 0;
        try (BufferedReader lines = Files.newBufferedReader(file)) {
            for (String text = lines.readLine(); text != null; text = lines.readLine()) {
                number++;
                text = number == 1 && text.startsWith(BYTE_ORDER_MARK) ? text.substring(1) : text;
                if (!line.test(JSON.readTree(text))) {
                    throw new UsageException(file + ", line " + number + ": must be " + expected);
                }
            }
        } catch (JsonProcessingException malformed) {
            throw new UsageException(file + ", line " + number + ": must be " + expected + ", but is no JSON: "
                    + JsonDefect.wordsOf(malformed), malformed);
        } catch (MalformedInputException malformed) {
            throw new UsageException(file + ", after line " + number + ": must be UTF-8, but is not", malformed);
        } catch (NoSuchFileException absent) {
            throw new UsageException("there is no file " + file, absent);
        } catch (IOException failure) {
            throw new UsageException("cannot read " + file + ": " + FileReason.of(failure), failure);
        }
    }
}
