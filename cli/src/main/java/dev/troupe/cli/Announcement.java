package dev.troupe.cli;

import dev.troupe.config.RunSpec;
import dev.troupe.engine.Shape;
import dev.troupe.model.ModelConfig;
import dev.troupe.run.PreparedRun;
import dev.troupe.schedule.Plan;
import dev.troupe.schedule.PlanText;
import dev.troupe.weights.ModelTensors;
import java.io.PrintStream;
import java.util.List;
import java.util.Locale;

/** What is said of a run before it starts: model, stages, schedule, engine. */
final class Announcement {
    /** Columns of a plan that still fit beside its rank in a terminal. */
    private static final int WIDEST_ROW = 40;

    private Announcement() {
    }

    static void print(PreparedRun run, PrintStream output) {
        RunSpec spec = run.spec();
        ModelConfig model = run.model();
        long parameters = ModelTensors.of(model).values().stream().mapToLong(Shape::elementCount).sum();
        output.printf(Locale.ROOT, "%s: GPT-2 of %d layers, width %d, %d heads, vocabulary %d%s: %,d parameters%n",
                spec.name(), model.layers(), model.hidden(), model.heads(), model.vocabularySize(),
                model.tiedEmbeddings() ? ", tied embeddings" : "", parameters);
        output.printf(Locale.ROOT, "%d sequences of %d tokens a step, as %d microbatches of %d, from %s%n",
                spec.training().globalBatchSize(), run.batches().sequenceLength(), spec.microbatchCount(),
                spec.training().microbatchSize(),
                spec.data().path().map(Object::toString).orElse("the built-in corpus"));
        output.println(run.engine().provider().description() + ", " + count(run.engine().settings().threads(), "thread")
                + " a rank");
        run.engine().passedOver().ifPresent(sentence -> output.println("Note: " + sentence + "."));
        run.engine().provider().caution(run.engine().settings())
                .ifPresent(sentence -> output.println("Note: " + sentence + "."));
        output.println();
        output.println(run.plan().partition().describe());
        output.println();
        Plan plan = run.plan().training().plan();
        List<Integer> peaks = run.plan().training().peakActivations();
        output.println(plan.name() + " on " + count(plan.rankCount(), "rank") + "; activations held at most, by rank: "
                + peaks);
        if (plan.rows().stream().allMatch(row -> row.size() <= WIDEST_ROW)) {
            output.println(PlanText.grid(plan));
        }
        output.println();
        output.println(MemoryTable.of(run.memory()));
        output.println();
        run.passedOver().forEach(what -> output.println("Passed over a checkpoint: " + what + "."));
        if (run.resumes()) {
            output.println("Going on after step " + (run.stepsDone() - 1) + ".");
        }
        output.flush();
    }

    private static String count(int number, String noun) {
        return number + " " + noun + (number == 1 ? "" : "s");
    }
}
