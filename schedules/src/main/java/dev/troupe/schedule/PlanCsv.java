package dev.troupe.schedule;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;

/** The CSV form of a plan, as PyTorch reads and writes it. */
final class PlanCsv {
    private PlanCsv() {
    }

    static String write(Plan plan) {
        return plan.rows().stream().map(PlanCsv::line).collect(Collectors.joining());
    }

    private static String line(List<Action> row) {
        return row.stream().map(Action::toString).collect(Collectors.joining(",", "", "\n"));
    }

    static List<List<Action>> read(String name, String csv) {
        List<String> lines = csv.stripTrailing().lines().toList();
        if (lines.isEmpty()) {
            throw new PlanException("Plan \"" + name + "\" is empty: write one line for each rank.");
        }
        List<List<Action>> rows = new ArrayList<>();
        for (int i = 0; i < lines.size(); i++) {
            rows.add(readLine(name, i + 1, lines.get(i)));
        }
        return rows;
    }

    private static List<Action> readLine(String name, int lineNumber, String line) {
        List<Action> row = new ArrayList<>();
        String[] cells = line.split(",", -1);
        for (int i = 0; i < cells.length; i++) {
            if (cells[i].isBlank()) {
                continue;
            }
            try {
                row.add(Action.parse(cells[i]));
            } catch (PlanException e) {
                throw new PlanException(
                        "Plan \"" + name + "\", line " + lineNumber + ", cell " + (i + 1) + ": " + e.getMessage());
            }
        }
        if (row.isEmpty()) {
            throw new PlanException("Plan \"" + name + "\", line " + lineNumber
                    + ": there is no action for this rank; every line is a rank, so take out empty lines.");
        }
        return row;
    }
}
