package dev.troupe.look.output;

import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.troupe.config.RunSpec;
import dev.troupe.config.cluster.NodeSpec;
import dev.troupe.config.group.ParallelLayout;
import dev.troupe.engine.DataType;
import dev.troupe.model.spec.Axis;
import dev.troupe.partition.LayerRange;
import dev.troupe.plan.TrainingPlan;
import dev.troupe.plan.Version;
import dev.troupe.plan.memory.RankMemory;
import dev.troupe.plan.prepare.PreparedRun;
import dev.troupe.schedule.Action;
import dev.troupe.schedule.Plan;
import dev.troupe.schedule.certificate.Certificate;
import dev.troupe.schedule.lowering.WholeStep;
import dev.troupe.tokenizer.file.Sha256;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.stream.IntStream;

/**
 * {@code run.json} in a run's directory: the facts that are known before the first step, namely the plan with its
 * certificate, layout, nodes and announced memory. It is the constant part of {@code docs/schema/run.json}.
 */
public final class RunFile {
    public static final String FILE = "run.json";

    private static final JsonMapper JSON = new JsonMapper();

    private RunFile() {
    }

    static String text(PreparedRun run) {
        RunSpec spec = run.spec();
        TrainingPlan plan = run.plan();
        ObjectNode json = JSON.createObjectNode().put("schema", StepJson.SCHEMA).put("name", spec.name())
                .put("version", Version.text())
                .put("config_sha256", Sha256.of(spec.toHocon().getBytes(StandardCharsets.UTF_8)))
                .put("parameters", run.model().parameterCount())
                .put("engine", run.engine().provider().kind()).put("steps", spec.training().steps())
                .put("tokens_per_step",
                        (long) spec.training().globalBatchSize() * run.batches().sequenceLength())
                .put("message_bytes", messageBytes(run));
        json.set("plan", plan(spec, plan));
        json.set("layout", layout(plan));
        json.set("certificate", certificate(plan, run.engine().settings().computeType()));
        nodes(json.putArray("nodes"), spec, plan.rankCount());
        ArrayNode memory = json.putArray("memory");
        run.memory().ranks().forEach(rank -> memory.add(memory(rank)));
        return json + "\n";
    }

    /** Returns the size of an activation between two stages, and of its gradient. */
    private static long messageBytes(PreparedRun run) {
        return (long) run.plan().stageSettings().rows() * run.model().size(Axis.HIDDEN)
                * run.engine().settings().computeType().elementBytes();
    }

    private static ObjectNode plan(RunSpec spec, TrainingPlan planned) {
        Plan plan = planned.training().plan();
        ObjectNode json = JSON.createObjectNode().put("name", plan.name()).put("schedule", spec.parallel().schedule())
                .put("split_cool_down", spec.parallel().splitCoolDown()).put("pipeline", plan.rankCount())
                .put("virtual_stages", plan.virtualStages()).put("stages", plan.stageCount())
                .put("microbatches", plan.microbatchesPerStep()).put("steps", plan.stepCount());
        WholeStep step = planned.wholeStep();
        json.putObject("whole_step").put("replays_ahead", step.replaysAhead())
                .put("shares_parameter", step.sharesParameter())
                .put("gathers_weights", step.gathersWeights()).put("sums_gradients", step.sumsGradients())
                .put("gathers_updates", step.gathersUpdates());
        ArrayNode rows = json.putArray("rows");
        for (List<Action> row : plan.rows()) {
            ArrayNode actions = rows.addArray();
            row.forEach(action -> actions.add(action.toString()));
        }
        return json;
    }

    private static ObjectNode layout(TrainingPlan plan) {
        ParallelLayout ranks = plan.ranks();
        ObjectNode json = JSON.createObjectNode().put("pipeline", ranks.pipeline()).put("tensor", ranks.tensor())
                .put("data", ranks.data()).put("sequence", plan.sharding().cutsRows())
                .put("ranks_per_place", plan.ranksPerPlace());
        ArrayNode stages = json.putArray("stages");
        for (int stage = 0; stage < plan.partition().stageCount(); stage++) {
            LayerRange layers = plan.partition().layers(stage);
            stages.addObject().put("stage", stage).put("place", plan.training().plan().ranksOf(stage).getFirst())
                    .put("first_layer", layers.first()).put("last_layer", layers.last())
                    .put("parameters", plan.partition().parameterCount(stage));
        }
        return json;
    }

    private static ObjectNode certificate(TrainingPlan plan, DataType computeType) {
        Certificate certificate = plan.training();
        ObjectNode json = JSON.createObjectNode().put("credits_per_edge", certificate.creditsPerEdge());
        certificate.peakActivations().forEach(json.putArray("peak_activations")::add);
        ArrayNode gathered = json.putArray("gathered_input_bytes");
        IntStream.range(0, plan.rankCount()).forEach(rank -> gathered.add(plan.gatheredInputBytes(rank, computeType)));
        ArrayNode edges = json.putArray("edges");
        certificate.messagesPerEdge().forEach((edge, count) -> edges.addObject().put("from", edge.fromRank())
                .put("from_stage", edge.fromStage()).put("to", edge.toRank()).put("to_stage", edge.toStage())
                .put("messages", count).put("most_unreceived", certificate.mostUnreceived().get(edge)));
        return json;
    }

    private static void nodes(ArrayNode nodes, RunSpec spec, int rankCount) {
        if (spec.cluster().isPresent()) {
            for (NodeSpec node : spec.cluster().get().nodes()) {
                ObjectNode one = nodes.addObject().put("node", node.name()).put("host", node.host())
                        .put("standby", node.standby());
                node.ranks().forEach(one.putArray("ranks")::add);
            }
        } else {
            ArrayNode ranks = nodes.addObject().put("node", "node-0").put("host", "localhost").put("standby", false)
                    .putArray("ranks");
            for (int rank = 0; rank < rankCount; rank++) {
                ranks.add(rank);
            }
        }
    }

    private static ObjectNode memory(RankMemory rank) {
        return JSON.createObjectNode().put("rank", rank.rank()).put("weights", rank.weights())
                .put("gradients", rank.gradients()).put("optimizer", rank.optimizer())
                .put("activations", rank.activations()).put("boundary", rank.boundary())
                .put("snapshots", rank.snapshots()).put("copies", rank.copies())
                .put("offloaded", rank.offloaded()).put("free", rank.pool().free().bytes())
                .put("largest_free", rank.pool().free().largestBytes());
    }
}
