package dev.troupe.protocol.supervisor;

import java.util.List;

/**
 * The part of a run that one launcher starts.
 *
 * @param nodes the nodes of this machine, in the order of their start
 * @param leader the node with the first coordinator, on this machine or another
 * @param restartBudget most restarts in a row of a node's process
 * @param isWhole whether these are all nodes of the run
 * @param logs the directory of the processes' logs, as messages name it
 */
public record SupervisorSettings(List<Node> nodes, String leader, int restartBudget, boolean isWhole,
        String logs) {
    public SupervisorSettings {
        nodes = List.copyOf(nodes);
    }

    /**
     * A node of this machine.
     *
     * @param host its address; nodes of one machine may differ in it, to imitate several machines
     */
    public record Node(String name, String host) {
    }

    /** Returns the addresses of the nodes, in order; each has a media driver. */
    List<String> hosts() {
        return nodes.stream().map(Node::host).distinct().toList();
    }

    /** Returns the file of a process's log, as messages name it. */
    String log(String process) {
        return logs + "/" + process + ".log";
    }
}
