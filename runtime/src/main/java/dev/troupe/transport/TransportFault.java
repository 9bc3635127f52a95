package dev.troupe.transport;

/** Something that a rank must know, because a message it waits for may never come. */
public sealed interface TransportFault {
    /** One sentence: what was expected, what was found, where. */
    String sentence();

    /**
     * A message for this rank was dropped or is missing. Its buffer stays granted; the message does not come again by
     * itself.
     */
    record MessageFault(Edge edge, DropReason reason, String sentence) implements TransportFault {
    }

    /**
     * A frame from a node does not fit its checksum, so which message it was of is not known; this rank waits for
     * messages from there. Told once an epoch.
     */
    record DamageFault(int node, String sentence) implements TransportFault {
    }

    /** A message of this rank could not be read from its tensor, which was given back. */
    record SendFault(MessageId id, String sentence) implements TransportFault {
    }

    /**
     * The way to another node is not connected or closed; messages for it are held. Not told any more once an epoch has
     * begun in which the node is no peer.
     */
    record LinkFault(int node, String sentence) implements TransportFault {
    }

    /** The transport thread ended by an error, or a stream could not be opened; nothing is sent or received any more. */
    record TransportEnded(String sentence) implements TransportFault {
    }
}
