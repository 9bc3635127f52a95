package dev.troupe.protocol.supervisor;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.TimeUnit;

/**
 * The supervisor of one machine's nodes and media drivers: their start, their restarts, and the end of the run.
 *
 * <pre> NEW --begin--> DRIVERS --all are ready--> NODES --no node lives, or the others have to end--> OVER |
 * |                                                                           ^ +----------------+----- a request to stop,
 * or a driver that does not start ------------------+
 * </pre>
 *
 * <p>A process that ended before the run is a {@link NodeFailure} until a step is committed without it, or another process
 * ends with the run. It then restarts, within the {@link RestartBudget}. The machine asks the processes for the committed
 * steps again and again. If the run cannot continue without a lost process, the whole run restarts under a new machine,
 * within its {@link RunRestarts}. The same holds if the run has not begun, or no living process knows of it.
 *
 * <p>Thread rule: none; one caller at a time.
 */
public final class SupervisorMachine {
    private enum Phase {
        NEW, DRIVERS, NODES, OVER
    }

    private static final long DRIVER_START_SECONDS = TimeUnit.NANOSECONDS
            .toSeconds(SupervisedProcess.LONGEST_START_NANOS);
    /** The end of the process that caused the others to end may be reported a little after their ends. */
    private static final long CAUSE_NANOS = TimeUnit.SECONDS.toNanos(2);
    /** A process that was still starting when the run ended has no node that would notify it. */
    private static final long LAST_REJOINED_SECONDS = 5;
    /** Longer than a node needs to exit after a request to stop at once. */
    private static final long STOP_NOW_SECONDS = 35;

    private final SupervisorSettings settings;
    private final RestartBudget restartBudget;
    private final RunRestarts runRestarts;
    private final RunProgress progress = new RunProgress();
    private final Map<String, SupervisedProcess> nodes = new LinkedHashMap<>();
    private final List<String> hosts;
    private final List<NodeFailure> failures = new ArrayList<>();
    /** The last killed or crashed process that the run seemed to survive. */
    private Optional<NodeFailure> lastGone = Optional.empty();
    private Optional<String> lost = Optional.empty();
    private Phase phase = Phase.NEW;
    private int readyDrivers;
    private long driverStartNanos;
    private long questions;
    private String leader;
    private boolean isStopAsked;
    private boolean isStopNowAsked;
    private long stopNowNanos;
    private boolean isRunOver;
    private boolean hasRunBegun;
    private boolean hasReportedCause;
    private long runOverNanos;
    private long nowNanos;

    public SupervisorMachine(SupervisorSettings settings, RunRestarts runRestarts) {
        this(settings, runRestarts, new RestartBudget(settings.restartBudget()));
    }

    /** Creates a machine with another restart budget, for tests that show the effect of the rule. */
    SupervisorMachine(SupervisorSettings settings, RunRestarts runRestarts, RestartBudget restartBudget) {
        this.settings = settings;
        this.runRestarts = runRestarts;
        this.hosts = settings.hosts();
        this.leader = settings.leader();
        this.restartBudget = restartBudget;
    }

    /**
     * Handles one event and returns the commands, in order.
     *
     * @param time the time of the event on a monotonic clock, in nanoseconds
     */
    public List<SupervisorCommand> on(SupervisorEvent event, long time) {
        nowNanos = time;
        List<SupervisorCommand> commands = new ArrayList<>();
        switch (event) {
            case SupervisorEvent.Begin _ -> begin(commands);
            case SupervisorEvent.DriverReady(String host) -> driverReady(host, commands);
            case SupervisorEvent.DriverEnded ended -> driverEnded(ended, commands);
            case SupervisorEvent.NodeEnded ended -> nodeEnded(ended, commands);
            case SupervisorEvent.Answered answered -> onAnswered(answered);
            case SupervisorEvent.TookOver(String node) -> leader = node;
            case SupervisorEvent.StopAsked(boolean atOnce) -> stop(atOnce, commands);
            case SupervisorEvent.AllEnded(OptionalLong checkpoint) -> launchAgain(checkpoint, commands);
            case SupervisorEvent.Tick _ -> tick(commands);
        }
        if (phase == Phase.NODES) {
            look(commands);
        }
        return commands;
    }

    /** Returns whether the run is over on this machine, so that the machine has no more commands. */
    public boolean isOver() {
        return phase == Phase.OVER;
    }

    /**
     * Returns the end of the run, after all processes have ended. A refused request counts more than the ends of other
     * nodes.
     */
    public MachineEnd end() {
        if (isRefused()) {
            return MachineEnd.REFUSED;
        }
        // The state of a restarted process does not count, unless the coordinator has moved to it.
        boolean hasFailed = nodes.values().stream().anyMatch(process -> !process.state().isOver()
                && (!process.isRejoined() || process.node().equals(leader)));
        boolean isDone = isAnyIn(ProcessState.DONE);
        // A restarted process that was too late to take part is stopped when the run is done.
        boolean wasStopped = !isDone && isAnyIn(ProcessState.STOPPED);
        if (isStopNowAsked || isStopAsked && nodes.isEmpty() || wasStopped && !hasFailed) {
            return MachineEnd.STOPPED;
        }
        return isDone && !hasFailed ? MachineEnd.DONE : MachineEnd.FAILED;
    }

    private void begin(List<SupervisorCommand> commands) {
        if (phase == Phase.NEW) {
            phase = Phase.DRIVERS;
            startDriver(commands);
        }
    }

    /** Starts the drivers one after the other, so that only the first refused one reports the reason. */
    private void startDriver(List<SupervisorCommand> commands) {
        driverStartNanos = nowNanos;
        commands.add(new SupervisorCommand.StartDriver(hosts.get(readyDrivers)));
    }

    private void driverReady(String host, List<SupervisorCommand> commands) {
        if (phase != Phase.DRIVERS || !host.equals(hosts.get(readyDrivers))) {
            return;
        }
        readyDrivers++;
        if (readyDrivers < hosts.size()) {
            startDriver(commands);
            return;
        }
        phase = Phase.NODES;
        settings.nodes().forEach(node -> startNode(node.name(), false, commands));
        commands.add(new SupervisorCommand.Say(
                nodes.size() + " nodes start; their logs are in " + settings.logs()));
    }

    private void startNode(String node, boolean rejoins, List<SupervisorCommand> commands) {
        nodes.put(node, new SupervisedProcess(node, rejoins, nowNanos, questions + 1));
        commands.add(new SupervisorCommand.StartNode(node, rejoins));
    }

    private void driverEnded(SupervisorEvent.DriverEnded ended, List<SupervisorCommand> commands) {
        if (phase == Phase.DRIVERS && ended.host().equals(hosts.get(readyDrivers))) {
            refuse(ended.complaint().orElseGet(() -> "the media driver of " + ended.host() + " did not start; see "
                    + settings.log(driver(ended.host()))), commands);
        } else if ((phase == Phase.DRIVERS || phase == Phase.NODES) && !ended.isInOrder()) {
            lost = isStopAsked ? Optional.empty() : Optional.of(driver(ended.host()));
            complain(driver(ended.host()), ended.how(), commands);
            endAll(commands);
        } // a driver that ended in order had no node left to serve
    }

    /** Returns the name of a media driver's process. */
    public static String driver(String host) {
        return "media-driver-" + host;
    }

    private void refuse(String why, List<SupervisorCommand> commands) {
        phase = Phase.OVER;
        commands.add(new SupervisorCommand.Refuse(why));
    }

    private void nodeEnded(SupervisorEvent.NodeEnded ended, List<SupervisorCommand> commands) {
        SupervisedProcess process = nodes.get(ended.node());
        if (process == null) {
            return;
        }
        process.end(ended.state());
        if (process.state().isOver() && !isRunOver) {
            isRunOver = true;
            runOverNanos = nowNanos;
        }
        if (phase == Phase.NODES && !isStopAsked && process.state().hasFailed()) {
            NodeFailure failure = new NodeFailure(process, ended, nowNanos, progress.stepsDone());
            failures.add(failure);
            if (failure.isReportedAtOnce()) { // a recovery or the ends of others follow from it
                complain(failure.node(), failure.how(), commands);
            }
        }
    }

    private void onAnswered(SupervisorEvent.Answered answered) {
        SupervisedProcess process = nodes.get(answered.node());
        if (process != null && process.answer(answered, nowNanos) && answered.stepsDone().isPresent()) {
            long steps = answered.stepsDone().getAsLong();
            hasRunBegun = true;
            progress.add(steps, nowNanos);
            failures.forEach(failure -> failure.add(process, process.askedNanos(), steps));
        }
    }

    private void stop(boolean atOnce, List<SupervisorCommand> commands) {
        isStopAsked = true;
        if (atOnce && !isStopNowAsked) {
            isStopNowAsked = true;
            stopNowNanos = nowNanos;
        }
        switch (phase) {
            case NEW, DRIVERS -> endAll(commands);
            case NODES -> living().forEach(process -> commands.add(new SupervisorCommand.Stop(process.node(), atOnce)));
            case OVER -> {
            }
        }
    }

    private void tick(List<SupervisorCommand> commands) {
        if (phase == Phase.DRIVERS && isOlderThan(driverStartNanos, DRIVER_START_SECONDS)) {
            String host = hosts.get(readyDrivers);
            refuse("the media driver of " + host + " did not start within " + DRIVER_START_SECONDS + " seconds; see "
                    + settings.log(driver(host)), commands);
        } else if (phase == Phase.NODES) {
            boolean isAnyStarting = living().stream().anyMatch(process -> process.isStarting(nowNanos));
            nodes.values().stream().filter(SupervisedProcess::isToBeAsked).forEach(process -> {
                process.ask(nowNanos);
                questions++;
                commands.add(new SupervisorCommand.Ask(process.node(), questions, isAnyStarting));
            });
        }
    }

    private void look(List<SupervisorCommand> commands) {
        if (!isStopAsked) {
            continueWithoutFailed(commands);
        }
        if (isAnyAlive() && !isRefused() && !isUnknownToAll() && !isLate(commands) && !isLateAfterStopNow()) {
            return;
        }
        tellCause(commands);
        lost = failures.stream().filter(NodeFailure::isLost).map(NodeFailure::node).findFirst().or(this::lostAtLast);
        endAll(commands);
    }

    /** Reports the end of the first failed process, which ended the others, unless the reason has been reported. */
    private void tellCause(List<SupervisorCommand> commands) {
        if (!hasReportedCause) {
            hasReportedCause = true;
            failures.stream().findFirst().filter(first -> !first.hasComplained() && !first.isReportedAtOnce())
                    .ifPresent(first -> complain(first.node(), first.how(), commands));
        }
    }

    /**
     * Returns whether the living processes wait in vain: a process failed, and none that lives knows of a run that has
     * begun. They would find no cluster before their time is over. If nodes of other machines may continue the run, this
     * applies only before its begin.
     */
    private boolean isUnknownToAll() {
        boolean isCauseKnown = failures.stream()
                .anyMatch(failure -> failure.isLost() || failure.ageNanos(nowNanos) > CAUSE_NANOS);
        return isCauseKnown && !isStopAsked && !isAnyOver() && (settings.isWhole() || !hasRunBegun)
                && living().stream().noneMatch(SupervisedProcess::knowsRun);
    }

    /** Removes failed processes without which the run continues, and restarts them within the restart budget. */
    private void continueWithoutFailed(List<SupervisorCommand> commands) {
        boolean isAnyOver = isAnyOver();
        // A run never survives the end of its coordinator, which writes the model.
        boolean isAnyDone = isAnyIn(ProcessState.DONE);
        for (NodeFailure failure : List.copyOf(failures)) {
            String node = failure.node();
            boolean isRunDone = !node.equals(leader) && (isAnyDone || isAnyOver && failure.isLost());
            if (!isRunDone && !failure.isSurvived()) {
                continue;
            }
            failures.remove(failure);
            nodes.remove(node);
            if (failure.isLost()) {
                lastGone = Optional.of(failure);
            }
            boolean startsAgain = !isAnyOver && isAnyAlive() && !failure.isRefusedAgain()
                    && restartBudget.next(node, failure.lived());
            commands.add(new SupervisorCommand.Say((failure.isReportedAtOnce()
                    ? "the run continues without " + node
                    : node + " ended " + failure.how() + "; the run continues without it")
                    + (startsAgain ? ", and its process starts again" : "")));
            if (startsAgain) {
                startNode(node, true, commands);
            }
        }
    }

    /**
     * Returns the process that ended last, if its end is recent. A step that was almost complete may be committed after the
     * end, so it does not prove that the run continues.
     */
    private Optional<String> lostAtLast() {
        return isAnyOver() || isStopAsked
                ? Optional.empty()
                : lastGone.filter(gone -> gone.ageNanos(nowNanos) < progress.patienceNanos()).map(NodeFailure::node);
    }

    private List<SupervisedProcess> living() {
        return nodes.values().stream().filter(SupervisedProcess::isAlive).toList();
    }

    private boolean isAnyAlive() {
        return nodes.values().stream().anyMatch(SupervisedProcess::isAlive);
    }

    private boolean isAnyIn(ProcessState state) {
        return nodes.values().stream().anyMatch(process -> process.state() == state);
    }

    private boolean isAnyOver() {
        return nodes.values().stream().anyMatch(process -> process.state().isOver());
    }

    /** Returns whether a node was refused at its start; the others would wait for it in vain. */
    private boolean isRefused() {
        return nodes.values().stream()
                .anyMatch(process -> !process.isRejoined() && process.state() == ProcessState.REFUSED);
    }

    /** Returns whether nodes still run too long after the run, or after another node failed. */
    private boolean isLate(List<SupervisorCommand> commands) {
        boolean isAfterTheRun = isRunOver && living().stream().allMatch(SupervisedProcess::isRejoined)
                && isOlderThan(runOverNanos, LAST_REJOINED_SECONDS);
        boolean isHeldUp = failures.stream()
                .anyMatch(failure -> !failure.isLost() && failure.ageNanos(nowNanos) > progress.patienceNanos());
        if (isHeldUp) {
            tellCause(commands);
            commands.add(new SupervisorCommand.Complain(living().stream().map(SupervisedProcess::node).toList()
                    + " did not end within " + TimeUnit.NANOSECONDS.toSeconds(progress.patienceNanos())
                    + " seconds after another had failed"));
        }
        return isAfterTheRun || isHeldUp;
    }

    /** Returns whether nodes still run long after they were asked to stop at once. */
    private boolean isLateAfterStopNow() {
        return isStopNowAsked && isOlderThan(stopNowNanos, STOP_NOW_SECONDS);
    }

    private boolean isOlderThan(long thenNanos, long seconds) {
        return nowNanos - thenNanos > TimeUnit.SECONDS.toNanos(seconds);
    }

    private void complain(String process, String how, List<SupervisorCommand> commands) {
        commands.add(
                new SupervisorCommand.Complain(process + " ended " + how + "; its log is " + settings.log(process)));
    }

    /** Restarts a run that could not continue without a lost process, within the budget. */
    private void launchAgain(OptionalLong checkpoint, List<SupervisorCommand> commands) {
        if (lost.isPresent() && !isStopAsked && runRestarts.next(checkpoint)) {
            commands.add(new SupervisorCommand.Say(lost.get()
                    + " was lost: all nodes start again, " + (checkpoint.isPresent()
                            ? "from the checkpoint after " + checkpoint.getAsLong() + " steps"
                            : "from the beginning, since there is no checkpoint yet")));
            commands.add(new SupervisorCommand.LaunchAgain());
        }
    }

    private void endAll(List<SupervisorCommand> commands) {
        phase = Phase.OVER;
        commands.add(new SupervisorCommand.End(lost.isPresent() || isStopNowAsked));
    }
}
