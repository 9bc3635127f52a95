package dev.troupe.run.cluster;

import dev.troupe.config.Keys;
import dev.troupe.plan.prepare.PreparedRun;
import dev.troupe.protocol.membership.Roster;
import dev.troupe.tokenizer.file.Sha256;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.TreeMap;

/** The settings that must be equal on all nodes of a run, as text, so that a refusal can name the difference. */
final class CompatibilityKeys {
    private static final int DIGITS = 16;

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
        keys.put("data", digest(run.firstMicrobatch()) + ", " + run.data().trainingAmount() + ", "
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

    private static String digest(String text) {
        return Sha256.of(text.getBytes(StandardCharsets.UTF_8)).substring(0, DIGITS);
    }
}
