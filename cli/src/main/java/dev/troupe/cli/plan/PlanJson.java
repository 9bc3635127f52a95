package dev.troupe.cli.plan;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.troupe.look.compare.PlanTrial.Measured;
import dev.troupe.plan.planner.PlanAnswer;
import dev.troupe.plan.planner.PlanRequest;
import dev.troupe.plan.planner.PricedPlan;
import dev.troupe.plan.profile.StepInterval;
import java.util.List;
import java.util.TreeMap;

/** The answer of the planner as JSON. */
final class PlanJson {
    private static final JsonMapper JSON = new JsonMapper();

    private PlanJson() {
    }

    /** @param measured the plans that were measured; none if none was asked for */
    static String of(PlanRequest request, PlanAnswer answer, List<Measured> measured) {
        ObjectNode root = JSON.createObjectNode().put("ranks", request.ranks());
        if (request.memoryBytes() < Long.MAX_VALUE) {
            root.put("memoryBytes", request.memoryBytes());
        }
        ArrayNode plans = root.putArray("plans");
        answer.best().forEach(plan -> {
            ObjectNode node = plan(request, plan);
            StepInterval interval = answer.intervals().get(plan.choice());
            measured.stream().filter(trial -> trial.plan().choice().equals(plan.choice())).findFirst()
                    .ifPresent(trial -> node.set("measured", measured(trial)));
            if (interval != null) {
                node.putArray("stepSecondsInterval90").add(interval.lowNanos() / 1e9).add(interval.highNanos() / 1e9);
            }
            plans.add(node);
        });
        answer.withoutPipeline().ifPresent(plan -> root.set("withoutPipeline", plan(request, plan)));
        ArrayNode advice = root.putArray("advice");
        PlanTable.advice(answer).forEach(advice::add);
        ObjectNode refused = root.putObject("refused");
        new TreeMap<>(answer.refused()).forEach((kind, refusal) -> refused.putObject(kind.word())
                .put("count", refusal.count()).put("nearest", refusal.reason()));
        PlanAnswer.Cost cost = answer.cost();
        root.putObject("search").put("grids", cost.grids()).put("allGrids", cost.allGrids())
                .put("candidates", cost.candidates()).put("certified", cost.certified())
                .put("simulated", cost.simulated()).put("sized", cost.sized()).put("seconds", cost.seconds());
        try {
            return JSON.writerWithDefaultPrettyPrinter().writeValueAsString(root) + "\n";
        } catch (JsonProcessingException impossible) {
            throw new IllegalStateException(impossible);
        }
    }

    private static ObjectNode measured(Measured trial) {
        ObjectNode node = JSON.createObjectNode().put("engine", trial.plan().spec().engine().kind())
                .put("predictedSeconds", trial.plan().stepNanos() / 1e9).put("medianSeconds", trial.medianSeconds());
        ArrayNode seconds = node.putArray("stepSeconds");
        trial.seconds().forEach(seconds::add);
        return node;
    }

    private static ObjectNode plan(PlanRequest request, PricedPlan plan) {
        ObjectNode node = JSON.createObjectNode().put("stepSeconds", plan.stepNanos() / 1e9)
                .put("tokensPerSecond", PlanTable.tokens(request, plan) / (plan.stepNanos() / 1e9))
                .put("fullestRank", plan.fullest().rank()).put("memoryBytes", plan.fullest().total())
                .put("creditsPerEdge", plan.plan().training().creditsPerEdge());
        ObjectNode settings = node.putObject("settings");
        new TreeMap<>(plan.choice().settings()).forEach((key, value) -> {
            switch (value) {
                case Integer number -> settings.put(key, number);
                case Boolean truth -> settings.put(key, truth);
                default -> settings.put(key, value.toString());
            }
        });
        return node;
    }
}
