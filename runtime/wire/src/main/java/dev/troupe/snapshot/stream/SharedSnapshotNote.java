package dev.troupe.snapshot.stream;

import dev.troupe.snapshot.copy.SharedSnapshot;
import java.nio.ByteBuffer;

/**
 * The payload of a frame that shares a snapshot.
 *
 * @param receiverId the number under which the sender's process receives a {@linkplain CopyFrame.Part#DECLINED refusal} if
 *     the receiver cannot map the memory
 */
record SharedSnapshotNote(int receiverId, SharedSnapshot shared) {
    private static final int BYTES = 2 * Integer.BYTES + 2 * Long.BYTES;

    byte[] encode() {
        return ByteBuffer.allocate(BYTES).putInt(receiverId).putInt(shared.descriptor()).putLong(shared.process())
                .putLong(shared.token()).array();
    }

    /**
     * Decodes the bytes of {@link #encode}.
     *
     * @throws IllegalArgumentException if the bytes are no note
     */
    static SharedSnapshotNote decode(byte[] bytes) {
        if (bytes.length != BYTES) {
            throw new IllegalArgumentException(
                    "a shared snapshot has " + BYTES + " bytes, but this has " + bytes.length);
        }
        ByteBuffer in = ByteBuffer.wrap(bytes);
        int receiverId = in.getInt();
        int descriptor = in.getInt();
        return new SharedSnapshotNote(receiverId, new SharedSnapshot(in.getLong(), descriptor, in.getLong()));
    }
}
