package dev.troupe.cli.progress;

import dev.troupe.cli.report.MemoryTable;
import dev.troupe.cli.report.PlanNotes;
import dev.troupe.cli.report.Terminal;
import dev.troupe.config.RunSpec;
import dev.troupe.config.cluster.ClusterSpec;
import dev.troupe.config.spec.DataSpec;
import dev.troupe.config.spec.EngineSpec;
import dev.troupe.config.spec.OverlapSpec;
import dev.troupe.config.spec.TrainingSpec;
import dev.troupe.look.output.MetricsLog;
import dev.troupe.model.spec.Axis;
import dev.troupe.plan.prepare.PreparedRun;
import dev.troupe.plan.prepare.RunData;
import dev.troupe.run.cluster.machine.MachineDriver;
import dev.troupe.run.cluster.tls.EncryptionRate;
import dev.troupe.schedule.Plan;
import dev.troupe.schedule.Replicas;
import dev.troupe.schedule.drawing.TerminalDrawing;
import dev.troupe.schedule.drawing.TimeScale;
import dev.troupe.schedule.simulator.Costs;
import dev.troupe.schedule.simulator.Simulator;
import dev.troupe.schedule.timeline.Timeline;
import java.io.PrintStream;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.stream.Collectors;

/** The summary of a run before it starts: model, stages, schedule, engine. */
public final class RunSummary {
    /** The width of a drawing outside a terminal. */
    private static final int FILE_COLUMNS = 120;

    private RunSummary() {
    }

    /** Returns a note if the run uses fewer positions than its model has, without a setting for it. */
    private static Optional<String> positionsLeft(PreparedRun run) {
        int length = run.batches().sequenceLength();
        int positions = run.model().size(Axis.POSITION);
        return run.spec().model().directory().isPresent() && run.spec().model().sequenceLength().isEmpty()
                && length < positions
                        ? Optional.of(String.format(Locale.ROOT,
                                "Sequences are of %d tokens, since none are asked for; the"
                                        + " model has positions for %,d (model.sequence-length)",
                                length, positions))
                        : Optional.empty();
    }

    public static void print(PreparedRun run, PrintStream output) {
        RunSpec spec = run.spec();
        output.printf(Locale.ROOT, "%s: %s: %,d parameters%s%n", spec.name(), run.model().summary(),
                run.model().parameterCount(), run.model().lora().isPresent()
                        ? String.format(Locale.ROOT, ", of which %,d are trained", run.model().trainedCount())
                        : "");
        output.printf(Locale.ROOT, "%d sequences of %d tokens a step, as %d microbatches of %d, from %s%n",
                spec.training().globalBatchSize(), run.batches().sequenceLength(), spec.microbatchCount(),
                spec.training().microbatchSize(), run.data().name());
        positionsLeft(run).ifPresent(output::println);
        output.println(data(run));
        output.println(run.engine().provider().description() + ", " + count(run.engine().settings().threads(), "thread")
                + " a rank");
        run.engine().otherProducts().ifPresent(products -> output.println("Matrix products by " + products));
        if (spec.engine().float32Products() != EngineSpec.Float32Products.EXACT) {
            output.println("Matrix products of float32 by " + spec.engine().float32Products().word()
                    + " (engine.float32-products)");
        }
        if (spec.engine().exactRows()) {
            output.println("Rows have the same bits whatever other rows are computed with them (engine.exact-rows)");
        }
        spec.cluster().filter(_ -> run.request().share().isPresent())
                .ifPresent(cluster -> output.println(wire(run, cluster)));
        spec.cluster().filter(_ -> run.request().share().isPresent()).flatMap(ClusterSpec::exposure)
                .ifPresent(sentence -> output.println("Note: " + sentence + "."));
        run.engine().passedOver().ifPresent(sentence -> output.println("Note: " + sentence + "."));
        run.engine().provider().caution(run.engine().settings())
                .ifPresent(sentence -> output.println("Note: " + sentence + "."));
        output.println();
        output.println(run.plan().partition().describe());
        output.println();
        Plan plan = run.plan().training().plan();
        List<Integer> peaks = run.plan().training().peakActivations();
        output.println(plan.name() + " on " + count(plan.rankCount(), "rank") + "; activations held at most, by rank: "
                + peaks + (plan.continues()
                        ? "; versions of the weights: " + run.plan().training().weights().liveVersions()
                                + "; the pipeline is flushed every "
                                + count(plan.stepCount(), "step")
                        : ""));
        Terminal terminal = Terminal.ofOutput();
        output.println(drawing(spec, plan, terminal));
        output.println();
        output.println(MemoryTable.of(run.memory(), terminal));
        output.println();
        PlanNotes.of(plan, run.model().lora().isPresent()).forEach(output::println);
        run.data().notes().forEach(note -> output.println("Note: " + note + "."));
        run.start().passedOver().forEach(what -> output.println("Passed over a checkpoint: " + what + "."));
        run.planned().dropped().forEach(what -> output.println("Note: " + what + "."));
        if (run.beginsAgain()) {
            output.println(
                    "A run ended in " + run.request().output() + " before its first checkpoint: it begins again.");
        }
        if (run.start().resumed()) {
            output.println(goingOn(run));
        }
        output.flush();
    }

    /** Returns the network between the processes of a cluster, with the cost of encryption. */
    private static String wire(PreparedRun run, ClusterSpec cluster) {
        return "Activations, gradients, collectives and copies of snapshots between processes: through shared memory"
                + MachineDriver.betweenMachines(run.planned()).map(network -> " within a machine, over "
                        + network.name() + " between machines, " + encryption(cluster)).orElse("");
    }

    private static String encryption(ClusterSpec cluster) {
        return cluster.tls().isEmpty()
                ? "in the clear"
                : String.format(Locale.ROOT, "inside TLS, which takes a core at either end for %.1f GB/s",
                        EncryptionRate.measure() / 1e9);
    }

    /** Returns whether a run resumes after its last step, so that only its model remains to be written. */
    static boolean isDone(PreparedRun run) {
        return run.start().resumed() && run.stepsDone() >= run.spec().training().steps();
    }

    /** Returns the step after which a run resumes, with the steps that it repeats. */
    private static String goingOn(PreparedRun run) {
        if (isDone(run)) {
            return "All " + run.stepsDone() + " steps are done; the model is written again.";
        }
        long last = run.request().continuesInPlace()
                ? MetricsLog.lastStep(run.request().output().resolve(MetricsLog.FILE)).orElse(-1)
                : -1;
        String again = last < run.stepsDone()
                ? ""
                : last == run.stepsDone()
                        ? "; step " + last + " is repeated"
                        : "; steps " + run.stepsDone() + " to " + last + " are repeated";
        return "Resuming after step " + (run.stepsDone() - 1) + again + ".";
    }

    /** Returns the sizes of the training data and of the validation data. */
    private static String data(PreparedRun run) {
        RunData data = run.data();
        TrainingSpec training = run.spec().training();
        String epochs = run.spec().data().order() == DataSpec.Order.EPOCHS
                ? String.format(Locale.ROOT, " in epochs of %,d sequences", run.batches().windowCount())
                : "";
        String validation = data.validationAmount().isEmpty()
                ? "none for validation: data.validation-fraction=0.05 or data.validation-path would say whether the model"
                        + " learns or memorizes"
                : data.validationAmount() + " for validation, "
                        + run.validation().map(batches -> "on " + count(batches.microbatchCount(), "microbatch", "es")
                                + " every " + count(training.commits().validateEvery(), "step"))
                                .orElse("which training.validate-every=0 leaves out");
        return String.format(Locale.ROOT, "%s to train on%s, %s", data.trainingAmount(), epochs, validation);
    }

    /**
     * Returns the drawing, with F, I and W of equal length, if it fits the terminal unfolded; otherwise the command that
     * draws it.
     */
    private static String drawing(RunSpec spec, Plan plan, Terminal terminal) {
        int columns = terminal.tableColumns().orElse(FILE_COLUMNS);
        if ((long) plan.stageCount() * plan.microbatchCount() <= columns) { // a larger plan cannot fit
            Timeline timeline = Simulator.run(plan, Costs.units(plan.stageCount())).timeline(plan.name());
            if (TerminalDrawing.fits(timeline, columns)) {
                return TerminalDrawing.draw(timeline, TimeScale.UNITS, columns, terminal.colours());
            }
        }
        String schedule = spec.parallel().schedule();
        return "drawn by: ./troupe schedule " + schedule + " --pipeline " + plan.stageCount() / plan.virtualStages()
                + (plan.placement() instanceof Replicas
                        ? " --replicas " + spec.parallel().replicas().stream().map(String::valueOf)
                                .collect(Collectors.joining(","))
                        : "")
                + (plan.virtualStages() == 1 ? "" : " --virtual-stages " + plan.virtualStages()) + " --microbatches "
                + plan.microbatchesPerStep() + (plan.continues() ? overlap(spec.parallel().overlap(), plan) : "");
    }

    private static String overlap(OverlapSpec overlap, Plan plan) {
        return " --steps " + plan.stepCount() + (plan.stagesUpdateAlone()
                ? ""
                : " --updates " + overlap.updates().word() + " --warm-up " + overlap.warmUp());
    }

    private static String count(int number, String noun) {
        return count(number, noun, "s");
    }

    private static String count(int number, String noun, String plural) {
        return number + " " + noun + (number == 1 ? "" : plural);
    }
}
