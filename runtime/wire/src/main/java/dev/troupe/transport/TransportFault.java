package dev.troupe.transport;

import dev.troupe.protocol.Edge;

/** A fault that a rank is notified of, since a message for which it waits may never arrive. */
public sealed interface TransportFault {
    /** One sentence: what was expected, what was found, where. */
    String sentence();

    /**
     * A message for this rank was dropped or is missing. Its buffer stays granted; the message is not sent again by itself.
     */
    record MessageFault(Edge edge, DropReason reason, String sentence) implements TransportFault {
    }

    /**
     * A frame from a node does not fit its checksum, so its message is not known; this rank waits for messages from
     * that node. The rank is notified once an epoch.
     */
    record DamageFault(int node, String sentence) implements TransportFault {
    }

    /** A message of this rank could not be read from its tensor, which was given back. */
    record SendFault(MessageId id, String sentence) implements TransportFault {
    }

    /**
     * The stream to another node is not connected, or closed; messages for the node are held. The fault is not reported
     * any more once an epoch has begun in which the node is no peer.
     */
    record LinkFault(int node, String sentence) implements TransportFault {
    }

    /** The transport thread ended by an error, or a stream could not be opened; nothing is sent or received any more. */
    record TransportEnded(String sentence) implements TransportFault {
    }
}
