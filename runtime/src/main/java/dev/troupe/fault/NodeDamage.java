package dev.troupe.fault;

import java.time.Duration;

/** What a fault does to a node as a whole. Called on the thread of the rank that passes the fault's place. */
public interface NodeDamage {
    /** Ends the process from within, at once and without a word. Does not return. */
    void exit();

    /** Ends the process by SIGKILL. Does not return. */
    void kill();

    /** Stops the process by SIGSTOP, and has it go on by SIGCONT; returns after that. */
    void freeze(Duration length);

    /** Ends the process of the machine's media driver. */
    void killDriver();

    /** Cuts the node off from the others' control plane; returns at once. */
    void cutControl(Duration length);

    /** Holds what the node sends to ranks of other nodes; returns at once. */
    void cutData(Duration length);

    /** Whether the node has the coordinator at present. */
    boolean leads();
}
