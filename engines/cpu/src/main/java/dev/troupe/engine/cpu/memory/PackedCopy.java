package dev.troupe.engine.cpu.memory;

/**
 * A packed copy of a range of a buffer, with the state of the buffer that was copied.
 *
 * <p>Thread rule: the rule of kernels.
 */
final class PackedCopy {
    private final Packer packer;
    private final long from;
    private final long to;
    private int changesSeen;

    /** A copy in reserved memory, yet to be made, of a buffer after this number of writes. */
    PackedCopy(Packer packer, long from, long to, int changes) {
        this.packer = packer;
        this.from = from;
        this.to = to;
        this.changesSeen = changes - 1;
    }

    boolean isOf(Packer asked, long address) {
        return packer == asked && from == address;
    }

    /** The address of the copy, brought up to date. */
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
