package dev.troupe.transport.device;

import java.nio.file.Path;

/**
 * The files through which the writer of a stream finds the rings of its reader.
 *
 * @param directory the directory for rings of the machine's media driver
 * @param streamId the stream's id, which differs for each incarnation of its two processes
 */
public record RingFiles(Path directory, int streamId) {
    Path of(int fromRank, int toRank) {
        return directory.resolve(streamId + "." + fromRank + "." + toRank + ".device");
    }

    /** Returns a pair of ranks as a key. */
    static long pair(int fromRank, int toRank) {
        return (long) fromRank << Integer.SIZE | toRank;
    }
}
