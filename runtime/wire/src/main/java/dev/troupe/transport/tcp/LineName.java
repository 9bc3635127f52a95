package dev.troupe.transport.tcp;

import java.util.Objects;

/**
 * The name of a line between this node and another; the other end has the same name with this node.
 *
 * @param number distinguishes lines of one purpose between two nodes
 */
public record LineName(int node, Purpose purpose, long number) {
    public LineName {
        Objects.requireNonNull(purpose, "purpose");
    }

    /** The use of a line. The code is sent, so it never changes. */
    public enum Purpose {
        /** Tensors of all ranks of the two nodes. */
        TENSORS(1),
        /** Frames between two members of a process group. */
        GROUP(2),
        /** Copies of snapshots, to the called node. */
        COPIES(3);

        private final int code;

        Purpose(int code) {
            this.code = code;
        }

        int code() {
            return code;
        }
    }

    /** Returns the only line of tensors to a node. */
    public static LineName tensors(int node) {
        return new LineName(node, Purpose.TENSORS, 0);
    }
}
