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
 * The proof of a plan: it is complete, and it comes to its end with these credits whatever time its actions take.
 * {@link PlanValidator#certify} makes one for such plans alone.
 *
 * @param plan the plan with its messages; the very one to run
 * @param purpose the purpose for which the plan is complete
 * @param creditsPerEdge how many messages may be unconsumed on an edge
 * @param peakActivations for each rank, how many (stage, microbatch) activations it holds at most at one time; each
 *        lives from its forward to the end of its B or W, and in a forward-only plan for its forward alone
 * @param peakReplays for each rank, how many (stage, microbatch) forwards it has replayed at most ahead of their backwards
 * @param messagesPerEdge how many messages each edge carries in a step, in the order of first use, row by row
 * @param mostUnreceived how many messages each edge holds at most at one time, sent and not yet received, whatever the
 *        actions take, if no credit ever holds one up
 * @param weights the copies of weights and gradients that each stage needs, and the staleness of its gradients
 */
public record Certificate(Plan plan, Purpose purpose, int creditsPerEdge, List<Integer> peakActivations,
        List<Integer> peakReplays, SequencedMap<Edge, Integer> messagesPerEdge,
        SequencedMap<Edge, Integer> mostUnreceived,
        WeightVersions weights) {

    public Certificate {
        peakActivations = List.copyOf(peakActivations);
        peakReplays = List.copyOf(peakReplays);
        messagesPerEdge = Collections.unmodifiableSequencedMap(new LinkedHashMap<>(messagesPerEdge));
        mostUnreceived = Collections.unmodifiableSequencedMap(new LinkedHashMap<>(mostUnreceived));
    }

    /**
     * Returns the most messages that each edge holds at one time, sent and not yet received, whatever time the actions take;
     * never more than the credits.
     */
    public SequencedMap<Edge, Integer> messagesInFlight() {
        SequencedMap<Edge, Integer> inFlight = new LinkedHashMap<>();
        mostUnreceived.forEach((edge, count) -> inFlight.put(edge, Math.min(count, creditsPerEdge)));
        return inFlight;
    }

    /**
     * Proves that the plan can repeat the block of a step for ever, with these credits, peaks and versions. Empty if none of
     * its blocks repeats, as in a plan of fewer than four steps.
     */
    public Optional<SteadyState> steadyState() {
        return SteadyState.of(plan, creditsPerEdge);
    }

    /** Simulates the plan under given costs and these credits. */
    public Simulation under(Costs costs) {
        return Simulator.run(plan, costs, creditsPerEdge);
    }
}
