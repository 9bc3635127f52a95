package dev.troupe.rank;

import dev.troupe.protocol.rank.RankEvent;
import dev.troupe.transport.TransportFault;

/** The receiver of a rank's events outside its stages. Thread rule: any thread may call it. */
public interface RankListener {
    /** A message has landed. */
    void moved(RankEvent event);

    void epochBegun(int epoch);

    /** A message may never come, or the transport has ended. */
    void transportFailed(TransportFault fault);

    /** The rank's actor is to fail with this, as if it had thrown it. */
    void breakDown(RuntimeException failure);
}
