package dev.troupe.schedule;

import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * The actions of every rank in one step, in order: the schedule for given numbers of ranks, stages and microbatches. A plan
 * with overlapping steps has the actions of several steps, with microbatches numbered through all of them and a place for
 * each update. Immutable and well formed; a certificate proves that it is sound.
 *
 * @param name the name of the plan in messages, usually its schedule's
 * @param rankCount number of ranks in the pipeline, P; also the number of rows
 * @param stageCount number of stages, P x V exactly
 * @param microbatchCount number of microbatches in the plan, M in each step
 * @param stepCount number of optimizer steps in the plan, usually one
 * @param rows the actions of each rank, in order
 * @param overlaps the places of forwards that make a pair with the next action, a backward: the pair begins when both inputs
 *     are present, both outputs leave at its end, and a device may compute the two concurrently
 * @param graph the channels between stages, usually a chain
 * @param firstVersion the newest version of the weights at the beginning: 0, or a later one in a plan that
 *     {@link #continues}
 * @param stagesUpdateAlone whether a stage updates its weights when its own gradients are complete; if not, an update waits
 *     for the gradients of all ranks, because clipping needs their norm
 */
public record Plan(String name, int rankCount, int stageCount, int microbatchCount, int stepCount, Placement placement,
        List<List<Action>> rows, Set<Place> overlaps, StageGraph graph, int firstVersion,
        boolean stagesUpdateAlone) implements PlanRows {

    public Plan {
        if (rankCount < 1 || rows.size() != rankCount) {
            throw new PlanException("Plan \"" + name + "\" needs one row for each of its ranks, but has "
                    + count(rankCount, "rank") + " and " + count(rows.size(), "row") + ".");
        }
        if (placement instanceof Replicas replicas) {
            requireRanks(name, rankCount, stageCount, replicas);
        } else if (stageCount < 1 || stageCount % rankCount != 0) {
            throw new PlanException("Plan \"" + name + "\" needs the same number of stages on every rank, but has "
                    + count(stageCount, "stage") + " for " + count(rankCount, "rank") + ".");
        }
        if (microbatchCount < 1) {
            throw new PlanException(
                    "Plan \"" + name + "\" needs 1 microbatch or more, but has " + microbatchCount + ".");
        }
        if (stepCount < 1 || microbatchCount % stepCount != 0) {
            throw new PlanException(
                    "Plan \"" + name + "\" needs the same number of microbatches in each of its steps, but has "
                            + count(microbatchCount, "microbatch") + " for " + count(stepCount, "step") + ".");
        }
        if (firstVersion < 0) {
            throw new PlanException("Plan \"" + name + "\" begins with version " + firstVersion
                    + " of the weights, but a plan begins with version 0 or a later one.");
        }
        rows = rows.stream().map(List::copyOf).toList();
        // Not Set.copyOf, which probes slot by slot: the hashes of neighbouring places are neighbours.
        overlaps = Collections.unmodifiableSet(new HashSet<>(overlaps));
        for (Place place : overlaps) {
            requirePair(name, rows, place);
        }
    }

    public Plan(String name, int rankCount, int stageCount, int microbatchCount, int stepCount, Placement placement,
            List<List<Action>> rows, Set<Place> overlaps, StageGraph graph) {
        this(name, rankCount, stageCount, microbatchCount, stepCount, placement, rows, overlaps, graph, 0, false);
    }

    /** Creates a plan of one step and a chain of stages. */
    public Plan(String name, int rankCount, int stageCount, int microbatchCount, Placement placement,
            List<List<Action>> rows, Set<Place> overlaps) {
        this(name, rankCount, stageCount, microbatchCount, 1, placement, rows, overlaps,
                StageGraph.chain(Math.max(0, stageCount)));
    }

    /** Creates a plan of one step and a chain of stages in which no forward and backward make a pair. */
    public Plan(String name, int rankCount, int stageCount, int microbatchCount, Placement placement,
            List<List<Action>> rows) {
        this(name, rankCount, stageCount, microbatchCount, placement, rows, Set.of());
    }

    private static void requireRanks(String name, int rankCount, int stageCount, Replicas replicas) {
        if (replicas.counts().size() != stageCount || replicas.rankCount() != rankCount) {
            throw new PlanException(
                    "Plan \"" + name + "\" needs a number of replicas for each of its stages, and their sum"
                            + " as its ranks, but has " + count(stageCount, "stage") + ", " + count(rankCount, "rank")
                            + " and replicas " + replicas + ".");
        }
    }

    private static void requirePair(String name, List<List<Action>> rows, Place place) {
        List<Action> row = rows.get(place.rank());
        Action forward = row.get(place.position());
        Action backward = place.position() + 1 < row.size() ? row.get(place.position() + 1) : null;
        if (forward.kind() != Kind.FORWARD || backward == null || !backward.kind().makesInputGradient()
                || forward.microbatch() == backward.microbatch()) {
            throw new PlanException("Plan \"" + name + "\", rank " + place.rank() + ", position " + place.position()
                    + ": a pair that overlaps is a forward and the B or I of another microbatch, as in "
                    + "(0F3;3B1)OVERLAP_F_B, but it is " + forward + " and "
                    + (backward == null ? "nothing" : backward) + ".");
        }
    }

    @Override
    public int length(int rank) {
        return rows.get(rank).size();
    }

    @Override
    public long packed(int rank, int position) {
        Action action = rows.get(rank).get(position);
        boolean pair = !overlaps.isEmpty() && overlaps.contains(new Place(rank, position));
        return PackedAction.pack(action.stage(), action.kind(), action.microbatch(), pair);
    }

    @Override
    public Action action(int rank, int position) {
        return rows.get(rank).get(position);
    }

    public Set<Action> paired() {
        Set<Action> paired = new HashSet<>();
        for (Place place : overlaps) {
            paired.addAll(rows.get(place.rank()).subList(place.position(), place.position() + 2));
        }
        return paired;
    }

    /** Returns the number of stages on each rank, V. */
    public int virtualStages() {
        return placement instanceof Replicas ? 1 : stageCount / rankCount; // exact, see the constructor
    }

    @Override
    public int rankOf(int stage, int microbatch) {
        return placement.rankOf(stage, microbatch, rankCount);
    }

    @Override
    public int replicas(int stage) {
        return placement.replicas(stage);
    }

    /** Returns the ranks that hold a stage, ascending: one, or its replicas. */
    public List<Integer> ranksOf(int stage) {
        return placement.ranksOf(stage, rankCount);
    }

    /**
     * Returns the rank of a stage for an action: the rank of its microbatch, or the first replica if the action is done once
     * in a step.
     */
    public int rankOf(int stage, Action action) {
        return rankOf(stage, action.kind().isPerMicrobatch() ? action.microbatch() : 0);
    }

    /** Returns the rank that does an action; see {@link #rankOf(int, Action)}. */
    public int rankOf(Action action) {
        return rankOf(action.stage(), action);
    }

    /** Returns the stages that a rank holds, ascending. */
    public List<Integer> stagesOf(int rank) {
        return placement.stagesOf(rank, rankCount, stageCount);
    }

    /** Returns the index of the stage that ends with the loss. */
    public int lastStage() {
        return stageCount - 1;
    }

    public Action at(Place place) {
        return rows.get(place.rank()).get(place.position());
    }

    /** Returns whether the plan has only computing: F, B, I, W, RECOMPUTE, and the updates of numbered steps. */
    public boolean onlyComputes() {
        return rows.stream().flatMap(List::stream)
                .allMatch(action -> action.kind().isCompute() || isPlacedUpdate(action));
    }

    /** Returns whether steps may overlap: the plan places its updates, or names the versions of weights that are read. */
    public boolean overlapsSteps() {
        return stepCount > 1 || rows.stream().flatMap(List::stream)
                .anyMatch(action -> action.namesVersion() || isPlacedUpdate(action));
    }

    /**
     * Returns whether the plan can follow another. At its beginning each stage holds the newest version of its weights and
     * all older ones that its first steps read.
     */
    public boolean continues() {
        return firstVersion > 0;
    }

    /** The last update of a plan that continues waits for all ranks in any case, since the commit follows it. */
    @Override
    public boolean updateAwaitsAll(int step) {
        return !stagesUpdateAlone || continues() && step == stepCount - 1;
    }

    private static boolean isPlacedUpdate(Action action) {
        return action.kind() == Kind.UPDATE && action.microbatch() != Action.WHOLE_STEP;
    }

    /** Returns the step to which an action belongs, from 0. */
    public int stepOf(Action action) {
        return stepOf(action.kind(), action.microbatch());
    }

    /**
     * Returns the fewest steps after which every stage has updated its weights: 1, or a round over the replicas of all
     * stages.
     */
    public int stepsPerRound() {
        return placement instanceof Replicas replicas ? replicas.round() : 1;
    }

    public int microbatchesPerStep() {
        return microbatchCount / stepCount; // exact, see the constructor
    }

    /** Returns the stages that compute their forwards again before their gradients arrive: all of them or none. */
    public Set<Integer> stagesThatReplay() {
        return rows.stream().flatMap(List::stream).filter(action -> action.kind() == Kind.RECOMPUTE)
                .map(Action::stage).collect(Collectors.toSet());
    }

    /** Returns the stage at the other end of a message; {@link StageGraph#NONE} if there is none. */
    public int peerStage(Action message) {
        return graph.peerStage(message);
    }

    /** Returns the other end of a message: {@code 2RECV_F0} for {@code 1SEND_F0} of a chain. */
    public Action peer(Action message) {
        return graph.peer(message);
    }

    /** Returns whether a message goes to another rank; if not, its two stages need no message. */
    public boolean needsMessage(Action message) {
        int peer = peerStage(message);
        return peer != StageGraph.NONE && rankOf(peer, message) != rankOf(message.stage(), message);
    }

    public Plan withRows(List<List<Action>> others) {
        return withRows(others, Set.of());
    }

    public Plan withRows(List<List<Action>> others, Set<Place> pairs) {
        return new Plan(name, rankCount, stageCount, microbatchCount, stepCount, placement, others, pairs, graph,
                firstVersion, stagesUpdateAlone);
    }

    public Plan withGraph(StageGraph other) {
        return new Plan(name, rankCount, stageCount, microbatchCount, stepCount, placement, rows, overlaps, other,
                firstVersion, stagesUpdateAlone);
    }

    /**
     * Returns one line a rank, with the texts of its actions separated by commas and pairs as {@code (0F3;3B1)OVERLAP_F_B}.
     * There is no header; every line ends in a line feed.
     */
    public String toCsv() {
        return PlanCsv.write(this);
    }

    /**
     * Reads a plan with one line a rank. Empty cells are skipped; PyTorch writes them for an idle rank.
     * @throws PlanException if a cell is no action or a line is empty, with line and cell; if the sizes do not fit
     */
    public static Plan fromCsv(String name, Placement placement, int stageCount, int microbatchCount, String csv) {
        PlanCsv.Rows read = PlanCsv.read(name, csv);
        return new Plan(name, read.rows().size(), stageCount, microbatchCount, read.stepCount(), placement, read.rows(),
                read.overlaps(), StageGraph.chain(Math.max(0, stageCount)));
    }

    /** Reads a plan; its sizes follow from the largest stage and microbatch in the text. */
    public static Plan fromCsv(String name, Placement placement, String csv) {
        return PlanCsv.read(name, csv).plan(name, placement);
    }

    /**
     * Reads a plan and derives its placement, LOOP or V, from the rows.
     * @throws PlanException if it is neither; the message names a stage on another rank
     */
    public static Plan fromCsv(String name, String csv) {
        PlanCsv.Rows read = PlanCsv.read(name, csv);
        return read.plan(name, read.placement(name));
    }

    /** Returns the size and the grid of the plan, for a person to read. */
    @Override
    public String toString() {
        return PlanText.grid(this, List.of());
    }

    /** Returns a number with its noun: {@code 1 rank}, {@code 2 microbatches}. */
    static String count(int number, String noun) {
        String ending = number == 1 ? "" : noun.endsWith("ch") ? "es" : "s";
        return number + " " + noun + ending;
    }
}
