package dev.troupe.cli.report;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.troupe.config.RunSpec;
import dev.troupe.look.compare.Figures;
import dev.troupe.look.compare.ScheduleOutcome;
import dev.troupe.look.figure.PairedRatio;
import dev.troupe.look.figure.StepTime;
import java.util.List;

/** The outcomes of a comparison for a program to read. Times are seconds, sizes bytes, bubbles shares of 1. */
public final class ComparisonJson {
    private static final JsonMapper JSON = new JsonMapper();

    private ComparisonJson() {
    }

    public static String of(RunSpec spec, List<ScheduleOutcome> outcomes) throws JsonProcessingException {
        ObjectNode root = JSON.createObjectNode();
        root.put("name", spec.name()).put("pipeline", spec.parallel().pipeline())
                .put("microbatches", spec.microbatchCount()).put("engine", outcomes.getFirst().engine());
        ArrayNode schedules = root.putArray("schedules");
        for (ScheduleOutcome outcome : outcomes) {
            ObjectNode schedule = schedules.addObject();
            schedule.put("schedule", outcome.contestant().schedule()).put("virtual_stages",
                    outcome.contestant().virtualStages());
            schedule.set("predicted", figures(outcome.predicted(), outcome.prediction().stepTime()));
            ObjectNode measured = figures(outcome.measured(), outcome.stepTime());
            schedule.set("measured", measured);
            measured.put("control_nanos_median", outcome.control().medianNanos())
                    .put("control_nanos_90th", outcome.control().ninetiethNanos())
                    .put("control_nanos_99th", outcome.control().ninetyNinthNanos());
            ArrayNode seconds = schedule.putArray("measured_seconds");
            outcome.seconds().forEach(seconds::add);
            schedule.set("beside_first", ratio(outcome.ratioTo(outcomes.getFirst())));
            PairedRatio predicted = outcome.predictedOverMeasured();
            schedule.put("prediction_error", predicted.median() - 1);
            schedule.set("predicted_beside_measured", ratio(predicted));
            schedule.put("agreement", outcome.agreement());
            ArrayNode losses = schedule.putArray("losses");
            outcome.losses().forEach(losses::add);
        }
        return JSON.writerWithDefaultPrettyPrinter().writeValueAsString(root) + "\n";
    }

    private static ObjectNode ratio(PairedRatio ratio) {
        return JSON.createObjectNode().put("ratio", ratio.median()).put("low", ratio.low()).put("high", ratio.high())
                .put("confidence", ratio.confidence());
    }

    private static ObjectNode figures(Figures figures, StepTime spread) {
        return JSON.createObjectNode().put("step_seconds", figures.stepSeconds())
                .put("step_seconds_least", spread.leastSeconds()).put("step_seconds_most", spread.mostSeconds())
                .put("bubble_over_ideal", figures.bubbleOverIdeal()).put("bubble_over_total", figures.bubbleOverTotal())
                .put("peak_activations", figures.peakActivations())
                .put("peak_bytes_in_flight", figures.peakBytesInFlight());
    }
}
