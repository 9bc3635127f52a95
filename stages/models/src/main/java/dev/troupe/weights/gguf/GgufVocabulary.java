package dev.troupe.weights.gguf;

import dev.troupe.tokenizer.HuggingFaceTokenizer;
import dev.troupe.tokenizer.file.FilePart;
import dev.troupe.tokenizer.file.TokenizerException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** The tokenizer of a directory in Hugging Face layout, as llama.cpp reads one. Immutable; any thread may use it. */
public final class GgufVocabulary {
    private static final int NORMAL = 1;
    private static final int CONTROL = 3;
    private static final int USER_DEFINED = 4;
    private static final int UNUSED = 5;
    private static final String SETTINGS = "tokenizer_config.json";
    /** llama.cpp's names of the tokens of the settings. */
    private static final Map<String, String> SPECIAL = Map.of("bos_token", "bos_token_id", "eos_token", "eos_token_id",
            "unk_token", "unknown_token_id", "pad_token", "padding_token_id");

    private final Path directory;
    private final String form;
    private final Map<Integer, String> tokens = new HashMap<>();
    private final Map<Integer, Integer> addedTypes = new HashMap<>();
    private final List<String> merges;
    private final Map<String, Integer> special = new LinkedHashMap<>();
    private final boolean addsBeginning;
    private final boolean addsEnd;
    private final ChatTemplates chatTemplates;

    private GgufVocabulary(Path directory) {
        this.directory = directory;
        HuggingFaceTokenizer tokenizer = HuggingFaceTokenizer.open(directory, true);
        FilePart file = FilePart.read(directory.resolve("tokenizer.json"));
        this.form = PreTokenizerForm.of(file);
        file.at("model").at("vocab").members().forEach((token, id) -> tokens.put(id.id(), token));
        for (FilePart added : file.at("added_tokens").elements()) {
            String content = added.at("content").text();
            if (content.isEmpty()) {
                continue;
            }
            int id = tokenizer.id(content).orElseThrow();
            tokens.put(id, content);
            addedTypes.put(id, added.flag("special", false) || looksSpecial(content) ? CONTROL : USER_DEFINED);
        }
        this.merges = file.at("model").at("merges").elements().stream().map(GgufVocabulary::merge).toList();
        Optional<FilePart> settings = Optional.of(directory.resolve(SETTINGS)).filter(Files::isRegularFile)
                .map(FilePart::read);
        settings.ifPresent(this::readSpecial);
        this.addsBeginning = adds(tokenizer.beforeText(), "bos_token", "before");
        this.addsEnd = adds(tokenizer.afterText(), "eos_token", "after");
        this.chatTemplates = ChatTemplates.in(directory, settings);
    }

    /**
     * Reads the tokenizer of a directory.
     *
     * @throws TokenizerException if llama.cpp would make other tokens; the message names file and part
     */
    public static GgufVocabulary read(Path directory) {
        if (!HuggingFaceTokenizer.isIn(directory)) {
            throw new TokenizerException(directory + " has no tokenizer.json, of which a GGUF file has its tokenizer");
        }
        return new GgufVocabulary(directory);
    }

    /** llama.cpp does not treat such a token as text, whatever the file has. */
    private static boolean looksSpecial(String token) {
        return token.startsWith("<|") && token.endsWith("|>");
    }

    private static String merge(FilePart merge) {
        return merge.isList() ? merge.at(0).text() + " " + merge.at(1).text() : merge.text();
    }

    private void readSpecial(FilePart settings) {
        Map<String, Integer> ids = new HashMap<>();
        tokens.forEach((id, token) -> ids.put(token, id));
        for (String name : SPECIAL.keySet().stream().sorted().toList()) {
            FilePart token = settings.at(name);
            if (!token.isAbsent()) {
                Integer id = ids.get(token.isText() ? token.text() : token.at("content").text());
                if (id != null) {
                    special.put(name, id);
                }
            }
        }
    }

    /** Returns whether the post-processor adds a certain token, which is all that llama.cpp can add at a place. */
    private boolean adds(int[] added, String name, String where) {
        boolean isThat = added.length == 1 && special.getOrDefault(name, -1) == added[0];
        if (added.length > 0 && !isThat) {
            throw new TokenizerException(directory + ": the post_processor of tokenizer.json puts the tokens "
                    + Arrays.toString(added) + " " + where + " a text, but llama.cpp can put only the " + name + " of "
                    + SETTINGS + " there");
        }
        return isThat;
    }

    /**
     * Checks that a model knows every token.
     *
     * @throws TokenizerException with both sizes if it does not
     */
    void requireWithin(int vocabularySize) {
        int count = tokens.keySet().stream().mapToInt(Integer::intValue).max().orElse(-1) + 1;
        if (count > vocabularySize) {
            throw new TokenizerException("the tokenizer in " + directory + " has " + count
                    + " tokens, but the model has a vocabulary of " + vocabularySize
                    + ": llama.cpp needs the tokenizer that the model was trained with");
        }
    }

    /** Adds all of it, padded with unused tokens to the vocabulary of the model. */
    void putInto(GgufMetadata metadata, int vocabularySize) {
        List<String> all = new ArrayList<>();
        List<Integer> types = new ArrayList<>();
        for (int id = 0; id < vocabularySize; id++) {
            boolean isThere = tokens.containsKey(id);
            all.add(isThere ? tokens.get(id) : "[PAD" + id + "]");
            types.add(isThere ? addedTypes.getOrDefault(id, NORMAL) : UNUSED);
        }
        metadata.put("tokenizer.ggml.model", "gpt2");
        metadata.put("tokenizer.ggml.pre", form);
        metadata.putTexts("tokenizer.ggml.tokens", all);
        metadata.putInts("tokenizer.ggml.token_type", types);
        metadata.putTexts("tokenizer.ggml.merges", merges);
        special.forEach((name, id) -> metadata.put("tokenizer.ggml." + SPECIAL.get(name), id));
        metadata.put("tokenizer.ggml.add_bos_token", addsBeginning);
        metadata.put("tokenizer.ggml.add_eos_token", addsEnd);
        chatTemplates.putInto(metadata);
    }
}
