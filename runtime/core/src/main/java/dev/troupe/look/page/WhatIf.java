package dev.troupe.look.page;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.troupe.run.http.Answer;
import dev.troupe.run.http.Routes;
import dev.troupe.schedule.Kind;
import dev.troupe.schedule.Plan;
import dev.troupe.schedule.PlanException;
import dev.troupe.schedule.Schedule;
import dev.troupe.schedule.builder.SplitCoolDown;
import dev.troupe.schedule.family.Schedules;
import dev.troupe.schedule.lowering.WholeStep;
import dev.troupe.schedule.simulator.Costs;
import dev.troupe.schedule.simulator.Hop;
import dev.troupe.schedule.simulator.Simulation;
import dev.troupe.schedule.simulator.Simulator;
import dev.troupe.schedule.simulator.StageCost;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;

/**
 * The predicted time of a step with another schedule, a stage of other costs, or other hops. It is a simulation of the run's
 * plan with the typical times of its actions and with the change.
 */
final class WhatIf {
    /** The maximum extra time of a hop: an hour. */
    private static final double MOST_HOP_MICROS = 3.6e9;
    private static final double LARGEST_FACTOR = 1e6;

    private final JsonNode run;
    private final JsonNode costs;
    private final List<String> sentences = new ArrayList<>();

    /**
     * @param run the object of {@code run.json}
     */
    WhatIf(JsonNode run, JsonNode costs) {
        this.run = run;
        this.costs = costs;
    }

    /** Returns the answer: status 400 for a wrong parameter, and 404 if the run's steps overlap. */
    Answer answer(Routes.Question question, ObjectNode answer) {
        JsonNode plan = run.path("plan");
        String named = plan.path("schedule").asText();
        String schedule = question.text("schedule", named);
        int stages = plan.path("stages").asInt();
        long stage = question.number("stage").orElse(0);
        double factor = question.decimal("factor").orElse(1);
        double hopMicros = question.decimal("hop_us").orElse(0);
        if (Schedules.overlapsSteps(named)) {
            return Answer
                    .absent("The steps of " + named + " overlap, so that there is no plan of one step to change: ask"
                            + " what if of a run of " + String.join(", ", Schedules.names()) + ".");
        }
        if (!Schedules.names().contains(schedule)) {
            return Answer.wrong("schedule is one of " + String.join(", ", Schedules.names()) + ", but is " + schedule);
        }
        if (stage < 0 || stage >= stages) {
            return Answer.wrong("stage is from 0 to " + (stages - 1) + ", but is " + stage);
        }
        if (factor < 0 || factor > LARGEST_FACTOR || Math.abs(hopMicros) > MOST_HOP_MICROS) {
            return Answer.wrong("factor is from 0 to a million and hop_us an hour at most, but they are " + factor
                    + " and " + hopMicros);
        }
        Optional<Plan> now = plan(named);
        Optional<Plan> then = plan(schedule);
        if (now.isEmpty() || then.isEmpty()) {
            return Answer.wrong(schedule + " is not defined for " + plan.path("pipeline").asInt() + " ranks with "
                    + plan.path("virtual_stages").asInt() + " stages each and " + plan.path("microbatches").asInt()
                    + " microbatches");
        }
        Simulation asItIs = simulate(now.get(), 0, 1, 0);
        Simulation changed = simulate(then.get(), (int) stage, factor, hopMicros);
        double ratio = (double) changed.makespanNanos() / Math.max(1, asItIs.makespanNanos());
        sentences.addFirst(String.format(Locale.ROOT,
                "The step would take %.2f ms in place of %.2f ms, %.3f times as long; idle %.1f %% in place of %.1f %%.",
                changed.makespanNanos() / 1e6, asItIs.makespanNanos() / 1e6, ratio, 100 * changed.bubbleOverTotal(),
                100 * asItIs.bubbleOverTotal()));
        answer.put("planned_ns", asItIs.makespanNanos()).put("changed_ns", changed.makespanNanos())
                .put("ratio", ratio).put("planned_idle", asItIs.bubbleOverTotal())
                .put("changed_idle", changed.bubbleOverTotal());
        sentences.forEach(answer.putArray("sentences")::add);
        Schedules.names().stream().filter(name -> plan(name).isPresent()).forEach(answer.putArray("schedules")::add);
        return Answer.json(answer);
    }

    /** Returns the whole step of a schedule with the run's numbers; empty if it is not defined for them. */
    private Optional<Plan> plan(String name) {
        JsonNode plan = run.path("plan");
        JsonNode step = plan.path("whole_step");
        Schedule named = Schedules.named(name);
        Schedule schedule = plan.path("split_cool_down").asBoolean() ? new SplitCoolDown(named) : named;
        try {
            Plan compute = schedule.plan(plan.path("pipeline").asInt(), plan.path("virtual_stages").asInt(),
                    plan.path("microbatches").asInt());
            return Optional.of(new WholeStep(step.path("replays_ahead").asBoolean(),
                    step.path("shares_parameter").asBoolean(),
                    step.path("gathers_weights").asBoolean(), step.path("sums_gradients").asBoolean(),
                    step.path("gathers_updates").asBoolean()).training(compute));
        } catch (PlanException _) {
            return Optional.empty();
        }
    }

    private Simulation simulate(Plan plan, int changedStage, double factor, double hopMicros) {
        List<StageCost> stages = new ArrayList<>();
        for (int stage = 0; stage < plan.stageCount(); stage++) {
            stages.add(stage(costs.path("stages").path(stage).path("ns"), stage == changedStage ? factor : 1));
        }
        Map<List<Integer>, Long> hops = new HashMap<>();
        long middle = middleHop();
        for (JsonNode hop : costs.path("hops")) {
            hops.put(List.of(hop.path("from").asInt(), hop.path("to").asInt()), hop.path("ns").asLong());
        }
        return Simulator.run(plan, new Costs(stages, (from, to) -> new Hop(
                Math.max(0, hops.getOrDefault(List.of(from, to), middle) + Math.round(1e3 * hopMicros)),
                Double.POSITIVE_INFINITY)), run.path("certificate").path("credits_per_edge").asInt());
    }

    /** Returns the median of the known hops, for ranks that exchange nothing in the run's own plan. */
    private long middleHop() {
        List<Long> known = new ArrayList<>();
        costs.path("hops").forEach(hop -> known.add(hop.path("ns").asLong()));
        return known.stream().sorted().skip(known.size() / 2).findFirst().orElse(0L);
    }

    /**
     * Returns the cost of a stage. If only I and W were measured, B is their sum; if only B was measured, each is half of
     * it.
     */
    private StageCost stage(JsonNode nanos, double factor) {
        Map<Kind, Long> others = new EnumMap<>(Kind.class);
        for (Kind kind : Kind.values()) {
            if ((!kind.isPerMicrobatch() || kind == Kind.RECOMPUTE) && nanos.has(kind.code())) {
                others.put(kind, nanos.path(kind.code()).asLong());
            }
        }
        long input = nanos.path(Kind.BACKWARD_INPUT.code()).asLong();
        long weight = nanos.path(Kind.BACKWARD_WEIGHT.code()).asLong();
        long both = nanos.path(Kind.FULL_BACKWARD.code()).asLong();
        if (input == 0 && weight == 0 && both > 0) {
            note("I and W were not measured alone: each is taken as half of B.");
            input = both / 2;
            weight = both - input;
        } else if (both == 0) {
            both = input + weight;
        }
        return new StageCost(times(nanos.path(Kind.FORWARD.code()).asLong(), factor), times(input, factor),
                times(weight, factor), times(both, factor), 0, others);
    }

    private void note(String sentence) {
        if (!sentences.contains(sentence)) {
            sentences.add(sentence);
        }
    }

    private static long times(long nanos, double factor) {
        return Math.round(nanos * factor);
    }
}
