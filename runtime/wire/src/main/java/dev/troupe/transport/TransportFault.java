package dev.troupe.transport;

import dev.troupe.protocol.Edge;

/** A fault of the transport, because of which a message may never arrive. */
public sealed interface TransportFault {
    /** Returns a sentence: what was expected, what was found, where. */
    String sentence();

    /**
     * A message for this rank was dropped or is missing. Its buffer stays granted, and the transport does not resend it.
     */
    record MessageFault(Edge edge, DropReason reason, String sentence) implements TransportFault {
    }

    /**
     * A frame from a node has a wrong checksum, so its message is unknown, and this rank waits for messages from the node.
     * Reported once in an epoch.
     */
    record DamageFault(int node, String sentence) implements TransportFault {
    }

    /** The transport could not read the tensor of a message of this rank, and has returned it. */
    record SendFault(MessageId id, String sentence) implements TransportFault {
    }

    /**
     * The stream to another node is disconnected or closed, so messages to the node wait. Not reported for a node that is no
     * peer in the current epoch.
     */
    record LinkFault(int node, String sentence) implements TransportFault {
    }

    /** The transport thread has ended by an error, so nothing more is sent or received. */
    record TransportEnded(String sentence) implements TransportFault {
    }
}
