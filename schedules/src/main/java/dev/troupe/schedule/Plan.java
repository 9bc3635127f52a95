package dev.troupe.schedule;

import java.util.List;

/**
 * What every rank does in one step, in order: the schedule for given numbers of ranks, stages and microbatches.
 * Immutable, and only well formed: whether it is sound is for its certificate to say.
 *
 * @param name what the plan is called in messages, usually the name of its schedule
 * @param rankCount number of ranks in the pipeline, P; also the number of rows
 * @param stageCount number of stages, P x V exactly
 * @param microbatchCount number of microbatches in the step, M
 * @param placement which rank holds a stage
 * @param rows the actions of each rank, in the order in which it does them
 */
public record Plan(String name, int rankCount, int stageCount, int microbatchCount, Placement placement,
        List<List<Action>> rows) {

    public Plan {
        if (rankCount < 1 || rows.size() != rankCount) {
            throw new PlanException("Plan \"" + name + "\" needs one row for each of its ranks, but has "
                    + count(rankCount, "rank") + " and " + count(rows.size(), "row") + ".");
        }
        if (stageCount < 1 || stageCount % rankCount != 0) {
            throw new PlanException("Plan \"" + name + "\" needs the same number of stages on every rank, but has "
                    + count(stageCount, "stage") + " for " + count(rankCount, "rank") + ".");
        }
        if (microbatchCount < 1) {
            throw new PlanException(
                    "Plan \"" + name + "\" needs 1 microbatch or more, but has " + microbatchCount + ".");
        }
        rows = rows.stream().map(List::copyOf).toList();
    }

    /** The number of stages on each rank, V. */
    public int virtualStages() {
        return stageCount / rankCount; // exact, see the constructor
    }

    /** The rank that holds a stage. */
    public int rankOf(int stage) {
        return placement.rankOf(stage, rankCount);
    }

    /** The stages that a rank holds, ascending. */
    public List<Integer> stagesOf(int rank) {
        return placement.stagesOf(rank, rankCount, stageCount);
    }

    /** The index of the stage that ends with the loss. */
    public int lastStage() {
        return stageCount - 1;
    }

    /** The action at a place. */
    public Action at(Place place) {
        return rows.get(place.rank()).get(place.position());
    }

    /** Whether sends and receives stand in the plan. */
    public boolean hasMessages() {
        return rows.stream().flatMap(List::stream).anyMatch(action -> action.kind().isMessage());
    }

    /** Whether a message has another end, and that end is on another rank; if not, it has no business in a plan. */
    public boolean needsMessage(Action message) {
        int peer = message.peerStage();
        return peer >= 0 && peer < stageCount && rankOf(peer) != rankOf(message.stage());
    }

    /** The same plan with other rows. */
    public Plan withRows(List<List<Action>> others) {
        return new Plan(name, rankCount, stageCount, microbatchCount, placement, others);
    }

    /** One line a rank, the texts of its actions parted by commas; no header; every line ends in a line feed. */
    public String toCsv() {
        return PlanCsv.write(this);
    }

    /**
     * Reads a plan that has a line a rank. Cells without text (a rank that idles, as PyTorch writes it) are passed
     * over.
     *
     * @throws PlanException if a cell is no action or a line is empty, with line and cell; if the sizes do not fit
     */
    public static Plan fromCsv(String name, Placement placement, int stageCount, int microbatchCount, String csv) {
        List<List<Action>> rows = PlanCsv.read(name, csv);
        return new Plan(name, rows.size(), stageCount, microbatchCount, placement, rows);
    }

    /** As the other {@code fromCsv}, with the largest stage and microbatch in the text as the sizes of the plan. */
    public static Plan fromCsv(String name, Placement placement, String csv) {
        List<List<Action>> rows = PlanCsv.read(name, csv);
        int stageCount = 1 + rows.stream().flatMap(List::stream).mapToInt(Action::stage).max().orElse(0);
        int microbatchCount = 1 + rows.stream().flatMap(List::stream).mapToInt(Action::microbatch).max().orElse(0);
        return new Plan(name, rows.size(), stageCount, microbatchCount, placement, rows);
    }

    /** The size and the grid of the plan, for a person to read. */
    @Override
    public String toString() {
        return PlanText.grid(this, List.of());
    }

    /** A number with its noun: {@code 1 rank}, {@code 2 microbatches}. */
    static String count(int number, String noun) {
        String ending = number == 1 ? "" : noun.endsWith("ch") ? "es" : "s";
        return number + " " + noun + ending;
    }
}
