package dev.troupe.snapshot.aeron;

import dev.troupe.snapshot.SharedSnapshot;
import java.nio.ByteBuffer;

/**
 * What a frame says that shares a snapshot.
 *
 * @param door
 *            of the sender's process, where the receiver can {@linkplain CopyFrame.Part#DECLINED say} that it cannot
 *            have the memory
 */
record SharedSnapshotNote(int door, SharedSnapshot shared) {
    private static final int BYTES = 2 * Integer.BYTES + 2 * Long.BYTES;

    byte[] encode() {
        return ByteBuffer.allocate(BYTES).putInt(door).putInt(shared.descriptor()).putLong(shared.process())
                .putLong(shared.token()).array();
    }

    /**
     * Makes a note of what {@link #encode} gave.
     *
     * @throws IllegalArgumentException
     *             where the bytes are none
     */
    static SharedSnapshotNote decode(byte[] bytes) {
        if (bytes.length != BYTES) {
            throw new IllegalArgumentException(
                    "a shared snapshot has " + BYTES + " bytes, but this has " + bytes.length);
        }
        ByteBuffer in = ByteBuffer.wrap(bytes);
        int door = in.getInt();
        int descriptor = in.getInt();
        return new SharedSnapshotNote(door, new SharedSnapshot(in.getLong(), descriptor, in.getLong()));
    }
}
