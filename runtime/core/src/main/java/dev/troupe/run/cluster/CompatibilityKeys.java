package dev.troupe.run.cluster;

import dev.troupe.batch.MicrobatchRows;
import dev.troupe.config.Keys;
import dev.troupe.plan.prepare.PreparedRun;
import dev.troupe.protocol.membership.Roster;
import dev.troupe.stage.StageSettings;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.Map;
import java.util.TreeMap;

/** The settings that must be equal on all nodes of a run, as text, so that a refusal can name the difference. */
final class CompatibilityKeys {
    private CompatibilityKeys() {
    }

    /**
     * Returns the keys of a node: version, the run's directory, and every key of the configuration that is not declared to
     * differ between nodes. The certified plan and the first and the number of data are included, since they depend on files
     * too.
     */
    static Map<String, String> of(PreparedRun run, String version) {
        Map<String, String> keys = new TreeMap<>();
        keys.put("version", version);
        keys.put("plan", digest(run.plan().training().plan().toCsv()));
        keys.put("data", digest(firstMicrobatch(run)) + ", " + run.data().trainingAmount() + ", "
                + run.data().validationAmount());
        keys.put("model", run.model().toString());
        keys.put("first weights", run.start().identity());
        keys.put("the run's directory", run.request().output().toAbsolutePath().normalize().toString());
        keys.put(Roster.STEPS_BEHIND, "" + run.stepsDone());
        if (run.spec().training().memory().replay().aheadBytes() < Long.MAX_VALUE) {
            keys.put(Roster.BLOCKS_AHEAD, "" + run.plan().stageSettings().replay().ahead());
        }
        run.engine().productsWithVersions()
                .ifPresent(products -> keys.put(Roster.products(run.engine().provider().kind()), products));
        run.tokenizer().ifPresent(tokenizer -> keys.put("data.tokenizer", tokenizer.identity()));
        Map<String, String> values = run.spec().values();
        values.keySet().removeAll(new Keys().differing());
        keys.putAll(values);
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
