package dev.troupe.config;

import com.typesafe.config.ConfigUtil;
import dev.troupe.config.cluster.ClusterSpec;
import dev.troupe.config.cluster.NodePlacement;
import dev.troupe.config.cluster.NodeSpec;
import dev.troupe.config.cluster.TlsSpec;
import dev.troupe.config.group.ParallelLayout;
import dev.troupe.config.spec.DataSpec;
import dev.troupe.config.spec.EmulatedSpec;
import dev.troupe.config.spec.LearningRateSpec;
import dev.troupe.config.spec.LoraSpec;
import dev.troupe.config.spec.ModelSection;
import dev.troupe.config.spec.OptimizerSpec;
import dev.troupe.config.spec.ParallelSpec;
import dev.troupe.config.spec.RecoverySpec;
import dev.troupe.config.spec.TrainingSpec;
import dev.troupe.config.spec.TransportSpec;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.OptionalInt;
import java.util.TreeMap;

/** Writes a run as HOCON, in the order of the defaults. */
final class RunSpecWriter {
    private final StringBuilder text = new StringBuilder();
    private int depth;

    private RunSpecWriter() {
    }

    static String write(RunSpec run) {
        RunSpecWriter writer = new RunSpecWriter();
        writer.section("troupe", () -> {
            writer.word("name", run.name());
            writer.section("model", () -> {
                writer.model(run.model());
                writer.word("adapter", run.training().lora().adapter().map(Path::toString).orElse(""));
            });
            writer.section("data", () -> writer.data(run.data()));
            writer.section("training", () -> writer.training(run.training()));
            writer.section("parallel", () -> writer.parallel(run.parallel()));
            writer.section("engine", () -> {
                writer.word("kind", run.engine().kind());
                writer.plain("threads", run.engine().threads());
                writer.word("device", run.engine().deviceText());
                writer.word("products", run.engine().products());
                writer.section("emulated", () -> writer.emulated(run.engine().emulated()));
            });
            writer.section("transport", () -> writer.transport(run.transport()));
            writer.section("recovery", () -> writer.recovery(run.recovery()));
            writer.section("observe", () -> {
                writer.plain("port", run.observe().port());
                writer.plain("tensorboard", run.observe().tensorboard());
                writer.plain("sample-tokens", run.observe().sampleTokens());
            });
            run.cluster().ifPresent(cluster -> writer.section("cluster",
                    () -> writer.cluster(cluster, run.parallel().ranks())));
            writer.plain("faults", run.faults().stream().map(fault -> ConfigUtil.quoteString(fault.text())).toList());
        });
        return writer.text.toString();
    }

    private void model(ModelSection model) {
        switch (model) {
            case ModelSection.FromDirectory from -> {
                from.familyGiven().ifPresent(family -> word("family", family));
                word("from", from.directory().toString());
                given("layers", from.layers());
                given("hidden", from.hidden());
                given("heads", from.heads());
                given("sequence-length", from.sequenceLength());
                given("vocabulary-size", from.vocabularySize());
                from.tieEmbeddings().ifPresent(tie -> plain("tie-embeddings", tie));
                new TreeMap<>(from.more()).forEach(this::plain);
            }
            case ModelSection.Described described -> {
                word("family", described.family());
                word("from", "");
                plain("layers", described.layers());
                plain("hidden", described.hidden());
                plain("heads", described.heads());
                plain("sequence-length", described.sequenceLength());
                plain("vocabulary-size", described.vocabularySize());
                plain("tie-embeddings", described.tieEmbeddings());
                new TreeMap<>(described.more()).forEach(this::plain);
            }
        }
    }

    private void data(DataSpec data) {
        paths("path", data.paths(), RunSpecReader.BUILT_IN);
        word("tokenizer", data.tokenizer());
        plain("special-tokens", data.specialTokens());
        plain("token-bytes", data.tokenBytes());
        plain("pack", data.packs());
        plain("cut-long-text", data.cutsLongText());
        word("cache", data.cache());
        word("order", data.order().word());
        plain("seed", data.seed());
        plain("validation-fraction", data.validationFraction());
        paths("validation-path", data.validationPaths(), "");
    }

    private void training(TrainingSpec training) {
        plain("steps", training.steps());
        plain("global-batch-size", training.globalBatchSize());
        plain("microbatch-size", training.microbatchSize());
        plain("seed", training.seed());
        word("precision", training.precision().word());
        word("loss-scale", training.lossScale().text());
        plain("gradient-clip", training.gradientClip());
        plain("checkpoint-every", training.checkpointEvery());
        plain("checkpoint-interval", duration(training.checkpointInterval()));
        plain("keep-checkpoints", training.keepCheckpoints());
        plain("validate-every", training.validateEvery());
        plain("validation-microbatches", training.validationMicrobatches());
        plain("zero", training.zero());
        word("gradient-exchange", training.gradientExchange().word());
        word("recompute", training.recompute().word());
        plain("recompute-every", training.replay().every());
        word("recompute-ahead", training.replay().ahead());
        plain("dropout", training.dropout());
        section("lora", () -> lora(training.lora()));
        section("optimizer", () -> {
            OptimizerSpec optimizer = training.optimizer();
            word("kind", optimizer.kind().word());
            plain("betas", "[" + optimizer.betas().first() + ", " + optimizer.betas().second() + "]");
            plain("epsilon", optimizer.epsilon());
            plain("weight-decay", optimizer.weightDecay());
            plain("momentum", optimizer.momentum());
            plain("nesterov", optimizer.nesterov());
            plain("error-feedback", optimizer.errorFeedback());
        });
        section("learning-rate", () -> {
            LearningRateSpec rate = training.learningRate();
            word("schedule", rate.schedule().word());
            plain("peak", rate.peak());
            plain("minimum", rate.minimum());
            plain("warmup-steps", rate.warmupSteps());
            plain("stable-steps", rate.stableSteps());
            plain("decay-steps", rate.decaySteps());
        });
    }

    private void lora(LoraSpec lora) {
        plain("rank", lora.rank().orElse(0));
        plain("alpha", lora.alpha().orElse(0));
        plain("targets", lora.targets().stream().map(ConfigUtil::quoteString).toList());
        plain("dropout", lora.dropout());
    }

    private void parallel(ParallelSpec parallel) {
        plain("pipeline", parallel.pipeline());
        plain("tensor", parallel.tensor());
        plain("data", parallel.data());
        plain("sequence", parallel.sequence());
        plain("virtual-stages", parallel.virtualStages());
        word("schedule", parallel.schedule());
        word("layout", parallel.layout());
        plain("split-cool-down", parallel.splitCoolDown());
        plain("flush-every", parallel.overlap().flushEvery());
        word("updates", parallel.overlap().updates().word());
        plain("warm-up", parallel.overlap().warmUp());
        plain("replicas", parallel.replicas());
    }

    private void emulated(EmulatedSpec emulated) {
        durations("forward", emulated.forward());
        durations("backward-input", emulated.backwardInput());
        durations("backward-weight", emulated.backwardWeight());
        durations("recompute", emulated.recompute());
        durations("update", emulated.update());
        plain("device-flops", emulated.deviceFlops());
    }

    private void durations(String key, List<Duration> durations) {
        plain(key, durations.stream().map(RunSpecWriter::duration).toList());
    }

    private void transport(TransportSpec transport) {
        plain("credits", transport.credits());
        plain("term-length", transport.termLengthBytes());
        plain("timeout", duration(transport.timeout()));
        word("network", transport.network().word());
        word("directory", transport.directory().map(Path::toString).orElse(""));
    }

    private void recovery(RecoverySpec recovery) {
        plain("enabled", recovery.enabled());
        plain("most-per-step", recovery.mostPerStep());
        plain("hang-timeout", duration(recovery.hangTimeout()));
        plain("warm-standby", recovery.warmStandby());
    }

    private void cluster(ClusterSpec cluster, ParallelLayout layout) {
        word("name", cluster.name());
        line("nodes = [");
        depth++;
        for (NodeSpec node : cluster.nodes()) {
            line("{");
            depth++;
            node(node);
            depth--;
            line("}");
        }
        depth--;
        line("]");
        plain("join-timeout", duration(cluster.joinTimeout()));
        plain("split-tensor-groups", !NodePlacement.groupsOverHosts(cluster.nodes(), layout).isEmpty());
        cluster.tls().ifPresent(tls -> section("tls", () -> tls(tls)));
    }

    private void node(NodeSpec node) {
        word("name", node.name());
        word("host", node.host());
        plain("control-port", node.controlPort());
        plain("data-port", node.dataPort());
        plain("management-port", node.managementPort());
        word("engine", node.engine().kind());
        plain("threads", node.engine().threads());
        word("device", node.engine().deviceText());
        plain("ranks", node.ranks());
        plain("standby", node.standby());
    }

    private void tls(TlsSpec tls) {
        word("certificate", tls.certificate().toString());
        word("key", tls.key().toString());
        word("authority", tls.authority().toString());
    }

    private void paths(String key, List<Path> paths, String none) {
        if (paths.size() > 1) {
            plain(key, paths.stream().map(path -> ConfigUtil.quoteString(path.toString())).toList());
        } else {
            word(key, paths.isEmpty() ? none : paths.getFirst().toString());
        }
    }

    private static String duration(Duration duration) {
        return duration.getNano() == 0 ? duration.toSeconds() + "s" : duration.toNanos() + "ns";
    }

    private void section(String name, Runnable content) {
        line(name + " {");
        depth++;
        content.run();
        depth--;
        line("}");
    }

    private void given(String key, OptionalInt value) {
        value.ifPresent(number -> plain(key, number));
    }

    private void word(String key, String value) {
        line(key + " = " + ConfigUtil.quoteString(value));
    }

    private void plain(String key, Object value) {
        line(key + " = " + value);
    }

    private void line(String content) {
        text.append("  ".repeat(depth)).append(content).append('\n');
    }
}
