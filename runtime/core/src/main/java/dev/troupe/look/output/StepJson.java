package dev.troupe.look.output;

import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.databind.json.JsonMapper;
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
import java.io.IOException;
import java.io.StringWriter;
import java.io.UncheckedIOException;
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
    private final JsonGenerator json;
    private final Simulation planned;

    private StepJson(MeasuredStep step, JsonGenerator json) {
        this.step = step;
        this.times = step.times();
        this.json = json;
        this.planned = step.usual().planned(times);
    }

    public static String write(MeasuredStep step) {
        StringWriter text = new StringWriter();
        try (JsonGenerator json = JSON.createGenerator(text)) {
            new StepJson(step, json).write();
        } catch (IOException impossible) {
            throw new UncheckedIOException(impossible);
        }
        return text.append('\n').toString();
    }

    private void write() throws IOException {
        Plan plan = times.rows().plan();
        json.writeStartObject();
        json.writeNumberField("schema", SCHEMA);
        json.writeNumberField("step", step.number());
        json.writeStringField("plan", plan.name());
        json.writeNumberField("pipeline_ranks", plan.rankCount());
        json.writeNumberField("stages", plan.stageCount());
        json.writeNumberField("microbatches", plan.microbatchCount());
        json.writeNumberField("ranks_per_place", times.rows().ranksPerPlace());
        json.writeNumberField("begin_ns", since(times.beginNanos()));
        json.writeNumberField("end_ns", step.nanos());
        json.writeNumberField("planned_ns", planned.makespanNanos());
        json.writeArrayFieldStart("tags");
        for (String tag : step.tags()) {
            json.writeString(tag);
        }
        json.writeEndArray();
        // The summary comes before the ranks, so that its readers can stop there.
        write("idle_ns", step.idle().byCause());
        writeRoots();
        write(step.usual().costs(times), plan);
        json.writeArrayFieldStart("messages");
        for (Message message : Message.all(times)) {
            write(message);
        }
        json.writeEndArray();
        json.writeArrayFieldStart("ranks");
        for (RankTimes rank : times.ranks()) {
            write(rank);
        }
        json.writeEndArray();
        json.writeEndObject();
    }

    /** Writes the largest costs beyond the plan, each with its cause and the rank at its root. */
    private void writeRoots() throws IOException {
        List<Root> roots = new ArrayList<>();
        for (Cause cause : step.idle().byCause().keySet()) {
            if (cause != Cause.PLAN) {
                step.idle().byRoot(cause).forEach((rank, nanos) -> roots.add(new Root(cause, rank, nanos)));
            }
        }
        roots.sort(Comparator.comparingLong(Root::nanos).reversed());
        json.writeArrayFieldStart("roots");
        for (Root root : roots.subList(0, Math.min(MOST_ROOTS, roots.size()))) {
            json.writeStartObject();
            json.writeStringField("cause", root.cause().code());
            json.writeNumberField("rank", root.rank());
            json.writeNumberField("ns", root.nanos());
            json.writeEndObject();
        }
        json.writeEndArray();
    }

    private long since(long nanos) {
        return nanos - times.fromNanos();
    }

    private void write(String name, Map<Cause, Long> causes) throws IOException {
        json.writeObjectFieldStart(name);
        for (Map.Entry<Cause, Long> cause : causes.entrySet()) {
            json.writeNumberField(cause.getKey().code(), cause.getValue());
        }
        json.writeEndObject();
    }

    private void write(RankTimes rank) throws IOException {
        List<Action> row = times.rows().row(rank.rank());
        json.writeStartObject();
        json.writeNumberField("rank", rank.rank());
        json.writeStringField("node", times.nodes().get(rank.rank()));
        json.writeNumberField("epoch", rank.epoch());
        json.writeNumberField("begin_ns", since(rank.beginNanos()));
        write("idle_ns", step.idle().byCause(rank.rank()));
        json.writeArrayFieldStart("actions");
        for (int position = 0; position < row.size(); position++) {
            if (rank.ends()[position] != 0) {
                write(rank, row.get(position), position);
            }
        }
        json.writeEndArray();
        json.writeArrayFieldStart("gaps");
        for (Gap gap : step.idle().gaps()) {
            if (gap.rank() == rank.rank()) {
                write(gap, row);
            }
        }
        json.writeEndArray();
        json.writeArrayFieldStart("pauses");
        for (RankTimes.Pause pause : rank.pauses()) {
            json.writeStartObject();
            json.writeNumberField("start_ns", since(pause.fromNanos()));
            json.writeNumberField("end_ns", since(pause.toNanos()));
            json.writeEndObject();
        }
        json.writeEndArray();
        json.writeEndObject();
    }

    private void write(RankTimes rank, Action action, int position) throws IOException {
        json.writeStartObject();
        json.writeStringField("action", action.toString());
        json.writeStringField("kind", action.kind().code());
        json.writeNumberField("stage", action.stage());
        if (action.kind().isPerMicrobatch()) {
            json.writeNumberField("microbatch", action.microbatch());
        }
        json.writeNumberField("start_ns", since(rank.startNanos(position)));
        json.writeNumberField("end_ns", since(rank.endNanos(position)));
        int place = rank.rank() / times.rows().ranksPerPlace();
        json.writeNumberField("planned_start_ns", planned.startNanos(place, position));
        json.writeNumberField("planned_end_ns", planned.endNanos(place, position));
        json.writeEndObject();
    }

    private void write(Gap gap, List<Action> row) throws IOException {
        json.writeStartObject();
        if (gap.position() < row.size()) {
            json.writeStringField("action", row.get(gap.position()).toString());
        }
        json.writeBooleanField("inside", gap.isInside());
        json.writeNumberField("start_ns", since(gap.fromNanos()));
        json.writeNumberField("ns", gap.nanos());
        json.writeArrayFieldStart("parts");
        for (IdlePart part : gap.parts()) {
            json.writeStartObject();
            json.writeStringField("cause", part.cause().code());
            json.writeNumberField("ns", part.nanos());
            json.writeNumberField("rank", part.rank());
            if (part.action() != null) {
                json.writeStringField("action", part.action().toString());
            }
            json.writeEndObject();
        }
        json.writeEndArray();
        json.writeEndObject();
    }

    private void write(Costs costs, Plan plan) throws IOException {
        json.writeObjectFieldStart("costs");
        json.writeArrayFieldStart("stages");
        for (int stage = 0; stage < plan.stageCount(); stage++) {
            json.writeStartObject();
            json.writeNumberField("stage", stage);
            json.writeObjectFieldStart("ns");
            for (Kind kind : Kind.values()) {
                if (costs.stages().get(stage).nanos(kind) > 0) {
                    json.writeNumberField(kind.code(), costs.stages().get(stage).nanos(kind));
                }
            }
            json.writeEndObject();
            json.writeEndObject();
        }
        json.writeEndArray();
        json.writeArrayFieldStart("hops");
        for (List<Integer> hop : hops(plan)) {
            json.writeStartObject();
            json.writeNumberField("from", hop.getFirst());
            json.writeNumberField("to", hop.getLast());
            json.writeNumberField("ns", costs.hops().between(hop.getFirst(), hop.getLast()).latencyNanos());
            json.writeEndObject();
        }
        json.writeEndArray();
        json.writeEndObject();
    }

    /** Returns the pairs of ranks between which messages travel. */
    private static Set<List<Integer>> hops(Plan plan) {
        Set<List<Integer>> hops = new LinkedHashSet<>();
        for (List<Action> row : plan.rows()) {
            row.stream().filter(action -> action.kind().isReceive() && plan.needsMessage(action)).forEach(
                    action -> hops.add(List.of(plan.rankOf(plan.peer(action)), plan.rankOf(action))));
        }
        return hops;
    }

    private void write(Message message) throws IOException {
        json.writeStartObject();
        json.writeNumberField("from", message.sender());
        json.writeNumberField("to", message.receiver());
        json.writeStringField("message", message.send().toString());
        json.writeNumberField("sent_ns", since(message.handedNanos()));
        json.writeNumberField("without_credit_ns", message.creditNanos());
        json.writeNumberField("landed_ns", since(message.landedNanos()));
        json.writeNumberField("bytes", message.bytes());
        json.writeEndObject();
    }
}
