package dev.troupe.cluster;

import com.typesafe.config.Config;
import com.typesafe.config.ConfigFactory;
import com.typesafe.config.ConfigRenderOptions;
import dev.troupe.batch.MicrobatchRows;
import dev.troupe.prepare.PreparedRun;
import dev.troupe.protocol.membership.Roster;
import dev.troupe.stage.StageSettings;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** The settings that must be the same on all nodes of a run, in words, so that a difference can be named. */
final class CompatibilityKeys {
    /**
     * Keys that may differ between nodes: of the engine, and of directories on the machine. A tokenizer has its
     * content's.
     */
    private static final List<String> OWN = List.of("engine.", "data.path", "data.validation-path", "data.cache",
            "data.tokenizer", "model.from", "model.adapter", "transport.directory",
            "cluster.tls.");

    private CompatibilityKeys() {
    }

    /**
     * Returns the keys of a node: version, the run's directory, every key of the configuration that must not differ,
     * the certified plan, and the first data and their number, since these follow from files too.
     */
    static Map<String, String> of(PreparedRun run, String version) {
        Map<String, String> keys = new TreeMap<>();
        keys.put("version", version);
        keys.put("plan", digest(run.plan().training().plan().toCsv()));
        keys.put("data", digest(firstMicrobatch(run)) + ", " + run.data().trainingAmount() + ", "
                + run.data().validationAmount());
        keys.put("model", run.model().toString());
        keys.put("first weights", run.firstWeights());
        keys.put("the run's directory", run.request().output().toAbsolutePath().normalize().toString());
        keys.put(Roster.STEPS_BEHIND, "" + run.stepsDone());
        if (run.spec().training().replay().aheadBytes() < Long.MAX_VALUE) {
            keys.put(Roster.BLOCKS_AHEAD, "" + run.plan().stageSettings().replay().ahead());
        }
        run.engine().productsWithVersions()
                .ifPresent(products -> keys.put(Roster.products(run.engine().provider().kind()), products));
        run.tokenizer().ifPresent(tokenizer -> keys.put("data.tokenizer", tokenizer.identity()));
        Config config = ConfigFactory.parseString(run.spec().toHocon()).getConfig("troupe");
        config.entrySet().forEach(entry -> {
            if (OWN.stream().noneMatch(entry.getKey()::startsWith)) {
                keys.put(entry.getKey(), entry.getValue().render(ConfigRenderOptions.concise()));
            }
        });
        return keys;
    }

    private static String firstMicrobatch(PreparedRun run) {
        StageSettings settings = run.plan().stageSettings();
        MicrobatchRows rows = new MicrobatchRows(settings.rows(), settings.separatesDocuments());
        run.batches().fillMicrobatch(0, 0, settings.microbatchSize(), rows);
        return rows.toString();
    }

    private static String digest(String text) {
        try {
            return HexFormat.of().formatHex(
                    MessageDigest.getInstance("SHA-256").digest(text.getBytes(StandardCharsets.UTF_8)), 0, 8);
        } catch (NoSuchAlgorithmException absent) {
            throw new IllegalStateException("every JDK has SHA-256", absent);
        }
    }
}
