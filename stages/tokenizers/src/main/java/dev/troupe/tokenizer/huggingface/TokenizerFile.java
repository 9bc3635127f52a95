package dev.troupe.tokenizer.huggingface;

import dev.troupe.tokenizer.file.FilePart;
import dev.troupe.tokenizer.file.TokenizerException;
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import java.util.function.IntPredicate;

/**
 * A {@code tokenizer.json} of byte-level byte-pair encoding, with the results of Hugging Face's tokenizers 0.22: the files
 * of GPT-2, Llama 3, Qwen and SmolLM, and others with the same parts. Unknown parts are refused. The parts
 * {@code truncation} and {@code padding} have no effect, as in their default use there.
 *
 * <p>Thread rule: any thread may use it.
 */
public final class TokenizerFile {
    private static final byte NO_CHARACTER = (byte) 0xFF;
    private static final IntPredicate NO_SPACE = code -> !CodeSet.isSpace(code);

    private final Normalization normalization;
    private final AddedTokens added;
    private final List<PreTokenizer> preTokenizers;
    private final BytePairModel model;
    private final PostProcessing postProcessing;
    private final byte[][] bytesOfId;
    private final Steps.Allowance allowance = new Steps.Allowance();
    private final boolean cutsBeforeSpace;
    private final boolean cutsBeforeLine;

    private TokenizerFile(FilePart file) {
        normalization = Normalization.read(file.at("normalizer"));
        preTokenizers = PreTokenizer.read(file.at("pre_tokenizer"));
        model = new BytePairModel(file.at("model"));
        added = new AddedTokens(file.at("added_tokens"), model.vocabulary(), normalization);
        postProcessing = PostProcessing.read(file.at("post_processor"));
        requireByteDecoder(file.at("decoder"));
        bytesOfId = bytes();
        cutsBeforeSpace = cutsBefore(' ', NO_SPACE);
        cutsBeforeLine = cutsBefore('\n', Character::isLetterOrDigit);
    }

    /**
     * Reads a file.
     *
     * @throws dev.troupe.tokenizer.file.TokenizerException if it is none of its kind; the message names file and part
     */
    public static TokenizerFile read(Path file) {
        return new TokenizerFile(FilePart.read(file));
    }

    private static void requireByteDecoder(FilePart decoder) {
        decoder.requireType("ByteLevel", "Sequence", "Fuse");
        if (decoder.type().equals("Sequence")) {
            decoder.at("decoders").elements().forEach(TokenizerFile::requireByteDecoder);
        }
    }

    private byte[][] bytes() {
        int size = 0;
        for (int id : model.vocabulary().values()) {
            size = Math.max(size, id + 1);
        }
        for (AddedTokens.Added token : added.all()) {
            size = Math.max(size, token.id() + 1);
        }
        byte[][] bytes = new byte[size][];
        for (Map.Entry<String, Integer> entry : model.vocabulary().entrySet()) {
            bytes[entry.getValue()] = ByteAlphabet.bytesOf(entry.getKey());
        }
        added.all().forEach(token -> bytes[token.id()] = ByteAlphabet.bytesOf(token.content()));
        return bytes;
    }

    /** Returns one more than the largest id. */
    public int vocabularySize() {
        return bytesOfId.length;
    }

    /** Returns the id of a token by its spelling in the file; empty if there is none. */
    public OptionalInt id(String token) {
        for (AddedTokens.Added one : added.all()) {
            if (one.content().equals(token)) {
                return OptionalInt.of(one.id());
            }
        }
        Integer id = model.vocabulary().get(token);
        return id == null ? OptionalInt.empty() : OptionalInt.of(id);
    }

    /** Returns the special tokens that the post-processor puts before a text. */
    public int[] beforeText() {
        return postProcessing.before().stream().mapToInt(Integer::intValue).toArray();
    }

    /** Returns the special tokens that the post-processor puts after a text. */
    public int[] afterText() {
        return postProcessing.after().stream().mapToInt(Integer::intValue).toArray();
    }

    /**
     * Returns the ids of a text, in which the spelling of an added or special token is that token; without the tokens of the
     * post-processor.
     */
    public int[] encode(String text) {
        Ids ids = new Ids();
        Steps steps = allowance.begin(text.length());
        added.splitRaw(text.toCharArray(), steps, new Encoding(ids, steps));
        steps.end();
        return ids.toArray();
    }

    /** The encoding of one text. */
    private final class Encoding implements AddedTokens.Parts {
        private final Ids ids;
        private final Steps steps;
        private final AddedTokens.Parts normalized;

        Encoding(Ids ids, Steps steps) {
            this.ids = ids;
            this.steps = steps;
            PreTokenizer.Parts words = (text, from, to) -> model.append(text, from, to, ids);
            for (PreTokenizer step : preTokenizers.reversed()) {
                PreTokenizer.Parts next = words;
                words = (text, from, to) -> step.split(text, from, to, steps, next);
            }
            PreTokenizer.Parts first = words;
            this.normalized = new AddedTokens.Parts() {
                @Override
                public void text(char[] text, int from, int to) {
                    first.take(text, from, to);
                }

                @Override
                public void token(int id) {
                    ids.add(id);
                }
            };
        }

        @Override
        public void text(char[] text, int from, int to) {
            if (normalization.changesNothing()) {
                added.splitNormalized(text, from, to, steps, normalized);
            } else {
                char[] changed = normalization.apply(new String(text, from, to - from)).toCharArray();
                added.splitNormalized(changed, 0, changed.length, steps, normalized);
            }
        }

        @Override
        public void token(int id) {
            ids.add(id);
        }
    }

    /**
     * Returns the text of some ids, special tokens spelled out. Bytes that are no character, and an unknown id, become
     * U+FFFD.
     */
    public String decode(int[] ids) {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        for (int id : ids) {
            if (id < 0 || id >= bytesOfId.length || bytesOfId[id] == null) {
                bytes.write(NO_CHARACTER);
            } else {
                bytes.writeBytes(bytesOfId[id]);
            }
        }
        return bytes.toString(StandardCharsets.UTF_8);
    }

    private boolean cutsBefore(char after, IntPredicate before) {
        return added.endBefore(after, before)
                && preTokenizers.stream().allMatch(step -> step.bearsCutBefore(after, before))
                && preTokenizers.stream().anyMatch(step -> step.cutsBefore(after, before));
    }

    /**
     * Returns whether a cut between these characters leaves the ids of every text the same.
     *
     * @param before the last character of the first half, no white space
     */
    public boolean mayCut(char before, char after) {
        return switch (after) {
            case ' ' -> cutsBeforeSpace && NO_SPACE.test(before);
            case '\n' -> cutsBeforeLine && Character.isLetterOrDigit(before);
            default -> false;
        };
    }
}
