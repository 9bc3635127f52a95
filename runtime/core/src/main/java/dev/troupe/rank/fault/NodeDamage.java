package dev.troupe.rank.fault;

import java.time.Duration;

/** The damage of a fault to a whole node. Called on the thread of the rank that passes the fault's point. */
public interface NodeDamage {
    /** Exits the process at once, without a message. Does not return. */
    void exit();

    /** Ends the process by SIGKILL. Does not return. */
    void kill();

    /** Stops the process by SIGSTOP; returns after it was continued by SIGCONT. */
    void freeze(Duration length);

    /** Collects the garbage of the process repeatedly for a time; returns after that. */
    void collectGarbage(Duration length);

    /** Ends the process of the machine's media driver. */
    void killDriver();

    /** Cuts the node off from the others' control plane; returns at once. */
    void cutControl(Duration length);

    /** Holds the node's messages to ranks of other nodes; returns at once. */
    void cutData(Duration length);

    /** Cuts the node off from control plane and messages; returns at once. */
    default void cutBoth(Duration length) {
        cutControl(length);
        cutData(length);
    }

    /** Whether the coordinator is on the node now. */
    boolean leads();
}
