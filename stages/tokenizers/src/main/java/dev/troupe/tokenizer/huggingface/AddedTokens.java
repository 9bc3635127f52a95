package dev.troupe.tokenizer.huggingface;

import dev.troupe.tokenizer.file.FilePart;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.IntPredicate;

/**
 * The added tokens of a file, which are found in a text first: from the left, at each place the longest. Tokens without
 * normalization are searched in the raw text, the others in the normalized rest. Immutable; any thread may use it.
 */
final class AddedTokens {
    /** Twenty times the largest published tokenizer; the trie takes some 200 bytes for each. */
    private static final int MOST_CHARACTERS = 1 << 20;
    private static final int STEPS_OF_A_NODE = 8;

    private final FilePart source;
    private final List<Added> all = new ArrayList<>();
    private final Node raw = new Node();
    private final Node normalized = new Node();
    private final CodeSet firstOfRaw;
    private final CodeSet firstOfNormalized;

    /**
     * An added token.
     *
     * @param pattern its spelling in the searched text
     */
    record Added(int id, String content, String pattern, boolean isWord, boolean stripsLeft, boolean stripsRight) {
    }

    /** A place in the trie of spellings. */
    private static final class Node {
        private final Map<Character, Node> next = new HashMap<>();
        private Added token;

        void learn(Added added) {
            Node node = this;
            for (char letter : added.pattern().toCharArray()) {
                node = node.next.computeIfAbsent(letter, _ -> new Node());
            }
            node.token = added;
        }

        /** Returns the longest token that begins at a place; null if none does. */
        Added longest(char[] text, int from, int to, Steps steps) {
            Added found = null;
            Node node = this;
            int at = from;
            for (; node != null; at++) {
                found = node.token == null ? found : node.token;
                node = at < to ? node.next.get(text[at]) : null;
            }
            steps.take(STEPS_OF_A_NODE * (at - from));
            return found;
        }
    }

    /** A receiver of the parts of a text, in its order. */
    interface Parts {
        void text(char[] text, int from, int to);

        void token(int id);
    }

    /**
     * Reads the part {@code added_tokens} of a file. As in Hugging Face's library, a token outside the model gets the next
     * id after the model's, in the order of the file, whatever its id there.
     */
    AddedTokens(FilePart part, Map<String, Integer> vocabulary, Normalization normalization) {
        source = part;
        int characters = 0;
        Map<String, Integer> ids = new HashMap<>();
        for (FilePart element : part.elements()) {
            String content = element.at("content").text();
            int written = element.at("id").id();
            Integer known = vocabulary.get(content);
            if (known != null && known != written) {
                throw element.refusal("gives \"" + content + "\" the id " + written + ", but model.vocab has " + known);
            }
            if (content.isEmpty()) {
                continue;
            }
            characters += content.length();
            if (characters > MOST_CHARACTERS) {
                throw part.refusal("has tokens of more than " + MOST_CHARACTERS + " characters in all");
            }
            int next = vocabulary.size() + ids.size();
            int id = known != null ? known : ids.computeIfAbsent(content, _ -> next);
            boolean isNormalized = element.flag("normalized", true);
            Added added = new Added(id, content, isNormalized ? normalization.apply(content) : content,
                    element.flag("single_word", false), element.flag("lstrip", false), element.flag("rstrip", false));
            all.add(added);
            (isNormalized ? normalized : raw).learn(added);
        }
        firstOfRaw = new CodeSet(code -> raw.next.containsKey((char) code));
        firstOfNormalized = new CodeSet(code -> normalized.next.containsKey((char) code));
    }

    List<Added> all() {
        return all;
    }

    /** Splits a text at the tokens that are searched in the raw text. */
    void splitRaw(char[] text, Steps steps, Parts parts) {
        split(raw, firstOfRaw, text, 0, text.length, steps, parts);
    }

    /** Splits a part of a text at the tokens that are searched in the normalized text. */
    void splitNormalized(char[] text, int from, int to, Steps steps, Parts parts) {
        split(normalized, firstOfNormalized, text, from, to, steps, parts);
    }

    private void split(Node trie, CodeSet first, char[] text, int from, int to, Steps steps, Parts parts) {
        int begin = from;
        if (!trie.next.isEmpty()) {
            for (int at = from; at < to;) {
                steps.by(source);
                Added token = first.has(text[at]) ? trie.longest(text, at, to, steps) : null;
                if (token == null) {
                    at++;
                    continue;
                }
                int end = at + token.pattern().length();
                if (token.isWord() && (at > from && isWordBefore(text, at, from) || end < to
                        && isWord(CodeSet.at(text, end, to)))) {
                    at = end;
                    continue;
                }
                int left = token.stripsLeft() ? Math.max(begin, spaceBegin(text, at, begin)) : at;
                if (begin < left) {
                    parts.text(text, begin, left);
                }
                at = end;
                begin = token.stripsRight() ? spaceEnd(text, end, to) : end;
                steps.take(begin - end);
                // The token before it may have included all of it as white space.
                if (left < begin) {
                    parts.token(token.id());
                }
            }
        }
        if (begin < to) {
            parts.text(text, begin, to);
        }
    }

    private static int spaceBegin(char[] text, int at, int from) {
        int begin = at;
        while (begin > from && CodeSet.isSpace(text[begin - 1])) {
            begin--;
        }
        return begin;
    }

    private static int spaceEnd(char[] text, int at, int to) {
        int end = at;
        while (end < to && CodeSet.isSpace(text[end])) {
            end++;
        }
        return end;
    }

    private static boolean isWordBefore(char[] text, int at, int from) {
        boolean isPair = at - from > 1 && Character.isSurrogatePair(text[at - 2], text[at - 1]);
        return isWord(isPair ? Character.toCodePoint(text[at - 2], text[at - 1]) : text[at - 1]);
    }

    /** Unicode's annex 18, {@code \w}. */
    private static boolean isWord(int code) {
        return Character.isAlphabetic(code) || switch (Character.getType(code)) {
            case Character.NON_SPACING_MARK, Character.ENCLOSING_MARK, Character.COMBINING_SPACING_MARK,
                    Character.DECIMAL_DIGIT_NUMBER, Character.CONNECTOR_PUNCTUATION ->
                true;
            default -> code == 0x200C || code == 0x200D;
        };
    }

    /** Returns whether no added token prevents a cut between a character of some kind and a certain one. */
    boolean endBefore(char after, IntPredicate before) {
        return all.stream()
                .noneMatch(token -> token.stripsRight() || token.isWord() && token.pattern().charAt(0) == after
                        || crosses(token.content(), after, before) || crosses(token.pattern(), after, before));
    }

    private static boolean crosses(String text, char after, IntPredicate before) {
        for (int i = 1; i < text.length(); i++) {
            if (text.charAt(i) == after && before.test(text.charAt(i - 1))) {
                return true;
            }
        }
        return false;
    }
}
