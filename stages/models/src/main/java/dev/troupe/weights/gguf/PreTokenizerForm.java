package dev.troupe.weights.gguf;

import dev.troupe.tokenizer.file.FilePart;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * llama.cpp's name of a rule that splits text into words. Its code has the expressions, so that a file with another one
 * cannot be represented.
 */
final class PreTokenizerForm {
    private static final String BEFORE_NUMBERS = "Split (?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|";
    private static final String AFTER_NUMBERS = "| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+";
    private static final String BYTES = "ByteLevel";
    private static final String BYTES_OF_WORDS = "ByteLevel by words";
    private static final String GPT2 = "gpt-2";
    private static final String LLAMA3 = "llama-bpe";
    /** The same expression, and merges in every word. */
    private static final String LLAMA3_MERGING = "smaug-bpe";
    private static final Map<List<String>, String> KNOWN = Map.of(List.of(BYTES_OF_WORDS), GPT2,
            List.of("Digits", BYTES_OF_WORDS), "smollm",
            List.of(BEFORE_NUMBERS + "\\p{N}" + AFTER_NUMBERS, BYTES), "qwen2",
            List.of(BEFORE_NUMBERS + "\\p{N}{1,3}" + AFTER_NUMBERS, BYTES), LLAMA3);

    private PreTokenizerForm() {
    }

    /**
     * Returns the name of the form of a {@code tokenizer.json}.
     *
     * @throws dev.troupe.tokenizer.file.TokenizerException if llama.cpp has none
     */
    static String of(FilePart file) {
        FilePart normalizer = file.at("normalizer");
        // llama.cpp normalizes nothing; its own converter ignores the NFC of Qwen, which changes few texts.
        if (!normalizer.isAbsent() && !normalizer.type().equals("NFC")) {
            throw normalizer.refusal("is " + normalizer.type() + ", which llama.cpp does not apply");
        }
        FilePart preTokenizer = file.at("pre_tokenizer");
        FilePart model = file.at("model");
        if (model.at("merges").size() == 0) {
            return GPT2; // every byte is a token, whatever the split
        }
        List<String> steps = new ArrayList<>();
        addSteps(preTokenizer, steps);
        String form = KNOWN.get(steps);
        if (form == null) {
            throw preTokenizer.refusal("is not of a form that llama.cpp has a name for (GPT-2, Llama 3, Qwen 2"
                    + " and SmolLM), so that it would make other tokens");
        }
        boolean ignoresMerges = model.flag("ignore_merges", false);
        if (form.equals(LLAMA3)) {
            return ignoresMerges ? LLAMA3 : LLAMA3_MERGING;
        }
        if (ignoresMerges) {
            throw model.at("ignore_merges").refusal("must be false since llama.cpp splits texts by " + form
                    + ", which the pre_tokenizer asks for, and merges in every word; set it to false there if merges make"
                    + " every token of model.vocab, since then no text changes");
        }
        return form;
    }

    private static void addSteps(FilePart part, List<String> steps) {
        switch (part.type()) {
            case "Sequence" -> part.at("pretokenizers").elements().forEach(inner -> addSteps(inner, steps));
            case "Digits" -> steps.add(part.flag("individual_digits", false) ? "Digits" : "Numbers");
            case "Split" -> {
                boolean isIsolated = part.at("behavior").text().equals("Isolated") && !part.flag("invert", false);
                FilePart regex = part.at("pattern").at("Regex");
                steps.add((isIsolated ? "Split " : "Removing ") + (regex.isAbsent() ? "" : regex.text()));
            }
            case "ByteLevel" -> steps.add((part.flag("add_prefix_space", true) ? "Space before " : "")
                    + (part.flag("use_regex", true) ? BYTES_OF_WORDS : BYTES));
            default -> steps.add(part.type());
        }
    }
}
