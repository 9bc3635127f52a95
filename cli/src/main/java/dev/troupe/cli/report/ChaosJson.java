package dev.troupe.cli.report;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.troupe.config.RunSpec;
import dev.troupe.look.chaos.ChaosResult;
import dev.troupe.look.chaos.FaultOutcome;
import dev.troupe.look.chaos.RunRecord;
import java.util.OptionalDouble;

/** A disturbed run and the undisturbed one, for a program to read. Times are seconds, or milliseconds since 1970. */
public final class ChaosJson {
    private static final JsonMapper JSON = new JsonMapper();

    private ChaosJson() {
    }

    public static String of(RunSpec spec, ChaosResult result) throws JsonProcessingException {
        ObjectNode root = JSON.createObjectNode();
        root.put("name", spec.name()).put("schedule", spec.parallel().schedule())
                .put("equal", result.isEqual()).put("difference", result.difference().orElse(null))
                .put("steps_lost", result.disturbed().stepsLost())
                .put("resumed", result.disturbed().resumed())
                .put("throughput_kept", result.kept().share().orElse(null))
                .put("throughput_against", result.kept().basis().words())
                .put("faults_missed", result.missed().size());
        ArrayNode faults = root.putArray("faults");
        result.faults().forEach(outcome -> faults.add(fault(outcome)));
        root.set("undisturbed", run(result.undisturbed()));
        root.set("disturbed", run(result.disturbed()));
        return JSON.writerWithDefaultPrettyPrinter().writeValueAsString(root) + "\n";
    }

    private static ObjectNode fault(FaultOutcome outcome) {
        ObjectNode fault = JSON.createObjectNode().put("fault", outcome.fault())
                .put("struck", outcome.fired().isPresent());
        outcome.missed().ifPresent(missed -> fault.put("was_due", missed.wasDue()).put("reason", missed.reason()));
        outcome.fired().ifPresent(fired -> fault.put("struck_ms", fired.timeMillis()).put("node", fired.node())
                .put("point", fired.point().word()).put("rank", fired.rank()).put("stage", fired.stage())
                .put("step", fired.step()).put("microbatch", fired.microbatch()));
        put(fault, "seconds_to_detect", outcome.secondsToDetect());
        put(fault, "seconds_to_restart", outcome.secondsToRestart());
        put(fault, "seconds_to_catch_up", outcome.secondsToCatchUp());
        return fault;
    }

    private static void put(ObjectNode object, String name, OptionalDouble number) {
        number.ifPresent(value -> object.put(name, value));
    }

    private static ObjectNode run(RunRecord record) {
        ObjectNode run = JSON.createObjectNode().put("seconds", record.seconds());
        ArrayNode steps = run.putArray("steps");
        record.steps().forEach(step -> steps.addObject().put("step", step.step()).put("loss", step.loss())
                .put("seconds", step.seconds()).put("committed_ms", step.committedMillis()));
        run.set("recoveries", JSON.valueToTree(record.recoveries()));
        return run;
    }
}
