package dev.troupe.wire;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.troupe.transport.TransportSettings;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.Queue;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class RingTest {
    private static final int CAPACITY = 1024;

    @TempDir
    Path folder;
    private Ring writer;
    private Ring reader;

    private record Sent(byte[] bytes, long end) {
    }

    @BeforeEach
    void open() throws IOException {
        Path file = folder.resolve("rings/one");
        writer = Ring.create(file, CAPACITY);
        assertEquals(TransportSettings.RING_HEADER_BYTES + CAPACITY, Files.size(file));
        assertThrows(FileAlreadyExistsException.class, () -> Ring.create(file, CAPACITY));
        reader = Ring.open(file);
        assertFalse(Files.exists(file), "it goes with those who have it");
        assertThrows(NoSuchFileException.class, () -> Ring.open(file));
    }

    @AfterEach
    void close() {
        writer.close();
        reader.close();
    }

    private Sent send(byte[] bytes) {
        MemorySegment.copy(bytes, 0, writer.next(bytes.length), ValueLayout.JAVA_BYTE, 0, bytes.length);
        return new Sent(bytes, writer.advance(bytes.length));
    }

    private void receive(Sent sent) {
        assertTrue(reader.positions().holds(sent.end(), sent.bytes().length));
        assertArrayEquals(sent.bytes(),
                reader.payload(sent.end(), sent.bytes().length).toArray(ValueLayout.JAVA_BYTE));
        reader.free(sent.end());
    }

    @Test
    void shouldCarryPayloadsOfEverySizeAroundAndAround() {
        long seed = System.nanoTime();
        Random random = new Random(seed);
        Queue<Sent> inFlight = new ArrayDeque<>();
        int times = 0;
        int full = 0;
        while (times < 10_000) {
            int room = writer.room(1 + random.nextInt(CAPACITY));
            if (room > 0 && random.nextBoolean()) {
                byte[] bytes = new byte[room];
                random.nextBytes(bytes);
                inFlight.add(send(bytes));
                times++;
            } else if (!inFlight.isEmpty()) {
                full += room == 0 ? 1 : 0;
                receive(inFlight.remove());
            }
        }
        assertTrue(full > 100, "it was full " + full + " times, seed " + seed);
    }

    @Test
    void shouldGiveRoomOnlyForBytesThatAreRead() {
        assertEquals(CAPACITY, writer.room(2 * CAPACITY));
        Sent first = send(new byte[100]);
        assertEquals(128, first.end(), "whole units");
        Sent second = send(new byte[CAPACITY - 128]);
        assertEquals(0, writer.room(1));
        receive(first);
        assertEquals(128, writer.room(CAPACITY));
        receive(second);
        assertEquals(CAPACITY, writer.room(CAPACITY));
        send(new byte[64]);
        assertEquals(CAPACITY - 64, writer.room(CAPACITY), "no payload is in two pieces");
    }

    @Test
    void shouldForgetPayloadsThatNoFrameHasNamed() {
        Sent told = send(new byte[128]);
        long end = writer.positions().position();
        send(new byte[CAPACITY - 128]);
        assertEquals(0, writer.room(1));
        writer.positions().retreat(end);
        assertEquals(CAPACITY - 128, writer.room(CAPACITY));
        receive(told);
        receive(send(new byte[192]));
    }

    /** The payloads of a reader that are announced before it frees their space. */
    @Test
    void shouldGiveBackTheRoomOfNamedPayloads() {
        Sent first = send(new byte[128]);
        Sent second = send(new byte[64]);
        RingPositions positions = reader.positions();
        assertTrue(positions.advanceTo(first.end()) && positions.advanceTo(second.end()));
        assertFalse(positions.advanceTo(second.end()), "once");
        assertFalse(positions.holds(second.end(), 64), "once");
        assertEquals(CAPACITY - 192, writer.room(CAPACITY));
        assertTrue(positions.holds(CAPACITY, CAPACITY - 192));
        assertFalse(positions.holds(CAPACITY + 64, 64), "where the first is");
        positions.free(first.end());
        assertTrue(positions.holds(CAPACITY + 64, 64));
        positions.free(second.end());
        assertEquals(CAPACITY - 192, writer.room(CAPACITY), "up to the end, beyond which no payload goes");
    }

    @Test
    void shouldBelieveNoPositionThatTheWriterCannotHaveWritten() {
        Sent sent = send(new byte[128]);
        assertFalse(reader.positions().holds(sent.end() + 1, 128), "no unit ends there");
        assertFalse(reader.positions().holds(sent.end(), 129), "it would begin before the first");
        assertFalse(reader.positions().holds(CAPACITY + 64, 64), "further than there is room");
        assertFalse(reader.positions().holds(Long.MIN_VALUE, 64));
        receive(sent);
        assertFalse(reader.positions().holds(sent.end(), 128), "it is read");
        assertFalse(reader.positions().holds(CAPACITY + 64, 128), "around the end");
        for (long end : new long[]{-64, 0, 64, sent.end() + CAPACITY + 64, Long.MAX_VALUE}) {
            reader.free(end);
        }
        assertEquals(CAPACITY - 128, writer.room(CAPACITY), "nothing was given back twice, or that was not written");
    }
}
