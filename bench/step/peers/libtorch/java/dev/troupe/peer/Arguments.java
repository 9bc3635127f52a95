package dev.troupe.peer;

import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * The training that is asked for, in the words of {@code pytorch.py}.
 *
 * @param ranks processes of the pipeline; 1: no pipeline
 * @param threads threads of each for kernels
 * @param schedule {@code gpipe} or {@code 1f1b}
 * @param inBfloat16 whether operations run by autocast in bfloat16
 * @param layers blocks, a multiple of the ranks
 * @param hidden width C
 * @param heads attention heads H
 * @param sequence tokens T of a sequence
 * @param vocabulary number of tokens V
 * @param microbatches microbatches of a step
 * @param microbatchSize sequences B of a microbatch
 * @param tokens a file with a token in each byte
 * @param weights a safetensors file of a published GPT-2 of this shape, all float32
 * @param warmup steps before the first that counts
 * @param steps steps that count
 */
record Arguments(int ranks, int threads, String schedule, boolean inBfloat16, int layers, int hidden, int heads,
        int sequence, int vocabulary, int microbatches, int microbatchSize, Path tokens, Path weights, int warmup,
        int steps) {
    /**
     * Reads pairs of an option and its value.
     *
     * @throws IllegalArgumentException if an option is missing or asks for something that is not done here
     */
    static Arguments parse(List<String> words) {
        Map<String, String> values = new HashMap<>();
        for (int i = 0; i + 1 < words.size(); i += 2) {
            values.put(words.get(i), words.get(i + 1));
        }
        Arguments parsed = new Arguments(number(values, "--ranks"), number(values, "--threads"),
                text(values, "--schedule"), "bfloat16".equals(text(values, "--precision")), number(values, "--layers"),
                number(values, "--hidden"), number(values, "--heads"), number(values, "--sequence"),
                number(values, "--vocabulary"), number(values, "--microbatches"), number(values, "--microbatch-size"),
                Path.of(text(values, "--tokens")), Path.of(text(values, "--weights")), number(values, "--warmup"),
                number(values, "--steps"));
        if (number(values, "--virtual-stages") != 1 || !List.of("gpipe", "1f1b").contains(parsed.schedule)) {
            throw new IllegalArgumentException("this peer has gpipe and 1f1b with one stage a rank, but was asked for "
                    + parsed.schedule + " with " + text(values, "--virtual-stages"));
        }
        if (parsed.layers % parsed.ranks != 0) {
            throw new IllegalArgumentException(parsed.layers + " layers do not divide by " + parsed.ranks
                    + " ranks: change one of them");
        }
        return parsed;
    }

    private static int number(Map<String, String> values, String option) {
        return Integer.parseInt(text(values, option));
    }

    private static String text(Map<String, String> values, String option) {
        String value = values.get(option);
        if (value == null) {
            throw new IllegalArgumentException(option + " and its value must be among the arguments");
        }
        return value;
    }
}
