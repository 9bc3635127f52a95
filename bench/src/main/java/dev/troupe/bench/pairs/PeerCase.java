package dev.troupe.bench.pairs;

import dev.troupe.bench.Arrangement;
import dev.troupe.bench.BenchmarkModel;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/**
 * One training that both Troupe and a peer do.
 *
 * @param arrangement the number of ranks, and the schedule
 * @param precision a value of {@code training.precision}; the peer does {@code bfloat16} by autocast
 */
record PeerCase(BenchmarkModel model, Arrangement arrangement, int threads, String precision) {
    private static final List<Arrangement> PIPELINES = List.of(new Arrangement(2, 1, "gpipe"),
            new Arrangement(2, 1, "1f1b"), new Arrangement(2, 2, "interleaved-1f1b"));
    private static final List<Arrangement> ZERO_BUBBLE = List.of(new Arrangement(2, 2, "interleaved-zero-bubble"),
            new Arrangement(2, 2, "zbv"));
    private static final Arrangement ALONE = new Arrangement(1, 1, "1f1b");

    /** The cases for two cores: pipelines of one thread a rank, and one process with both cores. */
    static final List<PeerCase> ALL = Stream.of(pipelines(PIPELINES, "float32"), pipelines(ZERO_BUBBLE, "float32"),
            Stream.of(new PeerCase(BenchmarkModel.WIDE, ALONE, 2, "float32")), pipelines(PIPELINES, "bfloat16"),
            Stream.of(new PeerCase(BenchmarkModel.NARROW, new Arrangement(2, 1, "1f1b"), 1, "float32"),
                    new PeerCase(BenchmarkModel.NARROW, new Arrangement(4, 1, "1f1b"), 1, "float32"),
                    new PeerCase(BenchmarkModel.NARROW, ALONE, 2, "float32")))
            .flatMap(cases -> cases).toList();

    static final List<PeerCase> ON_A_GPU = Stream
            .of(BenchmarkModel.GPT2_124M, BenchmarkModel.GPT2_350M, BenchmarkModel.GPT2_1300M)
            .flatMap(model -> Stream.of(ALONE, new Arrangement(4, 1, "1f1b"))
                    .map(ranks -> new PeerCase(model, ranks, 1, "bfloat16")))
            .toList();

    private static Stream<PeerCase> pipelines(List<Arrangement> arrangements, String precision) {
        return arrangements.stream().map(pipeline -> new PeerCase(BenchmarkModel.WIDE, pipeline, 1, precision));
    }

    /** Such as {@code wide-2-gpipe-float32}: model, ranks, schedule if there are several ranks, precision. */
    String name() {
        String schedule = arrangement.ranks() == 1 ? "" : "-" + arrangement.schedule();
        return model.name() + "-" + arrangement.ranks() + schedule + "-" + precision;
    }

    /** Whether the schedule computes the gradients of inputs and of weights apart, to leave no bubble. */
    boolean isZeroBubble() {
        return ZERO_BUBBLE.contains(arrangement);
    }

    /** Settings of {@code troupe train -s} for the model and the arrangement, and others after them. */
    List<String> completed(List<String> others) {
        return Stream.of(model.settings(), arrangement.settings(), others).flatMap(List::stream).toList();
    }

    /** Settings of {@code troupe train -s} in addition to the model and the arrangement. */
    List<String> settings() {
        return List.of("engine.threads=" + threads, "training.precision=" + precision, "data.order=sequential");
    }

    /** Arguments of the peer's script for the same training. */
    List<String> peerArguments() {
        List<String> arguments = new ArrayList<>();
        add(arguments, "--ranks", arrangement.ranks());
        add(arguments, "--threads", threads);
        add(arguments, "--schedule", arrangement.schedule());
        add(arguments, "--virtual-stages", arrangement.virtualStages());
        add(arguments, "--precision", precision);
        add(arguments, "--layers", model.layers());
        add(arguments, "--hidden", model.hidden());
        add(arguments, "--heads", model.heads());
        add(arguments, "--sequence", model.sequenceLength());
        add(arguments, "--vocabulary", model.vocabularySize());
        add(arguments, "--microbatches", model.microbatches());
        add(arguments, "--microbatch-size", model.microbatchSize());
        return arguments;
    }

    private static void add(List<String> arguments, String option, Object value) {
        arguments.add(option);
        arguments.add(value.toString());
    }

    @Override
    public String toString() {
        return model.name() + ", " + arrangement + (threads == 1 ? "" : ", " + threads + " threads") + ", " + precision;
    }
}
