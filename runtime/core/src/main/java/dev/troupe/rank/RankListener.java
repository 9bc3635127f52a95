package dev.troupe.rank;

import dev.troupe.protocol.rank.RankEvent;
import dev.troupe.transport.TransportFault;

/** The receiver of a rank's events outside its stages. Thread rule: any thread. */
public interface RankListener {
    void moved(RankEvent event);

    void epochBegun(int epoch);

    /** Handles the loss of a message, or the end of the transport. */
    void transportFailed(TransportFault fault);

    /** Makes the rank's actor fail, as if it had thrown this. */
    void breakDown(RuntimeException failure);
}
