package dev.troupe.schedule.certificate;

import dev.troupe.schedule.Plan;
import dev.troupe.schedule.simulator.Costs;
import dev.troupe.schedule.simulator.Simulation;
import dev.troupe.schedule.simulator.Simulator;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Optional;
import java.util.SequencedMap;

/**
 * The proof that a plan is complete, and reaches its end with these credits whatever time its actions take. Only
 * {@link PlanValidator#certify} makes one.
 *
 * @param plan the plan with its messages, which is the plan that runs
 * @param purpose the purpose for which the plan is complete
 * @param creditsPerEdge the most messages that may be unconsumed on an edge
 * @param peakActivations for each rank, the most (stage, microbatch) activations at one time; each lives from its forward to
 *     the end of its B or W, or in a forward-only plan during its forward
 * @param peakReplays for each rank, the most (stage, microbatch) forwards that are replayed ahead of their backwards at one
 *     time
 * @param messagesPerEdge the number of messages of each edge in a step, in the order of first use, row by row
 * @param mostUnreceived the most messages of each edge that are sent and not yet received at one time, whatever time actions
 *     take, with unlimited credits
 * @param weights the copies of weights and gradients that each stage needs, and the staleness of its gradients
 */
public record Certificate(Plan plan, Purpose purpose, int creditsPerEdge, List<Integer> peakActivations,
        List<Integer> peakReplays, SequencedMap<StageEdge, Integer> messagesPerEdge,
        SequencedMap<StageEdge, Integer> mostUnreceived,
        WeightVersions weights) {

    public Certificate {
        peakActivations = List.copyOf(peakActivations);
        peakReplays = List.copyOf(peakReplays);
        messagesPerEdge = Collections.unmodifiableSequencedMap(new LinkedHashMap<>(messagesPerEdge));
        mostUnreceived = Collections.unmodifiableSequencedMap(new LinkedHashMap<>(mostUnreceived));
    }

    /**
     * Returns the most messages of each edge that are sent and not yet received at one time, whatever time actions take; at
     * most the credits.
     */
    public SequencedMap<StageEdge, Integer> messagesInFlight() {
        SequencedMap<StageEdge, Integer> inFlight = new LinkedHashMap<>();
        mostUnreceived.forEach((edge, count) -> inFlight.put(edge, Math.min(count, creditsPerEdge)));
        return inFlight;
    }

    /**
     * Proves that the plan can repeat the block of a step forever, with these credits, peaks and versions. Empty if no block
     * repeats, as in a plan of fewer than four steps.
     */
    public Optional<SteadyState> steadyState() {
        return SteadyState.of(plan, creditsPerEdge);
    }

    /** Simulates the plan under given costs and these credits. */
    public Simulation under(Costs costs) {
        return Simulator.run(plan, costs, creditsPerEdge);
    }
}
