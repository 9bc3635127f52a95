package dev.troupe.tokenizer.huggingface;

import dev.troupe.tokenizer.file.FilePart;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;

/**
 * The vocabulary and the merges of a byte-level byte-pair encoding. Any thread may use it; recently encoded words are in a
 * table of bounded size without locks. Entries are immutable, and a lost entry is computed again.
 */
final class BytePairModel {
    private static final int BYTES = 256;
    private static final int NO_ID = -1;
    /** With words of at most {@link #LONGEST_KEPT} characters some 10 MB. */
    private static final int KEPT_WORDS = 1 << 16;
    private static final int LONGEST_KEPT = 48;

    private final Map<String, Integer> vocabulary;
    private final PairTable ranks;
    private final int[] merged;
    private final int[] idOfByte = new int[BYTES];
    private final boolean ignoresMerges;
    private final boolean fusesUnknown;
    private final int unknown;
    private final Word[] kept = new Word[KEPT_WORDS];

    private record Word(String text, int[] ids) {
        boolean is(char[] other, int from, int to) {
            if (text.length() != to - from) {
                return false;
            }
            for (int i = from; i < to; i++) {
                if (text.charAt(i - from) != other[i]) {
                    return false;
                }
            }
            return true;
        }
    }

    BytePairModel(FilePart model) {
        model.requireType("BPE");
        for (String option : new String[]{"dropout", "continuing_subword_prefix", "end_of_word_suffix"}) {
            FilePart part = model.at(option);
            if (!part.isAbsent() && !part.isEmptyText() && !part.isZero()) {
                throw part.refusal("is not supported; only tokenizers without it are");
            }
        }
        if (model.flag("byte_fallback", false)) {
            throw model.at("byte_fallback").refusal("is not supported: the vocabulary must be of bytes (ByteLevel)");
        }
        this.vocabulary = vocabulary(model.at("vocab"));
        FilePart merges = model.at("merges");
        int count = merges.size();
        this.ranks = new PairTable(count);
        this.merged = new int[count];
        for (int rank = 0; rank < count; rank++) {
            learn(merges.at(rank), rank);
        }
        this.ignoresMerges = model.flag("ignore_merges", false);
        this.fusesUnknown = model.flag("fuse_unk", false);
        FilePart unk = model.at("unk_token");
        this.unknown = unk.isAbsent() ? NO_ID : id(unk, unk.text());
        for (int value = 0; value < BYTES; value++) {
            idOfByte[value] = vocabulary.getOrDefault("" + ByteAlphabet.letter(value), NO_ID);
        }
    }

    private static Map<String, Integer> vocabulary(FilePart vocab) {
        Map<String, Integer> ids = HashMap.newHashMap(vocab.size());
        vocab.members().forEach((word, id) -> ids.put(word, id.id()));
        return ids;
    }

    /** A merge is {@code "a b"} or {@code ["a", "b"]}. */
    private void learn(FilePart merge, int rank) {
        String left;
        String right;
        if (merge.isList()) {
            if (merge.size() != 2) {
                throw merge.refusal("must be two tokens");
            }
            left = merge.at(0).text();
            right = merge.at(1).text();
        } else {
            String both = merge.text();
            int space = both.indexOf(' ');
            if (space < 0 || both.indexOf(' ', space + 1) >= 0) {
                throw merge.refusal("must be two tokens with a space between them");
            }
            left = both.substring(0, space);
            right = both.substring(space + 1);
        }
        merged[rank] = id(merge, left + right);
        ranks.put(id(merge, left), id(merge, right), rank);
    }

    private int id(FilePart part, String token) {
        Integer id = vocabulary.get(token);
        if (id == null) {
            throw part.refusal("names the token \"" + token + "\", which model.vocab does not have");
        }
        return id;
    }

    /** Returns the ids of all tokens, without added ones. */
    Map<String, Integer> vocabulary() {
        return vocabulary;
    }

    /** Adds the ids of a word. A byte outside the vocabulary becomes the unknown token, or nothing if there is none. */
    void append(char[] text, int from, int to, Ids ids) {
        int hash = 0;
        for (int i = from; i < to; i++) {
            hash = 31 * hash + text[i];
        }
        int slot = (hash ^ hash >>> 16) & KEPT_WORDS - 1;
        Word word = kept[slot];
        if (word == null || !word.is(text, from, to)) {
            word = new Word(new String(text, from, to - from), encoded(text, from, to));
            if (to - from <= LONGEST_KEPT) {
                kept[slot] = word;
            }
        }
        ids.add(word.ids());
    }

    private int[] encoded(char[] text, int from, int to) {
        byte[] utf8 = new String(text, from, to - from).getBytes(StandardCharsets.UTF_8);
        if (ignoresMerges) {
            char[] letters = new char[utf8.length];
            for (int i = 0; i < letters.length; i++) {
                letters[i] = ByteAlphabet.letter(Byte.toUnsignedInt(utf8[i]));
            }
            Integer whole = vocabulary.get(new String(letters));
            if (whole != null) {
                return new int[]{whole};
            }
        }
        int[] ids = new int[utf8.length];
        int count = 0;
        boolean isUnknown = false;
        for (byte value : utf8) {
            int id = idOfByte[Byte.toUnsignedInt(value)];
            boolean wasUnknown = isUnknown;
            isUnknown = id == NO_ID;
            int taken = isUnknown ? unknown : id;
            if (taken != NO_ID && !(isUnknown && wasUnknown && fusesUnknown)) {
                ids[count++] = taken;
            }
        }
        return count < 2 ? Arrays.copyOf(ids, count) : new Merging(ranks, merged, ids, count).run();
    }
}
