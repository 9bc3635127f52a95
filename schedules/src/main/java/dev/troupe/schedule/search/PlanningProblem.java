package dev.troupe.schedule.search;

import dev.troupe.schedule.Action;
import dev.troupe.schedule.Kind;
import dev.troupe.schedule.Plan;
import dev.troupe.schedule.simulator.Costs;
import dev.troupe.schedule.simulator.Hop;
import dev.troupe.schedule.simulator.Simulator;
import dev.troupe.schedule.simulator.StageCost;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;

/**
 * A model and the machines on which it is to be trained, as costs alone.
 *
 * @param units the parts of the model, in order
 * @param machines the machines, one or more for each rank of a plan
 * @param hops the way between any two machines, by their index
 * @param sharedBytes size of the gradient of a parameter that the first and the last stage share; 0 if they share none
 */
public record PlanningProblem(List<Unit> units, List<Machine> machines, Costs.Hops hops, long sharedBytes) {
    public PlanningProblem {
        units = List.copyOf(units);
        machines = List.copyOf(machines);
    }

    /** Creates a problem of a model without a shared parameter. */
    public PlanningProblem(List<Unit> units, List<Machine> machines, Costs.Hops hops) {
        this(units, machines, hops, 0);
    }

    /** Returns the same model on machines of the same speeds, each with other memory. */
    public PlanningProblem withMemory(long bytes) {
        return new PlanningProblem(units,
                machines.stream().map(machine -> new Machine(machine.speed(), bytes)).toList(), hops, sharedBytes);
    }

    /** Returns the costs of the stages and hops of a candidate. */
    public Costs costs(Candidate candidate) {
        List<StageCost> stages = new ArrayList<>();
        for (int stage = 0; stage < candidate.plan().stageCount(); stage++) {
            stages.add(cost(stage, candidate));
        }
        List<Integer> placed = candidate.machines();
        return new Costs(stages, (from, to) -> hops.between(placed.get(from), placed.get(to)));
    }

    private StageCost cost(int stage, Candidate candidate) {
        List<Unit> own = unitsOf(stage, candidate.borders());
        StageCost sum = own.getFirst().cost();
        for (Unit unit : own.subList(1, own.size())) {
            sum = sum.then(unit.cost());
        }
        int rank = candidate.plan().rankOf(stage, 0);
        return sum.at(machines.get(candidate.machines().get(rank)).speed());
    }

    private List<Unit> unitsOf(int stage, Borders borders) {
        int first = borders.first(stage);
        return units.subList(first, first + borders.sizes().get(stage));
    }

    /**
     * Returns the time of the step by simulation, without a limit on credits. The gradient of a shared parameter travels
     * after it, unless one rank has both stages.
     */
    public long stepNanos(Candidate candidate) {
        Costs costs = costs(candidate);
        return Simulator.run(candidate.plan(), costs).makespanNanos() + sharedNanos(candidate.plan(), costs.hops());
    }

    private long sharedNanos(Plan plan, Costs.Hops between) {
        int first = plan.rankOf(0, 0);
        int last = plan.rankOf(plan.lastStage(), 0);
        if (sharedBytes == 0 || first == last) {
            return 0;
        }
        Hop hop = between.between(first, last);
        return hop.occupancyNanos(sharedBytes) + hop.latencyNanos();
    }

    /** Returns the bytes that one microbatch keeps in a stage from its forward to its last backward. */
    long activationBytes(int stage, Borders borders) {
        return unitsOf(stage, borders).stream().mapToLong(Unit::activationBytes).sum();
    }

    /** Returns the memory of a rank's machine that its units leave for activations; below 0 if they do not fit. */
    long roomBytes(int rank, Candidate candidate) {
        long room = memoryOf(rank, candidate);
        for (int stage : candidate.plan().stagesOf(rank)) {
            for (Unit unit : unitsOf(stage, candidate.borders())) {
                room -= unit.residentBytes();
            }
        }
        return room;
    }

    /** Returns the most bytes that a rank holds at one time: its units', and its activations' from F to B or W. */
    public long bytes(int rank, Candidate candidate) {
        return memoryOf(rank, candidate) + excess(rank, candidate.plan().rows().get(rank), candidate);
    }

    /** Returns the most bytes that any rank holds at one time. */
    public long mostBytes(Candidate candidate) {
        return IntStream.range(0, candidate.plan().rankCount()).mapToLong(rank -> bytes(rank, candidate)).max()
                .orElseThrow();
    }

    /** Returns by how many bytes a rank with this row exceeds its machine; below 0 if it has room. */
    private long excess(int rank, List<Action> row, Candidate candidate) {
        long[] activation = new long[candidate.plan().stageCount()];
        for (int stage : candidate.plan().stagesOf(rank)) {
            activation[stage] = activationBytes(stage, candidate.borders());
        }
        long live = 0;
        long most = 0;
        for (Action action : row) {
            if (action.kind() == Kind.FORWARD) {
                live += activation[action.stage()];
                most = Math.max(most, live);
            } else if (action.kind().freesActivation()) {
                live -= activation[action.stage()];
            }
        }
        return most - roomBytes(rank, candidate);
    }

    /** Returns by how many bytes the ranks of a candidate exceed their machines, together. */
    public long excessBytes(Candidate candidate) {
        long excess = 0;
        for (int rank = 0; rank < candidate.plan().rankCount(); rank++) {
            excess += excessBytes(rank, candidate.plan().rows().get(rank), candidate);
        }
        return excess;
    }

    /** Returns by how many bytes a rank exceeds its machine with another row than the candidate's; 0 if it fits. */
    long excessBytes(int rank, List<Action> row, Candidate candidate) {
        return Math.max(0, excess(rank, row, candidate));
    }

    /** Returns the reason why a candidate does not fit, with the rank that exceeds its machine by most; empty if it fits. */
    public Optional<String> refusal(Candidate candidate) {
        int worst = 0;
        long most = 0;
        for (int rank = 0; rank < candidate.plan().rankCount(); rank++) {
            long excess = excessBytes(rank, candidate.plan().rows().get(rank), candidate);
            worst = excess > most ? rank : worst;
            most = Math.max(most, excess);
        }
        return most == 0
                ? Optional.empty()
                : Optional.of("rank " + worst + " needs " + bytes(worst, candidate) + " bytes, but its machine "
                        + candidate.machines().get(worst) + " has " + memoryOf(worst, candidate) + ": " + most
                        + " too few");
    }

    private long memoryOf(int rank, Candidate candidate) {
        return machines.get(candidate.machines().get(rank)).memoryBytes();
    }
}
