package dev.troupe.rank;

import dev.troupe.protocol.rank.RankEvent;
import dev.troupe.transport.TransportFault;

/** Hears what happens to a rank outside its stages. Thread rule: any thread may call it. */
public interface RankListener {
    /** Something came over the transport. */
    void moved(RankEvent event);

    /** The transport has begun an epoch. */
    void epochBegun(int epoch);

    /** The transport says that a message may never come. */
    void transportFailed(TransportFault fault);

    /** The rank is to fail, with these words: a fault. */
    void breakDown(String why);
}
