package dev.troupe.schedule;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/** The CSV form of a plan, as PyTorch reads and writes it. */
final class PlanCsv {
    private static final String BYTE_ORDER_MARK = "\uFEFF";
    private static final String PAIR_END = ")OVERLAP_F_B";

    // What a run has at most, so that a text of any size is answered within seconds.
    private static final int MOST_RANKS = 4096;
    private static final int MOST_STAGES = 65_536;
    private static final int MOST_FORWARDS = 1 << 20;
    private static final int MOST_ACTIONS = 6 * MOST_FORWARDS;
    /** The characters of a cell: a pair of numbers of nine digits has some ninety. */
    private static final int LONGEST_CELL = 100;
    private static final int LONGEST_QUOTE = 40;

    private PlanCsv() {
    }

    static String write(Plan plan) {
        return IntStream.range(0, plan.rankCount()).mapToObj(rank -> line(plan, rank)).collect(Collectors.joining());
    }

    private static String line(Plan plan, int rank) {
        List<Action> row = plan.rows().get(rank);
        List<String> cells = new ArrayList<>();
        for (int position = 0; position < row.size(); position++) {
            if (plan.overlaps().contains(new Place(rank, position))) {
                cells.add("(" + row.get(position) + ";" + row.get(++position) + PAIR_END);
            } else {
                cells.add(row.get(position).toString());
            }
        }
        return String.join(",", cells) + "\n";
    }

    /** The content of the text: the actions, and the places where pairs begin. */
    record Rows(List<List<Action>> rows, Set<Place> overlaps) {

        /** Returns the plan; its sizes follow from the largest stage, microbatch and step. */
        Plan plan(String name, Placement placement) {
            int stageCount = 1 + rows.stream().flatMap(List::stream).mapToInt(Action::stage).max().orElse(0);
            int microbatchCount = 1 + largest(true);
            if ((long) stageCount * microbatchCount > MOST_FORWARDS) {
                throw tooLarge(name,
                        Plan.count(stageCount, "stage") + " and " + Plan.count(microbatchCount, "microbatch"),
                        MOST_FORWARDS + " forwards, a stage and a microbatch each");
            }
            return new Plan(name, rows.size(), stageCount, microbatchCount, stepCount(), placement, rows, overlaps,
                    StageGraph.chain(stageCount));
        }

        /** Returns the number of steps that the actions of whole steps name; 1 if they name none. */
        int stepCount() {
            return 1 + largest(false);
        }

        private int largest(boolean ofMicrobatches) {
            return rows.stream().flatMap(List::stream)
                    .filter(action -> action.kind().isPerMicrobatch() == ofMicrobatches)
                    .mapToInt(action -> Math.max(0, action.microbatch())).max().orElse(0);
        }

        /** Returns the placement of these rows; LOOP if they fit both. */
        Placement placement(String name) {
            TreeMap<Integer, Integer> ranks = new TreeMap<>();
            for (int rank = 0; rank < rows.size(); rank++) {
                for (Action action : rows.get(rank)) {
                    Integer other = ranks.putIfAbsent(action.stage(), rank);
                    if (other != null && other != rank) {
                        throw new PlanException("Plan \"" + name + "\", line " + (rank + 1) + ": " + action
                                + " is on rank " + rank + ", but rank " + other + " works on stage "
                                + action.stage()
                                + " too: in a plan of a file one rank holds a stage; pipedream by name has"
                                + " replicas.");
                    }
                }
            }
            for (Placement placement : Laps.values()) {
                if (misplaced(placement, ranks) < 0) {
                    return placement;
                }
            }
            int loop = misplaced(Laps.LOOP, ranks);
            int v = misplaced(Laps.V, ranks);
            throw new PlanException("Plan \"" + name + "\" places its stages neither as LOOP (which has stage " + loop
                    + " on rank " + Laps.LOOP.rankOf(loop, 0, rows.size()) + ", not on " + ranks.get(loop)
                    + ") nor as V (which has stage " + v + " on rank " + Laps.V.rankOf(v, 0, rows.size())
                    + ", not on " + ranks.get(v) + "): move the stages to the ranks of one of them.");
        }

        /** Returns the first stage that a placement has on another rank; -1 if there is none. */
        private int misplaced(Placement placement, TreeMap<Integer, Integer> ranks) {
            for (var entry : ranks.entrySet()) {
                if (placement.rankOf(entry.getKey(), 0, rows.size()) != entry.getValue()) {
                    return entry.getKey();
                }
            }
            return -1;
        }
    }

    static Rows read(String name, String csv) {
        List<String> lines = (csv.startsWith(BYTE_ORDER_MARK) ? csv.substring(1) : csv).stripTrailing().lines()
                .limit(MOST_RANKS + 1L).toList();
        if (lines.isEmpty()) {
            throw new PlanException("Plan \"" + name + "\" is empty: write one line for each rank.");
        }
        if (lines.size() > MOST_RANKS) {
            throw tooLarge(name, "more than " + MOST_RANKS + " lines", MOST_RANKS + " ranks, a line each");
        }
        List<List<Action>> rows = new ArrayList<>();
        Set<Place> overlaps = new HashSet<>();
        int actions = 0;
        for (int rank = 0; rank < lines.size(); rank++) {
            rows.add(readLine(name, rank, lines.get(rank), overlaps));
            actions += rows.getLast().size();
            if (actions > MOST_ACTIONS) {
                throw tooLarge(name, actions + " actions up to line " + (rank + 1), MOST_ACTIONS + " actions");
            }
        }
        return new Rows(rows, overlaps);
    }

    private static PlanException tooLarge(String name, String found, String most) {
        return new PlanException("Plan \"" + name + "\" has " + found + ", but a plan has at most " + most
                + ": take a smaller one.");
    }

    private static List<Action> readLine(String name, int rank, String line, Set<Place> overlaps) {
        List<Action> row = new ArrayList<>();
        int begin = 0;
        // Cell by cell, since the cells of a long line take far more memory than the line.
        for (int cell = 1; begin <= line.length(); cell++) {
            int comma = line.indexOf(',', begin);
            int end = comma < 0 ? line.length() : comma;
            try {
                readCell(unquoted(line.substring(begin, end).strip()), rank, row, overlaps);
            } catch (PlanException e) {
                throw new PlanException(
                        "Plan \"" + name + "\", line " + (rank + 1) + ", cell " + cell + ": " + e.getMessage());
            }
            begin = end + 1;
        }
        if (row.isEmpty()) {
            throw new PlanException("Plan \"" + name + "\", line " + (rank + 1)
                    + ": there is no action for this rank; every line is a rank, so take out empty lines.");
        }
        return row;
    }

    private static void readCell(String cell, int rank, List<Action> row, Set<Place> overlaps) {
        if (cell.length() > LONGEST_CELL) {
            throw new PlanException("\"" + cell.substring(0, LONGEST_QUOTE) + "...\" is no action, since it has "
                    + cell.length() + " characters: write stage, kind and microbatch, as in 2F0.");
        }
        if (cell.startsWith("(")) {
            overlaps.add(new Place(rank, row.size()));
            row.addAll(readPair(cell));
        } else if (!cell.isEmpty()) {
            row.add(Action.parse(cell));
        }
        if (!cell.isEmpty() && row.getLast().stage() >= MOST_STAGES) {
            throw new PlanException(row.getLast() + " names stage " + row.getLast().stage()
                    + ", but a plan has at most " + MOST_STAGES + " stages: take a smaller one.");
        }
    }

    /** Removes quotes as Python's csv module does; some spreadsheets write them. */
    private static String unquoted(String cell) {
        return cell.length() > 1 && cell.startsWith("\"") && cell.endsWith("\"")
                ? cell.substring(1, cell.length() - 1).replace("\"\"", "\"").strip()
                : cell;
    }

    private static List<Action> readPair(String cell) {
        String[] parts = cell.endsWith(PAIR_END)
                ? cell.substring(1, cell.length() - PAIR_END.length()).split(";", -1)
                : new String[0];
        if (parts.length != 2) {
            throw new PlanException("\"" + cell + "\" is no pair: write a forward and a backward, as in "
                    + "(0F3;3B1)OVERLAP_F_B.");
        }
        return List.of(Action.parse(parts[0]), Action.parse(parts[1]));
    }
}
