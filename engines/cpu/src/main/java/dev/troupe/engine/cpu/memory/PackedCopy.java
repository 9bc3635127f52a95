package dev.troupe.engine.cpu.memory;

/**
 * What was packed of a range of a buffer, and when.
 *
 * <p>Thread rule: that of kernels.
 */
final class PackedCopy {
    private final Packer packer;
    private final long from;
    private final long to;
    private int changesSeen;

    /** A copy that is to be made where there is room for it, of a buffer that has changed so often. */
    PackedCopy(Packer packer, long from, long to, int changes) {
        this.packer = packer;
        this.from = from;
        this.to = to;
        this.changesSeen = changes - 1;
    }

    boolean isOf(Packer asked, long address) {
        return packer == asked && from == address;
    }

    /** Where the copy is, as the buffer is now. */
    long after(int changes) {
        if (changes != changesSeen) {
            packer.pack(from, to);
            changesSeen = changes;
        }
        return to;
    }

    long bytes() {
        return packer.bytes();
    }
}
