package dev.troupe.transport.device;

import java.nio.file.Path;

/**
 * The files by which the reader of a stream tells its writer of rings.
 *
 * @param directory that of rings of the machine's media driver
 * @param streamId the stream's, which no two incarnations of its two processes have in common
 */
public record RingFiles(Path directory, int streamId) {
    /** The file of a pair of ranks. */
    Path of(int fromRank, int toRank) {
        return directory.resolve(streamId + "." + fromRank + "." + toRank + ".device");
    }

    /** The pair as a key. */
    static long pair(int fromRank, int toRank) {
        return (long) fromRank << Integer.SIZE | toRank;
    }
}
