package dev.troupe.cli.bits;

import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.troupe.cli.stop.ExitCode;
import dev.troupe.look.bisect.Bisection;
import dev.troupe.rank.bits.BitKey;
import java.util.Locale;

/** The result of a comparison of two runs, for a person or a program. */
final class BisectionAnswer {
    private static final int VERSION = 1;

    private BisectionAnswer() {
    }

    /** Prints a result; returns the exit code. */
    static int print(Bisection result, String left, String right, boolean isJson) {
        System.out.println(isJson ? json(result, left, right) : text(result, left, right));
        return result.parting().isEmpty() ? ExitCode.DONE : ExitCode.RUN_FAILED;
    }

    private static String text(Bisection result, String left, String right) {
        String compared = String.format(Locale.ROOT, "%d steps (%d to %d), %,d outputs of each", result.steps(),
                result.first(), result.last(), result.outputs());
        return result.parting().map(parting -> String.format(Locale.ROOT, """
                The runs part in step %d: %s of layer %d (%s), which stage %d of the first run has.
                %s has the digest %s,
                %s has the digest %s.
                Compared: %s.""", parting.step(), action(parting.key()), parting.key().layer(), parting.layerName(),
                parting.stage(), left, hex(parting.left()), right, hex(parting.right()), compared))
                .orElseGet(() -> "Equal: every output that both runs have is the same to the bit. Compared: " + compared
                        + ".");
    }

    private static String action(BitKey key) {
        String member = key.tensorRank() == 0 ? "" : " on tensor rank " + key.tensorRank();
        return (key.what().isPerMicrobatch()
                ? key.what().action() + " of microbatch " + key.microbatch()
                : key.what().action() + " of " + key.tensor() + (key.data() > 0 ? " on data rank " + key.data() : ""))
                + member;
    }

    private static String json(Bisection result, String left, String right) {
        ObjectNode answer = new JsonMapper().createObjectNode();
        answer.put("schema", VERSION).put("a", left).put("b", right).put("equal", result.parting().isEmpty())
                .put("first_step", result.first()).put("last_step", result.last()).put("steps", result.steps())
                .put("outputs", result.outputs());
        result.parting().ifPresent(parting -> {
            BitKey key = parting.key();
            ObjectNode parts = answer.putObject("parting").put("step", parting.step())
                    .put("action", key.what().action()).put("layer", key.layer()).put("layer_name", parting.layerName())
                    .put("stage", parting.stage()).put("tensor_rank", key.tensorRank())
                    .put("digest_a", hex(parting.left())).put("digest_b", hex(parting.right()));
            if (key.what().isPerMicrobatch()) {
                parts.put("microbatch", key.microbatch());
            } else {
                parts.put("tensor", key.tensor()).put("data_rank", key.data());
            }
        });
        return answer.toString();
    }

    private static String hex(long digest) {
        return String.format(Locale.ROOT, "%016x", digest);
    }
}
