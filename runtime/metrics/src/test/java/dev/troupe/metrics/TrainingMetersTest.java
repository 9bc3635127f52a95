package dev.troupe.metrics;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.troupe.TrainingData;
import dev.troupe.TrainingListener;
import dev.troupe.TrainingResult;
import dev.troupe.TrainingSpec;
import dev.troupe.Troupe;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Tag("real")
@Timeout(300)
class TrainingMetersTest {
    private static final Pattern METRIC = Pattern.compile("troupe_[a-z_]+");
    private static final int STEPS = 6;
    private static final int TOKENS = 4 * 16;

    private final PrometheusMeterRegistry registry = new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);

    @TempDir
    private Path directory;

    private TrainingResult train(String run, List<String> settings) throws InterruptedException {
        TrainingSpec.Builder spec = TrainingSpec.builder().output(directory.resolve(run)).name("mine")
                .engine("reference").stages(2).steps(STEPS).batch(4, 2).set("model.layers", 2).set("model.hidden", 8)
                .set("model.heads", 2).set("model.sequence-length", 16).set("training.checkpoint-every", 2)
                .set("observe.tensorboard", true)
                .observer(TrainingMeters.to(registry));
        settings.forEach(setting -> spec.set(setting.split("=", 2)[0], setting.split("=", 2)[1]));
        return Troupe.train(spec.build(), TrainingData.ofText("To be, or not to be, that is the question. ".repeat(40)),
                TrainingListener.NONE);
    }

    @Test
    void shouldMeterARunByTheRulesOfPrometheus() throws InterruptedException, IOException {
        TrainingResult result = train("first", List.of("faults=[\"exception stage=1 step=3 microbatch=1 at=B\"]"));
        Exposition first = new Exposition(registry.scrape());
        assertEquals(List.of(), first.problems());
        String run = "run=\"mine\"";
        assertEquals(result.losses().getLast(), first.value("troupe_training_loss{" + run + "}"));
        assertEquals(STEPS, first.value("troupe_training_steps_done{" + run + "}"));
        assertEquals(STEPS, first.value("troupe_step_seconds_count{" + run + "}"));
        assertEquals(STEPS * TOKENS, first.value("troupe_tokens_total{" + run + "}"));
        assertEquals(1, first.value("troupe_recovery_seconds_count{" + run + "}"));
        assertEquals(1, first.value("troupe_epoch{" + run + "}"));
        assertEquals(3, first.value("troupe_checkpoint_seconds_count{" + run + "}"));
        assertEquals(1, first.value("troupe_state{" + run + ",state=\"ended\"}"));
        assertEquals(0, first.value("troupe_state{" + run + ",state=\"training\"}"));
        assertEquals(STEPS, first.value("troupe_measured_steps_total{" + run + "}"));
        assertEquals(first.value("troupe_sent_bytes_total{group=\"pipeline\"," + run + "}"),
                first.sum("troupe_message_bytes_total"));
        assertTrue(first.value("troupe_compute_seconds_total{kind=\"F\",rank=\"1\"," + run + "}") > 0);
        assertTrue(first.sum("troupe_idle_seconds_total") > 0 && first.sum("troupe_hop_seconds_count") > 0);
        assertTrue(first.value("troupe_process_resident_bytes{" + run + "}") > 1 << 20);
        try (Stream<Path> files = Files.list(directory.resolve("first/tensorboard"))) {
            assertTrue(Files.size(files.toList().getFirst()) > 100 * STEPS, "TensorBoard's file has every step");
        }
        assertTrue(first.value("troupe_memory_announced_bytes{class=\"weights\",rank=\"0\"," + run + "}") > 0);
        requireAllThatTheDashboardAsksFor(first);
        requireThatASecondRunContinues();
    }

    private static void requireAllThatTheDashboardAsksFor(Exposition run) throws IOException {
        Set<String> asked = new TreeSet<>();
        JsonNode dashboard = new ObjectMapper()
                .readTree(Files.readString(Path.of("../../deploy/grafana/troupe-run.json")));
        for (JsonNode expression : dashboard.findValues("expr")) {
            METRIC.matcher(expression.textValue()).results().map(MatchResult::group).forEach(asked::add);
        }
        METRIC.matcher(dashboard.path("templating").toString()).results().map(MatchResult::group).forEach(asked::add);
        asked.removeAll(run.names());
        assertEquals(Set.of(), asked, "not exported");
        assertTrue(dashboard.findValues("expr").size() > 15);
    }

    /** An application trains under one name again and again; its registry lives on. */
    private void requireThatASecondRunContinues() throws InterruptedException {
        TrainingResult second = train("second", List.of("training.seed=7", "parallel.pipeline=1"));
        Exposition both = new Exposition(registry.scrape());
        assertEquals(List.of(), both.problems());
        assertEquals(second.losses().getLast(), both.sum("troupe_training_loss"));
        assertEquals(2 * STEPS * TOKENS, both.sum("troupe_tokens_total"));
        assertEquals(1, both.sum("troupe_run_info"), "the first run's are gone");
    }

    @Test
    void shouldCountTheTroublesOfARun() {
        assertEquals(List.of(), new Exposition("# HELP a_total h\n# TYPE a_total counter\na_total{b=\"\\\"\"} 1\n")
                .problems());
        for (String wrong : Set.of("# TYPE a_total counter\na_total 1\n", "a 1\n",
                "# HELP a h\n# TYPE a counter\na 1\n", "# HELP a_ms h\n# TYPE a_ms gauge\na_ms 1\n",
                "# HELP a h\n# TYPE a gauge\na 1\na 2\n", "# HELP a h\n# TYPE a gauge\na{b=\"\"\"} 1\n",
                "# HELP a h\n# TYPE a gauge\na one\n", "# HELP a h\n# TYPE a gauge\na 1",
                "# HELP a h\n# TYPE a gauge\na 1\n# HELP b h\n# TYPE b gauge\nb 1\na{c=\"\"} 2\n",
                "# HELP a_total h\n# TYPE a_total gauge\na_total 1\n",
                "# HELP a_sum h\n# TYPE a_sum gauge\na_sum 1\n")) {
            assertFalse(new Exposition(wrong).problems().isEmpty(), wrong);
        }
    }
}
