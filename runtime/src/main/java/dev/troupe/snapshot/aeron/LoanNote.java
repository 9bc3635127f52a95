package dev.troupe.snapshot.aeron;

import dev.troupe.snapshot.Loan;
import java.nio.ByteBuffer;

/**
 * What a frame says that lends a snapshot.
 *
 * @param door
 *            of the sender's process, where the receiver can {@linkplain CopyFrame.Part#DECLINED say} that it cannot have the memory
 */
record LoanNote(int door, Loan loan) {
    private static final int BYTES = 2 * Integer.BYTES + 2 * Long.BYTES;

    byte[] encode() {
        return ByteBuffer.allocate(BYTES).putInt(door).putInt(loan.descriptor()).putLong(loan.process())
                .putLong(loan.token()).array();
    }

    /**
     * Makes a note of what {@link #encode} gave.
     *
     * @throws IllegalArgumentException
     *             where the bytes are none
     */
    static LoanNote decode(byte[] bytes) {
        if (bytes.length != BYTES) {
            throw new IllegalArgumentException("a loan has " + BYTES + " bytes, but this has " + bytes.length);
        }
        ByteBuffer in = ByteBuffer.wrap(bytes);
        int door = in.getInt();
        int descriptor = in.getInt();
        return new LoanNote(door, new Loan(in.getLong(), descriptor, in.getLong()));
    }
}
