package dev.troupe.look.output;

import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.troupe.rank.idle.Cause;
import dev.troupe.rank.idle.Gap;
import dev.troupe.rank.idle.IdlePart;
import dev.troupe.rank.idle.MeasuredStep;
import dev.troupe.rank.idle.Message;
import dev.troupe.rank.idle.RankTimes;
import dev.troupe.rank.idle.StepTimes;
import dev.troupe.schedule.Action;
import dev.troupe.schedule.Kind;
import dev.troupe.schedule.Plan;
import dev.troupe.schedule.simulator.Costs;
import dev.troupe.schedule.simulator.Simulation;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * A measured step as a JSON object. Times are nanoseconds since the beginning of the time that the step accounts for; the
 * schema is {@code docs/schema/step.json}.
 */
public final class StepJson {
    /** The version of the schema; within a version no field is removed. */
    public static final int SCHEMA = 1;

    private static final int MOST_ROOTS = 10;
    private static final JsonMapper JSON = new JsonMapper();

    private record Root(Cause cause, int rank, long nanos) {
    }

    private final MeasuredStep step;
    private final StepTimes times;
    private final Simulation planned;

    private StepJson(MeasuredStep step) {
        this.step = step;
        this.times = step.times();
        this.planned = step.usual().planned(times);
    }

    public static String write(MeasuredStep step) {
        return new StepJson(step).object() + "\n";
    }

    private ObjectNode object() {
        Plan plan = times.rows().plan();
        ObjectNode json = JSON.createObjectNode().put("schema", SCHEMA).put("step", step.number())
                .put("plan", plan.name()).put("pipeline_ranks", plan.rankCount()).put("stages", plan.stageCount())
                .put("microbatches", plan.microbatchCount()).put("ranks_per_place", times.rows().ranksPerPlace())
                .put("begin_ns", since(times.beginNanos())).put("end_ns", step.nanos())
                .put("planned_ns", planned.makespanNanos());
        step.tags().forEach(json.putArray("tags")::add);
        // The summary comes before the ranks, so that its readers can stop there.
        add(json.putObject("idle_ns"), step.idle().byCause());
        addRoots(json.putArray("roots"));
        addCosts(json.putObject("costs"), step.usual().costs(times), plan);
        ArrayNode messages = json.putArray("messages");
        Message.all(times).forEach(message -> add(messages.addObject(), message));
        ArrayNode ranks = json.putArray("ranks");
        times.ranks().forEach(rank -> add(ranks.addObject(), rank));
        return json;
    }

    /** Adds the largest costs beyond the plan, each with its cause and the rank at its root. */
    private void addRoots(ArrayNode json) {
        List<Root> roots = new ArrayList<>();
        for (Cause cause : step.idle().byCause().keySet()) {
            if (cause != Cause.PLAN) {
                step.idle().byRoot(cause).forEach((rank, nanos) -> roots.add(new Root(cause, rank, nanos)));
            }
        }
        roots.stream().sorted(Comparator.comparingLong(Root::nanos).reversed()).limit(MOST_ROOTS)
                .forEach(root -> json.addObject().put("cause", root.cause().code()).put("rank", root.rank())
                        .put("ns", root.nanos()));
    }

    private long since(long nanos) {
        return nanos - times.fromNanos();
    }

    private static void add(ObjectNode json, Map<Cause, Long> causes) {
        causes.forEach((cause, nanos) -> json.put(cause.code(), nanos));
    }

    private void add(ObjectNode json, RankTimes rank) {
        List<Action> row = times.rows().row(rank.rank());
        json.put("rank", rank.rank()).put("node", times.nodes().get(rank.rank())).put("epoch", rank.epoch())
                .put("begin_ns", since(rank.beginNanos()));
        add(json.putObject("idle_ns"), step.idle().byCause(rank.rank()));
        ArrayNode actions = json.putArray("actions");
        for (int position = 0; position < row.size(); position++) {
            if (rank.ends()[position] != 0) {
                add(actions.addObject(), rank, row.get(position), position);
            }
        }
        ArrayNode gaps = json.putArray("gaps");
        step.idle().gaps().stream().filter(gap -> gap.rank() == rank.rank())
                .forEach(gap -> add(gaps.addObject(), gap, row));
        ArrayNode pauses = json.putArray("pauses");
        rank.pauses().forEach(pause -> pauses.addObject().put("start_ns", since(pause.fromNanos()))
                .put("end_ns", since(pause.toNanos())));
    }

    private void add(ObjectNode json, RankTimes rank, Action action, int position) {
        json.put("action", action.toString()).put("kind", action.kind().code()).put("stage", action.stage());
        if (action.kind().isPerMicrobatch()) {
            json.put("microbatch", action.microbatch());
        }
        int place = rank.rank() / times.rows().ranksPerPlace();
        json.put("start_ns", since(rank.startNanos(position))).put("end_ns", since(rank.endNanos(position)))
                .put("planned_start_ns", planned.startNanos(place, position))
                .put("planned_end_ns", planned.endNanos(place, position));
    }

    private void add(ObjectNode json, Gap gap, List<Action> row) {
        if (gap.position() < row.size()) {
            json.put("action", row.get(gap.position()).toString());
        }
        ArrayNode parts = json.put("inside", gap.isInside()).put("start_ns", since(gap.fromNanos()))
                .put("ns", gap.nanos()).putArray("parts");
        for (IdlePart part : gap.parts()) {
            ObjectNode one = parts.addObject().put("cause", part.cause().code()).put("ns", part.nanos())
                    .put("rank", part.rank());
            if (part.action() != null) {
                one.put("action", part.action().toString());
            }
        }
    }

    private static void addCosts(ObjectNode json, Costs costs, Plan plan) {
        ArrayNode stages = json.putArray("stages");
        for (int stage = 0; stage < plan.stageCount(); stage++) {
            ObjectNode nanos = stages.addObject().put("stage", stage).putObject("ns");
            for (Kind kind : Kind.values()) {
                if (costs.stages().get(stage).nanos(kind) > 0) {
                    nanos.put(kind.code(), costs.stages().get(stage).nanos(kind));
                }
            }
        }
        ArrayNode hops = json.putArray("hops");
        hops(plan).forEach(hop -> hops.addObject().put("from", hop.getFirst()).put("to", hop.getLast()).put("ns",
                costs.hops().between(hop.getFirst(), hop.getLast()).latencyNanos()));
    }

    private static Set<List<Integer>> hops(Plan plan) {
        Set<List<Integer>> hops = new LinkedHashSet<>();
        for (List<Action> row : plan.rows()) {
            row.stream().filter(action -> action.kind().isReceive() && plan.needsMessage(action)).forEach(
                    action -> hops.add(List.of(plan.rankOf(plan.peer(action)), plan.rankOf(action))));
        }
        return hops;
    }

    private void add(ObjectNode json, Message message) {
        json.put("from", message.sender()).put("to", message.receiver()).put("message", message.send().toString())
                .put("sent_ns", since(message.handedNanos())).put("without_credit_ns", message.creditNanos())
                .put("landed_ns", since(message.landedNanos())).put("bytes", message.bytes());
    }
}
