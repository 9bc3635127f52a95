package dev.troupe.rank.offload;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.troupe.offload.StateRegion;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** State in files, on a disk that takes a number of bytes and no more. */
@Tag("plan")
class StateFilesTest {
    private static final int BYTES = 1000;

    @TempDir
    private Path directory;
    private final List<String> notices = new ArrayList<>();
    private int created;
    private int closed;

    /** A disk with no room, with half of it, with room and no more, and one that never is full. */
    @ParameterizedTest
    @ValueSource(longs = {0, BYTES / 2, BYTES, BYTES + 300, 4 * BYTES, 8 * BYTES, Long.MAX_VALUE})
    void shouldKeepEveryValueWhateverTheDiskTakes(long room) throws IOException {
        Random random = new Random(room);
        byte[] expected = new byte[BYTES];
        try (Arena arena = Arena.ofConfined();
                StateRegion region = new StateFiles(directory.resolve("state"), 3, notices::add, full(room))
                        .open(BYTES)) {
            try (Stream<Path> files = Files.list(directory.resolve("state"))) {
                assertEquals(0, files.count(), "the file has no name");
            }
            for (int turn = 0; turn < 50; turn++) {
                int offset = random.nextInt(BYTES);
                MemorySegment part = arena.allocate(1 + random.nextInt(BYTES - offset));
                region.read(offset, part);
                for (int i = 0; i < part.byteSize(); i++) {
                    assertEquals(expected[offset + i], part.get(ValueLayout.JAVA_BYTE, i));
                    expected[offset + i] = (byte) random.nextInt();
                    part.set(ValueLayout.JAVA_BYTE, i, expected[offset + i]);
                }
                region.write(offset, part);
            }
        }
        assertEquals(room == Long.MAX_VALUE ? 0 : 1, notices.size(), notices::toString);
        assertTrue(notices.stream().allMatch(notice -> notice.startsWith("Offloaded state of rank 3 (0.0 MiB)"
                + " is in memory from now on, and the run continues without its file in ")
                && notice.contains("No space left on device")), notices::toString);
    }

    /** Half of the room has files, half is in memory; one of each is closed before. */
    @Test
    void shouldCloseAllRoomOnce() {
        List<StateRegion> regions = new ArrayList<>();
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment part = arena.allocate(1);
            for (long room : new long[]{0, Long.MAX_VALUE}) {
                StateFiles files = new StateFiles(directory, 3, notices::add, full(room));
                regions.add(files.open(BYTES));
                regions.add(files.open(BYTES));
                regions.getLast().close();
                regions.getLast().close();
                files.close();
            }
            assertEquals(4, created);
            assertEquals(4, closed);
            assertEquals(2, notices.size());
            regions.subList(0, 2).forEach(region -> assertThrows(IllegalStateException.class,
                    () -> region.read(0, part), "the memory is freed"));
        }
    }

    private StateDisk full(long room) {
        return (directory, prefix) -> {
            StateDisk.File file = StateDisk.REAL.create(directory, prefix);
            created++;
            return new StateDisk.File() {
                private long left = room;

                @Override
                public int read(ByteBuffer target, long position) throws IOException {
                    return file.read(target, position);
                }

                @Override
                public int write(ByteBuffer source, long position) throws IOException {
                    if (left < source.remaining()) {
                        throw new IOException("No space left on device");
                    }
                    left -= source.remaining();
                    return file.write(source, position);
                }

                @Override
                public void close() throws IOException {
                    closed++;
                    file.close();
                }
            };
        };
    }
}
