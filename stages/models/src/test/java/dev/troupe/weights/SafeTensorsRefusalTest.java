package dev.troupe.weights;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.troupe.engine.DataType;
import dev.troupe.engine.Shape;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

@Tag("plan")
class SafeTensorsRefusalTest {
    private static final String AGAIN = "; copy or download the file again";
    private static final String SOUND = "{\"x\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,8]}}";

    @TempDir
    private Path directory;
    private Path file;

    @BeforeEach
    void nameFile() {
        file = directory.resolve("bad.safetensors");
    }

    /** Header, bytes of data after it, and the message after the file's name. */
    static Stream<Arguments> headers() {
        return Stream.of(
                Arguments.of("", 0,
                        ": the header of a safetensors file must begin with '{', but found nothing" + AGAIN),
                Arguments.of(" " + SOUND, 8,
                        ": the header of a safetensors file must begin with '{', but found byte 0x20" + AGAIN),
                Arguments.of("{\"x\":", 0,
                        ": the header must be JSON with unique keys, but found: the text ends too early"
                                + AGAIN),
                Arguments.of("{\"x\":1}}", 0, ": tensor \"x\" must be described by an object, but found \"1\"" + AGAIN),
                Arguments.of("{} {}", 0, ": the header must be one JSON object, but more follows it" + AGAIN),
                Arguments.of(
                        "{\"x\":" + describe("F32", "[2]", "[0,8]") + ",\"x\":" + describe("F32", "[2]", "[0,8]") + "}",
                        8, ": the header must be JSON with unique keys, but found: \"x\" is given twice" + AGAIN),
                Arguments.of("{\"x\":{\"dtype\":\"F32\",\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,8]}}", 8,
                        ": the header must be JSON with unique keys, but found: \"dtype\" is given twice" + AGAIN),
                Arguments.of("{\"__metadata__\":{\"step\":3}}", 0,
                        ": every entry of __metadata__ must be a text, but \"step\" is \"3\"" + AGAIN),
                tensor(describe("F4", "[3]", "[0,2]"), 2,
                        "of shape [3] and dtype F4 must have 2 bytes, but its data_offsets span 2" + AGAIN),
                tensor(describe("C64", "[3]", "[0,8]"), 8,
                        "of shape [3] and dtype C64 must have 24 bytes, but its data_offsets span 8" + AGAIN),
                Arguments.of("{\"__metadata__\":[]}", 0,
                        ": __metadata__ must be an object of texts, but found \"[]\"" + AGAIN),
                tensor(describe("F31", "[2]", "[0,8]"), 8,
                        "must have one of the dtypes [BOOL, F4, F6_E2M3, F6_E3M2, U8, I8, F8_E5M2, F8_E4M3, F8_E8M0,"
                                + " F8_E4M3FNUZ, F8_E5M2FNUZ, I16, U16, F16, BF16, I32, U32, F32, C64, F64, I64, U64], but found \"F31\"; save it again as one of those"),
                tensor("{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,8],\"stride\":1}", 8,
                        "must have dtype, shape and data_offsets and nothing else, but found \"stride\"" + AGAIN),
                tensor(describe("F32", "[-2]", "[0,8]"), 8,
                        "must have a shape of whole numbers of at least 0, but found \"[-2]\"" + AGAIN),
                tensor(describe("F32", "[2.5]", "[0,8]"), 8,
                        "must have a shape of whole numbers of at least 0, but found \"[2.5]\"" + AGAIN),
                tensor(describe("F32", "[99999999999999999999]", "[0,8]"), 8,
                        "must have a shape of whole numbers of at least 0, but found \"[99999999999999999999]\""
                                + AGAIN),
                tensor("{\"dtype\":\"F32\",\"data_offsets\":[0,8]}", 8,
                        "must have a shape of whole numbers of at least 0, but found \"\"" + AGAIN),
                tensor(describe("F32", "[4294967296,4294967296]", "[0,8]"), 8,
                        "has shape [4294967296 x 4294967296], which is more bytes than a file can hold" + AGAIN),
                tensor(describe("F32", "[2]", "[0]"), 8,
                        "must have two data_offsets, begin and end, but found [0]" + AGAIN),
                tensor(describe("F32", "[2]", "[-8,0]"), 8,
                        "must have data_offsets [begin, end] of at least 0, but found \"[-8,0]\"" + AGAIN),
                tensor(describe("F32", "[2]", "[8,0]"), 8,
                        "must begin before it ends, but its data_offsets are [8, 0]" + AGAIN),
                tensor(describe("F32", "[2]", "[0,8]"), 7,
                        "ends at byte 8 of the data, but the file holds only 7 bytes of data: it is truncated or its"
                                + " offsets are wrong" + AGAIN),
                tensor(describe("F32", "[3]", "[0,8]"), 8,
                        "of shape [3] and dtype F32 must have 12 bytes, but its data_offsets span 8" + AGAIN),
                tensor(describe("F32", "[2]", "[4,12]"), 12,
                        "must begin at byte 0 of the data, the end of the one before it, but begins at 4: there is a"
                                + " hole between them" + AGAIN),
                Arguments.of(
                        "{\"w\":" + describe("F32", "[2]", "[0,8]") + ",\"x\":" + describe("F32", "[2]", "[4,12]")
                                + "}",
                        12,
                        ": tensor \"x\" must begin at byte 8 of the data, the end of the one before it, but begins"
                                + " at 4: the two overlap" + AGAIN),
                Arguments.of(SOUND, 9,
                        ": the tensors use 8 bytes of data, but the file holds 9: the rest belongs to no tensor"
                                + AGAIN));
    }

    private static Arguments tensor(String description, int dataBytes, String sentence) {
        return Arguments.of("{\"x\":" + description + "}", dataBytes, ": tensor \"x\" " + sentence);
    }

    private static String describe(String type, String shape, String offsets) {
        return "{\"dtype\":\"%s\",\"shape\":%s,\"data_offsets\":%s}".formatted(type, shape, offsets);
    }

    @ParameterizedTest
    @MethodSource("headers")
    void shouldReportWhatIsWrongWithAHeader(String header, int dataBytes, String sentence) throws IOException {
        byte[] json = header.getBytes(StandardCharsets.UTF_8);
        Files.write(file, start(json.length, json, dataBytes));
        assertEquals(file + sentence, refusal());
    }

    @Test
    void shouldRefuseATextThatIsNotUtf8() throws IOException {
        byte[] json = "{\"\0\":{}}".getBytes(StandardCharsets.UTF_8);
        json[2] = (byte) 0xFF;
        Files.write(file, start(json.length, json, 0));
        assertEquals(file + ": the header of a safetensors file must be UTF-8, but it is not" + AGAIN, refusal());
    }

    @Test
    void shouldRefuseAHeaderThatReachesBeyondTheFile() throws IOException {
        byte[] json = SOUND.getBytes(StandardCharsets.UTF_8);
        Files.write(file, start(json.length + 9L, json, 8));
        assertEquals(file + ": the header claims " + (json.length + 9) + " bytes, but only " + (json.length + 8)
                + " follow: the file is truncated; copy or download it again", refusal());
    }

    @Test
    void shouldRefuseAHeaderThatIsTooLong() throws IOException {
        Files.write(file, start(100_000_001L, new byte[0], 8));
        assertEquals(
                file + ": the header may have 100000000 bytes at most, but claims 100000001: this is not a safetensors"
                        + " file",
                refusal());
        Files.write(file, start(-1, new byte[0], 8));
        assertEquals(
                file + ": the header may have 100000000 bytes at most, but claims 18446744073709551615: this is not a"
                        + " safetensors file",
                refusal());
    }

    @Test
    void shouldRefuseAFileWithNoRoomForALength() throws IOException {
        Files.write(file, new byte[7]);
        assertEquals(file + ": a safetensors file begins with 8 bytes of header length, but this one has 7 bytes in all"
                + AGAIN, refusal());
        Files.write(file, new byte[0]);
        assertEquals(file + ": a safetensors file begins with 8 bytes of header length, but this one has 0 bytes in all"
                + AGAIN, refusal());
    }

    @Test
    void shouldRefuseAPathThatIsNoFile() {
        assertEquals("cannot read " + file + ": there is no such file", refusal());
        assertEquals(directory + " must be a safetensors file, but is a directory; name the file inside it",
                assertThrows(WeightException.class, () -> SafeTensors.open(directory)).getMessage());
    }

    @Test
    void shouldRefuseAnotherShapeAndAMissingTensor() throws IOException {
        byte[] json = SOUND.getBytes(StandardCharsets.UTF_8);
        Files.write(file, start(json.length, json, 8));
        MemorySegment target = MemorySegment.ofArray(new byte[8]);
        try (SafeTensors read = SafeTensors.open(file)) {
            assertEquals(file + ": tensor \"x\" must have shape [1 x 2], but has [2]; use weights of the model that is"
                    + " configured",
                    assertThrows(WeightException.class,
                            () -> read.read("x", Shape.of(1, 2), DataType.FLOAT32, target)).getMessage());
            assertEquals(file + " has no tensor \"y\" among its 1; use a file that holds it",
                    assertThrows(WeightException.class, () -> read.tensor("y")).getMessage());
        }
    }

    @Test
    void shouldKeepMessagesInOneLine() throws IOException {
        String name = "a\\n\\u001b[31m" + "b".repeat(1000);
        byte[] json = ("{\"" + name + "\":7}").getBytes(StandardCharsets.UTF_8);
        Files.write(file, start(json.length, json, 0));
        assertEquals(
                file + ": tensor \"a??[31m" + "b".repeat(93) + "...\" must be described by an object, but found \"7\""
                        + AGAIN,
                refusal());
    }

    /** As in the format's own library 0.8. */
    @Test
    void shouldReadNullMetadataAndTypesThatAreNotComputed() throws IOException {
        String header = "{\"__metadata__\":null,\"c\":" + describe("C64", "[2]", "[0,16]") + ",\"four\":"
                + describe("F4", "[3,2]", "[16,19]") + ",\"x\":" + describe("F32", "[2]", "[19,27]") + "}";
        byte[] json = header.getBytes(StandardCharsets.UTF_8);
        Files.write(file, start(json.length, json, 27));
        try (SafeTensors read = SafeTensors.open(file)) {
            assertEquals(Map.of(), read.metadata());
            assertEquals(6, read.tensor("four").elementCount());
            read.read("x", Shape.of(2), DataType.FLOAT32, MemorySegment.ofArray(new float[2]));
            assertEquals(
                    file + ": tensor \"c\" must be stored as F64, F32, F16 or BF16, but is C64; save it again as one"
                            + " of those",
                    assertThrows(WeightException.class, () -> read.read("c", Shape.of(2), DataType.FLOAT32,
                            MemorySegment.ofArray(new float[2]))).getMessage());
        }
    }

    private String refusal() {
        return assertThrows(WeightException.class, () -> SafeTensors.open(file).close()).getMessage();
    }

    private static byte[] start(long claimed, byte[] json, int dataBytes) {
        byte[] all = Arrays.copyOf(new byte[0], 8 + json.length + dataBytes);
        ByteBuffer.wrap(all).order(ByteOrder.LITTLE_ENDIAN).putLong(claimed).put(json);
        return all;
    }
}
